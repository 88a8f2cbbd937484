//! What a shrunk run shows: which steps the fall hangs on, what each fault adds, and from when on it could not be avoided.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use seedbed_model::exact::Origin;
use seedbed_model::signature::culprits;
use seedbed_model::{
    Choice, Effect, ExactScript, ExactStep, Local, Move, NodeClock, NodeId, Phase, Playback, Protocol, Span,
};

use super::attempt::Attempt;
use super::limits::{Limits, note_disk};
use super::measure::is_odd;
use super::{Shrunk, pieces};
use crate::seed::Seed;
use crate::stream::below;

/// Steps of all random continuations together, about: those of a run of 80 steps, a hundred from each moment.
const WANDERED_MAX: usize = 1_000_000;

/// Which steps the last one hangs on, itself among them: backwards from it, and from the nodes that the violation names,
/// what happened at the same node before if it left something there (a state, a timer, a record), and the sending of what
/// arrived. Steps that are not among them stand there because the world owed them: a timer that had to be told before time
/// went on.
///
/// # Errors
/// If a step cannot happen.
pub fn chain<P: Protocol>(protocol: &P, script: &ExactScript<P>) -> Result<Vec<bool>, String> {
    let (pieces, _) = pieces::read(protocol, script)?;
    let (touched, detail) = touched(protocol, script)?;
    let mut wanted: BTreeSet<usize> = BTreeSet::new();
    let mut nodes: BTreeSet<NodeId> = culprits(&protocol.nodes(), &detail).into_iter().collect();
    let mut needs_time = false;
    let mut chained = vec![false; pieces.len()];
    for (index, piece) in pieces.iter().enumerate().rev() {
        let is_last = index + 1 == pieces.len();
        let node = piece.node();
        let counts = is_last
            || wanted.contains(&index)
            || (needs_time && piece.is_time())
            || node.is_some_and(|node| nodes.contains(&node) && touched[index]);
        if !counts {
            continue;
        }
        chained[index] = true;
        if piece.is_time() && is_last {
            // Whose end it was that passed is not known to a script: every node's past counts.
            nodes.extend(pieces.iter().filter_map(|piece| piece.node()));
        }
        nodes.extend(node);
        needs_time |= piece.is_time() || matches!(piece.step.choice(), Some(Choice::At(_, Local::Fire(_))));
        wanted.extend(piece.origin.map(|origin| origin.step as usize - 1));
    }
    Ok(chained)
}

/// Whether each step left anything at its node: any effect, or another state. And what is said of the violation.
fn touched<P: Protocol>(protocol: &P, script: &ExactScript<P>) -> Result<(Vec<bool>, String), String> {
    let mut playback = Playback::new(protocol, script.untimed, &script.clocks);
    playback.world.driver.observed = true;
    let mut touched = Vec::new();
    for step in &script.steps {
        let node = match step.choice() {
            Some(Choice::Deliver(envelope) | Choice::Duplicate(envelope)) => Some(envelope.to),
            Some(Choice::At(node, _)) => Some(*node),
            _ => None,
        };
        let before = node.map(|node| playback.world.hosts[node.index()].clone());
        playback.take(step).map_err(|refused| refused.to_string())?;
        let effects = std::mem::take(&mut playback.world.driver.effects);
        let acted = effects.iter().any(|(_, effect)| !matches!(effect, Effect::Mark(_)));
        let changed = node.map(|node| playback.world.hosts[node.index()].clone()) != before;
        touched.push(acted || changed);
    }
    let detail = playback.world.violations.first().map(|violation| violation.detail.clone());
    Ok((touched, detail.unwrap_or_default()))
}

/// Something that still goes wrong in a shrunk run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contribution {
    /// The step, from 0; `None` for a clock.
    pub step: Option<usize>,
    /// Whose clock.
    pub clock: Option<NodeId>,
    /// Whether the fall goes away without it.
    pub is_needed: bool,
}

/// What each remaining fault adds.
///
/// # Errors
/// If a step cannot happen.
pub fn contributions<P: Protocol>(protocol: &P, shrunk: &Shrunk<P>) -> Result<Vec<Contribution>, String> {
    let (pieces, _) = pieces::read(protocol, &shrunk.script)?;
    let mut attempt = Attempt::new(protocol, &shrunk.script, Some(shrunk.limits), Some(shrunk.signature.clone()));
    let mut found = Vec::new();
    for (index, _) in pieces.iter().enumerate().filter(|(_, piece)| piece.is_fault()) {
        let is_needed = attempt.run(&pieces::without(&pieces, index)).is_none();
        found.push(Contribution { step: Some(index), clock: None, is_needed });
    }
    for (index, drawn) in shrunk.script.clocks.iter().enumerate().filter(|(_, clock)| is_odd(clock)) {
        attempt.set_clock(index, NodeClock::EXACT);
        let is_needed = attempt.run(&pieces).is_none();
        attempt.set_clock(index, *drawn);
        found.push(Contribution { step: None, clock: Some(NodeId(index as u16)), is_needed });
    }
    Ok(found)
}

/// From each moment of a shrunk run, how many of `count` random continuations fall as it does: `[k]` after its first `k`
/// steps. An estimate: a continuation picks evenly among what can happen, and ends after three times as many steps as
/// the run has left, and ten. In a long run not from each moment: what is said of one holds from the last that was tried.
///
/// # Errors
/// If a step cannot happen.
pub fn continuations<P: Protocol>(protocol: &P, shrunk: &Shrunk<P>, count: u32) -> Result<Vec<u32>, String> {
    let script = &shrunk.script;
    let mut playback = Playback::new(protocol, script.untimed, &script.clocks);
    let length = script.steps.len();
    // A continuation takes half as many steps again as the run has, on the average over all moments.
    let stride = (length * length * 3 / 2 * count as usize).div_ceil(WANDERED_MAX).max(1);
    let mut falls: Vec<u32> = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        let fell = match falls.last() {
            Some(before) if !index.is_multiple_of(stride) => *before,
            _ => {
                let most = 3 * (length - index) + 10;
                let tries = (0..count).map(|number| Wander {
                    playback: playback.clone(),
                    limits: shrunk.limits,
                    rng: ChaCha8Rng::from_seed(Seed::Number(u64::from(number)).key()),
                });
                tries.map(|wander| u32::from(wander.falls(most, &shrunk.signature.property))).sum()
            }
        };
        falls.push(fell);
        playback.take(step).map_err(|refused| refused.to_string())?;
        note_disk(&mut playback, step);
    }
    Ok(falls)
}

/// A random continuation. What the world promised it keeps.
struct Wander<P: Protocol> {
    playback: Playback<P>,
    limits: Limits,
    rng: ChaCha8Rng,
}

impl<P: Protocol> Wander<P> {
    fn falls(mut self, most: usize, property: &str) -> bool {
        for _ in 0..most {
            let mut open = self.open();
            if open.is_empty() {
                return false;
            }
            let (step, aim) = open.swap_remove(below(self.rng.next_u32(), open.len() as u32) as usize);
            self.playback.world.driver.aim = aim;
            // What is offered and refused all the same is not taken: another pick follows.
            if self.playback.take(&step).is_ok() {
                note_disk(&mut self.playback, &step);
            }
            self.playback.world.driver.aim = None;
            if let Some(fell) = self.playback.world.violations.first() {
                return fell.property == property;
            }
        }
        false
    }

    /// What can happen now, faults aside.
    fn open(&mut self) -> Vec<(ExactStep<P>, Option<Origin>)> {
        let (mut open, mut next) = (Vec::new(), None);
        let now = self.playback.world.driver.now;
        let at = |node, local| ExactStep::of(Choice::At(node, local));
        for node in self.playback.world.nodes() {
            let host = &self.playback.world.hosts[node.index()];
            if host.phase == Phase::Down && host.nonce.is_none() {
                open.push((at(node, Local::Start), None));
            }
            if host.phase != Phase::Up {
                continue;
            }
            open.extend(host.unsynced().into_iter().map(|(stream, _)| (at(node, Local::Sync(stream)), None)));
            if host.can_invoke(&self.playback.world.protocol, node) {
                open.push((self.drawn(Choice::At(node, Local::Invoke)), None));
            }
            for (timer, end) in self.playback.world.timers[node.index()].clone().iter() {
                match end <= now {
                    true => open.push((self.drawn(Choice::At(node, Local::Fire(timer.clone()))), None)),
                    false => next = Some(next.map_or(end, |next: u64| next.min(end))),
                }
            }
            for decision in self.playback.world.decisions(node) {
                open.push((self.drawn(Choice::At(node, Local::Decide(decision))), None));
            }
        }
        let flight = self.playback.world.driver.flight.clone();
        for (origin, flying) in flight {
            open.push((self.drawn(Choice::Deliver(flying.envelope)), Some(origin)));
        }
        let deadlines = self.playback.world.deadlines.iter().map(|(_, end)| end);
        let end = deadlines.chain(next).filter(|end| *end > now).min();
        let passes = end.map(|end| Span(end - now)).filter(|span| self.limits.allow(&self.playback, *span));
        open.extend(passes.map(|span| (ExactStep::of(Choice::Elapse(span)), None)));
        open
    }

    /// The step with answers drawn for whatever it asks.
    fn drawn(&mut self, choice: seedbed_model::Named<P>) -> ExactStep<P> {
        // An answer that is too large counts as 0.
        let answers = (0..4).map(|_| self.rng.next_u32() % 4).collect();
        ExactStep { what: Move::Choice(choice), answers, lengths: Vec::new() }
    }
}
