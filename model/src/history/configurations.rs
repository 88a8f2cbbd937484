//! A history judged while it happens, as the state of a monitor.
//!
//! What is kept is not the history but everything that may be true of the object now: the *configurations*, each a
//! state and which of the operations in flight have taken effect in it, with what answer. An answer keeps those
//! configurations that explain it; if there is none, what clients saw has no order. (The just-in-time linearization of
//! Lowe 2017, §4, with all configurations at once.) An operation that changes no state is not put anywhere before it is
//! answered: each configuration notes what it could have been answered on the way there. The past is not kept, so two
//! histories after which the same may follow are one state to the explorer, as a rule.

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
    /// Operations in flight that change no state, with all that they could have been answered since their invocation.
    seen: BTreeMap<Key, BTreeSet<A>>,
    /// Operations without effect so far whose clients crashed, in order: each may still take effect, once.
    lost: Vec<O>,
}

/// Everything that may be true of an object of one part, after what clients saw so far. An object with parts has one
/// for each part; make each a [`crate::Part`] of the monitor, so that they do not multiply.
///
/// Invariants: 1. the set is empty only once it was found that there is no order, or given up; 2. of a configuration
/// each operation in flight that changes no state is in `seen`, each other one in `taken` or without effect so far;
/// 3. of configurations that differ in `seen` alone, none has at most what another has of each operation.
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
            Event::Invoked(op, operation) => self.invoked(specification, node, *op, operation.clone()),
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
    pub fn invoked<X>(&mut self, specification: &X, client: NodeId, op: OpId, operation: O)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        if self.is_over() {
            return;
        }
        if let Some(possible) = self.possible.take() {
            let see = |mut configuration: Configuration<S, O, A>| {
                configuration.see(specification, (client, op), &operation);
                configuration
            };
            self.possible = Some(possible.into_iter().map(see).collect());
        }
        self.open.insert((client, op), operation);
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
        self.possible = Some(found.map(undominated).unwrap_or_default());
        standing
    }

    /// The client's node crashes: what it has in flight is never answered, and may take effect at any later time.
    pub fn crashed<X>(&mut self, specification: &X, client: NodeId)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        self.lose(specification, |(node, _)| *node == client);
    }

    /// The client is answered that nobody knows what came of the operation: it may take effect at any later time.
    pub fn left_open<X>(&mut self, specification: &X, client: NodeId, op: OpId)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        self.lose(specification, |key| *key == (client, op));
    }

    fn lose<X>(&mut self, specification: &X, is_lost: impl Fn(&Key) -> bool)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        let lost: Vec<(Key, O)> = self.open.iter().filter(|(key, _)| is_lost(key)).map(cloned).collect();
        if lost.is_empty() {
            return;
        }
        let mut possible = self.take_possible(specification);
        for (key, operation) in lost {
            self.open.remove(&key);
            let is_without_effect = specification.keeps(&operation, None);
            let lose = |mut configuration: Configuration<S, O, A>| {
                configuration.seen.remove(&key);
                if configuration.taken.remove(&key).is_none() && !is_without_effect {
                    configuration.lost.push(operation.clone());
                    configuration.lost.sort();
                }
                configuration
            };
            possible = possible.into_iter().map(lose).collect();
        }
        self.possible = Some(undominated(possible));
    }

    /// How many configurations are possible.
    pub fn count(&self) -> usize {
        self.possible.as_ref().map_or(1, BTreeSet::len)
    }

    fn is_over(&self) -> bool {
        self.possible.as_ref().is_some_and(BTreeSet::is_empty)
    }

    fn take_possible<X>(&mut self, specification: &X) -> BTreeSet<Configuration<S, O, A>>
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        let first = || {
            let state = specification.initial();
            let mut first = Configuration { state, taken: BTreeMap::new(), seen: BTreeMap::new(), lost: Vec::new() };
            first.see_all(specification, &self.open);
            BTreeSet::from([first])
        };
        self.possible.take().unwrap_or_else(first)
    }
}

impl<S: Data, O: Data, A: Data> Configuration<S, O, A> {
    /// Notes what an operation that changes no state would be answered here.
    fn see<X>(&mut self, specification: &X, key: Key, operation: &O)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        if specification.keeps(operation, None) {
            let mut outcomes = Outcomes::new(None);
            specification.outcomes(&self.state, operation, &mut outcomes);
            let answers = outcomes.into_pairs().into_iter().map(|(answer, _)| answer);
            self.seen.entry(key).or_default().extend(answers);
        }
    }

    fn see_all<X>(&mut self, specification: &X, open: &BTreeMap<Key, O>)
    where
        X: Specification<State = S, Operation = O, Answer = A>,
    {
        open.iter().for_each(|(key, operation)| self.see(specification, *key, operation));
    }

    /// Whether what may follow `other` may follow this one too, if they differ in `seen` alone.
    fn has_seen_all_of(&self, other: &Self) -> bool {
        self.seen.iter().zip(&other.seen).all(|((_, mine), (_, theirs))| theirs.is_subset(mine))
    }
}

/// Those of which none else can do all that they can.
fn undominated<S: Data, O: Data, A: Data>(all: BTreeSet<Configuration<S, O, A>>) -> BTreeSet<Configuration<S, O, A>> {
    // By everything but what operations in flight could have been answered.
    let mut alike = BTreeMap::new();
    for configuration in all {
        let Configuration { state, taken, lost, .. } = &configuration;
        let entry = alike.entry((state.clone(), taken.clone(), lost.clone()));
        let group: &mut Vec<Configuration<S, O, A>> = entry.or_default();
        if !group.iter().any(|other| other.has_seen_all_of(&configuration)) {
            group.retain(|other| !configuration.has_seen_all_of(other));
            group.push(configuration);
        }
    }
    alike.into_values().flatten().collect()
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
        while let Some(mut configuration) = left.pop() {
            match configuration.seen.get(&self.key) {
                Some(answers) if answers.contains(self.answer) => {
                    configuration.seen.remove(&self.key);
                    explaining.insert(configuration);
                }
                Some(_) => self.take_others(&configuration, &mut left),
                None => {
                    self.take_now(&configuration, &mut explaining);
                    self.take_others(&configuration, &mut left);
                }
            }
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
            explaining.insert(self.moved(from, state));
        }
    }

    /// Another operation takes effect before it.
    fn take_others(&mut self, from: &Possible<X>, left: &mut Vec<Possible<X>>) {
        let (open, own) = (self.open, self.key);
        let is_other = |key: &Key| *key != own && !from.taken.contains_key(key) && !from.seen.contains_key(key);
        for (key, operation) in open.iter().filter(|(key, _)| is_other(key)) {
            for (answer, state) in self.outcomes(from, operation, None) {
                let mut next = self.moved(from, state);
                next.taken.insert(*key, answer);
                self.meet(next, left);
            }
        }
        for index in 0..from.lost.len() {
            for (_, state) in self.outcomes(from, &from.lost[index], None) {
                let mut next = self.moved(from, state);
                next.lost.remove(index);
                self.meet(next, left);
            }
        }
    }

    /// The configuration with another state, as those in flight that change none see it.
    fn moved(&self, from: &Possible<X>, state: X::State) -> Possible<X> {
        let mut next = Configuration { state, ..from.clone() };
        next.see_all(self.specification, self.open);
        next
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
