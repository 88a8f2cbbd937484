//! Typed values that are named by small integers.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::sharing::lock;

/// Distinct values, named in the order met: as one worker knows them. A name means the same to all workers.
pub(super) struct Typed<T> {
    /// Every value that any worker has met, with its key.
    met: Arc<Mutex<Vec<(u64, T)>>>,
    index: FxHashMap<u64, u32>,
    values: Vec<T>,
}

impl<T: Clone + PartialEq> Typed<T> {
    pub(super) fn new() -> Self {
        Self::of(Arc::default())
    }

    /// Another worker's copy: the same names.
    pub(super) fn fork(&self) -> Self {
        Self::of(Arc::clone(&self.met))
    }

    fn of(met: Arc<Mutex<Vec<(u64, T)>>>) -> Self {
        let mut typed = Typed { met, index: FxHashMap::default(), values: Vec::new() };
        typed.catch_up();
        typed
    }

    /// Learns what other workers have met.
    pub(super) fn catch_up(&mut self) {
        let met = Arc::clone(&self.met);
        self.learn(&lock(&met));
    }

    fn learn(&mut self, met: &[(u64, T)]) {
        for (key, value) in &met[self.values.len()..] {
            self.add(*key, value.clone());
        }
    }

    fn add(&mut self, mut key: u64, value: T) -> u32 {
        // Distinct values of one key get neighbouring ones.
        while self.index.contains_key(&key) {
            key = key.wrapping_add(1);
        }
        let name = self.values.len() as u32;
        self.index.insert(key, name);
        self.values.push(value);
        name
    }

    fn find(&self, mut key: u64, value: &T) -> Option<u32> {
        while let Some(&name) = self.index.get(&key) {
            if self.values[name as usize] == *value {
                return Some(name);
            }
            key = key.wrapping_add(1);
        }
        None
    }

    /// The name of `value`, whose content hash is `key`.
    pub(super) fn intern(&mut self, key: u64, value: T) -> u32 {
        if let Some(name) = self.find(key, &value) {
            return name;
        }
        let met = Arc::clone(&self.met);
        let mut met = lock(&met);
        self.learn(&met);
        if let Some(name) = self.find(key, &value) {
            return name;
        }
        met.push((key, value.clone()));
        self.add(key, value)
    }

    #[inline]
    pub(super) fn get(&self, name: u32) -> &T {
        &self.values[name as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_same_to_all_workers() {
        let mut one = Typed::new();
        let first = one.intern(7, "first");
        let mut other = one.fork();
        let second = other.intern(7, "second, of the same key");
        let third = one.intern(9, "third");
        assert_eq!(other.intern(9, "third"), third);
        assert_eq!(one.intern(7, "second, of the same key"), second);
        other.catch_up();
        for name in [first, second, third] {
            assert_eq!(one.get(name), other.get(name));
        }
        assert_eq!((first, second, third), (0, 1, 2));
    }
}
