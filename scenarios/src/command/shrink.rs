//! `shrink`: a failure made small, explained, and pinned.

use std::path::{Path, PathBuf};

use seedbed_model::record::{Failure, FaultRole, Header, RunSize, ShrinkRecord};
use seedbed_model::{Property, Span};
use seedbed_reports::{json, page, shrunk};
use seedbed_sim::Seed;
use seedbed_sim::shrink::{Budget, Size};

use super::flags::{Planned, Variation, Work};
use super::run::scenarios;
use crate::campaign::{Paste, subject, words_of};
use crate::console::{Console, probe, write_file};
use crate::exit::{self, BadInput};
use crate::face::{Face, Setup};
use crate::library::{self, Library, Scenario};
use crate::pin::{FORMAT, Pin};
use crate::registry::Registry;
use crate::shrinking::{BUDGET, Found, Shrinking};
use crate::shrunken::Shrunken;
use crate::stopwatch::Deadline;

/// Flags of `shrink`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A scenario (with --seed), or a pinned file
    what: String,
    /// The seed: a number, or a commit's 40 hexadecimal digits
    #[arg(long, value_name = "SEED", env = "SEEDBED_SEED")]
    seed: Option<Seed>,
    /// The property whose fall is shrunk [default: the first that fell]
    #[arg(long, value_name = "NAME")]
    property: Option<String>,
    /// Pins the shrunk run
    #[arg(long, value_name = "FILE")]
    pin: Option<PathBuf>,
    /// Gives up after so many tries
    #[arg(long, value_name = "TRIES", default_value_t = BUDGET)]
    budget: u64,
    /// Gives up after this time: what is found until then depends on the machine
    #[arg(long, value_name = "SPAN")]
    deadline: Option<Span>,
    /// Writes the result as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a page with the run as a picture
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    planned: Planned,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    work: Work,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let inputs = args.planned.file().into_iter().chain([Path::new(&args.what)]);
    probe(inputs, [&args.pin, &args.json, &args.html])?;
    let paste = args.planned.paste(args.variation.paste(command, &args.work.revision));
    match args.seed {
        Some(seed) => shrink_seed(registry, args, seed, &paste, console),
        None if Path::new(&args.what).is_file() => shrink_pin(registry, args, &paste, console),
        None if registry.names().contains(&args.what.split('/').next().unwrap_or_default()) => {
            Err(BadInput::flag(format!("{}: a scenario's run has a seed; add --seed N", args.what)))
        }
        None if Path::new(&args.what).is_dir() => {
            Err(BadInput::flag(format!("{}: a folder; pin the run in it first, by replay --trace", args.what)))
        }
        None => Err(BadInput::flag(format!(
            "{}: there is no such file; write a pinned file, or a scenario and --seed N",
            args.what
        ))),
    }
}

fn shrink_seed(
    registry: &Registry,
    args: &Args,
    seed: Seed,
    paste: &Paste,
    console: &mut Console<'_>,
) -> Result<u8, BadInput> {
    let library = Library::new(registry, args.variation.scenarios.clone())?;
    let mut found = scenarios(&library, &args.what)?;
    if found.len() != 1 || !args.what.contains('/') {
        return Err(BadInput::flag(format!("{}: a seed is one scenario's; write protocol/scenario", args.what)));
    }
    let (face, scenario) = found.remove(0);
    let scenario = args.planned.apply(face, args.variation.apply(face, scenario)?)?;
    let meter = console.meter(&format!("shrink {}", scenario.name), Some(args.budget));
    let shrinking = Shrinking {
        face,
        setup: scenario.setup.clone(),
        settings: scenario.settings.clone(),
        seed,
        property: args.property.clone(),
        tries: args.budget,
        deadline: Deadline::after(args.deadline),
        meter: &meter,
    };
    let found = shrinking.run().map_err(|why| BadInput::file(&scenario.name, why))?;
    drop(meter);
    let shown = Shown::of_seed(face, &scenario.name, seed, &found);
    finish(args, &shown, paste, console)
}

fn shrink_pin(registry: &Registry, args: &Args, paste: &Paste, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let source = library::read(Path::new(&args.what))?;
    let pin = Pin::read(&source)?;
    let face = registry.entry(&pin.protocol).map_err(|error| source.whole(error.to_string()))?.face.as_ref();
    let setup = args.variation.of_pin(face, pin.setup(face, &source)?)?;
    let Some(script) = &pin.script else {
        return Err(source.whole("a pin of a seed; shrink the scenario's seed instead, by --seed"));
    };
    let meter = console.meter(&format!("shrink {}", args.what), Some(args.budget));
    let deadline = Deadline::after(args.deadline);
    let mut watch = |progress: seedbed_sim::shrink::Progress| {
        meter.at(progress.tries);
        !deadline.is_over()
    };
    let budget = Budget { tries: args.budget, watch: &mut watch };
    let shrunken = face.shrink_script(&setup, script, budget).map_err(|why| source.whole(why))?;
    drop(meter);
    let (before, tries) = (shrunken.before, shrunken.tries);
    let shown = Shown { face, setup, place: pin.place.clone(), seed: None, before, tries, shrunken: &shrunken };
    finish(args, &shown, paste, console)
}

/// A shrunk run, and whence it is.
struct Shown<'a> {
    face: &'a dyn Face,
    setup: Setup,
    place: String,
    seed: Option<Seed>,
    before: Size,
    tries: u64,
    shrunken: &'a Shrunken,
}

impl<'a> Shown<'a> {
    fn of_seed(face: &'a dyn Face, place: &str, seed: Seed, found: &'a Found) -> Self {
        Shown {
            face,
            setup: found.setup.clone(),
            place: place.to_owned(),
            seed: Some(seed),
            before: found.before,
            tries: found.tries,
            shrunken: &found.shrunken,
        }
    }
}

/// The run of a seed in which `property` falls, made small with at most `tries`, with the line that keeps it.
///
/// # Errors
/// If it does not fall, or does not shrink.
pub(crate) fn made_small(
    face: &dyn Face,
    scenario: &Scenario,
    (seed, property): (Seed, &str),
    tries: u64,
    paste: &Paste,
    console: &mut Console<'_>,
) -> Result<ShrinkRecord, BadInput> {
    let refused = |why: String| BadInput::file(&scenario.name, why);
    let meter = console.meter(&format!("shrink {}", scenario.name), Some(tries));
    let shrinking = Shrinking {
        face,
        setup: scenario.setup.clone(),
        settings: scenario.settings.clone(),
        seed,
        property: Some(property.to_owned()),
        tries,
        deadline: Deadline::after(None),
        meter: &meter,
    };
    let found = shrinking.run().map_err(refused)?;
    let described = face.describe(&found.setup).map_err(refused)?;
    let shown = Shown::of_seed(face, &scenario.name, seed, &found);
    let mut record = record(&shown, described.nodes, &described.properties, paste)?;
    record.failure.shrink = format!("{} --pin FILE.toml", paste.shrink(&scenario.name, seed, property));
    Ok(record)
}

/// Shows, pins and writes.
fn finish(args: &Args, shown: &Shown<'_>, paste: &Paste, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let refused = |why: String| BadInput::file(&shown.place, why);
    let described = shown.face.describe(&shown.setup).map_err(refused)?;
    let mut record = record(shown, described.nodes, &described.properties, paste)?;
    if let Some(path) = &args.pin {
        record.failure.paste = format!("{} replay {}", paste.command, path.display());
        write_file(path, &shown.pin(paste).text()?)?;
    }
    console.say(&shrunk::text(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    if let Some(path) = &args.html {
        write_file(path, &page::failure::of_shrunk(&record))?;
    }
    Ok(exit::of_fall(&described.properties, &record.failure.property))
}

fn record(
    shown: &Shown<'_>,
    nodes: Vec<String>,
    properties: &[Property],
    paste: &Paste,
) -> Result<ShrinkRecord, BadInput> {
    let shrunken = shown.shrunken;
    let property = &shrunken.signature.property;
    let violation = shrunken.replayed.violations.iter().find(|violation| violation.property == *property);
    let last = shrunken.replayed.trace.last();
    let params = shown.face.full_params(&shown.setup.params).map_err(|why| BadInput::file(&shown.place, why))?;
    let faults =
        shrunken.faults.iter().map(|(what, is_needed)| FaultRole { what: what.clone(), is_needed: *is_needed });
    let mut record = ShrinkRecord {
        header: Header::new("shrink", &paste.revision),
        failure: Failure {
            property: property.clone(),
            words: words_of(properties, property),
            detail: violation.map(|violation| violation.detail.clone()).unwrap_or_default(),
            place: shown.place.clone(),
            seed: shown.seed.map(|seed| seed.to_string()),
            step: last.map_or(0, |step| step.step),
            at_ns: last.map_or(0, |step| step.at_ns),
            revision: paste.revision.clone(),
            digest: format!("{:016x}", shrunken.replayed.digest),
            ..Failure::default()
        },
        subject: subject(shown.face.name(), &shown.setup, &params, ""),
        signature: shrunken.signature.clone(),
        before: size(shown.before),
        after: size(shrunken.after),
        tries: shown.tries,
        is_minimal: shrunken.is_minimal,
        nodes,
        trace: shrunken.replayed.trace.clone(),
        chain: shrunken.chain.clone(),
        faults: faults.collect(),
        falls: shrunken.falls.clone(),
        continuations: shrunken.continuation_count,
        certain_after: shrunken.certain.map(|certain| certain.after as u64),
        certain_states: shrunken.certain.map_or(0, |certain| certain.states as u64),
    };
    record.failure.shrunk = shrunk::shrunk(&record);
    Ok(record)
}

fn size(size: Size) -> RunSize {
    RunSize { nodes: size.nodes, faults: size.faults, steps: size.steps }
}

impl Shown<'_> {
    fn pin(&self, paste: &Paste) -> Pin {
        let seed = self.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        Pin {
            format: FORMAT,
            protocol: self.face.name().to_owned(),
            story: self.shrunken.signature.to_string(),
            fixed: false,
            place: format!("{}{seed}, shrunk", self.place),
            revision: paste.revision.clone(),
            violation: Some(self.shrunken.signature.property.clone()),
            digest: format!("{:016x}", self.shrunken.replayed.digest),
            mutants: self.setup.mutants.clone(),
            params: self.setup.params.clone(),
            history: None,
            script: Some(self.shrunken.script.clone()),
            seeded: None,
        }
    }
}
