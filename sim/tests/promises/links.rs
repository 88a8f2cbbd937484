//! What links do to messages, each promise both ways.

use crate::common::{Message, Probe, Step, assert_quiet, only, settings, steady, traced, traced_plan};
use seedbed_model::{Choice, Effect, NodeId, Ratio, Span};
use seedbed_sim::{Fault, Network, Plan, Settings, Ways};

const SECOND: Span = Span::secs(1);

/// Pings from one node to another: when each was sent, and when it arrived. Whole only where none is lost.
fn pings(steps: &[Step], from: u16, to: u16) -> Vec<(Span, Span)> {
    let is_ping = |effect: &(NodeId, Effect<Probe>)| matches!(effect, (node, Effect::Send { to: at, message: Message::Ping(_), .. }) if (node.0, at.0) == (from, to));
    let sent = steps.iter().filter(|step| step.effects.iter().any(is_ping)).map(|step| step.at);
    let arrived = steps.iter().filter(|step| {
        matches!(&step.choice, Choice::Deliver(e) if (e.from.0, e.to.0) == (from, to) && matches!(e.message, Message::Ping(_)))
    });
    sent.zip(arrived.map(|step| step.at)).collect()
}

fn side() -> Vec<String> {
    vec!["probe-0".into()]
}

#[test]
fn flapping_links_lose_and_pass_in_turn() {
    let probe = Probe { nodes: 4, ..Probe::default() };
    // A message a tenth of a second: something arrives in every phase.
    let settings = Settings { duration: SECOND * 600, ..steady(Span::millis(10)) };
    let flap = Fault::Flap { side: side(), ways: Ways::Both, down: SECOND * 7, up: SECOND * 5, end: SECOND * 300 };
    let (run, steps) = traced_plan(&probe, &settings, &only(SECOND * 60, flap), 1);
    assert_quiet(&run);
    let is_cut =
        |at: Span| at > SECOND * 60 && at < SECOND * 300 && (at.0 - 60 * SECOND.0) % (12 * SECOND.0) < 7 * SECOND.0;
    let (mut lost, mut passed) = (0, 0);
    for step in &steps {
        let Choice::Deliver(envelope) = &step.choice else { continue };
        let crosses = (envelope.from.0 == 0) != (envelope.to.0 == 0);
        let arrived = step.arrival().is_some();
        assert_eq!(
            arrived,
            !(crosses && is_cut(step.at)),
            "{} at {}",
            if crosses { "across" } else { "beside" },
            step.at
        );
        lost += u32::from(!arrived);
        passed += u32::from(arrived && crosses && step.at > SECOND * 60 && step.at < SECOND * 300);
    }
    assert!(lost > 50 && passed > 50, "{lost} lost, {passed} passed");
    let cuts = steps.iter().filter(|step| matches!(step.choice, Choice::Cut(..))).count();
    assert_eq!(cuts, 20 * 6, "twenty times, three links each way");
}

#[test]
fn a_flap_in_force_is_healed_with_the_rest() {
    let flap = Fault::Flap { side: side(), ways: Ways::Out, down: SECOND * 7, up: SECOND, end: SECOND * 900 };
    let (run, steps) = traced_plan(&Probe::default(), &settings(), &only(SECOND * 10, flap), 1);
    assert_quiet(&run);
    assert!(
        !steps.iter().any(|step| step.at > SECOND * 60 && matches!(step.choice, Choice::Cut(..) | Choice::Heal(..)))
    );
    assert!(pings(&steps, 0, 1).iter().any(|(_, at)| *at > SECOND * 60));
}

#[test]
fn slow_links_slow_one_way_for_their_while_alone() {
    let slow = Fault::SlowLinks {
        side: side(),
        ways: Ways::Out,
        factor: Ratio::new(10, 1),
        added: Span::millis(500),
        end: SECOND * 40,
    };
    let (run, steps) = traced_plan(&Probe::default(), &steady(Span::millis(20)), &only(SECOND * 20, slow), 1);
    assert_quiet(&run);
    let took = |from, to| pings(&steps, from, to).into_iter().map(|(sent, at)| (sent, Span(at.0 - sent.0)));
    let is_slow = |sent: Span| sent >= SECOND * 20 && sent < SECOND * 40;
    assert!(took(0, 1).all(|(sent, took)| took == Span::millis(if is_slow(sent) { 700 } else { 20 })));
    assert!(took(0, 1).any(|(sent, _)| is_slow(sent)) && took(0, 1).any(|(sent, _)| !is_slow(sent)));
    assert!(took(1, 0).chain(took(1, 2)).all(|(_, took)| took == Span::millis(20)), "the other way is as before");
}

/// Two bytes for a ping's variant and number.
fn limited(bandwidth: Option<u64>) -> Settings {
    let steady = steady(Span::millis(20));
    Settings { network: Network { bandwidth, ..steady.network.clone() }, ..steady }
}

#[test]
fn a_limited_link_takes_time_by_size_and_an_unlimited_one_none() {
    let probe = Probe { drift: Ratio::ZERO, ..Probe::default() };
    let took = |bandwidth| {
        let (run, steps) = traced(&probe, &limited(bandwidth), 1);
        assert_quiet(&run);
        pings(&steps, 0, 1).into_iter().map(|(sent, at)| Span(at.0 - sent.0)).collect::<Vec<_>>()
    };
    assert!(took(None).iter().all(|took| *took == Span::millis(20)));
    // A ping is alone on its link: the pong of the other way comes later.
    assert!(took(Some(100)).iter().all(|took| *took == Span::millis(40)), "{:?}", took(Some(100)));
    assert!(took(Some(1)).iter().all(|took| *took >= Span::millis(2_020)));
}

#[test]
fn messages_of_a_slow_link_queue_behind_one_another_and_reach_their_receiver_in_order() {
    // Four bytes every four seconds fill the link to the brim.
    let (_, steps) = traced(&Probe::default(), &limited(Some(1)), 1);
    let arrivals: Vec<Span> =
        steps.iter().filter(|step| step.arrival() == Some((NodeId(0), NodeId(1)))).map(|step| step.at).collect();
    assert!(arrivals.len() > 10);
    assert!(arrivals.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 2 * SECOND.0), "{arrivals:?}");
}

#[test]
fn bandwidth_without_faults_draws_the_same_delays() {
    let wide = Settings { network: Network { bandwidth: Some(u64::MAX), ..Network::default() }, ..settings() };
    let (limited, _) = traced_plan(&Probe::default(), &wide, &Plan::calm(), 1);
    let (free, _) = traced_plan(&Probe::default(), &settings(), &Plan::calm(), 1);
    assert_eq!(free.messages, limited.messages, "a byte takes a nanosecond");
}
