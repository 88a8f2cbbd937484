//! Locks and leases, without time: that one ran out is an operation of its own, as the history tells it.

use super::{Answered, Given, Shape, Shipped};
use crate::history::{Call, Outcomes, Specification, Value};

/// A lock with an owner: `acquire OWNER` says yes if nobody holds it, `release OWNER` and `expire OWNER` if that owner
/// does; `holder` tells who, nil if nobody. Free at first. An owner without a name (nil) is one owner, whom `holder` tells
/// as the empty list: so a mutex whose history names no owners is a lock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lock;

/// Leases by key, each key a part of its own: `grant OWNER` says yes if nobody holds it, `renew OWNER`, `recall OWNER`
/// and `expire OWNER` if that owner does; `holder` tells who, nil if nobody. None is held at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct LeaseTable;

/// What comes of an operation, where `state` is the owner.
fn push(state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
    let unnamed = Value::List(Vec::new());
    let owner = if call.argument == Value::Nil { &unnamed } else { &call.argument };
    let is_owner = state == owner;
    let mut end = |is_done: bool, next: &Value| {
        let next = if is_done { next } else { state };
        outcomes.push(is_done.into(), next.clone());
    };
    match call.name.as_str() {
        "holder" => outcomes.push(state.clone(), state.clone()),
        "acquire" | "grant" => end(*state == Value::Nil, owner),
        "renew" => end(is_owner, state),
        "release" | "recall" | "expire" => end(is_owner, &Value::Nil),
        _ => {}
    }
}

fn keeps(call: &Call, answer: Option<&Value>) -> bool {
    matches!(call.name.as_str(), "holder" | "renew") || answer == Some(&Value::Bool(false))
}

impl Specification for Lock {
    type State = Value;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Value {
        Value::Nil
    }
    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, _: &Call) {}
    fn outcomes(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        push(state, call, outcomes);
    }
    fn keeps(&self, call: &Call, answer: Option<&Value>) -> bool {
        keeps(call, answer)
    }
}

impl Shipped for Lock {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 4] = [
            Shape::new("acquire", Given::Value, Answered::Whether),
            Shape::new("release", Given::Value, Answered::Whether),
            Shape::new("expire", Given::Value, Answered::Whether),
            Shape::new("holder", Given::Nothing, Answered::Seen),
        ];
        &SHAPES
    }
}

impl Specification for LeaseTable {
    /// One key's owner.
    type State = Value;
    type Operation = Call;
    type Answer = Value;
    type Part = Value;

    fn initial(&self) -> Value {
        Value::Nil
    }
    fn is_finite(&self) -> bool {
        true
    }

    fn part(&self, call: &Call) -> Value {
        call.key.clone()
    }
    fn outcomes(&self, state: &Value, call: &Call, outcomes: &mut Outcomes<Value, Value>) {
        push(state, call, outcomes);
    }
    fn keeps(&self, call: &Call, answer: Option<&Value>) -> bool {
        keeps(call, answer)
    }
}

impl Shipped for LeaseTable {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 5] = [
            Shape::keyed("grant", Given::Value, Answered::Whether),
            Shape::keyed("renew", Given::Value, Answered::Whether),
            Shape::keyed("recall", Given::Value, Answered::Whether),
            Shape::keyed("expire", Given::Value, Answered::Whether),
            Shape::keyed("holder", Given::Nothing, Answered::Seen),
        ];
        &SHAPES
    }
}
