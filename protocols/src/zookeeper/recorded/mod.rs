//! What a real Apache ZooKeeper answered, compared with what the data tree here answers.
//!
//! A recording is a file of lines in JSON: `meta` (the sessions, in the order in which they were opened), operations one after the
//! other, `final` (the whole tree). `scenarios/zookeeper/recorded/README.md` has the format. Everything recorded is compared: every
//! result, error kind, version, sequential name, zxid and watch event, and the tree at the end.
//!
//! One thing the real server leaves open: in which order a session's ephemeral nodes go with it (it keeps them in a hash set). A
//! recording agrees if one of their orders gives what was recorded.

mod fields;
mod play;
mod words;

use std::fmt;

use serde_json::{Map, Value};

use fields::Fields;
use play::Play;

/// What was compared, without a difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Operations.
    pub operations: usize,
    /// Watches that fired.
    pub watches: usize,
    /// Nodes of the tree at the end.
    pub nodes: usize,
}

/// Why a recording does not agree, or is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// It is no recording.
    Malformed {
        /// The file's name.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What would be right.
        wanted: String,
    },
    /// The first difference.
    Differs {
        /// The file's name.
        file: String,
        /// Counted from 1.
        line: usize,
        /// Which operation, and what of it.
        what: String,
        /// What the data tree here has.
        found: String,
        /// What the real server had.
        recorded: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed { file, line, found, wanted } => write!(f, "{file}:{line}: {found}; {wanted} is wanted"),
            Error::Differs { file, line, what, found, recorded } => {
                write!(f, "{file}:{line}: {what}: {found} here, {recorded} recorded")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Plays the recording of this name and text on a single server, and compares.
///
/// # Errors
/// On the first difference, and on what is no recording.
pub fn compare(file: &str, text: &str) -> Result<Agreement, Error> {
    let at = |number: usize, problem: Problem| problem.at(file, number);
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let Some((_, first)) = lines.next() else {
        return Err(at(1, Problem::malformed("the file is empty", "a recording's first line, `meta`,")));
    };
    let mut play = opened(first).map_err(|problem| at(1, problem))?;
    let mut agreement = Agreement::default();
    let mut last = 1;
    while let Some((number, line)) = lines.next() {
        last = number;
        let line = parsed(line).map_err(|problem| at(number, problem))?;
        if line.contains_key("final") {
            agreement.nodes = ended(&play, line).map_err(|problem| at(number, problem))?;
            return match lines.next() {
                None => Ok(agreement),
                Some((number, _)) => {
                    Err(at(number, Problem::malformed("a line behind `final`", "the end of the file")))
                }
            };
        }
        let watches = play.compare(line, agreement.operations).map_err(|problem| at(number, problem))?;
        agreement.operations += 1;
        agreement.watches += watches;
    }
    Err(at(last + 1, Problem::malformed("the file ends", "an operation, or `final`,")))
}

/// An [`Error`] that knows no file and line yet.
enum Problem {
    Malformed { found: String, wanted: String },
    Differs { what: String, found: String, recorded: String },
}

impl Problem {
    fn malformed(found: impl Into<String>, wanted: impl Into<String>) -> Problem {
        Problem::Malformed { found: found.into(), wanted: wanted.into() }
    }

    fn at(self, file: &str, line: usize) -> Error {
        let file = file.to_owned();
        match self {
            Problem::Malformed { found, wanted } => Error::Malformed { file, line, found, wanted },
            Problem::Differs { what, found, recorded } => Error::Differs { file, line, what, found, recorded },
        }
    }
}

fn parsed(line: &str) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_str(line) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => Err(Problem::malformed(format!("`{}`", shortened(&other.to_string())), "an object")),
        Err(why) => Err(Problem::malformed(why.to_string(), "a line of JSON")),
    }
}

/// The first line.
fn opened(line: &str) -> Result<Play, Problem> {
    const SEQUENTIAL: &str = "zk-oracle seq";
    let line = parsed(line)?;
    match line.get("meta").and_then(Value::as_str) {
        Some(SEQUENTIAL) => {}
        found => {
            let found = found.map_or("no `meta`".into(), |meta| format!("`meta` is `{}`", shortened(meta)));
            return Err(Problem::malformed(
                found,
                format!("`{SEQUENTIAL}` (histories of a register are for `seedbed history`)"),
            ));
        }
    }
    let mut fields = Fields::of(line, "the first line");
    let sessions = fields.texts("sessions")?;
    Play::new(&sessions)
}

/// The last line: how many nodes there are.
fn ended(play: &Play, line: Map<String, Value>) -> Result<usize, Problem> {
    let mut fields = Fields::of(line, "the last line");
    let recorded = fields.object("final")?;
    fields.end()?;
    let count = recorded.len();
    match difference("final", &play.tree(), &Value::Object(recorded)) {
        None => Ok(count),
        Some(problem) => Err(problem),
    }
}

/// Where two values first differ, the first of which is ours.
fn difference(what: &str, ours: &Value, theirs: &Value) -> Option<Problem> {
    let within = |key: &str| format!("{what}.{key}");
    match (ours, theirs) {
        _ if ours == theirs => None,
        (Value::Object(ours), Value::Object(theirs)) => ours
            .iter()
            .find_map(|(key, value)| difference(&within(key), value, theirs.get(key).unwrap_or(&ABSENT)))
            .or_else(|| {
                theirs.iter().find_map(|(key, value)| match ours.contains_key(key) {
                    true => None,
                    false => Some(differs(within(key), &ABSENT, value)),
                })
            }),
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let pairs = ours.iter().zip(theirs).enumerate();
            pairs.into_iter().find_map(|(place, (ours, theirs))| difference(&within(&place.to_string()), ours, theirs))
        }
        _ => Some(differs(what.to_owned(), ours, theirs)),
    }
}

const ABSENT: Value = Value::Null;

fn differs(what: String, ours: &Value, theirs: &Value) -> Problem {
    Problem::Differs { what, found: shortened(&ours.to_string()), recorded: shortened(&theirs.to_string()) }
}

/// Not more of a text than a line can show.
fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 200;
    if text.chars().count() <= SHOWN_MAX {
        return text.to_owned();
    }
    text.chars().take(SHOWN_MAX).chain(std::iter::once('…')).collect()
}

#[cfg(test)]
mod concurrent_tests;
#[cfg(test)]
mod tests;
