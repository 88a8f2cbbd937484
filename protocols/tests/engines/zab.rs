//! Zab at the bounds of its published specification that `check` has no time for, and at those beyond it.

use seedbed_model::explore::{Bounds, Clock, Exploration, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, replay};
use seedbed_protocols::zab::Zab;
use seedbed_protocols::zab::params::{Disk, Election, Params};

/// (3, transactions, timeouts, crashes) of the published specification, the election an oracle.
fn bound(transactions: u32, timeouts: u32, crashes: u32) -> Exploration<Zab> {
    let disk = if crashes == 0 { Disk::None } else { Disk::Streams };
    let params = Params {
        servers: 3,
        election: Election::Oracle,
        disk,
        transactions,
        timeouts,
        elections: 2,
        ..Params::default()
    };
    let bounds = Bounds { clock: Clock::Untimed, keep_ignored: true, crashes, ..Bounds::default() };
    let zab = Zab::build(&params, Mutants::none()).expect("the parameters make sense");
    explore(&zab, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
}

fn assert_exhausted(found: &Exploration<Zab>, goals: &[&str]) {
    assert_eq!(found.verdict, Verdict::Holds, "{:#?}", found.script);
    assert!(found.stats.exhausted && !found.stats.cut, "{:?}", found.stats);
    let missed: Vec<&&str> = goals.iter().filter(|goal| !found.reached.contains(goal)).collect();
    assert!(missed.is_empty(), "{missed:?} of {:?}", found.reached);
}

/// A crash with what was being written lost from each stream in turn.
#[test]
#[ignore = "more states than CI has time for: .ci/run --full, in its step sweeps"]
fn two_transactions_and_a_crash() {
    assert_exhausted(&bound(2, 0, 1), &["crashed", "recovered", "re-established", "inherited", "quorum-lost"]);
}

/// Two broken connections.
#[test]
#[ignore = "more states than CI has time for: .ci/run --full, in its step sweeps"]
fn two_transactions_and_two_timeouts() {
    assert_exhausted(&bound(2, 2, 0), &["timed-out", "re-established", "inherited", "quorum-lost"]);
}

/// Servers are interchangeable: one that restarts knows no other's name. Where it did, the way to this fall, with a crash in it,
/// was one of renamed states alone, and could not be walked.
#[test]
fn a_way_with_a_crash_can_be_walked_again() {
    let params = Params { servers: 2, election: Election::Oracle, transactions: 1, elections: 2, ..Params::default() };
    let mutants = Mutants::named(Zab::mutants(), ["no-synchronization"]).expect("it is one");
    let zab = Zab::build(&params, mutants).expect("the parameters make sense");
    let bounds = Bounds { clock: Clock::Untimed, keep_ignored: true, crashes: 1, ..Bounds::default() };
    let found = explore(&zab, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let replayed = replay(&zab, found.script.as_ref().expect("it falls"));
    assert_eq!(replayed.drift, None);
    assert_eq!(replayed.violations.first().map(|violation| violation.property.as_str()), Some("total-order"));
}
