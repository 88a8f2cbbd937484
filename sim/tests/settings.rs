//! Settings and plans come back from the text that a file holds.

mod common;

use common::{Probe, hostile};
use proptest::prelude::*;
use seedbed_model::{Ratio, Span};
use seedbed_sim::{FaultMix, Network, Plan, Seed, Settings, SpanRange, plan};

fn span() -> impl Strategy<Value = Span> {
    (0..=Span::LONGEST.0).prop_map(Span)
}

fn ratio() -> impl Strategy<Value = Ratio> {
    (0u32..=1_000, 1u32..=1_000).prop_map(|(num, den)| Ratio::new(num, den))
}

prop_compose! {
    fn network()(delay_min in span(), delay_max in span(), loss in ratio(), duplicate in ratio(), fifo in any::<bool>())
        -> Network {
        Network { delay_min, delay_max, loss, duplicate, fifo, ..Network::default() }
    }
}

prop_compose! {
    fn faults()(swarm in any::<bool>(), crashes in any::<u32>(), pauses in any::<u32>(), restart_max in span(),
        one_way in ratio(), nodes in prop::collection::vec("[a-z0-9*-]{1,8}", 0..3)) -> FaultMix {
        FaultMix { swarm, crashes, pauses, restart_max, one_way, nodes, ..FaultMix::default() }
    }
}

prop_compose! {
    fn settings()(duration in span(), quiet in span(), tick_mode in any::<bool>(), (min, max) in (span(), span()),
        network in network(), faults in faults()) -> Settings {
        Settings { duration, quiet, tick_mode, decisions: SpanRange { min, max }, network, faults, ..Settings::default() }
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
        let drawn = plan(&Probe::default(), &hostile(), Seed::Number(seed));
        let text = toml::to_string(&drawn).expect("a plan is written");
        prop_assert_eq!(toml::from_str::<Plan>(&text), Ok(drawn), "{}", text);
    }
}
