//! The same registers as stateright's examples, written to Seedbed's ordinary contract: same states, same transitions.

pub mod history;
pub mod paxos;
pub mod register;
