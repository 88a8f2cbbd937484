//! What scenarios and bounds do not show by themselves.

use seedbed_model::{Family, Mutants, OpId};

use super::log::Log;
use super::message::{Mode, Tree, Txn, Zxid};
use super::params::Disk;
use super::*;

fn txn(epoch: u32, counter: u32) -> Txn {
    Txn { zxid: Zxid { epoch, counter }, value: Value::Issued(1) }
}

fn zab(params: Params) -> Zab {
    Zab::build(&params, Mutants::none()).expect("the parameters make sense")
}

/// A leader's history: a snapshot up to <1,2>, then <1,3>, <2,1>, <2,2>.
fn history() -> Log {
    let snapshot = Tree::default().with(&[txn(1, 1), txn(1, 2)]);
    Log::recover(&Durable { accepted: 3, current: 3, snapshot, log: vec![txn(1, 3), txn(2, 1), txn(2, 2)] })
}

#[test]
fn zxids_are_neighbours_within_an_epoch_and_across_epochs() {
    let precedes = |one: (u32, u32), other: (u32, u32)| txn(one.0, one.1).zxid.precedes(txn(other.0, other.1).zxid);
    assert!(precedes((1, 1), (1, 2)) && precedes((1, 7), (3, 1)) && Zxid::ZERO.precedes(txn(1, 1).zxid));
    assert!(
        !precedes((1, 1), (1, 3))
            && !precedes((1, 1), (2, 2))
            && !precedes((2, 1), (1, 1))
            && !precedes((1, 1), (1, 1))
    );
    assert_eq!(txn(1, 4).zxid.next_in(1), txn(1, 5).zxid);
    assert_eq!(txn(1, 4).zxid.next_in(2), txn(2, 1).zxid);
}

#[test]
fn trees_are_equal_where_histories_are() {
    let one = Tree::default().with(&[txn(1, 1), txn(1, 2)]);
    assert_eq!(one, Tree::default().with(&[txn(1, 1)]).with(&[txn(1, 2)]));
    let asked = Txn { value: Value::Asked(NodeId(0), OpId(0)), ..txn(1, 1) };
    let others = [
        Tree::default().with(&[txn(1, 2), txn(1, 1)]),
        Tree::default().with(&[asked, txn(1, 2)]),
        Tree::default().with(&[txn(2, 1), txn(1, 2)]),
    ];
    assert!(others.iter().all(|other| other.digest != one.digest), "{others:?}");
}

#[test]
fn a_learner_gets_a_diff_a_trunc_or_a_snapshot_as_its_history_ends() {
    let (zab, log) = (zab(Params::default()), history());
    let all = log.after(Zxid::ZERO);
    let meet = |epoch, counter| log.meet(Zxid { epoch, counter }, &zab);
    assert_eq!(meet(2, 2), (Mode::Diff, vec![]), "it has all");
    assert_eq!(meet(1, 3), (Mode::Diff, vec![txn(2, 1), txn(2, 2)]), "it has a part");
    assert_eq!(meet(1, 2), (Mode::Diff, all.clone()), "it ends where the leader's begins");
    assert_eq!(meet(2, 9), (Mode::Trunc(txn(2, 2).zxid), vec![]), "it has more");
    assert_eq!(meet(1, 8), (Mode::Trunc(txn(1, 3).zxid), vec![txn(2, 1), txn(2, 2)]), "it has others");
    assert_eq!(meet(1, 1), (Mode::Snap(log.base), all), "it has less than the leader keeps");
}

#[test]
fn a_restart_replays_the_log_after_the_snapshot() {
    let log = history();
    assert_eq!((log.last(), log.delivered()), (txn(2, 2).zxid, 0));
    assert_eq!(log.tree.count, 2, "what was delivered before the crash is delivered when a leader says so");
    let mut disk = Durable::default();
    for record in [Record::Append(txn(1, 1)), Record::Append(txn(1, 2)), Record::Append(txn(1, 3))] {
        disk.fold(&record);
    }
    disk.fold(&Record::Snapshot(Tree::default().with(&[txn(1, 1), txn(1, 2)])));
    assert_eq!(disk.log, [txn(1, 3)], "the log is cut off by the snapshot");
    disk.fold(&Record::Truncate(txn(1, 2).zxid));
    assert_eq!(disk.log, []);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let refusal = |params: Params| Zab::build(&params, Mutants::none()).map(drop).unwrap_err();
    let whole = Params::default;
    assert_eq!(refusal(Params { servers: 1, ..whole() }), "servers 1 and observers 0: 2 to 13 and 0 to 9 are possible");
    assert_eq!(
        refusal(Params { sync_limit: Span::millis(500), ..whole() }),
        "sync-limit 500ms must be above ping 500ms, and init-limit 5s above finalize-wait 200ms"
    );
    assert!(refusal(Params { timeouts: 1, ..whole() }).starts_with("timeouts"));
    assert!(refusal(Params { elects_anyone: true, ..whole() }).starts_with("elects-anyone"));
    assert!(refusal(Params { again: 1, ..whole() }).starts_with("again"));
    assert!(refusal(Params { election: Election::Oracle, operations: 1, ..whole() }).starts_with("operations"));
    assert!(refusal(Params { election: Election::Oracle, progress: Span::secs(1), ..whole() }).starts_with("progress"));
}

#[test]
fn restarts_and_what_happens_at_once_are_refused_where_they_mean_nothing() {
    let build = |params: Params| Zab::build(&params, Mutants::none()).map(drop);
    let fast = "restarts and at-once: with election \"fast\" there is no oracle; leave them out".to_owned();
    for params in [
        Params { restarts: 1, disk: Disk::None, ..Params::default() },
        Params { at_once: true, ..Params::default() },
        Params { restarts: 1, at_once: true, disk: Disk::None, ..Params::default() },
    ] {
        assert_eq!(build(params), Err(fast.clone()));
    }
    let whole =
        Params { election: Election::Oracle, disk: Disk::None, transactions: 2, restarts: 1, ..Params::default() };
    let forgets =
        "restarts: what was written is all there; say disk \"none\", snapshot-every 0 and a window of all transactions"
            .to_owned();
    for params in [
        Params { disk: Disk::Streams, ..whole.clone() },
        Params { snapshot_every: 1, ..whole.clone() },
        Params { window: 1, ..whole.clone() },
    ] {
        assert_eq!(build(params), Err(forgets.clone()));
    }
    for params in [
        whole.clone(),
        Params { at_once: true, ..whole.clone() },
        Params { window: 2, ..whole.clone() },
        Params { at_once: true, restarts: 0, disk: Disk::Streams, window: 0, snapshot_every: 1, ..whole },
    ] {
        assert_eq!(build(params), Ok(()));
    }
}
