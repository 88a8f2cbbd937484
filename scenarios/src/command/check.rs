//! `check`: exhaustive exploration within bounds.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use seedbed_model::Span;
use seedbed_model::explore::Strategy;
use seedbed_model::record::{CheckRecord, Header};
use seedbed_reports::{check, failure, json, trace};
use toml::{Table, Value};

use super::asked::{self, Asked};
use super::flags::{Variation, Work};
use super::order::OrderFlags;
use crate::abreast::abreast;
use crate::checkpoint::Checkpoint;
use crate::console::{Console, probe, write_file};
use crate::engine::{Address, Engine};
use crate::exit::{self, BadInput};
use crate::exploration::{Checkpoints, Exploration, Outcome, WaitingRoom};
use crate::face::{Face, Setup};
use crate::folder::Folder;
use crate::library::{self, Bound, Library};
use crate::params::{self, Override};
use crate::pin::Pin;
use crate::registry::Registry;
use crate::stopwatch::Deadline;

/// Flags of `check`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// The protocol
    protocol: String,
    /// `name=race` chooses a bound of check.toml; a bound's own key, such as crashes=1, is set; with a parameter of the
    /// protocol's among them, those bounds are chosen that have all these values
    #[arg(long = "bound", value_name = "KEY=VALUE")]
    bounds: Vec<Override>,
    /// Checks the long bounds too, which are checked otherwise when they are named
    #[arg(long)]
    long: bool,
    /// No further than so many steps from the start
    #[arg(long, value_name = "STEPS")]
    depth: Option<u32>,
    /// Gives up beyond so many unique states
    #[arg(long, value_name = "COUNT")]
    states: Option<u64>,
    /// Gives up after this time, shared evenly among the bounds
    #[arg(long, value_name = "SPAN", env = "SEEDBED_BUDGET")]
    budget: Option<Span>,
    /// How time is held: digital or untimed
    #[arg(long, value_name = "CLOCK")]
    clock: Option<String>,
    /// Which checker: seedbed, or stateright over plain worlds as a second opinion
    #[arg(long, value_name = "ENGINE", value_parser = engine, default_value = "seedbed")]
    engine: Engine,
    #[command(flatten)]
    order: OrderFlags,
    /// Keeps each search in this folder and goes on from what is kept there; removed once the check has ended
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,
    /// States that wait beyond memory go to files in this folder while the check runs
    #[arg(long, value_name = "DIR")]
    frontier: Option<PathBuf>,
    /// How much of a level waits in memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, requires = "frontier")]
    frontier_memory: u32,
    /// How often a search is kept
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    checkpoint_every: Span,
    /// Serves stateright's Explorer page of one bound: a port of this machine, or an address and a port
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "3000")]
    serve: Option<Address>,
    /// Does not interchange interchangeable nodes
    #[arg(long)]
    no_symmetry: bool,
    /// Writes the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Pins the first counterexample
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    work: Work,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe([], [&args.json, &args.trace])?;
    let library = Library::new(registry, args.variation.scenarios.clone())?;
    if let Some((protocol, bound)) = args.protocol.split_once('/')
        && registry.names().contains(&protocol)
    {
        return Err(BadInput::flag(format!("{}: a bound is named by --bound name={bound}", args.protocol)));
    }
    let entry = registry.entry(&args.protocol)?;
    let face = entry.face.as_ref();
    let mutants = args.variation.mutants_of(face)?;
    let asked = Asked::of(face, &args.bounds);
    let all = library.bounds(entry)?;
    let (bounds, left_out) = asked::chosen(face, all, &asked, &args.variation, &mutants, args.long)?;
    let varied = |bound| varied(face, bound, args, &asked.changes);
    let bounds = bounds.into_iter().map(varied).collect::<Result<Vec<Bound>, BadInput>>()?;
    console.say(&left_out)?;
    if let Some(address) = args.serve {
        return serve(face, &bounds, mutants, address, console);
    }
    let mut paste = args.variation.paste(command, &args.work.revision);
    paste.flags.push_str(&bound_flags(args, &asked.changes));
    let workers = workers(args, bounds.len());
    let strategy = Strategy { order: args.order.order()?, jobs: args.work.jobs() / workers };
    let deadline = Deadline::after(args.budget);
    let folder = args.checkpoint.as_deref().map(|folder| Folder::claim(folder, "--checkpoint")).transpose()?;
    let (meters, is_over) = (console.meters(), AtomicBool::new(false));
    let explore = |index: usize, bound: &Bound| {
        let exploration = Exploration {
            face,
            bound,
            from: None,
            mutants: &mutants,
            engine: args.engine,
            strategy,
            checkpoints: folder.as_ref().map(|folder| Checkpoints { folder, every: args.checkpoint_every }),
            waiting_room: args
                .frontier
                .as_deref()
                .map(|folder| WaitingRoom { folder, bytes: (args.frontier_memory as usize) << 20 }),
            deadline: deadline.share((bounds.len() - index).div_ceil(workers)),
            is_over: Some(&is_over),
            paste: &paste,
        };
        exploration.run(&meters.meter(&format!("{}/{}", face.name(), bound.name), None))
    };
    let mut outcomes = Vec::new();
    abreast(&bounds, workers, &is_over, explore, |_, outcome| {
        console.say(&shown(&outcome))?;
        outcomes.push(outcome);
        Ok(())
    })?;
    let record = record(face, &mutants, &outcomes, &args.work.revision);
    console.say(&check::summary(&record))?;
    if let Some(folder) = folder.filter(|_| record.code != exit::UNKNOWN) {
        for bound in &bounds {
            Checkpoint::new(&folder, face.name(), &bound.name, args.checkpoint_every).remove();
        }
    }
    write_results(args, &record, outcomes.into_iter().find_map(|outcome| outcome.pin))?;
    Ok(record.code)
}

/// How many bounds are explored side by side: as many as there are jobs, since a search alone gains less by a second one. One
/// by one where a search takes what it needs from the flags: memory for a frontier, threads of stateright's.
fn workers(args: &Args, bounds: usize) -> usize {
    let is_alone = args.frontier.is_some() || args.engine == Engine::Stateright;
    if is_alone { 1 } else { args.work.jobs().min(bounds).max(1) }
}

fn engine(name: &str) -> Result<Engine, String> {
    match name {
        "seedbed" => Ok(Engine::Seedbed),
        "stateright" => Ok(Engine::Stateright),
        _ => Err("expected seedbed or stateright".into()),
    }
}

/// Serves the page of the one bound that was chosen.
fn serve(
    face: &dyn Face,
    bounds: &[Bound],
    mutants: Vec<String>,
    address: Address,
    console: &mut Console<'_>,
) -> Result<u8, BadInput> {
    let [bound] = bounds else {
        let names: Vec<&str> = bounds.iter().map(|bound| bound.name.as_str()).collect();
        let message = format!("--serve shows one bound; choose with --bound name=, from {}", names.join(", "));
        return Err(BadInput::flag(message));
    };
    let refused = |why: String| BadInput::flag(format!("--serve {}: {why}", address.0));
    let full = library::full_bounds(&bound.bounds).map_err(refused)?;
    console.say(&format!("{} / {}: http://{}/ until this ends\n", face.name(), bound.name, address.0))?;
    face.serve(&Setup { params: bound.params.clone(), mutants, history: None }, &full, address).map_err(refused)?;
    Ok(exit::EXPECTED)
}

/// The bound with the flags applied.
fn varied(face: &dyn Face, mut bound: Bound, args: &Args, changes: &[Override]) -> Result<Bound, BadInput> {
    bound.params = args.variation.params_of(face, &bound.params)?;
    let check = |table: &Table| {
        let checked = library::full_bounds(table).map(drop);
        // As a flag, it chooses too.
        checked.map_err(|why| why.replacen("expected one of ", "expected one of `name`, ", 1))
    };
    bound.bounds = params::overridden(&bound.bounds, changes, "--bound", &check)?;
    let mut set = |key: &str, value: Value| bound.bounds.insert(key.to_owned(), value);
    if let Some(depth) = args.depth {
        set("depth", Value::Integer(i64::from(depth)));
    }
    if let Some(states) = args.states {
        set("states", Value::Integer(i64::try_from(states).unwrap_or(i64::MAX)));
    }
    if let Some(clock) = &args.clock {
        set("clock", Value::String(clock.clone()));
        library::full_bounds(&bound.bounds).map_err(|why| BadInput::flag(format!("--clock {clock}: {why}")))?;
    }
    if args.no_symmetry {
        bound.bounds.insert("symmetry".into(), Value::Boolean(false));
    }
    let setup = Setup { params: bound.params.clone(), ..Setup::default() };
    face.describe(&setup).map_err(|why| BadInput::file(format!("check {}, bound {}", face.name(), bound.name), why))?;
    Ok(bound)
}

/// The flags about bounds, as a line to paste repeats them; the bound's name is there already.
fn bound_flags(args: &Args, changes: &[Override]) -> String {
    let mut flags: String = changes.iter().map(|change| format!(" --bound {}={}", change.key, change.value)).collect();
    if let Some(depth) = args.depth {
        flags.push_str(&format!(" --depth {depth}"));
    }
    if let Some(states) = args.states {
        flags.push_str(&format!(" --states {states}"));
    }
    if let Some(clock) = &args.clock {
        flags.push_str(&format!(" --clock {clock}"));
    }
    // The explorer's result is the same for any number of jobs; of stateright's threads the first to find something wins.
    if args.engine == Engine::Stateright {
        flags.push_str(&format!(" --engine stateright --jobs {}", args.work.jobs()));
    }
    flags.push_str(&args.order.pasted());
    if args.no_symmetry {
        flags.push_str(" --no-symmetry");
    }
    flags
}

/// A bound's block, and its counterexample.
pub(super) fn shown(outcome: &Outcome) -> String {
    let mut text = check::bound(&outcome.record);
    if let Some(found) = &outcome.failure {
        text.push_str(&format!("\n{}", trace::text(&outcome.nodes, &outcome.record.counterexample)));
        text.push_str(&format!("{}\n", check::for_ever(&outcome.record)));
        text.push_str(&failure::block(found));
    }
    text.push('\n');
    text
}

pub(super) fn record(face: &dyn Face, mutants: &[String], outcomes: &[Outcome], revision: &str) -> CheckRecord {
    let bounds: Vec<_> = outcomes.iter().map(|outcome| outcome.record.clone()).collect();
    let has = |verdict: &str| bounds.iter().any(|bound| bound.verdict == verdict);
    let verdict = ["violated", "unknown"].into_iter().find(|verdict| has(verdict)).unwrap_or("holds");
    let mut abstractions: Vec<String> = bounds.iter().flat_map(|bound| bound.abstractions.clone()).collect();
    abstractions.sort();
    abstractions.dedup();
    CheckRecord {
        header: Header::new("check", revision),
        protocol: face.name().to_owned(),
        mutants: mutants.to_vec(),
        verdict: verdict.to_owned(),
        property: bounds.iter().find_map(|bound| bound.property.clone()),
        unique: bounds.iter().map(|bound| bound.unique).sum(),
        total: bounds.iter().map(|bound| bound.total).sum(),
        depth: bounds.iter().filter_map(|bound| bound.depth).max(),
        exhausted: bounds.iter().all(|bound| bound.exhausted),
        seconds: bounds.iter().map(|bound| bound.seconds).sum(),
        bytes_per_state: bounds.iter().map(|bound| bound.bytes_per_state).max().unwrap_or(0),
        abstractions,
        counterexample_length: bounds.iter().find_map(|bound| bound.counterexample_length),
        code: exit::lowest(bounds.iter().map(|bound| bound.code)),
        bounds,
    }
}

fn write_results(args: &Args, record: &CheckRecord, pin: Option<Pin>) -> Result<(), BadInput> {
    if let Some(path) = &args.json {
        write_file(path, &json::text(record))?;
    }
    if let (Some(path), Some(pin)) = (&args.trace, pin) {
        write_file(path, &pin.text()?)?;
    }
    Ok(())
}
