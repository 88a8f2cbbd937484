//! An `ActorModel` as a space.
//!
//! A row is one cell for each actor (its state, timers, choices, whether it crashed, its storage), one for the history,
//! and one for each parcel of the network. A step depends on one actor, the history and what happens to the actor: it is
//! computed once, by stateright's own `next_state` on a state that holds nothing else, and then looked up.

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;
use seedbed_model::Violation;
use seedbed_model::explore::{Claim, Marks, Row, Seen, Space, Successors};
use stateright::actor::{
    Actor, ActorModel, ActorModelAction, ActorModelState, Envelope, Id as ActorId, LossyNetwork, Network,
    RandomChoices, Timers,
};
use stateright::{Expectation, Model};

use crate::check::{Reads, Represent, Rules, STEP, claims};
use crate::network::{Kind, Parcel, network, parcels};
use crate::values::{Id, Values, fingerprint, identity, lock, weight};

/// An actor that several workers can search: whatever it is made of can be shared between threads, and messages and
/// timers have an order. Implemented for all that are.
pub trait SharedActor:
    Actor<Msg: Ord + Shared, Timer: Ord + Shared, State: Shared, Random: Shared, Storage: Shared> + Shared + 'static
{
}
impl<A> SharedActor for A where
    A: Actor<Msg: Ord + Shared, Timer: Ord + Shared, State: Shared, Random: Shared, Storage: Shared> + Shared + 'static
{
}

/// What can be shared between threads.
pub trait Shared: Send + Sync {}
impl<T: Send + Sync> Shared for T {}

type Action<A> = ActorModelAction<<A as Actor>::Msg, <A as Actor>::Timer, <A as Actor>::Random>;

/// All that is one actor's own.
pub(crate) struct Local<A: Actor> {
    state: Arc<A::State>,
    timers: Timers<A::Timer>,
    random: RandomChoices<A::Random>,
    crashed: bool,
    storage: Option<A::Storage>,
}

impl<A: Actor> Hash for Local<A> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
        self.timers.hash(hasher);
        self.random.hash(hasher);
        self.crashed.hash(hasher);
        self.storage.hash(hasher);
    }
}

/// What a step does to a row.
#[derive(Clone, Copy)]
struct Outcome {
    local: Id,
    history: Id,
    /// What it adds to the sum, what it sends left out.
    change: u64,
    /// In `sent`.
    start: u32,
    len: u32,
}

/// An outcome as workers tell it to each other: with what is sent.
type Told = (Outcome, Arc<[Id]>);

/// (actor, local) and (history, action).
type StepKey = (u64, u64);

/// No outcome: stateright ignores the step.
const IGNORED: u32 = u32::MAX;

/// The place of the history; actors have their index, parcels [`PARCEL`].
const HISTORY: u64 = u64::MAX - 1;
const PARCEL: u64 = u64::MAX - 2;

pub(crate) struct Actors<A: Actor, C, H>
where
    H: Clone + Debug + Hash,
    A::Msg: Ord,
    A::Timer: Ord,
{
    model: Arc<ActorModel<A, C, H>>,
    rules: Rules,
    represent: Option<Represent<ActorModelState<A, H>>>,
    kind: Kind,
    lossy: bool,
    /// Each actor's own: equal locals of two actors are one value.
    locals: Values<Local<A>>,
    histories: Values<H>,
    parcels: Values<Parcel<A::Msg>>,
    actions: Values<Action<A>>,
    /// By parcel: receiver's index and the action of its delivery, once asked for.
    deliveries: Vec<Option<(u32, Id)>>,
    /// By (actor, local): the actions at the actor itself, but for a crash.
    own_actions: FxHashMap<(u32, Id), Arc<[Id]>>,
    /// By local: whether it has none, once asked for.
    quiet: Vec<Option<bool>>,
    /// By parcel, for (local, actor): deliveries that stateright ignores. Actors do not see the history.
    ignored: Marks,
    steps: FxHashMap<StepKey, u32>,
    outcomes: Vec<Outcome>,
    sent: Vec<Id>,
    /// What all workers computed.
    told: Arc<Mutex<FxHashMap<StepKey, Option<Told>>>>,
    /// (parcel, parcel) to what the flow becomes when the message joins it; (flow, NONE) to what is left without its head.
    flows: FxHashMap<(Id, Id), Id>,
    /// By property and history: what is known of it.
    judged: Vec<Vec<Option<bool>>>,
    reached: Vec<bool>,
    /// The bits of the `Eventually` properties that do not hold in the state being expanded.
    owed: u32,
    cells: Vec<u32>,
}

const NO_PARCEL: Id = Id::MAX;

impl<A, C, H> Actors<A, C, H>
where
    A: SharedActor,
    C: Send + Sync + 'static,
    H: Clone + Debug + Hash + Send + Sync + 'static,
{
    pub(crate) fn new(
        model: Arc<ActorModel<A, C, H>>,
        rules: Rules,
        represent: Option<Represent<ActorModelState<A, H>>>,
    ) -> Self {
        let kind = Kind::of(&model.init_network);
        let count = model.properties.len();
        Actors {
            rules,
            represent,
            kind,
            lossy: model.lossy_network == LossyNetwork::Yes,
            locals: Values::new(),
            histories: Values::at(HISTORY),
            parcels: Values::at(PARCEL),
            actions: Values::new(),
            deliveries: Vec::new(),
            own_actions: FxHashMap::default(),
            quiet: Vec::new(),
            ignored: Marks::default(),
            steps: FxHashMap::default(),
            outcomes: Vec::new(),
            sent: Vec::new(),
            told: Arc::default(),
            flows: FxHashMap::default(),
            judged: vec![Vec::new(); count],
            reached: vec![false; count],
            owed: 0,
            cells: Vec::new(),
            model,
        }
    }

    /// Shared of the `Sometimes` properties that held somewhere.
    pub(crate) fn reached(&self) -> &[bool] {
        &self.reached
    }

    fn actor_count(&self) -> usize {
        self.model.actors.len()
    }

    fn intern_local(&mut self, index: usize, state: &ActorModelState<A, H>) -> Id {
        let local = Local::<A> {
            state: Arc::clone(&state.actor_states[index]),
            timers: state.timers_set[index].clone(),
            random: state.random_choices[index].clone(),
            crashed: state.crashed[index],
            storage: state.actor_storages[index].clone(),
        };
        self.locals.intern(identity(&local), || local)
    }

    fn intern_parcel(&mut self, parcel: Parcel<A::Msg>) -> Id {
        self.parcels.intern(identity(&parcel), || parcel)
    }

    /// The row of a state, and its sum.
    pub(crate) fn row_of(&mut self, state: &ActorModelState<A, H>) -> (Vec<u32>, u64) {
        let mut cells: Vec<u32> = (0..self.actor_count()).map(|index| self.intern_local(index, state)).collect();
        cells.push(self.histories.intern(identity(&state.history), || state.history.clone()));
        for parcel in parcels(&state.network) {
            cells.push(self.intern_parcel(parcel));
        }
        let sum = self.sum_of(&cells);
        (cells, sum)
    }

    fn sum_of(&self, cells: &[u32]) -> u64 {
        let count = self.actor_count();
        let locals = cells[..count].iter().enumerate().map(|(index, id)| self.local_weight(index, *id));
        let parcels = cells[count + 1..].iter().map(|id| self.parcel_weight(*id));
        locals.chain([self.history_weight(cells[count])]).chain(parcels).fold(0, u64::wrapping_add)
    }

    fn local_weight(&self, index: usize, id: Id) -> u64 {
        weight(index as u64, self.locals.identity(id))
    }

    fn history_weight(&self, id: Id) -> u64 {
        self.histories.weight(id)
    }

    fn parcel_weight(&self, id: Id) -> u64 {
        self.parcels.weight(id)
    }

    /// The state of a row, whole.
    pub(crate) fn state_of(&self, cells: &[u32]) -> ActorModelState<A, H> {
        let count = self.actor_count();
        let locals: Vec<&Local<A>> = cells[..count].iter().map(|id| &**self.locals.get(*id)).collect();
        ActorModelState {
            actor_states: locals.iter().map(|local| Arc::clone(&local.state)).collect(),
            network: network(self.kind, cells[count + 1..].iter().map(|id| &**self.parcels.get(*id))),
            timers_set: locals.iter().map(|local| local.timers.clone()).collect(),
            random_choices: locals.iter().map(|local| local.random.clone()).collect(),
            crashed: locals.iter().map(|local| local.crashed).collect(),
            history: (**self.histories.get(cells[count])).clone(),
            actor_storages: locals.iter().map(|local| local.storage.clone()).collect(),
        }
    }

    /// Evaluates the properties on a state; the first `Always` that does not hold.
    fn judge(&mut self, cells: &[u32]) -> Option<&'static str> {
        let history = cells[self.actor_count()];
        self.owed = 0;
        if self.is_settled(history) {
            return None;
        }
        let model = Arc::clone(&self.model);
        let mut whole = None;
        let mut debt = 1;
        for (index, property) in model.properties.iter().enumerate() {
            if self.reached[index] {
                continue;
            }
            let of_history = self.rules.reads[index] == Reads::History;
            let known = self.judged[index].get(history as usize).copied().flatten();
            let holds = known.unwrap_or_else(|| {
                let state = whole.get_or_insert_with(|| self.state_of(cells));
                (property.condition)(&model, state)
            });
            if of_history {
                let judged = &mut self.judged[index];
                judged.resize(judged.len().max(history as usize + 1), None);
                judged[history as usize] = Some(holds);
            }
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

    /// Whether a state with this history has nothing to show: it was judged before, or what was to be shown was.
    fn is_settled(&self, history: Id) -> bool {
        let holds = |index: usize| self.judged[index].get(history as usize).copied().flatten() == Some(true);
        let mut properties = self.model.properties.iter().enumerate();
        properties.all(|(index, property)| match property.expectation {
            Expectation::Always => holds(index),
            Expectation::Sometimes => self.reached[index],
            Expectation::Eventually => false,
        })
    }

    /// The receiver of a parcel's message and the action of its delivery; `None` if it cannot be delivered.
    #[inline]
    fn delivery(&mut self, parcel: Id) -> Option<(u32, Id)> {
        if let Some(Some(known)) = self.deliveries.get(parcel as usize) {
            return Some(*known);
        }
        let Envelope { src, dst, msg } = self.parcels.get(parcel).deliverable().map(|e| e.to_cloned_msg())?;
        let action = ActorModelAction::Deliver { src, dst, msg };
        let action = self.actions.intern(identity(&action), || action);
        if self.deliveries.len() <= parcel as usize {
            self.deliveries.resize(parcel as usize + 1, None);
        }
        self.deliveries[parcel as usize] = Some((usize::from(dst) as u32, action));
        self.deliveries[parcel as usize]
    }

    /// The actions at an actor itself: timers, random choices, recovery; a crash is left out.
    fn own_actions(&mut self, index: u32, local: Id) -> Arc<[Id]> {
        if let Some(known) = self.own_actions.get(&(index, local)) {
            return Arc::clone(known);
        }
        let at = Arc::clone(self.locals.get(local));
        let actor = ActorId::from(index as usize);
        let mut actions: Vec<Action<A>> = Vec::new();
        let mut timers: Vec<&A::Timer> = at.timers.iter().collect();
        timers.sort();
        actions.extend(timers.into_iter().map(|timer| ActorModelAction::Timeout(actor, timer.clone())));
        if at.crashed {
            actions.push(ActorModelAction::Recover(actor));
        }
        let mut keys: Vec<&String> = at.random.map.keys().collect();
        keys.sort();
        for key in keys {
            for random in at.random.map.get(key).into_iter().flatten() {
                let (key, random) = (key.clone(), random.clone());
                actions.push(ActorModelAction::SelectRandom { actor, key, random });
            }
        }
        let ids: Arc<[Id]> =
            actions.into_iter().map(|action| self.actions.intern(identity(&action), || action)).collect();
        self.own_actions.insert((index, local), Arc::clone(&ids));
        ids
    }

    /// Whether there are no actions at the actor itself but a crash.
    #[inline]
    fn is_quiet(&mut self, index: u32, local: Id) -> bool {
        if let Some(Some(known)) = self.quiet.get(local as usize) {
            return *known;
        }
        let is_quiet = self.own_actions(index, local).is_empty();
        self.quiet.resize(self.quiet.len().max(local as usize + 1), None);
        self.quiet[local as usize] = Some(is_quiet);
        is_quiet
    }

    /// What `action` does at actor `index`; `None` if stateright ignores it.
    #[inline]
    fn step(&mut self, index: u32, local: Id, history: Id, action: Id) -> Option<Outcome> {
        let key = (u64::from(index) << 32 | u64::from(local), u64::from(history) << 32 | u64::from(action));
        let at = match self.steps.get(&key) {
            Some(at) => *at,
            None => self.learn(index as usize, local, history, action, key),
        };
        (at != IGNORED).then(|| self.outcomes[at as usize])
    }

    /// Asks the other workers, and computes the step if none of them has.
    #[cold]
    fn learn(&mut self, index: usize, local: Id, history: Id, action: Id, key: StepKey) -> u32 {
        let is_alone = Arc::strong_count(&self.told) == 1;
        let told = if is_alone { None } else { lock(&self.told).get(&key).cloned() };
        let outcome = match told {
            Some(outcome) => {
                // It may be made of what is not known here yet.
                self.catch_up();
                outcome
            }
            None => {
                let outcome = self.compute(index, local, history, action);
                if !is_alone {
                    lock(&self.told).insert(key, outcome.clone());
                }
                outcome
            }
        };
        let at = match outcome {
            None => IGNORED,
            Some((outcome, sent)) => {
                self.outcomes.push(Outcome { start: self.sent.len() as u32, ..outcome });
                self.sent.extend_from_slice(&sent);
                self.outcomes.len() as u32 - 1
            }
        };
        self.steps.insert(key, at);
        at
    }

    fn catch_up(&mut self) {
        self.locals.catch_up();
        self.histories.catch_up();
        self.parcels.catch_up();
        self.actions.catch_up();
    }

    /// What stateright makes of the step; `None` if it ignores it.
    fn compute(&mut self, index: usize, local: Id, history: Id, action: Id) -> Option<Told> {
        let before = self.alone(index, local, history, action);
        let action = (**self.actions.get(action)).clone();
        let after = self.model.next_state(&before, action)?;
        let new = self.intern_local(index, &after);
        let told = self.histories.intern(identity(&after.history), || after.history.clone());
        let change = (self.local_weight(index, new))
            .wrapping_sub(self.local_weight(index, local))
            .wrapping_add(self.history_weight(told))
            .wrapping_sub(self.history_weight(history));
        let sent = self.sent_by(&before.network, &after.network);
        let sent: Arc<[Id]> = sent.into_iter().map(|parcel| self.intern_parcel(parcel)).collect();
        Some((Outcome { local: new, history: told, change, start: 0, len: sent.len() as u32 }, sent))
    }

    /// A state in which all but one actor are as the model's first state has them, and nothing but the message to be
    /// delivered is in flight.
    fn alone(&self, index: usize, local: Id, history: Id, action: Id) -> ActorModelState<A, H> {
        let count = self.actor_count();
        let at = self.locals.get(local);
        let in_flight = match &**self.actions.get(action) {
            ActorModelAction::Deliver { src, dst, msg } => {
                vec![Parcel::Message(Envelope { src: *src, dst: *dst, msg: msg.clone() })]
            }
            _ => Vec::new(),
        };
        let mut state = ActorModelState {
            actor_states: vec![Arc::clone(&at.state); count],
            network: network(self.kind, in_flight.iter()),
            timers_set: vec![Timers::new(); count],
            random_choices: vec![RandomChoices::default(); count],
            crashed: vec![false; count],
            history: (**self.histories.get(history)).clone(),
            actor_storages: vec![None; count],
        };
        state.timers_set[index] = at.timers.clone();
        state.random_choices[index] = at.random.clone();
        state.crashed[index] = at.crashed;
        state.actor_storages[index] = at.storage.clone();
        state
    }

    /// The messages sent by a step, one parcel each. What was delivered has left; a duplicating network keeps it.
    fn sent_by(&self, before: &Network<A::Msg>, after: &Network<A::Msg>) -> Vec<Parcel<A::Msg>> {
        let mut sent: Vec<Parcel<A::Msg>> = Vec::new();
        let kept = parcels(before);
        for parcel in parcels(after) {
            match parcel {
                Parcel::Flow(src, dst, flow) => {
                    sent.extend(flow.into_iter().map(|msg| Parcel::Message(Envelope { src, dst, msg })));
                }
                Parcel::Last(_) => {}
                Parcel::Message(_) if self.kind == Kind::Duplicating && kept.contains(&parcel) => {}
                Parcel::Message(_) => sent.push(parcel),
            }
        }
        // The order within a network without one comes from its hash table: take another.
        if self.kind != Kind::Ordered {
            sent.sort_by_cached_key(identity);
        }
        sent
    }

    /// Whether the state is within the model's boundary.
    fn is_within(&self, cells: &[u32]) -> bool {
        !self.rules.has_boundary || (self.model.within_boundary)(&self.model.cfg, &self.state_of(cells))
    }

    /// Hands out the row that was built. One that stands for others is known by them, and goes on from itself, as in
    /// stateright: what follows is then on a way that can be gone.
    fn push(&mut self, sum: u64, out: &mut Successors) {
        if !self.is_within(&self.cells) {
            return;
        }
        let known_by = match self.represent {
            Some(represent) => self.row_of(&represent(&self.state_of(&self.cells))).1,
            None => sum,
        };
        out.push(fingerprint(known_by), sum, 0, |row| row.extend_from_slice(&self.cells));
    }

    /// Takes the outcome of a step in the row being built; `taken` is the parcel that was delivered.
    fn apply(&mut self, index: u32, outcome: Outcome, taken: Option<Id>, mut sum: u64) -> u64 {
        let count = self.actor_count();
        self.cells[index as usize] = outcome.local;
        self.cells[count] = outcome.history;
        sum = sum.wrapping_add(outcome.change);
        if let Some(parcel) = taken {
            sum = self.deliver(parcel, sum);
        }
        for at in outcome.start..outcome.start + outcome.len {
            sum = self.send(self.sent[at as usize], sum);
        }
        sum
    }

    fn remove(&mut self, parcel: Id, sum: u64) -> u64 {
        let start = self.actor_count() + 1;
        let at = self.cells[start..].iter().position(|id| *id == parcel).expect("what is taken is in flight");
        self.cells.swap_remove(start + at);
        sum.wrapping_sub(self.parcel_weight(parcel))
    }

    fn add(&mut self, parcel: Id, sum: u64) -> u64 {
        self.cells.push(parcel);
        sum.wrapping_add(self.parcel_weight(parcel))
    }

    fn deliver(&mut self, parcel: Id, sum: u64) -> u64 {
        match self.kind {
            Kind::NonDuplicating => self.remove(parcel, sum),
            Kind::Ordered => self.behead(parcel, sum),
            Kind::Duplicating => {
                let last = match &**self.parcels.get(parcel) {
                    Parcel::Message(envelope) => Parcel::Last(envelope.clone()),
                    Parcel::Last(_) | Parcel::Flow(..) => unreachable!("only messages are delivered here"),
                };
                let last = self.intern_parcel(last);
                let start = self.actor_count() + 1;
                let mut before = self.cells[start..].iter().copied();
                let before = before.find(|id| matches!(**self.parcels.get(*id), Parcel::Last(_)));
                let sum = before.map_or(sum, |before| self.remove(before, sum));
                self.add(last, sum)
            }
        }
    }

    /// Removes the head of a flow.
    fn behead(&mut self, flow: Id, sum: u64) -> u64 {
        let rest = match self.flows.get(&(flow, NO_PARCEL)) {
            Some(rest) => *rest,
            None => {
                let Parcel::Flow(src, dst, mut waiting) = (**self.parcels.get(flow)).clone() else {
                    unreachable!("an ordered network has flows only")
                };
                waiting.pop_front();
                let is_empty = waiting.is_empty();
                let rest = if is_empty { NO_PARCEL } else { self.intern_parcel(Parcel::Flow(src, dst, waiting)) };
                self.flows.insert((flow, NO_PARCEL), rest);
                rest
            }
        };
        let sum = self.remove(flow, sum);
        if rest == NO_PARCEL { sum } else { self.add(rest, sum) }
    }

    fn send(&mut self, message: Id, sum: u64) -> u64 {
        let start = self.actor_count() + 1;
        match self.kind {
            Kind::NonDuplicating => self.add(message, sum),
            Kind::Duplicating if self.cells[start..].contains(&message) => sum,
            Kind::Duplicating => self.add(message, sum),
            Kind::Ordered => {
                let Parcel::Message(Envelope { src, dst, msg }) = &**self.parcels.get(message) else {
                    unreachable!("what is sent is a message")
                };
                let (src, dst, msg) = (*src, *dst, msg.clone());
                let flow = self.cells[start..].iter().copied().find(
                    |id| matches!(&**self.parcels.get(*id), Parcel::Flow(from, to, _) if (*from, *to) == (src, dst)),
                );
                let key = (flow.unwrap_or(NO_PARCEL), message);
                let joined = match self.flows.get(&key) {
                    Some(joined) => *joined,
                    None => {
                        let mut waiting = match flow.map(|flow| (**self.parcels.get(flow)).clone()) {
                            Some(Parcel::Flow(_, _, waiting)) => waiting,
                            _ => Default::default(),
                        };
                        waiting.push_back(msg);
                        let joined = self.intern_parcel(Parcel::Flow(src, dst, waiting));
                        self.flows.insert(key, joined);
                        joined
                    }
                };
                let sum = flow.map_or(sum, |flow| self.remove(flow, sum));
                self.add(joined, sum)
            }
        }
    }

    fn expand_deliveries(&mut self, row: Row<'_>, out: &mut Successors) {
        let count = self.actor_count();
        let flights = &row.cells[count + 1..];
        for (at, &parcel) in flights.iter().enumerate() {
            if flights[..at].contains(&parcel) {
                continue;
            }
            let Some((to, action)) = self.delivery(parcel) else { continue };
            if self.lossy {
                self.begin_row(row);
                let sum = match self.kind {
                    Kind::Ordered => self.behead(parcel, row.weight),
                    Kind::NonDuplicating | Kind::Duplicating => self.remove(parcel, row.weight),
                };
                self.push(sum, out);
            }
            if to as usize >= count {
                continue;
            }
            let at_receiver = row.cells[to as usize] * count as u32 + to;
            if self.ignored.has(parcel, |_| at_receiver) {
                continue;
            }
            match self.step(to, row.cells[to as usize], row.cells[count], action) {
                Some(outcome) => {
                    self.begin_row(row);
                    let sum = self.apply(to, outcome, Some(parcel), row.weight);
                    self.push(sum, out);
                }
                None => self.ignored.mark(parcel, to as u16, at_receiver),
            }
        }
    }

    fn expand_actors(&mut self, row: Row<'_>, out: &mut Successors) {
        let count = self.actor_count();
        let crashes = self.model.max_crashes;
        let is_crashed = |id: &u32| self.locals.get(*id).crashed;
        let crashed = if crashes > 0 { row.cells[..count].iter().filter(|id| is_crashed(id)).count() } else { 0 };
        for index in 0..count as u32 {
            let local = row.cells[index as usize];
            if crashes == 0 && self.is_quiet(index, local) {
                continue;
            }
            let mut actions: Vec<Id> = self.own_actions(index, local).to_vec();
            if crashed < crashes && !self.locals.get(local).crashed {
                let crash = ActorModelAction::Crash(ActorId::from(index as usize));
                actions.push(self.actions.intern(identity(&crash), || crash));
            }
            for action in actions {
                if let Some(outcome) = self.step(index, local, row.cells[count], action) {
                    self.begin_row(row);
                    let sum = self.apply(index, outcome, None, row.weight);
                    self.push(sum, out);
                }
            }
        }
    }

    fn begin_row(&mut self, row: Row<'_>) {
        self.cells.clear();
        self.cells.extend_from_slice(row.cells);
    }
}

impl<A, C, H> Space for Actors<A, C, H>
where
    A: SharedActor,
    C: Send + Sync + 'static,
    H: Clone + Debug + Hash + Send + Sync + 'static,
{
    fn start(&mut self, out: &mut Successors) {
        for state in self.model.init_states() {
            let (cells, sum) = self.row_of(&state);
            self.cells = cells;
            self.push(sum, out);
        }
    }

    fn expand(&mut self, row: Row<'_>, _: &dyn Seen, out: &mut Successors) {
        if let Some(name) = self.judge(row.cells) {
            let detail = format!("{name} does not hold");
            out.fell_here(Violation { property: name.to_owned(), detail });
            return;
        }
        out.owe(self.owed);
        out.act(STEP);
        self.expand_deliveries(row, out);
        self.expand_actors(row, out);
    }

    fn claims(&self) -> Vec<Claim> {
        claims(&self.model.properties)
    }

    fn fork(&self) -> Self {
        Actors {
            locals: self.locals.fork(),
            histories: self.histories.fork(),
            parcels: self.parcels.fork(),
            actions: self.actions.fork(),
            told: Arc::clone(&self.told),
            ..Actors::new(Arc::clone(&self.model), self.rules.clone(), self.represent)
        }
    }

    fn begin(&mut self, _: u64) {
        self.catch_up();
    }

    fn memory(&self) -> usize {
        let values = self.locals.len() + self.histories.len() + self.parcels.len() + self.actions.len();
        values * 128 + self.outcomes.len() * size_of::<Outcome>() + self.steps.capacity() * 24
    }
}
