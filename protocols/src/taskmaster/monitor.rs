//! What must hold: a fold over what TaskMaster and the data store show, beside the tasks as they must be by what was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Part, Span, Stamp, Watch};

use super::TaskMaster;
use super::answers::Answers;
use super::cluster::Role;
use super::ledger::Ledger;
use super::message::{Observation, OpKey};
use super::order::Order;
use super::serving::Serving;
use super::task::{Atom, Counter, Name, Pid, Queue, Row, Task, Ticket};
use super::toils::{self, Toils};
use super::uses::{self, Uses};

/// The deadline of `progress`.
const PROGRESS: u32 = 0;

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// What the data store shows.
    pub(super) shown: Part<BTreeMap<Row, Task>>,
    /// What there must be.
    pub(super) due: Part<Ledger>,
    /// What has its ticket and was not committed.
    pub(super) doubtful: BTreeMap<Ticket, (OpKey, Atom)>,
    /// What of it was acknowledged: nothing, but for mutants.
    pub(super) promised: BTreeSet<Ticket>,
    /// The TaskMaster nodes that have crashed, or are to take over, and have not recovered yet.
    pub(super) recovering: BTreeSet<NodeId>,
    /// What was begun and has not ended: where, and with the largest PID of each FIFO queue as it was begun.
    open: BTreeMap<OpKey, (NodeId, BTreeMap<Queue, Pid>)>,
    /// What was open as the last fault was healed.
    overdue: BTreeSet<OpKey>,
    /// Of each queue that waits for a thread, how many operations do, and which queues had one since it waits.
    waiting: BTreeMap<Queue, (u32, BTreeSet<Queue>)>,
    /// What workers make of it.
    uses: Uses,
    /// Who serves.
    pub(super) serving: Serving,
    /// What is at work.
    order: Order,
    /// Who works for long.
    toils: Toils,
    /// What batches are to be answered with.
    answers: Answers,
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<TaskMaster>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        self.fold(node, event, rules, watch);
        // Of what is committed now.
        self.toils.watch(node, event, &self.due, rules, watch);
    }

    fn fold(&mut self, node: NodeId, event: &Event<TaskMaster>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        if rules.params.proxies > 0 {
            self.serving.watch(node, event, rules, watch);
        }
        self.answers.watch(node, event, watch);
        match event {
            Event::Started if rules.sharding_of(node) > 0 && rules.role(node) == Role::Job => {
                self.recovering.insert(node);
            }
            Event::Started if node == rules.store() => {
                rules.first.iter().for_each(|name| self.due.set(*name, Some(Task::available(0))));
                let row = |(queue, pid): &Name| Row { queue: *queue, generation: 0, pid: *pid };
                *self.shown = rules.first.iter().map(|name| (row(name), Task::available(0))).collect();
            }
            Event::Observed(observation) => self.observed(node, observation, rules, watch),
            Event::Crashed if rules.role(node) == Role::Job => {
                if rules.sharding_of(node) == self.serving.sharding {
                    watch.reached(if self.recovering.contains(&node) { "crashed-recovering" } else { "crashed" });
                }
                self.halted(node, rules);
            }
            Event::Crashed if rules.role(node) == Role::Proxy => watch.reached("proxy-crashed"),
            Event::Crashed => watch.reached("client-crashed"),
            Event::Healed if rules.params.progress > Span::ZERO => {
                self.overdue = self.open.keys().copied().collect();
                watch.set_deadline(PROGRESS, rules.params.progress);
            }
            Event::Deadline(deadline) if (PROGRESS + 1..toils::FIRST).contains(deadline) => {
                self.order.may_expire(*deadline)
            }
            Event::Deadline(PROGRESS) => {
                if let Some(op) = self.overdue.iter().find(|op| self.open.contains_key(op)) {
                    watch.violated("operations-end", format!("a call of {:?} has not ended", op.client));
                }
                let jobs = rules.jobs_of(self.serving.sharding);
                if let Some(node) = self.recovering.iter().find(|node| jobs.contains(&node.0)) {
                    watch.violated("operations-end", format!("{node:?} has not recovered"));
                }
            }
            _ => {}
        }
    }

    /// Whether something has not ended.
    pub fn owes(&self) -> bool {
        !self.open.is_empty()
    }

    /// A TaskMaster node has crashed, or stopped.
    fn halted(&mut self, node: NodeId, rules: &TaskMaster) {
        self.recovering.insert(node);
        self.open.retain(|_, (at, _)| *at != node);
        self.order.retain(|op| self.open.contains_key(op));
        self.order.forget_expiry();
        self.overdue.retain(|op| self.open.contains_key(op));
        self.waiting.retain(|queue, _| !rules.is_of(*queue, node));
        // What is a job's of an earlier sharding is another's now.
        if rules.sharding_of(node) == self.serving.sharding {
            self.uses.halted(|queue| rules.is_of(queue, node));
        }
    }

    fn observed(&mut self, node: NodeId, shown: &Observation, rules: &TaskMaster, watch: &mut Watch<'_>) {
        match shown {
            Observation::Applied(row, task) => self.applied(*row, *task, rules, watch),
            Observation::Begun(op) => {
                let largest = if rules.params.fifo { self.due.largest().clone() } else { BTreeMap::new() };
                self.open.insert(*op, (node, largest));
            }
            Observation::Ended(op) => {
                self.uses.ended();
                self.open.remove(op);
                self.order.retain(|op| self.open.contains_key(op));
            }
            Observation::Looked(name, task) => {
                if self.due.task(*name) != *task {
                    let detail = format!("{name:?} is taken for {task:?}, and is {:?}", self.due.task(*name));
                    watch.violated("cache-hides-nothing", detail);
                }
            }
            Observation::Knows(queue, first_missing, known) => {
                let before = |pid: Pid| first_missing.is_none_or(|missing| pid < missing);
                let due: BTreeMap<Pid, Task> = self.due.of(*queue).filter(|(pid, _)| before(*pid)).collect();
                if due != *known {
                    let detail = format!("{queue:?} has {due:?} before {first_missing:?}, and the cache {known:?}");
                    watch.violated("cache-hides-nothing", detail);
                }
            }
            Observation::Logged { op, ticket, now, atom } => {
                self.judge(*op, *now, atom, rules, watch);
                self.uses.logged(*now, atom, &self.due, rules, watch);
                self.order.logged(*op, atom, &self.due, watch);
                self.doubtful.insert(*ticket, (*op, atom.clone()));
            }
            Observation::Committed(ticket, counts) => self.committed(*ticket, counts, rules, watch),
            Observation::Acknowledged(ticket) => {
                if self.doubtful.contains_key(ticket) {
                    self.promised.insert(*ticket);
                }
            }
            Observation::Collapsed(name) => {
                let task = self.due.task(*name);
                if task.is_some_and(|task| task.lease.is_some() && task.again.is_none()) {
                    let detail = format!("an enqueue of {name:?} is lost on {task:?}, which may be half done");
                    watch.violated("enqueued-then-done", detail);
                }
            }
            Observation::Renewed(worker, name, now, length) => {
                self.uses.renewed(*name, *length, rules);
                let lease = self.due.task(*name).and_then(|task| task.lease);
                if lease.is_none_or(|lease| lease.worker != *worker || lease.until <= *now) {
                    watch.violated("renewed-in-time", format!("{worker:?} renews {name:?}, which has {lease:?}"));
                }
            }
            Observation::Recovered(counters) => self.recovered(node, counters, rules, watch),
            Observation::Leases(request, names) => self.uses.leases(request, names, watch),
            Observation::Listed(listing, queues) => {
                let own = self.due.queues().into_iter().filter(|queue| rules.is_of(*queue, node));
                let sizes = own.map(|queue| {
                    let (available, leased) = self.due.count(queue);
                    (queue, available + leased)
                });
                let there = rules.listed(listing, sizes);
                if there != *queues {
                    watch.violated("lists-what-is-there", format!("{listing:?} gives {queues:?}, and fits {there:?}"));
                }
            }
            Observation::Reported(report) => self.uses.reported(report, &self.due, watch),
            Observation::Waits(queue) => self.waiting.entry(*queue).or_default().0 += 1,
            Observation::Admitted(queue) => self.admitted(*queue, node, rules, watch),
            Observation::Asked(op, request) => self.order.begins(*op, request),
            Observation::Expired(queue) => self.order.expired(*queue, rules, watch),
            Observation::Halted => self.halted(node, rules),
            Observation::Aggregated { .. } | Observation::Resharded(_) | Observation::Routes(_) => {}
            Observation::Toils(_) | Observation::PartEnded(..) | Observation::Batched(..) => {}
        }
    }

    /// A queue has its turn.
    fn admitted(&mut self, queue: Queue, node: NodeId, rules: &TaskMaster, watch: &mut Watch<'_>) {
        let others = self.waiting.iter_mut().filter(|(other, _)| **other != queue && rules.is_of(**other, node));
        for (other, (_, passed)) in others {
            if !passed.insert(queue) {
                watch.violated("queues-take-turns", format!("{other:?} waits while {queue:?} has a second turn"));
            }
        }
        if let Some((count, passed)) = self.waiting.get_mut(&queue) {
            *count -= 1;
            passed.clear();
            if *count == 0 {
                self.waiting.remove(&queue);
            }
        }
    }

    /// Rows are written as was acknowledged.
    fn applied(&mut self, row: Row, task: Option<Task>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        match task {
            Some(task) => self.shown.insert(row, task),
            None => self.shown.remove(&row),
        };
        let due = self.due.task(row.name());
        let is_recovering = self.recovering.contains(&rules.owner(row.queue, self.serving.sharding));
        if is_recovering || self.due.generation(row.queue) != row.generation || due == task {
            return;
        }
        let property = if due.is_none() { "nothing-comes-back" } else { "acknowledged-kept" };
        watch.violated(property, format!("the store now shows {task:?} for {row:?}, which is {due:?}"));
    }

    /// Whether what an operation does fits the tasks as they are.
    fn judge(&self, op: OpKey, now: Stamp, atom: &Atom, rules: &TaskMaster, watch: &mut Watch<'_>) {
        for (row, after) in &atom.rows {
            let name = row.name();
            if self.doubtful.values().any(|(_, other)| other.rows.contains_key(row)) {
                watch.violated("one-by-one", format!("two operations change {name:?} at a time"));
            }
            let before = self.due.task(name);
            let floor =
                self.open.get(&op).and_then(|(_, largest)| largest.get(&row.queue)).copied().unwrap_or_default();
            if rules.params.fifo && before.is_none() && row.pid <= floor {
                watch.violated("fifo-ids-grow", format!("{name:?} is assigned after {floor:?}"));
            }
            if let Some(property) = fault(op.client, now, before, *after) {
                let detail = format!("for {:?}, {name:?} goes from {before:?} to {after:?} at {now:?}", op.client);
                watch.violated(property, detail);
            }
        }
    }

    fn committed(&mut self, ticket: Ticket, counts: &[(Queue, Counter)], rules: &TaskMaster, watch: &mut Watch<'_>) {
        let Some((_, atom)) = self.doubtful.remove(&ticket) else { return };
        self.promised.remove(&ticket);
        watch.reached(kind(&atom));
        if atom.deltas.len() > 1 {
            watch.reached("two-queues");
        }
        if self.due.shares_with_another(&atom) {
            watch.reached("two-workers");
        }
        self.due.apply(&atom);
        uses::committed(&atom, &self.due, rules, watch);
        for (queue, counter) in counts {
            self.recount(*queue, counter, watch);
            let (_, leased) = self.due.count(*queue);
            if rules.params.leased_max > 0 && leased > i64::from(rules.params.leased_max) {
                watch.violated("leased-within-cap", format!("{leased} tasks of {queue:?} are leased"));
            }
        }
    }

    pub(super) fn recount(&self, queue: Queue, counter: &Counter, watch: &mut Watch<'_>) {
        let counted = (counter.available, counter.leased);
        let due = self.due.count(queue);
        if due != counted {
            watch.violated("counters-exact", format!("{queue:?} has (available, leased) {due:?}, counted {counted:?}"));
        }
    }
}

/// What is wrong with a change of a task that is `before`.
fn fault(client: NodeId, now: Stamp, before: Option<Task>, after: Option<Task>) -> Option<&'static str> {
    let lease = |task: Option<Task>| task.and_then(|task| task.lease);
    match (before, lease(before), after, lease(after)) {
        (None, _, Some(_), Some(_)) => Some("nothing-comes-back"),
        (None, _, Some(_), None) => None,
        (None, _, None, _) => Some("one-by-one"),
        (Some(_), None, Some(_), Some(_)) => None,
        (Some(_), None, Some(_), None) => Some("one-by-one"),
        (Some(_), Some(held), Some(_), Some(lease)) if held.worker == lease.worker || held.until <= now => None,
        (Some(_), Some(_), Some(_), Some(_)) => Some("leased-to-one"),
        (Some(task), Some(held), None, _) if held.worker == client => task.again.map(|_| "enqueued-then-done"),
        (Some(_), Some(held), Some(_), None) if held.worker == client => None,
        (Some(_), _, _, None) => Some("holder-dequeues"),
        (Some(_), _, None, Some(_)) => Some("one-by-one"),
    }
}

/// For goals.
fn kind(atom: &Atom) -> &'static str {
    let has = |task: fn(Option<Task>) -> bool| atom.rows.values().any(|row| task(*row));
    if atom.deleted.is_some() {
        "deleted"
    } else if has(|task| task.is_none()) {
        if has(|task| task.is_some()) { "moved" } else { "dequeued" }
    } else if has(|task| task.is_some_and(|task| task.lease.is_some())) {
        "leased"
    } else {
        "enqueued"
    }
}
