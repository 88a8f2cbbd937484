//! What holds of every shipped protocol, as of a user's own: see `seedbed::testing`.

use std::sync::Mutex;

use seedbed::testing::Sample;
use seedbed::{shipped, testing};

/// What no mutant is declared to break, and why.
const EXEMPT: [&str; 4] = [
    // `no-retry` breaks the three promises of progress at once; it is declared by the one that the explorer meets first.
    "echo: all-answered",
    "echo: answered-after-healing",
    // Whether a grantor that asks and answers without end can be stuck: no mechanism of theirs is there to prevent it.
    "lease-timers: obtainable",
    "lease-stamps: usable",
];

#[test]
fn every_property_is_declared_to_fall_somewhere() {
    let registry = shipped();
    let never = registry.names().into_iter().flat_map(|protocol| {
        testing::never_falls(&registry, protocol).into_iter().map(move |property| format!("{protocol}: {property}"))
    });
    let mut never: Vec<String> = never.collect();
    never.sort();
    let mut exempt = EXEMPT.to_vec();
    exempt.sort_unstable();
    assert_eq!(never, exempt, "these are never declared to fall, and those are exempt");
}

#[test]
fn runs_of_shipped_scenarios_replay_exactly() {
    let registry = shipped();
    let fell: usize = registry.names().into_iter().map(|protocol| testing::replay_exactly(&registry, protocol)).sum();
    assert!(fell > 20, "{fell} of the sample fall");
}

/// Of every protocol, on two threads: each takes the next.
#[expect(clippy::print_stderr, reason = "it takes minutes, and whoever has the output shown sees how far it is")]
fn shrunk(sample: Sample) -> Vec<String> {
    let registry = shipped();
    let names = Mutex::new(registry.names().into_iter());
    let shrink = || {
        let next = || names.lock().unwrap().next();
        let mut shrunk = Vec::new();
        for protocol in std::iter::from_fn(next) {
            testing::shrink_minimally(&registry, protocol, sample, &mut |what| {
                eprintln!("{what}");
                shrunk.push(what);
            });
        }
        shrunk
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(shrink);
        let mut shrunk: Vec<String> = shrink();
        shrunk.extend(other.join().expect("the other thread's protocols shrink, too"));
        let large: Vec<&String> = shrunk.iter().filter(|what| what.contains(testing::NOT_MINIMAL)).collect();
        assert!(large.is_empty(), "{large:#?}");
        shrunk
    })
}

#[test]
fn a_fall_of_each_property_shrinks_to_a_minimal_run() {
    let shrunk = shrunk(Sample { mutants: 1, scenarios: 1, falls: 1, seeds: 12, steps: 60, explores: false });
    assert!(shrunk.len() >= 15, "these properties fall in the simulator: {shrunk:#?}");
}

#[test]
#[ignore = "shrinks a run of each mutant: minutes: .ci/run --full, in its step sweeps"]
fn a_fall_of_each_mutant_shrinks_to_a_minimal_run() {
    let shrunk =
        shrunk(Sample { mutants: usize::MAX, scenarios: 1, falls: 1, seeds: 60, steps: 10_000, explores: true });
    assert!(shrunk.len() > 50, "{shrunk:#?}");
}

#[test]
#[ignore = "shrinks some hundred short runs: minutes: .ci/run --full, in its step sweeps"]
fn falls_of_each_mutant_in_every_scenario_shrink_to_minimal_runs() {
    let shrunk =
        shrunk(Sample { mutants: usize::MAX, scenarios: usize::MAX, falls: 3, seeds: 60, steps: 500, explores: false });
    assert!(shrunk.len() > 50, "{shrunk:#?}");
}
