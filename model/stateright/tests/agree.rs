//! The same states, transitions and verdicts as stateright's own checkers.

use std::borrow::Cow;

use seedbed_model::explore::{Order, Strategy};
use seedbed_stateright::{Checked, Options, explore_actors, explore_model};
use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Network, Out, model_timeout};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;
use stateright::{Checker, Expectation, Model, Property};

/// A server that keeps the one copy of a register: linearizable alone, and not with a second one beside it.
#[derive(Clone)]
struct SingleCopy;

impl Actor for SingleCopy {
    type Msg = RegisterMsg<u64, char, ()>;
    type State = char;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> char {
        '?'
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, char>, src: Id, msg: Self::Msg, out: &mut Out<Self>) {
        match msg {
            RegisterMsg::Put(request, value) => {
                *state.to_mut() = value;
                out.send(src, RegisterMsg::PutOk(request));
            }
            RegisterMsg::Get(request) => out.send(src, RegisterMsg::GetOk(request, **state)),
            _ => {}
        }
    }
}

type Registers = ActorModel<RegisterActor<SingleCopy>, (), LinearizabilityTester<Id, Register<char>>>;

fn registers(servers: usize, clients: usize, network: Network<RegisterMsg<u64, char, ()>>) -> Registers {
    ActorModel::new((), LinearizabilityTester::new(Register('?')))
        .actors((0..servers).map(|_| RegisterActor::Server(SingleCopy)))
        .actors((0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count: servers }))
        .init_network(network)
        .property(Expectation::Always, "linearizable", |_, state| state.history.serialized_history().is_some())
        .property(Expectation::Sometimes, "value chosen", |_, state| {
            let is_read =
                |msg: &RegisterMsg<u64, char, ()>| matches!(msg, RegisterMsg::GetOk(_, value) if *value != '?');
            state.network.iter_deliverable().any(|envelope| is_read(envelope.msg))
        })
        .property(Expectation::Sometimes, "never", |_, state| state.crashed.len() > 99)
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}

/// An actor that counts to a limit with its timer, asks for a random number, and tells its neighbour.
#[derive(Clone)]
struct Counter {
    peer: Id,
    /// Its timers are this and the next; its choice is named after it.
    timer: u8,
}

impl Actor for Counter {
    type Msg = u8;
    type State = (u8, u8);
    type Timer = u8;
    type Random = u8;
    type Storage = u8;

    fn on_start(&self, _: Id, storage: &Option<u8>, out: &mut Out<Self>) -> (u8, u8) {
        out.set_timer(self.timer, model_timeout());
        (0, storage.unwrap_or(0))
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, (u8, u8)>, _: Id, msg: u8, out: &mut Out<Self>) {
        if msg > state.1 {
            state.to_mut().1 = msg;
            out.save(msg);
        }
    }

    fn on_timeout(&self, _: Id, state: &mut Cow<'_, (u8, u8)>, timer: &u8, out: &mut Out<Self>) {
        if *timer == self.timer && state.0 < 2 {
            state.to_mut().0 += 1;
            out.choose_random(format!("how much {}", self.timer), vec![1, 2]);
            out.set_timer(self.timer + 1, model_timeout());
        } else {
            out.cancel_timer(self.timer);
        }
    }

    fn on_random(&self, _: Id, _: &mut Cow<'_, (u8, u8)>, random: &u8, out: &mut Out<Self>) {
        out.send(self.peer, *random);
        out.set_timer(self.timer, model_timeout());
    }
}

fn counters(network: Network<u8>, lossy: LossyNetwork, crashes: usize) -> ActorModel<Counter> {
    counters_with([0, 2], network, lossy, crashes)
}

fn counters_with(timers: [u8; 2], network: Network<u8>, lossy: LossyNetwork, crashes: usize) -> ActorModel<Counter> {
    ActorModel::new((), ())
        .actor(Counter { peer: Id::from(1), timer: timers[0] })
        .actor(Counter { peer: Id::from(0), timer: timers[1] })
        .init_network(network)
        .lossy_network(lossy)
        .max_crashes(crashes)
        .property(Expectation::Always, "small", |_, state| state.actor_states.iter().all(|state| state.1 < 3))
        .property(Expectation::Sometimes, "never", |_, state| state.actor_states.iter().any(|state| state.1 == 9))
        .within_boundary(|_, state| state.network.len() < 3)
}

/// Two-phase commit as a `Model`: each resource manager is undecided (0), prepared (1), committed (2) or aborted (3).
#[derive(Clone)]
struct TwoPhase {
    managers: usize,
    /// Whether the coordinator waits for all.
    waits: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Round {
    managers: Vec<u8>,
    decided: Option<bool>,
}

#[derive(Clone, Debug, PartialEq)]
enum Move {
    Prepare(usize),
    Abort(usize),
    Decide(bool),
    Learn(usize),
}

impl Model for TwoPhase {
    type State = Round;
    type Action = Move;

    fn init_states(&self) -> Vec<Round> {
        vec![Round { managers: vec![0; self.managers], decided: None }]
    }

    fn actions(&self, state: &Round, actions: &mut Vec<Move>) {
        for (index, manager) in state.managers.iter().enumerate() {
            if *manager == 0 {
                actions.extend([Move::Prepare(index), Move::Abort(index)]);
            }
            if state.decided.is_some() && *manager < 2 {
                actions.push(Move::Learn(index));
            }
        }
        let prepared = state.managers.iter().filter(|manager| **manager == 1).count();
        if state.decided.is_none() {
            if prepared == self.managers || (!self.waits && prepared > 0) {
                actions.push(Move::Decide(true));
            }
            actions.push(Move::Decide(false));
        }
    }

    fn next_state(&self, state: &Round, action: Move) -> Option<Round> {
        let mut next = state.clone();
        match action {
            Move::Prepare(index) => next.managers[index] = 1,
            Move::Abort(index) => next.managers[index] = 3,
            Move::Decide(commit) => next.decided = Some(commit),
            Move::Learn(index) => next.managers[index] = if state.decided == Some(true) { 2 } else { 3 },
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("consistent", |_, state: &Round| {
                !(state.managers.contains(&2) && state.managers.contains(&3))
            }),
            Property::sometimes("all commit", |_, state: &Round| state.managers.iter().all(|manager| *manager == 2)),
            Property::sometimes("never", |_, state: &Round| state.managers.is_empty()),
        ]
    }
}

/// Every order and number of workers.
fn strategies() -> impl Iterator<Item = Strategy> {
    let orders = [Order::BreadthFirst, Order::DepthFirst];
    orders.into_iter().flat_map(|order| [1, 2].map(|jobs| Strategy { order, jobs }))
}

fn agrees<M>(name: &str, model: M, explore: impl Fn(M, &Options) -> Result<Checked, String>)
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + std::fmt::Debug + PartialEq + std::hash::Hash + Send + Sync,
    M::Action: Clone + std::fmt::Debug + PartialEq + Send + Sync,
{
    let theirs = model.clone().checker().spawn_bfs().join();
    let falls = theirs.discoveries().keys().any(|name| {
        model.properties().iter().any(|property| property.name == *name && property.expectation == Expectation::Always)
    });
    for strategy in strategies() {
        let ours = explore(model.clone(), &Options { strategy, ..Options::default() }).expect("it is searched");
        assert_eq!(ours.fallen.is_some(), falls, "{name} by {strategy:?}");
        if falls {
            continue;
        }
        let counts = (ours.stats.unique, ours.stats.total);
        assert_eq!(counts, (theirs.unique_state_count() as u64, theirs.state_count() as u64), "{name} by {strategy:?}");
        if strategy.order == Order::BreadthFirst {
            assert_eq!(ours.stats.depth as usize + 1, theirs.max_depth(), "{name}");
        }
        let reached: Vec<&str> = theirs.discoveries().into_keys().collect();
        assert!(ours.reached.iter().all(|goal| reached.contains(goal)), "{name}: {:?} and {reached:?}", ours.reached);
        assert_eq!(ours.reached.len(), reached.len(), "{name}: {:?} and {reached:?}", ours.reached);
    }
}

fn quiet<M: Clone>(
    explore: impl Fn(M, &Options, &mut dyn FnMut(seedbed_model::explore::Progress) -> bool) -> Result<Checked, String>,
) -> impl Fn(M, &Options) -> Result<Checked, String> {
    move |model, options| explore(model, options, &mut |_| true)
}

#[test]
fn registers_on_every_network() {
    for (name, network) in [
        ("ordered", Network::new_ordered([])),
        ("duplicating", Network::new_unordered_duplicating([])),
        ("non-duplicating", Network::new_unordered_nonduplicating([])),
    ] {
        agrees(name, registers(1, 2, network.clone()), quiet(explore_actors));
        agrees(&format!("{name}, two copies"), registers(2, 2, network), quiet(explore_actors));
    }
}

#[test]
fn timers_random_choices_crashes_and_losses() {
    for network in
        [Network::new_ordered([]), Network::new_unordered_duplicating([]), Network::new_unordered_nonduplicating([])]
    {
        for lossy in [LossyNetwork::No, LossyNetwork::Yes] {
            for crashes in [0, 1] {
                agrees(
                    &format!("{network:?}, {crashes} crashes"),
                    counters(network.clone(), lossy, crashes),
                    quiet(explore_actors),
                );
            }
        }
    }
}

/// Stateright 0.31 hashes a set by its elements alone, without their number: a timer set at one actor and the same timer
/// set at another give one fingerprint, and it takes two states for one. Here they are two.
#[test]
fn equal_timers_of_two_actors_are_told_apart() {
    let model = || counters_with([0, 0], Network::new_ordered([]), LossyNetwork::No, 0);
    let theirs = model().checker().spawn_bfs().join().unique_state_count() as u64;
    let ours = explore_actors(model(), &Options::default(), &mut |_| true).expect("it is searched").stats.unique;
    assert!(ours > theirs, "{ours} and {theirs}");
    let renamed = counters(Network::new_ordered([]), LossyNetwork::No, 0).checker().spawn_bfs().join();
    assert_eq!(ours, renamed.unique_state_count() as u64, "with timers of different names stateright agrees");
}

#[test]
fn two_phase_commit_as_a_model() {
    agrees("waits", TwoPhase { managers: 4, waits: true }, quiet(explore_model));
    agrees("does not wait", TwoPhase { managers: 4, waits: false }, quiet(explore_model));
}

#[test]
fn a_counterexample_is_the_shortest_and_names_its_actions() {
    let model = TwoPhase { managers: 2, waits: false };
    let ours = explore_model(model, &Options::default(), &mut |_| true).expect("it is searched");
    let fallen = ours.fallen.expect("a coordinator that does not wait breaks it");
    assert_eq!(fallen.property, "consistent");
    assert_eq!(fallen.actions, ["Prepare(0)", "Decide(true)", "Learn(0)", "Abort(1)"]);
}

#[test]
fn what_is_not_searched_is_refused() {
    let model =
        counters(Network::new_ordered([]), LossyNetwork::No, 0).property(Expectation::Eventually, "ends", |_, _| true);
    let strategy = Strategy { order: Order::DepthFirst, jobs: 1 };
    let why = explore_actors(model, &Options { strategy, ..Options::default() }, &mut |_| true).err();
    let refusal = "`ends` is claimed eventually, which needs the order breadth-first";
    assert_eq!(why.as_deref(), Some(refusal));
    let options = Options { of_history: vec!["tidy"], ..Options::default() };
    let why = explore_actors(counters(Network::new_ordered([]), LossyNetwork::No, 0), &options, &mut |_| true).err();
    assert_eq!(why.as_deref(), Some("no property `tidy`"));
}
