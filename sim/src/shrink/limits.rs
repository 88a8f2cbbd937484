//! What the world of a run promised, as far as the run shows it.
//!
//! Leaving out the step that tells a node of its timer, or delivers a message, makes a world that is slower or loses more
//! than the one that was asked about: its falls would prove nothing. So does leaving out the start of a node, where it is claimed
//! that things go well once the last fault is healed. So a shrunk run keeps to what the first one did.

use std::collections::VecDeque;

use seedbed_model::exact::Origin;
use seedbed_model::{Choice, Envelope, ExactStep, Local, Named, NodeId, Phase, Playback, Protocol, Span, Stream};

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
    /// So many nodes at most take no inputs while time passes after the last fault is healed.
    pub down: usize,
}

impl Limits {
    /// Whether `span` may pass now.
    pub(crate) fn allow<P: Protocol>(&self, playback: &Playback<P>, span: Span) -> bool {
        let until = playback.world.driver.now + span.0;
        self.are_up(playback) && self.bound(playback).all(|owed| until <= self.latest(&owed))
    }

    /// Whether as many nodes take inputs as must for time to pass.
    pub(crate) fn are_up<P: Protocol>(&self, playback: &Playback<P>) -> bool {
        down(playback) <= self.down
    }

    /// What happens first, if none of it is later than it may be, and when [ns]; and the message that is meant, if it is one's
    /// arrival. Messages arrive, also where they may be lost.
    pub(crate) fn next_due<P: Protocol>(&self, playback: &Playback<P>) -> Option<(u64, Named<P>, Option<Origin>)> {
        let owed = timers(playback).chain(records(playback)).chain(messages(playback));
        let (at, first) = owed.map(|owed| (self.latest(&owed), owed)).min_by_key(|(at, _)| *at)?;
        Some(match first {
            Owed::Timer { node, timer, .. } => (at, Choice::At(node, Local::Fire(timer.clone())), None),
            Owed::Record { node, stream, .. } => (at, Choice::At(node, Local::Sync(stream)), None),
            Owed::Message { origin, envelope, .. } => (at, Choice::Deliver(envelope.clone()), Some(origin)),
        })
    }

    /// What must happen: messages need not arrive where they may be lost.
    fn bound<'a, P: Protocol>(&self, playback: &'a Playback<P>) -> impl Iterator<Item = Owed<'a, P>> {
        let may_lose = self.loses && playback.healed_at.is_none();
        let messages = (!may_lose).then(|| messages(playback));
        timers(playback).chain(records(playback)).chain(messages.into_iter().flatten())
    }

    /// The last moment for it [ns].
    fn latest<P: Protocol>(&self, owed: &Owed<'_, P>) -> u64 {
        match owed {
            Owed::Timer { end, .. } => end + self.lateness.0,
            Owed::Record { written, .. } => written + self.sync.0,
            Owed::Message { sent, .. } => sent + self.delay.0,
        }
    }
}

/// Something that is owed to a node that takes inputs.
enum Owed<'a, P: Protocol> {
    Timer { node: NodeId, timer: &'a P::Timer, end: u64 },
    Record { node: NodeId, stream: Stream, written: u64 },
    Message { origin: Origin, envelope: &'a Envelope<P::Message>, sent: u64 },
}

fn is_up<P: Protocol>(playback: &Playback<P>, node: NodeId) -> bool {
    playback.world.hosts[node.index()].phase == Phase::Up
}

fn timers<P: Protocol>(playback: &Playback<P>) -> impl Iterator<Item = Owed<'_, P>> {
    let up = playback.world.nodes().filter(move |node| is_up(playback, *node));
    up.flat_map(|node| {
        let of_node = playback.world.timers[node.index()].iter();
        of_node.map(move |(timer, end)| Owed::Timer { node, timer, end })
    })
}

fn records<P: Protocol>(playback: &Playback<P>) -> impl Iterator<Item = Owed<'_, P>> {
    let records = playback.world.driver.unsynced.iter().filter(move |((node, _), _)| is_up(playback, *node));
    records.filter_map(|((node, stream), written)| {
        written.front().map(|written| Owed::Record { node: *node, stream: *stream, written: *written })
    })
}

/// Of those sent before the last fault was healed, the wait counts from then: they may have been lost until then.
fn messages<P: Protocol>(playback: &Playback<P>) -> impl Iterator<Item = Owed<'_, P>> {
    let world = &playback.world;
    let since = playback.healed_at.unwrap_or(0);
    let arriving = world.driver.flight.iter().filter(move |(_, flying)| {
        is_up(playback, flying.envelope.to) && !world.cuts.contains(&(flying.envelope.from, flying.envelope.to))
    });
    arriving.map(move |(origin, flying)| Owed::Message {
        origin: *origin,
        envelope: &flying.envelope,
        sent: flying.at.max(since),
    })
}

/// The longest that anything has waited that is owed [ns].
fn waits<P: Protocol>(playback: &Playback<P>) -> Limits {
    let now = playback.world.driver.now;
    let (mut lateness, mut sync, mut delay) = (0, 0, 0);
    for owed in timers(playback).chain(records(playback)).chain(messages(playback)) {
        match owed {
            Owed::Timer { end, .. } => lateness = now.saturating_sub(end).max(lateness),
            Owed::Record { written, .. } => sync = now.saturating_sub(written).max(sync),
            Owed::Message { sent, .. } => delay = now.saturating_sub(sent).max(delay),
        }
    }
    Limits { lateness: Span(lateness), delay: Span(delay), sync: Span(sync), ..Limits::default() }
}

/// How many nodes take no inputs, if the last fault is healed.
fn down<P: Protocol>(playback: &Playback<P>) -> usize {
    match playback.healed_at {
        Some(_) => playback.world.hosts.iter().filter(|host| host.phase != Phase::Up).count(),
        None => 0,
    }
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
            let seen = waits(playback);
            let limits = &mut self.limits;
            limits.lateness = limits.lateness.max(seen.lateness);
            limits.delay = limits.delay.max(seen.delay);
            limits.sync = limits.sync.max(seen.sync);
            limits.down = limits.down.max(down(playback));
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
