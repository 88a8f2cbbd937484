//! ZooKeeper.

pub mod acl;
pub mod mutants;
pub mod path;
pub mod processor;
pub mod recorded;
pub mod snapshot;
pub mod tree;
pub mod txn;
pub mod watches;

#[cfg(test)]
mod tests;
