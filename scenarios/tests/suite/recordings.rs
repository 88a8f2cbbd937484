//! Recordings of a real Apache ZooKeeper: our own, and those beside the project where they are present.

use std::path::{Path, PathBuf};

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

fn replay(file: &Path) -> (u8, String) {
    testing::command(&shipped(), &["replay", file.to_str().unwrap()])
}

fn ours() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("zookeeper/recorded")
}

/// Of a folder, in the order of their names, those of one operation after the other.
fn sequential(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_one = |path: &PathBuf| path.to_string_lossy().contains("-seq-") && path.extension().is_some();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    files.sort();
    files
}

#[test]
fn the_data_tree_answers_as_the_real_server_did() {
    let handed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/zookeeper");
    let (ours, handed) = (sequential(&ours()), sequential(&handed));
    assert_eq!(ours.len(), 2);
    for file in ours.into_iter().chain(handed) {
        let (code, said) = replay(&file);
        assert_eq!(code, exit::EXPECTED, "{said}");
        assert!(said.contains(": agrees: 300 operations, "), "{said}");
    }
}

/// The first difference is named at its line, and a file that is no recording is refused there.
#[test]
fn a_recording_that_differs_or_is_none_says_where() {
    let folder = Folder::new("recordings");
    let text = std::fs::read_to_string(ours().join("zk-seq-1.jsonl")).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        folder.write("changed.jsonl", &text.replacen(from, to, 1));
        replay(Path::new(&folder.path("changed.jsonl")))
    };
    let (code, said) = changed(r#""err":"NoNode","zxid":1,"#, r#""err":"NoNode","zxid":2,"#);
    assert_eq!(code, exit::DRIFTED, "{said}");
    assert!(said.starts_with("differs: ") && said.contains("changed.jsonl:5: "), "{said}");
    assert!(said.contains("1 here, 2 recorded"), "{said}");
    let (code, said) = changed(r#""op":"delete""#, r#""op":"remove""#);
    assert_eq!(code, exit::BAD_INPUT, "{said}");
    assert!(said.contains("changed.jsonl:5: ") && said.contains("remove"), "{said}");
}
