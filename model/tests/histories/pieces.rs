//! A contradicting piece has no order, and with any of its operations set free it has one.

use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{Call, History, Judgement, NEVER, Options, Value, Verdict, judge};

use crate::brute::{Op, has_order};
use crate::closure::can_end;
use crate::differential::ops;
use crate::draw::{Draw, Sizes, history};

/// Cuts and tests the contradictions among `count` histories; returns how many there were.
struct Pieces(u64);

impl Work for Pieces {
    type Result = u64;

    fn on<S: Shipped>(self, specification: &S) -> u64 {
        let (sizes, mut count) = (Sizes { operations: 7, processes: 3 }, 0);
        for seed in 0..self.0 {
            let history = history(specification, &mut Draw(seed << 8), &sizes, Judgement::Linearizable);
            let Verdict::Violated(found) = judge(specification, &history, &Options::default(), &mut |_| true) else {
                continue;
            };
            count += 1;
            assert!(found.is_minimal && !found.piece.is_empty(), "seed {seed}: {found:?}");
            let part = |index: usize| specification.part(&history.intervals()[index].operation);
            let ops = |free: Option<usize>| -> Vec<Op> {
                let mut ops = ops(&history);
                let own = part(found.piece[0]);
                for (index, op) in ops.iter_mut().enumerate() {
                    op.is_free = !found.piece.contains(&index) || free == Some(index);
                }
                // Other parts and what was invoked later are no business of this one.
                ops.retain(|op| specification.part(&op.interval.operation) == own && op.interval.invoked < found.end);
                ops
            };
            assert!(!can_end(specification, &ops(None)), "seed {seed}: {found:?}");
            let alone: Vec<Op> = ops(None).into_iter().filter(|op| !op.is_free).collect();
            assert!(!has_order(specification, &alone, Judgement::Linearizable), "seed {seed}: {found:?}");
            for index in &found.piece {
                let freed = ops(Some(*index));
                assert!(can_end(specification, &freed), "seed {seed}: {index} {found:?}");
            }
            // The prefix has an order, and is the longest that has.
            assert!(found.is_longest, "seed {seed}: {found:?}");
            assert!(prefix_has_order(specification, &history, found.end), "seed {seed}: {found:?}");
            assert!(!prefix_has_order(specification, &history, found.end + 1), "seed {seed}: {found:?}");
        }
        count
    }
}

/// Whether what is answered before `end` can be explained, of all parts.
fn prefix_has_order<S: Shipped>(specification: &S, history: &History<Call, Value>, end: u64) -> bool {
    let mut prefix = ops(history);
    prefix.retain(|op| op.interval.invoked < end);
    for op in prefix.iter_mut().filter(|op| op.interval.returned >= end) {
        op.interval.answer = None;
        op.interval.returned = NEVER;
    }
    has_order(specification, &prefix, Judgement::Linearizable)
}

#[test]
fn every_piece_is_minimal_and_every_prefix_longest() {
    for name in specifications::NAMES {
        let count = specifications::with(name, None, Pieces(300)).expect("it is shipped");
        assert!(count > 10, "{name}: only {count} contradictions");
    }
}
