//! Guided campaigns: the same for any number of threads, and each of their runs one of its own.

mod common;

use std::ops::ControlFlow;

use common::{Probe, explorable, hostile, settings, traced, traced_plan};
use seedbed_model::{Ratio, Span};
use seedbed_sim::{Guidance, Plan, Run, Turn, guide, plan, simulate_plan};

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
fn the_first_runs_are_the_seeds_as_they_are() {
    for (number, (run, _)) in campaign(&Probe::default(), 32, 1).iter().enumerate() {
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
        let turned = Plan { turns: vec![Turn { at, seed: 1_000 + seed }], ..before };
        let (_, other) = traced_plan(&protocol, &hostile(), &turned, seed);
        let told = |steps: &[common::Step]| steps.iter().map(|step| (step.at, step.choice.clone())).collect::<Vec<_>>();
        let (straight, other) = (told(&straight), told(&other));
        let early = straight.iter().take_while(|(when, _)| *when < at).count();
        assert_eq!(straight[..early], other[..early], "seed {seed}");
        assert!(straight != other, "seed {seed} goes on as it would have");
    }
}
