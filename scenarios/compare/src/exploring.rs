//! Exhaustive search: stateright's breadth-first checker on one thread beside Seedbed's explorer.
//!
//! The two search different models of the same algorithm, so the figure compared is states per second of the search,
//! not the time to a verdict. Stateright: [`crate::paxos_actors`], whose acceptors forget nothing and whose history is
//! checked for linearizability. Seedbed: the shipped Paxos with as many servers and clients, whose acceptors write to
//! disks, without retries or time; a server may crash once, or else three clients would be only 385,674 states. A search that is not finished would flatter whoever is slow at the end:
//! stateright's is run to its end, Seedbed's to its end or to [`STATES_MAX`].

use seedbed_model::explore::{Bounds, Clock, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants};
use seedbed_protocols::basics::paxos::{Params, Paxos};
use stateright::{Checker, Model};

/// Seedbed's search stops here: about as many states as stateright has to see with three clients.
pub const STATES_MAX: u64 = 1_200_000;

/// How much a search saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Different states.
    pub unique: u64,
    /// Transitions.
    pub total: u64,
}

/// One search by stateright: three servers, `clients` clients, one thread, to the end.
///
/// # Panics
/// If a property falls: the search would have stopped early.
pub fn by_stateright(clients: usize) -> Seen {
    let checker = crate::paxos_actors::model(clients).checker().threads(1).spawn_bfs().join();
    checker.assert_properties();
    Seen { unique: checker.unique_state_count() as u64, total: checker.state_count() as u64 }
}

/// One search by Seedbed: three servers, `clients` clients, one thread.
///
/// # Panics
/// If a property falls.
pub fn by_seedbed(clients: u16) -> Seen {
    let params = Params { servers: 3, clients, rounds: 1, ..Params::default() };
    let protocol = Paxos::build(&params, Mutants::none()).expect("the parameters make sense");
    let bounds = Bounds { clock: Clock::Untimed, crashes: 1, states: STATES_MAX, ..Bounds::default() };
    let found = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit the protocol");
    assert!(!matches!(found.verdict, Verdict::Violated(_)), "{:?}", found.verdict);
    Seen { unique: found.stats.unique, total: found.stats.total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_clients_are_searched_to_the_end() {
        assert_eq!(by_stateright(2).unique, 16_668);
        let seen = by_seedbed(2);
        assert!(seen.unique > 16_668 && seen.unique < STATES_MAX, "{seen:?}");
    }

    #[test]
    #[ignore = "takes seconds: run by name"]
    fn three_clients_are_over_a_million_states() {
        let seen = by_seedbed(3);
        assert!(seen.unique >= 1_000_000, "{seen:?}");
    }
}
