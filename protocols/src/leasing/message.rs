//! What Manager, Owners and Lookups send each other, and the names in it.

use std::collections::BTreeMap;
use std::fmt;

use seedbed_model::{Canonical, NodeId, Nonce, Serial, TagKind};

use super::apps::message::{Cargo, Push, Reply, Request};
use super::log::Log;
use crate::paxos::group as paxos;
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

/// The numbers of a Manager server's bids to the Paxos group; the scope is the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BidNumber {}
impl TagKind for BidNumber {
    const ID: u16 = 6;
    const NAME: &'static str = "bid";
    const BY_NODE: bool = true;
}

/// A lease generation: "every new lease assignment is done with a new lease generation number" (PRS §4.1).
///
/// The term of the leader comes first, as the Manager's nonce does in PRS's ownership handle: a leader numbers in its own
/// term alone, so no two leaders ever give one number. A Manager without a group has its incarnation's nonce for a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Generation(Serial<GenerationNumber>);

impl Generation {
    /// The first generation that an incarnation of the Manager gives to a range.
    pub(super) fn first(term: Nonce, range: RangeId) -> Self {
        Generation(Serial::before_first(term, u16::from(range.0)))
    }

    /// The generation after this one, given in `term`. For its leader alone.
    #[must_use]
    pub(super) fn next(self, term: Nonce) -> Self {
        if self.is_of(term) {
            Generation(self.0.next())
        } else {
            Generation(Serial::before_first(term, self.0.number.scope()).next())
        }
    }

    /// Whether it was given in `term`.
    pub(super) fn is_of(self, term: Nonce) -> bool {
        self.0.nonce == term
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
    /// The generation that the range's state goes back to through clean migrations alone: the flag "that the state was
    /// cleanly migrated to another Owner" (Centrifuge §2.2), for whoever knows any generation from here on.
    pub since: Generation,
    /// Who holds the lease, as far as the Manager knows.
    pub owner: Option<NodeId>,
}

impl Assignment {
    /// A range that nobody has, and whose state is gone.
    pub(super) fn free(generation: Generation) -> Self {
        Assignment { generation, since: generation, owner: None }
    }
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
    /// A new lease for whoever has the range's state of generation `from`, handed over by its Owner of that generation.
    Migrated {
        /// The new generation.
        generation: Generation,
        /// The one that ended.
        from: Generation,
    },
    /// A longer time for a lease that the Owner holds.
    Renewal(Generation),
}

impl Offer {
    /// Which generation is offered.
    pub fn generation(self) -> Generation {
        match self {
            Offer::Grant(generation) | Offer::Migrated { generation, .. } | Offer::Renewal(generation) => generation,
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
        /// Of these ranges it has the state that another Owner handed over.
        received: BTreeMap<RangeId, Generation>,
    },
    /// Manager to Owner, in answer or unasked: it should now hold exactly these leases.
    LeaseResponse {
        /// Which message, and which it follows.
        pair: Pair<ManagerNumber, OwnerNumber>,
        /// "The complete set": what is left out, the Owner must drop.
        leases: BTreeMap<RangeId, Offer>,
        /// Of these ranges it must drop the lease, and hand over the state to the Owner named.
        moves: BTreeMap<RangeId, NodeId>,
    },
    /// Owner to Owner: the state of a range, by one that dropped the lease for it (PRS §4.5, Centrifuge §2.1.2).
    HandOver {
        /// Which range.
        range: RangeId,
        /// Under which generation the state was held.
        generation: Generation,
        /// The state of the application.
        cargo: Cargo,
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
    /// Manager server to Paxos group (Figure 3).
    GroupRequest {
        /// To be named in the response; older bids than the latest granted are ignored.
        bid: Serial<BidNumber>,
        /// What is asked.
        ask: Ask,
    },
    /// Paxos group to Manager server.
    GroupResponse {
        /// Which bid it answers.
        bid: Serial<BidNumber>,
        /// What the group says.
        ruling: Ruling,
    },
    /// Between Manager servers and the acceptors of a Paxos group.
    Paxos(paxos::Message<Register>),
    /// Frontend to Owner.
    Request(Request),
    /// Owner to frontend.
    Reply(Reply),
    /// Owner to a frontend whose client subscribed.
    Push(Push),
    /// The frontend's answer to it.
    Taken(Push),
    /// Owner to Manager: how much its keys are asked for.
    Load(u64),
}

impl Message {
    /// How many leases, lines of the table or changes in it the message lists.
    pub(super) fn lines(&self) -> u64 {
        let of_register = |register: &Option<Register>| register.as_ref().map_or(0, |register| register.table.len());
        let lines = match self {
            Message::LeaseRequest { wanted, received, .. } => wanted.len() + received.len(),
            Message::LeaseResponse { leases, moves, .. } => leases.len() + moves.len(),
            Message::LookupResponse { news: News::Changes(changes), .. } => changes.len(),
            Message::LookupResponse { news: News::Snapshot(table), .. } => table.len(),
            Message::GroupRequest { ask: Ask::Renewal { update, .. }, .. } => of_register(update),
            Message::GroupResponse { ruling: Ruling::Elected { register, .. }, .. } => of_register(register),
            Message::HandOver { .. }
            | Message::LookupRequest { .. }
            | Message::GroupRequest { ask: Ask::Lease, .. }
            | Message::GroupResponse { ruling: Ruling::No | Ruling::Renewed, .. }
            | Message::Paxos(_)
            | Message::Request(_)
            | Message::Reply(_)
            | Message::Push(_)
            | Message::Taken(_)
            | Message::Load(_) => 0,
        };
        lines as u64
    }
}

/// What a Manager server asks of the Paxos group (Centrifuge Figure 3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Ask {
    /// "Can I have the leader lease?"
    Lease,
    /// "Renew leader lease and commit state update."
    Renewal {
        /// The term that it leads.
        term: Nonce,
        /// The state, if it changed since the last that was committed. It is whole: a later one replaces an earlier one.
        update: Option<Register>,
    },
}

/// What the Paxos group answers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Ruling {
    /// "No": another leads, or the term has passed.
    No,
    /// "Yes" to a standby.
    Elected {
        /// Greater than every earlier one.
        term: Nonce,
        /// Whether there was an earlier one.
        earlier: bool,
        /// The state that was committed last.
        register: Option<Register>,
    },
    /// "Yes" to the leader.
    Renewed,
}

/// What the leader keeps in the Paxos group: what a new leader cannot find out by itself. Whose leases are due when is not
/// in it, since a new leader counts every margin anew, so that renewals need no commit; nor what is being recalled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Register {
    /// The lease table. `[i]` belongs to range `i`.
    pub table: Vec<Assignment>,
    /// Its latest changes, for Lookups.
    pub log: Log,
}
