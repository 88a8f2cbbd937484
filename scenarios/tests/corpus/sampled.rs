//! Runs of the simulator in tick mode are paths of the model: the explorer accepts them, and so does the dumb twin.

use std::collections::BTreeSet;

use seedbed_model::Ratio;
use seedbed_model::Span;
use seedbed_model::explore::{Bounds, Clock, accepts};
use seedbed_sim::{FaultMix, Network, Recorder, Seed, Settings, SpanRange, simulate};
use seedbed_stateright::{Reductions, World};

use crate::generate::Sample;
use crate::reference::Truth;

/// Runs of each sample.
const SEEDS: u64 = 3;

/// Nothing beyond what the sample's bounds allow.
fn settings(bounds: &Bounds) -> Settings {
    let delay = bounds.delay.map_or(Span::ticks(3), |most| Span::ticks(most.into()));
    Settings {
        duration: Span::ticks(8),
        quiet: Span::ZERO,
        tick_mode: true,
        step_count_max: 60,
        network: Network {
            delay_min: Span::ZERO,
            delay_max: delay,
            loss: Ratio::ZERO,
            duplicate: Ratio::ZERO,
            ..Network::default()
        },
        decisions: SpanRange { min: Span::ZERO, max: Span::ticks(2) },
        faults: FaultMix {
            swarm: false,
            crashes: bounds.crashes,
            pauses: bounds.pauses,
            restart_max: Span::ticks(2),
            pause_max: Span::ticks(2),
            never_restart: if bounds.restart { Ratio::ZERO } else { Ratio::ONE },
            ..FaultMix::default()
        },
        ..Settings::default()
    }
}

/// `Err` with the first step that the model does not have.
pub(crate) fn judge(sample: &Sample, truth: &Truth) -> Result<(), String> {
    // The simulator has time, and links that hold any number of messages.
    if sample.bounds.clock == Clock::Untimed || sample.bounds.capacity.is_some() {
        return Ok(());
    }
    let states = truth.states(Reductions::NONE);
    for seed in 0..SEEDS {
        follow(sample, truth, &states, seed).map_err(|why| format!("simulated, seed {seed}: {why}"))?;
    }
    Ok(())
}

fn follow(sample: &Sample, truth: &Truth, states: &BTreeSet<Vec<u8>>, seed: u64) -> Result<(), String> {
    let Sample { table, bounds } = sample;
    let mut recorder = Recorder::new(table).with_script();
    simulate(table, &settings(bounds), Seed::Number(seed), Some(&mut recorder));
    let script = recorder.into_script().ok_or("a run without a script")?;
    let open = Bounds { symmetry: false, drop_dead: false, ..bounds.clone() };
    accepts(table, &open, &script).map_err(|(step, why)| format!("the explorer refuses step {step}: {why}"))?;
    let first = World::initial(table, bounds)?.into_iter().next().ok_or("no start")?;
    let mut world = first.next.ok_or("a start that panics")?;
    for (index, step) in script.steps.iter().enumerate() {
        if truth.depth.is_some_and(|depth| index as u32 >= depth) {
            break;
        }
        let ways = world.ways(table, bounds)?;
        let way = ways.into_iter().find(|way| way.steps[0] == *step);
        let way = way.ok_or_else(|| format!("no way on by step {index}: {step:?}"))?;
        if let Some(fall) = way.violations.first() {
            let steps = truth.fall.as_ref().map(|fall| fall.steps);
            return match steps {
                Some(steps) if steps <= index + 1 => Ok(()),
                _ => Err(format!("{} falls at step {index}, and nothing should so early", fall.property)),
            };
        }
        world = way.next.ok_or("a step that panics")?;
        let is_early =
            truth.fall.as_ref().is_none_or(|fall| fall.properties.contains("again") || index + 1 < fall.steps);
        if is_early && !states.contains(&world.normal_form(table, bounds, Reductions::NONE)) {
            return Err(format!("step {index} leads to a state that was not found"));
        }
    }
    Ok(())
}
