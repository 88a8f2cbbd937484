//! Parameters and bounds as tables: what a file says, what `-p k=v` and `--bound k=v` put over it.

use std::collections::BTreeMap;
use std::str::FromStr;

use seedbed_model::Span;
use toml::{Table, Value};

use crate::exit::BadInput;
use crate::face::Face;

/// One `key=value` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Override {
    /// Kebab case.
    pub(crate) key: String,
    /// As written.
    pub(crate) value: String,
}

impl FromStr for Override {
    type Err = String;
    fn from_str(text: &str) -> Result<Override, String> {
        let advice = || format!("`{text}` sets nothing; write a name and a value, such as owners=2");
        let (key, value) = text.split_once('=').ok_or_else(advice)?;
        let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
        if key.is_empty() || value.is_empty() { Err(advice()) } else { Ok(Override { key, value }) }
    }
}

impl Override {
    /// What the value may stand for: as TOML where it reads as that (numbers, booleans, lists), else as a string. A
    /// decimal is a string too, so that it stays exact.
    pub(crate) fn readings(&self) -> Vec<Value> {
        let string = Value::String(self.value.clone());
        let read = toml::from_str::<Table>(&format!("v = {}", self.value)).ok().and_then(|mut table| table.remove("v"));
        read.into_iter().filter(|value| *value != string).chain([string.clone()]).collect()
    }
}

/// `table` with the overrides in their order; `check` says whether a table makes sense, and `flag` names the flag.
pub(crate) fn overridden(
    table: &Table,
    overrides: &[Override],
    flag: &str,
    check: &dyn Fn(&Table) -> Result<(), String>,
) -> Result<Table, BadInput> {
    let mut table = table.clone();
    for change in overrides {
        table = with(&table, change, check).map_err(|why| {
            let why = why.trim_end().replace('\n', ", ");
            BadInput::flag(format!("{flag} {}={}: {why}", change.key, change.value))
        })?;
    }
    Ok(table)
}

/// The table with one change, in the first reading that makes sense; else the first reading's error.
fn with(table: &Table, change: &Override, check: &dyn Fn(&Table) -> Result<(), String>) -> Result<Table, String> {
    let mut first_error = None;
    for reading in change.readings() {
        let mut table = table.clone();
        table.insert(change.key.clone(), reading);
        match check(&table) {
            Ok(()) => return Ok(table),
            Err(why) => first_error = first_error.or(Some(why)),
        }
    }
    // TOML has no such number, and what reads as none is a string.
    let is_beyond = change.value.parse::<i128>().is_ok() && change.value.parse::<i64>().is_err();
    Err(if is_beyond { "a whole number has at most 64 bits".to_owned() } else { first_error.unwrap_or_default() })
}

/// The parameter that tells a protocol's forms apart, where it has several.
pub(crate) const VARIANT: &str = "variant";

/// The protocol's forms. A protocol names them where it refuses one that it does not have, as its parameters are read.
pub(crate) fn variants(face: &dyn Face) -> Vec<String> {
    let is_any = face.full_params(&Table::new()).is_ok_and(|full| full.contains_key(VARIANT));
    let none_such = Table::from_iter([(VARIANT.to_owned(), Value::String("?".into()))]);
    match face.full_params(&none_such) {
        Err(refusal) if is_any => {
            refusal.split('`').skip(1).step_by(2).filter(|name| *name != "?").map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// `over` on top of `under`, key by key.
pub(crate) fn merged(under: Option<&Table>, over: Option<&Table>) -> Table {
    let mut table = under.cloned().unwrap_or_default();
    table.extend(over.cloned().unwrap_or_default());
    table
}

/// The table in words, for people and result files.
pub(crate) fn words(table: &Table) -> BTreeMap<String, String> {
    table.iter().map(|(key, value)| (key.clone(), word(value))).collect()
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The longest span that divides every one among the parameters: each timer's length is then a whole number of ticks.
pub(crate) fn common_tick(params: &Table) -> Span {
    let spans = params.values().filter_map(|value| value.as_str()?.parse::<Span>().ok()).filter(|span| span.0 > 0);
    spans.reduce(|one, other| Span(common(one.0, other.0))).unwrap_or(Span::TICK)
}

/// The greatest common divisor; Euclid.
fn common(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str) -> Result<Table, BadInput> {
        let check = |table: &Table| {
            let whole = table.get("owners").is_none_or(Value::is_integer);
            if whole && table.keys().all(|key| key == "owners" || key == "lease") { Ok(()) } else { Err("no\n".into()) }
        };
        overridden(&Table::new(), &[text.parse().unwrap()], "-p", &check)
    }

    #[test]
    fn a_tick_divides_every_span_among_the_parameters() {
        let params: Table = toml::from_str("lease = \"3s\"\nback-off = \"200ms\"\nowners = 2\nnone = \"0s\"").unwrap();
        assert_eq!(common_tick(&params), Span::millis(200));
        assert_eq!(common_tick(&Table::new()), Span::TICK);
    }

    #[test]
    fn a_value_is_read_as_what_makes_sense() {
        assert_eq!(set("owners=2").unwrap()["owners"], Value::Integer(2));
        assert_eq!(set("lease=60s").unwrap()["lease"], Value::String("60s".into()));
    }

    #[test]
    fn the_flag_that_makes_no_sense_is_named() {
        assert_eq!(set("owners=x").unwrap_err().to_string(), "-p owners=x: no");
        let beyond = set("owners=9999999999999999999").unwrap_err().to_string();
        assert_eq!(beyond, "-p owners=9999999999999999999: a whole number has at most 64 bits");
        assert_eq!(set("color=1").unwrap_err().to_string(), "-p color=1: no");
    }

    #[test]
    fn an_override_needs_a_name_and_a_value() {
        for text in ["owners", "=2", "owners=", ""] {
            assert!(text.parse::<Override>().is_err(), "{text}");
        }
    }
}
