//! The one line that a user of stateright changes.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use seedbed_model::explore::{Claim, ClaimKind, Fall, Limits, Progress, Searched, Space, Stats, Strategy, search};
use stateright::actor::{ActorModel, ActorModelState};
use stateright::{Expectation, Model, Property};

use crate::actors::{Actors, SharedActor};
use crate::values::{fingerprint, identity};
use crate::whole::Whole;

/// What a property's condition reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Anything: it is evaluated on each different state.
    State,
    /// The history alone: it is evaluated once for each different history.
    History,
}

/// How a model is searched. The default asks for nothing special and changes nothing of what stateright would see.
#[derive(Debug, Clone)]
pub struct Options {
    /// The order and the workers.
    pub strategy: Strategy,
    /// Gives up beyond so many different states.
    pub states: u64,
    /// Properties whose conditions read the history alone. A wrong name is refused; a wrong claim is unsound.
    pub of_history: Vec<&'static str>,
    /// Whether `within_boundary` is asked. A model without one need not pay for it.
    pub has_boundary: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { strategy: Strategy::default(), states: u64::MAX, of_history: Vec::new(), has_boundary: true }
    }
}

/// What the search of a space may rely on.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// By property.
    pub(crate) reads: Vec<Reads>,
    pub(crate) has_boundary: bool,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// How much was seen. Stateright counts a depth of one more: it counts states on the way, not steps.
    pub stats: Stats,
    /// The `Always` or `Eventually` property that fell.
    pub fallen: Option<Found>,
    /// The `Sometimes` properties that held somewhere, in the model's order.
    pub reached: Vec<&'static str>,
    /// Why the search gave up.
    pub stopped: Option<String>,
}

/// A property that fell, and the shortest way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub property: String,
    /// The model's actions, as it formats them.
    pub actions: Vec<String>,
    /// Where it is a run without end: the index in `actions` from which they repeat for ever; their count if the run ends
    /// in a state without successors.
    pub repeats_from: Option<usize>,
}

/// The one action of a model of others': a run goes on as long as it can.
pub(crate) const STEP: u32 = 1;

/// The `Eventually` properties, in order: a run that never meets one violates it.
pub(crate) fn claims<M: Model>(properties: &[Property<M>]) -> Vec<Claim> {
    let eventual = properties.iter().filter(|property| property.expectation == Expectation::Eventually);
    eventual.map(|property| Claim { name: property.name, kind: ClaimKind::PaidOnce }).collect()
}

/// The one state that stands for all that differ from it by a renaming alone, as in stateright's `symmetry_fn`.
pub type Represent<S> = fn(&S) -> S;

/// Searches a system of actors.
///
/// # Errors
/// If `options` names a property that there is not, or a property is `Eventually` and the order is not breadth first.
pub fn explore_actors<A, C, H>(
    model: ActorModel<A, C, H>,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Checked, String>
where
    A: SharedActor,
    C: Send + Sync + 'static,
    H: Clone + Debug + Hash + Send + Sync + 'static,
{
    search_actors(model, None, options, watch)
}

/// Searches a system of actors, one state of each class of those that `represent` takes to the same.
///
/// Sound if states of one class have the same properties and go on to the same classes: nothing here checks that.
/// Where `represent` takes all of a class to one state, the numbers of states and transitions are stateright's. Where a
/// class has several representatives, the verdict still is, and the numbers depend on the order of the search: depth first
/// with several workers, on which of them comes first.
///
/// # Errors
/// If `options` names a property that there is not, or a property is `Eventually`.
pub fn explore_actors_by_symmetry<A, C, H>(
    model: ActorModel<A, C, H>,
    represent: Represent<ActorModelState<A, H>>,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Checked, String>
where
    A: SharedActor,
    C: Send + Sync + 'static,
    H: Clone + Debug + Hash + Send + Sync + 'static,
{
    refuse_eventually(&model.properties)?;
    search_actors(model, Some(represent), options, watch)
}

/// Searches any model.
///
/// # Errors
/// If `options` names a property that there is not, or a property is `Eventually` and the order is not breadth first.
pub fn explore_model<M>(model: M, options: &Options, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Checked, String>
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
    M::Action: Debug,
{
    search_model(model, None, options, watch)
}

/// Searches any model, one state of each class of those that `represent` takes to the same; see
/// [`explore_actors_by_symmetry`].
///
/// # Errors
/// If `options` names a property that there is not, or a property is `Eventually`.
pub fn explore_model_by_symmetry<M>(
    model: M,
    represent: Represent<M::State>,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Checked, String>
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
    M::Action: Debug,
{
    refuse_eventually(&model.properties())?;
    search_model(model, Some(represent), options, watch)
}

/// A cycle of classes need not be one of states that can be shown.
fn refuse_eventually<M: Model>(properties: &[Property<M>]) -> Result<(), String> {
    match properties.iter().find(|property| property.expectation == Expectation::Eventually) {
        Some(property) => Err(format!("`{}` is an Eventually, which is not searched by symmetry", property.name)),
        None => Ok(()),
    }
}

fn search_actors<A, C, H>(
    model: ActorModel<A, C, H>,
    represent: Option<Represent<ActorModelState<A, H>>>,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Checked, String>
where
    A: SharedActor,
    C: Send + Sync + 'static,
    H: Clone + Debug + Hash + Send + Sync + 'static,
{
    let rules = rules(&model.properties, options)?;
    let model = Arc::new(model);
    let found = run(Actors::new(Arc::clone(&model), rules, represent), options, watch)?;
    let reached = merged(found.spaces.iter().map(Actors::reached));
    let mut space = found.spaces.into_iter().next().expect("a search has a worker");
    let identify = |state: &_| match represent {
        Some(represent) => fingerprint(space.row_of(&represent(state)).1),
        None => fingerprint(space.row_of(state).1),
    };
    Ok(checked(&*model, found.stats, found.fall, found.stopped, &reached, identify))
}

fn search_model<M>(
    model: M,
    represent: Option<Represent<M::State>>,
    options: &Options,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Checked, String>
where
    M: Model + Send + Sync + 'static,
    M::State: Hash + Send + Sync,
    M::Action: Debug,
{
    rules(&model.properties(), options)?;
    let model = Arc::new(model);
    let found = run(Whole::new(Arc::clone(&model), represent), options, watch)?;
    let reached = merged(found.spaces.iter().map(Whole::reached));
    let identify = |state: &M::State| match represent {
        Some(represent) => fingerprint(identity(&represent(state)) as u64),
        None => fingerprint(identity(state) as u64),
    };
    Ok(checked(&*model, found.stats, found.fall, found.stopped, &reached, identify))
}

fn rules<M: Model>(properties: &[Property<M>], options: &Options) -> Result<Rules, String> {
    if let Some(name) = options.of_history.iter().find(|name| !properties.iter().any(|other| other.name == **name)) {
        return Err(format!("no property `{name}`"));
    }
    let reads = |property: &Property<M>| {
        if options.of_history.contains(&property.name) { Reads::History } else { Reads::State }
    };
    Ok(Rules { reads: properties.iter().map(reads).collect(), has_boundary: options.has_boundary })
}

fn run<S: Space>(space: S, options: &Options, watch: &mut dyn FnMut(Progress) -> bool) -> Result<Searched<S>, String> {
    search(space, Limits { depth: None, states: options.states }, &options.strategy, watch)
}

fn merged<'r>(workers: impl Iterator<Item = &'r [bool]>) -> Vec<bool> {
    let mut reached = Vec::new();
    for worker in workers {
        reached.resize(worker.len(), false);
        reached.iter_mut().zip(worker).for_each(|(reached, also)| *reached |= also);
    }
    reached
}

fn checked<M: Model<Action: Debug>>(
    model: &M,
    stats: Stats,
    fall: Option<Fall>,
    stopped: Option<String>,
    reached: &[bool],
    identify: impl FnMut(&M::State) -> u64,
) -> Checked {
    let fallen = fall.map(|fall| {
        let repeats_from = fall.cycle.is_some().then(|| fall.path.len() - 1);
        let turns = fall.cycle.iter().flatten().map(|turn| turn.fingerprint);
        let path: Vec<u64> = fall.path.iter().copied().chain(turns).collect();
        Found { property: fall.violation.property, actions: actions(model, &path, identify), repeats_from }
    });
    let properties = model.properties();
    let reached = properties.iter().zip(reached).filter(|(_, reached)| **reached).map(|(property, _)| property.name);
    Checked { stats, fallen, reached: reached.collect(), stopped }
}

/// The actions along a path of fingerprints.
///
/// Where states stand for others, several on a way may have one fingerprint, and not all of them lead on: the walk then
/// comes back and tries the next.
fn actions<M: Model<Action: Debug>>(
    model: &M,
    path: &[u64],
    mut identify: impl FnMut(&M::State) -> u64,
) -> Vec<String> {
    let mut starts = model.init_states();
    starts.retain(|state| identify(state) == path[0]);
    // By step: the states that it may lead to, with the words of the action; the last is the one tried now.
    let mut tried: Vec<Vec<(String, M::State)>> =
        vec![starts.into_iter().map(|state| (String::new(), state)).collect()];
    while tried.len() < path.len() {
        let (_, state) = tried.last().and_then(|ways| ways.last()).expect("the search walked this path");
        let ways = ways(model, state, |next| identify(next) == path[tried.len()]);
        tried.push(ways);
        while tried.last().is_some_and(Vec::is_empty) {
            tried.pop();
            tried.last_mut().and_then(Vec::pop);
        }
    }
    tried.into_iter().skip(1).filter_map(|mut ways| ways.pop().map(|(said, _)| said)).collect()
}

/// The ways from `state` to states that are `wanted`, each with the words of its action; the first is last.
fn ways<M: Model<Action: Debug>>(
    model: &M,
    state: &M::State,
    mut wanted: impl FnMut(&M::State) -> bool,
) -> Vec<(String, M::State)> {
    let mut offered = Vec::new();
    model.actions(state, &mut offered);
    let mut found = Vec::new();
    for action in offered.into_iter().rev() {
        let said = model.format_action(&action);
        found.extend(model.next_state(state, action).filter(&mut wanted).map(|next| (said, next)));
    }
    found
}
