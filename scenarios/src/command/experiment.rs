//! `experiment`: what is measured, beside what a paper measured.

use std::path::PathBuf;

use seedbed_reports::{experiment, json, page};

use super::flags::Work;
use crate::console::{Console, probe, write_file};
use crate::exit::{BadInput, unknown};
use crate::library::Library;
use crate::registry::Registry;

/// Flags of `experiment`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Which: PROTOCOL/EXPERIMENT, as `list` shows them
    #[arg(value_name = "EXPERIMENT")]
    name: String,
    /// Writes what was measured as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the plots as a page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// A folder of scenarios beside the shipped ones, `<protocol>/experiments/<experiment>.toml`
    #[arg(long, value_name = "DIR", env = "SEEDBED_SCENARIOS")]
    scenarios: Option<PathBuf>,
    #[command(flatten)]
    work: Work,
}

pub(crate) fn run(registry: &Registry, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe([], [&args.json, &args.html])?;
    let library = Library::new(registry, args.scenarios.clone())?;
    let protocol = args.name.split('/').next().unwrap_or_default();
    let experiments = library.experiments(registry.entry(protocol)?)?;
    let names: Vec<&str> = experiments.iter().map(|experiment| experiment.name.as_str()).collect();
    let refused = || BadInput::flag(unknown("experiment", &args.name, &names));
    let chosen = experiments.iter().find(|experiment| experiment.name == args.name).ok_or_else(refused)?;
    let record = chosen.run(&args.work.revision, args.work.jobs(), console)?;
    console.say(&experiment::summary(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    if let Some(path) = &args.html {
        write_file(path, &page::experiment::html(&record))?;
    }
    Ok(record.code)
}
