//! One recorded event, whatever the format.

use seedbed_model::history::Value;

/// The process that is no client: what it does is left out.
pub(super) const NEMESIS: &str = "nemesis";

/// What a process is.
pub(super) const PROCESS: &str = "a number from 0 is wanted, or nemesis for what is no client's";

/// What happened to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// It was invoked.
    Invoke,
    /// It was answered.
    Ok,
    /// It failed: see [`super::assembly::Fail`].
    Fail,
    /// Nobody knows what came of it.
    Info,
}

impl Type {
    pub(crate) fn parse(word: &str) -> Result<Type, String> {
        match word {
            "invoke" => Ok(Type::Invoke),
            "ok" => Ok(Type::Ok),
            "fail" => Ok(Type::Fail),
            "info" => Ok(Type::Info),
            _ => Err(format!("no type `{word}`; an event is of type invoke, ok, fail or info")),
        }
    }
}

/// An event as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// The line that it begins on, from 1.
    pub(crate) line: usize,
    /// The client.
    pub(crate) process: u64,
    /// What happened.
    pub(crate) kind: Type,
    /// The operation's name.
    pub(crate) name: String,
    /// The key, in formats that have one.
    pub(crate) key: Option<Value>,
    /// What it was given or what it answered.
    pub(crate) value: Value,
    /// Its position among all events of the file, from 0, those of no client too.
    pub(crate) position: u64,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From 1; 0 for the file as a whole.
    pub(crate) line: usize,
    /// What was found and what would be right.
    pub(crate) why: String,
}

impl Fault {
    pub(crate) fn new(line: usize, why: impl Into<String>) -> Self {
        Fault { line, why: why.into() }
    }
}

/// A text cut short, for an error.
pub(crate) fn shown(text: &str) -> String {
    const COUNT_MAX: usize = 40;
    match text.char_indices().nth(COUNT_MAX) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
