//! What Manager, Owners and Lookups send each other, and the names in it.

use std::collections::BTreeMap;
use std::fmt;

use seedbed_model::{Canonical, NodeId, Nonce, Serial, TagKind};

use crate::seqpair::Pair;

/// A leased range of the name space, by its index in the Manager's table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct RangeId(pub u8);

impl fmt::Debug for RangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// The numbers of an Owner's messages; the scope is the Owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerNumber {}
impl TagKind for OwnerNumber {
    const ID: u16 = 1;
    const NAME: &'static str = "Owner SN";
    const BY_NODE: bool = true;
}

/// The numbers of the Manager's messages to one Owner; the scope is the Owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ManagerNumber {}
impl TagKind for ManagerNumber {
    const ID: u16 = 2;
    const NAME: &'static str = "Manager SN";
    const BY_NODE: bool = true;
}

/// Lease generation numbers; the scope is the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GenerationNumber {}
impl TagKind for GenerationNumber {
    const ID: u16 = 3;
    const NAME: &'static str = "LGN";
}

/// Log sequence numbers of the lease table's changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogNumber {}
impl TagKind for LogNumber {
    const ID: u16 = 4;
    const NAME: &'static str = "LSN";
}

/// The numbers of a Lookup's polls; the scope is the Lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PollNumber {}
impl TagKind for PollNumber {
    const ID: u16 = 5;
    const NAME: &'static str = "poll";
    const BY_NODE: bool = true;
}

/// A lease generation: "every new lease assignment is done with a new lease generation number" (PRS §4.1).
///
/// A Manager that restarts does not know the numbers it gave, so its nonce comes first, as in PRS's ownership handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Generation(Serial<GenerationNumber>);

impl Generation {
    /// The first generation that an incarnation of the Manager gives to a range.
    pub(super) fn first(manager: Nonce, range: RangeId) -> Self {
        Generation(Serial::before_first(manager, u16::from(range.0)))
    }

    /// The generation after this one. For the Manager alone.
    #[must_use]
    pub(super) fn next(self) -> Self {
        Generation(self.0.next())
    }
}

impl fmt::Debug for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LGN {:?}", self.0)
    }
}

/// A state of the lease table: which incarnation's of the Manager, and after which change.
pub type Edition = Serial<LogNumber>;

/// One line of the lease table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Assignment {
    /// The present generation. It is new from the moment the Manager learns that the last lease ended.
    pub generation: Generation,
    /// Who holds the lease, as far as the Manager knows.
    pub owner: Option<NodeId>,
}

/// One line of the change log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Change {
    /// What it makes of the table.
    pub edition: Edition,
    /// Which range.
    pub range: RangeId,
    /// What it became.
    pub assignment: Assignment,
}

/// How a lease is offered. "Grants are distinguished from renewals so that if an Owner restarts, it will not accept an
/// extension on a lease it previously owned" (Centrifuge §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Offer {
    /// A new lease. In one message only: sent again, it would give a generation to a holder that lost its state.
    Grant(Generation),
    /// A longer time for a lease that the Owner holds.
    Renewal(Generation),
}

impl Offer {
    /// Which generation is offered.
    pub fn generation(self) -> Generation {
        match self {
            Offer::Grant(generation) | Offer::Renewal(generation) => generation,
        }
    }
}

/// The table's news for a Lookup (§2.2.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum News {
    /// What changed since the edition that the Lookup has, in order; nothing, perhaps.
    Changes(Vec<Change>),
    /// The whole table: the log was truncated, or is longer than the table. `[i]` belongs to range `i`.
    Snapshot(Vec<Assignment>),
}

/// What the nodes send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// Owner to Manager: it is alive, and wants exactly these leases renewed.
    LeaseRequest {
        /// Which message, and which it follows.
        pair: Pair<OwnerNumber, ManagerNumber>,
        /// "The complete set": what is left out, the Owner does not hold.
        wanted: BTreeMap<RangeId, Generation>,
    },
    /// Manager to Owner, in answer or unasked: it should now hold exactly these leases.
    LeaseResponse {
        /// Which message, and which it follows.
        pair: Pair<ManagerNumber, OwnerNumber>,
        /// "The complete set": what is left out, the Owner must drop.
        leases: BTreeMap<RangeId, Offer>,
    },
    /// Lookup to Manager.
    LookupRequest {
        /// To be named in the response.
        poll: Serial<PollNumber>,
        /// The edition that the Lookup has; `None` if it has none.
        known: Option<Edition>,
    },
    /// Manager to Lookup.
    LookupResponse {
        /// Which poll it answers.
        poll: Serial<PollNumber>,
        /// What the Lookup has, once it takes in the news.
        edition: Edition,
        /// The news.
        news: News,
    },
}
