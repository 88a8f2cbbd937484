//! What hosts say to each other, and the names in it.

use std::fmt;

use seedbed_model::{Canonical, NodeId, Serial, Stamp, TagKind};

use crate::paxos;

/// A resource: lease negotiations of different cells have nothing to do with each other (§4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct CellId(pub u16);

/// The number of a Paxos instance. Not a tag: the next one is opened by whoever knows the latest, not by one allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Instance(pub u32);

impl Instance {
    /// Where a host begins that knows nothing (§4.4: "the initial instance 1").
    pub const INITIAL: Instance = Instance(1);

    /// The instance after this one.
    pub fn next(self) -> Instance {
        Instance(self.0 + 1)
    }
}

/// λ = (h, t): `owner` holds the lease while its own clock shows less than `end` (§4.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Lease {
    /// h.
    pub owner: NodeId,
    /// t, absolute.
    pub end: Stamp,
    /// Which proposal of its owner it was made for. The properties look at it; no step decides by it.
    pub asked: Serial<Attempts>,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({:?}, {:?})", self.owner, self.end)
    }
}

/// Numbers the proposals of one incarnation of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attempts {}

impl TagKind for Attempts {
    const ID: u16 = 1;
    const NAME: &'static str = "attempt";
    const BY_NODE: bool = true;
}

/// b.
pub type Ballot = paxos::Ballot<Attempts>;

/// λ_acc, with the ballot under which it was accepted.
pub type Vote = paxos::Vote<Ballot, Lease>;

/// A ballot bears one lease.
impl paxos::Value for Lease {
    type Turn = ();

    fn turn(&self) {}
}

/// What an acceptor answers to PREPARE and ACCEPT. The ballot beside it says to which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// To PREPARE: ACK(⊥, λ_acc, b, i), with the ballot of λ_acc.
    Ack(Option<Vote>),
    /// NACK: promised to a ballot of this number.
    Nack(u16),
    /// OUTDATED(⊥, λ_acc, b, i): the acceptor knows a newer instance.
    Outdated {
        /// i.
        instance: Instance,
        /// b, as the acceptor promised it.
        promised: Option<Ballot>,
        /// λ_acc.
        accepted: Option<Vote>,
    },
    /// The acceptor holds a lease of another owner that may be valid (§4.4), in this instance.
    Reject {
        /// "the instance number of the valid lease".
        instance: Instance,
        /// That lease, if the acceptor learned it: the proposer then need not ask for it.
        learned: Option<Lease>,
    },
    /// To ACCEPT: ACK.
    Accepted,
}

/// A message, for one cell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Message {
    /// Of which.
    pub cell: CellId,
    /// What.
    pub body: Body,
}

/// An acceptor's answer, and to what: of [`Body::Answer`], while it may have to wait for the disk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Reply {
    /// Of which cell.
    pub cell: CellId,
    /// The ballot that is answered.
    pub ballot: Ballot,
    /// What.
    pub answer: Answer,
}

impl From<Reply> for Message {
    fn from(Reply { cell, ballot, answer }: Reply) -> Self {
        Message { cell, body: Body::Answer(ballot, answer) }
    }
}

/// What is said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Body {
    /// PREPARE(b, i).
    Prepare(Ballot, Instance),
    /// ACCEPT(λ, i, b).
    Accept(Lease, Instance, Ballot),
    /// To either.
    Answer(Ballot, Answer),
    /// LEARN(λ, i).
    Learn(Lease, Instance),
    /// INV(i), with the lease that its owner gives up.
    Inv(Instance, Lease),
}
