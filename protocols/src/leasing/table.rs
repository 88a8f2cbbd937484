//! The leader's lease table, what may be decided about it, and what requests can still do to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use seedbed_model::{Canonical, NodeId, Offers, Part, Relevance};

use super::manager::{Manager, Wanted};
use super::message::{Assignment, Generation, ManagerNumber, Message, Offer, OwnerNumber, RangeId};
use super::mutants::PARTITIONER_OVERLAPS;
use super::partition::Partitioner;
use super::{Decision, Leasing, Timer, halves};
use crate::seqpair::Pair;

/// A range in the leader's table. The assignment is what the group holds of it; the rest a new leader need not know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Entry {
    pub(super) assignment: Assignment,
    /// Whether the Owner is told to drop the lease.
    pub(super) recall: Recall,
    /// A grant that has not left yet: what it stands on is not committed.
    pub(super) unsent: Option<Offer>,
    /// What its Owner holds until it hears of the present generation: the range is a half that stays with it.
    pub(super) retained: Option<Generation>,
}

/// Whether a lease is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Recall {
    /// It is not.
    No,
    /// It is, and the range's state is given up.
    Drop,
    /// It is, and the state goes to this Owner.
    Move(NodeId),
    /// It is, as `Drop`, and the other half of the range stays.
    Split,
}

impl Entry {
    /// Nobody's, and of a generation that was never granted.
    pub(super) fn free(generation: Generation) -> Entry {
        Entry { assignment: Assignment::free(generation), recall: Recall::No, unsent: None, retained: None }
    }
    pub(super) fn is_held_by(&self, owner: NodeId) -> bool {
        self.assignment.owner == Some(owner)
    }
    pub(super) fn is_wanted_in(&self, range: RangeId, wanted: &Wanted) -> bool {
        wanted.get(&range) == Some(&self.assignment.generation)
    }
    /// Whether its Owner may be told to leave it: it is not told already, and knows which number it has.
    fn is_at_rest(&self) -> bool {
        self.recall == Recall::No && self.retained.is_none()
    }
    pub(super) fn is_moving(&self) -> bool {
        matches!(self.recall, Recall::Move(_))
    }
}

/// `[i]` belongs to range `i`.
pub(super) fn assignments(ranges: &[Part<Entry>]) -> Vec<Assignment> {
    ranges.iter().map(|entry| entry.assignment).collect()
}

pub(super) fn ids(ranges: &[Part<Entry>]) -> impl Iterator<Item = (RangeId, &Entry)> {
    (0..).map(RangeId).zip(ranges.iter().map(|entry| &**entry))
}

/// See [`Manager::decisions`]. `ready` says whether free ranges may be granted.
pub(super) fn decisions(
    ranges: &[Part<Entry>],
    counts: Option<&BTreeMap<NodeId, u32>>,
    ready: bool,
    leasing: &Leasing,
    offers: &mut Offers<'_, Leasing>,
) {
    let mut seen = Seen { reachable: vec![None; usize::from(leasing.params.owners) + 1] };
    let placing = leasing.partitioner.as_ref().map(|partitioner| Placing::new(partitioner, counts, leasing, offers));
    for (range, entry) in ids(ranges) {
        match (entry.assignment.owner, &placing) {
            (Some(owner), placing) if entry.is_at_rest() && seen.is_reachable(owner, offers) => {
                let stays = halves::is_whole(ranges, range, leasing);
                match placing {
                    None => offer_recalls(range, owner, stays, leasing, offers),
                    Some(placing) => correct(range, owner, stays, placing, leasing, offers),
                }
            }
            (None, None) if ready => offer_grants(range, leasing, offers),
            (None, Some(placing)) if ready => {
                let owner = placing.owner_of(range, &mut |owner| seen.is_reachable(owner, offers));
                owner.into_iter().for_each(|owner| offers.offer(Decision::Grant(range, owner)));
            }
            _ => {}
        }
    }
}

/// Which Owners can be reached, each asked once and not for each range.
struct Seen {
    /// `[i]` is node `i`'s; `None` until it is asked.
    reachable: Vec<Option<bool>>,
}

impl Seen {
    fn is_reachable(&mut self, owner: NodeId, offers: &mut Offers<'_, Leasing>) -> bool {
        *self.reachable[owner.index()].get_or_insert_with(|| is_reachable(owner, offers))
    }
}

/// A partitioner.
struct Placing<'a> {
    partitioner: &'a Arc<dyn Partitioner>,
    /// Where that is not fixed: how many virtual nodes each node has. Who was not heard of has none.
    counts: Option<Vec<u32>>,
}

impl<'a> Placing<'a> {
    fn new(
        partitioner: &'a Arc<dyn Partitioner>,
        counts: Option<&BTreeMap<NodeId, u32>>,
        leasing: &Leasing,
        offers: &mut Offers<'_, Leasing>,
    ) -> Self {
        let of_live = |counts: &BTreeMap<NodeId, u32>| {
            let mut by_node = vec![0; usize::from(leasing.params.owners) + 1];
            for (owner, count) in counts {
                by_node[owner.index()] = if offers.is_armed(&Timer::Heard(*owner)) { *count } else { 0 };
            }
            by_node
        };
        Placing { partitioner, counts: counts.map(of_live) }
    }

    /// `is_live` is true of nobody who was not heard of.
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId> {
        match &self.counts {
            None => self.partitioner.owner_of(range, is_live),
            Some(counts) => self.partitioner.owner_by_counts(range, counts, is_live),
        }
    }

    /// Which of the Owners that were heard of should have the range.
    fn right_owner(&self, range: RangeId, offers: &mut Offers<'_, Leasing>) -> Option<NodeId> {
        match &self.counts {
            None => self.partitioner.owner_of(range, &mut |owner| offers.is_armed(&Timer::Heard(owner))),
            Some(counts) => self.partitioner.owner_by_counts(range, counts, &mut |_| true),
        }
    }
}

/// `stays`: the other half of the range is its Owner's, and may stay.
fn offer_recalls(range: RangeId, owner: NodeId, stays: bool, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
    offers.offer(if stays { Decision::Split(range, None) } else { Decision::Recall(range) });
    if leasing.params.migration {
        offer_moves(range, owner, stays, leasing, offers);
    }
    if leasing.mutants.has(PARTITIONER_OVERLAPS) {
        offer_grants(range, leasing, offers);
    }
}

/// "When a new Owner contacts the Manager service", the leader "computes the desired new assignment of ranges to Owners,
/// recalls leases on the ranges that are now destined for the new Owner" (Centrifuge §2.1.2).
fn correct(
    range: RangeId,
    owner: NodeId,
    stays: bool,
    placing: &Placing<'_>,
    leasing: &Leasing,
    offers: &mut Offers<'_, Leasing>,
) {
    let Some(right) = placing.right_owner(range, offers) else { return };
    if right == owner {
        return;
    }
    offers.offer(match (leasing.params.migration, stays) {
        (moves, true) => Decision::Split(range, moves.then_some(right)),
        (true, false) => Decision::Move(range, right),
        (false, false) => Decision::Recall(range),
    });
    if leasing.mutants.has(PARTITIONER_OVERLAPS) && is_reachable(right, offers) {
        offers.offer(Decision::Grant(range, right));
    }
}

/// Whether the Owner was heard of lately and no answer to it waits: what the Manager decides leaves at once.
fn is_reachable(owner: NodeId, offers: &mut Offers<'_, Leasing>) -> bool {
    offers.is_armed(&Timer::Heard(owner)) && !offers.is_armed(&Timer::BackOff(owner))
}

/// A free range may go to any live Owner, or to the first few from the range's place on.
fn offer_grants(range: RangeId, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
    let mut left = usize::from(leasing.params.candidates).wrapping_sub(1);
    for owner in leasing.candidates(range) {
        if is_reachable(owner, offers) {
            offers.offer(Decision::Grant(range, owner));
            if left == 0 {
                return;
            }
            left = left.wrapping_sub(1);
        }
    }
}

/// A held range may move to any other live Owner, or to the first few from the range's place on.
fn offer_moves(range: RangeId, owner: NodeId, stays: bool, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
    let most = match leasing.params.candidates {
        0 => usize::MAX,
        candidates => usize::from(candidates),
    };
    let others = leasing.candidates(range).filter(|other| *other != owner);
    for other in others.filter(|other| offers.is_armed(&Timer::Heard(*other))).take(most).collect::<Vec<_>>() {
        offers.offer(if stays { Decision::Split(range, Some(other)) } else { Decision::Move(range, other) });
    }
}

impl Manager {
    /// What a message in flight can still do here.
    pub(super) fn relevance(&self, from: NodeId, message: &Message, leasing: &Leasing) -> Relevance<Message> {
        match message {
            Message::GroupResponse { bid, .. } if !self.awaits(*bid) => Relevance::Dead,
            // A server may lead again, in another term, and find in the group what it had given up.
            _ if !leasing.has_no_group() => Relevance::Live,
            Message::LeaseRequest { pair, wanted, received } => {
                self.request_relevance(from, *pair, wanted, received, leasing)
            }
            Message::LookupRequest { poll, known: Some(known) } if !self.log.reaches_back_to(*known, leasing) => {
                Relevance::Same(Message::LookupRequest { poll: *poll, known: None })
            }
            _ => Relevance::Live,
        }
    }

    fn request_relevance(
        &self,
        from: NodeId,
        pair: Pair<OwnerNumber, ManagerNumber>,
        wanted: &Wanted,
        received: &Wanted,
        leasing: &Leasing,
    ) -> Relevance<Message> {
        let Some(link) = self.links.get(&from) else { return Relevance::Always };
        let acts_as = match link.relevance(pair, leasing.manager_checks()) {
            Relevance::Dead => return Relevance::Dead,
            Relevance::Same(other) => other,
            Relevance::Live | Relevance::Always => pair,
        };
        // A generation that has passed counts as not listed, for good; but for what stays when a range splits.
        let is_present = |range: &RangeId, generation: &Generation| {
            let entry = self.ranges.get(usize::from(range.0));
            leasing.params.halves || entry.is_some_and(|entry| entry.assignment.generation == *generation)
        };
        let present = |listed: &Wanted| -> Wanted {
            listed.iter().filter(|(range, generation)| is_present(range, generation)).map(|(r, g)| (*r, *g)).collect()
        };
        let (counted, arrived) = (present(wanted), present(received));
        if acts_as == pair && counted == *wanted && arrived == *received {
            return Relevance::Live;
        }
        Relevance::Same(Message::LeaseRequest { pair: acts_as, wanted: counted, received: arrived })
    }
}
