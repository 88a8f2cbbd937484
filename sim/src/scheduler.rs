//! The scheduler: what a plain world asks of the simulator, and what the simulator hears from it.

use seedbed_model::{
    Choice, ClockBound, Driver, Effect, Envelope, NodeId, Protocol, Ratio, Span, Stamp, Stream, script,
};

use crate::agenda::{Agenda, Due};
use crate::faults::Turn;
use crate::network::{Fate, Links};
use crate::seed::Seed;
use crate::settings::{Settings, SpanRange};
use crate::shape::{Flushes, served, transfer};
use crate::sizer::Sizer;
use crate::stream::{Label, Streams, below, between};
use seedbed_model::Clock;

/// How far each of a node's streams was read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Read {
    choose: u64,
    disk: u64,
    length: u64,
    decision: u64,
    workload: u64,
    lateness: u64,
}

/// What a span is drawn for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wait {
    Disk,
    Decision,
    Workload,
    Lateness,
}

/// What a node's timers and disk need to know.
struct Node {
    read: Read,
    clock: Clock,
    bound: ClockBound,
    /// Crashes so far: what was on the way to the disk before is lost.
    crash_count: u32,
    /// From when on the disk is free, where its speed is limited [ns].
    disk_free: u64,
    /// Where forcing what was written takes time.
    flushes: Flushes,
}

/// A disk that is slow for a while.
struct SlowDisk {
    /// The plan's fault.
    fault: usize,
    node: NodeId,
    factor: Ratio,
    added: Span,
}

pub(crate) struct Scheduler<P: Protocol> {
    /// Reference time [ns].
    pub(crate) now: u64,
    pub(crate) agenda: Agenda<P>,
    pub(crate) links: Links,
    /// Answers given in this step.
    pub(crate) answers: Vec<u32>,
    /// Effects of this step; empty unless `observed`.
    pub(crate) effects: Vec<(NodeId, Effect<P>)>,
    /// Whether somebody asks for effects.
    pub(crate) observed: bool,
    /// Nodes are starting: a script has no answers for that, so that every answer is the first.
    pub(crate) starting: bool,
    ticks: bool,
    streams: Streams,
    nodes: Vec<Node>,
    waits: [SpanRange; 4],
    /// Bytes a second of each disk; `None` without limit.
    disk_rate: Option<u64>,
    flush: Span,
    slow_disks: Vec<SlowDisk>,
    sizer: Sizer<P>,
}

impl<P: Protocol> Scheduler<P> {
    pub(crate) fn new(
        protocol: &P,
        settings: &Settings,
        streams: Streams,
        links: Links,
        clocks: Vec<(Clock, ClockBound)>,
    ) -> Self {
        let disk = SpanRange { min: settings.disk.sync_min, max: settings.disk.sync_max };
        // A due firing blocks the tick in a script's world: it is never late.
        let lateness = if settings.tick_mode { SpanRange::default() } else { settings.lateness };
        let node = |(clock, bound)| Node {
            read: Read::default(),
            clock,
            bound,
            crash_count: 0,
            disk_free: 0,
            flushes: Flushes::default(),
        };
        Scheduler {
            now: 0,
            agenda: Agenda::new(),
            links,
            answers: Vec::new(),
            effects: Vec::new(),
            observed: false,
            starting: true,
            ticks: settings.tick_mode,
            streams,
            nodes: clocks.into_iter().map(node).collect(),
            waits: [disk, settings.decisions, settings.clients, lateness],
            disk_rate: settings.costs.disk,
            flush: settings.costs.flush,
            slow_disks: Vec::new(),
            sizer: Sizer::new(protocol.clone()),
        }
    }

    /// What is drawn from here on is drawn as the turn says. Streams go on where they were.
    pub(crate) fn turn(&mut self, turn: Turn, node_count: usize) {
        self.streams = Streams::new(Seed::Number(turn.seed), node_count);
        self.streams.sharp = turn.sharp;
    }

    /// When something that waits from now on is due [ns].
    pub(crate) fn after(&mut self, node: NodeId, wait: Wait) -> u64 {
        let read = &mut self.nodes[node.index()].read;
        let (label, counter) = match wait {
            Wait::Disk => (Label::disk(node), &mut read.disk),
            Wait::Decision => (Label::decision(node), &mut read.decision),
            Wait::Workload => (Label::workload(node), &mut read.workload),
            Wait::Lateness => (Label::lateness(node), &mut read.lateness),
        };
        let number = *counter;
        *counter += 1;
        let range = self.waits[wait as usize];
        self.now
            + if self.ticks {
                let (low, high) = range.ticks();
                between(self.streams.pair(label, number), low, high) * Span::TICK.0
            } else if range.min == range.max {
                range.min.0
            } else {
                between(self.streams.pair(label, number), range.min.0, range.max.0)
            }
    }

    /// What was on the way to the disk is lost.
    pub(crate) fn crashed(&mut self, node: NodeId) {
        let node = &mut self.nodes[node.index()];
        node.crash_count += 1;
        node.disk_free = 0;
        node.flushes = Flushes::default();
    }

    /// The disk is slow from here on.
    pub(crate) fn slow_disk(&mut self, fault: usize, node: NodeId, factor: Ratio, added: Span) {
        self.slow_disks.push(SlowDisk { fault, node, factor, added });
    }

    /// It no longer is.
    pub(crate) fn quick_disk(&mut self, fault: usize) {
        self.slow_disks.retain(|slow| slow.fault != fault);
    }

    /// No disk is slow, nor any link.
    pub(crate) fn calm(&mut self) {
        self.slow_disks.clear();
        self.links.calm();
    }

    /// How far a jump of the node's clock would move its stamps [ns].
    pub(crate) fn reach(&self, node: NodeId, by_ns: i64) -> i64 {
        self.nodes[node.index()].clock.reach(self.now, by_ns)
    }

    /// When a record that is written now is durable [ns].
    fn durable_at(&mut self, node: NodeId, record: &P::Record) -> u64 {
        let mut wait = self.after(node, Wait::Disk) - self.now;
        for slow in self.slow_disks.iter().filter(|slow| slow.node == node) {
            wait = (slow.factor.floor_of(Span(wait)) + slow.added).0;
        }
        let written = match self.disk_rate {
            Some(rate) => {
                let span = transfer(self.sizer.record(record), rate);
                served(self.now, &mut self.nodes[node.index()].disk_free, span)
            }
            None => self.now,
        };
        let forced = match self.flush {
            Span::ZERO => written,
            span => self.nodes[node.index()].flushes.forced(written, span.0),
        };
        forced + wait
    }

    pub(crate) fn crash_count(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].crash_count
    }

    /// The real length of a timer in tick mode: drawn for each timer, and recorded as an answer.
    fn length_in_ticks(&mut self, node: NodeId, span: Span) -> u64 {
        let at = &mut self.nodes[node.index()];
        let range = match script::lengths(span, at.bound, Span::TICK) {
            Ok(range) => range,
            Err(why) => panic!("tick mode does not fit the protocol: {why}"),
        };
        let count = u32::try_from(range.end() - range.start() + 1).unwrap_or(u32::MAX);
        if count == 1 || self.starting {
            return range.start() * Span::TICK.0;
        }
        at.read.length += 1;
        let word = self.streams.word(Label::length(node), at.read.length - 1);
        // Half of the timers run at an extreme: that is where timing arguments break.
        let index = match word % 4 {
            0 => 0,
            1 => count - 1,
            _ => below(word, count),
        };
        self.answers.push(index);
        (range.start() + u64::from(index)) * Span::TICK.0
    }
}

impl<P: Protocol> Driver<P> for Scheduler<P> {
    #[inline]
    fn now(&self) -> u64 {
        self.now
    }
    fn clock(&mut self, node: NodeId) -> Stamp {
        self.nodes[node.index()].clock.stamp(self.now)
    }
    fn choose(&mut self, node: NodeId, count: u32) -> u32 {
        if self.ticks && self.starting {
            return 0;
        }
        let read = &mut self.nodes[node.index()].read;
        read.choose += 1;
        let answer = below(self.streams.word(Label::choose(node), read.choose - 1), count);
        self.answers.push(answer);
        answer
    }
    fn length(&mut self, node: NodeId, _: &P::Timer, span: Span) -> u64 {
        if self.ticks { self.length_in_ticks(node, span) } else { self.nodes[node.index()].clock.length(span).0 }
    }
    #[inline(never)]
    fn send(&mut self, envelope: Envelope<P::Message>) {
        let sizer = &mut self.sizer;
        let ends = (envelope.from, envelope.to);
        // Its size is asked of a copy: what nobody points to need not lie in memory.
        let size = || sizer.message(&envelope.message.clone());
        match self.links.fate(&mut self.streams, self.now, ends, size) {
            Fate::Arrives(at) => self.agenda.push_delivery(at, envelope),
            Fate::Lost => self.agenda.push(self.now, Due::Message(Choice::Lose(envelope))),
            Fate::Twice(copy, message) => {
                self.agenda.push(copy, Due::Message(Choice::Duplicate(envelope.clone())));
                self.agenda.push_delivery(message, envelope);
            }
        }
    }
    /// The agenda delivers, copies and loses only what it holds.
    #[inline]
    fn is_in_flight(&self, _: &Envelope<P::Message>) -> bool {
        true
    }
    #[inline]
    fn take(&mut self, _: &Envelope<P::Message>) {}
    fn armed(&mut self, node: NodeId, timer: &P::Timer, end: u64) {
        // A timer set for nothing is due at once and never ends, as in a world that moves by ticks.
        if end > self.now {
            self.agenda.push(end, Due::Lapse(node, timer.clone(), end));
        } else {
            self.agenda.push(self.now, Due::Fire(node, timer.clone(), end));
        }
    }
    fn deadline_set(&mut self, id: u32, end: u64) {
        self.agenda.push(end, Due::Deadline(id, end));
    }
    fn persisted(&mut self, node: NodeId, stream: Stream, record: &P::Record) {
        let at = self.durable_at(node, record);
        self.agenda.push(at, Due::Sync(node, stream, self.crash_count(node)));
    }
    fn jump(&mut self, node: NodeId, by_ns: i64) {
        self.nodes[node.index()].clock.jump(self.now, by_ns);
    }
    #[inline]
    fn observes(&self) -> bool {
        self.observed
    }
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        self.effects.push((node, effect.clone()));
    }
    fn elapse(&mut self, span: Span) {
        self.now += span.0;
    }
}
