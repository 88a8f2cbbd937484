//! What an experiment leaves behind.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Header;

/// A number with three decimals, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Milli(pub u64);

impl Serialize for Milli {
    #[expect(clippy::float_arithmetic, reason = "files have decimals; nothing is decided by them")]
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_f64(self.0 as f64 / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Milli {
    #[expect(clippy::float_arithmetic, reason = "as above")]
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        f64::deserialize(input).map(|number| Milli((number * 1000.0).round() as u64))
    }
}

/// An experiment: what was measured while one thing varied, beside what its paper measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// `protocol/experiment`.
    pub name: String,
    /// What is asked, in a line.
    pub title: String,
    /// Whose figures it repeats: paper, section and figure.
    pub source: String,
    /// What was run, and at what stated costs.
    pub story: String,
    /// Seeds of each point.
    pub seeds: u64,
    /// What varies.
    pub label: String,
    /// Whether its values are spread by their logarithms.
    pub is_logarithmic: bool,
    /// One for each quantity measured.
    pub plots: Vec<Plot>,
    /// What it is said to show.
    pub shown: Vec<Shown>,
    /// The exit code: 19 if it does not show what it is said to.
    pub code: u8,
}

/// One quantity, over what varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// Its name in the file.
    pub name: String,
    /// What it is, in words.
    pub title: String,
    /// Of the values.
    pub unit: String,
    /// Whether its values are spread by their logarithms.
    pub is_logarithmic: bool,
    /// As measured here.
    pub curves: Vec<Curve>,
    /// As the paper has them.
    pub paper: Vec<Curve>,
}

/// Points in the order of what varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What ran.
    pub name: String,
    /// Where something was measured.
    pub points: Vec<Point>,
}

/// What was measured at one value of what varies, over the seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The value of what varies.
    pub at: Milli,
    /// The mean of the seeds, cut off behind three decimals.
    pub mean: Milli,
    /// The least of them.
    pub least: Milli,
    /// The largest.
    pub most: Milli,
}

/// Something that an experiment is said to show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// In words.
    pub what: String,
    /// The bounds it was held to and what was found, in words.
    pub found: String,
    /// Whether it does.
    pub holds: bool,
}
