//! `emit`: a campaign over many machines, as an engine that exists runs it.

use seedbed_reports::manifest;

use super::plan::{Cut, file};
use crate::console::Console;
use crate::exit::{self, BadInput};
use crate::registry::Registry;

/// Flags of `emit`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// What runs it
    #[arg(value_name = "ENGINE")]
    engine: Engine,
    #[command(flatten)]
    cut: Cut,
    /// The command as the machines call it
    #[arg(long, value_name = "COMMAND")]
    call: Option<String>,
    /// The container image, with the command in it [for kubernetes and gitlab]
    #[arg(long, value_name = "IMAGE", required_if_eq_any([("engine", "kubernetes"), ("engine", "gitlab")]))]
    image: Option<String>,
    /// The volume claim that results go to [for kubernetes]
    #[arg(long, value_name = "NAME", default_value = "seedbed-results")]
    claim: String,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Engine {
    /// An Indexed Job, and a Job that merges
    Kubernetes,
    /// A matrix
    Github,
    /// Parallel jobs
    Gitlab,
    /// A job array
    Slurm,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let call = args.call.as_deref().unwrap_or(command);
    // What cannot be run is refused here, not on every machine.
    args.cut.plan(registry, call)?;
    let (run, merge) = (args.cut.line(call, "$shard"), format!("{call} merge {} --json merged.json", file("*")));
    let campaign = manifest::Campaign { shards: args.cut.shards, run: &run, merge: &merge };
    let image = args.image.as_deref().unwrap_or_default();
    console.say(&match args.engine {
        Engine::Kubernetes => manifest::kubernetes(&campaign, image, &args.claim),
        Engine::Github => manifest::github(&campaign),
        Engine::Gitlab => manifest::gitlab(&campaign, image),
        Engine::Slurm => manifest::slurm(&campaign),
    })?;
    Ok(exit::EXPECTED)
}
