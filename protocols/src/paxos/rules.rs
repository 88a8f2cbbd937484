//! The rules of Paxos, each with a switch.

/// By which rules acceptors and proposers go. [`Rules::whole`] is Paxos; a configuration says what it needs beside it, and its
/// mutants leave something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How many acceptors there are.
    pub acceptors: usize,
    /// A majority is more than half.
    pub majority_exceeds_half: bool,

    /// An acceptor accepts nothing below what it promised.
    pub promise_binds: bool,
    /// Of each number one ballot is promised. Else one after the other may be, as ballots of one number are ordered too. No
    /// part of Paxos: a configuration for which the number has a meaning of its own needs it.
    pub number_is_promised_once: bool,
    /// A vote is a promise too.
    pub vote_promises: bool,
    /// A promise tells of a vote with the ballot of that vote, not with the one just promised.
    pub vote_names_its_ballot: bool,
    /// Of the values proposed under one ballot, the one of the latest turn stands.
    pub later_turn_stands: bool,

    /// A proposer takes up a vote that it hears of.
    pub votes_are_taken_up: bool,
    /// Of several, the one with the highest ballot.
    pub highest_is_taken_up: bool,

    /// A promise is durable before it is answered.
    pub promise_is_written_first: bool,
    /// A vote is durable before it is answered.
    pub vote_is_written_first: bool,
    /// What was written is read back after a crash.
    pub state_is_read_back: bool,
}

impl Rules {
    /// Paxos (FaTLease §3), with so many acceptors.
    pub fn whole(acceptors: u16) -> Rules {
        Rules {
            acceptors: usize::from(acceptors),
            majority_exceeds_half: true,
            promise_binds: true,
            number_is_promised_once: false,
            vote_promises: true,
            vote_names_its_ballot: true,
            later_turn_stands: true,
            votes_are_taken_up: true,
            highest_is_taken_up: true,
            promise_is_written_first: true,
            vote_is_written_first: true,
            state_is_read_back: true,
        }
    }

    /// How many acceptors are a majority: ⌊|H|/2 + 1⌋.
    pub fn majority(&self) -> usize {
        let half = self.acceptors / 2;
        if self.majority_exceeds_half { half + 1 } else { half.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_is_more_than_half() {
        let majority = |acceptors| Rules::whole(acceptors).majority();
        assert_eq!([1, 2, 3, 4, 5].map(majority), [1, 2, 2, 3, 3]);
    }
}
