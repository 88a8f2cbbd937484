//! Recorded histories with known verdicts, where they are present, and some of our own.

use std::path::{Path, PathBuf};

use seedbed::{shipped, testing};

use crate::folder::Folder;

/// Files beside the project; what follows each is how it is judged, and the exit code.
const HANDED: [(&str, &str, u8); 16] = [
    ("histories/jepsen-log/etcd_000.log", "--spec cas-register", 12),
    ("histories/jepsen-log/etcd_002.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_005.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_007.log", "--spec cas-register", 0),
    ("histories/jepsen-log/etcd_046.log", "--spec cas-register", 12),
    ("histories/jepsen-log/etcd_095.log", "--spec cas-register", 2),
    ("histories/kv/c01-ok.txt", "--spec key-value", 0),
    ("histories/kv/c10-ok.txt", "--spec key-value", 0),
    ("histories/kv/c01-bad.txt", "--spec key-value", 12),
    ("histories/edn/cas-register-bad-bad-analysis.edn", "--spec cas-register --initial 0", 12),
    ("histories/edn/cas-register-bad-rethink-fail-minimal.edn", "--spec cas-register --initial 0", 12),
    ("histories/edn/cas-register-bad-cas-failure.edn", "--spec cas-register --initial 0", 12),
    ("histories/edn/cas-register-good-cas-register-bug.edn", "--spec cas-register --initial 0", 0),
    ("histories/edn/multi-register-good-multi-register.edn", "--spec multi-register --initial 0", 0),
    ("zookeeper/zk-conc-standalone.jsonl", "--spec cas-register --initial 0", 0),
    ("zookeeper/zk-conc-ensemble-stale.jsonl", "--spec cas-register --initial 0", 12),
];

fn judged(path: &Path, flags: &str) -> (u8, String) {
    let mut words = vec!["history", path.to_str().expect("the path is text")];
    words.extend(flags.split(' '));
    testing::command(&shipped(), &words)
}

#[test]
fn handed_histories_get_the_verdict_listed_for_them() {
    let cases: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    for (file, flags, wanted) in HANDED {
        let path = cases.join(file);
        if !path.exists() {
            // Named, so that nobody takes silence for a pass.
            assert!(!cases.exists(), "{file} is missing from {}", cases.display());
            continue;
        }
        let (code, said) = judged(&path, flags);
        assert_eq!(code, wanted, "{file}: {said}");
    }
}

#[test]
fn a_stale_read_is_cut_down_to_what_makes_it_stale() {
    let folder = Folder::new("stale");
    let event = |process: u64, kind: &str, f: &str, value: &str| {
        format!("{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value}}}\n")
    };
    let mut text = String::new();
    for (process, f, value) in [(0, "write", "1"), (1, "write", "2"), (0, "read", "2"), (2, "read", "1")] {
        let given = if f == "read" { "null" } else { value };
        text += &event(process, "invoke", f, given);
        text += &event(process, "ok", f, value);
    }
    folder.write("stale.jsonl", &text);
    let path = folder.0.join("stale.jsonl");
    assert_eq!(judged(&path, "--spec register --judge sequential").0, 0, "writes may change places");
    let (code, said) = judged(&path, "--spec register");
    assert_eq!(code, 12, "{said}");
    assert!(said.contains("6 (line 7) to event 7 (line 8)"), "{said}");
}

#[test]
fn hostile_files_get_one_line_each() {
    let folder = Folder::new("hostile");
    let cases = [
        ("deep.edn", "[".repeat(10 << 20), ":1: lists nest deeper than 64"),
        ("deep.jsonl", "[".repeat(10 << 20), ":1: the line has 10485760 bytes; an event has at most 1048576"),
        (
            "number.jsonl",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":99999999999999999999}".to_owned(),
            "is not a whole number of 64 bits",
        ),
        (
            "number.edn",
            "[{:process 0 :type :invoke :f :write :value 99999999999999999999}]".to_owned(),
            ":1: `99999999999999999999` is not a whole number of 64 bits",
        ),
        ("answer.edn", "[{:process 0 :type :ok :f :read :value 1}]".to_owned(), "has nothing in flight"),
        ("cut.edn", "[{:process 0 :type :ok".to_owned(), "the file ends, but `}` is missing for line 1"),
        ("empty.edn", String::new(), "no operation in it"),
    ];
    for (name, text, wanted) in cases {
        folder.write(name, &text);
        let (code, said) = judged(&folder.0.join(name), "--spec register");
        assert_eq!(code, 2, "{name}: {said}");
        assert!(said.contains(wanted) && said.trim_end().lines().count() == 1, "{name}: {said}");
    }
}
