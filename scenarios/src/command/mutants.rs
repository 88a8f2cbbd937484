//! `mutants`: the kill table.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use seedbed_model::record::{Header, Kill, KillRecord};
use seedbed_model::{Mutant, Span};
use seedbed_reports::{json, kills, page};

use super::flags::Work;
use crate::abreast::abreast;
use crate::campaign::Paste;
use crate::console::{Console, Meters, probe, write_file};
use crate::exit::{self, BadInput};
use crate::file::Class;
use crate::kill::{self, Effort, Searcher, Trial};
use crate::library::Library;
use crate::registry::Registry;
use crate::seeds::SeedRange;

/// Flags of `mutants`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Protocols [default: all]
    #[arg(value_name = "PROTOCOL")]
    protocols: Vec<String>,
    /// One mutant; may be repeated
    #[arg(long = "mutant", value_name = "NAME")]
    mutants: Vec<String>,
    /// The seeds that the simulator tries in each quick scenario, half of them for a mutant that makes nothing fall or that the
    /// explorer has met as declared; each restart has as many behind them
    #[arg(long, value_name = "A..B", default_value = "0..200")]
    seeds: SeedRange,
    /// Measures how soon these engines kill each mutant: all, or some of them joined by commas
    #[arg(long, value_name = "LIST")]
    engines: Option<Engines>,
    /// How often each search is begun anew, with other seeds and walks
    #[arg(long, value_name = "N", default_value_t = 3, requires = "engines", value_parser = clap::value_parser!(u32).range(1..=1000))]
    restarts: u32,
    /// Walks of a search, at most
    #[arg(long, value_name = "COUNT", default_value_t = 2_000, requires = "engines", value_parser = clap::value_parser!(u64).range(1..))]
    walks: u64,
    /// States of a search by the explorer, at most
    #[arg(long, value_name = "COUNT", default_value_t = 5_000_000, requires = "engines", value_parser = clap::value_parser!(u64).range(1..))]
    states: u64,
    /// Runs so many seeds of each whole protocol, shared evenly among its quick scenarios: nothing may fall
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    clean: Option<u64>,
    /// Gives up on a mutant after this time, half of it for each engine; what is measured has no such limit
    #[arg(long, value_name = "SPAN", env = "SEEDBED_BUDGET")]
    budget: Option<Span>,
    /// Writes the table as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the table as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// A folder of scenarios beside the shipped ones
    #[arg(long, value_name = "DIR", env = "SEEDBED_SCENARIOS")]
    scenarios: Option<PathBuf>,
    #[command(flatten)]
    work: Work,
}

/// Engines, each once.
#[derive(Debug, Clone)]
struct Engines(Vec<Searcher>);

impl FromStr for Engines {
    type Err = String;
    fn from_str(text: &str) -> Result<Engines, String> {
        if text == "all" {
            return Ok(Engines(Searcher::ALL.to_vec()));
        }
        let mut engines = text.split(',').map(str::parse).collect::<Result<Vec<Searcher>, String>>()?;
        engines.sort_unstable();
        engines.dedup();
        Ok(Engines(engines))
    }
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let library = Library::new(registry, args.scenarios.clone())?;
    probe([], [&args.json, &args.html])?;
    let names = if args.protocols.is_empty() {
        registry.names().into_iter().map(str::to_owned).collect()
    } else {
        args.protocols.clone()
    };
    let paste = Paste { command: command.to_owned(), revision: args.work.revision.clone(), ..Paste::default() };
    let empty = KillRecord {
        header: Header::new("kills", &args.work.revision),
        timings: vec!["cpu_seconds".into()],
        rows: Vec::new(),
        clean: Vec::new(),
        code: 0,
    };
    let (mut record, meters) = (empty.clone(), console.meters());
    for name in &names {
        let entry = registry.entry(name)?;
        let mutants: Vec<&Mutant> = entry.face.mutants().iter().filter(|mutant| wanted(args, mutant)).collect();
        // Side by side, as a mutant alone gains less by a second job; what is measured is measured alone.
        let workers = if args.engines.is_some() { 1 } else { args.work.jobs().min(mutants.len()).max(1) };
        let trial = Trial {
            face: entry.face.as_ref(),
            bounds: library.bounds(entry)?.into_iter().filter(|bound| bound.class == Class::Quick).collect(),
            scenarios: kill::fit(library.scenarios(entry)?),
            seeds: args.seeds,
            budget: args.budget,
            jobs: args.work.jobs() / workers,
        };
        // A protocol's tables come as soon as they are known: all of them can take hours.
        let mut part = empty.clone();
        let try_out = |_: usize, mutant: &&Mutant| row(args, &trial, mutant, &meters);
        abreast(&mutants, workers, &AtomicBool::new(false), try_out, |_, row| {
            part.rows.push(row);
            Ok(())
        })?;
        if let Some(count) = args.clean {
            let trial = Trial { jobs: args.work.jobs(), ..trial };
            part.clean.push(kill::clean(&trial, count, &paste, console)?);
        }
        if !part.rows.is_empty() || !part.clean.is_empty() {
            console.say(&format!("{}\n", kills::tables(&part)))?;
        }
        record.rows.append(&mut part.rows);
        record.clean.append(&mut part.clean);
    }
    if record.rows.is_empty() {
        return Err(BadInput::flag("there is no such mutant in these protocols; `list` shows them"));
    }
    record.code = if kills::is_as_declared(&record) { exit::EXPECTED } else { exit::SURVIVED };
    console.say(&format!("{}\n", kills::verdict(&record)))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    if let Some(path) = &args.html {
        write_file(path, &page::kills::html(&record))?;
    }
    Ok(record.code)
}

fn row(args: &Args, trial: &Trial<'_>, mutant: &Mutant, meters: &Meters) -> Result<Kill, BadInput> {
    let mut kill = trial.kill(mutant, meters)?;
    if let Some(Engines(searchers)) = &args.engines {
        let effort =
            Effort { searchers: searchers.clone(), restarts: args.restarts, walks: args.walks, states: args.states };
        trial.measure(mutant, &effort, &mut kill, meters)?;
    }
    Ok(kill)
}

fn wanted(args: &Args, mutant: &Mutant) -> bool {
    args.mutants.is_empty() || args.mutants.iter().any(|name| name == mutant.name)
}
