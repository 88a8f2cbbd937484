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

/// Which numbers a proposer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// How many proposers divide them up.
    pub of: u16,
    /// Which of these the proposer is, from 0.
    pub place: u16,
}

impl Share {
    /// Every proposer takes any number.
    pub const ALL: Share = Share { of: 1, place: 0 };

    /// The smallest of its numbers beyond the largest that it has heard of.
    pub fn beyond(self, heard: u16) -> u16 {
        let next = heard - heard % self.of + self.place + 1;
        if next > heard { next } else { next + self.of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_proposers_take_one_number_and_each_is_just_above_what_was_heard_of() {
        let mut takers = std::collections::BTreeMap::new();
        for heard in 0..30 {
            assert_eq!(Share::ALL.beyond(heard), heard + 1);
            for place in 0..3 {
                let number = Share { of: 3, place }.beyond(heard);
                assert!(number > heard && number <= heard + 3, "proposer {place} takes {number} after {heard}");
                assert_eq!(*takers.entry(number).or_insert(place), place, "number {number}");
            }
        }
    }
}
