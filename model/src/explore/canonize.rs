//! The canonical form of a row: dead messages removed, tags ranked, interchangeable nodes in one order.
//!
//! Every renaming of a component is remembered by the component and what its names become.

use rustc_hash::FxHashMap;

use super::interned::Interned;
use super::pool::{ABSENT, Id, mix, rank_of};
use super::ranking::Ranking;
use crate::canonical::{Canonical, Renaming};
use crate::host::Phase;
use crate::name::NodeId;
use crate::protocol::{Protocol, Relevance};
use crate::time::{Shifting, Span};
use crate::world::Store;

/// What components become under the renamings met so far.
#[derive(Default)]
pub(super) struct Renamed {
    /// By component and the index of its new list of tags.
    ranked: FxHashMap<(Id, u32), Id>,
    shifted: FxHashMap<(Shifting, Id), Id>,
    ranking: Ranking,
    scratch_tags: Vec<u64>,
}

/// A step's part in what messages can still do: what the others can do has not changed by it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    /// The only node that may be in another state.
    pub(super) node: NodeId,
    /// Messages from here on were sent.
    pub(super) first_sent: usize,
}

/// To whom messages are, by the lowest bits of the receivers' numbers: one at least, and several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mortals {
    one: u64,
    several: u64,
}

impl Mortals {
    fn note(&mut self, to: NodeId) {
        let bit = 1 << (to.0 % 64);
        self.several |= self.one & bit;
        self.one |= bit;
    }

    /// Whether there may be one to the node, `but_one` that is.
    #[inline]
    fn has_any_to(self, node: NodeId, but_one: bool) -> bool {
        let noted = if but_one { self.several } else { self.one };
        noted & 1 << (node.0 % 64) != 0
    }
}

/// A fingerprint of a sum of weights; never 0.
#[inline]
pub(super) fn fingerprint(weight: u64) -> u64 {
    mix(weight) | 1 << 63
}

impl<P: Protocol> Interned<P> {
    /// Whether a message in flight may be dropped or exchanged, as far as is known.
    #[inline]
    pub(super) fn has_mortals(&self) -> bool {
        self.bounds.drop_dead && !self.mortals.is_empty()
    }

    /// Whom messages in flight are to that may be dropped or exchanged once their receiver has stepped.
    pub(super) fn mortals_in_flight(&self) -> Mortals {
        let mut mortals = Mortals::default();
        if self.has_mortals() {
            let infos = self.work.flights.iter().map(|flight| self.flight(*flight));
            infos.filter(|info| !info.always_live).for_each(|info| mortals.note(info.to));
        }
        mortals
    }

    /// Whether a step of `node` that takes the message `taken` from flight, if any, and sends these leaves nothing to be dropped
    /// or exchanged of a row with these `mortals`. False also where it takes a closer look to know.
    #[inline]
    pub(super) fn lets_all_live(&self, mortals: Mortals, node: NodeId, taken: Id, sends: &[Id]) -> bool {
        let is_mortal = |flight: Id| !self.flight(flight).always_live;
        !self.has_mortals()
            || !mortals.has_any_to(node, taken != ABSENT && is_mortal(taken))
                && !sends.iter().any(|flight| is_mortal(*flight))
    }

    /// Removes messages that can have no effect from the row being worked on. `exchange`: replaces those that act
    /// like another by the other. `changed`: what changed since the last time, if not everything may have.
    pub(super) fn drop_dead(&mut self, exchange: bool, changed: Option<Change>) {
        if !self.has_mortals() {
            return;
        }
        let (mut at, mut is_moved) = (0, false);
        while at < self.work.flights.len() {
            let flight = self.work.flights[at];
            let info = self.flight(flight);
            let is_old = changed.is_some_and(|changed| at < changed.first_sent && info.to != changed.node);
            if info.always_live || (is_old && !is_moved) {
                (at, is_moved) = (at + 1, false);
                continue;
            }
            is_moved = false;
            match self.relevance(flight) {
                Relevance::Dead => {
                    self.remove_flight(at);
                    // The last, which may be new, has taken its place.
                    is_moved = true;
                }
                Relevance::Same(other) if exchange => {
                    self.replace_flight(at, other);
                    at += 1;
                }
                Relevance::Same(_) | Relevance::Live | Relevance::Always => at += 1,
            }
        }
    }

    /// Ranks the tags of the row being worked on, space by space: afterwards those of each space are 0, 1, 2 and so on.
    pub(super) fn rank_tags(&mut self) {
        if !self.work.tags_changed {
            return;
        }
        self.work.tags_changed = false;
        let mut ranking = std::mem::take(&mut self.renamed.ranking);
        if ranking.of_row(&self.pool, self.work.fixed.iter().chain(&self.work.flights)) {
            self.rename_tags(&ranking);
        }
        self.renamed.ranking = ranking;
    }

    fn rename_tags(&mut self, mut ranking: &Ranking) {
        for at in 0..self.work.flights.len() {
            let old = self.work.flights[at];
            let new = self.ranked(old, ranking, |store| store.rename_flight(old, &mut ranking));
            new.into_iter().for_each(|new| self.replace_flight(at, new));
        }
        for slot in 0..self.layout.fixed as u16 {
            let old = self.work.fixed[usize::from(slot)];
            let new = self.ranked(old, ranking, |store| store.rename_slot(slot, &mut ranking));
            new.into_iter().for_each(|new| self.set(slot, new));
        }
        self.work.tags_changed = false;
    }

    /// What the component becomes, if that is anything else: as remembered by what becomes of its tags, or renamed.
    #[inline]
    fn ranked(&mut self, old: Id, ranking: &Ranking, rename: impl FnOnce(&mut Self) -> Id) -> Option<Id> {
        if !ranking.renamed(self.pool.tags_index(old), &mut self.renamed.scratch_tags) {
            return None;
        }
        let tags = self.pool.intern_tags(&self.renamed.scratch_tags);
        if let Some(known) = self.renamed.ranked.get(&(old, tags)) {
            return Some(*known);
        }
        let new = rename(self);
        self.renamed.ranked.insert((old, tags), new);
        Some(new)
    }

    /// Whether a tag has grown beyond `most`.
    pub(super) fn has_tag_beyond(&self, most: u32) -> bool {
        self.work
            .fixed
            .iter()
            .chain(&self.work.flights)
            .any(|id| self.pool.tags(*id).iter().any(|tag| rank_of(*tag) > most))
    }

    /// Shifts every stamp of the row being worked on into the past; unless the row's names are kept as they are, those
    /// beyond the horizon become one.
    pub(super) fn shift_stamps(&mut self, span: Span) {
        let span = span.0 as i64;
        let floor = if self.keeps_names { i64::MIN } else { self.stamp_floor() };
        self.rebase(Shifting { span, floor });
    }

    /// Makes one of all stamps beyond the horizon.
    pub(super) fn saturate_stamps(&mut self) {
        let floor = self.stamp_floor();
        self.rebase(Shifting { span: 0, floor });
    }

    fn stamp_floor(&self) -> i64 {
        -(self.protocol.stamp_horizon().0 as i64) - self.bounds.tick.0 as i64
    }

    fn rebase(&mut self, shifting: Shifting) {
        let key = |id| (shifting, id);
        for at in 0..self.work.flights.len() {
            let old = self.work.flights[at];
            if self.pool.is_stamped(old) {
                let known = self.renamed.shifted.get(&key(old)).copied();
                let new = known.unwrap_or_else(|| self.rename_flight(old, &mut { shifting }));
                self.renamed.shifted.insert(key(old), new);
                self.replace_flight(at, new);
            }
        }
        for slot in 0..self.layout.fixed as u16 {
            let old = self.work.fixed[usize::from(slot)];
            if self.pool.is_stamped(old) {
                let known = self.renamed.shifted.get(&key(old)).copied();
                let new = known.unwrap_or_else(|| self.rename_slot(slot, &mut { shifting }));
                self.renamed.shifted.insert(key(old), new);
                self.set(slot, new);
            }
        }
    }

    pub(super) fn rename_flight(&mut self, id: Id, names: &mut dyn Renaming) -> Id {
        let mut flight = self.decode_flight(id);
        flight.rename(names);
        self.intern_flight(flight)
    }

    /// What the component in `slot` becomes. Its whole block is renamed: a part alone has no type here.
    fn rename_slot(&mut self, slot: u16, names: &mut dyn Renaming) -> Id {
        if let Some(node) = self.layout.timers.iter().position(|timers| *timers == slot) {
            let mut timers = self.timers(self.work.fixed[usize::from(slot)]).clone();
            timers.rename(names);
            return self.intern_timers(self.layout.timers[node], timers);
        }
        let monitor = self.layout.monitor;
        if monitor.slots().contains(&slot) {
            let mut value = self.monitor();
            value.rename(names);
            return self.intern_split(monitor, &mut value)[usize::from(slot - monitor.start)];
        }
        let node = self.layout.node_ids().find(|node| self.layout.nodes[node.index()].slots().contains(&slot));
        let node = node.expect("only nodes, timers and the monitor have tags or stamps");
        let block = self.layout.nodes[node.index()];
        let mut host = self.host(node);
        host.rename(names);
        self.intern_split(block, &mut host)[usize::from(slot - block.start)]
    }

    /// Whether something is due that must happen before time passes: a firing at a node that is up, or a message
    /// whose time has run out at a node that is not paused.
    pub(super) fn is_urgent(&mut self) -> bool {
        for node in self.layout.node_ids() {
            if self.phase(node) == Phase::Up && !self.firings(node).is_empty() {
                return true;
            }
        }
        self.life.is_some()
            && self.work.flights.iter().any(|id| {
                let info = self.flight(*id);
                info.life == Some(0) && self.phase(info.to) != Phase::Paused
            })
    }
}
