//! `shrink`: what is left of a failure, and what is said of it.

use seedbed::{shipped, testing};
use serde_json::Value;

use crate::folder::Folder;

fn seedbed(command: &str) -> (u8, String) {
    testing::command(&shipped(), &command.split(' ').collect::<Vec<_>>())
}

/// What `shrink` leaves, as JSON.
fn shrunk(folder: &Folder, what: &str) -> Value {
    let json = folder.path("shrunk.json");
    let (code, said) = seedbed(&format!("shrink {what} --json {json}"));
    assert_eq!(code, 10, "{said}");
    serde_json::from_str(&folder.read("shrunk.json")).unwrap()
}

/// What happens in a trace but for time and the first starts, as `kind node`.
fn steps(record: &Value, nodes: &Value) -> Vec<String> {
    let steps = record.as_array().unwrap().iter().filter(|step| step["kind"] != "elapse" && step["kind"] != "start");
    let name = |step: &Value| step["node"].as_u64().map(|node| nodes[node as usize].as_str().unwrap().to_owned());
    steps.map(|step| format!("{} {}", step["kind"].as_str().unwrap(), name(step).unwrap_or_default())).collect()
}

fn said(record: &Value) -> String {
    let steps = record["trace"].as_array().unwrap().iter();
    let lines = steps.flat_map(|step| {
        let effects = step["effects"].as_array().unwrap().iter().map(|effect| effect.as_str().unwrap().to_owned());
        std::iter::once(step["what"].as_str().unwrap().to_owned()).chain(effects).collect::<Vec<_>>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Steps of the explorer's shortest counterexample, without time.
fn explored(folder: &Folder, what: &str) -> usize {
    let json = folder.path("check.json");
    let (code, said) = seedbed(&format!("check {what} --json {json}"));
    assert_eq!(code, 10, "{said}");
    let record: Value = serde_json::from_str(&folder.read("check.json")).unwrap();
    // The record of an exploration has no names.
    let names: Vec<String> = (0..16).map(|index| format!("n{index}")).collect();
    steps(&record["bounds"][0]["counterexample"], &names.into()).len()
}

/// Figure 6 of Centrifuge: a grant and a request cross; the Manager takes what the request leaves out for given up.
#[test]
fn the_crisscross_shrinks_to_figure_6_in_leasing() {
    let folder = Folder::new("crisscross-leasing");
    for seed in 0..6 {
        let record = shrunk(&folder, &format!("leasing/race --seed {seed} --mutant no-sequence-pairs"));
        assert_eq!(record["after"]["nodes"], 3, "the Manager and two Owners: {record:#}");
        assert_eq!((&record["after"]["faults"], &record["is_minimal"]), (&0.into(), &true.into()), "{record:#}");
        let words = said(&record);
        let crossed = words.find("leases: {r0: Grant").zip(words.rfind("wanted: {}"));
        assert!(crossed.is_some(), "a grant and a request that does not list it: {words}");
        let shortest = explored(&folder, "leasing --bound name=race --mutant no-sequence-pairs");
        let found = steps(&record["trace"], &record["nodes"]);
        assert!(found.len() <= shortest + 2, "seed {seed}: {} of {shortest}: {found:#?}", found.len());
    }
}

#[test]
fn the_crisscross_shrinks_to_two_parties_in_seqpair() {
    let folder = Folder::new("crisscross-seqpair");
    for seed in 0..6 {
        let record = shrunk(&folder, &format!("seqpair/crossing --seed {seed} --mutant no-sequence-pairs"));
        assert_eq!(record["after"]["nodes"], 2, "{record:#}");
        assert_eq!(record["is_minimal"], true);
        let shortest = explored(&folder, "seqpair --bound name=races --mutant no-sequence-pairs");
        let found = steps(&record["trace"], &record["nodes"]);
        assert!(found.len() <= shortest + 2, "seed {seed}: {} of {shortest}: {found:#?}", found.len());
    }
}

#[test]
fn a_shrunk_run_is_the_same_each_time_and_says_what_it_hangs_on() {
    let command = "shrink leasing/race --seed 3 --mutant no-sequence-pairs";
    let (code, said) = seedbed(command);
    assert_eq!((code, &said), (10, &seedbed(command).1));
    for wanted in
        ["single-copy fell: ", "1-minimal, after ", "  chain:    the fall hangs on ", "  faults:   ", "  avoided:  "]
    {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn a_budget_that_runs_out_is_said() {
    let (code, said) = seedbed("shrink leasing/race --seed 3 --mutant no-sequence-pairs --budget 5");
    assert_eq!(code, 10, "{said}");
    assert!(said.contains("not minimal yet: the budget ran out, after 5 tries"), "{said}");
}

#[test]
fn a_shrunk_run_is_pinned_and_replays_and_shrinks_no_further() {
    let folder = Folder::new("shrunk-pin");
    let pin = folder.path("pin.toml");
    let (code, said) = seedbed(&format!("shrink lease-timers/drift --seed 0 --mutant from-receipt --pin {pin}"));
    assert_eq!(code, 10, "{said}");
    assert!(said.contains(&format!("replay:   cargo seedbed replay {pin}")), "{said}");
    let (code, said) = seedbed(&format!("replay {pin}"));
    assert_eq!((code, said.contains("\nsame: single-holder falls")), (0, true), "{said}");
    let (code, said) = seedbed(&format!("shrink {pin}"));
    assert_eq!(code, 10, "{said}");
    let sizes = said.split("from ").nth(1).and_then(|rest| rest.split(';').next()).unwrap_or_default();
    let (before, after) = sizes.split_once(" to ").unwrap();
    assert_eq!(before, after, "{said}");
}

#[test]
fn an_explorers_counterexample_shrinks_too() {
    let folder = Folder::new("shrunk-counterexample");
    let pin = folder.path("pin.toml");
    assert_eq!(seedbed(&format!("check lease-timers --mutant from-receipt --trace {pin}")).0, 10);
    let (code, said) = seedbed(&format!("shrink {pin}"));
    assert_eq!(code, 10, "{said}");
    assert!(said.contains("single-holder fell: ") && said.contains("1-minimal"), "{said}");
}

#[test]
fn what_does_not_fall_is_not_shrunk() {
    let (code, said) = seedbed("shrink leasing/race --seed 3");
    assert_eq!((code, said.contains("leasing/race: no property falls with seed 3")), (2, true), "{said}");
    let (code, said) =
        seedbed("shrink leasing/race --seed 3 --mutant no-sequence-pairs --property recovery-notification");
    assert_eq!((code, said.contains("recovery-notification does not fall with seed 3")), (2, true), "{said}");
}

#[test]
fn a_campaign_tells_kinds_of_failure_and_how_to_shrink_one() {
    let (code, said) = seedbed("run leasing/race --mutant no-sequence-pairs --seeds 0..40");
    assert_eq!(code, 10, "{said}");
    assert!(said.contains("  shrink:   cargo seedbed shrink leasing/race --seed 0 --property single-copy"), "{said}");
    assert!(said.contains("single-copy fell in ") && said.contains(" kinds:\n"), "{said}");
    assert!(said.contains("pinned run: as before"), "{said}");
}
