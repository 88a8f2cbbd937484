//! What must hold of a cluster (§3.4, §3.5, §5.7): who serves which group, what goes through proxies, what nodes say together.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Watch};

use super::TaskMaster;
use super::cluster::Role;
use super::message::{Answer, Observation, OpKey, Operation};
use super::task::Queue;

/// What these properties remember: nothing where there are no proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Serving {
    /// How often it was resharded.
    pub(super) sharding: u32,
    /// The nodes that serve.
    nodes: BTreeSet<NodeId>,
    /// By which sharding each proxy routes that is up.
    routing: BTreeMap<NodeId, u32>,
    /// Those that have taken over what those before them had.
    has_taken_over: BTreeSet<NodeId>,
    /// The calls that were carried out.
    carried_out: BTreeSet<OpKey>,
    /// Of each client that enqueues anywhere, which TaskMaster nodes have been up since; none, if not all proxies have been.
    seeking: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Serving {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<TaskMaster>, rules: &TaskMaster, watch: &mut Watch<'_>) {
        match event {
            Event::Crashed => self.crashed(node, rules),
            Event::Observed(Observation::Halted) => self.halted(node),
            Event::Observed(Observation::Routes(sharding)) => {
                self.routing.insert(node, *sharding);
            }
            Event::Observed(Observation::Resharded(sharding)) => {
                watch.reached("resharded");
                self.sharding = *sharding;
            }
            Event::Observed(Observation::Recovered(_)) => self.serves(node, rules, watch),
            Event::Observed(Observation::Logged { op, atom, .. }) => {
                if let Some(queue) = atom.deltas.keys().find(|queue| !rules.is_of(**queue, node)) {
                    watch.violated("served-by-one", format!("{node:?} changes {queue:?}, which is not its own"));
                }
                if !self.carried_out.insert(*op) {
                    watch.violated(
                        "carried-out-once",
                        format!("call {} of {:?} is carried out twice", op.call, op.client),
                    );
                }
            }
            Event::Observed(Observation::Aggregated { said, missing }) => {
                watch.reached(if missing.is_empty() { "aggregated" } else { "aggregated-without" });
                let jobs = rules.jobs_of(rules.sharding_of(node)).map(NodeId);
                if let Some(job) = jobs.into_iter().find(|job| !said.contains(job) && !missing.contains(job)) {
                    watch.violated("aggregates-all", format!("a list has nothing of {job:?}, and does not say so"));
                }
            }
            Event::Invoked(_, Operation::Anywhere(_)) => {
                let all_route = rules.proxies().all(|proxy| self.routing.get(&proxy) == Some(&self.sharding));
                self.seeking.insert(node, if all_route { self.nodes.clone() } else { BTreeSet::new() });
            }
            Event::Responded(_, answer) => {
                let up = self.seeking.remove(&node).unwrap_or_default();
                if let (Answer::Unknown, Some(job)) = (answer, up.first()) {
                    let detail = format!("{node:?} has enqueued nowhere, and {job:?} was up all the time");
                    watch.violated("enqueues-find-a-node", detail);
                }
            }
            _ => {}
        }
    }

    /// Whether a job takes over now what the logs of those before hold: the first time that it recovers.
    pub(super) fn takes_over(&mut self, job: NodeId) -> bool {
        self.has_taken_over.insert(job)
    }

    /// It has recovered: it is one of the sharding, and no other serves a group of its.
    fn serves(&mut self, node: NodeId, rules: &TaskMaster, watch: &mut Watch<'_>) {
        let sharding = rules.sharding_of(node);
        let others = self.nodes.iter().filter(|other| rules.sharding_of(**other) != sharding);
        for other in others {
            let queues = (0..rules.params.queues).map(Queue);
            if let Some(queue) =
                queues.into_iter().find(|queue| rules.is_of(*queue, node) && rules.is_of(*queue, *other))
            {
                let detail = format!("{node:?} serves {queue:?}, which {other:?} serves, too");
                watch.violated("served-by-one", detail);
            }
        }
        self.nodes.insert(node);
    }

    fn halted(&mut self, node: NodeId) {
        self.nodes.remove(&node);
        for up in self.seeking.values_mut() {
            up.remove(&node);
        }
    }

    fn crashed(&mut self, node: NodeId, rules: &TaskMaster) {
        match rules.role(node) {
            Role::Job => self.halted(node),
            Role::Proxy => {
                self.routing.remove(&node);
                self.seeking.clear();
            }
            _ => {
                self.seeking.remove(&node);
            }
        }
    }
}
