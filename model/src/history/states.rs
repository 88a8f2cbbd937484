//! States and what operations make of them, each computed once and named by a small number.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::specification::{Outcomes, Specification};

/// The states met so far and the steps between them. Lookups never iterate, so no order of theirs leaks.
pub(super) struct States<'s, S: Specification> {
    specification: &'s S,
    ids: FxHashMap<Rc<S::State>, u32>,
    states: Vec<Rc<S::State>>,
    /// Operations with their answers.
    kinds: Vec<Kind<S>>,
    kind_ids: FxHashMap<Kind<S>, u32>,
    /// `steps[kind]` maps a state to where its successors lie in `next`.
    steps: Vec<FxHashMap<u32, (u32, u32)>>,
    next: Vec<u32>,
    /// Bytes that the states hold.
    bytes: u64,
}

type Kind<S> = (<S as Specification>::Operation, Option<<S as Specification>::Answer>);

impl<'s, S: Specification> States<'s, S> {
    /// Nothing but the initial state, which is 0.
    pub(super) fn new(specification: &'s S) -> Self {
        let mut states = States {
            specification,
            ids: FxHashMap::default(),
            states: Vec::new(),
            kinds: Vec::new(),
            kind_ids: FxHashMap::default(),
            steps: Vec::new(),
            next: Vec::new(),
            bytes: 0,
        };
        states.intern(specification.initial());
        states
    }

    fn intern(&mut self, state: S::State) -> u32 {
        if let Some(id) = self.ids.get(&state) {
            return *id;
        }
        let id = self.states.len() as u32;
        self.bytes += (size_of::<S::State>() + self.specification.heap_bytes(&state)) as u64 + 48;
        let state = Rc::new(state);
        self.ids.insert(Rc::clone(&state), id);
        self.states.push(state);
        id
    }

    /// The number of an operation with its answer.
    pub(super) fn kind(&mut self, operation: &S::Operation, answer: Option<&S::Answer>) -> u32 {
        let kind = (operation.clone(), answer.cloned());
        if let Some(id) = self.kind_ids.get(&kind) {
            return *id;
        }
        let id = self.kinds.len() as u32;
        self.kinds.push(kind.clone());
        self.kind_ids.insert(kind, id);
        self.steps.push(FxHashMap::default());
        id
    }

    /// Where the successors of `state` under `kind` lie, for [`Self::next`].
    pub(super) fn step(&mut self, kind: u32, state: u32) -> (u32, u32) {
        if let Some(range) = self.steps[kind as usize].get(&state) {
            return *range;
        }
        let (operation, answer) = &self.kinds[kind as usize];
        let mut outcomes = Outcomes::new(answer.clone());
        self.specification.outcomes(&self.states[state as usize], operation, &mut outcomes);
        let start = self.next.len() as u32;
        for (_, successor) in outcomes.into_pairs() {
            let id = self.intern(successor);
            if !self.next[start as usize..].contains(&id) {
                self.next.push(id);
            }
        }
        let range = (start, self.next.len() as u32);
        self.steps[kind as usize].insert(state, range);
        self.bytes += 32;
        range
    }

    /// The successor at an index that [`Self::step`] named.
    pub(super) fn next(&self, index: u32) -> u32 {
        self.next[index as usize]
    }

    /// What is held here [bytes], about.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
