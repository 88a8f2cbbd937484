//! The normal form of a plain world: two worlds count as one if theirs are equal.
//!
//! Written over values, from the meaning of the reductions alone: it shares nothing with the explorer's canonizer but
//! [`Canonical`], so that an error in one shows as a disagreement.

use std::collections::BTreeMap;

use seedbed_model::explore::Bounds;
use seedbed_model::{Canonical, Encoder, NodeId, Protocol, Relevance, Renaming, Stamp, TagSpace, Timers, encoding};

use crate::world::{Flight, World};

/// Which worlds count as one, beside those that differ by a shift in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reductions {
    /// Tags count by their rank within their space.
    pub ranks: bool,
    /// Messages that can have no effect do not count.
    pub dead: bool,
    /// Interchangeable nodes may change places.
    pub symmetry: bool,
}

impl Reductions {
    /// A shift in time alone.
    pub const NONE: Reductions = Reductions { ranks: false, dead: false, symmetry: false };

    /// Those that the explorer has in force.
    pub fn of<P: Protocol>(protocol: &P, bounds: &Bounds) -> Self {
        if bounds.eventually {
            return Reductions::NONE;
        }
        Reductions { ranks: protocol.tags_are_ranked(), dead: bounds.drop_dead, symmetry: bounds.symmetry }
    }
}

impl<P: Protocol> World<P> {
    /// Equal bytes for worlds that count as one. `tick` is how coarse old stamps become one.
    pub fn normal_form(&self, protocol: &P, bounds: &Bounds, reductions: Reductions) -> Vec<u8> {
        let mut world = self.clone();
        if reductions.dead {
            world.bury(protocol, true);
        }
        world.shift(protocol, bounds);
        if reductions.ranks {
            let mut ranks = Ranks::default();
            world.rename(&mut ranks.collecting());
            ranks.settle();
            world.rename(&mut ranks);
        }
        let classes = if reductions.symmetry { protocol.symmetry() } else { Vec::new() };
        let places = arrangements(world.hosts.len(), &classes);
        places.iter().map(|places| world.arranged(places).written()).min().expect("nodes have at least one arrangement")
    }

    /// Removes the messages that can have no effect; `exchange`: puts what acts alike in the place of others.
    pub(crate) fn bury(&mut self, protocol: &P, exchange: bool) {
        let hosts = &self.hosts;
        self.flights.retain_mut(|flight| {
            let envelope = &mut flight.envelope;
            // What the next incarnation of a node that is down makes of a message is not known.
            let Some(state) = &hosts[envelope.to.index()].state else { return true };
            match protocol.relevance(envelope.to, state, envelope.from, &envelope.message) {
                Relevance::Dead => return false,
                Relevance::Same(other) if exchange => envelope.message = other,
                Relevance::Same(_) | Relevance::Live | Relevance::Always => {}
            }
            true
        });
    }

    /// Makes now the origin of time; what is further back than the protocol looks becomes one.
    fn shift(&mut self, protocol: &P, bounds: &Bounds) {
        let (now, offsets) = (self.now, self.offsets.clone());
        let horizon = -(protocol.stamp_horizon().0 as i64) - bounds.tick.0 as i64;
        self.rename(&mut Since { now: now as i64, horizon });
        self.offsets = offsets;
        for timers in &mut self.timers {
            *timers = since(timers, now);
        }
        self.deadlines = since(&self.deadlines, now);
        self.now = 0;
    }

    /// Node `i` with everything of it in place `places[i]`.
    fn arranged(&self, places: &[NodeId]) -> Self {
        let mut world = self.clone();
        world.rename(&mut Moving(places));
        for (from, to) in places.iter().enumerate() {
            world.hosts[to.index()] = self.hosts[from].clone();
            world.hosts[to.index()].rename(&mut Moving(places));
            world.timers[to.index()] = self.timers[from].clone();
            world.timers[to.index()].rename(&mut Moving(places));
            world.offsets[to.index()] = self.offsets[from];
        }
        world
    }

    fn written(&self) -> Vec<u8> {
        let mut flights: Vec<Vec<u8>> = self.flights.iter().map(encoding::<Flight<P>>).collect();
        flights.sort_unstable();
        let mut out = Encoder::whole();
        self.hosts.encode(&mut out);
        self.timers.encode(&mut out);
        self.monitor.encode(&mut out);
        self.deadlines.encode(&mut out);
        self.cuts.encode(&mut out);
        self.budgets.encode(&mut out);
        self.offsets.encode(&mut out);
        flights.encode(&mut out);
        out.bytes().to_vec()
    }

    /// Whether a tag has a rank beyond `most`, counted as `reductions` say.
    pub(crate) fn has_tag_beyond(&self, most: u32, reductions: Reductions) -> bool {
        let mut ranks = Ranks::default();
        let mut world = self.clone();
        world.rename(&mut ranks.collecting());
        if reductions.ranks {
            ranks.settle();
        }
        ranks.spaces.values().flat_map(BTreeMap::values).any(|rank| *rank > most)
    }
}

fn since<T: Ord + Clone + std::hash::Hash>(timers: &Timers<T>, now: u64) -> Timers<T> {
    let mut shifted = Timers::default();
    for (timer, end) in timers.iter() {
        shifted.set(timer.clone(), end.saturating_sub(now));
    }
    shifted
}

/// Stamps relative to now.
struct Since {
    now: i64,
    horizon: i64,
}

impl Renaming for Since {
    fn stamp(&mut self, stamp: &mut Stamp) {
        *stamp = Stamp::of_clock(stamp.nanos().saturating_sub(self.now).max(self.horizon));
    }
}

/// The tags of each space, and what each becomes.
#[derive(Default)]
struct Ranks {
    spaces: BTreeMap<TagSpace, BTreeMap<u32, u32>>,
}

impl Ranks {
    fn collecting(&mut self) -> Collecting<'_> {
        Collecting(self)
    }

    /// Counts each space through from 0.
    fn settle(&mut self) {
        for tags in self.spaces.values_mut() {
            for (rank, becomes) in tags.values_mut().enumerate() {
                *becomes = rank as u32;
            }
        }
    }
}

impl Renaming for Ranks {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        *rank = self.spaces[&space][rank];
    }
}

struct Collecting<'a>(&'a mut Ranks);

impl Renaming for Collecting<'_> {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        self.0.spaces.entry(space).or_default().insert(*rank, *rank);
    }
}

/// Node `i` moves to place `self.0[i]`.
struct Moving<'a>(&'a [NodeId]);

impl Renaming for Moving<'_> {
    fn node(&mut self, node: &mut NodeId) {
        *node = self.0[node.index()];
    }
}

/// Every way to put nodes in places of their own class: `[i]` is where node `i` goes. The first leaves all in place.
fn arrangements(count: usize, classes: &[Vec<NodeId>]) -> Vec<Vec<NodeId>> {
    let mut all = vec![(0..count as u16).map(NodeId).collect::<Vec<_>>()];
    for class in classes {
        for at in 0..class.len() {
            // Each arrangement of the nodes before `at` grows by one for each of them that `at` changes places with.
            let swapped = all.iter().flat_map(|places| {
                (0..=at).map(move |other| {
                    let mut places = places.clone();
                    places.swap(class[at].index(), class[other].index());
                    places
                })
            });
            all = swapped.collect();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrangement_occurs_once() {
        let nodes = |ids: &[u16]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        let mut all = arrangements(6, &[nodes(&[1, 2, 3]), nodes(&[4, 5])]);
        assert_eq!(all[0].len(), 6);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 12);
        assert!(all.iter().all(|places| places[0] == NodeId(0)));
    }
}
