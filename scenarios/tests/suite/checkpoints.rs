//! A check that is killed goes on where it was kept, and ends as if nothing had happened.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

/// A check that takes a second or so, kept every few milliseconds.
fn check(checkpoints: &Path, json: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seedbed"));
    command.args(["check", "paxos", "--bound", "name=crash", "-p", "clients=2"]);
    command.args(["--jobs", "2", "--checkpoint-every", "5ms", "--checkpoint"]);
    command.arg(checkpoints).arg("--json").arg(json).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The results, without what depends on the time of day and on the memory held.
fn results(json: &Path) -> serde_json::Value {
    fn strip(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|key, _| !["seconds", "bytes_per_state"].contains(&key.as_str()));
                map.values_mut().for_each(strip);
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(&std::fs::read_to_string(json).expect("results")).expect("JSON");
    strip(&mut value);
    value
}

/// Kills the check at `count` moments; how often something was kept by then.
fn killed_and_resumed(name: &str, count: u64) -> usize {
    let folder = Folder::new(name);
    let at = |name: &str| folder.0.join(name);
    let whole = at("whole.json");
    let status = check(&at("whole"), &whole).status().expect("the check runs");
    assert!(std::fs::read_dir(at("whole")).expect("the folder").next().is_none(), "an ended check leaves nothing");
    let mut kept_count = 0;
    for moment in 0..count {
        let (kept, json) = (at(&format!("kept-{moment}")), at(&format!("{moment}.json")));
        let mut running = check(&kept, &json).spawn().expect("the check runs");
        // Spread over the run's length on any machine: the moments differ, and every one must do.
        std::thread::park_timeout(Duration::from_millis(40 + moment * 997 % 600));
        let _ = running.kill();
        running.wait().expect("it is gone");
        kept_count += usize::from(std::fs::read_dir(&kept).is_ok_and(|mut files| files.next().is_some()));
        let again = check(&kept, &json).status().expect("the check runs");
        assert_eq!(again.code(), status.code(), "moment {moment}");
        assert_eq!(results(&json), results(&whole), "moment {moment}");
    }
    kept_count
}

#[test]
fn what_is_no_whole_checkpoint_is_refused_and_left() {
    let folder = Folder::new("no-checkpoint");
    let place = folder.0.display().to_string();
    let said = |verb: &[&str]| {
        let (code, said) = testing::command(&shipped(), &[verb, &["--checkpoint", &place]].concat());
        assert_eq!(code, exit::BAD_INPUT, "{said}");
        said
    };
    std::fs::create_dir(folder.0.join("echo-lossy.checkpoint")).expect("the folder is ours");
    let of_a_folder = said(&["check", "echo", "--bound", "name=lossy"]);
    assert!(of_a_folder.contains("read the checkpoint: it is no file; move it away"), "{of_a_folder}");
    folder.write("echo-crash.checkpoint", "seedbed checkpoint 2\n\x07");
    let of_a_half = said(&["check", "echo", "--bound", "name=crash"]);
    assert!(of_a_half.contains("in the middle of the search: it is damaged; remove the file"), "{of_a_half}");
    folder.write("echo.lossy-0-3.checkpoint", "{\"schema\": ");
    let of_a_campaign = said(&["run", "echo/lossy", "--seeds", "0..3"]);
    assert!(of_a_campaign.contains("echo.lossy-0-3.checkpoint:1:"), "{of_a_campaign}");
    assert!(of_a_campaign.contains("; remove the file to begin anew"), "{of_a_campaign}");
    assert_eq!(std::fs::read_dir(&folder.0).expect("it is there").count(), 3, "nothing is lost");
}

#[test]
fn a_check_that_is_killed_goes_on() {
    assert!(killed_and_resumed("killed", 5) > 0, "no kill came after something was kept");
}

#[test]
#[ignore = "minutes, for fifty kills: .ci/run --full, in its step sweeps; five are tested always"]
fn a_check_that_is_killed_at_fifty_moments_goes_on() {
    assert!(killed_and_resumed("killed-often", 50) > 10, "too few kills came after something was kept");
}
