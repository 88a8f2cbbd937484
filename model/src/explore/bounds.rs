//! What is explored: sizes, faults, time, reductions.

use serde::{Deserialize, Serialize};

use super::odometer::Odometer;
use crate::script;
use crate::time::{ClockBound, Span};

/// The bounds of one exploration. Printed with every verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bounds {
    /// How time is held.
    pub clock: Clock,
    /// The step of time. Every timer's real length is a whole number of ticks.
    pub tick: Span,
    /// Which real lengths a timer may take within its node's clock bound.
    pub lengths: Lengths,
    /// At most so many messages in flight on each directed link; of one too many, any is lost. `None`: no bound.
    pub capacity: Option<u32>,
    /// A message arrives within so many ticks, or is lost (see `losses`). `None`: it may take for ever.
    pub delay: Option<u32>,
    /// So many messages may be lost (beyond those that a full link loses).
    pub losses: u32,
    /// So many copies may arrive beside their originals.
    pub duplicates: u32,
    /// So many crashes.
    pub crashes: u32,
    /// Whether a crashed node may start again.
    pub restart: bool,
    /// So many pauses.
    pub pauses: u32,
    /// So many cuts of a directed link. A cut link may heal at any time.
    pub cuts: u32,
    /// Tags grow to this and no further; states beyond are cut off, and the verdict says so. `None`: unbounded.
    pub tag_max: Option<u32>,
    /// Whether interchangeable nodes are interchanged.
    pub symmetry: bool,
    /// Whether messages that can have no effect are removed. Off: they are delivered, and must change nothing.
    pub drop_dead: bool,
    /// Whether a message whose delivery changes nothing stays in flight, as it does in stateright. Off: it is consumed.
    pub keep_ignored: bool,
    /// Whether `eventually` properties are judged. Nothing is then interchanged, renamed, exchanged or dropped: fairness is
    /// about a message as it is.
    pub eventually: bool,
    /// No further than so many steps from the start. `None`: no bound.
    pub depth: Option<u32>,
    /// Gives up ('unknown') beyond so many unique states.
    pub states: u64,
}

/// How the explorer holds time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// Timers are whole ticks; time is a step that is blocked while something urgent is due.
    Digital,
    /// An armed timer may fire at any time; no time passes. For protocols without a timing argument.
    Untimed,
}

/// Which real lengths a timer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lengths {
    /// Each whole tick within the clock bound.
    All,
    /// The longest alone. An abstraction, to be argued for each protocol.
    Longest,
}

impl Bounds {
    /// The real length [ns] of a timer set for `span` on a clock within `clock`: the odometer's, where these bounds leave it
    /// open. What a script must answer for it goes to `answers`.
    ///
    /// # Errors
    /// If the tick is too coarse for the span.
    pub fn length(
        &self,
        span: Span,
        clock: ClockBound,
        odometer: &mut Odometer,
        answers: &mut Vec<u32>,
    ) -> Result<u64, String> {
        let range = script::lengths(span, clock, self.tick)?;
        let count = (range.end() - range.start() + 1) as usize;
        if count == 1 {
            return Ok(range.start() * self.tick.0);
        }
        let index = match (self.clock, self.lengths) {
            (Clock::Untimed, _) => 0,
            (Clock::Digital, Lengths::Longest) => count - 1,
            (Clock::Digital, Lengths::All) => odometer.pick(count),
        };
        answers.push(index as u32);
        Ok((range.start() + index as u64) * self.tick.0)
    }

    /// How long a message may take [ns]; `None`: any time.
    pub(crate) fn life(&self) -> Option<u64> {
        self.delay.map(|ticks| (self.tick * u64::from(ticks)).0)
    }

    /// Whether any kind of fault has a budget.
    pub fn has_faults(&self) -> bool {
        self.losses > 0 || self.duplicates > 0 || self.crashes > 0 || self.pauses > 0 || self.cuts > 0
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            clock: Clock::Digital,
            tick: Span::TICK,
            lengths: Lengths::All,
            capacity: None,
            delay: None,
            losses: 0,
            duplicates: 0,
            crashes: 0,
            restart: true,
            pauses: 0,
            cuts: 0,
            tag_max: None,
            symmetry: true,
            drop_dead: true,
            keep_ignored: false,
            eventually: false,
            depth: None,
            states: 50_000_000,
        }
    }
}
