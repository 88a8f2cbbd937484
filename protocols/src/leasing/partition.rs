//! Who should have which range (Centrifuge §2.1.2; PRS §4.1, §4.5): pluggable, and never trusted with safety.
//!
//! A partitioner says where a range should be, given who is live. The leader grants a free range to that Owner, and takes
//! a range back from any other; it waits for leases as if nobody had said anything. With none, every live Owner may be
//! given every range at any time, which is how the explorer checks that safety hangs on no partitioner.

use std::collections::BTreeMap;
use std::sync::Arc;

use seedbed_model::{Mutants, NodeId, Span, hash};

use super::message::RangeId;
use super::mutants::ORDER_IGNORED;
use super::params::{Params, PartitionerKind, Variant};

/// "Each Owner gets 64 virtual nodes" (PRS §4.1, Centrifuge §2).
pub const VIRTUAL_NODES: u32 = 64;

/// And up to so many times as many where load is managed: more would have no place on the ring.
const GROWTH_MAX: u32 = 4;

/// Which Owner a range should have.
pub trait Partitioner: Send + Sync + std::fmt::Debug {
    /// The Owner, of those that are live; `None` if none is. A pure function.
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId>;

    /// The same with so many virtual nodes for each Owner, if it has any: `counts[i]` is node `i`'s. A pure function.
    fn owner_by_counts(
        &self,
        range: RangeId,
        counts: &[u32],
        is_live: &mut dyn FnMut(NodeId) -> bool,
    ) -> Option<NodeId> {
        let _ = counts;
        self.owner_of(range, is_live)
    }
}

/// The partitioner that the parameters ask for.
pub(super) fn of(params: &Params, mutants: &Mutants) -> Option<Arc<dyn Partitioner>> {
    let by_turns = mutants.has(ORDER_IGNORED);
    if params.pools == 1 {
        return of_pool(params, (1..=params.owners).map(NodeId).collect(), by_turns);
    }
    let pools = u16::from(params.pools);
    let of_pool = |pool: u16| {
        let owners = (1..=params.owners).map(NodeId).filter(|owner| (owner.0 - 1) % pools == pool);
        of_pool(params, owners.collect(), by_turns)
    };
    let namespaces: Option<Vec<_>> = (0..pools).map(of_pool).collect();
    namespaces.map(|namespaces| -> Arc<dyn Partitioner> { Arc::new(Namespaces(namespaces)) })
}

fn of_pool(params: &Params, owners: Vec<NodeId>, by_turns: bool) -> Option<Arc<dyn Partitioner>> {
    match params.partitioner {
        PartitionerKind::Free => None,
        PartitionerKind::Fixed => Some(Arc::new(Fixed { owners })),
        PartitionerKind::Ordered => Some(Arc::new(Ordered { ranges: params.ranges, owners, by_turns })),
        PartitionerKind::Hashing => {
            let growth = if params.balance > Span::ZERO { GROWTH_MAX } else { 1 };
            let count = params.virtual_nodes * growth;
            let counts = owners.into_iter().map(|owner| (owner, count)).collect();
            Some(Arc::new(ConsistentHashing::new(params.ranges, &counts)))
        }
    }
}

/// "A set of namespaces, one for each pool" (Centrifuge §2.1.2), whose ranges are dealt out by turns: a partitioner for each.
#[derive(Debug, Clone)]
struct Namespaces(Vec<Arc<dyn Partitioner>>);

impl Partitioner for Namespaces {
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId> {
        self.0[usize::from(range.0) % self.0.len()].owner_of(range, is_live)
    }
}

/// Consistent hashing over 64-bit keys: a range goes to the first live Owner round the ring from the range's first key.
#[derive(Debug, Clone)]
pub struct ConsistentHashing {
    /// `[i]` is the place in `ring` of the first virtual node from range `i`'s first key on; the ring's length, if none is.
    begins: Vec<usize>,
    /// The virtual nodes, by their place on the ring, each with its Owner and its number there.
    ring: Vec<(u64, NodeId, u32)>,
}

impl ConsistentHashing {
    /// `ranges` equal ranges of the key space, and so many virtual nodes for each Owner.
    pub fn new(ranges: u8, virtual_nodes: &BTreeMap<NodeId, u32>) -> Self {
        let mut ring: Vec<(u64, NodeId, u32)> = virtual_nodes
            .iter()
            .flat_map(|(owner, count)| (0..*count).map(|number| (place(*owner, number), *owner, number)))
            .collect();
        ring.sort_unstable();
        let begin = |range| ring.partition_point(|(key, ..)| *key < first_key(range, ranges));
        ConsistentHashing { begins: (0..ranges).map(begin).collect(), ring }
    }

    /// The virtual nodes round the ring from a range's first key on.
    fn round_from(&self, range: RangeId) -> impl Iterator<Item = &(u64, NodeId, u32)> {
        let (before, after) = self.ring.split_at(self.begins[usize::from(range.0)]);
        after.iter().chain(before)
    }
}

/// The first key of a range, of so many.
fn first_key(range: u8, ranges: u8) -> u64 {
    (u64::MAX / u64::from(ranges)) * u64::from(range)
}

/// Where a virtual node stands on the ring: no other's doing moves it.
fn place(owner: NodeId, number: u32) -> u64 {
    hash(u64::from(owner.0), &number.to_le_bytes())
}

impl Partitioner for ConsistentHashing {
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId> {
        self.round_from(range).map(|(_, owner, _)| *owner).find(|owner| is_live(*owner))
    }

    fn owner_by_counts(
        &self,
        range: RangeId,
        counts: &[u32],
        is_live: &mut dyn FnMut(NodeId) -> bool,
    ) -> Option<NodeId> {
        let has = |owner: &NodeId, number: &u32| counts.get(owner.index()).is_some_and(|count| number < count);
        let present = self.round_from(range).filter(|(_, owner, number)| has(owner, number));
        present.map(|(_, owner, _)| *owner).find(|owner| is_live(*owner))
    }
}

/// Each range has one Owner for ever, live or not.
#[derive(Debug, Clone)]
pub struct Fixed {
    owners: Vec<NodeId>,
}

impl Partitioner for Fixed {
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId> {
        let owner = *self.owners.get(usize::from(range.0) % self.owners.len().max(1))?;
        is_live(owner).then_some(owner)
    }
}

/// "Arbitrary keys" in their order (PRS §2.1): with `n` live Owners, the first `n`-th of the ranges is the first one's, and so
/// on. Whoever joins or leaves moves the borders of all.
#[derive(Debug, Clone)]
pub struct Ordered {
    ranges: u8,
    owners: Vec<NodeId>,
    /// A mutant's.
    by_turns: bool,
}

impl Partitioner for Ordered {
    fn owner_of(&self, range: RangeId, is_live: &mut dyn FnMut(NodeId) -> bool) -> Option<NodeId> {
        let live: Vec<NodeId> = self.owners.iter().copied().filter(|owner| is_live(*owner)).collect();
        let place = match self.by_turns {
            true => usize::from(range.0) % live.len().max(1),
            false => usize::from(range.0) * live.len() / usize::from(self.ranges),
        };
        live.get(place).copied()
    }
}

/// Adaptive load management, one round of it: from the Owners' reported loads, new numbers of virtual nodes.
///
/// An Owner whose load is more than 10 % above the mean gives a virtual node up, one more than 10 % below it gets one. In
/// PRS that is all (§4.5). In Centrifuge the total stays as it is (§2.1.2): what is given up goes to the least-loaded
/// Owner, "even if that least-loaded Owner is not 10% below the mean load", and what is got comes from the most loaded.
/// Nobody falls below one virtual node.
pub fn rebalanced(
    variant: Variant,
    loads: &BTreeMap<NodeId, u64>,
    virtual_nodes: &BTreeMap<NodeId, u32>,
) -> BTreeMap<NodeId, u32> {
    let mut next = virtual_nodes.clone();
    let (count, total) = (loads.len() as u64, loads.values().sum::<u64>());
    let is_above = |load: u64| load * count * 10 > total * 11;
    let is_below = |load: u64| load * count * 10 < total * 9;
    let least = loads.iter().min_by_key(|(owner, load)| (**load, **owner)).map(|(owner, _)| *owner);
    let most = loads.iter().max_by_key(|(owner, load)| (**load, **owner)).map(|(owner, _)| *owner);
    let (Some(least), Some(most)) = (least, most) else { return next };
    for (owner, load) in loads {
        let (from, to) = match (is_above(*load), is_below(*load), variant) {
            (true, _, Variant::Prs) => (Some(*owner), None),
            (true, _, Variant::Centrifuge) => (Some(*owner), Some(least)),
            (_, true, Variant::Prs) => (None, Some(*owner)),
            (_, true, Variant::Centrifuge) => (Some(most), Some(*owner)),
            _ => continue,
        };
        shift(&mut next, from, to);
    }
    next
}

/// One virtual node less at `from` and one more at `to`; nothing, if `from` has only one.
fn shift(virtual_nodes: &mut BTreeMap<NodeId, u32>, from: Option<NodeId>, to: Option<NodeId>) {
    if let Some(count) = from.and_then(|from| virtual_nodes.get_mut(&from)) {
        if *count <= 1 {
            return;
        }
        *count -= 1;
    }
    if let Some(to) = to {
        *virtual_nodes.entry(to).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn assigned(ring: &ConsistentHashing, live: &BTreeSet<u16>) -> Vec<Option<NodeId>> {
        (0..ring.begins.len() as u8)
            .map(|range| ring.owner_of(RangeId(range), &mut |owner| live.contains(&owner.0)))
            .collect()
    }

    fn ring(ranges: u8, owners: u16) -> ConsistentHashing {
        ConsistentHashing::new(ranges, &(1..=owners).map(|owner| (NodeId(owner), VIRTUAL_NODES)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whoever joins takes ranges from others for itself alone; whoever leaves gives only what it had.
        #[test]
        fn only_what_the_joining_or_leaving_owner_has_moves(
            ranges in 1u8..=200,
            live in prop::collection::btree_set(1u16..=40, 1..40),
            other in 1u16..=40,
        ) {
            let ring = ring(ranges, 40);
            let (without, with): (BTreeSet<u16>, BTreeSet<u16>) = (
                live.iter().copied().filter(|owner| *owner != other).collect(),
                live.iter().copied().chain([other]).collect(),
            );
            let (before, after) = (assigned(&ring, &without), assigned(&ring, &with));
            for (old, new) in before.iter().zip(&after) {
                prop_assert!(old == new || *new == Some(NodeId(other)), "{old:?} became {new:?}");
            }
        }

        #[test]
        fn every_range_has_a_live_owner_if_any_is_live(live in prop::collection::btree_set(1u16..=40, 0..40)) {
            let all = assigned(&ring(100, 40), &live);
            prop_assert!(all.iter().all(|owner| owner.is_some_and(|owner| live.contains(&owner.0)) != live.is_empty()));
        }

        /// Centrifuge §2.1.2: "while maintaining a constant number of virtual nodes overall".
        #[test]
        fn the_total_is_constant_in_centrifuge(loads in prop::collection::vec(0u64..1_000_000, 1..50)) {
            let loads: BTreeMap<NodeId, u64> = (1..).map(NodeId).zip(loads).collect();
            let counts: BTreeMap<NodeId, u32> = loads.keys().map(|owner| (*owner, VIRTUAL_NODES)).collect();
            let next = rebalanced(Variant::Centrifuge, &loads, &counts);
            prop_assert_eq!(next.values().sum::<u32>(), counts.values().sum::<u32>());
        }
    }

    /// Of arbitrary keys in their order, each live Owner has one run.
    #[test]
    fn each_owner_has_one_run_of_keys_in_their_order() {
        let ordered = Ordered { ranges: 10, owners: (1..=4).map(NodeId).collect(), by_turns: false };
        let placed = |live: &[u16]| -> Vec<u16> {
            let is_live = |owner: NodeId| live.contains(&owner.0);
            (0..10)
                .filter_map(|range| ordered.owner_of(RangeId(range), &mut { is_live }))
                .map(|owner| owner.0)
                .collect()
        };
        assert_eq!(placed(&[1, 2, 3, 4]), [1, 1, 1, 2, 2, 3, 3, 3, 4, 4]);
        assert_eq!(placed(&[2, 4]), [2, 2, 2, 2, 2, 4, 4, 4, 4, 4]);
        assert!(placed(&[]).is_empty());
    }

    /// A virtual node less takes ranges from its Owner alone, and one more gives ranges to it alone.
    #[test]
    fn a_virtual_node_moves_what_is_its_own() {
        let most = VIRTUAL_NODES * GROWTH_MAX;
        let ring = ConsistentHashing::new(200, &(1..=4).map(|owner| (NodeId(owner), most)).collect());
        let placed = |counts: &BTreeMap<NodeId, u32>| -> Vec<NodeId> {
            let by_node: Vec<u32> = (0..=4).map(|node| counts.get(&NodeId(node)).copied().unwrap_or(0)).collect();
            (0..200).filter_map(|range| ring.owner_by_counts(RangeId(range), &by_node, &mut |_| true)).collect()
        };
        let before: BTreeMap<NodeId, u32> = (1..=4).map(|owner| (NodeId(owner), VIRTUAL_NODES)).collect();
        let after: BTreeMap<NodeId, u32> =
            before.iter().map(|(owner, n)| (*owner, n - u32::from(owner.0 == 2) * 40)).collect();
        let (old, new) = (placed(&before), placed(&after));
        assert_eq!((old.len(), new.len()), (200, 200));
        assert!(old.iter().zip(&new).all(|(old, new)| old == new || *old == NodeId(2)));
        assert!(old != new);
    }

    #[test]
    fn an_owner_above_the_mean_gives_to_the_least_loaded() {
        let loads = BTreeMap::from([(NodeId(1), 120), (NodeId(2), 95), (NodeId(3), 97)]);
        let counts = loads.keys().map(|owner| (*owner, 64)).collect();
        let centrifuge = rebalanced(Variant::Centrifuge, &loads, &counts);
        assert_eq!(centrifuge.into_values().collect::<Vec<_>>(), [63, 65, 64]);
        let prs = rebalanced(Variant::Prs, &loads, &counts);
        assert_eq!(prs.into_values().collect::<Vec<_>>(), [63, 64, 64], "PRS keeps no total");
    }
}
