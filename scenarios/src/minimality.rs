//! Shrunk runs are 1-minimal: without any one of their steps the fall goes away.

use seedbed_model::Outcome;
use seedbed_sim::Seed;

use crate::console::Console;
use crate::face::{Face, Setup};
use crate::file::Class;
use crate::library::{Library, Scenario};
use crate::shipped::shipped;
use crate::shrinking::{Found, Shrinking};
use crate::stopwatch::Deadline;

/// Seeds that are looked at for a fall.
const SEED_COUNT: u64 = 60;

fn shrink(face: &dyn Face, scenario: &Scenario, mutant: &str, seed: u64) -> Found {
    let mut out = Vec::new();
    let meter = Console { out: &mut out, draws: false }.meter("shrink", None);
    let shrinking = Shrinking {
        face,
        setup: Setup { mutants: vec![mutant.to_owned()], ..scenario.setup.clone() },
        settings: scenario.settings.clone(),
        seed: Seed::Number(seed),
        property: None,
        tries: 20_000,
        deadline: Deadline::after(None),
        meter: &meter,
    };
    shrinking.run().unwrap_or_else(|why| panic!("{}, {mutant}, seed {seed}: {why}", scenario.name))
}

/// Shrinks the first falls of each mutant, `scenario_count` scenarios of it and `fall_count` seeds of each. What came of each, in words.
fn shrink_mutants(scenario_count: usize, fall_count: usize) -> Vec<String> {
    let registry = shipped();
    let library = Library::new(&registry, None).unwrap();
    let mut shrunk = Vec::new();
    for entry in &registry.entries {
        let face = entry.face.as_ref();
        let quick = library.scenarios(entry).unwrap().into_iter().filter(|scenario| scenario.class == Class::Quick);
        let quick: Vec<Scenario> = quick.collect();
        for mutant in face.mutants().iter().filter(|mutant| matches!(mutant.outcome, Outcome::Falls(_))) {
            let falls = |scenario: &Scenario, seed: u64| {
                let setup = Setup { mutants: vec![mutant.name.to_owned()], ..scenario.setup.clone() };
                let run = face.simulate(&setup, &scenario.settings, Seed::Number(seed)).unwrap();
                !run.violations.is_empty()
            };
            let falling = quick.iter().map(|scenario| {
                let seeds = (0..SEED_COUNT).filter(|seed| falls(scenario, *seed)).take(fall_count);
                (scenario, seeds.collect::<Vec<u64>>())
            });
            for (scenario, seeds) in falling.filter(|(_, seeds)| !seeds.is_empty()).take(scenario_count) {
                for seed in seeds {
                    let found = shrink(face, scenario, mutant.name, seed);
                    let what = format!("{} without {}, seed {seed}", scenario.name, mutant.name);
                    assert!(found.shrunken.is_minimal, "{what}: the budget ran out");
                    assert_eq!(found.shrunken.needless, Vec::<usize>::new(), "{what}: {:#?}", found.shrunken.script);
                    assert!(found.shrunken.after <= found.shrunken.before, "{what}");
                    assert_eq!(found.shrunken.replayed.drift, None, "{what}: it replays strictly");
                    let (before, after) = (found.before, found.shrunken.after);
                    shrunk.push(format!("{what}: {before:?} -> {after:?} in {} tries", found.tries));
                }
            }
        }
    }
    shrunk
}

#[test]
fn a_fall_of_each_mutant_shrinks_to_a_minimal_run() {
    let shrunk = shrink_mutants(1, 1);
    assert!(shrunk.len() >= 15, "these mutants fall in the simulator: {shrunk:#?}");
}

/// In the full run of `.ci/run`.
#[test]
#[ignore = "shrinks some hundred runs: minutes: .ci/run --full, in its step sweeps"]
fn falls_of_each_mutant_in_every_scenario_shrink_to_minimal_runs() {
    let shrunk = shrink_mutants(usize::MAX, 3);
    assert!(shrunk.len() > 50, "{shrunk:#?}");
}
