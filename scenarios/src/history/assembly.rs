//! From events to operations.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::history::specifications::{Answered, Given, Shape, Shipped};
use seedbed_model::history::{Call, History, Interval, Judgement, Outcomes, Value};

use super::events::{Event, Fault, Type};

/// What a failed operation means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Fail {
    /// A failed operation that says whether it took effect (a cas) says no: it saw another value. Any other did not happen
    MeansDiffers,
    /// A failed operation did not happen
    MeansNotApplied,
}

/// What a read that was answered nil saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Nil {
    /// The value nil
    Value,
    /// Nobody knows
    Unknown,
    /// The value nil, if the object begins with it or is given it; else nobody knows
    ValueIfHeld,
}

/// What the signs of a file mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) fail: Fail,
    pub(crate) nil: Nil,
}

/// A history, with where its events stand.
#[derive(Debug, Clone)]
pub(crate) struct Assembled {
    pub(crate) history: History<Call, Value>,
    /// The lines of events, by their position.
    pub(crate) lines: BTreeMap<u64, usize>,
    /// How many reads are left out, since nobody knows what they saw.
    pub(crate) unknown_count: usize,
}

/// An operation in flight.
struct Open {
    index: usize,
    line: usize,
    shape: Shape,
    call: Call,
}

/// Puts invocations and answers together. A client's answers come in the order of its invocations.
///
/// # Errors
/// Of the first event that fits nothing: an answer without an invocation, a second operation in flight where the
/// judgement allows one, an operation that the specification does not have, a value that is not of its shape.
pub(crate) fn assemble<S: Shipped>(
    specification: &S,
    events: &[Event],
    meaning: Meaning,
    judgement: Judgement,
) -> Result<Assembled, Fault> {
    let shapes = specification.shapes();
    let mut assembly = Assembly { shapes, fail: meaning.fail, judgement, ..Assembly::default() };
    for event in events {
        assembly.event(event).map_err(|why| Fault::new(event.line, why))?;
    }
    if assembly.history.intervals().is_empty() {
        return Err(Fault::new(0, "no operation in it; a history has events of type invoke and ok"));
    }
    let unknown = unknown(specification, assembly.history.intervals(), meaning.nil);
    // What failed did not happen, and a read of nobody knows what says nothing.
    let left_out: BTreeSet<usize> = assembly.failed.into_iter().chain(unknown.iter().copied()).collect();
    assembly.history.retain(|index| !left_out.contains(&index));
    Ok(Assembled { history: assembly.history, lines: assembly.lines, unknown_count: unknown.len() })
}

/// The reads that were answered nil, if that means that nobody knows what they saw.
fn unknown<S: Shipped>(specification: &S, intervals: &[Interval<Call, Value>], nil: Nil) -> Vec<usize> {
    let shape_of = |call: &Call| specification.shapes().iter().find(|shape| shape.name == call.name);
    let is_nil = |index: &usize| {
        let Interval { operation, answer, .. } = &intervals[*index];
        *answer == Some(Value::Nil)
            && shape_of(operation).is_some_and(|shape| shape.answered == Answered::Seen)
            && specification.keeps(operation, None)
    };
    let answered_nil: Vec<usize> = (0..intervals.len()).filter(is_nil).collect();
    let begins_with_nil = |index: &usize| {
        let mut outcomes = Outcomes::new(Some(Value::Nil));
        specification.outcomes(&specification.initial(), &intervals[*index].operation, &mut outcomes);
        !outcomes.into_pairs().is_empty()
    };
    let is_given_nil = |interval: &Interval<Call, Value>| {
        let call = &interval.operation;
        shape_of(call).is_some_and(|shape| shape.given != Given::Nothing) && has_nil(&call.argument)
    };
    match nil {
        Nil::Unknown => answered_nil,
        Nil::ValueIfHeld if !answered_nil.iter().any(begins_with_nil) && !intervals.iter().any(is_given_nil) => {
            answered_nil
        }
        Nil::Value | Nil::ValueIfHeld => Vec::new(),
    }
}

/// Nil itself, or one of two values that is nil.
fn has_nil(value: &Value) -> bool {
    *value == Value::Nil || value.items().is_some_and(|items| items.contains(&Value::Nil))
}

struct Assembly {
    shapes: &'static [Shape],
    fail: Fail,
    judgement: Judgement,
    history: History<Call, Value>,
    lines: BTreeMap<u64, usize>,
    /// By process, oldest first.
    open: BTreeMap<u64, Vec<Open>>,
    failed: BTreeSet<usize>,
}

impl Default for Assembly {
    fn default() -> Self {
        Assembly {
            shapes: &[],
            fail: Fail::MeansNotApplied,
            judgement: Judgement::Linearizable,
            history: History::default(),
            lines: BTreeMap::new(),
            open: BTreeMap::new(),
            failed: BTreeSet::new(),
        }
    }
}

impl Assembly {
    fn event(&mut self, event: &Event) -> Result<(), String> {
        self.lines.insert(event.position, event.line);
        match event.kind {
            Type::Invoke => self.invoke(event),
            Type::Ok | Type::Fail | Type::Info => self.close(event),
        }
    }

    fn invoke(&mut self, event: &Event) -> Result<(), String> {
        let shape = self.shape(event)?;
        let call = shape.call(event.key.clone(), &event.value)?;
        let open = self.open.entry(event.process).or_default();
        if let Some(other) = open.first().filter(|_| self.judgement != Judgement::ALinearizable) {
            return Err(format!(
                "process {} invokes {call} while its {} of line {} is in flight; only --judge a-linearizable allows several",
                event.process, other.call, other.line
            ));
        }
        let index = self.history.invoke(event.process, call.clone(), event.position);
        open.push(Open { index, line: event.line, shape, call });
        Ok(())
    }

    fn close(&mut self, event: &Event) -> Result<(), String> {
        let open = self.open.get_mut(&event.process).filter(|open| !open.is_empty());
        let Some(open) = open else {
            return Err(format!(
                "process {} is told the end of {}, and has nothing in flight; an invoke must come before",
                event.process, event.name
            ));
        };
        let Open { index, line, shape, call } = open.remove(0);
        if call.name != event.name {
            return Err(format!(
                "process {} is told the end of {}, but its operation of line {line} is {call}",
                event.process, event.name
            ));
        }
        let answer = match (event.kind, self.fail, shape.answered) {
            (Type::Ok, ..) => shape.answer(&call, &event.value)?,
            (Type::Fail, Fail::MeansDiffers, Answered::Whether) => Value::Bool(false),
            (Type::Fail, ..) => {
                self.failed.insert(index);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.history.answer(index, answer, event.position);
        Ok(())
    }

    fn shape(&self, event: &Event) -> Result<Shape, String> {
        let known = || self.shapes.iter().map(|shape| shape.name).collect::<Vec<_>>().join(", ");
        let shape = self.shapes.iter().find(|shape| shape.name == event.name);
        shape.copied().ok_or_else(|| format!("the specification has no operation `{}`; it has {}", event.name, known()))
    }
}
