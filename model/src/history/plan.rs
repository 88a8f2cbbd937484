//! What a search searches: operations in lanes, of which only the next of each can come next.

use std::collections::{BTreeMap, BTreeSet};

use super::prepared::{Kind, Prepared};
use super::specification::Specification;
use super::{Interval, Judgement, NEVER};

/// An operation to be put in order.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// Its index in the history.
    pub(super) index: u32,
    /// Operation and answer, as [`super::states::States`] numbers them.
    pub(super) kind: u32,
    /// The part that it touches.
    pub(super) slot: u32,
    pub(super) invoked: u64,
    /// Its answer, or [`NEVER`]: then it may be left out.
    pub(super) returned: u64,
    /// Whether it changes no state.
    pub(super) keeps: bool,
}

impl Item {
    pub(super) fn is_optional(&self) -> bool {
        self.returned == NEVER
    }
}

/// How an operation takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Within its interval, with its answer.
    Fixed,
    /// At any time after its invocation or never, with any answer; if the object is finite, any number of times.
    Free,
    /// Not at all.
    Absent,
}

/// The role of each operation, by its index.
pub(super) type Roles<'a> = &'a dyn Fn(usize) -> Role;

/// Operations in lanes.
///
/// Invariants:
/// 1. of a lane only its first operation that must be ordered, and those before it that need not, can come next;
/// 2. `ends[lane][head]` is the earliest answer in `lanes[lane][head..]`, with [`NEVER`] at the end;
/// 3. `optional[kind]` holds alike operations, earliest invocation first; any number of the first of them may be used.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) lanes: Vec<Vec<Item>>,
    pub(super) ends: Vec<Vec<u64>>,
    pub(super) optional: Vec<Vec<Item>>,
    /// Different operations that may come any number of times, each at its earliest invocation or later.
    pub(super) repeated: Vec<Item>,
    /// Those of them that overwrite, by part: after any of them it does not matter what was before.
    pub(super) blind: Vec<Vec<Item>>,
    /// How many parts the object has here.
    pub(super) slots: u32,
    /// Whether an operation must come after those answered before its invocation.
    pub(super) real_time: bool,
}

impl Plan {
    /// The operations with their roles, under a judgement. Of `prepared` those count that `intervals` has.
    pub(super) fn new<S: Specification>(
        specification: &S,
        intervals: &[Interval<S::Operation, S::Answer>],
        judgement: Judgement,
        prepared: &Prepared<'_, S>,
        role: Roles<'_>,
    ) -> Self {
        let slots = prepared.slot_count;
        let blind = vec![Vec::new(); slots as usize];
        let mut plan = Plan { real_time: judgement.is_real_time(), slots, blind, ..Plan::default() };
        let mut repeated: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut kinds: BTreeMap<(u32, u32), Vec<Item>> = BTreeMap::new();
        let mut processes: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, interval) in intervals.iter().enumerate() {
            let role = role(index);
            if role == Role::Absent {
                continue;
            }
            let item = item(interval, index, role == Role::Free, prepared);
            if item.keeps && item.is_optional() {
                continue;
            }
            if role == Role::Free && specification.is_finite() {
                // Operations come in the order of their invocations, so the first of alike ones is the earliest.
                if repeated.insert((item.kind, item.slot)) {
                    match prepared.is_blind[index] {
                        true => plan.blind[item.slot as usize].push(item),
                        false => plan.repeated.push(item),
                    }
                }
                continue;
            }
            if item.is_optional() && (role == Role::Free || !judgement.is_in_process_order()) {
                kinds.entry((item.kind, item.slot)).or_default().push(item);
                continue;
            }
            let lane = match judgement.is_in_process_order() {
                true => *processes.entry(interval.process).or_insert(plan.lanes.len()),
                false => plan.free_lane(item.invoked),
            };
            plan.push(lane, item);
        }
        plan.optional = kinds.into_values().collect();
        plan.finish();
        plan
    }

    /// What is read off the lanes once they are full.
    fn finish(&mut self) {
        self.optional.iter_mut().for_each(|items| items.sort_by_key(|item| (item.invoked, item.index)));
        self.ends = self.lanes.iter().map(|lane| ends(lane)).collect();
    }

    /// The first lane whose last operation was answered before `invoked`: within it, real time is an order.
    fn free_lane(&self, invoked: u64) -> usize {
        let is_free = |lane: &Vec<Item>| lane.last().is_none_or(|last| last.returned < invoked);
        self.lanes.iter().position(is_free).unwrap_or(self.lanes.len())
    }

    fn push(&mut self, lane: usize, item: Item) {
        if lane == self.lanes.len() {
            self.lanes.push(Vec::new());
        }
        self.lanes[lane].push(item);
    }
}

fn item<S: Specification>(
    interval: &Interval<S::Operation, S::Answer>,
    index: usize,
    is_free: bool,
    prepared: &Prepared<'_, S>,
) -> Item {
    let Kind { id, keeps } = prepared.kind(index, interval.answer.is_some() && !is_free);
    Item {
        index: index as u32,
        kind: id,
        slot: prepared.slots[index],
        invoked: interval.invoked,
        returned: if is_free { NEVER } else { interval.returned },
        keeps,
    }
}

fn ends(lane: &[Item]) -> Vec<u64> {
    let mut ends = vec![NEVER; lane.len() + 1];
    for (index, item) in lane.iter().enumerate().rev() {
        ends[index] = item.returned.min(ends[index + 1]);
    }
    ends
}
