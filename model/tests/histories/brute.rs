//! Every order, one after the other, without memory and without cunning.

use std::collections::BTreeMap;

use seedbed_model::history::Call;
use seedbed_model::history::specifications::Shipped;
use seedbed_model::history::{Interval, Judgement, NEVER, Outcomes, Value};

/// An operation as the brute sees it.
#[derive(Clone)]
pub(crate) struct Op {
    pub(crate) interval: Interval<Call, Value>,
    /// Whether it may come at any time after its invocation or never, with any answer.
    pub(crate) is_free: bool,
}

/// Whether some order explains every answer.
pub(crate) fn has_order<S: Shipped>(specification: &S, ops: &[Op], judgement: Judgement) -> bool {
    if judgement == Judgement::Session {
        return ops.iter().all(|viewer| {
            let process = viewer.interval.process;
            let seen = |op: &&Op| {
                op.interval.process == process
                    || !specification.keeps(&op.interval.operation, op.interval.answer.as_ref())
            };
            let view: Vec<Op> = ops.iter().filter(seen).cloned().collect();
            orders(specification, &view, judgement, &mut vec![false; view.len()], &BTreeMap::new())
        });
    }
    orders(specification, ops, judgement, &mut vec![false; ops.len()], &BTreeMap::new())
}

fn orders<S: Shipped>(
    specification: &S,
    ops: &[Op],
    judgement: Judgement,
    done: &mut Vec<bool>,
    states: &BTreeMap<S::Part, S::State>,
) -> bool {
    if ops.iter().zip(&*done).all(|(op, done)| *done || may_miss(op)) {
        return true;
    }
    for index in 0..ops.len() {
        if done[index] || !(0..ops.len()).all(|other| done[other] || !is_before(&ops[other], &ops[index], judgement)) {
            continue;
        }
        let op = &ops[index];
        // What was passed over never comes: an unanswered operation of a client before a later one of it.
        let before = done.clone();
        for other in 0..ops.len() {
            done[other] |= may_miss(&ops[other]) && is_in_order(&ops[other], op, judgement);
        }
        done[index] = true;
        let part = specification.part(&op.interval.operation);
        let state = states.get(&part).cloned().unwrap_or_else(|| specification.initial());
        let mut outcomes = Outcomes::new(op.interval.answer.clone().filter(|_| !op.is_free));
        specification.outcomes(&state, &op.interval.operation, &mut outcomes);
        for (_, next) in outcomes.into_pairs() {
            let mut states = states.clone();
            states.insert(part.clone(), next);
            if orders(specification, ops, judgement, done, &states) {
                return true;
            }
        }
        *done = before;
    }
    false
}

fn may_miss(op: &Op) -> bool {
    op.is_free || op.interval.returned == NEVER
}

/// Whether `a` must come before `b`, as it cannot be missed.
fn is_before(a: &Op, b: &Op, judgement: Judgement) -> bool {
    let is_earlier = judgement.is_real_time() && a.interval.returned < b.interval.invoked;
    !may_miss(a) && (is_earlier || is_in_order(a, b, judgement))
}

/// Whether `a` is an earlier operation of the same client, where that counts.
fn is_in_order(a: &Op, b: &Op, judgement: Judgement) -> bool {
    judgement.is_in_process_order()
        && !a.is_free
        && !b.is_free
        && a.interval.process == b.interval.process
        && a.interval.invoked < b.interval.invoked
}
