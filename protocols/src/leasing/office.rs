//! How a Manager server takes office, and leaves it: what it knows then, and what it must wait for (Centrifuge §2.1.1; PRS §4.4).

use seedbed_model::{NodeId, Nonce, Part, Serial};

use super::election::Outcome;
use super::log::Log;
use super::manager::{Cx, Manager, index};
use super::message::{BidNumber, Generation, Register, Ruling};
use super::mutants::{MARGINS_NOT_RESTARTED, NO_QUARANTINE};
use super::table::{self, Entry};
use super::{Feature, Leasing, Timer, Variant};
use crate::paxos::group as paxos;
use crate::seqpair::Link;

impl Manager {
    /// PRS §4.4: "all previously granted leases are allowed to expire before any new leases are granted". Nobody grants in
    /// an earlier term from here on, so they have expired when a margin has passed.
    pub(super) fn wait_for_all(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.set(Timer::Quarantine, leasing.params.margin);
        self.ready = leasing.mutants.has(NO_QUARANTINE);
    }

    /// From here on, whatever may be held was granted by this incarnation or leader.
    pub(super) fn on_ready(&mut self) {
        self.ready = true;
    }

    /// Whether it may act as leader now.
    pub(super) fn leads(&self, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        self.seat.leads(leasing, cx)
    }

    /// Whether it took itself for the leader until its lease ended.
    pub(super) fn is_in_office(&self) -> bool {
        self.seat.term.is_some()
    }

    pub(super) fn bid(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Manager { seat, ranges, log, .. } = self;
        let state = || Register { table: table::assignments(ranges), log: (**log).clone() };
        seat.bid(state, leasing, cx);
    }

    pub(super) fn on_ruling(&mut self, bid: Serial<BidNumber>, ruling: Ruling, leasing: &Leasing, cx: &mut Cx<'_>) {
        match self.seat.on_ruling(bid, ruling, leasing, cx) {
            Outcome::Same | Outcome::Committed => {}
            Outcome::Elected { term, earlier, register } => self.take_office(term, earlier, register, leasing, cx),
            Outcome::Deposed => self.step_down(leasing, cx),
        }
    }

    /// An acceptor of the Paxos group answers; with a majority of them, the group rules on the latest bid.
    pub(super) fn on_acceptor(
        &mut self,
        from: NodeId,
        message: paxos::Message<Register>,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        let Some(candidate) = &mut self.seat.candidate else { return cx.mark("input out of place") };
        if let Some(ruling) = leasing.hear_acceptor(candidate, from, message, cx) {
            self.on_ruling(self.seat.latest_bid(), ruling, leasing, cx);
        }
    }

    /// "It reads in all the state from the Paxos group, and then resumes processing where the previous leader left off"
    /// (Centrifuge §2.1.1); in PRS there is none to read.
    fn take_office(
        &mut self,
        term: Nonce,
        earlier: bool,
        register: Option<Register>,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        self.renew_all(term, leasing);
        self.ready = true;
        if earlier {
            cx.mark("failover");
            leasing.show(Feature::Failover, cx);
        }
        match register {
            Some(register) if leasing.params.variant == Variant::Centrifuge => self.resume(register, leasing, cx),
            _ if earlier && leasing.params.variant == Variant::Prs => self.wait_for_all(leasing, cx),
            _ => {}
        }
    }

    /// When what it reads was granted, and last renewed, the group does not know, and another machine's clock would not
    /// help: whatever may be held may be held for a whole margin from here.
    fn resume(&mut self, register: Register, leasing: &Leasing, cx: &mut Cx<'_>) {
        let span =
            if leasing.mutants.has(MARGINS_NOT_RESTARTED) { leasing.params.renew } else { leasing.params.margin };
        for (range, assignment) in leasing.ranges().zip(register.table) {
            self.ranges[index(range)].assignment = assignment;
            if assignment.owner.is_some() {
                cx.set(Timer::Unavailable(range), span);
            }
        }
        *self.log = register.log;
        self.age_log(leasing, cx);
    }

    /// As at the start, in `term`: no session is open and nothing is known.
    fn renew_all(&mut self, term: Nonce, leasing: &Leasing) {
        for (owner, link) in &mut self.links {
            **link = Link::new(term, owner.0);
        }
        for range in leasing.ranges() {
            *self.ranges[index(range)] = Entry::free(Generation::first(term, range));
        }
        *self.log = Log::new(term);
        self.ages = None;
        self.balance = leasing.new_balance().map(Part::new);
        self.owed.clear();
        self.owed_polls.clear();
        self.ready = false;
    }

    /// Another may lead from here on: all that it knows is the group's or lost.
    pub(super) fn step_down(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.seat.step_down(cx);
        self.renew_all(self.seat.nonce(), leasing);
        leasing.owners().for_each(|owner| {
            cx.cancel(Timer::Heard(owner));
            cx.cancel(Timer::BackOff(owner));
        });
        leasing.ranges().for_each(|range| cx.cancel(Timer::Unavailable(range)));
        cx.cancel(Timer::Quarantine);
        cx.cancel(Timer::Truncate);
        cx.cancel(Timer::Balance);
    }

    /// Whether a ruling of the group is the one that is awaited.
    pub(super) fn awaits(&self, bid: Serial<BidNumber>) -> bool {
        self.seat.is_awaited(bid)
    }
}
