//! Sizes and times.

use seedbed_model::{Family, Mutant, Mutants, Ratio, Span};
use serde::{Deserialize, Serialize};

use super::mutants::MUTANTS;
use super::{Application, Feature, Leasing, VIRTUAL_NODES, balance, partition};

/// At most so many Owners, and so many Lookups: their ids fit.
pub(super) const SIDE_COUNT_MAX: u16 = 30_000;

/// Which of the two papers' systems runs, where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The Paxos group elects and holds nothing: a new leader waits until all that was granted has expired (PRS §4.4).
    Prs,
    /// The Paxos group holds the leader's state, and a new leader resumes from it (Centrifuge §2.1.1).
    Centrifuge,
}

/// Who says where a range should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionerKind {
    /// Nobody: any live Owner may be given any range at any time, and any lease recalled.
    Free,
    /// Consistent hashing over 64-bit keys, 64 virtual nodes for each Owner (PRS §4.1).
    Hashing,
    /// One Owner for each range, for ever.
    Fixed,
    /// A range is a run of arbitrary keys in their order, and each live Owner has a run of ranges (PRS §2.1: "[a-j]").
    Ordered,
}

/// Who elects the leader of the Manager service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// Nobody: a single Manager leads, and comes back by itself.
    None,
    /// One node, which stands for a Paxos group as an atomic leader lease and register.
    Atomic,
    /// The Paxos group itself, its acceptors nodes beside the others: [`crate::paxos::group`].
    Paxos,
}

/// A kind of node that may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The servers of the Manager service.
    Managers,
    /// The Owners.
    Owners,
    /// The Lookups.
    Lookups,
}

impl Side {
    /// On the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Side::Managers => "managers",
            Side::Owners => "owners",
            Side::Lookups => "lookups",
        }
    }
}

/// At most so many keys.
pub(super) const KEY_COUNT_MAX: u16 = 10_000;

/// At most so many Manager servers.
pub(super) const MANAGER_COUNT_MAX: u16 = 16;
/// And acceptors, of a Paxos group.
pub(super) const ACCEPTOR_COUNT_MAX: u16 = 16;

/// Sizes and times. The defaults are the papers' where they state any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// Which system, where the papers differ. `centrifuge` needs a group.
    pub variant: Variant,
    /// Who elects the leader.
    pub group: GroupKind,
    /// How many Manager servers: a leader and standbys. 1 without a group; at most 16.
    pub managers: u16,
    /// How many acceptors a Paxos group has (Centrifuge §2.1.1: 5). 1 to 16.
    pub acceptors: u16,
    /// How long a leader leads, on its own clock, from the sending of the bid that the group granted. Neither paper says.
    pub leader_lease: Span,
    /// How long the group elects nobody else, from its granting. At least `leader-lease` times `manager-longest`.
    pub leader_margin: Span,
    /// How often a server bids: the leader to renew, a standby to become leader. Less than `leader-lease`.
    pub leader_renew: Span,
    /// A span of a Manager server's clock takes at most this times as long on the fastest server's. At least 1.
    pub manager_longest: Ratio,
    /// How many Owners. 1 to 30,000; 0 too with a group, whose leaders then only compete.
    pub owners: u16,
    /// How many ranges. 1 to 200.
    pub ranges: u8,
    /// How many Lookups. At most 30,000.
    pub lookups: u16,
    /// How many pools of Owners, each with a namespace of its own at the one Manager service (Centrifuge §2.1.2). Owners,
    /// ranges and keys are dealt out to them by turns.
    pub pools: u8,
    /// To how many of the Owners that could have it a free range is offered at most: in the order of their ids, round
    /// from a place that belongs to the range. 0: to all of them, whose number times that of the ranges the Manager then
    /// weighs in each of its steps.
    pub candidates: u16,
    /// Who says where a range should be. All but `free` overrule `candidates`.
    pub partitioner: PartitionerKind,
    /// How long a round of adaptive load management is (Centrifuge §2.1.2, PRS §4.5), for which `keys` keys are asked for as a
    /// Zipf distribution has them (PRS §7.3). 0s: loads are not managed. Needs `partitioner = "hashing"`.
    pub balance: Span,
    /// How many virtual nodes an Owner has, or has at first where loads are managed (PRS §4.1, Centrifuge §2: 64). 1 to 64.
    pub virtual_nodes: u32,
    /// Whether ranges may change hands with their state (PRS §4.5, Centrifuge §2.1.2).
    pub migration: bool,
    /// Whether ranges are halves, each with the one after it, that are granted together and may split (Centrifuge Figure 4).
    /// `ranges` must be even, and `pools` 1.
    pub halves: bool,
    /// How long a lease is, on the Owner's clock (Centrifuge §2.1.2: 60 s).
    pub lease: Span,
    /// How long the Manager keeps a range from others, on its own clock (§2.3.1: 65 s). At least `lease` times
    /// `owner-longest`.
    pub margin: Span,
    /// How often an Owner asks (§2.3: every 15 s).
    pub renew: Span,
    /// How often a Lookup asks (§2.2.1: every 30 s).
    pub poll: Span,
    /// How long after the sending of the last poll that was answered a Lookup gives up and declares everything lost
    /// (PRS §2.1; the paper states no figure). More than `poll`.
    pub contact: Span,
    /// After a race a node waits for this times a random whole number below `back-off-slots`. More than a round trip, so
    /// that nodes in different slots do not race again.
    pub back_off: Span,
    /// How many slots. At least 1; the longest back-off stays below `renew`.
    pub back_off_slots: u32,
    /// A span of an Owner's or a Lookup's clock takes at least this times as long on the Manager's.
    pub owner_shortest: Ratio,
    /// And at most this (§2.3.1: 65 s to 60 s). At least 1.
    pub owner_longest: Ratio,
    /// At most so many changes are kept in the log, where it is not truncated by age.
    pub log: usize,
    /// Each change is kept in the log for this long at least, and for twice as long at most (Centrifuge §2.1.2: "older than 5
    /// minutes"). 0s: the log is truncated by length.
    pub log_age: Span,
    /// Every loss at an Owner reaches every Lookup within less than this. See [`Params::notice_needed`].
    pub notice: Span,
    /// After the last fault is healed, every range has an Owner and every Lookup in contact the newest table within this; 0s:
    /// it is not asked, as nothing drives a free assignment. See [`Params::progress_needed`].
    pub progress: Span,
    /// Which service stands on the leases. All but `periodic-task` need Lookups, which are their frontends.
    pub application: Application,
    /// How many keys or topics it has. 1 to 10,000.
    pub keys: u16,
    /// How many operations the client at each frontend invokes.
    pub operations: u32,
    /// At how many of the frontends clients put or publish; the others' only get or subscribe. 0: at all, and they do both.
    pub writers: u16,
    /// Under how many keys each value of a hash table is put, of which a quorum must answer (PRS §2.4). `keys` are that many for
    /// each name, which has one writer.
    pub replicas: u16,
    /// How many requests of one frontend may be outstanding at one server, where values are replicated (PRS §3.3). 0: as
    /// many as there are.
    pub cap: u16,
    /// Whether clients that put wait for the news that what they put is lost, and put anew then. Each has a key of its own.
    pub republish: bool,
    /// How long an operation or a task takes at an Owner. Positive where there is an application; as 0 otherwise, it and the
    /// following are no spans that anything in a run takes.
    pub work: Span,
    /// How long a frontend waits after a refusal, or while there is no Owner ("a short backoff", PRS §2.1).
    pub retry: Span,
    /// How long a frontend waits for an answer before it asks again.
    pub patience: Span,
    /// For how long a frontend retries before it tells its client that nothing came of it (PRS §7.2: "for up to 5 minutes").
    /// More than `retry` and `patience`; 0s: for ever.
    pub retry_limit: Span,
    /// How long the Owner library's asynchronous calls take, which come back by an upcall (PRS Figure 3). 0s: its calls are
    /// synchronous.
    pub upcall: Span,
    /// How often a periodic task is due. More than `work`.
    pub period: Span,
    /// Whether subscriptions never change: each topic has one subscriber for ever, and what is published need not come where
    /// the lease is (PRS §3.1).
    pub fixed_subscriptions: bool,
    /// How long a document, a value, a subscription list or a queue lives that nobody refreshes (PRS §3.4). 0s: for ever.
    pub ttl: Span,
    /// Which features a run must have had for the goal `together`. See [`Feature`].
    pub together: Vec<Feature>,
    /// Which kinds of nodes neither crash nor pause, where a bound or a scenario is about the failures of the others. Each once.
    pub unfailing: Vec<Side>,
    /// Whose requests arrive, and what the answer to them says, before anything else happens, where a bound is not about how they
    /// cross with the rest: `managers`, their bids to the atomic group; `owners` and `lookups`, what they and the leader say to each
    /// other, where they are `unfailing`. At a paused leader it arrives when that goes on. Each once; the explorer alone heeds it. It hides
    /// what hangs on how long that takes (`leader-from-receipt`).
    pub at_once: Vec<Side>,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            variant: Variant::Prs,
            group: GroupKind::None,
            managers: 1,
            acceptors: 5,
            leader_lease: Span::secs(10),
            leader_margin: Span::secs(12),
            leader_renew: Span::secs(3),
            manager_longest: Ratio::new(13, 12),
            owners: 2,
            ranges: 1,
            lookups: 1,
            pools: 1,
            candidates: 0,
            partitioner: PartitionerKind::Free,
            balance: Span::ZERO,
            virtual_nodes: VIRTUAL_NODES,
            migration: false,
            halves: false,
            lease: Span::secs(60),
            margin: Span::secs(65),
            renew: Span::secs(15),
            poll: Span::secs(30),
            contact: Span::secs(75),
            back_off: Span::secs(3),
            back_off_slots: 4,
            owner_shortest: Ratio::new(12, 13),
            owner_longest: Ratio::new(13, 12),
            log: 8,
            log_age: Span::ZERO,
            notice: Span::secs(160),
            progress: Span::ZERO,
            application: Application::None,
            keys: 1,
            operations: 0,
            writers: 0,
            replicas: 1,
            cap: 0,
            republish: false,
            work: Span::ZERO,
            retry: Span::ZERO,
            patience: Span::ZERO,
            retry_limit: Span::ZERO,
            upcall: Span::ZERO,
            period: Span::ZERO,
            fixed_subscriptions: false,
            ttl: Span::ZERO,
            together: Vec::new(),
            unfailing: Vec::new(),
            at_once: Vec::new(),
        }
    }
}

impl Family for Leasing {
    type Protocol = Leasing;
    type Params = Params;
    const NAME: &'static str = "leasing";
    const SUMMARY: &'static str =
        "manager-directed leasing with recall, message races and loss notification (Centrifuge §2.1 to §2.3, PRS §4)";

    fn mutants() -> &'static [Mutant] {
        MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Leasing, String> {
        params.check()?;
        let group = super::embedded::group(params);
        let (partitioner, popularity) = (partition::of(params, &mutants), balance::popularity(params));
        Ok(Leasing { params: params.clone(), mutants, partitioner, group, popularity })
    }
}
