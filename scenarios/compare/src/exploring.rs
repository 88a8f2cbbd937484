//! Exhaustive search of one model: a register over Paxos, three servers, by three searches that see the same states.
//!
//! - stateright's breadth-first checker on [`seedbed_stateright_models::paxos`], written against its `Actor` trait;
//! - Seedbed's explorer on those actors, unchanged, through `seedbed-stateright`;
//! - Seedbed's explorer on [`crate::ours::paxos`], the same algorithm written to Seedbed's contract.
//!
//! Each checks that what clients saw is linearizable, and runs to its end.

use seedbed_model::explore::{Order, Strategy, Verdict, explore};
use seedbed_stateright::{Options, explore_actors};
use seedbed_stateright_models::{paxos, unordered};
use stateright::{Checker, Model};

use crate::ours;

/// How much a search saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub unique: u64,
    /// Transitions.
    pub total: u64,
    /// Memory of tables and queues for each state [bytes]; 0 where it is not known.
    pub bytes_per_state: u64,
}

/// Breadth first by stateright, on so many threads, to the end.
///
/// # Panics
/// If a property falls: the search would have stopped early.
pub fn by_stateright(clients: usize, threads: usize) -> Seen {
    let checker = paxos::model(clients, unordered()).checker().threads(threads).spawn_bfs().join();
    checker.assert_properties();
    Seen { unique: checker.unique_state_count() as u64, total: checker.state_count() as u64, bytes_per_state: 0 }
}

/// Depth first by stateright, on so many threads, to the end.
///
/// # Panics
/// If a property falls: the search would have stopped early.
pub fn by_stateright_depth_first(clients: usize, threads: usize) -> Seen {
    let checker = paxos::model(clients, unordered()).checker().threads(threads).spawn_dfs().join();
    checker.assert_properties();
    Seen { unique: checker.unique_state_count() as u64, total: checker.state_count() as u64, bytes_per_state: 0 }
}

/// By Seedbed through its adapter, on stateright's actors.
///
/// # Panics
/// If a property falls.
pub fn by_adapter(clients: usize, strategy: Strategy) -> Seen {
    let options = Options { strategy, of_history: vec!["linearizable"], has_boundary: false, ..Options::default() };
    let found = explore_actors(paxos::model(clients, unordered()), &options, &mut |_| true).expect("it is searched");
    assert!(found.fallen.is_none() && found.reached == ["value chosen"], "{found:?}");
    Seen::of(&found.stats)
}

/// By Seedbed, on its own contract.
///
/// # Panics
/// If a property falls.
pub fn by_seedbed(clients: u16, strategy: Strategy) -> Seen {
    let bounds = ours::register::Register::<ours::paxos::Paxos>::bounds();
    let found = explore(&ours::paxos::register(clients), &bounds, &strategy, &mut |_| true).expect("the bounds fit");
    assert_eq!((&found.verdict, &*found.reached), (&Verdict::Holds, &["value-chosen"][..]));
    Seen::of(&found.stats)
}

impl Seen {
    fn of(stats: &seedbed_model::explore::Stats) -> Self {
        Seen { unique: stats.unique, total: stats.total, bytes_per_state: stats.bytes / stats.unique.max(1) }
    }
}

/// Breadth first on so many workers.
pub fn breadth_first(jobs: usize) -> Strategy {
    Strategy { order: Order::BreadthFirst, jobs }
}

/// Depth first on so many workers.
pub fn depth_first(jobs: usize) -> Strategy {
    Strategy { order: Order::DepthFirst, jobs }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(seen: Seen) -> (u64, u64) {
        (seen.unique, seen.total)
    }

    #[test]
    fn two_clients_are_the_same_states_to_all() {
        let theirs = counts(by_stateright(2, 1));
        assert_eq!(theirs, (16_668, 32_971));
        for strategy in [breadth_first(1), breadth_first(2), depth_first(1), depth_first(2)] {
            assert_eq!(counts(by_adapter(2, strategy)), theirs, "{strategy:?}");
            assert_eq!(counts(by_seedbed(2, strategy)), theirs, "{strategy:?}");
        }
    }

    #[test]
    #[ignore = "takes seconds: run by name"]
    fn three_clients_are_the_same_states_to_all() {
        for strategy in [breadth_first(1), breadth_first(2), depth_first(2)] {
            assert_eq!(counts(by_adapter(3, strategy)), (1_194_428, 2_420_477), "{strategy:?}");
            assert_eq!(counts(by_seedbed(3, strategy)), (1_194_428, 2_420_477), "{strategy:?}");
        }
    }
}
