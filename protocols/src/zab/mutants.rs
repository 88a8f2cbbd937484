//! What each mechanism is there for.
//!
//! What no bound of `check.toml` claims falls in scenarios alone, for one of these reasons:
//!
//! - `outdated-leader-stays`, `connect-once`, `silent-leader-kept`: what falls is a promise in bounded time, by the timers of fast leader
//!   election; in the explorer an oracle elects, and no timer runs.
//! - `hasty-leader`: it takes a leader that is established twice with what nobody else has, and a third election without it. It falls at
//!   (3,1,2,0) with three elections, after 185,366 states; at (3,1,1,0) and (3,2,1,0) it is exhausted and holds.
//! - `commit-of-history`: a follower joins while a proposal is under way, delivers it, and is away while a quorum of the others, which
//!   never logged it, goes on: a broken connection and a crash. At (3,1,1,0) and (3,2,1,0) it is exhausted and holds.
//! - `ack-before-epoch`: likewise, of a follower whose log counts and whose epoch is not on its disk. At (3,1,0,1), and with two servers
//!   and three crashes, it is exhausted and holds.
//! - `zk-4643-epoch-before-log`: a server must lose a history between its epoch and its log, which another had committed before: two crashes
//!   among three servers, and three elections. With two servers and three crashes it is exhausted and holds.
//! - `log-before-snapshot`, `zk-3642-snapshot-in-memory`: a snapshot is taken over, lost, and missed in a later election, with transactions
//!   after it. At (3,1,0,1) with snapshots the latter is exhausted and holds.

use seedbed_model::{Mutant, Outcome};

/// A leader commits what it has logged alone.
pub const COMMIT_BEFORE_QUORUM: &str = "commit-before-quorum";
/// A follower acknowledges a proposal when it comes.
pub const ACK_BEFORE_FSYNC: &str = "ack-before-fsync";
/// A leader counts its own log as it wrote it.
pub const OWN_UNSYNCED: &str = "own-log-unsynced";
/// A follower promises an epoch before it is durable.
pub const PROMISE_BEFORE_FSYNC: &str = "promise-before-fsync";
/// A follower is proposed an epoch below the one that it promised, and accepts it.
pub const OLD_EPOCH: &str = "old-epoch-accepted";
/// A follower is not told to truncate.
pub const NO_TRUNC: &str = "no-trunc";
/// A follower that lacks more than the leader keeps gets what there is.
pub const DIFF_FOR_SNAP: &str = "diff-for-snap";
/// A leader broadcasts without synchronizing its followers.
pub const NO_SYNCHRONIZATION: &str = "no-synchronization";
/// Votes are compared by servers alone.
pub const ELECTION_IGNORES_ZXID: &str = "election-ignores-zxid";
/// A leader that is less recent than a follower leads.
pub const NO_ABDICATION: &str = "no-abdication";
/// A leader is established before a quorum has its history.
pub const HASTY_LEADER: &str = "hasty-leader";
/// Proposals go to followers that have acknowledged NEWLEADER alone.
pub const PROPOSAL_TO_ACKED: &str = "proposal-to-acked-only";
/// Proposals that NEWLEADER's history has are sent after it again.
pub const DUPLICATE_PROPOSAL: &str = "duplicate-proposal";
/// UPTODATE commits all that the follower has.
pub const COMMIT_OF_HISTORY: &str = "commit-of-history";
/// A follower acknowledges proposals before its current epoch is durable.
pub const ACK_BEFORE_EPOCH: &str = "ack-before-epoch";
/// A leader counts its own log before its current epoch is durable.
pub const OWN_BEFORE_EPOCH: &str = "own-log-before-epoch";
/// A learner logs what follows on a snapshot before that is durable.
pub const LOG_BEFORE_SNAPSHOT: &str = "log-before-snapshot";
/// A leader stays although a follower has accepted a later epoch.
pub const EPOCH_KEPT: &str = "outdated-leader-stays";
/// A leader broadcasts before it is established.
pub const HASTY_BROADCAST: &str = "broadcast-before-establishment";
/// A leader numbers what it proposes after what it has delivered.
pub const NUMBER_REUSED: &str = "number-of-delivered";
/// A new leader goes on counting where the one before it ended.
pub const COUNTER_KEPT: &str = "counter-goes-on";
/// A learner enters an epoch before what it truncated is durably gone.
pub const TRUNC_BEFORE_FSYNC: &str = "trunc-before-fsync";
/// A server that restarts takes all that it has logged for delivered.
pub const LOG_DELIVERED: &str = "log-delivered-at-restart";
/// A snapshot has what is logged, delivered or not.
pub const SNAPSHOT_OF_LOG: &str = "snapshot-of-log";
/// Votes of earlier elections stay counted.
pub const VOTES_OF_ANY_ELECTION: &str = "votes-of-any-election";
/// A server finds its leader as soon as a quorum has its vote.
pub const FINALIZE_UNWAITED: &str = "no-finalize-wait";
/// A server joins a leader that others follow and that has not said that it leads.
pub const JOINS_UNLED: &str = "joins-without-leader";
/// A learner opens its connection once, whether its leader leads by then or not.
pub const CONNECT_ONCE: &str = "connect-once";
/// A learner waits for a silent leader for ever.
pub const SILENT_KEPT: &str = "silent-leader-kept";
/// ZOOKEEPER-2845.
pub const ZK_2845: &str = "zk-2845-retained-database";
/// ZOOKEEPER-3642.
pub const ZK_3642: &str = "zk-3642-snapshot-in-memory";
/// ZOOKEEPER-3911.
pub const ZK_3911: &str = "zk-3911-log-after-uptodate";
/// ZOOKEEPER-4643.
pub const ZK_4643: &str = "zk-4643-epoch-before-log";
/// ZOOKEEPER-4646.
pub const ZK_4646: &str = "zk-4646-ack-before-log";

const fn mutant(name: &'static str, removes: &'static str, outcome: Outcome) -> Mutant {
    Mutant { name, removes, outcome }
}

const LOST: Outcome = Outcome::Falls("committed-survives");
const ORDER: Outcome = Outcome::Falls("total-order");

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(COMMIT_BEFORE_QUORUM, "a leader's wait for a quorum of ACKs (ZooKeeper §4.2; Zab, phase 3)", LOST),
    mutant(
        ACK_BEFORE_FSYNC,
        "a follower's write before it acknowledges (ZooKeeper §4: \"force writes to the disk\")",
        LOST,
    ),
    mutant(OWN_UNSYNCED, "a leader's wait for its own disk before it counts itself", LOST),
    mutant(PROMISE_BEFORE_FSYNC, "the write of acceptedEpoch before ACKEPOCH", Outcome::Falls("leadership")),
    mutant(
        OLD_EPOCH,
        "the comparison of a leader's epoch with the one that a follower has accepted, by either (Zab, phase 1)",
        Outcome::Falls("epochs-grow"),
    ),
    mutant(NO_TRUNC, "TRUNC: a follower gives up what the leader does not have", ORDER),
    mutant(DIFF_FOR_SNAP, "SNAP: a follower too far behind takes the leader's state", ORDER),
    mutant(NO_SYNCHRONIZATION, "the history that comes with NEWLEADER (Zab, phase 2)", ORDER),
    mutant(
        ELECTION_IGNORES_ZXID,
        "the comparison of votes by epoch and zxid: safe, as a leader that is not most recent abdicates, but nobody else is elected",
        Outcome::Falls("elects-most-recent"),
    ),
    mutant(
        VOTES_OF_ANY_ELECTION,
        "that a server which hears of a later election forgets the votes of its own (fast leader election)",
        Outcome::Falls("elected-by-quorum"),
    ),
    mutant(
        FINALIZE_UNWAITED,
        "the wait for a better vote, finalizeWait (fast leader election)",
        Outcome::Falls("one-elected"),
    ),
    mutant(
        JOINS_UNLED,
        "that who is joined must say itself that it leads (fast leader election)",
        Outcome::Falls("joins-who-led"),
    ),
    mutant(
        CONNECT_ONCE,
        "that a learner tries again to connect to a leader which has not found yet that it leads",
        Outcome::Falls("takeover"),
    ),
    mutant(
        SILENT_KEPT,
        "the time after which a learner gives up a silent leader (syncLimit)",
        Outcome::Falls("led-again"),
    ),
    mutant(NO_ABDICATION, "the comparison of a leader's history with those of its followers (Zab, phase 1)", LOST),
    mutant(
        HASTY_LEADER,
        "a leader's wait for a quorum with its history (Zab, phase 2)",
        Outcome::Falls("primary-integrity"),
    ),
    mutant(
        PROPOSAL_TO_ACKED,
        "proposals to followers that were sent NEWLEADER and have not answered (a mistake of the published specification)",
        ORDER,
    ),
    mutant(
        DUPLICATE_PROPOSAL,
        "the end of NEWLEADER's history, after which proposals begin (a mistake of the published specification)",
        ORDER,
    ),
    mutant(
        COMMIT_OF_HISTORY,
        "the leader's last committed zxid in UPTODATE (a mistake of the published specification)",
        LOST,
    ),
    mutant(
        ACK_BEFORE_EPOCH,
        "the order of ACKs: NEWLEADER's first, when the current epoch is durable (as ZOOKEEPER-4685)",
        LOST,
    ),
    mutant(OWN_BEFORE_EPOCH, "a leader's wait for its own current epoch to be durable before its log counts", LOST),
    mutant(
        EPOCH_KEPT,
        "the resignation of a leader for a server that has accepted a later epoch, and so can never follow it",
        Outcome::Falls("caught-up"),
    ),
    mutant(LOG_BEFORE_SNAPSHOT, "the wait for SNAP's snapshot to be durable before the log goes on after it", ORDER),
    mutant(
        HASTY_BROADCAST,
        "a leader's wait for its establishment before it broadcasts (Zab, phase 3)",
        Outcome::Falls("integrity"),
    ),
    mutant(
        NUMBER_REUSED,
        "the count of what is proposed and not delivered yet, in the next zxid (Zab §3)",
        Outcome::Falls("zxid-once"),
    ),
    mutant(
        COUNTER_KEPT,
        "the first counter of an epoch, by which a learner sees that nothing is missing before it (Zab §3: counters begin anew)",
        Outcome::Falls("primary-order"),
    ),
    mutant(
        TRUNC_BEFORE_FSYNC,
        "the wait for TRUNC to be durable before currentEpoch: a crash brings back what was given up, under the epoch that gave it up",
        Outcome::Falls("primary-integrity"),
    ),
    mutant(LOG_DELIVERED, "a restarted server's wait for a leader before it delivers what it has logged", LOST),
    mutant(
        SNAPSHOT_OF_LOG,
        "the end of a snapshot, written or sent, at what is delivered (ZooKeeper §4.3)",
        Outcome::Falls("same-tree"),
    ),
    mutant(
        ZK_2845,
        "the truncation of the log where a server that looks for a leader keeps its delivered state: what it logged and gave up \
         comes back when it restarts (ZOOKEEPER-2845)",
        Outcome::Falls("primary-integrity"),
    ),
    mutant(ZK_3642, "the write of SNAP's snapshot before a learner counts it as its own (ZOOKEEPER-3642)", ORDER),
    mutant(ZK_3911, "the write of NEWLEADER's history before its ACK, instead of at UPTODATE (ZOOKEEPER-3911)", LOST),
    mutant(ZK_4643, "the write of NEWLEADER's history before currentEpoch (ZOOKEEPER-4643)", LOST),
    mutant(
        ZK_4646,
        "the wait for the disk between the write of NEWLEADER's history and its ACK (ZOOKEEPER-4646)",
        LOST,
    ),
];
