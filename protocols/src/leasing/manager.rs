//! The Manager: it grants, recalls, and knows every loss (Centrifuge §2.1.2, §2.3; PRS §4.1).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Nonce, Offers, Part, Relevance, Stream};

use super::log::Log;
use super::message::{Assignment, Generation, ManagerNumber, Message, Offer, OwnerNumber, RangeId};
use super::params::{MARGIN_FROM_SEND, NO_QUARANTINE};
use super::{BackOff, Decision, Leasing, Record, Timer};
use crate::seqpair::{Link, Pair, Verdict};

type Cx<'a> = Context<'a, Leasing>;
type Wanted = BTreeMap<RangeId, Generation>;

/// The Manager's volatile state. What it may rely on:
///
/// 1. a range with an owner has its `Unavailable` timer armed, or lapsed and about to be fired;
/// 2. an Owner holds a range only while that timer is armed: it counts from the receipt of a request that the Owner
///    counts from the sending of;
/// 3. a generation is granted in one message only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Manager {
    /// Whether it may grant: nothing is left of what an earlier incarnation granted.
    ready: bool,
    /// Its end of the link to each Owner.
    links: BTreeMap<NodeId, Part<Link<ManagerNumber, OwnerNumber>>>,
    /// `ranges[i]` is range `i`.
    ranges: Vec<Part<Entry>>,
    /// What Lookups are told.
    log: Part<Log>,
}

/// A range in the Manager's table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Entry {
    assignment: Assignment,
    /// Whether the lease is recalled: the Owner is told to drop it.
    recalled: bool,
}

impl Entry {
    fn is_held_by(&self, owner: NodeId) -> bool {
        self.assignment.owner == Some(owner)
    }
    fn is_wanted_in(&self, range: RangeId, wanted: &Wanted) -> bool {
        wanted.get(&range) == Some(&self.assignment.generation)
    }
}

impl Manager {
    pub(super) fn start(leasing: &Leasing, was_started: bool, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let free = |range| Entry {
            assignment: Assignment { generation: Generation::first(nonce, range), owner: None },
            recalled: false,
        };
        if was_started {
            // PRS §4.4: "all previously granted leases are allowed to expire before any new leases are granted".
            cx.mark("manager-restarted");
            cx.set(Timer::Quarantine, leasing.params.margin);
        } else {
            // Nothing is granted until this is durable: without it, the next incarnation would not wait.
            cx.persist(Stream(0), Record::Started);
        }
        Manager {
            ready: was_started && leasing.mutants.has(NO_QUARANTINE),
            links: leasing.owners().map(|owner| (owner, Part::new(Link::new(nonce, owner.0)))).collect(),
            ranges: leasing.ranges().map(|range| Part::new(free(range))).collect(),
            log: Part::new(Log::new(nonce)),
        }
    }

    /// From here on, whatever may be held was granted by this incarnation.
    pub(super) fn on_ready(&mut self) {
        self.ready = true;
    }

    /// "A lease request signals Owner liveness and specifies the leases where the Owner wants renewals" (§2.3).
    pub(super) fn on_request(
        &mut self,
        from: NodeId,
        pair: Pair<OwnerNumber, ManagerNumber>,
        wanted: &Wanted,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        let Some(link) = self.links.get_mut(&from) else { return cx.mark("request of no Owner") };
        let verdict = link.admit(pair, leasing.manager_checks());
        if verdict == Verdict::Stale {
            return cx.mark("stale-request");
        }
        // Whatever is sent to the Owner from here on names this request, and counts from its sending there.
        cx.set(Timer::Heard(from), leasing.margin());
        self.extend(from, wanted, cx);
        match verdict {
            // A racing request is dropped, but alive is alive. See `extend` for what it lists.
            Verdict::Race => {
                cx.mark("race-dropped");
                if leasing.backs_off(from, cx) == BackOff::Over {
                    self.answer(from, leasing, cx);
                }
            }
            // A new incarnation holds nothing; all is offered for renewal, to be refused (§2.3).
            Verdict::NewSession => {
                cx.mark("session-opened");
                self.answer(from, leasing, cx);
            }
            Verdict::Fresh | Verdict::Stale => {
                self.release_unwanted(from, wanted, leasing, cx);
                self.answer(from, leasing, cx);
            }
        }
    }

    /// Keeps what the request lists from others, for as long as any message that names the request can renew it.
    ///
    /// What it does not list, the Owner did not hold when it sent it, and can only get by a later grant. So this is safe
    /// for a racing request too, and no response to an Owner that lost a lease puts off the notification of the loss.
    fn extend(&mut self, from: NodeId, wanted: &Wanted, cx: &mut Cx<'_>) {
        for (range, entry) in ids(&self.ranges) {
            let renewed = entry.is_held_by(from) && !entry.recalled && entry.is_wanted_in(range, wanted);
            if renewed && cx.is_armed(&Timer::Unavailable(range)) {
                cx.copy(Timer::Heard(from), Timer::Unavailable(range));
            }
        }
    }

    /// What the Owner does not list it does not hold: it dropped, lost, refused or never got it.
    fn release_unwanted(&mut self, from: NodeId, wanted: &Wanted, leasing: &Leasing, cx: &mut Cx<'_>) {
        for range in leasing.ranges() {
            let entry = &self.ranges[index(range)];
            let kept = entry.is_wanted_in(range, wanted) && cx.is_armed(&Timer::Unavailable(range));
            if entry.is_held_by(from) && !kept {
                self.release(range, leasing, cx);
            }
        }
    }

    /// The lease has ended: a new generation tells every Lookup (PRS §4.1).
    fn release(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        let entry = &mut self.ranges[index(range)];
        entry.assignment = Assignment { generation: entry.assignment.generation.next(), owner: None };
        entry.recalled = false;
        cx.cancel(Timer::Unavailable(range));
        self.note_change(range, leasing);
    }

    fn note_change(&mut self, range: RangeId, leasing: &Leasing) {
        // Without Lookups nobody asks, and the log would only tell apart states that are alike.
        if leasing.params.lookups > 0 {
            self.log.push(range, self.ranges[index(range)].assignment, leasing.params.log);
        }
    }

    /// Answers an Owner that the Manager thinks holds something. To any other there is nothing to say.
    fn answer(&mut self, owner: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        if self.ranges.iter().any(|entry| entry.is_held_by(owner)) {
            self.send(owner, None, leasing, cx);
        } else {
            cx.cancel(Timer::BackOff(owner));
        }
    }

    /// "Every message from the Manager contains the complete set of ranges where the Owner should now hold a lease."
    fn send(&mut self, owner: NodeId, granted: Option<RangeId>, leasing: &Leasing, cx: &mut Cx<'_>) {
        let mut leases = BTreeMap::new();
        for (range, entry) in ids(&self.ranges) {
            let offered = entry.is_held_by(owner) && !entry.recalled && cx.is_armed(&Timer::Unavailable(range));
            if offered {
                let generation = entry.assignment.generation;
                let is_grant = granted == Some(range);
                leases.insert(range, if is_grant { Offer::Grant(generation) } else { Offer::Renewal(generation) });
                if leasing.mutants.has(MARGIN_FROM_SEND) {
                    cx.set(Timer::Unavailable(range), leasing.margin());
                }
            }
        }
        let Some(link) = self.links.get_mut(&owner) else { unreachable!("{owner:?} holds a range and is no Owner") };
        cx.cancel(Timer::BackOff(owner));
        cx.send(owner, Message::LeaseResponse { pair: link.outgoing(), leases });
    }

    /// What the assignment of ranges to Owners leaves open: to give a free range to a live Owner, to take one back.
    pub(super) fn decisions(&self, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
        for (range, entry) in ids(&self.ranges) {
            match entry.assignment.owner {
                Some(owner) if !entry.recalled && is_reachable(owner, offers) => offers.offer(Decision::Recall(range)),
                Some(_) => {}
                None if self.ready => offer_grants(range, leasing, offers),
                None => {}
            }
        }
    }

    pub(super) fn grant(&mut self, range: RangeId, owner: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("grant");
        self.ranges[index(range)].assignment.owner = Some(owner);
        // The grant names the latest request heard, so the Owner counts from its sending.
        cx.copy(Timer::Heard(owner), Timer::Unavailable(range));
        self.note_change(range, leasing);
        self.send(owner, Some(range), leasing, cx);
    }

    pub(super) fn recall(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("recall");
        let entry = &mut self.ranges[index(range)];
        entry.recalled = true;
        if let Some(owner) = entry.assignment.owner {
            self.send(owner, None, leasing, cx);
        }
    }

    /// Nobody can hold the lease any more.
    pub(super) fn on_unavailable_end(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("expiry");
        self.release(range, leasing, cx);
    }

    /// The racing message "is permanently discarded": what is sent now is what holds now (§2.3.2).
    pub(super) fn on_back_off(&mut self, owner: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        if cx.is_armed(&Timer::Heard(owner)) {
            self.answer(owner, leasing, cx);
        }
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    /// The lease table. `[i]` belongs to range `i`.
    pub(super) fn table(&self) -> Vec<Assignment> {
        self.ranges.iter().map(|entry| entry.assignment).collect()
    }

    /// What a request in flight can still do here.
    pub(super) fn relevance(&self, from: NodeId, message: &Message, leasing: &Leasing) -> Relevance<Message> {
        match message {
            Message::LeaseRequest { pair, wanted } => self.request_relevance(from, *pair, wanted, leasing),
            Message::LookupRequest { poll, known: Some(known) } if !self.log.reaches_back_to(*known) => {
                Relevance::Same(Message::LookupRequest { poll: *poll, known: None })
            }
            _ => Relevance::Live,
        }
    }

    fn request_relevance(
        &self,
        from: NodeId,
        pair: Pair<OwnerNumber, ManagerNumber>,
        wanted: &Wanted,
        leasing: &Leasing,
    ) -> Relevance<Message> {
        let Some(link) = self.links.get(&from) else { return Relevance::Always };
        let acts_as = match link.relevance(pair, leasing.manager_checks()) {
            Relevance::Dead => return Relevance::Dead,
            Relevance::Same(other) => other,
            Relevance::Live | Relevance::Always => pair,
        };
        // A generation that has passed counts as not listed, for good.
        let is_present = |range: &RangeId, generation: &Generation| {
            self.ranges.get(index(*range)).is_some_and(|entry| entry.assignment.generation == *generation)
        };
        let counted: Wanted =
            wanted.iter().filter(|(range, generation)| is_present(range, generation)).map(|(r, g)| (*r, *g)).collect();
        if acts_as == pair && counted == *wanted {
            return Relevance::Live;
        }
        Relevance::Same(Message::LeaseRequest { pair: acts_as, wanted: counted })
    }
}

/// Whether the Owner was heard of lately and no answer to it waits: what the Manager decides leaves at once.
fn is_reachable(owner: NodeId, offers: &mut Offers<'_, Leasing>) -> bool {
    offers.is_armed(&Timer::Heard(owner)) && !offers.is_armed(&Timer::BackOff(owner))
}

/// A free range may go to any live Owner, or to the first few from the range's place on.
fn offer_grants(range: RangeId, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
    let mut left = usize::from(leasing.params.candidates).wrapping_sub(1);
    for owner in leasing.candidates(range) {
        if is_reachable(owner, offers) {
            offers.offer(Decision::Grant(range, owner));
            if left == 0 {
                return;
            }
            left = left.wrapping_sub(1);
        }
    }
}

fn index(range: RangeId) -> usize {
    usize::from(range.0)
}

fn ids(ranges: &[Part<Entry>]) -> impl Iterator<Item = (RangeId, &Entry)> {
    (0..).map(RangeId).zip(ranges.iter().map(|entry| &**entry))
}
