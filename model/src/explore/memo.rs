//! Remembering pure functions of a few components of a row.
//!
//! A computation says what it depended on: which slots of the row it read, and which timers it asked for. It is
//! remembered under those alone. Several sets of dependencies may be known for one input (a step that reads different
//! parts in different situations); the first that matches answers, and any that matches answers right, since the
//! function saw nothing else.

use rustc_hash::FxHashMap;

use super::pool::Id;

/// What a computation depended on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependencies<T> {
    /// Slots of the row, sorted.
    pub(super) slots: Vec<u16>,
    /// The slot of the timers that were asked for, and which.
    pub(super) timers: Option<(u16, Vec<T>)>,
}

struct Group<T> {
    depends: Dependencies<T>,
    /// Timers' id to the answers, one bit each.
    armed: FxHashMap<Id, Box<[u32]>>,
}

/// A remembered function from an input and a row to an index of the caller's.
pub(super) struct Memo<T> {
    /// `groups_of[input]`: the known sets of dependencies.
    groups_of: Vec<Vec<u32>>,
    groups: Vec<Group<T>>,
    /// By hash of group and key; the entry's key is compared.
    entries: FxHashMap<u64, Entry>,
    keys: Vec<u32>,
    solo: Solo,
}

/// What depends on one slot alone, as most does: one probe of a flat table.
struct Solo {
    /// `slot_of[input]`: the slot, or [`NO_SLOT`].
    slot_of: Vec<u16>,
    /// `input << 32 | id` or [`FREE`], and the result.
    entries: Vec<(u64, u32)>,
    len: usize,
}

const NO_SLOT: u16 = u16::MAX;
const FREE: u64 = u64::MAX;

impl Solo {
    fn new() -> Self {
        Solo { slot_of: Vec::new(), entries: vec![(FREE, 0); 1 << 6], len: 0 }
    }

    #[inline]
    fn find(&self, input: u32, slot: impl Fn(u16) -> Id) -> Option<u32> {
        let of = *self.slot_of.get(input as usize)?;
        if of == NO_SLOT {
            return None;
        }
        let key = u64::from(input) << 32 | u64::from(slot(of));
        let (found, result) = self.entries[self.place(key)];
        (found == key).then_some(result)
    }

    /// Where the key is, or belongs.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.entries[at].0 != key && self.entries[at].0 != FREE {
            at = (at + 1) & mask;
        }
        at
    }

    /// Whether `input` may be kept here: it depends on this slot alone, and did so before.
    fn takes(&mut self, input: u32, slot: u16) -> bool {
        if self.slot_of.len() <= input as usize {
            self.slot_of.resize(input as usize + 1, NO_SLOT);
        }
        let known = &mut self.slot_of[input as usize];
        if *known == NO_SLOT {
            *known = slot;
        }
        *known == slot
    }

    fn insert(&mut self, input: u32, id: Id, result: u32) {
        let key = u64::from(input) << 32 | u64::from(id);
        let at = self.place(key);
        self.entries[at] = (key, result);
        self.len += 1;
        if self.len * 2 > self.entries.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.entries.len() * 2;
        for entry in std::mem::replace(&mut self.entries, vec![(FREE, 0); size]) {
            if entry.0 != FREE {
                let at = self.place(entry.0);
                self.entries[at] = entry;
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Entry {
    key_start: u32,
    key_len: u32,
    result: u32,
}

impl<T: Clone + PartialEq> Memo<T> {
    pub(super) fn new() -> Self {
        Memo {
            groups_of: Vec::new(),
            groups: Vec::new(),
            entries: FxHashMap::default(),
            keys: Vec::new(),
            solo: Solo::new(),
        }
    }

    /// What is remembered of `input` for a row whose slots are read by `slot`. `armed` says whether a timer is armed
    /// in a set of timers.
    #[inline]
    pub(super) fn find(&mut self, input: u32, slot: impl Fn(u16) -> Id, armed: impl Fn(Id, &T) -> bool) -> Option<u32> {
        if let Some(result) = self.solo.find(input, &slot) {
            return Some(result);
        }
        let groups = self.groups_of.get(input as usize)?;
        for &index in groups {
            let group = &mut self.groups[index as usize];
            let mut hash = start(input, index);
            for &at in &group.depends.slots {
                hash = fold(hash, slot(at));
            }
            if let Some((at, timers)) = &group.depends.timers {
                let id = slot(*at);
                let bits = group.armed.entry(id).or_insert_with(|| answers(timers, |timer| armed(id, timer)));
                for &word in &**bits {
                    hash = fold(hash, word);
                }
            }
            let mut probe = hash;
            while let Some(entry) = self.entries.get(&probe) {
                if self.keys[entry.key_start as usize] == index && Self::matches(&self.keys, entry, group, &slot) {
                    return Some(entry.result);
                }
                probe = probe.wrapping_add(1);
            }
        }
        None
    }

    #[inline]
    fn matches(keys: &[u32], entry: &Entry, group: &Group<T>, slot: &impl Fn(u16) -> Id) -> bool {
        let key = &keys[entry.key_start as usize + 1..(entry.key_start + entry.key_len) as usize];
        let slots = &group.depends.slots;
        if !key.iter().zip(slots).all(|(id, at)| *id == slot(*at)) {
            return false;
        }
        match &group.depends.timers {
            None => true,
            Some((at, _)) => group.armed.get(&slot(*at)).is_some_and(|bits| **bits == key[slots.len()..]),
        }
    }

    /// Remembers `result` for `input`, which depended on this.
    pub(super) fn insert(
        &mut self,
        input: u32,
        depends: Dependencies<T>,
        result: u32,
        slot: impl Fn(u16) -> Id,
        armed: impl Fn(Id, &T) -> bool,
    ) {
        if let (&[only], None) = (&*depends.slots, &depends.timers)
            && self.solo.takes(input, only)
        {
            self.solo.insert(input, slot(only), result);
            return;
        }
        let index = self.group(input, depends);
        let group = &mut self.groups[index as usize];
        let key_start = self.keys.len() as u32;
        let mut hash = start(input, index);
        self.keys.push(index);
        for &at in &group.depends.slots {
            hash = fold(hash, slot(at));
            self.keys.push(slot(at));
        }
        if let Some((at, timers)) = &group.depends.timers {
            let id = slot(*at);
            let bits = group.armed.entry(id).or_insert_with(|| answers(timers, |timer| armed(id, timer)));
            for &word in &**bits {
                hash = fold(hash, word);
                self.keys.push(word);
            }
        }
        while self.entries.contains_key(&hash) {
            hash = hash.wrapping_add(1);
        }
        let key_len = self.keys.len() as u32 - key_start;
        self.entries.insert(hash, Entry { key_start, key_len, result });
    }

    fn group(&mut self, input: u32, depends: Dependencies<T>) -> u32 {
        if self.groups_of.len() <= input as usize {
            self.groups_of.resize_with(input as usize + 1, Vec::new);
        }
        let known = &mut self.groups_of[input as usize];
        if let Some(&index) = known.iter().find(|index| self.groups[**index as usize].depends == depends) {
            return index;
        }
        let index = self.groups.len() as u32;
        self.groups.push(Group { depends, armed: FxHashMap::default() });
        known.push(index);
        index
    }
}

fn answers<T>(timers: &[T], armed: impl Fn(&T) -> bool) -> Box<[u32]> {
    let mut words = vec![0u32; timers.len().div_ceil(32)];
    for (index, timer) in timers.iter().enumerate() {
        words[index / 32] |= u32::from(armed(timer)) << (index % 32);
    }
    words.into()
}

#[inline]
fn start(input: u32, group: u32) -> u64 {
    (u64::from(input) << 32 | u64::from(group)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn fold(hash: u64, word: u32) -> u64 {
    (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
