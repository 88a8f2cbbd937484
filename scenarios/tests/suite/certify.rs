//! The simulator and the explorer hold each other to account, on every shipped protocol.

use seedbed_model::explore::{Bounds, accepts};
use seedbed_model::{Family, Mutants, Ratio, Span, replay};
use seedbed_protocols::basics::{echo, lease_stamps, lease_timers, paxos, register};
use seedbed_protocols::{leasing, seqpair};
use seedbed_sim::{ClockSettings, FaultMix, Network, Recorder, Seed, Settings, simulate};

/// Every fault that the explorer has too, and no bound on any.
fn open() -> Bounds {
    Bounds {
        losses: 999,
        duplicates: 999,
        crashes: 99,
        pauses: 99,
        cuts: 99,
        symmetry: false,
        drop_dead: false,
        ..Bounds::default()
    }
}

fn ticking() -> Settings {
    Settings {
        tick_mode: true,
        duration: Span::secs(15),
        quiet: Span::secs(5),
        network: Network {
            delay_min: Span::ZERO,
            delay_max: Span::secs(3),
            loss: Ratio::new(1, 10),
            duplicate: Ratio::new(1, 10),
            ..Network::default()
        },
        faults: FaultMix { crashes: 1, pauses: 1, partitions: 1, ..FaultMix::default() },
        clocks: ClockSettings::default(),
        ..Settings::default()
    }
}

/// Runs `seeds` in tick mode: each is a path that the explorer accepts, and replays to itself.
fn certify<F: Family>(params: &F::Params, seeds: std::ops::Range<u64>) -> usize {
    let protocol = F::build(params, Mutants::none()).expect("the parameters make sense");
    let mut steps = 0;
    for seed in seeds {
        let mut recorder = Recorder::new(&protocol).with_script();
        simulate(&protocol, &ticking(), Seed::Number(seed), Some(&mut recorder));
        let script = recorder.into_script().expect("it was asked for");
        let refused = accepts(&protocol, &open(), &script).err();
        let step = refused.as_ref().and_then(|(index, _)| script.steps.get(*index));
        assert_eq!(refused, None, "{} seed {seed}: {step:?}", F::NAME);
        assert_eq!(replay(&protocol, &script).drift, None, "{} seed {seed}", F::NAME);
        steps += script.steps.len();
    }
    steps
}

/// One thousand in all.
#[test]
fn runs_in_tick_mode_are_paths_of_the_explorer() {
    let ticks = |count| Span::ticks(count);
    let leasing = leasing::Params {
        lease: ticks(3),
        margin: ticks(4),
        renew: ticks(1),
        poll: ticks(2),
        contact: ticks(3),
        back_off: ticks(1),
        back_off_slots: 1,
        owner_longest: Ratio::new(4, 3),
        ..leasing::Params::default()
    };
    let steps = [
        certify::<echo::Echo>(&echo::Params::default(), 0..150),
        certify::<lease_timers::LeaseTimers>(&lease_timers::Params::default(), 0..150),
        certify::<lease_stamps::LeaseStamps>(&lease_stamps::Params::default(), 0..150),
        certify::<paxos::Paxos>(&paxos::Params { rounds: 3, ..Default::default() }, 0..150),
        certify::<register::Register>(&register::Params { resends: 3, ..Default::default() }, 0..150),
        certify::<seqpair::SeqPair>(&seqpair::Params::default(), 0..200),
        certify::<leasing::Leasing>(&leasing, 0..200),
    ];
    assert!(steps.iter().all(|steps| *steps > 1_000), "too little happened to certify anything: {steps:?}");
}
