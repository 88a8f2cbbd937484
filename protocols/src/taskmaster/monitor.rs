//! What must hold: a fold over what TaskMaster and the data store show, beside the tasks as they must be by what was acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Part, Property, Span, Stamp, Watch};

use super::TaskMaster;
use super::message::{Observation, OpKey};
use super::task::{Atom, Counter, Name, Pid, Queue, Row, Task, Ticket};

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
    due: Part<Tasks>,
    /// What has its ticket and was not committed.
    doubtful: BTreeMap<Ticket, (OpKey, Atom)>,
    /// What of it was acknowledged: nothing, but for mutants.
    promised: BTreeSet<Ticket>,
    /// From a crash of TaskMaster until it has recovered.
    is_recovering: bool,
    /// What was begun and has not ended, with the largest PID of each FIFO queue as it was begun.
    open: BTreeMap<OpKey, BTreeMap<Queue, Pid>>,
    /// What was open as the last fault was healed.
    overdue: BTreeSet<OpKey>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Tasks {
    tasks: BTreeMap<Name, Task>,
    generations: BTreeMap<Queue, u32>,
    /// The largest PID of each FIFO queue so far.
    largest: BTreeMap<Queue, Pid>,
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<TaskMaster>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        match event {
            Event::Started if node == rules.store() => {
                self.due.tasks = rules.first.iter().map(|name| (*name, Task::available(0))).collect();
                let row = |(queue, pid): &Name| Row { queue: *queue, generation: 0, pid: *pid };
                *self.shown = rules.first.iter().map(|name| (row(name), Task::available(0))).collect();
            }
            Event::Observed(observation) => self.observed(observation, rules, watch),
            Event::Crashed if node == rules.node() => {
                watch.reached(if self.is_recovering { "crashed-recovering" } else { "crashed" });
                self.is_recovering = true;
                self.open.clear();
                self.overdue.clear();
            }
            Event::Crashed => watch.reached("client-crashed"),
            Event::Healed if rules.params.progress > Span::ZERO => {
                self.overdue = self.open.keys().copied().collect();
                watch.set_deadline(PROGRESS, rules.params.progress);
            }
            Event::Deadline(PROGRESS) => {
                if let Some(op) = self.overdue.iter().find(|op| self.open.contains_key(op)) {
                    watch.violated("operations-end", format!("a call of {:?} has not ended", op.client));
                }
                if self.is_recovering {
                    watch.violated("operations-end", "TaskMaster has not recovered");
                }
            }
            _ => {}
        }
    }

    /// Whether something has not ended.
    pub fn owes(&self) -> bool {
        !self.open.is_empty()
    }

    fn observed(&mut self, shown: &Observation, rules: &TaskMaster, watch: &mut Watch<'_>) {
        match shown {
            Observation::Applied(row, task) => self.applied(*row, *task, watch),
            Observation::Begun(op) => {
                self.open.insert(*op, self.due.largest.clone());
            }
            Observation::Ended(op) => {
                self.open.remove(op);
            }
            Observation::Looked(name, task) => {
                if self.due.tasks.get(name) != task.as_ref() {
                    let detail = format!("{name:?} is taken for {task:?}, and is {:?}", self.due.tasks.get(name));
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
                self.doubtful.insert(*ticket, (*op, atom.clone()));
            }
            Observation::Committed(ticket, counts) => self.committed(*ticket, counts, rules, watch),
            Observation::Acknowledged(ticket) => {
                if self.doubtful.contains_key(ticket) {
                    self.promised.insert(*ticket);
                }
            }
            Observation::Collapsed(name) => {
                let task = self.due.tasks.get(name);
                if task.is_some_and(|task| task.lease.is_some() && task.again.is_none()) {
                    let detail = format!("an enqueue of {name:?} is lost on {task:?}, which may be half done");
                    watch.violated("enqueued-then-done", detail);
                }
            }
            Observation::Renewed(worker, name, now) => {
                let lease = self.due.tasks.get(name).and_then(|task| task.lease);
                if lease.is_none_or(|lease| lease.worker != *worker || lease.until <= *now) {
                    watch.violated("renewed-in-time", format!("{worker:?} renews {name:?}, which has {lease:?}"));
                }
            }
            Observation::Recovered(counters) => self.recovered(counters, rules, watch),
        }
    }

    /// Rows are written as was acknowledged.
    fn applied(&mut self, row: Row, task: Option<Task>, watch: &mut Watch<'_>) {
        match task {
            Some(task) => self.shown.insert(row, task),
            None => self.shown.remove(&row),
        };
        let due = self.due.tasks.get(&row.name());
        if self.is_recovering || self.due.generation(row.queue) != row.generation || due == task.as_ref() {
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
            let before = self.due.tasks.get(&name).copied();
            let floor = self.open.get(&op).and_then(|largest| largest.get(&row.queue)).copied().unwrap_or_default();
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

    /// Nothing is in progress: what is shown is what there must be, and of the doubtful what came first.
    fn recovered(&mut self, counters: &[(Queue, Counter)], rules: &TaskMaster, watch: &mut Watch<'_>) {
        let counter = |queue: Queue| counters.iter().find(|(other, _)| *other == queue).map(|(_, counter)| *counter);
        let generation = |queue| counter(queue).map_or(0, |counter| counter.generation);
        let named = |row: Row| if rules.has(super::mutants::GENERATION_UNNAMED) { 0 } else { generation(row.queue) };
        let present = self.shown.iter().filter(|(row, _)| row.generation == named(**row));
        let present: BTreeMap<Name, Task> = present.map(|(row, task)| (row.name(), *task)).collect();
        let promised = std::mem::take(&mut self.promised);
        let doubtful: Vec<(Ticket, Atom)> =
            std::mem::take(&mut self.doubtful).into_iter().map(|(ticket, (_, atom))| (ticket, atom)).collect();
        self.is_recovering = false;
        let mut due = (*self.due).clone();
        let mut recovered = 0;
        let fits = |due: &Tasks| {
            due.tasks == present && counters.iter().all(|(queue, counter)| due.generation(*queue) == counter.generation)
        };
        while !fits(&due) && recovered < doubtful.len() {
            due.apply(&doubtful[recovered].1);
            recovered += 1;
        }
        if !fits(&due) {
            let (property, detail) = self.due.missed(&present, &doubtful, &generation);
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
        *self.due = due;
        let mut queues: BTreeSet<Queue> = self.due.tasks.keys().map(|(queue, _)| *queue).collect();
        queues.extend(counters.iter().map(|(queue, _)| *queue));
        for queue in queues {
            self.recount(queue, &counter(queue).unwrap_or_default(), watch);
        }
    }
}

impl Tasks {
    fn apply(&mut self, atom: &Atom) {
        if let Some(queue) = atom.deleted {
            self.tasks.retain(|name, _| name.0 != queue);
            *self.generations.entry(queue).or_default() += 1;
        }
        for (row, task) in &atom.rows {
            match task {
                Some(task) => self.tasks.insert(row.name(), *task),
                None => self.tasks.remove(&row.name()),
            };
        }
        for (queue, delta) in atom.deltas.iter().filter(|(_, delta)| delta.last > Pid(0)) {
            let largest = self.largest.entry(*queue).or_default();
            *largest = delta.last.max(*largest);
        }
    }

    fn of(&self, queue: Queue) -> impl Iterator<Item = (Pid, Task)> {
        self.tasks.iter().filter(move |(name, _)| name.0 == queue).map(|((_, pid), task)| (*pid, *task))
    }

    /// Available, and leased.
    fn count(&self, queue: Queue) -> (i64, i64) {
        let leased = self.of(queue).filter(|(_, task)| task.lease.is_some()).count();
        ((self.of(queue).count() - leased) as i64, leased as i64)
    }

    /// Whether it leases a task while another worker has one, or has had this one.
    fn shares_with_another(&self, atom: &Atom) -> bool {
        let workers = |lease: Option<Task>| lease.and_then(|task| task.lease).map(|lease| lease.worker);
        let new: BTreeSet<NodeId> = atom.rows.values().filter_map(|task| workers(*task)).collect();
        let held: BTreeSet<NodeId> = self.tasks.values().filter_map(|task| workers(Some(*task))).collect();
        !new.is_empty() && held.difference(&new).next().is_some()
    }

    fn generation(&self, queue: Queue) -> u32 {
        self.generations.get(&queue).copied().unwrap_or_default()
    }

    /// Which property `present` breaks.
    fn missed(
        &self,
        present: &BTreeMap<Name, Task>,
        doubtful: &[(Ticket, Atom)],
        generation: &dyn Fn(Queue) -> u32,
    ) -> (&'static str, String) {
        let was_deleted = |name: &&Name| generation(name.0) > self.generation(name.0) && self.tasks.contains_key(name);
        if let Some(name) = present.keys().find(was_deleted) {
            return ("nothing-comes-back", format!("{name:?} is there after the recovery, and its queue was deleted"));
        }
        let is_doubtful = |name: &Name| {
            let mut atoms = doubtful.iter();
            atoms.any(|(_, atom)| atom.deleted == Some(name.0) || atom.rows.keys().any(|row| row.name() == *name))
        };
        let lost = |name: &&Name| present.get(name) != self.tasks.get(name) && !is_doubtful(name);
        if let Some(name) = self.tasks.keys().find(lost) {
            let detail = format!(
                "{name:?} is {:?} after the recovery, and was acknowledged as {:?}",
                present.get(name),
                self.tasks[name]
            );
            return ("acknowledged-kept", detail);
        }
        if let Some(name) = present.keys().find(lost) {
            return ("nothing-comes-back", format!("{name:?} is there after the recovery, as {:?}", present[name]));
        }
        ("prefix-recovered", format!("after the recovery there is {present:?}; acknowledged was {:?}", self.tasks))
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
