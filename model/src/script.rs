//! Replaying a script: named choices and the answers they need, in a plain world that moves by ticks.

use std::collections::VecDeque;

use derive_where::derive_where;

use crate::Local;
use crate::canonical::{self, Canonical, Encoder};
use crate::name::NodeId;
use crate::plain::{Driver, Envelope, Plain};
use crate::property::{Kind, Violation};
use crate::protocol::{Effect, Protocol};
use crate::time::{ClockBound, Span, Stamp};
use crate::trace::{self, TraceStep};
use crate::world::{self, Choice, Named, Refused};

/// One scripted choice.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub struct ScriptStep<P: Protocol> {
    /// What happens.
    pub choice: Named<P>,
    /// Answers to what the step draws, in order: `choose` in the step, then the real lengths of the timers it sets,
    /// each as the index of a whole tick within what [`lengths`] allows.
    pub answers: Vec<u32>,
}

/// A run by name: what happened, in order, and what its world assumed.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub struct Script<P: Protocol> {
    /// The step of time: every real length is a whole number of ticks.
    pub tick: Span,
    /// Whether timers may fire before their ends, as in an exploration without time.
    pub untimed: bool,
    /// `offsets[i]`: how far node `i`'s clock is ahead [ns]; empty if none is.
    pub offsets: Vec<i64>,
    /// Answers to what the starts draw, in the order of the nodes; empty if each is the first.
    pub starts: Vec<u32>,
    /// What happens, after every node has started.
    pub steps: Vec<ScriptStep<P>>,
}

impl<P: Protocol> Script<P> {
    /// A script of a timed world with exact clocks and the usual tick.
    pub fn new(steps: Vec<ScriptStep<P>>) -> Self {
        Script { tick: Span::TICK, untimed: false, offsets: Vec::new(), starts: Vec::new(), steps }
    }
}

/// The real lengths [ticks] that a timer set for `span` may have under `bound`: whole ticks within it, `low..=high`.
///
/// # Errors
/// If no whole number of ticks lies within the bound: the tick is too coarse for the span.
pub fn lengths(span: Span, bound: ClockBound, tick: Span) -> Result<std::ops::RangeInclusive<u64>, String> {
    let low = bound.shortest.ceil_of(span).0.div_ceil(tick.0);
    let high = bound.longest.floor_of(span).0 / tick.0;
    if low > high {
        return Err(format!(
            "no whole number of ticks of {tick} lies between {} and {} times {span}",
            bound.shortest, bound.longest
        ));
    }
    Ok(low..=high)
}

/// The scheduler of a script: answers are read off, time moves by [`Choice::Elapse`] alone.
pub struct Scripted<P: Protocol> {
    /// Messages in flight, in the order sent.
    pub flight: Vec<Envelope<P::Message>>,
    /// Answers still to be given.
    pub answers: VecDeque<u32>,
    /// Answers asked for beyond those given; a script of the right revision has none.
    pub missing: u32,
    /// Whether timers may fire at any time.
    pub untimed: bool,
    /// `offsets[i]`: how far node `i`'s clock is ahead [ns].
    pub offsets: Vec<i64>,
    protocol: P,
    tick: Span,
    now: u64,
    effects: Vec<(NodeId, Effect<P>)>,
}

impl<P: Protocol> Scripted<P> {
    /// A scheduler that moves by `tick`.
    pub fn new(protocol: P, tick: Span) -> Self {
        Scripted {
            flight: Vec::new(),
            answers: VecDeque::new(),
            missing: 0,
            untimed: false,
            offsets: Vec::new(),
            protocol,
            tick,
            now: 0,
            effects: Vec::new(),
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
}

impl<P: Protocol> Driver<P> for Scripted<P> {
    fn now(&self) -> u64 {
        self.now
    }
    fn clock(&mut self, node: NodeId) -> Stamp {
        Stamp(self.now as i64 + self.offsets.get(node.index()).copied().unwrap_or(0))
    }
    fn choose(&mut self, _: NodeId, count: u32) -> u32 {
        self.answer(count)
    }
    fn length(&mut self, node: NodeId, _: &P::Timer, span: Span) -> u64 {
        let range = lengths(span, self.protocol.clock(node), self.tick).unwrap_or(0..=0);
        let count = (range.end() - range.start() + 1) as u32;
        let index = if count > 1 { self.answer(count) } else { 0 };
        (range.start() + u64::from(index)) * self.tick.0
    }
    fn send(&mut self, envelope: Envelope<P::Message>) {
        self.flight.push(envelope);
    }
    fn is_in_flight(&self, envelope: &Envelope<P::Message>) -> bool {
        self.flight.contains(envelope)
    }
    fn take(&mut self, envelope: &Envelope<P::Message>) {
        if let Some(index) = self.flight.iter().position(|other| other == envelope) {
            self.flight.remove(index);
        }
    }
    fn jump(&mut self, node: NodeId, by_ns: i64) {
        if self.offsets.len() <= node.index() {
            self.offsets.resize(node.index() + 1, 0);
        }
        self.offsets[node.index()] += by_ns;
    }
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        self.effects.push((node, effect.clone()));
    }
    fn is_untimed(&self) -> bool {
        self.untimed
    }
    fn elapse(&mut self, span: Span) {
        self.now += span.0;
    }
}

/// How a replay went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// What happened, step by step.
    pub trace: Vec<TraceStep>,
    /// Digest over the encoded choices and effects, in order.
    pub digest: u64,
    /// Properties that fell, in order.
    pub violations: Vec<Violation>,
    /// `eventually` properties that are owed at the end.
    pub owed: Vec<&'static str>,
    /// The first step that could not happen, or that needed other answers: where the script drifted, and why.
    pub drift: Option<(usize, String)>,
}

/// A world in which every node has just started, ready for a script with exact clocks.
pub fn started<P: Protocol>(protocol: &P, tick: Span) -> Plain<P, Scripted<P>> {
    started_for(protocol, &Script { tick, ..Script::new(Vec::new()) })
}

/// A world in which every node has just started, as `script` assumes it.
pub fn started_for<P: Protocol>(protocol: &P, script: &Script<P>) -> Plain<P, Scripted<P>> {
    let mut world = Plain::new(protocol.clone(), Scripted::new(protocol.clone(), script.tick));
    world.driver.untimed = script.untimed;
    world.driver.offsets.clone_from(&script.offsets);
    world.keep_journals();
    world.driver.answers = script.starts.iter().copied().collect();
    for node in world.nodes() {
        let started = world::apply(&mut world, &Choice::At(node, Local::Start));
        debug_assert!(started.is_ok(), "a node that is down can start");
    }
    world.driver.effects.clear();
    world.driver.answers.clear();
    world.driver.missing = 0;
    world
}

/// Runs `script` from the start of every node. Stops at the first step that cannot happen.
pub fn replay<P: Protocol>(protocol: &P, script: &Script<P>) -> Replayed {
    let names = protocol.nodes();
    let mut world = started_for(protocol, script);
    let mut replayed = Replayed { trace: Vec::new(), digest: 0, violations: Vec::new(), owed: Vec::new(), drift: None };
    for (index, step) in script.steps.iter().enumerate() {
        world.driver.answers = step.answers.iter().copied().collect();
        if let Err(why) = take(&mut world, step) {
            replayed.drift = Some((index, why));
            break;
        }
        let effects = std::mem::take(&mut world.driver.effects);
        let mut out = Encoder::whole();
        step.choice.encode(&mut out);
        for (node, effect) in &effects {
            trace::encode_effect(*node, effect, &mut out);
        }
        replayed.digest = canonical::hash(replayed.digest, out.bytes());
        replayed.trace.push(TraceStep::of(&names, index as u64 + 1, world.driver.now, &step.choice, &effects));
    }
    let eventual = protocol.properties().into_iter().filter(|property| property.kind == Kind::Eventually);
    replayed.owed = eventual.map(|property| property.name).filter(|name| protocol.owes(&world.monitor, name)).collect();
    replayed.violations = world.violations;
    replayed
}

fn take<P: Protocol>(world: &mut Plain<P, Scripted<P>>, step: &ScriptStep<P>) -> Result<(), String> {
    world.driver.missing = 0;
    world::apply(world, &step.choice).map_err(|refused: Refused| refused.to_string())?;
    match (world.driver.missing, world.driver.answers.len()) {
        (0, 0) => Ok(()),
        (0, left) => Err(format!("{left} of the recorded answers were not asked for")),
        (missing, _) => Err(format!("the step asked for {missing} answers that were not recorded")),
    }
}
