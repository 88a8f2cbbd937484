//! Settings and plans come back from the text that a file holds.

use crate::common::{Probe, everything};
use proptest::prelude::*;
use seedbed_model::{Ratio, Span};
use seedbed_sim::{
    ClockSettings, Costs, Fault, FaultMix, NamedClock, Network, NodeClock, Plan, Seed, Settings, SpanRange, TimedFault,
    Turn, Ways, plan,
};

fn span() -> impl Strategy<Value = Span> {
    (0..=Span::LONGEST.0).prop_map(Span)
}

fn ratio() -> impl Strategy<Value = Ratio> {
    (0u32..=1_000, 1u32..=1_000).prop_map(|(num, den)| Ratio::new(num, den))
}

fn rate() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(0..=i64::MAX as u64)
}

fn name() -> impl Strategy<Value = String> {
    "[a-z0-9-]{1,8}"
}

fn ways() -> impl Strategy<Value = Ways> {
    prop_oneof![Just(Ways::Both), Just(Ways::Out), Just(Ways::In)]
}

fn fault() -> impl Strategy<Value = Fault> {
    let side = || prop::collection::vec(name(), 1..4);
    prop_oneof![
        (name(), any::<u32>(), any::<bool>(), prop::option::of(span()))
            .prop_map(|(node, keeps, torn, restart)| Fault::Crash { node, keeps, torn, restart }),
        (name(), span()).prop_map(|(node, restart)| Fault::EmptyDisk { node, restart }),
        (name(), any::<u32>(), any::<u32>(), span()).prop_map(|(node, keeps, record, restart)| Fault::Corruption {
            node,
            keeps,
            record,
            restart
        }),
        (name(), span()).prop_map(|(node, resume)| Fault::Pause { node, resume }),
        (side(), ways(), span()).prop_map(|(side, ways, heal)| Fault::Partition { side, ways, heal }),
        (side(), ways(), span(), span(), span()).prop_map(|(side, ways, down, up, end)| Fault::Flap {
            side,
            ways,
            down,
            up,
            end
        }),
        (side(), ways(), ratio(), span(), span()).prop_map(|(side, ways, factor, added, end)| Fault::SlowLinks {
            side,
            ways,
            factor,
            added,
            end
        }),
        (name(), ratio(), span(), span()).prop_map(|(node, factor, added, end)| Fault::SlowDisk {
            node,
            factor,
            added,
            end
        }),
        (name(), span()).prop_map(|(node, end)| Fault::FullDisk { node, end }),
        (name(), any::<i64>()).prop_map(|(node, by_ns)| Fault::Jump { node, by_ns }),
    ]
}

prop_compose! {
    fn clock()(node in name(), rate in ratio(), offset_ns in any::<i64>(), offset_max in span(), jump_max in span())
        -> NamedClock {
        NamedClock { node, clock: NodeClock { rate, offset_ns, offset_max, jump_max } }
    }
}

prop_compose! {
    fn turn()(at in span(), seed in 0..=i64::MAX as u64, sharp in any::<bool>()) -> Turn {
        Turn { at, seed, sharp }
    }
}

prop_compose! {
    fn any_plan()(loss in ratio(), duplicate in ratio(),
        faults in prop::collection::vec((span(), fault()).prop_map(|(at, fault)| TimedFault { at, fault }), 0..8),
        clocks in prop::collection::vec(clock(), 0..3),
        turns in prop::collection::vec(turn(), 0..3)) -> Plan {
        Plan { loss, duplicate, faults, clocks, turns }
    }
}

prop_compose! {
    fn network()(delay_min in span(), delay_max in span(), loss in ratio(), duplicate in ratio(), fifo in any::<bool>(),
        bandwidth in rate()) -> Network {
        Network { delay_min, delay_max, loss, duplicate, fifo, bandwidth, ..Network::default() }
    }
}

prop_compose! {
    fn faults()(swarm in any::<bool>(), crashes in any::<u32>(), flaps in any::<u32>(), jumps in any::<u32>(),
        breaks_durability in any::<bool>(), torn in ratio(), slow_link_factor in ratio(), spell_max in span(),
        jump_max in span(), one_way in ratio(), nodes in prop::collection::vec("[a-z0-9*-]{1,8}", 0..3)) -> FaultMix {
        FaultMix { swarm, crashes, flaps, jumps, breaks_durability, torn, slow_link_factor, spell_max, jump_max, one_way,
            nodes, ..FaultMix::default() }
    }
}

prop_compose! {
    fn settings()(duration in span(), tick_mode in any::<bool>(), (min, max) in (span(), span()), network in network(),
        (step, uplink, disk, flush) in (span(), rate(), rate(), span()), jump_beyond in prop::option::of(span()), faults in faults(),
        plan in prop::option::of(any_plan())) -> Settings {
        let clocks = ClockSettings { jump_beyond, ..ClockSettings::default() };
        Settings { duration, tick_mode, decisions: SpanRange { min, max }, network, faults, clocks, plan,
            costs: Costs { step, uplink, disk, flush }, ..Settings::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn settings_come_back_from_their_text(settings in settings()) {
        let text = toml::to_string(&settings).expect("settings are written");
        prop_assert_eq!(toml::from_str::<Settings>(&text), Ok(settings), "{}", text);
    }

    #[test]
    fn plans_come_back_from_their_text(seed in any::<u64>()) {
        let drawn = plan(&Probe::default(), &everything(), Seed::Number(seed));
        let text = toml::to_string(&drawn).expect("a plan is written");
        prop_assert_eq!(toml::from_str::<Plan>(&text), Ok(drawn), "{}", text);
    }

    #[test]
    fn any_plan_comes_back_from_its_text(written in any_plan()) {
        let text = toml::to_string(&written).expect("a plan is written");
        prop_assert_eq!(toml::from_str::<Plan>(&text), Ok(written), "{}", text);
    }

    #[test]
    fn a_plan_that_was_handed_back_gives_the_same_run(seed in 0..1_000u64) {
        let drawn = plan(&Probe::default(), &everything(), Seed::Number(seed));
        let text = toml::to_string(&drawn).expect("a plan is written");
        let own = Settings { plan: Some(toml::from_str(&text).expect("it reads back")), ..everything() };
        let run = |settings| seedbed_sim::simulate(&Probe::default(), settings, Seed::Number(seed), None);
        prop_assert_eq!(run(&own), run(&everything()));
    }
}
