//! The configurations of a monitor against the judge of a whole history: the same verdict, at the same answer.

use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{
    Call, Configurations, History, Judgement, NEVER, Options, Standing, Value, Verdict, judge,
};
use seedbed_model::{NodeId, OpId};

use crate::draw::{Draw, Sizes, history};

/// The answer with which the operations of the first one's part have no order any more, as the configurations see it.
/// Unanswered operations are in flight for ever, or their clients crash right after the invocation.
fn fallen_at<S: Shipped>(specification: &S, history: &History<Call, Value>, crashes: bool) -> Option<u64> {
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
        let client = NodeId(index as u16);
        match &interval.answer {
            Some(answer) if is_answered => match configurations.responded(specification, client, op, answer) {
                Standing::Ordered => {}
                Standing::Violated => return Some(at),
                Standing::GivenUp => panic!("too many configurations of a small history"),
            },
            answer => {
                configurations.invoked(client, op, interval.operation.clone());
                if answer.is_none() && crashes {
                    configurations.crashed(specification, client);
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
            for crashes in [false, true] {
                let found = fallen_at(specification, &history, crashes);
                assert_eq!(found, wanted, "seed {seed}, crashes {crashes}: {history:#?}");
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
