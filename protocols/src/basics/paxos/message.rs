//! Ballots and values, what is sent, what is written, what is shown.

use seedbed_model::{Canonical, NodeId};

/// A proposal's number: distinct across servers, and higher for every further try of one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Ballot {
    /// From 1.
    pub round: u32,
    /// Whose it is.
    pub server: NodeId,
}

/// A value to be chosen: the index of the client that proposes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Value(pub u8);

/// A proposal as acceptors know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Proposal {
    /// Its number.
    pub ballot: Ballot,
    /// Its value.
    pub value: Value,
}

/// What servers and clients send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// Client to server: choose this, please.
    Propose(Value),
    /// Server to client: this is chosen.
    Chosen(Value),
    /// Phase 1a.
    Prepare(Ballot),
    /// Phase 1b: nothing lower will be accepted; this is the highest that was.
    Promise(Ballot, Option<Proposal>),
    /// Phase 2a.
    Accept(Proposal),
    /// Phase 2b.
    Accepted(Ballot),
    /// Proposer to the other learners.
    Learn(Value),
}

/// What an acceptor writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Record {
    /// Nothing lower is accepted from here on.
    Promised(Ballot),
    /// This was accepted.
    Accepted(Proposal),
}

/// What an acceptor must not forget.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// The highest ballot promised or accepted.
    pub promised: Option<Ballot>,
    /// The latest proposal accepted.
    pub accepted: Option<Proposal>,
}

impl Durable {
    /// What a record changes.
    pub fn fold(&mut self, record: &Record) {
        match record {
            Record::Promised(ballot) => self.promised = Some(*ballot),
            Record::Accepted(proposal) => {
                self.promised = self.promised.max(Some(proposal.ballot));
                self.accepted = Some(*proposal);
            }
        }
    }
}

/// The timers of both roles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At a proposer: try a higher ballot.
    Retry,
    /// At a client: ask another server.
    Resend,
}

/// What servers show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The server learned that this is chosen.
    Learned(Value),
}
