//! What each mechanism is there for, and what must come of it without it.

use seedbed_model::{Mutant, Outcome};

/// An operation is answered once it is in the log, whatever is missing before it.
pub const REPLIES_UNORDERED: &str = "replies-unordered";
/// Counters count an atom as it is written to the log, in any order.
pub const COUNTS_UNORDERED: &str = "counts-unordered";
/// Counters count every replay.
pub const COUNTS_REPLAYS: &str = "counts-replays";
/// The minimum ticket goes past atoms whose rows are not durable.
pub const MINIMUM_PAST_PENDING: &str = "minimum-past-pending";
/// A recovery replays what lies behind a gap of the log.
pub const GAP_AS_NONE: &str = "gap-as-none";
/// A recovery goes on with the ticket of the gap, in the same log.
pub const TICKETS_AGAIN: &str = "tickets-again";
/// A recovery does not take the log over before it reads it.
pub const LOG_UNFENCED: &str = "log-unfenced";
/// The log is trimmed up to a minimum ticket that is on its way.
pub const TRIMS_AHEAD: &str = "trims-ahead";
/// The store shows the write that comes last.
pub const WRITES_AS_THEY_COME: &str = "writes-as-they-come";
/// A lease is answered before it is in the log.
pub const LEASE_UNPERSISTED: &str = "lease-unpersisted";
/// Locks are taken in the order in which the request names tasks.
pub const LOCKS_AS_NAMED: &str = "locks-as-named";
/// Tasks have no locks.
pub const IDS_UNLOCKED: &str = "ids-unlocked";
/// Locks are free before the rows are durable.
pub const LOCKS_UNTIL_COMMIT: &str = "locks-until-commit";
/// What is evicted does not lower the first missing PID.
pub const FIRST_MISSING_STAYS: &str = "first-missing-stays";
/// A refill does not keep others off the queue.
pub const REFILLS_TOGETHER: &str = "refills-together";
/// Rows are named by queue and PID alone.
pub const GENERATION_UNNAMED: &str = "generation-unnamed";
/// The cache keeps the tasks of a deleted queue.
pub const CACHE_OUTLIVES_QUEUE: &str = "cache-outlives-queue";
/// The data store is asked once.
pub const ASKS_ONCE: &str = "asks-once";
/// Leases are given of leased tasks.
pub const LEASES_THE_LEASED: &str = "leases-the-leased";
/// A lease that has run out is renewed.
pub const RENEWS_EXPIRED: &str = "renews-expired";
/// A task is dequeued by whoever asks.
pub const DEQUEUES_OF_OTHERS: &str = "dequeues-of-others";
/// FIFO ids begin anew after a restart.
pub const FIFO_FORGETS: &str = "fifo-forgets";
/// An enqueue that meets a leased task changes nothing.
pub const COLLAPSES_INTO_LEASED: &str = "collapses-into-leased";
/// Leases in progress do not count as leased.
pub const CAP_COUNTS_DURABLE: &str = "cap-counts-durable";
/// Operations have threads in the order of their arrival.
pub const FIRST_COME: &str = "first-come";
/// Lists name queues of any name and size.
pub const LISTS_ALL: &str = "lists-all";
/// A lease returns tasks behind the PID that it is to end at.
pub const FILTER_IGNORED: &str = "filter-ignored";
/// A lease of several queues takes as many tasks of each.
pub const COUNTS_EACH_QUEUE: &str = "counts-each-queue";
/// A renewal begins the lease that is measured.
pub const DURATION_FROM_RENEWAL: &str = "duration-from-renewal";
/// A worker dequeues in one update and enqueues in another.
pub const MOVES_IN_TWO: &str = "moves-in-two";
/// A coordinator does not wait for the drain.
pub const DRAIN_UNSEEN: &str = "drain-unseen";
/// What failed is tried again at once.
pub const BACKS_OFF_NOT: &str = "backs-off-not";
/// What failed is tried for ever.
pub const NEVER_DENIES: &str = "never-denies";
/// An operation may be about several consistency groups.
pub const CROSSES_GROUPS: &str = "crosses-groups";
/// Proxies send calls to any node.
pub const ROUTES_ANYWHERE: &str = "routes-anywhere";
/// A proxy sends an update once more, though it may have been carried out.
pub const PASSES_TWICE: &str = "passes-twice";
/// A node that is asked for a list asks no other.
pub const ASKS_NOBODY: &str = "asks-nobody";
/// A list does not say whose queues are missing in it.
pub const MISSING_UNNAMED: &str = "missing-unnamed";
/// What is to be enqueued anywhere is enqueued at one node.
pub const ENQUEUES_AT_ONE: &str = "enqueues-at-one";
/// The jobs of a sharding begin before those of the one before have stopped.
pub const STOPS_UNHEARD: &str = "stops-unheard";
/// A job that was told to stop goes on serving.
pub const SERVES_ON: &str = "serves-on";
/// The jobs of a sharding leave the logs of those before unread.
pub const INHERITS_NOTHING: &str = "inherits-nothing";

/// Leases last as long as is usual, whatever the request says.
pub const LENGTH_IGNORED: &str = "length-ignored";
/// A worker that is told that its lease is lost goes on.
pub const TOILS_ON: &str = "toils-on";
/// A batch is answered in the order in which its operations end.
pub const ANSWERS_AS_THEY_END: &str = "answers-as-they-end";
/// The first operation of a batch that is refused refuses those that have not ended.
pub const REFUSAL_ENDS_BATCH: &str = "refusal-ends-batch";
/// What went through a queue is kept over its deletion.
pub const FLOWS_OUTLIVE_QUEUE: &str = "flows-outlive-queue";

/// A lease takes the last of the tasks that it finds.
pub const LEASES_LAST_FIRST: &str = "leases-last-first";
/// Leases of a queue expire as often as somebody asks.
pub const EXPIRES_AT_WILL: &str = "expires-at-will";
/// A reader takes a lock that readers have, before a writer who waits for it.
pub const READERS_FIRST: &str = "readers-first";
/// What is leased is not evicted from the cache.
pub const PINS_LEASED: &str = "pins-leased";
/// A refill fetches what is asked for, however much was leased before.
pub const PREFETCHES_ALIKE: &str = "prefetches-alike";

/// All of them. The explorer tries all but six:
/// - `enqueues-at-one`: a client that asks elsewhere has waited for some time, which its untimed bounds do not measure;
/// - `asks-once`: the worlds that it explores lose no message, so that what is asked once is answered;
/// - `duration-from-renewal`: it saturates instants that are past, and measures no durations;
/// - `toils-on`: how long calls take is not bounded in its worlds, so that no bound follows for when a worker learns;
/// - `backs-off-not`, `never-denies`: times as numbers in PIDs do not move on with its clock.
pub const MUTANTS: &[Mutant] = &[
    Mutant::falls(
        REPLIES_UNORDERED,
        "the wait for all earlier tickets before a reply (§5.3; TA1)",
        "acknowledged-kept",
    ),
    Mutant::falls(COUNTS_UNORDERED, "the counting of deltas in the order of tickets (§5.3; TA7)", "counters-exact"),
    Mutant::falls(COUNTS_REPLAYS, "the tickets of deltas, by which replays are told (§5.3)", "counters-exact"),
    Mutant::falls(
        MINIMUM_PAST_PENDING,
        "the wait for rows before the minimum ticket passes them (§5.3; TA2)",
        "acknowledged-kept",
    ),
    Mutant::falls(GAP_AS_NONE, "the end of the committed part at the first gap (§5.3)", "prefix-recovered"),
    Mutant::falls(
        TICKETS_AGAIN,
        "a log of its own for each incarnation: what lies behind a gap is left for good (TA3)",
        "nothing-comes-back",
    ),
    Mutant::falls(
        LOG_UNFENCED,
        "the taking over of the minimum ticket before the log is read (TA4)",
        "prefix-recovered",
    ),
    Mutant::falls(
        TRIMS_AHEAD,
        "the trimming of the log up to minimum tickets alone that are durable",
        "acknowledged-kept",
    ),
    Mutant::falls(
        WRITES_AS_THEY_COME,
        "the tickets as timestamps of cells, against late writes of a dead incarnation (TA4)",
        "acknowledged-kept",
    ),
    Mutant::falls(LEASE_UNPERSISTED, "the wait for the log before a lease is answered (§5.2)", "acknowledged-kept"),
    Mutant::falls(ASKS_ONCE, "the asking again of what the data store has not answered", "operations-end"),
    Mutant::falls(LOCKS_AS_NAMED, "the lock hierarchy (§5.5)", "every-operation-ends"),
    Mutant::falls(IDS_UNLOCKED, "the write locks on PIDs (§5.5)", "one-by-one"),
    Mutant::falls(LOCKS_UNTIL_COMMIT, "holding locks until rows are durable (§5.5)", "one-by-one"),
    Mutant::falls(
        FIRST_MISSING_STAYS,
        "the lowering of the first missing PID on an eviction (§5.4)",
        "cache-hides-nothing",
    ),
    Mutant::falls(
        REFILLS_TOGETHER,
        "the write lock on the queue of a refill, which makes it the only one (§5.4.2, §5.5)",
        "cache-hides-nothing",
    ),
    Mutant {
        name: READERS_FIRST,
        removes: "the place of a reader behind a writer who waits, which would starve else (§5.5)",
        outcome: Outcome::Unreachable("reader behind a writer"),
    },
    Mutant {
        name: PINS_LEASED,
        removes: "the eviction of leased tasks like others (§5.4.3)",
        outcome: Outcome::Unreachable("evicted though leased"),
    },
    Mutant {
        name: PREFETCHES_ALIKE,
        removes: "the number of prefetched tasks by what went through the queue (§5.4.1)",
        outcome: Outcome::Unreachable("prefetched"),
    },
    Mutant::falls(GENERATION_UNNAMED, "the generation in a row's name (§5.2)", "nothing-comes-back"),
    Mutant::falls(
        CACHE_OUTLIVES_QUEUE,
        "the forgetting of a deleted queue's cached tasks (§5.2)",
        "cache-hides-nothing",
    ),
    Mutant::falls(LEASES_THE_LEASED, "the look at a task's lease (§3.3)", "leased-to-one"),
    Mutant::falls(RENEWS_EXPIRED, "the refusal of renewals that come too late (§3.3)", "renewed-in-time"),
    Mutant::falls(DEQUEUES_OF_OTHERS, "the look at who holds a task that is to be dequeued (TA5)", "holder-dequeues"),
    Mutant::falls(FIFO_FORGETS, "the last PID of a FIFO queue in its counter (§3.2)", "fifo-ids-grow"),
    Mutant::falls(
        COLLAPSES_INTO_LEASED,
        "the note on a leased task that it was enqueued again (TA6)",
        "enqueued-then-done",
    ),
    Mutant::falls(CAP_COUNTS_DURABLE, "the counting of leases in progress for the cap (§6.1)", "leased-within-cap"),
    Mutant::falls(FIRST_COME, "the turns of the queues where operations wait for threads (§6.2)", "queues-take-turns"),
    Mutant::falls(LISTS_ALL, "the filters of a list by size and name (§4)", "lists-what-is-there"),
    Mutant::falls(FILTER_IGNORED, "the maximum PID of a lease (§4)", "leases-as-asked"),
    Mutant::falls(LEASES_LAST_FIRST, "the order of priorities in a lease (§3.3, §3.4)", "leases-in-order"),
    Mutant::falls(EXPIRES_AT_WILL, "the limit to how often leases of a queue expire (§5.6)", "expires-seldom"),
    Mutant::falls(COUNTS_EACH_QUEUE, "the count of a lease over all of its queues (§3.6, §6.1)", "leases-as-asked"),
    Mutant::falls(LENGTH_IGNORED, "the length of a lease by its request (§4)", "leases-as-asked"),
    Mutant::falls(TOILS_ON, "the end of work whose lease is lost (§3.3)", "told-in-time"),
    Mutant::falls(ANSWERS_AS_THEY_END, "the place of each answer in the reply to a batch (§4)", "batches-answered"),
    Mutant::falls(REFUSAL_ENDS_BATCH, "that each operation of a batch is one by itself (§4)", "batches-answered"),
    Mutant::falls(
        FLOWS_OUTLIVE_QUEUE,
        "the forgetting of what went through a queue with its deletion (§3.5)",
        "statistics-right",
    ),
    Mutant::falls(
        DURATION_FROM_RENEWAL,
        "the measuring of a lease from its acquisition, not from its last renewal (§3.5)",
        "statistics-right",
    ),
    Mutant::falls(MOVES_IN_TWO, "the one update that moves a task to the next stage (§3.4, §3.6)", "in-one-stage"),
    Mutant::falls(DRAIN_UNSEEN, "a coordinator's wait for its pipeline's drain (§7)", "drained-first"),
    Mutant::falls(BACKS_OFF_NOT, "the time in the PID of what failed (§7)", "backs-off"),
    Mutant::falls(NEVER_DENIES, "the denial after some number of failures (§7)", "backs-off"),
    Mutant::falls(CROSSES_GROUPS, "the refusal of operations across consistency groups (§5.7)", "within-a-group"),
    Mutant::falls(ROUTES_ANYWHERE, "the proxies' mapping from groups to nodes (§5.7)", "served-by-one"),
    Mutant::falls(
        PASSES_TWICE,
        "that a proxy asks once: it knows of no call whether it was carried out",
        "carried-out-once",
    ),
    Mutant::falls(ASKS_NOBODY, "a node's query of the others for a list (§3.5)", "aggregates-all"),
    Mutant::falls(MISSING_UNNAMED, "the naming of nodes that have not answered", "aggregates-all"),
    Mutant::falls(ENQUEUES_AT_ONE, "the enqueueing at another node where one is down (§5.7)", "enqueues-find-a-node"),
    Mutant::falls(STOPS_UNHEARD, "the restart of all jobs at once for a new sharding (§5.7)", "served-by-one"),
    Mutant::falls(SERVES_ON, "the end of a job that is restarted with a new sharding (§5.7)", "served-by-one"),
    Mutant::falls(
        INHERITS_NOTHING,
        "the replay of a former owner's log by the new one of a group (§5.3, §5.7)",
        "acknowledged-kept",
    ),
];
