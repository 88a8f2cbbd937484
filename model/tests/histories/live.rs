//! The configurations of a monitor against the judge of a whole history: the same verdict, at the same answer.

use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{
    Call, Configurations, History, Judgement, NEVER, Options, Standing, Value, Verdict, judge,
};
use seedbed_model::{NodeId, OpId};

use crate::draw::{Draw, Sizes, history};

/// What becomes of an operation that is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unanswered {
    /// It is in flight for ever.
    InFlight,
    /// Its client crashes right after the invocation.
    Crash,
    /// All are of one client, which is told that nobody knows.
    LeftOpen,
}

/// The answer with which the operations of the first one's part have no order any more, as the configurations see it.
fn fallen_at<S: Shipped>(specification: &S, history: &History<Call, Value>, unanswered: Unanswered) -> Option<u64> {
    let intervals = history.intervals();
    // Instant, operation, whether it is answered here.
    let mut events: Vec<(u64, usize, bool)> = Vec::new();
    for (index, interval) in intervals.iter().enumerate() {
        events.push((interval.invoked, index, false));
        if interval.returned != NEVER {
            events.push((interval.returned, index, true));
        }
    }
    events.sort();
    let mut configurations = Configurations::default();
    for (at, index, is_answered) in events {
        let (interval, op) = (&intervals[index], OpId(index as u32));
        let client = NodeId(if unanswered == Unanswered::LeftOpen { 0 } else { index as u16 });
        match &interval.answer {
            Some(answer) if is_answered => match configurations.responded(specification, client, op, answer) {
                Standing::Ordered => {}
                Standing::Violated => return Some(at),
                Standing::GivenUp => panic!("too many configurations of a small history"),
            },
            answer => {
                configurations.invoked(specification, client, op, interval.operation.clone());
                match unanswered {
                    Unanswered::Crash if answer.is_none() => configurations.crashed(specification, client),
                    Unanswered::LeftOpen if answer.is_none() => configurations.left_open(specification, client, op),
                    _ => {}
                }
            }
        }
    }
    None
}

/// Compares on `count` histories; returns how many fell.
struct Compare(u64);

impl Work for Compare {
    type Result = u64;

    fn on<S: Shipped>(self, specification: &S) -> u64 {
        let (sizes, mut fallen) = (Sizes { operations: 7, processes: 3 }, 0);
        for seed in 0..self.0 {
            let mut history = history(specification, &mut Draw(seed << 8), &sizes, Judgement::Linearizable);
            let parts: Vec<S::Part> =
                history.intervals().iter().map(|interval| specification.part(&interval.operation)).collect();
            history.retain(|index| parts[index] == parts[0]);
            let wanted = match judge(specification, &history, &Options::default(), &mut |_| true) {
                Verdict::Violated(found) => Some(found.end),
                _ => None,
            };
            fallen += u64::from(wanted.is_some());
            for unanswered in [Unanswered::InFlight, Unanswered::Crash, Unanswered::LeftOpen] {
                let found = fallen_at(specification, &history, unanswered);
                assert_eq!(found, wanted, "seed {seed}, {unanswered:?}: {history:#?}");
            }
        }
        fallen
    }
}

#[test]
fn configurations_fall_where_the_judge_says() {
    for name in specifications::NAMES {
        let fallen = specifications::with(name, None, Compare(1_000)).expect("it is shipped");
        assert!(fallen > 50, "{name}: only {fallen} fell");
    }
}

#[test]
fn too_many_configurations_are_given_up_and_nothing_is_judged_after() {
    let register = specifications::Register { initial: Value::from(0) };
    let mut configurations = Configurations::default();
    for client in 0..20 {
        configurations.invoked(&register, NodeId(client), OpId(0), Call::new("write", i64::from(client)));
    }
    configurations.invoked(&register, NodeId(20), OpId(0), Call::new("read", Value::Nil));
    let mut answer = |value: i64| configurations.responded(&register, NodeId(20), OpId(0), &value.into());
    assert_eq!(answer(-1), Standing::GivenUp);
    assert_eq!(answer(-1), Standing::Ordered);
    configurations.invoked(&register, NodeId(20), OpId(1), Call::new("read", Value::Nil));
    assert_eq!(configurations.responded(&register, NodeId(20), OpId(1), &(-1).into()), Standing::Ordered);
}

/// What clients may still see is all that is told apart: two histories that left the same are one state.
#[test]
fn histories_that_leave_the_same_are_one_state() {
    let register = specifications::Register { initial: Value::from(0) };
    let after = |writes: &[i64]| {
        let mut configurations = Configurations::default();
        for (index, value) in writes.iter().enumerate() {
            let op = OpId(index as u32);
            configurations.invoked(&register, NodeId(0), op, Call::new("write", *value));
            assert_eq!(configurations.responded(&register, NodeId(0), op, &Value::Nil), Standing::Ordered);
        }
        configurations
    };
    assert_eq!(after(&[1, 2, 3]), after(&[2, 3]));
    assert_ne!(after(&[1, 2, 3]), after(&[3, 2]));
}
