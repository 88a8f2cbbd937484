//! The orders that see a part of a space: what they find, and what they say when they find nothing.

use seedbed::{shipped, testing};

use crate::folder::Folder;

fn check(arguments: &str) -> (u8, String) {
    let arguments: Vec<&str> = std::iter::once("check").chain(arguments.split_whitespace()).collect();
    testing::command(&shipped(), &arguments)
}

const MUTANT: &str = "leasing --bound name=race --mutant no-sequence-pairs";

#[test]
fn a_bit_state_search_finds_a_fall_and_does_not_call_silence_a_proof() {
    let (code, said) = check(&format!("{MUTANT} --order bit-state --memory 4"));
    assert_eq!(code, 10, "{said}");
    assert!(said.contains("single-copy fell") && said.contains("--order bit-state --memory 4"), "{said}");
    let (code, said) = check("leasing --bound name=back-off --order bit-state --memory 1");
    assert_eq!(code, 15, "{said}");
    assert!(said.contains("unknown: bit-state: nothing fell in what was seen"), "{said}");
    assert!(
        said.contains("9,822 unique, 43,609 total, not exhausted"),
        "with room, nothing is missed; no depth is known: {said}"
    );
    let (_, crowded) = check("leasing --bound name=crash-late --order bit-state --memory 1");
    assert!(crowded.contains("a chance of up to 1 in"), "{crowded}");
}

#[test]
fn walks_find_a_fall_from_their_seed_alone() {
    for order in ["walks", "pct --changes 2"] {
        let arguments = format!("{MUTANT} --order {order} --walks 20000 --walk-steps 200 --seed 3");
        let (code, said) = check(&arguments);
        assert_eq!(code, 10, "{order}: {said}");
        assert!(said.contains("single-copy fell"), "{order}: {said}");
        let digest = |said: &str| said.lines().find(|line| line.contains("digest:")).map(str::to_owned);
        assert_eq!(digest(&said), digest(&check(&arguments).1), "{order}");
        assert!(said.contains("--walks 20000 --walk-steps 200"), "the line to paste repeats the flags: {said}");
    }
}

#[test]
fn walks_that_find_nothing_say_how_many_there_were() {
    let (code, said) = check("echo --bound name=lossy --order walks --walks 50 --walk-steps 30");
    assert_eq!(code, 15, "{said}");
    assert!(said.contains("unknown: nothing fell in 50 random walks of up to 30 steps"), "{said}");
    let (_, shallow) = check("echo --bound name=lossy --order walks --walks 50 --depth 4");
    assert!(shallow.contains("walks of up to 4 steps"), "{shallow}");
}

#[test]
fn the_budget_ends_a_walk_that_would_hardly_end() {
    let (code, said) = check("echo --bound name=crash --order walks --walks 1 --walk-steps 4294967295 --budget 1s");
    assert_eq!(code, 15, "{said}");
    assert!(said.contains("unknown: the budget ran out"), "{said}");
}

#[test]
fn what_is_owed_for_ever_is_shown_as_steps_that_repeat() {
    let (code, said) = check("echo --bound name=fair --mutant no-retry");
    assert_eq!(code, 11, "{said}");
    assert!(said.contains("all-answered fell") && said.contains("and step 3 repeats for ever"), "{said}");
}

#[test]
fn a_frontier_on_disk_changes_nothing_and_leaves_nothing_behind() {
    let folder = Folder::new("frontier");
    let states = |said: &str| {
        said.lines().find(|line| line.contains("states:")).map(|line| line.split(';').next().map(str::to_owned))
    };
    let (code, here) = check("leasing --bound name=crash");
    let place = folder.0.display();
    let (same_code, away) = check(&format!("leasing --bound name=crash --frontier {place} --frontier-memory 0"));
    assert_eq!((code, same_code), (0, 0), "{away}");
    assert_eq!(states(&here), states(&away));
    assert!(here.contains(", depth "), "{here}");
    assert_eq!(std::fs::read_dir(&folder.0).expect("the folder is there").count(), 0);
}
