//! Clocks: how long a node's timers really run, and what its stamps say. Integer arithmetic only.
//!
//! Fault model. A node's clock has a fixed rate within what its protocol assumes: a timer set for `d` runs
//! `d * rate` on the reference clock. Its stamps start off by an offset and drift with the rate, up to the assumed
//! bound and no further. A jump moves its stamps at once, forward or back, and stays within that bound too. Settings
//! break the assumption where they say so (`beyond`, `offset-beyond`, `jump-beyond`).

use seedbed_model::{ClockBound, NodeId, Protocol, Ratio, Span, Stamp};
use serde::{Deserialize, Serialize};

use crate::stream::{Draws, Label, Streams};

/// How clocks are drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClockSettings {
    /// Which part of the assumed bound on rates is used, from 0 (all clocks exact) to 1.
    pub rates: Ratio,
    /// Rates are drawn from here instead of from the assumed bound: least, most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<(Ratio, Ratio)>,
    /// Which part of the assumed bound on offsets is used, from 0 to 1.
    pub offsets: Ratio,
    /// Offsets are drawn up to this, either way, instead of up to the assumed bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_beyond: Option<Span>,
    /// Jumps take stamps so much further from the reference clock than offsets and drift may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jump_beyond: Option<Span>,
}

impl Default for ClockSettings {
    fn default() -> Self {
        ClockSettings { rates: Ratio::ONE, beyond: None, offsets: Ratio::ONE, offset_beyond: None, jump_beyond: None }
    }
}

impl ClockSettings {
    /// See [`crate::Settings::check`].
    pub(crate) fn check(&self) -> Result<(), String> {
        match self.beyond {
            Some((least, most)) if parts(least) > parts(most) || least.num == 0 => {
                Err(format!("clocks beyond: {least} to {most} is no range of rates; write the least first, above 0"))
            }
            Some((_, most)) if parts(most) > u64::from(u32::MAX) => {
                Err(format!("clocks beyond: {most} is too fast; the most is {}", u32::MAX / PARTS))
            }
            _ => Ok(()),
        }
    }
}

/// One node's clock in a plan.
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

/// Rates between the extremes are drawn in millionths.
const PARTS: u32 = 1_000_000;

/// A rate in millionths, rounded down.
fn parts(rate: Ratio) -> u64 {
    u64::from(rate.num) * u64::from(PARTS) / u64::from(rate.den)
}

/// Draws a node's clock.
pub(crate) fn draw<P: Protocol>(
    protocol: &P,
    settings: &ClockSettings,
    streams: &mut Streams,
    node: NodeId,
) -> NodeClock {
    let bound = protocol.clock(node);
    let mut draws = streams.draws(Label::Clock(node));
    let rate = draw_rate(settings, bound, &mut draws);
    let offset_max = settings.offset_beyond.unwrap_or_else(|| settings.offsets.floor_of(bound.offset));
    let offset = draws.span(Span::ZERO, offset_max + offset_max);
    let jump_max = settings.jump_beyond.unwrap_or(Span::ZERO);
    NodeClock { rate, offset_ns: offset.0 as i64 - offset_max.0 as i64, offset_max, jump_max }
}

/// Half of the clocks run at one of the extremes: that is where timing arguments break.
fn draw_rate(settings: &ClockSettings, bound: ClockBound, draws: &mut Draws<'_>) -> Ratio {
    let (least, most) = settings.beyond.unwrap_or_else(|| used(settings.rates, bound));
    let (low, high) = (parts(least) + u64::from(parts_are_cut(least)), parts(most));
    let (place, inner) = (draws.below(4), draws.span(Span(low.min(high)), Span(high)));
    match place {
        0 => least,
        1 => most,
        _ if low > high => least,
        _ => Ratio::new(u32::try_from(inner.0).unwrap_or(u32::MAX), PARTS),
    }
}

fn parts_are_cut(rate: Ratio) -> bool {
    u64::from(rate.num) * u64::from(PARTS) % u64::from(rate.den) != 0
}

/// The part `share` of the way from the exact rate to each end of the bound.
fn used(share: Ratio, bound: ClockBound) -> (Ratio, Ratio) {
    if share == Ratio::ONE {
        return (bound.shortest, bound.longest);
    }
    let (low, high) = (parts(bound.shortest) + u64::from(parts_are_cut(bound.shortest)), parts(bound.longest));
    let centre = u64::from(PARTS).clamp(low.min(high), high);
    let part = |distance: u64| share.floor_of(Span(distance)).0;
    let ratio = |parts: u64| Ratio::new(u32::try_from(parts).unwrap_or(u32::MAX), PARTS);
    (ratio(centre - part(centre.saturating_sub(low))), ratio(centre + part(high - centre)))
}

/// A node's clock at work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    drawn: NodeClock,
    /// The assumed bound, if the rate lies within it: rounding must not leave it either.
    bound: Option<ClockBound>,
    /// What jumps made of its stamps so far [ns].
    jumped: i64,
}

impl Clock {
    pub(crate) fn new(drawn: NodeClock, bound: ClockBound) -> Self {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        let rate = drawn.rate;
        let within = product(rate.num, bound.shortest.den) >= product(bound.shortest.num, rate.den)
            && product(rate.num, bound.longest.den) <= product(bound.longest.num, rate.den);
        Clock { drawn, bound: within.then_some(bound), jumped: 0 }
    }

    /// How long a timer set for `span` really runs.
    #[inline]
    pub(crate) fn length(&self, span: Span) -> Span {
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
    pub(crate) fn stamp(&self, now: u64) -> Stamp {
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
    pub(crate) fn reach(&self, now: u64, by_ns: i64) -> i64 {
        let before = self.off(now);
        let jumped = Clock { jumped: (before - self.drift(now)) as i64, ..*self };
        let after = Clock { jumped: jumped.jumped.saturating_add(by_ns), ..jumped }.off(now);
        (after - before) as i64
    }

    /// The stamps move by `by_ns` at `now`, which [`Clock::reach`] gave.
    pub(crate) fn jump(&mut self, now: u64, by_ns: i64) {
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
        fn lengths_stay_within_the_bound(seed: u64, span in 1_000u64..1 << 50, share in 0u32..=4) {
            let settings = ClockSettings { rates: Ratio::new(share, 4), ..ClockSettings::default() };
            let mut streams = Streams::new(crate::Seed::Number(seed), 1);
            let rate = draw_rate(&settings, LOOSE, &mut streams.draws(Label::Clock(NodeId(0))));
            let clock = Clock::new(NodeClock { rate, ..NodeClock::EXACT }, LOOSE);
            let length = clock.length(Span(span));
            prop_assert!(clock.bound.is_some(), "{rate} is drawn within the bound");
            prop_assert!(length >= LOOSE.shortest.ceil_of(Span(span)) && length <= LOOSE.longest.floor_of(Span(span)));
        }

        #[test]
        fn stamps_never_run_backward_and_stay_within_the_offset(rate in 900_000u32..1_100_000, now in 0u64..1 << 50, later in 0u64..1 << 40) {
            let clock = clock((rate, PARTS), 300, Span(1_000), LOOSE);
            let (before, after) = (clock.stamp(now).nanos(), clock.stamp(now + later).nanos());
            prop_assert!(before <= after);
            prop_assert!((before - now as i64).abs() <= 1_000);
        }
    }
}
