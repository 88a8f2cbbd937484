//! TaskMaster's files: the table of pairs at the head of its bounds, and how long its scenarios allow for what was begun.

use std::collections::BTreeMap;

use seedbed_model::Span;
use seedbed_protocols::taskmaster::Params;
use serde::Deserialize;

const CHECK: &str = include_str!("../../../scenarios/taskmaster/check.toml");

/// The rows of the table, in its order, and the goal that says that a run has had it.
const ROWS: [(&str, &str); 8] = [
    ("two workers", "two-workers"),
    ("two queues", "two-queues"),
    ("three tasks, less cache", "evicted"),
    ("crash at every point", "crashed"),
    ("second crash", "crashed-recovering"),
    ("late writes", "late-write"),
    ("deletion", "deleted"),
    ("expiry", "expired"),
];

#[derive(Deserialize)]
struct CheckFile {
    bound: Vec<Bound>,
}

#[derive(Deserialize)]
struct Bound {
    name: String,
    goals: Vec<String>,
    #[serde(default)]
    class: Option<String>,
    params: toml::Table,
}

/// `# 10 expiry-delete`.
fn numbered() -> BTreeMap<usize, &'static str> {
    let lines = CHECK.lines().filter_map(|line| line.strip_prefix('#')?.trim().split_once(' '));
    lines.filter_map(|(number, name)| Some((number.parse().ok()?, name.trim()))).collect()
}

#[test]
fn each_pair_of_the_table_is_met_in_the_bound_that_it_names() {
    let file: CheckFile = toml::from_str(CHECK).expect("the file fits its types");
    let bounds: BTreeMap<&str, &Bound> = file.bound.iter().map(|bound| (bound.name.as_str(), bound)).collect();
    let numbered = numbered();
    for (row, (name, goal)) in ROWS.iter().enumerate() {
        let line = CHECK.lines().find_map(|line| line.strip_prefix(&format!("# {name} "))).expect(name);
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((cells.len(), cells[row]), (row + 1, "\\"), "{name}");
        for (cell, (other, other_goal)) in cells[..row].iter().zip(ROWS) {
            let number: usize = cell.parse().expect("a number");
            let bound = bounds[numbered[&number]];
            let has = |goal: &str| bound.goals.iter().any(|other| other == goal);
            assert!(has(goal) && has(other_goal), "{} does not claim {name} and {other}", bound.name);
            assert_eq!(bound.class, None, "{} is not explored by a bare check", bound.name);
        }
    }
    for bound in file.bound.iter().filter(|bound| bound.goals.iter().any(|goal| goal == "evicted")) {
        let number = |name: &str| bound.params[name].as_integer().expect("a number");
        let tasks = bound.params["tasks"].as_str().expect("tasks").split_whitespace().count();
        assert!(tasks == 3 && (1..3).contains(&number("cache")), "{}", bound.name);
    }
}

#[derive(Deserialize)]
struct Scenario {
    params: Params,
    settings: Settings,
}

/// Of a scenario's settings, what the derivation needs.
#[derive(Deserialize)]
struct Settings {
    network: Network,
    #[serde(default)]
    faults: Faults,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Network {
    delay_max: Span,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "kebab-case")]
struct Faults {
    partition_max: Span,
    spell_max: Span,
    restart_max: Span,
}

/// See `Params::progress`.
fn derived(scenario: &Scenario) -> Span {
    let Scenario { params, settings: Settings { network, faults } } = scenario;
    let outage = faults.partition_max.0.max(faults.spell_max.0).max(faults.restart_max.0);
    let calls = u64::from(params.clients) * (1 + outage / params.patience.0);
    let (retries, trips) = if params.reshards.is_empty() { (1, 5) } else { (3, 8) };
    Span(retries * params.retry.0 + (trips + 3 * calls) * 2 * network.delay_max.0)
}

#[test]
fn what_a_scenario_allows_for_the_end_of_operations_follows_from_its_parameters() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios/taskmaster");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it is readable").path();
        if path.extension().is_none_or(|extension| extension != "toml") || path.ends_with("check.toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("it is readable");
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|why| panic!("{path:?}: {why}"));
        let (allowed, derived) = (scenario.params.progress, derived(&scenario));
        assert!(allowed >= derived, "{path:?} allows {allowed}, and {derived} follow from its parameters");
        // See `Params::told_within`: timers may end a little late.
        let Params { patience, poll, told_within, .. } = scenario.params;
        let told = 2 * patience.0 + poll.0;
        assert!(
            told_within == Span::ZERO || told_within.0 > told,
            "{path:?} allows {told_within}, and {told} ns follow"
        );
        count += 1;
    }
    assert_eq!(count, 19, "scenarios");
}
