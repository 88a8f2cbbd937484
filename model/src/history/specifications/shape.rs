//! How operations look in a file.

use crate::history::{Call, Value};

/// One operation: its name, what it is given, what it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Its name in files.
    pub name: &'static str,
    /// What it is given.
    pub given: Given,
    /// What it answers.
    pub answered: Answered,
    /// Whether it is on a key.
    pub is_keyed: bool,
}

/// What an operation is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Nothing: the value of its invocation does not count.
    Nothing,
    /// Any value.
    Value,
    /// A number.
    Number,
    /// Two values.
    Pair,
    /// A number and a value.
    NumberAndValue,
    /// A list of `[read KEY nil]` and `[write KEY VALUE]`.
    Transaction,
}

/// What an operation answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// Nothing: the value of its answer does not count.
    Done,
    /// The value of its answer.
    Seen,
    /// Whether it took effect: `ok` says yes (or the value `false`, no), `fail` may say no.
    Whether,
    /// Nothing, or the value `false`: it took effect before this answer, or never will, and nobody knows which.
    Perhaps,
    /// What the reads of a transaction saw.
    Reads,
    /// A list, in any order, each member once.
    Members,
}

impl Shape {
    /// An operation that is not on a key.
    pub(crate) const fn new(name: &'static str, given: Given, answered: Answered) -> Self {
        Shape { name, given, answered, is_keyed: false }
    }

    /// One on a key.
    pub(crate) const fn keyed(name: &'static str, given: Given, answered: Answered) -> Self {
        Shape { name, given, answered, is_keyed: true }
    }

    /// The call that a file's invocation stands for.
    ///
    /// # Errors
    /// If the key or the value is not of this shape.
    pub fn call(&self, key: Option<Value>, value: &Value) -> Result<Call, String> {
        let key = match (self.is_keyed, key) {
            (true, Some(key)) => key,
            (true, None) => return Err(format!("{} needs a key", self.name)),
            (false, None | Some(Value::Nil)) => Value::Nil,
            (false, Some(key)) => return Err(format!("{} has no key, found key {key}", self.name)),
        };
        let refused = |wanted: &str| Err(format!("{} is given {wanted}, found {value}", self.name));
        let argument = match (self.given, value) {
            (Given::Nothing, _) => Value::Nil,
            (Given::Value, value) => value.clone(),
            (Given::Number, Value::Integer(_)) => value.clone(),
            (Given::Number, _) => return refused("a number"),
            (Given::Pair, value) if value.pair().is_some() => value.clone(),
            (Given::Pair, _) => return refused("two values"),
            (Given::NumberAndValue, value) => match value.pair() {
                Some((Value::Integer(_), _)) => value.clone(),
                _ => return refused("a number and a value"),
            },
            (Given::Transaction, value) => match transaction(value) {
                Some(steps) => steps,
                None => return refused("a list of [read KEY nil] and [write KEY VALUE]"),
            },
        };
        Ok(Call { name: self.name.to_owned(), key, argument })
    }

    /// The answer that a file's `ok` stands for.
    ///
    /// # Errors
    /// If the value is not of this shape.
    pub fn answer(&self, call: &Call, value: &Value) -> Result<Value, String> {
        match self.answered {
            Answered::Done => Ok(Value::Nil),
            Answered::Seen => Ok(value.clone()),
            Answered::Members => members(value)
                .ok_or_else(|| format!("{} answers with a list of different members, found {value}", self.name)),
            Answered::Whether => Ok(Value::Bool(*value != Value::Bool(false))),
            Answered::Perhaps if *value == Value::Bool(false) && call.argument != *value => Ok(Value::Bool(false)),
            Answered::Perhaps => Ok(Value::Nil),
            Answered::Reads => reads(call, value).ok_or_else(|| {
                format!("{} answers with the steps it was given and what they read, found {value}", self.name)
            }),
        }
    }
}

/// The members, in order.
fn members(value: &Value) -> Option<Value> {
    let mut members = value.items()?.to_vec();
    let count = members.len();
    members.sort();
    members.dedup();
    (members.len() == count).then_some(Value::List(members))
}

/// The steps without what they read.
fn transaction(value: &Value) -> Option<Value> {
    let steps = value.items()?.iter().map(|step| match step.items()? {
        [Value::Text(name), key, _] if is_read(name) => Some(Value::List(vec!["read".into(), key.clone(), Value::Nil])),
        [Value::Text(name), key, value] if is_write(name) => {
            Some(Value::List(vec!["write".into(), key.clone(), value.clone()]))
        }
        _ => None,
    });
    steps.collect::<Option<Vec<Value>>>().map(Value::List)
}

fn is_read(name: &str) -> bool {
    name == "read" || name == "r"
}

fn is_write(name: &str) -> bool {
    name == "write" || name == "w"
}

/// What the reads among the steps saw, in order.
fn reads(call: &Call, value: &Value) -> Option<Value> {
    if transaction(value)? != call.argument {
        return None;
    }
    let seen = value.items()?.iter().filter_map(|step| match step.items() {
        Some([Value::Text(name), _, seen]) if is_read(name) => Some(seen.clone()),
        _ => None,
    });
    Some(Value::List(seen.collect()))
}
