//! Random walks over everything that may happen to a protocol, and their replay.

#![allow(dead_code, reason = "each module of tests uses its part")]
#![allow(unreachable_pub, reason = "a program of tests is a crate with nothing above it")]

use std::collections::BTreeMap;

use seedbed_model::script::{self, Scripted};
use seedbed_model::{
    Canonical, Choice, Driver, Effect, Envelope, Kept, Local, Named, NodeId, Phase, Plain, Protocol, Renaming,
    ScriptStep, Span, Stamp, Store, apply,
};

/// The faults that a walk may still bring about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub losses: u32,
    pub duplicates: u32,
    pub crashes: u32,
    pub pauses: u32,
    pub cuts: u32,
}

impl Faults {
    pub const SOME: Faults = Faults { losses: 3, duplicates: 3, crashes: 2, pauses: 1, cuts: 1 };
}

/// The scheduler of a walk: every draw is taken from `picks`, and recorded.
pub struct Drawn<P: Protocol> {
    pub flight: Vec<Envelope<P::Message>>,
    pub effects: Vec<(NodeId, Effect<P>)>,
    /// `offsets[i]` [ns] is how far node `i`'s clock is ahead.
    pub offsets: Vec<i64>,
    picks: std::vec::IntoIter<u32>,
    answers: Vec<u32>,
    protocol: P,
    now: u64,
}

impl<P: Protocol> Drawn<P> {
    fn pick(&mut self, count: u32) -> u32 {
        self.picks.next().unwrap_or(0) % count
    }

    fn answer(&mut self, count: u32) -> u32 {
        let answer = self.pick(count);
        self.answers.push(answer);
        answer
    }
}

impl<P: Protocol> Driver<P> for Drawn<P> {
    fn now(&self) -> u64 {
        self.now
    }
    fn clock(&mut self, node: NodeId) -> Stamp {
        Stamp::of_clock(self.now as i64 + self.offsets[node.index()])
    }
    fn choose(&mut self, _: NodeId, count: u32) -> u32 {
        self.answer(count)
    }
    fn length(&mut self, node: NodeId, _: &P::Timer, span: Span) -> u64 {
        let range = script::lengths(span, self.protocol.clock(node), Span::TICK).expect("spans are whole ticks here");
        let count = (range.end() - range.start() + 1) as u32;
        let index = if count > 1 { self.answer(count) } else { 0 };
        (range.start() + u64::from(index)) * Span::TICK.0
    }
    fn send(&mut self, envelope: Envelope<P::Message>) {
        self.flight.push(envelope);
    }
    fn is_in_flight(&self, envelope: &Envelope<P::Message>) -> bool {
        self.flight.contains(envelope)
    }
    fn take(&mut self, envelope: &Envelope<P::Message>) {
        let index = self.flight.iter().position(|other| other == envelope).expect("taken messages are in flight");
        self.flight.remove(index);
    }
    fn effect(&mut self, node: NodeId, effect: &Effect<P>) {
        self.effects.push((node, effect.clone()));
    }
    fn elapse(&mut self, span: Span) {
        self.now += span.0;
    }
}

/// A walk under way.
pub struct Walk<P: Protocol> {
    pub world: Plain<P, Drawn<P>>,
    pub script: Vec<ScriptStep<P>>,
    faults: Faults,
}

impl<P: Protocol> Walk<P> {
    /// Every node has started.
    pub fn new(protocol: &P, faults: Faults, picks: Vec<u32>) -> Self {
        let driver = Drawn {
            flight: Vec::new(),
            effects: Vec::new(),
            offsets: vec![0; protocol.nodes().len()],
            picks: Vec::new().into_iter(),
            answers: Vec::new(),
            protocol: protocol.clone(),
            now: 0,
        };
        let mut world = Plain::new(protocol.clone(), driver);
        for node in world.nodes() {
            apply(&mut world, &Choice::At(node, Local::Start)).expect("a node that is down can start");
        }
        world.driver.answers.clear();
        world.driver.picks = picks.into_iter();
        Walk { world, script: Vec::new(), faults }
    }

    /// One step of those that can happen; `false` when the picks are used up or nothing can happen.
    pub fn step(&mut self) -> bool {
        let choices = self.choices();
        if self.world.driver.picks.len() == 0 || choices.is_empty() {
            return false;
        }
        let index = self.world.driver.pick(choices.len() as u32) as usize;
        let choice = choices[index].clone();
        self.spend(&choice);
        apply(&mut self.world, &choice).expect("what is offered can happen");
        let answers = std::mem::take(&mut self.world.driver.answers);
        self.script.push(ScriptStep { choice, answers });
        true
    }

    /// To the end of the picks, or until something falls.
    pub fn run(mut self) -> Self {
        while self.world.violations.is_empty() && self.step() {}
        self
    }

    fn spend(&mut self, choice: &Named<P>) {
        match choice {
            Choice::Lose(_) => self.faults.losses -= 1,
            Choice::Duplicate(_) => self.faults.duplicates -= 1,
            Choice::Cut(..) => self.faults.cuts -= 1,
            Choice::At(_, Local::Crash(_)) => self.faults.crashes -= 1,
            Choice::At(_, Local::Pause) => self.faults.pauses -= 1,
            _ => {}
        }
    }

    fn choices(&mut self) -> Vec<Named<P>> {
        let mut choices = Vec::new();
        self.network_choices(&mut choices);
        let mut is_urgent = false;
        for node in self.world.nodes().collect::<Vec<_>>() {
            is_urgent |= self.node_choices(node, &mut choices);
        }
        if !is_urgent {
            choices.push(Choice::Elapse(Span::TICK));
        }
        choices
    }

    fn network_choices(&self, choices: &mut Vec<Named<P>>) {
        let world = &self.world;
        for envelope in &world.driver.flight {
            let is_lost = world.phase(envelope.to) == Phase::Down || world.is_cut(envelope.from, envelope.to);
            if is_lost || world.phase(envelope.to) == Phase::Up {
                choices.push(Choice::Deliver(envelope.clone()));
                if self.faults.duplicates > 0 {
                    choices.push(Choice::Duplicate(envelope.clone()));
                }
            }
            if self.faults.losses > 0 {
                choices.push(Choice::Lose(envelope.clone()));
            }
            if self.faults.cuts > 0 {
                choices.push(Choice::Cut(envelope.from, envelope.to));
            }
        }
        choices.extend(world.cuts.iter().map(|(from, to)| Choice::Heal(*from, *to)));
    }

    /// What can happen at a node, and whether some of it must happen before time passes.
    fn node_choices(&mut self, node: NodeId, choices: &mut Vec<Named<P>>) -> bool {
        let phase = self.world.phase(node);
        match phase {
            Phase::Down => choices.push(Choice::At(node, Local::Restart)),
            Phase::Paused => choices.push(Choice::At(node, Local::Resume)),
            Phase::Up => {}
        }
        if phase != Phase::Up {
            return false;
        }
        let now = self.world.driver.now;
        let due: Vec<P::Timer> = self.world.timers[node.index()]
            .iter()
            .filter(|(_, end)| *end <= now)
            .map(|(timer, _)| timer.clone())
            .collect();
        let is_urgent = !due.is_empty();
        choices.extend(due.into_iter().map(|timer| Choice::At(node, Local::Fire(timer))));
        let decisions = self.world.decisions(node);
        choices.extend(decisions.into_iter().map(|decision| Choice::At(node, Local::Decide(decision))));
        let host = &self.world.hosts[node.index()];
        let unsynced = host.unsynced();
        choices.extend(unsynced.iter().map(|(stream, _)| Choice::At(node, Local::Sync(*stream))));
        if host.can_invoke(&self.world.protocol, node) {
            choices.push(Choice::At(node, Local::Invoke));
        }
        if self.faults.crashes > 0 {
            choices.push(Choice::At(node, Local::Crash(Kept::new())));
            if !unsynced.is_empty() {
                choices.push(Choice::At(node, Local::Crash(unsynced)));
            }
        }
        if self.faults.pauses > 0 {
            choices.push(Choice::At(node, Local::Pause));
        }
        is_urgent
    }
}

/// The world at the end of a script, from the start of every node.
///
/// # Panics
/// If a step cannot happen.
pub fn end_of<P: Protocol>(protocol: &P, script: &[ScriptStep<P>]) -> Plain<P, Scripted<P>> {
    let mut world = script::started(protocol, Span::TICK);
    for (index, step) in script.iter().enumerate() {
        world.driver.answers = step.answers.iter().copied().collect();
        let applied = apply(&mut world, &step.choice);
        assert!(applied.is_ok(), "step {index} of the script, {:?}: {applied:?}", step.choice);
        assert_eq!((world.driver.missing, world.driver.answers.len()), (0, 0), "step {index} drew otherwise");
    }
    world
}

/// Picks for a walk that is the same on every run.
pub fn fixed_picks(seed: u32, count: u32) -> Vec<u32> {
    (0..count).map(|index| mixed(seed.wrapping_mul(count).wrapping_add(index))).collect()
}

/// The finalizer of MurmurHash3 (Appleby 2011): consecutive numbers become unrelated ones.
fn mixed(mut number: u32) -> u32 {
    number = (number ^ number >> 16).wrapping_mul(0x85eb_ca6b);
    number = (number ^ number >> 13).wrapping_mul(0xc2b2_ae35);
    number ^ number >> 16
}

/// A renaming that permutes nodes: `node` becomes `images[node]`.
pub struct Permuting<'a>(pub &'a BTreeMap<NodeId, NodeId>);

impl Renaming for Permuting<'_> {
    fn node(&mut self, node: &mut NodeId) {
        *node = *self.0.get(node).unwrap_or(node);
    }
}

/// `value` under the renaming.
pub fn renamed<T: Canonical + Clone>(value: &T, names: &mut dyn Renaming) -> T {
    let mut value = value.clone();
    value.rename(names);
    value
}
