//! The protocol under test, and its command.

use std::process::Command;

use seedbed_starter::registry;

#[test]
fn one_car_parks_at_a_time_whatever_the_seed() {
    seedbed::testing::run(&registry(), "parking/busy", 0..200);
}

#[test]
fn one_car_parks_at_a_time_in_every_order_of_events() {
    seedbed::testing::check(&registry(), "parking");
}

#[test]
fn the_mutant_is_killed() {
    seedbed::testing::mutants(&registry(), "parking");
}

#[test]
#[should_panic(expected = "cargo run -- replay parking/busy --seed")]
fn a_failure_in_a_test_ends_in_a_line_to_paste() {
    let (code, said) = seedbed::testing::command(&registry(), &["run", "parking", "--mutant", "no-look"]);
    assert_eq!(code, 0, "{said}");
}

/// The binary, as a user calls it.
fn parking(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_parking")).args(arguments).output().expect("the binary runs");
    (output.status.code().expect("it ends by itself"), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_binary_has_every_verb_and_names_itself_in_the_line_to_paste() {
    let (code, said) = parking(&["list"]);
    assert_eq!((code, said.starts_with("parking: one parking place")), (0, true), "{said}");
    assert_eq!(parking(&["run", "--seeds", "0..20"]).0, 0);
    assert_eq!(parking(&["mutants"]).0, 0);

    let (code, said) = parking(&["run", "--mutant", "no-look"]);
    assert_eq!(code, 10, "{said}");
    let line = said.lines().find_map(|line| line.strip_prefix("  replay:   ")).expect("a line to paste");
    let (binary, rest) = line.split_once(' ').expect("the binary and its arguments");
    assert_eq!(binary, env!("CARGO_BIN_EXE_parking"));
    let (code, replayed) = parking(&rest.split(' ').collect::<Vec<_>>());
    let digest = said.lines().find_map(|line| line.strip_prefix("  digest:   ")).expect("a digest");
    assert_eq!(code, 10, "{replayed}");
    assert!(replayed.contains(&format!("digest {digest}")), "{replayed}");
}
