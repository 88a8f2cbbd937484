//! Random small histories, most of them nearly right.

use std::collections::BTreeMap;

use seedbed_model::history::specifications::{Answered, Given, Shape, Shipped};
use seedbed_model::history::{Call, History, Judgement, Outcomes, Value};

/// SplitMix64 (Steele, Lea, Flood 2014): a number of draws from a seed.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % count
    }

    fn number(&mut self) -> Value {
        Value::Integer(self.below(3) as i64)
    }

    fn call(&mut self, shape: &Shape) -> Call {
        let value = match shape.given {
            Given::Nothing => Value::Nil,
            Given::Value | Given::Number => self.number(),
            Given::Pair | Given::NumberAndValue => Value::List(vec![self.number(), self.number()]),
            Given::Transaction => Value::List((0..1 + self.below(2)).map(|_| self.step()).collect()),
        };
        let value = if shape.name == "append" && shape.is_keyed { Value::Text(value.to_string()) } else { value };
        let key = shape.is_keyed.then(|| self.below(2) as i64).map(Value::Integer);
        shape.call(key, &value).expect("it is of the shape")
    }

    fn step(&mut self) -> Value {
        let key = if self.below(2) == 0 { "x" } else { "y" };
        match self.below(2) {
            0 => Value::List(vec!["read".into(), key.into(), Value::Nil]),
            _ => Value::List(vec!["write".into(), key.into(), self.number()]),
        }
    }

    /// An answer out of nowhere.
    fn answer(&mut self, shape: &Shape, call: &Call) -> Value {
        match shape.answered {
            Answered::Done => Value::Nil,
            Answered::Perhaps if self.below(3) == 0 => Value::Bool(false),
            Answered::Perhaps => Value::Nil,
            Answered::Seen if self.below(4) == 0 => Value::Nil,
            Answered::Seen => self.number(),
            Answered::Whether => (self.below(2) == 0).into(),
            Answered::Members => Value::List((0..self.below(3) as i64).map(Value::Integer).collect()),
            Answered::Reads => {
                let is_read = |step: &&Value| step.items().is_some_and(|step| step[0] == "read".into());
                let count = call.argument.items().unwrap_or_default().iter().filter(is_read).count();
                Value::List((0..count).map(|_| self.number()).collect())
            }
        }
    }
}

/// Which histories are drawn.
pub(crate) struct Sizes {
    pub(crate) operations: u64,
    pub(crate) processes: u64,
}

/// A history whose answers are those of an object that takes operations when they are answered, but for some that are
/// wrong and some that never come. Under `ALinearizable` and `Session` a client may have two operations in flight.
pub(crate) fn history<S: Shipped>(
    specification: &S,
    draw: &mut Draw,
    sizes: &Sizes,
    judgement: Judgement,
) -> History<Call, Value> {
    let mut history = History::default();
    let mut states: BTreeMap<S::Part, S::State> = BTreeMap::new();
    // In flight: process, index, shape, call.
    let mut open: Vec<(u64, usize, Shape, Call)> = Vec::new();
    let in_flight_max = if judgement == Judgement::ALinearizable { 2 } else { 1 };
    let mut process_next = sizes.processes;
    let mut processes: Vec<u64> = (0..sizes.processes).collect();
    let (mut left, mut event) = (2 + draw.below(sizes.operations - 1), 0);
    while left > 0 || !open.is_empty() {
        let slot = draw.below(processes.len() as u64) as usize;
        let process = processes[slot];
        let own = open.iter().filter(|(other, ..)| *other == process).count();
        if left > 0 && own < in_flight_max && draw.below(2) == 0 {
            let shapes = specification.shapes();
            let shape = shapes[draw.below(shapes.len() as u64) as usize];
            let call = draw.call(&shape);
            open.push((process, history.invoke(process, call.clone(), event), shape, call));
            left -= 1;
        } else if let Some(position) = open.iter().position(|(other, ..)| *other == process) {
            let (_, index, shape, call) = open.remove(position);
            let answer = take(specification, draw, &mut states, &shape, &call);
            if draw.below(8) == 0 {
                // It never answers, and its client goes by another name from here on.
                open.retain(|(other, ..)| *other != process);
                processes[slot] = process_next;
                process_next += 1;
            } else {
                history.answer(index, answer, event);
            }
        }
        event += 1;
    }
    history
}

fn take<S: Shipped>(
    specification: &S,
    draw: &mut Draw,
    states: &mut BTreeMap<S::Part, S::State>,
    shape: &Shape,
    call: &Call,
) -> Value {
    let part = specification.part(call);
    let state = states.get(&part).cloned().unwrap_or_else(|| specification.initial());
    let mut outcomes = Outcomes::new(None);
    specification.outcomes(&state, call, &mut outcomes);
    let mut pairs = outcomes.into_pairs();
    if pairs.is_empty() || draw.below(6) == 0 {
        return draw.answer(shape, call);
    }
    let (answer, next) = pairs.swap_remove(draw.below(pairs.len() as u64) as usize);
    states.insert(part, next);
    answer
}
