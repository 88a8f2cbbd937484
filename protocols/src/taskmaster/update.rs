//! Updates: "instructions to enqueue, dequeue, and renew leases on any number of tasks from any number of queues" (§3.4), and the
//! deletion of a queue (§5.2).

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Context, NodeId, Stamp};

use super::cache::Looked;
use super::locks::{Lock, Mode};
use super::message::{Observation, OpKey, Read, Reply, Request, Update};
use super::node::{Node, Stage};
use super::params::Consistency;
use super::task::{Atom, Delta, Lease, Name, Pid, Queue, Row, Task};
use super::{TaskMaster, mutants};

impl TaskMaster {
    /// "Queues are first locked in lexicographic order then PIDs within a queue are locked in lexicographic order" (§5.5).
    pub(super) fn locks_of_update(&self, update: &Update) -> Vec<(Lock, Mode)> {
        let names: Vec<Name> = names(update).collect();
        let locks: Vec<(Lock, Mode)> = match self.params.consistency {
            Consistency::Strict => vec![(Lock::Whole, Mode::Write)],
            Consistency::Partial => names.iter().map(|(queue, _)| (Lock::Queue(*queue), Mode::Write)).collect(),
            Consistency::Causal => {
                let queues = names.iter().map(|(queue, _)| (Lock::Queue(*queue), Mode::Read));
                let tasks = names.iter().filter(|_| !self.has(mutants::IDS_UNLOCKED));
                queues.chain(tasks.map(|name| (Lock::Task(*name), Mode::Write))).collect()
            }
        };
        if !self.has(mutants::LOCKS_AS_NAMED) {
            return locks.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
        }
        let mut seen = BTreeSet::new();
        locks.into_iter().filter(|lock| seen.insert(*lock)).collect()
    }

    /// What keeps everybody else off a queue.
    pub(super) fn lock_of(&self, queue: Queue) -> Lock {
        if self.params.consistency == Consistency::Strict { Lock::Whole } else { Lock::Queue(queue) }
    }
}

/// What an update names.
pub(super) fn names(update: &Update) -> impl Iterator<Item = Name> {
    let enqueues = update.enqueues.iter().map(|(queue, pid, _)| (*queue, pid.unwrap_or_default()));
    enqueues.chain(update.dequeues.iter().copied()).chain(update.renews.iter().copied())
}

impl Node {
    /// "TaskMaster keeps track of the last PID in the FIFO queue and assigns a lexicographically larger (and thus unique) PID" (§3.2).
    pub(super) fn assign(&mut self, mut update: Update) -> Update {
        for (queue, pid, _) in &mut update.enqueues {
            if pid.is_none() {
                let counted = self.counters.get(queue).map_or(Pid(0), |counter| counter.last);
                let last = self.assigned.get(queue).copied().unwrap_or_default().max(counted);
                self.assigned.insert(*queue, last.next());
                *pid = Some(last.next());
            }
        }
        update
    }

    /// "All the referenced (queue, PID) pairs must be read" (§5.2), those that the cache does not know. A PID that was assigned is
    /// "known to be unique" (§6.1).
    pub(super) fn read_rows(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Request::Update(update) = self.ops[&key].request.clone() else { return };
        let is_assigned = |name: &Name| {
            rules.params.fifo && update.enqueues.iter().any(|(q, p, _)| (*q, *p) == (name.0, Some(name.1)))
        };
        let mut known: BTreeMap<Row, Option<Task>> = BTreeMap::new();
        let mut missing = BTreeSet::new();
        for name in names(&update) {
            let row = self.row(name, rules);
            if is_assigned(&name) {
                known.insert(row, None);
                continue;
            }
            match self.cache.look(name) {
                Looked::Known(task) => {
                    cx.observe(Observation::Looked(name, task));
                    known.insert(row, task);
                }
                Looked::Missing => {
                    missing.insert(row);
                }
            }
        }
        let Some(op) = self.ops.get_mut(&key) else { return };
        op.rows = known;
        if missing.is_empty() {
            return self.update(key, rules, cx);
        }
        op.stage = Stage::Reading(missing.len() as u32);
        let round = op.round;
        for row in missing {
            self.read(Some((key, round)), Read::Row(row), rules, cx);
        }
    }

    /// All is known: it is valid as a whole, or nothing of it is done.
    pub(super) fn update(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(op) = self.ops.get(&key) else { return };
        let Request::Update(update) = op.request.clone() else { return };
        let before = op.rows.clone();
        match self.carry_out(key.client, &update, &before, rules, cx) {
            Err(name) => {
                cx.mark("lease-lost");
                self.reply(key, Reply::Lost(name), rules, cx);
                self.end(key, rules, cx);
            }
            Ok(after) => {
                if rules.params.statistics {
                    self.count_update(&update, &before, &after, rules, cx);
                }
                let mut atom = Atom::default();
                for (row, task) in after {
                    if before[&row] != task {
                        atom.change(row, before[&row], task);
                    }
                }
                if atom.rows.is_empty() {
                    cx.mark("coalesced");
                    self.reply(key, Reply::Done, rules, cx);
                    self.end(key, rules, cx);
                } else {
                    self.append(key, atom, rules, cx);
                }
            }
        }
    }

    /// What rows are to hold.
    ///
    /// # Errors
    /// The first task of which the worker does not hold the lease.
    fn carry_out(
        &self,
        worker: NodeId,
        update: &Update,
        before: &BTreeMap<Row, Option<Task>>,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> Result<BTreeMap<Row, Option<Task>>, Name> {
        let now = cx.clock();
        let mut after = before.clone();
        for name in &update.dequeues {
            let row = self.row(*name, rules);
            let task = after[&row].filter(|task| may_dequeue(*task, worker, rules)).ok_or(*name)?;
            if task.is_expired(now) {
                cx.mark("dequeued-late");
            }
            after.insert(row, task.done());
        }
        for name in &update.renews {
            let row = self.row(*name, rules);
            let task = after[&row].filter(|task| may_renew(*task, worker, now, rules)).ok_or(*name)?;
            cx.observe(Observation::Renewed(worker, *name, now, update.length));
            let lease = Lease { worker, until: now.plus(rules.length_of(update.length)) };
            after.insert(row, Some(Task { lease: Some(lease), ..task }));
        }
        for (queue, pid, data) in &update.enqueues {
            let row = self.row((*queue, pid.unwrap_or_default()), rules);
            let task = match after[&row] {
                None => Task::available(*data),
                // The worker may have begun before what this enqueue is about: it is to be done once more (TA6).
                Some(task) if task.lease.is_some() && !rules.has(mutants::COLLAPSES_INTO_LEASED) => {
                    Task { again: Some(task.again.unwrap_or(*data)), ..task }
                }
                Some(task) => {
                    if before[&row] == Some(task) {
                        cx.observe(Observation::Collapsed((*queue, pid.unwrap_or_default())));
                    }
                    task
                }
            };
            after.insert(row, Some(task));
        }
        Ok(after)
    }

    /// For the statistics.
    fn count_update(
        &mut self,
        update: &Update,
        before: &BTreeMap<Row, Option<Task>>,
        after: &BTreeMap<Row, Option<Task>>,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let now = cx.clock();
        update.dequeues.iter().for_each(|name| self.statistics.dequeued(*name, now));
        if rules.has(mutants::DURATION_FROM_RENEWAL) {
            update.renews.iter().for_each(|name| self.statistics.begins(*name, now));
        }
        let names: BTreeSet<Name> =
            update.enqueues.iter().map(|(queue, pid, _)| (*queue, pid.unwrap_or_default())).collect();
        for name in names {
            let row = self.row(name, rules);
            let found = match update.dequeues.contains(&name) {
                true => before[&row].and_then(Task::done),
                false => before[&row],
            };
            let is_noted = |task: Option<Task>| task.map(|task| task.again.is_some());
            if is_noted(found) != is_noted(after[&row]) {
                self.statistics.enqueued(name.0);
            }
        }
    }

    /// The queue begins a new generation.
    pub(super) fn delete(&mut self, key: OpKey, queue: Queue, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let counter = self.counters.get(&queue).copied().unwrap_or_default();
        let delta = Delta { available: -counter.available, leased: -counter.leased, last: Pid(0) };
        let atom = Atom { deltas: BTreeMap::from([(queue, delta)]), deleted: Some(queue), ..Atom::default() };
        if rules.params.statistics && !rules.has(mutants::FLOWS_OUTLIVE_QUEUE) {
            self.statistics.deleted(queue);
        }
        self.append(key, atom, rules, cx);
    }
}

/// Whoever holds the lease, and also once it has run out: "it may still succeed" (§5.6), until another has the task (TA5).
fn may_dequeue(task: Task, worker: NodeId, rules: &TaskMaster) -> bool {
    task.lease.is_some_and(|lease| lease.worker == worker) || rules.has(mutants::DEQUEUES_OF_OTHERS)
}

/// "Renewals for already expired tasks are ignored and an error is returned to the client" (§3.3).
fn may_renew(task: Task, worker: NodeId, now: Stamp, rules: &TaskMaster) -> bool {
    task.lease.is_some_and(|lease| lease.worker == worker && (lease.until > now || rules.has(mutants::RENEWS_EXPIRED)))
}
