//! What counts as a place that a run was at.
//!
//! - *marks*: a mark or a goal at a node, as often as a power of two;
//! - *nodes*: a node's state, its counters by rank and its instants by whether they lie ahead, and which of its timers are armed;
//! - *timers*: which timers are armed at each node, and which nodes are up: all that a lease promises;
//! - *worlds*: the states of all nodes together, where they are few.
//!
//! The kinds are kept apart: a world is new at nearly every step, a mark hardly ever.

use std::collections::BTreeMap;

use seedbed_model::{
    Canonical, Choice, Effect, Encoder, Host, Named, NodeId, Phase, Protocol, Renaming, Stamp, TagSpace, Timers, hash,
};

use crate::trace::Tracer;

/// The kinds of place.
pub(crate) const KINDS: usize = 4;
const MARKS: usize = 0;
const NODES: usize = 1;
const TIMERS: usize = 2;
const WORLDS: usize = 3;

/// Worlds of more nodes than this are not told apart as wholes.
const WORLD_NODES_MAX: usize = 12;

/// A place: its kind and its digest.
pub(crate) type Place = (usize, u64);

/// The places of a run, each with when it was there first [ns].
pub(crate) type Reached = BTreeMap<Place, u64>;

/// Watches a run for the places that it is at.
pub(crate) struct Watcher {
    reached: Reached,
    marks: BTreeMap<(NodeId, &'static str), u64>,
    /// `states[i]` and `armed[i]` are digests of node `i`'s state and armed timers.
    states: Vec<u64>,
    armed: Vec<u64>,
    encoder: Encoder,
}

impl Watcher {
    pub(crate) fn new<P: Protocol>(protocol: &P) -> Self {
        let count = protocol.nodes().len();
        Watcher {
            reached: Reached::new(),
            marks: BTreeMap::new(),
            states: vec![0; count],
            armed: vec![0; count],
            encoder: Encoder::whole(),
        }
    }

    pub(crate) fn into_reached(self) -> Reached {
        self.reached
    }

    fn note(&mut self, kind: usize, digest: u64, at_ns: u64) {
        self.reached.entry((kind, digest)).or_insert(at_ns);
    }

    fn mark(&mut self, node: NodeId, what: &'static str, at_ns: u64) {
        let count = self.marks.entry((node, what)).or_insert(0);
        *count += 1;
        if count.is_power_of_two() {
            let often = hash(*count, what.as_bytes());
            self.note(MARKS, hash(u64::from(node.0), &often.to_le_bytes()), at_ns);
        }
    }

    fn state<P: Protocol>(&mut self, node: NodeId, host: &Host<P>, armed: u64, now: u64) -> u64 {
        let mut state = host.state.clone();
        self.encoder.clear();
        if let Some(state) = &mut state {
            let mut ranks = Ranks::default();
            state.rename(&mut ranks);
            ranks.settle();
            state.rename(&mut Abstracting { ranks: &ranks, now: now as i64 });
            state.encode(&mut self.encoder);
        }
        hash(armed ^ u64::from(node.0) << 48, self.encoder.bytes())
    }

    fn armed<T: Canonical + Ord + Clone + std::hash::Hash>(
        &mut self,
        node: NodeId,
        phase: Phase,
        timers: &Timers<T>,
        now: u64,
    ) -> u64 {
        self.encoder.clear();
        for (timer, _) in timers.iter().filter(|(_, end)| *end > now) {
            timer.encode(&mut self.encoder);
        }
        hash(u64::from(node.0) << 2 | phase as u64, self.encoder.bytes())
    }
}

impl<P: Protocol> Tracer<P> for Watcher {
    fn step(&mut self, at_ns: u64, _: u64, choice: &Named<P>, _: &[u32], effects: &[(NodeId, Effect<P>)]) {
        for (node, effect) in effects {
            if let Effect::Mark(what) = effect {
                self.mark(*node, what, at_ns);
            }
        }
        if let Choice::Cut(from, to) | Choice::Heal(from, to) = choice {
            let cut = matches!(choice, Choice::Cut(..));
            self.note(MARKS, hash(u64::from(from.0) << 16 | u64::from(to.0), &[u8::from(cut)]), at_ns);
        }
    }

    fn after(&mut self, at_ns: u64, node: NodeId, host: &Host<P>, timers: &Timers<P::Timer>) {
        let armed = self.armed(node, host.phase, timers, at_ns);
        let state = self.state(node, host, armed, at_ns);
        self.note(NODES, state, at_ns);
        if std::mem::replace(&mut self.armed[node.index()], armed) != armed {
            let all = digest(&self.armed);
            self.note(TIMERS, all, at_ns);
        }
        if std::mem::replace(&mut self.states[node.index()], state) != state && self.states.len() <= WORLD_NODES_MAX {
            let all = digest(&self.states);
            self.note(WORLDS, all, at_ns);
        }
    }
}

fn digest(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |all, part| hash(all, &part.to_le_bytes()))
}

/// The counters of a state, by space.
#[derive(Default)]
struct Ranks(BTreeMap<TagSpace, Vec<u32>>);

impl Ranks {
    fn settle(&mut self) {
        for ranks in self.0.values_mut() {
            ranks.sort_unstable();
            ranks.dedup();
        }
    }
}

impl Renaming for Ranks {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        self.0.entry(space).or_default().push(*rank);
    }
}

/// Puts ranks in place of counters, and before or after in place of instants.
struct Abstracting<'a> {
    ranks: &'a Ranks,
    now: i64,
}

impl Renaming for Abstracting<'_> {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let place = self.ranks.0.get(&space).and_then(|ranks| ranks.binary_search(rank).ok());
        *rank = place.unwrap_or_default() as u32;
    }
    fn stamp(&mut self, stamp: &mut Stamp) {
        *stamp = Stamp::of_clock(i64::from(stamp.nanos() > self.now));
    }
}
