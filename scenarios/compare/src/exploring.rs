//! Exhaustive search of one model by searches that see the same states, each to its end.
//!
//! - stateright's checkers on [`seedbed_stateright_models`], written against its `Actor` and `Model` traits;
//! - Seedbed's explorer on those models, unchanged, through `seedbed-stateright`: the *adapter*;
//! - Seedbed's explorer on [`crate::ours`], the same algorithm written to Seedbed's contract, where there is one.
//!
//! On registers each checks that what clients saw is linearizable.

use std::fmt::Debug;
use std::hash::Hash;

use seedbed_model::explore::{Bounds, Order, Stats, Strategy, Verdict, explore};
use seedbed_model::{Kind, Protocol};
use seedbed_stateright::{Checked, Options, SharedActor, explore_actors, explore_model};
use seedbed_stateright_models::two_phase::TwoPhaseCommit;
use seedbed_stateright_models::{History, LINEARIZABLE, abd, paxos, unordered};
use stateright::actor::ActorModel;
use stateright::{Checker, Model};

use crate::ours;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A register over Paxos: three servers and so many clients.
    Paxos(usize),
    /// The ABD register: three servers and so many clients.
    Abd(usize),
    /// Two-phase commit with so many resource managers.
    TwoPhaseCommit(usize),
}

/// Who searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searcher {
    /// Stateright's checker.
    Stateright,
    /// Seedbed's explorer, on stateright's model.
    Adapter,
    /// Seedbed's explorer, on the model in its own contract.
    Contract,
}

/// How much a search saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub unique: u64,
    /// Transitions, and the states that a run may start in.
    pub total: u64,
}

impl Seen {
    fn of(stats: &Stats) -> Self {
        Seen { unique: stats.unique, total: stats.total }
    }
}

impl Work {
    /// The work of this name: `paxos-N`, `abd-N`, `two-phase-N`.
    pub fn named(name: &str) -> Option<Work> {
        let (kind, size) = name.rsplit_once('-')?;
        let size = size.parse().ok()?;
        match kind {
            "paxos" => Some(Work::Paxos(size)),
            "abd" => Some(Work::Abd(size)),
            "two-phase" => Some(Work::TwoPhaseCommit(size)),
            _ => None,
        }
    }

    /// Whether it was written to Seedbed's contract too.
    pub fn has_contract(self) -> bool {
        matches!(self, Work::Paxos(_) | Work::TwoPhaseCommit(_))
    }
}

/// Searches to the end.
///
/// # Panics
/// If a property falls, which would end the search early, if [`Work::has_contract`] denies what is asked for, or in an
/// order other than breadth or depth first.
pub fn search(work: Work, searcher: Searcher, strategy: Strategy) -> Seen {
    match (work, searcher) {
        (Work::Paxos(clients), Searcher::Contract) => {
            let bounds = ours::register::Register::<ours::paxos::Paxos>::bounds();
            by_contract(&ours::paxos::register(clients as u16), &bounds, &strategy)
        }
        (Work::Paxos(clients), _) => search_actors(paxos::model(clients, unordered()), searcher, strategy),
        (Work::Abd(clients), _) => search_actors(abd::model(3, clients, unordered()), searcher, strategy),
        (Work::TwoPhaseCommit(managers), Searcher::Contract) => {
            let commit = ours::two_phase::TwoPhaseCommit { managers: managers as u16 };
            by_contract(&commit, &ours::two_phase::TwoPhaseCommit::bounds(), &strategy)
        }
        (Work::TwoPhaseCommit(managers), _) => {
            search_model(TwoPhaseCommit { managers, waits_for_all: true }, searcher, strategy)
        }
    }
}

fn search_actors<A: SharedActor + Clone>(
    model: ActorModel<A, (), History>,
    searcher: Searcher,
    strategy: Strategy,
) -> Seen
where
    A::Storage: PartialEq,
    A::State: PartialEq,
{
    if searcher == Searcher::Stateright {
        return by_stateright(model, strategy);
    }
    let options = Options { strategy, of_history: vec![LINEARIZABLE], has_boundary: false, ..Options::default() };
    by_adapter(explore_actors(model, &options, &mut |_| true))
}

fn search_model<M>(model: M, searcher: Searcher, strategy: Strategy) -> Seen
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    if searcher == Searcher::Stateright {
        return by_stateright(model, strategy);
    }
    by_adapter(explore_model(model, &Options { strategy, ..Options::default() }, &mut |_| true))
}

fn by_stateright<M>(model: M, strategy: Strategy) -> Seen
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    fn seen<M>(checker: &impl Checker<M>) -> Seen
    where
        M: Model,
        M::State: Clone + Debug + Hash + PartialEq,
        M::Action: Clone + Debug + PartialEq,
    {
        checker.assert_properties();
        Seen { unique: checker.unique_state_count() as u64, total: checker.state_count() as u64 }
    }
    let checker = model.checker().threads(strategy.jobs);
    match strategy.order {
        Order::BreadthFirst => seen(&checker.spawn_bfs().join()),
        Order::DepthFirst => seen(&checker.spawn_dfs().join()),
        order @ (Order::BitState { .. } | Order::Walks(_)) => panic!("no peer searches by {order:?}"),
    }
}

fn by_adapter(found: Result<Checked, String>) -> Seen {
    let found = found.expect("it is searched");
    assert!(found.fallen.is_none() && found.stats.exhausted, "{found:?}");
    Seen::of(&found.stats)
}

fn by_contract<P: Protocol>(protocol: &P, bounds: &Bounds, strategy: &Strategy) -> Seen {
    let found = explore(protocol, bounds, strategy, &mut |_| true).expect("the bounds fit");
    assert_eq!(found.verdict, Verdict::Holds);
    for goal in protocol.properties().iter().filter(|property| property.kind == Kind::Sometimes) {
        assert!(found.reached.contains(&goal.name), "{} was not reached", goal.name);
    }
    Seen::of(&found.stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn all_see(name: &str, searchers: &[Searcher], unique: u64, total: u64) {
        let work = Work::named(name).expect("there is such work");
        for order in [Order::BreadthFirst, Order::DepthFirst] {
            for jobs in [1, 2] {
                for searcher in searchers {
                    let seen = search(work, *searcher, Strategy { order, jobs });
                    assert_eq!(seen, Seen { unique, total }, "{name} by {searcher:?}, {order:?}, {jobs} jobs");
                }
            }
        }
    }

    #[test]
    fn all_searches_see_the_same() {
        all_see("paxos-2", &[Searcher::Stateright, Searcher::Adapter, Searcher::Contract], 16_668, 32_971);
        all_see("abd-1", &[Searcher::Stateright, Searcher::Adapter], 1_449, 3_728);
        all_see("two-phase-4", &[Searcher::Stateright, Searcher::Adapter], 1_568, 8_258);
        // Without the transitions that change nothing.
        all_see("two-phase-4", &[Searcher::Contract], 1_568, 5_378);
    }

    #[test]
    fn work_has_a_name() {
        assert_eq!(Work::named("abd-2"), Some(Work::Abd(2)));
        assert_eq!(Work::named("abd-x"), None);
        assert_eq!(Work::named("raft-2"), None);
    }
}
