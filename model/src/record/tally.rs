//! Tallies: what any number of runs come to. Adding them up is associative, and their order does not matter.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::signature::Signature;

/// What some runs come to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many runs.
    pub runs: u64,
    /// Choices applied.
    pub steps: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Virtual time [ns]; no more than fits.
    pub virtual_ns: u64,
    /// Sum, modulo 2^64, of a digest over each run's seed and digest. 16 hex digits in a file.
    #[serde(with = "hexadecimal")]
    pub digest: u64,
    /// Runs that reached the bound on steps.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limited: u64,
    /// Runs that ended at a property which the scenario does not assert.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unasserted: u64,
    /// Runs done twice to compare them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Marks taken and goals reached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reached: BTreeMap<String, Reach>,
    /// By kind of fault: what was reached in the runs that it was in force in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<String, Exercise>,
    /// Runs that fell, by seed and then by property.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fell: Vec<FallenRun>,
    /// Seeds whose second run differed, with the first difference in words, by seed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diverged: BTreeMap<u64, String>,
}

/// How often a mark was taken or a goal reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Over all runs.
    pub times: u64,
    /// In how many runs at least once.
    pub runs: u64,
    /// The first seed of these.
    pub first: u64,
}

/// What a kind of fault was there to disturb.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exercise {
    /// Runs in which a fault of the kind was in force.
    pub runs: u64,
    /// In how many of these each mark was taken and each goal reached.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reached: BTreeMap<String, u64>,
}

/// A run in which an asserted property fell.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FallenRun {
    /// Its seed.
    pub seed: u64,
    /// The property.
    pub property: String,
    /// Steps of the run.
    pub steps: u64,
    /// What it has in common with others; `None` where nothing is known of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl Tally {
    /// Adds the runs of `other`, none of which is among these.
    pub fn add(&mut self, other: &Tally) {
        self.runs = self.runs.saturating_add(other.runs);
        self.steps = self.steps.saturating_add(other.steps);
        self.messages = self.messages.saturating_add(other.messages);
        self.virtual_ns = self.virtual_ns.saturating_add(other.virtual_ns);
        self.digest = self.digest.wrapping_add(other.digest);
        self.limited = self.limited.saturating_add(other.limited);
        self.unasserted = self.unasserted.saturating_add(other.unasserted);
        self.repeated = self.repeated.saturating_add(other.repeated);
        for (name, reach) in &other.reached {
            self.reach(name, *reach);
        }
        for (kind, exercise) in &other.faults {
            self.exercise(kind, exercise);
        }
        if !other.fell.is_empty() {
            self.fell.extend(other.fell.iter().cloned());
            self.fell.sort();
        }
        self.diverged.extend(other.diverged.iter().map(|(seed, words)| (*seed, words.clone())));
    }

    fn reach(&mut self, name: &str, more: Reach) {
        match self.reached.get_mut(name) {
            Some(reach) => {
                reach.times = reach.times.saturating_add(more.times);
                reach.runs = reach.runs.saturating_add(more.runs);
                reach.first = reach.first.min(more.first);
            }
            None => {
                self.reached.insert(name.to_owned(), more);
            }
        }
    }

    fn exercise(&mut self, kind: &str, more: &Exercise) {
        let Some(exercise) = self.faults.get_mut(kind) else {
            self.faults.insert(kind.to_owned(), more.clone());
            return;
        };
        exercise.runs = exercise.runs.saturating_add(more.runs);
        for (name, runs) in &more.reached {
            match exercise.reached.get_mut(name) {
                Some(count) => *count = count.saturating_add(*runs),
                None => {
                    exercise.reached.insert(name.clone(), *runs);
                }
            }
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A digest as 16 hex digits.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(digest: &u64, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(&format_args!("{digest:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u64, D::Error> {
        let text = String::deserialize(input)?;
        let read = u64::from_str_radix(&text, 16).ok().filter(|_| text.len() == 16);
        read.ok_or_else(|| D::Error::custom(format!("`{text}` is no digest; write 16 hexadecimal digits")))
    }
}
