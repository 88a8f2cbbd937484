//! What happens in the background: checkpoints of the counters (§5.3), and the reaper of deleted queues (§5.2).

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context};

use super::message::{Minimum, Place, Read, Write};
use super::node::Node;
use super::recovery::Phase;
use super::task::{Queue, Row, Task, Ticket};
use super::{TaskMaster, mutants};

/// "These counters then periodically checkpoint their state to the data store and update the minimum ticket which has been
/// successfully applied."
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Checkpoint {
    /// "Only checkpointing the counters that changed since the previous checkpoint."
    pub changed: BTreeSet<Queue>,
    /// The one that is being written.
    pub writing: Option<Writing>,
    /// How many may still be begun, where they are decisions.
    pub left: u32,
}

/// A checkpoint under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Writing {
    /// Counters that are not durable yet, by their timestamps.
    pub counters: BTreeMap<Queue, Ticket>,
    /// What becomes the minimum ticket once they are: when the checkpoint began, all up to it was applied, and counted.
    pub minimum: u32,
}

impl Node {
    /// Whether a checkpoint would write anything.
    pub(super) fn has_to_checkpoint(&self, rules: &TaskMaster) -> bool {
        let is_behind = self.log.minimum < self.minimum_now(rules) || !self.checkpoint.changed.is_empty();
        self.phase == Phase::Serving && self.checkpoint.writing.is_none() && is_behind
    }

    fn minimum_now(&self, rules: &TaskMaster) -> u32 {
        if rules.has(mutants::MINIMUM_PAST_PENDING) { self.log.committed } else { self.log.applied() }
    }

    pub(super) fn write_checkpoint(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if !self.has_to_checkpoint(rules) {
            return;
        }
        let mut counters = BTreeMap::new();
        for queue in std::mem::take(&mut self.checkpoint.changed) {
            let counter = self.counters[&queue];
            if let Some(upto) = counter.upto {
                counters.insert(queue, upto);
                self.write(upto, Write::Counter(queue, counter), rules, cx);
            }
        }
        self.checkpoint.writing = Some(Writing { counters, minimum: self.minimum_now(rules) });
        self.write_minimum(rules, cx);
    }

    /// Once the counters are durable.
    fn write_minimum(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(writing) = self.checkpoint.writing.as_ref().filter(|writing| writing.counters.is_empty()) else {
            return;
        };
        if writing.minimum == self.log.minimum {
            self.checkpoint.writing = None;
            return;
        }
        let ticket = self.log.ticket(writing.minimum);
        let durable = self.log.ticket(self.log.minimum);
        let trimmed = if rules.has(mutants::TRIMS_AHEAD) { ticket } else { durable };
        let minimum = Minimum { owner: self.nonce, ticket, trimmed };
        self.write(self.version_of_minimum(ticket), Write::Minimum(minimum), rules, cx);
    }

    pub(super) fn on_checkpointed(
        &mut self,
        version: Ticket,
        place: Place,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let Some(writing) = &mut self.checkpoint.writing else { return };
        match place {
            Place::Counter(queue) if writing.counters.get(&queue) == Some(&version) => {
                writing.counters.remove(&queue);
                self.write_minimum(rules, cx);
            }
            Place::Minimum if writing.counters.is_empty() && version.number == writing.minimum + 1 => {
                self.log.minimum = writing.minimum;
                self.checkpoint.writing = None;
                cx.mark("checkpointed");
            }
            _ => {}
        }
    }

    /// "A background thread lazily reaps the tasks from the deleted queues."
    pub(super) fn reap(&mut self, queue: Queue, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if rules.params.reaper {
            self.read(None, Read::Old(queue, self.counters[&queue].generation), rules, cx);
        }
    }

    pub(super) fn on_old(
        &mut self,
        read: Read,
        tasks: &[(Row, Task)],
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let Read::Old(queue, generation) = read else { return };
        // Later than all that was ever written to these rows.
        let version = self.log.ticket(self.log.committed);
        for (row, _) in tasks.iter().filter(|(row, _)| row.queue == queue && row.generation < generation) {
            cx.mark("reaped");
            self.write(version, Write::Task(*row, None), rules, cx);
        }
    }
}
