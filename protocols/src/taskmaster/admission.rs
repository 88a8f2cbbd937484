//! Which operations are worked on where there are more than threads (§6.1): the queues take turns, so that a queue with much
//! traffic keeps no other waiting (§6.2). The paper says that resources are divided fairly among queues, and not how; operations
//! in the order of their arrival would let a lone worker wait for all that others have asked before (`first-come`).

use seedbed_model::{Canonical, Context};

use super::message::{Observation, OpKey, Request};
use super::node::Node;
use super::task::Queue;
use super::{TaskMaster, mutants};

/// What waits for a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Admission {
    /// In the order of arrival, each under the first queue that it names.
    waiting: Vec<(Queue, OpKey, Request)>,
    /// The queue whose turn was last.
    turn: Option<Queue>,
}

impl Admission {
    /// Whether the operation waits here.
    pub fn has(&self, key: OpKey) -> bool {
        self.waiting.iter().any(|(_, other, _)| *other == key)
    }

    /// Whose turn it is: of the next queue that waits, in a circle, what came first.
    fn next(&mut self, in_order_of_arrival: bool) -> Option<(Queue, OpKey, Request)> {
        let queues = || self.waiting.iter().map(|(queue, ..)| *queue);
        let behind = queues().filter(|queue| self.turn.is_none_or(|turn| *queue > turn)).min();
        let queue = behind.or_else(|| queues().min())?;
        let place = match in_order_of_arrival {
            true => 0,
            false => self.waiting.iter().position(|(other, ..)| *other == queue)?,
        };
        let next = self.waiting.remove(place);
        self.turn = Some(next.0);
        Some(next)
    }
}

impl Node {
    /// Whether the operation has to wait for a thread, and then does.
    pub(super) fn waits_for_thread(
        &mut self,
        key: OpKey,
        request: &Request,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> bool {
        let most = rules.params.threads_of_node as usize;
        let has_to = most > 0 && self.ops.len() >= most;
        if has_to {
            let queue = first_queue(request).unwrap_or(Queue(0));
            cx.mark("waited for a thread");
            cx.observe(Observation::Waits(queue));
            self.admission.waiting.push((queue, key, request.clone()));
        }
        has_to
    }

    /// A thread is free.
    pub(super) fn admit(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let most = rules.params.threads_of_node as usize;
        while self.ops.len() < most {
            let Some((queue, key, request)) = self.admission.next(rules.has(mutants::FIRST_COME)) else { return };
            cx.observe(Observation::Admitted(queue));
            self.carry(key, request, rules, cx);
        }
    }
}

/// Which queue it is about, the first if there are several.
pub(super) fn first_queue(request: &Request) -> Option<Queue> {
    match request {
        Request::Update(update) => super::update::names(update).map(|(queue, _)| queue).min(),
        Request::Lease { queues, .. } => queues.first().copied(),
        Request::Delete(queue) | Request::Inspect(queue) => Some(*queue),
        Request::List(_) | Request::Survey(_) | Request::Batch(_) => None,
    }
}
