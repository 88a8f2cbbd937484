//! What is searched: states as rows of small integers, and the way on from each.

use std::io;

use super::checkpoint::{Reader, Writer};
use super::table::{SHARD_COUNT, shard_of};
use crate::property::Violation;

/// A state space. The search knows no more of it than this, so that worlds of protocols and models of other kinds are
/// searched by one program.
///
/// Everything a space hands out is a function of the row it was asked about: workers ask in any order.
pub trait Space: Send + Sized {
    /// The states to start from.
    fn start(&mut self, out: &mut Successors);

    /// Every way on from a state. A space to which it is dear to hand over a state may tell of one that was `seen` as
    /// [`Successors::known`].
    fn expand(&mut self, row: Row<'_>, seen: &dyn Seen, out: &mut Successors);

    /// Another worker's hands on the same space: a row means the same to both.
    fn fork(&self) -> Self;

    /// Work goes on at `moment`, a number that grows: rows that other workers made may come. What is met from here on was
    /// met at that moment.
    fn begin(&mut self, moment: u64) {
        let _ = moment;
    }

    /// What must come of the states, by its bit; at most 32.
    fn claims(&self) -> Vec<Claim> {
        Vec::new()
    }

    /// Why the space makes no sense after all, once that has shown.
    fn misfit(&self) -> Option<String> {
        None
    }

    /// Memory held [bytes], roughly.
    fn memory(&self) -> usize {
        0
    }

    /// Writes what rows are made of, as the workers know it together.
    ///
    /// # Errors
    /// If it cannot be written, or this kind of space cannot be.
    fn save(workers: &[&Self], out: &mut Writer<'_, '_>) -> io::Result<()> {
        let _ = (workers, out);
        Err(io::Error::other("this kind of model has no checkpoints"))
    }

    /// Reads it back into a space that has searched nothing yet.
    ///
    /// # Errors
    /// What is wrong with it.
    fn load(&mut self, input: &mut Reader<'_, '_>) -> Result<(), String> {
        let _ = input;
        Err("this kind of model has no checkpoints".into())
    }
}

/// The states that a search has met.
pub trait Seen {
    /// Whether the state of this fingerprint is among them. Of those met since the last round was taken in, some may be missing.
    fn has(&self, fingerprint: u64) -> bool;

    /// It will soon be asked whether this one is among them.
    fn fetch(&self, fingerprint: u64) {
        let _ = fingerprint;
    }
}

/// A claim about where states lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The property's name.
    pub name: &'static str,
    /// What must come.
    pub kind: ClaimKind,
}

/// The kinds of claim about where states lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    /// From every state, a transition that reaches the goal can be reached.
    Reachable,
    /// No weakly fair run is, from some time on, in states alone that owe it.
    Paid,
    /// No weakly fair run is from its start on in states alone that owe it.
    PaidOnce,
}

/// A state: a row of small integers, and a sum that the space keeps with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// The row.
    pub cells: &'a [u32],
    /// The space's own.
    pub weight: u64,
}

/// Where a space puts what it finds.
///
/// What is found goes to the lane of whoever will take it into the table: each looks into its own lanes alone.
pub struct Successors {
    pub(super) lanes: Vec<Lane>,
    /// `[i]` is the lane of shard `i`.
    lane_of: [u8; SHARD_COUNT],
    /// The lane of the last transition.
    last: usize,
    pub(super) total: u64,
    /// The state being expanded, and whether a successor of it was cut off.
    pub(super) from: u32,
    pub(super) cut: bool,
    pub(super) fallen: Option<Violation>,
    /// What the state being expanded owes, by bit.
    pub(super) owed: u32,
    /// What the transitions told from here on take: see [`Successors::act`].
    pub(super) action: u32,
    /// Whether it fell in the state itself.
    pub(super) fallen_here: bool,
    /// Whether transitions to states met before must be named too.
    pub(super) keeps_edges: bool,
}

/// Transitions to the states of some shards, in the order they were told.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) cells: Vec<u32>,
    pub(super) entries: Vec<Entry>,
    /// How many there were when the state being expanded was begun.
    begun: usize,
}

/// One transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) fingerprint: u64,
    pub(super) weight: u64,
    /// Where its row ends in the lane's cells. It begins where the one before ends; a transition to a state met before has
    /// none.
    pub(super) end: u32,
    pub(super) from: u32,
    pub(super) goals: u32,
    pub(super) action: u32,
}

impl Default for Successors {
    fn default() -> Self {
        Successors::in_lanes(1)
    }
}

impl Successors {
    /// Shards that follow each other share a lane, in as many lanes as are asked for and there are shards.
    pub(super) fn in_lanes(count: usize) -> Self {
        let count = count.clamp(1, SHARD_COUNT);
        Successors {
            lanes: (0..count).map(|_| Lane::default()).collect(),
            lane_of: std::array::from_fn(|shard| (shard * count / SHARD_COUNT) as u8),
            last: 0,
            total: 0,
            from: 0,
            cut: false,
            fallen: None,
            owed: 0,
            action: 0,
            fallen_here: false,
            keeps_edges: false,
        }
    }

    /// How many shards each lane is for, in their order.
    pub(super) fn shares(&self) -> Vec<usize> {
        let of_lane = |lane: usize| self.lane_of.iter().filter(|other| usize::from(**other) == lane).count();
        (0..self.lanes.len()).map(of_lane).collect()
    }

    /// The one lane of a search that has no need of several.
    ///
    /// # Panics
    /// If there are several.
    #[inline]
    pub(super) fn only(&self) -> &Lane {
        let [lane] = &self.lanes[..] else { panic!("{} lanes", self.lanes.len()) };
        lane
    }

    /// The state of the last transition.
    pub(super) fn last(&self) -> Option<u64> {
        self.lanes[self.last].entries.last().map(|entry| entry.fingerprint)
    }

    /// The transitions told from here on take this action. An action that stays possible must be taken in the end; it is the
    /// same wherever it has the same number. 0 need never be taken.
    #[inline]
    pub fn act(&mut self, action: u32) {
        self.action = action;
    }

    /// The state being expanded owes these claims, by bit.
    pub fn owe(&mut self, claims: u32) {
        self.owed = claims;
    }

    /// A transition to a state met before by this worker, or anyway.
    #[inline]
    pub fn known(&mut self, fingerprint: u64, goals: u32) {
        self.total += 1;
        if self.keeps_edges {
            self.enter(fingerprint, 0, goals, |_| ());
        }
    }

    /// A transition to a state that may be new: `row` appends its cells. `fingerprint` is not 0 and tells states apart;
    /// `goals` are the bits of goals reached on the way.
    #[inline]
    pub fn push(&mut self, fingerprint: u64, weight: u64, goals: u32, row: impl FnOnce(&mut Vec<u32>)) {
        self.total += 1;
        self.enter(fingerprint, weight, goals, row);
    }

    #[inline]
    fn enter(&mut self, fingerprint: u64, weight: u64, goals: u32, row: impl FnOnce(&mut Vec<u32>)) {
        self.last = usize::from(self.lane_of[shard_of(fingerprint)]);
        let lane = &mut self.lanes[self.last];
        row(&mut lane.cells);
        let (end, from, action) = (lane.cells.len() as u32, self.from, self.action);
        lane.entries.push(Entry { fingerprint, weight, end, from, goals, action });
    }

    /// A transition to a state beyond a bound. It is not counted.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// A transition that a property fell on. The space then leaves the state.
    pub fn fell(&mut self, violation: Violation) {
        self.total += 1;
        self.fallen = Some(violation);
    }

    /// A property fell in the state itself. The space then leaves it.
    pub fn fell_here(&mut self, violation: Violation) {
        self.fallen_here = true;
        self.fallen = Some(violation);
    }

    /// How many transitions of the state being expanded are told: for a space that wraps another.
    pub fn count(&self) -> usize {
        self.lanes.iter().map(|lane| lane.entries.len() - lane.begun).sum()
    }

    /// Takes back the last transition, once.
    pub fn take_back(&mut self) {
        let lane = &mut self.lanes[self.last];
        if lane.entries.pop().is_some() {
            lane.cells.truncate(lane.entries.last().map_or(0, |entry| entry.end as usize));
            self.total -= 1;
        }
    }

    /// Changes what the transitions of the state being expanded take; see [`Self::act`].
    pub fn relabel(&mut self, relabelled: impl Fn(u32) -> u32) {
        for entry in self.lanes.iter_mut().flat_map(|lane| &mut lane.entries[lane.begun..]) {
            entry.action = relabelled(entry.action);
        }
    }

    /// Whether a property fell.
    pub fn has_fallen(&self) -> bool {
        self.fallen.is_some()
    }

    pub(super) fn memory(&self) -> usize {
        let of_lane = |lane: &Lane| lane.cells.capacity() * 4 + lane.entries.capacity() * size_of::<Entry>();
        self.lanes.iter().map(of_lane).sum()
    }

    pub(super) fn clear(&mut self) {
        for lane in &mut self.lanes {
            lane.cells.clear();
            lane.entries.clear();
            lane.begun = 0;
        }
        self.total = 0;
        self.cut = false;
        self.fallen = None;
        self.fallen_here = false;
    }

    /// Another state is expanded.
    pub(super) fn begin(&mut self, from: u32) {
        self.lanes.iter_mut().for_each(|lane| lane.begun = lane.entries.len());
        self.from = from;
        self.cut = false;
        self.owed = 0;
        self.action = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shard_has_its_lane_and_every_lane_its_shards() {
        for count in 1..=2 * SHARD_COUNT {
            let found = Successors::in_lanes(count);
            assert_eq!(found.lanes.len(), count.min(SHARD_COUNT));
            assert!(found.lane_of.is_sorted(), "{:?}", found.lane_of);
            assert!(found.shares().into_iter().all(|share| share > 0), "{:?}", found.shares());
            assert_eq!(found.shares().into_iter().sum::<usize>(), SHARD_COUNT);
        }
    }

    #[test]
    fn the_last_transition_is_taken_back_from_its_lane() {
        let mut found = Successors::in_lanes(2);
        let fingerprints: [u64; 3] = [1, u64::MAX, 2];
        fingerprints.iter().for_each(|fingerprint| found.push(*fingerprint, 0, 0, |cells| cells.push(7)));
        assert_eq!((found.count(), found.last()), (3, Some(2)));
        found.take_back();
        assert_eq!((found.count(), found.total), (2, 2));
        let left = |lane: usize| (found.lanes[lane].entries[0].fingerprint, found.lanes[lane].cells.len());
        assert_eq!([left(0), left(1)], [(1, 1), (u64::MAX, 1)]);
        found.begin(5);
        assert_eq!(found.count(), 0, "of the state being expanded");
    }
}
