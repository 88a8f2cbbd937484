//! Runs as exact scripts, and what is left of those that fall.

use crate::common::{Probe, everything, hostile, steady};
use seedbed_model::{Choice, ExactScript, ExactStep, Move, NodeClock, Protocol, Span, replay_exact};
use seedbed_sim::shrink::{Budget, Shrunk, needless, shrink};
use seedbed_sim::{Run, Seed, Settings, record, signature};

fn recorded(probe: &Probe, settings: &Settings, seed: u64) -> (Run, ExactScript<Probe>) {
    record(probe, settings, Seed::Number(seed)).unwrap()
}

fn shrunk(probe: &Probe, script: &ExactScript<Probe>, tries: u64) -> Shrunk<Probe> {
    shrink(probe, script, Budget { tries, watch: &mut |_| true }).unwrap()
}

/// The first seed whose run falls, as a script.
fn falling(probe: &Probe, settings: &Settings, property: &str) -> (u64, ExactScript<Probe>) {
    let falls = |seed: &u64| {
        let (run, _) = recorded(probe, settings, *seed);
        run.violations.first().is_some_and(|found| found.violation.property == property)
    };
    let seed = (0..50).find(falls).expect("some seed falls");
    (seed, recorded(probe, settings, seed).1)
}

#[test]
fn runs_with_every_kind_of_fault_replay_to_the_same_end() {
    for (seed, tick_mode) in (0..20).map(|seed| (seed, seed % 4 == 3)) {
        let probe = Probe { violate_at: Some(8), ..Probe::default() };
        let (run, script) = recorded(&probe, &Settings { tick_mode, ..everything() }, seed);
        let replayed = replay_exact(&probe, &script).replayed;
        let fell: Vec<_> = run.violations.into_iter().map(|found| found.violation).collect();
        assert_eq!((replayed.drift, replayed.violations), (None, fell), "seed {seed}");
    }
}

#[test]
fn time_that_passes_in_two_goes_is_time_that_passes() {
    let probe = Probe::default();
    for seed in 0..5 {
        let (_, script) = recorded(&probe, &hostile(), seed);
        let halves = |step: &ExactStep<Probe>| match step.choice() {
            Some(Choice::Elapse(span)) if span.0 > 1 => {
                let first = Span(span.0 / 3 + 1);
                [first, Span(span.0 - first.0)].map(|span| ExactStep::of(Choice::Elapse(span))).to_vec()
            }
            _ => vec![step.clone()],
        };
        let split = ExactScript { steps: script.steps.iter().flat_map(halves).collect(), ..script.clone() };
        let does = |script| replay_exact(&probe, script).does.concat();
        assert_eq!(does(&split), does(&script), "seed {seed}");
    }
}

#[test]
fn a_fall_shrinks_to_a_minimal_run_that_falls_alike() {
    let probe = Probe { violate_at: Some(5), ..Probe::default() };
    let (seed, script) = falling(&probe, &everything(), "bounded");
    let shrunk = shrunk(&probe, &script, 20_000);
    assert!(shrunk.is_minimal);
    assert_eq!(needless(&probe, &shrunk).unwrap().iter().filter(|stays| **stays).count(), 0, "{:#?}", shrunk.script);
    // Five beats of one node, told to another.
    assert_eq!((shrunk.after.nodes, shrunk.after.faults), (2, 0), "{:#?}", shrunk.script);
    assert!(shrunk.after.steps <= 13, "{:#?}", shrunk.script);
    let first = signature(&probe, &everything(), Seed::Number(seed), "bounded").unwrap();
    assert!(first.is_like(&shrunk.signature), "{first} and {}", shrunk.signature);
    let replayed = replay_exact(&probe, &shrunk.script).replayed;
    assert_eq!((replayed.drift, replayed.violations.len()), (None, 1));
}

#[test]
fn a_panic_shrinks_too() {
    let probe = Probe { panic_at: Some(3), ..Probe::default() };
    let (_, script) = falling(&probe, &hostile(), "panic");
    let shrunk = shrunk(&probe, &script, 20_000);
    assert_eq!((shrunk.is_minimal, shrunk.signature.property.as_str()), (true, "panic"));
    assert!(shrunk.after.steps <= 9, "{:#?}", shrunk.script);
}

/// Who hears nothing in time after the healing hears nothing because beats are seldom, not because a timer was withheld.
#[test]
fn a_fall_of_progress_keeps_what_the_world_promised() {
    let probe = Probe { patience: Span::secs(2), ..Probe::default() };
    let (_, script) = falling(&probe, &steady(Span::millis(10)), "heard");
    let shrunk = shrunk(&probe, &script, 20_000);
    assert!(shrunk.is_minimal);
    assert!(shrunk.script.steps.iter().any(|step| step.what == Move::Healed));
    assert_eq!(shrunk.limits.lateness, Span::ZERO);
    assert_eq!(shrunk.after.nodes, probe.nodes().len(), "nor because nobody was there: {:#?}", shrunk.script);
    let waits = shrunk.script.steps.iter().rev().find_map(|step| match step.choice() {
        Some(Choice::Elapse(span)) => Some(*span),
        _ => None,
    });
    assert_eq!(waits, Some(Span::secs(2)), "no longer than until the deadline: {:#?}", shrunk.script);
}

#[test]
fn a_budget_ends_a_search_and_what_was_found_stands() {
    let probe = Probe { violate_at: Some(5), ..Probe::default() };
    let (_, script) = falling(&probe, &hostile(), "bounded");
    let some = shrunk(&probe, &script, 3);
    assert_eq!((some.is_minimal, some.tries), (false, 3));
    assert_eq!(replay_exact(&probe, &some.script).replayed.violations.len(), 1);
    let mut asked = 0;
    let mut watch = |_| {
        asked += 1;
        asked < 5
    };
    let stopped = shrink(&probe, &script, Budget { tries: 20_000, watch: &mut watch }).unwrap();
    assert_eq!((stopped.is_minimal, stopped.tries), (false, 4));
}

#[test]
fn odd_clocks_become_exact_where_the_fall_does_not_need_them() {
    let probe = Probe { violate_at: Some(2), ..Probe::default() };
    let (_, script) = falling(&probe, &hostile(), "bounded");
    assert!(script.clocks.iter().any(|clock| *clock != NodeClock::EXACT));
    assert_eq!(shrunk(&probe, &script, 20_000).script.clocks, []);
}

/// Of a run this long tries begin where they differ from it; what is left out is left out all the same.
#[test]
fn a_long_fall_shrinks_to_a_minimal_run_too() {
    let probe = Probe { violate_at: Some(40), nodes: 2, ..Probe::default() };
    let settings = Settings { duration: Span::secs(300), ..everything() };
    let (_, script) = falling(&probe, &settings, "bounded");
    let shrunk = shrunk(&probe, &script, 50_000);
    assert!(shrunk.is_minimal && shrunk.after.steps > 80, "{:?} in {} tries", shrunk.after, shrunk.tries);
    assert_eq!(needless(&probe, &shrunk).unwrap().iter().filter(|stays| **stays).count(), 0, "{:#?}", shrunk.script);
    assert_eq!(replay_exact(&probe, &shrunk.script).replayed.drift, None);
}
