//! Pinned runs outlive changes that keep the messages' names, and say where they drifted.

use seedbed::{Registry, files, testing};
use seedbed_rogues::greeting::{before, reordered, shy};

use crate::folder::Folder;

fn pinned(folder: &Folder) -> String {
    let pin = folder.path("scenarios/greeting/pinned/counts.toml");
    std::fs::create_dir_all(folder.0.join("scenarios/greeting/pinned")).unwrap();
    let registry = Registry::new().with::<before::Greeting>(files!("files", []));
    folder.write("scenarios/greeting/calm.toml", "protocol = \"greeting\"\nstory = \"Once.\"\nseeds = \"0..2\"\n");
    let scenarios = folder.path("scenarios");
    let (code, said) = testing::command(
        &registry,
        &["shrink", "greeting/calm", "--seed", "0", "--mutant", "forgets", "--pin", &pin, "--scenarios", &scenarios],
    );
    assert_eq!(code, 10, "{said}");
    pin
}

#[test]
fn a_pin_survives_another_order_of_messages_and_fields_and_an_unrelated_mutant() {
    let folder = Folder::new("reordered");
    let pin = pinned(&folder);
    for registry in [
        Registry::new().with::<before::Greeting>(files!("files", [])),
        Registry::new().with::<reordered::Greeting>(files!("files", [])),
    ] {
        let (code, said) = testing::command(&registry, &["replay", &pin]);
        assert_eq!((code, said.contains("\nsame: counts falls")), (0, true), "{said}");
    }
}

#[test]
fn a_pin_that_drifted_says_where_and_fails_the_campaign() {
    let folder = Folder::new("drifted");
    let pin = pinned(&folder);
    let scenarios = folder.path("scenarios");
    let registry = Registry::new().with::<shy::Greeting>(files!("files", []));
    let (code, said) = testing::command(&registry, &["replay", &pin]);
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("drifted at step 3: it was `observed 1`, and is `observed 2`"), "{said}");
    let (code, said) = testing::command(&registry, &["run", "greeting/calm", "--scenarios", &scenarios]);
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("pinned greeting/counts: drifted at step 3: it was `observed 1`"), "{said}");

    // Once the bug is fixed, the property must hold, whatever became of the steps.
    let text = folder.read("scenarios/greeting/pinned/counts.toml");
    folder.write("scenarios/greeting/pinned/counts.toml", &text.replace("place = ", "fixed = true\nplace = "));
    let (code, said) = testing::command(&registry, &["run", "greeting/calm", "--scenarios", &scenarios]);
    assert_eq!((code, said.contains("1 pinned run: as before")), (0, true), "{said}");
    let registry = Registry::new().with::<before::Greeting>(files!("files", []));
    let (code, said) = testing::command(&registry, &["run", "greeting/calm", "--scenarios", &scenarios]);
    assert_eq!((code, said.contains("pinned greeting/counts: back: counts falls again")), (18, true), "{said}");
}

/// A pin says what fell; one that lost the line says that nothing did, which is not so.
#[test]
fn a_pin_that_lost_what_fell_is_not_the_same() {
    let folder = Folder::new("lost-violation");
    let pin = pinned(&folder);
    let text = folder.read("scenarios/greeting/pinned/counts.toml");
    let lost: String =
        text.lines().filter(|line| !line.starts_with("violation")).map(|line| format!("{line}\n")).collect();
    folder.write("scenarios/greeting/pinned/counts.toml", &lost);
    let registry = Registry::new().with::<before::Greeting>(files!("files", []));
    let (code, said) = testing::command(&registry, &["replay", &pin]);
    let line = "drifted: nothing fell, by the pin, which has no `violation`; counts falls";
    assert_eq!((code, said.contains(line)), (18, true), "{said}");
}
