//! What must hold of what a recovery brings back (§5.3): the tasks as they were acknowledged, and of what was in doubt what came first
//! in the log.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{NodeId, Watch};

use super::ledger::Gap;
use super::message::OpKey;
use super::monitor::Monitor;
use super::task::{Atom, Counter, Name, Queue, Row, Task, Ticket};
use super::{TaskMaster, mutants};

impl Monitor {
    /// A node has recovered, from its own log or from those that it takes over.
    pub(super) fn recovered(
        &mut self,
        node: NodeId,
        counters: &[(Queue, Counter)],
        rules: &TaskMaster,
        watch: &mut Watch<'_>,
    ) {
        let predecessors = rules.predecessors(node);
        if predecessors.is_empty() || !self.serving.takes_over(node) {
            self.recovered_from(node, &|queue| rules.is_of(queue, node), counters, rules, watch);
        } else {
            for before in predecessors {
                let is_about = |queue| rules.is_of(queue, node) && rules.is_of(queue, before);
                self.recovered_from(before, &is_about, counters, rules, watch);
            }
        }
        self.recovering.remove(&node);
    }

    /// Nothing is in progress: what is shown is what there must be, and of the doubtful in this node's log what came first.
    fn recovered_from(
        &mut self,
        node: NodeId,
        is_about: &dyn Fn(Queue) -> bool,
        counters: &[(Queue, Counter)],
        rules: &TaskMaster,
        watch: &mut Watch<'_>,
    ) {
        let counters: BTreeMap<Queue, Counter> =
            counters.iter().filter(|(queue, _)| is_about(*queue)).copied().collect();
        let generation = |queue| counters.get(&queue).map_or(0, |counter| counter.generation);
        let named = |row: Row| if rules.has(mutants::GENERATION_UNNAMED) { 0 } else { generation(row.queue) };
        let present = self.shown.iter().filter(|(row, _)| row.generation == named(**row) && is_about(row.queue));
        let present: Vec<(Name, Task)> = present.map(|(row, task)| (row.name(), *task)).collect();
        let (doubtful, promised) = self.doubtful_of(node, is_about);
        let before = (*self.due).clone();
        let mut gap = Gap::between(&self.due, &present, &counters, is_about);
        let mut recovered = 0;
        while !gap.is_closed() && recovered < doubtful.len() {
            let atom = &doubtful[recovered].1;
            let touched = self.due.touched_by(atom);
            self.due.apply(atom);
            gap.look_again(&touched, &self.due, &present, &counters);
            recovered += 1;
        }
        if !gap.is_closed() {
            let present = present.into_iter().collect();
            let (property, detail) = before.missed(&present, &doubtful, &generation, is_about);
            return watch.violated(property, detail);
        }
        if let Some((ticket, _)) = doubtful[recovered..].iter().find(|(ticket, _)| promised.contains(ticket)) {
            watch.violated("acknowledged-kept", format!("{ticket:?} was acknowledged, and is lost after the recovery"));
        }
        if recovered > 0 {
            watch.reached("doubtful-recovered");
        }
        if recovered < doubtful.len() {
            watch.reached("doubtful-discarded");
        }
        let mut queues: BTreeSet<Queue> = self.due.queues().into_iter().filter(|queue| is_about(*queue)).collect();
        queues.extend(counters.keys().copied());
        for queue in queues {
            self.recount(queue, &counters.get(&queue).copied().unwrap_or_default(), watch);
        }
    }

    /// What of a node's log was in doubt about these queues is so no longer; and which tickets of it were promised.
    fn doubtful_of(
        &mut self,
        node: NodeId,
        is_about: &dyn Fn(Queue) -> bool,
    ) -> (Vec<(Ticket, Atom)>, BTreeSet<Ticket>) {
        let all = std::mem::take(&mut self.doubtful);
        let (of_it, others) = all.into_iter().partition(|(ticket, (_, atom))| {
            ticket.incarnation.scope() == node.0 && atom.deltas.keys().all(|queue| is_about(*queue))
        });
        self.doubtful = others;
        let of_it: BTreeMap<Ticket, (OpKey, Atom)> = of_it;
        let (promised, others) =
            std::mem::take(&mut self.promised).into_iter().partition(|ticket| of_it.contains_key(ticket));
        self.promised = others;
        (of_it.into_iter().map(|(ticket, (_, atom))| (ticket, atom)).collect(), promised)
    }
}
