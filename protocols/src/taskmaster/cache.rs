//! The task cache (§5.4): the heads of the queues, in one memory that the least recently used leaves first.

use std::collections::BTreeMap;

use seedbed_model::Canonical;

use super::recent::Recent;
use super::task::{Name, Pid, Queue, Task};
use super::{TaskMaster, mutants};

/// What of the tasks is in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Cache {
    tasks: BTreeMap<Name, Task>,
    /// The cached. Empty where the cache has no bound.
    recent: Recent,
    /// What is known of each queue's tasks. Of a queue not in it: nothing.
    heads: BTreeMap<Queue, Head>,
}

/// What is known of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Head {
    /// "The lowest PID in the data store which isn't in the cache", or lower. All tasks before it are cached.
    pub first_missing: FirstMissing,
    /// How many tasks were leased since the last refill: how many the next one fetches.
    pub taken: u32,
}

/// See [`Head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum FirstMissing {
    /// This one, or a later one.
    At(Pid),
    /// "A special token is stored to denote": the whole queue is cached.
    None,
}

impl Default for FirstMissing {
    fn default() -> Self {
        FirstMissing::At(Pid(0))
    }
}

impl FirstMissing {
    /// Whether all that the store has of `pid` is cached.
    pub fn is_after(self, pid: Pid) -> bool {
        match self {
            FirstMissing::At(missing) => pid < missing,
            FirstMissing::None => true,
        }
    }

    /// The PID, if anything is missing.
    pub fn pid(self) -> Option<Pid> {
        match self {
            FirstMissing::At(pid) => Some(pid),
            FirstMissing::None => None,
        }
    }
}

/// What the cache knows of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looked {
    /// It is, or is not, there.
    Known(Option<Task>),
    /// The store must be asked.
    Missing,
}

/// How the cache is kept, and what it is kept without.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// At most so many tasks; 0: no bound.
    pub capacity: u32,
    /// A mutant: what is evicted does not lower the first missing PID.
    pub first_missing_stays: bool,
    /// A mutant: what is leased is not evicted.
    pub pins_leased: bool,
}

/// What left the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Whether any task did.
    pub any: bool,
    /// Whether one did that is leased.
    pub leased: bool,
}

impl TaskMaster {
    pub(super) fn keeping(&self) -> Keeping {
        Keeping {
            capacity: self.params.cache,
            first_missing_stays: self.has(mutants::FIRST_MISSING_STAYS),
            pins_leased: self.has(mutants::PINS_LEASED),
        }
    }
}

impl Cache {
    /// What is known of the queue.
    pub fn head(&self, queue: Queue) -> Head {
        self.heads.get(&queue).copied().unwrap_or_default()
    }

    /// What is known of the task, which counts as used.
    pub fn look(&mut self, name: Name) -> Looked {
        match self.tasks.get(&name).copied() {
            Some(task) => {
                if self.recent.has(name) {
                    self.recent.used(name);
                }
                Looked::Known(Some(task))
            }
            None if self.head(name.0).first_missing.is_after(name.1) => Looked::Known(None),
            None => Looked::Missing,
        }
    }

    /// The cached tasks before the first missing PID, in order.
    pub fn known(&self, queue: Queue) -> impl Iterator<Item = (Pid, Task)> {
        let first_missing = self.head(queue).first_missing;
        self.of(queue).take_while(move |(pid, _)| first_missing.is_after(*pid))
    }

    /// A task is as it was written. Returns what had to leave.
    pub fn put(&mut self, name: Name, task: Option<Task>, keeping: Keeping) -> Evicted {
        match task {
            Some(task) if self.tasks.contains_key(&name) || self.head(name.0).first_missing.is_after(name.1) => {
                self.insert(name, task, keeping);
                return self.evict(keeping);
            }
            Some(_) => {}
            None => {
                self.tasks.remove(&name);
                self.recent.remove(name);
            }
        }
        Evicted::default()
    }

    /// So many tasks of the queue were leased.
    pub fn taken(&mut self, queue: Queue, count: u32, most: u32) {
        let head = self.heads.entry(queue).or_default();
        head.taken = (head.taken + count).min(most);
    }

    /// What a scan found from `from` on, of at most `count` tasks. The most urgent is the last to be evicted.
    /// Returns what was.
    pub fn refill(&mut self, (queue, from): Name, tasks: &[(Pid, Task)], count: u32, keeping: Keeping) -> Evicted {
        for (pid, task) in tasks.iter().rev() {
            self.insert((queue, *pid), *task, keeping);
        }
        let head = self.heads.entry(queue).or_default();
        head.taken = 0;
        // "The first PID greater than the set of tasks retrieved"; fewer than asked for are all.
        let read = tasks.last().filter(|_| tasks.len() >= count as usize);
        if head.first_missing.is_after(from) || head.first_missing == FirstMissing::At(from) {
            head.first_missing = read.map_or(FirstMissing::None, |(pid, _)| FirstMissing::At(pid.next()));
        }
        self.evict(keeping)
    }

    /// The queue is empty.
    pub fn emptied(&mut self, queue: Queue) {
        for pid in self.of(queue).map(|(pid, _)| pid).collect::<Vec<_>>() {
            self.tasks.remove(&(queue, pid));
            self.recent.remove((queue, pid));
        }
        self.heads.insert(queue, Head { first_missing: FirstMissing::None, taken: 0 });
    }

    /// Some of the leased tasks that are cached.
    pub fn of(&self, queue: Queue) -> impl Iterator<Item = (Pid, Task)> {
        self.tasks.range((queue, Pid(0))..=(queue, Pid(u32::MAX))).map(|((_, pid), task)| (*pid, *task))
    }

    fn insert(&mut self, name: Name, task: Task, keeping: Keeping) {
        self.tasks.insert(name, task);
        if keeping.capacity > 0 {
            self.recent.used(name);
        }
    }

    /// "As tasks get evicted from cache, they place a gap in this knowledge." Leased or not: no task is pinned (§5.4.3).
    fn evict(&mut self, keeping: Keeping) -> Evicted {
        let mut evicted = Evicted::default();
        let mut pinned = Vec::new();
        while keeping.capacity > 0 && self.recent.len() > keeping.capacity as usize {
            let Some((queue, pid)) = self.recent.pop() else { break };
            let is_leased = self.tasks.get(&(queue, pid)).is_some_and(|task| task.lease.is_some());
            if is_leased && keeping.pins_leased {
                pinned.push((queue, pid));
                continue;
            }
            evicted = Evicted { any: true, leased: evicted.leased || is_leased };
            self.tasks.remove(&(queue, pid));
            let head = self.heads.entry(queue).or_default();
            if head.first_missing.is_after(pid) && !keeping.first_missing_stays {
                head.first_missing = FirstMissing::At(pid);
            }
        }
        pinned.into_iter().for_each(|name| self.recent.used(name));
        evicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: Queue = Queue(0);
    const TWO: Keeping = Keeping { capacity: 2, first_missing_stays: false, pins_leased: false };

    fn scanned(pids: &[u32]) -> Vec<(Pid, Task)> {
        pids.iter().map(|pid| (Pid(*pid), Task::available(0))).collect()
    }

    fn known(cache: &Cache) -> Vec<u32> {
        cache.known(QUEUE).map(|(pid, _)| pid.0).collect()
    }

    #[test]
    fn a_short_scan_has_read_the_whole_queue() {
        let mut cache = Cache::default();
        cache.refill((QUEUE, Pid(0)), &scanned(&[3, 5]), 2, TWO);
        assert_eq!(cache.head(QUEUE).first_missing, FirstMissing::At(Pid(6)));
        assert_eq!(cache.look((QUEUE, Pid(4))), Looked::Known(None));
        assert_eq!(cache.look((QUEUE, Pid(7))), Looked::Missing);
        cache.refill((QUEUE, Pid(6)), &[], 2, TWO);
        assert_eq!(cache.head(QUEUE).first_missing, FirstMissing::None);
        assert_eq!(cache.look((QUEUE, Pid(7))), Looked::Known(None));
    }

    #[test]
    fn the_least_recently_used_task_leaves_a_gap() {
        let mut cache = Cache::default();
        cache.refill((QUEUE, Pid(0)), &scanned(&[1, 2]), 3, TWO);
        cache.look((QUEUE, Pid(1)));
        cache.put((QUEUE, Pid(9)), Some(Task::available(0)), TWO);
        assert_eq!(known(&cache), [1], "2 went; 9 is cached, and what lies between is not known");
        assert_eq!(cache.look((QUEUE, Pid(2))), Looked::Missing);
        assert_eq!(cache.look((QUEUE, Pid(9))), Looked::Known(Some(Task::available(0))));
    }

    #[test]
    fn a_task_behind_the_first_missing_one_is_not_cached() {
        let mut cache = Cache::default();
        cache.put((QUEUE, Pid(1)), Some(Task::available(0)), TWO);
        assert_eq!(cache.look((QUEUE, Pid(1))), Looked::Missing);
    }
}
