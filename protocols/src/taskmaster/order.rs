//! What must hold of what leases return (§3.3): "an approximate top-k result can be modeled as a reordering of an enqueue and a lease
//! operation acting on the same queue". So a lease passes over a task of a higher priority only where some other operation, at work
//! while it was, is about that task.
//!
//! And of how often leases expire (§5.6).

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Span, Watch};

use super::TaskMaster;
use super::ledger::Ledger;
use super::message::{OpKey, Request};
use super::task::{Atom, Name, Pid, Queue};

/// What these properties remember: nothing, where `ordered` is not asked for and `expiry-every` is 0s.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Order {
    /// The operations that are at work.
    at_work: BTreeMap<OpKey, Work>,
    /// The queues in which leases have expired so lately that no other may.
    rested: BTreeSet<Queue>,
}

/// An operation at work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Work {
    /// The queues of a lease that has taken some of its tasks, nobody knows which.
    discovers_in: BTreeSet<Queue>,
    /// What it is about, as far as that is known.
    about: BTreeSet<Name>,
    /// Of a lease, what others at work since it began were about.
    explained: BTreeSet<Name>,
}

impl Order {
    /// An operation takes its locks.
    pub fn begins(&mut self, op: OpKey, request: &Request) {
        let (discovers_in, about) = match request {
            Request::Update(update) => (BTreeSet::new(), super::update::names(update).collect()),
            Request::Lease { queues, .. } => (queues.clone(), BTreeSet::new()),
            _ => (BTreeSet::new(), BTreeSet::new()),
        };
        let explained = self.at_work.values().flat_map(|work| work.about.iter().copied()).collect();
        self.explain(&about);
        self.at_work.insert(op, Work { discovers_in, about, explained });
    }

    /// It gets its ticket. `due` is before it.
    pub fn logged(&mut self, op: OpKey, atom: &Atom, due: &Ledger, watch: &mut Watch<'_>) {
        let Some(mut work) = self.at_work.remove(&op) else { return };
        let names: BTreeSet<Name> = atom.rows.keys().map(|row| row.name()).collect();
        for queue in std::mem::take(&mut work.discovers_in) {
            let others = self.at_work.values().any(|other| other.discovers_in.contains(&queue));
            if !others {
                judge(queue, &names, &work.explained, due, watch);
            }
        }
        self.explain(&names);
        work.about.extend(names);
        self.at_work.insert(op, work);
    }

    /// It has ended, or all of its node have.
    pub fn retain(&mut self, is_open: impl Fn(&OpKey) -> bool) {
        self.at_work.retain(|op, _| is_open(op));
    }

    /// Leases of a queue expire.
    pub fn expired(&mut self, queue: Queue, rules: &TaskMaster, watch: &mut Watch<'_>) {
        if rules.params.expiry_every == Span::ZERO {
            return;
        }
        if !self.rested.insert(queue) {
            let detail = format!("leases of {queue:?} expire again within {}", rules.params.expiry_every);
            watch.violated("expires-seldom", detail);
        }
        watch.set_deadline(1 + u32::from(queue.0), rules.params.expiry_every);
    }

    /// They may again.
    pub fn may_expire(&mut self, deadline: u32) {
        self.rested.remove(&Queue((deadline - 1) as u16));
    }

    /// A TaskMaster node has stopped: how lately leases have expired is soft state.
    pub fn forget_expiry(&mut self) {
        self.rested.clear();
    }

    fn explain(&mut self, about: &BTreeSet<Name>) {
        for work in self.at_work.values_mut().filter(|work| !work.discovers_in.is_empty()) {
            work.explained.extend(about);
        }
    }
}

/// Whether all that is free in the queue before the last task that is leased there is leased, too, or explained.
fn judge(queue: Queue, names: &BTreeSet<Name>, explained: &BTreeSet<Name>, due: &Ledger, watch: &mut Watch<'_>) {
    let of_queue = names.range((queue, Pid(0))..=(queue, Pid(u32::MAX)));
    let Some((_, last)) = of_queue.last().copied() else { return };
    let mut before = due.of(queue).take_while(|(pid, _)| *pid < last);
    let passed_over = before.find(|(pid, task)| {
        task.lease.is_none() && !names.contains(&(queue, *pid)) && !explained.contains(&(queue, *pid))
    });
    if let Some((pid, _)) = passed_over {
        watch.violated("leases-in-order", format!("{last:?} of {queue:?} is leased, and {pid:?} is passed over"));
    }
}
