//! Everything that can be reached, set by set: for orders in which an operation may come any number of times.

use seedbed_model::history::Outcomes;
use seedbed_model::history::specifications::Shipped;

use crate::brute::Op;

/// Whether all operations that are not free can be ordered; all are of one part. Free ones come any number of times if
/// the object is finite, else once.
pub(crate) fn can_end<S: Shipped>(specification: &S, ops: &[Op]) -> bool {
    let must = |op: &Op| !op.is_free && op.interval.answer.is_some();
    let all: u32 = (0..ops.len()).filter(|index| must(&ops[*index])).map(|index| 1 << index).sum();
    let mut met = vec![(0_u32, specification.initial())];
    let mut at = 0;
    while at < met.len() {
        let (done, state) = met[at].clone();
        at += 1;
        if done & all == all {
            return true;
        }
        for (index, op) in ops.iter().enumerate().filter(|(index, _)| done & (1 << index) == 0) {
            let is_late = |other: usize| {
                must(&ops[other]) && done & (1 << other) == 0 && ops[other].interval.returned < op.interval.invoked
            };
            if (0..ops.len()).any(is_late) {
                continue;
            }
            let mut outcomes = Outcomes::new(op.interval.answer.clone().filter(|_| !op.is_free));
            specification.outcomes(&state, &op.interval.operation, &mut outcomes);
            let bit = if op.is_free && specification.is_finite() { 0 } else { 1 << index };
            for (_, next) in outcomes.into_pairs() {
                let reached = (done | bit, next);
                if !met.contains(&reached) {
                    met.push(reached);
                }
            }
        }
    }
    false
}
