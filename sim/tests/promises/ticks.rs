//! Runs in tick mode are scripts that replay.

use crate::common::{Probe, everything, explorable, hostile};
use seedbed_model::explore::{Bounds, accepts};
use seedbed_model::{Ratio, Span, replay};
use seedbed_sim::{End, Recorder, Seed, Settings, plan, simulate, uncertifiable};

fn ticking() -> Settings {
    Settings { tick_mode: true, ..hostile() }
}

#[test]
fn runs_in_tick_mode_replay_step_by_step() {
    let probe = Probe::default();
    let mut faults = 0;
    let settings = Settings { tick_mode: true, ..everything() };
    for seed in 0..200 {
        let mut recorder = Recorder::new(&probe).with_script();
        let run = simulate(&probe, &settings, Seed::Number(seed), Some(&mut recorder));
        assert_eq!(run.end, End::Quiet, "seed {seed}: {:?}", run.violations);
        let trace: Vec<_> = recorder.trace().filter(|step| step.step > 0).cloned().collect();
        let replayed = replay(&probe, &recorder.into_script().expect("it was asked for"));
        assert_eq!(replayed.drift, None, "seed {seed}");
        assert_eq!(replayed.trace, trace, "seed {seed}");
        faults += trace
            .iter()
            .filter(|step| matches!(step.kind.as_str(), "crash" | "pause" | "cut" | "lose" | "duplicate"))
            .count();
    }
    assert!(faults > 1_000, "{faults} faults in 200 runs");
}

#[test]
fn a_script_of_a_violation_violates_again() {
    let probe = Probe { violate_at: Some(5), ..Probe::default() };
    let mut recorder = Recorder::new(&probe).with_script();
    let run = simulate(&probe, &ticking(), Seed::Number(3), Some(&mut recorder));
    assert_eq!(run.end, End::Violated);
    let replayed = replay(&probe, &recorder.into_script().expect("it was asked for"));
    assert_eq!((replayed.violations, replayed.drift), (vec![run.violations[0].violation.clone()], None));
}

#[test]
fn a_tick_too_coarse_for_the_protocol_is_said() {
    let probe = Probe { drift: Ratio::ZERO, ..Probe::default() };
    assert_eq!(simulate(&probe, &ticking(), Seed::Number(1), None).end, End::Quiet);
    let settings = Settings { duration: Span::millis(1500), quiet: Span::ZERO, ..ticking() };
    assert_eq!(simulate(&probe, &settings, Seed::Number(1), None).now_ns, Span::secs(2).0, "phases take whole ticks");
}

/// Without faults of its own choice the explorer has every path that a tick-mode run takes.
#[test]
fn the_explorer_accepts_runs_in_tick_mode() {
    let probe = Probe { nodes: 2, ..Probe::default() };
    let bounds =
        Bounds { losses: 99, duplicates: 99, crashes: 99, pauses: 99, cuts: 99, symmetry: false, ..Bounds::default() };
    let settings = Settings { tick_mode: true, duration: Span::secs(20), quiet: Span::secs(5), ..explorable() };
    for seed in 0..40 {
        assert_eq!(uncertifiable(&settings, &plan(&probe, &settings, Seed::Number(seed))), [""; 0]);
        let mut recorder = Recorder::new(&probe).with_script();
        simulate(&probe, &settings, Seed::Number(seed), Some(&mut recorder));
        let script = recorder.into_script().expect("it was asked for");
        let refused = accepts(&probe, &bounds, &script).err();
        let step = refused.as_ref().and_then(|(index, _)| script.steps.get(*index));
        assert_eq!(refused, None, "seed {seed}: {step:?}");
    }
}
