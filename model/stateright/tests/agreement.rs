//! stateright's checkers and the explorer agree on the shipped protocols: on verdicts, and on the number of states and
//! transitions where both have one normal form.

use seedbed_model::explore::{Bounds, Clock, Exploration, Order, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Protocol, Ratio, Span, replay};
use seedbed_protocols::basics::{echo, lease_stamps, lease_timers, paxos, register};
use seedbed_protocols::seqpair;
use seedbed_stateright::check;

fn build<F: Family>(params: &F::Params, mutants: &[&str]) -> F::Protocol {
    let mutants = Mutants::named(F::mutants(), mutants.iter().copied()).expect("the mutants are known");
    F::build(params, mutants).expect("the parameters make sense")
}

fn explored<P: Protocol>(protocol: &P, bounds: &Bounds) -> Exploration<P> {
    explore(protocol, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
}

fn checked<P: Protocol>(protocol: &P, bounds: &Bounds, order: Order, jobs: usize) -> Exploration<P> {
    check(protocol, bounds, &Strategy { order, jobs }, &mut |_| true).expect("the bounds fit")
}

/// Whether transitions are compared too. Two messages whose stamps are too old to matter are one to the explorer, and
/// arrive once; to a world with its names as they are they are two.
#[derive(Clone, Copy, PartialEq)]
enum Transitions {
    Alike,
    MayRepeat,
}

/// Everything that two exhausted explorations share, in each order and on two threads.
#[track_caller]
fn agree<P: Protocol>(protocol: &P, bounds: &Bounds, transitions: Transitions) {
    let ours = explored(protocol, bounds);
    assert_eq!(ours.verdict, Verdict::Holds);
    assert!(ours.stats.unique > 100, "too little to agree on: {:?}", ours.stats);
    for (order, jobs) in [(Order::BreadthFirst, 1), (Order::BreadthFirst, 2), (Order::DepthFirst, 1)] {
        let theirs = checked(protocol, bounds, order, jobs);
        assert_eq!(theirs.verdict, ours.verdict, "{order:?}, {jobs} jobs");
        let counts = |found: &Exploration<P>| (found.stats.unique, found.stats.exhausted);
        assert_eq!(counts(&theirs), counts(&ours), "{order:?}, {jobs} jobs");
        if transitions == Transitions::Alike {
            assert_eq!(theirs.stats.total, ours.stats.total, "{order:?}, {jobs} jobs");
        }
        assert_eq!(theirs.reached, ours.reached, "{order:?}, {jobs} jobs");
        assert_eq!(theirs.unexercised, ours.unexercised, "{order:?}, {jobs} jobs");
        if (order, jobs) == (Order::BreadthFirst, 1) {
            assert_eq!(theirs.stats.depth, ours.stats.depth);
        }
    }
}

#[test]
fn echo_has_the_same_states_with_losses_and_copies_and_with_a_crash() {
    let bounds = Bounds { capacity: Some(1), losses: 1, duplicates: 1, ..Bounds::default() };
    agree(&build::<echo::Echo>(&echo::Params::default(), &[]), &bounds, Transitions::Alike);
    let params = echo::Params { clients: 2, ..Default::default() };
    let bounds = Bounds { capacity: Some(1), crashes: 1, ..Bounds::default() };
    agree(&build::<echo::Echo>(&params, &[]), &bounds, Transitions::Alike);
}

#[test]
fn the_lease_on_timers_has_the_same_states_under_drift_and_with_a_crash() {
    let params = lease_timers::Params {
        lease: Span::ticks(2),
        promise: Span::ticks(3),
        longest: Ratio::new(3, 2),
        ..Default::default()
    };
    let protocol = build::<lease_timers::LeaseTimers>(&params, &[]);
    agree(&protocol, &Bounds { capacity: Some(1), delay: Some(1), ..Bounds::default() }, Transitions::Alike);
    let params = lease_timers::Params { holders: 1, ..params };
    let protocol = build::<lease_timers::LeaseTimers>(&params, &[]);
    agree(
        &protocol,
        &Bounds { capacity: Some(1), crashes: 1, pauses: 1, cuts: 1, ..Bounds::default() },
        Transitions::Alike,
    );
}

#[test]
fn the_lease_on_stamps_has_the_same_states_for_every_offset() {
    let params = lease_stamps::Params { holders: 1, lease: Span::ticks(3), offset: Span::ticks(1) };
    let protocol = build::<lease_stamps::LeaseStamps>(&params, &[]);
    agree(&protocol, &Bounds { capacity: Some(1), delay: Some(0), ..Bounds::default() }, Transitions::MayRepeat);
}

#[test]
fn paxos_has_the_same_states_untimed() {
    let params = paxos::Params { servers: 3, clients: 1, rounds: 1, ..Default::default() };
    let bounds = Bounds { clock: Clock::Untimed, ..Bounds::default() };
    agree(&build::<paxos::Paxos>(&params, &[]), &bounds, Transitions::Alike);
}

/// stateright's own rule: a message that changes nothing stays in flight.
#[test]
fn paxos_has_the_same_states_where_what_changes_nothing_stays() {
    let params = paxos::Params { servers: 3, clients: 1, rounds: 1, ..Default::default() };
    let consumed = Bounds { clock: Clock::Untimed, ..Bounds::default() };
    let bounds = Bounds { keep_ignored: true, ..consumed.clone() };
    let protocol = build::<paxos::Paxos>(&params, &[]);
    agree(&protocol, &bounds, Transitions::Alike);
    assert_ne!(explored(&protocol, &bounds).stats.total, explored(&protocol, &consumed).stats.total);
}

#[test]
fn sequence_pairs_have_the_same_states_with_their_numbers_ranked() {
    let protocol = build::<seqpair::SeqPair>(&seqpair::Params::default(), &[]);
    agree(&protocol, &Bounds { clock: Clock::Untimed, capacity: Some(1), ..Bounds::default() }, Transitions::Alike);
}

/// Both find the mutant's fall in as many steps, breadth first; the script that stateright's path makes replays to it.
#[track_caller]
fn both_kill<F: Family>(params: &F::Params, mutant: &str, bounds: &Bounds) {
    let protocol = build::<F>(params, &[mutant]);
    let (ours, theirs) = (explored(&protocol, bounds), checked(&protocol, bounds, Order::BreadthFirst, 1));
    let (Verdict::Violated(fell), Some(script)) = (&theirs.verdict, &theirs.script) else {
        panic!("{mutant}: {:?}", theirs.verdict);
    };
    let shortest = ours.script.as_ref().expect("the explorer found it too").steps.len();
    assert_eq!(script.steps.len(), shortest, "{mutant}: {:?} and {:?}", ours.verdict, theirs.verdict);
    let replayed = replay(&protocol, script);
    assert_eq!(replayed.drift, None, "{mutant}");
    assert!(replayed.violations.iter().any(|other| other.property == fell.property), "{mutant}: {replayed:?}");
    let deep = checked(&protocol, bounds, Order::DepthFirst, 1).script.expect("depth first finds it too");
    assert_eq!(replay(&protocol, &deep).drift, None, "{mutant}, depth first");
}

#[test]
fn mutants_fall_in_both_and_their_counterexamples_replay() {
    let open = Bounds { capacity: Some(1), ..Bounds::default() };
    let params = lease_timers::Params {
        lease: Span::ticks(2),
        promise: Span::ticks(3),
        longest: Ratio::new(3, 2),
        ..Default::default()
    };
    for mutant in ["from-receipt", "no-margin", "no-number-check"] {
        both_kill::<lease_timers::LeaseTimers>(&params, mutant, &open);
    }
    let untimed = Bounds { clock: Clock::Untimed, ..Bounds::default() };
    let params = paxos::Params { servers: 3, clients: 2, rounds: 1, ..Default::default() };
    both_kill::<paxos::Paxos>(&params, "small-quorum", &untimed);
    let narrow = Bounds { capacity: Some(1), ..untimed.clone() };
    for mutant in ["no-write-back", "small-quorum"] {
        both_kill::<register::Register>(&register::Params::default(), mutant, &narrow);
    }
    let bounds = Bounds { capacity: Some(2), duplicates: 1, ..untimed };
    both_kill::<seqpair::SeqPair>(&seqpair::Params::default(), "no-sequence-pairs", &bounds);
}

/// What falls in no single run is not held to hold: it is named.
#[test]
fn what_stateright_cannot_say_is_named_as_not_checked() {
    let protocol = build::<seqpair::SeqPair>(&seqpair::Params::default(), &["forget-dropped-number"]);
    let bounds = Bounds { clock: Clock::Untimed, capacity: Some(2), duplicates: 1, ..Bounds::default() };
    let Verdict::Violated(fell) = explored(&protocol, &bounds).verdict else { panic!("the explorer kills it") };
    let theirs = checked(&protocol, &bounds, Order::BreadthFirst, 1);
    assert_eq!(theirs.verdict, Verdict::Holds);
    let said = format!("not checked: {} (of the whole graph)", fell.property);
    assert!(theirs.abstractions.contains(&said), "{said}: {:?}", theirs.abstractions);
}

#[test]
fn depth_first_is_refused_within_a_bound_on_depth() {
    let protocol = build::<echo::Echo>(&echo::Params::default(), &[]);
    let bounds = Bounds { depth: Some(3), ..Bounds::default() };
    assert!(check(&protocol, &bounds, &Strategy { order: Order::DepthFirst, jobs: 1 }, &mut |_| true).is_err());
    let (ours, theirs) = (explored(&protocol, &bounds), checked(&protocol, &bounds, Order::BreadthFirst, 2));
    assert_eq!((theirs.stats.unique, theirs.stats.depth, theirs.stats.cut), (ours.stats.unique, Some(3), true));
}

#[test]
fn budgets_that_run_out_are_unknown() {
    let protocol = build::<paxos::Paxos>(&paxos::Params::default(), &[]);
    let bounds = Bounds { clock: Clock::Untimed, states: 2_000, ..Bounds::default() };
    let found = checked(&protocol, &bounds, Order::BreadthFirst, 1);
    assert_eq!(found.verdict, Verdict::Unknown("the bound of 2000 states ran out".into()));
    let two = Strategy { jobs: 2, ..Strategy::default() };
    let stopped = check(&protocol, &Bounds { states: 1 << 40, ..bounds }, &two, &mut |_| false);
    assert_eq!(stopped.expect("the bounds fit").verdict, Verdict::Unknown("the budget ran out".into()));
}
