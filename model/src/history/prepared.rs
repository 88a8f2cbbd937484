//! What every search of one history shares: operations with their answers as small numbers, and the states met.

use std::collections::BTreeMap;

use super::Interval;
use super::specification::Specification;
use super::states::States;

/// An operation as a search needs it, answered as it was or as if never.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// As [`States`] numbers it.
    pub(super) id: u32,
    /// Whether it changes no state.
    pub(super) keeps: bool,
}

/// The operations of a history, and the states that their searches met.
pub(super) struct Prepared<'s, S: Specification> {
    pub(super) states: States<'s, S>,
    /// `answered[i]` is operation `i` with its answer.
    answered: Vec<Kind>,
    /// `open[i]` is it without.
    open: Vec<Kind>,
    /// `slots[i]` is the part that it touches.
    pub(super) slots: Vec<u32>,
    /// How many parts there are.
    pub(super) slot_count: u32,
    /// `is_blind[i]`: [`Specification::overwrites`].
    pub(super) is_blind: Vec<bool>,
}

impl<'s, S: Specification> Prepared<'s, S> {
    pub(super) fn new(specification: &'s S, intervals: &[Interval<S::Operation, S::Answer>]) -> Self {
        let mut slots: BTreeMap<S::Part, u32> = BTreeMap::new();
        let mut prepared = Prepared {
            answered: Vec::with_capacity(intervals.len()),
            open: Vec::with_capacity(intervals.len()),
            slots: Vec::with_capacity(intervals.len()),
            slot_count: 0,
            is_blind: Vec::with_capacity(intervals.len()),
            states: States::new(specification),
        };
        let states = &mut prepared.states;
        for Interval { operation, answer, .. } in intervals {
            let mut kind = |answer: Option<&S::Answer>| Kind {
                id: states.kind(operation, answer),
                keeps: specification.keeps(operation, answer),
            };
            prepared.answered.push(kind(answer.as_ref()));
            prepared.open.push(kind(None));
            prepared.is_blind.push(specification.overwrites(operation));
            let count = slots.len() as u32;
            prepared.slots.push(*slots.entry(specification.part(operation)).or_insert(count));
        }
        prepared.slot_count = slots.len() as u32;
        prepared
    }

    /// Operation `index`, with its answer if that counts.
    pub(super) fn kind(&self, index: usize, is_answered: bool) -> Kind {
        if is_answered { self.answered[index] } else { self.open[index] }
    }
}
