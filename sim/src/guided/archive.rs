//! Which places are known, and what is tried next.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use seedbed_model::Span;

use super::coverage::{KINDS, Place, Reached};
use super::{Candidate, GENERATION};
use crate::faults::{Plan, TimedFault, Turn};
use crate::stream::{below, between};

/// Places of one kind that are remembered, at most.
const PLACE_COUNT_MAX: usize = 1 << 16;
/// Of so many places drawn, the one is gone on from that the fewest runs were at.
const TOURNAMENT: u32 = 4;
/// A place is left at once, or after up to this part of the run.
const LINGER: u64 = 50;
/// Turns of a run, at most: a longer way goes on from where it is.
const TURN_COUNT_MAX: usize = 16;

/// A place, and a run that was there.
struct Known {
    place: Place,
    /// Runs that were there.
    runs: u64,
    /// One of them, each as likely.
    candidate: usize,
    /// When it was there first [ns].
    at_ns: u64,
}

/// What a campaign remembers.
pub(super) struct Archive {
    first: u64,
    /// How long a run lasts [ns].
    length: u64,
    /// `known[kind]`, in the order in which they were met.
    known: [Vec<Known>; KINDS],
    places: BTreeMap<Place, usize>,
    candidates: Vec<Candidate>,
}

impl Archive {
    pub(super) fn new(first: u64, length: Span) -> Self {
        let known = std::array::from_fn(|_| Vec::new());
        Archive { first, length: length.0, known, places: BTreeMap::new(), candidates: Vec::new() }
    }

    pub(super) fn place_count(&self) -> usize {
        self.places.len()
    }

    /// What the `number`-th run of the campaign is made from. `drawn` is the plan of a seed.
    pub(super) fn candidate(&self, number: u64, drawn: &dyn Fn(u64) -> Plan) -> Candidate {
        let mut rng = self.rng(number, 0);
        let fresh = self.first.wrapping_add(number);
        if number < GENERATION || rng.next_u32().is_multiple_of(2) {
            return self.fresh(fresh, number, &mut rng, drawn);
        }
        match self.rare(&mut rng) {
            Some(known) => self.onward(known, fresh, &mut rng, drawn),
            None => self.fresh(fresh, number, &mut rng, drawn),
        }
    }

    /// A seed's own run, or its own with sharp draws: the latter mostly, and every other time in the first generation.
    fn fresh(&self, seed: u64, number: u64, rng: &mut ChaCha8Rng, drawn: &dyn Fn(u64) -> Plan) -> Candidate {
        let mut plan = drawn(seed);
        let is_plain = if number < GENERATION { number.is_multiple_of(2) } else { rng.next_u32().is_multiple_of(4) };
        if !is_plain {
            plan.turns.push(Turn { at: Span::ZERO, seed, sharp: true });
        }
        Candidate { seed, plan }
    }

    /// A place that few runs were at. A kind is drawn first: places of some are many more.
    fn rare(&self, rng: &mut ChaCha8Rng) -> Option<&Known> {
        let kinds: Vec<&Vec<Known>> = self.known.iter().filter(|known| !known.is_empty()).collect();
        if kinds.is_empty() {
            return None;
        }
        let kind = kinds[below(rng.next_u32(), kinds.len() as u32) as usize];
        let mut draw = || &kind[below(rng.next_u32(), kind.len() as u32) as usize];
        let first = draw();
        Some((1..TOURNAMENT).fold(first, |rarest, _| {
            let other = draw();
            if other.runs < rarest.runs { other } else { rarest }
        }))
    }

    /// The run that was there, up to then or a little later, and another way on from it.
    fn onward(&self, known: &Known, fresh: u64, rng: &mut ChaCha8Rng, drawn: &dyn Fn(u64) -> Plan) -> Candidate {
        let before = &self.candidates[known.candidate];
        let linger = match rng.next_u32() % 2 {
            0 => 0,
            _ => between(rng.next_u64(), 0, self.length / LINGER),
        };
        let at = Span((known.at_ns + 1).saturating_add(linger));
        let mut plan = before.plan.clone();
        plan.turns.retain(|turn| turn.at < at);
        plan.turns.truncate(TURN_COUNT_MAX - 1);
        plan.turns.push(Turn { at, seed: fresh, sharp: !rng.next_u32().is_multiple_of(4) });
        let is_later = |timed: &TimedFault| timed.at >= at;
        match rng.next_u32() % 3 {
            // The rest of the faults stays,
            0 => {}
            // or is another seed's,
            1 => {
                plan.faults.retain(|timed| !is_later(timed));
                plan.faults.extend(drawn(fresh).faults.into_iter().filter(is_later));
            }
            // or lacks one that is still to come.
            _ => {
                let later: Vec<usize> = (0..plan.faults.len()).filter(|index| is_later(&plan.faults[*index])).collect();
                if !later.is_empty() {
                    plan.faults.remove(later[below(rng.next_u32(), later.len() as u32) as usize]);
                }
            }
        }
        Candidate { seed: before.seed, plan }
    }

    /// Remembers where a run was.
    pub(super) fn note(&mut self, candidate: &Candidate, number: u64, reached: Reached) {
        let mut rng = self.rng(number, 1);
        let mut own = None;
        for (place, at_ns) in reached {
            let is_new = !self.places.contains_key(&place);
            if is_new && self.known[place.0].len() >= PLACE_COUNT_MAX {
                continue;
            }
            let runs = match self.places.get(&place) {
                Some(index) => self.known[place.0][*index].runs + 1,
                None => 1,
            };
            // Each of the runs that were there is the one remembered with the same chance.
            let takes = is_new || between(rng.next_u64(), 1, runs) == 1;
            let index = *own.get_or_insert(self.candidates.len());
            let candidate = if takes { Some(index) } else { None };
            self.remember(place, runs, candidate, at_ns);
        }
        if own.is_some() {
            self.candidates.push(candidate.clone());
        }
    }

    fn remember(&mut self, place: Place, runs: u64, candidate: Option<usize>, at_ns: u64) {
        let known = &mut self.known[place.0];
        let next = known.len();
        let index = *self.places.entry(place).or_insert(next);
        match (known.get_mut(index), candidate) {
            (Some(known), Some(candidate)) => *known = Known { place: known.place, runs, candidate, at_ns },
            (Some(known), None) => known.runs = runs,
            (None, candidate) => known.push(Known { place, runs, candidate: candidate.unwrap_or_default(), at_ns }),
        }
    }

    /// A generator for one use at one run.
    fn rng(&self, number: u64, purpose: u8) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.first.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        key[16] = purpose;
        ChaCha8Rng::from_seed(key)
    }
}
