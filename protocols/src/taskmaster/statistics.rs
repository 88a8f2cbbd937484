//! What went through queues (§3.5): rates, and how long tasks are leased. "Most of the data backing the queue statistics is considered
//! soft state": a restart begins anew. Kept in memory alone, and only where `statistics` says so: a count tells apart situations that
//! mean the same.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Stamp};

use super::task::{Name, Queue};

/// Of all queues.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Statistics {
    flows: BTreeMap<Queue, Flow>,
    /// When leases were acquired that last.
    acquired: BTreeMap<Name, Stamp>,
}

/// What went through a queue since the node started: counts and sums, which divided by the time, or by each other, are "the enqueue,
/// lease, and dequeue rates" and "the average measured lease duration (wall time from lease acquisition until task dequeuing)".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Flow {
    /// Tasks enqueued.
    pub enqueued: u32,
    /// Tasks leased.
    pub leased: u32,
    /// Tasks dequeued.
    pub dequeued: u32,
    /// Of those whose lease was acquired since the start,
    pub measured: u32,
    /// how long they were leased, in all [ns].
    pub leased_for: u64,
}

impl Statistics {
    /// Of a queue.
    pub fn of(&self, queue: Queue) -> Flow {
        self.flows.get(&queue).copied().unwrap_or_default()
    }

    /// A task is enqueued.
    pub fn enqueued(&mut self, queue: Queue) {
        self.flows.entry(queue).or_default().enqueued += 1;
    }

    /// A lease is acquired.
    pub fn leased(&mut self, name: Name, now: Stamp) {
        self.flows.entry(name.0).or_default().leased += 1;
        self.acquired.insert(name, now);
    }

    /// A lease is taken to begin now.
    pub fn begins(&mut self, name: Name, now: Stamp) {
        self.acquired.insert(name, now);
    }

    /// A leased task is done. A difference of stamps is the same wherever the clock began.
    pub fn dequeued(&mut self, name: Name, now: Stamp) {
        let flow = self.flows.entry(name.0).or_default();
        flow.dequeued += 1;
        if let Some(acquired) = self.acquired.remove(&name) {
            flow.measured += 1;
            flow.leased_for += now.nanos().saturating_sub(acquired.nanos()).max(0).unsigned_abs();
        }
    }

    /// Of these queues nothing is known any more.
    pub fn forget(&mut self, are_gone: impl Fn(Queue) -> bool) {
        self.flows.retain(|queue, _| !are_gone(*queue));
        self.acquired.retain(|name, _| !are_gone(name.0));
    }

    /// A queue is deleted, and what is known of it.
    pub fn deleted(&mut self, queue: Queue) {
        self.forget(|other| other == queue);
    }
}
