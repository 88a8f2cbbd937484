//! A range of seeds in a result file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Seeds from one to another, half-open; written as `0..100`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeedSpan {
    /// The first.
    pub from: u64,
    /// The one behind the last.
    pub to: u64,
}

impl SeedSpan {
    /// How many seeds.
    pub fn count(self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// The smallest range that holds both.
    pub fn hull(self, other: SeedSpan) -> SeedSpan {
        SeedSpan { from: self.from.min(other.from), to: self.to.max(other.to) }
    }

    /// What of this range is in none of `done`, which is in order and does not overlap.
    pub fn without(self, done: &[SeedSpan]) -> Vec<SeedSpan> {
        let mut from = self.from;
        let mut gaps = Vec::new();
        for span in done {
            let to = span.from.min(self.to);
            if from < to {
                gaps.push(SeedSpan { from, to });
            }
            from = from.max(span.to);
        }
        if from < self.to {
            gaps.push(SeedSpan { from, to: self.to });
        }
        gaps
    }
}

impl fmt::Display for SeedSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

impl FromStr for SeedSpan {
    type Err = String;
    fn from_str(text: &str) -> Result<SeedSpan, String> {
        let (from, to) = text.split_once("..").unwrap_or_default();
        match (from.parse(), to.parse()) {
            (Ok(from), Ok(to)) if from < to => Ok(SeedSpan { from, to }),
            _ => Err(format!("`{text}` is no range of seeds; write the first and the one behind the last, as 0..100")),
        }
    }
}

impl Serialize for SeedSpan {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SeedSpan {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(texts: &[&str]) -> Vec<SeedSpan> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn gaps_are_what_no_range_holds() {
        let whole = SeedSpan { from: 10, to: 100 };
        assert_eq!(whole.without(&spans(&["0..20", "30..40", "90..120"])), spans(&["20..30", "40..90"]));
        assert_eq!(whole.without(&spans(&["0..200"])), []);
        assert_eq!(whole.without(&spans(&["0..5", "150..160"])), [whole]);
        assert_eq!(whole.without(&[]), [whole]);
    }

    #[test]
    fn a_range_reads_back() {
        let span = SeedSpan { from: 3, to: 9 };
        assert_eq!(span.to_string().parse(), Ok(span));
        assert!("9..3".parse::<SeedSpan>().is_err() && "3".parse::<SeedSpan>().is_err());
    }
}
