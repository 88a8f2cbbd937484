//! The protocols that Seedbed ships, with their files.

use seedbed_protocols::basics::echo::Echo;
use seedbed_protocols::basics::lease_stamps::LeaseStamps;
use seedbed_protocols::basics::lease_timers::LeaseTimers;
use seedbed_protocols::basics::paxos::Paxos;
use seedbed_protocols::basics::register::Register;
use seedbed_protocols::fatlease::FaTLease;
use seedbed_protocols::leasing::Leasing;
use seedbed_protocols::paxos::group::ManagerGroup;
use seedbed_protocols::seqpair::SeqPair;
use seedbed_protocols::taskmaster::TaskMaster;
use seedbed_protocols::zab::Zab;
use seedbed_protocols::zookeeper::{ZooKeeper, recorded};

use crate::files;
use crate::registry::{Registry, Unlike};

/// The shipped protocols, called as `cargo seedbed`.
pub fn shipped() -> Registry {
    Registry::new()
        .command("cargo seedbed")
        .recordings(compared)
        .with::<Echo>(files!("../echo", check, ["lossy", "quiet"]))
        .with::<LeaseTimers>(files!("../lease-timers", check, ["clock-beyond-bound", "crash", "drift"]))
        .with::<LeaseStamps>(files!("../lease-stamps", check, ["clock-beyond-bound", "crash", "jumps", "offsets"]))
        .with::<Paxos>(files!("../paxos", check, ["contention", "crash", "disks", "empty-disk"]))
        .with::<Register>(files!("../register", check, ["crash", "disks", "lossy", "stragglers"]))
        .with::<SeqPair>(files!("../seqpair", check, ["crash", "crossing"], pinned["crisscross"]))
        .with::<Leasing>(files!(
            "../leasing",
            check,
            [
                "asymmetric",
                "churn",
                "clock-beyond-bound",
                "datacenter",
                "dying-owner",
                "group-leader-crash",
                "group-minority",
                "group-restarts",
                "hash-table",
                "hash-table-race",
                "hash-table-steady",
                "instant-messaging",
                "joining",
                "late-messages",
                "leader-crash",
                "leader-late",
                "leader-paused",
                "live-mesh",
                "live-mesh-race",
                "lookup-cut-off",
                "manager-crash",
                "ordered-keys",
                "owner-crash",
                "partition",
                "patch-roll-out",
                "paused-leader-moves",
                "paused-leader-resumes",
                "paused-owner",
                "periodic-task",
                "queue",
                "queues-expire",
                "race",
                "rack-reset",
                "replicas",
                "republish",
                "retries",
                "rough-links",
                "rss-processor",
                "sectioned-document",
                "split",
                "spread-load",
                "steady",
                "subscriptions-expire",
                "topics",
                "topics-unchecked",
                "zipf"
            ],
            pinned["crisscross"],
            experiments["load", "nodes", "patch", "rack", "restarts"]
        ))
        .with::<FaTLease>(files!(
            "../fatlease",
            check,
            [
                "began-anew",
                "clock-beyond-bound",
                "contention",
                "crash-rejoin",
                "discard",
                "drift",
                "everything",
                "fixed-crash",
                "give-up",
                "many-cells",
                "partition",
                "paxos-contention",
                "paxos-crash",
                "paxos-empty-disk",
                "paxos-partition",
                "paxos-slow-disk",
                "paxos-steady",
                "race",
                "renewal-jumps",
                "steady"
            ],
            pinned[
                "as-published",
                "as-published-crash",
                "as-published-crash-late",
                "as-published-discard",
                "as-published-instances",
                "as-published-invalidation",
                "as-published-invalidation-late",
                "as-published-notice"
            ],
            experiments["batch", "cells", "disk", "hosts"]
        ))
        .with::<ManagerGroup>(files!(
            "../manager-group",
            check,
            [
                "acceptors-restart",
                "first-election",
                "late-messages",
                "leader-crash",
                "minority-down",
                "overtaking",
                "paused-leader",
                "slow-disks",
                "steady"
            ]
        ))
        .with::<Zab>(files!(
            "../zab",
            check,
            [
                "behind-a-snapshot",
                "contested",
                "election",
                "elections",
                "lan-takeover",
                "late-observers",
                "leader-crash",
                "oracle",
                "oracle-anyone",
                "partitioned-leader",
                "restless",
                "rolling-restarts",
                "slow-disks",
                "slow-snapshots",
                "steady",
                "torn-tails",
                "unsynced-epoch",
                "unsynced-truncation"
            ],
            experiments["broadcast"]
        ))
        .with::<ZooKeeper>(files!(
            "../zookeeper",
            check,
            [
                "fetching-service",
                "group",
                "guarded",
                "heartbeat-lost",
                "katta",
                "locks",
                "lost-packets",
                "message-broker",
                "recipes",
                "restless",
                "server-crash",
                "servers-lost",
                "sessions",
                "sessions-orphaned",
                "syncs",
                "zab-crashes",
                "zab-sessions",
                "zab-syncs"
            ],
            experiments["barriers", "creates", "failures", "leader-alone", "pipelining", "takeover", "throughput"]
        ))
        .with::<TaskMaster>(files!(
            "../taskmaster",
            check,
            [
                "back-off",
                "batches",
                "burst",
                "cap",
                "cluster",
                "collisions",
                "coordination",
                "crashes",
                "fence",
                "fifo",
                "introspection",
                "long-work",
                "million",
                "partial",
                "pipeline",
                "reshard",
                "storm",
                "strict",
                "turns"
            ],
            experiments["batch", "cache", "cluster", "consistency", "isolation", "throughput"]
        ))
}

/// Recordings are of Apache ZooKeeper.
fn compared(file: &str, text: &str) -> Result<String, Unlike> {
    match recorded::compare(file, text) {
        Ok(recorded::Agreement { operations, watches, nodes }) => {
            Ok(format!("{operations} operations, {watches} watches that fired, {nodes} nodes at the end"))
        }
        Err(why @ recorded::Error::Malformed { .. }) => Err(Unlike::Malformed(why.to_string())),
        Err(why @ recorded::Error::Differs { .. }) => Err(Unlike::Differs(why.to_string())),
    }
}
