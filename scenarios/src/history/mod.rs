//! Recorded client histories: reading them, and building from their events what the judge takes.
//!
//! - [`events`]: one recorded event, whatever the format.
//! - [`assembly`]: from events to operations, with what is wrong with them.
//! - [`claim`], [`judged`]: what a scenario demands of its runs, and runs judged by it.
//! - [`edn`], [`jepsen`], [`lines`]: the formats.
//! - [`recorder`], [`writer`]: histories of Seedbed's own runs, on their way out.

pub(crate) mod assembly;
pub(crate) mod claim;
pub(crate) mod edn;
pub(crate) mod events;
pub(crate) mod jepsen;
pub(crate) mod judged;
pub(crate) mod lines;
pub(crate) mod recorder;
pub(crate) mod writer;

use assembly::{Fail, Meaning, Nil};
use events::{Event, Fault};

/// How a history is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Jepsen's EDN: one vector or list of maps, or maps one after the other
    Edn,
    /// The log that Jepsen prints: `INFO jepsen.util - PROCESS :TYPE :F VALUE`
    Jepsen,
    /// One EDN map a line, with a key
    Kv,
    /// One JSON object a line
    JsonLines,
}

impl Format {
    /// By the file's name and, where that says nothing, its first sign.
    pub(crate) fn guess(name: &str, text: &str) -> Format {
        let ending = name.rsplit('.').next().unwrap_or_default();
        match (ending, text.trim_start().chars().next()) {
            ("edn", _) => Format::Edn,
            ("jsonl" | "json", _) => Format::JsonLines,
            ("log", _) => Format::Jepsen,
            (_, Some('[' | '(' | ';')) => Format::Edn,
            (_, Some('{')) if text.trim_start()[1..].trim_start().starts_with('"') => Format::JsonLines,
            (_, Some('{')) => Format::Kv,
            _ => Format::Jepsen,
        }
    }

    /// What a failed `cas` and a read of nil mean in files of this format, unless it is said. Jepsen's EDN histories
    /// say nil also of a read whose value was not written down.
    pub(crate) fn meaning(self) -> Meaning {
        match self {
            Format::Jepsen => Meaning { fail: Fail::MeansDiffers, nil: Nil::Value },
            Format::Edn => Meaning { fail: Fail::MeansNotApplied, nil: Nil::ValueIfHeld },
            Format::Kv | Format::JsonLines => Meaning { fail: Fail::MeansNotApplied, nil: Nil::Value },
        }
    }

    /// Reads the events.
    ///
    /// # Errors
    /// Of the first line that cannot be read, and why.
    pub(crate) fn read(self, text: &str) -> Result<Vec<Event>, Fault> {
        match self {
            Format::Edn | Format::Kv => edn::read(text),
            Format::Jepsen => jepsen::read(text),
            Format::JsonLines => lines::read(text),
        }
    }
}
