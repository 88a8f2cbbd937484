//! What a node asks of the others: "each node is able to query the others to produce an aggregate response across all TaskMaster
//! nodes" (§3.5): which queues there are, with their statistics, of "any subset" that a list may name. A node that does not answer in time is named in the response: without it nobody could tell a cluster without such
//! queues from one whose nodes are down (`missing-unnamed`).

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, NodeId, Span};

use super::message::{Listing, Message, Observation, OpKey, Reply, Timer};
use super::node::Node;
use super::recovery::Phase;
use super::statistics::Flow;
use super::task::{Lease, Pid, Queue};
use super::{TaskMaster, mutants};

/// What is asked of other nodes, for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Gatherings(BTreeMap<OpKey, Gathering>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Gathering {
    /// At most so many queues; 0: all.
    most: u32,
    /// Who has not answered.
    waits: BTreeSet<NodeId>,
    /// Of each node that has, what it says of its queues.
    said: BTreeMap<NodeId, Vec<Report>>,
}

/// What a node says of a queue (§3.5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Report {
    /// Which.
    pub queue: Queue,
    /// Available tasks.
    pub available: i64,
    /// Leased tasks.
    pub leased: i64,
    /// Some of them, with their workers.
    pub sample: Vec<(Pid, Lease)>,
    /// What went through it, where statistics are kept.
    pub flow: Flow,
}

/// How many leased tasks a report shows.
const SAMPLE_MAX: usize = 3;

impl Node {
    /// What all nodes have is asked for at this one.
    pub(super) fn gather(
        &mut self,
        key: OpKey,
        listing: Listing,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let jobs = rules.jobs_of(rules.sharding_of(cx.node())).map(NodeId);
        let waits: BTreeSet<NodeId> =
            jobs.filter(|job| *job != cx.node() && !rules.has(mutants::ASKS_NOBODY)).collect();
        // A client waits for one reply at a time: it has given up what it asked before.
        self.gatherings.0.retain(|other, _| other.client != key.client);
        waits.iter().for_each(|job| cx.send(*job, Message::Gather { key, listing: listing.clone() }));
        if rules.params.gather > Span::ZERO {
            cx.set(Timer::Gather(key.client), rules.params.gather);
        }
        let said = BTreeMap::from([(cx.node(), self.reports(&listing, rules, cx))]);
        self.gatherings.0.insert(key, Gathering { most: listing.most, waits, said });
        self.gathered(key, rules, cx);
    }

    /// Another node asks.
    pub(super) fn on_gather(
        &mut self,
        from: NodeId,
        key: OpKey,
        listing: &Listing,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        if self.phase == Phase::Serving {
            let reports = self.reports(listing, rules, cx);
            cx.send(from, Message::Gathered { key, reports });
        }
    }

    /// It answers.
    pub(super) fn on_gathered(
        &mut self,
        from: NodeId,
        key: OpKey,
        reports: Vec<Report>,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let Some(gathering) = self.gatherings.0.get_mut(&key) else { return cx.mark("late answer") };
        if gathering.waits.remove(&from) {
            gathering.said.insert(from, reports);
            self.gathered(key, rules, cx);
        }
    }

    /// It has waited long enough for others.
    pub(super) fn gathered_late(&mut self, client: NodeId, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if let Some(key) = self.gatherings.0.keys().copied().find(|key| key.client == client) {
            self.aggregate(key, rules, cx);
        }
    }

    fn gathered(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if self.gatherings.0.get(&key).is_some_and(|gathering| gathering.waits.is_empty()) {
            cx.cancel(Timer::Gather(key.client));
            self.aggregate(key, rules, cx);
        }
    }

    fn aggregate(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(gathering) = self.gatherings.0.remove(&key) else { return };
        let missing = if rules.has(mutants::MISSING_UNNAMED) { BTreeSet::new() } else { gathering.waits };
        let mut queues: Vec<Report> = gathering.said.values().flatten().cloned().collect();
        queues.sort_unstable();
        queues.truncate(if gathering.most == 0 { usize::MAX } else { gathering.most as usize });
        cx.observe(Observation::Aggregated { said: gathering.said.into_keys().collect(), missing: missing.clone() });
        self.reply(key, Reply::Aggregate { queues, missing: missing.into_iter().collect() }, rules, cx);
    }

    /// Of its own queues, what is asked for.
    fn reports(&self, listing: &Listing, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Vec<Report> {
        let queues = self.listed(listing, rules, cx);
        queues.into_iter().map(|queue| self.report(queue, cx)).collect()
    }

    /// "Total queue size and leased set size", "a sample of leased tasks" with their workers, rates and lease durations (§3.5).
    pub(super) fn report(&self, queue: Queue, cx: &mut Context<'_, TaskMaster>) -> Report {
        let counter = self.counters.get(&queue).copied().unwrap_or_default();
        let leased = self.cache.of(queue).filter_map(|(pid, task)| task.lease.map(|lease| (pid, lease)));
        let sample = leased.take(SAMPLE_MAX).collect();
        let flow = self.statistics.of(queue);
        let report = Report { queue, available: counter.available, leased: counter.leased, sample, flow };
        cx.observe(Observation::Reported(report.clone()));
        report
    }
}
