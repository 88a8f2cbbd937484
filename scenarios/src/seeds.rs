//! Which seeds a campaign runs: ranges, single seeds, shards.

use std::fmt;
use std::str::FromStr;

use seedbed_sim::Seed;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::file::Written;

/// A half-open range of seeds; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeedRange {
    /// The first.
    pub(crate) from: u64,
    /// The one behind the last.
    pub(crate) to: u64,
}

impl Default for SeedRange {
    fn default() -> Self {
        SeedRange { from: 0, to: 100 }
    }
}

impl SeedRange {
    /// How many seeds.
    pub(crate) fn count(self) -> u64 {
        self.to - self.from
    }

    /// The consecutive part that falls to a shard; `None` if there are more shards than seeds and none is left.
    pub(crate) fn shard(self, shard: Shard) -> Option<SeedRange> {
        let edge = |index: u64| {
            let offset = u128::from(self.count()) * u128::from(index) / u128::from(shard.count);
            self.from + offset as u64
        };
        let (from, to) = (edge(shard.index - 1), edge(shard.index));
        (from < to).then_some(SeedRange { from, to })
    }
}

impl fmt::Display for SeedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

impl FromStr for SeedRange {
    type Err = String;
    /// `0..200`: half-open, not empty.
    fn from_str(text: &str) -> Result<SeedRange, String> {
        let bad =
            || format!("`{text}` is no range of seeds; write the first and the one behind the last, such as 0..200");
        let (from, to) = text.split_once("..").ok_or_else(bad)?;
        let (from, to): (u64, u64) = (from.trim().parse().map_err(|_| bad())?, to.trim().parse().map_err(|_| bad())?);
        if from >= to {
            return Err(format!(
                "`{text}` has no seed in it; the range is half-open, so {from}..{} has one",
                from.saturating_add(1)
            ));
        }
        Ok(SeedRange { from, to })
    }
}

impl<'de> Deserialize<'de> for SeedRange {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(Written::new("a range of seeds such as \"0..200\""))
    }
}

impl Serialize for SeedRange {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

/// One of several machines that share a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// Which, from 1.
    pub(crate) index: u64,
    /// Of how many.
    pub(crate) count: u64,
}

impl FromStr for Shard {
    type Err = String;
    /// `1/4` to `4/4`.
    fn from_str(text: &str) -> Result<Shard, String> {
        let bad = || format!("`{text}` is no shard; write its number and how many there are, 1/4 to 4/4");
        let (index, count) = text.split_once('/').ok_or_else(bad)?;
        let (index, count): (u64, u64) = (index.parse().map_err(|_| bad())?, count.parse().map_err(|_| bad())?);
        if (1..=count).contains(&index) { Ok(Shard { index, count }) } else { Err(bad()) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// The seeds of one scenario in one campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// All of a range.
    Range(SeedRange),
    /// Upward from 0 until time is out.
    Endless,
    /// One, a commit's hash perhaps.
    One(Seed),
}

impl Seeds {
    /// How many runs are demanded; `None` if only time says.
    pub(crate) fn demanded(self) -> Option<u64> {
        match self {
            Seeds::Range(range) => Some(range.count()),
            Seeds::Endless => None,
            Seeds::One(_) => Some(1),
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seeds::Range(range) => range.fmt(f),
            Seeds::Endless => f.write_str("0.."),
            Seeds::One(seed) => seed.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_a_range_without_gap_or_overlap() {
        let range = SeedRange { from: 3, to: 14 };
        for count in 1..=13 {
            let parts: Vec<SeedRange> = (1..=count).filter_map(|index| range.shard(Shard { index, count })).collect();
            assert_eq!(parts.first().map(|part| part.from), Some(3));
            assert_eq!(parts.last().map(|part| part.to), Some(14));
            assert!(parts.windows(2).all(|pair| pair[0].to == pair[1].from), "{count} shards: {parts:?}");
        }
    }

    #[test]
    fn empty_and_backward_ranges_are_refused_with_advice() {
        assert_eq!(
            "5..5".parse::<SeedRange>().unwrap_err(),
            "`5..5` has no seed in it; the range is half-open, so 5..6 has one"
        );
        assert!("9..2".parse::<SeedRange>().is_err());
        assert!("5".parse::<SeedRange>().is_err());
        assert!("0/4".parse::<Shard>().is_err() && "5/4".parse::<Shard>().is_err());
    }
}
