//! Where rows that are not canonical yet led to lately: a small cache in front of making them canonical.

/// An entry says that a row of this fingerprint was met, and the fingerprint of its canonical form.
pub(super) struct Landings {
    entries: Vec<(u64, u64)>,
    noted: usize,
}

const LANDING_COUNT_MAX: usize = 1 << 16;

impl Landings {
    pub(super) fn new() -> Self {
        Landings { entries: vec![(0, 0); 1 << 8], noted: 0 }
    }

    #[inline]
    pub(super) fn find(&self, raw: u64) -> Option<u64> {
        let (found, canonical) = self.entries[raw as usize & (self.entries.len() - 1)];
        (found == raw).then_some(canonical)
    }

    /// Notes a landing. The cache grows with what is noted, forgetting what it held.
    #[inline]
    pub(super) fn note(&mut self, raw: u64, canonical: u64) {
        self.noted += 1;
        if self.noted > self.entries.len() && self.entries.len() < LANDING_COUNT_MAX {
            self.entries = vec![(0, 0); self.entries.len() * 4];
        }
        let mask = self.entries.len() - 1;
        self.entries[raw as usize & mask] = (raw, canonical);
    }

    pub(super) fn memory(&self) -> usize {
        self.entries.len() * size_of::<(u64, u64)>()
    }
}
