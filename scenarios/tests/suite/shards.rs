//! A campaign over many machines: cut, run in parts, killed, resumed, merged; the outcome is that of one machine.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

/// A campaign of two scenarios in which a property falls in many runs.
const CAMPAIGN: [&str; 4] = ["leasing/clock-beyond-bound", "leasing/race", "--seeds", "0..450"];

fn said(arguments: &[&str]) -> (u8, String) {
    testing::command(&shipped(), arguments)
}

/// The results of a file, without the time that the work took.
fn results(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).expect("the results are there");
    let mut value: serde_json::Value = serde_json::from_str(&text).expect("they are JSON");
    for scenario in value["scenarios"].as_array_mut().expect("there are scenarios") {
        scenario["seconds"] = 0.into();
    }
    value
}

/// Runs a scenario into a file of the folder.
fn run(folder: &Folder, file: &str, arguments: &[&str]) -> (u8, serde_json::Value) {
    let path = folder.path(file);
    let (code, said) = said(&[&["run"], arguments, &["--json", &path]].concat());
    assert_ne!(code, exit::BAD_INPUT, "{said}");
    (code, results(Path::new(&path)))
}

/// Merges files of the folder into another.
fn merge(folder: &Folder, files: &[&str], into: &str) -> (u8, serde_json::Value, String) {
    let paths: Vec<String> = files.iter().map(|file| folder.path(file)).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (code, text) = said(&[&["merge"], paths.as_slice(), &["--json", &folder.path(into)]].concat());
    assert_ne!(code, exit::BAD_INPUT, "{text}");
    (code, results(&folder.0.join(into)), text)
}

#[test]
fn eight_shards_in_any_order_and_grouping_are_one_campaign() {
    let folder = Folder::new("shards");
    let campaign = ["leasing/clock-beyond-bound", "--seeds", "0..450"];
    let (code, whole) = run(&folder, "whole.json", &campaign);
    assert!(whole["scenarios"][0]["falls"].as_array().is_some_and(|falls| !falls.is_empty()), "nothing falls");
    for index in 1..=8 {
        run(&folder, &format!("{index}.json"), &[&campaign[..], &["--shard", &format!("{index}/8")]].concat());
    }
    let name = |index: usize| ["1.json", "2.json", "3.json", "4.json", "5.json", "6.json", "7.json", "8.json"][index];
    // Steps that have no factor in common with 8 go through all of them, each in another order.
    for (stride, start) in [(1, 0), (3, 5), (5, 2), (7, 7)] {
        let order: Vec<&str> = (0..8).map(|place| name((start + place * stride) % 8)).collect();
        let (left, right) = order.split_at(1 + start % 6);
        merge(&folder, left, "left.json");
        merge(&folder, &[right, &right[..1]].concat(), "right.json");
        let found = merge(&folder, &["right.json", "left.json", order[3]], "all.json");
        assert_eq!((found.0, &found.1), (code, &whole), "{order:?}");
    }
    let (code, found, text) = merge(&folder, &["1.json", "8.json", "4.json"], "gap.json");
    assert!(text.contains("incomplete: "), "{text}");
    assert_eq!(code, exit::INCOMPLETE);
    assert_eq!(found["scenarios"][0]["demanded"], 450);
}

#[test]
fn a_clean_campaign_with_a_gap_is_incomplete_and_one_without_is_well() {
    let folder = Folder::new("gap");
    for index in ["1/3", "2/3", "3/3"] {
        let file = format!("{}.json", &index[..1]);
        assert_eq!(run(&folder, &file, &["echo/lossy", "--seeds", "0..100", "--shard", index]).0, 0);
    }
    let (code, _, text) = merge(&folder, &["1.json", "3.json"], "gap.json");
    assert_eq!(code, exit::INCOMPLETE, "{text}");
    assert!(text.contains("incomplete: 67 of 100 runs; seeds 33..66 are missing"), "{text}");
    assert_eq!(merge(&folder, &["gap.json", "2.json"], "whole.json").0, 0);
}

#[test]
fn results_of_one_seed_that_differ_are_nondeterminism() {
    let folder = Folder::new("disagree");
    run(&folder, "a.json", &["echo/lossy", "--seeds", "0..100"]);
    let text = folder.read("a.json");
    let (before, rest) = text.split_once("\"checks\": \"").expect("there are check words");
    let digit = if rest.starts_with('0') { '1' } else { '0' };
    folder.write("b.json", &format!("{before}\"checks\": \"{digit}{}", &rest[1..]));
    let (code, found, text) = merge(&folder, &["a.json", "b.json"], "both.json");
    assert_eq!(code, exit::NONDETERMINISM, "{text}");
    assert_eq!(found["scenarios"][0]["disagreed"], serde_json::json!([0]));
}

#[test]
fn a_plan_is_what_its_shards_run() {
    let folder = Folder::new("plan");
    let json = folder.path("plan.json");
    let (code, text) = said(&["plan", "echo/lossy", "--seeds", "0..50", "--shards", "3", "--json", &json]);
    assert_eq!(code, 0, "{text}");
    let plan: serde_json::Value = serde_json::from_str(&folder.read("plan.json")).expect("it is JSON");
    for shard in plan["shards"].as_array().expect("there are shards") {
        let line = shard["command"].as_str().expect("a line");
        assert!(text.contains(line), "{text}");
        let file = format!("shard-{}.json", shard["index"]);
        let line = line.replace(&file, &folder.path(&file));
        let words: Vec<&str> = line.split(' ').skip_while(|word| *word != "run").collect();
        assert_eq!(said(&words).0, 0, "{line}");
        assert_eq!(results(&folder.0.join(&file))["scenarios"][0]["seeds"], shard["scenarios"][0]["seeds"]);
    }
    let merge = plan["merge"].as_str().expect("a line").replace("shard-", &folder.path("shard-"));
    let merge = merge.replace("merged.json", &folder.path("merged.json"));
    let words: Vec<&str> = merge.split(' ').skip_while(|word| *word != "merge").collect();
    assert_eq!(said(&words).0, 0, "{merge}");
}

/// A campaign that takes a second or so, kept every few milliseconds.
fn kept(checkpoints: &Path, json: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seedbed"));
    command.arg("run").args(CAMPAIGN).args(["--jobs", "2", "--checkpoint-every", "5ms", "--checkpoint"]);
    command.arg(checkpoints).arg("--json").arg(json).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Kills the campaign at `count` moments; how often something was kept by then.
fn killed_and_resumed(name: &str, count: u64) -> usize {
    let folder = Folder::new(name);
    let at = |name: &str| folder.0.join(name);
    let whole = at("whole.json");
    let status = kept(&at("whole"), &whole).status().expect("the campaign runs");
    assert!(std::fs::read_dir(at("whole")).expect("the folder").next().is_none(), "an ended campaign leaves nothing");
    let mut kept_count = 0;
    for moment in 0..count {
        let (folder, json) = (at(&format!("kept-{moment}")), at(&format!("{moment}.json")));
        let mut running = kept(&folder, &json).spawn().expect("the campaign runs");
        // Spread over the run's length on any machine: the moments differ, and every one must do.
        std::thread::park_timeout(Duration::from_millis(40 + moment * 997 % 900));
        let _ = running.kill();
        running.wait().expect("it is gone");
        kept_count += usize::from(std::fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some()));
        let again = kept(&folder, &json).status().expect("the campaign runs");
        assert_eq!(again.code(), status.code(), "moment {moment}");
        assert_eq!(results(&json), results(&whole), "moment {moment}");
    }
    kept_count
}

/// A disk that takes no more is played by a limit on the size of files: a write beyond it is an error, once the signal
/// that it would send is ignored.
const NO_ROOM: &str = "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"";

#[test]
fn a_full_disk_is_one_error_and_loses_nothing() {
    let folder = Folder::new("full");
    let at = |name: &str| folder.0.join(name);
    let (whole, resumed) = (at("whole.json"), at("resumed.json"));
    assert!(kept(&at("whole"), &whole).status().is_ok());
    let begun = kept(&at("kept"), &resumed).args(["--budget", "50ms"]).status().expect("the campaign runs");
    assert!(begun.code().is_some(), "it ends when its time is over");
    let files = || {
        let files = std::fs::read_dir(at("kept")).expect("the folder").map(|file| file.expect("a file").path());
        files.map(|path| (std::fs::read(&path).expect("it is ours"), path)).collect::<Vec<_>>()
    };
    let before = files();
    assert!(!before.is_empty(), "something is kept");
    let going_on = kept(&at("kept"), &resumed);
    let full =
        Command::new("bash").args(["-c", NO_ROOM]).arg(going_on.get_program()).args(going_on.get_args()).output();
    let full = full.expect("bash runs");
    let error = String::from_utf8_lossy(&full.stderr).into_owned();
    assert_eq!(full.status.code(), Some(i32::from(exit::BAD_INPUT)), "{error}");
    assert!(error.starts_with("error: ") && error.lines().count() == 1, "{error}");
    assert!(error.contains("write the file: File too large"), "{error}");
    assert_eq!(files(), before, "what was kept is as it was, and nothing lies beside it");
    assert!(kept(&at("kept"), &resumed).status().is_ok());
    assert_eq!(results(&resumed), results(&whole));
}

#[test]
fn a_stream_that_takes_nothing_keeps_no_results_from_their_files() {
    let folder = Folder::new("full-stream");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device is there");
    let mut command = Command::new(env!("CARGO_BIN_EXE_seedbed"));
    command.args(["run", "leasing/race", "--seeds", "0..20", "--mutant", "no-sequence-pairs", "--json"]);
    let ended = command.arg(folder.0.join("a.json")).stdout(full).output().expect("the campaign runs");
    let error = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(i32::from(exit::BAD_INPUT)), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert_eq!(results(&folder.0.join("a.json"))["scenarios"][0]["runs"], 20);
}

#[test]
fn a_campaign_that_is_killed_goes_on() {
    assert!(killed_and_resumed("campaign-killed", 5) > 0, "no kill came after something was kept");
}

#[test]
#[ignore = "minutes, for fifty kills: .ci/run --full, in its step sweeps; five are tested always"]
fn a_campaign_that_is_killed_at_fifty_moments_goes_on() {
    assert!(killed_and_resumed("campaign-killed-often", 50) > 10, "too few kills came after something was kept");
}
