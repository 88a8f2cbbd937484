//! A campaign: one scenario over many seeds, counted, grouped, and judged against what it expects.

use std::ops::ControlFlow;

use seedbed_model::record::{Demand, Failure, FallenRun, ScenarioRecord, SeedSpan, Subject};
use seedbed_model::{Property, UNKNOWN, hash};
use seedbed_sim::{Found, Run, Seed};

use crate::console::Meter;
use crate::exit::{self, BadInput};
use crate::face::{Face, Setup};
use crate::gathering::{self, Gathered};
use crate::history::claim;
use crate::judging;
use crate::keeping::{Keep, Kept};
use crate::library::Scenario;
use crate::params;
use crate::seeds::{SeedRange, Seeds};
use crate::stopwatch::{Deadline, Stopwatch};

/// The runs of seeds that this divides are done twice.
const REPEAT_EVERY: u64 = 256;
/// Below this seed they are more: campaigns of a few seeds begin at 0.
const REPEAT_OFTEN_BELOW: u64 = 512;
/// What divides those.
const REPEAT_OFTEN_EVERY: u64 = 64;
/// The steps that a failure shows.
const WHY_COUNT: usize = 8;

/// What one campaign needs to know.
pub(crate) struct Campaign<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) scenario: &'a Scenario,
    pub(crate) seeds: Seeds,
    /// The seeds of all shards; `None` if time alone says, or for a single seed.
    pub(crate) whole: Option<SeedRange>,
    /// Where it is kept for the time after a kill.
    pub(crate) keep: Option<&'a Keep>,
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

impl Campaign<'_> {
    /// Runs the seeds that were not kept before, a sample of them twice, and judges.
    ///
    /// # Errors
    /// On parameters that the protocol refuses, and on a checkpoint of something else.
    pub(crate) fn run(&self, meter: &Meter) -> Result<ScenarioRecord, BadInput> {
        let watch = Stopwatch::start();
        let mut gathered = Gathered::default();
        let blank = self.blank()?;
        let mut kept = self.keep.map(|keep| keep.of(&blank)).transpose()?;
        if let Some(record) = kept.as_mut().map(Kept::read).transpose()?.flatten() {
            gathered.resume(record);
        }
        for seeds in self.left(&gathered) {
            if self.deadline.is_over() && gathered.runs() > 0 {
                break;
            }
            self.gather(seeds, &mut gathered, kept.as_mut(), meter)?;
        }
        let mut record = gathered.record(blank);
        record.seconds = watch.seconds();
        if let Some(kept) = &kept {
            kept.write(&record)?;
        }
        judging::judge(&mut record);
        Ok(record)
    }

    /// The seeds that are left.
    fn left(&self, gathered: &Gathered) -> Vec<Seeds> {
        let span = match self.seeds {
            Seeds::Range(range) => SeedSpan { from: range.from, to: range.to },
            Seeds::Endless => SeedSpan { from: 0, to: u64::MAX },
            Seeds::One(_) => return vec![self.seeds],
        };
        let range = |span: SeedSpan| Seeds::Range(SeedRange { from: span.from, to: span.to });
        span.without(&gathered.done()).into_iter().map(range).collect()
    }

    fn gather(
        &self,
        seeds: Seeds,
        gathered: &mut Gathered,
        mut kept: Option<&mut Kept>,
        meter: &Meter,
    ) -> Result<(), BadInput> {
        let mut refusal = None;
        self.drive(seeds, &mut |run| {
            refusal = self.count(gathered, &run).err();
            meter.at(gathered.runs());
            if let Some(kept) = kept.as_mut().and_then(|kept| kept.when_due()) {
                let written = self.blank().and_then(|blank| kept.write(&gathered.clone().record(blank)));
                refusal = refusal.take().or(written.err());
            }
            if refusal.is_some() || self.deadline.is_over() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        refusal.map_or(Ok(()), Err)
    }

    fn setup(&self) -> &Setup {
        &self.scenario.setup
    }

    fn refused(&self, why: &str) -> BadInput {
        BadInput::file(&self.scenario.name, why)
    }

    fn drive(&self, seeds: Seeds, on_run: &mut dyn FnMut(Run) -> ControlFlow<()>) -> Result<(), BadInput> {
        let settings = &self.scenario.settings;
        let range = match seeds {
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

    fn count(&self, gathered: &mut Gathered, run: &Run) -> Result<(), BadInput> {
        let asserted: Vec<String> = self.asserted(&run.violations);
        let mut tally = gathering::tally(run);
        tally.unasserted = u64::from(asserted.is_empty() && !run.violations.is_empty());
        if self.is_sampled(run.seed) {
            tally.repeated = 1;
            let found = self.face.divergence(self.setup(), &self.scenario.settings, run.seed);
            let found = found.map_err(|why| self.refused(&why))?;
            tally.diverged.extend(found.map(|words| (gathering::number(run.seed), words)));
        }
        for property in asserted {
            // A run is signed by doing it again, slowly: those that hold pay nothing for it.
            let signature = self.face.sign(self.setup(), &self.scenario.settings, run.seed, &property);
            let signature = signature.map_err(|why| self.refused(&why))?;
            if gathered.is_first(&property, run.seed) {
                gathered.note_first(self.failure(&self.properties()?, &property, run)?);
            }
            tally.fell.push(FallenRun { seed: gathering::number(run.seed), property, steps: run.steps, signature });
        }
        match self.seeds {
            Seeds::One(seed) => gathered.note_single(seed, tally),
            _ => gathered.note(tally, run),
        }
        Ok(())
    }

    /// Whether the run of a seed is done twice: the same seeds are in every campaign, however it is cut.
    fn is_sampled(&self, seed: Seed) -> bool {
        match (self.seeds, seed) {
            (Seeds::One(_), _) | (_, Seed::Commit(_)) => true,
            (_, Seed::Number(seed)) => {
                let every = if seed < REPEAT_OFTEN_BELOW { REPEAT_OFTEN_EVERY } else { REPEAT_EVERY };
                seed.is_multiple_of(every)
            }
        }
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

    /// The record before the first run.
    fn blank(&self) -> Result<ScenarioRecord, BadInput> {
        let range = self.scenario.seeds;
        Ok(ScenarioRecord {
            name: self.scenario.name.clone(),
            story: self.scenario.story.clone(),
            source: self.scenario.written.clone(),
            subject: self.subject()?,
            expect: self.scenario.expect.to_string(),
            seeds: self.seeds.to_string(),
            demanded: self.seeds.demanded(),
            whole: self.whole.map(|whole| SeedSpan { from: whole.from, to: whole.to }),
            demand: Demand {
                seeds: Some(SeedSpan { from: range.from, to: range.to }),
                goals: self.scenario.goals.clone(),
                properties: self.scenario.properties.clone(),
                codes: exit::of_falls(&self.properties()?),
            },
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
