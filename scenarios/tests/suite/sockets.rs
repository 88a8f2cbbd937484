//! What real nodes left behind: their tapes, joined, replayed, made small and pinned; and logs of systems that are not ours.

use std::path::Path;

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

fn seedbed(arguments: &[&str]) -> (u8, String) {
    testing::command(&shipped(), arguments)
}

/// A cluster that ran on sockets, with a mechanism switched off.
fn taped() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lease-timers/taped/no-start-wait");
    folder.to_str().unwrap().to_owned()
}

/// A copy of it in which something is changed.
fn changed(folder: &Folder, tape: &str, change: impl Fn(&str) -> String) -> String {
    let from = taped();
    std::fs::create_dir_all(folder.path("tapes")).unwrap();
    std::fs::copy(format!("{from}/cluster.toml"), folder.path("cluster.toml")).unwrap();
    for name in ["cluster", "grantor", "holder-1", "holder-2"] {
        let text = std::fs::read_to_string(format!("{from}/tapes/{name}.jsonl")).unwrap();
        let text = if name == tape { change(&text) } else { text };
        std::fs::write(folder.path(&format!("tapes/{name}.jsonl")), text).unwrap();
    }
    folder.path("")
}

#[test]
fn what_fell_on_sockets_is_replayed_made_small_and_pinned() {
    let folder = Folder::new("sockets");
    let (whole, small) = (folder.path("whole.toml"), folder.path("small.toml"));
    let (code, said) = seedbed(&["replay", &taped(), "--trace", &whole]);
    assert_eq!(code, exit::SAFETY, "{said}");
    assert!(said.contains("single-holder fell: "), "{said}");
    let (code, said) = seedbed(&["replay", &whole]);
    assert_eq!(code, exit::EXPECTED, "{said}");
    assert!(said.contains("same: single-holder falls"), "{said}");
    let (code, said) = seedbed(&["shrink", &whole, "--pin", &small]);
    assert_eq!(code, exit::SAFETY, "{said}");
    assert!(said.contains("1-minimal"), "{said}");
    let (code, said) = seedbed(&["replay", &small]);
    assert_eq!(code, exit::EXPECTED, "{said}");
    assert!(said.contains("same: single-holder falls"), "{said}");
}

#[test]
fn a_tape_that_says_otherwise_is_found_at_its_step() {
    let folder = Folder::new("tapes-differ");
    let differs = changed(&folder, "holder-1", |text| text.replacen("set Request for 3s", "set Request for 2s", 1));
    let (code, said) = seedbed(&["replay", &differs]);
    assert_eq!(code, exit::DRIFTED, "{said}");
    assert!(said.contains("drifted at step ") && said.contains("set Request for 2s"), "{said}");
    // With the mechanism that the nodes had left out.
    let whole = changed(&folder, "", str::to_owned);
    let file = folder.read("cluster.toml").replace("\"no-start-wait\"", "");
    folder.write("cluster.toml", &file);
    let (code, said) = seedbed(&["replay", &whole]);
    assert_eq!(code, exit::DRIFTED, "{said}");
}

#[test]
fn tapes_that_are_none_are_refused_at_their_line() {
    let folder = Folder::new("tapes-refused");
    let refused = |tape: &str, words: &str, change: &dyn Fn(&str) -> String| {
        let (code, said) = seedbed(&["replay", &changed(&folder, tape, change)]);
        assert_eq!(code, exit::BAD_INPUT, "{said}");
        assert!(said.contains(words), "{said}");
    };
    refused("grantor", "grantor.jsonl:2: ", &|text| text.replacen("\n{", "\n[", 1));
    refused("grantor", "grantor, line 2: ", &|text| text.replacen("deliver", "drink", 1));
    refused("holder-2", "holder-2, line 1: a start tells what it `found`", &|text| {
        let end = text.find(",\"found\"").unwrap();
        let line = text.find('\n').unwrap();
        format!("{}}}{}", &text[..end], &text[line..])
    });
    refused("grantor", "a tape is missing", &|text| text.replacen("\"incarnation\":2", "\"incarnation\":3", 1));
    // A line that a kill cut short was seen by nobody.
    let (code, said) = seedbed(&["replay", &changed(&folder, "holder-1", |text| format!("{text}{{\"at\":"))]);
    assert_eq!(code, exit::SAFETY, "{said}");
}

#[test]
fn a_system_that_is_not_ours_is_judged_by_what_it_shows() {
    let folder = Folder::new("observed");
    let judge = |text: &str| {
        folder.write("log.jsonl", text);
        seedbed(&["replay", &folder.path("log.jsonl")])
    };
    let lease = "{\"observes\":\"lease-timers\"}\n\
        {\"at\":5,\"node\":\"holder-1\",\"event\":\"started\"}\n\
        {\"at\":9,\"node\":\"holder-1\",\"event\":\"observed Held\"}\n\
        {\"at\":12,\"node\":\"holder-1\",\"event\":\"observed Lapsed\"}\n";
    let held = "{\"at\":20,\"node\":\"holder-2\",\"event\":\"observed Held\"}\n";
    let (code, said) = judge(&format!("{lease}{held}"));
    assert_eq!(code, exit::EXPECTED, "{said}");
    assert!(said.contains("4 events of lease-timers: no property fell; reached: "), "{said}");
    let (code, said) = judge(&format!("{lease}{held}{}", held.replace("holder-2", "holder-1")));
    assert_eq!(code, exit::SAFETY, "{said}");
    assert!(said.contains("single-holder fell at line 6: "), "{said}");

    // A loss that a Lookup is told of, and one that it is not.
    let table =
        "{\"observes\":\"leasing\",\"params\":{\"owners\":2,\"lookups\":1,\"notice\":\"5s\"},\"goes-on\":\"6s\"}\n";
    let lost = "{\"at\":1,\"node\":\"owner-1\",\"event\":\"observed Held { from: None, generation: Generation(0@0.0), migrated: None, range: RangeId(0) }\"}\n\
        {\"at\":2,\"node\":\"lookup-1\",\"event\":\"observed Connected({RangeId(0): Generation(0@0.0)})\"}\n\
        {\"at\":3,\"node\":\"owner-1\",\"event\":\"observed Lost { generation: Generation(0@0.0), range: RangeId(0) }\"}\n";
    let told = "{\"at\":4,\"node\":\"lookup-1\",\"event\":\"observed Notified { generation: Generation(0@0.1), range: RangeId(0) }\"}\n";
    let (code, said) = judge(&format!("{table}{lost}{told}"));
    assert_eq!(code, exit::EXPECTED, "{said}");
    let (code, said) = judge(&format!("{table}{lost}"));
    assert_eq!(code, exit::PROGRESS, "{said}");
    assert!(said.contains("recovery-notification fell after the last line: "), "{said}");

    for (line, words) in [
        ("{\"at\":1,\"node\":\"holder-9\",\"event\":\"started\"}", "log.jsonl:2: no node is called `holder-9`"),
        ("{\"at\":1,\"node\":\"holder-1\",\"event\":\"saw\"}", "log.jsonl:2: "),
        ("{\"at\":1,\"node\":\"holder-1\"}", "log.jsonl:2: missing field `event`"),
        (
            "{\"at\":9,\"node\":\"holder-1\",\"event\":\"started\"}\n{\"at\":8,\"node\":\"holder-1\",\"event\":\"started\"}",
            "log.jsonl:3: earlier than the line before",
        ),
    ] {
        let (code, said) = judge(&format!("{{\"observes\":\"lease-timers\"}}\n{line}\n"));
        assert_eq!(code, exit::BAD_INPUT, "{said}");
        assert!(said.contains(words), "{said}");
    }
}

/// The host is a program of its own; where it is installed, it refuses the same.
#[test]
fn a_node_without_flags_is_refused() {
    let (code, said) = seedbed(&["node"]);
    assert_eq!(code, exit::BAD_INPUT, "{said}");
}
