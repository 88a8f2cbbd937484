//! What a system that is not ours shows, as JSON Lines: judged by a protocol's properties, without its code.
//!
//! ```json
//! {"observes":"lease-timers","params":{"holders":2},"goes-on":"10s"}
//! {"at":1200000000,"node":"holder-1","event":"observed Acquired"}
//! ```
//! The first line says of which protocol, with which parameters, and how long the log goes on after its last line; `at` is in
//! nanoseconds.

use seedbed_model::Span;
use seedbed_model::tape::ObservedLine;
use serde::Deserialize;
use toml::Table;

use crate::exit::BadInput;

/// The first line.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Heading {
    /// The protocol whose observations follow.
    pub(crate) observes: String,
    #[serde(default)]
    pub(crate) params: Table,
    /// How long nothing more was shown after the last line.
    #[serde(default)]
    pub(crate) goes_on: Option<Span>,
}

/// A log.
#[derive(Debug, Clone)]
pub(crate) struct Log {
    pub(crate) heading: Heading,
    /// From the file's second line on.
    pub(crate) lines: Vec<ObservedLine>,
}

/// Whether the file begins as such a log does.
pub(crate) fn is_log(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let first: Option<serde_json::Value> = serde_json::from_str(first).ok();
    first.is_some_and(|first| first.get("observes").is_some())
}

/// Reads a log.
///
/// # Errors
/// On a line that is none.
pub(crate) fn read(file: &str, text: &str) -> Result<Log, BadInput> {
    let refused = |line: usize, why: serde_json::Error| BadInput::flag(format!("{file}:{line}: {why}"));
    let mut lines = text.lines().enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    let heading = serde_json::from_str(first).map_err(|why| refused(1, why))?;
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let lines = lines.map(|(index, line)| serde_json::from_str(line).map_err(|why| refused(index + 1, why)));
    Ok(Log { heading, lines: lines.collect::<Result<_, _>>()? })
}
