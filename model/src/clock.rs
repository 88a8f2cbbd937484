//! A node's clock: how long its timers really run, and what its stamps say. Integer arithmetic only.
//!
//! A clock has a fixed rate: a timer set for `d` runs `d * rate` on the reference clock. Its stamps start off by an offset
//! and drift with the rate, up to a bound and no further. A jump moves its stamps at once, forward or back, and stays
//! within that bound too.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::{ClockBound, Ratio, Span, Stamp};

/// What a node's clock does, from the start of a run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NodeClock {
    /// A timer set for `d` runs `d * rate` of reference time: above 1 is a slow clock.
    pub rate: Ratio,
    /// What its stamps are off by at the start [ns].
    pub offset_ns: i64,
    /// What its stamps are off by at most, either way.
    pub offset_max: Span,
    /// How much further jumps may take them, either way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jump_max: Span,
}

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

impl NodeClock {
    /// The reference clock.
    pub const EXACT: NodeClock =
        NodeClock { rate: Ratio::ONE, offset_ns: 0, offset_max: Span::ZERO, jump_max: Span::ZERO };
}

impl fmt::Display for NodeClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timers run {} of their spans, stamps are off by {}", self.rate, signed(self.offset_ns))?;
        write!(f, " at the start and by {} at most", self.offset_max)?;
        if self.jump_max > Span::ZERO {
            write!(f, ", {} more after jumps", self.jump_max)?;
        }
        Ok(())
    }
}

/// A span with its sign [ns].
fn signed(ns: i64) -> String {
    format!("{}{}", if ns < 0 { "-" } else { "+" }, Span(ns.unsigned_abs()))
}

/// A node's clock at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    drawn: NodeClock,
    /// The assumed bound, if the rate lies within it: rounding must not leave it either.
    bound: Option<ClockBound>,
    /// What jumps made of its stamps so far [ns].
    jumped: i64,
}

impl Clock {
    /// A clock that does as `drawn`, at a node whose clock is assumed to keep `bound`.
    pub fn new(drawn: NodeClock, bound: ClockBound) -> Self {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        let rate = drawn.rate;
        let within = product(rate.num, bound.shortest.den) >= product(bound.shortest.num, rate.den)
            && product(rate.num, bound.longest.den) <= product(bound.longest.num, rate.den);
        Clock { drawn, bound: within.then_some(bound), jumped: 0 }
    }

    /// How long a timer set for `span` really runs.
    #[inline]
    pub fn length(&self, span: Span) -> Span {
        if self.drawn.rate == Ratio::ONE {
            return span;
        }
        let length = self.drawn.rate.floor_of(span);
        match self.bound {
            // Where no whole nanosecond lies within the bound, the sooner end is the safe side of no promise: keep it.
            Some(bound) => length.max(bound.shortest.ceil_of(span)).min(bound.longest.floor_of(span)),
            None => length,
        }
    }

    /// What the clock shows at `now` [ns]. Between jumps it never runs backward.
    pub fn stamp(&self, now: u64) -> Stamp {
        Stamp::of_clock((i128::from(now) + self.off(now)) as i64)
    }

    /// How far it is off at `now`, jumps included [ns].
    fn off(&self, now: u64) -> i128 {
        let most = i128::from(self.drawn.offset_max.0) + i128::from(self.drawn.jump_max.0);
        (self.drift(now) + i128::from(self.jumped)).clamp(-most, most)
    }

    /// How far it would be off without jumps [ns].
    fn drift(&self, now: u64) -> i128 {
        let NodeClock { rate, offset_ns, offset_max, .. } = self.drawn;
        let shown = i128::from(now) * i128::from(rate.den) / i128::from(rate.num.max(1)) + i128::from(offset_ns);
        (shown - i128::from(now)).clamp(-i128::from(offset_max.0), i128::from(offset_max.0))
    }

    /// How far a jump by `by_ns` at `now` really moves the stamps: no further than the clock may be off [ns].
    pub fn reach(&self, now: u64, by_ns: i64) -> i64 {
        let before = self.off(now);
        let jumped = Clock { jumped: (before - self.drift(now)) as i64, ..*self };
        let after = Clock { jumped: jumped.jumped.saturating_add(by_ns), ..jumped }.off(now);
        (after - before) as i64
    }

    /// The stamps move by `by_ns` at `now`, which [`Clock::reach`] gave.
    pub fn jump(&mut self, now: u64, by_ns: i64) {
        self.jumped = (self.off(now) - self.drift(now)) as i64 + by_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock(rate: (u32, u32), offset_ns: i64, offset_max: Span, bound: ClockBound) -> Clock {
        Clock::new(NodeClock { rate: Ratio::new(rate.0, rate.1), offset_ns, offset_max, jump_max: Span::ZERO }, bound)
    }

    const LOOSE: ClockBound =
        ClockBound { shortest: Ratio { num: 12, den: 13 }, longest: Ratio { num: 13, den: 12 }, offset: Span::secs(1) };

    #[test]
    fn an_exact_clock_runs_exactly() {
        let exact = Clock::new(NodeClock::EXACT, ClockBound::EXACT);
        assert_eq!(exact.length(Span::secs(60)), Span::secs(60));
        assert_eq!(exact.stamp(7).nanos(), 7);
    }

    #[test]
    fn a_slow_clock_runs_its_timers_long_and_its_stamps_behind() {
        let slow = clock((13, 12), 0, Span::secs(1), LOOSE);
        assert_eq!(slow.length(Span::secs(60)), Span::secs(65));
        assert!(slow.stamp(1_000_000_000).nanos() < 1_000_000_000);
        assert_eq!(slow.stamp(600_000_000_000).nanos(), 599_000_000_000, "drift ends at the bound");
    }

    #[test]
    fn a_plan_beyond_the_bound_is_obeyed() {
        let wild = clock((2, 1), 0, Span::ZERO, LOOSE);
        assert_eq!(wild.length(Span::secs(60)), Span::secs(120));
    }

    proptest! {
        #[test]
        fn stamps_never_run_backward_and_stay_within_the_offset(rate in 900_000u32..1_100_000, now in 0u64..1 << 50, later in 0u64..1 << 40) {
            let clock = clock((rate, 1_000_000), 300, Span(1_000), LOOSE);
            let (before, after) = (clock.stamp(now).nanos(), clock.stamp(now + later).nanos());
            prop_assert!(before <= after);
            prop_assert!((before - now as i64).abs() <= 1_000);
        }
    }
}
