//! What leasing promises: one copy, one life for each generation, and word of every loss.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Property, Span, Watch};

use super::apps::watched::Watched;
use super::message::{Generation, RangeId};
use super::together::{Feature, Had};
use super::{Leasing, Observation, PartitionerKind};

const SINGLE_COPY: &str = "single-copy";
const GENERATION_ONCE: &str = "generation-once";
const SETTLED: &str = "settled";

/// The deadline of `settled`: no loss has it.
const PROGRESS: u32 = u32::MAX;

const CLEAN_MIGRATION: &str = "clean-migration";
const NO_FALSE_ALARM: &str = "no-false-alarm";
const ONE_LEADER: &str = "one-leader";
const IN_ORDER: &str = "in-order";
const VIRTUAL_NODES_KEPT: &str = "virtual-nodes-kept";
pub(super) const NOTIFICATION: &str = "recovery-notification";

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// The latest generation of each range that was ever held.
    pub(super) lives: BTreeMap<RangeId, Life>,
    /// What each Lookup in contact told its application: the range's state is that of this generation or lost.
    pub(super) told: BTreeMap<NodeId, BTreeMap<RangeId, Generation>>,
    /// Which Manager server leads.
    pub(super) leader: Option<NodeId>,
    /// Losses that each Lookup has yet to tell, with their deadlines' ids. No map in it is empty.
    pub(super) untold: BTreeMap<NodeId, BTreeMap<(RangeId, Generation), u32>>,
    /// Lookups whose contact has ended and that took no step since.
    pub(super) still: BTreeSet<NodeId>,
    /// Deadlines of losses that passed meanwhile: such a Lookup has `notice` from its next step on.
    pub(super) overdue: BTreeSet<u32>,
    /// What those of the applications do.
    apps: Watched,
    /// The most Owners that ever had more than twice the mean load, while all ranges were held.
    hot_most: u16,
    /// What of `together` the run has had.
    pub(super) had: Had,
}

/// The life of a generation: from its first holding to its loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Life {
    pub(super) generation: Generation,
    /// Who holds it; `None` once it is lost, or moved elsewhere.
    pub(super) holder: Option<NodeId>,
    /// Of a half: the generation that its state goes back to.
    since: Generation,
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::always(SINGLE_COPY, "no two Owners hold a range at one instant (Centrifuge §2.3.1, PRS §2.1)"),
        Property::always(
            GENERATION_ONCE,
            "once a generation of a range is lost, nobody holds it or an earlier one again, so that a handle, which is a \
             generation, cannot outlive a break (PRS §4.1, §4.3)",
        ),
        Property::always(
            CLEAN_MIGRATION,
            "a lease that was given as cleanly migrated is held with the state of the lease before it (Centrifuge §2.1.2)",
        ),
        Property::always(
            NO_FALSE_ALARM,
            "where ranges split, no Lookup tells of the loss of what it knew and is held still (Centrifuge §2.2, Figure 4)",
        ),
        Property::always(ONE_LEADER, "no two Manager servers lead at one instant (Centrifuge §2.1.1, PRS §4.4)"),
        Property::always(
            VIRTUAL_NODES_KEPT,
            "adaptive load management keeps the number of virtual nodes in Centrifuge (§2.1.2)",
        ),
        Property::within(
            NOTIFICATION,
            "every loss at an Owner reaches the application of every Lookup in contact within `notice`, or, if contact ends while \
             the Lookup stands still, within `notice` of its next step (PRS §2.1)",
        ),
        Property::within(
            SETTLED,
            "after the last fault is healed, every range has an Owner and every Lookup in contact the newest table within \
             `progress`, where a partitioner drives the assignment (Centrifuge §2.1.2, §2.2)",
        ),
        Property::within(
            IN_ORDER,
            "after the last fault is healed, each Owner has one run of ranges within `progress`, where these are runs of \
             arbitrary keys in their order (PRS §2.1)",
        ),
        Property::sometimes("grant", "a free range is granted"),
        Property::sometimes("renewal", "a held lease gets longer"),
        Property::sometimes("recall", "the Manager takes a lease back"),
        Property::sometimes("expiry", "the Manager's margin for a lease runs out"),
        Property::sometimes("race-dropped", "two messages cross, and one is dropped for it"),
        Property::sometimes("renewal-refused", "an Owner refuses the renewal of a lease it does not know"),
        Property::sometimes("owner-restarted", "an Owner that held a lease crashes"),
        Property::sometimes("failover", "a server leads after another term"),
        Property::sometimes("lease-resumed", "a lease that an earlier leader granted gets longer under a new one"),
        Property::sometimes("migrated", "a range's state arrives where it was to go, and the lease with it"),
        Property::sometimes("rebalanced", "the leader gives virtual nodes from Owner to Owner by their loads"),
        Property::sometimes("split", "half of a range leaves its Owner"),
        Property::sometimes("retained", "an Owner takes the new number of the half that stays with it"),
        Property::sometimes("kept", "a Lookup learns that a range was cleanly migrated, and is silent"),
        Property::sometimes(
            "load-spread",
            "at most half as many Owners as at worst have more than twice the mean load (PRS §7.3, Figure 10)",
        ),
        Property::sometimes("notified", "a Lookup tells its application of a loss"),
        Property::sometimes("together", "a run has had all that `together` names"),
    ]
}

impl Leasing {
    pub(super) fn fold(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        let Monitor { lives, apps, .. } = monitor;
        let holder =
            |range: RangeId| lives.get(&range).and_then(|life| life.holder.map(|holder| (holder, life.generation)));
        apps.fold(self, node, event, holder, watch);
        match event {
            Event::Observed(Observation::Held { range, generation, from, migrated }) => {
                monitor.hold(node, *range, *generation, from.filter(|_| self.params.halves), watch);
                self.count_hot(monitor, watch);
                if monitor.lives.values().filter(|life| life.holder.is_some()).count() > 1 {
                    self.have(monitor, node, Feature::TwoRanges, watch);
                }
                if from != migrated {
                    let words = format!("{node:?} holds {range:?} at {generation:?} without the state of {migrated:?}");
                    watch.violated(CLEAN_MIGRATION, words);
                }
                if let Some(from) = from {
                    monitor.revive(*range, *from, watch);
                }
            }
            // What is under way may never arrive: it is lost, unless it does.
            Event::Observed(Observation::Lost { range, generation } | Observation::Moved { range, generation }) => {
                self.lose(monitor, node, *range, *generation, watch)
            }
            Event::Observed(Observation::Connected(generations)) => {
                drop(monitor.told.insert(node, generations.clone()));
            }
            Event::Observed(Observation::Notified { range, generation }) => {
                if self.params.halves {
                    monitor.check_alarm(node, *range, *generation, watch);
                }
                monitor.tell(node, *range, *generation, watch)
            }
            Event::Observed(Observation::Kept { range, generation }) => {
                monitor.told.entry(node).or_default().insert(*range, *generation);
            }
            Event::Observed(Observation::Leads) => monitor.lead(node, watch),
            Event::Observed(Observation::Deposed) => monitor.leader = monitor.leader.filter(|leader| *leader != node),
            Event::Observed(Observation::Disconnected) => monitor.disconnect(node, watch),
            Event::Observed(Observation::OutOfContact) => drop(monitor.still.insert(node)),
            Event::Observed(Observation::FoundOut) => self.move_again(monitor, node, watch),
            Event::Observed(Observation::Had(feature)) => self.have(monitor, node, *feature, watch),
            Event::Observed(Observation::Rebalanced(total)) => {
                let right = u32::from(self.params.owners) * self.params.virtual_nodes;
                if *total != right {
                    watch.violated(VIRTUAL_NODES_KEPT, format!("the Owners have {total} virtual nodes, not {right}"));
                }
            }
            Event::Crashed => self.crash(monitor, node, watch),
            Event::Healed if self.params.progress > Span::ZERO => watch.set_deadline(PROGRESS, self.params.progress),
            Event::Deadline(PROGRESS) => self.check_settled(monitor, watch),
            Event::Deadline(id) if Watched::is_own(*id) => {}
            Event::Deadline(id) => self.miss(monitor, *id, watch),
            _ => {}
        }
    }

    /// A crash loses whatever the node held; a crashed Lookup has no application to tell.
    fn crash(&self, monitor: &mut Monitor, node: NodeId, watch: &mut Watch<'_>) {
        let lives: Vec<(RangeId, Life)> = monitor.lives.iter().map(|(range, life)| (*range, *life)).collect();
        for (range, life) in lives.into_iter().filter(|(_, life)| life.holder == Some(node)) {
            watch.reached("owner-restarted");
            self.have_crashed(monitor);
            monitor.apps.crashed(self, range, life.generation, watch);
            self.lose(monitor, node, range, life.generation, watch);
        }
        monitor.disconnect(node, watch);
        monitor.leader = monitor.leader.filter(|leader| *leader != node);
    }

    /// PRS §7.3, Figure 10: "several servers are significantly more than 40% loaded" where the average is 20 %, and fewer
    /// after an hour.
    fn count_hot(&self, monitor: &mut Monitor, watch: &mut Watch<'_>) {
        let held = |monitor: &Monitor| monitor.lives.values().filter(|life| life.holder.is_some()).count();
        if !self.is_adaptive() || held(monitor) < usize::from(self.params.ranges) {
            return;
        }
        let mut loads: BTreeMap<NodeId, u64> = self.owners().map(|owner| (owner, 0)).collect();
        for (range, life) in &monitor.lives {
            life.holder.into_iter().for_each(|holder| *loads.entry(holder).or_default() += self.popularity(*range));
        }
        let total: u64 = loads.values().sum();
        let is_hot = |load: &u64| load * loads.len() as u64 > total * 2;
        let hot = loads.values().filter(|load| is_hot(load)).count() as u16;
        monitor.hot_most = monitor.hot_most.max(hot);
        if hot * 2 <= monitor.hot_most && monitor.hot_most > 1 {
            watch.reached("load-spread");
        }
    }

    /// Each Owner has one run of the keys in their order.
    fn check_order(&self, monitor: &Monitor, watch: &mut Watch<'_>) {
        let holders: Vec<NodeId> = monitor.lives.values().filter_map(|life| life.holder).collect();
        let borders = holders.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if borders >= holders.iter().collect::<BTreeSet<_>>().len().max(1) {
            watch.violated(IN_ORDER, format!("the ranges are held by {holders:?}, in the order of their keys"));
        }
    }

    /// Every range has an Owner, and whoever is in contact knows which lease it is.
    fn check_settled(&self, monitor: &Monitor, watch: &mut Watch<'_>) {
        if self.params.partitioner == PartitionerKind::Ordered {
            self.check_order(monitor, watch);
        }
        let life = |range| monitor.lives.get(&range).filter(|life| life.holder.is_some());
        if let Some(range) = self.ranges().find(|range| life(*range).is_none()) {
            watch.violated(SETTLED, format!("nobody holds {range:?}, {} after the last fault", self.params.progress));
        }
        let mut told =
            monitor.told.iter().flat_map(|(lookup, told)| told.iter().map(move |(range, told)| (lookup, range, told)));
        let late = told.find(|(_, range, told)| life(**range).is_some_and(|life| life.generation != **told));
        if let Some((lookup, range, told)) = late {
            let words =
                format!("{lookup:?} knows {told:?} of {range:?}, {} after the last fault", self.params.progress);
            watch.violated(SETTLED, words);
        }
    }
}

impl Monitor {
    /// `from`: a half, and the generation of its state.
    fn hold(
        &mut self,
        node: NodeId,
        range: RangeId,
        generation: Generation,
        from: Option<Generation>,
        watch: &mut Watch<'_>,
    ) {
        let of_state =
            |from| self.lives.get(&range).filter(|life| life.generation == from).map_or(from, |life| life.since);
        let since = from.map_or(generation, of_state);
        let Some(before) = self.lives.insert(range, Life { generation, holder: Some(node), since }) else { return };
        match before.holder {
            Some(holder) if holder != node => {
                let words =
                    format!("{holder:?} holds {range:?} at {:?}, and {node:?} at {generation:?}", before.generation);
                watch.violated(SINGLE_COPY, words);
            }
            _ if generation <= before.generation => {
                let words =
                    format!("{node:?} holds {range:?} at {generation:?}; {:?} was lost before", before.generation);
                watch.violated(GENERATION_ONCE, words);
            }
            _ => {}
        }
    }

    /// The state that the Lookup knew is there still, and the generation that it is told of has it.
    fn check_alarm(&self, lookup: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        let Some(told) = self.told(lookup, range) else { return };
        let lives = |life: &Life| life.generation == generation && life.since <= told && life.holder.is_some();
        if self.lives.get(&range).is_some_and(lives) {
            let words =
                format!("{lookup:?} tells of a loss of {range:?}, {told:?}, whose state is there at {generation:?}");
            watch.violated(NO_FALSE_ALARM, words);
        }
    }

    fn lead(&mut self, node: NodeId, watch: &mut Watch<'_>) {
        if let Some(other) = self.leader.replace(node).filter(|other| *other != node) {
            watch.violated(ONE_LEADER, format!("{other:?} leads, and {node:?} too"));
        }
    }
}
