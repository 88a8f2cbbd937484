//! Any `Model` as a space: its states are wholes, of which nothing is known but how to hash them.
//!
//! A row has no cells. A state lies under its identity, which is the row's weight, until it is expanded: then it is dropped,
//! for it is not met again but as one that was seen.

use std::hash::Hash;
use std::sync::Arc;

use seedbed_model::Violation;
use seedbed_model::explore::{Claim, Row, Seen, Space, Successors};
use stateright::{Expectation, Model, Property};

use crate::check::{Represent, STEP, claims};
use crate::values::{fingerprint, identity};
use crate::waiting::Waiting;

/// A state that may be new.
struct Named<S> {
    state: S,
    /// The identity of the state itself, and what it is known by: it may stand for others.
    own: u64,
    fingerprint: u64,
}

pub(crate) struct Whole<M: Model> {
    model: Arc<M>,
    properties: Vec<Property<M>>,
    represent: Option<Represent<M::State>>,
    waiting: Waiting<M::State>,
    /// Where the state being expanded leads to.
    found: Vec<Named<M::State>>,
    /// As many actions as a state had.
    actions_max: usize,
    reached: Vec<bool>,
    /// The bits of the `Eventually` properties that do not hold in the state being expanded.
    owed: u32,
}

impl<M> Whole<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
{
    pub(crate) fn new(model: Arc<M>, represent: Option<Represent<M::State>>) -> Self {
        Whole::with(model, represent, Waiting::new())
    }

    fn with(model: Arc<M>, represent: Option<Represent<M::State>>, waiting: Waiting<M::State>) -> Self {
        let properties = model.properties();
        let reached = vec![false; properties.len()];
        Whole { model, properties, represent, waiting, found: Vec::new(), actions_max: 0, reached, owed: 0 }
    }

    /// Bits of the `Sometimes` properties that held somewhere.
    pub(crate) fn reached(&self) -> &[bool] {
        &self.reached
    }

    /// The state with its names; `None` beyond the boundary.
    fn named(&self, state: M::State) -> Option<Named<M::State>> {
        self.model.within_boundary(&state).then(|| {
            let own = identity(&state) as u64;
            let known_by = self.represent.map_or(own, |represent| identity(&represent(&state)) as u64);
            Named { state, own, fingerprint: fingerprint(known_by) }
        })
    }

    /// Of states that stand for one another, and of those that workers meet at the same moment, some wait for good.
    fn push(&self, Named { state, own, fingerprint }: Named<M::State>, out: &mut Successors) {
        self.waiting.put(own, state);
        out.push(fingerprint, own, 0, |_| ());
    }

    /// Evaluates the properties on a state; the first `Always` that does not hold.
    fn judge(&mut self, state: &M::State) -> Option<&'static str> {
        self.owed = 0;
        let mut debt = 1;
        for (index, property) in self.properties.iter().enumerate() {
            if self.reached[index] {
                continue;
            }
            let holds = (property.condition)(&self.model, state);
            match property.expectation {
                Expectation::Always if !holds => return Some(property.name),
                Expectation::Sometimes => self.reached[index] = holds,
                Expectation::Eventually => {
                    self.owed |= if holds { 0 } else { debt };
                    debt <<= 1;
                }
                Expectation::Always => {}
            }
        }
        None
    }
}

impl<M> Space for Whole<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
{
    fn start(&mut self, out: &mut Successors) {
        for state in self.model.init_states() {
            self.named(state).into_iter().for_each(|named| self.push(named, out));
        }
    }

    fn expand(&mut self, row: Row<'_>, seen: &dyn Seen, out: &mut Successors) {
        let state = self.waiting.take(row.weight);
        if let Some(name) = self.judge(&state) {
            let detail = format!("{name} does not hold");
            out.fell_here(Violation { property: name.to_owned(), detail });
            return;
        }
        out.owe(self.owed);
        out.act(STEP);
        // Room for all at once: what grows may lie in memory that another worker asked for, and then wait for its arena.
        let mut actions = Vec::with_capacity(self.actions_max);
        self.model.actions(&state, &mut actions);
        self.actions_max = self.actions_max.max(actions.len());
        let mut found = std::mem::take(&mut self.found);
        let next = actions.into_iter().filter_map(|action| self.model.next_state(&state, action));
        found.extend(next.filter_map(|next| self.named(next)).inspect(|next| seen.fetch(next.fingerprint)));
        for next in found.drain(..) {
            if seen.has(next.fingerprint) {
                out.known(next.fingerprint, 0);
            } else {
                self.push(next, out);
            }
        }
        self.found = found;
    }

    fn claims(&self) -> Vec<Claim> {
        claims(&self.properties)
    }

    fn fork(&self) -> Self {
        Whole::with(Arc::clone(&self.model), self.represent, self.waiting.share())
    }

    fn memory(&self) -> usize {
        self.waiting.memory()
    }
}

#[cfg(test)]
mod tests {
    use seedbed_model::explore::{Limits, Order, Strategy, search};
    use seedbed_stateright_models::two_phase::TwoPhaseCommit;

    use super::*;

    #[test]
    fn a_state_is_dropped_once_it_is_expanded() {
        let bits = Order::BitState { mebibytes: 1 };
        for (order, jobs) in [(Order::BreadthFirst, 1), (Order::BreadthFirst, 2), (Order::DepthFirst, 1), (bits, 1)] {
            let model = TwoPhaseCommit { managers: 4, waits_for_all: true };
            let limits = Limits { depth: None, states: u64::MAX };
            let space = Whole::new(Arc::new(model), None);
            let found = search(space, limits, &Strategy { order, jobs }, &mut |_| true).expect("it is searched");
            assert_eq!((found.stats.unique, found.stats.total), (1_568, 8_258), "{order:?}");
            assert!(found.spaces[0].waiting.is_empty(), "{order:?}");
        }
    }
}
