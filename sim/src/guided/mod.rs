//! Seeds that learn from what earlier ones reached.
//!
//! A random seed rarely comes twice to the same rare place. A guided campaign remembers the places that its runs were at, and
//! goes on from the rare ones: the new run is the old one up to the instant at which it was there, and another seed's from then
//! on ([`crate::Turn`]), with the faults of either. Cf. Ecoffet et al. 2021, *First return, then explore*; here a place is left
//! by replaying, which a run that is a function of its seed and plan makes exact.
//!
//! Fresh seeds come in between, most of them *sharp*: half of what takes time takes as little or as much as it may.
//!
//! Runs come in generations of a fixed size. What a generation tries hangs on the generations before alone, so that a campaign
//! is the same for any number of threads. A run that falls is told by its seed and its plan, and needs nothing of the rest.
//!
//! - `coverage`: what counts as a place; `archive`: which places are known, and what is tried next.

mod archive;
mod coverage;

use std::ops::ControlFlow;

use seedbed_model::Protocol;

use crate::drawing::plan;
use crate::faults::Plan;
use crate::run::{Run, simulate_plan};
use crate::seed::Seed;
use crate::settings::Settings;
use crate::sweep::sweep_with;

use archive::Archive;
use coverage::{Reached, Watcher};

/// Runs of a generation.
const GENERATION: u64 = 32;

/// How far a guided campaign has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Guidance {
    /// Runs so far.
    pub runs: u64,
    /// Places known.
    pub places: usize,
}

/// What a run is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
}

/// Runs `count` candidates, drawn from `first` and from what they reach, and hands each run over in order, whatever `jobs` is.
/// A run replays from its seed and [`Run::plan`] alone. `Break` ends the campaign.
///
/// The first generation, and half of each later one, are seeds of `first..first + count`: as they are, or with sharp draws
/// ([`crate::Turn::sharp`]), by turns in the first.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn guide<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    first: u64,
    count: u64,
    jobs: usize,
    on_run: &mut dyn FnMut(Run, Guidance) -> ControlFlow<()>,
) {
    let mut archive = Archive::new(first, settings.duration + settings.quiet);
    let mut guidance = Guidance::default();
    let mut done = 0;
    while done < count {
        let size = GENERATION.min(count - done);
        let drawn = |seed| plan(protocol, settings, Seed::Number(seed));
        let candidates: Vec<Candidate> = (done..done + size).map(|number| archive.candidate(number, &drawn)).collect();
        let run = |index: u64| run(protocol, settings, &candidates[index as usize]);
        let mut is_over = false;
        let mut index = 0;
        sweep_with(&run, 0..size, jobs, &mut |(run, reached): (Run, Reached)| {
            archive.note(&candidates[index], done + index as u64, reached);
            index += 1;
            guidance = Guidance { runs: guidance.runs + 1, places: archive.place_count() };
            let goes_on = on_run(run, guidance);
            is_over = goes_on.is_break();
            goes_on
        });
        if is_over {
            return;
        }
        done += size;
    }
}

fn run<P: Protocol>(protocol: &P, settings: &Settings, candidate: &Candidate) -> (Run, Reached) {
    let mut watcher = Watcher::new(protocol);
    let run = simulate_plan(protocol, settings, &candidate.plan, Seed::Number(candidate.seed), Some(&mut watcher));
    (run, watcher.into_reached())
}
