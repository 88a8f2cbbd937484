//! What each mechanism is there for, and what must come of it without it.
//!
//! What no bound of `check.toml` claims, and why:
//!
//! - `sessions-unended`, `sessions-uncounted`: what falls is a promise counted from the healing of all faults, which explorations do not
//!   have. That the session of a client that crashed ends in time is explored by itself (`orphan`).
//! - `silent-server-kept`: a client needs a server to go to, and the broadcast more than half of them: three, and a crash, in time. It falls
//!   in the scenario `servers-lost`.
//! - `connects-once`: what falls is counted from the healing of all faults, too. It falls in the scenario `lost-packets`.
//! - `sync-overtaken`: it takes a sync and a write behind it without waiting, which clients draw. It falls in the scenario `syncs`.
//! - `lock-herds`: a herd are two that wait for a third.
//! - `zk-3249-reverted-counts`: harmless, see there.

use seedbed_model::{Mutant, Outcome};

/// A transaction says "one more" instead of which version.
pub const RELATIVE_SET: &str = "relative-set";
/// The processor looks at the tree as it is.
pub const PRESENT_STATE: &str = "present-state";
/// Sequence numbers are how many children there are.
pub const SEQUENCE_FROM_CHILDREN: &str = "sequence-from-children";
/// A session ends, and its ephemeral nodes stay.
pub const EPHEMERALS_STAY: &str = "ephemerals-stay";
/// The end of a session deletes all ephemeral nodes, whoever's they are.
pub const EPHEMERALS_OF_ALL: &str = "ephemerals-of-all";
/// A server answers reads before the client's earlier writes.
pub const READS_OVERTAKE: &str = "reads-overtake";
/// A server answers a setData or delete as soon as it has passed it on.
pub const REPLIES_AT_ONCE: &str = "replies-at-once";
/// A server answers before it notifies.
pub const WATCH_AFTER_STATE: &str = "watch-after-state";
/// A client that moves leaves its watches behind.
pub const WATCHES_STAY: &str = "watches-stay";
/// A server takes clients that have seen more than it has.
pub const STALE_SERVER: &str = "stale-server";
/// A server answers a sync by itself.
pub const SYNC_WITHOUT_FLUSH: &str = "sync-without-flush";
/// A server that applies a transaction answers it before the syncs of its client that came before it.
pub const SYNC_OVERTAKEN: &str = "sync-overtaken";
/// A client takes what a greeting or an event says its server has applied for what it has been told of.
pub const SEEN_BEFORE_EVENTS: &str = "seen-before-events";
/// The leader takes writes of a session from wherever they come.
pub const MOVED_UNCHECKED: &str = "moved-unchecked";
/// A server serves a session that it knows to be over, as the leader said before that it is open.
pub const LATE_VALIDATION: &str = "late-validation";
/// A server passes on writes without who asks.
pub const IDENTITIES_UNFORWARDED: &str = "identities-unforwarded";
/// A client that moves does not prove again who it is.
pub const IDENTITIES_LEFT: &str = "identities-left-behind";
/// Anybody may do anything.
pub const ACL_UNCHECKED: &str = "acl-unchecked";
/// A server reads requests of any length.
pub const LONG_TAKEN: &str = "long-requests-taken";
/// A server takes requests, however many it has in process.
pub const UNTHROTTLED: &str = "unthrottled";
/// A place in a queue does not bear the session's name.
pub const PLACES_UNNAMED: &str = "places-unnamed";
/// A leader ends no session of which it heard nothing.
pub const SESSIONS_UNENDED: &str = "sessions-unended";
/// A new leader does not count how long it hears nothing of the sessions that there are.
pub const SESSIONS_UNCOUNTED: &str = "sessions-uncounted";
/// A server takes who is connected to it for heard of.
pub const CONNECTED_IS_HEARD: &str = "connected-is-heard";
/// A client that has nothing to ask sends nothing.
pub const HEARTBEATS_UNSENT: &str = "heartbeats-unsent";
/// A client that is idle while it connects sends nothing once it is connected.
pub const IDLE_FORGOTTEN: &str = "idle-forgotten";
/// A client waits for a silent server for ever.
pub const SILENT_SERVER_KEPT: &str = "silent-server-kept";
/// A client waits for ever for a server that does not answer its connection request.
pub const CONNECTS_ONCE: &str = "connects-once";
/// A client that loses its connection tells its application nothing of what it watches.
pub const LOSS_UNTOLD: &str = "loss-untold";
/// A client holds the lock as soon as it has a place in the queue.
pub const LOCK_UNLOOKED: &str = "lock-unlooked";
/// A client holds the lock as soon as the one before it has gone.
pub const LOCK_UNCHECKED: &str = "lock-unchecked";
/// The queue is in the order of whole names, which begin with the session's.
pub const LOCK_SORTS_NAMES: &str = "lock-sorts-names";
/// A client that finds a lock file after its connection broke takes it for its own.
pub const FILE_OF_ANYONE: &str = "file-of-anyone";
/// Whoever waits for the lock waits for the first of the queue.
pub const LOCK_HERDS: &str = "lock-herds";
/// A client that reads does not look for those who write before it.
pub const READS_PAST_WRITERS: &str = "reads-past-writers";
/// A client that writes looks only for those who write before it.
pub const WRITES_PAST_READERS: &str = "writes-past-readers";
/// A client that reads waits for those who read before it, too.
pub const READERS_QUEUE: &str = "readers-queue";
/// A client says that it leads as soon as it has a place in the queue.
pub const PUBLISHES_UNLOOKED: &str = "publishes-unlooked";
/// Who has registered enters the barrier.
pub const BARRIER_UNCOUNTED: &str = "barrier-uncounted";
/// Who has unregistered leaves the barrier.
pub const BARRIER_LEFT_ALONE: &str = "barrier-left-alone";
/// A configuration is ready while it is written.
pub const CONFIGURATION_STAYS_READY: &str = "configuration-stays-ready";
/// Who reads a configuration does not look whether it stays ready.
pub const READY_UNWATCHED: &str = "ready-unwatched";
/// Members of a group are no ephemeral nodes.
pub const MEMBERS_STAY: &str = "members-stay";
/// Members of a group are listed without a sync.
pub const MEMBERS_UNSYNCED: &str = "members-unsynced";
/// A worker takes what it finds at the rendezvous first.
pub const RENDEZVOUS_UNFILLED: &str = "rendezvous-unfilled";
/// Who proposes decides what it proposes.
pub const DECIDES_OWN: &str = "decides-own";
/// A master commands as soon as it has a place in the queue.
pub const COMMANDS_UNLED: &str = "commands-unled";
/// A master that hears of a change among its slaves assigns to those that it saw before.
pub const ASSIGNS_FROM_MEMORY: &str = "assigns-from-memory";
/// A master does not watch its slaves.
pub const SLAVES_UNWATCHED: &str = "slaves-unwatched";
/// A create is prepared in a session whose end is outstanding.
pub const ZK_1208_CREATE_AFTER_CLOSE: &str = "zk-1208-create-after-close";
/// A refused multi takes with it what was outstanding of its nodes.
pub const ZK_1624_LOST_ROLLBACK: &str = "zk-1624-lost-rollback";
/// A replayed delete of what is gone says nothing to its parent.
pub const ZK_3125_STALE_PZXID: &str = "zk-3125-stale-pzxid";
/// The end of a session deletes what the replica knows of, not what the leader did.
pub const ZK_3145_SESSION_WITHOUT_PATHS: &str = "zk-3145-session-without-paths";
/// A replayed create sets its parent's counts back.
pub const ZK_3249_REVERTED_COUNTS: &str = "zk-3249-reverted-counts";

/// See the module.
pub const MUTANTS: &[Mutant] = &[
    Mutant::falls(
        RELATIVE_SET,
        "absolute versions in transactions, which may come twice (§4.1, §4.3)",
        "replicas-agree",
    ),
    Mutant::falls(PRESENT_STATE, "the processor's view of outstanding transactions (§4.1)", "one-by-one"),
    Mutant::falls(
        SEQUENCE_FROM_CHILDREN,
        "the parent's count of creations behind sequential names (§2.1)",
        "numbers-once",
    ),
    Mutant::falls(
        EPHEMERALS_STAY,
        "the deletion of ephemeral nodes with their session (§2.1)",
        "ephemerals-with-session",
    ),
    Mutant::falls(
        EPHEMERALS_OF_ALL,
        "that a session's end deletes the ephemeral nodes of its own alone (§2.1)",
        "ephemerals-kept",
    ),
    Mutant::falls(READS_OVERTAKE, "a read's wait for the client's earlier writes (§2.3)", "fifo-client-order"),
    Mutant::falls(
        REPLIES_AT_ONCE,
        "the wait of a write's answer until the server delivers the transaction (§4.2)",
        "linearizable-writes",
    ),
    Mutant::falls(
        WATCH_AFTER_STATE,
        "the order of a notification and the answers after it (§4.4)",
        "watch-before-state",
    ),
    Mutant::falls(WATCHES_STAY, "that a client that moves sets its watches again (§4.4)", "watch-before-state"),
    Mutant::falls(
        SEEN_BEFORE_EVENTS,
        "that a client counts as seen what answers say alone: events of the same state may still be behind (§4.4)",
        "watch-before-state",
    ),
    Mutant::falls(STALE_SERVER, "a server's comparison of its zxid with what the client has seen (§4.4)", "never-back"),
    Mutant::falls(SYNC_WITHOUT_FLUSH, "a sync's way through the leader (§4.4)", "sync-sees-all"),
    Mutant::falls(
        SYNC_OVERTAKEN,
        "that a sync which is no transaction is over with the next one of its client, of which a server may hear first (§4.4)",
        "fifo-client-order",
    ),
    Mutant::falls(
        LATE_VALIDATION,
        "a server's look at whether a session that was open for the leader is over by now (§2.1)",
        "served-while-open",
    ),
    Mutant::falls(IDENTITIES_UNFORWARDED, "who asks, in what a server passes on to the leader", "acl-obeyed"),
    Mutant::falls(IDENTITIES_LEFT, "that a client which moves proves again who it is", "acl-obeyed"),
    Mutant::falls(ACL_UNCHECKED, "the look at a node's access-control list", "acl-obeyed"),
    Mutant::falls(
        LONG_TAKEN,
        "the limit of a request's length (§4: \"a maximum of 1MB of data by default\")",
        "data-bounded",
    ),
    Mutant::falls(UNTHROTTLED, "the throttling of requests (§5.1)", "throttled"),
    Mutant::falls(
        PLACES_UNNAMED,
        "the session's name in a place of the queue, by which a client finds its own again (§2.4)",
        "mutual-exclusion",
    ),
    Mutant::falls(
        SESSIONS_UNENDED,
        "the end of a session that is not heard of for its timeout (§4.4)",
        "expiry-in-time",
    ),
    Mutant::falls(
        SESSIONS_UNCOUNTED,
        "that a new leader counts the timeouts of all sessions anew (§4.4)",
        "expiry-in-time",
    ),
    Mutant::falls(
        CONNECTED_IS_HEARD,
        "that a session lives by what its client sends: a connection may stay open to nobody (§4.4)",
        "orphan-in-time",
    ),
    Mutant::falls(
        HEARTBEATS_UNSENT,
        "a client's heartbeat after a third of its session's timeout without a request (§4.4)",
        "connections-kept",
    ),
    Mutant::falls(
        IDLE_FORGOTTEN,
        "the heartbeat that falls due while a client connects, as soon as it is connected (§4.4)",
        "connections-kept",
    ),
    Mutant::falls(
        SILENT_SERVER_KEPT,
        "that a client leaves a server of which it hears nothing for two thirds of its session's timeout (§4.4)",
        "sessions-kept",
    ),
    Mutant::falls(
        CONNECTS_ONCE,
        "that a client which gets no answer to its connection request asks another server (§4.4)",
        "served-again",
    ),
    Mutant::falls(
        LOSS_UNTOLD,
        "that watch callbacks hear of the loss of a connection, \"so that clients know that watch events may be delayed\" (§2.1)",
        "watchers-told",
    ),
    Mutant::falls(LOCK_UNLOOKED, "steps 2 and 3 of the lock, the look at who is before (§2.4)", "lock-in-order"),
    Mutant::falls(
        LOCK_UNCHECKED,
        "step 6 of the lock: who was just before may have abandoned its request, and others wait before it (§2.4)",
        "lock-in-order",
    ),
    Mutant::falls(LOCK_SORTS_NAMES, "that the queue is in the order of sequence numbers (§2.4)", "lock-in-order"),
    Mutant::falls(FILE_OF_ANYONE, "the look at whose a lock file is that was there already (§2.4)", "mutual-exclusion"),
    Mutant::falls(LOCK_HERDS, "step 4 of the lock, by which each waits for the one just before it (§2.4)", "no-herd"),
    Mutant::falls(
        READS_PAST_WRITERS,
        "steps 3 and 4 of the read lock: a writer before it counts (§2.4)",
        "lock-in-order",
    ),
    Mutant::falls(
        WRITES_PAST_READERS,
        "steps 3 and 4 of the write lock: a reader before it counts (§2.4)",
        "lock-in-order",
    ),
    Mutant {
        name: READERS_QUEUE,
        removes: "steps 3 and 4 of the read lock: a reader before it does not count (§2.4)",
        outcome: Outcome::Unreachable("shared"),
    },
    Mutant::falls(
        PUBLISHES_UNLOOKED,
        "the look at who is before, of a client that is to lead (§2.4)",
        "leader-is-first",
    ),
    Mutant::falls(BARRIER_UNCOUNTED, "the wait for the ready child of a barrier (§2.4)", "barrier-is-full"),
    Mutant::falls(
        BARRIER_LEFT_ALONE,
        "the wait until all have removed their children of a barrier (§2.4)",
        "barrier-outlasts",
    ),
    Mutant::falls(CONFIGURATION_STAYS_READY, "the deletion of ready before a change (§2.3)", "configuration-is-whole"),
    Mutant::falls(
        READY_UNWATCHED,
        "the watch on ready while the configuration is read (§2.3)",
        "configuration-is-whole",
    ),
    Mutant::falls(MEMBERS_STAY, "the EPHEMERAL flag of members (§2.4)", "members-live"),
    Mutant::falls(MEMBERS_UNSYNCED, "the sync before a list that is to be of now (§2.3)", "members-all-seen"),
    Mutant::falls(RENDEZVOUS_UNFILLED, "the wait for the update of a rendezvous (§2.4)", "rendezvous-is-filled"),
    Mutant::falls(COMMANDS_UNLED, "a master's wait for the lead before it commands (§3)", "commanded-by-leader"),
    Mutant::falls(
        ASSIGNS_FROM_MEMORY,
        "a master's look at who is there, before it redistributes (§3: \"as slaves come and go\")",
        "assigned-to-members",
    ),
    Mutant {
        name: SLAVES_UNWATCHED,
        removes: "a master's watch on its slaves (§3: \"Slaves can fail, so the master must redistribute load\")",
        outcome: Outcome::Unreachable("slaves-changed"),
    },
    Mutant::falls(DECIDES_OWN, "the look at what was created before (§2)", "consensus"),
    Mutant::falls(
        ZK_1208_CREATE_AFTER_CLOSE,
        "that a session which is closing is closed to what comes behind (ZOOKEEPER-1208)",
        "one-by-one",
    ),
    Mutant::falls(
        ZK_1624_LOST_ROLLBACK,
        "the restoring of what was outstanding before a refused multi (ZOOKEEPER-1624)",
        "one-by-one",
    ),
    Mutant::falls(
        ZK_3125_STALE_PZXID,
        "the parent's pzxid in a deletion that comes again and finds no node (ZOOKEEPER-3125)",
        "replicas-agree",
    ),
    Mutant::falls(
        ZK_3145_SESSION_WITHOUT_PATHS,
        "the list of what a session's end deletes, in its transaction (ZOOKEEPER-3145)",
        "replicas-agree",
    ),
    Mutant {
        name: ZK_3249_REVERTED_COUNTS,
        removes: "the comparison of a parent's counts with those of a create that comes again (ZOOKEEPER-3249)",
        outcome: Outcome::Harmless(
            "what it sets back, a later transaction sets right, where deletions that come again reach the parent",
        ),
    },
    Mutant::falls(
        MOVED_UNCHECKED,
        "the leader's comparison of a write's connection with the session's latest",
        "fifo-client-order",
    ),
];
