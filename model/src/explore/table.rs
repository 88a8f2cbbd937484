//! The set of fingerprints seen, each with the number of its state and of the state it was first reached from.
//!
//! A shard is filled by one worker at a time ([`Shard::insert`]), or by all side by side ([`Shard::enter`]), which then need
//! no lock: a slot is taken by writing the fingerprint where none was, and never given back. Only growing wants a shard to
//! itself.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use prefetch_index::prefetch_index;

use super::graph::Edge;
use super::level::Segment;
use super::space::{Entry, Row, Seen};

/// A power of two, the same for any number of workers: a state's number must not depend on how many there are.
pub(super) const SHARD_COUNT: usize = 16;

/// The parent of a state that a run may start in.
pub(super) const ROOT: u32 = u32::MAX;

/// The table, in shards that workers fill side by side. State `n` is the `n / SHARD_COUNT`-th of shard
/// `n % SHARD_COUNT`.
#[derive(Default)]
pub(super) struct Table {
    pub(super) shards: Vec<Shard>,
}

/// Open addressing over 64-bit fingerprints; fingerprint 0 is never stored.
pub(super) struct Shard {
    number: u32,
    slots: Vec<AtomicU64>,
    /// By slot; [`UNWRITTEN`] until the worker that took the slot has written it.
    indices: Vec<AtomicU32>,
    /// `[..len]` by index; there is room for as many as the shard takes before it grows.
    parents: Vec<AtomicU32>,
    len: Count,
    /// New states of the round.
    pub(super) fresh: Segment,
    /// Transitions of the round, where they are asked for.
    pub(super) edges: Vec<Edge>,
}

/// A number that all workers write, on lines of memory of its own: the fields beside it are read for each transition.
#[derive(Default)]
#[repr(align(128))]
struct Count(AtomicU32);

/// What came of entering a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entered {
    /// It was not there; its number.
    New(u32),
    /// It was.
    Known,
    /// The shard has to grow first.
    Full,
}

const SLOT_COUNT_MIN: usize = 1 << 8;

/// An index that is not written yet.
const UNWRITTEN: u32 = u32::MAX;

/// How many workers may enter states side by side: each may be one state ahead of what the others know.
pub(super) const WORKER_COUNT_MAX: usize = 1 << 10;

#[inline]
pub(super) fn shard_of(fingerprint: u64) -> usize {
    (fingerprint >> 59) as usize % SHARD_COUNT
}

impl Table {
    pub(super) fn new() -> Self {
        Table { shards: (0..SHARD_COUNT as u32).map(Shard::new).collect() }
    }

    /// The number of a state seen before.
    ///
    /// # Panics
    /// If it was not.
    pub(super) fn number(&self, fingerprint: u64) -> u32 {
        self.shards[shard_of(fingerprint)].number_seen(fingerprint)
    }

    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(Shard::len).sum()
    }

    /// Beyond every state's number.
    pub(super) fn number_max(&self) -> usize {
        self.shards.iter().map(|shard| shard.len() * SHARD_COUNT + shard.number as usize).max().unwrap_or(0)
    }

    /// Whether there is a state of this number.
    pub(super) fn holds(&self, state: u32) -> bool {
        state as usize / SHARD_COUNT < self.shards[state as usize % SHARD_COUNT].len()
    }

    /// Steps from a start to `state`, on the way it was first reached.
    pub(super) fn depth_of(&self, mut state: u32) -> u32 {
        let mut depth = 0;
        while self.parent(state) != ROOT {
            state = self.parent(state);
            depth += 1;
        }
        depth
    }

    pub(super) fn parent(&self, state: u32) -> u32 {
        self.shards[state as usize % SHARD_COUNT].parents[state as usize / SHARD_COUNT].load(Ordering::Relaxed)
    }

    /// The fingerprints on the way from a start to `state`.
    pub(super) fn path_to(&self, state: u32) -> Vec<u64> {
        let mut chain = vec![state];
        while self.parent(chain[chain.len() - 1]) != ROOT {
            chain.push(self.parent(chain[chain.len() - 1]));
        }
        chain.reverse();
        self.fingerprints(&chain)
    }

    pub(super) fn fingerprints(&self, states: &[u32]) -> Vec<u64> {
        let by_index: Vec<Vec<u64>> = self.shards.iter().map(Shard::by_index).collect();
        states.iter().map(|state| by_index[*state as usize % SHARD_COUNT][*state as usize / SHARD_COUNT]).collect()
    }

    pub(super) fn memory(&self) -> usize {
        self.shards.iter().map(Shard::memory).sum()
    }
}

impl Seen for Table {
    fn has(&self, fingerprint: u64) -> bool {
        self.shards[shard_of(fingerprint)].find(fingerprint).is_ok()
    }

    fn fetch(&self, fingerprint: u64) {
        self.shards[shard_of(fingerprint)].prefetch(fingerprint);
    }
}

impl Shard {
    pub(super) fn new(number: u32) -> Self {
        Shard {
            number,
            slots: written(SLOT_COUNT_MIN, 0, AtomicU64::new),
            indices: written(SLOT_COUNT_MIN, UNWRITTEN, AtomicU32::new),
            parents: written(room(SLOT_COUNT_MIN), ROOT, AtomicU32::new),
            len: Count::default(),
            fresh: Segment::default(),
            edges: Vec::new(),
        }
    }

    /// The slot of the fingerprint, or else the one where it belongs.
    #[inline]
    fn find(&self, fingerprint: u64) -> Result<usize, usize> {
        debug_assert!(fingerprint != 0, "fingerprint 0 marks an empty slot");
        let mask = self.slots.len() - 1;
        let mut at = fingerprint as usize & mask;
        loop {
            let found = self.slots[at].load(Ordering::Relaxed);
            if found == fingerprint {
                return Ok(at);
            }
            if found == 0 {
                return Err(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Has the slot fetched from memory, so that it is near when it is asked for.
    #[inline]
    pub(super) fn prefetch(&self, fingerprint: u64) {
        prefetch_index(&self.slots, fingerprint as usize & (self.slots.len() - 1));
    }

    /// The number of a state seen before, or else the next.
    #[inline]
    pub(super) fn insert(&mut self, fingerprint: u64, parent: u32) -> (u32, bool) {
        match self.find(fingerprint) {
            Ok(at) => (self.number_at(at), false),
            Err(at) => (self.add(at, fingerprint, parent), true),
        }
    }

    /// Adds a state in the slot where it belongs; its number.
    #[inline]
    fn add(&mut self, at: usize, fingerprint: u64, parent: u32) -> u32 {
        let index = *self.len.0.get_mut();
        *self.slots[at].get_mut() = fingerprint;
        *self.indices[at].get_mut() = index;
        *self.parents[index as usize].get_mut() = parent;
        *self.len.0.get_mut() += 1;
        if self.is_full() {
            self.grow();
        }
        self.number_of(index)
    }

    /// Enters a state, while others may do so too.
    #[inline]
    pub(super) fn enter(&self, fingerprint: u64, parent: u32) -> Entered {
        loop {
            let Err(at) = self.find(fingerprint) else { return Entered::Known };
            if self.is_full() {
                return Entered::Full;
            }
            // What is written behind the fingerprint is read by who waits for the index, or after all have finished.
            if self.slots[at].compare_exchange(0, fingerprint, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                let index = self.len.0.fetch_add(1, Ordering::Relaxed);
                self.parents[index as usize].store(parent, Ordering::Relaxed);
                self.indices[at].store(index, Ordering::Relaxed);
                return Entered::New(self.number_of(index));
            }
        }
    }

    /// The number of a state that was seen.
    ///
    /// # Panics
    /// If it was not.
    pub(super) fn number_seen(&self, fingerprint: u64) -> u32 {
        self.number_at(self.find(fingerprint).expect("the state was seen"))
    }

    #[inline]
    fn number_at(&self, slot: usize) -> u32 {
        loop {
            match self.indices[slot].load(Ordering::Relaxed) {
                UNWRITTEN => std::hint::spin_loop(),
                index => return self.number_of(index),
            }
        }
    }

    /// Takes a transition: a new state's row goes among the fresh ones.
    #[inline]
    pub(super) fn land(&mut self, entry: &Entry, cells: &[u32], keeps_edges: bool) {
        let keeps_edge = keeps_edges && entry.from != ROOT;
        // The number of a known state lies elsewhere in memory, far away: it is read only where it is asked for.
        let to = match self.find(entry.fingerprint) {
            Ok(at) => keeps_edge.then(|| self.number_at(at)),
            Err(at) => {
                let state = self.add(at, entry.fingerprint, entry.from);
                self.fresh.push(Row { cells, weight: entry.weight }, state);
                keeps_edge.then_some(state)
            }
        };
        self.edges.extend(to.map(|to| Edge { from: entry.from, to, action: entry.action }));
    }

    pub(super) fn number(&self) -> usize {
        self.number as usize
    }

    #[inline]
    fn number_of(&self, index: u32) -> u32 {
        index * SHARD_COUNT as u32 + self.number
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len.0.load(Ordering::Relaxed) as usize
    }

    /// The fingerprints by index.
    pub(super) fn by_index(&self) -> Vec<u64> {
        let mut fingerprints = vec![0; self.len()];
        for (fingerprint, index) in self.taken() {
            fingerprints[index as usize] = fingerprint;
        }
        fingerprints
    }

    /// The parents by index.
    pub(super) fn parents(&self) -> Vec<u32> {
        self.parents[..self.len()].iter().map(|parent| parent.load(Ordering::Relaxed)).collect()
    }

    fn memory(&self) -> usize {
        self.slots.len() * (size_of::<u64>() + size_of::<u32>()) + self.parents.len() * size_of::<u32>()
    }

    /// The fingerprints, each with its index.
    fn taken(&self) -> impl Iterator<Item = (u64, u32)> {
        let pairs = self.slots.iter().zip(&self.indices);
        let pairs = pairs.map(|(slot, index)| (slot.load(Ordering::Relaxed), index.load(Ordering::Relaxed)));
        pairs.filter(|(fingerprint, _)| *fingerprint != 0)
    }

    /// Whether it takes no more before it grows.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.len() * 4 > self.slots.len() * 3
    }

    /// Whether it soon takes no more.
    pub(super) fn is_filling(&self) -> bool {
        self.len() * 8 > self.slots.len() * 5
    }

    #[cold]
    pub(super) fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mask = size - 1;
        let slots = written(size, 0, AtomicU64::new);
        let indices = written(size, UNWRITTEN, AtomicU32::new);
        for (fingerprint, index) in self.taken() {
            let mut at = fingerprint as usize & mask;
            while slots[at].load(Ordering::Relaxed) != 0 {
                at = (at + 1) & mask;
            }
            slots[at].store(fingerprint, Ordering::Relaxed);
            indices[at].store(index, Ordering::Relaxed);
        }
        (self.slots, self.indices) = (slots, indices);
        self.parents.reserve_exact(room(size) - self.parents.len());
        self.parents.resize_with(room(size), || AtomicU32::new(ROOT));
    }
}

/// How many states a shard of so many slots may come to hold.
fn room(slots: usize) -> usize {
    slots / 4 * 3 + 1 + WORKER_COUNT_MAX
}

/// `size` of them, written, not asked for as zeros: a page that is read before it is written faults twice, and interrupts
/// the other workers.
fn written<T: Copy, A>(size: usize, value: T, atomic: impl Fn(T) -> A) -> Vec<A> {
    // A compiler that saw both the request and the zeros would ask for zeros.
    let mut all = std::hint::black_box(Vec::with_capacity(size));
    all.resize_with(size, || atomic(value));
    all
}
