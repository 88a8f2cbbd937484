//! JSON Lines, one object a line:
//!
//! ```json
//! {"process":0,"type":"invoke","f":"cas","value":[0,1],"time":899472}
//! {"process":0,"type":"ok","f":"cas","value":[0,1],"time":2308320}
//! ```
//!
//! `type` is `invoke`, `ok`, `fail` or `info`; `key` is the key of operations that have one; `value` is what an
//! operation was given, or what it answered. Other fields are for people. Lines that are empty or have a field `meta`
//! are skipped, and so are events of the process `nemesis`.

use seedbed_model::history::Value;
use serde_json::{Map, Value as Json};

use super::events::{Event, Fault, NEMESIS, PROCESS, Type, shown};

/// A longer line is refused before it is read [bytes].
const LINE_BYTES_MAX: usize = 1 << 20;

/// Reads the events.
///
/// # Errors
/// On the first line that is no event.
pub(super) fn read(text: &str) -> Result<Vec<Event>, Fault> {
    let mut events = Vec::new();
    let mut position = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match event(index + 1, line, position).map_err(|why| Fault::new(index + 1, why))? {
            Found::Event(event) => events.push(event),
            Found::Foreign => {}
            Found::Meta => continue,
        }
        position += 1;
    }
    Ok(events)
}

enum Found {
    Event(Event),
    Foreign,
    Meta,
}

fn event(line: usize, text: &str, position: u64) -> Result<Found, String> {
    if text.len() > LINE_BYTES_MAX {
        return Err(format!("the line has {} bytes; an event has at most {LINE_BYTES_MAX}", text.len()));
    }
    let object: Map<String, Json> = serde_json::from_str(text).map_err(|error| match out_of_range(text) {
        Some(number) => too_long(number),
        None => format!("an event is one JSON object; {error}"),
    })?;
    if object.contains_key("meta") {
        return Ok(Found::Meta);
    }
    let word = |field: &str| match object.get(field) {
        Some(Json::String(word)) => Ok(word.as_str()),
        Some(other) => Err(format!("`{field}` is {}; a word is wanted", shown(&other.to_string()))),
        None => Err(format!("`{field}` is missing; an event has process, type, f and value")),
    };
    let process = match object.get("process") {
        Some(Json::String(word)) if word == NEMESIS => return Ok(Found::Foreign),
        Some(Json::String(word)) => return Err(format!("`process` is {}; {PROCESS}", shown(word))),
        Some(number) => number
            .as_u64()
            .ok_or_else(|| format!("`process` is {}; a number from 0 is wanted", shown(written(text, number))))?,
        None => return Err("`process` is missing; an event has process, type, f and value".into()),
    };
    let kind = Type::parse(word("type")?)?;
    let name = word("f")?.to_owned();
    let value = |field: &str| object.get(field).map(|json| value(json, text)).transpose();
    let (key, value) = (value("key")?, value("value")?.unwrap_or_default());
    Ok(Found::Event(Event { line, process, kind, name, key, value, position }))
}

/// The reader nests 128 deep at most, and so does this.
fn value(json: &Json, text: &str) -> Result<Value, String> {
    match json {
        Json::Null => Ok(Value::Nil),
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::Number(number) => number.as_i64().map(Value::Integer).ok_or_else(|| too_long(written(text, json))),
        Json::String(text) => Ok(Value::Text(text.clone())),
        Json::Array(items) => items.iter().map(|item| value(item, text)).collect::<Result<_, _>>().map(Value::List),
        Json::Object(_) => {
            Err(format!("{} is no value; nil, a number, a text or a list is wanted", shown(&json.to_string())))
        }
    }
}

fn too_long(number: &str) -> String {
    format!("{} is not a whole number of 64 bits", shown(number))
}

/// The numbers of a line as they are written, and what looks like one inside its words.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let is_beside = |sign: char| !(sign.is_ascii_alphanumeric() || "+-.".contains(sign));
    text.split(is_beside).filter(|word| word.starts_with(|sign: char| sign == '-' || sign.is_ascii_digit()))
}

/// A number as it was written: what is read of it may be rounded.
fn written<'a>(text: &'a str, read: &Json) -> &'a str {
    let is_it = |word: &&str| serde_json::from_str::<Json>(word).is_ok_and(|other| other == *read);
    numbers(text).find(is_it).unwrap_or("the number")
}

/// A number that is too large even for rounding.
fn out_of_range(text: &str) -> Option<&str> {
    numbers(text).find(|word| word.parse::<f64>().is_ok_and(f64::is_infinite))
}
