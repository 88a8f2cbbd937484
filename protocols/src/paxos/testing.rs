//! Ballots and values for the tests of the parts.

use seedbed_model::{Canonical, NodeId, Nonce, Serial, TagKind};

use super::{Ballot, Value, Vote};

/// A value is its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Turned(u8);

impl Value for Turned {
    type Turn = u8;

    fn turn(&self) -> u8 {
        self.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Attempts {}

impl TagKind for Attempts {
    const ID: u16 = 1;
    const NAME: &'static str = "attempt";
}

pub(super) fn ballot(number: u16, host: u16) -> Ballot<Attempts> {
    let attempt = Serial::before_first(Nonce::first(host), host);
    Ballot { number, host: NodeId(host), attempt }
}

pub(super) fn vote(number: u16, host: u16, turn: u8) -> Vote<Ballot<Attempts>, Turned> {
    Vote { ballot: ballot(number, host), value: Turned(turn) }
}
