//! What FaTLease promises.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, NodeSet, Property, Serial, Span, Stamp, Watch};

use super::acceptor::Acceptor;
use super::message::{Attempts, CellId, Instance, Lease};
use super::{FaTLease, Observation, Observed};

const INVARIANT: &str = "lease-invariant";
const NOT_FORGOTTEN: &str = "not-forgotten";
const INVALIDATED: &str = "invalidated-unused";
const RESTARTED: &str = "restart-forgets";
const TOLD_VALID: &str = "told-valid";
const LOSS_NOTICED: &str = "loss-noticed";
const PROGRESS: &str = "progress";
const ANSWERS_SURVIVE: &str = "answers-survive";

/// The deadline of [`PROGRESS`]. That of a cell's loss is the cell's number and 1.
const HEALED: u32 = 0;

/// What the properties remember, cell by cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    cells: BTreeMap<CellId, Watched>,
    /// Who keeps asking and has known no valid lease of the cell since the last fault was healed.
    unaware: BTreeSet<(CellId, NodeId)>,
    /// Who crashed and has done nothing since, where the explorer counts it.
    crashed: NodeSet,
}

/// What they remember of a cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Watched {
    /// Who owns the lease that was seen last.
    owner: Option<Owner>,
    /// By owner: all leases that it asked for up to this one are given up.
    invalidated: BTreeMap<NodeId, Serial<Attempts>>,
    /// The lease that an owner lost by a crash, where its loss must be noticed.
    lost: Option<Lost>,
    /// Regular Paxos: by host, what its latest answer rests on.
    answered: BTreeMap<NodeId, Acceptor>,
    met: Option<Met>,
}

/// How much of the protocol met, for goals alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Met {
    /// The instance of the latest proposal.
    instance: Instance,
    /// Who proposed there.
    proposers: NodeSet,
    /// How many ballots were used there, four for more.
    ballots: u8,
    /// Who forgot the cell's state.
    forgot: NodeSet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Lost {
    node: NodeId,
    /// All its leases up to this end.
    end: Stamp,
    /// Whether it must have been noticed by now.
    is_due: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Owner {
    node: NodeId,
    /// The latest end of its leases.
    end: Stamp,
    /// What the owner itself knows of it.
    own: Own,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Own {
    /// Nothing.
    Unknown,
    /// It has a lease up to this end.
    Held(Stamp),
    /// Its clock was past this end when it last looked.
    Over(Stamp),
}

/// See the module.
pub(super) fn properties(rules: &FaTLease) -> Vec<Property> {
    let mut all = vec![
        Property::always(
            INVARIANT,
            "all valid leases of a cell have the same owner: nobody uses or is told a lease once another became owner (§4)",
        ),
        Property::always(
            NOT_FORGOTTEN,
            "an owner knows its lease until its own clock is past the end, renewed or not (§4.3: no gap)",
        ),
        Property::always(INVALIDATED, "an invalidated lease is not used again by its former owner (§4.3)"),
        Property::always(RESTARTED, "a restarted host never uses a lease that it asked for before (§4.4)"),
        Property::always(TOLD_VALID, "a host is told a lease only while its owner's clock is not past the end (§4.3)"),
        Property::sometimes("acquired", "a host becomes owner"),
        Property::sometimes("handed-over", "another host becomes owner than before"),
        Property::sometimes("told", "a host is told another's lease"),
        Property::sometimes("expired", "an owner finds its lease over"),
        Property::sometimes("adopted", "a proposer must propose what was accepted before"),
        Property::sometimes("nack", "an acceptor knows of a larger ballot"),
        Property::sometimes("outdated", "a proposer catches up with a newer instance"),
        Property::sometimes("rejected", "an acceptor keeps a lease that may be valid"),
        Property::sometimes("renewed", "an owner's lease is followed by another without a gap"),
        Property::sometimes("invalidated", "an owner gives up its lease"),
        Property::sometimes("discarded", "a host forgets what it knew"),
        Property::sometimes("next-instance", "a lease is decided on in an instance after the first"),
        Property::sometimes("late", "a message arrives when the lease that it speaks of is over"),
        Property::sometimes("clocks-differ", "a lease's owner had a clock ahead of the one that sees the lease"),
        Property::sometimes("clock-moved", "a clock shows less than it did"),
        Property::sometimes("stepped-back", "a proposer follows a majority that began anew"),
        Property::sometimes("instance-over", "a proposer finds a lease accepted that is over"),
        Property::sometimes("safety-period", "a host waits for a lease that may be valid"),
        Property::sometimes("adopted-decided", "a proposer completes another host's lease"),
    ];
    if rules.is_durable() {
        all.push(Property::always(
            ANSWERS_SURVIVE,
            "what a host reads back after a crash holds every promise and acceptance that it answered (§3)",
        ));
        all.push(Property::sometimes("read-back", "a restarted host finds what it wrote"));
        all.push(Property::sometimes("written-together", "several answers wait for one fsync"));
        all.push(Property::sometimes("lease-inherited", "a restarted host asks for the lease after its own of before"));
    }
    if rules.params.counts {
        all.extend([
            Property::sometimes("rejoined", "a restarted host takes part again"),
            Property::sometimes("two-proposers", "two hosts propose in one instance"),
            Property::sometimes("three-proposers", "three hosts propose in one instance"),
            Property::sometimes("three-ballots", "three ballots are used in one instance"),
            Property::sometimes("four-ballots", "four ballots are used in one instance"),
            Property::sometimes("two-discarded", "two hosts forgot what they knew (Figure 4)"),
        ]);
    }
    if rules.params.notice > Span::ZERO {
        all.push(Property::within(
            LOSS_NOTICED,
            "no host is told of a lease later than `notice` after its owner lost it by a crash (§4.4, §6)",
        ));
        all.push(Property::sometimes("owner-crashed", "an owner loses its lease by a crash"));
    }
    if rules.params.progress > Span::ZERO {
        all.push(Property::within(
            PROGRESS,
            "once all faults are healed, every host that keeps asking knows a valid lease within `progress` (§4.3)",
        ));
    }
    // Within bounds on numbers, only hosts that discard state can go on for ever.
    if rules.can_go_on() {
        all.push(Property::reachable_always("decided", "whatever happened, a lease can still be decided on"));
    }
    all
}

impl FaTLease {
    pub(super) fn fold(&self, monitor: &mut Monitor, node: NodeId, event: &Event<FaTLease>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation { cell, what }) => {
                if monitor.crashed.contains(node) {
                    monitor.crashed.remove(node);
                    watch.reached("rejoined");
                }
                if !monitor.unaware.is_empty() && matches!(what, Observed::Used { .. } | Observed::Told(_)) {
                    monitor.unaware.remove(&(*cell, node));
                }
                monitor.cells.entry(*cell).or_default().observe(node, what, self, watch);
            }
            Event::Crashed => {
                if self.params.counts {
                    monitor.crashed.insert(node);
                }
                for (cell, watched) in &mut monitor.cells {
                    watched.crash(*cell, node, self, watch);
                }
            }
            Event::Healed if self.params.progress > Span::ZERO => {
                let askers = || self.hosts().filter(|host| self.asks(*host));
                monitor.unaware = self.cells().flat_map(|cell| askers().map(move |host| (cell, host))).collect();
                watch.set_deadline(HEALED, self.params.progress);
            }
            Event::Deadline(HEALED) => {
                if let Some((cell, host)) = monitor.unaware.first() {
                    let words = format!("{host:?} has known no lease of {cell:?} for {}", self.params.progress);
                    watch.violated(PROGRESS, words);
                }
                monitor.unaware.clear();
            }
            Event::Deadline(id) => {
                let watched = monitor.cells.get_mut(&CellId((*id - 1) as u16));
                if let Some(lost) = watched.and_then(|watched| watched.lost.as_mut()) {
                    lost.is_due = true;
                }
            }
            _ => {}
        }
    }
}

impl Met {
    const EMPTY: Met =
        Met { instance: Instance::INITIAL, proposers: NodeSet::EMPTY, ballots: 0, forgot: NodeSet::EMPTY };
}

impl Watched {
    fn observe(&mut self, node: NodeId, what: &Observed, rules: &FaTLease, watch: &mut Watch<'_>) {
        match what {
            Observed::Acquired(lease) => self.acquired(*lease, watch),
            Observed::Used { lease, is_own } => self.used(*lease, *is_own, watch),
            Observed::Told(lease) => self.told(node, *lease, watch),
            Observed::Without { now } => self.without(node, *now, rules, watch),
            Observed::Invalidated(lease) => {
                watch.reached("invalidated");
                self.owner = self.owner.filter(|owner| owner.node != lease.owner);
                self.invalidated.insert(lease.owner, lease.asked);
            }
            Observed::Answered(acceptor) => drop(self.answered.insert(node, acceptor.clone())),
            Observed::ReadBack(_) if !rules.params.audit => {}
            Observed::ReadBack(acceptor) => self.read_back(node, acceptor, watch),
            Observed::Proposed(instance) => self.proposed(node, *instance, watch),
            Observed::Forgot => {
                let met = self.met.get_or_insert(Met::EMPTY);
                met.forgot.insert(node);
                if met.forgot.len() >= 2 {
                    watch.reached("two-discarded");
                }
            }
        }
    }

    fn proposed(&mut self, node: NodeId, instance: Instance, watch: &mut Watch<'_>) {
        let met = self.met.get_or_insert(Met::EMPTY);
        if met.instance != instance {
            *met = Met { instance, forgot: met.forgot, ..Met::EMPTY };
        }
        met.proposers.insert(node);
        met.ballots = (met.ballots + 1).min(4);
        for (count, goal) in [(2, "two-proposers"), (3, "three-proposers")] {
            if met.proposers.len() >= count {
                watch.reached(goal);
            }
        }
        for (count, goal) in [(3, "three-ballots"), (4, "four-ballots")] {
            if met.ballots >= count {
                watch.reached(goal);
            }
        }
    }

    fn acquired(&mut self, lease: Lease, watch: &mut Watch<'_>) {
        watch.reached("acquired");
        let before = self.owner;
        self.saw(lease, lease.owner, "becomes owner by", watch);
        match before {
            Some(before) if before.node != lease.owner => watch.reached("handed-over"),
            Some(Owner { own: Own::Held(_), .. }) => watch.reached("renewed"),
            _ => {}
        }
        if let Some(owner) = self.owner.as_mut().filter(|owner| owner.node == lease.owner) {
            owner.own = match owner.own {
                Own::Held(end) => Own::Held(end.max(lease.end)),
                Own::Unknown | Own::Over(_) => Own::Held(lease.end),
            };
        }
    }

    fn used(&mut self, lease: Lease, is_own: bool, watch: &mut Watch<'_>) {
        let node = lease.owner;
        if self.is_invalidated(lease) {
            watch.violated(INVALIDATED, format!("{node:?} uses {lease:?}, which it invalidated"));
        } else if !is_own {
            watch.violated(RESTARTED, format!("{node:?} uses {lease:?}, which it asked for before it crashed"));
        } else {
            self.saw(lease, node, "uses", watch);
        }
    }

    fn told(&mut self, node: NodeId, lease: Lease, watch: &mut Watch<'_>) {
        watch.reached("told");
        // Who was not reached by an INV may still be told of it, or of the lease that it came after: with a durable state, that
        // of an earlier incarnation too.
        if self.invalidated.get(&lease.owner).is_some_and(|last| lease.asked <= *last) {
            return;
        }
        let is_lost = |lost: &Lost| lost.is_due && lost.node == lease.owner && lease.end <= lost.end;
        if self.lost.as_ref().is_some_and(is_lost) {
            watch.violated(LOSS_NOTICED, format!("{node:?} is still told of {lease:?}, which was lost by a crash"));
        }
        self.saw(lease, node, "is told of", watch);
        let is_over = |owner: Owner| matches!(owner.own, Own::Over(end) if lease.end <= end);
        if self.owner.filter(|owner| owner.node == lease.owner).is_some_and(is_over) {
            watch.violated(TOLD_VALID, format!("{node:?} is told that {lease:?} is valid, which its owner found over"));
        }
    }

    /// A lease that somebody takes for valid is its owner's latest, or another owner's that ends later: leases of
    /// different owners follow each other. Of two that are valid together, the one that ends first is seen again.
    fn saw(&mut self, lease: Lease, node: NodeId, how: &str, watch: &mut Watch<'_>) {
        let Lease { owner, end, .. } = lease;
        match &mut self.owner {
            Some(latest) if latest.node == owner => latest.end = latest.end.max(end),
            Some(latest) if latest.end >= end => {
                let words = format!("{node:?} {how} {lease:?}, but {:?} owns it until {:?}", latest.node, latest.end);
                watch.violated(INVARIANT, words);
            }
            _ => self.owner = Some(Owner { node: owner, end, own: Own::Unknown }),
        }
    }

    fn without(&mut self, node: NodeId, now: Stamp, rules: &FaTLease, watch: &mut Watch<'_>) {
        let Some(owner) = self.owner.as_mut().filter(|owner| owner.node == node) else { return };
        match owner.own {
            Own::Held(end) if rules.is_past(end, now) => {
                watch.reached("expired");
                owner.own = Own::Over(end);
            }
            Own::Held(end) => {
                watch.violated(NOT_FORGOTTEN, format!("{node:?} has no lease, but one of its leases ends at {end:?}"));
            }
            Own::Unknown | Own::Over(_) => {}
        }
    }

    /// A vote may be gone that was not chosen, as another lease was learned.
    fn read_back(&self, node: NodeId, found: &Acceptor, watch: &mut Watch<'_>) {
        let Some(answered) = self.answered.get(&node) else { return };
        let ballot = |acceptor: &Acceptor| acceptor.paxos.accepted.map(|vote| vote.ballot);
        let is_same = found.instance == answered.instance;
        let is_vote_lost = is_same && found.learned.is_none() && ballot(found) < ballot(answered);
        if (found.instance, found.paxos.promised) < (answered.instance, answered.paxos.promised) || is_vote_lost {
            watch.violated(ANSWERS_SURVIVE, format!("{node:?} has answered by {answered:?}, and reads back {found:?}"));
        }
    }

    fn is_invalidated(&self, lease: Lease) -> bool {
        self.invalidated.get(&lease.owner).is_some_and(|last| last.nonce == lease.asked.nonce && lease.asked <= *last)
    }

    /// A crashed host knows nothing of its lease any more. Others still do, and must notice in time.
    fn crash(&mut self, cell: CellId, node: NodeId, rules: &FaTLease, watch: &mut Watch<'_>) {
        let Some(owner) = self.owner.as_mut().filter(|owner| owner.node == node) else { return };
        if rules.params.notice > Span::ZERO && matches!(owner.own, Own::Held(_)) {
            watch.reached("owner-crashed");
            watch.set_deadline(u32::from(cell.0) + 1, rules.params.notice);
            self.lost = Some(Lost { node, end: owner.end, is_due: false });
        }
        owner.own = Own::Unknown;
    }
}
