//! Recorded histories with known verdicts: our own, and those beside the project where they are present; and files that
//! are none.

use std::io::Write;
use std::path::{Path, PathBuf};

use seedbed::{shipped, testing};

use crate::folder::Folder;

/// A history: its file, how it is judged, the exit code.
type Case = (&'static str, &'static str, u8);

/// In `tests/histories`.
const OURS: [Case; 34] = [
    ("stale-read.edn", "--spec register", 12),
    ("stale-read.edn", "--spec register --judge sequential", 0),
    ("stale-read.edn", "--spec cas-register --judge session", 0),
    ("late-write.edn", "--spec register", 0),
    ("late-write.edn", "--spec register --judge session", 0),
    ("twice-written.edn", "--spec register", 12),
    ("twice-written.edn", "--spec register --judge sequential", 0),
    ("nil.edn", "--spec register --initial 0", 12),
    ("nil.edn", "--spec register --initial 0 --nil unknown", 0),
    ("failed-cas.edn", "--spec cas-register --initial 0", 12),
    ("fractured.edn", "--spec multi-register --initial 0", 12),
    ("two-holders.jsonl", "--spec lock", 12),
    ("leases.jsonl", "--spec lease-table", 0),
    ("leases.jsonl", "--spec lease-table --no-split", 0),
    ("leases.jsonl", "--spec lease-table --judge sequential", 0),
    ("dequeued-twice.jsonl", "--spec queue", 12),
    ("work.jsonl", "--spec priority-queue", 0),
    ("lost-member.jsonl", "--spec set", 12),
    ("lost-member.jsonl", "--spec set --judge sequential", 0),
    ("counter.jsonl", "--spec counter", 0),
    ("counter.jsonl", "--spec counter --initial 1", 12),
    ("log.jsonl", "--spec log", 12),
    ("soft.jsonl", "--spec key-value", 12),
    ("soft.jsonl", "--spec soft-key-value", 0),
    ("chosen.jsonl", "--spec consensus", 0),
    ("pipelined.jsonl", "--spec register --initial 0 --judge a-linearizable", 12),
    ("pipelined.jsonl", "--spec register --initial 1 --judge a-linearizable", 12),
    ("pipelined.jsonl", "--spec register --initial 0", 2),
    ("views.jsonl", "--spec register --judge sequential", 12),
    ("views.jsonl", "--spec register --judge session", 0),
    ("timeouts.log", "--spec cas-register", 0),
    ("timeouts.log", "--spec cas-register --fail means-not-applied", 0),
    ("appends.txt", "--spec key-value", 0),
    ("appends.txt", "--spec key-value --steps 0", 15),
];

const CAS: &str = "--spec cas-register --initial 0";

/// Beside the project.
const HANDED: [Case; 18] = [
    ("histories/jepsen-log/etcd_000.log", "--spec cas-register", 12),
    ("histories/jepsen-log/etcd_002.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_005.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_007.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_046.log", "--spec cas-register", 12),
    ("histories/jepsen-log/etcd_095.log", "--spec cas-register", 2),
    ("histories/kv/c01-ok.txt", "--spec key-value", 0),
    ("histories/kv/c10-ok.txt", "--spec key-value", 0),
    ("histories/kv/c10-ok.txt", "--spec key-value --no-split", 0),
    ("histories/kv/c01-bad.txt", "--spec key-value", 12),
    ("histories/edn/cas-register-bad-bad-analysis.edn", CAS, 12),
    ("histories/edn/cas-register-bad-rethink-fail-minimal.edn", CAS, 12),
    ("histories/edn/cas-register-bad-cas-failure.edn", CAS, 12),
    ("histories/edn/cas-register-good-cas-register-bug.edn", CAS, 0),
    ("histories/edn/cas-register-good-memstress3-0.edn", CAS, 0),
    ("histories/edn/multi-register-good-multi-register.edn", "--spec multi-register --initial 0", 0),
    ("zookeeper/zk-conc-standalone.jsonl", CAS, 0),
    ("zookeeper/zk-conc-ensemble-stale.jsonl", CAS, 12),
];

/// The event at which a handed history can no longer be ordered, counted from 0.
const HANDED_ENDS: [(&str, u64); 3] = [
    ("histories/edn/cas-register-bad-bad-analysis.edn", 14),
    ("histories/edn/cas-register-bad-rethink-fail-minimal.edn", 4),
    ("histories/edn/cas-register-bad-cas-failure.edn", 491),
];

fn judged(path: &Path, flags: &str) -> (u8, String) {
    let mut words = vec!["history", path.to_str().expect("the path is text")];
    words.extend(flags.split(' '));
    testing::command(&shipped(), &words)
}

fn agree(folder: &Path, cases: &[Case]) {
    for (file, flags, wanted) in cases {
        let (code, said) = judged(&folder.join(file), flags);
        assert_eq!(code, *wanted, "{file} {flags}: {said}");
        // Every piece must be cut to the end, and every prefix be the longest, in files of this size.
        let is_clear =
            !said.contains("not all of them needed") && (flags.contains("--judge") || !said.contains("no place\n"));
        assert!(is_clear, "{file} {flags}: {said}");
    }
}

#[test]
fn our_histories_get_their_verdicts() {
    agree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories"), &OURS);
}

/// The folder of what is handed over beside the project, if it is present; else each of `files` is named as not run, past
/// the capture of what tests say.
fn handed(files: &[&str]) -> Option<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    if cases.exists() {
        return Some(cases);
    }
    for file in files {
        let _ = writeln!(std::io::stderr(), "not run: {file}, which is not beside the project");
    }
    None
}

#[test]
fn handed_histories_get_the_verdict_listed_for_them() {
    if let Some(cases) = handed(&HANDED.map(|(file, ..)| file)) {
        agree(&cases, &HANDED);
    }
}

#[test]
fn handed_histories_end_where_it_is_said() {
    let Some(cases) = handed(&HANDED_ENDS.map(|(file, _)| file)) else { return };
    for (file, end) in HANDED_ENDS {
        let (_, said) = judged(&cases.join(file), CAS);
        assert!(said.contains(&format!("are in order up to event {end} (line ")), "{file}: {said}");
    }
}

#[test]
fn several_files_end_with_the_lowest_of_their_codes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories");
    let paths = ["late-write.edn", "stale-read.edn"].map(|file| folder.join(file).display().to_string());
    let (code, said) = testing::command(&shipped(), &["history", &paths[0], &paths[1], "--spec", "register"]);
    assert_eq!(code, 12, "{said}");
    assert!(
        said.contains("late-write.edn: linearizable as register: yes") && said.contains("stale-read.edn"),
        "{said}"
    );
}

#[test]
fn a_stale_read_is_cut_down_to_what_makes_it_stale() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories/stale-read.edn");
    let (_, said) = judged(&path, "--spec register");
    let lines: Vec<&str> = said.lines().skip(1).map(str::trim).collect();
    assert_eq!(
        lines,
        [
            "prefix:  3 operations are in order up to event 7 (line 9), which has no place, the longest there is",
            "piece:   these 3 have no order, whatever came of all others, each of them needed:",
            "process 0 write 1  from event 0 (line 2) to event 1 (line 3)",
            "process 0 read -> 2  from event 4 (line 6) to event 5 (line 7)",
            "process 2 read -> 1  from event 6 (line 8) to event 7 (line 9)",
        ]
    );
}

#[test]
fn bad_files_get_one_line_each() {
    let folder = Folder::new("bad-histories");
    let event = |process: &str, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let cases = [
        ("deep.edn", "[".repeat(10 << 20), ":1: lists nest deeper than 64"),
        ("deep.jsonl", "[".repeat(10 << 20), ":1: the line has 10485760 bytes; an event has at most 1048576"),
        (
            "deep.log",
            format!("INFO  jepsen.util - 0 :invoke :write {}", "(".repeat(10 << 20)),
            ":1: lists nest deeper than 64",
        ),
        (
            "number.jsonl",
            event("0", "invoke", "write", "99999999999999999999"),
            ":1: `99999999999999999999` is not a whole number of 64 bits",
        ),
        (
            "number.edn",
            "[{:process 0 :type :invoke :f :write :value -99999999999999999999}]".to_owned(),
            ":1: `-99999999999999999999` is not a whole number of 64 bits",
        ),
        ("process.jsonl", event("-1", "invoke", "write", "1"), ":1: `process` is `-1`; a number from 0 is wanted"),
        (
            "answer.jsonl",
            event("0", "ok", "read", "1"),
            ":1: process 0 is told the end of read, and has nothing in flight; an invoke must come before",
        ),
        (
            "two-open.jsonl",
            event("0", "invoke", "write", "1") + &event("0", "invoke", "read", "null"),
            ":2: process 0 invokes read while its write 1 of line 1 is in flight; only --judge a-linearizable allows several",
        ),
        (
            "other-end.jsonl",
            event("0", "invoke", "write", "1") + &event("0", "ok", "read", "1"),
            ":2: process 0 is told the end of read, but its operation of line 1 is write 1",
        ),
        (
            "foreign.jsonl",
            event("0", "invoke", "push", "1"),
            ":1: the specification has no operation `push`; it has read, write, cas",
        ),
        ("shape.jsonl", event("0", "invoke", "cas", "3"), ":1: cas is given two values, found 3"),
        (
            "kind.jsonl",
            event("0", "done", "read", "3"),
            ":1: no type `done`; an event is of type invoke, ok, fail or info",
        ),
        (
            "cut.jsonl",
            "{\"process\":0,\"type\":\"inv".to_owned(),
            ":1: an event is one JSON object; EOF while parsing a string at line 1 column 24",
        ),
        ("cut.edn", "[{:process 0\n :type :ok".to_owned(), ":2: the file ends, but `}` is missing for line 1"),
        ("cut-text.edn", "[{:process 0 :f \"re".to_owned(), ":1: a text begins and never ends; `\"` is missing"),
        ("closed.edn", "[{:process 0]".to_owned(), ":1: `]` closes nothing that is open here"),
        ("odd.edn", "[{:process 0 :type}]".to_owned(), ":1: a map has a value for each key; one is missing"),
        (
            "cut.log",
            "INFO  jepsen.util - 0 :invoke".to_owned(),
            ":1: an event is PROCESS :TYPE :F VALUE; it ends early",
        ),
        ("empty.edn", String::new(), ": no operation in it; a history has events of type invoke and ok"),
        ("empty.jsonl", "\n\n".to_owned(), ": no operation in it; a history has events of type invoke and ok"),
    ];
    for (name, text, wanted) in cases {
        folder.write(name, &text);
        let (code, said) = judged(&folder.0.join(name), "--spec cas-register");
        assert_eq!(code, 2, "{name}: {said}");
        assert!(said.trim_end().ends_with(&format!("{name}{wanted}")), "{name}: {said}");
        assert_eq!(said.trim_end().lines().count(), 1, "{name}: {said}");
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_with_its_line() {
    let folder = Folder::new("no-text");
    std::fs::write(folder.0.join("latin.edn"), b"[\n\xe9]").expect("the folder is ours");
    let (code, said) = judged(&folder.0.join("latin.edn"), "--spec register");
    assert_eq!((code, said.trim_end().ends_with("latin.edn:2:1: the file is not UTF-8")), (2, true), "{said}");
}

#[test]
fn flags_that_fit_nothing_are_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories/counter.jsonl");
    for (flags, wanted) in [
        ("--spec countr", "no specification `countr`"),
        ("--spec counter --initial nil", "--initial: a counter begins at a number, not at nil"),
        ("--spec lock --initial 0", "--initial: a lock begins empty, not at 0; leave the initial value out"),
        ("--spec counter --initial [", "--initial: the file ends, but `]` is missing for line 1"),
    ] {
        let (code, said) = judged(&path, flags);
        assert_eq!((code, said.contains(wanted)), (2, true), "{flags}: {said}");
    }
}

#[test]
fn a_history_that_cannot_be_written_leaves_no_file() {
    let folder = Folder::new("no-histories");
    let path = folder.path("seen.jsonl");
    for (words, wanted) in [
        (
            ["run", "register", "--seed", "1"],
            "--history: it holds one run; name one scenario, as protocol/scenario, and add --seed N",
        ),
        (["run", "leasing/race", "--seed", "1"], "--history: no operation of the run is recorded"),
        (
            ["run", "register/lossy", "--seeds", "0..2"],
            "--history: it holds one run; name one scenario, as protocol/scenario, and add --seed N",
        ),
    ] {
        let (code, said) = testing::command(&shipped(), &[&words[..], &["--history", &path]].concat());
        assert_eq!((code, said.contains(wanted)), (2, true), "{words:?}: {said}");
        let left = std::fs::read_dir(&folder.0).expect("the folder is ours").count();
        assert_eq!(left, 0, "{words:?}");
    }
}

#[test]
fn the_history_of_a_run_is_written_and_judged() {
    let folder = Folder::new("run-histories");
    let judge = |mutant: &str, seed: u64, file: &str, spec: &str, scenario: &str| {
        let (path, seed) = (folder.path(file), seed.to_string());
        let mut words = vec!["run", scenario, "--seed", &seed, "--history", &path];
        if !mutant.is_empty() {
            words.extend(["--mutant", mutant]);
        }
        let (ran, said) = testing::command(&shipped(), &words);
        assert!([0, 12].contains(&ran), "{said}");
        let (code, said) = judged(Path::new(&path), spec);
        assert_eq!(code, ran, "{mutant} {seed}: the monitor and the judge of the file say the same; {said}");
        code
    };
    let register = "--spec register --initial 0";
    for seed in 0..5 {
        assert_eq!(judge("", seed, "whole.jsonl", register, "register/crash"), 0);
        assert_eq!(judge("", seed, "whole.edn", register, "register/lossy"), 0);
        assert_eq!(judge("", seed, "paxos.edn", "--spec consensus", "paxos/contention"), 0);
    }
    // A put that failed may have been done: its value survives in a later one's stead.
    assert_eq!(judge("", 1182, "soft.jsonl", "--spec soft-key-value", "leasing/hash-table"), 0);
    let fallen = (0..30).filter(|seed| judge("small-quorum", *seed, "bad.jsonl", register, "register/lossy") == 12);
    assert!(fallen.count() > 0, "no seed shows the mutant");
}
