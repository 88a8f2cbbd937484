//! What the verbs do, on the shipped protocols: how they end, what they write, and that what they print replays.

use seedbed::{shipped, testing};

use crate::folder::Folder;

/// What a command says, and its code; its arguments are words without spaces.
fn seedbed(command: &str) -> (u8, String) {
    testing::command(&shipped(), &command.split(' ').collect::<Vec<_>>())
}

/// The value of a line of a failure block.
fn line<'a>(said: &'a str, label: &str) -> &'a str {
    said.lines()
        .find_map(|line| line.trim_start().strip_prefix(label))
        .unwrap_or_else(|| panic!("no {label} in\n{said}"))
        .trim()
}

/// A result file without what differs from run to run.
fn without_times(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("\"seconds\"")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_shipped_file_reads_and_lists() {
    for protocol in shipped().names() {
        let (code, said) = seedbed(&format!("list {protocol}"));
        assert_eq!(code, 0, "{said}");
        assert!(said.contains("\nmutants\n") && said.contains(&format!("  {protocol}/")), "{said}");
    }
}

#[test]
fn a_campaign_is_the_same_on_any_number_of_threads() {
    let folder = Folder::new("jobs");
    let results = ["1", "2", "5"].map(|jobs| {
        let json = folder.path(&format!("{jobs}.json"));
        let (code, said) = seedbed(&format!("run lease-timers --seeds 0..70 --jobs {jobs} --json {json}"));
        assert_eq!(code, 0, "{said}");
        without_times(&folder.read(&format!("{jobs}.json")))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
}

#[test]
fn the_line_to_paste_replays_the_failure_with_its_digest() {
    let (code, said) = seedbed("run lease-timers/drift --mutant from-receipt -p holders=2 --seeds 0..50");
    assert_eq!(code, 10, "{said}");
    let paste = line(&said, "replay:").strip_prefix("cargo seedbed ").expect("the shipped command's name");
    let (code, replayed) = seedbed(paste);
    assert_eq!(code, 10, "{replayed}");
    assert!(replayed.contains(&format!("digest {}", line(&said, "digest:"))), "{replayed}");
    assert!(replayed.contains("single-holder fell"), "{replayed}");
}

#[test]
fn what_is_said_has_no_control_characters_and_no_trailing_spaces() {
    for command in
        ["list", "run echo/quiet --seeds 0..3", "check echo", "run lease-timers/drift --mutant no-margin --seeds 0..9"]
    {
        let (_, said) = seedbed(command);
        assert!(said.chars().all(|c| c == '\n' || !c.is_control()), "{command}: {said:?}");
        assert!(said.lines().all(|line| !line.ends_with(' ')), "{command}: {said}");
    }
}

#[test]
fn an_expected_fall_counts_only_if_the_named_property_fell() {
    assert_eq!(seedbed("run lease-timers/clock-beyond-bound").0, 0);
    // One seed in which nothing falls: nothing is known of the rest, and it is said.
    let (code, said) = seedbed("run lease-timers/clock-beyond-bound --seed 0");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("single-holder did not fall; the scenario expects it somewhere in seeds 0..200"), "{said}");
    // The whole range in which nothing falls: clocks that keep their bound.
    let folder = Folder::new("expected");
    folder.write("lease-timers/calm.toml", "protocol = \"lease-timers\"\nstory = \"Nothing falls.\"\nseeds = \"0..10\"\nexpect = \"violated: single-holder\"\n");
    let (code, said) = seedbed(&format!("run lease-timers/calm --scenarios {}", folder.0.display()));
    assert_eq!(code, 11, "{said}");
    assert!(said.contains("single-holder must fall and never did"), "{said}");
}

#[test]
fn a_goal_that_the_whole_range_misses_is_told() {
    let folder = Folder::new("goal");
    folder.write("echo/calm.toml", "protocol = \"echo\"\nstory = \"Nobody asks twice.\"\nseeds = \"0..5\"\ngoals = [\"answered\", \"stale answer ignored\"]\n");
    let command = format!("run echo/calm --scenarios {}", folder.0.display());
    let (code, said) = seedbed(&command);
    assert_eq!(code, 11, "{said}");
    assert!(said.contains("never reached, though it must be: stale answer ignored"), "{said}");
    assert_eq!(seedbed(&format!("{command} --seeds 0..4")).0, 0, "a part of the range misses nothing");
}

#[test]
fn shards_add_up_to_the_whole() {
    let runs = |shard: &str| {
        let (code, said) = seedbed(&format!("run echo/quiet --seeds 0..11{shard}"));
        assert_eq!(code, 0, "{said}");
        let row = said.lines().nth(1).expect("a row");
        row.split_whitespace().nth(2).expect("runs").parse::<u64>().expect("a number")
    };
    assert_eq!(runs(""), 11);
    assert_eq!((1..=3).map(|index| runs(&format!(" --shard {index}/3"))).sum::<u64>(), 11);
}

#[test]
fn a_budget_that_ends_before_the_seeds_leaves_a_gap() {
    let (code, said) = seedbed("run echo/lossy --seeds 0..1000000 --budget 50ms --jobs 1");
    assert_eq!(code, 16, "{said}");
    assert!(said.contains("incomplete: "), "{said}");
    assert_eq!(seedbed("run echo/quiet --budget 50ms").0, 0, "time alone was asked for");
}

#[test]
fn too_few_steps_leave_a_run_unknown() {
    let folder = Folder::new("limit");
    folder.write(
        "echo/short.toml",
        "protocol = \"echo\"\nstory = \"Too short.\"\nseeds = \"0..3\"\n[settings]\nstep-count-max = 10\n",
    );
    let (code, said) = seedbed(&format!("run echo/short --scenarios {}", folder.0.display()));
    assert_eq!(code, 15, "{said}");
    assert!(said.contains("3 runs reached settings.step-count-max"), "{said}");
}

#[test]
fn a_commit_is_a_seed() {
    let (code, said) = seedbed("run echo/quiet --seed 00ff30d5f1e9c2a4b6d8e0f1a2b3c4d5e6f70819");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("00ff30d5f1e9c2a4b6d8e0f1a2b3c4d5e6f70819     1 "), "{said}");
}

#[test]
fn an_exploration_out_of_states_or_time_is_unknown() {
    let (code, said) = seedbed("check lease-timers --bound name=drift --states 100");
    assert_eq!(code, 15, "{said}");
    assert!(said.contains("verdict:         unknown: "), "{said}");
}

#[test]
fn a_goal_that_a_bound_misses_makes_it_vacuous() {
    let (code, said) = seedbed("check echo --bound name=lossy --depth 2");
    assert_eq!(code, 11, "{said}");
    assert!(said.contains("vacuous:         never reached: "), "{said}");
}

#[test]
fn check_writes_what_it_found() {
    let folder = Folder::new("check");
    let json = folder.path("check.json");
    let (code, said) = seedbed(&format!("check lease-timers --mutant no-margin --json {json} --revision r7"));
    assert_eq!(code, 10, "{said}");
    let record: serde_json::Value = serde_json::from_str(&folder.read("check.json")).expect("it is JSON");
    assert_eq!(record["verdict"], "violated");
    assert_eq!(record["property"], "single-holder");
    assert_eq!(record["revision"], "r7");
    for number in ["unique", "total", "depth", "seconds", "bytes_per_state", "counterexample_length"] {
        assert!(record[number].is_number(), "{number} in {record}");
    }
    assert!(record["exhausted"].is_boolean() && record["abstractions"].is_array());
}

#[test]
fn a_counterexample_is_pinned_and_replays_as_the_same() {
    let folder = Folder::new("pin");
    let pin = folder.path("pin.toml");
    assert_eq!(seedbed(&format!("check lease-timers --mutant from-receipt --trace {pin}")).0, 10);
    let (code, said) = seedbed(&format!("replay {pin}"));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("\nsame: single-holder falls, digest "), "{said}");
}

#[test]
fn a_pin_of_another_protocol_drifts_or_is_gone() {
    let folder = Folder::new("drift");
    let pin = folder.path("pin.toml");
    assert_eq!(seedbed(&format!("check lease-timers --mutant from-receipt --trace {pin}")).0, 10);
    let text = folder.read("pin.toml");

    // With the mechanism back, the same choices no longer lead there.
    folder.write("whole.toml", &text.replace("\"from-receipt\"", ""));
    let (code, said) = seedbed(&format!("replay {}", folder.path("whole.toml")));
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("drifted at step ") || said.contains("gone: "), "{said}");

    // A node that did something else.
    folder.write("words.toml", &text.replacen("\"send ", "\"whisper ", 1));
    let (code, said) = seedbed(&format!("replay {}", folder.path("words.toml")));
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("drifted at step ") && said.contains("whisper "), "{said}");

    // A decision that there no longer is.
    folder.write("step.toml", &text.replacen("decide holder-1: Ask", "decide holder-1: Sulk", 1));
    let (code, said) = seedbed(&format!("replay {}", folder.path("step.toml")));
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("drifted at step ") && said.contains("no variant `Sulk`; known: Ask"), "{said}");

    // A mutant that there no longer is.
    folder.write("gone.toml", &text.replace("from-receipt", "from-beyond"));
    let (code, said) = seedbed(&format!("replay {}", folder.path("gone.toml")));
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("gone: no mutant `from-beyond`"), "{said}");

    // A violation that there no longer is.
    folder.write("fall.toml", &text.replace("violation = \"single-holder\"", "violation = \"obtainable\""));
    let (code, said) = seedbed(&format!("replay {}", folder.path("fall.toml")));
    assert_eq!(code, 18, "{said}");
    assert!(said.contains("gone: every step happens, but obtainable does not fall"), "{said}");
}

#[test]
fn a_simulated_run_is_pinned_by_name() {
    let folder = Folder::new("seeded");
    let pin = folder.path("pin.toml");
    assert_eq!(seedbed(&format!("run lease-timers/drift --mutant from-receipt --seeds 0..50 --trace {pin}")).0, 10);
    assert!(folder.read("pin.toml").contains("[[script.steps]]"));
    let (code, said) = seedbed(&format!("replay {pin}"));
    assert_eq!((code, said.contains("\nsame: single-holder falls")), (0, true), "{said}");
    let (code, drawn) = seedbed(&format!("replay {pin} --format diagram"));
    assert_eq!((code, drawn.contains("\nsame: single-holder falls")), (0, true), "{drawn}");
    let marked: Vec<&str> = drawn.lines().filter(|line| line.contains("> holder-")).collect();
    assert!(
        matches!(*marked, [last] if drawn.contains(&format!("{last}\n\nsame"))),
        "it falls in its last step: {drawn}"
    );

    folder.write("lease-timers/ticks.toml", "protocol = \"lease-timers\"\nstory = \"In ticks.\"\n[settings]\ntick-mode = true\nduration = \"60s\"\nquiet = \"9s\"\n");
    let scenarios = folder.0.join("scenarios");
    std::fs::create_dir_all(&scenarios).unwrap();
    std::fs::rename(folder.0.join("lease-timers"), scenarios.join("lease-timers")).unwrap();
    let (code, said) =
        seedbed(&format!("replay lease-timers/ticks --seed 3 --trace {pin} --scenarios {}", scenarios.display()));
    assert_eq!(code, 0, "{said}");
    assert!(folder.read("pin.toml").contains("[[script.steps]]"));
    let (code, said) = seedbed(&format!("replay {pin}"));
    assert_eq!((code, said.contains("\nsame: no property falls")), (0, true), "{said}");
}

#[test]
fn a_trace_ends_where_it_is_told_to_and_reads_as_json() {
    let (code, said) = seedbed("replay echo/quiet --seed 1 --until 2s --format json");
    assert_eq!(code, 0, "{said}");
    let steps: Vec<serde_json::Value> = serde_json::from_str(&said).expect("it is JSON");
    assert!(!steps.is_empty());
    assert!(steps.iter().all(|step| step["at_ns"].as_u64().is_some_and(|at| at <= 2_000_000_000)));
}

#[test]
fn junit_has_a_case_for_each_hundred_seeds_and_no_half_written_files() {
    let folder = Folder::new("junit");
    let junit = folder.path("junit.xml");
    let (code, said) = seedbed(&format!("run echo/quiet --seeds 0..250 --junit {junit}"));
    assert_eq!(code, 0, "{said}");
    let xml = folder.read("junit.xml");
    for case in ["seeds 0..100", "seeds 100..200", "seeds 200..250", "campaign as expected"] {
        assert!(xml.contains(&format!("testcase name=\"{case}\"")), "{xml}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "no part is left behind");
}

#[test]
fn a_mutant_that_no_engine_detects_survives() {
    let folder = Folder::new("survivor");
    // Without faults nobody can tell a number that is checked from one that is not.
    folder.write("echo/check.toml", "protocol = \"echo\"\n[[bound]]\nname = \"calm\"\nstory = \"No fault.\"\nclaims = [\"no-number-check\"]\nbounds = { capacity = 1, depth = 3 }\n");
    let command = format!("mutants echo --mutant no-number-check --seeds 0..1 --scenarios {}", folder.0.display());
    let (code, said) = seedbed(&command);
    assert!(code == 0 && said.contains("nothing in "), "the simulator detects it alone:\n{said}");
    for name in ["lossy", "quiet"] {
        folder.write(&format!("echo/{name}.toml"), "protocol = \"echo\"\nstory = \"No fault.\"\n");
    }
    let (code, said) = seedbed(&command);
    assert!(code == 17 && said.contains("survived"), "{said}");
}

#[test]
fn a_property_that_a_scenario_does_not_assert_does_not_fail_it() {
    let folder = Folder::new("asserted");
    folder.write("lease-timers/goals.toml", "protocol = \"lease-timers\"\nstory = \"Goals alone.\"\nseeds = \"0..20\"\nmutants = [\"no-margin\"]\nproperties = [\"acquired\"]\n[settings]\nduration = \"60s\"\n");
    let (code, said) = seedbed(&format!("run lease-timers/goals --scenarios {}", folder.0.display()));
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("runs ended at a property that the scenario does not assert"), "{said}");
}

#[test]
fn a_long_scenario_runs_by_its_own_name_alone() {
    let folder = Folder::new("long");
    for (name, class) in [("short", "quick"), ("marathon", "long")] {
        let text = format!("protocol = \"echo\"\nstory = \"Of a class.\"\nseeds = \"0..1\"\nclass = \"{class}\"\n");
        folder.write(&format!("echo/{name}.toml"), &text);
    }
    let (code, all) = seedbed(&format!("run echo --scenarios {}", folder.0.display()));
    assert_eq!(code, 0, "{all}");
    assert!(all.contains("echo/short") && !all.contains("echo/marathon"), "{all}");
    let (code, one) = seedbed(&format!("run echo/marathon --scenarios {}", folder.0.display()));
    assert_eq!(code, 0, "{one}");
    assert!(one.contains("echo/marathon"), "{one}");
}

#[test]
fn a_long_bound_is_checked_by_its_own_name_or_when_it_is_asked_for() {
    let folder = Folder::new("long-bound");
    let bound = |name: &str, class: &str| {
        let keys = "bounds = { capacity = 1, depth = 3 }";
        format!("[[bound]]\nname = \"{name}\"\nstory = \"Of a class.\"\nclass = \"{class}\"\n{keys}\n")
    };
    let text = format!("protocol = \"echo\"\n{}{}", bound("short", "quick"), bound("marathon", "long"));
    folder.write("echo/check.toml", &text);
    let check = |flags: &str| seedbed(&format!("check echo --scenarios {}{flags}", folder.0.display()));
    let explored = |said: &str, name: &str| said.contains(&format!("echo / {name}\n"));
    let (code, said) = check("");
    assert_eq!(code, 0, "{said}");
    assert!(explored(&said, "short") && !explored(&said, "marathon"), "{said}");
    assert!(said.contains("left out, unless by --long: marathon"), "{said}");
    for flags in [" --long", " --bound name=marathon"] {
        let (code, said) = check(flags);
        assert_eq!(code, 0, "{said}");
        assert!(explored(&said, "marathon") && !said.contains("left out"), "{said}");
    }
}

#[test]
fn a_bound_is_chosen_by_its_sizes_too() {
    let (code, said) = seedbed("check lease-timers --bound holders=2 --bound restarts=1");
    assert_eq!(code, 0, "{said}");
    let explored: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("lease-timers / ")).collect();
    assert_eq!(explored, ["crash"], "{said}");
}

#[test]
fn a_plan_is_written_handed_back_and_edited() {
    let folder = Folder::new("plan");
    let file = folder.path("plan.toml");
    let (code, drawn) = seedbed(&format!("replay leasing/owner-crash --seed 3 --write-plan {file}"));
    assert_eq!(code, 0, "{drawn}");
    let (code, again) = seedbed(&format!("replay leasing/owner-crash --seed 3 --plan {file}"));
    assert_eq!((code, &again), (0, &drawn), "the plan handed back gives the same run");
    let text = folder.read("plan.toml");
    assert!(text.starts_with("# What goes wrong in leasing/owner-crash, seed 3."), "{text}");
    let (before, _) = text.split_once("[[faults]]").expect("a seed with faults");
    folder.write(
        "plan.toml",
        &format!("{before}\n[[faults]]\nat = \"30s\"\n[faults.fault.jump]\nnode = \"owner-1\"\nby-ns = -5\n"),
    );
    let (code, edited) = seedbed(&format!("replay leasing/owner-crash --seed 3 --plan {file}"));
    assert_eq!(code, 0, "{edited}");
    assert!(edited.contains("plan: 30s: the clock of owner-1 jumps by -5ns"), "{edited}");
    assert!(!edited.contains("crashes"), "{edited}");
    assert!(edited.contains("not certifiable: clocks jump"), "{edited}");
    let (code, ran) = seedbed(&format!("run leasing/owner-crash --seed 3 --plan {file}"));
    assert_eq!(code, 0, "{ran}");
}
