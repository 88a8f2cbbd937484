//! Sizes and times.

use seedbed_model::{Family, Mutant, Mutants, Ratio, Span};
use serde::{Deserialize, Serialize};

use super::mutants::MUTANTS;
use super::{Application, Feature, Leasing, balance, partition};

/// At most so many Owners, and so many Lookups: their ids fit.
const SIDE_COUNT_MAX: u16 = 30_000;

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

/// At most so many keys.
const KEY_COUNT_MAX: u16 = 10_000;

/// At most so many Manager servers.
const MANAGER_COUNT_MAX: u16 = 16;

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
    /// Whether ranges may change hands with their state (PRS §4.5, Centrifuge §2.1.2).
    pub migration: bool,
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
    /// Whether clients that put wait for the news that what they put is lost, and put anew then. Each has a key of its own.
    pub republish: bool,
    /// How long an operation or a task takes at an Owner. Positive where there is an application; as 0 otherwise, it and the
    /// following are no spans that anything in a run takes.
    pub work: Span,
    /// How long a frontend waits after a refusal, or while there is no Owner ("a short backoff", PRS §2.1).
    pub retry: Span,
    /// How long a frontend waits for an answer before it asks again.
    pub patience: Span,
    /// How often a periodic task is due. More than `work`.
    pub period: Span,
    /// Whether subscriptions never change: each topic has one subscriber for ever, and what is published need not come where
    /// the lease is (PRS §3.1).
    pub fixed_subscriptions: bool,
    /// How long a document lives that nobody refreshes (PRS §3.4). 0s: for ever.
    pub ttl: Span,
    /// Which features a run must have had for the goal `together`. See [`Feature`].
    pub together: Vec<Feature>,
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
            migration: false,
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
            republish: false,
            work: Span::ZERO,
            retry: Span::ZERO,
            patience: Span::ZERO,
            period: Span::ZERO,
            fixed_subscriptions: false,
            ttl: Span::ZERO,
            together: Vec::new(),
        }
    }
}

impl Params {
    /// The bound of the recovery notification when a message takes at most `delay`, a firing comes at most `lateness` after
    /// its timer's end, and at most `takeovers` times within it a new leader of the Centrifuge variant takes office: a
    /// `notice` above it holds, whatever is lost, crossed or crashed.
    ///
    /// Let an Owner lose a lease at time 0, or hand over its state.
    /// - The last request that lists it was sent before, and arrives before `delay`. The Manager's margin counts from
    ///   there (only what an Owner lists is renewed), so the generation changes by `delay + margin + lateness`, unless the
    ///   state arrives where it was to go. So it does if the Manager restarts, or in PRS another leads: its generations are
    ///   new then.
    /// - A leader that takes office before that, and reads the lease in the Paxos group, counts a whole margin anew: each
    ///   takeover puts the news off by a margin. It hears of the loss sooner if the Owner lives and says so.
    /// - What changed is told once the group has it: at most a bid's period, a lateness and a round trip later, or another
    ///   takes over.
    /// - If a poll sent after that is answered, the Lookup tells its application then: at most a poll's period, a
    ///   lateness and a round trip later. A poll that no leader answered goes to all servers, so that the next is answered
    ///   if any leads.
    /// - If none is, the last answered poll was sent before, and the Lookup's contact ends `contact` after its sending.
    pub fn notice_needed(&self, delay: Span, lateness: Span, takeovers: u64) -> Span {
        let known = delay + (self.margin + lateness) * (takeovers + 1);
        let committed = match self.variant {
            Variant::Prs => Span::ZERO,
            Variant::Centrifuge => self.manager_longest.ceil_of(self.leader_renew) + lateness + delay * 2,
        };
        let by_poll = self.owner_longest.ceil_of(self.poll) + lateness + delay * 2;
        let by_contact = self.owner_longest.ceil_of(self.contact) + lateness;
        known + committed + by_poll.max(by_contact)
    }

    /// The bound of progress when, from the healing on, a message takes at most `delay` and is not lost, a firing comes at
    /// most `lateness` after its timer's end, and each of `decisions` moves a decision that is open stays open for at most
    /// `decision`: a `progress` above it holds.
    ///
    /// - A leader is elected once the group's margin for the last one has run out: at the next bid, a round trip later.
    /// - Each Owner asks it within two renewals: the first goes to a server that is silent, the second to all.
    /// - What was granted before and is held by nobody ends with its margin, which the leader counts from its election; in
    ///   PRS it waits as long before it grants.
    /// - Then one decision after the other: a free range is granted; one that is not where it should be is handed over,
    ///   which fails at worst and ends with another margin, and is granted.
    /// - Each Lookup polls twice, the first time in vain, and a poll more has the end of it.
    pub fn progress_needed(&self, delay: Span, lateness: Span, decision: Span, decisions: u64) -> Span {
        let round = delay * 2 + lateness;
        let elected = match self.group {
            GroupKind::None => Span::ZERO,
            GroupKind::Atomic => self.leader_margin + self.manager_longest.ceil_of(self.leader_renew) + round,
            // Two round trips, with a write of the acceptors in each; candidates that keep each other from a majority try
            // again with the next bid.
            GroupKind::Paxos => self.leader_margin + (self.manager_longest.ceil_of(self.leader_renew) + round * 4) * 3,
        };
        let asked = self.owner_longest.ceil_of(self.renew) * 2 + round * 2;
        let ended = (self.margin + lateness) * 2;
        let decided = (decision + round * 4) * decisions;
        let polled = (self.owner_longest.ceil_of(self.poll) + round) * 3;
        elected + asked + ended + decided + polled
    }

    fn check(&self) -> Result<(), String> {
        // Without Owners there is the competition for the leader lease alone.
        let owners_min = u16::from(self.group == GroupKind::None);
        let sized = (owners_min..=SIDE_COUNT_MAX).contains(&self.owners)
            && self.lookups <= SIDE_COUNT_MAX
            && (1..=200).contains(&self.ranges)
            && self.back_off_slots > 0;
        let in_time = [self.lease, self.margin, self.renew, self.poll].iter().all(|span| *span > Span::ZERO);
        if !sized || !in_time {
            return Err(format!(
                "owners must be {owners_min} to {SIDE_COUNT_MAX}, lookups at most {SIDE_COUNT_MAX}, ranges 1 to 200, back-off-slots \
                 and every time but back-off positive"
            ));
        }
        if self.owner_longest.num < self.owner_longest.den {
            return Err(format!(
                "owner-longest {} is below 1, so not even an exact clock is allowed",
                self.owner_longest
            ));
        }
        let needed = self.owner_longest.ceil_of(self.lease);
        if self.margin < needed {
            return Err(format!(
                "margin {} is too short: a lease of {} may take {needed} on the slowest clock",
                self.margin, self.lease
            ));
        }
        let back_off = self.back_off * u64::from(self.back_off_slots - 1);
        if back_off >= self.renew {
            return Err(format!("the longest back-off, {back_off}, must be shorter than renew, {}", self.renew));
        }
        self.check_service()?;
        self.check_pools()?;
        self.check_application()?;
        self.check_together()?;
        if self.contact <= self.poll {
            return Err(format!("contact {} must be longer than poll {}", self.contact, self.poll));
        }
        Ok(())
    }
}

impl Params {
    fn check_application(&self) -> Result<(), String> {
        if self.application == Application::None {
            return match self.operations {
                0 => Ok(()),
                count => Err(format!("operations {count} without an application: application = \"hash-table\"")),
            };
        }
        if !(1..=KEY_COUNT_MAX).contains(&self.keys) {
            return Err(format!("keys {} must be 1 to {KEY_COUNT_MAX}", self.keys));
        }
        if self.work == Span::ZERO {
            return Err("work must be positive where there is an application".into());
        }
        match self.application {
            service if service.has_frontends() => self.check_frontends(),
            Application::PeriodicTask if self.period <= self.work => {
                Err(format!("period {} must be longer than work, {}", self.period, self.work))
            }
            Application::PeriodicTask if self.operations > 0 => {
                Err(format!("operations {} of a task that has no clients: operations = 0", self.operations))
            }
            _ => Ok(()),
        }
    }

    fn check_pools(&self) -> Result<(), String> {
        let Params { pools, ranges, owners, .. } = *self;
        if self.balance > Span::ZERO && (self.partitioner != PartitionerKind::Hashing || pools != 1) {
            return Err("loads are managed by virtual nodes, of one pool: partitioner = \"hashing\", pools = 1".into());
        }
        let services = if self.application == Application::LiveMesh { 3 } else { pools };
        if pools != services {
            return Err(format!("pools {pools} for the services of live-mesh: pools = {services}"));
        }
        let is_short = pools > 1 && owners < u16::from(pools);
        if pools == 0 || !ranges.is_multiple_of(pools) || is_short {
            return Err(format!("pools {pools} must divide ranges {ranges}, and not exceed owners {owners}"));
        }
        Ok(())
    }

    fn check_frontends(&self) -> Result<(), String> {
        let service = self.application.words();
        if [self.retry, self.patience].contains(&Span::ZERO) {
            return Err(format!("retry and patience must be positive where there is {service}"));
        }
        if self.lookups == 0 {
            return Err(format!("{service} without a Lookup has no frontend: lookups = 1"));
        }
        if self.writers > self.lookups {
            return Err(format!(
                "writers {} exceed the frontends, which are the lookups: {}",
                self.writers, self.lookups
            ));
        }
        if self.application == Application::LiveMesh {
            if u32::from(self.keys) != u32::from(self.lookups) * 3 {
                return Err(format!(
                    "keys {} must be three for each frontend's device: {}",
                    self.keys,
                    self.lookups * 3
                ));
            }
            if self.writers == 0 || self.writers >= self.lookups {
                return Err(format!("writers {} must be some of the {} frontends", self.writers, self.lookups));
            }
        }
        if self.ttl > Span::ZERO && self.application != Application::SectionedDocument {
            return Err(format!("ttl {} without documents: application = \"sectioned-document\"", self.ttl));
        }
        let subscribers = self.lookups - self.writers;
        match self.fixed_subscriptions {
            true if self.application != Application::PublishSubscribe => {
                Err("fixed-subscriptions without subscriptions: application = \"publish-subscribe\"".into())
            }
            true if subscribers != self.keys => {
                Err(format!("fixed-subscriptions with {subscribers} subscribers of {} topics: one of each", self.keys))
            }
            _ => Ok(()),
        }
    }

    fn check_service(&self) -> Result<(), String> {
        if self.progress > Span::ZERO && self.partitioner == PartitionerKind::Free {
            return Err("progress is asked, but nothing drives a free assignment: partitioner = \"hashing\"".into());
        }
        match self.group {
            GroupKind::None if self.managers != 1 => {
                return Err(format!("managers {} without a group: 1, or group = \"atomic\"", self.managers));
            }
            GroupKind::None if self.variant == Variant::Centrifuge => {
                return Err("variant centrifuge keeps its state in a group: group = \"atomic\"".into());
            }
            GroupKind::None => return Ok(()),
            GroupKind::Paxos if !(1..=16).contains(&self.acceptors) => {
                return Err(format!("acceptors {} must be 1 to 16", self.acceptors));
            }
            GroupKind::Atomic | GroupKind::Paxos => {}
        }
        if !(1..=MANAGER_COUNT_MAX).contains(&self.managers) {
            return Err(format!("managers {} must be 1 to {MANAGER_COUNT_MAX}", self.managers));
        }
        if self.leader_renew == Span::ZERO || self.leader_renew >= self.leader_lease {
            return Err(format!(
                "leader-renew {} must be positive and shorter than leader-lease {}",
                self.leader_renew, self.leader_lease
            ));
        }
        if self.manager_longest.num < self.manager_longest.den {
            return Err(format!("manager-longest {} is below 1", self.manager_longest));
        }
        let needed = self.manager_longest.ceil_of(self.leader_lease);
        if self.leader_margin < needed {
            return Err(format!(
                "leader-margin {} is too short: a leader lease of {} may take {needed} on the slowest clock",
                self.leader_margin, self.leader_lease
            ));
        }
        Ok(())
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
        let (partitioner, popularity) = (partition::of(params), balance::popularity(params));
        Ok(Leasing { params: params.clone(), mutants, partitioner, group, popularity })
    }
}
