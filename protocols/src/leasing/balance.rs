//! Adaptive load management: "each Owner reports its load", and the leader gives virtual nodes from who has too much to who
//! has too little (Centrifuge §2.1.2, PRS §4.5).
//!
//! An Owner's load is how often its keys are asked for: each key by its rank in a Zipf distribution, as PRS §7.3 draws them. It
//! is a number that goes with each request; nothing is asked. What the leader makes of it is a hint like the partitioner's:
//! no lease hangs on it, so it is not committed, and a new leader begins with 64 virtual nodes for each Owner.

use std::collections::BTreeMap;
use std::sync::Arc;

use seedbed_model::{Canonical, Context, NodeId, Span, hash};

use super::message::{Message, RangeId};
use super::mutants::{LOAD_IGNORED, TOTAL_NOT_KEPT};
use super::partition::rebalanced;
use super::{Leasing, Manager, Observation, Owner, Params, Timer, Variant};

type Cx<'a> = Context<'a, Leasing>;

/// What the leader knows of loads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Balance {
    /// How many virtual nodes each Owner has.
    pub(super) counts: BTreeMap<NodeId, u32>,
    /// What each Owner last reported in this round.
    loads: BTreeMap<NodeId, u64>,
}

impl Leasing {
    pub(super) fn is_adaptive(&self) -> bool {
        self.params.balance > Span::ZERO
    }

    /// How much the keys of a range are asked for.
    pub(super) fn popularity(&self, range: RangeId) -> u64 {
        self.popularity.get(usize::from(range.0)).copied().unwrap_or(0)
    }

    pub(super) fn new_balance(&self) -> Option<Balance> {
        let counts = self.owners().map(|owner| (owner, self.params.virtual_nodes)).collect();
        self.is_adaptive().then_some(Balance { counts, loads: BTreeMap::new() })
    }
}

/// "A Zipf distribution of skewed key popularity" with α = 0.8 (PRS §7.3) over as many keys as there are. `[i]` belongs to
/// range `i`, in which a key is by its hash.
pub(super) fn popularity(params: &Params) -> Arc<[u64]> {
    let mut loads = vec![0; usize::from(params.ranges)];
    if params.balance > Span::ZERO {
        for rank in 1..=params.keys {
            let range = hash(0, &rank.to_le_bytes()) % u64::from(params.ranges);
            loads[range as usize] += weight(u64::from(rank));
        }
    }
    loads.into()
}

/// A million by the power 4/5 of the rank: the largest whole number whose fifth power times the rank's fourth is at most
/// that of a million.
fn weight(rank: u64) -> u64 {
    let most = 10u128.pow(30) / u128::from(rank).pow(4);
    let (mut low, mut high) = (0u64, 1_000_000);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if u128::from(middle).pow(5) <= most {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

impl Owner {
    /// "Owners report request rate" with their requests for leases.
    pub(super) fn report_load(&self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if leasing.is_adaptive() {
            let held = leasing.ranges().filter(|range| self.held(*range, cx).is_some()).collect::<Vec<_>>();
            let load = held.into_iter().map(|range| leasing.popularity(range)).sum();
            leasing.send_to_manager(self.leader(), Message::Load(load), cx);
        }
    }
}

impl Manager {
    pub(super) fn on_load(&mut self, owner: NodeId, load: u64, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(balance) = &mut self.balance else { return cx.mark("input out of place") };
        balance.loads.insert(owner, load);
        if !cx.is_armed(&Timer::Balance) {
            cx.set(Timer::Balance, leasing.params.balance);
        }
    }

    /// A round: every Owner that reported counts.
    pub(super) fn rebalance(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(balance) = &mut self.balance else { return };
        let loads = std::mem::take(&mut balance.loads);
        let total: u64 = loads.values().sum();
        let is_hot = |load: &&u64| **load * loads.len() as u64 > total * 2;
        loads.values().filter(is_hot).for_each(|_| cx.mark("owner-hot"));
        if leasing.mutants.has(LOAD_IGNORED) {
            return;
        }
        let variant = if leasing.mutants.has(TOTAL_NOT_KEPT) { Variant::Prs } else { leasing.params.variant };
        let counts = rebalanced(variant, &loads, &balance.counts);
        if counts != balance.counts {
            cx.mark("rebalanced");
            balance.counts = counts;
            // PRS keeps no total.
            if leasing.params.variant == Variant::Centrifuge {
                cx.observe(Observation::Rebalanced(balance.counts.values().sum()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popularity_falls_with_the_power_of_the_rank() {
        assert_eq!((weight(1), weight(32), weight(10_000)), (1_000_000, 62_500, 630));
    }
}
