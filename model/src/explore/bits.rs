//! Bit-state search: depth first with three bits a state instead of the state (Holzmann, An analysis of bitstate hashing,
//! 1998). It goes far beyond what a table of states could hold, and misses the states whose bits others had set.

use super::level::Segment;
use super::pool::mix;
use super::search::{Fall, Limits, Searched};
use super::space::{Row, Seen, Space, Successors};
use super::{Progress, Stats};

/// Bits of a state.
const PROBES: u64 = 3;

/// Progress is told after so many states.
const STRIDE: u64 = 1 << 12;

/// A set of fingerprints that may say of a new one that it is known.
struct Bits {
    words: Vec<u64>,
    mask: u64,
    set: u64,
}

impl Bits {
    /// As large as `bytes`, rounded down to a power of two; at least 1 KiB.
    ///
    /// # Errors
    /// If the machine does not have so much.
    fn new(bytes: u64) -> Result<Self, String> {
        let bits = (bytes.max(1 << 10) + 1).next_power_of_two() / 2 * 8;
        let count = (bits / 64) as usize;
        let refused = |_| format!("a table of {} MiB does not fit into the memory of this machine", bytes >> 20);
        Vec::<u64>::new().try_reserve_exact(count).map_err(refused)?;
        Ok(Bits { words: vec![0; count], mask: bits - 1, set: 0 })
    }

    /// Whether the fingerprint was new.
    fn insert(&mut self, fingerprint: u64) -> bool {
        let mut is_new = false;
        for (word, bit) in self.probes(fingerprint) {
            let word = &mut self.words[word];
            if *word & bit == 0 {
                *word |= bit;
                self.set += 1;
                is_new = true;
            }
        }
        is_new
    }

    /// The bits of a fingerprint: each by its word, and within it.
    fn probes(&self, fingerprint: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (mask, stride) = (self.mask, mix(fingerprint) | 1);
        (0..PROBES).map(move |probe| {
            let bit = fingerprint.wrapping_add(stride.wrapping_mul(probe)) & mask;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// The chance that a new state is taken for a known one now is about one in this.
    fn odds(&self) -> u64 {
        let size = u128::from(self.mask) + 1;
        let set = u128::from(self.set.max(1));
        // (size / set)^3 within 128 bits: tables are smaller than 2^42 bits.
        u64::try_from(size.pow(3) / set.pow(3)).unwrap_or(u64::MAX)
    }
}

impl Seen for Bits {
    fn has(&self, fingerprint: u64) -> bool {
        self.probes(fingerprint).all(|(word, bit)| self.words[word] & bit != 0)
    }
}

/// A state on the way from the start to the one being expanded, and how many of its successors wait.
struct Frame {
    fingerprint: u64,
    waiting: usize,
}

struct Dive<S> {
    space: S,
    bits: Bits,
    stack: Segment,
    fingerprints: Vec<u64>,
    frames: Vec<Frame>,
    stats: Stats,
}

/// Searches `space` with a table of `mebibytes`. Without a violation the search ends as stopped, and says what it may have
/// missed; claims about where states lead are not judged.
pub(super) fn search<S: Space>(
    space: S,
    limits: Limits,
    mebibytes: u32,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Searched<S>, String> {
    let bits = Bits::new(u64::from(mebibytes) << 20)?;
    let (stack, fingerprints, frames) = (Segment::default(), Vec::new(), Vec::new());
    let mut dive = Dive { space, bits, stack, fingerprints, frames, stats: Stats::default() };
    let (fall, stopped) = dive.run(limits, watch);
    if let Some(why) = dive.space.misfit() {
        return Err(why);
    }
    dive.stats.bytes = (dive.bits.words.len() * 8 + dive.space.memory()) as u64;
    Ok(Searched { stats: dive.stats, fall, stopped, spaces: vec![dive.space], moment: 0 })
}

impl<S: Space> Dive<S> {
    fn run(&mut self, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) -> (Option<Fall>, Option<String>) {
        let mut found = Successors::default();
        self.space.begin(0);
        self.space.start(&mut found);
        if let Some(violation) = found.fallen.take() {
            let path = found.last().into_iter().collect();
            return (Some(Fall { violation, path, in_state: true, cycle: None }), None);
        }
        // The frame of what comes before every start has no state.
        self.land(0, &found);
        let mut cells = Vec::new();
        while let Some((fingerprint, weight)) = self.next(&mut cells) {
            found.clear();
            self.space.expand(Row { cells: &cells, weight }, &self.bits, &mut found);
            self.stats.cut |= found.cut;
            if let Some(violation) = found.fallen.take() {
                let path = self.frames[1..].iter().map(|frame| frame.fingerprint).chain([fingerprint]).collect();
                return (Some(Fall { violation, path, in_state: found.fallen_here, cycle: None }), None);
            }
            self.land(fingerprint, &found);
            if let Some(why) = self.is_over(limits, watch) {
                return (None, Some(why));
            }
        }
        let odds = self.bits.odds();
        let mut why = format!(
            "bit-state: nothing fell in what was seen; a new state was taken for a known one with a chance of up to 1 in {odds}"
        );
        if !self.space.claims().is_empty() {
            why.push_str("; what must stay reachable was not judged");
        }
        (None, Some(why))
    }

    /// Takes what follows `fingerprint`.
    fn land(&mut self, fingerprint: u64, found: &Successors) {
        self.stats.total += found.total;
        let mut waiting = 0;
        let mut start = 0;
        let lane = found.only();
        for entry in &lane.entries {
            let end = entry.end as usize;
            if self.bits.insert(entry.fingerprint) {
                waiting += 1;
                self.stats.unique += 1;
                self.stack.push(Row { cells: &lane.cells[start..end], weight: entry.weight }, 0);
                self.fingerprints.push(entry.fingerprint);
            }
            start = end;
        }
        self.frames.push(Frame { fingerprint, waiting });
    }

    /// The next state to expand, its row in `cells`.
    fn next(&mut self, cells: &mut Vec<u32>) -> Option<(u64, u64)> {
        while let Some(frame) = self.frames.last_mut() {
            if frame.waiting > 0 {
                frame.waiting -= 1;
                let (weight, _) = self.stack.pop(cells)?;
                return Some((self.fingerprints.pop()?, weight));
            }
            self.frames.pop();
        }
        None
    }

    fn is_over(&self, limits: Limits, watch: &mut dyn FnMut(Progress) -> bool) -> Option<String> {
        let Stats { unique, total, .. } = self.stats;
        if self.space.misfit().is_some() {
            return Some("the space makes no sense".to_owned());
        }
        if unique > limits.states {
            return Some(format!("the bound of {} states ran out", limits.states));
        }
        let progress = Progress { unique, total, depth: Some(self.frames.len() as u32), left: self.stack.len() as u64 };
        let goes_on = !unique.is_multiple_of(STRIDE) || watch(progress);
        (!goes_on).then(|| "the budget ran out".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_forgets_and_says_with_what_odds() {
        let mut bits = Bits::new(1 << 10).unwrap();
        let new = (1..=4_000u64).filter(|number| bits.insert(mix(*number))).count();
        assert!(new > 1_000 && new < 4_000, "{new} of 4,000 were new to 8,192 bits");
        assert!((1..10).contains(&bits.odds()), "{}", bits.odds());
        let known = (1..=4_000u64).filter(|number| !bits.insert(mix(*number))).count();
        assert_eq!(known, 4_000, "what was inserted is known");
    }

    #[test]
    fn a_large_table_forgets_nothing_so_small() {
        let mut bits = Bits::new(1 << 20).unwrap();
        assert!((1..=4_000u64).all(|number| bits.insert(mix(number))));
        assert!(bits.odds() > 100_000_000);
        assert!((1..=4_000u64).all(|number| bits.has(mix(number))));
        assert!((4_001..=8_000u64).all(|number| !bits.has(mix(number))));
    }
}
