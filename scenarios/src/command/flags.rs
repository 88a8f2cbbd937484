//! Flags that several verbs share.

use std::path::{Path, PathBuf};

use seedbed_sim::Plan;
use toml::Table;

use crate::campaign::Paste;
use crate::exit::{BadInput, unknown};
use crate::face::{Face, Setup};
use crate::library::{self, Scenario};
use crate::params::{self, Override};

/// What may be changed of what runs.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Variation {
    /// Switches a mechanism off; may be repeated
    #[arg(long = "mutant", value_name = "NAME")]
    pub(crate) mutants: Vec<String>,
    /// Another form of the protocol, where it has several: its parameter `variant`
    #[arg(long, value_name = "NAME")]
    pub(crate) variant: Option<String>,
    /// Sets a parameter of the protocol; may be repeated
    #[arg(short = 'p', long = "param", value_name = "KEY=VALUE")]
    pub(crate) params: Vec<Override>,
    /// A folder of scenarios, `<protocol>/<scenario>.toml`; one of a shipped name takes its place
    #[arg(long, value_name = "DIR", env = "SEEDBED_SCENARIOS")]
    pub(crate) scenarios: Option<PathBuf>,
}

/// What goes wrong, in place of what a seed draws.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Planned {
    /// The plan of faults for the seed, as `replay --write-plan` wrote it and you edited it
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
}

impl Planned {
    /// The scenario with the plan.
    ///
    /// # Errors
    /// If the file is no plan for the scenario's nodes, at the place.
    pub(crate) fn apply(&self, face: &dyn Face, mut scenario: Scenario) -> Result<Scenario, BadInput> {
        let Some(path) = &self.plan else { return Ok(scenario) };
        let source = library::read(path)?;
        let plan: Plan = toml::from_str(&source.text).map_err(|error| source.refused(&error))?;
        let described = face.describe(&scenario.setup).map_err(|why| BadInput::file(&scenario.name, why))?;
        library::known_plan(&described, &plan, &source)?;
        scenario.settings.plan = Some(plan);
        Ok(scenario)
    }

    /// What is read.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.plan.as_deref()
    }

    /// The line to paste with the flag.
    pub(crate) fn paste(&self, mut paste: Paste) -> Paste {
        if let Some(path) = &self.plan {
            paste.flags.push_str(&format!(" --plan {}", quoted(&path.display().to_string())));
        }
        paste
    }
}

/// How the work is done.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Work {
    /// Threads; no result depends on their number [default: one for each processor]
    #[arg(long, value_name = "N", env = "SEEDBED_JOBS", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// The revision that results are stamped with
    #[arg(long, value_name = "TEXT", env = "SEEDBED_REVISION", default_value = "unknown")]
    pub(crate) revision: String,
}

impl Work {
    /// How many threads.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}

impl Variation {
    /// The mutants, once each.
    ///
    /// # Errors
    /// On one that the protocol does not have.
    pub(crate) fn mutants_of(&self, face: &dyn Face) -> Result<Vec<String>, BadInput> {
        let known: Vec<&str> = face.mutants().iter().map(|mutant| mutant.name).collect();
        if let Some(name) = self.mutants.iter().find(|name| !known.contains(&name.as_str())) {
            return Err(BadInput::flag(format!("--mutant: {} has {}", face.name(), unknown("mutant", name, &known))));
        }
        let mut names = self.mutants.clone();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The parameters with those of the flags over them.
    pub(crate) fn params_of(&self, face: &dyn Face, table: &Table) -> Result<Table, BadInput> {
        let check = |table: &Table| face.full_params(table).map(drop);
        let mut table = table.clone();
        if let Some(name) = &self.variant {
            let known = params::variants(face);
            if !known.contains(name) {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let why = if known.is_empty() {
                    format!("{} has no variants; leave the flag out", face.name())
                } else {
                    unknown("variant", name, &known)
                };
                return Err(BadInput::flag(format!("--variant {name}: {why}")));
            }
            table.insert(params::VARIANT.to_owned(), name.clone().into());
        }
        params::overridden(&table, &self.params, &format!("{} -p", face.name()), &check)
    }

    /// Why the variant of the flag does not go with a bound's or a scenario's parameters, if there is one and it does not.
    pub(crate) fn misfit(&self, face: &dyn Face, table: &Table) -> Option<String> {
        self.variant.as_ref()?;
        let params = self.params_of(face, table).ok()?;
        face.describe(&Setup { params, ..Setup::default() }).err()
    }

    /// The scenario with the flags applied.
    pub(crate) fn apply(&self, face: &dyn Face, mut scenario: Scenario) -> Result<Scenario, BadInput> {
        let params = self.params_of(face, &scenario.setup.params)?;
        let mut mutants = self.mutants_of(face)?;
        mutants.append(&mut scenario.setup.mutants);
        mutants.sort();
        mutants.dedup();
        scenario.setup = Setup { params, mutants, ..scenario.setup };
        face.describe(&scenario.setup).map_err(|why| BadInput::file(&scenario.name, why))?;
        Ok(scenario)
    }

    /// Whether any changes what runs.
    pub(crate) fn is_any(&self) -> bool {
        !self.mutants.is_empty() || self.variant.is_some() || !self.params.is_empty()
    }

    /// A pinned run with the flags applied: other mutants take the place of its own.
    ///
    /// # Errors
    /// If they do not go with what it has.
    pub(crate) fn of_pin(&self, face: &dyn Face, pinned: Setup) -> Result<Setup, BadInput> {
        if !self.is_any() {
            return Ok(pinned);
        }
        let params = self.params_of(face, &pinned.params)?;
        let mutants = if self.mutants.is_empty() { pinned.mutants } else { self.mutants_of(face)? };
        let whole = Setup { params, mutants: Vec::new(), history: pinned.history };
        face.describe(&whole)
            .map_err(|why| BadInput::flag(format!("the flags do not go with the pinned run: {why}")))?;
        Ok(Setup { mutants, ..whole })
    }

    /// The flags as a line to paste repeats them.
    pub(crate) fn paste(&self, command: &str, revision: &str) -> Paste {
        let mut flags = String::new();
        for mutant in &self.mutants {
            flags.push_str(&format!(" --mutant {mutant}"));
        }
        if let Some(name) = &self.variant {
            flags.push_str(&format!(" --variant {name}"));
        }
        for change in &self.params {
            flags.push_str(&format!(" -p {}", quoted(&format!("{}={}", change.key, change.value))));
        }
        if let Some(folder) = &self.scenarios {
            flags.push_str(&format!(" --scenarios {}", quoted(&folder.display().to_string())));
        }
        Paste { command: command.to_owned(), flags, revision: revision.to_owned() }
    }
}

/// The word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_to_paste_repeats_what_was_varied_and_survives_a_shell() {
        let variation = Variation {
            mutants: vec!["no-nonce".into()],
            params: vec!["name=a b".parse().unwrap()],
            scenarios: Some("my scenarios".into()),
            ..Variation::default()
        };
        assert_eq!(
            variation.paste("seedbed", "r1").flags,
            " --mutant no-nonce -p 'name=a b' --scenarios 'my scenarios'"
        );
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
