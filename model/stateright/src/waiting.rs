//! States of foreign types that wait to be expanded.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::values::lock;

/// Workers that put states there and take them seldom want the same shard.
const SHARD_COUNT: usize = 64;

/// States, each under its key, until they are taken. All workers share them.
pub(crate) struct Waiting<S> {
    shards: Arc<[Shard<S>]>,
}

/// On lines of memory of its own: workers write the locks of neighbours at the same time.
#[repr(align(128))]
struct Shard<S>(Mutex<FxHashMap<u64, S>>);

impl<S> Waiting<S> {
    pub(crate) fn new() -> Self {
        Waiting { shards: (0..SHARD_COUNT).map(|_| Shard(Mutex::default())).collect() }
    }

    /// The same states.
    pub(crate) fn share(&self) -> Self {
        Waiting { shards: Arc::clone(&self.shards) }
    }

    /// Puts a state there, unless it waits already.
    pub(crate) fn put(&self, key: u64, state: S) {
        lock(self.shard(key)).entry(key).or_insert(state);
    }

    /// Takes a state away.
    ///
    /// # Panics
    /// If it does not wait.
    pub(crate) fn take(&self, key: u64) -> S {
        lock(self.shard(key)).remove(&key).expect("the state waits")
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| lock(&shard.0).is_empty())
    }

    fn shard(&self, key: u64) -> &Mutex<FxHashMap<u64, S>> {
        // The map itself goes by other bits.
        &self.shards[(key >> 32) as usize % SHARD_COUNT].0
    }

    /// What each of those who share them answers for [bytes], roughly: what states hold elsewhere is not known.
    pub(crate) fn memory(&self) -> usize {
        let room: usize = self.shards.iter().map(|shard| lock(&shard.0).capacity()).sum();
        room * size_of::<(u64, S)>() / Arc::strong_count(&self.shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_waits_until_it_is_taken_whoever_put_it_there() {
        let one = Waiting::new();
        let other = one.share();
        let keys = [0, 1, 1 << 32, u64::MAX];
        keys.iter().for_each(|key| one.put(*key, key.wrapping_add(1)));
        other.put(1, 7);
        assert!(keys.iter().all(|key| other.take(*key) == key.wrapping_add(1)));
        one.put(1, 7);
        assert_eq!(other.take(1), 7);
        assert!(one.is_empty());
    }
}
