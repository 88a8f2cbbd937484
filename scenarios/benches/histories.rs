//! How long the command takes to read and judge histories: those beside the project where they are present, and one of
//! our own that is long. `cargo bench -p seedbed`; for memory, `/usr/bin/time -v` on the command.

use std::path::{Path, PathBuf};

use criterion::{Criterion, criterion_group, criterion_main};
use seedbed::{shipped, testing};

/// Files beside the project, how they are judged, the exit code.
const HANDED: [(&str, &str, u8); 4] = [
    ("jepsen-log/etcd_002.log", "--spec cas-register", 0),
    ("jepsen-log/etcd_046.log", "--spec cas-register", 12),
    ("kv/c10-ok.txt", "--spec key-value --no-split", 0),
    ("kv/c10-ok.txt", "--spec key-value", 0),
];

fn bench(criterion: &mut Criterion, name: &str, path: &Path, flags: &str, wanted: u8) {
    let registry = shipped();
    let mut words = vec!["history", path.to_str().expect("the path is text")];
    words.extend(flags.split(' '));
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            let (code, said) = testing::command(&registry, &words);
            assert_eq!(code, wanted, "{said}");
        });
    });
}

fn handed(criterion: &mut Criterion) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/histories");
    for (file, flags, wanted) in HANDED {
        let path = folder.join(file);
        if path.exists() {
            bench(criterion, &format!("{file} {flags}"), &path, flags, wanted);
        }
    }
}

/// 100,000 operations of three clients on one register: each reads what the one before wrote.
fn long(criterion: &mut Criterion) {
    let path: PathBuf = std::env::temp_dir().join(format!("seedbed-long-{}.jsonl", std::process::id()));
    let mut text = String::new();
    for index in 0..100_000_u32 {
        let (process, written, value) = (index % 3, index.is_multiple_of(2), index / 2);
        let f = if written { "write" } else { "read" };
        text += &format!("{{\"process\":{process},\"type\":\"invoke\",\"f\":\"{f}\",\"value\":{value}}}\n");
        text += &format!("{{\"process\":{process},\"type\":\"ok\",\"f\":\"{f}\",\"value\":{value}}}\n");
    }
    std::fs::write(&path, text).expect("the temporary folder can be written");
    bench(criterion, "100,000 operations one after the other", &path, "--spec register", 0);
    let _ = std::fs::remove_file(&path);
}

criterion_group!(histories, handed, long);
criterion_main!(histories);
