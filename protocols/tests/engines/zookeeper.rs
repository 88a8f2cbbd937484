//! ZooKeeper at bounds that `check` has no time for.

use seedbed_model::explore::{Bounds, Clock, Exploration, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Span};
use seedbed_protocols::zookeeper::{Params, Workload, ZooKeeper};

fn explored(params: &Params, mutants: &[&str], bounds: &Bounds) -> Exploration<ZooKeeper> {
    let mutants = Mutants::named(ZooKeeper::mutants(), mutants.iter().copied()).expect("they are known");
    let zookeeper = ZooKeeper::build(params, mutants).expect("the parameters make sense");
    explore(&zookeeper, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
}

fn untimed(crashes: u32) -> Bounds {
    Bounds { clock: Clock::Untimed, keep_ignored: true, crashes, ..Bounds::default() }
}

/// The steps to the fall of this property, which falls.
fn depth(found: &Exploration<ZooKeeper>, property: &str) -> Option<usize> {
    assert!(matches!(&found.verdict, Verdict::Violated(fell) if fell.property == property), "{:?}", found.verdict);
    found.script.as_ref().map(|script| script.steps.len())
}

/// What makes the space smaller hides no fall: with each of the reductions off the mutant falls at the same depth.
#[test]
fn a_mutant_falls_under_each_reduction_as_without_it() {
    let params =
        Params { workload: Workload::Turns, servers: 2, clients: 1, operations: 3, moves: 1, ..Params::default() };
    let reduced = untimed(0);
    let least = depth(&explored(&params, &["watches-stay"], &reduced), "watch-before-state");
    let others = [
        Bounds { symmetry: false, ..reduced.clone() },
        Bounds { drop_dead: false, ..reduced.clone() },
        Bounds { symmetry: false, drop_dead: false, ..reduced },
    ];
    for bounds in &others {
        assert_eq!(depth(&explored(&params, &["watches-stay"], bounds), "watch-before-state"), least, "{bounds:?}");
    }
}

/// Numbers of packets that begin anew, without which a client that tries for ever has no end, hide no fall.
#[test]
fn a_mutant_falls_where_numbers_begin_anew_as_where_they_go_on() {
    let params = Params {
        workload: Workload::Register,
        servers: 1,
        clients: 1,
        operations: 0,
        session: Span::ticks(6),
        alive: Span::ticks(1),
        patience: Span::ticks(3),
        orphaned: Span::ticks(7),
        ..Params::default()
    };
    let bounds = Bounds { delay: Some(0), crashes: 1, restart: false, ..Bounds::default() };
    let depth = |numbers: u32| {
        let params = Params { numbers, ..params.clone() };
        depth(&explored(&params, &["connected-is-heard"], &bounds), "orphan-in-time")
    };
    assert_eq!(depth(4), depth(0));
}
