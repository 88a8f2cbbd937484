//! From when on the fall of a shrunk run could not be avoided: by search, where the explorer can.

use seedbed_model::explore::{Avoidance, Bounds, Moment, Pace, avoidance};
use seedbed_model::{ExactScript, Protocol, Span};

use super::Shrunk;

/// Since when a fall was certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certain {
    /// After so many steps, and no fewer, every way on falls; the number of all steps, if the last one could still have been
    /// something else.
    pub after: usize,
    /// States that were searched to say so.
    pub states: usize,
}

/// From which step on every way on falls as the run does. Every way that the explorer has: time passes from end to end of
/// something, records become durable before it does, nothing goes wrong any more, and a message takes no longer than the longest
/// of the first run (any time, if that lost some). `tick` divides what timers are set for. `None` if more than `states` states
/// would have to be searched, those of all moments together, or the explorer cannot begin there: then nobody knows.
pub fn certain<P: Protocol>(protocol: &P, shrunk: &Shrunk<P>, tick: Span, states: usize) -> Option<Certain> {
    let bounds = Bounds { tick, ..Bounds::default() };
    let pace = Pace { delay: (!shrunk.limits.loses).then_some(shrunk.limits.delay), ..Pace::default() };
    let steps = &shrunk.script.steps;
    let mut searched = 0;
    for after in (0..steps.len()).rev() {
        let before = ExactScript { steps: steps[..after].to_vec(), ..shrunk.script.clone() };
        let moment = Moment::after(protocol, before, pace).ok()?;
        let (found, seen) =
            avoidance(protocol, &bounds, &moment, &shrunk.signature.property, states - searched).ok()?;
        searched += seen;
        match found {
            Avoidance::Avoidable => return Some(Certain { after: after + 1, states: searched }),
            Avoidance::Unavoidable => {}
            Avoidance::Unknown => return None,
        }
    }
    Some(Certain { after: 0, states: searched })
}
