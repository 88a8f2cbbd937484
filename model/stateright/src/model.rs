//! A world as stateright sees it: states that are `Sync` and hashed by their normal form, actions that know where
//! they lead, properties as predicates.
//!
//! The types of the protocol are left out ([`Ways`]): stateright's checkers are compiled once, not once for each.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use seedbed_model::explore::{Bounds, Exercised};
use seedbed_model::{Kind, Protocol, ScriptStep, Violation, decoding};
use stateright::{Model, Property};

use crate::ways::{Landing, OfProtocol, Ways};
use crate::world::World;

/// Properties are told apart by a function each, as stateright holds them: so many are written out.
const CLAIMS_MAX: usize = 32;

/// A protocol within bounds.
pub struct WorldModel {
    pub(crate) ways: Arc<dyn Ways>,
    pub(crate) bounds: Bounds,
    /// What stateright checks: [0] is every fall that no other claim is about.
    pub(crate) claims: Vec<Claim>,
    pub(crate) notes: Mutex<Notes>,
    /// Once set, no state has a way on: the checkers of stateright cannot be stopped otherwise.
    pub(crate) stopped: AtomicBool,
}

/// A property that stateright can check.
pub(crate) struct Claim {
    pub(crate) name: &'static str,
    kind: Kind,
}

/// What expanding states has shown so far. Whatever the order of expansion, an exhausted space leaves the same.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) exercised: Exercised,
    pub(crate) reached: BTreeSet<&'static str>,
    /// Whether a bound on tags or depth cut a state off.
    pub(crate) cut: bool,
    /// Why the bounds do not fit the protocol.
    pub(crate) misfit: Option<String>,
    /// The key of the first state met in which a claim has fallen, by the claim's index. stateright lets a later
    /// counterexample take the place of an earlier, shorter one; only the first counts.
    first_falls: BTreeMap<usize, [u64; 2]>,
}

/// A world: its encoding, and its normal form's hash.
#[derive(Clone)]
pub struct State {
    inner: Arc<Inner>,
}

struct Inner {
    landing: Landing,
    /// Steps from the start on the way here. stateright has a bound of its own on depth, but leaves out what falls on
    /// the last step within it.
    depth: u32,
    /// Whose world it is.
    of: Arc<dyn Ways>,
    /// The ways on, once asked for.
    onward: OnceLock<Vec<Action>>,
}

/// What may happen next, and the state it leads to.
#[derive(Clone)]
pub struct Action {
    next: State,
}

impl WorldModel {
    /// The protocol within `bounds`.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol, or it has more properties than can be told apart (31).
    pub fn new<P: Protocol>(protocol: &P, bounds: &Bounds) -> Result<Self, String> {
        let mut claims = vec![Claim { name: "panic", kind: Kind::Always }];
        let checked = protocol
            .properties()
            .into_iter()
            .filter(|property| !matches!(property.kind, Kind::ReachableAlways | Kind::Eventually));
        claims.extend(checked.map(|property| Claim { name: property.name, kind: property.kind }));
        if claims.len() > CLAIMS_MAX {
            return Err(format!("stateright is given at most {} properties, not {}", CLAIMS_MAX - 1, claims.len() - 1));
        }
        World::initial(protocol, bounds)?;
        let (notes, stopped) = (Mutex::default(), AtomicBool::new(false));
        Ok(WorldModel {
            ways: Arc::new(OfProtocol::new(protocol, bounds)),
            bounds: bounds.clone(),
            claims,
            notes,
            stopped,
        })
    }

    pub(crate) fn noting<T>(&self, note: impl FnOnce(&mut Notes) -> T) -> T {
        note(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn state(&self, landing: Landing, depth: u32) -> State {
        State { inner: Arc::new(Inner { landing, depth, of: Arc::clone(&self.ways), onward: OnceLock::new() }) }
    }

    fn onward<'s>(&self, state: &'s State) -> &'s [Action] {
        state.inner.onward.get_or_init(|| self.expand(state))
    }

    fn expand(&self, state: &State) -> Vec<Action> {
        if !state.falls().is_empty() || self.stopped.load(Ordering::Relaxed) {
            return Vec::new();
        }
        if self.bounds.depth.is_some_and(|most| state.inner.depth >= most) {
            self.noting(|notes| notes.cut = true);
            return Vec::new();
        }
        let mut exercised = Exercised::default();
        let landings = self.ways.onward(&state.inner.landing.world, &mut exercised);
        self.noting(|notes| notes.exercised.join(&exercised, 0));
        let landings = landings.unwrap_or_else(|why| {
            self.stopped.store(true, Ordering::Relaxed);
            self.noting(|notes| notes.misfit = Some(why));
            Vec::new()
        });
        let depth = state.inner.depth + 1;
        landings.into_iter().map(|landing| Action { next: self.state(landing, depth) }).collect()
    }

    fn first_claim_about(&self, property: &str) -> usize {
        let about = |claim: &Claim| claim.kind != Kind::Sometimes && claim.name == property;
        self.claims.iter().position(about).unwrap_or(0)
    }

    /// The claim that stateright calls by its index.
    fn holds(&self, index: usize, state: &State) -> bool {
        if self.claims[index].kind == Kind::Sometimes {
            return self.reaches(self.claims[index].name, state);
        }
        let fell = state.falls().iter().any(|fall| self.first_claim_about(&fall.property) == index);
        let key = state.inner.landing.key;
        !fell || self.noting(|notes| *notes.first_falls.entry(index).or_insert(key) != key)
    }

    /// Whether a start has reached the goal, or the next step from this state can.
    fn reaches(&self, goal: &str, state: &State) -> bool {
        let is_start = state.inner.depth == 0;
        is_start && state.inner.landing.reached.contains(goal)
            || self.onward(state).iter().any(|action| action.reached().contains(goal))
    }
}

impl Model for WorldModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let starts = self.ways.initial();
        self.noting(|notes| notes.reached.extend(starts.iter().flat_map(|start| start.reached.iter().copied())));
        starts.into_iter().map(|start| self.state(start, 0)).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let onward = self.onward(state);
        self.noting(|notes| notes.reached.extend(onward.iter().flat_map(|action| action.reached().iter().copied())));
        actions.extend(onward.iter().cloned());
    }

    fn next_state(&self, _: &State, action: Action) -> Option<State> {
        Some(action.next)
    }

    fn within_boundary(&self, state: &State) -> bool {
        let cut = self.bounds.tag_max.is_some_and(|most| self.ways.has_tag_beyond(&state.inner.landing.world, most));
        if cut {
            self.noting(|notes| notes.cut = true);
        }
        !cut
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let of = |(index, claim): (usize, &Claim)| match claim.kind {
            Kind::Sometimes => Property::sometimes(claim.name, CONDITIONS[index]),
            _ => Property::always(claim.name, CONDITIONS[index]),
        };
        self.claims.iter().enumerate().map(of).collect()
    }

    fn format_action(&self, action: &Action) -> String {
        format!("{action:?}")
    }

    fn format_step(&self, _: &State, action: Action) -> Option<String> {
        Some(format!("{:#?}", action.next))
    }
}

type Condition = fn(&WorldModel, &State) -> bool;

fn condition<const INDEX: usize>(model: &WorldModel, state: &State) -> bool {
    model.holds(INDEX, state)
}

const CONDITIONS: [Condition; CLAIMS_MAX] = {
    macro_rules! each {
        ($($index:literal)*) => { [$(condition::<$index>),*] };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
};

impl State {
    /// The world as it is.
    ///
    /// # Panics
    /// If `P` is not the protocol of the model.
    pub fn world<P: Protocol>(&self) -> World<P> {
        decoding(&self.inner.landing.world).expect("a state holds what was encoded")
    }

    /// What fell on the way here. Nothing follows then.
    pub fn falls(&self) -> &[Violation] {
        &self.inner.landing.falls
    }
}

impl Action {
    /// The choice, and the losses of links that were full.
    ///
    /// # Panics
    /// If `P` is not the protocol of the model.
    pub fn steps<P: Protocol>(&self) -> Vec<ScriptStep<P>> {
        decoding(&self.next.inner.landing.steps).expect("an action holds what was encoded")
    }

    /// Marks taken and goals reached on it.
    fn reached(&self) -> &BTreeSet<&'static str> {
        &self.next.inner.landing.reached
    }
}

impl PartialEq for Action {
    fn eq(&self, other: &Self) -> bool {
        self.next.inner.landing.steps == other.next.inner.landing.steps && self.next == other.next
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.inner.landing.key == other.inner.landing.key
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.inner.landing.key.hash(hasher);
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.next.inner.of.steps_told(&self.next.inner.landing.steps))
    }
}

/// For people: a node a line, then what is in flight.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.of.world_told(&self.inner.landing.world))?;
        for fall in self.falls() {
            writeln!(f, "fell: {}: {}", fall.property, fall.detail)?;
        }
        Ok(())
    }
}
