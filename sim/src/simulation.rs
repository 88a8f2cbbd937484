//! The loop of a run: takes one due thing after the other and lets the world say what it means.

use std::collections::{BTreeMap, VecDeque};

use seedbed_model::world::Lapse;
use seedbed_model::{
    Applied, Canonical, Choice, ClockBound, Effect, Encoder, Envelope, Event, Local, Named, NodeId, Phase, Plain,
    Protocol, Refused, Span, Stream, Violation, hash, world,
};

use crate::agenda::Due;
use crate::faults::{Fault, Plan};
use crate::injection::index;
use crate::network::{Links, Network};
use crate::run::{End, Found, Run};
use crate::scheduler::{Scheduler, Wait};
use crate::seed::Seed;
use crate::settings::Settings;
use crate::stream::Streams;
use crate::trace::Tracer;
use seedbed_model::{Clock, NodeClock};

/// What happens is digested in blocks of about so many bytes: a few at a time cost more.
const DIGEST_BLOCK: usize = 1 << 10;

/// A decision that is open.
struct Offer<P: Protocol> {
    decision: P::Decision,
    /// Names it on the agenda.
    id: u64,
}

/// What the simulator keeps of a node.
pub(crate) struct Seat<P: Protocol> {
    offers: Vec<Offer<P>>,
    /// What arrived while the node was paused, in order.
    waiting: Vec<Due<P>>,
    /// Whether its client's next operation is on the agenda.
    invoking: bool,
    /// The fault that it is down for.
    pub(crate) down_by: Option<usize>,
    /// The fault that it is paused for.
    pub(crate) paused_by: Option<usize>,
    /// What waits for the node to have time, in order: each with a service on the agenda.
    pub(crate) queue: VecDeque<Due<P>>,
    /// From when on it has time [ns].
    pub(crate) free_at: u64,
    /// Faults in force for which its disk is full.
    pub(crate) full_count: u32,
    /// What would be durable but for them, in order.
    pub(crate) stalled: Vec<Due<P>>,
}

/// A run under way.
pub(crate) struct Simulation<'a, 't, P: Protocol> {
    pub(crate) world: Plain<P, Scheduler<P>>,
    pub(crate) settings: &'a Settings,
    pub(crate) plan: &'a Plan,
    pub(crate) names: Vec<String>,
    /// `seats[i]` is node `i`'s.
    pub(crate) seats: Vec<Seat<P>>,
    /// What waited for a node and is due before anything on the agenda, in order.
    pub(crate) ready: VecDeque<Due<P>>,
    /// How many partitions in force cut each link.
    pub(crate) cuts: BTreeMap<(NodeId, NodeId), u32>,
    /// Flaps in force, each with whether its links are off.
    pub(crate) flaps: BTreeMap<usize, bool>,
    /// Offers made so far.
    offer_count: u64,
    /// The quiet phase has begun.
    pub(crate) quiet: bool,
    tracer: Option<&'t mut dyn Tracer<P>>,
    /// Whether somebody listens to `tracing` events.
    traced: bool,
    /// The latest choice; kept for whoever observes, while the world takes it.
    choice: Named<P>,
    /// The timer that lapsed last, with its node and instant: the agenda may name an end twice.
    lapsed: Vec<(u64, NodeId, P::Timer)>,
    /// What happened since the digest was last taken.
    encoder: Encoder,
    digest: u64,
    steps: u64,
    messages: u64,
}

impl<'a, 't, P: Protocol> Simulation<'a, 't, P> {
    pub(crate) fn new(
        protocol: &P,
        settings: &'a Settings,
        plan: &'a Plan,
        streams: Streams,
        names: Vec<String>,
        tracer: Option<&'t mut dyn Tracer<P>>,
    ) -> Self {
        let network = Network { loss: plan.loss, duplicate: plan.duplicate, ..settings.network.clone() };
        let links = Links::new(network, settings.costs.uplink, settings.tick_mode, names.len());
        let mut clocks: Vec<_> = (0..names.len() as u16)
            .map(|node| protocol.clock(NodeId(node)))
            .map(|bound| (Clock::new(unplanned(bound, settings.tick_mode), bound), bound))
            .collect();
        for named in plan.clocks.iter().filter(|_| !settings.tick_mode) {
            let index = index(&names, &named.node).index();
            clocks[index].0 = Clock::new(named.clock, clocks[index].1);
        }
        let traced = tracing::enabled!(target: "seedbed", tracing::Level::TRACE);
        let mut scheduler = Scheduler::new(protocol, settings, streams, links, clocks);
        scheduler.observed = tracer.is_some() || traced;
        let mut world = Plain::of_nodes(protocol.clone(), names.len(), scheduler);
        if plan.faults.iter().any(|timed| matches!(timed.fault, Fault::Corruption { .. })) {
            world.keep_journals();
        }
        Simulation {
            world,
            settings,
            plan,
            seats: names.iter().map(|_| Seat::new()).collect(),
            names,
            ready: VecDeque::new(),
            cuts: BTreeMap::new(),
            flaps: BTreeMap::new(),
            offer_count: 0,
            quiet: false,
            tracer,
            traced,
            choice: Choice::Elapse(Span::ZERO),
            lapsed: Vec::new(),
            encoder: Encoder::with_room(DIGEST_BLOCK + DIGEST_BLOCK / 4),
            digest: 0,
            steps: 0,
            messages: 0,
        }
    }

    pub(crate) fn run(&mut self) -> End {
        self.start();
        loop {
            if !self.world.violations.is_empty() {
                return End::Violated;
            }
            if self.steps >= self.settings.step_count_max {
                return End::StepLimit;
            }
            if let Some(due) = self.ready.pop_front() {
                self.take(due);
                continue;
            }
            if self.settings.tick_mode && self.world.driver.agenda.next_at() > Some(self.world.driver.now) {
                self.happen(Choice::Elapse(Span::TICK));
                continue;
            }
            let (at, due) = self.world.driver.agenda.pop();
            self.world.driver.now = at;
            if matches!(due, Due::End) {
                return End::Quiet;
            }
            match self.settings.costs.step {
                Span::ZERO => self.act_here(due),
                _ => self.take_in_turn(due),
            }
        }
    }

    fn start(&mut self) {
        self.schedule_plan();
        for node in self.world.nodes() {
            self.happen(Choice::At(node, Local::Start));
        }
        self.world.driver.starting = false;
        for node in self.world.nodes() {
            self.look_at(node);
        }
    }

    /// Ties between faults and the rest go to the faults, which are scheduled first.
    fn schedule_plan(&mut self) {
        for (index, turn) in self.plan.turns.iter().enumerate() {
            self.world.driver.agenda.push(self.aligned(turn.at), Due::Turn(index));
        }
        let heal = self.aligned(self.settings.duration);
        for (index, timed) in self.plan.faults.iter().enumerate() {
            let at = self.aligned(timed.at);
            if at < heal {
                self.world.driver.agenda.push(at, Due::Begin(index));
            }
            if let Some(end) = timed.fault.end().map(|end| self.aligned(end)).filter(|end| at < heal && *end < heal) {
                self.world.driver.agenda.push(end.max(at), Due::Mend(index));
            }
        }
        self.world.driver.agenda.push(heal, Due::Heal);
        let end = self.aligned(self.settings.duration + self.settings.quiet);
        self.world.driver.agenda.push(end, Due::End);
    }

    /// In tick mode the next whole tick, otherwise the instant itself [ns].
    pub(crate) fn aligned(&self, at: Span) -> u64 {
        if self.settings.tick_mode { at.0.div_ceil(Span::TICK.0) * Span::TICK.0 } else { at.0 }
    }

    fn take(&mut self, due: Due<P>) {
        match self.settings.costs.step {
            Span::ZERO => self.act(due),
            _ => self.take_in_turn(due),
        }
    }

    pub(crate) fn act(&mut self, due: Due<P>) {
        self.act_here(due);
    }

    /// What comes most, messages, is compiled into the loop.
    #[inline(always)]
    fn act_here(&mut self, due: Due<P>) {
        let Due::Message(choice) = &due else { return self.act_otherwise(due) };
        if let Err(paused) = self.message(choice) {
            self.wait(paused, due);
        }
    }

    fn act_otherwise(&mut self, due: Due<P>) {
        match due {
            Due::Lapse(node, timer, end) => self.lapse(node, timer, end),
            Due::Fire(node, timer, end) => self.fire(node, timer, end),
            Due::Deadline(id, end) => self.deadline(id, end),
            Due::Sync(node, stream, crash_count) => self.sync(node, stream, crash_count),
            Due::Invoke(node) => self.invoke(node),
            Due::Decide(node, id) => self.decide(node, id),
            Due::Begin(index) => self.begin(index),
            Due::Mend(index) => self.mend(index),
            Due::Toggle(index) => self.toggle(index),
            Due::Turn(index) => self.world.driver.turn(self.plan.turns[index], self.names.len()),
            Due::Serve(node, crash_count) => self.serve(node, crash_count),
            Due::Heal => self.heal(),
            Due::Message(_) | Due::End => unreachable!("taken before"),
        }
    }

    /// What becomes of a message. `Err` names a paused node at which it has to wait.
    #[inline(always)]
    fn message(&mut self, choice: &Named<P>) -> Result<(), NodeId> {
        let Choice::Deliver(envelope) = choice else { return self.copy_or_lose(choice) };
        let to = envelope.to;
        if self.phase(to) == Phase::Paused {
            return Err(to);
        }
        // What most steps do is compiled for itself.
        self.begin_step(choice);
        let applied = world::deliver(&mut self.world, envelope);
        if self.end_step(choice, applied) == Applied::Done {
            self.messages += 1;
            self.look_at(to);
        }
        Ok(())
    }

    fn copy_or_lose(&mut self, choice: &Named<P>) -> Result<(), NodeId> {
        let Choice::Duplicate(Envelope { to, .. }) = choice else {
            self.take_choice(choice);
            return Ok(());
        };
        match self.phase(*to) {
            Phase::Paused => return Err(*to),
            // A copy that nobody receives is no event.
            Phase::Down => return Ok(()),
            Phase::Up if self.quiet => return Ok(()),
            Phase::Up => {}
        }
        if self.take_choice(choice) == Applied::Done {
            self.messages += 1;
            self.look_at(*to);
        }
        Ok(())
    }

    fn lapse(&mut self, node: NodeId, timer: P::Timer, end: u64) {
        if self.world.timers[node.index()].end(&timer) != Some(end) || self.has_lapsed(node, &timer, end) {
            return;
        }
        // In tick mode the timer lapsed with the tick.
        if !self.settings.tick_mode {
            self.happen(Choice::At(node, Local::Lapse(timer.clone())));
        }
        self.look_at(node);
        let at = self.world.driver.after(node, Wait::Lateness);
        self.world.driver.agenda.push(at, Due::Fire(node, timer, end));
    }

    /// Whether this end of the timer was on the agenda before, at this instant. Notes it.
    fn has_lapsed(&mut self, node: NodeId, timer: &P::Timer, end: u64) -> bool {
        // Ends of one instant come node by node.
        self.lapsed.retain(|(at, at_node, _)| *at == end && *at_node == node);
        let found = self.lapsed.iter().any(|(_, _, lapsed)| lapsed == timer);
        if !found {
            self.lapsed.push((end, node, timer.clone()));
        }
        found
    }

    fn fire(&mut self, node: NodeId, timer: P::Timer, end: u64) {
        if self.world.timers[node.index()].end(&timer) != Some(end) {
            return;
        }
        if self.phase(node) == Phase::Paused {
            return self.wait(node, Due::Fire(node, timer, end));
        }
        self.happen(Choice::At(node, Local::Fire(timer)));
        self.look_at(node);
    }

    fn deadline(&mut self, id: u32, end: u64) {
        if self.settings.tick_mode || self.world.deadlines.end(&id) != Some(end) {
            return;
        }
        self.steps += 1;
        self.prepare_lapse();
        id.encode(&mut self.encoder);
        self.note();
        world::lapse(&mut self.world, Lapse::Deadline(id));
        self.tell(Event::Deadline(id));
    }

    fn sync(&mut self, node: NodeId, stream: Stream, crash_count: u32) {
        if self.world.driver.crash_count(node) != crash_count {
            return;
        }
        if self.phase(node) == Phase::Paused {
            return self.wait(node, Due::Sync(node, stream, crash_count));
        }
        let seat = &mut self.seats[node.index()];
        if seat.full_count > 0 {
            return seat.stalled.push(Due::Sync(node, stream, crash_count));
        }
        self.happen(Choice::At(node, Local::Sync(stream)));
        self.look_at(node);
    }

    fn invoke(&mut self, node: NodeId) {
        self.seats[node.index()].invoking = false;
        if self.world.hosts[node.index()].can_invoke(&self.world.protocol, node) {
            self.happen(Choice::At(node, Local::Invoke));
            self.look_at(node);
        }
    }

    fn decide(&mut self, node: NodeId, id: u64) {
        let offers = &mut self.seats[node.index()].offers;
        let Some(place) = offers.iter().position(|offer| offer.id == id) else { return };
        let Offer { decision, .. } = offers.remove(place);
        self.happen(Choice::At(node, Local::Decide(decision)));
        self.look_at(node);
    }

    #[inline]
    pub(crate) fn phase(&self, node: NodeId) -> Phase {
        self.world.hosts[node.index()].phase
    }

    fn wait(&mut self, node: NodeId, due: Due<P>) {
        self.seats[node.index()].waiting.push(due);
    }

    /// The node takes inputs again, or loses them: what waited comes before what arrives at this instant.
    pub(crate) fn release(&mut self, node: NodeId) {
        let seat = &mut self.seats[node.index()];
        self.ready.extend(seat.waiting.drain(..));
    }

    /// Whether the node's offer of that number still stands.
    pub(crate) fn is_offered(&self, node: NodeId, id: u64) -> bool {
        self.seats[node.index()].offers.iter().any(|offer| offer.id == id)
    }

    /// After something happened at a node: schedules what it offers and what its client may ask.
    #[inline]
    pub(crate) fn look_at(&mut self, node: NodeId) {
        let offered = self.world.decisions(node);
        if !offered.is_empty() || !self.seats[node.index()].offers.is_empty() {
            self.reoffer(node, offered);
        }
        let seat = &mut self.seats[node.index()];
        if !seat.invoking && self.world.hosts[node.index()].can_invoke(&self.world.protocol, node) {
            seat.invoking = true;
            let at = self.world.driver.after(node, Wait::Workload);
            self.world.driver.agenda.push(at, Due::Invoke(node));
        }
    }

    /// What is still offered keeps its time; what is new gets one. Most steps change little of a list that may be
    /// long, and its order hardly ever: the old list is read along with the new one.
    fn reoffer(&mut self, node: NodeId, offered: Vec<P::Decision>) {
        let old = std::mem::take(&mut self.seats[node.index()].offers);
        if old.iter().map(|offer| &offer.decision).eq(&offered) {
            self.seats[node.index()].offers = old;
            return;
        }
        let mut offers: Vec<Offer<P>> = Vec::with_capacity(offered.len());
        let mut next = 0;
        for decision in offered {
            let ahead = old[next..].iter().position(|offer| offer.decision == decision).map(|ahead| next + ahead);
            let place = ahead.or_else(|| old[..next].iter().position(|offer| offer.decision == decision));
            match place {
                _ if ahead != Some(next) && offers.iter().any(|offer| offer.decision == decision) => {}
                Some(place) => {
                    next = next.max(place + 1);
                    offers.push(Offer { decision, id: old[place].id });
                }
                None => {
                    let id = self.offer_count;
                    self.offer_count += 1;
                    offers.push(Offer { decision, id });
                    let at = self.world.driver.after(node, Wait::Decision);
                    self.world.driver.agenda.push(at, Due::Decide(node, id));
                }
            }
        }
        self.seats[node.index()].offers = offers;
    }

    pub(crate) fn happen(&mut self, choice: Named<P>) {
        self.take_choice(&choice);
    }

    fn take_choice(&mut self, choice: &Named<P>) -> Applied {
        self.begin_step(choice);
        let applied = match choice {
            Choice::At(node, Local::Lapse(timer)) => {
                world::lapse(&mut self.world, Lapse::Timer(*node, timer.clone()));
                Ok(Applied::Done)
            }
            choice => world::apply(&mut self.world, choice),
        };
        self.end_step(choice, applied)
    }

    /// Counts and digests one choice.
    #[inline(always)]
    fn begin_step(&mut self, choice: &Named<P>) {
        self.steps += u64::from(!self.world.driver.starting);
        self.prepare(choice);
        self.note();
    }

    /// Shows what came of it.
    #[inline(always)]
    fn end_step(&mut self, choice: &Named<P>, applied: Result<Applied, Refused>) -> Applied {
        if self.world.driver.observed {
            self.observe();
        }
        match applied {
            Ok(applied) => applied,
            Err(refused) => panic!("the simulator scheduled what cannot happen: {refused}: {choice:?}"),
        }
    }

    /// What passes by itself, without a choice.
    pub(crate) fn prepare_lapse(&mut self) {
        self.prepare(&Choice::Elapse(Span::ZERO));
    }

    #[inline(always)]
    fn prepare(&mut self, choice: &Named<P>) {
        self.world.driver.answers.clear();
        self.encoder.fixed(self.world.driver.now);
        choice.encode(&mut self.encoder);
        if self.world.driver.observed {
            self.choice = choice.clone();
        }
    }

    #[inline]
    pub(crate) fn note(&mut self) {
        if self.encoder.bytes().len() >= DIGEST_BLOCK {
            self.digest_block();
        }
    }

    fn digest_block(&mut self) {
        self.digest = hash(self.digest, self.encoder.bytes());
        self.encoder.clear();
    }

    /// Shows the tracer something that is no choice of the world's.
    pub(crate) fn tell(&mut self, event: Event<P>) {
        if self.world.driver.observed {
            self.world.driver.effects.push((NodeId(0), Effect::Happened(event)));
            self.observe();
        }
    }

    #[cold]
    fn observe(&mut self) {
        let driver = &mut self.world.driver;
        let now = driver.now;
        if let Some(tracer) = &mut self.tracer {
            tracer.step(now, self.steps, &self.choice, &driver.answers, &driver.effects);
            if let Some(node) = seedbed_model::trace::node_of(&self.choice) {
                tracer.after(now, node, &self.world.hosts[node.index()], &self.world.timers[node.index()]);
            }
        }
        if self.traced {
            let what = seedbed_model::trace::describe_choice(&self.names, &self.choice);
            let node = seedbed_model::trace::node_of(&self.choice).map_or("", |node| self.names[node.index()].as_str());
            tracing::trace!(target: "seedbed", at = now, node, step = self.steps, "{what}");
        }
        driver.effects.clear();
    }

    pub(crate) fn panicked(&mut self, payload: &(dyn std::any::Any + Send)) -> End {
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let detail =
            text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned());
        self.world.violations.push(Violation { property: "panic".to_owned(), detail });
        if self.world.driver.observed {
            self.observe();
        }
        End::Panicked
    }

    pub(crate) fn finish(mut self, end: End, seed: Seed, plan: &Plan) -> Run {
        self.digest_block();
        if let Some(tracer) = self.tracer.filter(|_| end != End::Panicked) {
            for node in (0..self.names.len() as u16).map(NodeId) {
                tracer.left(node, &self.world.hosts[node.index()]);
            }
        }
        let (at_ns, step) = (self.world.driver.now, self.steps);
        Run {
            seed,
            digest: self.digest,
            steps: self.steps,
            messages: self.messages,
            now_ns: at_ns,
            end,
            violations: self.world.violations.into_iter().map(|violation| Found { violation, at_ns, step }).collect(),
            reached: self.world.reached,
            plan: plan.clone(),
        }
    }
}

/// The clock of a node that the plan leaves out. In tick mode stamps are exact but for jumps within the bound.
fn unplanned(bound: ClockBound, ticks: bool) -> NodeClock {
    NodeClock { offset_max: if ticks { bound.offset } else { Span::ZERO }, ..NodeClock::EXACT }
}

impl<P: Protocol> Seat<P> {
    pub(crate) fn new() -> Self {
        Seat {
            offers: Vec::new(),
            waiting: Vec::new(),
            invoking: false,
            down_by: None,
            paused_by: None,
            queue: VecDeque::new(),
            free_at: 0,
            full_count: 0,
            stalled: Vec::new(),
        }
    }
}
