//! Whole files come back from their text: generated ones with every field, and the shipped ones.

use proptest::prelude::*;
use seedbed_model::explore::{Bounds, Clock, Lengths};
use seedbed_model::{Ratio, Span};
use seedbed_sim::{
    ClockSettings, Costs, DiskTimes, Distribution, Fault, FaultMix, Network, Plan, Settings, SpanRange, TimedFault,
    Ways,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Spanned, Table, Value};

use super::{BoundEntry, CheckFile, Class, Expect, ScenarioFile};
use crate::history::claim::{Claim, Judge};
use crate::seeds::SeedRange;

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

/// Text with everything that TOML must escape, and line breaks.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9-]{0,8}", "[ -~]{0,20}", any::<String>()]
}

fn name() -> impl Strategy<Value = Spanned<String>> {
    text().prop_map(spanned)
}

fn names() -> impl Strategy<Value = Vec<Spanned<String>>> {
    prop::collection::vec(name(), 0..3)
}

fn goals() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(), 0..3)
}

fn expect() -> impl Strategy<Value = Option<Spanned<Expect>>> {
    let falls = "[a-z][a-z-]{0,8}[a-z]".prop_map(Expect::Violated);
    prop::option::of(prop_oneof![Just(Expect::Holds), falls].prop_map(spanned))
}

fn history() -> impl Strategy<Value = Option<Spanned<Claim>>> {
    let judges = [Judge::Linearizable, Judge::ALinearizable, Judge::Sequential, Judge::Session];
    let claim = (text(), prop::sample::select(judges.to_vec()), prop::option::of(text()))
        .prop_map(|(spec, judge, initial)| spanned(Claim { spec, judge, initial }));
    prop::option::of(claim)
}

/// A protocol's parameters, before it is known which.
fn params() -> impl Strategy<Value = Table> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        any::<bool>().prop_map(Value::Boolean),
        text().prop_map(Value::String),
        prop::sample::select(&[0.5, -2.0, 0.1, 1e300][..]).prop_map(Value::Float),
    ];
    let value = leaf.prop_recursive(2, 8, 3, |inner| {
        let table = prop::collection::btree_map(text(), inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(Value::Array),
            table.prop_map(|table| Value::Table(table.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(text(), value, 0..4).prop_map(|table| table.into_iter().collect())
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![(0..=Span::LONGEST.0).prop_map(Span), (0u64..100).prop_map(Span::ticks)]
}

fn spans() -> impl Strategy<Value = SpanRange> {
    (span(), span()).prop_map(|(min, max)| SpanRange { min, max })
}

fn ratio() -> impl Strategy<Value = Ratio> {
    (any::<u32>(), 1u32..).prop_map(|(num, den)| Ratio::new(num, den))
}

fn rate() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(0..=i64::MAX as u64)
}

prop_compose! {
    fn network()((delay_min, delay_max) in (span(), span()), (loss, duplicate) in (ratio(), ratio()),
        fifo in any::<bool>(), bandwidth in rate(), distribution in prop::sample::select(&[
            Distribution::Uniform, Distribution::Exponential, Distribution::Fixed][..])) -> Network {
        Network { delay_min, delay_max, distribution, loss, duplicate, fifo, bandwidth }
    }
}

prop_compose! {
    fn clocks()(rates in ratio(), beyond in prop::option::of((ratio(), ratio())), offsets in ratio(),
        (offset_beyond, jump_beyond) in (prop::option::of(span()), prop::option::of(span()))) -> ClockSettings {
        ClockSettings { rates, beyond, offsets, offset_beyond, jump_beyond }
    }
}

prop_compose! {
    fn faults()((swarm, breaks_durability) in any::<(bool, bool)>(),
        (crashes, pauses, partitions, flaps, jumps) in any::<(u32, u32, u32, u32, u32)>(),
        (empty_disks, corruptions, slow_links, slow_disks, full_disks) in any::<(u32, u32, u32, u32, u32)>(),
        (restart, pause, partition, spell) in (spans(), spans(), spans(), spans()),
        (flap_max, slow_link_added, slow_disk_added, jump_max) in (span(), span(), span(), span()),
        (never_restart, one_way, torn) in (ratio(), ratio(), ratio()),
        (slow_link_factor, slow_disk_factor) in (ratio(), ratio()), nodes in goals()) -> FaultMix {
        FaultMix {
            swarm, crashes, pauses, partitions, never_restart, one_way, nodes, torn, breaks_durability, empty_disks,
            corruptions, flaps, flap_max, slow_links, slow_link_factor, slow_link_added, slow_disks, slow_disk_factor,
            slow_disk_added, full_disks, jumps, jump_max,
            restart_min: restart.min, restart_max: restart.max, pause_min: pause.min, pause_max: pause.max,
            partition_min: partition.min, partition_max: partition.max, spell_min: spell.min, spell_max: spell.max,
        }
    }
}

/// Each kind of fault is tried in `sim/tests/settings.rs`; here a plan stands inside a whole file.
fn plans() -> impl Strategy<Value = Plan> {
    let fault = prop_oneof![
        (text(), span()).prop_map(|(node, resume)| Fault::Pause { node, resume }),
        (text(), any::<i64>()).prop_map(|(node, by_ns)| Fault::Jump { node, by_ns }),
        (goals(), span()).prop_map(|(side, heal)| Fault::Partition { side, ways: Ways::In, heal }),
    ];
    let faults = prop::collection::vec((span(), fault).prop_map(|(at, fault)| TimedFault { at, fault }), 0..4);
    (ratio(), ratio(), faults).prop_map(|(loss, duplicate, faults)| Plan {
        loss,
        duplicate,
        faults,
        clocks: Vec::new(),
        turns: Vec::new(),
    })
}

prop_compose! {
    fn settings()((duration, quiet) in (span(), span()), tick_mode in any::<bool>(),
        step_count_max in 0..=i64::MAX as u64, network in network(), sync in spans(),
        (decisions, lateness, clients) in (spans(), spans(), spans()), clocks in clocks(), faults in faults(),
        (step, uplink, bytes) in (span(), rate(), rate()), plan in prop::option::of(plans())) -> Settings {
        Settings {
            duration, quiet, tick_mode, step_count_max, network, decisions, lateness, clients, clocks, faults, plan,
            disk: DiskTimes { sync_min: sync.min, sync_max: sync.max },
            costs: Costs { step, uplink, disk: bytes, ..Costs::default() },
        }
    }
}

prop_compose! {
    fn bounds()(untimed in any::<bool>(), tick in span(), longest in any::<bool>(),
        (capacity, delay, tag_max, depth) in any::<(Option<u32>, Option<u32>, Option<u32>, Option<u32>)>(),
        (losses, duplicates, crashes, pauses, cuts) in any::<(u32, u32, u32, u32, u32)>(),
        (restart, symmetry, drop_dead, keep_ignored, eventually) in any::<(bool, bool, bool, bool, bool)>(),
        states in 0..=i64::MAX as u64) -> Bounds {
        Bounds {
            clock: if untimed { Clock::Untimed } else { Clock::Digital },
            lengths: if longest { Lengths::Longest } else { Lengths::All },
            tick, capacity, delay, tag_max, depth, losses, duplicates, crashes, pauses, cuts, restart, symmetry,
            drop_dead, keep_ignored, eventually, states,
        }
    }
}

prop_compose! {
    fn scenario()((protocol, story, long) in (name(), text(), any::<bool>()), (from, count) in (0u64..1 << 60, 1u64..1 << 60),
        expect in expect(), properties in prop::option::of(names()), history in history(), goals in goals(), mutants in names(),
        params in prop::option::of(params()), settings in prop::option::of(settings())) -> ScenarioFile<Table> {
        ScenarioFile {
            protocol, story, expect, properties, history, goals, mutants,
            class: if long { Class::Long } else { Class::Quick },
            seeds: SeedRange { from, to: from + count },
            params: params.map(spanned),
            settings: settings.map(spanned),
        }
    }
}

prop_compose! {
    fn entry()((name, story, long) in (name(), text(), any::<bool>()), expect in expect(), goals in goals(), claims in names(),
        params in prop::option::of(params()), bounds in prop::option::of(bounds())) -> BoundEntry<Table, Bounds> {
        let class = if long { Class::Long } else { Class::Quick };
        BoundEntry { name, story, class, expect, goals, claims, params, bounds }
    }
}

prop_compose! {
    fn checks()(protocol in name(), params in prop::option::of(params()), bound in prop::collection::vec(entry(), 0..3))
        -> CheckFile<Table, Bounds> {
        CheckFile { protocol, params, bound }
    }
}

/// Writes the file and reads it back.
fn returned<T: Serialize + DeserializeOwned>(file: &T) -> (String, Result<T, toml::de::Error>) {
    let text = toml::to_string(file).expect("the file is written");
    let read = toml::from_str(&text);
    (text, read)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scenario_files_come_back_from_their_text(file in scenario()) {
        let (text, read) = returned(&file);
        prop_assert_eq!(read, Ok(file), "{}", text);
    }

    #[test]
    fn files_of_bounds_come_back_from_their_text(file in checks()) {
        let (text, read) = returned(&file);
        prop_assert_eq!(read, Ok(file), "{}", text);
    }
}

/// The shipped files, read, written, and read again.
#[test]
fn shipped_files_come_back_from_their_text() {
    let mut count = 0;
    for folder in std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).expect("the crate's folder") {
        let folder = folder.expect("an entry").path();
        if !folder.join("check.toml").is_file() {
            continue;
        }
        for file in std::fs::read_dir(&folder).expect("a protocol's folder") {
            let path = file.expect("an entry").path();
            if path.extension().is_none_or(|ending| ending != "toml") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a shipped file");
            if path.ends_with("check.toml") {
                let file: CheckFile = toml::from_str(&text).expect("a shipped file reads");
                let (text, read) = returned(&file);
                assert_eq!(read, Ok(file), "{}: {text}", path.display());
            } else {
                let file: ScenarioFile<Table> = toml::from_str(&text).expect("a shipped file reads");
                let (text, read) = returned(&file);
                assert_eq!(read, Ok(file), "{}: {text}", path.display());
            }
            count += 1;
        }
    }
    assert!(count >= 30, "only {count} files were read");
}
