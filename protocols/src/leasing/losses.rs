//! Losses that Lookups have yet to tell, each within its time: the promise of recovery notification (PRS §2.1).
//!
//! A Lookup that stands still tells nobody anything, nor can its application hear. Its contact ends meanwhile; what it owes then
//! it owes from its next step on.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use seedbed_model::{NodeId, Watch};

use super::Leasing;
use super::message::{Generation, RangeId};
use super::monitor::{Monitor, NOTIFICATION};

/// Whether a loss is followed from here on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Followed {
    Yes,
    No,
}

#[derive(Clone, Copy)]
struct Untold {
    lookup: NodeId,
    range: RangeId,
    generation: Generation,
}

impl Leasing {
    pub(super) fn lose(
        &self,
        monitor: &mut Monitor,
        node: NodeId,
        range: RangeId,
        generation: Generation,
        watch: &mut Watch<'_>,
    ) {
        if let Some(life) = monitor.lives.get_mut(&range) {
            life.holder = life.holder.filter(|holder| (*holder, life.generation) != (node, generation));
        }
        let mut id = monitor.next_id();
        for lookup in self.lookups().chain(self.owners().filter(|_| self.servers_look_up())) {
            if monitor.told.get(&(lookup, range)).is_some_and(|told| *told <= generation) {
                let followed = self.follow(monitor, Untold { lookup, range, generation }, id, watch);
                id += u32::from(followed == Followed::Yes);
            }
        }
    }

    /// Of the generations of one range that a Lookup has not told as lost, each has a deadline of its own.
    fn follow(&self, monitor: &mut Monitor, untold: Untold, id: u32, watch: &mut Watch<'_>) -> Followed {
        let Untold { lookup, range, generation } = untold;
        let is_known = monitor.untold.get(&(lookup, range)).is_some_and(|losses| losses.contains_key(&generation));
        let has_room = monitor.untold.is_empty() || !watch.one_at_a_time();
        if is_known || !has_room || !watch.follow() {
            return Followed::No;
        }
        watch.set_deadline(id, self.params.notice);
        monitor.untold.entry((lookup, range)).or_default().insert(generation, id);
        Followed::Yes
    }

    pub(super) fn miss(&self, monitor: &mut Monitor, id: u32, watch: &mut Watch<'_>) {
        if monitor.is_excused(id) {
            monitor.overdue.insert(id);
        } else if let Some(Untold { lookup, range, generation }) = monitor.take(id) {
            let words =
                format!("{lookup:?} has not told the loss of {range:?}, {generation:?}, after {}", self.params.notice);
            watch.violated(NOTIFICATION, words);
        }
    }

    /// A Lookup whose contact has ended runs: it has yet to tell what it could not while it stood still.
    pub(super) fn move_again(&self, monitor: &mut Monitor, lookup: NodeId, watch: &mut Watch<'_>) {
        if !monitor.still.remove(&lookup) {
            return;
        }
        let of_lookup = monitor.untold.range(Monitor::all_of(lookup)).flat_map(|(_, losses)| losses.values().copied());
        for id in of_lookup.collect::<Vec<u32>>() {
            if monitor.overdue.remove(&id) {
                watch.set_deadline(id, self.params.notice);
            }
        }
    }
}

impl Monitor {
    /// Above every deadline's in force.
    fn next_id(&self) -> u32 {
        self.untold.values().flat_map(BTreeMap::values).max().map_or(0, |id| id + 1)
    }

    /// Whether the Lookup that has yet to tell the loss of that deadline may stand still.
    fn is_excused(&self, id: u32) -> bool {
        let awaits = |losses: &BTreeMap<Generation, u32>| losses.values().any(|other| *other == id);
        self.untold.iter().any(|((lookup, _), losses)| awaits(losses) && self.still.contains(lookup))
    }

    /// The keys of what belongs to a Lookup.
    fn all_of(lookup: NodeId) -> RangeInclusive<(NodeId, RangeId)> {
        (lookup, RangeId(0))..=(lookup, RangeId(u8::MAX))
    }

    /// Removes the loss of that deadline.
    fn take(&mut self, id: u32) -> Option<Untold> {
        let found = self.untold.iter().find_map(|((lookup, range), losses)| {
            let (generation, _) = losses.iter().find(|(_, other)| **other == id)?;
            Some(Untold { lookup: *lookup, range: *range, generation: *generation })
        })?;
        self.settle(found.lookup, found.range, |generation| generation == found.generation, &mut |_| {});
        Some(found)
    }

    /// The state of the generation was not lost after all.
    pub(super) fn revive(&mut self, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        let lookups: Vec<NodeId> =
            self.untold.keys().filter(|(_, other)| *other == range).map(|(lookup, _)| *lookup).collect();
        for lookup in lookups {
            self.settle(lookup, range, |moved| moved == generation, &mut |id| watch.clear_deadline(id));
        }
    }

    pub(super) fn tell(&mut self, lookup: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        self.told.insert((lookup, range), generation);
        self.settle(lookup, range, |lost| lost < generation, &mut |id| watch.clear_deadline(id));
    }

    pub(super) fn disconnect(&mut self, lookup: NodeId, watch: &mut Watch<'_>) {
        self.told.retain(|(node, _), _| *node != lookup);
        self.still.remove(&lookup);
        let ranges: Vec<RangeId> = self.untold.range(Monitor::all_of(lookup)).map(|((_, range), _)| *range).collect();
        for range in ranges {
            self.settle(lookup, range, |_| true, &mut |id| watch.clear_deadline(id));
        }
    }

    /// Forgets the losses of a range at a Lookup that are settled, and hands over their deadlines' ids.
    fn settle(
        &mut self,
        lookup: NodeId,
        range: RangeId,
        is_settled: impl Fn(Generation) -> bool,
        done: &mut dyn FnMut(u32),
    ) {
        let Monitor { untold, overdue, .. } = self;
        let Some(losses) = untold.get_mut(&(lookup, range)) else { return };
        losses.retain(|generation, id| {
            let settled = is_settled(*generation);
            if settled && !overdue.remove(id) {
                done(*id);
            }
            !settled
        });
        if losses.is_empty() {
            self.untold.remove(&(lookup, range));
        }
    }
}
