//! A protocol that uses everything the simulator schedules, and a tracer that keeps what happened as values.

#![allow(dead_code, reason = "each test file uses a part")]

use seedbed_model::{
    Canonical, Choice, ClockBound, Context, Effect, Event, Input, Local, Named, NodeId, Nonce, Offers, OpId, Property,
    Protocol, Ratio, Span, Stream, Watch,
};
use seedbed_sim::{
    Distribution, End, Fault, FaultMix, Network, Plan, Run, Seed, Settings, SpanRange, TimedFault, Tracer, simulate,
    simulate_plan,
};

/// Every node beats once a second and pings the others; a ping is written down and answered once that is durable.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    pub nodes: u16,
    /// The rate of clocks lies between 1 less this part, and 1 more.
    pub drift: Ratio,
    /// A ping of this number panics its receiver.
    pub panic_at: Option<u32>,
    /// A ping of this number violates `bounded`.
    pub violate_at: Option<u32>,
    /// After the healing a ping must come within this.
    pub patience: Span,
    /// How many steps' time a ping takes its receiver.
    pub ping_work: u32,
}

impl Default for Probe {
    fn default() -> Self {
        let drift = Ratio { num: 1, den: 4 };
        Probe { nodes: 3, drift, panic_at: None, violate_at: None, patience: Span::secs(3), ping_work: 1 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct State {
    pub beat: u32,
    pub answered: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) enum Message {
    Ping(u32),
    Pong(u32),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) enum Timer {
    Beat,
    /// Copied from the beat, so that it always ends with it.
    Echo,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) enum Observation {
    Restored(u32),
    Heard(NodeId, u32),
    Lapsed,
    Saved(u32),
    Skipped(u32),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Monitor {
    pub heard: u32,
}

impl Probe {
    fn beat(&self, state: &mut State, cx: &mut Context<'_, Self>) {
        state.beat += 1;
        let me = cx.node();
        for to in (0..self.nodes).map(NodeId).filter(|to| *to != me) {
            cx.send(to, Message::Ping(state.beat));
        }
        cx.set(Timer::Beat, Span::ticks(4));
        cx.copy(Timer::Beat, Timer::Echo);
    }
}

impl Protocol for Probe {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = u32;
    type Durable = u32;
    type Operation = u32;
    type Answer = u32;
    type Decision = u8;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        (0..self.nodes).map(|node| format!("probe-{node}")).collect()
    }

    fn message_work(&self, message: &Message) -> u32 {
        if matches!(message, Message::Ping(_)) { self.ping_work } else { 1 }
    }

    fn start(&self, durable: &u32, _: Nonce, cx: &mut Context<'_, Self>) -> State {
        cx.observe(Observation::Restored(*durable));
        cx.set(Timer::Beat, Span::ticks(4));
        State { beat: 0, answered: 0 }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Timer(Timer::Beat) => self.beat(state, cx),
            Input::Timer(Timer::Echo) => cx.mark("echo"),
            Input::Message { from, message: Message::Ping(number) } => {
                assert!(Some(number) != self.panic_at, "ping {number} is one too many");
                cx.observe(Observation::Heard(from, number));
                let ticket = cx.persist(Stream(u8::from(number.is_multiple_of(2))), number);
                cx.send_after(ticket, from, Message::Pong(number));
            }
            Input::Message { message: Message::Pong(_), .. } => {
                state.answered += 1;
                cx.mark("pong");
            }
            Input::Durable(number) => cx.observe(Observation::Saved(number)),
            Input::Operation { op, operation } => cx.respond(op, operation + 1),
            Input::Decision(_) => {
                state.beat += 1;
                let skipped = cx.choose(3);
                cx.observe(Observation::Skipped(skipped));
            }
        }
    }

    fn fold(&self, durable: &mut u32, _: Stream, _: &u32) {
        *durable += 1;
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if state.beat % 2 == 1 && offers.is_armed(&Timer::Beat) {
            offers.offer(1);
        }
    }

    fn lapsed(&self, _: NodeId, _: &State, timer: &Timer) -> Option<Observation> {
        (*timer == Timer::Echo).then_some(Observation::Lapsed)
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if node.0 == 0 { 10 } else { 0 }
    }

    fn operation(&self, _: NodeId, op: OpId, _: Option<&u32>, draw: &mut dyn FnMut(u32) -> u32) -> u32 {
        op.0 * 10 + draw(5)
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::always("bounded", "no ping of a forbidden number"), Property::within("heard", "a ping in time")]
    }

    fn watch(&self, monitor: &mut Monitor, _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Heard(from, number)) => {
                monitor.heard += 1;
                watch.clear_deadline(1);
                if Some(*number) == self.violate_at {
                    watch.violated("bounded", format!("{from:?} sent ping {number}"));
                }
            }
            Event::Healed => watch.set_deadline(1, self.patience),
            Event::Deadline(1) => watch.violated("heard", "no ping came"),
            _ => {}
        }
    }

    fn clock(&self, _: NodeId) -> ClockBound {
        let Ratio { num, den } = self.drift;
        ClockBound {
            shortest: Ratio::new(den - num, den),
            longest: Ratio::new(den + num, den),
            offset: Span::millis(5),
        }
    }
}

/// One step as values.
pub(crate) struct Step {
    pub at: Span,
    pub number: u64,
    pub choice: Named<Probe>,
    pub effects: Vec<(NodeId, Effect<Probe>)>,
}

impl Step {
    /// What its effects show.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Observation> {
        self.effects.iter().filter_map(|(_, effect)| match effect {
            Effect::Happened(Event::Observed(observation)) => Some(observation),
            _ => None,
        })
    }

    /// The ends of a message that reached its receiver.
    pub(crate) fn arrival(&self) -> Option<(NodeId, NodeId)> {
        match &self.choice {
            Choice::Deliver(envelope) if !self.effects.is_empty() => Some((envelope.from, envelope.to)),
            _ => None,
        }
    }

    /// Whether it is the work of a fault.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(
            &self.choice,
            Choice::Lose(_) | Choice::Duplicate(_) | Choice::Cut(..) | Choice::At(_, Local::Crash(_) | Local::Pause)
        )
    }
}

/// Keeps every step.
#[derive(Default)]
pub(crate) struct Log(pub Vec<Step>);

impl Tracer<Probe> for Log {
    fn step(&mut self, at: u64, number: u64, choice: &Named<Probe>, _: &[u32], effects: &[(NodeId, Effect<Probe>)]) {
        self.0.push(Step { at: Span(at), number, choice: choice.clone(), effects: effects.to_vec() });
    }
}

/// One minute and half a minute, everything drawn.
pub(crate) fn settings() -> Settings {
    Settings { duration: Span::secs(60), quiet: Span::secs(30), ..Settings::default() }
}

/// As much trouble as a minute holds.
pub(crate) fn hostile() -> Settings {
    let faults = FaultMix {
        crashes: 6,
        pauses: 6,
        partitions: 6,
        never_restart: Ratio::new(1, 8),
        restart_max: Span::secs(10),
        partition_max: Span::secs(20),
        ..FaultMix::default()
    };
    let network = Network { loss: Ratio::new(1, 10), duplicate: Ratio::new(1, 10), ..Network::default() };
    Settings { faults, network, decisions: SpanRange { min: Span::ZERO, max: Span::secs(6) }, ..settings() }
}

/// Every kind of fault, those that break an assumption too.
pub(crate) fn everything() -> Settings {
    let faults = FaultMix { breaks_durability: true, empty_disks: 2, corruptions: 2, jumps: 3, ..explorable().faults };
    Settings { faults, ..explorable() }
}

/// Every kind of fault that the explorer has.
pub(crate) fn explorable() -> Settings {
    let faults = FaultMix {
        torn: Ratio::new(1, 2),
        flaps: 2,
        slow_links: 2,
        slow_link_added: Span::secs(2),
        slow_disks: 2,
        slow_disk_added: Span::secs(2),
        full_disks: 2,
        spell_max: Span::secs(15),
        ..hostile().faults
    };
    Settings { faults, ..hostile() }
}

/// Everything takes as long as it says, no draws.
pub(crate) fn steady(delay: Span) -> Settings {
    Settings {
        network: Network {
            delay_min: delay,
            delay_max: delay,
            distribution: Distribution::Fixed,
            ..Network::default()
        },
        lateness: SpanRange::default(),
        ..settings()
    }
}

pub(crate) fn traced(protocol: &Probe, settings: &Settings, seed: u64) -> (Run, Vec<Step>) {
    let mut log = Log::default();
    let run = simulate(protocol, settings, Seed::Number(seed), Some(&mut log));
    (run, log.0)
}

pub(crate) fn traced_plan(protocol: &Probe, settings: &Settings, plan: &Plan, seed: u64) -> (Run, Vec<Step>) {
    let mut log = Log::default();
    let run = simulate_plan(protocol, settings, plan, Seed::Number(seed), Some(&mut log));
    (run, log.0)
}

/// A plan of one fault.
pub(crate) fn only(at: Span, fault: Fault) -> Plan {
    Plan { faults: vec![TimedFault { at, fault }], ..Plan::calm() }
}

/// The run ended as it should, and not for a fault of the simulator's own.
#[track_caller]
pub(crate) fn assert_quiet(run: &Run) {
    assert_eq!((run.end, &run.violations), (End::Quiet, &Vec::new()), "{}", run.plan);
}
