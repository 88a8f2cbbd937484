//! The command: its verbs, their flags, and how it ends.

mod asked;
mod check;
mod emit;
mod experiment;
mod explore;
mod flags;
mod history;
mod host;
mod list;
mod merge;
mod mutants;
mod order;
mod outputs;
mod plan;
mod replay;
mod run;
mod shrink;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::console::Console;
use crate::exit::{self, BadInput};
use crate::registry::Registry;

pub(crate) use explore::Searched;
pub(crate) use flags::quoted;
pub(crate) use list::declared;

/// A deterministic simulation testbed and model checker for distributed protocols.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

const EXIT_CODES: &str = "\
Exit codes: 0 all as expected; 2 bad input; 10 safety; 11 progress or an unreachable goal; 12 history; 13 panic;
14 nondeterminism; 15 unknown (a budget ran out); 16 incomplete; 17 a mutant survived;
18 a pin drifted or is gone, or a recording differs; 19 an experiment does not show what it is said to.
Several at once: the lowest of them.";

#[derive(Debug, Subcommand)]
#[command(rename_all = "kebab-case")]
enum Verb {
    /// Protocols with parameters, scenarios, properties and mutants
    List(list::Args),
    /// A campaign: scenarios over many seeds
    Run(run::Args),
    /// Explores a protocol exhaustively, within bounds
    Check(check::Args),
    /// Explores exhaustively from a moment of a simulated run
    Explore(explore::Args),
    /// Runs one seed again, or a pinned file, and shows it step by step
    Replay(replay::Args),
    /// Makes a failure small: a seed's, or a pinned one
    Shrink(shrink::Args),
    /// The kill table: what each engine finds of each mutant
    Mutants(mutants::Args),
    /// Measures runs while one thing varies, beside what a paper measured
    Experiment(experiment::Args),
    /// Judges recorded client histories
    History(history::Args),
    /// Cuts a campaign into shards: the command of each, and the one that merges them
    Plan(plan::Args),
    /// Merges the results of shards, in any order
    Merge(merge::Args),
    /// Writes a campaign over many machines for an engine that exists: shards and merge
    Emit(emit::Args),
    /// Runs one node of a protocol on real sockets and files
    Node(host::Args),
    /// Runs a whole cluster on loopback, kills and restarts its nodes, and checks what they did
    Cluster(host::Args),
}

/// The whole program of a crate with protocols of its own: reads the command line, does what it says, and ends with
/// the exit code.
pub fn main(registry: Registry) -> ExitCode {
    let (mut out, mut err) = (std::io::stdout().lock(), std::io::stderr());
    let draws = err.is_terminal();
    tell_each_panic_once();
    ExitCode::from(run(&registry, std::env::args_os(), &mut out, &mut err, draws))
}

/// A protocol's panic is caught and reported as a finding, for each seed that meets it: what the process says of it by
/// itself is said once for each place in the code.
fn tell_each_panic_once() {
    let told: Mutex<BTreeSet<String>> = Mutex::default();
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        if told.lock().unwrap_or_else(PoisonError::into_inner).insert(place) {
            tell(panic);
        }
    }));
}

/// One command: `arguments` begin with how it was called. Results go to `out`, errors to `err`; `draws` says whether
/// progress may be drawn on the process's error stream. Returns the exit code.
pub fn run(
    registry: &Registry,
    arguments: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    draws: bool,
) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let called = arguments.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "seedbed".into());
    let parsed = Cli::command().try_get_matches_from(arguments).and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return refused_by_clap(&error, out, err),
    };
    let mut console = Console::new(out, draws);
    match dispatch(registry, &registry.command_line(&called), &cli.verb, &mut console) {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to hear that the error stream is closed.
            let _ = writeln!(err, "error: {error}");
            exit::BAD_INPUT
        }
    }
}

fn dispatch(registry: &Registry, command: &str, verb: &Verb, console: &mut Console<'_>) -> Result<u8, BadInput> {
    match verb {
        Verb::List(args) => list::run(registry, args, console),
        Verb::Run(args) => run::run(registry, command, args, console),
        Verb::Check(args) => check::run(registry, command, args, console),
        Verb::Explore(args) => explore::run(registry, command, args, console),
        Verb::Replay(args) => replay::run(registry, command, args, console),
        Verb::Shrink(args) => shrink::run(registry, command, args, console),
        Verb::Mutants(args) => mutants::run(registry, command, args, console),
        Verb::Experiment(args) => experiment::run(registry, args, console),
        Verb::History(args) => history::run(args, console),
        Verb::Plan(args) => plan::run(registry, command, args, console),
        Verb::Merge(args) => merge::run(args, console),
        Verb::Emit(args) => emit::run(registry, command, args, console),
        Verb::Node(args) => host::run("node", args),
        Verb::Cluster(args) => host::run("cluster", args),
    }
}

/// Help and version are results; the rest are errors, said as ours are.
fn refused_by_clap(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let text = error.render().to_string();
    // As above: nobody is left to hear of it.
    if error.use_stderr() {
        let _ = write!(err, "{text}");
        exit::BAD_INPUT
    } else {
        let _ = write!(out, "{text}");
        exit::EXPECTED
    }
}
