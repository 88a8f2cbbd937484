//! Exhaustive search of one model by searches that see the same states, each to its end.
//!
//! - stateright's checkers on [`seedbed_stateright_models`], written against its `Actor` and `Model` traits;
//! - Seedbed's explorer on those models, unchanged, through `seedbed-stateright`: the *adapter*;
//! - Seedbed's explorer on [`crate::ours`], the same algorithm written to Seedbed's contract, where there is one.
//!
//! On registers each checks that what clients saw is linearizable.

use std::fmt::Debug;
use std::hash::Hash;

use seedbed_model::explore::{Order, Stats, Strategy, Verdict, explore};
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
        matches!(self, Work::Paxos(_))
    }
}

/// Searches to the end.
///
/// # Panics
/// If a property falls, which would end the search early, or if [`Work::has_contract`] denies what is asked for.
pub fn search(work: Work, searcher: Searcher, strategy: Strategy) -> Seen {
    match work {
        Work::Paxos(clients) if searcher == Searcher::Contract => by_contract(clients as u16, &strategy),
        Work::Paxos(clients) => search_actors(paxos::model(clients, unordered()), searcher, strategy),
        Work::Abd(clients) => search_actors(abd::model(3, clients, unordered()), searcher, strategy),
        Work::TwoPhaseCommit(managers) => {
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
    }
}

fn by_adapter(found: Result<Checked, String>) -> Seen {
    let found = found.expect("it is searched");
    assert!(found.fallen.is_none() && found.stats.exhausted, "{found:?}");
    Seen::of(&found.stats)
}

fn by_contract(clients: u16, strategy: &Strategy) -> Seen {
    let bounds = ours::register::Register::<ours::paxos::Paxos>::bounds();
    let found = explore(&ours::paxos::register(clients), &bounds, strategy, &mut |_| true).expect("the bounds fit");
    assert_eq!((&found.verdict, &*found.reached), (&Verdict::Holds, &["value-chosen"][..]));
    Seen::of(&found.stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_searches_see_the_same() {
        for (name, counts) in
            [("paxos-2", (16_668, 32_971)), ("abd-1", (1_449, 3_728)), ("two-phase-4", (1_568, 8_258))]
        {
            let work = Work::named(name).expect("there is such work");
            for order in [Order::BreadthFirst, Order::DepthFirst] {
                for jobs in [1, 2] {
                    let strategy = Strategy { order, jobs };
                    for searcher in [Searcher::Stateright, Searcher::Adapter, Searcher::Contract] {
                        if searcher == Searcher::Contract && !work.has_contract() {
                            continue;
                        }
                        let seen = search(work, searcher, strategy);
                        assert_eq!((seen.unique, seen.total), counts, "{name} by {searcher:?}, {strategy:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn work_has_a_name() {
        assert_eq!(Work::named("abd-2"), Some(Work::Abd(2)));
        assert_eq!(Work::named("abd-x"), None);
        assert_eq!(Work::named("raft-2"), None);
    }
}
