//! The wall clock: for rates, for budgets that a person sets, and for nothing else.
//!
//! It decides how many seeds or states are tried, never what comes of one of them.

#![expect(clippy::disallowed_types, reason = "budgets and progress are about the time of whoever waits")]

use std::time::{Duration, Instant};

use seedbed_model::Span;

/// Time since it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// [s], to the millisecond.
    pub(crate) fn seconds(self) -> f64 {
        Duration::from_millis(self.0.elapsed().as_millis() as u64).as_secs_f64()
    }
}

/// Processor time of this process since it was made, all threads together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Processor(cpu_time::ProcessTime);

impl Processor {
    pub(crate) fn start() -> Self {
        Processor(cpu_time::ProcessTime::now())
    }

    /// To the millisecond.
    pub(crate) fn spent(self) -> Duration {
        Duration::from_millis(self.0.elapsed().as_millis() as u64)
    }
}

/// A budget of time; none is endless.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    end: Option<Instant>,
}

impl Deadline {
    pub(crate) fn after(budget: Option<Span>) -> Self {
        Deadline { end: budget.and_then(|budget| Instant::now().checked_add(Duration::from_nanos(budget.0))) }
    }

    pub(crate) fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// An even share of what is left, for the next of `count` pieces of work.
    pub(crate) fn share(self, count: usize) -> Self {
        let now = Instant::now();
        let share =
            |end: Instant| now + end.saturating_duration_since(now) / u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        Deadline { end: self.end.map(share) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_and_its_absence_does_not() {
        assert!(Deadline::after(Some(Span::ZERO)).is_over());
        assert!(!Deadline::after(Some(Span::secs(3_600))).share(4).is_over());
        assert!(!Deadline::after(None).share(0).is_over());
    }
}
