//! Stateright's rules are kept: on every network, with timers, choices, crashes and losses.

use std::borrow::Cow;

use seedbed_model::explore::{Order, Strategy};
use seedbed_stateright::{Options, explore_actors, explore_model};
use seedbed_stateright_models::single_copy;
use stateright::actor::{Actor, ActorModel, Id, LossyNetwork, Network, Out, model_timeout};
use stateright::{Checker, Expectation, Model, Property};

use crate::common::{agree, quiet};

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

#[test]
fn registers_on_every_network() {
    for (name, network) in [
        ("ordered", Network::new_ordered([])),
        ("duplicating", Network::new_unordered_duplicating([])),
        ("non-duplicating", Network::new_unordered_nonduplicating([])),
    ] {
        agree(name, single_copy::model(1, 2, network.clone()), quiet(explore_actors));
        agree(&format!("{name}, two copies"), single_copy::model(2, 2, network), quiet(explore_actors));
    }
}

#[test]
fn timers_random_choices_crashes_and_losses() {
    for network in
        [Network::new_ordered([]), Network::new_unordered_duplicating([]), Network::new_unordered_nonduplicating([])]
    {
        for lossy in [LossyNetwork::No, LossyNetwork::Yes] {
            for crashes in [0, 1] {
                agree(
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
    agree("waits", TwoPhase { managers: 4, waits: true }, quiet(explore_model));
    agree("does not wait", TwoPhase { managers: 4, waits: false }, quiet(explore_model));
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
