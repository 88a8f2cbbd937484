//! Queues, sets, counters, logs.

use std::collections::BTreeSet;

use super::{Answered, Given, Shape, Shipped};
use crate::history::{Call, Outcomes, Specification, Value};

/// First in, first out: `enqueue VALUE`; `dequeue` answers the oldest, or nil. Empty at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Queue;

impl Specification for Queue {
    /// Oldest first.
    type State = Vec<Value>;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }
    fn part(&self, _: &Call) {}
    fn outcomes(&self, state: &Vec<Value>, call: &Call, outcomes: &mut Outcomes<Value, Vec<Value>>) {
        match (call.name.as_str(), state.first()) {
            ("enqueue", _) => outcomes.push(Value::Nil, with_last(state, &call.argument)),
            ("dequeue", None) => outcomes.push(Value::Nil, Vec::new()),
            ("dequeue", Some(first)) => outcomes.push(first.clone(), state[1..].to_vec()),
            _ => {}
        }
    }
    fn heap_bytes(&self, state: &Vec<Value>) -> usize {
        bytes(state)
    }
}

fn with_last(state: &[Value], value: &Value) -> Vec<Value> {
    let mut next = state.to_vec();
    next.push(value.clone());
    next
}

fn bytes<'a>(values: impl IntoIterator<Item = &'a Value>) -> usize {
    values.into_iter().map(|value| size_of::<Value>() + value.heap_bytes()).sum()
}

impl Shipped for Queue {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 2] = [
            Shape::new("enqueue", Given::Value, Answered::Done),
            Shape::new("dequeue", Given::Nothing, Answered::Seen),
        ];
        &SHAPES
    }
}

/// A set: `add VALUE`, `remove VALUE`, `contains VALUE`; `read` answers its members in any order. Empty at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Set;

impl Specification for Set {
    type State = BTreeSet<Value>;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Self::State {
        BTreeSet::new()
    }
    fn is_finite(&self) -> bool {
        true
    }
    fn part(&self, _: &Call) {}
    fn outcomes(&self, state: &Self::State, call: &Call, outcomes: &mut Outcomes<Value, Self::State>) {
        let mut next = state.clone();
        let answer = match call.name.as_str() {
            "add" => {
                next.insert(call.argument.clone());
                Value::Nil
            }
            "remove" => {
                next.remove(&call.argument);
                Value::Nil
            }
            "contains" => state.contains(&call.argument).into(),
            "read" => Value::List(state.iter().cloned().collect()),
            _ => return,
        };
        outcomes.push(answer, next);
    }
    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        matches!(call.name.as_str(), "contains" | "read")
    }
    fn heap_bytes(&self, state: &Self::State) -> usize {
        bytes(state)
    }
}

impl Shipped for Set {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 4] = [
            Shape::new("add", Given::Value, Answered::Done),
            Shape::new("remove", Given::Value, Answered::Done),
            Shape::new("contains", Given::Value, Answered::Whether),
            Shape::new("read", Given::Nothing, Answered::Members),
        ];
        &SHAPES
    }
}

/// A number: `add NUMBER`, which may be negative; `read`. It begins at 0 unless said otherwise, and stays within 64
/// bits: an addition that would leave them cannot take effect.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counter {
    /// The number at first.
    pub initial: i64,
}

impl Specification for Counter {
    type State = i64;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> i64 {
        self.initial
    }
    fn part(&self, _: &Call) {}
    fn outcomes(&self, state: &i64, call: &Call, outcomes: &mut Outcomes<Value, i64>) {
        match (call.name.as_str(), call.argument.integer()) {
            ("read", _) => outcomes.push(Value::Integer(*state), *state),
            ("add", Some(more)) => {
                if let Some(sum) = state.checked_add(more) {
                    outcomes.push(Value::Nil, sum);
                }
            }
            _ => {}
        }
    }
    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        call.name == "read"
    }
}

impl Shipped for Counter {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 2] =
            [Shape::new("add", Given::Number, Answered::Done), Shape::new("read", Given::Nothing, Answered::Seen)];
        &SHAPES
    }
}

/// A log that only grows: `append VALUE` answers its position, from 0; `get POSITION` the value there, or nil; `read`
/// all of it. Empty at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Log;

impl Specification for Log {
    type State = Vec<Value>;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Vec<Value> {
        Vec::new()
    }
    fn part(&self, _: &Call) {}
    fn outcomes(&self, state: &Vec<Value>, call: &Call, outcomes: &mut Outcomes<Value, Vec<Value>>) {
        match call.name.as_str() {
            "append" => outcomes.push(Value::Integer(state.len() as i64), with_last(state, &call.argument)),
            "get" => {
                let position = call.argument.integer().and_then(|position| usize::try_from(position).ok());
                let found = position.and_then(|position| state.get(position)).cloned();
                outcomes.push(found.unwrap_or_default(), state.clone());
            }
            "read" => outcomes.push(Value::List(state.clone()), state.clone()),
            _ => {}
        }
    }
    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        matches!(call.name.as_str(), "get" | "read")
    }
    fn heap_bytes(&self, state: &Vec<Value>) -> usize {
        bytes(state)
    }
}

impl Shipped for Log {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 3] = [
            Shape::new("append", Given::Value, Answered::Seen),
            Shape::new("get", Given::Number, Answered::Seen),
            Shape::new("read", Given::Nothing, Answered::Seen),
        ];
        &SHAPES
    }
}
