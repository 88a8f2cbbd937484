//! What happens in leasing, beside messages: the timers of its nodes, what the Manager may decide, what is written down, and what
//! properties see.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId};

use super::apps::message::{Key, Push};
use super::message::{Generation, RangeId, Register};
use super::together::Feature;
use crate::paxos::group as paxos;

/// The timers of all roles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At the Manager: the margin counted from the receipt of the Owner's latest request. While it is armed, the Owner
    /// counts as live.
    Heard(NodeId),
    /// At the Manager: the range is kept from all but its Owner.
    Unavailable(RangeId),
    /// At the Manager, after a restart or a failover: leases of an earlier incarnation or leader may be held.
    Quarantine,
    /// At a Manager server: the next bid to the group is to be sent.
    NextBid,
    /// At a Manager server: the leader lease counted from the sending of the latest bid.
    Bid,
    /// At a Manager server: its leader lease is held.
    Lead,
    /// At the group: nobody else is elected.
    Leader,
    /// At the Manager and at an Owner: a message of this Owner's link was dropped as racing.
    BackOff(NodeId),
    /// At an Owner: the next request is to be sent.
    Renew,
    /// At an Owner: the lease counted from the sending of the latest request.
    Request,
    /// At an Owner: the range's lease is held, or its state kept that was handed over.
    Lease(RangeId),
    /// At a Lookup: the next poll is to be sent.
    Poll,
    /// At a Lookup: how long contact lasts if the latest poll is answered.
    Asked,
    /// At a Lookup: its table is recent enough to be believed.
    Contact,
    /// At an acceptor of a Paxos group.
    Paxos(paxos::Timer),
    /// At an Owner: an operation works on the key; or the task on the range of this number.
    Work(Key),
    /// At an Owner: the range's task is due next.
    Task(RangeId),
    /// At a Lookup: its frontend asks anew.
    Retry,
    /// At an Owner: the document expires.
    Expiry(Key),
    /// At the Manager: a period of the change log ends.
    Truncate,
    /// At the Manager: a round of load management ends.
    Balance,
    /// At a Lookup: its frontend retries no longer.
    GiveUp,
}

/// What the Manager may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Grant a free range to a live Owner.
    Grant(RangeId, NodeId),
    /// Take a range back from a live Owner.
    Recall(RangeId),
    /// Take a range back, and let its state go to this live Owner, which then gets the lease.
    Move(RangeId, NodeId),
    /// Take this half of a range back, with its state for this Owner or for nobody, and leave the other where it is.
    Split(RangeId, Option<NodeId>),
}

/// What the Manager writes down, and a Paxos group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Record {
    /// It started for the first time.
    Started,
    /// An acceptor's state.
    Paxos(paxos::Kept<Register>),
}

/// What the disk holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// Whether the Manager ever started.
    pub was_started: bool,
    /// What an acceptor keeps.
    pub kept: paxos::Kept<Register>,
}

/// What nodes show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// An Owner holds the range from here on.
    Held {
        /// Which.
        range: RangeId,
        /// Under which generation.
        generation: Generation,
        /// With the state of that generation, which was handed over; `None`: with none.
        from: Option<Generation>,
        /// With whose state the Manager gave it.
        migrated: Option<Generation>,
    },
    /// An Owner no longer holds it, and has sent the state that it kept there to another.
    Moved {
        /// Which.
        range: RangeId,
        /// Under which generation.
        generation: Generation,
    },
    /// An Owner no longer holds it, and the state it kept there is gone.
    Lost {
        /// Which.
        range: RangeId,
        /// Under which generation.
        generation: Generation,
    },
    /// A Lookup has its first table since it had no contact.
    Connected(BTreeMap<RangeId, Generation>),
    /// A Lookup tells its application: of the range, whatever is older than the generation is lost.
    Notified {
        /// Which.
        range: RangeId,
        /// The present generation.
        generation: Generation,
    },
    /// A Lookup learns of a generation to which the state was migrated, and has nothing to tell.
    Kept {
        /// Which.
        range: RangeId,
        /// The present generation.
        generation: Generation,
    },
    /// A Lookup tells its application that everything is lost.
    Disconnected,
    /// A Lookup's contact has ended, which it finds out at its next step.
    OutOfContact,
    /// A Lookup whose contact has ended takes a step.
    FoundOut,
    /// An Owner finds that it has held this lease without a break.
    Continuous {
        /// Of which range.
        range: RangeId,
        /// Which.
        lease: Generation,
    },
    /// An Owner makes known what it did under this lease.
    Exposed {
        /// Of which range.
        range: RangeId,
        /// Which.
        lease: Generation,
    },
    /// An Owner begins the range's periodic task.
    TaskBegun(RangeId),
    /// A frontend answers its client with what an Owner exposed.
    Believed {
        /// Of which range.
        range: RangeId,
        /// Under which lease.
        lease: Generation,
    },
    /// A Manager server leads from here on.
    Leads,
    /// It leads no longer.
    Deposed,
    /// A frontend gives its client what was published.
    Delivered(Push),
    /// A frontend tells its client that it may have missed something under the key.
    Missed(Key),
    /// A document that nobody refreshed is deleted by its server.
    Expired(Key),
    /// The run has had this, which the bound asks for.
    Had(Feature),
    /// A frontend asks a server of the application, where what is outstanding there is capped.
    Outstanding {
        /// Which.
        server: NodeId,
        /// How many of its requests are there now.
        count: u16,
    },
    /// The leader gives virtual nodes from Owner to Owner, and they are so many.
    Rebalanced(u32),
}
