//! How clocks are drawn. What they do is written in [`seedbed_model::clock`].
//!
//! Fault model. A node's clock has a fixed rate and an offset within what its protocol assumes. Settings break the
//! assumption where they say so (`beyond`, `offset-beyond`, `jump-beyond`).

use seedbed_model::{ClockBound, NodeClock, NodeId, Protocol, Ratio, Span};
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
    let rates = settings.beyond.unwrap_or_else(|| used(settings.rates, bound));
    let offset_max = settings.offset_beyond.unwrap_or_else(|| settings.offsets.floor_of(bound.offset));
    let jump_max = settings.jump_beyond.unwrap_or(Span::ZERO);
    if rates.0 == rates.1 && offset_max == Span::ZERO {
        return NodeClock { rate: rates.0, offset_ns: 0, offset_max, jump_max };
    }
    let mut draws = streams.draws(Label::clock(node));
    let rate = draw_rate(rates, &mut draws);
    let offset = draws.span(Span::ZERO, offset_max + offset_max);
    NodeClock { rate, offset_ns: offset.0 as i64 - offset_max.0 as i64, offset_max, jump_max }
}

/// Half of the clocks run at one of the extremes: that is where timing arguments break.
fn draw_rate((least, most): (Ratio, Ratio), draws: &mut Draws<'_>) -> Ratio {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seedbed_model::Clock;

    const LOOSE: ClockBound =
        ClockBound { shortest: Ratio { num: 12, den: 13 }, longest: Ratio { num: 13, den: 12 }, offset: Span::secs(1) };

    proptest! {
        #[test]
        fn lengths_stay_within_the_bound(seed: u64, span in 1_000u64..1 << 50, share in 0u32..=4) {
            let mut streams = Streams::new(crate::Seed::Number(seed), 1);
            let rate = draw_rate(used(Ratio::new(share, 4), LOOSE), &mut streams.draws(Label::clock(NodeId(0))));
            let clock = Clock::new(NodeClock { rate, ..NodeClock::EXACT }, LOOSE);
            let length = clock.length(Span(span));
            prop_assert!(length >= LOOSE.shortest.ceil_of(Span(span)) && length <= LOOSE.longest.floor_of(Span(span)));
        }
    }
}
