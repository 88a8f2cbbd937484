//! A campaign: one scenario over many seeds, counted, grouped, and judged against what it expects.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use seedbed_model::record::{Block, Failure, Fall, ScenarioRecord, Subject};
use seedbed_model::{Property, UNKNOWN, hash};
use seedbed_sim::{End, Found, Run, Seed};

use crate::console::Meter;
use crate::exit::{self, BadInput};
use crate::face::{Face, Setup};
use crate::file::Expect;
use crate::history::claim;
use crate::kinds::Kinds;
use crate::library::Scenario;
use crate::params;
use crate::seeds::Seeds;
use crate::stopwatch::{Deadline, Stopwatch};

/// Runs of consecutive seeds in one block of the record.
const BLOCK_COUNT: u64 = 100;
/// Of so many runs, one is done twice.
const REPEAT_EVERY: u64 = 64;
/// No more than so many are done twice.
const REPEAT_COUNT_MAX: u64 = 8;
/// The steps that a failure shows.
const WHY_COUNT: usize = 8;

/// What one campaign needs to know.
pub(crate) struct Campaign<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) scenario: &'a Scenario,
    pub(crate) seeds: Seeds,
    pub(crate) jobs: usize,
    pub(crate) deadline: Deadline,
    pub(crate) paste: &'a Paste,
}

/// What makes a line to paste, and whence it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paste {
    /// The command as it is called.
    pub(crate) command: String,
    /// Flags that every line repeats: mutants, parameters, a folder of scenarios.
    pub(crate) flags: String,
    pub(crate) revision: String,
}

impl Paste {
    /// The line that replays a scenario's seed.
    pub(crate) fn replay(&self, scenario: &str, seed: Seed) -> String {
        format!("{} replay {scenario} --seed {seed}{}", self.command, self.flags)
    }

    /// The line that makes it small.
    pub(crate) fn shrink(&self, scenario: &str, seed: Seed, property: &str) -> String {
        format!("{} shrink {scenario} --seed {seed} --property {property}{}", self.command, self.flags)
    }
}

/// The runs so far, added up.
#[derive(Default)]
struct Tally {
    runs: u64,
    steps: u64,
    messages: u64,
    virtual_ns: u128,
    digest: u64,
    reached: BTreeMap<&'static str, u64>,
    /// By property: how often, and the first run.
    falls: BTreeMap<String, (u64, Run)>,
    kinds: Kinds,
    unasserted: u64,
    limited: u64,
    blocks: Vec<Block>,
    block: Option<(Seed, Seed, Block)>,
    seeds_seen: Vec<Seed>,
}

impl Campaign<'_> {
    /// Runs the seeds, the sample of them again, and judges.
    ///
    /// # Errors
    /// On parameters that the protocol refuses.
    pub(crate) fn run(&self, meter: &Meter) -> Result<ScenarioRecord, BadInput> {
        let watch = Stopwatch::start();
        let mut tally = Tally::default();
        let mut refusal = None;
        self.drive(&mut |run| {
            refusal = self.count(&mut tally, run).err();
            meter.at(tally.runs);
            if refusal.is_some() || self.deadline.is_over() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        if let Some(refused) = refusal {
            return Err(refused);
        }
        tally.close_block();
        let (repeated, divergence) = self.repeat(&tally)?;
        let mut record = self.record(tally)?;
        record.repeated = repeated;
        record.divergence = divergence;
        record.seconds = watch.seconds();
        self.judge(&mut record)?;
        Ok(record)
    }

    fn setup(&self) -> &Setup {
        &self.scenario.setup
    }

    fn refused(&self, why: &str) -> BadInput {
        BadInput::file(&self.scenario.name, why)
    }

    fn drive(&self, on_run: &mut dyn FnMut(Run) -> ControlFlow<()>) -> Result<(), BadInput> {
        let settings = &self.scenario.settings;
        let range = match self.seeds {
            Seeds::Range(range) => range.from..range.to,
            Seeds::Endless => 0..u64::MAX,
            Seeds::One(seed) => {
                let run = self.face.simulate(self.setup(), settings, seed).map_err(|why| self.refused(&why))?;
                // A single run is never one too many.
                let _ = on_run(run);
                return Ok(());
            }
        };
        self.face.sweep(self.setup(), settings, range, self.jobs, on_run).map_err(|why| self.refused(&why))
    }

    fn count(&self, tally: &mut Tally, run: Run) -> Result<(), BadInput> {
        tally.runs += 1;
        tally.steps += run.steps;
        tally.messages += run.messages;
        tally.virtual_ns += u128::from(run.now_ns);
        tally.digest = hash(tally.digest, &run.digest.to_le_bytes());
        tally.limited += u64::from(run.end == End::StepLimit);
        for (goal, count) in &run.reached {
            *tally.reached.entry(goal).or_insert(0) += count;
        }
        if tally.runs.is_multiple_of(REPEAT_EVERY) || tally.runs == 1 {
            tally.seeds_seen.push(run.seed);
        }
        let asserted: Vec<String> = self.asserted(&run.violations);
        tally.unasserted += u64::from(asserted.is_empty() && !run.violations.is_empty());
        let unexpected = asserted.iter().find(|property| !self.is_expected(property)).cloned();
        tally.note_block(run.seed, unexpected);
        for property in asserted {
            // A run is signed by doing it again, slowly: those that hold pay nothing for it.
            let signature = self.face.sign(self.setup(), &self.scenario.settings, run.seed, &property);
            if let Some(signature) = signature.map_err(|why| self.refused(&why))? {
                tally.kinds.note(signature, &run);
            }
            tally.falls.entry(property).or_insert_with(|| (0, run.clone())).0 += 1;
        }
        Ok(())
    }

    /// The properties that fell, of those that count: a panic always does.
    fn asserted(&self, found: &[Found]) -> Vec<String> {
        let counts = |name: &String| match &self.scenario.properties {
            Some(properties) => name == "panic" || self.is_claimed(name) || properties.contains(name),
            None => true,
        };
        let mut names: Vec<String> =
            found.iter().map(|found| found.violation.property.clone()).filter(counts).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Whether a name is that of the scenario's `history`, or of one that was given up.
    fn is_claimed(&self, name: &str) -> bool {
        self.setup().history.is_some() && [claim::PROPERTY.name, UNKNOWN].contains(&name)
    }

    fn is_expected(&self, property: &str) -> bool {
        self.scenario.expect == Expect::Violated(property.to_owned())
    }

    /// Runs a sample of the seeds twice. How many, and the first difference.
    fn repeat(&self, tally: &Tally) -> Result<(u64, Option<String>), BadInput> {
        let stride = (tally.seeds_seen.len() as u64).div_ceil(REPEAT_COUNT_MAX).max(1);
        let sample = tally.seeds_seen.iter().step_by(stride as usize);
        let mut repeated = 0;
        for seed in sample {
            repeated += 1;
            let found = self.face.divergence(self.setup(), &self.scenario.settings, *seed);
            if let Some(found) = found.map_err(|why| self.refused(&why))? {
                return Ok((repeated, Some(format!("seed {seed}: {found}"))));
            }
        }
        Ok((repeated, None))
    }

    fn record(&self, tally: Tally) -> Result<ScenarioRecord, BadInput> {
        let properties = self.properties()?;
        let mut falls = Vec::new();
        for (property, (count, run)) in tally.falls {
            let expected = self.is_expected(&property);
            let groups = tally.kinds.of(&property);
            falls.push(Fall { count, expected, first: self.failure(&properties, &property, &run)?, groups, property });
        }
        Ok(ScenarioRecord {
            name: self.scenario.name.clone(),
            story: self.scenario.story.clone(),
            subject: self.subject()?,
            expect: self.scenario.expect.to_string(),
            seeds: self.seeds.to_string(),
            demanded: self.seeds.demanded(),
            runs: tally.runs,
            steps: tally.steps,
            messages: tally.messages,
            virtual_seconds: (tally.virtual_ns / 1_000_000_000) as u64,
            digest: format!("{:016x}", tally.digest),
            reached: tally.reached.iter().map(|(goal, count)| ((*goal).to_owned(), *count)).collect(),
            falls,
            unasserted: tally.unasserted,
            limited: tally.limited,
            blocks: tally.blocks,
            ..ScenarioRecord::default()
        })
    }

    fn properties(&self) -> Result<Vec<Property>, BadInput> {
        Ok(self.face.describe(self.setup()).map_err(|why| self.refused(&why))?.properties)
    }

    fn subject(&self) -> Result<Subject, BadInput> {
        let params = self.face.full_params(&self.setup().params).map_err(|why| self.refused(&why))?;
        let settings =
            serde_json::to_string(&self.scenario.settings).map_err(|error| self.refused(&error.to_string()))?;
        Ok(subject(self.face.name(), self.setup(), &params, &settings))
    }

    fn failure(&self, properties: &[Property], property: &str, run: &Run) -> Result<Failure, BadInput> {
        let traced = self.face.trace(self.setup(), &self.scenario.settings, run.seed, Some(WHY_COUNT));
        let traced = traced.map_err(|why| self.refused(&why))?;
        // The run once more knows the smallest piece of a contradiction.
        let found = traced.run.violations.iter().find(|found| found.violation.property == property);
        Ok(Failure {
            property: property.to_owned(),
            words: words_of(properties, property),
            detail: found.map(|found| found.violation.detail.clone()).unwrap_or_default(),
            place: self.scenario.name.clone(),
            seed: Some(run.seed.to_string()),
            step: found.map_or(run.steps, |found| found.step),
            at_ns: found.map_or(run.now_ns, |found| found.at_ns),
            shrunk: "not shrunk".into(),
            why: traced.trace,
            paste: self.paste.replay(&self.scenario.name, run.seed),
            shrink: match self.is_claimed(property) || property == UNKNOWN {
                true => String::new(),
                false => self.paste.shrink(&self.scenario.name, run.seed, property),
            },
            revision: self.paste.revision.clone(),
            digest: format!("{:016x}", run.digest),
        })
    }

    /// Fills in what was missed, the remarks, and the code.
    fn judge(&self, record: &mut ScenarioRecord) -> Result<(), BadInput> {
        let properties = self.properties()?;
        let whole = self.seeds.covers(self.scenario.seeds, record.runs);
        let mut codes: Vec<u8> = record
            .falls
            .iter()
            .filter(|fall| !fall.expected)
            .map(|fall| exit::of_fall(&properties, &fall.property))
            .collect();
        codes.extend(self.judge_expectation(record, whole));
        codes.extend(self.judge_goals(record, whole));
        if record.divergence.is_some() {
            codes.push(exit::NONDETERMINISM);
        }
        if record.limited > 0 {
            codes.push(exit::UNKNOWN);
        }
        if record.demanded.is_some_and(|demanded| record.runs < demanded) {
            codes.push(exit::INCOMPLETE);
        }
        record.remarks.extend(remarks(record));
        record.code = exit::lowest(codes);
        Ok(())
    }

    fn judge_expectation(&self, record: &mut ScenarioRecord, whole: bool) -> Option<u8> {
        let Expect::Violated(property) = &self.scenario.expect else { return None };
        if record.falls.iter().any(|fall| fall.expected) {
            return None;
        }
        if !whole {
            record.remarks.push(format!(
                "{property} did not fall; the scenario expects it somewhere in seeds {}",
                self.scenario.seeds
            ));
            return None;
        }
        record.remarks.push(format!("{property} must fall and never did: what the scenario expects was not reached"));
        Some(exit::PROGRESS)
    }

    /// A run that fell early reaches little: where one did against expectation, goals are not judged beside it.
    fn judge_goals(&self, record: &mut ScenarioRecord, whole: bool) -> Option<u8> {
        if record.falls.iter().any(|fall| !fall.expected) {
            return None;
        }
        let missed = self.scenario.goals.iter().filter(|goal| !record.reached.contains_key(*goal));
        let missed: Vec<String> = missed.cloned().collect();
        if missed.is_empty() {
            return None;
        }
        if !whole {
            record.remarks.push(format!(
                "never reached: {}; judged over seeds {} alone",
                missed.join(", "),
                self.scenario.seeds
            ));
            return None;
        }
        record.remarks.push(format!("never reached, though it must be: {}", missed.join(", ")));
        record.missed = missed;
        Some(exit::PROGRESS)
    }
}

impl Tally {
    fn note_block(&mut self, seed: Seed, failed: Option<String>) {
        let (_, last, block) =
            self.block.get_or_insert_with(|| (seed, seed, Block { seeds: String::new(), runs: 0, failed: Vec::new() }));
        *last = seed;
        block.runs += 1;
        block.failed.extend(failed.map(|property| (seed.to_string(), property)));
        if block.runs == BLOCK_COUNT {
            self.close_block();
        }
    }

    fn close_block(&mut self) {
        if let Some((first, last, mut block)) = self.block.take() {
            block.seeds = match (first, last) {
                (Seed::Number(first), Seed::Number(last)) if first != last => {
                    format!("{first}..{}", last.saturating_add(1))
                }
                _ => first.to_string(),
            };
            self.blocks.push(block);
        }
    }
}

/// What is said of a scenario whatever it expects.
fn remarks(record: &ScenarioRecord) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(divergence) = &record.divergence {
        remarks.push(format!("two runs of one seed differ: {divergence}"));
    }
    if record.limited > 0 {
        remarks.push(format!(
            "{} runs reached settings.step-count-max: raise it, or shorten settings.duration",
            record.limited
        ));
    }
    if let Some(demanded) = record.demanded.filter(|demanded| record.runs < *demanded) {
        remarks.push(format!("time ran out after {} of {demanded} runs", record.runs));
    }
    if record.unasserted > 0 {
        remarks.push(format!("{} runs ended at a property that the scenario does not assert", record.unasserted));
    }
    remarks
}

/// The claim of a property in words.
pub(crate) fn words_of(properties: &[Property], name: &str) -> String {
    match properties.iter().find(|property| property.name == name) {
        Some(property) => property.words.to_owned(),
        None => "the protocol's own assertions hold".into(),
    }
}

/// What ran, with a digest over all that decides.
pub(crate) fn subject(protocol: &str, setup: &Setup, params: &toml::Table, rest: &str) -> Subject {
    let mut text = format!("{protocol}\n{params}\n{:?}\n{rest}", setup.mutants);
    if let Some(claim) = &setup.history {
        text.push_str(&format!("\n{claim:?}"));
    }
    Subject {
        protocol: protocol.to_owned(),
        params: params::words(params),
        mutants: setup.mutants.clone(),
        hash: format!("{:016x}", hash(0, text.as_bytes())),
    }
}
