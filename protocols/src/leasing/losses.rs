//! Losses that Lookups have yet to tell, each within its time: the promise of recovery notification (PRS §2.1).
//!
//! A Lookup that stands still tells nobody anything, nor can its application hear. Its contact ends meanwhile; what it owes then
//! it owes from its next step on.

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
            if monitor.told(lookup, range).is_some_and(|told| told <= generation) {
                let followed = self.follow(monitor, Untold { lookup, range, generation }, id, watch);
                id += u32::from(followed == Followed::Yes);
            }
        }
    }

    /// Of the generations of one range that a Lookup has not told as lost, each has a deadline of its own.
    fn follow(&self, monitor: &mut Monitor, untold: Untold, id: u32, watch: &mut Watch<'_>) -> Followed {
        let Untold { lookup, range, generation } = untold;
        let is_known = monitor.untold.get(&lookup).is_some_and(|losses| losses.contains_key(&(range, generation)));
        let has_room = monitor.untold.is_empty() || !watch.one_at_a_time();
        if is_known || !has_room || !watch.follow() {
            return Followed::No;
        }
        watch.set_deadline(id, self.params.notice);
        monitor.untold.entry(lookup).or_default().insert((range, generation), id);
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
        let Monitor { untold, overdue, .. } = monitor;
        for id in untold.get(&lookup).into_iter().flat_map(|losses| losses.values()) {
            if overdue.remove(id) {
                watch.set_deadline(*id, self.params.notice);
            }
        }
    }
}

impl Monitor {
    /// What a Lookup in contact told last of a range.
    pub(super) fn told(&self, lookup: NodeId, range: RangeId) -> Option<Generation> {
        self.told.get(&lookup)?.get(&range).copied()
    }

    /// Above every deadline's in force.
    fn next_id(&self) -> u32 {
        self.untold.values().flat_map(|losses| losses.values()).max().map_or(0, |id| id + 1)
    }

    fn of_deadline(&self, id: u32) -> Option<Untold> {
        let mut all = self.untold.iter().flat_map(|(lookup, losses)| losses.iter().map(move |loss| (*lookup, loss)));
        let (lookup, (&(range, generation), _)) = all.find(|(_, (_, other))| **other == id)?;
        Some(Untold { lookup, range, generation })
    }

    /// Whether the Lookup that has yet to tell the loss of that deadline may stand still.
    fn is_excused(&self, id: u32) -> bool {
        self.of_deadline(id).is_some_and(|untold| self.still.contains(&untold.lookup))
    }

    /// Removes the loss of that deadline.
    fn take(&mut self, id: u32) -> Option<Untold> {
        let found = self.of_deadline(id)?;
        self.settle(
            found.lookup,
            |range, generation| (range, generation) == (found.range, found.generation),
            &mut |_| {},
        );
        Some(found)
    }

    /// The state of the generation was not lost after all.
    pub(super) fn revive(&mut self, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        for lookup in self.untold.keys().copied().collect::<Vec<NodeId>>() {
            let is_revived = |lost, moved| (lost, moved) == (range, generation);
            self.settle(lookup, is_revived, &mut |id| watch.clear_deadline(id));
        }
    }

    pub(super) fn tell(&mut self, lookup: NodeId, range: RangeId, generation: Generation, watch: &mut Watch<'_>) {
        self.told.entry(lookup).or_default().insert(range, generation);
        self.settle(lookup, |other, lost| other == range && lost < generation, &mut |id| watch.clear_deadline(id));
    }

    pub(super) fn disconnect(&mut self, lookup: NodeId, watch: &mut Watch<'_>) {
        self.told.remove(&lookup);
        self.still.remove(&lookup);
        self.settle(lookup, |_, _| true, &mut |id| watch.clear_deadline(id));
    }

    /// Forgets the losses at a Lookup that are settled, and hands over their deadlines' ids.
    fn settle(&mut self, lookup: NodeId, is_settled: impl Fn(RangeId, Generation) -> bool, done: &mut dyn FnMut(u32)) {
        let Monitor { untold, overdue, .. } = self;
        let Some(losses) = untold.get_mut(&lookup) else { return };
        losses.retain(|(range, generation), id| {
            let settled = is_settled(*range, *generation);
            if settled && !overdue.remove(id) {
                done(*id);
            }
            !settled
        });
        if losses.is_empty() {
            untold.remove(&lookup);
        }
    }
}
