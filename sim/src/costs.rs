//! The time that steps take their nodes: a queue at each node, which delays inputs and changes none.

use seedbed_model::{Choice, NodeId, Phase, Protocol};

use crate::agenda::Due;
use crate::shape::served;
use crate::simulation::Simulation;

impl<P: Protocol> Simulation<'_, '_, P> {
    /// What a node takes waits until it has time; what it does not take in, or only later, costs nothing now.
    pub(crate) fn take_in_turn(&mut self, due: Due<P>) {
        match self.worker(&due) {
            Some(node) if self.phase(node) == Phase::Up => self.enqueue(node, due),
            _ => self.act(due),
        }
    }

    /// The node whose step it is, if it is one.
    fn worker(&self, due: &Due<P>) -> Option<NodeId> {
        match due {
            Due::Message(Choice::Deliver(envelope) | Choice::Duplicate(envelope)) => Some(envelope.to),
            // What is stale takes no time.
            Due::Fire(node, timer, end) => (self.world.timers[node.index()].end(timer) == Some(*end)).then_some(*node),
            Due::Sync(node, _, crash_count) => {
                let is_full = self.seats[node.index()].full_count > 0;
                (!is_full && self.world.driver.crash_count(*node) == *crash_count).then_some(*node)
            }
            Due::Invoke(node) => Some(*node),
            Due::Decide(node, id) => self.is_offered(*node, *id).then_some(*node),
            _ => None,
        }
    }

    fn enqueue(&mut self, node: NodeId, due: Due<P>) {
        let now = self.world.driver.now;
        let crash_count = self.world.driver.crash_count(node);
        let work = match &due {
            Due::Message(Choice::Deliver(envelope) | Choice::Duplicate(envelope)) => {
                self.world.protocol.message_work(&envelope.message)
            }
            _ => 1,
        };
        let seat = &mut self.seats[node.index()];
        seat.queue.push_back(due);
        let at = served(now, &mut seat.free_at, self.settings.costs.step.0.saturating_mul(work.into()));
        self.world.driver.agenda.push(at, Due::Serve(node, crash_count));
    }

    /// The node has had the time for what waits longest.
    pub(crate) fn serve(&mut self, node: NodeId, crash_count: u32) {
        if self.world.driver.crash_count(node) != crash_count {
            return;
        }
        if let Some(due) = self.seats[node.index()].queue.pop_front() {
            self.act(due);
        }
    }
}
