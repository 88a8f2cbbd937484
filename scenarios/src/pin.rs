//! Pinned runs: a file that outlives code changes, because it names what happens instead of a seed.
//!
//! A run that is a script (every counterexample of `check`, every simulation in tick mode) is pinned as its choices.
//! Any other run is pinned as its seed and settings, and compared by its digest alone.

use seedbed_model::Span;
use seedbed_sim::{Seed, Settings};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::exit::BadInput;
use crate::file::Source;
use crate::history::claim::Claim;

/// The version of the file. Raised whenever a key changes its name, type or meaning.
pub(crate) const FORMAT: u32 = 1;

/// A pinned run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Pin {
    /// [`FORMAT`] at the time of writing.
    pub(crate) format: u32,
    pub(crate) protocol: String,
    /// The scenario or the bound that it came from. For readers.
    pub(crate) place: String,
    /// The revision that wrote it. For readers.
    pub(crate) revision: String,
    /// The property that falls at its end; none, if none does.
    pub(crate) violation: Option<String>,
    /// 16 hexadecimal digits.
    pub(crate) digest: String,
    #[serde(default)]
    pub(crate) mutants: Vec<String>,
    #[serde(default)]
    pub(crate) params: Table,
    /// What is demanded of what the clients see, of a run by its seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<Claim>,
    /// What happens, by name.
    pub(crate) script: Option<PinnedScript>,
    /// What happens, by seed.
    pub(crate) seeded: Option<Seeded>,
}

/// Named choices, and what their world assumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PinnedScript {
    pub(crate) tick: Span,
    #[serde(default)]
    pub(crate) untimed: bool,
    /// `offsets[i]`: how far node `i`'s clock is ahead [ns].
    #[serde(default)]
    pub(crate) offsets: Vec<i64>,
    /// What the starts drew, in the order of the nodes; left out if each is the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) starts: Vec<u32>,
    pub(crate) steps: Vec<PinnedStep>,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PinnedStep {
    /// The step in words: it tells a reader what happens, and a replay where it drifts. Empty: unknown.
    #[serde(default)]
    pub(crate) what: String,
    /// Its canonical encoding in hexadecimal digits.
    pub(crate) choice: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<u32>,
}

/// A run by its seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Seeded {
    pub(crate) seed: Seed,
    pub(crate) settings: Settings,
    /// The steps in words; none of a run with too many.
    #[serde(default)]
    pub(crate) words: Vec<String>,
}

impl Pin {
    /// The file's text.
    pub(crate) fn text(&self) -> Result<String, BadInput> {
        toml::to_string_pretty(self).map_err(|error| BadInput::flag(format!("write a pin: {error}")))
    }

    /// Reads a file's text.
    pub(crate) fn read(source: &Source) -> Result<Pin, BadInput> {
        let pin: Pin = toml::from_str(&source.text).map_err(|error| source.refused(&error))?;
        if pin.format != FORMAT {
            return Err(
                source.whole(format!("format {} is not this version's, {FORMAT}; pin the run again", pin.format))
            );
        }
        if pin.script.is_some() == pin.seeded.is_some() {
            return Err(source.whole("a pin holds either a [script] or a [seeded] run"));
        }
        Ok(pin)
    }
}

impl PinnedScript {
    /// The same with its steps in words.
    pub(crate) fn told(mut self, trace: &[seedbed_model::TraceStep]) -> Self {
        for (step, traced) in self.steps.iter_mut().zip(trace) {
            step.what = words(traced);
        }
        self
    }
}

/// A step in words, with what the node did.
pub(crate) fn words(step: &seedbed_model::TraceStep) -> String {
    match step.effects.as_slice() {
        [] => step.what.clone(),
        effects => format!("{}: {}", step.what, effects.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_reads_back_as_written() {
        let steps = vec![
            PinnedStep { what: "client \"sends\"".into(), choice: "00ff".into(), answers: vec![1] },
            PinnedStep { what: String::new(), choice: "01".into(), answers: Vec::new() },
        ];
        let pin = Pin {
            format: FORMAT,
            protocol: "echo".into(),
            place: "check echo lossy".into(),
            revision: "unknown".into(),
            violation: Some("matching".into()),
            digest: "00000000000000ff".into(),
            mutants: vec!["no-number-check".into()],
            params: Table::new(),
            history: None,
            script: Some(PinnedScript { tick: Span::TICK, untimed: false, offsets: vec![-1], starts: vec![1], steps }),
            seeded: None,
        };
        let source = Source { name: "pin.toml".into(), text: pin.text().unwrap() };
        assert_eq!(Pin::read(&source), Ok(pin));
    }
}
