//! A run as a picture in space and time: a lane for each node, a row for each step, an arrow for each message, a band where
//! something is wrong, a bar for each timer.
//!
//! Rows are steps, not instants: a run of leases has a thousand steps in one second and none in the next sixty.
//!
//! - [`scene`]: what there is to draw; each format draws the same.
//! - [`svg`], [`text`], [`mermaid`]: pictures.
//! - [`perfetto`], [`shiviz`], [`itf`]: what other tools read.

use seedbed_model::TraceStep;

pub mod itf;
pub mod mermaid;
pub mod perfetto;
pub mod scene;
pub mod shiviz;
pub mod svg;
pub mod text;

/// A run to draw.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// What it is, in a line.
    pub title: &'a str,
    /// `names[i]` is node `i`'s.
    pub names: &'a [String],
    /// What happened, in order.
    pub steps: &'a [TraceStep],
    /// `culprits[i]`: whether step `i` is marked; empty if none is.
    pub culprits: &'a [bool],
}

impl<'a> Picture<'a> {
    /// The same with its last `count` steps alone.
    #[must_use]
    pub fn tail(self, count: usize) -> Self {
        let start = self.steps.len().saturating_sub(count);
        Picture { steps: &self.steps[start..], culprits: self.culprits.get(start..).unwrap_or_default(), ..self }
    }

    /// Whether the step at `row` is marked. Where all are, only the last is: a mark on everything says nothing.
    pub fn is_culprit(&self, row: usize) -> bool {
        let is_among = self.culprits.get(row).copied().unwrap_or(false);
        is_among && (row + 1 == self.steps.len() || self.culprits.contains(&false))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use seedbed_model::{Sent, TimerChange};

    use super::*;

    fn step(step: u64, at_ns: u64, node: u16, kind: &str, what: &str) -> TraceStep {
        TraceStep { step, at_ns, node: Some(node), kind: kind.into(), what: what.into(), ..TraceStep::default() }
    }

    fn timer(timer: &str, became: &str) -> Vec<TimerChange> {
        vec![TimerChange { timer: timer.into(), became: became.into() }]
    }

    fn sent(to: u16, message: &str) -> Vec<Sent> {
        vec![Sent { to, message: message.into() }]
    }

    /// An owner asks, is granted, and crashes while a second grant is lost.
    pub(crate) fn run() -> (Vec<String>, Vec<TraceStep>) {
        let names = vec!["manager".to_owned(), "owner-1".to_owned()];
        let mut asks = step(1, 0, 1, "start", "owner-1 starts");
        (asks.sends, asks.timers) = (sent(0, "Ask"), timer("Renew", "set"));
        let mut asked = step(2, 1_000_000, 0, "deliver", "manager receives Ask from owner-1");
        (asked.from, asked.message) = (Some(1), Some("Ask".into()));
        asked.sends = [sent(1, "Grant"), sent(1, "Grant")].concat();
        asked.effects = vec!["sends Grant to owner-1".into(), "sends Grant to owner-1".into()];
        let mut granted = step(3, 2_000_000, 1, "deliver", "owner-1 receives Grant from manager");
        (granted.from, granted.message) = (Some(0), Some("Grant".into()));
        let mut lost = step(4, 2_000_000, 1, "lose", "the network loses Grant from manager to owner-1");
        (lost.from, lost.message) = (Some(0), Some("Grant".into()));
        let mut crashes = step(5, 3_000_000, 1, "crash", "owner-1 crashes");
        crashes.timers = timer("", "lost");
        let restarts = step(6, 9_000_000, 1, "restart", "owner-1 restarts");
        (names, vec![asks, asked, granted, lost, crashes, restarts])
    }

    pub(crate) fn picture<'a>(names: &'a [String], steps: &'a [TraceStep]) -> Picture<'a> {
        Picture { title: "a grant & a crash", names, steps, culprits: &[false, false, true, false, false, false] }
    }
}
