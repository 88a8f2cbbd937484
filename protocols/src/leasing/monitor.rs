//! What leasing promises: one copy, one life for each generation, and word of every loss.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Event, NodeId, Property, Watch};

use super::message::{Generation, RangeId};
use super::{Leasing, Observation};

const SINGLE_COPY: &str = "single-copy";
const GENERATION_ONCE: &str = "generation-once";
const NOTIFICATION: &str = "recovery-notification";

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// Who holds each range that is held.
    holders: BTreeMap<RangeId, Holder>,
    /// The latest generation of each range that was lost.
    lost: BTreeMap<RangeId, Generation>,
    /// What each Lookup in contact told its application: the range's state is that of this generation or lost.
    told: BTreeMap<(NodeId, RangeId), Generation>,
    /// Losses that a Lookup has yet to tell, each with its deadline's id.
    untold: BTreeMap<u32, Untold>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Holder {
    node: NodeId,
    generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Untold {
    lookup: NodeId,
    range: RangeId,
    generation: Generation,
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::always(SINGLE_COPY, "no two Owners hold a range at one instant (Centrifuge §2.3.1, PRS §2.1)"),
        Property::always(
            GENERATION_ONCE,
            "once a generation of a range is lost, neither it nor an earlier one is held (PRS §4.1)",
        ),
        Property::within(
            NOTIFICATION,
            "every loss at an Owner reaches the application of every Lookup in contact within `notice` (PRS §2.1)",
        ),
        Property::sometimes("grant", "a free range is granted"),
        Property::sometimes("renewal", "a held lease gets longer"),
        Property::sometimes("recall", "the Manager takes a lease back"),
        Property::sometimes("expiry", "the Manager's margin for a lease runs out"),
        Property::sometimes("race-dropped", "two messages cross, and one is dropped for it"),
        Property::sometimes("renewal-refused", "an Owner refuses the renewal of a lease it does not know"),
        Property::sometimes("owner-restarted", "an Owner that held a lease crashes"),
        Property::sometimes("notified", "a Lookup tells its application of a loss"),
    ]
}

impl Leasing {
    pub(super) fn fold(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Held { range, generation }) => monitor.hold(node, *range, *generation, watch),
            Event::Observed(Observation::Lost { range, generation }) => {
                self.lose(monitor, node, *range, *generation, watch)
            }
            Event::Observed(Observation::Connected(generations)) => {
                monitor.told.extend(generations.iter().map(|(range, generation)| ((node, *range), *generation)));
            }
            Event::Observed(Observation::Notified { range, generation }) => {
                monitor.tell(node, *range, *generation, watch)
            }
            Event::Observed(Observation::Disconnected) => monitor.disconnect(node, watch),
            Event::Crashed => self.crash(monitor, node, watch),
            Event::Deadline(id) => self.miss(monitor, *id, watch),
            _ => {}
        }
    }

    fn lose(&self, monitor: &mut Monitor, node: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        if monitor.holders.get(&range) == Some(&Holder { node, generation }) {
            monitor.holders.remove(&range);
        }
        let latest = monitor.lost.entry(range).or_insert(generation);
        *latest = generation.max(*latest);
        for lookup in self.lookups() {
            if monitor.told.get(&(lookup, range)).is_some_and(|told| *told <= generation) {
                self.follow(monitor, Untold { lookup, range, generation }, watch);
            }
        }
    }

    fn follow(&self, monitor: &mut Monitor, untold: Untold, watch: &mut Watch<'_>) {
        let has_room = monitor.untold.is_empty() || !watch.one_at_a_time();
        if has_room && watch.follow() {
            let id = (0..).find(|id| !monitor.untold.contains_key(id)).unwrap_or(u32::MAX);
            watch.set_deadline(id, self.params.notice);
            monitor.untold.insert(id, untold);
        }
    }

    /// A crash loses whatever the node held; a crashed Lookup has no application to tell.
    fn crash(&self, monitor: &mut Monitor, node: NodeId, watch: &mut Watch<'_>) {
        let held: Vec<(RangeId, Holder)> = monitor.holders.iter().map(|(range, holder)| (*range, *holder)).collect();
        for (range, holder) in held.into_iter().filter(|(_, holder)| holder.node == node) {
            watch.reached("owner-restarted");
            self.lose(monitor, node, range, holder.generation, watch);
        }
        monitor.disconnect(node, watch);
    }

    fn miss(&self, monitor: &mut Monitor, id: u32, watch: &mut Watch<'_>) {
        if let Some(Untold { lookup, range, generation }) = monitor.untold.remove(&id) {
            let words =
                format!("{lookup:?} has not told the loss of {range:?}, {generation:?}, after {}", self.params.notice);
            watch.violated(NOTIFICATION, words);
        }
    }
}

impl Monitor {
    fn hold(&mut self, node: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        if let Some(lost) = self.lost.get(&range).filter(|lost| generation <= **lost) {
            watch.violated(
                GENERATION_ONCE,
                format!("{node:?} holds {range:?} at {generation:?}; {lost:?} was lost before"),
            );
        }
        let before = self.holders.insert(range, Holder { node, generation });
        if let Some(before) = before.filter(|before| before.node != node) {
            let words =
                format!("{:?} holds {range:?} at {:?}, and {node:?} at {generation:?}", before.node, before.generation);
            watch.violated(SINGLE_COPY, words);
        }
    }

    fn tell(&mut self, lookup: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        self.told.insert((lookup, range), generation);
        self.settle(watch, |untold| untold.lookup == lookup && untold.range == range && untold.generation < generation);
    }

    fn disconnect(&mut self, lookup: NodeId, watch: &mut Watch<'_>) {
        self.told.retain(|(node, _), _| *node != lookup);
        self.settle(watch, |untold| untold.lookup == lookup);
    }

    fn settle(&mut self, watch: &mut Watch<'_>, is_told: impl Fn(&Untold) -> bool) {
        self.untold.retain(|id, untold| {
            let told = is_told(untold);
            if told {
                watch.clear_deadline(*id);
            }
            !told
        });
    }
}
