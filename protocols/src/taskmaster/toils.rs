//! What must hold of workers that renew the leases of long work (§3.3): who has lost one is told at its next call. So however late it
//! learns, it is not long: within `told-within` it has left off.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Span, Watch};

use super::TaskMaster;
use super::ledger::Ledger;
use super::message::Observation;
use super::task::Name;

/// What this property remembers: nothing, where `told-within` is 0s.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Toils {
    /// What each worker works on, and takes for its own.
    at: BTreeMap<NodeId, BTreeSet<Name>>,
    /// Those of which something is not their own any more.
    overtaken: BTreeSet<NodeId>,
}

/// The deadline of the first node; before it are those of others.
pub const FIRST: u32 = 1 << 17;

impl Toils {
    /// Folds an event.
    pub fn watch(
        &mut self,
        node: NodeId,
        event: &Event<TaskMaster>,
        due: &Ledger,
        rules: &TaskMaster,
        watch: &mut Watch<'_>,
    ) {
        match event {
            Event::Observed(Observation::Toils(names)) if rules.params.told_within > Span::ZERO => {
                self.at.insert(node, names.iter().copied().collect());
                self.look(due, rules, watch);
            }
            Event::Observed(Observation::Committed(..) | Observation::Recovered(_)) => self.look(due, rules, watch),
            Event::Responded(..) | Event::Crashed
                if self.at.remove(&node).is_some() && self.overtaken.remove(&node) =>
            {
                watch.clear_deadline(FIRST + u32::from(node.0));
            }
            Event::Deadline(deadline) if *deadline >= FIRST => {
                let worker = NodeId((deadline - FIRST) as u16);
                if self.overtaken.contains(&worker) {
                    let detail = format!("{worker:?} still works on {:?}", self.at.get(&worker));
                    watch.violated("told-in-time", detail);
                }
            }
            _ => {}
        }
    }

    /// Whose tasks are not theirs any more.
    fn look(&mut self, due: &Ledger, rules: &TaskMaster, watch: &mut Watch<'_>) {
        for (worker, names) in &self.at {
            let is_its =
                |name: &Name| due.task(*name).and_then(|task| task.lease).is_some_and(|lease| lease.worker == *worker);
            if !names.iter().all(is_its) && self.overtaken.insert(*worker) {
                watch.set_deadline(FIRST + u32::from(worker.0), rules.params.told_within);
            }
        }
    }
}
