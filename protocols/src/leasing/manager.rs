//! A Manager server: while it leads, it grants, recalls, and knows every loss (Centrifuge §2.1, §2.3; PRS §4.1, §4.4).

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, NodeId, Nonce, Offers, Part, Serial, Span, Stream};

use super::balance::Balance;
use super::election::{Commit, Seat};
use super::log::Log;
use super::message::{Edition, Generation, ManagerNumber, Message, Offer, OwnerNumber, PollNumber, RangeId};
use super::mutants::{GENERATION_KEPT, MARGIN_FROM_SEND, MIGRATED_ON_CRASH, REPLY_BEFORE_COMMIT, SPLIT_FLAGS_BOTH};
use super::table::{self, Entry, Recall};
use super::{BackOff, Feature, Leasing, Record, Timer};
use crate::seqpair::{Link, Pair, Verdict};

pub(super) type Cx<'a> = Context<'a, Leasing>;
pub(super) type Wanted = BTreeMap<RangeId, Generation>;

/// A Manager server's volatile state. What a leader may rely on:
///
/// 1. a range with an owner has its `Unavailable` timer armed, or lapsed and about to be fired;
/// 2. an Owner holds a range only while that timer is armed: it counts from the receipt of a request that the Owner
///    counts from the sending of, or from the taking of office;
/// 3. a generation is granted in one message only;
/// 4. of a change that the group must hold nobody hears before the group has it.
///
/// A standby's state is as at its start, but for its seat.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Manager {
    pub(super) seat: Seat,
    /// Whether it may grant: nothing is left of what an earlier incarnation or leader granted and it does not know.
    pub(super) ready: bool,
    /// Owners to be answered, and Lookups with their polls, once what changed is committed. Empty between steps otherwise.
    pub(super) owed: BTreeSet<NodeId>,
    pub(super) owed_polls: BTreeMap<NodeId, Poll>,
    /// Its end of the link to each Owner.
    pub(super) links: BTreeMap<NodeId, Part<Link<ManagerNumber, OwnerNumber>>>,
    /// `ranges[i]` is range `i`.
    pub(super) ranges: Vec<Part<Entry>>,
    /// What Lookups are told.
    pub(super) log: Part<Log>,
    /// What of it is forgotten when the `Truncate` timer ends.
    pub(super) ages: Option<Edition>,
    /// Where load is managed.
    pub(super) balance: Option<Part<Balance>>,
}

/// A Lookup's poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Poll {
    pub(super) poll: Serial<PollNumber>,
    pub(super) known: Option<Edition>,
}

/// An Owner's request.
pub(super) struct Request<'a> {
    pub(super) pair: Pair<OwnerNumber, ManagerNumber>,
    pub(super) wanted: &'a Wanted,
    pub(super) received: &'a Wanted,
}

impl Manager {
    pub(super) fn start(leasing: &Leasing, was_started: bool, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let mut manager = Manager {
            seat: Seat::new(leasing, nonce, cx.node().0),
            ready: false,
            owed: BTreeSet::new(),
            owed_polls: BTreeMap::new(),
            links: leasing.owners().map(|owner| (owner, Part::new(Link::new(nonce, owner.0)))).collect(),
            ranges: leasing.ranges().map(|range| Part::new(Entry::free(Generation::first(nonce, range)))).collect(),
            log: Part::new(Log::new(nonce)),
            ages: None,
            balance: leasing.new_balance().map(Part::new),
        };
        if !leasing.has_no_group() {
            manager.bid(leasing, cx);
        } else if was_started {
            cx.mark("manager-restarted");
            manager.wait_for_all(leasing, cx);
        } else {
            // Nothing is granted until this is durable: without it, the next incarnation would not wait.
            cx.persist(Stream(0), Record::Started);
        }
        manager
    }

    /// "A lease request signals Owner liveness and specifies the leases where the Owner wants renewals" (§2.3).
    pub(super) fn on_request(&mut self, from: NodeId, request: &Request<'_>, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(link) = self.links.get_mut(&from) else { return cx.mark("request of no Owner") };
        let verdict = link.admit(request.pair, leasing.manager_checks());
        if verdict == Verdict::Stale {
            return cx.mark("stale-request");
        }
        // Whatever is sent to the Owner from here on names this request, and counts from its sending there.
        cx.set(Timer::Heard(from), leasing.margin());
        self.extend(from, request.wanted, cx);
        self.note_retained(from, request.wanted, leasing);
        match verdict {
            // A racing request is dropped, but alive is alive. See `extend` for what it lists.
            Verdict::Race => {
                cx.mark("race-dropped");
                if leasing.backs_off(from, cx) == BackOff::Over {
                    self.answer(from, cx);
                }
            }
            // A new incarnation holds nothing; all is offered for renewal, to be refused (§2.3).
            Verdict::NewSession => {
                cx.mark("session-opened");
                self.answer(from, cx);
            }
            Verdict::Fresh | Verdict::Stale => {
                self.release_unwanted(from, request.wanted, leasing, cx);
                self.complete_moves(from, request.received, leasing, cx);
                self.answer(from, cx);
            }
        }
    }

    /// Keeps what the request lists from others, for as long as any message that names the request can renew it.
    ///
    /// What it does not list, the Owner did not hold when it sent it, and can only get by a later grant. So this is safe
    /// for a racing request too, and no response to an Owner that lost a lease puts off the notification of the loss.
    fn extend(&mut self, from: NodeId, wanted: &Wanted, cx: &mut Cx<'_>) {
        for (range, entry) in table::ids(&self.ranges) {
            let renewed = entry.is_held_by(from) && entry.recall == Recall::No && entry.is_wanted_in(range, wanted);
            if renewed && cx.is_armed(&Timer::Unavailable(range)) {
                cx.copy(Timer::Heard(from), Timer::Unavailable(range));
                if self.seat.term.is_some_and(|term| !entry.assignment.generation.is_of(term)) {
                    cx.mark("lease-resumed");
                }
            }
        }
    }

    /// What the Owner does not list it does not hold: it dropped, lost, refused or never got it. What is on the move is
    /// another's to report, until its margin ends.
    fn release_unwanted(&mut self, from: NodeId, wanted: &Wanted, leasing: &Leasing, cx: &mut Cx<'_>) {
        for range in leasing.ranges() {
            let entry = &self.ranges[index(range)];
            let kept = entry.is_wanted_in(range, wanted) && cx.is_armed(&Timer::Unavailable(range));
            let may_have_it = entry.unsent.is_some() || entry.is_moving() || leasing.may_be_retained(range, wanted);
            if entry.is_held_by(from) && !kept && !may_have_it {
                self.release(range, leasing, cx);
            }
        }
    }

    /// The lease has ended: a new generation tells every Lookup (PRS §4.1).
    fn release(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Entry { assignment: before, recall, .. } = *self.ranges[index(range)];
        let generation = self.generation_after(before.generation, leasing);
        let entry = &mut self.ranges[index(range)];
        **entry = Entry::free(generation);
        let splits = recall == Recall::Split && leasing.mutants.has(SPLIT_FLAGS_BOTH);
        if leasing.mutants.has(MIGRATED_ON_CRASH) || splits {
            entry.assignment.since = before.since;
        }
        cx.cancel(Timer::Unavailable(range));
        self.note_change(range, leasing, cx);
    }

    pub(super) fn generation_after(&self, generation: Generation, leasing: &Leasing) -> Generation {
        match self.seat.term {
            Some(term) if !leasing.mutants.has(GENERATION_KEPT) => generation.next(term),
            _ => generation,
        }
    }

    pub(super) fn note_change(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        // Without Lookups nobody asks, and the log would only tell apart states that are alike.
        if let Some(term) = self.seat.term.filter(|_| leasing.params.lookups > 0) {
            let by_age = leasing.params.log_age > Span::ZERO;
            let length_max = if by_age { usize::MAX } else { leasing.params.log };
            self.log.push(term, range, self.ranges[index(range)].assignment, length_max);
            self.age_log(leasing, cx);
        }
        if leasing.commits() {
            self.seat.commit = Commit::Due;
        }
    }

    /// "The change log is periodically truncated" (PRS §4.1): of what was there when a period began, nothing is left when it
    /// ends. So each change is kept for a period at least, "5 minutes" (Centrifuge §2.1.2), and for two at most.
    pub(super) fn age_log(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if leasing.params.log_age > Span::ZERO && self.ages.is_none() && !self.log.is_empty() {
            self.ages = Some(self.log.edition());
            cx.set(Timer::Truncate, leasing.params.log_age);
        }
    }

    pub(super) fn truncate(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if let Some(upto) = self.ages.take() {
            cx.mark("truncated");
            self.log.truncate(upto);
            self.age_log(leasing, cx);
        }
    }

    /// Answers an Owner that the Manager thinks holds something. To any other there is nothing to say.
    fn answer(&mut self, owner: NodeId, cx: &mut Cx<'_>) {
        if self.ranges.iter().any(|entry| entry.is_held_by(owner)) {
            self.owed.insert(owner);
        } else {
            cx.cancel(Timer::BackOff(owner));
        }
    }

    /// A step ends: what changed goes to the group, and only then to whoever waits for it. "Every time the leader receives
    /// a request that requires it to update its internal state, it commits the state change to the Paxos group before
    /// responding to the caller" (Centrifuge §2.1.1).
    pub(super) fn settle(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if self.seat.commit == Commit::Due {
            self.bid(leasing, cx);
        }
        if self.seat.commit != Commit::Done && !leasing.mutants.has(REPLY_BEFORE_COMMIT) {
            return;
        }
        for owner in std::mem::take(&mut self.owed) {
            self.send(owner, leasing, cx);
        }
        for (lookup, Poll { poll, known }) in std::mem::take(&mut self.owed_polls) {
            let news = self.log.news(known, table::assignments(&self.ranges), leasing);
            cx.send(lookup, Message::LookupResponse { poll, edition: self.log.edition(), news });
        }
    }

    /// "Every message from the Manager contains the complete set of ranges where the Owner should now hold a lease."
    fn send(&mut self, owner: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        let (mut leases, mut moves) = (BTreeMap::new(), BTreeMap::new());
        for range in leasing.ranges() {
            let entry = &self.ranges[index(range)];
            if !entry.is_held_by(owner) || !cx.is_armed(&Timer::Unavailable(range)) {
                continue;
            }
            match entry.recall {
                Recall::Move(to) => drop(moves.insert(range, to)),
                Recall::Drop | Recall::Split => {}
                Recall::No => drop(self.offer(owner, range, leasing, cx).map(|offer| leases.insert(range, offer))),
            }
        }
        let Some(link) = self.links.get_mut(&owner) else { unreachable!("{owner:?} holds a range and is no Owner") };
        cx.cancel(Timer::BackOff(owner));
        cx.send(owner, Message::LeaseResponse { pair: link.outgoing(), leases, moves });
    }

    fn offer(&mut self, owner: NodeId, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) -> Option<Offer> {
        if self.ranges[index(range)].unsent.is_some() {
            if !cx.is_armed(&Timer::Heard(owner)) {
                return None;
            }
            // The grant names the latest request heard, so the Owner counts from its sending.
            cx.copy(Timer::Heard(owner), Timer::Unavailable(range));
            return self.ranges[index(range)].unsent.take();
        }
        let Entry { assignment, retained, .. } = *self.ranges[index(range)];
        if let Some(from) = retained.filter(|_| cx.is_armed(&Timer::Heard(owner))) {
            cx.copy(Timer::Heard(owner), Timer::Unavailable(range));
            return Some(Offer::Migrated { generation: assignment.generation, from });
        }
        if leasing.mutants.has(MARGIN_FROM_SEND) {
            cx.set(Timer::Unavailable(range), leasing.margin());
        }
        Some(Offer::Renewal(self.ranges[index(range)].assignment.generation))
    }

    /// What the assignment of ranges to Owners leaves open: to give a free range to a live Owner, to take one back, to let
    /// one change hands with its state.
    pub(super) fn decisions(&self, leasing: &Leasing, offers: &mut Offers<'_, Leasing>) {
        let in_office = leasing.has_no_group() || (self.is_in_office() && offers.is_armed(&Timer::Lead));
        if in_office && self.seat.commit == Commit::Done {
            let counts = self.balance.as_ref().map(|balance| &balance.counts);
            table::decisions(&self.ranges, counts, self.ready, leasing, offers);
        }
    }

    pub(super) fn grant(&mut self, range: RangeId, owner: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("grant");
        let offer = Offer::Grant(self.ranges[index(range)].assignment.generation);
        self.assign(range, owner, offer, leasing, cx);
        if let Some(other) = self.free_half(range, leasing) {
            let offer = Offer::Grant(self.ranges[index(other)].assignment.generation);
            self.assign(other, owner, offer, leasing, cx);
        }
    }

    pub(super) fn assign(&mut self, range: RangeId, owner: NodeId, offer: Offer, leasing: &Leasing, cx: &mut Cx<'_>) {
        let entry = &mut self.ranges[index(range)];
        entry.assignment.owner = Some(owner);
        entry.assignment.generation = offer.generation();
        entry.recall = Recall::No;
        entry.retained = None;
        entry.unsent = Some(offer);
        cx.copy(Timer::Heard(owner), Timer::Unavailable(range));
        self.note_change(range, leasing, cx);
        self.owed.insert(owner);
    }

    pub(super) fn recall(&mut self, range: RangeId, recall: Recall, leasing: &Leasing, cx: &mut Cx<'_>) {
        match recall {
            Recall::Drop => {
                cx.mark("recall");
                leasing.show(Feature::Recall, cx);
            }
            Recall::Split => cx.mark("recall"),
            Recall::Move(_) | Recall::No => cx.mark("move"),
        }
        let entry = &mut self.ranges[index(range)];
        entry.recall = recall;
        if let Some(owner) = entry.assignment.owner {
            self.owed.insert(owner);
        }
    }

    /// The state of a range has arrived where it was to go. Its Owner dropped the lease before it handed it over, so the
    /// range is free, and what Lookups know of it is not lost.
    fn complete_moves(&mut self, from: NodeId, received: &Wanted, leasing: &Leasing, cx: &mut Cx<'_>) {
        for (range, generation) in received {
            let Some(entry) = self.ranges.get(index(*range)) else { continue };
            let complete = entry.recall == Recall::Move(from) && entry.assignment.generation == *generation;
            if complete && cx.is_armed(&Timer::Unavailable(*range)) {
                cx.mark("migrated");
                let next = self.generation_after(*generation, leasing);
                self.assign(*range, from, Offer::Migrated { generation: next, from: *generation }, leasing, cx);
            }
        }
    }

    /// Nobody can hold the lease any more.
    pub(super) fn on_unavailable_end(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("expiry");
        self.release(range, leasing, cx);
    }

    /// The racing message "is permanently discarded": what is sent now is what holds now (§2.3.2).
    pub(super) fn on_back_off(&mut self, owner: NodeId, cx: &mut Cx<'_>) {
        if cx.is_armed(&Timer::Heard(owner)) {
            self.answer(owner, cx);
        }
    }

    pub(super) fn on_poll(&mut self, from: NodeId, poll: Poll) {
        self.owed_polls.insert(from, poll);
    }

    /// The lease table. `[i]` belongs to range `i`.
    #[cfg(test)]
    pub(super) fn table(&self) -> Vec<super::Assignment> {
        table::assignments(&self.ranges)
    }
}

pub(super) fn index(range: RangeId) -> usize {
    usize::from(range.0)
}
