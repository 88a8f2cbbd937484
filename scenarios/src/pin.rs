//! Pinned runs: a file that outlives code changes, because it names what happens instead of a seed.
//!
//! Every run is an exact script, and pinned as its choices. A run of very many steps is pinned as its seed and settings
//! instead, and compared by its digest alone: nobody would read the file, and a repository is not the place for it. So is a
//! run whose scenario demands an order of histories, which no script follows.

use seedbed_model::Span;
use seedbed_sim::{NamedClock, Seed, Settings};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::exit::BadInput;
use crate::face::{Face, Setup};
use crate::file::Source;
use crate::history::claim::Claim;

/// The version of the file. Raised whenever a key changes its name, type or meaning.
pub(crate) const FORMAT: u32 = 2;

/// A pinned run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Pin {
    /// [`FORMAT`] at the time of writing.
    pub(crate) format: u32,
    pub(crate) protocol: String,
    /// What it once found. For readers.
    #[serde(default)]
    pub(crate) story: String,
    /// The bug is fixed: the property must fall no more, whatever became of the steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fixed: bool,
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

/// Named choices, from before the first start, and the clocks of their world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PinnedScript {
    /// Whether timers may fire before their ends, as in an exploration without time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) untimed: bool,
    /// The clocks that are not exact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) clocks: Vec<NamedClock>,
    pub(crate) steps: Vec<PinnedStep>,
}

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PinnedStep {
    /// What happens, by name: `deliver owner-1 -> manager: LeaseRequest { .. }`.
    pub(crate) step: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<u32>,
    /// How long the timers that it sets really run, as far as that is not what the clocks say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lengths: Vec<Span>,
    /// What the nodes do, in words: it tells a reader what comes of the step, and a replay where it drifts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) does: Vec<String>,
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
        let table: Table = toml::from_str(&source.text).map_err(|error| source.refused(&error))?;
        // Before its keys, which another format need not have.
        let format = table.get("format").and_then(toml::Value::as_integer);
        if let Some(format) = format.filter(|format| *format != i64::from(FORMAT)) {
            return Err(source.whole(format!("format {format} is not this version's, {FORMAT}; pin the run again")));
        }
        if !table.contains_key("format") {
            let advice = "no pinned run: it has no `format`; a scenario is named as protocol/scenario, with --seed N";
            return Err(source.whole(advice));
        }
        let pin: Pin = toml::from_str(&source.text).map_err(|error| source.refused(&error))?;
        if pin.script.is_some() == pin.seeded.is_some() {
            return Err(source.whole("a pin holds either a [script] or a [seeded] run"));
        }
        Ok(pin)
    }

    /// The protocol as the pin has it. Whether its mutants are there still is not asked: one that is not is no error of the
    /// file.
    ///
    /// # Errors
    /// At its place, on a parameter that the protocol does not have, a value that makes no sense, or a demand on histories
    /// that its clients cannot be held to.
    pub(crate) fn setup(&self, face: &dyn Face, source: &Source) -> Result<Setup, BadInput> {
        face.read_scenario(&source.text).map_err(|error| source.refused(&error))?;
        let setup = Setup { params: self.params.clone(), mutants: Vec::new(), history: self.history.clone() };
        face.describe(&setup).map_err(|why| source.at_text("[params]", why))?;
        face.check_history(&setup).map_err(|why| source.at_text("[history]", format!("history: {why}")))?;
        if let Some(seeded) = &self.seeded {
            seeded.settings.check().map_err(|why| source.at_text("settings", why))?;
        }
        Ok(Setup { mutants: self.mutants.clone(), ..setup })
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
        let step = |step: &str, answers: &[u32], does: &[&str]| PinnedStep {
            step: step.into(),
            answers: answers.to_vec(),
            lengths: answers.iter().map(|count| Span::secs(u64::from(*count))).collect(),
            does: does.iter().map(|text| (*text).to_owned()).collect(),
        };
        let steps = vec![step("start client", &[], &["client \"sends\""]), step("elapse 1s", &[1], &[])];
        let clocks = vec![NamedClock { node: "client".into(), clock: seedbed_sim::NodeClock::EXACT }];
        let pin = Pin {
            format: FORMAT,
            protocol: "echo".into(),
            story: "An echo of another number counts.".into(),
            fixed: true,
            place: "check echo lossy".into(),
            revision: "unknown".into(),
            violation: Some("matching".into()),
            digest: "00000000000000ff".into(),
            mutants: vec!["no-number-check".into()],
            params: Table::new(),
            history: None,
            script: Some(PinnedScript { untimed: false, clocks, steps }),
            seeded: None,
        };
        let source = Source { name: "pin.toml".into(), text: pin.text().unwrap() };
        assert_eq!(Pin::read(&source), Ok(pin));
    }
}
