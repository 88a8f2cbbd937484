//! What is sent, asked for and shown.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId, Nonce, OpId, Stamp};

use super::gathering::Sizes;
use super::statistics::Flow;
use super::task::{Atom, Counter, Lease, Name, Pid, Queue, Row, Task, Ticket};

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
        /// Who has asked for a list.
        key: OpKey,
        /// Which.
        listing: Listing,
    },
    /// These.
    Gathered {
        /// Who has asked for a list.
        key: OpKey,
        /// Those that it has.
        sizes: Vec<Sizes>,
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

/// An operation in the node: whose call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct OpKey {
    /// The client.
    pub client: NodeId,
    /// Its incarnation.
    pub nonce: Nonce,
    /// Numbers its calls.
    pub call: u32,
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

/// What a client asks of TaskMaster (§4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Request {
    /// All of it or nothing.
    Update(Update),
    /// The first tasks of queues.
    Lease {
        /// Of these.
        queues: BTreeSet<Queue>,
        /// At most so many in all.
        count: u32,
        /// And none behind this one.
        most: Option<Pid>,
    },
    /// Deletes a queue.
    Delete(Queue),
    /// Names of queues.
    List(Listing),
    /// A queue's statistics.
    Inspect(Queue),
}

/// Which queues are asked for (§4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Listing {
    /// A regular expression, which fits the whole name; `None`: any name.
    pub pattern: Option<String>,
    /// They hold at least so many tasks. A queue exists as long as it holds one.
    pub least: u32,
    /// At most so many queues; 0: all.
    pub most: u32,
}

/// Instructions of one update, as they were put into the request.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Update {
    /// New tasks, in this order. `None`: the queue is FIFO, and TaskMaster assigns the PID.
    pub enqueues: Vec<(Queue, Option<Pid>, u32)>,
    /// Tasks that are done, by those who hold them.
    pub dequeues: Vec<Name>,
    /// Tasks to be leased for longer by those who hold them.
    pub renews: Vec<Name>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Reply {
    /// It is done.
    Done,
    /// It is not, and nothing of it: of this task the caller holds no lease any more.
    Lost(Name),
    /// These are the caller's now, with their data.
    Leased(Vec<(Name, u32)>),
    /// These queues there are.
    Queues(Vec<Queue>),
    /// What is known of a queue.
    Statistics {
        /// Available tasks.
        available: i64,
        /// Leased tasks.
        leased: i64,
        /// Some of them, with their workers.
        sample: Vec<(Pid, Lease)>,
        /// What went through it, where statistics are kept.
        flow: Flow,
    },
    /// It is not: it is about queues of several consistency groups.
    CrossesGroups,
    /// These queues there are in a cluster.
    Aggregate {
        /// With their sizes.
        queues: Vec<Sizes>,
        /// Without those of these nodes, which have not answered.
        missing: Vec<NodeId>,
    },
}

/// What a client does next.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// This call.
    Call(Request),
    /// Lease; then, in one update, dequeue what was leased and enqueue as much in the queue behind, if there is one.
    Work(Request, Option<Queue>),
    /// Dequeue what is held.
    Finish,
    /// Renew what is held.
    Renew,
    /// A request of a user's is enqueued, to be done at once (§7).
    Submit(u32),
    /// One is leased whose time has come, and worked on, which may fail (§7).
    Convert(Outcome),
    /// A task is leased that coordinates so many others: they are enqueued, and once none is left it moves on (§7).
    Coordinate(u32),
    /// A task is enqueued at any node, at another where one does not answer (§5.7, §7).
    Anywhere(u32),
}

/// What comes of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Outcome {
    /// It is done.
    Succeeds,
    /// It is to be done again.
    Fails,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// What TaskMaster said last.
    Replied(Reply),
    /// There was nothing to do.
    Idle,
    /// Nobody knows: no reply came.
    Unknown,
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

/// What properties see.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The data store shows a task's row from now on.
    Applied(Row, Option<Task>),
    /// TaskMaster begins an operation.
    Begun(OpKey),
    /// It has ended, with all locks free.
    Ended(OpKey),
    /// TaskMaster takes it that a task is there or not, without a look into the store.
    Looked(Name, Option<Task>),
    /// TaskMaster takes it that these are the tasks of a queue before this PID, or all.
    Knows(Queue, Option<Pid>, BTreeMap<Pid, Task>),
    /// An ApplyAtom has its ticket.
    Logged {
        /// Whose.
        op: OpKey,
        /// Which.
        ticket: Ticket,
        /// TaskMaster's clock.
        now: Stamp,
        /// What.
        atom: Atom,
    },
    /// It is committed, with the sizes of queues as counted then.
    Committed(Ticket, Vec<(Queue, Counter)>),
    /// It is acknowledged.
    Acknowledged(Ticket),
    /// An enqueue finds its task there, and changes nothing.
    Collapsed(Name),
    /// A renewal was taken from this worker.
    Renewed(NodeId, Name, Stamp),
    /// All that was committed is applied again; the sizes of queues.
    Recovered(Vec<(Queue, Counter)>),
    /// An operation on this queue waits for a thread of TaskMaster.
    Waits(Queue),
    /// One of them has it.
    Admitted(Queue),
    /// TaskMaster leases these for a request.
    Leases(Request, Vec<Name>),
    /// TaskMaster names these queues for a request.
    Listed(Listing, Vec<Queue>),
    /// TaskMaster says that so much went through a queue.
    Inspected(Queue, Flow),
    /// A list has been put together.
    Aggregated {
        /// From what these nodes have said.
        said: BTreeSet<NodeId>,
        /// It says that these have not.
        missing: BTreeSet<NodeId>,
    },
    /// All jobs of the sharding have stopped; the next is this one.
    Resharded(u32),
    /// A TaskMaster job has stopped.
    Halted,
    /// A proxy routes by this sharding from now on.
    Routes(u32),
    /// An operation has a thread, and takes its locks.
    Asked(OpKey, Request),
    /// Leases of a queue expire.
    Expired(Queue),
}

/// A client's open operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Open {
    /// Which.
    pub op: OpId,
    /// What.
    pub operation: Operation,
    /// What is asked for now.
    pub request: Request,
    /// How often it may still look whether a queue has drained, or ask another node.
    pub polls: u32,
}
