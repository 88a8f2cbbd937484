//! Random small protocols, each with bounds that suit it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use seedbed_model::explore::{Bounds, Clock};

use crate::table::{Act, Cause, Rule, Rules, Table, Target};

/// A protocol and the bounds it is explored within.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) table: Table,
    pub(crate) bounds: Bounds,
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![3 => Just(Target::Hub), 2 => Just(Target::Sender), 1 => Just(Target::Others)]
}

/// Not the others: what waits for a record waits in the order sent, which tells two spokes apart. A protocol that has
/// interchangeable nodes must not do that.
fn one() -> impl Strategy<Value = Target> {
    prop_oneof![Just(Target::Hub), Just(Target::Sender)]
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (target(), 0u8..3).prop_map(|(target, kind)| Act::Send(target, kind)),
        3 => (0u8..2, 1u64..3).prop_map(|(timer, ticks)| Act::Set(timer, ticks)),
        1 => (0u8..2, 0u8..2).prop_map(|(from, to)| Act::Copy(from, to)),
        1 => (0u8..2).prop_map(Act::Cancel),
        1 => (0u8..3, prop::option::of((one(), 0u8..3))).prop_map(|(record, then)| Act::Persist(record, then)),
        6 => (0u8..4).prop_map(Act::Observe),
        1 => Just(Act::Bump),
    ]
}

fn cause() -> impl Strategy<Value = Cause> {
    prop_oneof![
        4 => (0u8..3).prop_map(Cause::Message),
        2 => (0u8..2).prop_map(Cause::Timer),
        1 => (0u8..3).prop_map(Cause::Durable),
        1 => (0u8..2).prop_map(Cause::Operation),
        2 => (0u8..2).prop_map(Cause::Decision),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    (0u8..3, prop::option::weighted(0.1, 0u8..3), prop::collection::vec(act(), 0..4))
        .prop_map(|(next, or, acts)| Rule { next, or, acts })
}

fn rules() -> impl Strategy<Value = Rules> {
    let on = prop::collection::btree_map((0u8..3, cause()), rule(), 5..14);
    // A node that starts by doing nothing waits for others: most do something.
    let start = prop::collection::vec(act().prop_filter("a start shows nothing", |act| !shows(*act)), 1..4);
    (start, on, prop::collection::btree_map(0u8..2, 0u8..4, 0..2)).prop_map(|(start, on, lapse)| Rules {
        start,
        on,
        lapse,
    })
}

/// The explorer does not report what falls in a start: see the test of that name.
fn shows(act: Act) -> bool {
    matches!(act, Act::Observe(_))
}

/// From state to state; state 3 is rare, or nothing else would be seen.
fn monitor() -> impl Strategy<Value = BTreeMap<(u8, u8), u8>> {
    let state = prop_oneof![3 => Just(0u8), 4 => Just(1), 4 => Just(2), 1 => Just(3)];
    prop::collection::btree_map((0u8..3, 0u8..5), state, 5..14)
}

/// Which faults may happen, and how messages travel. Where dead messages are told there are none: a dead message may be
/// lost, copied, take up a link or urge to be delivered, which a removed one cannot.
fn bounds(tells_dead: bool) -> impl Strategy<Value = Bounds> {
    let budget = || prop_oneof![3 => Just(0u32), 1 => Just(1)];
    let travel = prop_oneof![2 => Just((None, None)), 1 => (1u32..3).prop_map(|most| (Some(most), None)),
        1 => (0u32..2).prop_map(|most| (None, Some(most)))];
    let faults = (budget(), budget(), budget(), budget(), budget(), any::<bool>());
    (any::<bool>(), travel, faults).prop_map(move |(untimed, (capacity, delay), faults)| {
        let clock = if untimed { Clock::Untimed } else { Clock::Digital };
        if tells_dead {
            return Bounds { clock, ..Bounds::default() };
        }
        let (losses, duplicates, crashes, pauses, cuts, restart) = faults;
        // A full link's loss and a chosen one look alike in a script: one of the two at a time.
        let losses = if capacity.is_some() { 0 } else { losses };
        Bounds { clock, capacity, delay, losses, duplicates, crashes, pauses, cuts, restart, ..Bounds::default() }
    })
}

prop_compose! {
    fn table()(spokes in 1u16..3, (hub, spoke) in (rules(), rules()), monitor in monitor(),
        within in prop::option::weighted(0.3, 1u64..4),
        (again, then) in (prop::bool::weighted(0.4), prop::bool::weighted(0.9)), operations in 0u32..2,
        (tagged, drift, tells_dead) in (prop::bool::weighted(0.4), any::<bool>(), any::<bool>())) -> Table {
        Table {
            spokes, hub, spoke, monitor, within, again, then, operations, tagged, drift, tells_dead,
            ranked: true, planted: None,
        }
    }
}

/// What pays a debt: all but the last two must come in the end.
#[derive(Debug, Clone, Copy)]
enum Payment {
    Message,
    Timer,
    Record,
    Decision,
    Operation,
}

fn payment() -> impl Strategy<Value = Payment> {
    use Payment::{Decision, Message, Operation, Record, Timer};
    prop_oneof![3 => Just(Message), 2 => Just(Timer), 2 => Just(Record), 1 => Just(Decision), 1 => Just(Operation)]
}

/// Beside what is random, a spoke's first message makes the hub run into a debt, while a timer of the hub goes on for ever:
/// whether the debt lasts hangs on fairness alone.
fn run_into_debt(table: &mut Table, payment: Payment) {
    let rule = |next, acts| Rule { next, or: None, acts };
    let again = [0, 1].map(|at| ((at, Cause::Timer(0)), rule(at, vec![Act::Set(0, 1)])));
    table.hub.start = vec![Act::Set(0, 1)];
    table.hub.on.extend(again);
    table.hub.on.retain(|(at, _), _| *at != 2);
    table.spoke.start.push(Act::Send(Target::Hub, 0));
    let pays = || rule(1, vec![Act::Observe(1)]);
    let mut incurs = vec![Act::Observe(0)];
    match payment {
        Payment::Message => {
            incurs.push(Act::Send(Target::Sender, 1));
            table.spoke.on.extend((0..3).map(|at| ((at, Cause::Message(1)), rule(at, vec![Act::Observe(1)]))));
        }
        Payment::Timer => {
            incurs.push(Act::Set(1, 2));
            table.hub.on.insert((1, Cause::Timer(1)), pays());
        }
        Payment::Record => {
            incurs.push(Act::Persist(0, None));
            table.hub.on.insert((1, Cause::Durable(0)), pays());
        }
        Payment::Decision => drop(table.hub.on.insert((1, Cause::Decision(0)), pays())),
        Payment::Operation => {
            table.operations = 1;
            table.hub.on.extend([0, 1].map(|operation| ((1, Cause::Operation(operation)), pays())));
        }
    }
    table.hub.on.insert((0, Cause::Message(0)), rule(1, incurs));
    table.monitor = BTreeMap::from([((0, 0), 1), ((1, 1), 2)]);
    (table.within, table.then) = (None, true);
}

pub(crate) fn sample() -> impl Strategy<Value = Sample> {
    let all = table().prop_flat_map(|table| {
        (Just(table.clone()), bounds(table.tells_dead), prop::option::weighted(0.15, payment()))
    });
    all.prop_map(|(mut table, bounds, debt)| {
        if let Some(payment) = debt {
            run_into_debt(&mut table, payment);
        }
        // A counter that a crash sets back breaks the rule of tags.
        table.tagged &= bounds.crashes == 0;
        Sample { table, bounds }
    })
}
