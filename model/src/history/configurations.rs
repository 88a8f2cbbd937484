//! A history judged while it happens, as the state of a monitor.
//!
//! What is kept is not the history but everything that may be true of the object now: the *configurations*, each a
//! state and which of the operations in flight have taken effect in it, with what answer. An answer keeps those
//! configurations that explain it; if there is none, what clients saw has no order. (The just-in-time linearization of
//! Lowe 2017, §4, with all configurations at once.) The set is a function of what may still come, so two histories
//! after which the same may follow are one state to the explorer.

use std::collections::{BTreeMap, BTreeSet};

use derive_where::derive_where;

use super::specification::{Outcomes, Specification};
use crate::property::Watch;
use crate::protocol::{Data, Event, Protocol};
use crate::{Canonical, NodeId, OpId};

/// More configurations than these are given up on: the verdict is then unknown.
pub const CONFIGURATION_COUNT_MAX: usize = 1 << 16;

/// An operation of a client.
type Key = (NodeId, OpId);

/// One thing that may be true of the object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Configuration<S: Data, O: Data, A: Data> {
    state: S,
    /// Operations in flight that have taken effect, with the answers that they must be given.
    taken: BTreeMap<Key, A>,
    /// Operations without effect so far whose clients crashed, in order: each may still take effect, once.
    lost: Vec<O>,
}

/// Everything that may be true of an object of one part, after what clients saw so far. An object with parts has one
/// for each part; make each a [`crate::Part`] of the monitor, so that they do not multiply.
///
/// Invariants: 1. the set is empty only once it was found that there is no order, or given up; 2. of a configuration
/// each operation in flight is in `taken` or has not taken effect.
///
/// Their number can grow exponentially with the operations in flight; those of crashed clients never leave it. More
/// than [`CONFIGURATION_COUNT_MAX`] are given up on.
#[derive(Canonical)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Configurations<S: Data, O: Data, A: Data> {
    /// Operations in flight.
    open: BTreeMap<Key, O>,
    /// `None` before the first answer or crash: the object is as at first.
    possible: Option<BTreeSet<Configuration<S, O, A>>>,
}

/// What an answer says of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It still has an order.
    Ordered,
    /// With this answer it has none.
    Violated,
    /// There are more than [`CONFIGURATION_COUNT_MAX`] configurations.
    GivenUp,
}

impl<S: Data, O: Data, A: Data> Configurations<S, O, A> {
    /// Folds an event of a protocol whose operations are the specification's, and lets `property` fall where what
    /// clients saw has no order. Nothing is judged after it fell, or was given up.
    pub fn watch<P, X>(
        &mut self,
        specification: &X,
        property: &str,
        node: NodeId,
        event: &Event<P>,
        watch: &mut Watch<'_>,
    ) where
        P: Protocol<Operation = O, Answer = A>,
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        match event {
            Event::Invoked(op, operation) => self.invoked(node, *op, operation.clone()),
            Event::Crashed => self.crashed(specification, node),
            Event::Responded(op, answer) => {
                let operation = self.open.get(&(node, *op)).cloned();
                let Some(operation) = operation else { return };
                match self.responded(specification, node, *op, answer) {
                    Standing::Ordered => {}
                    Standing::Violated => watch.violated(
                        property,
                        format!("{node:?} gets {answer:?} for {operation:?}, and no order of all operations explains it"),
                    ),
                    Standing::GivenUp => watch.unknown(
                        property,
                        &format!("more than {CONFIGURATION_COUNT_MAX} configurations; fewer operations in flight, or fewer crashes of clients, keep their number down"),
                    ),
                }
            }
            _ => {}
        }
    }

    /// A client invokes an operation.
    pub fn invoked(&mut self, client: NodeId, op: OpId, operation: O) {
        if !self.is_over() {
            self.open.insert((client, op), operation);
        }
    }

    /// A client is answered. An answer that comes twice, or without an operation in flight, is no news.
    pub fn responded<X>(&mut self, specification: &X, client: NodeId, op: OpId, answer: &A) -> Standing
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        let key = (client, op);
        if !self.open.contains_key(&key) {
            return Standing::Ordered;
        }
        let before = self.take_possible(specification);
        let mut answering = Answering { specification, open: &self.open, key, answer, met: BTreeSet::new() };
        let found = answering.run(before);
        let standing = match &found {
            Some(possible) if possible.is_empty() => Standing::Violated,
            Some(_) => Standing::Ordered,
            None => Standing::GivenUp,
        };
        self.open.remove(&key);
        if standing != Standing::Ordered {
            self.open.clear();
        }
        self.possible = Some(found.unwrap_or_default());
        standing
    }

    /// The client's node crashes: what it has in flight is never answered, and may take effect at any later time.
    pub fn crashed<X>(&mut self, specification: &X, client: NodeId)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        let lost: Vec<(Key, O)> = self.open.iter().filter(|((node, _), _)| *node == client).map(cloned).collect();
        if lost.is_empty() {
            return;
        }
        let mut possible = self.take_possible(specification);
        for (key, operation) in lost {
            self.open.remove(&key);
            let is_without_effect = specification.keeps(&operation, None);
            let lose = |mut configuration: Configuration<S, O, A>| {
                if configuration.taken.remove(&key).is_none() && !is_without_effect {
                    configuration.lost.push(operation.clone());
                    configuration.lost.sort();
                }
                configuration
            };
            possible = possible.into_iter().map(lose).collect();
        }
        self.possible = Some(possible);
    }

    /// How many configurations are possible.
    pub fn count(&self) -> usize {
        self.possible.as_ref().map_or(1, BTreeSet::len)
    }

    fn is_over(&self) -> bool {
        self.possible.as_ref().is_some_and(BTreeSet::is_empty)
    }

    fn take_possible<X: Specification<State = S>>(&mut self, specification: &X) -> BTreeSet<Configuration<S, O, A>> {
        let first = || Configuration { state: specification.initial(), taken: BTreeMap::new(), lost: Vec::new() };
        self.possible.take().unwrap_or_else(|| BTreeSet::from([first()]))
    }
}

fn cloned<O: Clone>((key, operation): (&Key, &O)) -> (Key, O) {
    (*key, operation.clone())
}

/// One answer, on its way through the configurations.
struct Answering<'a, X: Specification>
where
    X::State: Data,
    X::Operation: Data,
    X::Answer: Data,
{
    specification: &'a X,
    open: &'a BTreeMap<Key, X::Operation>,
    key: Key,
    answer: &'a X::Answer,
    /// Configurations in which the operation has not taken effect.
    met: BTreeSet<Possible<X>>,
}

type Possible<X> =
    Configuration<<X as Specification>::State, <X as Specification>::Operation, <X as Specification>::Answer>;

impl<X: Specification> Answering<'_, X>
where
    X::State: Data,
    X::Operation: Data,
    X::Answer: Data,
{
    /// The configurations that explain the answer; `None` if there are too many.
    fn run(&mut self, before: BTreeSet<Possible<X>>) -> Option<BTreeSet<Possible<X>>> {
        let mut explaining = BTreeSet::new();
        let mut left: Vec<Possible<X>> = Vec::new();
        for mut configuration in before {
            match configuration.taken.remove(&self.key) {
                Some(answer) if answer == *self.answer => drop(explaining.insert(configuration)),
                Some(_) => {}
                None => self.meet(configuration, &mut left),
            }
        }
        while let Some(configuration) = left.pop() {
            self.take_now(&configuration, &mut explaining);
            self.take_others(&configuration, &mut left);
            if explaining.len().max(self.met.len()) > CONFIGURATION_COUNT_MAX {
                return None;
            }
        }
        Some(explaining)
    }

    fn meet(&mut self, configuration: Possible<X>, left: &mut Vec<Possible<X>>) {
        if self.met.insert(configuration.clone()) {
            left.push(configuration);
        }
    }

    /// The operation takes effect here, with its answer.
    fn take_now(&self, from: &Possible<X>, explaining: &mut BTreeSet<Possible<X>>) {
        for (_, state) in self.outcomes(from, &self.open[&self.key], Some(self.answer.clone())) {
            explaining.insert(Configuration { state, ..from.clone() });
        }
    }

    /// Another operation takes effect before it.
    fn take_others(&mut self, from: &Possible<X>, left: &mut Vec<Possible<X>>) {
        let (open, own) = (self.open, self.key);
        for (key, operation) in open.iter().filter(|(key, _)| **key != own && !from.taken.contains_key(key)) {
            for (answer, state) in self.outcomes(from, operation, None) {
                let mut next = Configuration { state, ..from.clone() };
                next.taken.insert(*key, answer);
                self.meet(next, left);
            }
        }
        for index in 0..from.lost.len() {
            for (_, state) in self.outcomes(from, &from.lost[index], None) {
                let mut next = Configuration { state, ..from.clone() };
                next.lost.remove(index);
                self.meet(next, left);
            }
        }
    }

    fn outcomes(
        &self,
        from: &Possible<X>,
        operation: &X::Operation,
        wanted: Option<X::Answer>,
    ) -> Vec<(X::Answer, X::State)> {
        let mut outcomes = Outcomes::new(wanted);
        self.specification.outcomes(&from.state, operation, &mut outcomes);
        outcomes.into_pairs()
    }
}
