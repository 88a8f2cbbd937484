//! `merge`: the results of several machines as one.

use std::path::PathBuf;

use seedbed_model::record::merged;
use seedbed_reports::failure;

use super::outputs::Outputs;
use crate::console::Console;
use crate::exit::{self, BadInput};
use crate::{judging, results};

/// Flags of `merge`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Results of shards, as `run --json` wrote them, or merged ones; in any order, and one may be there twice
    #[arg(value_name = "RESULT", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    args.outputs.probe(args.files.iter().map(PathBuf::as_path), &[])?;
    let mut records = Vec::new();
    for path in &args.files {
        records.push((path.display().to_string(), results::read(path)?));
    }
    let mut record = merged(records).map_err(BadInput::flag)?;
    record.scenarios.iter_mut().for_each(judging::judge);
    let codes = record.scenarios.iter().map(|scenario| scenario.code);
    record.code = exit::lowest(codes.chain(record.pins.iter().map(|pin| pin.code)));
    let falls = record.scenarios.iter().flat_map(|scenario| &scenario.falls).filter(|fall| !fall.expected);
    let blocks: String = falls.map(|fall| format!("{}\n", failure::block(&fall.first))).collect();
    let said = console.say(&blocks);
    args.outputs.put(&record, console)?;
    // Whoever merges has the runs' results, and not what would draw them: the lines to paste do.
    args.outputs.put_page(&record, &[])?;
    said.map(|()| record.code)
}
