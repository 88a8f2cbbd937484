//! Reader-writer locks per queue and per task (§5.5).
//!
//! "All mutexes are ephemeral in that they don't exist if no thread has requested a lock." Those who wait are served in their order,
//! a reader behind a writer too, so that no writer starves. That there is no deadlock is the business of those who ask: queues
//! first, in their order, then tasks in theirs; a lease that discovers tasks takes the locks that are free and never waits for one.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::Canonical;

use super::message::OpKey;
use super::task::{Name, Queue};

/// What can be locked, in the order of the hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Lock {
    /// All: strict sequential consistency.
    Whole,
    /// A queue.
    Queue(Queue),
    /// A task, there or not.
    Task(Name),
}

/// With whom a lock can be shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Mode {
    /// With other readers.
    Read,
    /// With nobody.
    Write,
}

/// Who holds what and who waits.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Locks {
    locks: BTreeMap<Lock, Held>,
    /// What each has, so that it is found as it ends.
    held: BTreeMap<OpKey, BTreeSet<Lock>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Held {
    mode: Mode,
    by: BTreeSet<OpKey>,
    waiting: Vec<(OpKey, Mode)>,
}

impl Locks {
    /// Takes the lock, or waits for it: false.
    pub fn acquire(&mut self, op: OpKey, lock: Lock, mode: Mode) -> bool {
        let Some(held) = self.locks.get_mut(&lock) else {
            self.locks.insert(lock, Held { mode, by: BTreeSet::from([op]), waiting: Vec::new() });
            self.note(lock, &[op]);
            return true;
        };
        let is_free = held.mode == Mode::Read && mode == Mode::Read && held.waiting.is_empty();
        if is_free {
            held.by.insert(op);
            self.note(lock, &[op]);
        } else {
            held.waiting.push((op, mode));
        }
        is_free
    }

    /// Whether readers have the lock.
    pub fn is_read(&self, lock: Lock) -> bool {
        self.locks.get(&lock).is_some_and(|held| held.mode == Mode::Read)
    }

    /// A reader joins those who have the lock, before whoever waits for it: only a mutant does that.
    pub(super) fn join(&mut self, op: OpKey, lock: Lock) {
        if let Some(held) = self.locks.get_mut(&lock) {
            held.by.insert(op);
            self.note(lock, &[op]);
        }
    }

    /// Takes the lock to write if nobody has it.
    pub fn try_write(&mut self, op: OpKey, lock: Lock) -> bool {
        !self.locks.contains_key(&lock) && self.acquire(op, lock, Mode::Write)
    }

    /// Whether `op` has the queue to itself.
    pub fn owns(&self, op: OpKey, queue: Queue) -> bool {
        let owns = |lock| self.locks.get(&lock).is_some_and(|held| held.mode == Mode::Write && held.by.contains(&op));
        owns(Lock::Queue(queue)) || owns(Lock::Whole)
    }

    /// Whether another than `op` has a lock on the task.
    pub fn is_taken(&self, op: OpKey, name: Name) -> bool {
        self.locks.get(&Lock::Task(name)).is_some_and(|held| !held.by.contains(&op))
    }

    /// Gives up all that `op` holds. Returns who has what it waited for.
    pub fn release(&mut self, op: OpKey) -> Vec<OpKey> {
        let mut all = Vec::new();
        for lock in self.held.remove(&op).unwrap_or_default() {
            let Some(held) = self.locks.get_mut(&lock) else { continue };
            let mut woken = Vec::new();
            held.by.remove(&op);
            if held.by.is_empty() {
                held.pass_on(&mut woken);
            }
            if held.by.is_empty() {
                self.locks.remove(&lock);
            }
            self.note(lock, &woken);
            all.append(&mut woken);
        }
        all
    }

    /// Lets readers into the queues that `op` has to itself. Returns who has what it waited for.
    pub fn share(&mut self, op: OpKey) -> Vec<OpKey> {
        let mut all = Vec::new();
        let queues = self.held.get(&op).into_iter().flatten().filter(|lock| matches!(lock, Lock::Queue(_)));
        for lock in queues.copied().collect::<Vec<_>>() {
            let Some(held) = self.locks.get_mut(&lock).filter(|held| held.mode == Mode::Write) else { continue };
            let mut woken = Vec::new();
            held.mode = Mode::Read;
            held.admit_readers(&mut woken);
            self.note(lock, &woken);
            all.append(&mut woken);
        }
        all
    }

    /// Whether nobody holds anything.
    pub fn are_free(&self) -> bool {
        self.locks.is_empty()
    }

    /// They have the lock.
    fn note(&mut self, lock: Lock, ops: &[OpKey]) {
        for op in ops {
            self.held.entry(*op).or_default().insert(lock);
        }
    }
}

impl Held {
    /// To the first who waits, and, if it reads, those who read behind it.
    fn pass_on(&mut self, woken: &mut Vec<OpKey>) {
        if self.waiting.is_empty() {
            return;
        }
        let (op, mode) = self.waiting.remove(0);
        self.mode = mode;
        self.by.insert(op);
        woken.push(op);
        if mode == Mode::Read {
            self.admit_readers(woken);
        }
    }

    fn admit_readers(&mut self, woken: &mut Vec<OpKey>) {
        while let Some((op, Mode::Read)) = self.waiting.first().copied() {
            self.waiting.remove(0);
            self.by.insert(op);
            woken.push(op);
        }
    }
}

#[cfg(test)]
mod tests {
    use seedbed_model::{NodeId, Nonce};

    use super::super::task::Pid;
    use super::*;

    fn op(client: u16) -> OpKey {
        OpKey { client: NodeId(client), nonce: Nonce::first(client), call: 0 }
    }

    #[test]
    fn readers_share_and_wait_behind_a_writer_that_waits() {
        let mut locks = Locks::default();
        let lock = Lock::Queue(Queue(0));
        assert!(locks.acquire(op(0), lock, Mode::Read));
        assert!(locks.acquire(op(1), lock, Mode::Read));
        assert!(!locks.acquire(op(2), lock, Mode::Write));
        assert!(!locks.acquire(op(3), lock, Mode::Read), "it would starve the writer");
        assert!(locks.release(op(0)).is_empty());
        assert_eq!(locks.release(op(1)), [op(2)]);
        assert!(locks.owns(op(2), Queue(0)));
        assert_eq!(locks.release(op(2)), [op(3)]);
        assert!(locks.release(op(3)).is_empty());
        assert!(locks.are_free());
    }

    #[test]
    fn whoever_is_done_with_a_refill_lets_readers_in_and_writers_wait() {
        let mut locks = Locks::default();
        let lock = Lock::Queue(Queue(0));
        assert!(locks.acquire(op(0), lock, Mode::Write));
        assert!(!locks.acquire(op(1), lock, Mode::Read));
        assert!(!locks.acquire(op(2), lock, Mode::Write));
        assert_eq!(locks.share(op(0)), [op(1)]);
        assert!(locks.try_write(op(0), Lock::Task((Queue(0), Pid(1)))));
        assert!(locks.is_taken(op(1), (Queue(0), Pid(1))));
        assert!(locks.release(op(1)).is_empty());
        assert_eq!(locks.release(op(0)), [op(2)]);
    }
}
