//! Whether a run is an exact script: recorded, it must replay in the plain world to the same effects and the same end.

use seedbed_model::{Effect, Named, NodeId, Playback, Protocol, moves};
use seedbed_sim::{Seed, Settings, Tracer, record, simulate};

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
