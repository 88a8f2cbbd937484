//! By symmetry both keep one state of each class, and say the same.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use seedbed_model::explore::{Order, Strategy};
use seedbed_stateright::{
    Options, explore_actors, explore_actors_by_symmetry, explore_model, explore_model_by_symmetry,
};
use seedbed_stateright_models::two_phase::{CONSISTENT, State, TwoPhaseCommit};
use stateright::actor::{Actor, ActorModel, ActorModelState, Envelope, Id, LossyNetwork, Network, Out, model_timeout};
use stateright::{Checker, Expectation, Model};

use crate::common::{Counts, Said, agree, agree_by_symmetry, quiet};

fn by_symmetry(commit: TwoPhaseCommit) -> Said {
    let explore = |model, options: &_| explore_model_by_symmetry(model, State::sorted, options, &mut |_| true);
    agree_by_symmetry("two-phase commit by symmetry", commit, State::sorted, explore)
}

/// Of the states that differ by the order of the resource managers alone, both keep one.
#[test]
fn two_phase_commit() {
    for (managers, unique, total) in [(3, 80, 318), (5, 314, 2_048), (8, 1_461, 15_287)] {
        let said = by_symmetry(TwoPhaseCommit { managers, waits_for_all: true });
        assert_eq!(said, Said::Holds(Counts { unique, total, depth: None }));
    }
}

/// Where a class has several representatives, how many are met depends on the order, and stateright's is depth first. Its
/// documentation counts 665 for its own model of five, with the same normal form.
#[test]
fn two_phase_commit_by_representatives_that_are_not_unique() {
    for (managers, unique, total) in [(3, 107, 411), (5, 665, 4_091), (8, 7_153, 68_167)] {
        let model = TwoPhaseCommit { managers, waits_for_all: true };
        let theirs = model.clone().checker().symmetry_fn(State::sorted_by_stage).spawn_dfs().join();
        assert_eq!((theirs.unique_state_count(), theirs.state_count()), (unique, total));
        let options = Options { strategy: Strategy { order: Order::DepthFirst, jobs: 1 }, ..Options::default() };
        let ours = explore_model_by_symmetry(model, State::sorted_by_stage, &options, &mut |_| true);
        let stats = ours.expect("it is searched").stats;
        assert_eq!((stats.unique, stats.total), (unique as u64, total as u64));
    }
}

/// Of several states that stand for one on the way, not each leads on: the way that is shown does.
#[test]
fn a_way_is_shown_through_representatives_that_are_not_unique() {
    for managers in 2..=5 {
        let hasty = TwoPhaseCommit { managers, waits_for_all: false };
        let explore =
            |model, options: &_| explore_model_by_symmetry(model, State::sorted_by_stage, options, &mut |_| true);
        let said = agree_by_symmetry("hasty", hasty, State::sorted_by_stage, explore);
        assert_eq!(said, Said::Falls(CONSISTENT, 5));
    }
}

#[test]
fn a_transaction_manager_that_waits_for_one_breaks_it_with_and_without_symmetry() {
    let hasty = TwoPhaseCommit { managers: 3, waits_for_all: false };
    let said = agree("hasty", hasty.clone(), quiet(explore_model));
    assert_eq!(said, Said::Falls(CONSISTENT, 5));
    assert_eq!(by_symmetry(hasty), said);
}

/// Two-phase commit by actors: actor 0 asks all others for their votes, and may give up.
#[derive(Clone)]
enum Party {
    Coordinator {
        /// Whether it still gives up after it has decided to commit.
        is_forgetful: bool,
        voters: Vec<Id>,
    },
    Voter,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mind {
    Coordinator { votes: BTreeSet<Id>, is_decided: bool },
    Voter(Option<Told>),
}

/// What a voter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Told {
    Asked,
    Commit,
    Abort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Mail {
    Tell(Told),
    Vote,
}

impl Actor for Party {
    type Msg = Mail;
    type State = Mind;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, out: &mut Out<Self>) -> Mind {
        let Party::Coordinator { voters, .. } = self else { return Mind::Voter(None) };
        out.broadcast(voters, &Mail::Tell(Told::Asked));
        out.set_timer((), model_timeout());
        Mind::Coordinator { votes: BTreeSet::new(), is_decided: false }
    }

    fn on_msg(&self, _: Id, mind: &mut Cow<'_, Mind>, src: Id, mail: Mail, out: &mut Out<Self>) {
        match (self, mind.to_mut(), mail) {
            (Party::Voter, Mind::Voter(told), Mail::Tell(new)) => {
                *told = Some(new);
                if new == Told::Asked {
                    out.send(src, Mail::Vote);
                }
            }
            (Party::Coordinator { voters, is_forgetful }, Mind::Coordinator { votes, is_decided }, Mail::Vote) => {
                votes.insert(src);
                if votes.len() == voters.len() && !*is_decided {
                    *is_decided = !is_forgetful;
                    out.broadcast(voters, &Mail::Tell(Told::Commit));
                }
            }
            _ => unreachable!("voters are told, coordinators get votes"),
        }
    }

    fn on_timeout(&self, _: Id, mind: &mut Cow<'_, Mind>, (): &(), out: &mut Out<Self>) {
        if let (Party::Coordinator { voters, .. }, Mind::Coordinator { is_decided, .. }) = (self, mind.to_mut())
            && !*is_decided
        {
            *is_decided = true;
            out.broadcast(voters, &Mail::Tell(Told::Abort));
        }
    }
}

fn ballot(voters: usize, is_forgetful: bool) -> ActorModel<Party> {
    let ids = (1..=voters).map(Id::from).collect();
    ActorModel::new((), ())
        .actor(Party::Coordinator { voters: ids, is_forgetful })
        .actors(vec![Party::Voter; voters])
        .init_network(Network::new_unordered_nonduplicating([]))
        .lossy_network(LossyNetwork::Yes)
        .property(Expectation::Always, CONSISTENT, |_, state| {
            let told = |what| state.actor_states.iter().any(|mind| **mind == Mind::Voter(Some(what)));
            !(told(Told::Commit) && told(Told::Abort))
        })
        .property(Expectation::Sometimes, "all commit", |_, state| {
            state.actor_states[1..].iter().all(|mind| **mind == Mind::Voter(Some(Told::Commit)))
        })
}

/// Puts the voters in order of all that tells them apart. They know nothing of each other, so that this takes all states
/// of a class to one.
fn in_order(state: &ActorModelState<Party>) -> ActorModelState<Party> {
    let mut order: Vec<usize> = (1..state.actor_states.len()).collect();
    order.sort_by_key(|index| features(state, Id::from(*index)));
    let renamed = |id: Id| order.iter().position(|index| Id::from(*index) == id).map_or(id, |at| Id::from(at + 1));
    let mut next = state.clone();
    for (at, index) in order.iter().enumerate() {
        next.actor_states[at + 1] = Arc::clone(&state.actor_states[*index]);
    }
    if let Mind::Coordinator { votes, is_decided } = &*state.actor_states[0] {
        let votes = votes.iter().map(|id| renamed(*id)).collect();
        next.actor_states[0] = Arc::new(Mind::Coordinator { votes, is_decided: *is_decided });
    }
    next.network = Network::new_unordered_nonduplicating(state.network.iter_all().map(|envelope| {
        let (src, dst) = (renamed(envelope.src), renamed(envelope.dst));
        Envelope { src, dst, msg: *envelope.msg }
    }));
    next
}

/// What is known of a voter: its state, whether its vote is counted, and its mail in flight.
fn features(state: &ActorModelState<Party>, voter: Id) -> (Mind, bool, Vec<Mail>) {
    let is_counted = matches!(&*state.actor_states[0], Mind::Coordinator { votes, .. } if votes.contains(&voter));
    let of_voter = state.network.iter_all().filter(|envelope| envelope.src == voter || envelope.dst == voter);
    let mut mail: Vec<Mail> = of_voter.map(|envelope| *envelope.msg).collect();
    mail.sort_unstable();
    ((*state.actor_states[usize::from(voter)]).clone(), is_counted, mail)
}

fn ballot_by_symmetry(voters: usize, is_forgetful: bool) -> Said {
    let explore = |model, options: &_| explore_actors_by_symmetry(model, in_order, options, &mut |_| true);
    agree_by_symmetry("ballot by symmetry", ballot(voters, is_forgetful), in_order, explore)
}

#[test]
fn actors_that_commit() {
    let said = agree("ballot", ballot(3, false), quiet(explore_actors));
    assert_eq!(said, Said::Holds(Counts { unique: 2_921, total: 13_496, depth: Some(11) }));
    let said = ballot_by_symmetry(3, false);
    assert_eq!(said, Said::Holds(Counts { unique: 613, total: 2_809, depth: None }));
}

#[test]
fn a_coordinator_that_forgets_breaks_it_with_and_without_symmetry() {
    let said = agree("forgetful", ballot(3, true), quiet(explore_actors));
    assert_eq!(said, Said::Falls(CONSISTENT, 9));
    assert_eq!(ballot_by_symmetry(3, true), said);
}

#[test]
fn runs_without_end_are_refused() {
    let model = ballot(2, false).property(Expectation::Eventually, "ends", |_, _| false);
    let found = explore_actors_by_symmetry(model, in_order, &Options::default(), &mut |_| true);
    assert_eq!(found.err().as_deref(), Some("`ends` is an Eventually, which is not searched by symmetry"));
}
