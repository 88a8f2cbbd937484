//! Histories of clients that do not know what came of an operation.

use seedbed::{Registry, files, testing};
use seedbed_rogues::impatient::Impatient;

use crate::folder::Folder;

const SLOW: &str = r#"
protocol = "impatient"
story = "Messages are lost, or come long after the client gave up."
seeds = "0..40"
history = { spec = "register", initial = "0" }
[settings]
duration = "60s"
[settings.network]
delay-min = "10ms"
delay-max = "900ms"
loss = 0.2
"#;

fn impatient(command: &str) -> (u8, String) {
    let registry = Registry::new().with::<Impatient>(files!("files", []));
    testing::command(&registry, &command.split(' ').collect::<Vec<_>>())
}

/// An answer of which nobody knows what it stands for leaves its operation open, and the client goes on as another process.
#[test]
fn what_was_given_up_is_left_open() {
    let folder = Folder::new("impatient");
    folder.write("impatient/slow.toml", SLOW);
    let scenarios = folder.0.display();
    let (code, said) = impatient(&format!("run impatient/slow --scenarios {scenarios}"));
    assert_eq!(code, 0, "{said}");
    let seen = folder.path("seen.jsonl");
    let (code, said) = impatient(&format!("run impatient/slow --seed 3 --history {seen} --scenarios {scenarios}"));
    assert_eq!(code, 0, "{said}");
    let seen = folder.read("seen.jsonl");
    let count = |kind: &str| seen.lines().filter(|line| line.contains(kind)).count();
    let (invoked, done, open) = (count("\"invoke\""), count("\"ok\""), count("\"info\""));
    assert_eq!((invoked, done + open), (20, 20), "{seen}");
    assert!(open > 2, "nothing was given up: {seen}");
    let (code, said) = impatient(&format!("run impatient/slow --mutant sure --scenarios {scenarios}"));
    assert_eq!(code, 12, "what was given up was not always done: {said}");
}
