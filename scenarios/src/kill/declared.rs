//! What must come of a mutant, tried: the explorer at the bounds that claim it, the simulator over quick scenarios.

use std::ops::{ControlFlow, Range};

use seedbed_model::explore::Strategy;
use seedbed_model::record::{Detection, Kill};
use seedbed_model::{Mutant, Outcome, UNKNOWN};

use super::Trial;
use crate::campaign::Paste;
use crate::command::declared;
use crate::console::Meters;
use crate::engine::Engine;
use crate::exit::BadInput;
use crate::exploration::Exploration;
use crate::face::Setup;
use crate::file::Expect;
use crate::library::{Bound, Scenario};
use crate::seeds::SeedRange;
use crate::stopwatch::Deadline;

/// The goal that the mutant must make unreachable.
fn goal_of(mutant: &Mutant) -> Option<&'static str> {
    match mutant.outcome {
        Outcome::Unreachable(goal) => Some(goal),
        Outcome::Falls(_) | Outcome::Harmless(_) => None,
    }
}

impl Trial<'_> {
    /// Tries the mutant until an engine detects it, and judges.
    pub(crate) fn kill(&self, mutant: &Mutant, meters: &Meters) -> Result<Kill, BadInput> {
        let half = Deadline::after(self.budget).share(2);
        let explorer = self.explore(mutant, half, meters)?;
        let seeds = self.seeds_for(mutant, &explorer);
        let simulator = self.simulate(mutant, seeds, Deadline::after(self.budget).share(2), meters)?;
        let (verdict, as_declared) = judge(mutant.outcome, &explorer, &simulator);
        Ok(Kill {
            protocol: self.face.name().to_owned(),
            mutant: mutant.name.to_owned(),
            removes: mutant.removes.to_owned(),
            declared: declared(mutant.outcome),
            explorer,
            simulator,
            verdict,
            as_declared,
            engines: Vec::new(),
        })
    }

    /// The bounds that claim the mutant, until one detects it.
    fn explore(&self, mutant: &Mutant, deadline: Deadline, meters: &Meters) -> Result<Detection, BadInput> {
        let mut detection = Detection::default();
        let paste = Paste::default();
        let mutants = [mutant.name.to_owned()];
        for bound in self.claiming(mutant) {
            // Only the mutant's fall counts here: what the bound expects of the whole protocol does not.
            let bound = Bound { expect: Expect::Holds, ..bound.clone() };
            let exploration = Exploration {
                face: self.face,
                bound: &bound,
                from: None,
                mutants: &mutants,
                engine: Engine::Seedbed,
                strategy: Strategy { jobs: self.jobs, ..Strategy::default() },
                checkpoints: None,
                waiting_room: None,
                deadline,
                is_over: None,
                paste: &paste,
            };
            let outcome =
                exploration.run(&meters.meter(&format!("{} with {}", self.face.name(), mutant.name), None))?;
            let record = outcome.record;
            detection.tried += 1;
            detection.effort += record.unique;
            detection.unknown |= record.verdict == "unknown";
            let missed = record.missed.into_iter().find(|missed| goal_of(mutant) == Some(missed));
            if let Some(found) = record.property.or(missed) {
                detection.place = Some(record.name);
                detection.found = Some(found);
                break;
            }
        }
        Ok(detection)
    }

    /// The quick scenarios that hold without the mutant, until one detects it: the first seeds of each, then more of each, so
    /// that those which never show it do not keep back the one that soon does.
    fn simulate(
        &self,
        mutant: &Mutant,
        seeds: SeedRange,
        deadline: Deadline,
        meters: &Meters,
    ) -> Result<Detection, BadInput> {
        let mut detection = Detection { tried: self.scenarios.len() as u32, ..Detection::default() };
        let mut reached = vec![false; self.scenarios.len()];
        let mut from = seeds.from;
        while from < seeds.to {
            let to = round_end(seeds, from);
            for (scenario, reached) in self.scenarios.iter().zip(&mut reached) {
                let swept = self.sweep(mutant, scenario, from..to, deadline, meters)?;
                detection.effort += swept.count;
                *reached |= swept.reached;
                let goal = goal_of(mutant).filter(|goal| scenario.goals.iter().any(|other| other == goal));
                let is_cut = swept.fell.is_none() && swept.count < to - from;
                detection.unknown |= is_cut || swept.given_up;
                let missed = goal.filter(|_| to == seeds.to && !detection.unknown && !*reached);
                detection.found = swept.fell.or(missed.map(str::to_owned));
                if detection.found.is_some() {
                    detection.place = Some(scenario.name.clone());
                    return Ok(detection);
                }
            }
            from = to;
        }
        Ok(detection)
    }

    /// All seeds where they decide. Half of them for a mutant that makes nothing fall, which all would not show either, and for one
    /// that the explorer has met as declared.
    fn seeds_for(&self, mutant: &Mutant, explorer: &Detection) -> SeedRange {
        let SeedRange { from, to } = self.seeds;
        match mutant.outcome {
            Outcome::Falls(property) if explorer.found.as_deref() != Some(property) => self.seeds,
            Outcome::Falls(_) | Outcome::Unreachable(_) | Outcome::Harmless(_) => {
                SeedRange { from, to: to - (to - from) / 2 }
            }
        }
    }

    /// The seeds until something falls.
    fn sweep(
        &self,
        mutant: &Mutant,
        scenario: &Scenario,
        seeds: Range<u64>,
        deadline: Deadline,
        meters: &Meters,
    ) -> Result<Swept, BadInput> {
        let setup = Setup::without(&scenario.setup, mutant);
        let first = seeds.start - self.seeds.from;
        let meter = meters.meter(&format!("{} with {}", scenario.name, mutant.name), Some(self.seeds.count()));
        let mut swept = Swept::default();
        let goal = goal_of(mutant);
        let result = self.face.sweep(&setup, &scenario.settings, seeds, self.jobs, &mut |run| {
            swept.count += 1;
            meter.at(first + swept.count);
            swept.reached |= goal.is_some_and(|goal| run.reached.contains_key(goal));
            for fell in run.violations.into_iter().map(|fell| fell.violation.property) {
                match fell == UNKNOWN {
                    true => swept.given_up = true,
                    false => swept.fell = swept.fell.take().or(Some(fell)),
                }
            }
            if swept.fell.is_some() || deadline.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        result.map_err(|why| BadInput::file(&scenario.name, why))?;
        Ok(swept)
    }
}

/// Some seeds of a scenario.
#[derive(Default)]
struct Swept {
    count: u64,
    fell: Option<String>,
    /// Whether a monitor gave up a property in one: that shows nothing about the mutant.
    given_up: bool,
    /// Whether the goal was that the mutant must make unreachable.
    reached: bool,
}

/// Where the round that begins at `from` ends: each is three times as long as all before it, the first is of four.
fn round_end(seeds: SeedRange, from: u64) -> u64 {
    let done = from - seeds.from;
    seeds.to.min(from + (3 * done).max(4))
}

/// What the two detections amount to, and whether it is what was declared.
fn judge(outcome: Outcome, explorer: &Detection, simulator: &Detection) -> (String, bool) {
    let found: Vec<&str> =
        [explorer, simulator].into_iter().filter_map(|detection| detection.found.as_deref()).collect();
    match outcome {
        Outcome::Harmless(_) => match found.first() {
            Some(property) => (format!("declared harmless, but {property} falls"), false),
            None if explorer.tried + simulator.tried == 0 => ("never tried".into(), false),
            None => ("harmless as declared".into(), true),
        },
        Outcome::Falls(name) | Outcome::Unreachable(name) => match found.iter().find(|property| **property != name) {
            _ if found.contains(&name) => ("killed".into(), true),
            Some(other) => (format!("killed by {other}, not by {name}"), false),
            None => ("survived".into(), false),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_try_each_seed_once_and_grow() {
        let rounds = |from: u64, to: u64| {
            let seeds = SeedRange { from, to };
            let ends = std::iter::successors(Some(from), |start| (*start < to).then(|| round_end(seeds, *start)));
            ends.collect::<Vec<_>>()
        };
        assert_eq!(rounds(0, 120), [0, 4, 16, 64, 120]);
        assert_eq!(rounds(7, 9), [7, 9], "no further than asked");
        assert_eq!(rounds(100, 117), [100, 104, 116, 117]);
    }

    fn detection(found: Option<&str>) -> Detection {
        Detection { found: found.map(str::to_owned), tried: 1, ..Detection::default() }
    }

    #[test]
    fn a_mutant_is_what_it_was_declared_to_be_or_it_is_told() {
        let (nothing, single) = (detection(None), detection(Some("single")));
        let falls = Outcome::Falls("single");
        assert_eq!(judge(falls, &nothing, &single), ("killed".into(), true));
        assert_eq!(judge(falls, &nothing, &nothing), ("survived".into(), false));
        assert_eq!(judge(falls, &detection(Some("other")), &nothing), ("killed by other, not by single".into(), false));
        assert_eq!(judge(Outcome::Harmless("so"), &nothing, &nothing), ("harmless as declared".into(), true));
        assert_eq!(
            judge(Outcome::Harmless("so"), &single, &nothing),
            ("declared harmless, but single falls".into(), false)
        );
        let untried = Detection::default();
        assert_eq!(judge(Outcome::Harmless("so"), &untried, &untried), ("never tried".into(), false));
    }
}
