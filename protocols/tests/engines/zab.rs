//! Zab at the bounds of its published specification that `check` has no time for, and at those beyond it.

use seedbed_model::explore::{Bounds, Clock, Exploration, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, replay};
use seedbed_protocols::zab::Zab;
use seedbed_protocols::zab::params::{Disk, Election, Params};

/// (3, transactions, timeouts, crashes) of the published specification, the election an oracle.
fn params(transactions: u32, timeouts: u32, crashes: u32) -> Params {
    let disk = if crashes == 0 { Disk::None } else { Disk::Streams };
    Params { servers: 3, election: Election::Oracle, disk, transactions, timeouts, elections: 2, ..Params::default() }
}

fn bounds(crashes: u32) -> Bounds {
    Bounds { clock: Clock::Untimed, keep_ignored: true, crashes, ..Bounds::default() }
}

fn explored(params: &Params, mutants: &[&str], bounds: &Bounds) -> Exploration<Zab> {
    let mutants = Mutants::named(Zab::mutants(), mutants.iter().copied()).expect("they are known");
    let zab = Zab::build(params, mutants).expect("the parameters make sense");
    explore(&zab, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
}

fn bound(transactions: u32, timeouts: u32, crashes: u32) -> Exploration<Zab> {
    explored(&params(transactions, timeouts, crashes), &[], &bounds(crashes))
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

/// A crash with the unsynced tails of all three streams lost: each delivery writes a snapshot, and nobody keeps what it has delivered.
#[test]
#[ignore = "more states than CI has time for: .ci/run --full, in its step sweeps"]
fn lost_tails_of_log_epochs_and_snapshots() {
    let params = Params { window: 0, snapshot_every: 1, ..params(1, 0, 1) };
    let found = explored(&params, &[], &bounds(1));
    assert_exhausted(&found, &["crashed", "recovered", "re-established", "inherited", "snapshot"]);
}

/// What makes the space smaller hides no fall: each of the reductions off, the mutant falls at the same depth, and Zab holds.
#[test]
fn a_mutant_falls_under_each_reduction_as_without_it() {
    let params = Params { servers: 2, ..params(1, 0, 1) };
    let reduced = bounds(1);
    let others = [
        Bounds { symmetry: false, ..reduced.clone() },
        Bounds { drop_dead: false, ..reduced.clone() },
        Bounds { symmetry: false, drop_dead: false, ..reduced.clone() },
    ];
    let depth = |bounds: &Bounds| {
        let found = explored(&params, &["no-synchronization"], bounds);
        assert!(matches!(&found.verdict, Verdict::Violated(fell) if fell.property == "total-order"), "{bounds:?}");
        found.script.map(|script| script.steps.len())
    };
    let least = depth(&reduced);
    for bounds in &others {
        assert_eq!(depth(bounds), least, "{bounds:?}");
        assert_exhausted(&explored(&params, &[], bounds), &["crashed", "recovered", "re-established"]);
    }
}

/// Without crashes a disk that takes no time hides no fall: what falls with it falls with streams.
#[test]
fn a_mutant_falls_on_a_disk_that_takes_no_time_as_on_streams() {
    for disk in [Disk::None, Disk::Streams] {
        let params = Params { disk, ..params(1, 1, 0) };
        let found = explored(&params, &["commit-before-quorum"], &bounds(0));
        assert!(matches!(found.verdict, Verdict::Violated(_)), "{disk:?}");
    }
}

/// What the oracle does as one action hides no fall, nor does a restart in one action: what falls with either falls with neither.
#[test]
fn a_mutant_falls_where_the_oracle_acts_at_once_as_where_it_is_heard_later() {
    let falls = |params: &Params, crashes: u32| {
        let found = explored(params, &["log-delivered-at-restart"], &bounds(crashes));
        matches!(&found.verdict, Verdict::Violated(fell) if fell.property == "committed-survives")
    };
    let restarts = Params { restarts: 1, ..params(1, 0, 0) };
    assert!(falls(&Params { at_once: true, ..restarts.clone() }, 0), "at once");
    assert!(falls(&restarts, 0), "heard later");
    assert!(falls(&params(1, 0, 1), 1), "a crash, and streams");
    assert_exhausted(&explored(&restarts, &[], &bounds(0)), &["restarted", "re-established", "inherited"]);
}

/// Servers are interchangeable: one that restarts knows no other's name. Where it did, the way to this fall, with a crash in it,
/// was one of renamed states alone, and could not be walked.
#[test]
fn a_way_with_a_crash_can_be_walked_again() {
    let params = Params { servers: 2, ..params(1, 0, 1) };
    let found = explored(&params, &["no-synchronization"], &bounds(1));
    let mutants = Mutants::named(Zab::mutants(), ["no-synchronization"]).expect("it is one");
    let zab = Zab::build(&params, mutants).expect("the parameters make sense");
    let replayed = replay(&zab, found.script.as_ref().expect("it falls"));
    assert_eq!(replayed.drift, None);
    assert_eq!(replayed.violations.first().map(|violation| violation.property.as_str()), Some("total-order"));
}
