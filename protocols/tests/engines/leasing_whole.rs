//! Leasing over what stands for its Paxos group; and bounds that are too large for every day: `cargo test --release -p
//! seedbed-protocols --test engines -- --ignored leasing_whole`.

use seedbed_model::explore::{Bounds, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Ratio, Span};
use seedbed_protocols::leasing::{Application, DONE_AGAIN, GroupKind, Leasing, Params, PartitionerKind, Variant};

/// A leader and a standby, and leases short enough to end between two of their bids.
fn service(variant: Variant) -> Params {
    Params {
        variant,
        group: GroupKind::Atomic,
        managers: 2,
        leader_lease: Span::ticks(2),
        leader_margin: Span::ticks(2),
        leader_renew: Span::ticks(1),
        manager_longest: Ratio::ONE,
        lookups: 0,
        lease: Span::ticks(1),
        margin: Span::ticks(2),
        renew: Span::ticks(1),
        poll: Span::ticks(1),
        contact: Span::ticks(3),
        ..exact()
    }
}

/// Clocks that agree, one back-off, and a log of one change.
fn exact() -> Params {
    Params {
        back_off: Span::ticks(1),
        back_off_slots: 1,
        owner_shortest: Ratio::ONE,
        owner_longest: Ratio::ONE,
        log: 1,
        ..Params::default()
    }
}

/// One crash of any server or Owner; messages arrive at once or are lost.
fn one_crash() -> Bounds {
    Bounds { capacity: Some(1), delay: Some(0), crashes: 1, ..Bounds::default() }
}

fn explored(params: &Params, bounds: &Bounds) -> (Verdict, u64, bool) {
    let leasing = Leasing::build(params, Mutants::none()).expect("the parameters make sense");
    let found = explore(&leasing, bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    (found.verdict, found.stats.unique, found.stats.exhausted)
}

/// What stands for the Paxos group is named, and not crashed: a restart would need an earlier crash.
#[test]
fn the_group_is_named_among_the_abstractions() {
    let leasing = Leasing::build(&Params { owners: 0, ..service(Variant::Prs) }, Mutants::none()).unwrap();
    let found = explore(&leasing, &one_crash(), &Strategy::default(), &mut |_| true).unwrap();
    assert_eq!(found.verdict, Verdict::Holds);
    let named =
        "group stands for the Paxos group, as a leader lease and a register: atomic, and neither crashed nor paused";
    assert!(found.abstractions.iter().any(|words| words == named), "{:?}", found.abstractions);
}

/// The bound `failover-prs`, whole.
#[test]
#[ignore = "2.4 million states: .ci/run --full, in its step sweeps"]
fn a_failover_of_prs_with_two_owners() {
    assert_eq!(explored(&service(Variant::Prs), &one_crash()), (Verdict::Holds, 2_444_724, true));
}

/// Without a takeover a loss is told within 6 ticks here. A new leader counts every margin anew, and puts the news off.
#[test]
#[ignore = "1.8 million states: .ci/run --full, in its step sweeps"]
fn a_takeover_puts_the_news_of_a_loss_off() {
    let params = Params { managers: 1, owners: 1, lookups: 1, notice: Span::ticks(8), ..service(Variant::Centrifuge) };
    assert_eq!(params.notice_needed(Span::ZERO, Span::ZERO, 0), Span::ticks(6));
    let (verdict, ..) = explored(&params, &one_crash());
    assert!(matches!(verdict, Verdict::Violated(found) if found.property == "recovery-notification"));
}

#[test]
fn a_paxos_group_without_acceptors_is_refused() {
    let params = Params { group: GroupKind::Paxos, acceptors: 0, ..service(Variant::Centrifuge) };
    assert_eq!(Leasing::build(&params, Mutants::none()).map(drop).unwrap_err(), "acceptors 0 must be 1 to 16");
}

/// Managers that only compete, and the acceptors as nodes: the group that stands for them is not among the abstractions.
#[test]
fn a_leader_is_elected_by_acceptors() {
    let params = Params { group: GroupKind::Paxos, acceptors: 1, owners: 0, ..service(Variant::Prs) };
    let leasing = Leasing::build(&params, Mutants::none()).unwrap();
    let bounds = Bounds { depth: Some(9), ..one_crash() };
    let found = explore(&leasing, &bounds, &Strategy::default(), &mut |_| true).unwrap();
    assert_eq!(found.verdict, Verdict::Holds);
    assert!(found.reached.contains(&"denied") || found.reached.contains(&"released"), "{:?}", found.reached);
    assert!(found.abstractions.iter().all(|words| !words.contains("stands for")), "{:?}", found.abstractions);
}

/// A put is done, its answer is lost, and it is asked for again after another client's. As far as 46 steps.
#[test]
#[ignore = "2.5 million states, twice: .ci/run --full, in its step sweeps"]
fn a_put_that_is_asked_for_twice_is_done_once() {
    let params = Params {
        application: Application::HashTable,
        partitioner: PartitionerKind::Fixed,
        operations: 3,
        work: Span::ticks(1),
        retry: Span::ticks(1),
        patience: Span::ticks(2),
        owners: 1,
        lookups: 2,
        lease: Span::ticks(4),
        margin: Span::ticks(4),
        renew: Span::ticks(3),
        poll: Span::ticks(3),
        contact: Span::ticks(4),
        notice: Span::ticks(19),
        ..exact()
    };
    let bounds = Bounds { delay: Some(0), losses: 1, depth: Some(46), ..Bounds::default() };
    assert_eq!(explored(&params, &bounds).0, Verdict::Holds);
    let mutants = Mutants::named(Leasing::mutants(), [DONE_AGAIN]).unwrap();
    let mutant = Leasing::build(&params, mutants).unwrap();
    let found = explore(&mutant, &bounds, &Strategy::default(), &mut |_| true).unwrap();
    assert!(matches!(found.verdict, Verdict::Violated(found) if found.property == "soft-linearizable"));
}
