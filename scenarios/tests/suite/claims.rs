//! Scenarios that demand an order of what their clients see.

use seedbed::{exit, shipped, testing};

use crate::folder::Folder;

/// A quiet register, whose scenario says `lines`.
fn register(folder: &Folder, lines: &str) {
    let text = format!(
        "protocol = \"register\"\nstory = \"A few operations.\"\nseeds = \"0..20\"\n{lines}\n\
         [params]\nservers = 3\nwriters = 2\nreaders = 2\nwrites = 5\nreads = 5\n\
         [settings]\nduration = \"5s\"\nquiet = \"5s\"\n[settings.network]\ndelay-min = \"1ms\"\ndelay-max = \"100ms\"\n"
    );
    folder.write("register/claimed.toml", &text);
}

fn run(folder: &Folder, command: &str) -> (u8, String) {
    let place = folder.0.display().to_string();
    let arguments: Vec<String> = command.split_whitespace().map(|word| word.replace('@', &place)).collect();
    testing::command(&shipped(), &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_claim_that_holds_changes_nothing_of_the_runs() {
    let folder = Folder::new("claim-holds");
    register(&folder, "");
    let (code, without) = run(&folder, "run register/claimed --scenarios @ --json @/without.json");
    assert_eq!(code, exit::EXPECTED, "{without}");
    let digest = |name: &str| {
        let text = std::fs::read_to_string(folder.0.join(name)).expect("the results are written");
        let line = text.lines().find(|line| line.contains("\"digest\"")).expect("a digest is in it");
        line.trim().to_owned()
    };
    for judge in ["linearizable", "a-linearizable", "sequential", "session"] {
        register(&folder, &format!("history = {{ spec = \"register\", judge = \"{judge}\", initial = \"0\" }}"));
        let (code, with) = run(&folder, "run register/claimed --scenarios @ --json @/with.json");
        assert_eq!(code, exit::EXPECTED, "{with}");
        assert_eq!(digest("without.json"), digest("with.json"), "{judge}");
    }
}

#[test]
fn a_claim_that_falls_is_told_by_its_piece_replays_and_can_be_expected() {
    let folder = Folder::new("claim-falls");
    // The register holds 0 at first, so the reads before the first write contradict it under every judgement.
    for judge in ["linearizable", "a-linearizable", "sequential", "session"] {
        let claim = format!("history = {{ spec = \"register\", judge = \"{judge}\", initial = \"7\" }}");
        register(&folder, &claim);
        let (code, said) = run(&folder, "run register/claimed --scenarios @ --trace @/pin.toml");
        assert_eq!(code, exit::HISTORY, "{said}");
        assert!(said.contains("history fell: what clients see has an order"), "{said}");
        assert!(said.contains("this one has no order, whatever came of all others: reader-"), "{said}");
        let line = said.lines().find_map(|line| line.trim().strip_prefix("replay:")).expect("a line to paste");
        let (_, flags) = line.split_once("replay").expect("the line replays");
        let (code, again) = run(&folder, &format!("replay {flags}"));
        assert_eq!(code, exit::HISTORY, "{again}");
        assert!(again.contains("this one has no order"), "{again}");
        let (code, same) = run(&folder, &format!("replay {}/pin.toml", folder.0.display()));
        assert_eq!(code, exit::EXPECTED, "{same}");
        assert!(same.contains("same: history falls"), "{same}");
        register(&folder, &format!("expect = \"violated: history\"\n{claim}"));
        let (code, said) = run(&folder, "run register/claimed --scenarios @ --jobs 2");
        assert_eq!(code, exit::EXPECTED, "{said}");
        register(&folder, &format!("properties = [\"written\"]\n{claim}"));
        let (code, said) = run(&folder, "run register/claimed --scenarios @");
        assert_eq!(code, exit::HISTORY, "a claim counts whatever properties are asserted: {said}");
    }
}

#[test]
fn a_run_ends_in_the_step_whose_answer_has_no_place() {
    let folder = Folder::new("claim-step");
    let claim = "history = { spec = \"register\", initial = \"0\" }";
    register(&folder, claim);
    let (code, said) = run(&folder, "run register/claimed --scenarios @ --mutant no-query");
    assert_eq!(code, exit::HISTORY, "{said}");
    // The protocol's own monitor and the claim judge alike, one by the other: both fall, in the same first run and step.
    let places: Vec<&str> = said.lines().filter(|line| line.trim().starts_with("at:")).collect();
    assert!(said.contains("history fell:") && said.contains("linearizable fell:"), "{said}");
    assert!(places.len() == 2 && places[0] == places[1], "{said}");
}
