//! The plain store: a world as ordinary values, changed in place.
//!
//! A [`Driver`] supplies what a scheduler decides (draws, the real length of timers) and hears what it must schedule.

use std::collections::{BTreeMap, BTreeSet};

use crate::canonical::{Canonical, Encoder, encoding};
use crate::effects::Effects;
use crate::host::{Host, Local, Phase};
use crate::name::{NodeId, Stream};
use crate::property::{DeadlineOp, Unforked, Violation, Watch};
use crate::protocol::{Effect, Event, Protocol, Surroundings};
use crate::time::{Shifting, Span, Stamp, Timers};
use crate::world::{Lapse, Refused, Store};

/// A message in flight.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub struct Envelope<M> {
    /// Its sender.
    pub from: NodeId,
    /// Its receiver.
    pub to: NodeId,
    /// What it says.
    pub message: M,
}

/// What a scheduler supplies to a plain world, and hears from it.
pub trait Driver<P: Protocol> {
    /// Reference time [ns].
    fn now(&self) -> u64;
    /// The node's own clock.
    fn clock(&mut self, node: NodeId) -> Stamp;
    /// A number below `count`, which is at least 2.
    fn choose(&mut self, node: NodeId, count: u32) -> u32;
    /// How long a timer set for `span` really runs [reference ns].
    fn length(&mut self, node: NodeId, timer: &P::Timer, span: Span) -> u64;
    /// A message is put in flight.
    fn send(&mut self, envelope: Envelope<P::Message>);
    /// Whether a copy is in flight.
    fn is_in_flight(&self, envelope: &Envelope<P::Message>) -> bool;
    /// A copy leaves flight.
    fn take(&mut self, envelope: &Envelope<P::Message>);
    /// The timer will lapse at `end`, unless it is changed before.
    fn armed(&mut self, node: NodeId, timer: &P::Timer, end: u64) {
        let _ = (node, timer, end);
    }
    /// The monitor's deadline will lapse at `end`, unless it is changed before.
    fn deadline_set(&mut self, id: u32, end: u64) {
        let _ = (id, end);
    }
    /// A record was written, to become durable later.
    fn persisted(&mut self, node: NodeId, stream: Stream, record: &P::Record) {
        let _ = (node, stream, record);
    }
    /// The node's clock jumps by so much [ns].
    fn jump(&mut self, node: NodeId, by_ns: i64) {
        let _ = (node, by_ns);
    }
    /// Whether effects are told of.
    fn observes(&self) -> bool {
        true
    }
    /// An effect left a node. For traces.
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        let _ = (node, effect);
    }
    /// Whether a timer may fire before its end: in worlds without time.
    fn is_untimed(&self) -> bool {
        false
    }
    /// Moves reference time on by `span`, for drivers whose time moves by [`crate::Choice::Elapse`].
    fn elapse(&mut self, span: Span) {
        let _ = span;
    }
}

/// A world as ordinary values.
pub struct Plain<P: Protocol, D> {
    /// What runs.
    pub protocol: P,
    /// `hosts[i]` is node `i`.
    pub hosts: Vec<Host<P>>,
    /// `timers[i]` are node `i`'s.
    pub timers: Vec<Timers<P::Timer>>,
    /// The state of all properties.
    pub monitor: P::Monitor,
    /// The monitor's deadlines.
    pub deadlines: Timers<u32>,
    /// Links cut, as (from, to).
    pub cuts: BTreeSet<(NodeId, NodeId)>,
    /// Properties that fell, in order.
    pub violations: Vec<Violation>,
    /// Marks taken and goals reached, each with how often.
    pub reached: BTreeMap<&'static str, u64>,
    /// The scheduler.
    pub driver: D,
    effects: Effects<P>,
    scratch: Scratch,
}

/// What the latest step did and the monitor said of it is used up between steps: a copy has none of it.
impl<P: Protocol, D: Clone> Clone for Plain<P, D> {
    fn clone(&self) -> Self {
        Plain {
            protocol: self.protocol.clone(),
            hosts: self.hosts.clone(),
            timers: self.timers.clone(),
            monitor: self.monitor.clone(),
            deadlines: self.deadlines.clone(),
            cuts: self.cuts.clone(),
            violations: self.violations.clone(),
            reached: self.reached.clone(),
            driver: self.driver.clone(),
            effects: Effects::new(),
            scratch: Scratch::default(),
        }
    }
}

#[derive(Default)]
struct Scratch {
    reached: Vec<&'static str>,
    deadlines: Vec<DeadlineOp>,
    surroundings: Unforked,
}

impl Scratch {
    /// What the monitor says is noted here, but for violations.
    #[inline]
    fn watch<'a>(&'a mut self, violations: &'a mut Vec<Violation>) -> Watch<'a> {
        let Scratch { reached, deadlines, surroundings } = self;
        Watch { violations, reached, deadlines, surroundings, forks: false }
    }
}

impl<P: Protocol, D: Driver<P>> Plain<P, D> {
    /// A world in which no node has started yet: apply [`Local::Start`] at each.
    pub fn new(protocol: P, driver: D) -> Self {
        let count = protocol.nodes().len();
        Self::of_nodes(protocol, count, driver)
    }

    /// [`Self::new`] for who has asked for the nodes already: there are `count`.
    pub fn of_nodes(protocol: P, count: usize, driver: D) -> Self {
        Plain {
            hosts: (0..count).map(|_| Host::new()).collect(),
            timers: vec![Timers::default(); count],
            monitor: P::Monitor::default(),
            deadlines: Timers::default(),
            cuts: BTreeSet::new(),
            violations: Vec::new(),
            reached: BTreeMap::new(),
            driver,
            effects: Effects::new(),
            scratch: Scratch::default(),
            protocol,
        }
    }

    /// The nodes' ids.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<P, D> {
        (0..self.hosts.len() as u16).map(NodeId)
    }

    /// Keeps every node's durable records one by one from here on, so that one of them can be corrupted.
    pub fn keep_journals(&mut self) {
        for host in &mut self.hosts {
            let disk = &mut *host.disk;
            disk.journal.begin(&disk.durable);
        }
    }

    /// The decisions open at `node` now.
    pub fn decisions(&mut self, node: NodeId) -> Vec<P::Decision> {
        let (host, mut around, _) = self.split(node);
        host.decisions(around.protocol, node, &mut around)
    }

    /// The state of a node that is not down.
    pub fn state(&self, node: NodeId) -> Option<&P::State> {
        self.hosts[node.index()].state.as_ref()
    }

    /// The canonical encoding of hosts, timers' ends and stamps relative to now, and `flight` in order: equal to
    /// [`crate::explore::Walk::snapshot`] exactly if the two stores agree. `tick` is the explorer's.
    pub fn snapshot(&self, flight: &[Envelope<P::Message>], tick: Span) -> Vec<u8> {
        let now = self.driver.now();
        let mut shifting =
            Shifting { span: now as i64, floor: -(self.protocol.stamp_horizon().0 as i64) - tick.0 as i64 };
        let mut out = Encoder::whole();
        for (host, timers) in self.hosts.iter().zip(&self.timers) {
            let mut host = host.clone();
            host.rename(&mut shifting);
            host.encode(&mut out);
            let mut relative = Timers::default();
            for (timer, end) in timers.iter() {
                relative.set(timer.clone(), end.saturating_sub(now));
            }
            relative.encode(&mut out);
        }
        let mut flights: Vec<Vec<u8>> = flight
            .iter()
            .map(|envelope| {
                let mut envelope = envelope.clone();
                envelope.rename(&mut shifting);
                encoding(&envelope)
            })
            .collect();
        flights.sort_unstable();
        let mut bytes = out.bytes().to_vec();
        bytes.extend(flights.concat());
        bytes
    }

    /// Shows the monitor something that happened outside the nodes.
    pub fn show(&mut self, node: NodeId, event: &Event<P>) {
        let before = self.violations.len();
        let mut watch = self.scratch.watch(&mut self.violations);
        self.protocol.watch(&mut self.monitor, node, event, &mut watch);
        self.note_watched(before);
    }

    /// Notes what the monitor said: violations beyond the first `before`, goals, deadlines.
    #[inline]
    fn note_watched(&mut self, before: usize) {
        if self.violations.len() > before || !self.scratch.reached.is_empty() || !self.scratch.deadlines.is_empty() {
            self.note_said(before);
        }
    }

    fn note_said(&mut self, before: usize) {
        if self.violations.len() > before {
            let names = self.protocol.nodes();
            self.violations[before..].iter_mut().for_each(|violation| violation.call_by_name(&names));
        }
        for goal in self.scratch.reached.drain(..) {
            *self.reached.entry(goal).or_insert(0) += 1;
        }
        for op in self.scratch.deadlines.drain(..) {
            match op {
                DeadlineOp::Set(id, span) => {
                    let end = self.driver.now() + span.0;
                    self.deadlines.set(id, end);
                    self.driver.deadline_set(id, end);
                }
                DeadlineOp::Clear(id) => self.deadlines.cancel(&id),
            }
        }
    }

    #[inline(always)]
    fn split(&mut self, node: NodeId) -> (&mut Host<P>, Around<'_, P, D>, &mut Effects<P>) {
        let now = self.driver.now();
        let around = Around {
            node,
            now,
            protocol: &self.protocol,
            timers: &self.timers[node.index()],
            driver: &mut self.driver,
        };
        (&mut self.hosts[node.index()], around, &mut self.effects)
    }

    /// Runs the host and leaves what it did in `self.effects`.
    fn feed(&mut self, node: NodeId, local: Local<P>) {
        let (host, mut around, effects) = self.split(node);
        effects.clear();
        host.feed(around.protocol, node, local, &mut around, effects);
        self.tell(node);
    }

    #[inline(always)]
    fn tell(&mut self, node: NodeId) {
        if self.driver.observes() {
            self.effects.iter().for_each(|effect| self.driver.effect(node, effect));
        }
    }

    /// Carries out what the step did to timers and disk, and counts its marks.
    fn act_within(&mut self, node: NodeId) {
        let Plain { driver, effects, reached, .. } = self;
        let timers = &mut self.timers[node.index()];
        for effect in &*effects {
            match effect {
                Effect::Set { timer, span } => {
                    let end = driver.now() + driver.length(node, timer, *span);
                    timers.set(timer.clone(), end);
                    driver.armed(node, timer, end);
                }
                Effect::Copy { to, from } => {
                    if let Some(end) = timers.copy(from, to, driver.now()) {
                        driver.armed(node, to, end);
                    }
                }
                Effect::Cancel(timer) => timers.cancel(timer),
                Effect::Unarm => timers.clear(),
                Effect::Persist { stream, record } => driver.persisted(node, *stream, record),
                Effect::Mark(what) => *reached.entry(what).or_insert(0) += 1,
                Effect::Send { .. } | Effect::Happened(_) | Effect::RespondAfter { .. } => {}
            }
        }
    }
}

/// What surrounds a step in a plain world.
struct Around<'a, P: Protocol, D> {
    node: NodeId,
    now: u64,
    protocol: &'a P,
    timers: &'a Timers<P::Timer>,
    driver: &'a mut D,
}

impl<P: Protocol, D: Driver<P>> Surroundings<P::Timer> for Around<'_, P, D> {
    fn is_armed(&mut self, timer: &P::Timer) -> bool {
        self.timers.is_armed(timer, self.now)
    }
    fn clock(&mut self) -> Stamp {
        self.driver.clock(self.node)
    }
    fn choose(&mut self, count: u32) -> u32 {
        self.driver.choose(self.node, count)
    }
}

impl<P: Protocol, D: Driver<P>> Store<P> for Plain<P, D> {
    type Envelope = Envelope<P::Message>;
    type Local = Local<P>;
    /// The effects stay in `self.effects` until the next step.
    type Outcome = ();

    fn phase(&self, node: NodeId) -> Phase {
        self.hosts[node.index()].phase
    }
    fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        !self.cuts.is_empty() && self.cuts.contains(&(from, to))
    }
    fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool) {
        if cut {
            self.cuts.insert((from, to));
        } else {
            self.cuts.remove(&(from, to));
        }
    }
    fn ends(&self, envelope: &Self::Envelope) -> (NodeId, NodeId) {
        (envelope.from, envelope.to)
    }
    fn is_in_flight(&self, envelope: &Self::Envelope) -> bool {
        self.driver.is_in_flight(envelope)
    }
    fn take(&mut self, envelope: &Self::Envelope) {
        self.driver.take(envelope);
    }
    fn local<'a>(&'a self, local: &'a Self::Local) -> &'a Local<P> {
        local
    }
    fn is_due(&self, node: NodeId, timer: &P::Timer) -> bool {
        let timers = &self.timers[node.index()];
        timers.is_due(timer, self.driver.now()) || (self.driver.is_untimed() && timers.end(timer).is_some())
    }
    fn is_armed(&self, node: NodeId, timer: &P::Timer) -> bool {
        self.timers[node.index()].is_armed(timer, self.driver.now())
    }
    fn unarm(&mut self, node: NodeId, timer: &P::Timer) {
        self.timers[node.index()].cancel(timer);
    }
    #[inline(always)]
    fn receive(&mut self, node: NodeId, envelope: &Self::Envelope) {
        // As `feed`, without a `Local` made for it: this is what most steps are.
        let (from, message) = (envelope.from, envelope.message.clone());
        let (host, mut around, effects) = self.split(node);
        effects.clear();
        host.receive(around.protocol, node, from, message, &mut around, effects);
        self.tell(node);
    }
    fn run(&mut self, node: NodeId, local: &Self::Local) -> Result<(), Refused> {
        let host = &self.hosts[node.index()];
        let offered = match local {
            Local::Sync(stream) => host.disk.tail.iter().any(|unsynced| unsynced.stream == *stream),
            Local::Invoke => host.can_invoke(&self.protocol, node),
            Local::Decide(decision) => self.decisions(node).contains(decision),
            Local::Corrupt(stream, back) => host.disk.journal.reaches(*stream, *back),
            _ => true,
        };
        if !offered {
            return Err(Refused::NotOffered);
        }
        if let Local::Jump(by_ns) = local {
            self.driver.jump(node, *by_ns);
        }
        self.feed(node, local.clone());
        Ok(())
    }
    fn lapse(&mut self, node: NodeId, timer: &P::Timer) {
        self.feed(node, Local::Lapse(timer.clone()));
    }
    #[inline]
    fn rearm(&mut self, node: NodeId, (): &()) {
        if self.effects.acts().within {
            self.act_within(node);
        }
    }
    #[inline]
    fn send(&mut self, node: NodeId, (): &()) {
        if self.effects.acts().sends {
            let Plain { effects, driver, .. } = self;
            effects.send(|to, message| driver.send(Envelope { from: node, to, message }));
        }
    }
    #[inline]
    fn watch(&mut self, node: NodeId, (): &()) {
        if !self.effects.acts().shows {
            return;
        }
        let before = self.violations.len();
        let mut watch = self.scratch.watch(&mut self.violations);
        for effect in &self.effects {
            if let Effect::Happened(event) = effect {
                self.protocol.watch(&mut self.monitor, node, event, &mut watch);
            }
        }
        self.note_watched(before);
    }
    fn elapse(&mut self, span: Span) -> Vec<Lapse<P::Timer>> {
        let before = self.driver.now();
        self.driver.elapse(span);
        let now = self.driver.now();
        let mut lapsed = Vec::new();
        for (node, timers) in self.timers.iter().enumerate() {
            for (timer, _) in timers.iter().filter(|(_, end)| *end > before && *end <= now) {
                lapsed.push(Lapse::Timer(NodeId(node as u16), timer.clone()));
            }
        }
        lapsed.extend(
            self.deadlines.iter().filter(|(_, end)| *end > before && *end <= now).map(|(id, _)| Lapse::Deadline(*id)),
        );
        lapsed
    }
    fn deadline(&mut self, id: u32) {
        self.deadlines.cancel(&id);
        self.show(NodeId(0), &Event::Deadline(id));
    }
}
