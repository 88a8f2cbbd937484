//! What is searched: states as rows of small integers, and the way on from each.

use std::io;

use super::checkpoint::{Reader, Writer};
use crate::property::Violation;

/// A state space. The search knows no more of it than this, so that worlds of protocols and models of other kinds are
/// searched by one program.
///
/// Everything a space hands out is a function of the row it was asked about: workers ask in any order.
pub trait Space: Send + Sized {
    /// The states to start from.
    fn start(&mut self, out: &mut Successors);

    /// Every way on from a state.
    fn expand(&mut self, row: Row<'_>, out: &mut Successors);

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
#[derive(Default)]
pub struct Successors {
    pub(super) cells: Vec<u32>,
    pub(super) entries: Vec<Entry>,
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

/// One transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) fingerprint: u64,
    pub(super) weight: u64,
    /// Where its row ends in `cells`. It begins where the one before ends; a transition to a state met before has none.
    pub(super) end: u32,
    pub(super) from: u32,
    pub(super) goals: u32,
    pub(super) action: u32,
}

impl Successors {
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
            self.enter(fingerprint, 0, goals);
        }
    }

    /// A transition to a state that may be new: `row` appends its cells. `fingerprint` is not 0 and tells states apart;
    /// `goals` are the bits of goals reached on the way.
    #[inline]
    pub fn push(&mut self, fingerprint: u64, weight: u64, goals: u32, row: impl FnOnce(&mut Vec<u32>)) {
        self.total += 1;
        row(&mut self.cells);
        self.enter(fingerprint, weight, goals);
    }

    #[inline]
    fn enter(&mut self, fingerprint: u64, weight: u64, goals: u32) {
        let (end, from, action) = (self.cells.len() as u32, self.from, self.action);
        self.entries.push(Entry { fingerprint, weight, end, from, goals, action });
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

    /// How many transitions are told, of all states since the space was asked first: for a space that wraps another.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Takes back the transitions from the `len`-th on.
    pub fn truncate(&mut self, len: usize) {
        self.total -= self.entries.len().saturating_sub(len) as u64;
        self.entries.truncate(len);
        self.cells.truncate(self.start_of(self.entries.len()));
    }

    /// Of the transitions from the `start`-th on, only those to such fingerprints stay. They are still counted.
    pub(super) fn retain_from(&mut self, start: usize, stays: impl Fn(u64) -> bool) {
        let (mut kept, mut from) = (start, self.start_of(start));
        let mut to = from;
        for at in start..self.entries.len() {
            let mut entry = self.entries[at];
            let end = entry.end as usize;
            if stays(entry.fingerprint) {
                self.cells.copy_within(from..end, to);
                to += end - from;
                entry.end = to as u32;
                self.entries[kept] = entry;
                kept += 1;
            }
            from = end;
        }
        self.entries.truncate(kept);
        self.cells.truncate(to);
    }

    /// Where the row of a transition begins.
    fn start_of(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.entries[at - 1].end as usize }
    }

    /// Changes what the transitions from the `start`-th on take; see [`Self::act`].
    pub fn relabel(&mut self, start: usize, relabelled: impl Fn(u32) -> u32) {
        for entry in &mut self.entries[start..] {
            entry.action = relabelled(entry.action);
        }
    }

    /// Whether a property fell.
    pub fn has_fallen(&self) -> bool {
        self.fallen.is_some()
    }

    pub(super) fn memory(&self) -> usize {
        self.cells.capacity() * 4 + self.entries.capacity() * size_of::<Entry>()
    }

    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.entries.clear();
        self.total = 0;
        self.cut = false;
        self.fallen = None;
        self.fallen_here = false;
    }

    /// Another state is expanded.
    pub(super) fn begin(&mut self, from: u32) {
        self.from = from;
        self.cut = false;
        self.owed = 0;
        self.action = 0;
    }
}
