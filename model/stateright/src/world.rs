//! A plain world within bounds, as a value, and every way on from it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use derive_where::derive_where;
use seedbed_model::explore::{Bounds, Clock, Exercised};
use seedbed_model::{
    Choice, Envelope, Host, Kept, Local, Named, NodeId, Phase, Plain, Protocol, Script, ScriptStep, Timers, Violation,
    apply, encoding,
};

use crate::driver::Everyway;

/// A message in flight.
#[derive(seedbed_model::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flight<P: Protocol> {
    pub(crate) envelope: Envelope<P::Message>,
    /// Ticks it may still take; `None`: any.
    pub(crate) life: Option<u32>,
}

/// What is left of the fault budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, seedbed_model::Canonical)]
pub(crate) struct Budgets {
    pub(crate) losses: u32,
    pub(crate) duplicates: u32,
    pub(crate) crashes: u32,
    pub(crate) pauses: u32,
    pub(crate) cuts: u32,
}

/// A plain world as a value, with names as they are: tags not ranked, times since the start.
#[derive(seedbed_model::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone)]
pub struct World<P: Protocol> {
    /// Reference time since the start [ns].
    pub(crate) now: u64,
    /// `hosts[i]` is node `i`.
    pub(crate) hosts: Vec<Host<P>>,
    /// `timers[i]` are node `i`'s, with their ends as they are.
    pub(crate) timers: Vec<Timers<P::Timer>>,
    pub(crate) monitor: P::Monitor,
    pub(crate) deadlines: Timers<u32>,
    pub(crate) cuts: BTreeSet<(NodeId, NodeId)>,
    pub(crate) flights: Vec<Flight<P>>,
    pub(crate) budgets: Budgets,
    /// `offsets[i]`: how far node `i`'s clock is ahead [ns]. Fixed for the run.
    pub(crate) offsets: Vec<i64>,
    /// What the starts drew. Fixed for the run, and no part of the normal form.
    pub(crate) starts: Vec<u32>,
}

/// One way on: a choice and its answers.
#[derive_where(Debug, Clone)]
pub struct Way<P: Protocol> {
    /// The choice, and the losses of links that were full.
    pub steps: Vec<ScriptStep<P>>,
    /// The properties that fall on it, in order.
    pub violations: Vec<Violation>,
    /// Marks taken and goals reached on it.
    pub reached: BTreeSet<&'static str>,
    /// Where it leads; `None` if the protocol panicked.
    pub next: Option<World<P>>,
}

/// What surrounds every world of one exploration.
pub(crate) struct Frame<'a, P: Protocol> {
    pub(crate) protocol: &'a P,
    pub(crate) bounds: &'a Bounds,
}

/// A choice as this world names it: a message by its place in flight.
enum Pick<P: Protocol> {
    Deliver(usize),
    Duplicate(usize),
    Lose(usize),
    Other(Named<P>),
}

impl<P: Protocol> World<P> {
    /// Every world in which each node has just started: one for each combination of clock offsets and draws.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol (a tick too coarse for a timer, say).
    pub fn initial(protocol: &P, bounds: &Bounds) -> Result<Vec<Way<P>>, String> {
        let frame = Frame { protocol, bounds };
        let mut all = Vec::new();
        for offsets in offset_choices(protocol, bounds) {
            let blank = World::blank(&frame, offsets);
            all.extend(frame.every_way(&blank, &mut Exercised::default(), |world| {
                for node in world.nodes() {
                    // A node that has not started is down, and one that is down can start.
                    let _ = apply(world, &Choice::At(node, Local::Start));
                }
            })?);
        }
        for start in &mut all {
            if let Some(next) = &mut start.next {
                next.starts.clone_from(&start.steps[0].answers);
            }
            start.steps.clear();
        }
        Ok(all)
    }

    /// What the properties' fold has come to.
    pub fn monitor(&self) -> &P::Monitor {
        &self.monitor
    }

    /// What the starts drew, in the order of the nodes.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    fn blank(frame: &Frame<'_, P>, offsets: Vec<i64>) -> Self {
        let count = offsets.len();
        let Bounds { losses, duplicates, crashes, pauses, cuts, .. } = *frame.bounds;
        World {
            now: 0,
            hosts: (0..count).map(|_| Host::new()).collect(),
            timers: vec![Timers::default(); count],
            monitor: P::Monitor::default(),
            deadlines: Timers::default(),
            cuts: BTreeSet::new(),
            flights: Vec::new(),
            budgets: Budgets { losses, duplicates, crashes, pauses, cuts },
            offsets,
            starts: Vec::new(),
        }
    }

    /// Every way on, in a fixed order.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol.
    pub fn ways(&self, protocol: &P, bounds: &Bounds) -> Result<Vec<Way<P>>, String> {
        self.ways_noting(protocol, bounds, &mut Exercised::default())
    }

    pub(crate) fn ways_noting(
        &self,
        protocol: &P,
        bounds: &Bounds,
        exercised: &mut Exercised,
    ) -> Result<Vec<Way<P>>, String> {
        let frame = Frame { protocol, bounds };
        let mut all = Vec::new();
        for pick in frame.picks(self) {
            all.extend(frame.take(self, &pick, exercised)?);
        }
        Ok(all)
    }

    /// A script from this world's start.
    pub fn script(&self, bounds: &Bounds, steps: Vec<ScriptStep<P>>) -> Script<P> {
        let offsets = if self.offsets.iter().all(|offset| *offset == 0) { Vec::new() } else { self.offsets.clone() };
        let untimed = bounds.clock == Clock::Untimed;
        Script { tick: bounds.tick, untimed, offsets, starts: self.starts.clone(), steps }
    }

    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<P> {
        (0..self.hosts.len() as u16).map(NodeId)
    }

    fn phase(&self, node: NodeId) -> Phase {
        self.hosts[node.index()].phase
    }

    fn is_due(&self, node: NodeId) -> bool {
        self.timers[node.index()].iter().any(|(_, end)| end <= self.now)
    }

    /// Whether something must happen before time passes: a firing at a node that is up, a message at its last moment.
    fn is_urgent(&self) -> bool {
        self.nodes().any(|node| self.phase(node) == Phase::Up && self.is_due(node))
            || self
                .flights
                .iter()
                .any(|flight| flight.life == Some(0) && self.phase(flight.envelope.to) != Phase::Paused)
    }
}

/// Offsets of whole ticks within what the protocol assumes, for each node.
fn offset_choices<P: Protocol>(protocol: &P, bounds: &Bounds) -> Vec<Vec<i64>> {
    let tick = bounds.tick.0 as i64;
    let mut choices = vec![Vec::new()];
    for node in 0..protocol.nodes().len() as u16 {
        let most = protocol.clock(NodeId(node)).offset.0 as i64 / tick;
        let longer = |start: &Vec<i64>, ticks: i64| start.iter().copied().chain([ticks * tick]).collect();
        choices = choices
            .iter()
            .flat_map(|start| (-most..=most).map(|ticks| longer(start, ticks)).collect::<Vec<_>>())
            .collect();
    }
    choices
}

impl<P: Protocol> Frame<'_, P> {
    /// Everything that can happen.
    fn picks(&self, world: &World<P>) -> Vec<Pick<P>> {
        let mut picks = Vec::new();
        self.messages(world, &mut picks);
        let mut plain = self.plain(world);
        for node in world.nodes() {
            self.locals(world, &mut plain, node, &mut picks);
        }
        self.links(world, &mut picks);
        if self.bounds.clock == Clock::Digital && !world.is_urgent() {
            picks.push(Pick::Other(Choice::Elapse(self.bounds.tick)));
        }
        picks
    }

    fn messages(&self, world: &World<P>, picks: &mut Vec<Pick<P>>) {
        for (at, flight) in world.flights.iter().enumerate() {
            if world.flights[..at].contains(flight) {
                continue;
            }
            let phase = world.phase(flight.envelope.to);
            if phase != Phase::Paused {
                picks.push(Pick::Deliver(at));
            }
            if phase == Phase::Up && world.budgets.duplicates > 0 {
                picks.push(Pick::Duplicate(at));
            }
            if world.budgets.losses > 0 {
                picks.push(Pick::Lose(at));
            }
        }
    }

    fn locals(&self, world: &World<P>, plain: &mut Plain<P, Everyway<P>>, node: NodeId, picks: &mut Vec<Pick<P>>) {
        let host = &world.hosts[node.index()];
        let mut locals = Vec::new();
        if host.phase == Phase::Up {
            let untimed = self.bounds.clock == Clock::Untimed;
            let due = world.timers[node.index()].iter().filter(|(_, end)| untimed || *end <= world.now);
            locals.extend(due.map(|(timer, _)| Local::Fire(timer.clone())));
            locals.extend(host.unsynced().into_iter().map(|(stream, _)| Local::Sync(stream)));
            if host.can_invoke(self.protocol, node) {
                locals.push(Local::Invoke);
            }
            locals.extend(plain.decisions(node).into_iter().map(Local::Decide));
        }
        let fails = self.protocol.stands_for(node).is_none();
        if fails && host.phase != Phase::Down && world.budgets.crashes > 0 {
            locals.extend(kept(host).into_iter().map(Local::Crash));
        }
        match host.phase {
            Phase::Up if fails && world.budgets.pauses > 0 => locals.push(Local::Pause),
            Phase::Paused => locals.push(Local::Resume),
            Phase::Down if self.bounds.restart => locals.push(Local::Restart),
            Phase::Up | Phase::Down => {}
        }
        picks.extend(locals.into_iter().map(|local| Pick::Other(Choice::At(node, local))));
    }

    fn links(&self, world: &World<P>, picks: &mut Vec<Pick<P>>) {
        for from in world.nodes() {
            for to in world.nodes().filter(|to| *to != from) {
                if world.cuts.contains(&(from, to)) {
                    picks.push(Pick::Other(Choice::Heal(from, to)));
                } else if world.budgets.cuts > 0 {
                    picks.push(Pick::Other(Choice::Cut(from, to)));
                }
            }
        }
    }

    /// Every way to take `pick`.
    fn take(&self, world: &World<P>, pick: &Pick<P>, exercised: &mut Exercised) -> Result<Vec<Way<P>>, String> {
        let envelope = |at: &usize| world.flights[*at].envelope.clone();
        let (choice, chosen) = match pick {
            Pick::Deliver(at) => (Choice::Deliver(envelope(at)), Some(*at)),
            Pick::Duplicate(at) => (Choice::Duplicate(envelope(at)), Some(*at)),
            Pick::Lose(at) => (Choice::Lose(envelope(at)), Some(*at)),
            Pick::Other(choice) => (choice.clone(), None),
        };
        let mut paid = world.clone();
        pay(&mut paid.budgets, &choice);
        // Moments are for searches of many workers; here there is one.
        match &choice {
            Choice::Deliver(envelope) | Choice::Duplicate(envelope) => {
                exercised.local::<P>(&Local::Deliver(envelope.from, envelope.message.clone()), 0);
            }
            Choice::At(_, local) => exercised.local(local, 0),
            _ => {}
        }
        let mut ways = self.every_way(&paid, exercised, |plain| {
            plain.driver.chosen = chosen;
            let applied = apply(plain, &choice);
            debug_assert!(applied.is_ok(), "an option was refused: {applied:?}");
        })?;
        for way in &mut ways {
            way.steps[0].choice = choice.clone();
        }
        if let (Pick::Deliver(at), true) = (pick, self.bounds.keep_ignored) {
            ways.retain(|way| !is_ignored(way, world, *at));
        }
        Ok(ways)
    }

    /// What `run` does to the world, for every combination of answers. The first step's choice is to be filled in.
    fn every_way(
        &self,
        world: &World<P>,
        exercised: &mut Exercised,
        run: impl Fn(&mut Plain<P, Everyway<P>>),
    ) -> Result<Vec<Way<P>>, String> {
        let mut ways = Vec::new();
        let mut plain = self.plain(world);
        loop {
            // Nothing of the world is looked at after a panic but what the driver noted before it.
            let ran = catch_unwind(AssertUnwindSafe(|| run(&mut plain)));
            if let Some(why) = plain.driver.misfit.take() {
                return Err(why);
            }
            plain.driver.effects.iter().for_each(|(_, effect)| exercised.effect(effect, 0));
            let mut odometer = std::mem::take(&mut plain.driver.odometer);
            ways.push(way(plain, world, ran.err().map(|panic| panic_text(panic.as_ref()))));
            if !odometer.advance() {
                return Ok(ways);
            }
            plain = self.plain(world);
            plain.driver.odometer = odometer;
        }
    }

    fn plain(&self, world: &World<P>) -> Plain<P, Everyway<P>> {
        let driver = Everyway::new(self.protocol.clone(), self.bounds.clone(), world.offsets.clone());
        let mut plain = Plain::new(self.protocol.clone(), driver);
        plain.driver.now = world.now;
        plain.driver.flights.clone_from(&world.flights);
        plain.hosts.clone_from(&world.hosts);
        plain.timers.clone_from(&world.timers);
        plain.monitor.clone_from(&world.monitor);
        plain.deadlines.clone_from(&world.deadlines);
        plain.cuts.clone_from(&world.cuts);
        plain
    }
}

fn way<P: Protocol>(plain: Plain<P, Everyway<P>>, before: &World<P>, panic: Option<String>) -> Way<P> {
    let Plain { hosts, timers, monitor, deadlines, cuts, mut violations, reached, driver, .. } = plain;
    let Everyway { now, flights, answers, overflowed, .. } = driver;
    let lost = overflowed.into_iter().map(|lost| ScriptStep { choice: Choice::Lose(lost), answers: Vec::new() });
    // The caller knows what happened, and fills it in.
    let first = ScriptStep { choice: Choice::Elapse(seedbed_model::Span::ZERO), answers };
    let steps = std::iter::once(first).chain(lost).collect();
    let (budgets, offsets, starts) = (before.budgets, before.offsets.clone(), before.starts.clone());
    let next = panic.is_none().then_some(World {
        now,
        hosts,
        timers,
        monitor,
        deadlines,
        cuts,
        flights,
        budgets,
        offsets,
        starts,
    });
    violations.extend(panic.map(|detail| Violation { property: "panic".to_owned(), detail }));
    Way { steps, violations, reached: reached.into_keys().collect(), next }
}

/// Whether the delivery of the message at `at` changed nothing else.
fn is_ignored<P: Protocol>(way: &Way<P>, before: &World<P>, at: usize) -> bool {
    let mut without = before.clone();
    without.flights.remove(at);
    way.violations.is_empty() && way.next.as_ref().is_some_and(|next| encoding(next) == encoding(&without))
}

fn pay<P: Protocol>(budgets: &mut Budgets, choice: &Named<P>) {
    match choice {
        Choice::Duplicate(_) => budgets.duplicates -= 1,
        Choice::Lose(_) => budgets.losses -= 1,
        Choice::Cut(..) => budgets.cuts -= 1,
        Choice::At(_, Local::Crash(_)) => budgets.crashes -= 1,
        Choice::At(_, Local::Pause) => budgets.pauses -= 1,
        Choice::Deliver(_) | Choice::At(..) | Choice::Heal(..) | Choice::Elapse(_) => {}
    }
}

/// Every way for a crash to keep a prefix of each stream.
fn kept<P: Protocol>(host: &Host<P>) -> Vec<Kept> {
    let mut ways = vec![Kept::new()];
    for (stream, count) in host.unsynced() {
        ways = ways
            .iter()
            .flat_map(|way| (0..=count).map(move |kept| way.iter().copied().chain([(stream, kept)]).collect()))
            .collect();
    }
    ways
}

/// What a panic said.
fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}
