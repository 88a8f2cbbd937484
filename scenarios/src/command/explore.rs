//! `explore`: exhaustive search from a moment of a simulated run.

use std::path::PathBuf;

use seedbed_model::Span;
use seedbed_model::explore::{Bounds, Pace, Strategy};
use seedbed_reports::{check as words, json};
use seedbed_sim::{Seed, Settings};
use toml::{Table, Value};

use super::check;
use super::flags::{Planned, Variation, Work};
use super::run::scenarios;
use crate::console::{Console, probe, write_file};
use crate::engine::Engine;
use crate::exit::BadInput;
use crate::exploration::Exploration;
use crate::face::{Face, Setup};
use crate::file::{Class, Expect};
use crate::library::{self, Bound, Library, Scenario};
use crate::moment::{At, Origin};
use crate::params::{self, Override};
use crate::registry::Registry;
use crate::seeds::SeedRange;
use crate::stopwatch::Deadline;

/// Flags of `explore`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// A scenario, as protocol/scenario; a protocol alone for a run of its defaults
    what: String,
    /// The seed of the run: a number, or a commit's 40 hexadecimal digits
    #[arg(long, value_name = "SEED", env = "SEEDBED_SEED")]
    seed: Seed,
    /// The moment of the run: a time such as 90s, or a number of steps
    #[arg(long, value_name = "MOMENT")]
    at: At,
    /// From there time passes to the next end of a timer, a deadline or a delay, and by this at most
    #[arg(long, value_name = "SPAN")]
    stride: Option<Span>,
    /// A bound's own keys, as in check.toml, such as crashes=1; what is not said is none
    #[arg(long = "bound", value_name = "KEY=VALUE")]
    bounds: Vec<Override>,
    /// No further than so many steps from the moment
    #[arg(long, value_name = "STEPS", default_value_t = 30)]
    depth: u32,
    /// Gives up beyond so many unique states
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    states: u64,
    /// Gives up after this time
    #[arg(long, value_name = "SPAN", env = "SEEDBED_BUDGET")]
    budget: Option<Span>,
    /// Does not interchange interchangeable nodes
    #[arg(long)]
    no_symmetry: bool,
    /// Writes the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Pins the counterexample, from the start of the run
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    planned: Planned,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    work: Work,
}

pub(crate) fn run(registry: &Registry, command: &str, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    probe(args.planned.file(), [&args.json, &args.trace])?;
    let library = Library::new(registry, args.variation.scenarios.clone())?;
    let (face, scenario) = chosen(&library, &args.what)?;
    let scenario = args.planned.apply(face, args.variation.apply(face, scenario)?)?;
    let searched = Searched::of(face, &scenario, &args.bounds)?;
    let mut bound = searched.bound(&scenario);
    let mut set = |key: &str, value: Value| bound.bounds.insert(key.to_owned(), value);
    set("depth", Value::Integer(i64::from(args.depth)));
    set("states", Value::Integer(i64::try_from(args.states).unwrap_or(i64::MAX)));
    if args.no_symmetry {
        set("symmetry", Value::Boolean(false));
    }
    bound.name = format!("{} seed {} from {}", scenario.name, args.seed, args.at);
    let mut paste = args.planned.paste(args.variation.paste(command, &args.work.revision));
    paste.flags.push_str(&flags(args));
    let pace = Pace { stride: args.stride, delay: searched.delay, ..Pace::default() };
    let origin = Origin { settings: &scenario.settings, seed: args.seed, at: args.at, pace };
    let exploration = Exploration {
        face,
        bound: &bound,
        from: Some((origin, &args.what)),
        mutants: &scenario.setup.mutants,
        engine: Engine::Seedbed,
        strategy: Strategy { jobs: args.work.jobs(), ..Strategy::default() },
        checkpoints: None,
        waiting_room: None,
        deadline: Deadline::after(args.budget),
        is_over: None,
        paste: &paste,
    };
    let outcome = exploration.run(&console.meter(&bound.name, None))?;
    console.say(&check::shown(&outcome))?;
    let record = check::record(face, &scenario.setup.mutants, std::slice::from_ref(&outcome), &args.work.revision);
    console.say(&words::summary(&record))?;
    if let Some(path) = &args.json {
        write_file(path, &json::text(&record))?;
    }
    if let (Some(path), Some(pin)) = (&args.trace, outcome.pin) {
        write_file(path, &pin.text()?)?;
    }
    Ok(record.code)
}

/// The scenario of the name, or one of the protocol's defaults.
fn chosen<'r>(library: &Library<'r>, name: &str) -> Result<(&'r dyn Face, Scenario), BadInput> {
    if name.contains('/') {
        return Ok(scenarios(library, name)?.remove(0));
    }
    let face = library.registry.entry(name)?.face.as_ref();
    let scenario = Scenario {
        name: name.to_owned(),
        story: "A run of the protocol's defaults.".into(),
        written: None,
        class: Class::Quick,
        seeds: SeedRange::default(),
        expect: Expect::Holds,
        properties: None,
        goals: Vec::new(),
        setup: Setup::default(),
        settings: Settings::default(),
    };
    Ok((face, scenario))
}

/// What is searched from a moment of a scenario's run, where nobody says otherwise.
pub(crate) struct Searched {
    /// Of a bound.
    keys: Table,
    /// How long a message may take, unless the keys say it in ticks.
    pub(crate) delay: Option<Span>,
}

impl Searched {
    /// As in the scenario's world: messages take no longer than its network lets them, and a tick divides every span among the
    /// parameters. Nothing goes wrong.
    ///
    /// # Errors
    /// On keys that no bound has.
    pub(crate) fn of(face: &dyn Face, scenario: &Scenario, changes: &[Override]) -> Result<Self, BadInput> {
        let refused = |why: String| BadInput::file(&scenario.name, why);
        let mut keys = Table::new();
        let params = face.full_params(&scenario.setup.params).map_err(refused)?;
        keys.insert("tick".into(), Value::String(params::common_tick(&params).to_string()));
        keys = params::overridden(&keys, changes, "--bound", &|table| library::full_bounds(table).map(drop))?;
        let network = scenario.settings.network.delay_max;
        let delay = (!keys.contains_key("delay")).then_some(network);
        if delay.is_some() {
            let Bounds { tick, .. } = library::full_bounds(&keys).map_err(refused)?;
            // In words; to the nanosecond it is `delay`.
            let ticks = network.0.div_ceil(tick.0.max(1));
            keys.insert("delay".into(), Value::Integer(i64::try_from(ticks).unwrap_or(i64::MAX)));
        }
        Ok(Searched { keys, delay })
    }

    /// The bound that the scenario's run is explored at.
    pub(crate) fn bound(&self, scenario: &Scenario) -> Bound {
        Bound {
            name: scenario.name.clone(),
            story: scenario.story.clone(),
            class: scenario.class,
            expect: Expect::Holds,
            goals: Vec::new(),
            claims: Vec::new(),
            params: scenario.setup.params.clone(),
            bounds: self.keys.clone(),
        }
    }
}

/// The flags about the search, as a line to paste repeats them.
fn flags(args: &Args) -> String {
    let mut flags: String =
        args.bounds.iter().map(|change| format!(" --bound {}={}", change.key, change.value)).collect();
    flags.push_str(&format!(" --depth {} --states {}", args.depth, args.states));
    if let Some(stride) = args.stride {
        flags.push_str(&format!(" --stride {stride}"));
    }
    if args.no_symmetry {
        flags.push_str(" --no-symmetry");
    }
    flags
}
