//! Any `Model` as a space: its states are wholes, each stored once.

use std::hash::Hash;
use std::sync::Arc;

use seedbed_model::Violation;
use seedbed_model::explore::{Claim, Row, Space, Successors};
use stateright::{Expectation, Model};

use crate::check::{Represent, STEP, claims};
use crate::values::{Values, fingerprint, identity};

pub(crate) struct Whole<M: Model> {
    model: Arc<M>,
    represent: Option<Represent<M::State>>,
    states: Values<M::State>,
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
        let reached = vec![false; model.properties().len()];
        Whole { model, represent, states: Values::new(), reached, owed: 0 }
    }

    /// Bits of the `Sometimes` properties that held somewhere.
    pub(crate) fn reached(&self) -> &[bool] {
        &self.reached
    }

    fn push(&mut self, state: M::State, out: &mut Successors) {
        if !self.model.within_boundary(&state) {
            return;
        }
        let own = identity(&state);
        let known_by = self.represent.map_or(own, |represent| identity(&represent(&state)));
        let id = self.states.intern(own, || state);
        out.push(fingerprint(known_by as u64), own as u64, 0, |row| row.push(id));
    }

    /// Evaluates the properties on a state; the first `Always` that does not hold.
    fn judge(&mut self, state: &M::State) -> Option<&'static str> {
        self.owed = 0;
        let mut debt = 1;
        for (index, property) in self.model.properties().iter().enumerate() {
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
            self.push(state, out);
        }
    }

    fn expand(&mut self, row: Row<'_>, out: &mut Successors) {
        let state = Arc::clone(self.states.get(row.cells[0]));
        if let Some(name) = self.judge(&state) {
            let detail = format!("{name} does not hold");
            out.fell_here(Violation { property: name.to_owned(), detail });
            return;
        }
        out.owe(self.owed);
        out.act(STEP);
        let mut actions = Vec::new();
        self.model.actions(&state, &mut actions);
        for action in actions {
            if let Some(next) = self.model.next_state(&state, action) {
                self.push(next, out);
            }
        }
    }

    fn claims(&self) -> Vec<Claim> {
        claims(&self.model.properties())
    }

    fn fork(&self) -> Self {
        Whole { states: self.states.fork(), ..Whole::new(Arc::clone(&self.model), self.represent) }
    }

    fn begin(&mut self, _: u64) {
        self.states.catch_up();
    }

    fn memory(&self) -> usize {
        self.states.len() * (size_of::<M::State>() + 96)
    }
}
