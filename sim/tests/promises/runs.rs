//! Runs end as they say, twice the same, on any number of threads, watched or not.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::{Probe, assert_quiet, hostile, settings, traced};
use seedbed_model::{Canonical, Context, Input, Never, NodeId, Nonce, Protocol, Span};
use seedbed_sim::{End, Recorder, Run, Seed, Settings, check_determinism, simulate, sweep};

#[test]
fn a_run_ends_after_both_phases_and_reports_its_marks() {
    let (run, steps) = traced(&Probe::default(), &settings(), 1);
    assert_quiet(&run);
    assert_eq!(run.now_ns, Span::secs(90).0);
    assert_eq!(run.steps, steps.last().expect("steps").number);
    assert!(run.reached["pong"] > 100 && run.reached["echo"] > 20);
    assert_eq!(run.messages, steps.iter().filter_map(crate::common::Step::arrival).count() as u64);
}

#[test]
fn a_run_stops_at_the_first_violation() {
    let (run, steps) = traced(&Probe { violate_at: Some(3), ..Probe::default() }, &settings(), 1);
    assert_eq!(run.end, End::Violated);
    let [found] = run.violations.as_slice() else { panic!("one violation, not {:?}", run.violations) };
    assert_eq!((found.violation.property.as_str(), found.step, found.at_ns), ("bounded", run.steps, run.now_ns));
    assert_eq!(steps.last().map(|step| step.number), Some(run.steps));
}

#[test]
fn a_deadline_that_passes_is_a_violation_and_one_met_is_not() {
    let strict = Probe { patience: Span(1), ..Probe::default() };
    let (run, _) = traced(&strict, &settings(), 1);
    assert_eq!((run.end, run.violations[0].violation.property.as_str()), (End::Violated, "heard"));
    assert_eq!(run.now_ns, Span::secs(60).0 + 1);
    assert_quiet(&traced(&Probe { patience: Span::secs(6), ..Probe::default() }, &settings(), 1).0);
}

#[test]
fn a_panic_of_the_protocol_is_a_finding() {
    let (run, steps) = traced(&Probe { panic_at: Some(2), ..Probe::default() }, &settings(), 1);
    assert_eq!(run.end, End::Panicked);
    assert_eq!(run.violations[0].violation.property, "panic");
    assert!(run.violations[0].violation.detail.starts_with("ping 2 is one too many"));
    assert_eq!(steps.last().map(|step| step.number), Some(run.steps), "the trace ends with the step that panicked");
}

#[test]
fn the_step_limit_ends_a_run() {
    let (run, _) = traced(&Probe::default(), &Settings { step_count_max: 50, ..settings() }, 1);
    assert_eq!((run.end, run.steps), (End::StepLimit, 50));
}

#[test]
fn watching_changes_nothing() {
    for seed in 0..20 {
        let bare = simulate(&Probe::default(), &hostile(), Seed::Number(seed), None);
        let (watched, _) = traced(&Probe::default(), &hostile(), seed);
        assert_eq!(bare, watched);
    }
}

#[test]
fn different_seeds_have_different_runs() {
    let digest = |seed| simulate(&Probe::default(), &settings(), seed, None).digest;
    assert_ne!(digest(Seed::Number(1)), digest(Seed::Number(2)));
    assert_ne!(digest(Seed::Number(0)), digest(Seed::Commit([0; 20])));
}

/// What every seed means, end to end. Changes only with a reason that the commit gives.
#[test]
fn a_digest_is_pinned() {
    let run = simulate(&Probe::default(), &hostile(), Seed::Number(7), None);
    assert_eq!((run.digest, run.steps), PINNED, "{:#x}", run.digest);
}

const PINNED: (u64, u64) = (0x8199_36c5_b355_fe46, 612);

fn swept(jobs: usize, until: u64) -> Vec<Run> {
    let mut runs = Vec::new();
    sweep(&Probe::default(), &hostile(), 5..45, jobs, &mut |run| {
        let done = run.seed == Seed::Number(until);
        runs.push(run);
        if done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    runs
}

#[test]
fn a_sweep_is_the_same_for_any_number_of_jobs() {
    let one = swept(1, u64::MAX);
    assert_eq!(one.iter().map(|run| run.seed).collect::<Vec<_>>(), (5..45).map(Seed::Number).collect::<Vec<_>>());
    assert_eq!(one, swept(2, u64::MAX));
    assert_eq!(one, swept(7, u64::MAX));
    assert_eq!(one[..3], swept(3, 7));
}

#[test]
fn a_tail_keeps_the_last_steps() {
    let mut whole = Recorder::new(&Probe::default());
    simulate(&Probe::default(), &settings(), Seed::Number(1), Some(&mut whole));
    let mut tail = Recorder::new(&Probe::default()).with_tail(10);
    simulate(&Probe::default(), &settings(), Seed::Number(1), Some(&mut tail));
    let whole = whole.into_trace();
    assert_eq!(tail.into_trace(), whole[whole.len() - 10..]);
}

/// Its nodes count in common, behind the simulator's back.
#[derive(Debug, Clone)]
struct Leaky;

static COUNTED: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Tick {
    Tick,
}

impl Protocol for Leaky {
    type State = ();
    type Message = u32;
    type Timer = Tick;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Never;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["a".into(), "b".into()]
    }
    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) {
        cx.set(Tick::Tick, Span::secs(1));
    }
    fn step(&self, (): &mut (), input: Input<Self>, cx: &mut Context<'_, Self>) {
        if let Input::Timer(Tick::Tick) = input {
            cx.send(NodeId(1 - cx.node().0), COUNTED.fetch_add(1, Ordering::Relaxed));
            cx.set(Tick::Tick, Span::secs(1));
        }
    }
}

#[test]
fn a_protocol_that_leaks_is_found_out_at_its_first_step_apart() {
    let divergence = check_determinism(&Leaky, &settings(), Seed::Number(1)).unwrap_err();
    assert!(divergence.second.contains("Tick fired"), "{divergence}");
    assert!(divergence.step <= 4, "{divergence}");
    for seed in 0..10 {
        assert_eq!(check_determinism(&Probe::default(), &hostile(), Seed::Number(seed)), Ok(()));
    }
}
