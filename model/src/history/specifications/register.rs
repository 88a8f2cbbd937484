//! Registers.

use std::collections::BTreeMap;

use super::{Answered, Given, Shape, Shipped};
use crate::history::{Call, Outcomes, Specification, Value};

const READ: Shape = Shape::new("read", Given::Nothing, Answered::Seen);
const WRITE: Shape = Shape::new("write", Given::Value, Answered::Done);
const CAS: Shape = Shape::new("cas", Given::Pair, Answered::Whether);

/// One value, read and written. It begins at nil unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct Register {
    /// The value at first.
    pub initial: Value,
}

impl Specification for Register {
    type State = Value;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, _: &Call) {}

    fn outcomes(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        read_or_write(state, call, outcomes);
    }

    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        call.name == "read"
    }

    fn overwrites(&self, call: &Call) -> bool {
        call.name == "write"
    }

    fn heap_bytes(&self, state: &Value) -> usize {
        state.heap_bytes()
    }
}

impl Shipped for Register {
    fn shapes(&self) -> &'static [Shape] {
        &[READ, WRITE]
    }
}

/// What both registers of one value do.
fn read_or_write(state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
    match call.name.as_str() {
        "read" => outcomes.push(state.clone(), state.clone()),
        "write" => outcomes.push(Value::Nil, call.argument.clone()),
        _ => {}
    }
}

/// A register with compare-and-set: `cas [old new]` writes `new` and says yes, if the value is `old`; else it says no.
/// It begins at nil unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct CasRegister {
    /// The value at first.
    pub initial: Value,
}

impl Specification for CasRegister {
    type State = Value;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Value {
        self.initial.clone()
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, _: &Call) {}

    fn outcomes(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        match (call.name.as_str(), call.argument.pair()) {
            ("cas", Some((old, new))) if old == state => outcomes.push(true.into(), new.clone()),
            ("cas", _) => outcomes.push(false.into(), state.clone()),
            _ => read_or_write(state, call, outcomes),
        }
    }

    fn keeps(&self, call: &Call, answer: Option<&Value>) -> bool {
        call.name == "read" || (call.name == "cas" && answer == Some(&Value::Bool(false)))
    }

    fn overwrites(&self, call: &Call) -> bool {
        call.name == "write"
    }

    fn heap_bytes(&self, state: &Value) -> usize {
        state.heap_bytes()
    }
}

impl Shipped for CasRegister {
    fn shapes(&self) -> &'static [Shape] {
        &[READ, WRITE, CAS]
    }
}

/// A value that is chosen once: `propose VALUE` answers what is chosen, VALUE itself if nothing was before. Nothing is
/// chosen at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Consensus;

impl Specification for Consensus {
    /// What is chosen.
    type State = Option<Value>;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Option<Value> {
        None
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, _: &Call) {}

    fn outcomes(&self, state: &Option<Value>, call: &Call, outcomes: &mut Outcomes<Value, Option<Value>>) {
        if call.name == "propose" {
            let chosen = state.as_ref().unwrap_or(&call.argument).clone();
            outcomes.push(chosen.clone(), Some(chosen));
        }
    }

    fn keeps(&self, call: &Call, answer: Option<&Value>) -> bool {
        answer.is_some_and(|answer| *answer != call.argument)
    }

    fn heap_bytes(&self, state: &Option<Value>) -> usize {
        state.as_ref().map_or(0, Value::heap_bytes)
    }
}

impl Shipped for Consensus {
    fn shapes(&self) -> &'static [Shape] {
        const PROPOSE: Shape = Shape::new("propose", Given::Value, Answered::Seen);
        &[PROPOSE]
    }
}

/// Several registers, read and written together by transactions. Each begins at nil unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct MultiRegister {
    /// Every register's value at first.
    pub initial: Value,
}

impl Specification for MultiRegister {
    /// Registers that were written.
    type State = BTreeMap<Value, Value>;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Self::State {
        BTreeMap::new()
    }

    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, _: &Call) {}

    fn outcomes(&self, state: &Self::State, call: &Call, outcomes: &mut Outcomes<Value, Self::State>) {
        let mut next = state.clone();
        let mut seen = Vec::new();
        for step in call.argument.items().unwrap_or_default() {
            match step.items() {
                Some([name, key, _]) if *name == Value::from("read") => {
                    seen.push(next.get(key).unwrap_or(&self.initial).clone());
                }
                Some([_, key, value]) => drop(next.insert(key.clone(), value.clone())),
                _ => {}
            }
        }
        outcomes.push(Value::List(seen), next);
    }

    fn keeps(&self, call: &Call, _: Option<&Value>) -> bool {
        let is_read = |step: &Value| step.items().is_some_and(|step| step.first() == Some(&"read".into()));
        call.argument.items().unwrap_or_default().iter().all(is_read)
    }

    fn heap_bytes(&self, state: &Self::State) -> usize {
        state.iter().map(|(key, value)| 2 * size_of::<Value>() + key.heap_bytes() + value.heap_bytes()).sum()
    }
}

impl Shipped for MultiRegister {
    fn shapes(&self) -> &'static [Shape] {
        const TXN: Shape = Shape::new("txn", Given::Transaction, Answered::Reads);
        &[TXN]
    }
}
