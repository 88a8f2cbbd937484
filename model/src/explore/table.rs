//! The set of fingerprints seen, each with the index of its state.

/// Open addressing over 64-bit fingerprints; fingerprint 0 is never stored.
pub(super) struct Table {
    slots: Vec<u64>,
    indices: Vec<u32>,
    len: usize,
}

impl Table {
    pub(super) fn new() -> Self {
        Table { slots: vec![0; 1 << 12], indices: vec![0; 1 << 12], len: 0 }
    }

    /// The index of a state seen before, or `None` after giving `fingerprint` the next index.
    #[inline]
    pub(super) fn insert(&mut self, fingerprint: u64) -> Option<u32> {
        debug_assert!(fingerprint != 0, "fingerprint 0 marks an empty slot");
        let mask = self.slots.len() - 1;
        let mut at = fingerprint as usize & mask;
        loop {
            let found = self.slots[at];
            if found == fingerprint {
                return Some(self.indices[at]);
            }
            if found == 0 {
                break;
            }
            at = (at + 1) & mask;
        }
        self.slots[at] = fingerprint;
        self.indices[at] = self.len as u32;
        self.len += 1;
        if self.len * 4 > self.slots.len() * 3 {
            self.grow();
        }
        None
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The fingerprints by index.
    pub(super) fn by_index(&self) -> Vec<u64> {
        let mut fingerprints = vec![0; self.len];
        for (slot, index) in self.slots.iter().zip(&self.indices) {
            if *slot != 0 {
                fingerprints[*index as usize] = *slot;
            }
        }
        fingerprints
    }

    pub(super) fn memory(&self) -> usize {
        self.slots.len() * (size_of::<u64>() + size_of::<u32>())
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let mask = size - 1;
        let (mut slots, mut indices) = (vec![0u64; size], vec![0u32; size]);
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

/// Where rows that are not canonical yet led to lately: a small cache in front of making them canonical. An entry says
/// that a row of this fingerprint was seen and which state its canonical form is.
pub(super) struct Landings {
    entries: Vec<(u64, u32)>,
}

const LANDING_COUNT_MAX: usize = 1 << 20;

impl Landings {
    pub(super) fn new() -> Self {
        Landings { entries: vec![(0, 0); 1 << 8] }
    }

    #[inline]
    pub(super) fn find(&self, raw: u64) -> Option<u32> {
        let (found, state) = self.entries[raw as usize & (self.entries.len() - 1)];
        (found == raw).then_some(state)
    }

    /// Notes a landing. The cache grows with the states, forgetting what it held.
    #[inline]
    pub(super) fn note(&mut self, raw: u64, state: u32) {
        if state as usize > self.entries.len() && self.entries.len() < LANDING_COUNT_MAX {
            self.entries = vec![(0, 0); self.entries.len() * 4];
        }
        let mask = self.entries.len() - 1;
        self.entries[raw as usize & mask] = (raw, state);
    }

    pub(super) fn memory(&self) -> usize {
        self.entries.len() * size_of::<(u64, u32)>()
    }
}
