//! From events to operations.

use std::collections::BTreeMap;

use seedbed_model::history::specifications::{Answered, Shape, Shipped};
use seedbed_model::history::{Call, History, Judgement, Value};

use super::events::{Event, Fault, Type};

/// What a failed operation means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Fail {
    /// A failed operation that says whether it took effect (a cas) says no: it saw another value. Any other did not happen
    MeansDiffers,
    /// A failed operation did not happen
    MeansNotApplied,
}

/// A history, with where its events stand.
#[derive(Debug, Clone)]
pub(crate) struct Assembled {
    pub(crate) history: History<Call, Value>,
    /// The lines of events, by their position.
    pub(crate) lines: BTreeMap<u64, usize>,
}

/// An operation in flight.
struct Open {
    index: usize,
    line: usize,
    shape: Shape,
    call: Call,
}

/// Puts invocations and answers together. A client's answers come in the order of its invocations. Where
/// `nil_is_unknown`, a read that is answered nil was answered, but nobody wrote down with what.
///
/// # Errors
/// Of the first event that fits nothing: an answer without an invocation, a second operation in flight where the
/// judgement allows one, an operation that the specification does not have, a value that is not of its shape.
pub(crate) fn assemble<S: Shipped>(
    specification: &S,
    events: &[Event],
    fail: Fail,
    nil_is_unknown: bool,
    judgement: Judgement,
) -> Result<Assembled, Fault> {
    let mut assembly = Assembly { shapes: specification.shapes(), fail, judgement, ..Assembly::default() };
    for event in events {
        assembly.event(event).map_err(|why| Fault::new(event.line, why))?;
    }
    if assembly.history.intervals().is_empty() {
        return Err(Fault::new(0, "no operation in it; a history has events of type invoke and ok"));
    }
    // What a read saw is not known, where nil is no value: it says nothing.
    let intervals = assembly.history.intervals();
    let says_nothing = |index: &usize| {
        let interval = &intervals[*index];
        nil_is_unknown
            && interval.answer == Some(Value::Nil)
            && assembly.shape_of(&interval.operation).is_some_and(|shape| shape.answered == Answered::Seen)
            && specification.keeps(&interval.operation, None)
    };
    let silent: Vec<usize> = (0..intervals.len()).filter(says_nothing).collect();
    assembly.failed.extend(silent.into_iter().map(|index| (index, ())));
    // What failed did not happen.
    let failed = assembly.failed;
    assembly.history.retain(|index| !failed.contains_key(&index));
    Ok(Assembled { history: assembly.history, lines: assembly.lines })
}

struct Assembly {
    shapes: &'static [Shape],
    fail: Fail,
    judgement: Judgement,
    history: History<Call, Value>,
    lines: BTreeMap<u64, usize>,
    /// By process, oldest first.
    open: BTreeMap<u64, Vec<Open>>,
    failed: BTreeMap<usize, ()>,
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
            failed: BTreeMap::new(),
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
                self.failed.insert(index, ());
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.history.answer(index, answer, event.position);
        Ok(())
    }

    fn shape_of(&self, call: &Call) -> Option<&'static Shape> {
        self.shapes.iter().find(|shape| shape.name == call.name)
    }

    fn shape(&self, event: &Event) -> Result<Shape, String> {
        let known = || self.shapes.iter().map(|shape| shape.name).collect::<Vec<_>>().join(", ");
        let shape = self.shapes.iter().find(|shape| shape.name == event.name);
        shape.copied().ok_or_else(|| format!("the specification has no operation `{}`; it has {}", event.name, known()))
    }
}
