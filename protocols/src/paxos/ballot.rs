//! Ballots: the numbers of proposals.

use std::fmt;

use seedbed_model::{Canonical, NodeId, NumberKind, Serial};

/// A ballot number, "globally unique" (FaTLease §3): by number, then by host, then by the host's own count.
///
/// The count makes it unique though acceptors may discard what they promised, and numbers begin at 1 again; its nonce, though
/// hosts remember nothing over a crash. Only ballots of one number and host are compared by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
#[canonical(unbounded)]
pub struct Ballot<K: NumberKind> {
    /// One more than the largest that the proposer knew of.
    pub number: u16,
    /// Whose.
    pub host: NodeId,
    /// Which of its host's.
    pub attempt: Serial<K>,
}

impl<K: NumberKind> fmt::Debug for Ballot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:?}/{:?}", self.number, self.host, self.attempt)
    }
}
