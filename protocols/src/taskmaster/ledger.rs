//! The tasks as they must be, by what was committed: what the properties compare TaskMaster and its store with.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId};

use super::task::{Atom, Counter, Name, Pid, Queue, Task, Ticket};

/// All tasks, and what is counted of them.
///
/// Invariants, kept by `set`, the only way to change a task: `sizes[q]` are the available and the leased tasks of `q`, if there
/// are any; `workers[w]` are the tasks leased to `w`, if there are any. A change costs no more where there are a million tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Ledger {
    tasks: BTreeMap<Name, Task>,
    sizes: BTreeMap<Queue, (i64, i64)>,
    workers: BTreeMap<NodeId, u32>,
    generations: BTreeMap<Queue, u32>,
    /// The largest PID of each FIFO queue so far.
    largest: BTreeMap<Queue, Pid>,
}

impl Ledger {
    /// The task, if it is there.
    pub fn task(&self, name: Name) -> Option<Task> {
        self.tasks.get(&name).copied()
    }

    /// The task is so from now on, or gone.
    pub fn set(&mut self, name: Name, task: Option<Task>) {
        let before = match task {
            Some(task) => self.tasks.insert(name, task),
            None => self.tasks.remove(&name),
        };
        for (task, sign) in [(before, -1), (task, 1)] {
            if let Some(task) = task {
                self.count_one(name.0, task, sign);
            }
        }
    }

    fn count_one(&mut self, queue: Queue, task: Task, sign: i64) {
        let size = self.sizes.entry(queue).or_default();
        match task.lease {
            None => size.0 += sign,
            Some(_) => size.1 += sign,
        }
        if *size == (0, 0) {
            self.sizes.remove(&queue);
        }
        if let Some(lease) = task.lease {
            let held = self.workers.entry(lease.worker).or_default();
            *held = held.wrapping_add_signed(sign as i32);
            if *held == 0 {
                self.workers.remove(&lease.worker);
            }
        }
    }

    /// What an operation does, committed.
    pub fn apply(&mut self, atom: &Atom) {
        if let Some(queue) = atom.deleted {
            for pid in self.of(queue).map(|(pid, _)| pid).collect::<Vec<_>>() {
                self.set((queue, pid), None);
            }
            *self.generations.entry(queue).or_default() += 1;
        }
        for (row, task) in &atom.rows {
            self.set(row.name(), *task);
        }
        for (queue, delta) in atom.deltas.iter().filter(|(_, delta)| delta.last > Pid(0)) {
            let largest = self.largest.entry(*queue).or_default();
            *largest = delta.last.max(*largest);
        }
    }

    /// The tasks that this would change.
    pub fn touched_by(&self, atom: &Atom) -> BTreeSet<Name> {
        let deleted = atom.deleted.into_iter().flat_map(|queue| self.of(queue).map(move |(pid, _)| (queue, pid)));
        deleted.chain(atom.rows.keys().map(|row| row.name())).collect()
    }

    /// The tasks of a queue, in order.
    pub fn of(&self, queue: Queue) -> impl Iterator<Item = (Pid, Task)> {
        self.tasks.range((queue, Pid(0))..=(queue, Pid(u32::MAX))).map(|((_, pid), task)| (*pid, *task))
    }

    /// Of a queue, how many are available, and how many leased.
    pub fn count(&self, queue: Queue) -> (i64, i64) {
        self.sizes.get(&queue).copied().unwrap_or_default()
    }

    /// The queues that there are.
    pub fn queues(&self) -> BTreeSet<Queue> {
        self.sizes.keys().copied().collect()
    }

    /// Whether it leases a task while another worker has one, or has had this one.
    pub fn shares_with_another(&self, atom: &Atom) -> bool {
        let workers = atom.rows.values().flatten().filter_map(|task| task.lease).map(|lease| lease.worker);
        let new: BTreeSet<NodeId> = workers.collect();
        !new.is_empty() && self.workers.keys().any(|worker| !new.contains(worker))
    }

    /// How often the queue was deleted.
    pub fn generation(&self, queue: Queue) -> u32 {
        self.generations.get(&queue).copied().unwrap_or_default()
    }

    /// The largest PID of each queue so far.
    pub fn largest(&self) -> &BTreeMap<Queue, Pid> {
        &self.largest
    }

    /// Which property `present` breaks.
    pub fn missed(
        &self,
        present: &BTreeMap<Name, Task>,
        doubtful: &[(Ticket, Atom)],
        generation: &dyn Fn(Queue) -> u32,
        is_about: &dyn Fn(Queue) -> bool,
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
        if let Some(name) = self.tasks.keys().filter(|name| is_about(name.0)).find(lost) {
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

/// In what the store shows differs from a ledger: kept up as the ledger changes, so that each step costs what it touches.
pub struct Gap {
    tasks: BTreeSet<Name>,
    queues: BTreeSet<Queue>,
}

impl Gap {
    /// `present` is in order, and holds the queues that this is about.
    pub fn between(
        due: &Ledger,
        present: &[(Name, Task)],
        counters: &BTreeMap<Queue, Counter>,
        is_about: &dyn Fn(Queue) -> bool,
    ) -> Gap {
        let names =
            due.tasks.keys().filter(|name| is_about(name.0)).chain(present.iter().map(|(name, _)| name)).copied();
        let tasks = names.filter(|name| shown(present, *name) != due.task(*name)).collect();
        let queues = counters.iter().filter(|(queue, counter)| counter.generation != due.generation(**queue));
        Gap { tasks, queues: queues.map(|(queue, _)| *queue).collect() }
    }

    /// These tasks of the ledger may have changed.
    pub fn look_again(
        &mut self,
        touched: &BTreeSet<Name>,
        due: &Ledger,
        present: &[(Name, Task)],
        counters: &BTreeMap<Queue, Counter>,
    ) {
        for name in touched {
            match shown(present, *name) == due.task(*name) {
                true => self.tasks.remove(name),
                false => self.tasks.insert(*name),
            };
        }
        self.queues = counters
            .iter()
            .filter(|(queue, counter)| counter.generation != due.generation(**queue))
            .map(|(queue, _)| *queue)
            .collect();
    }

    /// Whether there is no difference.
    pub fn is_closed(&self) -> bool {
        self.tasks.is_empty() && self.queues.is_empty()
    }
}

fn shown(present: &[(Name, Task)], name: Name) -> Option<Task> {
    let found = present.binary_search_by_key(&name, |(name, _)| *name).ok()?;
    Some(present[found].1)
}

#[cfg(test)]
mod tests {
    use seedbed_model::Stamp;

    use super::super::task::{Lease, Row};
    use super::*;

    fn leased(worker: u16) -> Option<Task> {
        let lease = Lease { worker: NodeId(worker), until: Stamp::of_clock(0) };
        Some(Task { lease: Some(lease), ..Task::available(0) })
    }

    /// What is kept up equals what a count of all tasks finds, after many changes.
    #[test]
    fn sizes_and_workers_equal_a_recount() {
        let mut ledger = Ledger::default();
        for step in 0..400_u32 {
            let name = (Queue((step * 7 % 3) as u16), Pid(step * 5 % 11));
            let task = [None, Some(Task::available(step)), leased(1), leased(2)][(step * 13 % 17 % 4) as usize];
            match step % 50 {
                49 => ledger.apply(&Atom { deleted: Some(name.0), ..Atom::default() }),
                _ => ledger.set(name, task),
            }
            for queue in (0..3).map(Queue) {
                let leased = ledger.of(queue).filter(|(_, task)| task.lease.is_some()).count() as i64;
                assert_eq!(
                    ledger.count(queue),
                    (ledger.of(queue).count() as i64 - leased, leased),
                    "{queue:?}, {step}"
                );
            }
            let held = ledger.tasks.values().filter_map(|task| task.lease).filter(|lease| lease.worker == NodeId(1));
            assert_eq!(ledger.workers.get(&NodeId(1)).copied().unwrap_or_default() as usize, held.count(), "{step}");
        }
    }

    #[test]
    fn a_gap_closes_as_what_was_in_doubt_is_applied() {
        let mut due = Ledger::default();
        let row = Row { queue: Queue(0), generation: 0, pid: Pid(1) };
        let atom = Atom { rows: BTreeMap::from([(row, leased(1))]), ..Atom::default() };
        let present = [(row.name(), leased(1).unwrap())];
        let mut gap = Gap::between(&due, &present, &BTreeMap::new(), &|_| true);
        assert!(!gap.is_closed());
        due.apply(&atom);
        gap.look_again(&due.touched_by(&atom), &due, &present, &BTreeMap::new());
        assert!(gap.is_closed());
    }
}
