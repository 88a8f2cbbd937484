//! What properties see.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId, Span, Stamp};

use super::gathering::Report;
use super::request::{Listing, OpKey, Reply, Request};
use super::task::{Atom, Counter, Name, Pid, Queue, Row, Task, Ticket};

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
    /// A renewal was taken from this worker, for so long if it says for how long.
    Renewed(NodeId, Name, Stamp, Option<Span>),
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
    /// TaskMaster says this of a queue.
    Reported(Report),
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
    /// A worker works on these for long.
    Toils(Vec<Name>),
    /// An operation of a batch has ended, with this.
    PartEnded(OpKey, Reply),
    /// A batch is answered.
    Batched(OpKey, Vec<Reply>),
}
