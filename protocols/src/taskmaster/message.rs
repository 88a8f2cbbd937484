//! What nodes send each other, and the data store.

use seedbed_model::{Canonical, NodeId, Nonce};

use super::gathering::Report;
pub use super::observation::Observation;
pub use super::request::*;
use super::task::{Atom, Counter, Queue, Row, Task, Ticket};

/// What nodes send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To the data store.
    Read {
        /// The incarnation that asks.
        nonce: Nonce,
        /// For which operation and the how manieth reading of it; `None`: for itself.
        asker: Option<(OpKey, u32)>,
        /// What.
        read: Read,
    },
    /// To the data store: one row.
    Write {
        /// The incarnation that writes.
        nonce: Nonce,
        /// The cell's timestamp: the store shows the one of the latest, in whatever order they come (TA4).
        version: Ticket,
        /// What.
        write: Write,
    },
    /// From the data store.
    Found {
        /// Whom.
        nonce: Nonce,
        /// As asked.
        asker: Option<(OpKey, u32)>,
        /// As asked.
        read: Read,
        /// What there is.
        found: Found,
    },
    /// From the data store: this write is durable.
    Written {
        /// Whose.
        nonce: Nonce,
        /// Its timestamp.
        version: Ticket,
        /// Which row.
        place: Place,
    },
    /// From a client.
    Call {
        /// The client's incarnation.
        nonce: Nonce,
        /// Numbers its calls.
        call: u32,
        /// What is asked.
        request: Request,
    },
    /// To a client.
    Reply {
        /// The client's incarnation.
        nonce: Nonce,
        /// Which call.
        call: u32,
        /// What came of it.
        reply: Reply,
    },
    /// A call, from a proxy.
    Passed {
        /// Whose.
        key: OpKey,
        /// What is asked.
        request: Request,
    },
    /// To a proxy.
    PassedBack {
        /// Whose call it was.
        key: OpKey,
        /// What came of it.
        reply: Reply,
    },
    /// From one TaskMaster node to another: which queues it has.
    Gather {
        /// Who has asked for a list, or for statistics.
        key: OpKey,
        /// Which.
        listing: Listing,
    },
    /// These.
    Gathered {
        /// Who has asked.
        key: OpKey,
        /// Those that it has.
        reports: Vec<Report>,
    },
    /// To the cluster management: this incarnation has started, and may begin if it is told to.
    Join(Nonce),
    /// From the cluster management.
    Begin {
        /// Which incarnation.
        nonce: Nonce,
        /// "A static sharding": how often there was another.
        sharding: u32,
    },
    /// To the cluster management: it serves with this sharding.
    Ready(u32),
    /// From the cluster management: stop, for good.
    Stop,
    /// To the cluster management: it has.
    Stopped,
}

/// What is read from the data store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Read {
    /// Where the log begins.
    Minimum,
    /// The log behind this ticket, a scan.
    Log(Ticket),
    /// All counters, a scan.
    Counters,
    /// One row.
    Row(Row),
    /// A scan of so many rows of a queue's generation, from this one on.
    Tasks {
        /// The first.
        from: Row,
        /// How many.
        count: u32,
    },
    /// The rows of a queue's earlier generations, a scan.
    Old(Queue, u32),
    /// Where the log of another node begins.
    MinimumOf(NodeId),
}

/// A row of the data store, and what it is to hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Write {
    /// A task; `None` deletes it.
    Task(Row, Option<Task>),
    /// An ApplyAtom, in the row of its ticket.
    Log(Atom),
    /// A queue's sizes.
    Counter(Queue, Counter),
    /// Where the log begins.
    Minimum(Minimum),
}

/// A row of the data store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Place {
    /// A task's.
    Task(Row),
    /// A ticket's.
    Log,
    /// A queue's sizes.
    Counter(Queue),
    /// Where the log begins.
    Minimum,
}

impl Write {
    /// Which row.
    pub fn place(&self) -> Place {
        match self {
            Write::Task(row, _) => Place::Task(*row),
            Write::Log(_) => Place::Log,
            Write::Counter(queue, _) => Place::Counter(*queue),
            Write::Minimum(_) => Place::Minimum,
        }
    }
}

/// "The minimum ticket which has been successfully applied" (§5.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Minimum {
    /// The latest incarnation that took over: what an earlier one still writes here is not shown any more.
    pub owner: Nonce,
    /// The ticket. All behind it of its incarnation's log is to be replayed, and nothing else.
    pub ticket: Ticket,
    /// The log up to here is not needed any more: an earlier minimum, which is durable already. A minimum that is only on its way
    /// may appear after a restart has looked for it, and before it is fenced: the restart then goes back behind it.
    pub trimmed: Ticket,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Found {
    /// `None` before the first incarnation.
    Minimum(Option<Minimum>),
    /// In order.
    Log(Vec<(Ticket, Atom)>),
    /// In order.
    Counters(Vec<(Queue, Counter)>),
    /// Of a row or a scan, those that are there, in order.
    Tasks(Vec<(Row, Task)>),
}

/// Names of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// TaskMaster: counters are written.
    Checkpoint,
    /// TaskMaster: what the store has not answered is sent again.
    Retry,
    /// TaskMaster: until then no lease of the queue's expires (§5.6).
    Expiry(Queue),
    /// A client: it waits no longer for its reply.
    Patience,
    /// A client: it looks again whether a queue has drained.
    Poll,
    /// The data store: a random read has taken its time.
    Read(u32),
    /// TaskMaster: it no longer waits for what others say to this client's list.
    Gather(NodeId),
}

/// What is left to the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// TaskMaster writes its counters now.
    Checkpoint,
    /// A client waits no longer for its reply.
    GiveUp,
    /// The cluster management begins to reshard.
    Reshard,
}
