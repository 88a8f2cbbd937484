//! A world as stateright sees it: states that are `Sync` and hashed by their normal form, actions that know where
//! they lead, properties as predicates.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use seedbed_model::explore::{Bounds, Exercised};
use seedbed_model::trace::{describe_choice, with_names};
use seedbed_model::{Kind, Protocol, ScriptStep, Span, Violation, decoding, encoding, hash};
use stateright::{Model, Property};

use crate::normal::Reductions;
use crate::world::{Way, World};

/// Properties are told apart by a function each, as stateright holds them: so many are written out.
const CLAIMS_MAX: usize = 32;

/// A protocol within bounds.
pub struct WorldModel<P: Protocol> {
    pub(crate) protocol: P,
    pub(crate) bounds: Bounds,
    reductions: Reductions,
    names: Arc<[String]>,
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
pub struct State<P: Protocol> {
    inner: Arc<Inner<P>>,
}

struct Inner<P: Protocol> {
    /// The canonical encoding of the world as it is: a world is not `Sync`, its bytes are.
    world: Vec<u8>,
    /// Two hashes of the normal form, and of what fell on the way here.
    key: [u64; 2],
    /// What fell on the way here. Nothing follows then.
    falls: Vec<Violation>,
    /// Steps from the start on the way here. stateright has a bound of its own on depth, but leaves out what falls on
    /// the last step within it.
    depth: u32,
    /// Goals that the starts reached, if this is a start.
    begun: BTreeSet<&'static str>,
    names: Arc<[String]>,
    /// Computed when first asked for.
    ways: OnceLock<Vec<(BTreeSet<&'static str>, Action<P>)>>,
}

/// What may happen next, and the state it leads to.
pub struct Action<P: Protocol> {
    /// The encoding of the script's steps.
    steps: Vec<u8>,
    next: State<P>,
}

impl<P: Protocol> WorldModel<P> {
    /// The protocol within `bounds`.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol, or it has more properties than can be told apart (31).
    pub fn new(protocol: &P, bounds: &Bounds) -> Result<Self, String> {
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
        Ok(WorldModel {
            protocol: protocol.clone(),
            bounds: bounds.clone(),
            reductions: Reductions::of(protocol, bounds),
            names: protocol.nodes().into(),
            claims,
            notes: Mutex::default(),
            stopped: AtomicBool::new(false),
        })
    }

    pub(crate) fn noting<T>(&self, note: impl FnOnce(&mut Notes) -> T) -> T {
        note(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The state that a way leads to.
    fn state(&self, way: &Way<P>, before: &World<P>, begun: BTreeSet<&'static str>, depth: u32) -> State<P> {
        let mut world = way.next.as_ref().unwrap_or(before).clone();
        if self.reductions.dead {
            world.bury(&self.protocol, false);
        }
        let mut bytes = world.normal_form(&self.protocol, &self.bounds, self.reductions);
        for fall in &way.violations {
            bytes.extend(encoding(&fall.property));
        }
        State {
            inner: Arc::new(Inner {
                world: encoding(&world),
                key: [hash(0, &bytes), hash(1, &bytes)],
                falls: way.violations.clone(),
                depth,
                begun,
                names: self.names.clone(),
                ways: OnceLock::new(),
            }),
        }
    }

    fn ways<'s>(&self, state: &'s State<P>) -> &'s [(BTreeSet<&'static str>, Action<P>)] {
        state.inner.ways.get_or_init(|| self.expand(state))
    }

    fn expand(&self, state: &State<P>) -> Vec<(BTreeSet<&'static str>, Action<P>)> {
        if !state.inner.falls.is_empty() || self.stopped.load(Ordering::Relaxed) {
            return Vec::new();
        }
        if self.bounds.depth.is_some_and(|most| state.inner.depth >= most) {
            self.noting(|notes| notes.cut = true);
            return Vec::new();
        }
        let world = state.world();
        let mut exercised = Exercised::default();
        let ways = world.ways_noting(&self.protocol, &self.bounds, &mut exercised);
        self.noting(|notes| notes.exercised.join(&exercised, 0));
        let ways = ways.unwrap_or_else(|why| {
            self.stopped.store(true, Ordering::Relaxed);
            self.noting(|notes| notes.misfit = Some(why));
            Vec::new()
        });
        let action = |way: Way<P>| {
            let next = self.state(&way, &world, BTreeSet::new(), state.inner.depth + 1);
            (way.reached, Action { steps: encoding(&way.steps), next })
        };
        ways.into_iter().map(action).collect()
    }

    fn first_claim_about(&self, property: &str) -> usize {
        let about = |claim: &Claim| claim.kind != Kind::Sometimes && claim.name == property;
        self.claims.iter().position(about).unwrap_or(0)
    }

    /// The claim that stateright calls by its index.
    fn holds(&self, index: usize, state: &State<P>) -> bool {
        if self.claims[index].kind == Kind::Sometimes {
            return self.reaches(self.claims[index].name, state);
        }
        let fell = state.inner.falls.iter().any(|fall| self.first_claim_about(&fall.property) == index);
        !fell || self.noting(|notes| *notes.first_falls.entry(index).or_insert(state.inner.key) != state.inner.key)
    }

    /// Whether a start has reached the goal, or the next step from this state can.
    fn reaches(&self, goal: &str, state: &State<P>) -> bool {
        state.inner.begun.contains(goal) || self.ways(state).iter().any(|(reached, _)| reached.contains(goal))
    }

    fn names_in(&self, step: &ScriptStep<P>) -> String {
        describe_choice(&self.names, &step.choice)
    }
}

impl<P: Protocol> Model for WorldModel<P> {
    type State = State<P>;
    type Action = Action<P>;

    fn init_states(&self) -> Vec<State<P>> {
        let starts = World::initial(&self.protocol, &self.bounds).unwrap_or_default();
        self.noting(|notes| notes.reached.extend(starts.iter().flat_map(|way| way.reached.iter().copied())));
        let blank = |way: &Way<P>| way.next.clone();
        let state = |way: &Way<P>| blank(way).map(|world| self.state(way, &world, way.reached.clone(), 0));
        starts.iter().filter_map(state).collect()
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Action<P>>) {
        let ways = self.ways(state);
        self.noting(|notes| notes.reached.extend(ways.iter().flat_map(|(reached, _)| reached.iter().copied())));
        actions.extend(ways.iter().map(|(_, action)| action.clone()));
    }

    fn next_state(&self, _: &State<P>, action: Action<P>) -> Option<State<P>> {
        Some(action.next)
    }

    fn within_boundary(&self, state: &State<P>) -> bool {
        let cut = self.bounds.tag_max.is_some_and(|most| state.world().has_tag_beyond(most, self.reductions));
        if cut {
            self.noting(|notes| notes.cut = true);
        }
        !cut
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let of = |(index, claim): (usize, &Claim)| match claim.kind {
            Kind::Sometimes => Property::sometimes(claim.name, conditions::<P>()[index]),
            _ => Property::always(claim.name, conditions::<P>()[index]),
        };
        self.claims.iter().enumerate().map(of).collect()
    }

    fn format_action(&self, action: &Action<P>) -> String {
        let words: Vec<String> = action.steps().iter().map(|step| self.names_in(step)).collect();
        words.join("; ")
    }

    fn format_step(&self, _: &State<P>, action: Action<P>) -> Option<String> {
        Some(format!("{:#?}", action.next))
    }
}

type Condition<P> = fn(&WorldModel<P>, &State<P>) -> bool;

fn condition<P: Protocol, const INDEX: usize>(model: &WorldModel<P>, state: &State<P>) -> bool {
    model.holds(INDEX, state)
}

fn conditions<P: Protocol>() -> [Condition<P>; CLAIMS_MAX] {
    macro_rules! each {
        ($($index:literal)*) => { [$(condition::<P, $index>),*] };
    }
    each!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
}

impl<P: Protocol> State<P> {
    /// The world as it is.
    pub fn world(&self) -> World<P> {
        decoding(&self.inner.world).expect("a state holds what was encoded")
    }

    /// What fell on the way here.
    pub fn falls(&self) -> &[Violation] {
        &self.inner.falls
    }
}

impl<P: Protocol> Action<P> {
    /// The choice, and the losses of links that were full.
    pub fn steps(&self) -> Vec<ScriptStep<P>> {
        decoding(&self.steps).expect("an action holds what was encoded")
    }
}

impl<P: Protocol> Clone for State<P> {
    fn clone(&self) -> Self {
        State { inner: self.inner.clone() }
    }
}

impl<P: Protocol> PartialEq for State<P> {
    fn eq(&self, other: &Self) -> bool {
        self.inner.key == other.inner.key
    }
}

impl<P: Protocol> Eq for State<P> {}

impl<P: Protocol> Hash for State<P> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.inner.key.hash(hasher);
    }
}

impl<P: Protocol> Clone for Action<P> {
    fn clone(&self) -> Self {
        Action { steps: self.steps.clone(), next: self.next.clone() }
    }
}

impl<P: Protocol> PartialEq for Action<P> {
    fn eq(&self, other: &Self) -> bool {
        self.steps == other.steps && self.next == other.next
    }
}

impl<P: Protocol> fmt::Debug for Action<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            self.steps().iter().map(|step| describe_choice(&self.next.inner.names, &step.choice)).collect();
        f.write_str(&words.join("; "))
    }
}

/// For people: a node a line, then what is in flight.
impl<P: Protocol> fmt::Debug for State<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.world().told(&self.inner.names);
        f.write_str(&with_names(&self.inner.names, &text))?;
        for fall in &self.inner.falls {
            writeln!(f, "fell: {}: {}", fall.property, fall.detail)?;
        }
        Ok(())
    }
}

impl<P: Protocol> World<P> {
    /// The world in lines. `names[i]` is node `i`'s.
    fn told(&self, names: &[String]) -> String {
        let mut text = format!("after {}\n", Span(self.now));
        for (at, host) in self.hosts.iter().enumerate() {
            text.push_str(&format!("{}: {}\n", names[at], self.host_told(at, host)));
        }
        for flight in &self.flights {
            let envelope = &flight.envelope;
            let (from, to) = (&names[envelope.from.index()], &names[envelope.to.index()]);
            let life = flight.life.map_or_else(String::new, |ticks| format!(", within {ticks} ticks"));
            text.push_str(&format!("in flight, {from} to {to}: {:?}{life}\n", envelope.message));
        }
        for (from, to) in &self.cuts {
            text.push_str(&format!("cut: {} to {}\n", names[from.index()], names[to.index()]));
        }
        let deadlines: Vec<String> = self
            .deadlines
            .iter()
            .map(|(id, end)| format!("deadline {id} in {}", Span(end.saturating_sub(self.now))))
            .collect();
        text.push_str(&format!("monitor: {:?} {}\n", self.monitor, deadlines.join(", ")));
        let left = self.budgets;
        text.push_str(&format!(
            "faults left: {} losses, {} duplicates, {} crashes, {} pauses, {} cuts\n",
            left.losses, left.duplicates, left.crashes, left.pauses, left.cuts
        ));
        text
    }

    fn host_told(&self, at: usize, host: &seedbed_model::Host<P>) -> String {
        let mut text = match &host.state {
            Some(state) => format!("{:?}, {state:?}", host.phase),
            None => format!("{:?}", host.phase),
        };
        for (timer, end) in self.timers[at].iter() {
            match end.checked_sub(self.now) {
                Some(left) if left > 0 => text.push_str(&format!("; {timer:?} ends in {}", Span(left))),
                _ => text.push_str(&format!("; {timer:?} is due")),
            }
        }
        for unsynced in &host.disk.tail {
            text.push_str(&format!("; writing {:?}", unsynced.record));
        }
        text
    }
}
