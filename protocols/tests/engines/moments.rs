//! Explorations from a moment of a run: the same states as from the start where they begin there, falls that really happen, and
//! the point from which a fall cannot be avoided.

use crate::build;
use seedbed_model::explore::{
    Aids, Avoidance, Bounds, Exploration, Moment, Pace, Strategy, Verdict, avoidance, explore, explore_from,
};
use seedbed_model::{Choice, ExactScript, ExactStep, Local, NodeClock, NodeId, Protocol, Span, exact, replay_exact};
use seedbed_protocols::basics::{lease_stamps, lease_timers, paxos};
use seedbed_protocols::leasing;

fn leases(mutants: &[&str]) -> (lease_timers::LeaseTimers, Bounds) {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), mutants);
    (protocol, Bounds { capacity: Some(1), ..Bounds::default() })
}

/// Every node has started and nothing else has happened.
fn started<P: Protocol>(protocol: &P) -> ExactScript<P> {
    let start = |node| ExactStep::of(Choice::At(NodeId(node as u16), Local::Start));
    let steps = (0..protocol.nodes().len()).map(start).collect();
    ExactScript { untimed: false, clocks: Vec::new(), steps }
}

fn from<P: Protocol>(protocol: &P, bounds: &Bounds, moment: &Moment<P>) -> Exploration<P> {
    explore_from(protocol, bounds, &Strategy::default(), Some(moment), Aids::default(), &mut |_| true)
        .expect("the bounds fit")
}

/// With strides of a tick, time passes as it does from the start: every end is a whole number of ticks away.
fn sees_the_same_from_the_start<P: Protocol>(protocol: &P, bounds: &Bounds) {
    let plain = explore(protocol, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let pace = Pace { stride: Some(bounds.tick), ..Pace::default() };
    let moment = Moment::after(protocol, started(protocol), pace).expect("nodes start");
    let found = from(protocol, bounds, &moment);
    let counts = |found: &Exploration<P>| (found.stats.unique, found.stats.total, found.stats.depth);
    assert_eq!(counts(&found), counts(&plain));
    assert_eq!((&found.verdict, &found.reached), (&plain.verdict, &plain.reached));
    assert_eq!(found.script.map(|script| script.steps), plain.script.map(|script| script.steps));
}

#[test]
fn a_search_from_the_first_moment_sees_what_one_from_the_start_does() {
    for mutants in [&[][..], &["no-margin"], &["from-receipt"]] {
        let (protocol, bounds) = leases(mutants);
        sees_the_same_from_the_start(&protocol, &bounds);
        sees_the_same_from_the_start(
            &protocol,
            &Bounds { delay: Some(1), losses: 1, crashes: 1, depth: Some(14), ..bounds },
        );
    }
    let servers = paxos::Params { servers: 3, clients: 2, rounds: 1, ..Default::default() };
    let protocol = build::<paxos::Paxos>(servers, &[]);
    sees_the_same_from_the_start(&protocol, &Bounds { delay: Some(0), depth: Some(9), cuts: 1, ..Bounds::default() });
}

/// The explorer's own counterexample, cut at each of its steps: from there the rest of it is found, or something shorter.
#[test]
fn from_each_moment_of_a_counterexample_its_fall_is_found_and_happens() {
    let (protocol, bounds) = leases(&["no-margin"]);
    let found = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let script = exact(&protocol, &found.script.expect("it falls")).expect("it happens");
    for after in protocol.nodes().len()..script.steps.len() {
        let before = ExactScript { steps: script.steps[..after].to_vec(), ..script.clone() };
        let moment = Moment::after(&protocol, before, Pace::default()).expect("it happens");
        let found = from(&protocol, &bounds, &moment);
        let Verdict::Violated(fell) = &found.verdict else { panic!("after {after} steps: {:?}", found.verdict) };
        let rest = found.script.expect("a way there");
        assert!(rest.steps.len() <= script.steps.len() - after, "after {after} steps: {}", rest.steps.len());
        let whole = moment.exact(&protocol, &rest).expect("it happens");
        let replayed = replay_exact(&protocol, &whole).replayed;
        assert_eq!(replayed.drift, None);
        assert_eq!(replayed.violations.first().map(|fell| &fell.property), Some(&fell.property));
    }
}

/// A whole protocol does not fall, wherever its run is cut.
#[test]
fn from_no_moment_of_a_run_does_a_whole_protocol_fall() {
    let (broken, bounds) = leases(&["no-margin"]);
    let (whole, _) = leases(&[]);
    let found = explore(&broken, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let script = exact(&broken, &found.script.expect("it falls")).expect("it happens");
    let mut searched = 0;
    for after in whole.nodes().len()..script.steps.len() {
        let before = ExactScript { steps: script.steps[..after].to_vec(), ..script.clone() };
        // What the whole protocol does differently ends the run: before that, it is one of its own.
        let Ok(moment) = Moment::after(&whole, before, Pace::default()) else { break };
        assert_eq!(from(&whole, &bounds, &moment).verdict, Verdict::Holds, "after {after} steps");
        searched += 1;
    }
    assert!(searched >= 5, "{searched} moments");
}

/// Moments at any nanosecond: timers end when they end.
#[test]
fn a_moment_between_two_ticks_falls_and_holds_like_any_other() {
    for (mutants, falls) in [(&["no-margin"][..], true), (&[], false)] {
        let (protocol, bounds) = leases(mutants);
        let mut script = started(&protocol);
        script.steps.push(ExactStep::of(Choice::Elapse(Span(1_234_567_891))));
        let moment = Moment::after(&protocol, script, Pace::default()).expect("time passes");
        let found = from(&protocol, &bounds, &moment);
        assert_eq!(matches!(found.verdict, Verdict::Violated(_)), falls, "{mutants:?}: {:?}", found.verdict);
        if let Some(script) = &found.script {
            let whole = moment.exact(&protocol, script).expect("it happens");
            let replayed = replay_exact(&protocol, &whole).replayed;
            assert_eq!((replayed.drift, replayed.violations.len()), (None, 1));
        }
    }
}

/// Clocks that are off by nanoseconds, so that an end is far from every tick.
#[test]
fn a_moment_of_clocks_that_differ_falls_and_what_falls_happens() {
    let params = lease_stamps::Params { holders: 3, lease: Span::secs(4), offset: Span::secs(1) };
    let protocol = build::<lease_stamps::LeaseStamps>(params, &["no-offset-margin"]);
    let clock = |offset_ns| NodeClock { offset_ns, offset_max: Span::secs(1), ..NodeClock::EXACT };
    let mut script = started(&protocol);
    script.clocks = [413_000_007, -937_654_321, 3, 871_000_001].map(clock).to_vec();
    script.steps.push(ExactStep::of(Choice::Elapse(Span(1_234_567_891))));
    let pace = Pace { delay: Some(Span::secs(2)), ..Pace::default() };
    let moment = Moment::after(&protocol, script, pace).expect("time passes");
    let bounds = Bounds { tick: Span::secs(1), delay: Some(2), states: 20_000, ..Bounds::default() };
    let found = from(&protocol, &bounds, &moment);
    assert!(matches!(found.verdict, Verdict::Violated(_)), "{:?}", found.verdict);
    let whole = moment.exact(&protocol, &found.script.expect("a way there")).expect("it happens");
    let replayed = replay_exact(&protocol, &whole).replayed;
    assert_eq!((replayed.drift, replayed.violations.len()), (None, 1));
}

/// The lease ends by itself: until the second grant arrives it can be waited for.
#[test]
fn a_fall_is_avoidable_until_the_step_that_makes_it_certain() {
    let params = leasing::Params { owners: 2, ..leasing::Params::default() };
    let protocol = build::<leasing::Leasing>(params, &["no-sequence-pairs"]);
    let bounds = Bounds {
        capacity: Some(1),
        states: 400_000,
        tick: Span::secs(5),
        lengths: seedbed_model::explore::Lengths::Longest,
        ..Bounds::default()
    };
    let found = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let Verdict::Violated(fell) = found.verdict else { panic!("{:?}", found.verdict) };
    let script = exact(&protocol, &found.script.expect("it falls")).expect("it happens");
    let before = ExactScript { steps: script.steps[..script.steps.len() - 1].to_vec(), ..script.clone() };
    let pace = Pace { delay: Some(Span::ZERO), ..Pace::default() };
    let last = Moment::after(&protocol, before, pace).expect("it happens");
    let (certain, states) = avoidance(&protocol, &bounds, &last, &fell.property, 10_000).expect("the bounds fit");
    assert!(states > 0 && certain != Avoidance::Unknown, "{certain:?} in {states} states");
    let first = Moment::after(&protocol, started(&protocol), pace).expect("nodes start");
    let (free, _) = avoidance(&protocol, &bounds, &first, &fell.property, 10_000).expect("the bounds fit");
    assert_eq!(free, Avoidance::Avoidable);
}
