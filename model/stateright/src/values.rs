//! Values of foreign types, each stored once and named by a small integer.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

/// A value's name.
pub(crate) type Id = u32;

thread_local! {
    /// What a value writes, of the last that was asked: its memory is used again.
    static GATHERED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// 128 bits over what the value's `Hash` writes: the same on every machine of one endianness and word size.
pub(crate) fn identity<T: Hash>(value: &T) -> u128 {
    let mut gathered = Gathered(GATHERED.take());
    gathered.0.clear();
    value.hash(&mut gathered);
    let identity = xxh3_128(&gathered.0);
    GATHERED.set(gathered.0);
    identity
}

/// Gathers the few bytes of each write: hashed at once they take a third of the time.
struct Gathered(Vec<u8>);

impl Hasher for Gathered {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("a value is asked to write, not for a hash")
    }
}

/// What a value of this identity adds to a state's sum at `place`.
pub(crate) fn weight(place: u64, identity: u128) -> u64 {
    seedbed_model::hash(place, &identity.to_le_bytes())
}

/// The fingerprint of a state of this sum; never 0.
pub(crate) fn fingerprint(sum: u64) -> u64 {
    seedbed_model::hash(u64::MAX, &sum.to_le_bytes()) | 1 << 63
}

/// A value and its identity.
type Named<T> = (u128, Arc<T>);

/// The values met so far. Workers share the names; each reads its own copy without a lock.
pub(crate) struct Values<T> {
    shared: Arc<Mutex<Vec<Named<T>>>>,
    known: Vec<Named<T>>,
    index: FxHashMap<u128, Id>,
    /// Where they stand, if all stand in one place; and what each adds to a sum there.
    place: u64,
    weights: Vec<u64>,
}

impl<T> Values<T> {
    pub(crate) fn new() -> Self {
        Values::at(0)
    }

    /// Values that stand in one place.
    pub(crate) fn at(place: u64) -> Self {
        Values { shared: Arc::default(), known: Vec::new(), index: FxHashMap::default(), place, weights: Vec::new() }
    }

    /// Another worker's copy: the same names.
    pub(crate) fn fork(&self) -> Self {
        let mut values = Values { shared: Arc::clone(&self.shared), ..Values::at(self.place) };
        values.catch_up();
        values
    }

    /// Learns what other workers have met.
    pub(crate) fn catch_up(&mut self) {
        let shared = Arc::clone(&self.shared);
        self.learn(&lock(&shared));
    }

    fn learn(&mut self, shared: &[Named<T>]) {
        for (identity, value) in &shared[self.known.len()..] {
            self.index.insert(*identity, self.known.len() as Id);
            self.known.push((*identity, Arc::clone(value)));
            self.weights.push(weight(self.place, *identity));
        }
    }

    /// The name of the value of this identity, made by `value` if it is new.
    pub(crate) fn intern(&mut self, identity: u128, value: impl FnOnce() -> T) -> Id {
        if let Some(&id) = self.index.get(&identity) {
            return id;
        }
        let shared = Arc::clone(&self.shared);
        let mut shared = lock(&shared);
        self.learn(&shared);
        if let Some(&id) = self.index.get(&identity) {
            return id;
        }
        shared.push((identity, Arc::new(value())));
        self.learn(&shared);
        self.known.len() as Id - 1
    }

    #[inline]
    pub(crate) fn get(&self, id: Id) -> &Arc<T> {
        &self.known[id as usize].1
    }

    /// What the value adds to a state's sum in the one place of all.
    #[inline]
    pub(crate) fn weight(&self, id: Id) -> u64 {
        self.weights[id as usize]
    }

    pub(crate) fn identity(&self, id: Id) -> u128 {
        self.known[id as usize].0
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

/// A worker that panicked leaves what it held whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes may come in any pieces, few or many: what counts is what they are.
    #[test]
    fn an_identity_is_that_of_the_bytes_written() {
        struct Pieces(Vec<Vec<u8>>);
        impl Hash for Pieces {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.0.iter().for_each(|piece| hasher.write(piece));
            }
        }
        for length in [1_000, 0, 1, 200] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            for size in [1, 7, 100, 1_000] {
                let pieces = Pieces(bytes.chunks(size).map(<[u8]>::to_vec).collect());
                assert_eq!(identity(&pieces), xxh3_128(&bytes), "{length} bytes in pieces of {size}");
            }
        }
    }
}
