//! `mutants`: the kill table.

use std::ops::ControlFlow;
use std::path::PathBuf;

use seedbed_model::explore::Strategy;
use seedbed_model::record::{Detection, Header, Kill, KillRecord};
use seedbed_model::{Mutant, Outcome, Span};
use seedbed_reports::{json, kills};

use super::flags::Work;
use super::list::declared;
use crate::campaign::Paste;
use crate::console::{Console, probe, write_file};
use crate::engine::Engine;
use crate::exit::{self, BadInput};
use crate::exploration::Exploration;
use crate::face::{Face, Setup};
use crate::file::{Class, Expect};
use crate::library::{Bound, Library, Scenario};
use crate::registry::Registry;
use crate::seeds::SeedRange;
use crate::stopwatch::Deadline;

/// Flags of `mutants`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Protocols [default: all]
    #[arg(value_name = "PROTOCOL")]
    protocols: Vec<String>,
    /// One mutant; may be repeated
    #[arg(long = "mutant", value_name = "NAME")]
    mutants: Vec<String>,
    /// The seeds that the simulator tries in each quick scenario
    #[arg(long, value_name = "A..B", default_value = "0..200")]
    seeds: SeedRange,
    /// Gives up on a mutant after this time, half of it for each engine
    #[arg(long, value_name = "SPAN", env = "SEEDBED_BUDGET")]
    budget: Option<Span>,
    /// Writes the table as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A folder of scenarios beside the shipped ones
    #[arg(long, value_name = "DIR", env = "SEEDBED_SCENARIOS")]
    scenarios: Option<PathBuf>,
    #[command(flatten)]
    work: Work,
}

/// What a protocol's mutants are tried on.
struct Trial<'a> {
    args: &'a Args,
    face: &'a dyn Face,
    bounds: Vec<Bound>,
    scenarios: Vec<Scenario>,
}

pub(crate) fn run(registry: &Registry, _: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let library = Library::new(registry, args.scenarios.clone())?;
    probe(args.json.as_ref())?;
    let names = if args.protocols.is_empty() {
        registry.names().into_iter().map(str::to_owned).collect()
    } else {
        args.protocols.clone()
    };
    let mut record = KillRecord { header: Header::new("kills", &args.work.revision), rows: Vec::new(), code: 0 };
    for name in &names {
        let entry = registry.entry(name)?;
        let face = entry.face.as_ref();
        let trial = Trial { args, face, bounds: library.bounds(entry)?, scenarios: library.scenarios(entry)? };
        for mutant in face.mutants().iter().filter(|mutant| wanted(args, mutant)) {
            record.rows.push(trial.kill(mutant, console)?);
        }
    }
    if record.rows.is_empty() {
        return Err(BadInput::flag("there is no such mutant in these protocols; `list` shows them"));
    }
    record.code = if record.rows.iter().all(|kill| kill.as_declared) { exit::EXPECTED } else { exit::SURVIVED };
    console.say(&kills::summary(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    Ok(record.code)
}

fn wanted(args: &Args, mutant: &Mutant) -> bool {
    args.mutants.is_empty() || args.mutants.iter().any(|name| name == mutant.name)
}

/// The goal that the mutant must make unreachable.
fn goal_of(mutant: &Mutant) -> Option<&'static str> {
    match mutant.outcome {
        Outcome::Unreachable(goal) => Some(goal),
        Outcome::Falls(_) | Outcome::Harmless(_) => None,
    }
}

impl Trial<'_> {
    fn kill(&self, mutant: &Mutant, console: &Console<'_>) -> Result<Kill, BadInput> {
        let half = Deadline::after(self.args.budget).share(2);
        let explorer = self.explore(mutant, half, console)?;
        let simulator = self.simulate(mutant, Deadline::after(self.args.budget).share(2), console)?;
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
        })
    }

    /// The bounds that claim the mutant, until one detects it.
    fn explore(&self, mutant: &Mutant, deadline: Deadline, console: &Console<'_>) -> Result<Detection, BadInput> {
        let mut detection = Detection::default();
        let paste = Paste::default();
        let mutants = [mutant.name.to_owned()];
        for bound in self.bounds.iter().filter(|bound| bound.claims.iter().any(|claim| claim == mutant.name)) {
            // Only the mutant's fall counts here: what the bound expects of the whole protocol does not.
            let bound = Bound { expect: Expect::Holds, ..bound.clone() };
            let exploration = Exploration {
                face: self.face,
                bound: &bound,
                mutants: &mutants,
                engine: Engine::Seedbed,
                strategy: Strategy { jobs: self.args.work.jobs(), ..Strategy::default() },
                checkpoints: None,
                waiting_room: None,
                deadline,
                paste: &paste,
            };
            let outcome =
                exploration.run(&console.meter(&format!("{} without {}", self.face.name(), mutant.name), None))?;
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

    /// The quick scenarios that hold without the mutant, until one detects it.
    fn simulate(&self, mutant: &Mutant, deadline: Deadline, console: &Console<'_>) -> Result<Detection, BadInput> {
        let mut detection = Detection::default();
        for scenario in
            self.scenarios.iter().filter(|scenario| scenario.class == Class::Quick && scenario.expect == Expect::Holds)
        {
            detection.tried += 1;
            let (seeds, found) = self.sweep(mutant, scenario, deadline, console)?;
            detection.effort += seeds;
            detection.unknown |= found.is_none() && seeds < self.args.seeds.count();
            if found.is_some() {
                detection.place = Some(scenario.name.clone());
                detection.found = found;
                break;
            }
        }
        Ok(detection)
    }

    /// The seeds until something falls. How many, and what fell.
    fn sweep(
        &self,
        mutant: &Mutant,
        scenario: &Scenario,
        deadline: Deadline,
        console: &Console<'_>,
    ) -> Result<(u64, Option<String>), BadInput> {
        let mut mutants = scenario.setup.mutants.clone();
        mutants.push(mutant.name.to_owned());
        let setup = Setup { mutants, ..scenario.setup.clone() };
        let meter = console.meter(&format!("{} without {}", scenario.name, mutant.name), Some(self.args.seeds.count()));
        let (mut count, mut found, mut reached) = (0, None, false);
        let goal = goal_of(mutant);
        let range = self.args.seeds.from..self.args.seeds.to;
        let swept = self.face.sweep(&setup, &scenario.settings, range, self.args.work.jobs(), &mut |run| {
            count += 1;
            meter.at(count);
            reached |= goal.is_some_and(|goal| run.reached.contains_key(goal));
            found = run.violations.into_iter().next().map(|fell| fell.violation.property);
            if found.is_some() || deadline.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        swept.map_err(|why| BadInput::file(&scenario.name, why))?;
        let missed = goal.filter(|goal| {
            !reached && count == self.args.seeds.count() && scenario.goals.iter().any(|other| other == goal)
        });
        Ok((count, found.or(missed.map(str::to_owned))))
    }
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
