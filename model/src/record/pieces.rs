//! Pieces: which seeds a campaign has done and what they come to, cut so that any two campaigns over the same scenario
//! can be put together, however their seeds overlap.
//!
//! Seeds fall into aligned stretches of 10,000, those into hundreds, those into single seeds. A stretch that is done
//! whole is one piece, with one tally; of one that is not, its parts are. Beside its tally a piece keeps a check word of
//! each run. What a set of pieces looks like is a function of the check words known of each seed: joining them is
//! associative, commutative and idempotent.
//!
//! Two runs of a seed with different check words are kept, both words, and what they are part of has no tally any more:
//! nobody can say which of the two is right. Different runs have the same word with a chance of 2^-32.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::seeds::SeedSpan;
use super::tally::Tally;

/// Seeds in a piece, the largest first: each a multiple of the next.
const SIZES: [u64; 3] = [10_000, 100, 1];

/// Some consecutive seeds that were done.
///
/// 1. there are as many seeds as one of the sizes says, and the first is a multiple of it;
/// 2. `checks[i]` is the check word of the run of seed `from + i`, the least one where several are known;
/// 3. there is a tally exactly if `disagreed` is empty, and it is over exactly these runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The first seed.
    pub from: u64,
    /// Eight hex digits a seed in a file.
    #[serde(with = "words")]
    pub checks: Vec<u32>,
    /// All words of the seeds of which several are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disagreed: BTreeMap<u64, BTreeSet<u32>>,
    /// What the runs come to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
}

impl Piece {
    /// One run.
    pub fn one(seed: u64, check: u32, tally: Tally) -> Self {
        Piece { from: seed, checks: vec![check], disagreed: BTreeMap::new(), tally: Some(tally) }
    }

    fn len(&self) -> u64 {
        self.checks.len() as u64
    }

    fn is_whole(&self, from: u64, size: u64) -> bool {
        self.from == from && self.len() == size
    }

    /// Whether the invariants hold of what was read.
    ///
    /// # Errors
    /// At the first that does not, in words.
    pub fn check(&self) -> Result<(), String> {
        let at = format!("the piece at seed {}", self.from);
        if !SIZES.contains(&self.len()) || !self.from.is_multiple_of(self.len()) {
            return Err(format!("{at} has {} check words; a piece is of 1, 100 or 10000 aligned seeds", self.len()));
        }
        if self.from.checked_add(self.len()).is_none() {
            return Err(format!("{at} goes beyond the last seed, {}", u64::MAX - 1));
        }
        let holds = |seed: &u64| seed.checked_sub(self.from).is_some_and(|offset| offset < self.len());
        if !self.disagreed.keys().all(holds) {
            return Err(format!("{at} has seeds that disagree and are not in it"));
        }
        match &self.tally {
            Some(tally) if tally.runs != self.len() => {
                Err(format!("{at} has {} seeds and a tally of {} runs", self.len(), tally.runs))
            }
            Some(_) if !self.disagreed.is_empty() => Err(format!("{at} has a tally although its runs disagree")),
            None if self.disagreed.is_empty() => Err(format!("{at} has no tally")),
            _ => Ok(()),
        }
    }
}

/// All that is known from `pieces`, in the order of their seeds, in as few pieces as there can be.
pub fn joined(pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    join_parts(&SIZES, pieces.into_iter().collect())
}

/// Sorts the pieces into aligned stretches of the first size, and joins each of them.
fn join_parts(sizes: &[u64], pieces: Vec<Piece>) -> Vec<Piece> {
    let Some(size) = sizes.first() else { return pieces };
    let mut stretches: BTreeMap<u64, Vec<Piece>> = BTreeMap::new();
    for piece in pieces {
        stretches.entry(piece.from - piece.from % size).or_default().push(piece);
    }
    stretches.into_iter().flat_map(|(from, pieces)| join_stretch(sizes, from, pieces)).collect()
}

fn join_stretch(sizes: &[u64], from: u64, mut pieces: Vec<Piece>) -> Vec<Piece> {
    let size = sizes[0];
    if pieces.len() == 1 && (pieces[0].is_whole(from, size) || pieces[0].len() == 1) {
        return pieces;
    }
    let known = Known::of(from, size, &pieces);
    let Some(checks) = known.whole() else { return join_parts(&sizes[1..], pieces) };
    let tally = known.disagreed.is_empty().then(|| match pieces.iter().position(|piece| piece.is_whole(from, size)) {
        Some(place) => pieces.swap_remove(place).tally.unwrap_or_default(),
        None => sum(&join_parts(&sizes[1..], pieces)),
    });
    vec![Piece { from, checks, disagreed: known.disagreed, tally }]
}

/// What all pieces come to that have a tally.
pub fn sum(pieces: &[Piece]) -> Tally {
    let mut sum = Tally::default();
    pieces.iter().filter_map(|piece| piece.tally.as_ref()).for_each(|tally| sum.add(tally));
    sum
}

/// The seeds that are done, in order: neighbours are joined.
pub fn done(pieces: &[Piece]) -> Vec<SeedSpan> {
    let mut spans: Vec<SeedSpan> = Vec::new();
    for piece in pieces {
        let to = piece.from.saturating_add(piece.len());
        match spans.last_mut() {
            Some(last) if last.to == piece.from => last.to = to,
            _ => spans.push(SeedSpan { from: piece.from, to }),
        }
    }
    spans
}

/// The seeds of which several results are known.
pub fn disagreed(pieces: &[Piece]) -> Vec<u64> {
    pieces.iter().flat_map(|piece| piece.disagreed.keys().copied()).collect()
}

/// The check words of a stretch.
struct Known {
    /// `checks[i]` is that of seed `from + i`; `None` until it is done.
    checks: Vec<Option<u32>>,
    disagreed: BTreeMap<u64, BTreeSet<u32>>,
}

impl Known {
    fn of(from: u64, size: u64, pieces: &[Piece]) -> Self {
        let mut known = Known { checks: vec![None; size as usize], disagreed: BTreeMap::new() };
        for piece in pieces {
            for (seed, check) in (piece.from..).zip(&piece.checks) {
                known.note((seed - from) as usize, seed, *check);
            }
            for (seed, words) in &piece.disagreed {
                words.iter().for_each(|word| known.note((seed - from) as usize, *seed, *word));
            }
        }
        known
    }

    fn note(&mut self, place: usize, seed: u64, word: u32) {
        match self.checks[place] {
            None => self.checks[place] = Some(word),
            Some(other) if other != word => {
                self.disagreed.entry(seed).or_default().extend([other, word]);
                self.checks[place] = Some(other.min(word));
            }
            Some(_) => {}
        }
    }

    fn whole(&self) -> Option<Vec<u32>> {
        self.checks.iter().copied().collect()
    }
}

/// Check words in one text, eight hex digits each.
mod words {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(words: &[u32], output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(&words.iter().map(|word| format!("{word:08x}")).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(input)?;
        let word = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.len() == 8)?;
            u32::from_str_radix(digits, 16).ok()
        };
        let read: Option<Vec<u32>> = text.as_bytes().chunks(8).map(word).collect();
        read.ok_or_else(|| D::Error::custom("check words are 8 hexadecimal digits for each seed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tally::{FallenRun, Reach};
    use proptest::prelude::*;

    /// The run of a seed; `fork` tells two different ones apart.
    fn one(seed: u64, fork: u32) -> Piece {
        let mut tally = Tally { runs: 1, steps: seed + 1, digest: seed * 31 + u64::from(fork), ..Tally::default() };
        tally.reached.insert(format!("mark-{}", seed % 3), Reach { times: 2, runs: 1, first: seed });
        if seed.is_multiple_of(7) {
            let property = "safe".to_owned();
            tally.fell.push(FallenRun { seed, property, steps: seed + 1, signature: None });
        }
        Piece::one(seed, seed as u32 * 2 + fork, tally)
    }

    fn span(from: u64, to: u64) -> Vec<Piece> {
        joined((from..to).map(|seed| one(seed, 0)))
    }

    fn join(a: &[Piece], b: &[Piece]) -> Vec<Piece> {
        joined(a.iter().chain(b).cloned())
    }

    #[test]
    fn a_stretch_that_is_done_whole_is_one_piece() {
        assert_eq!(span(100, 200).len(), 1);
        assert_eq!(span(50, 200).len(), 51);
        assert_eq!(span(0, 20_000).len(), 2);
        assert_eq!(done(&span(50, 10_250)), [SeedSpan { from: 50, to: 10_250 }]);
        assert_eq!(sum(&span(50, 10_250)).steps, (51..=10_250).sum::<u64>());
        assert!(span(50, 10_250).iter().all(|piece| piece.check().is_ok()));
    }

    #[test]
    fn results_that_disagree_are_both_kept_and_counted_no_more() {
        let other = joined([one(5, 1)]);
        let both = join(&span(0, 100), &other);
        assert_eq!(disagreed(&both), [5]);
        assert_eq!((both.len(), sum(&both).runs), (1, 0));
        assert_eq!(done(&both), [SeedSpan { from: 0, to: 100 }]);
        let parts = join(&join(&span(0, 50), &other), &span(50, 100));
        assert_eq!(parts, both);
    }

    #[test]
    fn a_piece_that_was_tampered_with_is_refused() {
        let whole = span(0, 100).remove(0);
        let short = Piece { checks: vec![1; 99], ..whole.clone() };
        let shifted = Piece { from: 50, ..whole.clone() };
        let bare = Piece { tally: None, ..whole.clone() };
        let beyond = Piece { from: u64::MAX, checks: vec![1], ..whole.clone() };
        let strange = Piece { disagreed: [(100, BTreeSet::new())].into(), ..whole };
        for piece in [short, shifted, bare, beyond, strange] {
            assert!(piece.check().is_err(), "{piece:?}");
        }
    }

    /// Parts of one campaign, in any order, overlapping; now and then a run is another.
    fn parts() -> impl Strategy<Value = Vec<Vec<Piece>>> {
        let part = (0..260_u64, 1..150_u64, prop_oneof![9 => Just(None), 1 => (0..150_u64).prop_map(Some)]);
        let build = |(from, count, fork): (u64, u64, Option<u64>)| {
            let fork_of = move |seed| u32::from(Some(seed - from) == fork);
            joined((from..from + count).map(|seed| one(seed, fork_of(seed))))
        };
        prop::collection::vec(part.prop_map(build), 3..=3)
    }

    proptest! {
        #[test]
        fn joining_is_associative_commutative_and_idempotent(parts in parts()) {
            let [a, b, c] = parts.as_slice() else { unreachable!("three parts are drawn") };
            prop_assert_eq!(join(&join(a, b), c), join(a, &join(b, c)));
            prop_assert_eq!(join(a, b), join(b, a));
            prop_assert_eq!(&join(a, a), a);
            prop_assert_eq!(join(&join(a, b), b), join(a, b));
        }

        #[test]
        fn cut_anywhere_and_joined_in_any_order_it_is_the_same(
            cuts in prop::collection::btree_set(1..10_150_u64, 0..7),
            order in any::<prop::sample::Index>(),
        ) {
            let mut edges: Vec<u64> = std::iter::once(0).chain(cuts).chain([10_150]).collect();
            edges.dedup();
            let mut parts: Vec<Vec<Piece>> = edges.windows(2).map(|edge| span(edge[0], edge[1])).collect();
            let count = parts.len();
            parts.rotate_left(order.index(count));
            let whole = parts.into_iter().reduce(|a, b| join(&b, &a)).unwrap_or_default();
            prop_assert_eq!(whole, span(0, 10_150));
        }
    }
}
