//! No disagreement, either way.

use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{Call, History, Interval, Judgement, Options, Outcomes, Value, Verdict, judge};

use crate::brute::{Op, has_order};
use crate::draw::{Draw, Sizes, history};

const JUDGEMENTS: [Judgement; 4] =
    [Judgement::Linearizable, Judgement::ALinearizable, Judgement::Sequential, Judgement::Session];

/// In every test run; [`many`] does the rest.
const FEW: u64 = 4_000;
const MANY: u64 = 100_000;

/// Compares the two on `count` histories, for each judgement in turn; returns how many had an order.
struct Compare {
    name: &'static str,
    count: u64,
    judgement: Judgement,
}

impl Work for Compare {
    type Result = u64;

    fn on<S: Shipped>(self, specification: &S) -> u64 {
        let sizes = Sizes { operations: 7, processes: 3 };
        let mut ordered = 0;
        for seed in 0..self.count {
            let history = history(specification, &mut Draw(seed << 8), &sizes, self.judgement);
            let wanted = has_order(specification, &ops(&history), self.judgement);
            ordered += u64::from(wanted);
            for split in [false, true] {
                let options = Options { judgement: self.judgement, split, piece: false, ..Options::default() };
                let verdict = judge(specification, &history, &options, &mut |_| true);
                let place = format!("{} {} seed {seed}, split {split}", self.name, self.judgement.name());
                assert_eq!(matches!(verdict, Verdict::Ordered(_)), wanted, "{place}: {verdict:?}\n{history:#?}");
                match verdict {
                    Verdict::Ordered(order) if self.judgement != Judgement::Session => {
                        assert!(explains(specification, &history, &order, self.judgement), "{place}: {order:?}");
                    }
                    Verdict::Violated(found) => assert!(found.end < u64::MAX, "{place}"),
                    _ => {}
                }
            }
        }
        ordered
    }
}

pub(crate) fn ops(history: &History<Call, Value>) -> Vec<Op> {
    history.intervals().iter().map(|interval| Op { interval: interval.clone(), is_free: false }).collect()
}

/// Whether the order has every answered operation once, keeps what must be kept, and explains the answers.
fn explains<S: Shipped>(
    specification: &S,
    history: &History<Call, Value>,
    order: &[usize],
    judgement: Judgement,
) -> bool {
    let intervals = history.intervals();
    let mut sorted = order.to_vec();
    sorted.sort();
    sorted.dedup();
    let is_whole = (0..intervals.len()).all(|index| intervals[index].answer.is_none() || order.contains(&index));
    let must = |a: &Interval<_, _>, b: &Interval<_, _>| {
        (judgement.is_real_time() && a.returned < b.invoked)
            || (judgement.is_in_process_order() && a.process == b.process && a.invoked < b.invoked)
    };
    let is_kept =
        (0..order.len()).all(|at| order[at + 1..].iter().all(|later| !must(&intervals[*later], &intervals[order[at]])));
    let mut states = std::collections::BTreeMap::new();
    // All states that are possible, as an answer may leave several.
    let is_explained = order.iter().all(|index| {
        let interval = &intervals[*index];
        let part = specification.part(&interval.operation);
        let before = states.remove(&part).unwrap_or_else(|| vec![specification.initial()]);
        let mut after: Vec<S::State> = Vec::new();
        for state in &before {
            let mut outcomes = Outcomes::new(interval.answer.clone());
            specification.outcomes(state, &interval.operation, &mut outcomes);
            after.extend(outcomes.into_pairs().into_iter().map(|(_, next)| next));
        }
        let is_possible = !after.is_empty();
        states.insert(part, after);
        is_possible
    });
    sorted.len() == order.len() && is_whole && is_kept && is_explained
}

fn compare_all(count: u64) {
    for name in specifications::NAMES {
        for judgement in JUDGEMENTS {
            let ordered = specifications::with(name, None, Compare { name, count, judgement }).expect("it is shipped");
            // Both verdicts must be met often, or nothing was compared.
            let range = count / 20..count - count / 20;
            assert!(range.contains(&ordered), "{name} {}: {ordered} of {count} have an order", judgement.name());
        }
    }
}

#[test]
fn the_judge_agrees_with_every_order_tried() {
    compare_all(FEW);
}

#[test]
#[ignore = "minutes, for 100,000 histories of each kind: .ci/run --full, in its step histories; 4,000 are tested always"]
fn many() {
    compare_all(MANY);
}
