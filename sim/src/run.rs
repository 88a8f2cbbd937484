//! A run: what it is asked, what comes of it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use seedbed_model::{Protocol, Violation};
use serde::{Deserialize, Serialize};

use crate::drawing::draw_plan;
use crate::faults::Plan;
use crate::seed::Seed;
use crate::settings::Settings;
use crate::simulation::Simulation;
use crate::stream::Streams;
use crate::trace::Tracer;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What it started from.
    pub seed: Seed,
    /// Digest over instant and encoding of each thing that happened, in order: equal for equal runs, on every machine.
    pub digest: u64,
    /// Steps taken, beside the starts of the nodes.
    pub steps: u64,
    /// Messages that reached a node, copies included.
    pub messages: u64,
    /// When it ended, on the reference clock [ns].
    pub now_ns: u64,
    /// Why it ended.
    pub end: End,
    /// The properties that fell in its last step; empty unless it ended as violated or panicked.
    pub violations: Vec<Found>,
    /// Marks taken and goals reached, each with how often.
    pub reached: BTreeMap<&'static str, u64>,
    /// What went wrong around the nodes.
    pub plan: Plan,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The quiet phase was over.
    Quiet,
    /// A property fell.
    Violated,
    /// [`Settings::step_count_max`] was reached.
    StepLimit,
    /// An assertion of the protocol failed; it is the violation `panic`.
    Panicked,
}

/// A violation and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What fell.
    pub violation: Violation,
    /// When, on the reference clock [ns].
    pub at_ns: u64,
    /// In which step.
    pub step: u64,
}

/// Runs `protocol` from `seed`, with the faults drawn for it.
///
/// # Panics
/// If the settings do not pass [`Settings::check`]. A protocol's panics are caught and reported.
pub fn simulate<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed, tracer: Option<&mut dyn Tracer<P>>) -> Run {
    let names = protocol.nodes();
    let mut streams = Streams::new(seed, names.len());
    let plan = draw_plan(protocol, settings, &names, &mut streams);
    simulate_named(protocol, settings, &plan, (seed, streams), names, tracer)
}

/// Runs `protocol` from `seed`, with the faults of `plan`.
///
/// # Panics
/// If the settings do not pass [`Settings::check`], or the plan not [`Plan::check`].
pub fn simulate_plan<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    plan: &Plan,
    seed: Seed,
    tracer: Option<&mut dyn Tracer<P>>,
) -> Run {
    let names = protocol.nodes();
    let streams = Streams::new(seed, names.len());
    simulate_named(protocol, settings, plan, (seed, streams), names, tracer)
}

/// Runs nodes of these names on the streams of the seed.
fn simulate_named<P: Protocol>(
    protocol: &P,
    settings: &Settings,
    plan: &Plan,
    (seed, streams): (Seed, Streams),
    names: Vec<String>,
    tracer: Option<&mut dyn Tracer<P>>,
) -> Run {
    if let Err(why) = settings.check().and_then(|()| plan.check_for(&names)) {
        panic!("{why}");
    }
    let mut simulation = Simulation::new(protocol, settings, plan, streams, names, tracer);
    // Whatever a step left half done is not looked at after a panic but for what `panicked` reads.
    let ended = catch_unwind(AssertUnwindSafe(|| simulation.run()));
    let end = ended.unwrap_or_else(|payload| simulation.panicked(&*payload));
    simulation.finish(end, seed, plan)
}
