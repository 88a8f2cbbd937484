//! Exact scripts: any run by name, to the nanosecond.
//!
//! A [`Script`] is a run of an explorer's world: time moves by ticks, and answers are indices into what a bound allows. An
//! [`ExactScript`] is what really happened, whoever scheduled it: nodes start by choices, time passes by nanoseconds, a
//! timer runs as long as it ran, also beyond what is assumed of its clock. What a choice means is written in
//! [`crate::world`] alone. The ends of timers and deadlines are no choices: they follow from the passing of time.
//!
//! - [`Playback`]: a plain world that takes exact steps, one by one;
//! - [`replay_exact`]: a whole script, strictly: what cannot happen any more is where it drifted;
//! - [`exact`]: a script of an explorer's world as it really happens.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use derive_where::derive_where;

use crate::canonical;
use crate::clock::NodeClock;
use crate::host::Local;
use crate::moves;
use crate::name::NodeId;
use crate::plain::{Envelope, Plain};
use crate::player::Player;
use crate::property::{Kind, Violation};
use crate::protocol::{Effect, Event, Protocol};
use crate::script::{Replayed, Script};
use crate::time::Span;
use crate::trace::{self, TraceStep};
use crate::world::{self, Applied, Choice, Lapse, Named, Refused};

/// One thing that happens in an exact script.
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub enum Move<P: Protocol> {
    /// A choice. Never [`Local::Lapse`]: lapses follow from [`Choice::Elapse`].
    Choice(Named<P>),
    /// The last fault is healed: properties are shown [`Event::Healed`].
    Healed,
}

/// One step of an exact script.
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub struct ExactStep<P: Protocol> {
    /// What happens.
    pub what: Move<P>,
    /// Answers to [`crate::Context::choose`] in this step, in order; those left out are 0.
    pub answers: Vec<u32>,
    /// How long the timers that the step sets really run, in order; those left out run as their node's clock says.
    pub lengths: Vec<Span>,
}

impl<P: Protocol> ExactStep<P> {
    /// A step that draws nothing.
    pub fn of(choice: Named<P>) -> Self {
        ExactStep { what: Move::Choice(choice), answers: Vec::new(), lengths: Vec::new() }
    }

    /// The choice, if it is one.
    pub fn choice(&self) -> Option<&Named<P>> {
        match &self.what {
            Move::Choice(choice) => Some(choice),
            Move::Healed => None,
        }
    }
}

/// A run by name, from before the first start.
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub struct ExactScript<P: Protocol> {
    /// Whether timers may fire before their ends, as in an exploration without time.
    pub untimed: bool,
    /// `clocks[i]` is node `i`'s; nodes beyond have exact ones.
    pub clocks: Vec<NodeClock>,
    /// What happens.
    pub steps: Vec<ExactStep<P>>,
}

/// A plain world that takes exact steps.
#[derive_where(Clone)]
pub struct Playback<P: Protocol> {
    /// The world. No node has started in a new one.
    pub world: Plain<P, Player<P>>,
    /// Whether the last fault is healed, and since when [ns].
    pub healed_at: Option<u64>,
}

impl<P: Protocol> Playback<P> {
    /// A world before its first start. `clocks` as of an [`ExactScript`].
    pub fn new(protocol: &P, untimed: bool, clocks: &[NodeClock]) -> Self {
        let mut world = Plain::new(protocol.clone(), Player::new(protocol, untimed, clocks));
        world.keep_journals();
        Playback { world, healed_at: None }
    }

    /// Lets the step happen. A broken assertion of the protocol is the violation `panic`; the world is of no use then.
    ///
    /// # Errors
    /// If it cannot happen now; nothing has changed then.
    pub fn take(&mut self, step: &ExactStep<P>) -> Result<Applied, Refused> {
        self.world.driver.expect(&step.answers, &step.lengths);
        let choice = match &step.what {
            Move::Choice(Choice::Elapse(span)) => {
                self.pass(*span);
                return Ok(Applied::Done);
            }
            Move::Healed => {
                self.healed_at = Some(self.world.driver.now);
                self.world.show(NodeId(0), &Event::Healed);
                self.world.driver.heard(NodeId(0), Effect::Happened(Event::Healed));
                return Ok(Applied::Done);
            }
            Move::Choice(choice) => choice,
        };
        // Nothing of the world is looked at after a panic but its violations.
        let taken = catch_unwind(AssertUnwindSafe(|| world::apply(&mut self.world, choice)));
        taken.unwrap_or_else(|payload| {
            self.world.violations.push(Violation { property: "panic".into(), detail: words(&*payload) });
            Ok(Applied::Done)
        })
    }

    /// Something happens at `at` [ns] in a system that is not ours: the properties see it, and no node of the world steps. Time
    /// never goes back: what is said too late happens now. Stops where a property falls on the way there.
    pub fn witness(&mut self, at: u64, node: NodeId, event: &Event<P>) {
        self.pass(Span(at.saturating_sub(self.world.driver.now)));
        if self.world.violations.is_empty() {
            self.world.show(node, event);
        }
    }

    /// Time passes, from end to end of timers and deadlines, which lapse each at its own instant: those of an instant node
    /// by node, in the order in which they were set, deadlines last. Stops where a property falls.
    fn pass(&mut self, span: Span) {
        let until = self.world.driver.now + span.0;
        let mut lapsed: Vec<(u64, Lapse<P::Timer>)> = Vec::new();
        while let Some((at, ended)) = self.world.driver.next_end(until) {
            self.world.driver.now = at;
            // A timer may have been set twice to the same end, or to another one since.
            if self.ends_at(&ended, at) && !lapsed.contains(&(at, ended.clone())) {
                lapsed.retain(|(other, _)| *other == at);
                lapsed.push((at, ended.clone()));
                self.lapse(ended);
                if !self.world.violations.is_empty() {
                    return;
                }
            }
        }
        self.world.driver.now = until;
    }

    fn ends_at(&self, ended: &Lapse<P::Timer>, at: u64) -> bool {
        let end = match ended {
            Lapse::Timer(node, timer) => self.world.timers[node.index()].end(timer),
            Lapse::Deadline(id) => self.world.deadlines.end(id),
        };
        end == Some(at)
    }

    fn lapse(&mut self, ended: Lapse<P::Timer>) {
        let deadline = if let Lapse::Deadline(id) = ended { Some(id) } else { None };
        world::lapse(&mut self.world, ended);
        if let Some(id) = deadline {
            self.world.driver.heard(NodeId(0), Effect::Happened(Event::Deadline(id)));
        }
    }

    /// The step as it was taken last: with the answers and lengths that were really asked for.
    pub fn taken(&mut self, what: Move<P>) -> ExactStep<P> {
        let (answers, lengths) = self.world.driver.given();
        ExactStep { what, answers, lengths }
    }
}

/// What a panic says, for whoever catches one.
pub fn words(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".into())
}

/// How a replay of an exact script went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactReplayed {
    /// In words for people. Its digest is over texts by name, not over encodings: it outlives a new order of variants and
    /// fields in the source.
    pub replayed: Replayed,
    /// `does[i]`: what nodes did in step `i`, each effect by name, to be compared.
    pub does: Vec<Vec<String>>,
    /// Marks taken and goals reached, each with how often.
    pub reached: BTreeMap<&'static str, u64>,
}

/// Runs an exact script. Stops where a property falls, and at the first step that cannot happen.
pub fn replay_exact<P: Protocol>(protocol: &P, script: &ExactScript<P>) -> ExactReplayed {
    let names = protocol.nodes();
    let mut playback = Playback::new(protocol, script.untimed, &script.clocks);
    playback.world.driver.observed = true;
    let mut replayed = Replayed { trace: Vec::new(), digest: 0, violations: Vec::new(), owed: Vec::new(), drift: None };
    let mut does = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        let taken = playback.take(step).map_err(|refused| refused.to_string());
        let settled = taken.and_then(|_| match playback.world.violations.is_empty() {
            true => playback.world.driver.settled(),
            false => Ok(()),
        });
        if let Err(why) = settled {
            replayed.drift = Some((index, why));
            break;
        }
        let effects = std::mem::take(&mut playback.world.driver.effects);
        let at = step.choice().and_then(trace::node_of::<P>);
        let done: Vec<String> =
            effects.iter().map(|(node, effect)| moves::effect_text(&names, at, *node, effect)).collect();
        let text = moves::text_of(&step.what, &names);
        let parts = std::iter::once(&text).chain(&done);
        replayed.digest = parts.fold(replayed.digest, |digest, text| canonical::hash(digest, text.as_bytes()));
        does.push(done);
        let at_ns = playback.world.driver.now;
        replayed.trace.push(traced(&names, index as u64 + 1, at_ns, &step.what, &effects));
        if !playback.world.violations.is_empty() {
            break;
        }
    }
    let eventual = protocol.properties().into_iter().filter(|property| property.kind == Kind::Eventually);
    let owed = eventual.map(|property| property.name).filter(|name| protocol.owes(&playback.world.monitor, name));
    replayed.owed = owed.collect();
    replayed.violations = playback.world.violations;
    ExactReplayed { replayed, does, reached: playback.world.reached }
}

/// A step in words. `names[i]` is node `i`'s.
pub fn traced<P: Protocol>(
    names: &[String],
    step: u64,
    at_ns: u64,
    what: &Move<P>,
    effects: &[(NodeId, Effect<P>)],
) -> TraceStep {
    match what {
        Move::Choice(choice) => TraceStep::of(names, step, at_ns, choice, effects),
        Move::Healed => TraceStep {
            step,
            at_ns,
            kind: "healed".into(),
            what: "the last fault is healed".into(),
            ..TraceStep::default()
        },
    }
}

/// What a script of an explorer's world really is: the same steps, with the starts of the nodes as steps and the lengths of
/// timers as they ran.
///
/// # Errors
/// If it does not happen: at which step, from 1, and why.
pub fn exact<P: Protocol>(protocol: &P, script: &Script<P>) -> Result<ExactScript<P>, String> {
    let clocks: Vec<NodeClock> = script.offsets.iter().map(|offset_ns| stamped(*offset_ns)).collect();
    let mut playback = Playback::new(protocol, script.untimed, &clocks);
    playback.world.driver.tick = Some(script.tick);
    let nodes: Vec<NodeId> = playback.world.nodes().collect();
    let mut steps = Vec::new();
    let mut starts = script.starts.as_slice();
    for node in nodes {
        let mut step = ExactStep::of(Choice::At(node, Local::Start));
        step.answers = starts.to_vec();
        playback.take(&step).map_err(|refused| format!("start: {refused}"))?;
        starts = &starts[starts.len() - playback.world.driver.left()..];
        steps.push(playback.taken(step.what));
    }
    for (index, step) in script.steps.iter().enumerate() {
        let what = Move::Choice(step.choice.clone());
        let step = ExactStep { what, answers: step.answers.clone(), lengths: Vec::new() };
        playback.take(&step).map_err(|refused| format!("step {}: {refused}", index + 1))?;
        steps.push(playback.taken(step.what));
        if !playback.world.violations.is_empty() {
            break;
        }
    }
    Ok(ExactScript { untimed: script.untimed, clocks, steps })
}

/// A clock that is off by so much, and jumps as far as it likes.
fn stamped(offset_ns: i64) -> NodeClock {
    let offset_max = Span(offset_ns.unsigned_abs());
    NodeClock { offset_ns, offset_max, jump_max: Span::LONGEST, ..NodeClock::EXACT }
}

/// What a message in flight is called while a script plays: the step that sent it, by its number, and which of the
/// messages that step sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The step's number, as [`Player::step`] said.
    pub step: u32,
    /// From 0.
    pub nth: u32,
}

/// A message in flight, and since when.
#[derive_where(Debug, Clone)]
pub struct Flying<P: Protocol> {
    /// The message.
    pub envelope: Envelope<P::Message>,
    /// When it was sent [ns].
    pub at: u64,
}
