//! Jumps of clocks: stamps move, timers do not.

use std::collections::BTreeMap;

use crate::common::only;
use seedbed_model::{
    Canonical, Choice, ClockBound, Context, Effect, Event, Input, Local, Named, Never, NodeId, Nonce, Protocol, Ratio,
    Span, Stamp, replay,
};
use seedbed_sim::{
    ClockSettings, Fault, FaultMix, NamedClock, NodeClock, Plan, Recorder, Seed, Settings, Tracer, simulate,
    simulate_plan,
};

const SECOND: Span = Span::secs(1);

/// Two nodes that tell their clock every second.
#[derive(Debug, Clone)]
struct Teller;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Tick;

impl Protocol for Teller {
    type State = ();
    type Message = Never;
    type Timer = Tick;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Stamp;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["first".into(), "second".into()]
    }
    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) {
        cx.set(Tick, SECOND);
    }
    fn step(&self, (): &mut (), _: Input<Self>, cx: &mut Context<'_, Self>) {
        let stamp = cx.clock();
        cx.observe(stamp);
        cx.set(Tick, SECOND);
    }
    fn clock(&self, _: NodeId) -> ClockBound {
        ClockBound { shortest: Ratio::ONE, longest: Ratio::ONE, offset: SECOND * 3 }
    }
}

/// When each node told its clock, and what it told.
#[derive(Default)]
struct Told {
    told: BTreeMap<NodeId, Vec<(Span, Stamp)>>,
    jumps: Vec<i64>,
}

impl Tracer<Teller> for Told {
    fn step(&mut self, at: u64, _: u64, choice: &Named<Teller>, _: &[u32], effects: &[(NodeId, Effect<Teller>)]) {
        if let Choice::At(_, Local::Jump(by_ns)) = choice {
            self.jumps.push(*by_ns);
        }
        for (node, effect) in effects {
            if let Effect::Happened(Event::Observed(stamp)) = effect {
                self.told.entry(*node).or_default().push((Span(at), *stamp));
            }
        }
    }
}

fn settings() -> Settings {
    Settings { duration: SECOND * 60, quiet: SECOND * 10, lateness: Default::default(), ..Settings::default() }
}

fn told(plan: &Plan) -> Told {
    let mut told = Told::default();
    simulate_plan(&Teller, &settings(), plan, Seed::Number(1), Some(&mut told));
    told
}

/// How far off a stamp is [ns].
fn off((at, stamp): &(Span, Stamp)) -> i64 {
    stamp.nanos() - at.0 as i64
}

fn with_clock(mut plan: Plan, jump_max: Span) -> Plan {
    let clock = NodeClock { offset_max: SECOND * 3, jump_max, ..NodeClock::EXACT };
    plan.clocks.push(NamedClock { node: "first".into(), clock });
    plan
}

#[test]
fn a_jump_moves_stamps_and_not_timers() {
    for by_ns in [2_000_000_000, -2_000_000_000] {
        let jumped = told(&with_clock(only(SECOND * 20, Fault::Jump { node: "first".into(), by_ns }), Span::ZERO));
        let calm = told(&with_clock(Plan::calm(), Span::ZERO));
        assert_eq!(jumped.jumps, [by_ns]);
        let at = |told: &Told, node| told.told[&NodeId(node)].iter().map(|told| told.0).collect::<Vec<_>>();
        assert_eq!(at(&jumped, 0), at(&calm, 0), "timers fire when they did");
        assert_eq!(jumped.told[&NodeId(1)], calm.told[&NodeId(1)], "the other clock is left alone");
        for told in &jumped.told[&NodeId(0)] {
            // Faults come first at their instant.
            assert_eq!(off(told), if told.0 >= SECOND * 20 { by_ns } else { 0 }, "at {}", told.0);
        }
    }
}

#[test]
fn a_jump_stays_within_what_is_assumed_unless_the_plan_says_more() {
    let jump = || only(SECOND * 20, Fault::Jump { node: "first".into(), by_ns: 5_000_000_000 });
    let within = told(&with_clock(jump(), Span::ZERO));
    assert!(within.told[&NodeId(0)].iter().all(|told| off(told).unsigned_abs() <= (SECOND * 3).0));
    assert_eq!(within.jumps, [3_000_000_000], "it moves as far as it may");
    let beyond = told(&with_clock(jump(), SECOND * 10));
    assert_eq!(off(beyond.told[&NodeId(0)].last().expect("it tells")), 5_000_000_000);
    assert_eq!(told(&jump()).jumps, [0i64; 0], "an exact clock does not jump");
}

#[test]
fn a_second_jump_takes_back_the_first() {
    let mut plan = only(SECOND * 20, Fault::Jump { node: "first".into(), by_ns: 9_000_000_000 });
    plan.faults.extend(only(SECOND * 30, Fault::Jump { node: "first".into(), by_ns: -3_000_000_000 }).faults);
    let told = told(&with_clock(plan, Span::ZERO));
    assert_eq!(told.jumps, [3_000_000_000, -3_000_000_000]);
    assert_eq!(off(told.told[&NodeId(0)].last().expect("it tells")), 0);
}

#[test]
fn drawn_jumps_respect_the_bound_and_beyond_breaks_it() {
    let drawn = |jump_beyond| {
        let clocks = ClockSettings { jump_beyond, ..ClockSettings::default() };
        let faults = FaultMix { jumps: 8, jump_max: SECOND * 30, swarm: false, ..FaultMix::default() };
        let settings = Settings { clocks, faults, ..settings() };
        let (mut most, mut backward) = (0, 0);
        for seed in 0..20 {
            let mut told = Told::default();
            simulate(&Teller, &settings, Seed::Number(seed), Some(&mut told));
            for stamps in told.told.values() {
                most = most.max(stamps.iter().map(|told| off(told).unsigned_abs()).max().unwrap_or(0));
                backward += stamps.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
            }
        }
        (Span(most), backward)
    };
    let (most, backward) = drawn(None);
    assert!(most <= SECOND * 3 && backward > 0, "{most}, {backward} times backward");
    assert!(drawn(Some(SECOND * 60)).0 > SECOND * 3);
}

#[test]
fn a_jump_in_tick_mode_is_in_the_script() {
    let settings = Settings { tick_mode: true, ..settings() };
    let mut recorder = Recorder::new(&Teller).with_script();
    let plan = only(SECOND * 20, Fault::Jump { node: "second".into(), by_ns: -2_000_000_000 });
    simulate_plan(&Teller, &settings, &plan, Seed::Number(1), Some(&mut recorder));
    let trace: Vec<_> = recorder.trace().filter(|step| step.step > 0).cloned().collect();
    assert!(trace.iter().any(|step| step.what == "second has its clock jump back by 2s"));
    let replayed = replay(&Teller, &recorder.into_script().expect("it was asked for"));
    assert_eq!((replayed.drift, replayed.trace), (None, trace));
}
