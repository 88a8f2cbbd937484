//! The promises of a driver, under all three: the simulator, the host in madsim's world, the host on sockets. The file is
//! compiled twice, with `--cfg madsim` and without.

mod world;

use std::time::Duration;

use seedbed_host::driver::Pace;
use seedbed_host::links::Transport;
use seedbed_host::promises::{Params, Promises};
use seedbed_model::Span;
use world::{Campaign, campaign, world};

/// Nodes that write all the time, on slow disks, and are killed often.
fn rough(params: Params) -> Campaign<Promises> {
    Campaign {
        pace: Pace { think: Span::millis(4), ..Pace::default() },
        kill_every: Duration::from_millis(120),
        down: Duration::from_millis(4),
        sync: Duration::from_millis(15),
        ..Campaign::new(Promises::new(Params { operations: 2_000, ..params }))
    }
}

#[test]
fn the_host_keeps_its_promises() {
    let seeds = if cfg!(madsim) { 0..60 } else { 0..3 };
    let mut lost = 0;
    for seed in seeds {
        let outcome = world(seed, campaign(rough(Params::default()), seed));
        assert_eq!(outcome.wrong(), None, "seed {seed}");
        let status = &outcome.statuses[0];
        assert!(status.answered > 0 && status.durable > 0, "seed {seed}: {status:?}");
        let crashes = outcome.tapes.iter().find(|tape| tape.name == "cluster").map_or(0, |tape| tape.lines.len() - 1);
        assert!(crashes > 1, "seed {seed}: {crashes} crashes");
        lost += status.invoked - status.answered;
    }
    assert!(lost > 0, "no crash came between an operation and its answer");
}

#[test]
fn over_datagrams_it_keeps_those_that_datagrams_allow() {
    let seeds = if cfg!(madsim) { 0..30 } else { 0..2 };
    for seed in seeds {
        let params = Params { ordered: false, ..Params::default() };
        let campaigned = Campaign { transport: Transport::Udp, ..rough(params) };
        let outcome = world(seed, campaign(campaigned, seed));
        assert_eq!(outcome.wrong(), None, "seed {seed}");
        assert!(outcome.statuses[0].answered > 0, "seed {seed}");
    }
}

#[cfg(madsim)]
mod planted {
    use super::*;
    use seedbed_host::driver::Planted;

    /// In what words each fault is found, and within how many seeds.
    fn is_found(planted: Planted, transport: Transport, words: &[&str]) {
        let params = Params { ordered: transport == Transport::Tcp, ..Params::default() };
        for seed in 0..60 {
            let of = Campaign { planted: Some(planted), transport, ..rough(params.clone()) };
            if let Some(wrong) = world(seed, campaign(of, seed)).wrong() {
                assert!(words.iter().any(|word| wrong.contains(word)), "seed {seed}: {wrong}");
                return;
            }
        }
        panic!("{planted:?} is not found in 60 seeds");
    }

    #[test]
    fn a_reply_before_its_sync_is_found() {
        is_found(
            Planted::ReplyBeforeSync,
            Transport::Tcp,
            &["were durable", "nothing-before-its-record", "is-durable-is-kept"],
        );
    }

    #[test]
    fn a_timer_that_is_early_is_found() {
        is_found(Planted::TimerEarly, Transport::Tcp, &["the timer is not due"]);
    }

    #[test]
    fn effects_out_of_order_are_found() {
        is_found(Planted::ReorderedEffects, Transport::Tcp, &["effects-in-order"]);
    }

    #[test]
    fn a_torn_tail_that_is_accepted_is_found() {
        is_found(
            Planted::TornTailAccepted,
            Transport::Tcp,
            &["none of this protocol's", "records-are-whole", "were written"],
        );
    }

    #[test]
    fn a_message_of_an_earlier_incarnation_is_found() {
        is_found(Planted::EarlierIncarnation, Transport::Udp, &["nothing-of-an-earlier-incarnation"]);
    }

    #[test]
    fn a_seed_has_one_run() {
        let tapes = |seed| world(seed, campaign(rough(Params::default()), seed)).tapes;
        for seed in 0..5 {
            assert_eq!(tapes(seed), tapes(seed), "seed {seed}");
        }
    }
}

#[cfg(not(madsim))]
mod simulated {
    use super::*;
    use seedbed_model::Ratio;
    use seedbed_sim::{FaultMix, Network, Seed, Settings, SpanRange, simulate};

    /// On links that keep their order, as connections do.
    #[test]
    fn the_simulator_keeps_its_promises() {
        let protocol = Promises::new(Params::default());
        let settings = Settings {
            duration: Span::secs(4),
            quiet: Span::secs(1),
            clients: SpanRange { min: Span::ZERO, max: Span::millis(50) },
            network: Network { fifo: true, ..Network::default() },
            faults: FaultMix {
                crashes: 10,
                restart_min: Span::ZERO,
                restart_max: Span::millis(60),
                torn: Ratio { num: 1, den: 2 },
                ..FaultMix::default()
            },
            ..Settings::default()
        };
        let mut lost = 0;
        for seed in 0..200 {
            let run = simulate(&protocol, &settings, Seed::Number(seed), None);
            assert_eq!(run.violations, [], "seed {seed}");
            lost += run.reached.get("lost-a-record").copied().unwrap_or(0);
        }
        assert!(lost > 0, "no crash took a record");
    }
}
