//! The simulator and the explorer hold each other to account.

use seedbed::{shipped, testing};

const TICKING: &str = r#"
tick-mode = true
duration = "15s"
quiet = "5s"
network = { delay-min = "0s", delay-max = "3s", loss = 0.1, duplicate = 0.1 }
faults = { crashes = 1, pauses = 1, partitions = 1 }
"#;

const LEASING: &str = r#"
lease = "3t"
margin = "4t"
renew = "1t"
poll = "2t"
contact = "3t"
back-off = "1t"
back-off-slots = 1
owner-longest = "4/3"
"#;

/// One thousand in all.
#[test]
fn runs_in_tick_mode_are_paths_of_the_explorer() {
    let registry = shipped();
    let certify = |protocol, params, seeds| testing::certify(&registry, protocol, params, TICKING, 0..seeds);
    let steps = [
        certify("echo", "", 150),
        certify("lease-timers", "", 150),
        certify("lease-stamps", "", 150),
        certify("paxos", "rounds = 3", 150),
        certify("register", "resends = 3", 150),
        certify("seqpair", "", 200),
        certify("leasing", LEASING, 200),
    ];
    assert!(steps.iter().all(|steps| *steps > 1_000), "too little happened to certify anything: {steps:?}");
}
