//! Histories: what clients saw, and whether it can be put in one order.
//!
//! - [`specification`]: what a sequential object does, as a pure function; a user's own takes a few lines.
//! - [`specifications`]: the shipped ones: registers, stores, locks, queues and so on.
//! - [`value`]: the operations and answers of the shipped ones.
//! - [`configurations`]: a history judged while it happens, as the state of a monitor, in every engine.
//! - [`judge`]: the judgements, their budgets and their verdicts.
//! - `prepared`, `plan`, `search`, `states`, `visited`, `prefix`, `piece`: how the judge works.

pub mod configurations;
pub mod judge;
mod piece;
mod plan;
mod prefix;
mod prepared;
mod search;
pub mod specification;
pub mod specifications;
mod states;
pub mod value;
mod visited;

pub use configurations::{Configurations, Standing};
pub use judge::{Budget, Contradiction, Exhausted, Judgement, Options, Verdict, judge};
pub use specification::{Outcomes, Specification};
pub use value::{Call, Value};

/// The position of an answer that never came: after every event.
pub const NEVER: u64 = u64::MAX;

/// One operation of a client, from its invocation to its answer.
///
/// Invariants, established by [`History`]: `invoked < returned`, and `returned` is [`NEVER`] exactly if there is no
/// answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval<O, A> {
    /// The client, as the history numbers it.
    pub process: u64,
    /// What was asked.
    pub operation: O,
    /// What came back; `None` if nothing did, or nobody knows: it may take effect at any later time, or never.
    pub answer: Option<A>,
    /// The event of the invocation, counted from 0 over the whole history.
    pub invoked: u64,
    /// The event of the answer, or [`NEVER`].
    pub returned: u64,
}

/// The operations of a history, in the order of their invocations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History<O, A> {
    intervals: Vec<Interval<O, A>>,
}

impl<O, A> Default for History<O, A> {
    fn default() -> Self {
        History { intervals: Vec::new() }
    }
}

impl<O, A> History<O, A> {
    /// The operations, in the order of their invocations.
    pub fn intervals(&self) -> &[Interval<O, A>] {
        &self.intervals
    }

    /// An operation is invoked at `event`. Returns its index, to be named when it is answered.
    ///
    /// # Panics
    /// If `event` is not after every invocation before.
    pub fn invoke(&mut self, process: u64, operation: O, event: u64) -> usize {
        let last = self.intervals.last().map_or(0, |interval| interval.invoked + 1);
        assert!(event >= last, "event {event} is invoked after event {last}");
        self.intervals.push(Interval { process, operation, answer: None, invoked: event, returned: NEVER });
        self.intervals.len() - 1
    }

    /// The operation `index` is answered at `event`.
    ///
    /// # Panics
    /// If there is no such operation, it was answered before, or it is invoked later.
    pub fn answer(&mut self, index: usize, answer: A, event: u64) {
        let interval = &mut self.intervals[index];
        assert!(interval.answer.is_none(), "operation {index} is answered twice");
        assert!(interval.invoked < event, "operation {index} is answered at {event}, invoked at {}", interval.invoked);
        interval.answer = Some(answer);
        interval.returned = event;
    }

    /// Only the operations that `keep` says.
    pub fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut index = 0;
        self.intervals.retain(|_| {
            index += 1;
            keep(index - 1)
        });
    }
}
