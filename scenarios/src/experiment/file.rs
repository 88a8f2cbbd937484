//! Experiment files, as TOML: their shape.

use seedbed_model::Span;
use serde::Deserialize;
use toml::{Spanned, Table, Value};

use super::measure::Quantity;
use crate::seeds::SeedRange;

/// An experiment file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExperimentFile {
    pub(super) protocol: Spanned<String>,
    /// What is asked, in a line.
    pub(super) title: String,
    /// Whose figures it repeats.
    pub(super) source: String,
    /// What is run, and at what stated costs.
    pub(super) story: String,
    pub(super) seeds: SeedRange,
    /// Along what it is measured: one of these two.
    pub(super) vary: Option<Vary>,
    pub(super) over: Option<Over>,
    #[serde(default)]
    pub(super) params: Table,
    #[serde(default)]
    pub(super) settings: Table,
    pub(super) line: Vec<Spanned<Line>>,
    pub(super) plot: Vec<Spanned<PlotEntry>>,
    #[serde(default)]
    pub(super) shows: Vec<Spanned<Shows>>,
}

/// What varies.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Vary {
    /// In words.
    pub(super) label: String,
    /// What it sets.
    pub(super) sets: Vec<Spanned<Target>>,
    pub(super) values: Vec<Spanned<Value>>,
    #[serde(default)]
    pub(super) logarithmic: bool,
}

/// What the value of what varies is set to: `params.` or `settings.`, and the names that lead there.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a path, or `{ path, times, by }`")]
pub(super) enum Target {
    /// The value itself.
    Same(String),
    /// Of a whole number, so many times it, divided by `by`.
    Scaled(Scaled),
}

/// See [`Target::Scaled`].
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scaled {
    pub(super) path: String,
    #[serde(default = "one")]
    pub(super) times: u32,
    #[serde(default = "one")]
    pub(super) by: u32,
}

fn one() -> u32 {
    1
}

/// Along what each run is measured: one of these two.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Over {
    /// In slices of the run, each so long.
    pub(super) time: Option<Span>,
    /// At these shares of its operations [%], from the fastest on.
    #[serde(default)]
    pub(super) shares: Vec<u64>,
}

/// What runs, for one curve in each plot.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Line {
    pub(super) name: String,
    /// Over those of the file.
    #[serde(default)]
    pub(super) params: Table,
    /// Likewise, at any depth.
    #[serde(default)]
    pub(super) settings: Table,
    /// What else the value of what varies is set to.
    #[serde(default)]
    pub(super) sets: Vec<Spanned<Target>>,
    /// The largest value of what varies at which it runs; all if left out.
    pub(super) upto: Option<u64>,
}

/// One quantity.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PlotEntry {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) measure: Quantity,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    #[serde(default)]
    pub(super) nodes: Vec<String>,
    #[serde(default)]
    pub(super) peak: bool,
    /// What happens from here on, of operations their invocation,
    pub(super) after: Option<Span>,
    /// and before this.
    pub(super) before: Option<Span>,
    /// Divided by the value of what varies.
    #[serde(default)]
    pub(super) each: bool,
    #[serde(default)]
    pub(super) logarithmic: bool,
    #[serde(default)]
    pub(super) paper: Vec<PaperCurve>,
}

/// What the paper measured.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PaperCurve {
    pub(super) name: String,
    /// (value of what varies, what was measured).
    pub(super) points: Vec<(u64, u64)>,
}

/// Something that the experiment is said to show: bounds on the means of a line, alone or beside another.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Shows {
    /// In words.
    pub(super) what: String,
    /// In which plot.
    pub(super) plot: String,
    /// Of which line.
    pub(super) line: String,
    /// Less what that line has.
    pub(super) minus: Option<String>,
    /// In per cent of what that line has.
    pub(super) percent_of: Option<String>,
    /// At the values of what varies from this
    pub(super) from: Option<u64>,
    /// to this.
    pub(super) upto: Option<u64>,
    /// In the plot's unit.
    pub(super) least: Option<u64>,
    /// Likewise.
    pub(super) most: Option<u64>,
}
