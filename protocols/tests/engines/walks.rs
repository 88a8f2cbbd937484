//! The small protocols under random walks: properties hold, walks replay, and what protocols promise of their messages,
//! names and encodings is true.

use std::collections::BTreeMap;

use crate::walk::{Faults, Permuting, Walk, end_of, fixed_picks, renamed};
use proptest::prelude::*;
use seedbed_model::{
    Context, Data, Effect, Effects, Family, Host, Input, Mutants, NodeId, Protocol, Relevance, Renaming, Script,
    ScriptStep, Span, Stamp, Surroundings, decoding, encoding, replay,
};
use seedbed_protocols::basics::{echo, lease_stamps, lease_timers, paxos};

fn whole<F: Family<Protocol = F> + Protocol>(params: &F::Params) -> F {
    F::build(params, Mutants::none()).expect("the parameters make sense")
}

fn echo() -> echo::Echo {
    whole(&echo::Params { clients: 2, ..Default::default() })
}

fn lease_timers() -> lease_timers::LeaseTimers {
    whole(&lease_timers::Params::default())
}

fn lease_stamps() -> lease_stamps::LeaseStamps {
    whole(&lease_stamps::Params::default())
}

fn paxos() -> paxos::Paxos {
    whole(&paxos::Params { clients: 2, rounds: 4, retry_slots: 2, ..Default::default() })
}

/// Servers that propose are not interchangeable: two that are need a client that asks neither.
fn paxos_with_spectators() -> paxos::Paxos {
    whole(&paxos::Params { clients: 1, rounds: 1, ..Default::default() })
}

/// Each pick is one draw: which of the enabled choices, or an answer.
fn picks() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 1..300)
}

/// Checked at the end of a walk of the whole protocol.
fn check<P: Protocol>(protocol: &P, picks: Vec<u32>) {
    let walk = Walk::new(protocol, Faults::SOME, picks).run();
    assert_eq!(walk.world.violations, [], "the whole protocol falls: {:#?}", walk.script);
    check_replay(protocol, &walk);
    check_encodings(&walk);
}

fn check_replay<P: Protocol>(protocol: &P, walk: &Walk<P>) {
    let pinned: Vec<ScriptStep<P>> = decoding(&encoding(&walk.script)).expect("a script comes back from its bytes");
    assert_eq!(pinned, walk.script);
    let (first, second) = (replay(protocol, &Script::new(walk.script.clone())), replay(protocol, &Script::new(pinned)));
    assert_eq!(first.drift, None);
    assert_eq!(first, second);
    let world = end_of(protocol, &walk.script);
    assert_eq!(encoding(&world.hosts), encoding(&walk.world.hosts));
    assert_eq!(world.monitor, walk.world.monitor);
    assert_eq!(world.driver.flight, walk.world.driver.flight);
}

struct Identity;
impl Renaming for Identity {}

fn check_encodings<P: Protocol>(walk: &Walk<P>) {
    check_encoding(&walk.world.monitor);
    for host in &walk.world.hosts {
        check_encoding(host);
    }
    for (_, effect) in &walk.world.driver.effects {
        match effect {
            Effect::Send { message, .. } => check_encoding(message),
            Effect::Persist { record, .. } => check_encoding(record),
            Effect::Set { timer, .. } => check_encoding(timer),
            Effect::Happened(event) => check_encoding(event),
            _ => {}
        }
    }
}

fn check_encoding<T: Data>(value: &T) {
    assert_eq!(decoding(&encoding(value)).as_ref(), Ok(value));
    assert_eq!(&renamed(value, &mut Identity), value);
}

/// A message called dead stays dead and, whenever it is delivered, changes nothing.
fn check_dead<P: Protocol>(protocol: &P, picks: Vec<u32>) -> usize {
    let mut walk = Walk::new(protocol, Faults::SOME, picks);
    let mut dead = Vec::new();
    let mut delivered = 0;
    while walk.step() {
        let in_flight = walk.world.driver.flight.clone();
        dead.retain(|envelope| in_flight.contains(envelope));
        for envelope in in_flight {
            let Some(state) = walk.world.state(envelope.to) else { continue };
            let relevance = protocol.relevance(envelope.to, state, envelope.from, &envelope.message);
            let was_dead = dead.contains(&envelope);
            assert!(!was_dead || relevance == Relevance::Dead, "{envelope:?} came back to life at {state:?}");
            if relevance == Relevance::Dead {
                let input = Input::Message { from: envelope.from, message: envelope.message.clone() };
                check_inert(protocol, envelope.to, state, input);
                delivered += 1;
                dead.push(envelope);
            }
        }
    }
    delivered
}

/// Whether timers are armed, the clock and draws must not matter to a dead message: they are the worst.
struct Hostile(bool);

impl<T> Surroundings<T> for Hostile {
    fn is_armed(&mut self, _: &T) -> bool {
        self.0
    }
    fn clock(&mut self) -> Stamp {
        Stamp::of_clock(0)
    }
    fn choose(&mut self, count: u32) -> u32 {
        count - 1
    }
}

fn check_inert<P: Protocol>(protocol: &P, node: NodeId, state: &P::State, input: Input<P>) {
    for is_armed in [false, true] {
        let mut after = state.clone();
        let mut effects = Effects::new();
        let mut surroundings = Hostile(is_armed);
        protocol.step(&mut after, input.clone(), &mut Context::new(node, &mut effects, &mut surroundings));
        assert_eq!(&after, state, "{input:?} is called dead and changes the state");
        let done = effects.iter().find(|effect| !matches!(effect, Effect::Mark(_)));
        assert_eq!(done, None, "{input:?} is called dead and has effects");
    }
}

/// Permuting the nodes of a class in a script permutes what comes of it, and nothing else.
fn check_symmetry<P: Protocol>(protocol: &P, picks: Vec<u32>) {
    let script = Walk::new(protocol, Faults::SOME, picks).run().script;
    let end = end_of(protocol, &script);
    for class in protocol.symmetry() {
        let rotated = class.iter().cycle().skip(1);
        let images: BTreeMap<NodeId, NodeId> = class.iter().copied().zip(rotated.copied()).collect();
        let names = &mut Permuting(&images);
        let other = end_of(protocol, &renamed(&script, names));
        for (node, host) in end.hosts.iter().enumerate() {
            let image = *images.get(&NodeId(node as u16)).unwrap_or(&NodeId(node as u16));
            let (expected, found) = (unordered(renamed(host, names)), unordered(other.hosts[image.index()].clone()));
            assert_eq!(expected, found, "{image:?} after {script:#?}");
        }
        assert_eq!(renamed(&end.monitor, names), other.monitor);
    }
}

/// What waits for a record leaves all at once: a broadcast's order, lowest id first, has no meaning and does not permute.
fn unordered<P: Protocol>(mut host: Host<P>) -> Host<P> {
    host.disk.tail.iter_mut().for_each(|unsynced| unsynced.held.sort());
    host
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn echo_holds_and_replays(picks in picks()) {
        check(&echo(), picks);
    }

    #[test]
    fn lease_timers_holds_and_replays(picks in picks()) {
        check(&lease_timers(), picks);
    }

    #[test]
    fn lease_stamps_holds_and_replays(picks in picks()) {
        check(&lease_stamps(), picks);
    }

    #[test]
    fn paxos_holds_and_replays(picks in picks()) {
        check(&paxos(), picks);
    }

    #[test]
    fn lease_stamps_holds_on_clocks_within_the_bound(picks in picks(), ticks in prop::collection::vec(-1i64..=1, 3)) {
        let mut walk = Walk::new(&lease_stamps(), Faults::SOME, picks);
        walk.world.driver.offsets = ticks.iter().map(|tick| tick * Span::TICK.0 as i64).collect();
        prop_assert_eq!(walk.run().world.violations, []);
    }

    #[test]
    fn permuting_interchangeable_nodes_changes_nothing(picks in picks()) {
        check_symmetry(&echo(), picks.clone());
        check_symmetry(&lease_timers(), picks.clone());
        check_symmetry(&lease_stamps(), picks.clone());
        check_symmetry(&paxos_with_spectators(), picks);
    }
}

/// The walks are fixed, so that the count of dead messages shows that the test tests something.
#[test]
fn dead_messages_stay_dead_and_change_nothing() {
    let mut delivered = [0; 3];
    for seed in 0..200u32 {
        let picks = fixed_picks(seed, 300);
        delivered[0] += check_dead(&echo(), picks.clone());
        delivered[1] += check_dead(&lease_timers(), picks.clone());
        delivered[2] += check_dead(&paxos(), picks);
    }
    assert!(delivered.iter().all(|count| *count > 500), "too few dead messages met: {delivered:?}");
}

/// Whether `property` falls in one of the first `WALK_COUNT_MAX` fixed walks of the protocol without a mechanism.
/// `offsets` [ticks] are those of the nodes' clocks; one left out is 0.
fn falls<F>(params: &F::Params, offsets: &[i64], mutant: &str, property: &str) -> bool
where
    F: Family<Protocol = F> + Protocol,
{
    let mutants = Mutants::named(F::mutants(), [mutant]).expect("the mutant exists");
    let protocol = F::build(params, mutants).expect("the parameters make sense");
    (0..WALK_COUNT_MAX).any(|seed| {
        let mut walk = Walk::new(&protocol, Faults::SOME, fixed_picks(seed, 300));
        for (clock, ticks) in walk.world.driver.offsets.iter_mut().zip(offsets) {
            *clock = ticks * Span::TICK.0 as i64;
        }
        walk.run().world.violations.iter().any(|violation| violation.property == property)
    })
}

const WALK_COUNT_MAX: u32 = 5_000;

/// The walks can fail: blind as they are, they meet the fall of these mutants. The explorer meets that of all.
#[test]
fn walks_meet_the_fall_of_mutants() {
    assert!(falls::<echo::Echo>(&echo::Params::default(), &[], "no-number-check", "answer-fits"));
    for mutant in ["from-receipt", "no-margin", "no-number-check", "no-start-wait"] {
        let params = lease_timers::Params::default();
        assert!(falls::<lease_timers::LeaseTimers>(&params, &[], mutant, "single-holder"), "{mutant} survived");
    }
    for (mutant, offsets) in [("grant-before-durable", [0, 0]), ("no-offset-margin", [1, -1])] {
        let params = lease_stamps::Params::default();
        assert!(falls::<lease_stamps::LeaseStamps>(&params, &offsets, mutant, "single-holder"), "{mutant} survived");
    }
    for mutant in ["ignore-accepted", "small-quorum", "accept-below-promise"] {
        let params = paxos::Params { clients: 2, rounds: 4, ..Default::default() };
        assert!(falls::<paxos::Paxos>(&params, &[], mutant, "agreement"), "{mutant} survived");
    }
}
