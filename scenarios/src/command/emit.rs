//! `emit`: a campaign over many machines, as an engine that exists runs it.

use seedbed_model::Span;
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
    /// The command as the machines call it [default: as this one is called]
    #[arg(long, value_name = "COMMAND")]
    call: Option<String>,
    /// The container image, with the command in it; kubernetes and gitlab need one
    #[arg(long, value_name = "IMAGE", required_if_eq_any([("engine", "kubernetes"), ("engine", "gitlab")]))]
    image: Option<String>,
    /// The volume claim that results go to [for kubernetes]
    #[arg(long, value_name = "NAME", default_value = "seedbed-results")]
    claim: String,
    /// How long the merge waits for a shard that does not come, before the campaign is incomplete [for kubernetes]
    #[arg(long, value_name = "SPAN", default_value = "1440min")]
    wait: Span,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Engine {
    /// Two Jobs: an Indexed one of shards, and one that merges
    Kubernetes,
    /// A workflow: a matrix of shards, and a job that merges, annotates and summarises
    Github,
    /// A pipeline: parallel shards, and a job that merges
    Gitlab,
    /// A script that submits itself: an array of shards, and a job that merges
    Slurm,
}

impl Engine {
    /// # Errors
    /// If the engine takes fewer shards at a time.
    fn takes(self, shards: u64) -> Result<(), BadInput> {
        let (most, what) = match self {
            Engine::Github => (256, "a matrix of GitHub has"),
            Engine::Gitlab => (200, "GitLab runs"),
            Engine::Kubernetes | Engine::Slurm => return Ok(()),
        };
        match shards > most {
            true => Err(BadInput::flag(format!("--shards {shards}: {what} at most {most} jobs; use fewer shards"))),
            false => Ok(()),
        }
    }
}

/// What is put into a line of a manifest must leave it one line.
fn plain_words(flag: &str, text: &str) -> Result<(), BadInput> {
    match text.trim().is_empty() || text.chars().any(|character| character.is_control() || "'\"`".contains(character)) {
        true => Err(BadInput::flag(format!("{flag} {text:?}: write one line of words, without quotation marks"))),
        false => Ok(()),
    }
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let call = args.call.as_deref().unwrap_or(command);
    plain_words("--call", call)?;
    plain_words("--claim", &args.claim)?;
    args.image.as_deref().map_or(Ok(()), |image| plain_words("--image", image))?;
    // What cannot be run is refused here, not on every machine.
    args.engine.takes(args.cut.shards)?;
    let left = args.cut.plan(registry, call)?.shards.len() as u64;
    if left < args.cut.shards {
        return Err(BadInput::flag(format!(
            "--shards {}: only {left} of them have a seed; use at most as many shards as a scenario has seeds",
            args.cut.shards
        )));
    }
    let (run, merge) = (args.cut.line(call, "$shard"), format!("{call} merge {} --json merged.json", file("*")));
    let campaign = manifest::Campaign { shards: args.cut.shards, run: &run, merge: &merge };
    let image = args.image.as_deref().unwrap_or_default();
    console.say(&match args.engine {
        Engine::Kubernetes => manifest::kubernetes(&campaign, image, &args.claim, args.wait),
        Engine::Github => manifest::github(&campaign),
        Engine::Gitlab => manifest::gitlab(&campaign, image),
        Engine::Slurm => manifest::slurm(&campaign),
    })?;
    Ok(exit::EXPECTED)
}
