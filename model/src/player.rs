//! The scheduler of an exact script: answers and lengths are read off, and what was asked for is noted.

use std::collections::{BTreeMap, VecDeque};

use derive_where::derive_where;

use crate::clock::{Clock, NodeClock};
use crate::exact::{Flying, Origin};
use crate::name::{NodeId, Stream};
use crate::plain::{Driver, Envelope};
use crate::protocol::{Effect, Protocol};
use crate::script::lengths;
use crate::time::{Span, Stamp};
use crate::world::Lapse;

/// What [`crate::exact::Playback`] asks and tells.
#[derive_where(Clone)]
pub struct Player<P: Protocol> {
    /// Reference time [ns].
    pub now: u64,
    /// The number under which the present step's messages go: see [`Origin`].
    pub step: u32,
    /// Messages in flight, in the order sent.
    pub flight: BTreeMap<Origin, Flying<P>>,
    /// The message that is meant, where several are alike; otherwise it is the one sent first.
    pub aim: Option<Origin>,
    /// Records not yet durable, of each stream, each with when it was written [ns]; oldest first. A sync or a crash is the
    /// caller's to note.
    pub unsynced: BTreeMap<(NodeId, Stream), VecDeque<u64>>,
    /// Whether effects are kept.
    pub observed: bool,
    /// Effects since they were last taken; empty unless `observed`.
    pub effects: Vec<(NodeId, Effect<P>)>,
    /// Ends of timers and deadlines that lie ahead, with those that were moved since. In the order in which they lapse: by
    /// instant, then timers by node and in the order set, then deadlines in the order set.
    ends: BTreeMap<(u64, bool, NodeId, u64), Lapse<P::Timer>>,
    /// Ends noted so far.
    end_count: u64,
    /// Lengths are answers in whole ticks, as in an explorer's script.
    pub(crate) tick: Option<Span>,
    protocol: P,
    untimed: bool,
    clocks: Vec<Clock>,
    sent: u32,
    answers: VecDeque<u32>,
    lengths: VecDeque<Span>,
    /// Answers asked for beyond those given.
    missing: u32,
    given: Vec<u32>,
    ran: Vec<Span>,
    /// How many of `ran` are needed to know them all: those behind are as their clocks say.
    odd: usize,
}

impl<P: Protocol> Player<P> {
    pub(crate) fn new(protocol: &P, untimed: bool, clocks: &[NodeClock]) -> Self {
        let clock = |index: usize| {
            let drawn = clocks.get(index).copied().unwrap_or(NodeClock::EXACT);
            Clock::new(drawn, protocol.clock(NodeId(index as u16)))
        };
        Player {
            now: 0,
            step: 0,
            flight: BTreeMap::new(),
            aim: None,
            unsynced: BTreeMap::new(),
            observed: false,
            effects: Vec::new(),
            ends: BTreeMap::new(),
            end_count: 0,
            tick: None,
            clocks: (0..protocol.nodes().len()).map(clock).collect(),
            protocol: protocol.clone(),
            untimed,
            sent: 0,
            answers: VecDeque::new(),
            lengths: VecDeque::new(),
            missing: 0,
            given: Vec::new(),
            ran: Vec::new(),
            odd: 0,
        }
    }

    /// Gets ready for a step.
    pub(crate) fn expect(&mut self, answers: &[u32], lengths: &[Span]) {
        self.step += 1;
        self.sent = 0;
        self.missing = 0;
        self.odd = 0;
        self.answers.clear();
        self.answers.extend(answers);
        self.lengths.clear();
        self.lengths.extend(lengths);
        self.given.clear();
        self.ran.clear();
    }

    /// Answers that were not asked for.
    pub(crate) fn left(&self) -> usize {
        self.answers.len()
    }

    /// Whether the step asked for what was recorded.
    pub(crate) fn settled(&self) -> Result<(), String> {
        match (self.missing, self.answers.len(), self.lengths.len()) {
            (0, 0, 0) => Ok(()),
            (0, 0, left) => Err(format!("{left} of the recorded timers were not set")),
            (0, left, _) => Err(format!("{left} of the recorded answers were not asked for")),
            (missing, ..) => Err(format!("the step asked for {missing} answers that were not recorded")),
        }
    }

    /// What was asked for in this step: answers, and lengths as far as they are not what the clocks say.
    pub(crate) fn given(&mut self) -> (Vec<u32>, Vec<Span>) {
        let answers = std::mem::take(&mut self.given);
        let mut lengths = std::mem::take(&mut self.ran);
        lengths.truncate(self.odd);
        (answers, lengths)
    }

    /// Something that no node did.
    pub(crate) fn heard(&mut self, node: NodeId, effect: Effect<P>) {
        if self.observed {
            self.effects.push((node, effect));
        }
    }

    /// Takes the first end that is noted, if it is no later than `until` [ns].
    pub(crate) fn next_end(&mut self, until: u64) -> Option<(u64, Lapse<P::Timer>)> {
        let entry = self.ends.first_entry().filter(|entry| entry.key().0 <= until)?;
        Some((entry.key().0, entry.remove()))
    }

    fn note_end(&mut self, end: u64, node: NodeId, lapse: Lapse<P::Timer>) {
        // What is set for nothing is due at once and never ends.
        if end > self.now {
            let is_deadline = matches!(lapse, Lapse::Deadline(_));
            self.ends.insert((end, is_deadline, node, self.end_count), lapse);
            self.end_count += 1;
        }
    }

    fn answer(&mut self, count: u32) -> u32 {
        match self.answers.pop_front() {
            Some(answer) if answer < count => answer,
            _ => {
                self.missing += 1;
                0
            }
        }
    }

    /// A length in whole ticks, by its index.
    fn ticks(&mut self, node: NodeId, span: Span, tick: Span) -> Span {
        let range = lengths(span, self.protocol.clock(node), tick).unwrap_or(0..=0);
        let count = (range.end() - range.start() + 1) as u32;
        let index = if count > 1 { self.answer(count) } else { 0 };
        tick * (range.start() + u64::from(index))
    }

    /// Where the message is in flight.
    fn place(&self, envelope: &Envelope<P::Message>) -> Option<Origin> {
        self.aim.or_else(|| self.flight.iter().find(|(_, flying)| flying.envelope == *envelope).map(|(at, _)| *at))
    }
}

impl<P: Protocol> Driver<P> for Player<P> {
    fn now(&self) -> u64 {
        self.now
    }
    fn clock(&mut self, node: NodeId) -> Stamp {
        self.clocks[node.index()].stamp(self.now)
    }
    fn choose(&mut self, _: NodeId, count: u32) -> u32 {
        let answer = self.answer(count);
        self.given.push(answer);
        answer
    }
    fn length(&mut self, node: NodeId, _: &P::Timer, span: Span) -> u64 {
        let nominal = self.clocks[node.index()].length(span);
        let length = match self.tick {
            Some(tick) => self.ticks(node, span, tick),
            None => self.lengths.pop_front().unwrap_or(nominal),
        };
        self.ran.push(length);
        if length != nominal {
            self.odd = self.ran.len();
        }
        length.0
    }
    fn send(&mut self, envelope: Envelope<P::Message>) {
        let origin = Origin { step: self.step, nth: self.sent };
        self.sent += 1;
        self.flight.insert(origin, Flying { envelope, at: self.now });
    }
    fn is_in_flight(&self, envelope: &Envelope<P::Message>) -> bool {
        self.place(envelope).is_some()
    }
    fn take(&mut self, envelope: &Envelope<P::Message>) {
        if let Some(place) = self.place(envelope) {
            self.flight.remove(&place);
        }
    }
    fn armed(&mut self, node: NodeId, timer: &P::Timer, end: u64) {
        self.note_end(end, node, Lapse::Timer(node, timer.clone()));
    }
    fn deadline_set(&mut self, id: u32, end: u64) {
        self.note_end(end, NodeId(0), Lapse::Deadline(id));
    }
    fn persisted(&mut self, node: NodeId, stream: Stream, _: &P::Record) {
        self.unsynced.entry((node, stream)).or_default().push_back(self.now);
    }
    fn jump(&mut self, node: NodeId, by_ns: i64) {
        self.clocks[node.index()].jump(self.now, by_ns);
    }
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        if self.observed {
            self.effects.push((node, effect.clone()));
        }
    }
    fn is_untimed(&self) -> bool {
        self.untimed
    }
    fn elapse(&mut self, span: Span) {
        self.now += span.0;
    }
}
