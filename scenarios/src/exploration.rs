//! An exploration at one bound, judged against what it expects and what it must reach.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use seedbed_model::explore::{Aids, Bounds, Frontier, Kept, Order, Progress, Strategy, Verdict};
use seedbed_model::record::{BoundRecord, Failure};
use seedbed_model::{Kind, Span};
use seedbed_reports::number;

use crate::campaign::{Paste, subject, words_of};
use crate::checkpoint::Checkpoint;
use crate::console::Meter;
use crate::engine::Engine;
use crate::exit::{self, BadInput};
use crate::face::{Explored, Face, Setup};
use crate::file::Expect;
use crate::folder::Folder;
use crate::frontier::DiskShelf;
use crate::library::{self, Bound};
use crate::moment::{At, Origin};
use crate::pin::{FORMAT, Pin};
use crate::stopwatch::{Deadline, Stopwatch};

/// One bound to explore.
pub(crate) struct Exploration<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) bound: &'a Bound,
    /// The moment of a run that it begins at, and how that run is called; `None` for the start.
    pub(crate) from: Option<(Origin<'a>, &'a str)>,
    /// The mechanisms switched off.
    pub(crate) mutants: &'a [String],
    pub(crate) engine: Engine,
    pub(crate) strategy: Strategy,
    /// Where the search is kept, if it is.
    pub(crate) checkpoints: Option<Checkpoints<'a>>,
    /// Where states wait that memory has no room for, if anywhere.
    pub(crate) waiting_room: Option<WaitingRoom<'a>>,
    pub(crate) deadline: Deadline,
    /// Raised when nobody waits for the outcome any more.
    pub(crate) is_over: Option<&'a AtomicBool>,
    pub(crate) paste: &'a Paste,
}

/// Where and how often searches are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoints<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) every: Span,
}

/// Room on disk for states that wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WaitingRoom<'a> {
    pub(crate) folder: &'a Path,
    /// So much of a level waits in memory.
    pub(crate) bytes: usize,
}

/// What came of it: the record, and what a failure shows and a pin holds.
pub(crate) struct Outcome {
    pub(crate) record: BoundRecord,
    pub(crate) failure: Option<Failure>,
    pub(crate) pin: Option<Pin>,
    /// `nodes[i]` is node `i`'s name.
    pub(crate) nodes: Vec<String>,
}

impl Exploration<'_> {
    /// Explores and judges.
    ///
    /// # Errors
    /// On parameters that the protocol refuses, and bounds that do not fit it.
    pub(crate) fn run(&self, meter: &Meter) -> Result<Outcome, BadInput> {
        let refused = |why: String| BadInput::file(self.place(), why);
        let setup = Setup { params: self.bound.params.clone(), mutants: self.mutants.to_vec(), history: None };
        let bounds = library::full_bounds(&self.bound.bounds).map_err(refused)?;
        let described = self.face.describe(&setup).map_err(refused)?;
        let watch = Stopwatch::start();
        let explored = self.explored(&setup, &bounds, meter)?;
        let mut record = self.record(&setup, &bounds, &explored).map_err(refused)?;
        record.seconds = watch.seconds();
        self.judge(&mut record, &explored, &described.properties);
        let failure = self.failure(&record, &explored, &described.properties);
        let pin = self.pin(&setup, &explored);
        Ok(Outcome { record, failure, pin, nodes: described.nodes })
    }

    /// Where a finding is.
    fn place(&self) -> String {
        match &self.from {
            None => format!("check {}, bound {}", self.face.name(), self.bound.name),
            Some((origin, run)) => format!("explore {run} from {}", origin.at),
        }
    }

    fn explored(&self, setup: &Setup, bounds: &Bounds, meter: &Meter) -> Result<Explored, BadInput> {
        let place = self.place();
        let mut watch = |progress| {
            show(meter, progress);
            !self.deadline.is_over() && !self.is_over.is_some_and(|is_over| is_over.load(Ordering::Relaxed))
        };
        if let Some((origin, _)) = &self.from {
            let found = self.face.explore_from(setup, origin, bounds, &self.strategy, &mut watch);
            return found.map_err(|why| BadInput::file(place, why));
        }
        let mut run = |aids| self.face.explore(setup, bounds, self.engine, &self.strategy, aids, &mut watch);
        if self.engine == Engine::Stateright {
            let flag = self.checkpoints.map(|_| "checkpoint").or(self.waiting_room.map(|_| "frontier"));
            if let Some(flag) = flag {
                return Err(BadInput::flag(format!(
                    "--{flag}: stateright's checkers keep none; leave out --engine stateright"
                )));
            }
        }
        let (name, bound) = (self.face.name(), &self.bound.name);
        let mut shelf = self.waiting_room.map(|room| DiskShelf::new(room.folder, name, bound)).transpose()?;
        let bytes = self.waiting_room.map_or(0, |room| room.bytes);
        let frontier = shelf.as_mut().map(|shelf| Frontier { shelf, bytes });
        let Some(Checkpoints { folder, every }) = self.checkpoints else {
            return run(Aids { kept: None, frontier }).map_err(|why| BadInput::file(place, why));
        };
        let mut keeper = Checkpoint::new(folder, name, bound, every);
        let params = self.face.full_params(&setup.params).map_err(|why| BadInput::file(&place, why))?;
        let all = serde_json::to_string(bounds).map_err(|error| BadInput::file(&place, error.to_string()))?;
        let subject = format!("{place}, {}", subject(name, setup, &params, &all).hash);
        let mut before = keeper.kept()?;
        let file = keeper.path().display().to_string();
        let resume = before.as_mut().map(|file| file as &mut dyn std::io::Read);
        // In another order nothing is wrong with what was kept.
        let is_resumed = resume.is_some() && self.strategy.order == Order::BreadthFirst;
        let kept = Some(Kept { subject: &subject, resume, keeper: &mut keeper });
        run(Aids { kept, frontier }).map_err(|why| match is_resumed {
            true => BadInput::file(file, format!("{why}; remove the file to begin anew")),
            false => BadInput::file(place, why),
        })
    }

    fn record(&self, setup: &Setup, bounds: &Bounds, explored: &Explored) -> Result<BoundRecord, String> {
        let params = self.face.full_params(&setup.params)?;
        let rest = serde_json::to_string(bounds).map_err(|error| error.to_string())?;
        let stats = &explored.stats;
        let (verdict, property, detail) = match &explored.verdict {
            Verdict::Holds => ("holds", None, None),
            Verdict::Violated(violation) => {
                ("violated", Some(violation.property.clone()), Some(violation.detail.clone()))
            }
            Verdict::Unknown(why) => ("unknown", None, Some(why.clone())),
        };
        let trace = explored.counterexample.as_ref();
        let trace = trace.map(|found| found.replayed.trace[explored.steps_before..].to_vec());
        Ok(BoundRecord {
            name: self.bound.name.clone(),
            story: self.bound.story.clone(),
            subject: subject(self.face.name(), setup, &params, &rest),
            bounds: bounds.clone(),
            expect: self.bound.expect.to_string(),
            verdict: verdict.into(),
            property,
            detail,
            unique: stats.unique,
            total: stats.total,
            depth: stats.depth,
            exhausted: stats.exhausted,
            cut: stats.cut,
            bytes_per_state: stats.bytes / stats.unique.max(1),
            collision_odds: stats.collision_odds(),
            abstractions: explored.abstractions.clone(),
            reached: explored.reached.iter().map(|goal| (*goal).to_owned()).collect(),
            unexercised: explored.unexercised.clone(),
            counterexample_length: trace.as_ref().map(|trace| trace.len() as u64),
            counterexample: trace.unwrap_or_default(),
            repeats_after: explored.repeats_from.map(|at| at as u64),
            paste: self.pasted(),
            ..BoundRecord::default()
        })
    }

    /// A line that finds it again.
    fn pasted(&self) -> String {
        let Paste { command, flags, .. } = self.paste;
        match &self.from {
            None => format!("{command} check {} --bound name={}{flags}", self.face.name(), self.bound.name),
            Some((origin, run)) => {
                let at = match origin.at {
                    At::Time(time) => time.to_string(),
                    At::Step(step) => step.to_string(),
                };
                format!("{command} explore {run} --seed {} --at {at}{flags}", origin.seed)
            }
        }
    }

    /// Fills in what was missed, the remarks, and the code.
    fn judge(&self, record: &mut BoundRecord, explored: &Explored, properties: &[seedbed_model::Property]) {
        let (code, remark) = match (&explored.verdict, &self.bound.expect) {
            (Verdict::Violated(violation), Expect::Violated(property)) if violation.property == *property => {
                (exit::EXPECTED, None)
            }
            (Verdict::Violated(violation), _) => (exit::of_fall(properties, &violation.property), None),
            (Verdict::Unknown(_), _) => (exit::UNKNOWN, None),
            (Verdict::Holds, Expect::Violated(property)) if self.cannot_say(properties, property) => {
                (exit::UNKNOWN, Some(format!("{property} must fall within this bound; stateright cannot say it")))
            }
            (Verdict::Holds, Expect::Violated(property)) => {
                (exit::PROGRESS, Some(format!("{property} must fall within this bound and does not")))
            }
            (Verdict::Holds, Expect::Holds) => {
                let missed =
                    self.bound.goals.iter().filter(|goal| !explored.reached.iter().any(|reached| reached == goal));
                record.missed = missed.cloned().collect();
                (if record.missed.is_empty() { exit::EXPECTED } else { exit::PROGRESS }, None)
            }
        };
        record.remarks.extend(remark);
        record.remarks.extend(unlike(explored));
        record.code = code;
    }

    /// Whether the engine at work leaves the property out.
    fn cannot_say(&self, properties: &[seedbed_model::Property], name: &str) -> bool {
        self.engine != Engine::Seedbed
            && properties.iter().any(|property| {
                property.name == name && matches!(property.kind, Kind::ReachableAlways | Kind::Eventually)
            })
    }

    fn failure(
        &self,
        record: &BoundRecord,
        explored: &Explored,
        properties: &[seedbed_model::Property],
    ) -> Option<Failure> {
        let Verdict::Violated(violation) = &explored.verdict else { return None };
        let last = record.counterexample.last();
        Some(Failure {
            property: violation.property.clone(),
            words: words_of(properties, &violation.property),
            detail: violation.detail.clone(),
            place: self.place(),
            seed: self.from.as_ref().map(|(origin, _)| origin.seed.to_string()),
            step: last.map_or(0, |step| step.step),
            at_ns: last.map_or(0, |step| step.at_ns),
            shrunk: match self.from {
                None => self.engine.shrunk(&self.strategy).into(),
                Some(_) => "shortest from that moment on, not shrunk before it".into(),
            },
            why: Vec::new(),
            paste: record.paste.clone(),
            shrink: String::new(),
            revision: self.paste.revision.clone(),
            digest: explored
                .counterexample
                .as_ref()
                .map_or_else(String::new, |found| format!("{:016x}", found.replayed.digest)),
        })
    }

    fn pin(&self, setup: &Setup, explored: &Explored) -> Option<Pin> {
        let found = explored.counterexample.as_ref()?;
        let Verdict::Violated(violation) = &explored.verdict else { return None };
        Some(Pin {
            format: FORMAT,
            protocol: self.face.name().to_owned(),
            story: violation.detail.clone(),
            fixed: false,
            place: self.from.as_ref().map_or_else(|| format!("check, bound {}", self.bound.name), |_| self.place()),
            revision: self.paste.revision.clone(),
            violation: found
                .exact
                .violations
                .iter()
                .any(|other| other.property == violation.property)
                .then(|| violation.property.clone()),
            digest: format!("{:016x}", found.exact.digest),
            mutants: setup.mutants.clone(),
            history: None,
            params: setup.params.clone(),
            script: Some(found.script.clone()),
            seeded: None,
        })
    }
}

/// A counterexample that a plain world does not take as the explorer did is a bug of ours, and is said.
fn unlike(explored: &Explored) -> Option<String> {
    let (step, why) = explored.counterexample.as_ref()?.replayed.drift.as_ref()?;
    Some(format!(
        "the counterexample does not replay in a plain world: step {}: {why}; this is a bug of Seedbed",
        step + 1
    ))
}

fn show(meter: &Meter, progress: Progress) {
    meter.at(progress.unique);
    let (left, total) = (number::grouped(progress.left), number::grouped(progress.total));
    meter.note(match progress.depth {
        Some(depth) => format!("states, depth {depth}, {left} left there, {total} transitions"),
        None => format!("states, {left} left, {total} transitions"),
    });
}
