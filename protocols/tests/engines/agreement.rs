//! The explorer and the plain world hold each other to account.

use crate::build;
use crate::walk::fixed_picks;
use proptest::prelude::*;
use seedbed_model::explore::{Bounds, Clock, Strategy, Verdict, Walk, accepts, explore};
use seedbed_model::script::{self, Scripted};
use seedbed_model::{Plain, Protocol, Ratio, Script, Span, apply, replay};
use seedbed_protocols::basics::{echo, lease_stamps, lease_timers, paxos, register};
use seedbed_protocols::{leasing, seqpair};

fn echo() -> echo::Echo {
    build::<echo::Echo>(echo::Params { clients: 2, ..Default::default() }, &[])
}

fn faulty() -> Bounds {
    Bounds { losses: 2, duplicates: 2, crashes: 2, pauses: 2, cuts: 2, drop_dead: false, ..Bounds::default() }
}

/// Walks the interned store at random and the plain one along. `tamper` may change the plain world after each step.
/// The first step after which they differ.
fn first_difference<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    seed: u32,
    tamper: impl Fn(&mut Plain<P, Scripted<P>>),
) -> Option<usize> {
    let mut walk = Walk::new(protocol, bounds).expect("the bounds fit");
    let mut world = script::started(protocol, bounds.tick);
    world.driver.untimed = bounds.clock == Clock::Untimed;
    let picks = fixed_picks(seed, 400);
    for (index, pick) in picks.chunks(2).enumerate() {
        let options = walk.options();
        if options.is_empty() {
            return None;
        }
        let mut ways = walk.ways(pick[0] as usize % options.len());
        let way = ways.swap_remove(pick[1] as usize % ways.len());
        walk.go(&way);
        for step in &way.steps {
            world.driver.answers = step.answers.iter().copied().collect();
            apply(&mut world, &step.choice).expect("what the explorer offers can happen in a plain world");
            assert_eq!((world.driver.missing, world.driver.answers.len()), (0, 0), "step {index} drew otherwise");
        }
        tamper(&mut world);
        if walk.snapshot() != world.snapshot(&world.driver.flight, bounds.tick) {
            return Some(index);
        }
        if way.violation.is_some() {
            return None;
        }
    }
    None
}

fn check_agreement<P: Protocol>(protocol: &P, bounds: &Bounds) {
    for seed in 0..40 {
        assert_eq!(first_difference(protocol, bounds, seed, |_| {}), None, "seed {seed}");
    }
}

#[test]
fn the_interned_and_the_plain_store_agree_on_echo() {
    check_agreement(&echo(), &faulty());
    check_agreement(&echo(), &Bounds { capacity: Some(1), delay: Some(2), ..faulty() });
}

#[test]
fn the_interned_and_the_plain_store_agree_on_leases() {
    check_agreement(&build::<lease_timers::LeaseTimers>(Default::default(), &[]), &faulty());
    check_agreement(&build::<lease_stamps::LeaseStamps>(Default::default(), &[]), &faulty());
}

#[test]
fn the_interned_and_the_plain_store_agree_on_paxos() {
    let protocol = build::<paxos::Paxos>(paxos::Params { rounds: 3, retry_slots: 2, ..Default::default() }, &[]);
    check_agreement(&protocol, &faulty());
    check_agreement(&protocol, &Bounds { clock: Clock::Untimed, ..faulty() });
}

#[test]
fn the_interned_and_the_plain_store_agree_on_a_register_and_what_its_clients_see() {
    let params = register::Params { writers: 2, readers: 2, resends: 2, ..Default::default() };
    for mutants in [&[][..], &["no-write-back", "small-quorum"]] {
        let protocol = build::<register::Register>(params.clone(), mutants);
        check_agreement(&protocol, &faulty());
        check_agreement(&protocol, &Bounds { clock: Clock::Untimed, ..faulty() });
    }
}

#[test]
fn the_interned_and_the_plain_store_agree_on_sequence_pairs_and_leasing() {
    check_agreement(&build::<seqpair::SeqPair>(Default::default(), &[]), &faulty());
    let params = leasing::Params {
        lease: Span::ticks(3),
        margin: Span::ticks(4),
        renew: Span::ticks(1),
        poll: Span::ticks(2),
        contact: Span::ticks(3),
        back_off: Span::ticks(1),
        back_off_slots: 1,
        owner_longest: Ratio::new(4, 3),
        ..leasing::Params::default()
    };
    check_agreement(&build::<leasing::Leasing>(params, &[]), &faulty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_stores_agree_on_any_walk(seed in any::<u32>()) {
        prop_assert_eq!(first_difference(&echo(), &faulty(), seed, |_| {}), None);
        let leases = build::<lease_stamps::LeaseStamps>(Default::default(), &[]);
        prop_assert_eq!(first_difference(&leases, &faulty(), seed, |_| {}), None);
    }
}

/// A store that forgets to discard a timer, loses a message or keeps a crashed node's memory is found out.
#[test]
fn a_deliberate_difference_between_the_stores_is_caught() {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &[]);
    let forgets_timers = |world: &mut Plain<_, Scripted<_>>| world.timers[1].clear();
    let loses_messages = |world: &mut Plain<_, Scripted<_>>| world.driver.flight.clear();
    let caught = |tamper: &dyn Fn(&mut Plain<_, Scripted<_>>)| {
        (0..40).filter(|seed| first_difference(&protocol, &faulty(), *seed, tamper).is_some()).count()
    };
    assert!(caught(&forgets_timers) > 20);
    assert!(caught(&loses_messages) > 20);
    assert_eq!(caught(&|_| {}), 0);
}

/// A counterexample is a script that the plain world replays without drift to the same violation, and that the
/// explorer accepts as a path; no shorter one exists without the last step.
fn check_counterexample<P: Protocol>(protocol: &P, bounds: &Bounds, property: &str) -> Script<P> {
    let found = explore(protocol, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    let Verdict::Violated(violation) = &found.verdict else { panic!("{:?} instead of a violation", found.verdict) };
    assert_eq!(violation.property, property);
    let script = found.script.expect("a violation has a counterexample");
    let replayed = replay(protocol, &script);
    assert_eq!(replayed.drift, None);
    assert_eq!(replayed.violations.first().map(|violation| violation.property.as_str()), Some(property));
    assert_eq!(replay(protocol, &script).digest, replayed.digest);
    script
}

#[test]
fn counterexamples_replay_in_a_plain_world() {
    let bounds = Bounds { capacity: Some(1), ..Bounds::default() };
    for mutant in ["from-receipt", "no-margin"] {
        let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &[mutant]);
        check_counterexample(&protocol, &bounds, "single-holder");
    }
    let protocol = build::<lease_stamps::LeaseStamps>(Default::default(), &["no-offset-margin"]);
    let script = check_counterexample(&protocol, &bounds, "single-holder");
    assert!(script.offsets.iter().any(|offset| *offset != 0), "only clocks that differ can break it");
}

#[test]
fn a_counterexample_is_a_path_and_its_permutations_are_not_repeated() {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &["no-margin"]);
    let bounds = Bounds { capacity: Some(1), ..Bounds::default() };
    let script = check_counterexample(&protocol, &bounds, "single-holder");
    let open = Bounds { drop_dead: false, capacity: None, ..bounds.clone() };
    assert_eq!(accepts(&protocol, &open, &script), Ok(()));
    let plain = Bounds { symmetry: false, ..bounds.clone() };
    assert_eq!(script.steps.len(), check_counterexample(&protocol, &plain, "single-holder").steps.len());
}

/// Every reduction keeps the verdict and the length of the shortest counterexample.
#[test]
fn reductions_keep_verdicts_and_depths() {
    let full = Bounds { capacity: Some(1), symmetry: false, drop_dead: false, ..Bounds::default() };
    let reductions = [
        Bounds { symmetry: true, ..full.clone() },
        Bounds { drop_dead: true, ..full.clone() },
        Bounds { symmetry: true, drop_dead: true, ..full.clone() },
    ];
    for mutants in [&[][..], &["from-receipt"], &["no-margin"]] {
        let protocol = build::<lease_timers::LeaseTimers>(Default::default(), mutants);
        let reference = explore(&protocol, &full, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        let length = reference.script.as_ref().map(|script| script.steps.len());
        for bounds in &reductions {
            let reduced = explore(&protocol, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
            assert_eq!(
                reduced.verdict == Verdict::Holds,
                reference.verdict == Verdict::Holds,
                "{mutants:?} {bounds:?}"
            );
            assert_eq!(reduced.script.map(|script| script.steps.len()), length, "{mutants:?} {bounds:?}");
            assert!(reduced.stats.unique <= reference.stats.unique);
        }
    }
}

/// The number of reachable states is a property of the model: it changes only when the model does.
#[test]
fn state_counts_are_pinned() {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &[]);
    let found =
        explore(&protocol, &Bounds { capacity: Some(1), ..Bounds::default() }, &Strategy::default(), &mut |_| true)
            .expect("the bounds fit");
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(found.stats.exhausted && !found.stats.cut);
    assert_eq!((found.stats.unique, found.stats.total, found.stats.depth), (4965, 17241, Some(22)));
}

#[test]
fn a_tick_too_coarse_for_a_timer_is_refused() {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &[]);
    let bounds = Bounds { tick: Span::ticks(5), capacity: Some(1), ..Bounds::default() };
    let why = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).err();
    assert!(why.as_ref().is_some_and(|why| why.contains("no whole number of ticks")), "{why:?}");
}

#[test]
fn a_budget_that_runs_out_is_unknown() {
    let protocol = build::<lease_timers::LeaseTimers>(Default::default(), &[]);
    let bounds = Bounds { states: 100, ..Bounds::default() };
    let found = explore(&protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    assert!(matches!(found.verdict, Verdict::Unknown(_)) && !found.stats.exhausted);
    let stopped = explore(&protocol, &Bounds::default(), &Strategy::default(), &mut |_| false).expect("the bounds fit");
    assert!(matches!(stopped.verdict, Verdict::Unknown(_)));
}
