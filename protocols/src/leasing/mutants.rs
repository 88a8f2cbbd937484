//! Every mechanism's mutant, and what must come of it.

use seedbed_model::{Mutant, Outcome};

/// Messages are compared neither with what was sent nor with what was heard.
pub const NO_SEQUENCE_PAIRS: &str = "no-sequence-pairs";
/// An Owner acts on responses that crossed its latest request.
pub const MANAGER_CHECKS_ONLY: &str = "manager-checks-only";
/// The Manager acts on requests that crossed its latest response.
pub const OWNER_CHECKS_ONLY: &str = "owner-checks-only";
/// Incarnations of an Owner are not told apart.
pub const NO_NONCE: &str = "no-nonce";
/// The Manager frees a range after the length of a lease.
pub const NO_MARGIN: &str = "no-margin";
/// An Owner counts its lease from the receipt of the response.
pub const TIMER_FROM_RECEIPT: &str = "timer-from-receipt";
/// An Owner accepts a renewal of a lease it does not know.
pub const RENEWAL_AFTER_RESTART: &str = "renewal-after-restart";
/// The Manager counts its margin from the sending of each response.
pub const MARGIN_FROM_SEND: &str = "margin-from-send";
/// A restarted Manager grants at once.
pub const NO_QUARANTINE: &str = "no-quarantine";
/// A Lookup replaces its table by a snapshot without comparing them.
pub const NO_SNAPSHOT_DIFF: &str = "no-snapshot-diff";
/// A Lookup without contact believes its table for ever.
pub const NO_CONTACT_TIMEOUT: &str = "no-contact-timeout";

/// A Lookup takes the answer to a poll from which no contact counts any more.
pub const NEWS_HOWEVER_LATE: &str = "news-however-late";

/// A new leader of the Centrifuge variant waits for one renewal period, and not for a margin, before it takes what it read
/// as held, and did not hear of, for lost.
pub const MARGINS_NOT_RESTARTED: &str = "margins-not-restarted";
/// The leader answers before the Paxos group has what it changed.
pub const REPLY_BEFORE_COMMIT: &str = "reply-before-commit";
/// The Paxos group takes a state update of a leader that was deposed.
pub const ANY_LEADER_COMMITS: &str = "any-leader-commits";
/// A leader acts whether or not its leader lease has ended.
pub const OLD_LEADER_SERVES: &str = "old-leader-serves";
/// A Manager server counts its leader lease from the receipt of the group's answer.
pub const LEADER_FROM_RECEIPT: &str = "leader-from-receipt";

/// What follows a loss keeps the flag of what was migrated before it.
pub const MIGRATED_ON_CRASH: &str = "migrated-on-crash";
/// A range that was lost is granted again under the number that it had.
pub const GENERATION_KEPT: &str = "generation-kept";
/// An Owner takes a migrated lease whether or not it has the state.
pub const MIGRATED_UNCHECKED: &str = "migrated-unchecked";
/// An Owner hands over the state of a range and holds the lease on.
pub const HAND_OVER_UNDER_LEASE: &str = "hand-over-under-lease";
/// A Lookup looks at whether the last change was a clean migration, and not at all changes since the one it knows.
pub const FLAG_OF_LAST_CHANGE: &str = "flag-of-last-change";
/// Who knows an edition older than the log is told what is left of the log.
pub const TRUNCATED_WITHOUT_SNAPSHOT: &str = "truncated-without-snapshot";

/// Owners and Lookups ask the leader that they know, whether or not it answers.
pub const STICK_TO_LEADER: &str = "stick-to-leader";
/// A range that has an Owner is granted to another.
pub const PARTITIONER_OVERLAPS: &str = "partitioner-overlaps";

/// A lease check for an earlier moment looks at whether the range is held now, and not at the lease's number.
pub const CONTINUOUS_BY_RANGE: &str = "continuous-by-range";
/// Step 1 is left out: a server takes the lease that a request names for the one that it holds, until step 4.
pub const NO_FIRST_CHECK: &str = "no-first-check";
/// Step 2 is left out: a server believes what it stored under whichever lease.
pub const STORED_UNCHECKED: &str = "stored-unchecked";
/// Step 4 is left out: a server answers whatever became of its lease meanwhile.
pub const NO_FINAL_CHECK: &str = "no-final-check";
/// A server serves a request whichever lease it names.
pub const ANY_LEASE_NUMBER: &str = "any-lease-number";
/// A put that comes twice is done twice.
pub const DONE_AGAIN: &str = "done-again";
/// A frontend goes on asking for a put whose lease was lost.
pub const PUT_AGAIN: &str = "put-again";
/// A frontend believes an answer from state that it was told is lost.
pub const ANSWER_AFTER_NEWS: &str = "answer-after-news";
/// What an Owner hands over of a range leaves the application's state out.
pub const STATE_LEFT_BEHIND: &str = "state-left-behind";
/// A frontend keeps to itself what its Lookup tells it of losses.
pub const NEWS_KEPT_BACK: &str = "news-kept-back";
/// The server of a topic takes a publication for done before those who subscribed have it.
pub const PUBLISHED_AT_ONCE: &str = "published-at-once";
/// A server publishes to whatever list it has, whosever the lease, though subscriptions change.
pub const PUBLISH_UNCHECKED: &str = "publish-unchecked";
/// An entry leaves a queue with the answer that brings it to the client.
pub const DEQUEUED_AT_ONCE: &str = "dequeued-at-once";
/// A document is updated whichever version was expected.
pub const VERSION_UNCHECKED: &str = "version-unchecked";
/// A refresh does not put off that the document expires.
pub const REFRESH_FORGOTTEN: &str = "refresh-forgotten";
/// A server puts no notice of a lost subscription into the queues of those who subscribed.
pub const NOTICE_NOT_QUEUED: &str = "notice-not-queued";
/// A server begins its task when it is granted the range.
pub const TASK_AT_GRANT: &str = "task-at-grant";
/// A server asks the upcalls, and not the library, whether a task is its own.
pub const TASK_BY_UPCALL: &str = "task-by-upcall";

/// The leader does not look at what Owners report of their loads.
pub const LOAD_IGNORED: &str = "load-ignored";
/// What an Owner above the mean gives up nobody gets, in Centrifuge too.
pub const TOTAL_NOT_KEPT: &str = "total-not-kept";
/// Ranges of keys in their order are dealt out by turns.
pub const ORDER_IGNORED: &str = "order-ignored";
/// The RSS processor serves what is its own alone.
pub const RSS_CHECKED: &str = "rss-checked";
/// A frontend asks again for as long as it takes.
pub const RETRIES_FOR_EVER: &str = "retries-for-ever";
/// One replica's answer is enough.
pub const ONE_IS_QUORUM: &str = "one-is-quorum";
/// A frontend asks a server for as much as it likes at once.
pub const CAP_IGNORED: &str = "cap-ignored";
/// A server whose library answers later goes by what the lease was when it asked.
pub const ANSWER_OF_THE_CALL: &str = "answer-of-the-call";
/// The half that stays where it is when a range splits gets its new number without the flag.
pub const SPLIT_UNFLAGGED: &str = "split-unflagged";
/// When a range splits, the half that leaves has the flag too, though its state stays behind.
pub const SPLIT_FLAGS_BOTH: &str = "split-flags-both";

const fn mutant(name: &'static str, removes: &'static str, outcome: Outcome) -> Mutant {
    Mutant { name, removes, outcome }
}

const TWO_HOLD: Outcome = Outcome::Falls("single-copy");
const REGAINED: Outcome = Outcome::Falls("generation-once");
const UNTOLD: Outcome = Outcome::Falls("recovery-notification");
const SOFT: Outcome = Outcome::Falls("soft-linearizable");
const UNKNOWN: Outcome = Outcome::Falls("delivered-or-told");
const TWO_LEAD: Outcome = Outcome::Falls("one-leader");

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(NO_SEQUENCE_PAIRS, "every comparison of sequence numbers (§2.3.2, Figure 6)", TWO_HOLD),
    mutant(MANAGER_CHECKS_ONLY, "the Owner's half of the race check (§2.3.2: \"the Owner does likewise\")", TWO_HOLD),
    mutant(
        OWNER_CHECKS_ONLY,
        "the Manager's half of the race check (§2.3.2)",
        Outcome::Harmless(
            "an Owner drops every lease offered before its latest request arrived, so what the request leaves out stays dropped",
        ),
    ),
    mutant(NO_NONCE, "the session nonce (§2.3.2, last paragraph)", TWO_HOLD),
    mutant(NO_MARGIN, "what the Manager's 65 s are longer than the Owner's 60 s (§2.3.1)", TWO_HOLD),
    mutant(TIMER_FROM_RECEIPT, "the Owner's counting from the sending of its request (§2.3.1, Figure 5)", TWO_HOLD),
    mutant(RENEWAL_AFTER_RESTART, "the refusal of a renewal by an Owner that does not know the lease (§2.3)", REGAINED),
    mutant(
        MARGIN_FROM_SEND,
        "the dating of the Manager's margin by the request that listed the lease: each response starts it anew, as in Figure 5",
        UNTOLD,
    ),
    mutant(NO_QUARANTINE, "a restarted Manager's wait until all earlier leases have expired (PRS §4.4)", TWO_HOLD),
    mutant(
        MARGINS_NOT_RESTARTED,
        "a new leader's waiting for a whole margin before it takes a lease that it read for lost (Centrifuge §2.1.1; our decision)",
        TWO_HOLD,
    ),
    mutant(
        REPLY_BEFORE_COMMIT,
        "\"it commits the state change to the Paxos group before responding to the caller\" (Centrifuge §2.1.1)",
        TWO_HOLD,
    ),
    mutant(
        ANY_LEADER_COMMITS,
        "the group's refusal of a state update from a leader of an earlier term (Centrifuge Figure 3; our decision)",
        TWO_HOLD,
    ),
    mutant(
        OLD_LEADER_SERVES,
        "the end of a leader's office with its leader lease (Centrifuge §2.1.1, PRS §4.4)",
        TWO_LEAD,
    ),
    mutant(
        LEADER_FROM_RECEIPT,
        "a leader's counting from the sending of its bid (as an Owner counts, §2.3.1; our decision)",
        TWO_LEAD,
    ),
    mutant(
        GENERATION_KEPT,
        "the new generation number of every new lease (PRS §4.1: \"every new lease assignment\")",
        REGAINED,
    ),
    mutant(
        PARTITIONER_OVERLAPS,
        "the waiting for a range's lease to end before another Owner is granted it (PRS §4.1: \"as they become available\")",
        TWO_HOLD,
    ),
    mutant(
        STICK_TO_LEADER,
        "the asking of all servers while the leader is silent (Centrifuge §2.1.1, PRS §4.4)",
        Outcome::Falls("settled"),
    ),
    mutant(MIGRATED_ON_CRASH, "the clearing of the migrated flag by a loss (Centrifuge §2.2)", UNTOLD),
    mutant(
        MIGRATED_UNCHECKED,
        "an Owner's refusal of a migrated lease whose state it does not have (Centrifuge §2.1.2; our decision)",
        Outcome::Falls("clean-migration"),
    ),
    mutant(
        HAND_OVER_UNDER_LEASE,
        "the dropping of a lease before its state is handed over (PRS §4.5; our decision)",
        TWO_HOLD,
    ),
    mutant(
        FLAG_OF_LAST_CHANGE,
        "a Lookup's looking at every change since the one it knows, not at the last alone (Centrifuge §2.2; our decision)",
        UNTOLD,
    ),
    mutant(
        TRUNCATED_WITHOUT_SNAPSHOT,
        "the snapshot for a Lookup whose edition the log no longer reaches back to (Centrifuge §2.2.1)",
        UNTOLD,
    ),
    mutant(NO_SNAPSHOT_DIFF, "a Lookup's comparison of a snapshot with the table it had (PRS §4.2)", UNTOLD),
    mutant(
        CONTINUOUS_BY_RANGE,
        "the lease number in `check_lease_continuous` (Centrifuge Figure 8; PRS §2.2: \"an ownership handle consists of a key, a lease generation number, and the Manager's nonce\")",
        Outcome::Falls("continuity"),
    ),
    mutant(
        NO_FIRST_CHECK,
        "step 1 of the template, the check that the request is at its Owner: the lease that the request names is taken for held, and what was stored under another for stale (PRS Figure 4, Centrifuge Figure 10)",
        SOFT,
    ),
    mutant(
        STORED_UNCHECKED,
        "step 2, the discarding of state that was stored under another lease (PRS Figure 4, Centrifuge Figure 10)",
        SOFT,
    ),
    mutant(
        NO_FINAL_CHECK,
        "step 4, the check that the lease covered the operation (PRS Figure 4, Centrifuge Figure 10)",
        Outcome::Falls("covered"),
    ),
    mutant(
        ANY_LEASE_NUMBER,
        "the refusal of a request that names another lease than the one held (Centrifuge §3.2, last but one paragraph; our decision)",
        SOFT,
    ),
    mutant(DONE_AGAIN, "what an item remembers of the puts done to it (our decision)", SOFT),
    mutant(PUT_AGAIN, "the failing of a put whose lease was lost under way (PRS Figure 4, step 4; our decision)", SOFT),
    mutant(
        ANSWER_AFTER_NEWS,
        "a frontend's look at what it was told is lost before it believes an answer (PRS §2.1; our decision)",
        Outcome::Falls("loss-after-answer"),
    ),
    mutant(
        STATE_LEFT_BEHIND,
        "the moving of state with its lease (Centrifuge §2.1.2: \"so that they can move state with the lease\")",
        SOFT,
    ),
    mutant(
        NEWS_KEPT_BACK,
        "the passing along of a loss to the client that is to put anew (PRS §2.1)",
        Outcome::Unreachable("client-told"),
    ),
    mutant(
        PUBLISHED_AT_ONCE,
        "the waiting until all who subscribed have what is published (Centrifuge §4.4: accepted is what \"each subscriber will either receive\" or know of; our decision)",
        UNKNOWN,
    ),
    mutant(
        PUBLISH_UNCHECKED,
        "the checks of a publication where subscriptions change (PRS §3.1: \"effectively immutable\")",
        UNKNOWN,
    ),
    mutant(
        DEQUEUED_AT_ONCE,
        "a queue's keeping of an entry until the client has it (Centrifuge §4.3: \"the client will receive it\"; our decision)",
        Outcome::Falls("soft-queue"),
    ),
    mutant(
        NOTICE_NOT_QUEUED,
        "\"if it receives a loss notification, the Queue server puts the notification into the queue\" (Centrifuge §4.1, PRS §3.2)",
        UNKNOWN,
    ),
    mutant(
        VERSION_UNCHECKED,
        "the comparison of an update's version with the document's (PRS §3: \"conditional on the document's current version\")",
        Outcome::Falls("soft-document"),
    ),
    mutant(
        REFRESH_FORGOTTEN,
        "the putting off of the expiry by a refresh (PRS §3: \"unless client requests explicitly refresh them\")",
        Outcome::Falls("kept-for-ttl"),
    ),
    mutant(
        TASK_AT_GRANT,
        "the waiting for a whole period after a grant before the task begins (PRS §3.4; our decision)",
        Outcome::Falls("once-a-period"),
    ),
    mutant(
        TASK_BY_UPCALL,
        "the asking of the library before the task begins (PRS §2.2: \"the upcall by itself does not guarantee strong consistency\")",
        Outcome::Falls("once-a-period"),
    ),
    mutant(
        LOAD_IGNORED,
        "the giving of virtual nodes from who is loaded more to who is loaded less (Centrifuge §2.1.2, PRS §4.5)",
        Outcome::Unreachable("rebalanced"),
    ),
    mutant(
        TOTAL_NOT_KEPT,
        "the giving to the least-loaded Owner, \"maintaining a constant number of virtual nodes overall\" (Centrifuge §2.1.2)",
        Outcome::Falls("virtual-nodes-kept"),
    ),
    mutant(
        ORDER_IGNORED,
        "the runs of keys in their order (PRS §2.1: \"[a-j]\", \"[k-z]\")",
        Outcome::Falls("in-order"),
    ),
    mutant(
        RSS_CHECKED,
        "the processing \"without checking whether it is the owner\" (PRS §3.1)",
        Outcome::Unreachable("exposed-without-lease"),
    ),
    mutant(
        RETRIES_FOR_EVER,
        "the end of a frontend's retries, \"for up to 5 minutes\" (PRS §7.2)",
        Outcome::Falls("answered-in-time"),
    ),
    mutant(
        ONE_IS_QUORUM,
        "the waiting for a quorum of the replicas (PRS §2.4: \"return success only if a quorum respond\")",
        Outcome::Falls("quorum-newest"),
    ),
    mutant(
        CAP_IGNORED,
        "the cap on a frontend's outstanding requests at one server (PRS §3.3)",
        Outcome::Falls("capped"),
    ),
    mutant(
        ANSWER_OF_THE_CALL,
        "an asynchronous check's answering for the moment of its upcall (PRS Figure 3: \"asynchronous versions of the calls\"; our decision)",
        Outcome::Falls("covered"),
    ),
    mutant(
        SPLIT_UNFLAGGED,
        "the flag of the half that stays when a range splits (Centrifuge Figure 4, §2.2; our decision)",
        Outcome::Falls("no-false-alarm"),
    ),
    mutant(
        SPLIT_FLAGS_BOTH,
        "the telling apart of what stays and what leaves when a range splits (Centrifuge Figure 4, §2.2; our decision)",
        UNTOLD,
    ),
    mutant(
        NEWS_HOWEVER_LATE,
        "the refusal of an answer that comes when contact, counted from its poll, has ended (PRS §2.1; our decision)",
        UNTOLD,
    ),
    mutant(NO_CONTACT_TIMEOUT, "the declaring of everything as lost by a Lookup without contact (PRS §2.1)", UNTOLD),
];
