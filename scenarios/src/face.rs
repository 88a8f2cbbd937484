//! A protocol with its types erased: what the commands do with any of them.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};

use seedbed_model::explore::{self, Aids, Bounds, Progress, Stats, Strategy, Verdict};
use seedbed_model::tape::{self, ObservedLine, Tape, Witnessed};
use seedbed_model::{
    ExactReplayed, Family, Kind, Mutant, Mutants, Property, Protocol, Replayed, Script, Signature, Span, TraceStep,
    Violation, replay_exact,
};
use seedbed_sim::shrink::Budget;
use seedbed_sim::{End, Guidance, Run, Seed, Settings};
use toml::Table;

use crate::drive;
use crate::engine::{self, Address, Engine};
use crate::experiment::{self, Axis, Measure};
use crate::file::{self, CheckFile};
use crate::history::claim::{self, Claim};
use crate::history::recorder::Seen;
use crate::moment::{self, Origin};
use crate::params;
use crate::pin::PinnedScript;
use crate::shrunken::{self, Shrunken};
use crate::taped::{self, JoinedRun};
use crate::written;

/// What makes a protocol of a family, and what is judged beside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) params: Table,
    pub(crate) mutants: Vec<String>,
    /// What a scenario demands of what its clients see, beside the protocol's own properties.
    pub(crate) history: Option<Claim>,
}

/// A node's id has 16 bits, and the numbers of all are at most as many.
const NODE_COUNT_MAX: usize = 65_535;

/// What a protocol says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    /// `nodes[i]` is node `i`'s name.
    pub(crate) nodes: Vec<String>,
    pub(crate) properties: Vec<Property>,
}

/// An exploration without its types.
#[derive(Debug, Clone)]
pub(crate) struct Explored {
    pub(crate) verdict: Verdict,
    pub(crate) stats: Stats,
    pub(crate) reached: Vec<&'static str>,
    pub(crate) unexercised: Vec<String>,
    pub(crate) abstractions: Vec<String>,
    pub(crate) counterexample: Option<Counterexample>,
    /// The step of the counterexample from which it repeats for ever, from 0; see [`explore::Exploration`].
    pub(crate) repeats_from: Option<usize>,
    /// Steps of the counterexample before the moment that the exploration began at.
    pub(crate) steps_before: usize,
}

/// A counterexample, replayed once in a plain world.
#[derive(Debug, Clone)]
pub(crate) struct Counterexample {
    /// As it really happens.
    pub(crate) script: PinnedScript,
    /// How that replays.
    pub(crate) exact: Replayed,
    /// How the explorer's steps replay.
    pub(crate) replayed: Replayed,
}

/// A run written down.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) script: PinnedScript,
    pub(crate) replayed: Replayed,
}

/// One run that was traced.
#[derive(Debug, Clone)]
pub(crate) struct Traced {
    pub(crate) run: Run,
    pub(crate) trace: Vec<TraceStep>,
}

/// A run that was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    /// `values[i][k]` is of the `i`-th measure at the `k`-th place along the axis, in thousandths of its unit; `None` if there
    /// was nothing to measure.
    pub(crate) values: Vec<Vec<Option<u64>>>,
    pub(crate) run: Run,
}

impl Measured {
    /// # Errors
    /// If the run fell, or was given up: it measures nothing.
    pub(crate) fn of_a_whole_run(self) -> Result<Vec<Vec<Option<u64>>>, String> {
        match (self.run.end, self.run.violations.first()) {
            (End::Quiet, _) => Ok(self.values),
            (End::StepLimit, _) => Err(format!("seed {} ran into step-count-max; write a larger one", self.run.seed)),
            (_, Some(fell)) => {
                Err(format!("seed {}: {} fell: {}", self.run.seed, fell.violation.property, fell.violation.detail))
            }
            (end, None) => Err(format!("seed {} ended as {end:?}", self.run.seed)),
        }
    }
}

/// Whether a node is of the name, or of the beginning of a name that is written with a star.
pub(crate) fn fits(written: &str, node: &str) -> bool {
    match written.strip_suffix('*') {
        Some(beginning) => node.starts_with(beginning),
        None => node == written,
    }
}

/// What the commands do with a protocol. Errors are about parameters and settings, in words.
pub(crate) trait Face: Send + Sync {
    fn name(&self) -> &'static str;
    fn summary(&self) -> &'static str;
    fn mutants(&self) -> &'static [Mutant];
    /// The parameters in full.
    fn full_params(&self, params: &Table) -> Result<Table, String>;
    /// Whether a scenario file has the types that the protocol wants.
    fn read_scenario(&self, text: &str) -> Result<(), toml::de::Error>;
    /// Whether a file of bounds has.
    fn read_checks(&self, text: &str) -> Result<(), toml::de::Error>;
    fn describe(&self, setup: &Setup) -> Result<Described, String>;
    /// Whether the setup's claim on histories makes sense for the protocol's clients.
    fn check_history(&self, setup: &Setup) -> Result<(), String>;
    fn explore(
        &self,
        setup: &Setup,
        bounds: &Bounds,
        engine: Engine,
        strategy: &Strategy,
        aids: Aids<'_>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Explored, String>;
    /// Explores from a moment of a simulated run.
    fn explore_from(
        &self,
        setup: &Setup,
        origin: &Origin<'_>,
        bounds: &Bounds,
        strategy: &Strategy,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Explored, String>;
    /// Serves stateright's Explorer page, until the process ends.
    fn serve(&self, setup: &Setup, bounds: &Bounds, address: Address) -> Result<(), String>;
    /// Replays named choices. `Err` on parameters; a choice that can no longer be read is a drift.
    fn replay(&self, setup: &Setup, script: &PinnedScript) -> Result<ExactReplayed, String>;
    /// Joins the tapes of real nodes, and replays the run. `Err` if they are none of this setup's.
    fn join(&self, setup: &Setup, tapes: &[Tape]) -> Result<JoinedRun, String>;
    /// Judges what nodes of another system showed; it goes on for `until` [ns] after the last line. An error names the line,
    /// from 0, or none if the parameters make no sense.
    fn witness(
        &self,
        setup: &Setup,
        lines: &[ObservedLine],
        until: Option<u64>,
    ) -> Result<Witnessed, (Option<usize>, String)>;
    fn sweep(
        &self,
        setup: &Setup,
        settings: &Settings,
        seeds: Range<u64>,
        jobs: usize,
        on_run: &mut dyn FnMut(Run) -> ControlFlow<()>,
    ) -> Result<(), String>;
    /// As many runs as there are seeds, guided by what they reach; what the setup claims on histories is left out.
    fn guide(
        &self,
        setup: &Setup,
        settings: &Settings,
        seeds: Range<u64>,
        jobs: usize,
        on_run: &mut dyn FnMut(Run, Guidance) -> ControlFlow<()>,
    ) -> Result<(), String>;
    fn simulate(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Run, String>;
    /// With its last `tail` steps, or all.
    fn trace(&self, setup: &Setup, settings: &Settings, seed: Seed, tail: Option<usize>) -> Result<Traced, String>;
    /// The run as an exact script.
    fn record(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Recorded, String>;
    /// What is common to failures that are taken for one; `None` if the property does not fall.
    fn sign(&self, setup: &Setup, settings: &Settings, seed: Seed, property: &str)
    -> Result<Option<Signature>, String>;
    /// Shrinks the run of a seed.
    fn shrink(&self, setup: &Setup, settings: &Settings, seed: Seed, budget: Budget<'_>) -> Result<Shrunken, String>;
    /// Shrinks a script.
    fn shrink_script(&self, setup: &Setup, script: &PinnedScript, budget: Budget<'_>) -> Result<Shrunken, String>;
    /// What the clients of a run see goes to `sink`, as it happens.
    fn history(&self, setup: &Setup, settings: &Settings, seed: Seed, sink: &mut dyn FnMut(Seen))
    -> Result<(), String>;
    /// Runs a seed and measures it.
    fn measure(
        &self,
        setup: &Setup,
        settings: &Settings,
        seed: Seed,
        measures: &[Measure],
        axis: &Axis,
    ) -> Result<Measured, String>;
    /// How many effects a run has, if it replays as an exact script.
    fn compare_exact(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<usize, String>;
    /// How many steps a run in tick mode has, if it is a path of the explorer and replays to itself.
    fn certify_run(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<usize, String>;
    /// The first difference between two runs of one seed, in words.
    fn divergence(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Option<String>, String>;
}

/// The face of a family.
pub(crate) struct FamilyFace<F>(PhantomData<fn() -> F>);

impl<F: Family> FamilyFace<F> {
    pub(crate) fn new() -> Self {
        FamilyFace(PhantomData)
    }

    fn params(table: &Table) -> Result<F::Params, String> {
        table.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())
    }

    /// A tick that divides every span among the parameters.
    fn tick(&self, setup: &Setup) -> Result<Span, String> {
        Ok(params::common_tick(&self.full_params(&setup.params)?))
    }

    fn build(setup: &Setup) -> Result<F::Protocol, String> {
        let mutants = Mutants::named(F::mutants(), setup.mutants.iter().map(String::as_str))?;
        let protocol = F::build(&Self::params(&setup.params)?, mutants)?;
        match protocol.nodes().len() {
            1..=NODE_COUNT_MAX => Ok(protocol),
            count => Err(format!("a protocol has 1 to {NODE_COUNT_MAX} nodes, not {count}")),
        }
    }
}

impl<F: Family> Face for FamilyFace<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }
    fn summary(&self) -> &'static str {
        F::SUMMARY
    }
    fn mutants(&self) -> &'static [Mutant] {
        F::mutants()
    }
    fn full_params(&self, params: &Table) -> Result<Table, String> {
        Table::try_from(Self::params(params)?).map_err(|error| error.to_string())
    }
    fn read_scenario(&self, text: &str) -> Result<(), toml::de::Error> {
        file::check_params::<F::Params>(text)
    }
    fn read_checks(&self, text: &str) -> Result<(), toml::de::Error> {
        toml::from_str::<CheckFile<Table, Bounds>>(text)?;
        file::check_params::<F::Params>(text)
    }
    fn describe(&self, setup: &Setup) -> Result<Described, String> {
        let protocol = Self::build(setup)?;
        let mut properties = protocol.properties();
        properties.extend(setup.history.as_ref().map(|_| claim::PROPERTY));
        Ok(Described { nodes: protocol.nodes(), properties })
    }
    fn check_history(&self, setup: &Setup) -> Result<(), String> {
        let protocol = Self::build(setup)?;
        setup.history.as_ref().map_or(Ok(()), |claim| claim.check(&protocol))
    }
    fn explore(
        &self,
        setup: &Setup,
        bounds: &Bounds,
        engine: Engine,
        strategy: &Strategy,
        aids: Aids<'_>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Explored, String> {
        let protocol = Self::build(setup)?;
        let found = match engine {
            Engine::Seedbed => explore::explore_aided(&protocol, bounds, strategy, aids, watch)?,
            Engine::Stateright => engine::cross_check(&protocol, bounds, strategy, watch)?,
        };
        let counterexample = found.script.map(|script| counterexample(&protocol, &script)).transpose()?;
        if let (Verdict::Violated(fell), Some(shown)) = (&found.verdict, &counterexample) {
            certify(&protocol, &fell.property, &shown.replayed)?;
        }
        Ok(Explored {
            verdict: found.verdict,
            stats: found.stats,
            reached: found.reached,
            unexercised: found.unexercised,
            abstractions: found.abstractions,
            counterexample,
            repeats_from: found.repeats_from,
            steps_before: 0,
        })
    }
    fn explore_from(
        &self,
        setup: &Setup,
        origin: &Origin<'_>,
        bounds: &Bounds,
        strategy: &Strategy,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Explored, String> {
        moment::explore(&Self::build(setup)?, origin, bounds, strategy, watch)
    }
    fn serve(&self, setup: &Setup, bounds: &Bounds, address: Address) -> Result<(), String> {
        engine::serve(&Self::build(setup)?, bounds, address)
    }
    fn replay(&self, setup: &Setup, script: &PinnedScript) -> Result<ExactReplayed, String> {
        let protocol = Self::build(setup)?;
        let (script, unread) = written::read(&protocol, script)?;
        let mut exact = replay_exact(&protocol, &script);
        if exact.replayed.violations.is_empty() {
            exact.replayed.drift = exact.replayed.drift.or(unread);
        }
        Ok(exact)
    }
    fn join(&self, setup: &Setup, tapes: &[Tape]) -> Result<JoinedRun, String> {
        taped::joined(&Self::build(setup)?, tapes)
    }
    fn witness(
        &self,
        setup: &Setup,
        lines: &[ObservedLine],
        until: Option<u64>,
    ) -> Result<Witnessed, (Option<usize>, String)> {
        let protocol = Self::build(setup).map_err(|why| (None, why))?;
        tape::witness(&protocol, lines, until).map_err(|(line, why)| (Some(line), why))
    }
    fn sweep(
        &self,
        setup: &Setup,
        settings: &Settings,
        seeds: Range<u64>,
        jobs: usize,
        on_run: &mut dyn FnMut(Run) -> ControlFlow<()>,
    ) -> Result<(), String> {
        drive::sweep(&Self::build(setup)?, settings, setup.history.as_ref(), seeds, jobs, on_run);
        Ok(())
    }
    fn guide(
        &self,
        setup: &Setup,
        settings: &Settings,
        seeds: Range<u64>,
        jobs: usize,
        on_run: &mut dyn FnMut(Run, Guidance) -> ControlFlow<()>,
    ) -> Result<(), String> {
        let count = seeds.end.saturating_sub(seeds.start);
        seedbed_sim::guide(&Self::build(setup)?, settings, seeds.start, count, jobs, on_run);
        Ok(())
    }
    fn simulate(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Run, String> {
        Ok(drive::simulate(&Self::build(setup)?, settings, setup.history.as_ref(), seed))
    }
    fn trace(&self, setup: &Setup, settings: &Settings, seed: Seed, tail: Option<usize>) -> Result<Traced, String> {
        let (run, trace) = drive::trace(&Self::build(setup)?, settings, setup.history.as_ref(), seed, tail);
        Ok(Traced { run, trace })
    }
    fn record(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Recorded, String> {
        let protocol = Self::build(setup)?;
        let (_, script) = seedbed_sim::record(&protocol, settings, seed)?;
        let replayed = replay_exact(&protocol, &script);
        Ok(Recorded { script: written::pinned(&protocol, &script, &replayed), replayed: replayed.replayed })
    }
    fn sign(
        &self,
        setup: &Setup,
        settings: &Settings,
        seed: Seed,
        property: &str,
    ) -> Result<Option<Signature>, String> {
        Ok(seedbed_sim::signature(&Self::build(setup)?, settings, seed, property))
    }
    fn shrink(&self, setup: &Setup, settings: &Settings, seed: Seed, budget: Budget<'_>) -> Result<Shrunken, String> {
        let protocol = Self::build(setup)?;
        let (_, script) = seedbed_sim::record(&protocol, settings, seed)?;
        shrunken::shrink(&protocol, &script, self.tick(setup)?, budget)
    }
    fn shrink_script(&self, setup: &Setup, script: &PinnedScript, budget: Budget<'_>) -> Result<Shrunken, String> {
        let protocol = Self::build(setup)?;
        match written::read(&protocol, script)? {
            (script, None) => shrunken::shrink(&protocol, &script, self.tick(setup)?, budget),
            (_, Some((step, why))) => Err(format!("step {}: {why}", step + 1)),
        }
    }
    fn history(
        &self,
        setup: &Setup,
        settings: &Settings,
        seed: Seed,
        sink: &mut dyn FnMut(Seen),
    ) -> Result<(), String> {
        drive::history(&Self::build(setup)?, settings, seed, sink);
        Ok(())
    }
    fn measure(
        &self,
        setup: &Setup,
        settings: &Settings,
        seed: Seed,
        measures: &[Measure],
        axis: &Axis,
    ) -> Result<Measured, String> {
        Ok(experiment::measured(&Self::build(setup)?, settings, seed, measures, axis))
    }
    fn compare_exact(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<usize, String> {
        crate::exactness::compare(&Self::build(setup)?, settings, seed)
    }
    fn certify_run(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<usize, String> {
        crate::exactness::certify(&Self::build(setup)?, settings, seed)
    }
    fn divergence(&self, setup: &Setup, settings: &Settings, seed: Seed) -> Result<Option<String>, String> {
        Ok(drive::divergence(&Self::build(setup)?, settings, seed))
    }
}

fn counterexample<P: Protocol>(protocol: &P, script: &Script<P>) -> Result<Counterexample, String> {
    let exact = seedbed_model::exact(protocol, script).map_err(|why| format!("the counterexample: {why}"))?;
    let again = replay_exact(protocol, &exact);
    let script_text = written::pinned(protocol, &exact, &again);
    Ok(Counterexample { script: script_text, exact: again.replayed, replayed: replayed(protocol, script) })
}

/// A counterexample counts only if a plain world takes the same path to the same fall: the engines certify each other.
fn certify<P: Protocol>(protocol: &P, property: &str, replayed: &Replayed) -> Result<(), String> {
    if let Some((step, why)) = &replayed.drift {
        return Err(format!("the counterexample to {property} does not replay: at step {}, {why}", step + 1));
    }
    // What is cut off for ever shows in no single run.
    let is_reachability =
        protocol.properties().iter().any(|known| known.name == property && known.kind == Kind::ReachableAlways);
    if is_reachability
        || replayed.owed.contains(&property)
        || replayed.violations.iter().any(|fell| fell.property == property)
    {
        return Ok(());
    }
    Err(format!("the counterexample to {property} replays without its fall: {:?}", replayed.violations))
}

/// Replays a script. A broken assertion of the protocol ends it, and is a finding like any other.
fn replayed<P: Protocol>(protocol: &P, script: &Script<P>) -> Replayed {
    match caught(|| seedbed_model::replay(protocol, script)) {
        Ok(replayed) => replayed,
        Err(panic) => broken(protocol, script, panic),
    }
}

/// A script in which some step panics: everything before it, and the step without what it did.
fn broken<P: Protocol>(protocol: &P, script: &Script<P>, panic: Violation) -> Replayed {
    let mut before = script.clone();
    // The panic ends the script but for steps that nobody meant to follow it: the last step is the first to be tried.
    while let Some(step) = before.steps.pop() {
        let Ok(mut replayed) = caught(|| seedbed_model::replay(protocol, &before)) else { continue };
        let at_ns = replayed.trace.last().map_or(0, |step| step.at_ns);
        let number = before.steps.len() as u64 + 1;
        replayed.trace.push(TraceStep::of(&protocol.nodes(), number, at_ns, &step.choice, &[]));
        replayed.digest = seedbed_model::hash(replayed.digest, &seedbed_model::encoding(&step.choice));
        replayed.violations.push(panic);
        return replayed;
    }
    // A start panics, before any step.
    Replayed { trace: Vec::new(), digest: 0, violations: vec![panic], owed: Vec::new(), drift: None }
}

/// Runs a protocol's steps; a panic becomes the violation that it is.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Violation> {
    // Nothing of what the work was changing is looked at after a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        Violation { property: "panic".into(), detail: text.unwrap_or_else(|| "a panic without words".into()) }
    })
}
