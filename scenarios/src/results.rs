//! Result files, read back.

use std::path::Path;

use seedbed_model::record::{CampaignRecord, SCHEMA};
use serde::Deserialize;

use crate::exit::BadInput;
use crate::library;

/// What tells whether the rest can be read.
#[derive(Deserialize)]
struct Stamp {
    schema: u32,
    kind: String,
}

/// The results of a campaign, as `run --json` wrote them.
///
/// # Errors
/// If the file cannot be read, is no such results, or is of another schema.
pub(crate) fn read(path: &Path) -> Result<CampaignRecord, BadInput> {
    let source = library::read(path)?;
    let place = |error: serde_json::Error| BadInput::Place {
        file: source.name.clone(),
        line: error.line(),
        column: error.column(),
        message: format!("not the results of a campaign, as `run --json` writes them: {error}"),
    };
    let stamp: Stamp = serde_json::from_str(&source.text).map_err(place)?;
    if stamp.kind != "campaign" {
        let message = format!("results of kind `{}`; what is wanted are those of `run --json`", stamp.kind);
        return Err(BadInput::file(&source.name, message));
    }
    if stamp.schema != SCHEMA {
        let message =
            format!("results of schema {}, and this command reads {SCHEMA}; run the campaign again", stamp.schema);
        return Err(BadInput::file(&source.name, message));
    }
    serde_json::from_str(&source.text).map_err(place)
}
