//! Ranges that split into halves (Centrifuge §2.2.1, Figure 4).
//!
//! With `halves`, ranges `2i` and `2i + 1` are the halves of one range, which is whole while one Owner has both. A whole range
//! is granted at once; when it splits, one half leaves and the other stays where it is. What stays gets a new number, as
//! in Figure 4 (CA6), and the flag that its state is there still (`split-unflagged`): its Owner takes the new number for
//! the one that it holds, and only for that. What leaves has the flag if its state leaves with it (`split-flags-both`).
//!
//! An Owner that has not heard of its new number lists the old one. It holds that, so the leader waits for it; and since it
//! takes the new number only for the old, the offer may come again, as no grant may.

use seedbed_model::Part;

use super::manager::{Cx, Manager, Wanted, index};
use super::message::RangeId;
use super::mutants::SPLIT_UNFLAGGED;
use super::table::{Entry, Recall};
use super::{Leasing, NodeId};

/// The other half of a range.
fn other_half(range: RangeId) -> RangeId {
    RangeId(range.0 ^ 1)
}

/// Whether both halves are one Owner's, and neither leaves or waits for anything.
pub(super) fn is_whole(ranges: &[Part<Entry>], range: RangeId, leasing: &Leasing) -> bool {
    let at_rest = |half: RangeId| {
        let entry = &ranges[index(half)];
        entry.recall == Recall::No && entry.unsent.is_none() && entry.retained.is_none()
    };
    let owner = |half: RangeId| ranges[index(half)].assignment.owner;
    let other = other_half(range);
    leasing.params.halves && owner(range).is_some() && owner(range) == owner(other) && at_rest(range) && at_rest(other)
}

impl Leasing {
    /// Whether what the Owner lists of the range may be an older number of a half that stays with it.
    pub(super) fn may_be_retained(&self, range: RangeId, wanted: &Wanted) -> bool {
        self.params.halves && wanted.contains_key(&range)
    }
}

impl Manager {
    /// The half that is granted with this one.
    pub(super) fn free_half(&self, range: RangeId, leasing: &Leasing) -> Option<RangeId> {
        let other = other_half(range);
        (leasing.params.halves && self.ranges[index(other)].assignment.owner.is_none()).then_some(other)
    }

    /// "This change split the range [1-9] between the Owners B and C, and the lease generation numbers have been modified as
    /// well": this half leaves, the other gets a new number where it is.
    pub(super) fn split(&mut self, range: RangeId, to: Option<NodeId>, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("split");
        self.recall(range, to.map_or(Recall::Split, Recall::Move), leasing, cx);
        let stays = other_half(range);
        let before = self.ranges[index(stays)].assignment;
        let generation = self.generation_after(before.generation, leasing);
        let entry = &mut self.ranges[index(stays)];
        entry.assignment.generation = generation;
        if leasing.mutants.has(SPLIT_UNFLAGGED) {
            entry.assignment.since = generation;
        }
        entry.retained = Some(before.generation);
        self.note_change(stays, leasing, cx);
    }

    /// Whoever lists the new number of what stayed has heard of it.
    pub(super) fn note_retained(&mut self, from: NodeId, wanted: &Wanted, leasing: &Leasing) {
        if !leasing.params.halves {
            return;
        }
        for range in leasing.ranges() {
            let entry = &self.ranges[index(range)];
            if entry.is_held_by(from) && entry.retained.is_some() && entry.is_wanted_in(range, wanted) {
                self.ranges[index(range)].retained = None;
            }
        }
    }
}
