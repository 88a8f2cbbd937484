//! What steps, messages and records cost: queues that delay and change nothing.

use crate::common::{Message, Probe, Step, assert_quiet, only, steady, traced, traced_plan};
use seedbed_model::{Choice, Effect, Local, NodeId, Ratio, Span};
use seedbed_sim::{Costs, DiskTimes, Fault, Plan, Settings, uncertifiable};

const SECOND: Span = Span::secs(1);

fn costly(costs: Costs) -> Settings {
    let disk = DiskTimes { sync_min: Span::millis(1), sync_max: Span::millis(1) };
    Settings { costs, disk, ..steady(Span::millis(20)) }
}

fn exact(nodes: u16) -> Probe {
    Probe { nodes, drift: Ratio::ZERO, ..Probe::default() }
}

/// When node 0 took a ping.
fn pings(steps: &[Step]) -> Vec<Span> {
    let is_ping = |step: &&Step| matches!(&step.choice, Choice::Deliver(e) if e.to.0 == 0 && matches!(e.message, Message::Ping(_)));
    steps.iter().filter(is_ping).map(|step| step.at).collect()
}

#[test]
fn steps_of_a_node_queue_behind_one_another() {
    let step = Span::millis(100);
    let (run, steps) = traced(&exact(5), &costly(Costs { step, ..Costs::default() }), 1);
    assert_quiet(&run);
    let mut at: Vec<Span> = Vec::new();
    for step in &steps {
        let is_work = match &step.choice {
            Choice::Deliver(envelope) => envelope.to.0 == 0,
            Choice::At(NodeId(0), local) => !matches!(local, Local::Start | Local::Lapse(_)),
            _ => false,
        };
        if is_work {
            at.push(step.at);
        }
    }
    assert!(at.len() > 100);
    assert!(at.windows(2).all(|pair| pair[1].0 - pair[0].0 >= step.0), "one at a time");
    // Four pings meet: the last waits for the others.
    assert!(at.windows(2).any(|pair| pair[1].0 - pair[0].0 == step.0), "they queue");
}

#[test]
fn a_message_that_is_more_work_takes_as_many_times_as_long() {
    let step = Span::millis(10);
    let heavy = Probe { ping_work: 3, ..exact(5) };
    let (run, steps) = traced(&heavy, &costly(Costs { step, ..Costs::default() }), 1);
    assert_quiet(&run);
    let at = pings(&steps);
    assert!(at.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 3 * step.0), "each takes three steps' time");
    assert!(at.windows(2).any(|pair| pair[1].0 - pair[0].0 == 3 * step.0), "they queue");
}

#[test]
fn without_costs_what_meets_is_taken_at_once() {
    let (_, steps) = traced(&exact(5), &costly(Costs::default()), 1);
    assert!(pings(&steps).windows(2).any(|pair| pair[0] == pair[1]));
}

/// A step costs less than any gap: everything happens as without, later.
#[test]
fn costs_delay_and_never_change_a_step() {
    let calm = Plan::calm();
    let (free, free_steps) = traced_plan(&exact(2), &costly(Costs::default()), &calm, 1);
    let costs = Costs { step: Span(1), ..Costs::default() };
    let (costly, costly_steps) = traced_plan(&exact(2), &costly(costs), &calm, 1);
    assert_quiet(&costly);
    assert_eq!((free.messages, &free.reached), (costly.messages, &costly.reached));
    let told = |steps: &[Step]| -> Vec<_> {
        let taken = steps.iter().filter(|step| matches!(step.choice, Choice::Deliver(_)));
        taken.map(|step| (step.choice.clone(), step.effects.clone())).collect()
    };
    let (mut before, mut after) = (told(&free_steps), told(&costly_steps));
    before.sort_by(|a, b| a.0.cmp(&b.0));
    after.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(before.len(), after.len());
    assert!(before == after, "the same messages do the same");
}

#[test]
fn what_waits_at_a_crash_is_lost_and_the_next_life_begins_idle() {
    let costs = Costs { step: SECOND * 2, ..Costs::default() };
    let crash = Fault::Crash { node: "probe-0".into(), keeps: 0, torn: false, restart: Some(SECOND * 40) };
    let (run, steps) = traced_plan(&exact(5), &costly(costs), &only(SECOND * 30, crash), 1);
    assert!(run.violations.is_empty());
    let lost = steps.iter().filter(|step| {
        step.at == SECOND * 30 && step.arrival().is_none() && matches!(&step.choice, Choice::Deliver(e) if e.to.0 == 0)
    });
    assert!(lost.count() > 3, "an overloaded node has a queue");
    assert!(!pings(&steps).iter().any(|at| *at > SECOND * 40 && *at < SECOND * 42), "its first step takes its time");
    assert!(pings(&steps).iter().any(|at| *at > SECOND * 42));
}

#[test]
fn an_uplink_is_shared_by_all_links_of_a_node() {
    let (run, steps) = traced(&exact(5), &costly(Costs { uplink: Some(100), ..Costs::default() }), 1);
    assert_quiet(&run);
    let beat = steps.iter().find(|step| {
        step.effects
            .iter()
            .any(|(node, effect)| node.0 == 1 && matches!(effect, Effect::Send { message: Message::Ping(1), .. }))
    });
    let sent = beat.expect("node 1 beats").at;
    let arrived: Vec<u64> = steps
        .iter()
        .filter(|step| matches!(&step.choice, Choice::Deliver(e) if e.from.0 == 1 && e.message == Message::Ping(1)))
        .map(|step| (step.at.0 - sent.0) / 1_000_000)
        .collect();
    assert_eq!(arrived, [40, 60, 80, 100], "two bytes take 20 ms, one message after the other");
}

#[test]
fn records_queue_at_the_disk_by_size() {
    let (_, steps) = traced(&exact(5), &costly(Costs { disk: Some(10), ..Costs::default() }), 1);
    let meeting = pings(&steps)[0];
    let synced = steps.iter().filter(|step| matches!(step.choice, Choice::At(NodeId(0), Local::Sync(_))));
    let took: Vec<u64> = synced.take(4).map(|step| (step.at.0 - meeting.0) / 1_000_000).collect();
    assert_eq!(took, [101, 201, 301, 401], "a byte takes 100 ms, and the sync its millisecond");
}

#[test]
fn what_is_written_while_a_flush_is_under_way_goes_with_the_next() {
    let (_, steps) = traced(&exact(5), &costly(Costs { flush: Span::millis(100), ..Costs::default() }), 1);
    let meeting = pings(&steps)[0];
    let synced = steps.iter().filter(|step| matches!(step.choice, Choice::At(NodeId(0), Local::Sync(_))));
    let took: Vec<u64> = synced.take(4).map(|step| (step.at.0 - meeting.0) / 1_000_000).collect();
    assert_eq!(took, [101, 201, 201, 201], "the first alone, the others together behind it");
}

#[test]
fn a_run_says_whether_the_explorer_has_its_path() {
    let ticks = Settings { tick_mode: true, ..Settings::default() };
    assert_eq!(uncertifiable(&ticks, &Plan::calm()), [""; 0]);
    assert_eq!(uncertifiable(&Settings::default(), &Plan::calm()).len(), 1);
    let costs = Costs { step: Span(1), uplink: Some(1), disk: Some(1), flush: Span(1) };
    assert_eq!(uncertifiable(&Settings { costs, ..Settings::default() }, &Plan::calm()).len(), 5);
    let jump = only(SECOND, Fault::Jump { node: "probe-0".into(), by_ns: 1 });
    assert_eq!(uncertifiable(&ticks, &jump), ["clocks jump: the explorer's have fixed offsets"]);
    let costly = Settings { costs, ..ticks };
    assert!(costly.check().unwrap_err().starts_with("tick-mode"));
}
