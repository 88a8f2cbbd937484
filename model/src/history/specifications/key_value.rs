//! A store of values by key.

use super::{Answered, Given, Shape, Shipped};
use crate::history::{Call, Outcomes, Specification, Value};

/// A store of values by key, each key a part of its own. `append` makes a text longer; `delete` makes a key absent.
#[derive(Debug, Clone)]
pub struct KeyValue {
    /// What an absent key reads as: the empty text unless said otherwise.
    pub absent: Value,
    /// Whether a key may be lost at any time, as if a demon deleted it: soft state, rebuilt by its clients. A put is then
    /// also answered `false` by who gives it up, since what would keep it is lost: it was done, or never will be.
    pub is_soft: bool,
}

impl KeyValue {
    fn push(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        match call.name.as_str() {
            "get" => outcomes.push(state.clone(), state.clone()),
            "put" => {
                outcomes.push(Value::Nil, call.argument.clone());
                if self.is_soft {
                    outcomes.push(Value::Bool(false), call.argument.clone());
                    outcomes.push(Value::Bool(false), state.clone());
                }
            }
            "delete" => outcomes.push(Value::Nil, self.absent.clone()),
            "append" => outcomes.push(Value::Nil, appended(state, &call.argument)),
            _ => {}
        }
    }
}

/// Texts put together; anything else counts as an empty text.
fn appended(state: &Value, more: &Value) -> Value {
    let text = |value: &Value| match value {
        Value::Text(text) => text.clone(),
        _ => String::new(),
    };
    Value::Text(text(state) + &text(more))
}

impl Specification for KeyValue {
    /// One key's.
    type State = Value;
    type Operation = Call;
    type Answer = Value;
    type Part = Value;

    fn initial(&self) -> Value {
        self.absent.clone()
    }

    fn part(&self, call: &Call) -> Value {
        call.key.clone()
    }

    fn outcomes(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        self.push(state, call, outcomes);
        if self.is_soft {
            self.push(&self.absent, call, outcomes);
        }
    }

    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        // A soft key may be lost right before it is read.
        call.name == "get" && !self.is_soft
    }

    fn heap_bytes(&self, state: &Value) -> usize {
        state.heap_bytes()
    }
}

impl Shipped for KeyValue {
    fn shapes(&self) -> &'static [Shape] {
        const fn shapes(put: Answered) -> [Shape; 4] {
            [
                Shape::keyed("get", Given::Nothing, Answered::Seen),
                Shape::keyed("put", Given::Value, put),
                Shape::keyed("append", Given::Value, Answered::Done),
                Shape::keyed("delete", Given::Nothing, Answered::Done),
            ]
        }
        const KEPT: [Shape; 4] = shapes(Answered::Done);
        const SOFT: [Shape; 4] = shapes(Answered::Perhaps);
        if self.is_soft { &SOFT } else { &KEPT }
    }
}
