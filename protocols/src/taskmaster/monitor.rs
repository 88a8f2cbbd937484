//! What must hold: a fold over what TaskMaster and the data store show, beside the tasks as they must be by what was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Part, Property, Span, Stamp, Watch};

use super::cluster::Role;
use super::ledger::{Gap, Ledger};
use super::message::{Observation, OpKey};
use super::order::Order;
use super::serving::Serving;
use super::task::{Atom, Counter, Name, Pid, Queue, Row, Task, Ticket};
use super::uses::{self, Uses};
use super::{TaskMaster, mutants};

/// See the module.
pub fn properties() -> Vec<Property> {
    vec![
        Property::always("acknowledged-kept", "what was acknowledged is there after a recovery, and as it was (§5.3)"),
        Property::always(
            "nothing-comes-back",
            "what was dequeued, deleted or never acknowledged does not come back (§5.2, §5.3)",
        ),
        Property::always(
            "prefix-recovered",
            "of what was in progress, a recovery brings back what came first in the log, each operation whole (§5.3)",
        ),
        Property::always(
            "one-by-one",
            "an operation changes tasks as they are, and no two change one at a time (§5.5)",
        ),
        Property::always("leased-to-one", "no task is leased while another worker's lease of it lasts (§3.3)"),
        Property::always(
            "holder-dequeues",
            "only the worker that a task is leased to takes it out of its queue (§5.6)",
        ),
        Property::always("renewed-in-time", "a lease that has run out, or is another's, is not renewed (§3.3)"),
        Property::always("counters-exact", "sizes and leased counts equal a recount (§3.5, §5.3)"),
        Property::always(
            "fifo-ids-grow",
            "an assigned PID is larger than all that were acknowledged before the request came (§3.2)",
        ),
        Property::always(
            "cache-hides-nothing",
            "the cache has all tasks before the first missing PID, as they are (§5.4)",
        ),
        Property::always("enqueued-then-done", "a task is leased after the last acknowledged enqueue of it (§3.2)"),
        Property::always("leased-within-cap", "no more tasks of a queue are leased at once than may be (§6.1)"),
        Property::always(
            "queues-take-turns",
            "while an operation on a queue waits for a thread, no other queue has two turns (§6.2)",
        ),
        Property::always(
            "leases-as-asked",
            "a lease is of no more tasks than asked for, of these queues, and of none behind the maximum PID (§4)",
        ),
        Property::always(
            "leases-in-order",
            "a lease passes over no task that is free, unless another operation at work is about it (§3.3)",
        ),
        Property::always("expires-seldom", "leases of a queue expire no more often than `expiry-every` (§5.6)"),
        Property::always("within-a-group", "no operation changes tasks of two consistency groups (§3.4, §5.7)"),
        Property::always(
            "served-by-one",
            "a consistency group is served by one TaskMaster node at one instant, the one that its hash says (§3.4, §5.7)",
        ),
        Property::always("carried-out-once", "what is asked through a proxy is carried out once at most (§5.7)"),
        Property::always("aggregates-all", "a list over all nodes has what each said, or says that it has not (§3.5)"),
        Property::always(
            "enqueues-find-a-node",
            "what may be enqueued at any node is, if one, and all proxies, are up all the time (§5.7, §7)",
        ),
        Property::always("lists-what-is-there", "a list names the queues of its size and name, and no others (§4)"),
        Property::always(
            "statistics-right",
            "what went through a queue since the start, and how long its tasks were leased, is as it was (§3.5)",
        ),
        Property::always(
            "in-one-stage",
            "what went into a pipeline is in one stage at a time, until the last one is done with it (§3.4, §7)",
        ),
        Property::always("drained-first", "a task moves on to be processed once its pipeline has drained (§7)"),
        Property::always(
            "backs-off",
            "what failed waits in the queue of its failures, twice as long each time, and is denied after the last (§7)",
        ),
        Property::within(
            "operations-end",
            "once all faults are healed, all that was begun ends within `progress`: there is no deadlock (§5.5)",
        ),
        Property::eventually("every-operation-ends", "an operation that was begun ends, if nobody crashes (§5.5)"),
    ]
}

/// The deadline of `progress`.
const PROGRESS: u32 = 0;

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// What the data store shows.
    shown: Part<BTreeMap<Row, Task>>,
    /// What there must be.
    due: Part<Ledger>,
    /// What has its ticket and was not committed.
    doubtful: BTreeMap<Ticket, (OpKey, Atom)>,
    /// What of it was acknowledged: nothing, but for mutants.
    promised: BTreeSet<Ticket>,
    /// The TaskMaster nodes that have crashed, or are to take over, and have not recovered yet.
    recovering: BTreeSet<NodeId>,
    /// What was begun and has not ended: where, and with the largest PID of each FIFO queue as it was begun.
    open: BTreeMap<OpKey, (NodeId, BTreeMap<Queue, Pid>)>,
    /// What was open as the last fault was healed.
    overdue: BTreeSet<OpKey>,
    /// Of each queue that waits for a thread, how many operations do, and which queues had one since it waits.
    waiting: BTreeMap<Queue, (u32, BTreeSet<Queue>)>,
    /// What workers make of it.
    uses: Uses,
    /// Who serves.
    serving: Serving,
    /// What is at work.
    order: Order,
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<TaskMaster>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        if rules.params.proxies > 0 {
            self.serving.watch(node, event, rules, watch);
        }
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
            Event::Deadline(deadline) if *deadline != PROGRESS => self.order.may_expire(*deadline),
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
        self.uses.halted();
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
            Observation::Renewed(worker, name, now) => {
                self.uses.renewed(*name, rules);
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
            Observation::Inspected(queue, flow) => self.uses.inspected(*queue, *flow, watch),
            Observation::Waits(queue) => self.waiting.entry(*queue).or_default().0 += 1,
            Observation::Admitted(queue) => self.admitted(*queue, node, rules, watch),
            Observation::Asked(op, request) => self.order.begins(*op, request),
            Observation::Expired(queue) => self.order.expired(*queue, rules, watch),
            Observation::Halted => self.halted(node, rules),
            Observation::Aggregated { .. } | Observation::Resharded(_) | Observation::Routes(_) => {}
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

    fn recount(&self, queue: Queue, counter: &Counter, watch: &mut Watch<'_>) {
        let counted = (counter.available, counter.leased);
        let due = self.due.count(queue);
        if due != counted {
            watch.violated("counters-exact", format!("{queue:?} has (available, leased) {due:?}, counted {counted:?}"));
        }
    }

    /// A node has recovered, from its own log or from those that it takes over.
    fn recovered(&mut self, node: NodeId, counters: &[(Queue, Counter)], rules: &TaskMaster, watch: &mut Watch<'_>) {
        let predecessors = rules.predecessors(node);
        if predecessors.is_empty() || !self.serving.takes_over(node) {
            self.recovered_from(node, &|queue| rules.is_of(queue, node), counters, rules, watch);
        } else {
            for before in predecessors {
                let is_about = |queue| rules.is_of(queue, node) && rules.is_of(queue, before);
                self.recovered_from(before, &is_about, counters, rules, watch);
            }
        }
        self.recovering.remove(&node);
    }

    /// Nothing is in progress: what is shown is what there must be, and of the doubtful in this node's log what came first.
    fn recovered_from(
        &mut self,
        node: NodeId,
        is_about: &dyn Fn(Queue) -> bool,
        counters: &[(Queue, Counter)],
        rules: &TaskMaster,
        watch: &mut Watch<'_>,
    ) {
        let counters: BTreeMap<Queue, Counter> =
            counters.iter().filter(|(queue, _)| is_about(*queue)).copied().collect();
        let generation = |queue| counters.get(&queue).map_or(0, |counter| counter.generation);
        let named = |row: Row| if rules.has(mutants::GENERATION_UNNAMED) { 0 } else { generation(row.queue) };
        let present = self.shown.iter().filter(|(row, _)| row.generation == named(**row) && is_about(row.queue));
        let present: Vec<(Name, Task)> = present.map(|(row, task)| (row.name(), *task)).collect();
        let (doubtful, promised) = self.doubtful_of(node, is_about);
        let before = (*self.due).clone();
        let mut gap = Gap::between(&self.due, &present, &counters, is_about);
        let mut recovered = 0;
        while !gap.is_closed() && recovered < doubtful.len() {
            let atom = &doubtful[recovered].1;
            let touched = self.due.touched_by(atom);
            self.due.apply(atom);
            gap.look_again(&touched, &self.due, &present, &counters);
            recovered += 1;
        }
        if !gap.is_closed() {
            let present = present.into_iter().collect();
            let (property, detail) = before.missed(&present, &doubtful, &generation, is_about);
            return watch.violated(property, detail);
        }
        if let Some((ticket, _)) = doubtful[recovered..].iter().find(|(ticket, _)| promised.contains(ticket)) {
            watch.violated("acknowledged-kept", format!("{ticket:?} was acknowledged, and is lost after the recovery"));
        }
        if recovered > 0 {
            watch.reached("doubtful-recovered");
        }
        if recovered < doubtful.len() {
            watch.reached("doubtful-discarded");
        }
        let mut queues: BTreeSet<Queue> = self.due.queues().into_iter().filter(|queue| is_about(*queue)).collect();
        queues.extend(counters.keys().copied());
        for queue in queues {
            self.recount(queue, &counters.get(&queue).copied().unwrap_or_default(), watch);
        }
    }

    /// What of a node's log was in doubt about these queues is so no longer; and which tickets of it were promised.
    fn doubtful_of(
        &mut self,
        node: NodeId,
        is_about: &dyn Fn(Queue) -> bool,
    ) -> (Vec<(Ticket, Atom)>, BTreeSet<Ticket>) {
        let all = std::mem::take(&mut self.doubtful);
        let (of_it, others) = all.into_iter().partition(|(ticket, (_, atom))| {
            ticket.incarnation.scope() == node.0 && atom.deltas.keys().all(|queue| is_about(*queue))
        });
        self.doubtful = others;
        let of_it: BTreeMap<Ticket, (OpKey, Atom)> = of_it;
        let (promised, others) =
            std::mem::take(&mut self.promised).into_iter().partition(|ticket| of_it.contains_key(ticket));
        self.promised = others;
        (of_it.into_iter().map(|(ticket, (_, atom))| (ticket, atom)).collect(), promised)
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
