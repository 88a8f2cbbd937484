//! Scenarios and bounds from `cargo test`: each function runs what the command would, and panics with what it says.
//!
//! ```no_run
//! # fn registry() -> seedbed::Registry { seedbed::shipped() }
//! #[test]
//! fn it_holds_when_the_link_is_lossy() {
//!     seedbed::testing::run(&registry(), "echo/lossy", 0..200);
//! }
//!
//! #[test]
//! fn it_holds_within_every_bound() {
//!     seedbed::testing::check(&registry(), "echo");
//! }
//! ```
//!
//! The lines to paste begin with what [`Registry::command`] was told, or else with `cargo run --`.

use std::collections::BTreeMap;
use std::ops::Range;

use seedbed_model::explore::{Aids, Strategy};
use seedbed_model::{Kind, Outcome};
use seedbed_sim::shrink::{Budget, Size};
use seedbed_sim::{Seed, Settings};

use crate::console::Console;
use crate::engine::Engine;
use crate::exit;
use crate::face::{Face, Setup};
use crate::file::{Class, Expect};
use crate::library::{self, Bound, Library, Scenario};
use crate::registry::{Entry, Registry};
use crate::shrinking::{BUDGET, Found, SHORT, Shrinking};
use crate::shrunken::Shrunken;
use crate::stopwatch::Deadline;

/// Runs a scenario, or a folder of them, over `seeds`.
///
/// # Panics
/// If anything is not as expected, with the failures and the lines to paste that replay them.
pub fn run(registry: &Registry, scenario: &str, seeds: Range<u64>) {
    let seeds = format!("{}..{}", seeds.start, seeds.end);
    expect(registry, &["run", scenario, "--seeds", &seeds]);
}

/// Explores a protocol at every bound of its `check.toml` that is not long.
///
/// # Panics
/// If a verdict is not as expected, with the counterexample.
pub fn check(registry: &Registry, protocol: &str) {
    expect(registry, &["check", protocol]);
}

/// Tries every mutant of a protocol.
///
/// # Panics
/// If one is not what it is declared to be.
pub fn mutants(registry: &Registry, protocol: &str) {
    expect(registry, &["mutants", protocol]);
}

/// What a command says and its exit code: the arguments come after the command's name.
pub fn command(registry: &Registry, arguments: &[&str]) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let called = registry.command_line("cargo run --");
    let arguments = std::iter::once(&*called).chain(arguments.iter().copied()).map(Into::into);
    let code = crate::run(registry, arguments, &mut out, &mut err, false);
    out.append(&mut err);
    (code, String::from_utf8_lossy(&out).into_owned())
}

fn expect(registry: &Registry, arguments: &[&str]) {
    let (code, said) = command(registry, arguments);
    assert_eq!(code, exit::EXPECTED, "{} ended with {code}:\n{said}", arguments.join(" "));
}

/// The properties of a protocol that no mutant is declared to break, and no scenario or bound expects to fall. A property
/// that nothing makes fall might as well not be there. Goals are left out: a run that misses one says so.
///
/// # Panics
/// If the protocol is not registered, or one of its files is wrong.
pub fn never_falls(registry: &Registry, protocol: &str) -> Vec<&'static str> {
    let (library, entry) = opened(registry, protocol);
    let (scenarios, bounds) = (library.scenarios(entry), library.bounds(entry));
    let (scenarios, bounds) = (scenarios.expect("its scenarios read"), bounds.expect("its bounds read"));
    let expected = scenarios.iter().map(|scenario| &scenario.expect).chain(bounds.iter().map(|bound| &bound.expect));
    let mut falls: Vec<&str> = expected
        .filter_map(|expect| match expect {
            Expect::Violated(property) => Some(property.as_str()),
            Expect::Holds => None,
        })
        .collect();
    falls.extend(entry.face.mutants().iter().filter_map(|mutant| match mutant.outcome {
        Outcome::Falls(name) | Outcome::Unreachable(name) => Some(name),
        Outcome::Harmless(_) => None,
    }));
    let described = entry.face.describe(&Setup::default()).expect("its defaults are right");
    let claimed = described.properties.iter().filter(|property| property.kind != Kind::Sometimes);
    claimed.map(|property| property.name).filter(|name| !falls.contains(name)).collect()
}

/// Records runs of every quick scenario of a protocol, whole, and of its mutants by turns, each in one, as exact scripts, and replays
/// them in the plain world: to the same effects and the same end. How many of them fell.
///
/// # Panics
/// At the first difference, with the scenario, the mutants and the seed.
pub fn replay_exactly(registry: &Registry, protocol: &str) -> usize {
    let (library, entry) = opened(registry, protocol);
    let face = entry.face.as_ref();
    let mutants = face.mutants().iter().map(|mutant| vec![mutant.name.to_owned()]);
    let setups: Vec<Vec<String>> = std::iter::once(Vec::new()).chain(mutants).collect();
    let scenarios = quick(&library, entry);
    let mut fell = 0;
    for (place, scenario) in scenarios.iter().enumerate() {
        let is_here = |(mutants, seed): &(&Vec<String>, u64)| {
            mutants.is_empty() || (*seed as usize + place).is_multiple_of(scenarios.len())
        };
        let ours = setups.iter().zip(0..).filter(is_here);
        for (mutants, seed) in ours.chain([(&setups[0], 100), (&setups[0], 101)]) {
            let setup = Setup { mutants: mutants.clone(), ..scenario.setup.clone() };
            let seed = Seed::Number(seed);
            let compared = face.compare_exact(&setup, &scenario.settings, seed);
            let count = compared.unwrap_or_else(|why| panic!("{}, {mutants:?}, seed {seed}: {why}", scenario.name));
            assert!(count > 10, "{}, seed {seed}: {count} effects", scenario.name);
            let run = face.simulate(&setup, &scenario.settings, seed).expect("it ran before");
            fell += usize::from(!run.violations.is_empty());
        }
    }
    fell
}

/// Runs `seeds` of a protocol in tick mode, with the parameters and the settings of TOML tables: each run is a path that the
/// explorer accepts, and replays to itself. How many steps they have.
///
/// # Panics
/// At the first that is not, and if a table is wrong.
pub fn certify(registry: &Registry, protocol: &str, params: &str, settings: &str, seeds: Range<u64>) -> usize {
    let (_, entry) = opened(registry, protocol);
    let params = toml::from_str(params).unwrap_or_else(|error| panic!("the parameters of {protocol}: {error}"));
    let settings: Settings = toml::from_str(settings).unwrap_or_else(|error| panic!("the settings: {error}"));
    let setup = Setup { params, ..Setup::default() };
    let steps = |seed| {
        let certified = entry.face.certify_run(&setup, &settings, Seed::Number(seed));
        certified.unwrap_or_else(|why| panic!("{protocol}, seed {seed}: {why}"))
    };
    seeds.map(steps).sum()
}

/// How many falls are shrunk, at most; the shortest.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// Mutants of each property.
    pub mutants: usize,
    /// Scenarios of each mutant.
    pub scenarios: usize,
    /// Falls in each scenario.
    pub falls: usize,
    /// Seeds that are looked at for them.
    pub seeds: u64,
    /// Steps of each run: what a try costs.
    pub steps: u64,
    /// Whether of a mutant that falls in no short run the explorer's counterexample is shrunk, if a quick bound claims it.
    pub explores: bool,
}

/// What is said of a run that they did not make minimal.
pub const NOT_MINIMAL: &str = "not minimal yet";

/// The shortest falls, as steps and seed: as many as are asked for. Where those found are short, no shorter ones are looked for.
fn shortest(sample: Sample, falls: impl Fn(u64) -> Option<u64>) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for seed in 0..sample.seeds {
        found.extend(falls(seed).map(|steps| (steps, seed)));
        if found.iter().filter(|(steps, _)| *steps <= SHORT).count() >= sample.falls {
            break;
        }
    }
    found.sort_unstable();
    found.truncate(sample.falls);
    found
}

/// Shrinks falls of a protocol's mutants, and takes each step out of what is left: without it nothing may fall. `told` hears what
/// came of each, in words: of one that the usual budget does not make minimal, that it is [`NOT_MINIMAL`].
///
/// # Panics
/// If one does not shrink, or is said to be 1-minimal and is not.
pub fn shrink_minimally(registry: &Registry, protocol: &str, sample: Sample, told: &mut dyn FnMut(String)) {
    let (library, entry) = opened(registry, protocol);
    let face = entry.face.as_ref();
    // Where the whole protocol falls, as a scenario may expect it to, no fall is the mutant's.
    let holding: Vec<Scenario> =
        quick(&library, entry).into_iter().filter(|scenario| scenario.expect == Expect::Holds).collect();
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    for mutant in face.mutants() {
        let Outcome::Falls(property) = mutant.outcome else { continue };
        if taken.get(property).is_some_and(|count| *count >= sample.mutants) {
            continue;
        }
        let falls = |scenario: &Scenario, seed: u64| -> Option<u64> {
            let setup = Setup { mutants: vec![mutant.name.to_owned()], ..scenario.setup.clone() };
            let step_count_max = scenario.settings.step_count_max.min(sample.steps);
            let settings = Settings { step_count_max, ..scenario.settings.clone() };
            let run = face.simulate(&setup, &settings, Seed::Number(seed)).expect("its mutants are right");
            (!run.violations.is_empty()).then_some(run.steps)
        };
        let mut falling = Vec::new();
        for scenario in &holding {
            let shortest = shortest(sample, |seed| falls(scenario, seed));
            falling.extend(shortest.first().map(|(steps, _)| *steps).map(|steps| (steps, scenario, shortest)));
            if falling.iter().filter(|(steps, ..)| *steps <= SHORT).count() >= sample.scenarios {
                break;
            }
        }
        falling.sort_by_key(|(steps, ..)| *steps);
        if sample.explores && falling.first().is_none_or(|(steps, ..)| *steps > SHORT) {
            let bounds = library.bounds(entry).unwrap_or_else(|error| panic!("{error}"));
            if let Some(what) = bounds.iter().find_map(|bound| shrink_counterexample(face, bound, mutant.name)) {
                *taken.entry(property).or_default() += 1;
                told(what);
                continue;
            }
        }
        for (_, scenario, seeds) in falling.into_iter().take(sample.scenarios) {
            *taken.entry(property).or_default() += 1;
            seeds.into_iter().for_each(|(_, seed)| told(shrink_one(face, scenario, mutant.name, seed)));
        }
    }
}

fn shrink_one(face: &dyn Face, scenario: &Scenario, mutant: &str, seed: u64) -> String {
    let what = format!("{} without {mutant}, seed {seed}", scenario.name);
    let mut out = Vec::new();
    let meter = Console::new(&mut out, false).meter("shrink", None);
    let shrinking = Shrinking {
        face,
        setup: Setup { mutants: vec![mutant.to_owned()], ..scenario.setup.clone() },
        settings: scenario.settings.clone(),
        seed: Seed::Number(seed),
        property: None,
        tries: BUDGET,
        deadline: Deadline::after(None),
        meter: &meter,
    };
    let Found { before, shrunken, tries, .. } = shrinking.run().unwrap_or_else(|why| panic!("{what}: {why}"));
    minimal(&what, before, &shrunken, tries)
}

/// The mutant's counterexample at a quick bound that claims it; `None` if the bound is none, or what falls there falls in all that
/// may come, and not in one run.
fn shrink_counterexample(face: &dyn Face, bound: &Bound, mutant: &str) -> Option<String> {
    if bound.class != Class::Quick || !bound.claims.iter().any(|claimed| claimed == mutant) {
        return None;
    }
    let what = format!("{} without {mutant}, bound {}", face.name(), bound.name);
    let setup = Setup { params: bound.params.clone(), mutants: vec![mutant.to_owned()], history: None };
    let bounds = library::full_bounds(&bound.bounds).unwrap_or_else(|why| panic!("{what}: {why}"));
    let (strategy, aids) = (Strategy::default(), Aids::default());
    let found = face.explore(&setup, &bounds, Engine::Seedbed, &strategy, aids, &mut |_| true);
    let shown = found.unwrap_or_else(|why| panic!("{what}: {why}")).counterexample?;
    if shown.exact.violations.is_empty() {
        return None;
    }
    let budget = Budget { tries: BUDGET, watch: &mut |_| true };
    let shrunken = face.shrink_script(&setup, &shown.script, budget).unwrap_or_else(|why| panic!("{what}: {why}"));
    Some(minimal(&what, shrunken.before, &shrunken, shrunken.tries))
}

/// What came of it, in words.
fn minimal(what: &str, before: Size, shrunken: &Shrunken, tries: u64) -> String {
    if !shrunken.is_minimal {
        return format!("{what}: {before:?} -> {:?}, {NOT_MINIMAL} after {tries} tries", shrunken.after);
    }
    assert_eq!(shrunken.needless, Vec::<usize>::new(), "{what}: {:#?}", shrunken.script);
    assert!(shrunken.after <= shrunken.before, "{what}");
    assert_eq!(shrunken.replayed.drift, None, "{what}: it replays strictly");
    format!("{what}: {before:?} -> {:?} in {tries} tries", shrunken.after)
}

fn opened<'r>(registry: &'r Registry, protocol: &str) -> (Library<'r>, &'r Entry) {
    let library = Library::new(registry, None).expect("there is no folder to refuse");
    let entry = registry.entry(protocol).unwrap_or_else(|error| panic!("{error}"));
    (library, entry)
}

fn quick(library: &Library<'_>, entry: &Entry) -> Vec<Scenario> {
    let all = library.scenarios(entry).unwrap_or_else(|error| panic!("{error}"));
    all.into_iter().filter(|scenario| scenario.class == Class::Quick).collect()
}
