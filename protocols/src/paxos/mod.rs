//! Paxos, once, for its two configurations.
//!
//! An instance is a value that a majority of acceptors voted for under one ballot. Here is what that takes, whatever the value
//! is, and whatever an acceptor's answers and a proposer's rounds stand in:
//!
//! - [`ballot`]: numbers of proposals, and who takes which
//! - [`acceptor`]: promise and vote, PREPARE and ACCEPT
//! - [`round`]: a proposer's ballot: answers counted, the highest vote taken up
//! - [`writer`]: what acceptors write before they answer, several answers to one fsync
//! - [`rules`]: each rule of these, with the switch by which a mutant leaves it out
//!
//! The configurations put around it what is theirs:
//!
//! - [`crate::fatlease`]: an instance a lease, every host proposer and acceptor; instances follow each other, leases are
//!   learned and end, and hold up the next instance. As FaTLease without a disk, `variant = "paxos"` with it (FaTLease §5).
//! - [`group`]: one instance for ever, whose value is a register; a promise is also the grant of a leader lease, and a leader
//!   proposes again and again under its ballot (Centrifuge §2.1.1, PRS §4.4).

pub mod acceptor;
pub mod ballot;
pub mod group;
pub mod round;
pub mod rules;
#[cfg(test)]
mod testing;
pub mod writer;

pub use acceptor::{Acceptor, Denied, Value, Vote};
pub use ballot::{Ballot, Share};
pub use round::{Phase, Round};
pub use rules::Rules;
pub use writer::{Held, Writer};
