//! The set of fingerprints seen, each with the number of its state and of the state it was first reached from.

use super::graph::Edge;
use super::level::Segment;
use super::space::{Entry, Row};

/// A power of two, the same for any number of workers: a state's number must not depend on how many there are.
pub(super) const SHARD_COUNT: usize = 16;

/// The parent of a state that a run may start in.
pub(super) const ROOT: u32 = u32::MAX;

/// The table, in shards that workers fill side by side. State `n` is the `n / SHARD_COUNT`-th of shard
/// `n % SHARD_COUNT`.
pub(super) struct Table {
    pub(super) shards: Vec<Shard>,
}

/// Open addressing over 64-bit fingerprints; fingerprint 0 is never stored.
pub(super) struct Shard {
    number: u32,
    slots: Vec<u64>,
    indices: Vec<u32>,
    pub(super) parents: Vec<u32>,
    /// New states of the round.
    pub(super) fresh: Segment,
    /// Transitions of the round, where they are asked for.
    pub(super) edges: Vec<Edge>,
}

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
        let shard = &self.shards[shard_of(fingerprint)];
        shard.find(fingerprint).map(|index| shard.number_of(index)).expect("the state was seen")
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
        self.shards[state as usize % SHARD_COUNT].parents[state as usize / SHARD_COUNT]
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

impl Shard {
    pub(super) fn new(number: u32) -> Self {
        Shard {
            number,
            slots: vec![0; 1 << 8],
            indices: vec![0; 1 << 8],
            parents: Vec::new(),
            fresh: Segment::default(),
            edges: Vec::new(),
        }
    }

    #[inline]
    fn find(&self, fingerprint: u64) -> Result<u32, usize> {
        debug_assert!(fingerprint != 0, "fingerprint 0 marks an empty slot");
        let mask = self.slots.len() - 1;
        let mut at = fingerprint as usize & mask;
        loop {
            let found = self.slots[at];
            if found == fingerprint {
                return Ok(self.indices[at]);
            }
            if found == 0 {
                return Err(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Reads the slot, so that it is near when it is asked for; what it holds, so that the reading is not left out.
    #[inline]
    pub(super) fn touch(&self, fingerprint: u64) -> u64 {
        self.slots[fingerprint as usize & (self.slots.len() - 1)]
    }

    /// The number of a state seen before, or else the next.
    #[inline]
    pub(super) fn insert(&mut self, fingerprint: u64, parent: u32) -> (u32, bool) {
        match self.find(fingerprint) {
            Ok(index) => (self.number_of(index), false),
            Err(at) => {
                let index = self.parents.len() as u32;
                self.slots[at] = fingerprint;
                self.indices[at] = index;
                self.parents.push(parent);
                if self.parents.len() * 4 > self.slots.len() * 3 {
                    self.grow();
                }
                (self.number_of(index), true)
            }
        }
    }

    /// Takes a transition: a new state's row goes among the fresh ones.
    #[inline]
    pub(super) fn land(&mut self, entry: &Entry, cells: &[u32], keeps_edges: bool) {
        let (state, new) = self.insert(entry.fingerprint, entry.from);
        if new {
            self.fresh.push(Row { cells, weight: entry.weight }, state);
        }
        if keeps_edges && entry.from != ROOT {
            self.edges.push(Edge { from: entry.from, to: state, action: entry.action });
        }
    }

    pub(super) fn number(&self) -> usize {
        self.number as usize
    }

    #[inline]
    fn number_of(&self, index: u32) -> u32 {
        index * SHARD_COUNT as u32 + self.number
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The fingerprints by index.
    pub(super) fn by_index(&self) -> Vec<u64> {
        let mut fingerprints = vec![0; self.len()];
        for (slot, index) in self.slots.iter().zip(&self.indices) {
            if *slot != 0 {
                fingerprints[*index as usize] = *slot;
            }
        }
        fingerprints
    }

    fn memory(&self) -> usize {
        self.slots.len() * (size_of::<u64>() + size_of::<u32>()) + self.parents.capacity() * size_of::<u32>()
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mask = size - 1;
        // Written, not asked for as zeros: a page that is read before it is written faults twice, and interrupts the other
        // workers.
        let (mut slots, mut indices) = (Vec::with_capacity(size), Vec::with_capacity(size));
        slots.resize(size, 0u64);
        indices.resize(size, 0u32);
        for (fingerprint, index) in self.slots.iter().zip(&self.indices).filter(|(slot, _)| **slot != 0) {
            let mut at = *fingerprint as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *fingerprint;
            indices[at] = *index;
        }
        (self.slots, self.indices) = (slots, indices);
    }
}
