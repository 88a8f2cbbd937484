//! What the world of a run promised, as far as the run shows it.
//!
//! Leaving out the step that tells a node of its timer, or delivers a message, makes a world that is slower or loses more
//! than the one that was asked about: its falls would prove nothing. So a shrunk run keeps to what the first one did.

use std::collections::VecDeque;

use seedbed_model::{Choice, ExactStep, Local, NodeId, Phase, Playback, Protocol, Span};

/// The promises.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// A node that takes inputs is told of a timer no later than this after its end.
    pub lateness: Span,
    /// A message that is not lost is on its way no longer than this.
    pub delay: Span,
    /// A record of a node that takes inputs is durable after no longer than this.
    pub sync: Span,
    /// Whether messages may be lost before the last fault is healed. Afterwards none is.
    pub loses: bool,
}

impl Limits {
    /// Whether `span` may pass now.
    pub(crate) fn allow<P: Protocol>(&self, playback: &Playback<P>, span: Span) -> bool {
        let seen = waits(playback, playback.world.driver.now + span.0);
        seen.lateness <= self.lateness
            && seen.sync <= self.sync
            && (self.loses && playback.healed_at.is_none() || seen.delay <= self.delay)
    }
}

/// The longest that anything has waited that is owed, if it is `until` now [ns]. Of messages sent before the last fault was
/// healed, the wait counts from then: they may have been lost until then.
fn waits<P: Protocol>(playback: &Playback<P>, until: u64) -> Limits {
    let world = &playback.world;
    let is_up = |node: NodeId| world.hosts[node.index()].phase == Phase::Up;
    let up = world.nodes().filter(|node| is_up(*node));
    let ends = up.flat_map(|node| world.timers[node.index()].iter().map(|(_, end)| end));
    let lateness = ends.map(|end| until.saturating_sub(end)).max().unwrap_or(0);
    let written = world.driver.unsynced.iter().filter(|((node, _), _)| is_up(*node));
    let sync = written.filter_map(|(_, ages)| ages.front()).map(|at| until - at).max().unwrap_or(0);
    let since = playback.healed_at.unwrap_or(0);
    let owed = world.driver.flight.values().filter(|flying| {
        is_up(flying.envelope.to) && !world.cuts.contains(&(flying.envelope.from, flying.envelope.to))
    });
    let delay = owed.map(|flying| until - flying.at.max(since)).max().unwrap_or(0);
    Limits { lateness: Span(lateness), delay: Span(delay), sync: Span(sync), loses: false }
}

/// Reads the promises off a run as it happens.
#[derive(Default)]
pub(crate) struct Observed {
    pub(crate) limits: Limits,
}

impl Observed {
    /// What is lost, before the step takes it away.
    pub(crate) fn before<P: Protocol>(&mut self, playback: &Playback<P>, step: &ExactStep<P>) {
        match step.choice() {
            Some(Choice::Lose(_)) => self.limits.loses = true,
            Some(Choice::Deliver(envelope)) => {
                self.limits.loses |= playback.world.cuts.contains(&(envelope.from, envelope.to));
            }
            _ => {}
        }
    }

    pub(crate) fn after<P: Protocol>(&mut self, playback: &mut Playback<P>, step: &ExactStep<P>) {
        note_disk(playback, step);
        if let Some(Choice::Elapse(_)) = step.choice() {
            let seen = waits(playback, playback.world.driver.now);
            let limits = &mut self.limits;
            limits.lateness = limits.lateness.max(seen.lateness);
            limits.delay = limits.delay.max(seen.delay);
            limits.sync = limits.sync.max(seen.sync);
        }
    }
}

/// Notes which records no longer wait.
pub(crate) fn note_disk<P: Protocol>(playback: &mut Playback<P>, step: &ExactStep<P>) {
    let Some(Choice::At(node, local)) = step.choice() else { return };
    let unsynced = &mut playback.world.driver.unsynced;
    match local {
        Local::Sync(stream) => drop(unsynced.get_mut(&(*node, *stream)).map(VecDeque::pop_front)),
        Local::Crash(_) | Local::Tear(..) => unsynced.retain(|(other, _), _| other != node),
        _ => {}
    }
}
