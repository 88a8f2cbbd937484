//! The simulator, as the commands use it.

use std::ops::{ControlFlow, Range};

use seedbed_model::{Protocol, TraceStep};
use seedbed_sim::{End, Recorder, Run, Seed, Settings};

use crate::history::claim::Claim;
use crate::history::judged::{Judged, Seeded};
use crate::history::recorder::{ClientRecorder, Seen};

/// Runs each seed, in order. What the clients see is judged by `claim`, which [`Claim::check`] has passed.
pub(crate) fn sweep<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    claim: Option<&Claim>,
    seeds: Range<u64>,
    jobs: usize,
    on_run: &mut dyn FnMut(Run) -> ControlFlow<()>,
) {
    match claim {
        None => seedbed_sim::sweep(protocol, settings, seeds, jobs, on_run),
        Some(claim) => {
            let run = |seed| judged(protocol, settings, claim, Seed::Number(seed), false);
            seedbed_sim::sweep_with(&run, seeds, jobs, on_run);
        }
    }
}

/// Runs one seed, likewise.
pub(crate) fn simulate<P: Protocol>(protocol: &P, settings: &Settings, claim: Option<&Claim>, seed: Seed) -> Run {
    match claim {
        None => seedbed_sim::simulate(protocol, settings, seed, None),
        Some(claim) => judged(protocol, settings, claim, seed, false),
    }
}

/// # Panics
/// On a claim that does not pass its check.
fn judged<P: Protocol>(protocol: &P, settings: &Settings, claim: &Claim, seed: Seed, piece: bool) -> Run {
    let seed = &Seeded { protocol, settings, seed };
    Judged { seed, claim, piece }.run().unwrap_or_else(|why| panic!("{why}"))
}

/// Runs one seed and keeps its trace, or the last `tail` steps of it. What the clients see is judged
/// by `claim`; a fall is told by its smallest piece.
pub(crate) fn trace<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    claim: Option<&Claim>,
    seed: Seed,
    tail: Option<usize>,
) -> (Run, Vec<TraceStep>) {
    let judged = claim.map(|claim| judged(protocol, settings, claim, seed, true));
    let mut recorder = Recorder::new(protocol);
    if let Some(count) = tail {
        recorder = recorder.with_tail(count);
    }
    let run = match judged {
        None => seedbed_sim::simulate(protocol, settings, seed, Some(&mut recorder)),
        Some(run) => {
            let cut = Settings { step_count_max: run.steps, ..settings.clone() };
            let is_cut = run.end == End::Violated;
            seedbed_sim::simulate(protocol, if is_cut { &cut } else { settings }, seed, Some(&mut recorder));
            run
        }
    };
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
