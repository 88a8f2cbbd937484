//! ZooKeeper at bounds that `check` has no time for.

use seedbed_model::explore::{Bounds, Clock, Strategy, Verdict, explore};
use seedbed_model::{Family, Mutants};
use seedbed_protocols::zookeeper::{Params, Workload, ZooKeeper};

/// Explores it whole, and demands the goals.
fn exhaust(params: &Params, crashes: u32, goals: &[&str]) {
    let zookeeper = ZooKeeper::build(params, Mutants::none()).expect("the parameters make sense");
    let bounds = Bounds { clock: Clock::Untimed, keep_ignored: true, crashes, ..Bounds::default() };
    let found = explore(&zookeeper, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit");
    assert_eq!(found.verdict, Verdict::Holds, "{:#?}", found.script);
    assert!(found.stats.exhausted && !found.stats.cut, "{:?}", found.stats);
    let missed: Vec<&&str> = goals.iter().filter(|goal| !found.reached.contains(goal)).collect();
    assert!(missed.is_empty(), "{missed:?} of {:?}", found.reached);
}

/// One reads after a sync and watches, the other writes; a server or a client crashes at any moment.
#[test]
#[ignore = "more states than CI has time for: .ci/run --full, in its step sweeps"]
fn two_clients_and_a_crash() {
    let params = Params { workload: Workload::Watch, servers: 2, clients: 2, operations: 1, ..Params::default() };
    exhaust(&params, 1, &["crashed", "re-elected", "held-back", "session-kept", "notified"]);
}
