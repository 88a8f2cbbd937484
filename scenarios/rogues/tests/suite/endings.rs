//! Endings that no shipped protocol has: panics, nondeterminism, clashes. On a protocol made for them.

use seedbed::{Registry, files, testing};
use seedbed_rogues::rogue::Rogue;

use crate::folder::Folder;

fn rogue(command: &str) -> (u8, String) {
    let registry = Registry::new().with::<Rogue>(files!("files", ["idle"]));
    testing::command(&registry, &command.split(' ').collect::<Vec<_>>())
}

#[test]
fn a_protocol_that_keeps_the_rules_ends_as_expected() {
    let (code, said) = rogue("run rogue/idle");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_broken_assertion_is_a_panic_with_its_message_and_a_line_to_paste() {
    let (code, said) = rogue("run rogue/idle --mutant panics");
    assert_eq!(code, 13, "{said}");
    assert!(said.contains("panic fell: ") && said.contains("4 decisions are too many"), "{said}");
    assert!(said.contains("replay rogue/idle --seed 0 --mutant panics"), "{said}");
    assert_eq!(rogue("replay rogue/idle --seed 0 --mutant panics").0, 13);
}

#[test]
fn a_broken_assertion_is_found_by_the_explorer_too() {
    let (code, said) = rogue("check rogue --mutant panics");
    assert_eq!(code, 13, "{said}");
    assert!(said.contains("panic: ") && said.contains("4 decisions are too many"), "{said}");
    assert!(said.contains("   4    0s  rogue  decides true\n"), "the counterexample ends where it panics:\n{said}");
    assert!(!said.contains("bug of Seedbed"), "{said}");
}

#[test]
fn a_panic_is_pinned_and_replays_as_the_same() {
    let folder = Folder::new("panic");
    let pin = folder.path("pin.toml");
    for command in ["check rogue", "run rogue/idle"] {
        assert_eq!(rogue(&format!("{command} --mutant panics --trace {pin}")).0, 13);
        let (code, said) = rogue(&format!("replay {pin}"));
        assert_eq!((code, said.contains("\nsame: panic falls")), (0, true), "{said}");
    }
}

#[test]
fn two_runs_of_one_seed_that_differ_are_told_with_the_first_difference() {
    let (code, said) = rogue("run rogue/idle --mutant remembers");
    assert_eq!(code, 14, "{said}");
    assert!(said.contains("two runs of one seed differ: seed 0: step 1 differs"), "{said}");
}

#[test]
fn a_protocol_without_bounds_is_explored_as_it_is() {
    let (code, said) = rogue("check rogue");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("rogue / default"), "{said}");
}

#[test]
#[should_panic(expected = "two protocols are named rogue")]
fn two_protocols_of_one_name_are_refused() {
    let _ = Registry::new().with::<Rogue>(files!("files", ["idle"])).with::<Rogue>(files!("files", ["idle"]));
}

#[test]
#[should_panic(expected = "run rogue/missed --seeds 0..100 ended with 11")]
fn a_test_fails_with_what_the_command_says() {
    let registry = Registry::new().with::<Rogue>(files!("files", ["missed"]));
    testing::run(&registry, "rogue/missed", 0..1);
    testing::run(&registry, "rogue/missed", 0..100);
}
