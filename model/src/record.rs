//! What a campaign, an exploration or a kill table leaves behind: the types of result files.
//!
//! Files are JSON. Keys are in snake case, names in them in kebab case. A reader refuses another [`SCHEMA`].

mod experiment;
mod kills;
mod merging;
mod pieces;
mod planning;
mod seeds;
mod statistics;
mod tally;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::explore::Bounds;
use crate::signature::Signature;
use crate::trace::TraceStep;

pub use experiment::{Curve, ExperimentRecord, Milli, Plot, Point, Shown};
pub use kills::{CleanRecord, Detection, Kill, KillRecord, Measured};
pub use merging::merged;
pub use pieces::{Piece, disagreed, done, joined, sum};
pub use planning::{PlanRecord, ShardPlan, ShardSeeds};
pub use seeds::SeedSpan;
pub use statistics::Chance;
pub use tally::{Exercise, FallenRun, Reach, Tally};

/// The version of these types. Raised whenever a field changes its name, type or meaning.
pub const SCHEMA: u32 = 2;

/// What every result file begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA`] at the time of writing.
    pub schema: u32,
    /// `campaign`, `check`, `experiment`, `kills`, `plan` or `shrink`.
    pub kind: String,
    /// The revision that ran, as the caller named it; `unknown` if nobody did.
    pub revision: String,
}

impl Header {
    /// The header of a file written now.
    pub fn new(kind: &str, revision: &str) -> Self {
        Header { schema: SCHEMA, kind: kind.to_owned(), revision: revision.to_owned() }
    }
}

/// What ran: enough to run it again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The protocol's name.
    pub protocol: String,
    /// Its parameters in full, in words.
    pub params: BTreeMap<String, String>,
    /// The mechanisms switched off.
    pub mutants: Vec<String>,
    /// Digest of everything that decides but the seed: parameters, mutants, settings or bounds. 16 hex digits.
    pub hash: String,
}

/// A campaign: scenarios, each over many seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CampaignRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// The pinned runs of their protocols, which ran first.
    #[serde(default)]
    pub pins: Vec<PinRecord>,
    /// In the order of their names, in which they ran.
    pub scenarios: Vec<ScenarioRecord>,
    /// The exit code: 0 if all is as expected.
    pub code: u8,
}

/// A pinned run that was replayed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinRecord {
    /// `protocol/pin`.
    pub name: String,
    /// What it once found.
    pub story: String,
    /// `same`, `drifted`, `gone` or `holds`.
    pub verdict: String,
    /// The verdict in a sentence, with the step, what was expected and what was found.
    pub words: String,
    /// 0, or 18.
    pub code: u8,
}

/// One scenario over a range of seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScenarioRecord {
    /// `protocol/scenario`.
    pub name: String,
    /// What it is about.
    pub story: String,
    /// Where it is written, if that lies in the workspace or is a user's own file.
    #[serde(default)]
    pub source: Option<SourceLine>,
    /// What ran.
    pub subject: Subject,
    /// `holds`, or `violated: ` and a property.
    pub expect: String,
    /// The seeds demanded, as on the command line; for a shard, its part.
    pub seeds: String,
    /// Runs demanded; `None` if time alone was.
    pub demanded: Option<u64>,
    /// Runs done.
    pub runs: u64,
    /// Choices applied, over all runs.
    pub steps: u64,
    /// Messages delivered, over all runs.
    pub messages: u64,
    /// Virtual time, over all runs [s].
    pub virtual_seconds: u64,
    /// Wall-clock time [s]. Differs from run to run; decides nothing.
    pub seconds: f64,
    /// Digest over the runs' seeds and digests. 16 hex digits.
    pub digest: String,
    /// Marks taken and goals reached, with how often.
    pub reached: BTreeMap<String, u64>,
    /// The same, with in how many runs and since which seed.
    #[serde(default)]
    pub coverage: BTreeMap<String, Reach>,
    /// By kind of fault: what was reached in the runs that it was in force in.
    #[serde(default)]
    pub exercised: BTreeMap<String, Exercise>,
    /// Goals demanded and not reached.
    pub missed: Vec<String>,
    /// Properties that fell.
    pub falls: Vec<Fall>,
    /// How likely a seed makes them fall, in the same order.
    #[serde(default)]
    pub chances: Vec<Chance>,
    /// Where nothing fell: with a confidence of 95 %, no asserted property falls in more than this part of all seeds.
    #[serde(default)]
    pub clean_bound: Option<f64>,
    /// Runs that ended at a property which the scenario does not assert.
    pub unasserted: u64,
    /// Runs that reached the bound on steps: nothing is known of what would have followed.
    pub limited: u64,
    /// Runs done twice to compare them.
    pub repeated: u64,
    /// The first difference between two runs of one seed, in words.
    pub divergence: Option<String>,
    /// The runs in blocks, in seed order.
    pub blocks: Vec<Block>,
    /// The seeds of the whole campaign, of which this may be a part; `None` for a single seed.
    #[serde(default)]
    pub whole: Option<SeedSpan>,
    /// The seeds that were done.
    #[serde(default)]
    pub done: Vec<SeedSpan>,
    /// Seeds of which several results are known that differ. What they are part of counts in `runs` alone.
    #[serde(default)]
    pub disagreed: Vec<u64>,
    /// What the scenario demands.
    #[serde(default)]
    pub demand: Demand,
    /// What all of the above is made of; empty for a single seed.
    #[serde(default)]
    pub pieces: Vec<Piece>,
    /// What is to be said, a line each.
    pub remarks: Vec<String>,
    /// The exit code of this scenario alone.
    pub code: u8,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceLine {
    /// From the root of the workspace, or as the caller named it.
    pub file: String,
    /// From 1.
    pub line: u64,
}

/// What is judged of a scenario, beside its expectation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demand {
    /// The seeds over which goals and expectation are judged.
    pub seeds: Option<SeedSpan>,
    /// Goals that must be reached.
    pub goals: Vec<String>,
    /// The properties asserted; `None` for all.
    pub properties: Option<Vec<String>>,
    /// By property: the exit code of a fall that is not expected. Any other is a panic.
    pub codes: BTreeMap<String, u8>,
}

/// A property that fell, over all runs of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fall {
    /// The property.
    pub property: String,
    /// In how many runs.
    pub count: u64,
    /// Whether the scenario expects it.
    pub expected: bool,
    /// The first of them.
    pub first: Failure,
    /// What differs among them, the most frequent first.
    pub groups: Vec<FailureGroup>,
}

/// Failures with one signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGroup {
    /// What they have in common.
    pub signature: Signature,
    /// How many runs.
    pub count: u64,
    /// The first seed.
    pub first: String,
    /// The seed of the run with the fewest steps; the first of several.
    pub smallest: String,
    /// How many steps that has.
    pub steps: u64,
}

/// One failure, with what a reader needs to act.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The property that fell; `panic` for a broken assertion of the protocol.
    pub property: String,
    /// Its claim in words.
    pub words: String,
    /// What happened, naming the culprits.
    pub detail: String,
    /// Where: a scenario, or a bound of `check`.
    pub place: String,
    /// The seed; `None` for an exploration.
    pub seed: Option<String>,
    /// The step it fell at, from 1.
    pub step: u64,
    /// Reference time at which it fell [ns].
    pub at_ns: u64,
    /// How far it was shrunk, in words.
    pub shrunk: String,
    /// The last steps before.
    pub why: Vec<TraceStep>,
    /// A line to paste that replays it.
    pub paste: String,
    /// A line to paste that makes it small; empty if nothing does.
    #[serde(default)]
    pub shrink: String,
    /// The revision.
    pub revision: String,
    /// The run's digest. 16 hex digits.
    pub digest: String,
}

/// How large a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSize {
    /// Nodes that start.
    pub nodes: usize,
    /// Things that go wrong around them, and clocks that are not exact.
    pub faults: usize,
    /// Steps, starts and the passing of time among them.
    pub steps: usize,
}

/// A failure made small.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShrinkRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// The shrunk failure. Its line to paste replays it, if it was pinned.
    pub failure: Failure,
    /// What ran, with the parameters of the shrunk run.
    pub subject: Subject,
    /// What it has in common with other failures.
    pub signature: Signature,
    /// How large the run was.
    pub before: RunSize,
    /// How large it is.
    pub after: RunSize,
    /// Runs tried.
    pub tries: u64,
    /// Whether nothing can be left out any more; otherwise the budget ran out.
    pub is_minimal: bool,
    /// `nodes[i]` is node `i`'s name.
    pub nodes: Vec<String>,
    /// The shrunk run.
    pub trace: Vec<TraceStep>,
    /// `chain[i]`: whether the fall hangs on step `i`. The others stand there because the world owed them.
    pub chain: Vec<bool>,
    /// What still goes wrong in it.
    pub faults: Vec<FaultRole>,
    /// `falls[k]`: how many of `continuations` random continuations fall as the run does, after its first `k` steps.
    pub falls: Vec<u32>,
    /// Continuations tried from each moment.
    pub continuations: u32,
    /// After so many steps, and no fewer, every way on falls as the run does, by search; `None` where that is not known.
    #[serde(default)]
    pub certain_after: Option<u64>,
    /// States that were searched to say so.
    #[serde(default)]
    pub certain_states: u64,
}

/// What a remaining fault adds to a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRole {
    /// The fault in words.
    pub what: String,
    /// Whether the fall goes away without it.
    pub is_needed: bool,
}

/// Runs of consecutive seeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// As `0..100`, or one seed.
    pub seeds: String,
    /// How many runs.
    pub runs: u64,
    /// Runs that fell and were not expected to: each as (seed, property).
    pub failed: Vec<(String, String)>,
}

/// An exploration of a protocol at one bound or several. The figures at the top sum up those of the bounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// The protocol's name.
    pub protocol: String,
    /// The mechanisms switched off.
    pub mutants: Vec<String>,
    /// `violated` if any bound is, else `unknown` if any is, else `holds`.
    pub verdict: String,
    /// The first property that fell.
    pub property: Option<String>,
    /// Different states, the sum.
    pub unique: u64,
    /// Transitions, the sum.
    pub total: u64,
    /// The largest depth; `None` if none is known.
    pub depth: Option<u32>,
    /// Whether every bound was exhausted.
    pub exhausted: bool,
    /// Wall-clock time [s].
    pub seconds: f64,
    /// The largest memory for each unique state [bytes].
    pub bytes_per_state: u64,
    /// All abstractions in force anywhere.
    pub abstractions: Vec<String>,
    /// Steps of the first counterexample.
    pub counterexample_length: Option<u64>,
    /// Each bound by itself.
    pub bounds: Vec<BoundRecord>,
    /// The exit code.
    pub code: u8,
}

/// An exploration at one bound.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundRecord {
    /// The bound's name.
    pub name: String,
    /// What it is about.
    pub story: String,
    /// What ran.
    pub subject: Subject,
    /// The bounds in full.
    pub bounds: Bounds,
    /// `holds`, or `violated: ` and a property.
    pub expect: String,
    /// `holds`, `violated` or `unknown`.
    pub verdict: String,
    /// The property that fell.
    pub property: Option<String>,
    /// The culprits, or the budget that ran out, in words.
    pub detail: Option<String>,
    /// Different states, up to the reductions in force.
    pub unique: u64,
    /// Transitions.
    pub total: u64,
    /// Steps from the start to the furthest state; `None` depth first, where it is not known.
    pub depth: Option<u32>,
    /// Whether every state within the bounds was seen.
    pub exhausted: bool,
    /// Whether a bound on tags or depth cut states off.
    pub cut: bool,
    /// Wall-clock time [s].
    pub seconds: f64,
    /// Memory for each unique state [bytes].
    pub bytes_per_state: u64,
    /// The chance that a state was missed is at most one in this.
    pub collision_odds: u64,
    /// Where the model is smaller than the protocol.
    pub abstractions: Vec<String>,
    /// Marks taken and goals reached.
    pub reached: Vec<String>,
    /// Goals demanded and not reached: with any, the verdict is vacuous.
    pub missed: Vec<String>,
    /// Kinds that never occurred.
    pub unexercised: Vec<String>,
    /// Steps of the counterexample.
    pub counterexample_length: Option<u64>,
    /// The counterexample.
    pub counterexample: Vec<TraceStep>,
    /// Of a counterexample without end: how many steps come before those that repeat for ever. All of them, if nothing
    /// happens any more.
    pub repeats_after: Option<u64>,
    /// A line to paste that finds it again.
    pub paste: String,
    /// What is to be said, a line each.
    pub remarks: Vec<String>,
    /// The exit code of this bound alone.
    pub code: u8,
}
