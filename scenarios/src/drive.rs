//! The simulator, as the commands use it.

use std::ops::{ControlFlow, Range};

use seedbed_model::{Protocol, TraceStep};
use seedbed_sim::{Recorder, Run, Seed, Settings};

use crate::history::recorder::{ClientRecorder, Seen};

/// Runs each seed, in order.
pub(crate) fn sweep<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    seeds: Range<u64>,
    jobs: usize,
    on_run: &mut dyn FnMut(Run) -> ControlFlow<()>,
) {
    seedbed_sim::sweep(protocol, settings, seeds, jobs, on_run);
}

/// Runs one seed.
pub(crate) fn simulate<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Run {
    seedbed_sim::simulate(protocol, settings, seed, None)
}

/// Runs one seed and keeps its trace, or the last `tail` steps of it.
pub(crate) fn trace<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    seed: Seed,
    tail: Option<usize>,
) -> (Run, Vec<TraceStep>) {
    let mut recorder = Recorder::new(protocol);
    if let Some(count) = tail {
        recorder = recorder.with_tail(count);
    }
    let run = seedbed_sim::simulate(protocol, settings, seed, Some(&mut recorder));
    (run, recorder.into_trace())
}

/// Runs one seed for what its clients see.
pub(crate) fn history<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed, sink: &mut dyn FnMut(Seen)) {
    seedbed_sim::simulate(protocol, settings, seed, Some(&mut ClientRecorder::new(protocol, sink)));
}

/// Runs one seed twice. The first difference, in words.
pub(crate) fn divergence<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Option<String> {
    seedbed_sim::check_determinism(protocol, settings, seed).err().map(|divergence| divergence.to_string())
}
