//! FaTLease at bounds that `check` has no time for, and parameters that it refuses.

use seedbed_model::explore::{Bounds, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants, Span};
use seedbed_protocols::fatlease::{FaTLease, Params, Variant};
use serde::Deserialize;

/// What `seedbed check` explores.
const CHECK: &str = include_str!("../../../scenarios/fatlease/check.toml");

#[derive(Deserialize)]
struct CheckFile {
    params: toml::Table,
    bound: Vec<Checked>,
}

/// A bound of it, as far as the pairs need it.
#[derive(Deserialize)]
struct Checked {
    name: String,
    #[serde(default)]
    goals: Vec<String>,
    expect: Option<String>,
    #[serde(default)]
    params: toml::Table,
    bounds: Bounds,
}

/// A feature of the protocol or of its world, and the goals by which `seedbed check` says that a bound has it.
struct Feature {
    name: &'static str,
    goals: &'static [&'static str],
    /// Whether the bound's parameters are such that the goals mean the feature.
    is_set: fn(&Params, &Bounds) -> bool,
}

const FEATURES: [Feature; 12] = [
    Feature { name: "two proposers", goals: &["two-proposers"], is_set: |_, _| true },
    Feature { name: "three proposers", goals: &["three-proposers"], is_set: |_, _| true },
    Feature { name: "three ballots", goals: &["three-ballots"], is_set: |_, _| true },
    Feature { name: "four ballots", goals: &["four-ballots"], is_set: |_, _| true },
    Feature { name: "two instances", goals: &["next-instance"], is_set: |_, _| true },
    Feature { name: "renewal", goals: &["renewed"], is_set: |_, _| true },
    Feature { name: "invalidation", goals: &["invalidated"], is_set: |_, _| true },
    Feature {
        name: "crash and rejoin",
        goals: &["rejoined"],
        is_set: |_, bounds| bounds.crashes > 0 && bounds.restart,
    },
    Feature { name: "two discard", goals: &["two-discarded"], is_set: |_, _| true },
    Feature { name: "late messages", goals: &["late"], is_set: |_, bounds| bounds.delay.is_none() },
    Feature {
        name: "fixed clocks",
        goals: &["clocks-differ"],
        is_set: |params, _| params.offset > Span::ZERO || !params.skew_moves,
    },
    Feature { name: "moving clocks", goals: &["clocks-differ", "clock-moved"], is_set: |params, _| params.skew_moves },
];

/// Bounds at which the printed protocol holds, though it has no renewals there: another covers what they do, at which it falls.
const HOLDS_IN_PRINT: [&str; 10] = [
    "three-invalidation",
    "three-late",
    "three-fixed",
    "three-moving",
    "four-late",
    "invalidation-fixed",
    "invalidation-moving",
    "late-fixed",
    "late-moving",
    "fixed-moving",
];

#[derive(Deserialize)]
struct BoundsFile {
    params: toml::Table,
    bound: Vec<Bound>,
}

#[derive(Deserialize)]
struct Bound {
    name: String,
    params: toml::Table,
    bounds: Bounds,
}

/// A bound's own parameters, and for the rest those of its file.
fn params(all: &toml::Table, own: &toml::Table) -> Params {
    let mut params = all.clone();
    params.extend(own.clone());
    toml::Value::Table(params).try_into().expect("the parameters fit their types")
}

/// Of what a bound reaches by its goals, which `seedbed check` demands, the features.
fn features(bound: &Checked, params: &Params) -> Vec<usize> {
    let has = |goal: &str| bound.goals.iter().any(|other| other == goal) || implied(&bound.goals, goal);
    let is_reached =
        |feature: &Feature| (feature.is_set)(params, &bound.bounds) && feature.goals.iter().all(|goal| has(goal));
    (0..FEATURES.len()).filter(|index| is_reached(&FEATURES[*index])).collect()
}

/// Three proposers are two, and four ballots three.
fn implied(goals: &[String], goal: &str) -> bool {
    let more = match goal {
        "two-proposers" => "three-proposers",
        "three-ballots" => "four-ballots",
        _ => return false,
    };
    goals.iter().any(|other| other == more)
}

/// Which bound covers which pair.
struct Table {
    /// Of each pair of features, the smaller first, the place of the bound in `named` that covers it.
    covers: Vec<Vec<Option<usize>>>,
    /// The bounds that are the first to cover a pair.
    named: Vec<Named>,
}

/// A bound that covers a pair.
struct Named {
    name: String,
    params: Params,
    bounds: Bounds,
    /// Whether the printed protocol is said to fall there. It has no renewals.
    falls_in_print: bool,
}

impl Table {
    /// The bounds of `check` at three hosts, which are exhausted and hold. The printed protocol, which has no renewals, falls at
    /// those without: they are first.
    fn new() -> Table {
        let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
        let covers = vec![vec![None; FEATURES.len()]; FEATURES.len()];
        let mut table = Table { covers, named: Vec::new() };
        let mut bounds: Vec<(bool, Checked, Params)> = Vec::new();
        let is_meant = |bound: &Checked| bound.expect.is_none() && !HOLDS_IN_PRINT.contains(&bound.name.as_str());
        for bound in file.bound.into_iter().filter(is_meant) {
            let params = params(&file.params, &bound.params);
            bounds.push((params.renewals, bound, params));
        }
        bounds.sort_by_key(|(holds_in_print, ..)| *holds_in_print);
        for (holds_in_print, bound, params) in bounds.into_iter().filter(|(_, _, params)| params.counts) {
            table.add(bound, params, !holds_in_print);
        }
        table
    }

    fn add(&mut self, bound: Checked, params: Params, falls_in_print: bool) {
        let Bounds { depth, tag_max, losses, .. } = bound.bounds;
        assert_eq!((params.hosts, depth, tag_max, losses), (3, None, None, 0), "{} is not whole", bound.name);
        let features = features(&bound, &params);
        let pairs = features.iter().flat_map(|a| features.iter().filter(move |b| a < b).map(move |b| (*a, *b)));
        let new: Vec<(usize, usize)> = pairs.filter(|(a, b)| self.covers[*a][*b].is_none()).collect();
        for (a, b) in &new {
            self.covers[*a][*b] = Some(self.named.len());
        }
        if !new.is_empty() {
            let Checked { name, bounds, .. } = bound;
            self.named.push(Named { name, params, bounds, falls_in_print });
        }
    }

    /// As comments: in each cell the number of the first bound that covers the pair.
    fn text(&self) -> String {
        let mut text = String::new();
        for (b, feature) in FEATURES.iter().enumerate() {
            let cells = (0..b).map(|a| format!("{:>3}", self.covers[a][b].map_or(0, |place| place + 1)));
            text += &format!("# {:<17}{}{:>3}\n", feature.name, cells.collect::<String>(), "\\");
        }
        for (index, bound) in self.named.iter().enumerate() {
            let star = if bound.falls_in_print { " *" } else { "" };
            text += &format!("# {:>2} {}{star}\n", index + 1, bound.name);
        }
        text
    }
}

/// The file begins with the table. Of all pairs but those with renewals, which are not in print, the printed protocol falls at
/// the bound.
#[test]
fn every_pair_of_features_is_covered() {
    let table = Table::new();
    for (a, b) in (0..FEATURES.len()).flat_map(|a| (a + 1..FEATURES.len()).map(move |b| (a, b))) {
        let names = [FEATURES[a].name, FEATURES[b].name];
        let place = table.covers[a][b].unwrap_or_else(|| panic!("no bound covers {names:?}"));
        let falls = table.named[place].falls_in_print || names.contains(&"renewal");
        assert!(falls, "the printed protocol falls at no bound that covers {names:?}");
    }
    let text = table.text();
    assert!(CHECK.contains(&text), "the table in check.toml must be:\n{text}");
}

/// Where the table says so.
#[test]
#[ignore = "a minute: .ci/run --full, in its step sweeps"]
fn the_printed_protocol_falls() {
    for bound in Table::new().named.iter().filter(|bound| bound.falls_in_print) {
        let params = Params { variant: Variant::AsPublished, ..bound.params.clone() };
        let protocol = FaTLease::build(&params, Mutants::none()).expect("the parameters make sense");
        let found = explore(&protocol, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        assert!(matches!(found.verdict, Verdict::Violated(_)), "{}: {:?}", bound.name, found.verdict);
    }
}

/// Each bound of `fatlease.toml` is exhausted and holds.
#[test]
#[ignore = "minutes, for larger bounds: .ci/run --full, in its step sweeps"]
fn pairs_of_features_hold() {
    let file: BoundsFile = toml::from_str(include_str!("fatlease.toml")).expect("the file fits its types");
    for bound in &file.bound {
        let params = params(&file.params, &bound.params);
        let protocol = FaTLease::build(&params, Mutants::none()).expect("the parameters make sense");
        let found = explore(&protocol, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
        assert_eq!(found.verdict, Verdict::Holds, "{}: {:#?}", bound.name, found.script);
        assert!(found.stats.exhausted && !found.stats.cut, "{} is not exhausted: {:?}", bound.name, found.stats);
    }
}

#[test]
fn parameters_that_break_the_argument_are_refused() {
    let refusal = |params: Params| FaTLease::build(&params, Mutants::none()).map(drop).unwrap_err();
    let whole = Params::default;
    assert_eq!(
        refusal(Params { d_max: Span::millis(900), ..whole() }),
        "d-max 900ms is too small: clocks differ by up to 1s"
    );
    assert_eq!(refusal(Params { lease: Span::secs(1), ..whole() }), "lease 1s must be longer than d-max, 1s (§4.1)");
    assert_eq!(
        refusal(Params { variant: Variant::AsPublished, ..whole() }),
        "renewals are not in the printed pseudo-code (§4.3); write renewals = false"
    );
    assert_eq!(
        refusal(Params { variant: Variant::Paxos, ..whole() }),
        "regular Paxos keeps what it promised for ever (§4.4); write discards = false"
    );
    assert_eq!(
        refusal(Params { batch: 8, ..whole() }),
        "batch and linger are for acceptors that write; write variant = \"paxos\""
    );
    let alone = Params { variant: Variant::Paxos, discards: false, batch: 1, linger: Span::millis(5), ..whole() };
    assert_eq!(refusal(alone), "a linger waits for a second answer, which batch = 1 has no room for");
    assert!(refusal(Params { askers: 4, ..whole() }).starts_with("hosts must be"));
    assert!(refusal(Params { notice: Span::secs(1), ..whole() }).starts_with("notice and progress"));
}
