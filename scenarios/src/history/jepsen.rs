//! The log that Jepsen prints: `INFO  jepsen.util - PROCESS :TYPE :F VALUE`, apart by tabs or blanks.

use super::edn;
use super::events::{Event, Fault, Type};

/// Reads the events of a log; foreign lines are skipped, and so are those of no client.
///
/// # Errors
/// On a line of Jepsen's that has not the four fields.
pub(super) fn read(text: &str) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((_, fields)) = line.split_once("jepsen.util - ") else { continue };
        let position = events.len() as u64;
        if let Some(event) = event(index + 1, fields, position).map_err(|why| Fault::new(index + 1, why))? {
            events.push(event);
        }
    }
    Ok(events)
}

fn event(line: usize, fields: &str, position: u64) -> Result<Option<Event>, String> {
    let (process, rest) = word(fields);
    if process.starts_with(|first: char| !first.is_ascii_digit()) {
        return Ok(None);
    }
    let process = process.parse().map_err(|_| {
        format!("the process is {}; a number of at most 64 bits is wanted", super::events::shown(process))
    })?;
    let (kind, rest) = word(rest);
    let (name, value) = word(rest);
    let (Some(kind), Some(name)) = (kind.strip_prefix(':'), name.strip_prefix(':')) else {
        return Err("an event is PROCESS :TYPE :F VALUE; it ends early".into());
    };
    let kind = Type::parse(kind)?;
    let is_answered = matches!(kind, Type::Invoke | Type::Ok);
    // What is said of a failure or a timeout is no value.
    let value = if is_answered { edn::one(value)? } else { Default::default() };
    Ok(Some(Event { line, process, kind, name: name.to_owned(), key: None, value, position }))
}

/// The first word, and what comes after the white space behind it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (word, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    (word, rest.trim_start())
}
