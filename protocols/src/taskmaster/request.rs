//! What clients ask of TaskMaster, and what comes of it (§4).

use std::collections::BTreeSet;

use seedbed_model::{Canonical, NodeId, Nonce, OpId, Span};

use super::gathering::Report;
use super::task::{Name, Pid, Queue};

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

impl OpKey {
    /// The operation at this place of a batch, which is called as its first one.
    #[must_use]
    pub fn part(self, place: u32) -> OpKey {
        OpKey { call: self.call + place, ..self }
    }
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
        /// For so long; `None`: for as long as is usual.
        length: Option<Span>,
    },
    /// Deletes a queue.
    Delete(Queue),
    /// Names of queues.
    List(Listing),
    /// A queue's statistics.
    Inspect(Queue),
    /// The statistics of several queues, of all nodes.
    Survey(Listing),
    /// Several updates and leases, each by itself. None of them is a batch.
    Batch(Vec<Request>),
}

impl Request {
    /// How many operations it is.
    pub fn operations(&self) -> u32 {
        match self {
            Request::Batch(requests) => requests.len() as u32,
            _ => 1,
        }
    }
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
    /// For so long from now; `None`: for as long as is usual.
    pub length: Option<Span>,
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
    Statistics(Report),
    /// It is not: it is about queues of several consistency groups.
    CrossesGroups,
    /// What all nodes say of the queues that there are.
    Aggregate {
        /// In order.
        queues: Vec<Report>,
        /// Without those of these nodes, which have not answered.
        missing: Vec<NodeId>,
    },
    /// What came of each operation of a batch, in the order of the request.
    Batch(Vec<Reply>),
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
    /// Renew what is held, for so long, or for as long as is usual.
    Renew(Option<Span>),
    /// Lease, then renew what was leased so many times while it is worked on, and dequeue it (§3.3).
    Toil(Request, u32),
    /// A request of a user's is enqueued, to be done at once (§7).
    Submit(u32),
    /// One is leased whose time has come, and worked on, which may fail (§7).
    Convert(Outcome),
    /// A task is leased that coordinates so many others: they are enqueued, and once none is left it moves on (§7).
    Coordinate(u32),
    /// A task is enqueued at any node, at another where one does not answer (§5.7, §7).
    Anywhere(u32),
    /// The queues are listed, and of some of them tasks are leased, worked on, and dequeued (§3.6).
    Discover(Listing),
    /// These in one call, each by itself: updates and leases, or `Finish` and `Renew`.
    Together(Vec<Operation>),
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
