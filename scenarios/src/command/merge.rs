//! `merge`: the results of several machines as one.

use std::path::PathBuf;

use seedbed_model::record::merged;
use seedbed_reports::{campaign, failure, json, junit};

use crate::console::{Console, probe, write_file};
use crate::exit::{self, BadInput};
use crate::{judging, results};

/// Flags of `merge`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Results of shards, as `run --json` wrote them, or merged ones; in any order, and one may be there twice
    #[arg(value_name = "RESULT", required = true)]
    files: Vec<PathBuf>,
    /// Writes a JUnit file: a case for each hundred seeds
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Writes the merged results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe(args.junit.as_ref())?;
    probe(args.json.as_ref())?;
    let mut records = Vec::new();
    for path in &args.files {
        records.push((path.display().to_string(), results::read(path)?));
    }
    let mut record = merged(records).map_err(BadInput::flag)?;
    record.scenarios.iter_mut().for_each(judging::judge);
    let codes = record.scenarios.iter().map(|scenario| scenario.code);
    record.code = exit::lowest(codes.chain(record.pins.iter().map(|pin| pin.code)));
    let falls = record.scenarios.iter().flat_map(|scenario| &scenario.falls);
    for fall in falls.filter(|fall| !fall.expected) {
        console.say(&format!("{}\n", failure::block(&fall.first)))?;
    }
    console.say(&campaign::summary(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    if let Some(path) = &args.junit {
        write_file(path, &junit::text(&record).map_err(|why| BadInput::file(path.display().to_string(), why))?)?;
    }
    Ok(record.code)
}
