//! `run`: a campaign.

use std::path::PathBuf;

use seedbed_model::Span;
use seedbed_model::record::{CampaignRecord, Header, PinRecord, ScenarioRecord, ShrinkRecord};
use seedbed_reports::page::campaign::Example;
use seedbed_reports::{failure, shrunk};
use seedbed_sim::Seed;

use super::flags::{Planned, Variation, Work};
use super::outputs::Outputs;
use super::{replay, shrink};
use crate::campaign::{Campaign, Paste};
use crate::console::{Console, write_file};
use crate::exit::{self, BadInput, unknown};
use crate::face::Face;
use crate::file::Class;
use crate::guided::Guided;
use crate::keeping::Keep;
use crate::library::{Library, Scenario};
use crate::pinned;
use crate::registry::Registry;
use crate::seeds::{SeedRange, Seeds, Shard};
use crate::stopwatch::Deadline;

/// Flags of `run`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// `leasing` for a folder's quick ones, `leasing/owner-crash` for one [default: every quick scenario]
    #[arg(value_name = "SCENARIO")]
    names: Vec<String>,
    /// A half-open range of seeds [default: the scenario's own]
    #[arg(long, value_name = "A..B", env = "SEEDBED_SEEDS", conflicts_with = "seed")]
    seeds: Option<SeedRange>,
    /// One seed: a number, or a commit's 40 hexadecimal digits
    #[arg(long, value_name = "SEED", env = "SEEDBED_SEED")]
    seed: Option<Seed>,
    /// Stops after this time, shared evenly; without seeds, runs as many as fit
    #[arg(long, value_name = "SPAN", env = "SEEDBED_BUDGET")]
    budget: Option<Span>,
    /// The part of the seeds that falls to this machine
    #[arg(long, value_name = "I/N", conflicts_with = "seed")]
    shard: Option<Shard>,
    /// Keeps the campaign in this folder and goes on from what is kept there; removed once it has ended
    #[arg(long, value_name = "DIR", conflicts_with = "seed")]
    checkpoint: Option<PathBuf>,
    /// How often it is kept
    #[arg(long, value_name = "SPAN", default_value = "30s")]
    checkpoint_every: Span,
    /// Goes on from rare places that earlier runs were at, instead of seed after seed; the plan of a run that falls is written
    /// to this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seed", "shard", "plan", "trace", "history", "junit", "checkpoint", "shrink"])]
    guided: Option<PathBuf>,
    /// Makes the first run that fell small and explains it; one that was not expected before those that were
    #[arg(long)]
    shrink: bool,
    /// Pins the first run that fell
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Writes what the clients of the one run saw: EDN if the name ends so, else JSON Lines; `history` judges it
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    #[command(flatten)]
    planned: Planned,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    outputs: Outputs,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    args.outputs.probe(args.planned.file(), &[&args.trace, &args.history])?;
    let made_here = args.guided.as_ref().filter(|folder| !folder.exists());
    if let Some(folder) = &args.guided {
        let made = std::fs::create_dir_all(folder);
        made.map_err(|error| BadInput::file(folder.display().to_string(), format!("make the folder: {error}")))?;
    }
    let library = Library::new(registry, args.variation.scenarios.clone())?;
    let (chosen, left_out) = chosen(&library, args)?;
    console.say(&left_out)?;
    if args.history.is_some() && (chosen.len() > 1 || args.seed.is_none()) {
        return Err(BadInput::flag(
            "--history: it holds one run; name one scenario, as protocol/scenario, and add --seed N",
        ));
    }
    let paste = args.planned.paste(args.variation.paste(command, &args.work.revision));
    let keep = |folder: &PathBuf| Keep::new(folder, args.checkpoint_every, &args.work.revision);
    let keep = args.checkpoint.as_ref().map(keep).transpose()?;
    let deadline = Deadline::after(args.budget);
    let mut record = CampaignRecord {
        header: Header::new("campaign", &args.work.revision),
        pins: pins(&library, &chosen)?,
        scenarios: Vec::new(),
        code: 0,
    };
    let mut said = Ok(());
    for (index, (face, scenario)) in chosen.iter().enumerate() {
        let deadline = deadline.share(chosen.len() - index);
        let Some(seeds) = seeds(args, scenario) else { continue };
        let whole = whole(args, scenario);
        let (keep, jobs) = (keep.as_ref(), args.work.jobs());
        let campaign = Campaign { face: *face, scenario, seeds, whole, keep, jobs, deadline, paste: &paste };
        let done = match &args.guided {
            None => one(&campaign, console)?,
            Some(folder) => guided(&campaign, folder, console)?,
        };
        let falls = done.falls.iter().filter(|fall| !fall.expected);
        let blocks: String = falls.map(|fall| format!("{}\n", failure::block(&fall.first))).collect();
        // A stream that is closed ends no campaign: its results may go to files.
        said = said.and(console.say(&blocks));
        record.scenarios.push(done);
    }
    if let Some(folder) = made_here {
        // With a plan in it, it stays.
        let _ = std::fs::remove_dir(folder);
    }
    if record.scenarios.is_empty() {
        return Err(BadInput::flag("--shard: no scenario has a seed left for this shard; use fewer shards"));
    }
    let codes = record.scenarios.iter().map(|scenario| scenario.code);
    record.code = exit::lowest(codes.chain(record.pins.iter().map(|pin| pin.code)));
    said.and(args.outputs.put(&record, console))?;
    if args.shrink {
        for (_, small) in made_small(&chosen, &record, 1, &paste, console)? {
            console.say(&format!("\n{}", shrunk::text(&small)))?;
        }
    }
    if args.outputs.has_page() {
        let small = made_small(&chosen, &record, EXAMPLE_COUNT_MAX, &paste, console)?;
        let examples: Vec<Example> = small.into_iter().map(|(name, small)| Example::of(&name, small)).collect();
        args.outputs.put_page(&record, &examples)?;
    }
    if let (Some(path), Some(seed), [(face, scenario)]) = (&args.history, args.seed, chosen.as_slice()) {
        replay::write_history(*face, scenario, seed, path)?;
    }
    if let Some(path) = &args.trace {
        pin_first(args, &chosen, &record, path)?;
    }
    if let Some(keep) = keep {
        let has_ended = |scenario: &&ScenarioRecord| scenario.demanded == Some(scenario.runs);
        record.scenarios.iter().filter(has_ended).for_each(|scenario| keep.remove(scenario));
    }
    Ok(record.code)
}

/// The pinned runs of the protocols at hand, replayed. What is varied by flags changes nothing of them.
fn pins(library: &Library<'_>, chosen: &[(&dyn Face, Scenario)]) -> Result<Vec<PinRecord>, BadInput> {
    let mut records = Vec::new();
    for entry in &library.registry.entries {
        let face = entry.face.as_ref();
        if chosen.iter().any(|(other, _)| other.name() == face.name()) {
            for (name, source) in library.pinned(entry)? {
                records.push(pinned::replayed(face, &name, &source)?);
            }
        }
    }
    records.sort_by(|a: &PinRecord, b: &PinRecord| a.name.cmp(&b.name));
    Ok(records)
}

/// The scenarios asked for, each once, with the flags applied.
type Chosen<'r> = Vec<(&'r dyn Face, Scenario)>;

/// The scenarios asked for, and which of them are left out, each in a line: a variant need not go with all of them.
fn chosen<'r>(library: &Library<'r>, args: &Args) -> Result<(Chosen<'r>, String), BadInput> {
    let (mut chosen, mut left_out): (Chosen<'r>, String) = Default::default();
    for (face, scenario) in named(library, &args.names)? {
        if let Some(why) = args.variation.misfit(face, &scenario.setup.params)
            && !args.names.contains(&scenario.name)
        {
            left_out.push_str(&format!("left out: {}: {why}\n", scenario.name));
            continue;
        }
        if chosen.iter().all(|(_, other)| other.name != scenario.name) {
            let scenario = args.variation.apply(face, scenario)?;
            chosen.push((face, args.planned.apply(face, scenario)?));
        }
    }
    if args.planned.plan.is_some() && chosen.len() > 1 {
        return Err(BadInput::flag("--plan: a plan names the nodes of one scenario; name one, as protocol/scenario"));
    }
    // In the order of their names, as merged results have them.
    chosen.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    if chosen.is_empty() {
        return Err(BadInput::flag("there is no scenario to run: name one; `list` shows them"));
    }
    Ok((chosen, left_out))
}

/// The scenarios that the names stand for; without names, every quick one.
pub(super) fn named<'r>(library: &Library<'r>, names: &[String]) -> Result<Vec<(&'r dyn Face, Scenario)>, BadInput> {
    let mut found: Vec<(&dyn Face, Scenario)> = Vec::new();
    if names.is_empty() {
        for entry in &library.registry.entries {
            let quick = library.scenarios(entry)?.into_iter().filter(|scenario| scenario.class == Class::Quick);
            found.extend(quick.map(|scenario| (entry.face.as_ref(), scenario)));
        }
    }
    for name in names {
        found.extend(scenarios(library, name)?);
    }
    Ok(found)
}

/// The scenarios that a name stands for: a folder's quick ones, or one of either class.
pub(crate) fn scenarios<'r>(library: &Library<'r>, name: &str) -> Result<Vec<(&'r dyn Face, Scenario)>, BadInput> {
    let (protocol, one) = match name.split_once('/') {
        Some((protocol, _)) => (protocol, true),
        None => (name, false),
    };
    let entry = library.registry.entry(protocol)?;
    let all = library.scenarios(entry)?;
    if one && all.iter().all(|scenario| scenario.name != name) {
        let known: Vec<&str> = all.iter().map(|scenario| scenario.name.as_str()).collect();
        return Err(BadInput::flag(unknown("scenario", name, &known)));
    }
    let face = entry.face.as_ref();
    let is_meant = |scenario: &Scenario| if one { scenario.name == name } else { scenario.class == Class::Quick };
    Ok(all.into_iter().filter(is_meant).map(|scenario| (face, scenario)).collect())
}

/// `None` if no seed falls to this shard.
fn seeds(args: &Args, scenario: &Scenario) -> Option<Seeds> {
    if let Some(seed) = args.seed {
        return Some(Seeds::One(seed));
    }
    let range = match (args.seeds, args.budget, args.shard) {
        (Some(range), _, _) => range,
        (None, Some(_), None) => return Some(Seeds::Endless),
        (None, _, _) => scenario.seeds,
    };
    match args.shard {
        Some(shard) => range.shard(shard).map(Seeds::Range),
        None => Some(Seeds::Range(range)),
    }
}

/// The seeds of all shards; `None` if time alone says, or for a single seed.
fn whole(args: &Args, scenario: &Scenario) -> Option<SeedRange> {
    match (args.seed, args.seeds, args.budget, args.shard) {
        (Some(_), ..) | (None, None, Some(_), None) => None,
        (None, seeds, ..) => Some(seeds.unwrap_or(scenario.seeds)),
    }
}

fn one(campaign: &Campaign<'_>, console: &mut Console<'_>) -> Result<ScenarioRecord, BadInput> {
    let meter = console.meter(&campaign.scenario.name, campaign.seeds.demanded());
    let record = campaign.run(&meter)?;
    drop(meter);
    Ok(record)
}

/// The same number of runs, guided by what they reach.
fn guided(
    campaign: &Campaign<'_>,
    folder: &std::path::Path,
    console: &Console<'_>,
) -> Result<ScenarioRecord, BadInput> {
    let &Campaign { face, scenario, jobs, deadline, paste, .. } = campaign;
    let seeds = match campaign.seeds {
        Seeds::Range(range) => range,
        Seeds::Endless | Seeds::One(_) => SeedRange { from: 0, to: u64::MAX },
    };
    let guided = Guided { face, scenario, seeds, folder, jobs, deadline, paste };
    guided.run(&console.meter(&scenario.name, campaign.seeds.demanded()))
}

/// Falls that a page shows, at most: each takes some hundred tries to make small.
const EXAMPLE_COUNT_MAX: usize = 20;

/// Tries for each of them.
const EXAMPLE_TRIES: u64 = 5_000;

/// The first falls made small, each with its scenario's name: those not expected before the others. One that does not shrink
/// is left out.
fn made_small(
    chosen: &[(&dyn Face, Scenario)],
    record: &CampaignRecord,
    count_max: usize,
    paste: &Paste,
    console: &mut Console<'_>,
) -> Result<Vec<(String, ShrinkRecord)>, BadInput> {
    let mut falls: Vec<_> =
        record.scenarios.iter().flat_map(|scenario| scenario.falls.iter().map(move |fall| (scenario, fall))).collect();
    falls.sort_by_key(|(_, fall)| fall.expected);
    let mut made = Vec::new();
    for (scenario, fall) in falls.into_iter().take(count_max) {
        let Some((face, scenario)) = chosen.iter().find(|(_, other)| other.name == scenario.name) else { continue };
        let seed: Seed = fall.first.seed.as_deref().unwrap_or_default().parse().map_err(BadInput::flag)?;
        let fell = (seed, fall.property.as_str());
        let Ok(small) = shrink::made_small(*face, scenario, fell, EXAMPLE_TRIES, paste, console) else { continue };
        made.push((scenario.name.clone(), small));
    }
    Ok(made)
}

/// Pins the first run that fell, expected or not; without one there is nothing to pin.
fn pin_first(
    args: &Args,
    chosen: &[(&dyn Face, Scenario)],
    record: &CampaignRecord,
    path: &std::path::Path,
) -> Result<(), BadInput> {
    let first = record.scenarios.iter().find_map(|scenario| Some((scenario, scenario.falls.first()?)));
    let Some((scenario, fall)) = first else { return Ok(()) };
    let Some((face, scenario)) = chosen.iter().find(|(_, other)| other.name == scenario.name) else { return Ok(()) };
    let seed = fall.first.seed.as_deref().unwrap_or_default().parse().map_err(BadInput::flag)?;
    write_file(path, &replay::pin(*face, scenario, seed, &args.work.revision)?.text()?)
}
