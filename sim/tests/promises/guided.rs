//! Guided campaigns: the same for any number of threads, and each of their runs one of its own.

use std::ops::ControlFlow;

use crate::common::{Probe, explorable, hostile, settings, traced, traced_plan};
use seedbed_model::{Canonical, Context, Event, Input, Never, NodeId, Nonce, Property, Protocol, Ratio, Span, Watch};
use seedbed_sim::{Guidance, Plan, Run, Turn, guide, plan, simulate_plan, sweep};

fn campaign(protocol: &Probe, count: u64, jobs: usize) -> Vec<(Run, Guidance)> {
    let mut runs = Vec::new();
    guide(protocol, &explorable(), 7, count, jobs, &mut |run, guidance| {
        runs.push((run, guidance));
        ControlFlow::Continue(())
    });
    runs
}

#[test]
fn a_guided_campaign_is_the_same_for_any_number_of_threads() {
    let one = campaign(&Probe::default(), 150, 1);
    assert_eq!((one.len(), one.last().map(|(_, guidance)| guidance.runs)), (150, Some(150)));
    assert_eq!(one, campaign(&Probe::default(), 150, 2));
    assert_eq!(one, campaign(&Probe::default(), 150, 5));
}

#[test]
fn it_stops_where_it_is_told_to() {
    let mut count = 0;
    guide(&Probe::default(), &settings(), 0, 500, 2, &mut |_, _| {
        count += 1;
        if count == 70 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(count, 70);
}

#[test]
fn each_run_replays_from_its_seed_and_its_plan_alone() {
    let runs = campaign(&Probe::default(), 120, 2);
    let turned = runs.iter().filter(|(run, _)| !run.plan.turns.is_empty()).count();
    assert!(turned > 40, "{turned} runs go on from earlier ones");
    for (run, _) in &runs {
        let text = toml::to_string(&run.plan).expect("a plan is written");
        let read: Plan = toml::from_str(&text).expect("and read back");
        assert_eq!(&simulate_plan(&Probe::default(), &explorable(), &read, run.seed, None), run);
    }
}

#[test]
fn every_other_run_of_the_first_generation_is_its_seed_as_it_is() {
    for (number, (run, _)) in campaign(&Probe::default(), 32, 1).iter().enumerate().step_by(2) {
        let (plain, _) = traced(&Probe::default(), &explorable(), 7 + number as u64);
        assert_eq!(*run, plain);
    }
}

#[test]
fn before_a_turn_a_run_is_as_it_was_and_after_it_another() {
    let protocol = Probe { drift: Ratio::ZERO, ..Probe::default() };
    let at = Span::secs(20);
    for seed in 0..20 {
        let before = plan(&protocol, &hostile(), seed.into());
        let (_, straight) = traced_plan(&protocol, &hostile(), &before, seed);
        let turned = Plan { turns: vec![Turn { at, seed: 1_000 + seed, sharp: seed % 2 == 0 }], ..before };
        let (_, other) = traced_plan(&protocol, &hostile(), &turned, seed);
        let told =
            |steps: &[crate::common::Step]| steps.iter().map(|step| (step.at, step.choice.clone())).collect::<Vec<_>>();
        let (straight, other) = (told(&straight), told(&other));
        let early = straight.iter().take_while(|(when, _)| *when < at).count();
        assert_eq!(straight[..early], other[..early], "seed {seed}");
        assert!(straight != other, "seed {seed} goes on as it would have");
    }
}

/// A node climbs a ladder: at each beat a rung higher with a chance of one in four, or back to the ground.
#[derive(Debug, Clone)]
struct Ladder;

const RUNGS: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Beat;

impl Protocol for Ladder {
    type State = u32;
    type Message = Never;
    type Timer = Beat;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = u32;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["climber".into()]
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u32 {
        cx.set(Beat, Span::secs(1));
        0
    }

    fn step(&self, rung: &mut u32, _: Input<Self>, cx: &mut Context<'_, Self>) {
        *rung = if cx.choose(4) == 0 { *rung + 1 } else { 0 };
        cx.observe(*rung);
        cx.set(Beat, Span::secs(1));
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::always("grounded", "nobody comes to the top of the ladder")]
    }

    fn watch(&self, (): &mut (), _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        if *event == Event::Observed(RUNGS) {
            watch.violated("grounded", "the climber is at the top");
        }
    }
}

/// Seed after seed a run of 90 beats comes to the top once in some 15,000; from the highest rung so far it is one step more.
#[test]
fn a_ladder_that_seeds_do_not_climb_is_climbed_from_rung_to_rung() {
    let mut plain = 0;
    sweep(&Ladder, &settings(), 0..2_000, 2, &mut |run| {
        plain += u32::from(!run.violations.is_empty());
        ControlFlow::Continue(())
    });
    let mut runs = 0;
    let mut fell = false;
    guide(&Ladder, &settings(), 0, 2_000, 2, &mut |run, _| {
        runs += 1;
        fell = !run.violations.is_empty();
        if fell { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((plain, fell), (0, true), "after {runs} guided runs");
}
