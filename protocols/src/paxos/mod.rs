//! Paxos with durable acceptors: what its two configurations share, and one of them.
//!
//! The one is FaTLease's baseline, `variant = "paxos"` of [`crate::fatlease`]: an instance a lease, every host proposer and
//! acceptor. The other is the group that a Manager service stands on: [`group`].
//!
//! - [`ballot`]: numbers of proposals
//! - [`writer`]: the thread that writes several messages before one fsync (FaTLease §5)
//! - [`group`]: a leader lease and a register, kept by acceptors of their own (Centrifuge §2.1.1, PRS §4.4)

pub mod ballot;
pub mod group;
pub mod writer;

pub use ballot::Ballot;
pub use writer::Writer;
