//! `replay`: one run again, step by step; or a pinned one, compared with what it was; or a recording of a real system, compared
//! with what our own parts answer.

use std::path::{Path, PathBuf};

use seedbed_model::{Span, TraceStep};
use seedbed_reports::spacetime::{self, Picture};
use seedbed_reports::{json, number, page, trace};
use seedbed_sim::{Plan, Run, Seed, uncertifiable};

use super::flags::{Planned, Variation, Work};
use super::run::scenarios;
use crate::campaign::words_of;
use crate::console::{Console, probe, write_file};
use crate::exit::{self, BadInput};
use crate::face::{Face, Setup, Traced};
use crate::history::writer::HistoryFile;
use crate::library::{self, Library, Scenario};
use crate::observed;
use crate::pin::{FORMAT, Pin, Seeded};
use crate::pinned;
use crate::registry::{Registry, Unlike};
use crate::taped;

/// A run of more steps is pinned as its seed: its digest tells whether it is the same.
const STEP_COUNT_MAX: usize = 20_000;

/// Flags of `replay`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A scenario (with --seed), a file that --trace wrote, the folder of a cluster that ran, or a recording of a real
    /// system: JSON Lines, `.jsonl`
    what: String,
    /// The seed: a number, or a commit's 40 hexadecimal digits
    #[arg(long, value_name = "SEED", env = "SEEDBED_SEED")]
    seed: Option<Seed>,
    /// Shows nothing after this virtual time
    #[arg(long, value_name = "SPAN")]
    until: Option<Span>,
    /// How the steps are shown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Pins the run
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Writes the plan of the run: edit it, and hand it back by --plan
    #[arg(long, value_name = "FILE")]
    write_plan: Option<PathBuf>,
    /// Writes what the clients saw: EDN if the name ends so, else JSON Lines; `history` judges it
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Shows the events of the simulator too, on the error stream
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    planned: Planned,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    work: Work,
}

/// How a trace is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One event a line
    Text,
    /// A list of steps
    Json,
    /// A picture for a terminal: a column for each node
    Diagram,
    /// A picture
    Svg,
    /// A page that needs nothing else
    Html,
    /// A Mermaid sequence diagram
    Mermaid,
    /// A trace for Perfetto and Chrome
    Perfetto,
    /// A log for `ShiViz`
    Shiviz,
    /// An ITF trace, as Apalache's viewers read it
    Itf,
}

impl Format {
    /// Whether the verdict stands below. All others are for programs, which have the exit code.
    fn is_read_here(self) -> bool {
        matches!(self, Format::Text | Format::Diagram)
    }

    /// The run in this format.
    fn told(self, picture: &Picture<'_>) -> String {
        match self {
            Format::Text => trace::text(picture.names, picture.steps),
            Format::Json => json::text(&picture.steps),
            Format::Diagram => spacetime::text::text(picture),
            Format::Svg => spacetime::svg::svg(picture),
            Format::Html => {
                let shown = page::failure::Shown { failure: None, picture: *picture, notes: "", is_alone: true };
                page::failure::html(&shown)
            }
            Format::Mermaid => spacetime::mermaid::text(picture),
            Format::Perfetto => spacetime::perfetto::text(picture),
            Format::Shiviz => spacetime::shiviz::text(picture),
            Format::Itf => spacetime::itf::text(picture),
        }
    }
}

pub(crate) fn run(registry: &Registry, _: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let inputs = args.planned.file().into_iter().chain([Path::new(&args.what)]);
    probe(inputs, [&args.trace, &args.write_plan, &args.history])?;
    if args.log {
        log();
    }
    match args.seed {
        Some(_) if Path::new(&args.what).is_file() => {
            Err(BadInput::flag(format!("--seed: {} is a file, which holds its own run; leave out --seed", args.what)))
        }
        Some(seed) => replay_seed(registry, args, seed, console),
        None if args.planned.plan.is_some() || args.write_plan.is_some() => {
            Err(BadInput::flag("--plan and --write-plan: a plan belongs to a scenario's seed; add --seed N"))
        }
        None if args.history.is_some() => {
            Err(BadInput::flag("--history: clients are heard in a scenario's run; name one, and add --seed N"))
        }
        None if Path::new(&args.what).is_file() && is_recording(&args.what) => {
            replay_recording(registry, args, console)
        }
        None if Path::new(&args.what).is_file() && args.trace.is_some() => {
            Err(BadInput::flag(format!("--trace: {} is a pinned run already; leave out --trace", args.what)))
        }
        None if Path::new(&args.what).is_file() => replay_pin(registry, args, console),
        None if taped::is_cluster(Path::new(&args.what)) => replay_cluster(registry, args, console),
        None if registry.names().contains(&args.what.split('/').next().unwrap_or_default()) => {
            Err(BadInput::flag(format!("{}: a scenario is replayed from a seed; add --seed N", args.what)))
        }
        None if Path::new(&args.what).is_dir() => Err(BadInput::flag(format!(
            "{}: a folder in which no cluster ran: {} is not in it",
            args.what,
            taped::FILE
        ))),
        None => Err(BadInput::flag(format!(
            "{}: there is no such file; write a file that --trace wrote, or a scenario and --seed N",
            args.what
        ))),
    }
}

/// Events on the error stream. A second call in one process changes nothing.
fn log() {
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::TRACE);
    let plain = subscriber.with_writer(std::io::stderr).without_time().with_ansi(false);
    // An error means that a subscriber is there already: the first stays.
    let _ = plain.try_init();
}

fn replay_seed(registry: &Registry, args: &Args, seed: Seed, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let library = Library::new(registry, args.variation.scenarios.clone())?;
    let mut found = scenarios(&library, &args.what)?;
    let (face, scenario) = match (found.len(), args.what.contains('/')) {
        (1, true) => found.remove(0),
        _ => {
            return Err(BadInput::flag(format!(
                "{}: a seed is replayed in one scenario; write protocol/scenario",
                args.what
            )));
        }
    };
    let scenario = args.planned.apply(face, args.variation.apply(face, scenario)?)?;
    let traced = traced(face, &scenario, seed)?;
    let described = face.describe(&scenario.setup).map_err(|why| BadInput::file(&scenario.name, why))?;
    let fell: Vec<u64> = traced.run.violations.iter().map(|found| found.step).collect();
    show(args, &described.nodes, &traced.trace, &fell, console)?;
    if let Some(path) = &args.trace {
        write_file(path, &pin(face, &scenario, seed, &args.work.revision)?.text()?)?;
    }
    if let Some(path) = &args.write_plan {
        write_file(path, &plan_text(&scenario, seed, &traced.run.plan)?)?;
    }
    if let Some(path) = &args.history {
        write_history(face, &scenario, seed, path)?;
    }
    if args.format.is_read_here() {
        let reasons = uncertifiable(&scenario.settings, &traced.run.plan);
        console.say(&ending(&traced.run, &reasons, |property| words_of(&described.properties, property)))?;
    }
    let falls = traced.run.violations.iter();
    Ok(exit::lowest(falls.map(|found| exit::of_fall(&described.properties, &found.violation.property))))
}

/// The whole run of a seed.
pub(crate) fn traced(face: &dyn Face, scenario: &Scenario, seed: Seed) -> Result<Traced, BadInput> {
    face.trace(&scenario.setup, &scenario.settings, seed, None).map_err(|why| BadInput::file(&scenario.name, why))
}

/// Writes what the clients of a seed's run saw.
pub(crate) fn write_history(face: &dyn Face, scenario: &Scenario, seed: Seed, path: &Path) -> Result<(), BadInput> {
    let mut file = HistoryFile::create(path)?;
    face.history(&scenario.setup, &scenario.settings, seed, &mut |seen| file.write(&seen))
        .map_err(|why| BadInput::file(&scenario.name, why))?;
    file.finish()
}

/// Shows the steps up to where they are asked for; those in which something fell are marked in pictures.
fn show(
    args: &Args,
    nodes: &[String],
    steps: &[TraceStep],
    fell: &[u64],
    console: &mut Console<'_>,
) -> Result<(), BadInput> {
    let until = args.until.map_or(u64::MAX, |until| until.0);
    let steps: Vec<TraceStep> = steps.iter().take_while(|step| step.at_ns <= until).cloned().collect();
    let title = match args.seed {
        Some(seed) => format!("{}, seed {seed}", args.what),
        None => args.what.clone(),
    };
    let culprits: Vec<bool> = steps.iter().map(|step| fell.contains(&step.step)).collect();
    console.say(&args.format.told(&Picture { title: &title, names: nodes, steps: &steps, culprits: &culprits }))
}

/// A run's plan as a file that `--plan` reads.
fn plan_text(scenario: &Scenario, seed: Seed, plan: &Plan) -> Result<String, BadInput> {
    let text =
        toml::to_string(plan).map_err(|error| BadInput::file(&scenario.name, format!("write the plan: {error}")))?;
    Ok(format!("# What goes wrong in {}, seed {seed}. Edit it, and hand it back by --plan.\n{text}", scenario.name))
}

fn ending(run: &Run, reasons: &[&str], words: impl Fn(&str) -> String) -> String {
    let at = number::seconds(run.now_ns, number::decimals([run.now_ns]));
    let mut text = format!(
        "\nseed {}: {} steps, {} messages, {at}, digest {:016x}\n",
        run.seed, run.steps, run.messages, run.digest
    );
    for fault in run.plan.to_string().lines() {
        text.push_str(&format!("  plan: {fault}\n"));
    }
    for reason in reasons {
        text.push_str(&format!("  not certifiable: {reason}\n"));
    }
    if reasons.is_empty() {
        text.push_str("  certifiable: the explorer takes this path, within bounds as wide\n");
    }
    for found in &run.violations {
        let violation = &found.violation;
        text.push_str(&format!(
            "{} fell: {}\n    {}\n",
            violation.property,
            words(&violation.property),
            violation.detail
        ));
    }
    if run.violations.is_empty() {
        text.push_str("no property fell\n");
    }
    text
}

/// The run of a seed as a pin.
pub(crate) fn pin(face: &dyn Face, scenario: &Scenario, seed: Seed, revision: &str) -> Result<Pin, BadInput> {
    let refused = |why: String| BadInput::file(&scenario.name, why);
    let traced = traced(face, scenario, seed)?;
    // A script follows the protocol's own properties, not what a scenario demands of histories.
    let is_script = traced.trace.len() <= STEP_COUNT_MAX && scenario.setup.history.is_none();
    let (digest, script, seeded) = match is_script {
        true => {
            let recorded = face.record(&scenario.setup, &scenario.settings, seed).map_err(refused)?;
            // A script has a digest of its own: over what is written in it.
            (recorded.replayed.digest, Some(recorded.script), None)
        }
        false => {
            let words = Vec::new();
            (traced.run.digest, None, Some(Seeded { seed, settings: scenario.settings.clone(), words }))
        }
    };
    Ok(Pin {
        format: FORMAT,
        protocol: face.name().to_owned(),
        story: traced.run.violations.first().map(|found| found.violation.detail.clone()).unwrap_or_default(),
        fixed: false,
        place: format!("{}, seed {seed}", scenario.name),
        revision: revision.to_owned(),
        violation: traced.run.violations.first().map(|found| found.violation.property.clone()),
        digest: format!("{digest:016x}"),
        mutants: scenario.setup.mutants.clone(),
        params: scenario.setup.params.clone(),
        history: scenario.setup.history.clone(),
        script,
        seeded,
    })
}

fn is_recording(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "jsonl")
}

fn replay_recording(registry: &Registry, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let file = &args.what;
    let is_plain = args.format == Format::Text && args.until.is_none() && args.trace.is_none();
    if !is_plain || args.variation.is_any() {
        return Err(BadInput::flag(format!(
            "{file}: a recording is compared as it is; leave out the flags, which are of runs of ours"
        )));
    }
    let source = library::read(Path::new(file))?;
    if observed::is_log(&source.text) {
        return judge_log(registry, file, &source.text, console);
    }
    let Some(comparison) = registry.comparison else {
        return Err(BadInput::flag(format!("{file}: no protocol here compares recordings of a real system")));
    };
    match comparison(file, &source.text) {
        Ok(compared) => {
            console.say(&format!("{file}: agrees: {compared}\n"))?;
            Ok(exit::EXPECTED)
        }
        Err(Unlike::Differs(what)) => {
            console.say(&format!("differs: {what}\n"))?;
            Ok(exit::DRIFTED)
        }
        Err(Unlike::Malformed(why)) => Err(BadInput::flag(why)),
    }
}

/// Judges what the nodes of a system that is not ours showed.
fn judge_log(registry: &Registry, file: &str, text: &str, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let log = observed::read(file, text)?;
    let heading = |why: String| BadInput::flag(format!("{file}:1: {why}"));
    let face = registry.entry(&log.heading.observes).map_err(|error| heading(error.to_string()))?.face.as_ref();
    let setup = Setup { params: log.heading.params, ..Setup::default() };
    let described = face.describe(&setup).map_err(heading)?;
    let until = log.heading.goes_on.map(|span| span.0);
    let witnessed = face.witness(&setup, &log.lines, until).map_err(|(line, why)| match line {
        Some(line) => BadInput::flag(format!("{file}:{}: {why}", line + 2)),
        None => heading(why),
    })?;
    let events = number::counted(log.lines.len() as u64, "event");
    let Some((line, violation)) = witnessed.fell else {
        let reached: Vec<String> = witnessed.reached.iter().map(|(goal, count)| format!("{goal} {count}")).collect();
        let reached = if reached.is_empty() { "no goal".to_owned() } else { reached.join(", ") };
        console.say(&format!("{file}: {events} of {}: no property fell; reached: {reached}\n", face.name()))?;
        return Ok(exit::EXPECTED);
    };
    let words = words_of(&described.properties, &violation.property);
    let at = match log.lines.len() {
        count if line >= count => "after the last line".to_owned(),
        _ => format!("at line {}", line + 2),
    };
    console.say(&format!("{file}: {} fell {at}: {words}\n    {}\n", violation.property, violation.detail))?;
    Ok(exit::of_fall(&described.properties, &violation.property))
}

/// Replays what the nodes of a cluster taped, as one run.
fn replay_cluster(registry: &Registry, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let folder = Path::new(&args.what);
    let file = folder.join(taped::FILE);
    let refused = |why: String| BadInput::file(file.display().to_string(), why);
    let cluster = taped::cluster(folder)?;
    let face = registry.entry(&cluster.protocol).map_err(|error| refused(error.to_string()))?.face.as_ref();
    let own = Setup { params: cluster.params, mutants: cluster.mutants, history: None };
    let setup = args.variation.of_pin(face, own)?;
    let described = face.describe(&setup).map_err(refused)?;
    let joined =
        face.join(&setup, &taped::tapes(folder)?).map_err(|why| BadInput::flag(format!("{}: {why}", args.what)))?;
    // Time passes before every step of real clocks, as the column of times shows.
    let steps: Vec<TraceStep> = joined.replayed.trace.iter().filter(|step| step.kind != "elapse").cloned().collect();
    let fell = joined.replayed.violations.first();
    show(args, &described.nodes, &steps, &pinned::last_step(&steps, fell.is_some()), console)?;
    if let Some(path) = &args.trace {
        let pin = Pin {
            format: FORMAT,
            protocol: face.name().to_owned(),
            story: fell.map(|violation| violation.detail.clone()).unwrap_or_default(),
            fixed: false,
            place: format!("{}, on sockets", args.what),
            revision: args.work.revision.clone(),
            violation: fell.map(|violation| violation.property.clone()),
            digest: format!("{:016x}", joined.replayed.digest),
            mutants: setup.mutants.clone(),
            params: setup.params.clone(),
            history: None,
            script: Some(joined.script.clone()),
            seeded: None,
        };
        write_file(path, &pin.text()?)?;
    }
    let steps = number::grouped(joined.step_count as u64);
    let (words, code) = match (&joined.drift, fell) {
        // What fell in a run that never was is no finding.
        (Some((step, why)), _) => (format!("drifted at step {}: {why}", step + 1), exit::DRIFTED),
        (None, Some(violation)) => {
            let words = words_of(&described.properties, &violation.property);
            let code = exit::of_fall(&described.properties, &violation.property);
            (format!("{} fell: {words}\n    {}", violation.property, violation.detail), code)
        }
        (None, None) => (format!("same: {steps} steps replayed as they were taped; no property fell"), exit::EXPECTED),
    };
    if args.format.is_read_here() {
        console.say(&format!("\n{words}\n"))?;
    }
    Ok(code)
}

fn replay_pin(registry: &Registry, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let source = library::read(Path::new(&args.what))?;
    let pin = Pin::read(&source)?;
    let face = registry.entry(&pin.protocol).map_err(|error| source.whole(error.to_string()))?.face.as_ref();
    let setup = args.variation.of_pin(face, pin.setup(face, &source)?)?;
    let described = match face.describe(&setup) {
        Ok(described) => described,
        Err(why) => {
            console.say(&format!("gone: {why}\n"))?;
            return Ok(exit::DRIFTED);
        }
    };
    let again = pinned::again(face, &setup, &pin).map_err(|why| source.whole(why))?;
    show(args, &described.nodes, &again.trace, &again.fell_in, console)?;
    let verdict = pinned::compare(&pin, &again);
    if args.format.is_read_here() {
        console.say(&format!("\n{}\n", verdict.words))?;
    }
    Ok(verdict.code)
}
