//! `plan`: a campaign cut into shards.

use std::path::PathBuf;

use seedbed_model::record::{Header, PlanRecord, SeedSpan, ShardPlan, ShardSeeds};
use seedbed_reports::{json, plan};

use super::flags::{Variation, quoted};
use super::run::named;
use crate::console::{Console, probe, write_file};
use crate::exit::{self, BadInput};
use crate::library::Library;
use crate::registry::Registry;
use crate::seeds::{SeedRange, Shard};

/// What is cut.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Cut {
    /// As for `run` [default: every quick scenario]
    #[arg(value_name = "SCENARIO")]
    names: Vec<String>,
    /// A half-open range of seeds [default: each scenario's own]
    #[arg(long, value_name = "A..B", env = "SEEDBED_SEEDS")]
    seeds: Option<SeedRange>,
    /// How many machines share them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) shards: u64,
    #[command(flatten)]
    variation: Variation,
    /// The revision that results are stamped with
    #[arg(long, value_name = "TEXT", env = "SEEDBED_REVISION", default_value = "unknown")]
    revision: String,
}

/// Flags of `plan`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    cut: Cut,
    /// Writes the plan as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe([], [&args.json])?;
    let record = args.cut.plan(registry, command)?;
    console.say(&plan::text(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    Ok(exit::EXPECTED)
}

impl Cut {
    /// The shards. One for which no seed is left is left out.
    ///
    /// # Errors
    /// On names, mutants or parameters that there are not.
    pub(crate) fn plan(&self, registry: &Registry, command: &str) -> Result<PlanRecord, BadInput> {
        let scenarios = self.scenarios(registry)?;
        let part = |index: u64| -> Vec<ShardSeeds> {
            let shard = Shard { index, count: self.shards };
            let seeds = |(name, range): &(String, SeedRange)| {
                let SeedRange { from, to } = range.shard(shard)?;
                Some(ShardSeeds { name: name.clone(), seeds: SeedSpan { from, to } })
            };
            scenarios.iter().filter_map(seeds).collect()
        };
        let shards: Vec<ShardPlan> = (1..=self.shards)
            .map(|index| ShardPlan { index, scenarios: part(index), command: self.line(command, &index.to_string()) })
            .filter(|shard| !shard.scenarios.is_empty())
            .collect();
        let files: String = shards.iter().map(|shard| format!(" {}", file(&shard.index.to_string()))).collect();
        let merge = format!("{command} merge{files} --json merged.json");
        Ok(PlanRecord { header: Header::new("plan", &self.revision), shards, merge })
    }

    /// Each scenario once, with all of its seeds, in order of name.
    fn scenarios(&self, registry: &Registry) -> Result<Vec<(String, SeedRange)>, BadInput> {
        let library = Library::new(registry, self.variation.scenarios.clone())?;
        let mut scenarios = Vec::new();
        for (face, scenario) in named(&library, &self.names)? {
            let scenario = self.variation.apply(face, scenario)?;
            scenarios.push((scenario.name, self.seeds.unwrap_or(scenario.seeds)));
        }
        scenarios.sort_by(|(a, _), (b, _)| a.cmp(b));
        scenarios.dedup_by(|(a, _), (b, _)| a == b);
        if scenarios.is_empty() {
            return Err(BadInput::flag("there is no scenario to run: name one; `list` shows them"));
        }
        Ok(scenarios)
    }

    /// The line that runs a shard; `index` is its number, or what stands for it.
    pub(crate) fn line(&self, command: &str, index: &str) -> String {
        let names: String = self.names.iter().map(|name| format!(" {}", quoted(name))).collect();
        let seeds = self.seeds.map(|seeds| format!(" --seeds {seeds}")).unwrap_or_default();
        let paste = self.variation.paste(command, &self.revision);
        let shard = format!(" --shard {index}/{}", self.shards);
        // Where nobody named one, the machine that runs it may know it, by `SEEDBED_REVISION`.
        let revision = match self.revision.as_str() {
            "unknown" => String::new(),
            revision => format!(" --revision {}", quoted(revision)),
        };
        format!("{command} run{names}{seeds}{}{shard}{revision} --json {}", paste.flags, file(index))
    }
}

/// Where a shard's results go.
pub(crate) fn file(index: &str) -> String {
    format!("shard-{index}.json")
}
