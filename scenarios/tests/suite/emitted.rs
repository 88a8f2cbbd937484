//! Emitted manifests: what each engine would run is run, shards and merge, and comes to what one machine comes to.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use seedbed::{exit, shipped, testing};
use serde_yaml_ng::Value;

use crate::folder::Folder;

/// A campaign in which a property falls that must not: shards end well all the same, and the merge has the verdict.
const CAMPAIGN: [&str; 5] = ["leasing/race", "--seeds", "0..50", "--mutant", "no-sequence-pairs"];
const SHARD_COUNT: usize = 3;

fn said(arguments: &[&str]) -> (u8, String) {
    testing::command(&shipped(), arguments)
}

/// The manifest for an engine.
pub(crate) fn emitted(engine: &str) -> String {
    let call = env!("CARGO_BIN_EXE_seedbed");
    let flags = ["--shards", "3", "--call", call, "--image", "image"];
    let (code, manifest) = said(&[&["emit", engine], &CAMPAIGN[..], &flags[..]].concat());
    assert_eq!(code, 0, "{manifest}");
    manifest
}

/// What of a campaign's results does not depend on where it ran.
fn pieces(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    value["scenarios"][0]["pieces"].clone()
}

/// Asserts that `merged.json` in the folder is what one machine finds, and that something fell.
pub(crate) fn is_whole(folder: &Folder) {
    let whole = folder.path("whole.json");
    let (code, text) = said(&[&["run"], &CAMPAIGN[..], &["--json", &whole]].concat());
    assert_eq!(code, exit::SAFETY, "{text}");
    assert_eq!(pieces(&folder.0.join("merged.json")), pieces(Path::new(&whole)));
}

/// Runs a manifest's shards and its merge as the engine would, each with its variables; the merge's exit code is that of
/// the campaign.
fn runs(
    folder: &Folder,
    shell: &[&str],
    [shard, merge]: [&str; 2],
    variables: &dyn Fn(usize) -> [(&'static str, String); 2],
) {
    let run = |body: &str, variables: BTreeMap<&str, String>| {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(body).envs(variables).current_dir(&folder.0).stderr(Stdio::null());
        let ended = command.output().expect("a shell runs");
        (ended.status.code(), String::from_utf8_lossy(&ended.stdout).into_owned())
    };
    for index in [1, 0, 2] {
        assert_eq!(run(shard, variables(index).into()).0, Some(0), "shard {index} found something, and ran well");
    }
    let (code, text) = run(merge, variables(0).into());
    assert_eq!(code, Some(i32::from(exit::SAFETY)), "{text}");
    is_whole(folder);
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value:?}"))
}

fn documents(manifest: &str) -> Vec<Value> {
    manifest.split("---\n").map(|part| serde_yaml_ng::from_str(part).expect("it is YAML")).collect()
}

#[test]
fn what_kubernetes_runs_is_the_campaign() {
    let folder = Folder::new("emit-kubernetes");
    let jobs = documents(&emitted("kubernetes"));
    let command = |job: &Value| job["spec"]["template"]["spec"]["containers"][0]["command"].clone();
    let [shards, merge] = [command(&jobs[0]), command(&jobs[1])];
    assert_eq!([&shards[0], &shards[1]], [&Value::from("/bin/sh"), &Value::from("-c")]);
    let index = |index: usize| [("JOB_COMPLETION_INDEX", index.to_string()), ("LANG", "C".into())];
    runs(&folder, &["/bin/sh", "-c"], [text(&shards[2]), text(&merge[2])], &index);
}

#[test]
fn a_kubernetes_shard_that_never_comes_makes_the_campaign_incomplete() {
    let folder = Folder::new("emit-kubernetes-gap");
    let flags = ["--shards", "2", "--call", env!("CARGO_BIN_EXE_seedbed"), "--image", "image", "--wait", "1s"];
    let (code, manifest) = said(&[&["emit", "kubernetes", "echo/lossy", "--seeds", "0..20"], &flags[..]].concat());
    assert_eq!(code, 0, "{manifest}");
    let body = |job: &Value| text(&job["spec"]["template"]["spec"]["containers"][0]["command"][2]).to_owned();
    let jobs = documents(&manifest);
    let run = |body: &str| {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", body]).env("JOB_COMPLETION_INDEX", "1").current_dir(&folder.0).stdout(Stdio::null());
        shell.status().expect("a shell runs").code()
    };
    assert_eq!(run(&body(&jobs[0])), Some(0));
    assert_eq!(run(&body(&jobs[1])), Some(i32::from(exit::INCOMPLETE)));
}

#[test]
fn what_github_runs_is_the_campaign_with_annotations_and_a_summary() {
    let folder = Folder::new("emit-github");
    let workflow = &documents(&emitted("github"))[0];
    let body = |job: &str| {
        let steps = workflow["jobs"][job]["steps"].as_sequence().expect("a job has steps").iter();
        let bodies: Vec<&Value> = steps.map(|step| &step["run"]).filter(|run| run.is_string()).collect();
        text(bodies[0]).to_owned()
    };
    let numbers =
        workflow["jobs"]["shard"]["strategy"]["matrix"]["shard"].as_sequence().expect("there is a matrix").clone();
    assert_eq!(numbers.len(), SHARD_COUNT);
    let summary = folder.path("summary.md");
    let number = |index: usize| {
        let number = numbers[index].as_u64().expect("a shard has a number");
        [("shard", number.to_string()), ("GITHUB_STEP_SUMMARY", summary.clone())]
    };
    // As GitHub calls bash: `-e` ends a step at its first failure.
    runs(&folder, &["bash", "-e", "-c"], [&body("shard"), &body("merge")], &number);
    let summary = folder.read("summary.md");
    assert!(summary.starts_with("## ") && summary.contains("| single-copy | leasing/race |"), "{summary}");
}

#[test]
fn what_gitlab_runs_is_the_campaign() {
    let folder = Folder::new("emit-gitlab");
    let pipeline = &documents(&emitted("gitlab"))[0];
    let body = |job: &str| text(&pipeline[job]["script"][0]).to_owned();
    let index = |index: usize| [("CI_NODE_INDEX", (index + 1).to_string()), ("LANG", "C".into())];
    // As GitLab's runner calls bash.
    let shell = ["bash", "-eo", "pipefail", "-c"];
    runs(&folder, &shell, [&body("shard"), &body("merge")], &index);
    assert!(folder.read("merged.xml").contains("<testsuite name=\"leasing/race\""));
}

/// Without Slurm: what it would run, by the shell that it would run it with. `slurm.rs` has the real one.
#[test]
fn what_slurm_runs_is_the_campaign() {
    let folder = Folder::new("emit-slurm");
    folder.write("campaign.sh", &emitted("slurm"));
    let task = |index: usize| [("SLURM_ARRAY_TASK_ID", (index + 1).to_string()), ("LANG", "C".into())];
    runs(&folder, &["bash", "-c"], ["bash campaign.sh shard", "bash campaign.sh merge"], &task);
}

/// The place of the first annotation, and how often there is one.
fn annotated(text: &str) -> (Option<(String, usize)>, usize) {
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("::error file=")).collect();
    let place = lines.first().and_then(|line| {
        let (file, rest) = line.split_once(",line=")?;
        Some((file.to_owned(), rest.split_once(",title=")?.0.parse().ok()?))
    });
    (place, lines.len())
}

#[test]
fn annotations_point_at_the_line_that_says_what_is_expected() {
    let campaign = ["run", "leasing/race", "--seeds", "0..20", "--mutant", "no-sequence-pairs"];
    let (code, text) = said(&[&campaign[..], &["--github"]].concat());
    assert_eq!(code, exit::SAFETY, "{text}");
    let (place, count) = annotated(&text);
    let (file, line) = place.unwrap_or_else(|| panic!("no place: {text}"));
    assert!((1..=10).contains(&count), "{count} annotations");
    // From the root of the workspace, as GitHub wants it.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&file);
    let written = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let says = written.lines().nth(line - 1).unwrap_or_default();
    assert!(says.starts_with("expect") || says.starts_with("protocol"), "{file}:{line}: {says}");
    assert!(text.contains("%0Areplay: cargo seedbed replay leasing/race --seed "), "{text}");
}

#[test]
fn a_user_s_scenario_is_annotated_where_it_lies_and_no_environment_asks_for_it() {
    let folder = Folder::new("annotated");
    let story = "protocol = \"lease-timers\"\nstory = \"s\"\nexpect = \"holds\"\nmutants = [\"no-margin\"]\n";
    let rest = "[params]\nholders = 3\n[settings]\nduration = \"120s\"\nquiet = \"10s\"\n\
                decisions = { min = \"0s\", max = \"3s\" }\n[settings.network]\ndelay-min = \"10ms\"\n\
                delay-max = \"2500ms\"\n";
    folder.write("lease-timers/mine.toml", &format!("{story}{rest}"));
    let run = |flags: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_seedbed"));
        command.args(["run", "lease-timers/mine", "--seeds", "0..400", "--scenarios"]).arg(&folder.0).args(flags);
        let ended = command.env("GITHUB_ACTIONS", "true").output().expect("the campaign runs");
        annotated(&String::from_utf8_lossy(&ended.stdout))
    };
    let file = folder.path("lease-timers/mine.toml");
    let (place, count) = run(&["--github"]);
    assert_eq!(place, Some((file, 3)), "{count} annotations");
    assert_eq!(run(&[]).1, 0);
}
