//! A guided campaign: seeds that learn from what earlier ones reached, counted and judged like a plain one.
//!
//! A run that falls is told by its seed and a plan that says where it leaves the seed's way. The plan is written to a file, so that
//! the line to paste needs nothing of the campaign.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use seedbed_model::record::{Failure, Fall, ScenarioRecord};
use seedbed_model::{Property, hash};
use seedbed_sim::{End, Run, Settings};

use crate::campaign::{Paste, subject, words_of};
use crate::command::quoted;
use crate::console::{Meter, write_file};
use crate::exit::{self, BadInput};
use crate::face::Face;
use crate::file::Expect;
use crate::library::Scenario;
use crate::seeds::SeedRange;
use crate::stopwatch::{Deadline, Stopwatch};

/// The steps that a failure shows.
const WHY_COUNT: usize = 8;

/// What one guided campaign needs to know.
pub(crate) struct Guided<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) scenario: &'a Scenario,
    /// As many runs, from the first of these seeds.
    pub(crate) seeds: SeedRange,
    /// Where the plans of runs that fell are written.
    pub(crate) folder: &'a Path,
    pub(crate) jobs: usize,
    pub(crate) deadline: Deadline,
    pub(crate) paste: &'a Paste,
}

impl Guided<'_> {
    /// Runs and judges.
    ///
    /// # Errors
    /// On a scenario that judges histories beside the protocol, parameters that the protocol refuses, and a folder that cannot be
    /// written.
    pub(crate) fn run(&self, meter: &Meter) -> Result<ScenarioRecord, BadInput> {
        if self.scenario.setup.history.is_some() {
            return Err(self.refused(
                "--guided: it watches the protocol's own properties, and this scenario judges a `history` beside them; run it plainly",
            ));
        }
        let watch = Stopwatch::start();
        let mut record = self.empty()?;
        let mut falls: BTreeMap<String, (u64, Run)> = BTreeMap::new();
        let (mut digest, mut virtual_ns, mut places) = (0, 0u128, 0);
        let settings = &self.scenario.settings;
        let range = self.seeds.from..self.seeds.to;
        let ran = self.face.guide(&self.scenario.setup, settings, range, self.jobs, &mut |run, guidance| {
            meter.at(guidance.runs);
            record.runs += 1;
            record.steps += run.steps;
            record.messages += run.messages;
            record.limited += u64::from(run.end == End::StepLimit);
            virtual_ns += u128::from(run.now_ns);
            digest = hash(digest, &run.digest.to_le_bytes());
            places = guidance.places;
            for (goal, count) in &run.reached {
                *record.reached.entry((*goal).to_owned()).or_insert(0) += count;
            }
            let asserted = self.asserted(&run);
            record.unasserted += u64::from(asserted.is_empty() && !run.violations.is_empty());
            for property in asserted {
                falls.entry(property).or_insert_with(|| (0, run.clone())).0 += 1;
            }
            if self.deadline.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ran.map_err(|why| self.refused(&why))?;
        record.digest = format!("{digest:016x}");
        record.virtual_seconds = (virtual_ns / 1_000_000_000) as u64;
        record.remarks.push(format!("guided: {} runs were at {places} different places", record.runs));
        self.judge(&mut record, falls)?;
        record.seconds = watch.seconds();
        Ok(record)
    }

    fn refused(&self, why: &str) -> BadInput {
        BadInput::file(&self.scenario.name, why)
    }

    fn empty(&self) -> Result<ScenarioRecord, BadInput> {
        let params = self.face.full_params(&self.scenario.setup.params).map_err(|why| self.refused(&why))?;
        let settings =
            serde_json::to_string(&self.scenario.settings).map_err(|error| self.refused(&error.to_string()))?;
        Ok(ScenarioRecord {
            name: self.scenario.name.clone(),
            story: self.scenario.story.clone(),
            // Guided runs are not those of a plain campaign over the same seeds: their results never mix.
            subject: subject(self.face.name(), &self.scenario.setup, &params, &format!("{settings}\nguided")),
            expect: self.scenario.expect.to_string(),
            seeds: format!("{} guided", self.seeds),
            demanded: (self.seeds.to < u64::MAX).then(|| self.seeds.count()),
            ..ScenarioRecord::default()
        })
    }

    fn asserted(&self, run: &Run) -> Vec<String> {
        let counts = |name: &String| match &self.scenario.properties {
            Some(properties) => name == "panic" || properties.contains(name),
            None => true,
        };
        let mut names: Vec<String> =
            run.violations.iter().map(|found| found.violation.property.clone()).filter(counts).collect();
        names.sort();
        names.dedup();
        names
    }

    fn judge(&self, record: &mut ScenarioRecord, falls: BTreeMap<String, (u64, Run)>) -> Result<(), BadInput> {
        let properties = self.face.describe(&self.scenario.setup).map_err(|why| self.refused(&why))?.properties;
        let mut codes = Vec::new();
        for (property, (count, run)) in falls {
            let expected = self.scenario.expect == Expect::Violated(property.clone());
            codes.extend((!expected).then(|| exit::of_fall(&properties, &property)));
            let first = self.failure(&properties, &property, &run)?;
            record.falls.push(Fall { property, count, expected, first, groups: Vec::new() });
        }
        if let Some(demanded) = record.demanded.filter(|demanded| record.runs < *demanded) {
            record.remarks.push(format!("time ran out after {} of {demanded} runs", record.runs));
            codes.push(exit::INCOMPLETE);
        }
        if record.limited > 0 {
            record.remarks.push(format!("{} runs reached settings.step-count-max", record.limited));
            codes.push(exit::UNKNOWN);
        }
        record.code = exit::lowest(codes);
        Ok(())
    }

    fn failure(&self, properties: &[Property], property: &str, run: &Run) -> Result<Failure, BadInput> {
        let path = self.plan_file(property);
        let text = toml::to_string(&run.plan).map_err(|error| self.refused(&error.to_string()))?;
        write_file(&path, &text)?;
        let settings = Settings { plan: Some(run.plan.clone()), ..self.scenario.settings.clone() };
        let traced = self.face.trace(&self.scenario.setup, &settings, run.seed, Some(WHY_COUNT));
        let traced = traced.map_err(|why| self.refused(&why))?;
        let found = run.violations.iter().find(|found| found.violation.property == property);
        let planned = Paste {
            flags: format!(" --plan {}{}", quoted(&path.display().to_string()), self.paste.flags),
            ..self.paste.clone()
        };
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
            paste: planned.replay(&self.scenario.name, run.seed),
            shrink: planned.shrink(&self.scenario.name, run.seed, property),
            revision: self.paste.revision.clone(),
            digest: format!("{:016x}", run.digest),
        })
    }

    fn plan_file(&self, property: &str) -> PathBuf {
        self.folder.join(format!("{}-{property}.toml", self.scenario.name.replace('/', "-")))
    }
}
