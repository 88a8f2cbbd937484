//! Interning: each distinct component of a world is stored once, by its canonical bytes, and named by a small integer.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::checkpoint::{Reader, Writer};
use super::sharing::lock;
use crate::canonical::{Canonical, Encoder, Renaming, hash};
use crate::name::{NodeId, TagSpace};
use crate::time::Stamp;

/// A component's name. [`ABSENT`] stands for the parts of a node that is down.
pub(super) type Id = u32;

/// No component: adds nothing to a fingerprint.
pub(super) const ABSENT: Id = 0;

/// Where a component stands: a slot of the row, [`FLIGHT`] or [`ACTION`]. Equal bytes in different places are different.
pub(super) type Place = u32;

/// The place of messages in flight.
pub(super) const FLIGHT: Place = u32::MAX;

/// The place of what nodes can do, where it has a number. It is in no row.
pub(super) const ACTION: Place = u32::MAX - 1;

/// The components met so far, as one worker knows them.
///
/// Workers share one [`Master`], which hands out the ids; each keeps a copy of its own that it reads without a lock, and
/// catches up where it meets something new.
pub(super) struct Pool {
    master: Arc<Mutex<Master>>,
    index: FxHashMap<u64, Id>,
    entries: Vec<Arc<Entry>>,
    /// `weights[id]`: what the component adds to a fingerprint.
    weights: Vec<u64>,
    /// `first_bytes[id]`: of its encoding; 0 if that is empty.
    first_bytes: Vec<u8>,
    /// `tags_of[id]`: index of its list of tags; 0 is the empty list.
    tags_of: Vec<u32>,
    tag_lists: Vec<Tags>,
    tag_index: FxHashMap<Tags, u32>,
    byte_count: usize,
}

/// Every component that any worker has met, in the order met: `entries[id]`.
struct Master {
    entries: Vec<Arc<Entry>>,
}

struct Entry {
    place: Place,
    bytes: Box<[u8]>,
    weight: u64,
    tags: Tags,
    stamped: bool,
    /// Whether it is a message that always matters, as far as any worker knows.
    always_live: AtomicBool,
}

/// Each distinct tag in a component, sorted; packed as `kind << 48 | scope << 32 | rank`, so that it sorts by space.
pub(super) type Tags = Box<[u64]>;

/// The names inside a component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct NamesIn {
    pub(super) tags: Tags,
    /// Whether there is a stamp.
    pub(super) stamped: bool,
}

impl Pool {
    pub(super) fn new() -> Self {
        let absent = Entry {
            place: 0,
            bytes: Box::default(),
            weight: 0,
            tags: Box::default(),
            stamped: false,
            always_live: false.into(),
        };
        Self::of(Arc::new(Mutex::new(Master { entries: vec![Arc::new(absent)] })))
    }

    /// Another worker's copy: the same ids.
    pub(super) fn fork(&self) -> Self {
        Self::of(Arc::clone(&self.master))
    }

    fn of(master: Arc<Mutex<Master>>) -> Self {
        let mut pool = Pool {
            master,
            index: FxHashMap::default(),
            entries: Vec::new(),
            weights: Vec::new(),
            first_bytes: Vec::new(),
            tags_of: Vec::new(),
            tag_lists: Vec::new(),
            tag_index: FxHashMap::default(),
            byte_count: 0,
        };
        pool.intern_tags(&[]);
        pool.catch_up();
        pool
    }

    /// Learns what other workers have met.
    pub(super) fn catch_up(&mut self) {
        let master = Arc::clone(&self.master);
        self.learn(&lock(&master));
    }

    fn learn(&mut self, master: &Master) {
        for entry in &master.entries[self.entries.len()..] {
            self.add(Arc::clone(entry));
        }
    }

    fn add(&mut self, entry: Arc<Entry>) -> Id {
        let id = self.entries.len() as Id;
        // Id 0 stands for no component, and is never found.
        if id != ABSENT {
            self.index.insert(free_key(&self.index, entry.weight), id);
        }
        self.byte_count += entry.bytes.len();
        let tags = self.intern_tags(&entry.tags);
        self.tags_of.push(tags);
        self.weights.push(entry.weight);
        self.first_bytes.push(entry.bytes.first().copied().unwrap_or(0));
        self.entries.push(entry);
        id
    }

    fn find(&self, place: Place, bytes: &[u8], weight: u64) -> Option<Id> {
        let mut key = weight;
        while let Some(&id) = self.index.get(&key) {
            let entry = &self.entries[id as usize];
            if entry.place == place && *entry.bytes == *bytes {
                return Some(id);
            }
            key = key.wrapping_add(1);
        }
        None
    }

    /// The id of `bytes` at `place`; `names` is asked for when they are new to this worker.
    pub(super) fn intern(&mut self, place: Place, bytes: &[u8], names: impl FnOnce() -> NamesIn) -> Id {
        let weight = mix(hash(u64::from(place) + 1, bytes));
        if let Some(id) = self.find(place, bytes, weight) {
            return id;
        }
        let NamesIn { tags, stamped } = names();
        let master = Arc::clone(&self.master);
        let mut master = lock(&master);
        self.learn(&master);
        if let Some(id) = self.find(place, bytes, weight) {
            return id;
        }
        let entry = Arc::new(Entry { place, bytes: bytes.into(), weight, tags, stamped, always_live: false.into() });
        master.entries.push(Arc::clone(&entry));
        self.add(entry)
    }

    /// The index of a list of tags. Indices are this worker's own.
    pub(super) fn intern_tags(&mut self, tags: &[u64]) -> u32 {
        if let Some(&index) = self.tag_index.get(tags) {
            return index;
        }
        let index = self.tag_lists.len() as u32;
        self.tag_lists.push(tags.into());
        self.tag_index.insert(tags.into(), index);
        index
    }

    /// The index of the component's list of tags; 0 if it has none.
    #[inline]
    pub(super) fn tags_index(&self, id: Id) -> u32 {
        self.tags_of[id as usize]
    }

    /// The component's tags.
    #[inline]
    pub(super) fn tags(&self, id: Id) -> &[u64] {
        &self.tag_lists[self.tags_of[id as usize] as usize]
    }

    /// How many lists of tags there are.
    #[inline]
    pub(super) fn tag_list_count(&self) -> usize {
        self.tag_lists.len()
    }

    /// The list of tags of this index.
    pub(super) fn tag_list(&self, index: u32) -> &[u64] {
        &self.tag_lists[index as usize]
    }

    /// The id of a value without parts.
    pub(super) fn intern_value<T: Canonical + Clone>(&mut self, place: Place, value: &T) -> Id {
        let mut out = Encoder::whole();
        value.encode(&mut out);
        self.intern(place, out.bytes(), || Collector::of(&mut value.clone()).into_single())
    }

    /// Writes the components in the order of their ids.
    pub(super) fn save(&self, out: &mut Writer<'_, '_>) -> io::Result<()> {
        out.number(self.entries.len() as u64 - 1)?;
        for entry in &self.entries[1..] {
            out.number(u64::from(entry.place) << 1 | u64::from(entry.stamped))?;
            out.text(&entry.bytes)?;
            out.longs(&entry.tags)?;
        }
        Ok(())
    }

    /// Reads components back. Those known already must come first.
    pub(super) fn load(&mut self, input: &mut Reader<'_, '_>) -> Result<(), String> {
        for id in 1..=input.number()? {
            let place = input.number()?;
            let (bytes, tags) = (input.text()?, input.longs()?);
            let names = NamesIn { tags: tags.into(), stamped: place & 1 == 1 };
            let found = self.intern((place >> 1) as Place, &bytes, || names);
            if u64::from(found) != id {
                return Err(format!("component {id} is component {found} of this search"));
            }
        }
        Ok(())
    }

    pub(super) fn place(&self, id: Id) -> Place {
        self.entries[id as usize].place
    }

    pub(super) fn bytes(&self, id: Id) -> &[u8] {
        &self.entries[id as usize].bytes
    }

    #[inline]
    pub(super) fn weight(&self, id: Id) -> u64 {
        self.weights[id as usize]
    }

    /// What it adds to a row's weight to exchange `old` for `new`.
    #[inline]
    pub(super) fn change(&self, old: Id, new: Id) -> u64 {
        self.weight(new).wrapping_sub(self.weight(old))
    }

    /// Whether the two differ in their tags.
    #[inline]
    pub(super) fn are_tags_other(&self, old: Id, new: Id) -> bool {
        self.tags_index(old) != self.tags_index(new)
    }

    /// The first byte of the component's encoding.
    #[inline]
    pub(super) fn first_byte(&self, id: Id) -> u8 {
        self.first_bytes[id as usize]
    }

    /// Tells all workers that the message always matters.
    pub(super) fn note_always_live(&self, id: Id) {
        self.entries[id as usize].always_live.store(true, Ordering::Relaxed);
    }

    /// Whether some worker has found that the message always matters.
    pub(super) fn is_always_live(&self, id: Id) -> bool {
        self.entries[id as usize].always_live.load(Ordering::Relaxed)
    }

    /// Whether there is a stamp in the component.
    pub(super) fn is_stamped(&self, id: Id) -> bool {
        self.entries[id as usize].stamped
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes of all encodings: the same wherever the same components were met.
    pub(super) fn encoded_bytes(&self) -> usize {
        self.byte_count
    }

    /// Memory held [bytes], roughly.
    pub(super) fn memory(&self) -> usize {
        self.byte_count + self.entries.len() * (size_of::<Entry>() + 60)
    }
}

/// Distinct components of one hash get neighbouring keys: names must never be confused, whatever the hash does.
fn free_key(index: &FxHashMap<u64, Id>, mut key: u64) -> u64 {
    while index.contains_key(&key) {
        key = key.wrapping_add(1);
    }
    key
}

/// Spreads a hash once more: weights are added up, and sums of nearby values must not meet.
#[inline]
pub(super) fn mix(hash: u64) -> u64 {
    let wide = u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(0xe703_7ed1_a0b4_28db_u64);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Packs a tag into one integer, to sort by space and then by rank.
pub(super) fn packed(space: TagSpace, rank: u32) -> u64 {
    u64::from(space.kind) << 48 | u64::from(space.scope) << 32 | u64::from(rank)
}

/// The rank of a packed tag.
pub(super) fn rank_of(tag: u64) -> u32 {
    tag as u32
}

/// Collects the names in a value, core and parts apart.
#[derive(Default)]
pub(super) struct Collector {
    core: Vec<u64>,
    core_stamped: bool,
    parts: Vec<(Vec<u64>, bool)>,
    depth: u32,
}

impl Collector {
    pub(super) fn of<T: Canonical>(value: &mut T) -> Self {
        let mut collector = Collector::default();
        value.rename(&mut collector);
        collector
    }

    /// The names of a value as a whole.
    pub(super) fn into_single(self) -> NamesIn {
        let mut tags = self.core;
        let mut stamped = self.core_stamped;
        for (more, also) in self.parts {
            tags.extend(more);
            stamped |= also;
        }
        names_in(tags, stamped)
    }

    /// The names of the core and of each part.
    pub(super) fn into_split(self) -> (NamesIn, Vec<NamesIn>) {
        let parts = self.parts.into_iter().map(|(tags, stamped)| names_in(tags, stamped)).collect();
        (names_in(self.core, self.core_stamped), parts)
    }

    fn place(&mut self) -> (&mut Vec<u64>, &mut bool) {
        match self.parts.last_mut() {
            Some((tags, stamped)) if self.depth > 0 => (tags, stamped),
            _ => (&mut self.core, &mut self.core_stamped),
        }
    }
}

fn names_in(mut tags: Vec<u64>, stamped: bool) -> NamesIn {
    tags.sort_unstable();
    tags.dedup();
    NamesIn { tags: tags.into(), stamped }
}

impl Renaming for Collector {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let entry = packed(space, *rank);
        self.place().0.push(entry);
    }
    fn stamp(&mut self, _: &mut Stamp) {
        *self.place().1 = true;
    }
    fn part(&mut self, begins: bool) {
        if !begins {
            self.depth -= 1;
            return;
        }
        if self.depth == 0 {
            self.parts.push((Vec::new(), false));
        }
        self.depth += 1;
    }
}

/// Permutes nodes: `self.0[i]` is what node `i` becomes.
pub(super) struct Permuting<'a>(pub(super) &'a [NodeId]);

impl Renaming for Permuting<'_> {
    fn node(&mut self, node: &mut NodeId) {
        *node = self.0[node.index()];
    }
}

/// A list of inputs for each component that was asked about, flat.
#[derive(Default)]
pub(super) struct Lists {
    /// By id; `None` until asked.
    ranges: Vec<Option<(u32, u32)>>,
    items: Vec<u32>,
}

impl Lists {
    #[inline]
    pub(super) fn range(&self, id: Id) -> Option<std::ops::Range<usize>> {
        let (start, end) = (*self.ranges.get(id as usize)?)?;
        Some(start as usize..end as usize)
    }

    pub(super) fn insert(&mut self, id: Id, items: impl IntoIterator<Item = u32>) -> std::ops::Range<usize> {
        if self.ranges.len() <= id as usize {
            self.ranges.resize(id as usize + 1, None);
        }
        let start = self.items.len();
        self.items.extend(items);
        self.ranges[id as usize] = Some((start as u32, self.items.len() as u32));
        start..self.items.len()
    }

    #[inline]
    pub(super) fn items(&self, range: std::ops::Range<usize>) -> &[u32] {
        &self.items[range]
    }
}
