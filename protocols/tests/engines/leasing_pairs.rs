//! The table at the head of `scenarios/leasing/check.toml`: which bound covers which pair of features, in each variant.

use seedbed_model::Family;
use seedbed_model::explore::{Bounds, Strategy, Verdict, explore};
use seedbed_model::{Mutants, Ratio};
use seedbed_protocols::leasing::{Feature, GroupKind, Leasing, NO_MARGIN, OLD_LEADER_SERVES, Params, Side, Variant};
use serde::Deserialize;

/// What `seedbed check` explores.
const CHECK: &str = include_str!("../../../scenarios/leasing/check.toml");

#[derive(Deserialize)]
struct CheckFile {
    params: toml::Table,
    bound: Vec<Bound>,
}

/// A bound of it, as far as the pairs need it.
#[derive(Deserialize)]
struct Bound {
    name: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    goals: Vec<String>,
    #[serde(default)]
    claims: Vec<String>,
    #[serde(default)]
    params: toml::Table,
    bounds: Bounds,
}

/// A feature of the protocol or of its world.
struct Row {
    name: &'static str,
    /// What of `together` it is; `None`: slow clocks, which all of a run has.
    feature: Option<Feature>,
}

const ROWS: [Row; 8] = [
    Row { name: "two ranges", feature: Some(Feature::TwoRanges) },
    Row { name: "Owner crash", feature: Some(Feature::OwnerCrash) },
    Row { name: "recall", feature: Some(Feature::Recall) },
    Row { name: "failover", feature: Some(Feature::Failover) },
    Row { name: "paused leader", feature: Some(Feature::PausedLeader) },
    Row { name: "log cap", feature: Some(Feature::LogCap) },
    Row { name: "loss, migration", feature: Some(Feature::LossMigration) },
    Row { name: "drift", feature: None },
];

impl Row {
    /// Whether a run that reaches the bound's goals has had it.
    fn is_in(&self, params: &Params) -> bool {
        match self.feature {
            Some(feature) => params.together.contains(&feature),
            None => params.owner_longest.num > params.owner_longest.den,
        }
    }
}

/// Of each pair of rows, the smaller first, the first bound that covers it, among those named.
struct Table {
    covers: Vec<Vec<Option<usize>>>,
    /// Its name, and a star if it is of class long.
    named: Vec<String>,
}

impl Table {
    fn new(file: &CheckFile, variant: Variant, named: Vec<String>) -> Table {
        let mut table = Table { covers: vec![vec![None; ROWS.len()]; ROWS.len()], named };
        for bound in file.bound.iter().filter(|bound| bound.goals.iter().any(|goal| goal == "together")) {
            let params = params(&file.params, &bound.params);
            if params.variant == variant {
                table.add(bound, &params);
            }
        }
        table
    }

    fn add(&mut self, bound: &Bound, params: &Params) {
        let Bounds { tag_max, depth, losses, delay, .. } = bound.bounds;
        assert_eq!((tag_max, depth), (None, None), "{} is whole", bound.name);
        assert_eq!((losses, delay, params.log), (0, Some(0), 1), "{}", bound.name);
        assert!(!bound.claims.is_empty(), "no mutant is said to fall at {}", bound.name);
        let rows: Vec<usize> = (0..ROWS.len()).filter(|row| ROWS[*row].is_in(params)).collect();
        let pairs = rows.iter().flat_map(|a| rows.iter().filter(move |b| a < b).map(move |b| (*a, *b)));
        let new: Vec<(usize, usize)> = pairs.filter(|(a, b)| self.covers[*a][*b].is_none()).collect();
        new.iter().for_each(|(a, b)| self.covers[*a][*b] = Some(self.named.len()));
        if !new.is_empty() {
            let star = if bound.class.is_some() { " *" } else { "" };
            self.named.push(format!("{}{star}", bound.name));
        }
    }
}

/// A bound's own parameters, and for the rest those of its file.
fn params(all: &toml::Table, own: &toml::Table) -> Params {
    let mut params = all.clone();
    params.extend(own.clone());
    toml::Value::Table(params).try_into().expect("the parameters fit their types")
}

/// Below the diagonal the bounds of PRS, above it those of Centrifuge.
fn text(prs: &Table, centrifuge: &Table) -> String {
    let cell = |row: usize, column: usize| match row.cmp(&column) {
        std::cmp::Ordering::Equal => "\\".to_owned(),
        std::cmp::Ordering::Greater => shown(prs.covers[column][row]),
        std::cmp::Ordering::Less => shown(centrifuge.covers[row][column]),
    };
    let line = |row: usize| (0..ROWS.len()).map(|column| format!("{:>3}", cell(row, column))).collect::<String>();
    let rows = ROWS.iter().enumerate().map(|(row, Row { name, .. })| format!("# {name:<16}{}\n", line(row)));
    let names = centrifuge.named.iter().enumerate().map(|(index, name)| format!("# {:>2} {name}\n", index + 1));
    rows.chain(names).collect()
}

fn shown(place: Option<usize>) -> String {
    place.map_or("-".to_owned(), |place| (place + 1).to_string())
}

/// Each pair of features is covered by a bound in which one run has had both, in both variants.
#[test]
fn every_pair_of_features_is_covered() {
    let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
    let prs = Table::new(&file, Variant::Prs, Vec::new());
    let centrifuge = Table::new(&file, Variant::Centrifuge, prs.named.clone());
    for (table, variant) in [(&prs, "PRS"), (&centrifuge, "Centrifuge")] {
        for (a, b) in (0..ROWS.len()).flat_map(|a| (a + 1..ROWS.len()).map(move |b| (a, b))) {
            assert!(table.covers[a][b].is_some(), "{} and {} in {variant}", ROWS[a].name, ROWS[b].name);
        }
    }
    let text = text(&prs, &centrifuge);
    assert!(CHECK.contains(&text), "the table in check.toml must be:\n{text}");
}

/// Without drift the Manager's count need not be longer than the Owner's: it begins later.
#[test]
fn the_margin_is_there_for_drift_alone() {
    let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
    let bound = file.bound.iter().find(|bound| bound.name == "prs-ranges-drift").expect("it is there");
    let slow = params(&file.params, &bound.params);
    let exact = Params { owner_longest: Ratio::ONE, ..slow.clone() };
    let verdict = |params: &Params| {
        let mutants = Mutants::named(Leasing::mutants(), [NO_MARGIN]).expect("it is known");
        let leasing = Leasing::build(params, mutants).expect("the parameters make sense");
        explore(&leasing, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit").verdict
    };
    assert!(matches!(verdict(&slow), Verdict::Violated(found) if found.property == "single-copy"));
    assert_eq!(verdict(&exact), Verdict::Holds);
}

#[test]
fn what_cannot_meet_is_refused() {
    let build = |params: Params| Leasing::build(&params, Mutants::none()).map(drop).unwrap_err();
    let exact = Params { owner_longest: Ratio::ONE, owner_shortest: Ratio::ONE, ..Params::default() };
    let twice = Params { together: vec![Feature::Recall, Feature::Recall], ..exact.clone() };
    assert_eq!(build(twice), "together names recall twice");
    let alone = Params { together: vec![Feature::TwoRanges], ..exact.clone() };
    assert_eq!(build(alone), "together asks for two-ranges, which ranges = 1 never has");
    let led = Params { together: vec![Feature::Failover], ..exact };
    assert_eq!(build(led), "together asks for failover, which group = \"none\" never has");
    let twice = Params { unfailing: vec![Side::Owners, Side::Lookups, Side::Owners], ..Params::default() };
    assert_eq!(build(twice), "unfailing names owners twice");
    let at_once = |at_once: &[Side], group| build(Params { at_once: at_once.to_vec(), group, ..Params::default() });
    assert_eq!(at_once(&[Side::Owners, Side::Owners], GroupKind::None), "at-once names owners twice");
    assert_eq!(at_once(&[Side::Lookups], GroupKind::Atomic), "at-once names lookups: name lookups in unfailing, too");
    let bids = "at-once names managers, who bid at once to group = \"atomic\" alone";
    assert_eq!(at_once(&[Side::Managers], GroupKind::Paxos), bids);
}

/// What is said not to fail does not, is named among the abstractions, and hides nothing of what the others' failures do.
#[test]
fn what_does_not_fail_is_named_and_left_alone() {
    let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
    let bound = file.bound.iter().find(|bound| bound.name == "election-pauses").expect("it is there");
    let all = params(&file.params, &bound.params);
    let without = |unfailing: &[Side], mutant: Option<&'static str>| {
        let params = Params { unfailing: unfailing.to_vec(), ..all.clone() };
        let mutants = Mutants::named(Leasing::mutants(), mutant).expect("it is known");
        let leasing = Leasing::build(&params, mutants).expect("the parameters make sense");
        explore(&leasing, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
    };
    let fallen = without(&[Side::Owners, Side::Lookups], Some(OLD_LEADER_SERVES));
    assert!(matches!(fallen.verdict, Verdict::Violated(found) if found.property == "one-leader"));
    let (found, same) = (without(&[], None), without(&[Side::Owners, Side::Lookups], None));
    assert_eq!((&found.verdict, found.stats.unique), (&Verdict::Holds, same.stats.unique), "there are neither");
    let still = without(&[Side::Managers], None);
    assert!(still.stats.unique < found.stats.unique && !still.reached.contains(&"old-leader-silent"));
    let named = "manager-1 stands for a Manager server that does not fail: atomic, and neither crashed nor paused";
    assert!(still.abstractions.iter().any(|words| words == named), "{:?}", still.abstractions);
}

/// Bids that are ruled on at once hide what hangs on the time that takes, and nothing else of a leader that stands still.
#[test]
fn what_is_answered_at_once_is_named_and_hides_only_how_long_it_takes() {
    let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
    let bound = file.bound.iter().find(|bound| bound.name == "election-pauses").expect("it is there");
    let all = params(&file.params, &bound.params);
    let explored = |at_once: &[Side], mutant: Option<&'static str>| {
        let params = Params { at_once: at_once.to_vec(), ..all.clone() };
        let mutants = Mutants::named(Leasing::mutants(), mutant).expect("it is known");
        let leasing = Leasing::build(&params, mutants).expect("the parameters make sense");
        explore(&leasing, &bound.bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit")
    };
    let (later, at_once) = (explored(&[], None), explored(&[Side::Managers], None));
    assert_eq!((&later.verdict, &at_once.verdict), (&Verdict::Holds, &Verdict::Holds));
    assert!(at_once.stats.unique * 2 < later.stats.unique, "{} of {}", at_once.stats.unique, later.stats.unique);
    let named = "the Paxos group, as a leader lease and a register that rules on a bid before anything else happens";
    assert!(at_once.abstractions.iter().any(|words| words.contains(named)), "{:?}", at_once.abstractions);
    for (mutant, is_hidden) in [(OLD_LEADER_SERVES, false), ("leader-from-receipt", true)] {
        let falls = |at_once: &[Side]| matches!(explored(at_once, Some(mutant)).verdict, Verdict::Violated(_));
        assert_eq!((falls(&[]), falls(&[Side::Managers])), (true, !is_hidden), "{mutant}");
    }
}
