//! A priority queue whose items are leased, not taken.

use super::{Answered, Given, Shape, Shipped};
use crate::Canonical;
use crate::history::{Call, Outcomes, Specification, Value};

/// A queue in which the least priority number comes first: `enqueue [PRIORITY ITEM]`; `lease` answers an item of the
/// least priority that is not leased, any of several alike, or nil; `complete ITEM` takes a leased item away and says
/// yes, or says no if none is leased; `expire ITEM` gives it back, the same way. Empty at first.
#[derive(Debug, Clone, Copy, Default)]
pub struct PriorityQueue;

/// An item in the queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Leased {
    /// The least first.
    pub priority: i64,
    /// What it is.
    pub item: Value,
    /// Whether somebody works on it.
    pub is_leased: bool,
}

type State = Vec<Leased>;

fn enqueue(state: &State, call: &Call, outcomes: &mut Outcomes<Value, State>) {
    let Some((Value::Integer(priority), item)) = call.argument.pair() else { return };
    let mut next = state.clone();
    next.push(Leased { priority: *priority, item: item.clone(), is_leased: false });
    next.sort();
    outcomes.push(Value::Nil, next);
}

fn lease(state: &State, outcomes: &mut Outcomes<Value, State>) {
    let free = || state.iter().enumerate().filter(|(_, entry)| !entry.is_leased);
    let Some(least) = free().map(|(_, entry)| entry.priority).min() else {
        return outcomes.push(Value::Nil, state.clone());
    };
    for (index, entry) in free().filter(|(_, entry)| entry.priority == least) {
        let mut next = state.clone();
        next[index].is_leased = true;
        next.sort();
        outcomes.push(entry.item.clone(), next);
    }
}

/// Ends a lease of the item: any of several alike.
fn end(state: &State, item: &Value, is_completed: bool, outcomes: &mut Outcomes<Value, State>) {
    let mut is_any = false;
    for (index, _) in state.iter().enumerate().filter(|(_, entry)| entry.is_leased && entry.item == *item) {
        is_any = true;
        let mut next = state.clone();
        match is_completed {
            true => drop(next.remove(index)),
            false => next[index].is_leased = false,
        }
        next.sort();
        outcomes.push(true.into(), next);
    }
    if !is_any {
        outcomes.push(false.into(), state.clone());
    }
}

impl Specification for PriorityQueue {
    /// In order.
    type State = State;
    type Operation = Call;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> State {
        Vec::new()
    }

    fn part(&self, _: &Call) {}

    fn outcomes(&self, state: &State, call: &Call, outcomes: &mut Outcomes<Value, State>) {
        match call.name.as_str() {
            "enqueue" => enqueue(state, call, outcomes),
            "lease" => lease(state, outcomes),
            "complete" => end(state, &call.argument, true, outcomes),
            "expire" => end(state, &call.argument, false, outcomes),
            _ => {}
        }
    }

    fn keeps(&self, call: &Call, answer: Option<&Value>) -> bool {
        matches!(call.name.as_str(), "complete" | "expire") && answer == Some(&Value::Bool(false))
    }

    fn heap_bytes(&self, state: &State) -> usize {
        state.iter().map(|entry| size_of::<Leased>() + entry.item.heap_bytes()).sum()
    }
}

impl Shipped for PriorityQueue {
    fn shapes(&self) -> &'static [Shape] {
        const SHAPES: [Shape; 4] = [
            Shape::new("enqueue", Given::NumberAndValue, Answered::Done),
            Shape::new("lease", Given::Nothing, Answered::Seen),
            Shape::new("complete", Given::Value, Answered::Whether),
            Shape::new("expire", Given::Value, Answered::Whether),
        ];
        &SHAPES
    }
}
