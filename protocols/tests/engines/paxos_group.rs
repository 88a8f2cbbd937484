//! The Managers' Paxos group with a crash, at a bound that `check` has no time for, and parameters that it refuses.

use seedbed_model::explore::{Bounds, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Ratio, Span};
use seedbed_protocols::paxos::group::{ManagerGroup, Params};

/// Two servers that bid once, three acceptors; one crash of any of them, with or without what it was writing.
#[test]
#[ignore = "5.2 million states: .ci/run --full, in its step sweeps"]
fn an_election_with_a_crash() {
    let params = Params {
        servers: 2,
        acceptors: 3,
        leader_lease: Span::ticks(1),
        leader_margin: Span::ticks(1),
        manager_longest: Ratio::ONE,
        ballots: 2,
        bids: 1,
        ..Params::default()
    };
    let bounds = Bounds { capacity: Some(1), delay: Some(0), crashes: 1, ..Bounds::default() };
    let group = ManagerGroup::build(&params, Mutants::none()).expect("the parameters make sense");
    let found = explore(&group, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    assert_eq!(found.verdict, Verdict::Holds, "{:#?}", found.script);
    assert!(found.stats.exhausted && !found.stats.cut, "{:?}", found.stats);
    assert!(["failover", "read-back", "released"].iter().all(|goal| found.reached.contains(goal)));
}

#[test]
fn parameters_that_break_the_argument_are_refused() {
    let refusal = |params: Params| ManagerGroup::build(&params, Mutants::none()).map(drop).unwrap_err();
    let whole = Params::default;
    assert_eq!(refusal(Params { acceptors: 0, ..whole() }), "servers 4 and acceptors 0 must be 1 to 16");
    assert_eq!(
        refusal(Params { leader_margin: Span::secs(10), ..whole() }),
        "leader-margin 10s is too short: a leader lease of 10s may take 10833333334ns on the slowest clock"
    );
    assert_eq!(
        refusal(Params { leader_renew: Span::secs(10), ..whole() }),
        "leader-renew 10s must be positive and shorter than leader-lease 10s"
    );
}
