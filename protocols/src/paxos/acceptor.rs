//! The acceptor: what it promised and voted for, and how it answers PREPARE and ACCEPT (FaTLease §3, Figure 1).

use seedbed_model::{Canonical, Data, NumberKind};

use super::{Ballot, Rules};

/// What an acceptor knows of an instance. With durable acceptors this is what it must not forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Acceptor<B, V> {
    /// The largest ballot promised or accepted.
    pub promised: Option<B>,
    /// The latest vote.
    pub accepted: Option<Vote<B, V>>,
}

/// A value that an acceptor accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Vote<B, V> {
    /// Under which ballot.
    pub ballot: B,
    /// What.
    pub value: V,
}

/// What acceptors decide on.
pub trait Value: Data {
    /// Orders what a proposer proposes under one ballot, one after the other. `()` where that is one value.
    type Turn: Ord;

    /// Which of these it is.
    fn turn(&self) -> Self::Turn;
}

/// No: another ballot is promised. "Sending nack messages instead is an optimization" (FaTLease §4.2) of saying nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    /// Its number, which the next ballot must go beyond.
    pub number: u16,
}

impl<B, V> Default for Acceptor<B, V> {
    fn default() -> Self {
        Acceptor { promised: None, accepted: None }
    }
}

impl<K: NumberKind, V: Value> Acceptor<Ballot<K>, V> {
    /// Step 2: "acceptors guarantee they will not accept any other proposal with a lower ballot number". With the promise
    /// goes the vote that the proposer has to take up.
    ///
    /// # Errors
    /// If a larger ballot is promised.
    pub fn prepare(&mut self, ballot: Ballot<K>, rules: &Rules) -> Result<Option<Vote<Ballot<K>, V>>, Denied> {
        self.check(ballot, rules)?;
        self.promised = Some(ballot);
        let own = |vote: &Vote<Ballot<K>, V>| if rules.vote_names_its_ballot { vote.ballot } else { ballot };
        Ok(self.accepted.as_ref().map(|vote| Vote { ballot: own(vote), value: vote.value.clone() }))
    }

    /// Step 5: "acceptors commit to one proposal and accept it". Whether they do: not if a later value of the same ballot has
    /// overtaken it.
    ///
    /// # Errors
    /// If a larger ballot is promised.
    pub fn accept(&mut self, vote: Vote<Ballot<K>, V>, rules: &Rules) -> Result<bool, Denied> {
        if rules.promise_binds {
            self.check(vote.ballot, rules)?;
        }
        if rules.later_turn_stands && self.accepted.as_ref().is_some_and(|last| last.overtook(&vote)) {
            return Ok(false);
        }
        if rules.vote_promises {
            self.promised = Some(vote.ballot);
        }
        self.accepted = Some(vote);
        Ok(true)
    }

    /// Whether the ballot may be promised, or voted under.
    ///
    /// # Errors
    /// If not. It never may again.
    pub fn check(&self, ballot: Ballot<K>, rules: &Rules) -> Result<(), Denied> {
        let Some(promised) = self.promised.filter(|promised| *promised != ballot) else { return Ok(()) };
        let is_below = if rules.number_is_promised_once { ballot.number <= promised.number } else { ballot < promised };
        if is_below { Err(self.denied()) } else { Ok(()) }
    }

    /// A no, for whatever reason.
    pub fn denied(&self) -> Denied {
        Denied { number: self.promised.map_or(0, |promised| promised.number) }
    }
}

impl<K: NumberKind, V: Value> Vote<Ballot<K>, V> {
    /// Votes go by ballots, and under one ballot by turns.
    pub fn rank(&self) -> (Ballot<K>, V::Turn) {
        (self.ballot, self.value.turn())
    }

    fn overtook(&self, other: &Self) -> bool {
        self.ballot == other.ballot && self.value.turn() > other.value.turn()
    }
}

#[cfg(test)]
mod tests {
    use crate::paxos::testing::{Turned, ballot, vote};

    use super::*;

    fn promised(number: u16, host: u16) -> Acceptor<Ballot<crate::paxos::testing::Attempts>, Turned> {
        let mut acceptor = Acceptor::default();
        assert_eq!(acceptor.prepare(ballot(number, host), &Rules::whole(3)), Ok(None));
        acceptor
    }

    #[test]
    fn a_promise_keeps_smaller_ballots_out_and_tells_of_the_vote() {
        let rules = Rules::whole(3);
        let mut acceptor = promised(2, 0);
        assert_eq!(acceptor.accept(vote(1, 1, 0), &rules), Err(Denied { number: 2 }));
        assert_eq!(acceptor.accept(vote(2, 0, 0), &rules), Ok(true), "the ballot that it promised itself");
        assert_eq!(acceptor.prepare(ballot(1, 1), &rules), Err(Denied { number: 2 }));
        assert_eq!(acceptor.prepare(ballot(2, 1), &rules), Ok(Some(vote(2, 0, 0))), "larger by its host");
        assert_eq!(acceptor.accept(vote(3, 2, 0), &rules), Ok(true), "a promise was not asked for");
        assert_eq!(acceptor.prepare(ballot(2, 1), &rules), Err(Denied { number: 3 }), "a vote is a promise");
        let mutant = Rules { promise_binds: false, ..rules };
        assert_eq!(promised(2, 0).accept(vote(1, 1, 0), &mutant), Ok(true));
    }

    #[test]
    fn one_ballot_of_a_number_is_promised_where_the_rules_say_so() {
        let once = Rules { number_is_promised_once: true, ..Rules::whole(3) };
        let mut acceptor = promised(2, 0);
        assert_eq!(acceptor.prepare(ballot(2, 1), &once), Err(Denied { number: 2 }));
        assert_eq!(acceptor.prepare(ballot(2, 0), &once), Ok(None), "the same once more");
        assert_eq!(acceptor.prepare(ballot(3, 0), &once), Ok(None));
    }

    #[test]
    fn of_the_values_of_one_ballot_the_latest_stands() {
        let rules = Rules::whole(3);
        let mut acceptor = Acceptor::default();
        assert_eq!(acceptor.accept(vote(1, 0, 2), &rules), Ok(true));
        assert_eq!(acceptor.accept(vote(1, 0, 1), &rules), Ok(false), "it was overtaken");
        assert_eq!(acceptor.accept(vote(1, 0, 2), &rules), Ok(true), "the same once more");
        assert_eq!(acceptor.accepted, Some(vote(1, 0, 2)));
        assert_eq!(acceptor.accept(vote(2, 0, 1), &rules), Ok(true), "turns count within a ballot");
    }
}
