//! Paxos with durable acceptors, as FaTLease compares itself with it (Hupfeld et al. §3, §5), in parts that protocols share.
//!
//! - [`writer`]: the thread that writes several messages before one fsync (§5)

pub mod writer;

pub use writer::Writer;
