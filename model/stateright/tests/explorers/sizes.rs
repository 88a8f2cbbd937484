//! Agreement with stateright where spaces are exhausted: protocols written against its traits, searched by its checkers
//! and by our explorer. The largest are run by name.

use seedbed_stateright::{explore_actors, explore_model};
use seedbed_stateright_models::two_phase::TwoPhaseCommit;
use seedbed_stateright_models::{LINEARIZABLE, abd, paxos, single_copy, unordered};
use stateright::actor::Network;

use crate::common::{Counts, Said, agree, quiet};

fn holds(unique: u64, total: u64, depth: u64) -> Said {
    Said::Holds(Counts { unique, total, depth: Some(depth) })
}

/// Stateright's documentation gives the first number for its own model of the same protocol.
#[test]
fn paxos_with_two_clients() {
    let said = agree("paxos", paxos::model(2, unordered()), quiet(explore_actors));
    assert_eq!(said, holds(16_668, 32_971, 21));
}

#[test]
#[ignore = "a minute each, and much memory for stateright: .ci/run --full, in its step peers"]
fn paxos_with_three_clients() {
    let said = agree("paxos", paxos::model(3, unordered()), quiet(explore_actors));
    assert_eq!(said, holds(1_194_428, 2_420_477, 28));
}

/// Stateright's documentation gives the first number for its own model of the same protocol.
#[test]
fn the_abd_register_with_two_servers() {
    let said = agree("2 clients", abd::model(2, 2, unordered()), quiet(explore_actors));
    assert_eq!(said, holds(544, 875, 25));
    let said = agree("3 clients", abd::model(2, 3, unordered()), quiet(explore_actors));
    assert_eq!(said, holds(35_009, 68_115, 37));
}

#[test]
fn the_abd_register_with_three_servers_and_a_client() {
    let said = agree("1 client", abd::model(3, 1, unordered()), quiet(explore_actors));
    assert_eq!(said, holds(1_449, 3_728, 17));
}

#[test]
#[ignore = "a minute each, and much memory for stateright: .ci/run --full, in its step peers"]
fn the_abd_register_with_three_servers_and_two_clients_in_order() {
    let said = agree("2 clients, in order", abd::model(3, 2, Network::new_ordered([])), quiet(explore_actors));
    assert_eq!(said, holds(1_212_979, 4_730_934, 41));
}

/// Stateright's documentation gives 93 for its own model of the same protocol.
#[test]
fn one_copy_of_a_register_is_linearizable_and_two_are_not() {
    let one = |clients| agree("one copy", single_copy::model(1, clients, unordered()), quiet(explore_actors));
    assert_eq!(one(1), holds(5, 5, 5));
    assert_eq!(one(2), holds(93, 121, 9));
    assert_eq!(one(3), holds(4_243, 6_778, 13));
    for clients in 1..=3 {
        let two = agree("two copies", single_copy::model(2, clients, unordered()), quiet(explore_actors));
        assert_eq!(two, Said::Falls(LINEARIZABLE, 4));
    }
}

fn two_phase_commit(managers: usize) -> TwoPhaseCommit {
    TwoPhaseCommit { managers, waits_for_all: true }
}

#[test]
fn two_phase_commit_of_three_to_five() {
    for (managers, counts) in [(3, holds(288, 1_146, 11)), (4, holds(1_568, 8_258, 14)), (5, holds(8_832, 58_146, 17))]
    {
        let said = agree("two-phase commit", two_phase_commit(managers), quiet(explore_model));
        assert_eq!(said, counts);
    }
}

#[test]
#[ignore = "a minute each, and much memory for stateright: .ci/run --full, in its step peers"]
fn two_phase_commit_of_eight() {
    let said = agree("two-phase commit", two_phase_commit(8), quiet(explore_model));
    assert_eq!(said, holds(1_745_408, 18_507_778, 26));
}
