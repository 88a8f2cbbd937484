//! Queues, tasks, what one operation does to them, and the sizes of queues (§2, §5.2, §5.3).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId, Nonce, Stamp};

/// A queue's name, within the one consistency group of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Queue(pub u16);

/// "They serve as both a priority within a queue and a unique task identifier" (§3.2). The least is the most urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Canonical)]
pub struct Pid(pub u32);

impl Pid {
    /// The least that comes after this one.
    #[must_use]
    pub fn next(self) -> Pid {
        Pid(self.0 + 1)
    }
}

/// A task's name.
pub type Name = (Queue, Pid);

/// Its row in the data store: the generation stands between the queue's name and the PID (§5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Row {
    /// Which queue.
    pub queue: Queue,
    /// How often the queue had been deleted.
    pub generation: u32,
    /// Which task.
    pub pid: Pid,
}

impl Row {
    /// The task's name.
    pub fn name(self) -> Name {
        (self.queue, self.pid)
    }
}

/// What a row holds: the user's data, and "metadata describing the task's current state (either available or leased)".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Task {
    /// Opaque.
    pub data: u32,
    /// `None`: available.
    pub lease: Option<Lease>,
    /// The data of an enqueue that met the task while it was leased: it is to be done once more (TA6).
    pub again: Option<u32>,
}

impl Task {
    /// As it is enqueued.
    pub fn available(data: u32) -> Task {
        Task { data, lease: None, again: None }
    }

    /// Whether it is leased and the lease has run out.
    pub fn is_expired(self, now: Stamp) -> bool {
        self.lease.is_some_and(|lease| lease.until <= now)
    }

    /// What is left of it once it was done.
    pub fn done(self) -> Option<Task> {
        self.again.map(Task::available)
    }
}

/// Who works at a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Lease {
    /// Who.
    pub worker: NodeId,
    /// By the clock of the TaskMaster node alone (TA5).
    pub until: Stamp,
}

/// A place in the commit log. "Sequential" within an incarnation of the node, so that no ticket is ever used twice (TA3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Ticket {
    /// Who gave it.
    pub incarnation: Nonce,
    /// From 1.
    pub number: u32,
}

/// All that one operation changes: "a set of enqueues, state changes, and dequeues as well as a set of (queue name, available
/// delta, leased delta) triples" (§5.3). Rows are given as they are to be, so that they can be written again.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Atom {
    /// What each row is to hold; `None`: nothing.
    pub rows: BTreeMap<Row, Option<Task>>,
    /// How the sizes of queues change.
    pub deltas: BTreeMap<Queue, Delta>,
    /// A queue that begins a new generation, empty.
    pub deleted: Option<Queue>,
}

/// How the sizes of a queue change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Delta {
    /// Of the available tasks.
    pub available: i64,
    /// Of the leased tasks.
    pub leased: i64,
    /// The largest PID that was assigned in it, for a FIFO queue.
    pub last: Pid,
}

impl Atom {
    /// One row goes from `before` to `after`.
    pub fn change(&mut self, row: Row, before: Option<Task>, after: Option<Task>) {
        self.rows.insert(row, after);
        let delta = self.deltas.entry(row.queue).or_default();
        for (task, sign) in [(before, -1), (after, 1)] {
            match task {
                Some(Task { lease: None, .. }) => delta.available += sign,
                Some(Task { lease: Some(_), .. }) => delta.leased += sign,
                None => {}
            }
        }
        if before.is_none() {
            delta.last = delta.last.max(row.pid);
        }
    }
}

/// A queue's sizes, as "a replay safe counter" (§5.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Counter {
    /// The last ticket that it counts: what is not later "is rejected as a replay".
    pub upto: Option<Ticket>,
    /// How often the queue was deleted.
    pub generation: u32,
    /// How many tasks are available.
    pub available: i64,
    /// How many are leased.
    pub leased: i64,
    /// The largest PID ever enqueued; it outlives the tasks, and the queue's deletion.
    pub last: Pid,
}

impl Counter {
    /// Counts a delta; false for a replay.
    pub fn count(&mut self, ticket: Ticket, delta: Delta, is_deleted: bool, is_checked: bool) -> bool {
        if is_checked && self.upto.is_some_and(|upto| ticket <= upto) {
            return false;
        }
        self.upto = self.upto.max(Some(ticket));
        self.available += delta.available;
        self.leased += delta.leased;
        self.last = self.last.max(delta.last);
        self.generation += u32::from(is_deleted);
        true
    }

    /// Size of the queue.
    pub fn size(self) -> i64 {
        self.available + self.leased
    }
}
