//! How a Manager server comes to lead, and stays leader (Centrifuge §2.1.1, Figure 3; PRS §4.4).

use seedbed_model::{Canonical, Context, NodeId, Nonce, Serial};

use super::message::{Ask, BidNumber, Message, Register, Ruling};
use super::mutants::{LEADER_FROM_RECEIPT, OLD_LEADER_SERVES};
use super::{Leasing, Observation, Timer};
use crate::paxos::group::Candidate;

type Cx<'a> = Context<'a, Leasing>;

/// A server's seat in the Manager service.
///
/// It leads exactly while `term` is set *and* its `Lead` timer is armed, which ends before the group may elect another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Seat {
    /// The term that it leads; `None` while it stands by. A Manager without a group leads for the incarnation's life.
    pub(super) term: Option<Nonce>,
    /// The latest bid to the group.
    bid: Serial<BidNumber>,
    /// Whether its answer is awaited.
    awaits: bool,
    /// What became of the latest change of the state.
    pub(super) commit: Commit,
    /// Its side of the Paxos group, where the acceptors are nodes here.
    pub(super) candidate: Option<Box<Candidate<Register>>>,
}

/// How far the group holds the leader's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum Commit {
    /// Whole.
    Done,
    /// Something changed, and is not sent yet. Only within a step.
    Due,
    /// The latest bid carries what changed.
    Awaited,
}

/// What an answer of the group means for the server.
#[derive(PartialEq)]
pub(super) enum Outcome {
    /// Nothing changes.
    Same,
    /// It leads from here on.
    Elected { term: Nonce, earlier: bool, register: Option<Register> },
    /// What it had changed is committed.
    Committed,
    /// It leads no longer.
    Deposed,
}

impl Seat {
    pub(super) fn new(leasing: &Leasing, nonce: Nonce, node: u16) -> Self {
        let term = leasing.has_no_group().then_some(nonce);
        let candidate = leasing.has_acceptors().then(|| Box::new(Candidate::start(nonce, NodeId(node))));
        Seat { term, bid: Serial::before_first(nonce, node), awaits: false, commit: Commit::Done, candidate }
    }

    /// The server's own incarnation.
    pub(super) fn nonce(&self) -> Nonce {
        self.bid.nonce
    }

    /// The term that the server may act in now. A leader that stood still for longer than its lease may not.
    pub(super) fn leads(&self, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        let in_time = leasing.has_no_group() || leasing.mutants.has(OLD_LEADER_SERVES) || cx.is_armed(&Timer::Lead);
        self.term.is_some() && in_time
    }

    /// "All the standby servers periodically ask the Paxos group to become the leader"; a leader renews its lease, and
    /// commits with the same message what changed.
    pub(super) fn bid(&mut self, state: impl FnOnce() -> Register, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.bid = self.bid.next();
        self.awaits = true;
        // The leader lease counts from the sending of the bid, before the group can count its own.
        cx.set(Timer::Bid, leasing.params.leader_lease);
        cx.set(Timer::NextBid, leasing.params.leader_renew);
        let ask = match self.term {
            None => Ask::Lease,
            Some(term) => Ask::Renewal { term, update: (self.commit != Commit::Done).then(state) },
        };
        if self.commit == Commit::Due {
            self.commit = Commit::Awaited;
        }
        match &mut self.candidate {
            None => cx.send(leasing.group(), Message::GroupRequest { bid: self.bid, ask }),
            Some(candidate) => leasing.ask_acceptors(candidate, ask, cx),
        }
    }

    /// The latest bid to the group.
    pub(super) fn latest_bid(&self) -> Serial<BidNumber> {
        self.bid
    }

    pub(super) fn on_ruling(
        &mut self,
        bid: Serial<BidNumber>,
        ruling: Ruling,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) -> Outcome {
        if !self.is_awaited(bid) {
            cx.mark("stale-ruling");
            return Outcome::Same;
        }
        self.awaits = false;
        match (ruling, self.term) {
            (Ruling::No, None) => Outcome::Same,
            (Ruling::No, Some(_)) => Outcome::Deposed,
            (Ruling::Elected { term, earlier, register }, None) if self.dates_lead(leasing, cx) => {
                self.term = Some(term);
                cx.observe(Observation::Leads);
                Outcome::Elected { term, earlier, register }
            }
            (Ruling::Renewed, Some(_)) if self.leads(leasing, cx) && self.dates_lead(leasing, cx) => {
                let committed = std::mem::replace(&mut self.commit, Commit::Done) == Commit::Awaited;
                if committed { Outcome::Committed } else { Outcome::Same }
            }
            (Ruling::Renewed, Some(_)) => Outcome::Deposed,
            _ => {
                cx.mark("elected-too-late");
                Outcome::Same
            }
        }
    }

    /// Whether a ruling answers the latest bid.
    pub(super) fn is_awaited(&self, bid: Serial<BidNumber>) -> bool {
        self.awaits && bid == self.bid
    }

    /// Counts the leader lease from the sending of the bid that is answered, if that leaves any time.
    fn dates_lead(&self, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        if leasing.mutants.has(LEADER_FROM_RECEIPT) {
            cx.set(Timer::Lead, leasing.params.leader_lease);
            return true;
        }
        let in_time = cx.is_armed(&Timer::Bid);
        if in_time {
            cx.copy(Timer::Bid, Timer::Lead);
        }
        in_time
    }

    /// Back among the standbys. The next bid asks for the lease.
    pub(super) fn step_down(&mut self, cx: &mut Cx<'_>) {
        cx.mark("stepped-down");
        if cx.is_armed(&Timer::Lead) {
            cx.observe(Observation::Deposed);
        }
        cx.cancel(Timer::Lead);
        if let Some(candidate) = &mut self.candidate {
            candidate.step_down();
        }
        self.term = None;
        self.commit = Commit::Done;
    }
}
