//! A server on its own: it leads while its lease runs, and commits. What a Manager does with the group, and nothing else.

use seedbed_model::{Canonical, Context, Data, NodeId, Nonce, Offers};

use super::candidate::{Candidate, Ruling};
use super::message::Message;
use super::mutants::*;
use super::{Decision, Observation, Params, PaxosGroup, Timer};

/// A server's volatile state. It leads exactly while `term` is set *and* its `Lead` timer is armed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Server<V> {
    candidate: Candidate<V>,
    /// The term that it leads; `None` while it stands by.
    term: Option<u16>,
    /// How often it may bid, where that is bounded.
    bids_left: Option<u8>,
    /// What it has offered in this term.
    offered: u32,
    /// What it has offered and not seen committed. Sent again with each bid.
    uncommitted: Option<V>,
}

type Cx<'a, 'b, V> = &'a mut Context<'b, PaxosGroup<V>>;

impl<V: Data> Server<V> {
    pub(super) fn start(nonce: Nonce, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> Self {
        let candidate = Candidate::start(nonce, cx.node());
        let Params { bids, standby_bids, .. } = group.params;
        let bids = if cx.node().0 > 0 && standby_bids > 0 { standby_bids } else { bids };
        let bids_left = (bids > 0).then_some(bids);
        let mut server = Server { candidate, term: None, bids_left, offered: 0, uncommitted: None };
        if bids == 0 {
            server.bid(group, cx);
        }
        server
    }

    /// Asks for the lease, or renews it and commits what is not committed.
    pub(super) fn bid(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        match &mut self.bids_left {
            Some(left) => *left -= 1,
            None if group.has(BIDS_ONCE) => {}
            None => cx.set(Timer::NextBid, group.params.leader_renew),
        }
        // The lease counts from the sending of the bid, before an acceptor can count its grant.
        cx.set(Timer::Bid, group.params.leader_lease);
        match self.term {
            None => self.candidate.ask(group, cx),
            Some(_) => self.candidate.renew(self.uncommitted.clone(), group, cx),
        }
    }

    pub(super) fn on_message(&mut self, from: NodeId, message: Message<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        match self.candidate.on_answer(from, message, group, cx) {
            None => {}
            Some(Ruling::Elected { term, value, earlier }) if self.dates_lead(group, cx) => {
                self.term = Some(term);
                self.offered = 0;
                cx.observe(Observation::Leads { term, earlier, value });
            }
            Some(Ruling::Renewed) if self.leads(group, cx) && self.dates_lead(group, cx) => {
                if let Some(value) = self.uncommitted.take() {
                    cx.observe(Observation::Committed(value));
                }
            }
            Some(Ruling::No) if self.term.is_none() => {}
            Some(_) => self.step_down(cx),
        }
    }

    pub(super) fn on_lease_end(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        if !group.has(OLD_LEADER_LEADS) {
            self.step_down(cx);
        }
    }

    /// Offers the next state of the register.
    pub(super) fn commit(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let (Some(term), Some(made)) = (self.term.filter(|_| self.leads(group, cx)), group.made) else { return };
        self.offered += 1;
        let value = made(term, self.offered);
        cx.observe(Observation::Offered(value.clone()));
        self.uncommitted = Some(value);
        self.bid(group, cx);
    }

    pub(super) fn decisions(&self, group: &PaxosGroup<V>, offers: &mut Offers<'_, PaxosGroup<V>>) {
        if self.bids_left == Some(0) {
            return;
        }
        if self.bids_left.is_some() {
            offers.offer(Decision::Bid);
        }
        let has_one = group.params.commits == 0 || self.offered < group.params.commits;
        let leads = self.is_in_office() && offers.is_armed(&Timer::Lead);
        if leads && has_one && group.made.is_some() && self.uncommitted.is_none() {
            offers.offer(Decision::Commit);
        }
    }

    /// Whether it took itself for the leader until its lease ended.
    pub(super) fn is_in_office(&self) -> bool {
        self.term.is_some()
    }

    pub(super) fn awaits(&self, from: NodeId, message: &Message<V>) -> bool {
        self.candidate.awaits(from, message)
    }

    fn leads(&self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> bool {
        self.term.is_some() && (group.has(OLD_LEADER_LEADS) || cx.is_armed(&Timer::Lead))
    }

    /// Counts the lease from the sending of the bid that is answered, if that leaves any time.
    fn dates_lead(&self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> bool {
        if group.has(LEASE_FROM_RECEIPT) {
            cx.set(Timer::Lead, group.params.leader_lease);
            return true;
        }
        let in_time = cx.is_armed(&Timer::Bid);
        if in_time {
            cx.copy(Timer::Bid, Timer::Lead);
        }
        in_time
    }

    fn step_down(&mut self, cx: Cx<'_, '_, V>) {
        if self.term.is_some() && cx.is_armed(&Timer::Lead) {
            cx.observe(Observation::Deposed);
        }
        cx.mark("stepped-down");
        cx.cancel(Timer::Lead);
        self.candidate.step_down();
        self.term = None;
        self.offered = 0;
        self.uncommitted = None;
    }
}
