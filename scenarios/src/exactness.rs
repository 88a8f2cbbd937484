//! Whether a run is an exact script: recorded, it must replay in the plain world to the same effects and the same end. And whether
//! one in tick mode is a path of the explorer.

use seedbed_model::explore::{Bounds, accepts};
use seedbed_model::{Effect, Named, NodeId, Playback, Protocol, moves, replay};
use seedbed_sim::{Recorder, Seed, Settings, Tracer, record, simulate};

/// Keeps what nodes do.
struct Effects<P: Protocol>(Vec<(NodeId, Effect<P>)>);

impl<P: Protocol> Tracer<P> for Effects<P> {
    fn step(&mut self, _: u64, _: u64, _: &Named<P>, _: &[u32], effects: &[(NodeId, Effect<P>)]) {
        self.0.extend_from_slice(effects);
    }
}

/// How many effects a run has. The first difference between it and its script, in words, if there is one.
pub(crate) fn compare<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Result<usize, String> {
    let mut simulated = Effects(Vec::new());
    let run = simulate(protocol, settings, seed, Some(&mut simulated));
    let (again, script) = record(protocol, settings, seed)?;
    if again.digest != run.digest {
        return Err("writing a run down changes it".into());
    }
    let mut playback = Playback::new(protocol, script.untimed, &script.clocks);
    playback.world.driver.observed = true;
    let mut count = 0;
    let names = protocol.nodes();
    for (index, step) in script.steps.iter().enumerate() {
        let text = moves::text_of(&step.what, &names);
        if moves::move_of(&text, &names).as_ref() != Ok(&step.what) {
            return Err(format!("step {index} does not read back: {text}"));
        }
        playback.take(step).map_err(|refused| format!("step {index}: {refused}: {step:?}"))?;
        for effect in std::mem::take(&mut playback.world.driver.effects) {
            if simulated.0.get(count) != Some(&effect) {
                return Err(format!("effect {count} was {:?} and is {effect:?}", simulated.0.get(count)));
            }
            count += 1;
        }
    }
    let fell: Vec<_> = run.violations.into_iter().map(|found| found.violation).collect();
    if (count, &fell) != (simulated.0.len(), &playback.world.violations) {
        return Err(format!("{count} of {} effects; {fell:?}", simulated.0.len()));
    }
    Ok(count)
}

/// How many steps a run in tick mode has. Where the explorer refuses its path, or its script drifts, in words.
pub(crate) fn certify<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Result<usize, String> {
    let mut recorder = Recorder::new(protocol).with_script();
    simulate(protocol, settings, seed, Some(&mut recorder));
    let script = recorder.into_script().ok_or("the run is not in tick mode")?;
    accepts(protocol, &unbounded(), &script)
        .map_err(|(index, why)| format!("step {index}, {:?}: {why}", script.steps.get(index)))?;
    match replay(protocol, &script).drift {
        None => Ok(script.steps.len()),
        Some(drift) => Err(format!("replayed, it drifts: {drift:?}")),
    }
}

/// Every fault that the explorer has, and as many as a run of seconds may have.
fn unbounded() -> Bounds {
    Bounds {
        losses: 999,
        duplicates: 999,
        crashes: 99,
        pauses: 99,
        cuts: 99,
        symmetry: false,
        drop_dead: false,
        ..Bounds::default()
    }
}
