//! `list`: what there is.

use seedbed_model::{Outcome, Property};
use seedbed_reports::table::{Side, Table, wrapped};

use crate::console::Console;
use crate::exit::{self, BadInput};
use crate::experiment::Experiment;
use crate::face::{Face, Setup};
use crate::file::Class;
use crate::library::{Bound, Library, Scenario};
use crate::params;
use crate::registry::{Entry, Registry};

const WIDTH: usize = 110;

/// Flags of `list`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// One protocol, in detail
    protocol: Option<String>,
    /// A folder of scenarios beside the shipped ones
    #[arg(long, value_name = "DIR", env = "SEEDBED_SCENARIOS")]
    scenarios: Option<std::path::PathBuf>,
}

pub(crate) fn run(registry: &Registry, args: &Args, console: &mut Console<'_>) -> Result<u8, BadInput> {
    let library = Library::new(registry, args.scenarios.clone())?;
    let text = match &args.protocol {
        Some(name) => detail(&library, registry.entry(name)?)?,
        None => registry.entries.iter().map(|entry| brief(&library, entry)).collect::<Result<Vec<_>, _>>()?.join("\n"),
    };
    console.say(&text)?;
    Ok(exit::EXPECTED)
}

fn brief(library: &Library<'_>, entry: &Entry) -> Result<String, BadInput> {
    let face = entry.face.as_ref();
    let defaults = full(face)?;
    let mut rows = Table::bare(&[Side::Left, Side::Left], 2);
    rows.row(["variants", &joined(params::variants(face).into_iter())]);
    rows.row(["parameters", &joined(params::words(&defaults).iter().map(|(key, value)| format!("{key}={value}")))]);
    rows.row([
        "scenarios",
        &joined(
            library.scenarios(entry)?.iter().map(|scenario| format!("{} ({})", scenario.name, scenario.class.name())),
        ),
    ]);
    rows.row(["experiments", &joined(library.experiments(entry)?.into_iter().map(|experiment| experiment.name))]);
    let bound = |bound: &Bound| match bound.class {
        Class::Quick => bound.name.clone(),
        Class::Long => format!("{} (long)", bound.name),
    };
    rows.row(["bounds", &joined(library.bounds(entry)?.iter().map(bound))]);
    rows.row(["properties", &joined(properties(face)?.iter().map(|property| property.name.to_owned()))]);
    rows.row(["mutants", &joined(face.mutants().iter().map(|mutant| mutant.name.to_owned()))]);
    Ok(format!("{}: {}\n{}", face.name(), face.summary(), rows.text()))
}

fn detail(library: &Library<'_>, entry: &Entry) -> Result<String, BadInput> {
    let face = entry.face.as_ref();
    let sections = [
        ("parameters, with defaults", parameters(face)?),
        ("properties", property_list(&properties(face)?)),
        ("scenarios", scenario_list(&library.scenarios(entry)?)),
        ("experiments", experiment_list(&library.experiments(entry)?)),
        ("bounds of `check`", bound_list(&library.bounds(entry)?)),
        ("mutants", mutant_list(face)),
    ];
    let told = sections.iter().filter(|(_, text)| !text.is_empty());
    let text: String = told.map(|(title, text)| format!("\n{title}\n{text}")).collect();
    Ok(format!("{}: {}\n{text}", face.name(), face.summary()))
}

fn full(face: &dyn Face) -> Result<toml::Table, BadInput> {
    face.full_params(&toml::Table::new()).map_err(|why| BadInput::file(face.name(), why))
}

fn properties(face: &dyn Face) -> Result<Vec<Property>, BadInput> {
    Ok(face.describe(&Setup::default()).map_err(|why| BadInput::file(face.name(), why))?.properties)
}

fn joined(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn parameters(face: &dyn Face) -> Result<String, BadInput> {
    let mut rows = Table::bare(&[Side::Left, Side::Left], 2);
    for (key, value) in params::words(&full(face)?) {
        rows.row([key, value]);
    }
    Ok(rows.text())
}

fn property_list(properties: &[Property]) -> String {
    let item = |property: &Property| {
        format!("  {} ({})\n{}", property.name, property.kind.name(), wrapped(property.words, 4, WIDTH))
    };
    properties.iter().map(item).collect()
}

fn scenario_list(scenarios: &[Scenario]) -> String {
    let item = |scenario: &Scenario| {
        let head =
            format!("  {} ({}, seeds {}, {})", scenario.name, scenario.class.name(), scenario.seeds, scenario.expect);
        format!("{head}\n{}", wrapped(&scenario.story, 4, WIDTH))
    };
    scenarios.iter().map(item).collect()
}

fn experiment_list(experiments: &[Experiment<'_>]) -> String {
    let item = |experiment: &Experiment<'_>| format!("  {}\n{}", experiment.name, wrapped(&experiment.title, 4, WIDTH));
    experiments.iter().map(item).collect()
}

fn bound_list(bounds: &[Bound]) -> String {
    let item = |bound: &Bound| {
        let claims =
            if bound.claims.is_empty() { String::new() } else { format!("; claims {}", bound.claims.join(", ")) };
        let long = if bound.class == Class::Long { "long, " } else { "" };
        format!("  {} ({long}{}{claims})\n{}", bound.name, bound.expect, wrapped(&bound.story, 4, WIDTH))
    };
    bounds.iter().map(item).collect()
}

fn mutant_list(face: &dyn Face) -> String {
    let mutants = face.mutants().iter();
    mutants
        .map(|mutant| {
            format!(
                "  {} ({})\n{}",
                mutant.name,
                declared(mutant.outcome),
                wrapped(&format!("removes {}", mutant.removes), 4, WIDTH)
            )
        })
        .collect()
}

/// A declared outcome in words.
pub(crate) fn declared(outcome: Outcome) -> String {
    match outcome {
        Outcome::Falls(property) => format!("{property} falls"),
        Outcome::Unreachable(goal) => format!("{goal} becomes unreachable"),
        Outcome::Harmless(why) => format!("harmless: {why}"),
    }
}
