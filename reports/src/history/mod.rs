//! Judged histories: in words, as intervals in text, SVG and HTML.
//!
//! - [`Told`]: what is told of a judged history.
//! - [`words`]: the verdict in words.
//! - [`layout`]: where each operation's bar goes; [`diagram`], [`svg`], [`html`]: the forms of it.

mod diagram;
mod html;
mod layout;
mod svg;
mod words;

use std::collections::BTreeMap;

use seedbed_model::history::{Call, Interval, Value, Verdict};

pub use diagram::diagram;
pub use html::html;
pub use svg::svg;
pub use words::text;

/// A judged history.
#[derive(Debug, Clone)]
pub struct Told<'a> {
    /// The file, or whatever the history is called.
    pub name: &'a str,
    /// The specification.
    pub specification: String,
    /// The judgement.
    pub judgement: &'static str,
    /// The operations.
    pub intervals: &'a [Interval<Call, Value>],
    /// The lines of events.
    pub lines: &'a BTreeMap<u64, usize>,
    /// How many reads are left out, since nobody knows what they saw.
    pub unknown_count: usize,
    /// What was found.
    pub verdict: &'a Verdict,
    /// What ran out, in words, if the verdict is unknown.
    pub exhausted: Option<String>,
}

/// An operation with its answer, in words.
pub fn described(interval: &Interval<Call, Value>) -> String {
    match &interval.answer {
        None => format!("{} -> ?", interval.operation),
        Some(Value::Nil) if interval.operation.argument != Value::Nil => interval.operation.to_string(),
        Some(answer) => format!("{} -> {answer}", interval.operation),
    }
}
