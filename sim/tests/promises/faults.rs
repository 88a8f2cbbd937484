//! The fault models, each promise both ways.

use crate::common::{
    Message, Observation, Probe, Step, Timer, assert_quiet, everything, hostile, only, settings, steady, traced,
    traced_plan,
};
use proptest::prelude::*;
use seedbed_model::{Choice, Effect, Event, Local, NodeId, Ratio, Span};
use seedbed_sim::{ClockSettings, DiskTimes, Fault, FaultMix, Network, Plan, Seed, Settings, Ways, plan};

const SECOND: Span = Span::secs(1);

fn arrivals(steps: &[Step], from: Span, until: Span) -> Vec<(NodeId, NodeId)> {
    steps.iter().filter(|step| step.at > from && step.at < until).filter_map(Step::arrival).collect()
}

fn partition(ways: Ways) -> Plan {
    only(SECOND * 10, Fault::Partition { side: vec!["probe-0".into()], ways, heal: SECOND * 30 })
}

#[test]
fn a_one_way_partition_lets_the_other_way_through() {
    for (ways, in_passes, out_passes) in [(Ways::Out, true, false), (Ways::In, false, true), (Ways::Both, false, false)]
    {
        let (run, steps) = traced_plan(&Probe::default(), &settings(), &partition(ways), 1);
        assert_quiet(&run);
        let found = arrivals(&steps, SECOND * 10, SECOND * 30);
        assert_eq!(found.iter().any(|(_, to)| to.0 == 0), in_passes, "{ways:?}");
        assert_eq!(found.iter().any(|(from, _)| from.0 == 0), out_passes, "{ways:?}");
        assert!(found.contains(&(NodeId(1), NodeId(2))), "the others hear each other");
        let healed = arrivals(&steps, SECOND * 30, SECOND * 60);
        assert!(healed.iter().any(|(from, _)| from.0 == 0) && healed.iter().any(|(_, to)| to.0 == 0));
    }
}

#[test]
fn a_link_that_two_partitions_cut_heals_with_the_later() {
    let mut both = partition(Ways::Out);
    let side = vec!["probe-0".into(), "probe-1".into()];
    both.faults.extend(only(SECOND * 20, Fault::Partition { side, ways: Ways::Both, heal: SECOND * 40 }).faults);
    let (_, steps) = traced_plan(&Probe::default(), &settings(), &both, 1);
    let found = arrivals(&steps, SECOND * 30, SECOND * 40);
    assert!(found.contains(&(NodeId(0), NodeId(1))), "the first partition is over");
    assert!(!found.contains(&(NodeId(0), NodeId(2))), "the second is not");
}

/// Records restored at a restart, beside those that became durable before the crash.
fn survivors(keeps: u32) -> (u32, u32) {
    // Nothing written in the last two seconds is durable.
    let disk = DiskTimes { sync_min: SECOND * 5, sync_max: SECOND * 5 };
    let crash = Fault::Crash { node: "probe-0".into(), keeps, torn: false, restart: Some(SECOND * 25) };
    let (_, steps) = traced_plan(&Probe::default(), &Settings { disk, ..settings() }, &only(SECOND * 20, crash), 1);
    let synced = |step: &&Step| {
        step.at < SECOND * 20 && step.choice == Choice::At(NodeId(0), Local::Sync(seedbed_model::Stream(0)))
    };
    let other = |step: &&Step| {
        step.at < SECOND * 20 && step.choice == Choice::At(NodeId(0), Local::Sync(seedbed_model::Stream(1)))
    };
    let restart = steps.iter().find(|step| step.choice == Choice::At(NodeId(0), Local::Restart)).expect("it restarts");
    assert_eq!(restart.at, SECOND * 25);
    let restored =
        restart.shown().find_map(|shown| if let Observation::Restored(count) = shown { Some(*count) } else { None });
    let durable = steps.iter().filter(synced).count() + steps.iter().filter(other).count();
    (restored.expect("a start says what it found"), durable as u32)
}

#[test]
fn synced_records_survive_and_unsynced_ones_may_be_lost() {
    let (restored, durable) = survivors(0);
    assert_eq!(restored, durable);
    assert!(durable > 0);
    let (all, durable) = survivors(u32::MAX);
    assert!(all > durable, "{all} of more than {durable}");
    let some: Vec<u32> = (1..20).map(|keeps| survivors(keeps).0).collect();
    assert!(some.iter().all(|count| (durable..=all).contains(count)));
    assert!(some.iter().any(|count| *count != some[0]), "the number decides which prefix");
}

#[test]
fn a_crashed_node_loses_what_arrives_and_its_timers() {
    let crash = Fault::Crash { node: "probe-0".into(), keeps: 0, torn: false, restart: None };
    let (run, steps) = traced_plan(&Probe::default(), &settings(), &only(SECOND * 20, crash), 1);
    assert_quiet(&run);
    let after = steps.iter().filter(|step| step.at > SECOND * 20);
    assert!(
        after
            .clone()
            .all(|step| step.arrival().is_none_or(|(from, to)| to.0 != 0 && (from.0 != 0 || step.at < SECOND * 21)))
    );
    assert!(!after.clone().any(|step| matches!(step.choice, Choice::At(NodeId(0), _))), "it never restarts");
    assert!(after.clone().any(|step| step.arrival() == Some((NodeId(1), NodeId(2)))));
}

#[test]
fn a_paused_node_gets_its_messages_later() {
    let pause = Fault::Pause { node: "probe-0".into(), resume: SECOND * 30 };
    let (run, steps) = traced_plan(&Probe::default(), &settings(), &only(SECOND * 10, pause), 1);
    assert_quiet(&run);
    assert!(!arrivals(&steps, SECOND * 10, SECOND * 30).iter().any(|(_, to)| to.0 == 0));
    let at_once = steps.iter().filter(|step| step.at == SECOND * 30 && step.arrival().is_some_and(|(_, to)| to.0 == 0));
    assert!(at_once.count() >= 4, "two nodes ping every four seconds or so");
    let fired = |step: &&Step| step.choice == Choice::At(NodeId(0), Local::Fire(Timer::Beat));
    let during = |step: &&Step| step.at > SECOND * 10 && step.at < SECOND * 30;
    assert_eq!(steps.iter().filter(during).filter(fired).count(), 0);
    let lapsed = |step: &&Step| step.choice == Choice::At(NodeId(0), Local::Lapse(Timer::Beat));
    assert_eq!(steps.iter().filter(during).filter(lapsed).count(), 1, "time passes for it");
}

#[test]
fn at_one_instant_lapses_come_first() {
    // Messages take as long as a beat, so that a ping arrives as the receiver's timers end.
    let probe = Probe { drift: Ratio::ZERO, ..Probe::default() };
    let (run, steps) = traced(&probe, &steady(SECOND * 4), 1);
    assert_quiet(&run);
    let is_lapse = |step: &Step| matches!(step.choice, Choice::At(_, Local::Lapse(_)));
    let mut both = 0;
    for pair in steps.windows(2).filter(|pair| pair[0].at == pair[1].at) {
        assert!(is_lapse(&pair[0]) || !is_lapse(&pair[1]), "at {}", pair[0].at);
        both += u32::from(is_lapse(&pair[0]) && pair[1].arrival().is_some());
    }
    assert!(both > 0, "a lapse and a delivery meet");
}

#[test]
fn each_end_of_a_timer_lapses_once() {
    let (_, steps) = traced(&Probe::default(), &steady(SECOND), 1);
    let mut lapses: Vec<_> = steps
        .iter()
        .filter_map(|step| {
            if let Choice::At(node, Local::Lapse(timer)) = &step.choice { Some((step.at, *node, timer)) } else { None }
        })
        .collect();
    let count = lapses.len();
    lapses.sort();
    lapses.dedup();
    assert!(count > 50);
    assert_eq!(lapses.len(), count);
    let shown = steps.iter().flat_map(Step::shown).filter(|shown| **shown == Observation::Lapsed).count();
    assert!(shown > 20, "what ends by itself is shown: {shown}");
}

#[test]
fn loss_zero_loses_nothing() {
    let (_, steps) = traced(&Probe::default(), &settings(), 1);
    let sent = |step: &Step| step.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Send { .. })).count();
    let arrived = steps.iter().filter_map(Step::arrival).count();
    let sent: usize = steps.iter().filter(|step| step.at < SECOND * 89).map(sent).sum();
    assert!(arrived >= sent && sent > 100, "{arrived} of {sent}");
    assert!(!steps.iter().any(Step::is_fault));
}

#[test]
fn lost_and_copied_messages_are_as_many_as_asked_for() {
    let network = Network { loss: Ratio::new(1, 4), duplicate: Ratio::new(1, 4), ..Network::default() };
    let settings = Settings {
        network,
        faults: FaultMix { swarm: false, ..FaultMix::default() },
        duration: SECOND * 600,
        ..settings()
    };
    let (_, steps) = traced(&Probe { nodes: 5, ..Probe::default() }, &settings, 1);
    let sent: usize = steps
        .iter()
        .map(|step| step.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Send { .. })).count())
        .sum();
    let lost = steps.iter().filter(|step| matches!(step.choice, Choice::Lose(_))).count();
    let copied = steps.iter().filter(|step| matches!(step.choice, Choice::Duplicate(_))).count();
    assert!((sent / 5..sent / 3).contains(&lost), "{lost} of {sent} lost");
    assert!((lost / 2..lost * 2).contains(&copied), "{copied} copied");
}

#[test]
fn fifo_keeps_the_order_of_a_link_and_its_absence_does_not() {
    let order = |fifo: bool| {
        let network = Network { fifo, delay_max: SECOND * 30, ..Network::default() };
        let (_, steps) = traced(&Probe::default(), &Settings { network, ..settings() }, 1);
        let numbers: Vec<u32> = steps
            .iter()
            .filter_map(|step| match &step.choice {
                Choice::Deliver(e) if (e.from.0, e.to.0) == (0, 1) => {
                    if let Message::Ping(n) = e.message {
                        Some(n)
                    } else {
                        None
                    }
                }
                _ => None,
            })
            .collect();
        assert!(numbers.len() > 5);
        numbers.is_sorted()
    };
    assert!(order(true));
    assert!(!order(false));
}

/// The real lengths of the beats of node 0.
fn beats(settings: &Settings, seed: u64) -> Vec<Span> {
    let (_, steps) = traced(&Probe::default(), settings, seed);
    let set = |step: &&Step| {
        step.effects.iter().any(|(node, e)| node.0 == 0 && matches!(e, Effect::Set { timer: Timer::Beat, .. }))
    };
    let set_at: Vec<Span> = steps.iter().filter(set).map(|step| step.at).collect();
    let lapsed = |step: &&Step| step.choice == Choice::At(NodeId(0), Local::Lapse(Timer::Beat));
    steps.iter().filter(lapsed).zip(set_at).map(|(step, set)| Span(step.at.0 - set.0)).collect()
}

#[test]
fn clocks_keep_the_assumed_bound_unless_told_to_break_it() {
    let within: Vec<Span> = (0..20).flat_map(|seed| beats(&settings(), seed)).collect();
    assert!(within.iter().all(|length| (Span::secs(3)..=Span::secs(5)).contains(length)), "{within:?}");
    assert!(within.contains(&Span::secs(3)) && within.contains(&Span::secs(5)), "the extremes are drawn");
    let clocks = ClockSettings { beyond: Some((Ratio::new(2, 1), Ratio::new(2, 1))), ..ClockSettings::default() };
    assert!(beats(&Settings { clocks, ..settings() }, 1).iter().all(|length| *length == Span::secs(8)));
    let clocks = ClockSettings { rates: Ratio::ZERO, ..ClockSettings::default() };
    assert!(beats(&Settings { clocks, ..settings() }, 1).iter().all(|length| *length == Span::secs(4)));
}

#[test]
fn a_plan_survives_a_file_and_prints_a_line_each() {
    let drawn = plan(
        &Probe::default(),
        &Settings { faults: FaultMix { swarm: false, ..everything().faults }, ..everything() },
        Seed::Number(4),
    );
    assert_eq!(drawn.faults.len(), 33);
    let text = serde_json::to_string(&drawn).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), drawn);
    let text = toml::to_string(&drawn).unwrap();
    assert_eq!(toml::from_str::<Plan>(&text).unwrap(), drawn);
    assert_eq!(drawn.to_string().lines().count(), 2 + drawn.clocks.len() + 33);
    let odd = only(SECOND, Fault::Pause { node: "nobody".into(), resume: SECOND * 2 });
    assert!(odd.check(&Probe::default()).unwrap_err().contains("nobody"));
}

#[test]
fn faults_hit_the_named_nodes_alone() {
    let faults = FaultMix { nodes: vec!["probe-1".into()], ..hostile().faults };
    for seed in 0..50 {
        let drawn = plan(&Probe::default(), &Settings { faults: faults.clone(), ..hostile() }, Seed::Number(seed));
        assert!(drawn.faults.iter().flat_map(|timed| timed.fault.nodes()).all(|node| node == "probe-1"));
    }
}

/// Which kinds a plan has.
fn kinds(plan: &Plan) -> [bool; 13] {
    let has = |wanted: fn(&Fault) -> bool| plan.faults.iter().any(|timed| wanted(&timed.fault));
    [
        has(|fault| matches!(fault, Fault::Crash { .. })),
        has(|fault| matches!(fault, Fault::Pause { .. })),
        has(|fault| matches!(fault, Fault::Partition { .. })),
        plan.loss.num > 0,
        plan.duplicate.num > 0,
        has(|fault| matches!(fault, Fault::Flap { .. })),
        has(|fault| matches!(fault, Fault::SlowLinks { .. })),
        has(|fault| matches!(fault, Fault::Jump { .. })),
        has(|fault| matches!(fault, Fault::EmptyDisk { .. })),
        has(|fault| matches!(fault, Fault::Corruption { .. })),
        has(|fault| matches!(fault, Fault::SlowDisk { .. })),
        has(|fault| matches!(fault, Fault::FullDisk { .. })),
        has(|fault| matches!(fault, Fault::Crash { torn: true, .. })),
    ]
}

#[test]
fn a_swarm_leaves_kinds_out_and_covers_all() {
    let faults = FaultMix { torn: Ratio::ONE, ..everything().faults };
    let settings = Settings { faults, ..everything() };
    let drawn: Vec<_> = (0..200).map(|seed| kinds(&plan(&Probe::default(), &settings, Seed::Number(seed)))).collect();
    for kind in 0..12 {
        let count = drawn.iter().filter(|kinds| kinds[kind]).count();
        assert!((120..180).contains(&count), "kind {kind} in {count} of 200 seeds");
    }
    let torn = drawn.iter().filter(|kinds| kinds[12]).count();
    assert!((80..145).contains(&torn), "torn records need crashes too: {torn} of 200 seeds");
    assert!(drawn.iter().any(|kinds| kinds[0] && !kinds[12]));
    let distinct: std::collections::BTreeSet<_> = drawn.iter().collect();
    assert!(distinct.len() > 150, "{} subsets", distinct.len());
}

#[test]
fn kinds_that_are_not_asked_for_do_not_happen_and_move_no_draw() {
    for seed in 0..50 {
        let few = plan(&Probe::default(), &hostile(), Seed::Number(seed));
        assert!(!kinds(&few)[5..].contains(&true));
        let mut more = plan(&Probe::default(), &everything(), Seed::Number(seed));
        more.faults
            .retain(|timed| matches!(timed.fault, Fault::Crash { .. } | Fault::Pause { .. } | Fault::Partition { .. }));
        for timed in &mut more.faults {
            if let Fault::Crash { torn, .. } = &mut timed.fault {
                *torn = false;
            }
        }
        assert_eq!(more, few, "seed {seed}");
    }
}

#[test]
fn what_breaks_the_promise_of_disks_must_be_declared() {
    for faults in
        [FaultMix { empty_disks: 1, ..FaultMix::default() }, FaultMix { corruptions: 1, ..FaultMix::default() }]
    {
        let why = Settings { faults: faults.clone(), ..settings() }.check().unwrap_err();
        assert!(why.contains("breaks-durability = true"), "{why}");
        let faults = FaultMix { breaks_durability: true, ..faults };
        assert_eq!(Settings { faults, ..settings() }.check(), Ok(()));
    }
}

#[test]
fn a_plan_of_the_settings_own_takes_the_place_of_the_drawn_one() {
    let drawn = plan(&Probe::default(), &everything(), Seed::Number(7));
    let own = Settings { plan: Some(drawn.clone()), ..everything() };
    assert_eq!(plan(&Probe::default(), &own, Seed::Number(8)), drawn);
    let (run, _) = traced(&Probe::default(), &everything(), 7);
    let (again, _) = traced(&Probe::default(), &own, 7);
    assert_eq!(again, run, "handed back, a plan gives the same run");
    let mut edited = drawn;
    edited.faults.clear();
    let (other, steps) = traced(&Probe::default(), &Settings { plan: Some(edited), ..everything() }, 7);
    assert_ne!(other.digest, run.digest);
    assert!(!steps.iter().any(|step| matches!(step.choice, Choice::Cut(..) | Choice::At(_, Local::Pause))));
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let side = vec!["probe-0".into()];
    let flap = Fault::Flap { side, ways: Ways::Both, down: Span::ZERO, up: SECOND, end: SECOND * 9 };
    assert!(only(SECOND, flap).check(&Probe::default()).unwrap_err().contains("more than 0s"));
    let odd = Plan { loss: Ratio::new(3, 2), ..Plan::calm() };
    assert!(odd.check(&Probe::default()).unwrap_err().contains("above 1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_quiet_phase_has_no_faults_and_progress_is_demanded(seed: u64) {
        let (run, steps) = traced(&Probe { nodes: 4, patience: Span::secs(12), ..Probe::default() }, &everything(), seed);
        // Two nodes may be down for ever: then nobody may be left to be heard.
        prop_assert!(run.violations.iter().all(|found| found.violation.property == "heard"), "{:?}", run.violations);
        let healed = steps.iter().position(|step| step.effects.iter().any(|(_, e)| *e == Effect::Happened(Event::Healed)));
        let healed = healed.expect("the faults are healed");
        prop_assert_eq!(steps[healed].at, SECOND * 60);
        prop_assert!(!steps[healed..].iter().any(Step::is_fault));
    }

    #[test]
    fn leaving_out_a_fault_changes_nothing_before_it(seed: u64, place in 0usize..30) {
        let settings = everything();
        let whole = plan(&Probe::default(), &settings, Seed::Number(seed));
        prop_assume!(place < whole.faults.len());
        let mut less = whole.clone();
        let removed = less.faults.remove(place);
        let (_, before) = traced_plan(&Probe::default(), &settings, &whole, seed);
        let (_, after) = traced_plan(&Probe::default(), &settings, &less, seed);
        let same = before.iter().zip(&after).take_while(|(a, b)| a.at == b.at && a.choice == b.choice).count();
        prop_assert!(same == before.len() || before[same].at >= removed.at);
    }
}

/// A fault at a node that nobody else hears from leaves the draws of all other links alone.
#[test]
fn leaving_out_a_fault_leaves_other_links_alone() {
    let settings = Settings { clocks: ClockSettings { rates: Ratio::ZERO, ..ClockSettings::default() }, ..settings() };
    let crash = Fault::Crash { node: "probe-2".into(), keeps: 0, torn: false, restart: None };
    let pings = |plan: &Plan| -> Vec<Span> {
        let (_, steps) = traced_plan(&Probe::default(), &settings, plan, 1);
        let ping = |step: &&Step| matches!(&step.choice, Choice::Deliver(e) if (e.from.0, e.to.0) == (0, 1) && matches!(e.message, Message::Ping(_)));
        steps.iter().filter(ping).map(|step| step.at).collect()
    };
    let (with, without) = (pings(&only(SECOND * 10, crash)), pings(&Plan::calm()));
    assert!(with.len() > 10);
    // Pongs share the link with pings, but none of them goes to or comes from node 2.
    assert_eq!(with, without);
}
