//! The proposer: a round of one ballot, answer by answer (FaTLease §3, Figure 1).
//!
//! An answer counts once an acceptor, however often it arrives. Who answers a ballot that is not under way is not heard: that is
//! for those to see who hold the round.

use std::collections::BTreeSet;

use seedbed_model::{Canonical, NodeId, NumberKind};

use super::{Ballot, Rules, Value, Vote};

/// A ballot under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Round<B, V> {
    /// Which.
    pub ballot: B,
    /// Where it stands.
    pub phase: Phase<B, V>,
    /// Who said no in this phase.
    denials: BTreeSet<NodeId>,
}

/// The phases of Paxos.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Phase<B, V> {
    /// PREPARE is sent.
    Prepare {
        /// Who promised.
        promises: BTreeSet<NodeId>,
        /// The vote to be taken up, of those that the promises told of.
        highest: Option<Vote<B, V>>,
    },
    /// ACCEPT is sent.
    Accept {
        /// Who accepted.
        votes: BTreeSet<NodeId>,
    },
}

impl<K: NumberKind, V: Value> Round<Ballot<K>, V> {
    /// Step 1: PREPARE is sent to all acceptors.
    pub fn prepare(ballot: Ballot<K>) -> Self {
        let phase = Phase::Prepare { promises: BTreeSet::new(), highest: None };
        Round { ballot, phase, denials: BTreeSet::new() }
    }

    /// ACCEPT is sent to all acceptors, by a proposer that has had their promises.
    pub fn accept(ballot: Ballot<K>) -> Self {
        Round { ballot, phase: Phase::Accept { votes: BTreeSet::new() }, denials: BTreeSet::new() }
    }

    /// An acceptor promised, and told of its vote. Whether a majority has: step 3.
    pub fn on_promise(&mut self, from: NodeId, vote: Option<Vote<Ballot<K>, V>>, rules: &Rules) -> bool {
        let Phase::Prepare { promises, highest } = &mut self.phase else { return false };
        promises.insert(from);
        let is_higher = |vote: &Vote<Ballot<K>, V>| match &*highest {
            None => rules.votes_are_taken_up,
            Some(highest) => rules.highest_is_taken_up && vote.rank() >= highest.rank(),
        };
        if vote.as_ref().is_some_and(is_higher) {
            *highest = vote;
        }
        promises.len() >= rules.majority()
    }

    /// Step 4: a majority promised, and ACCEPT is sent. With it goes the value of the highest vote, if there is one: "an acceptor
    /// demands that some prior value is used" (FaTLease §4.2). It is handed out.
    pub fn begin_accept(&mut self) -> Option<Vote<Ballot<K>, V>> {
        match std::mem::replace(self, Round::accept(self.ballot)).phase {
            Phase::Prepare { highest, .. } => highest,
            Phase::Accept { .. } => None,
        }
    }

    /// An acceptor accepted. Whether a majority has: step 6, the value is chosen.
    pub fn on_vote(&mut self, from: NodeId, rules: &Rules) -> bool {
        let Phase::Accept { votes } = &mut self.phase else { return false };
        votes.insert(from);
        votes.len() >= rules.majority()
    }

    /// An acceptor said no. Whether those that have not are no majority.
    pub fn on_denial(&mut self, from: NodeId, rules: &Rules) -> bool {
        self.denials.insert(from);
        self.denials.len() > rules.acceptors - rules.majority()
    }

    /// Whether a promise of this acceptor would count.
    pub fn awaits_promise(&self, from: NodeId) -> bool {
        matches!(&self.phase, Phase::Prepare { promises, .. } if !promises.contains(&from))
    }

    /// Whether a vote of this acceptor would count.
    pub fn awaits_vote(&self, from: NodeId) -> bool {
        matches!(&self.phase, Phase::Accept { votes } if !votes.contains(&from))
    }

    /// Whether a denial of this acceptor would count.
    pub fn awaits_denial(&self, from: NodeId) -> bool {
        !self.denials.contains(&from)
    }
}

#[cfg(test)]
mod tests {
    use crate::paxos::testing::{ballot, vote};

    use super::*;

    #[test]
    fn a_majority_of_promises_hands_out_the_highest_vote() {
        let rules = Rules::whole(5);
        let mut round = Round::prepare(ballot(9, 0));
        assert!(!round.on_promise(NodeId(1), Some(vote(3, 1, 1)), &rules));
        assert!(!round.on_promise(NodeId(1), Some(vote(3, 1, 1)), &rules), "an acceptor counts once");
        assert!(!round.awaits_promise(NodeId(1)) && round.awaits_promise(NodeId(2)));
        assert!(!round.on_promise(NodeId(2), Some(vote(3, 1, 2)), &rules));
        assert!(round.on_promise(NodeId(3), Some(vote(2, 4, 7)), &rules));
        assert_eq!(round.begin_accept(), Some(vote(3, 1, 2)));
        assert!(!round.on_promise(NodeId(4), None, &rules), "the phase is over");
        assert!(!round.on_vote(NodeId(1), &rules) && !round.on_vote(NodeId(2), &rules));
        assert!(round.on_vote(NodeId(3), &rules));
    }

    #[test]
    fn a_round_is_lost_when_those_that_did_not_deny_are_no_majority() {
        let rules = Rules::whole(4);
        let mut round = Round::prepare(ballot(1, 0));
        assert!(!round.on_denial(NodeId(1), &rules));
        assert!(!round.on_denial(NodeId(1), &rules));
        round.on_promise(NodeId(0), None::<crate::paxos::Vote<_, _>>, &rules);
        assert_eq!(round.begin_accept(), None::<crate::paxos::Vote<_, crate::paxos::testing::Turned>>);
        assert!(!round.on_denial(NodeId(2), &rules), "each phase counts anew");
        assert!(round.on_denial(NodeId(3), &rules));
    }
}
