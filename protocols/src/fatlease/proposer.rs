//! The proposer: INITIATE_CONSENSUS, answer by answer, and the lease operations that start it (§4.2, §4.3). A round of it is
//! that of Paxos ([`crate::paxos::Round`]); which instance it is for, and what else is answered, is here.

use seedbed_model::{Canonical, Context, NodeId, NodeSet};

use super::acceptor::{Acceptor, At, Known};
use super::message::{Answer, Ballot, Body, CellId, Instance, Lease, Message, Reply, Vote};
use super::mutants::*;
use super::{FaTLease, Host, Observed, Timer};
use crate::paxos::{self, Phase, Round, Share};

/// The proposals of a host in one cell, the oldest first: a proposer may be given up while its messages are on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Proposer {
    /// Under way.
    pub attempts: Vec<Attempt>,
    /// The largest ballot number that a NACK told of.
    pub heard: u16,
    /// How many rounds the present GET_LEASE has begun.
    pub rounds: u8,
    /// In print alone: what the next round proposes.
    pub carried: Option<Lease>,
}

/// One INITIATE_CONSENSUS(λ, i).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Attempt {
    /// b, and where it stands.
    pub round: Round<Ballot, Lease>,
    /// i.
    pub instance: Instance,
    /// λ: the own one, or the one that it must propose.
    pub lease: Lease,
    /// Who rejected PREPARE.
    pub rejects: NodeSet,
}

type Cx<'a, 'b> = &'a mut Context<'b, FaTLease>;

impl Host {
    /// One turn of GET_LEASE's loop.
    pub(super) fn get_lease(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        let at = self.at(rules, cx);
        let acceptor = &self.acceptors[usize::from(cell.0)];
        let (known, instance) = (acceptor.check_local_state(at, rules), acceptor.instance);
        match known {
            Known::Valid(lease) if self.is_inherited(lease, at, rules) => {
                rules.show(cell, Observed::Without { now: at.now }, cx);
                return self.take_over(cell, rules, cx);
            }
            Known::Valid(lease) if lease.owner == at.node => {
                if lease.end > at.now.plus(rules.params.lease) {
                    cx.mark("clock-moved");
                }
                let is_own = lease.asked.nonce == self.nonce;
                rules.show(cell, Observed::Used { lease, is_own }, cx);
            }
            Known::Valid(lease) => rules.show(cell, Observed::Told(lease), cx),
            _ => rules.show(cell, Observed::Without { now: at.now }, cx),
        }
        if matches!(known, Known::None | Known::Unknown) && self.proposers[usize::from(cell.0)].rounds == 0 {
            cx.mark("asked");
        }
        match known {
            Known::Valid(_) => {}
            _ if rules.retries() && self.is_busy(cell, cx) => {}
            Known::None => self.initiate(cell, instance.next(), None, at, rules, cx),
            Known::Unknown => self.initiate(cell, instance, None, at, rules, cx),
            Known::Wait => {
                cx.mark("safety-period");
                self.retry(cell, rules, cx);
            }
        }
    }

    /// A renewal: the owner proposes in the instance after that of its lease, while that is valid; or once more there.
    pub(super) fn renew(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        let at = self.at(rules, cx);
        let acceptor = &self.acceptors[usize::from(cell.0)];
        let instance = if acceptor.learned.is_some() { acceptor.instance.next() } else { acceptor.instance };
        match acceptor.check_local_state(at, rules) {
            Known::Valid(lease) if lease.owner == at.node && rules.extends(lease, at) => {
                cx.mark("renewal");
                self.initiate(cell, instance, None, at, rules, cx);
            }
            _ => cx.mark("nothing to renew"),
        }
    }

    /// INVALIDATE.
    pub(super) fn invalidate(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        let at = self.at(rules, cx);
        let index = usize::from(cell.0);
        let Known::Valid(lease) = self.acceptors[index].check_local_state(at, rules) else {
            return cx.mark("nothing to invalidate");
        };
        if lease.owner != at.node && !rules.has(INVALIDATED_BY_OTHERS) {
            return cx.mark("nothing to invalidate");
        }
        // What is being proposed for this host is given up too.
        let proposed = self.proposers[index].attempts.iter().map(|attempt| attempt.lease);
        let own = proposed.chain(self.acceptors[index].held()).filter(|held| held.owner == lease.owner);
        let last = own.max_by_key(|held| (held.end, held.asked)).unwrap_or(lease);
        rules.show(cell, Observed::Invalidated(last), cx);
        self.drop_attempts(cell);
        let acceptor = &mut self.acceptors[index];
        let given_up = acceptor.instance;
        acceptor.give_up(given_up.next(), rules);
        let named = if rules.prints(INV_NUMBER) { acceptor.instance } else { given_up };
        self.broadcast(cell, Body::Inv(named, last), rules, cx);
    }

    /// Forgets the cell's state, if that is allowed by now (§4.4).
    pub(super) fn discard(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        let at = self.at(rules, cx);
        if !self.acceptors[usize::from(cell.0)].may_discard(at, rules) {
            return cx.mark("kept");
        }
        cx.mark("discarded");
        if rules.params.counts {
            rules.show(cell, Observed::Forgot, cx);
        }
        self.forget(cell, Instance::INITIAL);
    }

    fn forget(&mut self, cell: CellId, instance: Instance) {
        *self.acceptors[usize::from(cell.0)] = Acceptor { instance, ..Acceptor::default() };
        *self.proposers[usize::from(cell.0)] = Proposer::default();
    }

    /// Whether a proposal is under way, or waits for its next round.
    pub(super) fn is_busy(&self, cell: CellId, cx: Cx<'_, '_>) -> bool {
        !self.proposers[usize::from(cell.0)].attempts.is_empty() || cx.is_armed(&Timer::BackOff(cell))
    }

    fn drop_attempts(&mut self, cell: CellId) {
        if !self.proposers[usize::from(cell.0)].attempts.is_empty() {
            self.proposers[usize::from(cell.0)].attempts.clear();
        }
    }

    /// INITIATE_CONSENSUS(λ, i), lines 4 and 5. In print λ is what the caller proposes, round for round; repaired, each
    /// round proposes a lease of its own.
    fn initiate(
        &mut self,
        cell: CellId,
        instance: Instance,
        lease: Option<Lease>,
        at: At,
        rules: &FaTLease,
        cx: Cx<'_, '_>,
    ) {
        let index = usize::from(cell.0);
        let acceptor = &self.acceptors[index];
        let promised = if acceptor.instance == instance { acceptor.paxos.denied().number } else { 0 };
        let number = Share::ALL.beyond(promised.max(self.proposers[index].heard));
        if !rules.is_within(instance, number) || !self.pays() {
            return cx.mark("out of numbers");
        }
        if rules.params.counts {
            rules.show(cell, Observed::Proposed(instance), cx);
        }
        self.attempt = self.attempt.next();
        let ballot = Ballot { number, host: at.node, attempt: self.attempt };
        let own = Lease { owner: at.node, end: at.now.plus(rules.params.lease), asked: self.attempt };
        let lease = lease.or(self.proposers[index].carried.take()).unwrap_or(own);
        let attempts = &mut self.proposers[index].attempts;
        if attempts.len() == usize::from(rules.params.proposers) {
            attempts.remove(0);
        }
        attempts.push(Attempt { round: Round::prepare(ballot), instance, lease, rejects: NodeSet::EMPTY });
        if rules.retries() {
            cx.set(Timer::Response(cell), rules.params.response);
        }
        self.broadcast(cell, Body::Prepare(ballot, instance), rules, cx);
        let answer = self.acceptors[index].on_prepare(at.node, ballot, instance, at, rules);
        self.answer(at.node, Reply { cell, ballot, answer }, at, rules, cx);
    }

    /// An acceptor's answer: lines 6 to 36.
    pub(super) fn on_answer(&mut self, from: NodeId, reply: Reply, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let Reply { cell, ballot, answer } = reply;
        let index = usize::from(cell.0);
        let Some(place) = self.proposers[index].attempts.iter().position(|attempt| attempt.round.ballot == ballot)
        else {
            return cx.mark("late answer");
        };
        if let Answer::Reject { instance, learned: Some(lease) } = answer {
            let news = self.acceptors[index].on_learn(lease, instance, at, rules);
            self.tell(cell, news, rules, cx);
        }
        let attempt = &mut self.proposers[index].attempts[place];
        match (&attempt.round.phase, answer) {
            (Phase::Prepare { highest, .. }, Answer::Ack(vote)) => {
                // In print every answer bears the proposer's own ballot, and any of them is the largest.
                let ties = |vote: &Vote| highest.is_some_and(|other| other.ballot == vote.ballot && other != *vote);
                let vote = vote.filter(|vote| !ties(vote) || cx.choose(2) == 1);
                if attempt.round.on_promise(from, vote, &rules.paxos) {
                    self.accept(cell, place, at, rules, cx);
                }
            }
            (Phase::Accept { .. }, Answer::Accepted) => {
                if attempt.round.on_vote(from, &rules.paxos) {
                    self.decide(cell, place, at, rules, cx);
                }
            }
            // One is enough (line 11).
            (_, Answer::Nack(number)) => {
                cx.mark("nack");
                let lease = self.proposers[index].attempts.remove(place).lease;
                self.proposers[index].heard = self.proposers[index].heard.max(number);
                // Line 35 proposes λ anew, though line 22 may have made it another host's.
                self.proposers[index].carried = Some(lease).filter(|_| rules.prints(RETRIED_LEASE));
                self.retry(cell, rules, cx);
            }
            (Phase::Prepare { .. }, Answer::Outdated { instance, promised, accepted }) => {
                cx.mark("outdated");
                let attempt = self.proposers[index].attempts.remove(place);
                if rules.prints(OUTDATED_OVERWRITES) {
                    let keep = self.acceptors[index].keep;
                    let paxos = paxos::Acceptor { promised, accepted };
                    *self.acceptors[index] = Acceptor { instance, paxos, keep, ..Acceptor::default() };
                }
                let lease = Some(attempt.lease).filter(|_| rules.prints(RETRIED_LEASE));
                self.initiate(cell, instance, lease, at, rules, cx);
            }
            (Phase::Prepare { .. }, Answer::Reject { instance, .. }) => {
                cx.mark("rejected");
                attempt.rejects.insert(from);
                if attempt.rejects.len() >= rules.paxos.majority() {
                    self.step_back(cell, place, instance, at, rules, cx);
                }
            }
            (Phase::Accept { .. }, Answer::Reject { .. }) => {
                cx.mark("rejected");
                self.proposers[index].attempts.remove(place);
                self.retry(cell, rules, cx);
            }
            _ => cx.mark("late answer"),
        }
    }

    /// Lines 15 to 26: a majority promised.
    fn accept(&mut self, cell: CellId, place: usize, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let index = usize::from(cell.0);
        let attempt = &mut self.proposers[index].attempts[place];
        let instance = attempt.instance;
        let prior = attempt.round.begin_accept();
        attempt.rejects = NodeSet::EMPTY;
        if let Some(prior) =
            prior.filter(|prior| rules.is_past(prior.value.end, at.now) && !rules.prints(PROPOSES_WHAT_IS_OVER))
        {
            // Nobody would accept it; if anything was chosen here, it is this.
            self.proposers[index].attempts.remove(place);
            if !rules.is_over(prior.value, at) {
                cx.mark("safety-period");
                return self.retry(cell, rules, cx);
            }
            cx.mark("instance-over");
            return self.initiate(cell, instance.next(), None, at, rules, cx);
        }
        if let Some(prior) = prior {
            if prior.value != attempt.lease {
                cx.mark("adopted");
            }
            attempt.lease = prior.value;
            if rules.prints(BALLOT_FROM_ANSWER) {
                attempt.round.ballot = prior.ballot;
            }
        }
        let (lease, ballot) = (attempt.lease, attempt.round.ballot);
        if rules.retries() {
            // "a response from a majority to a prepare or accept request within one second" (§5.1).
            cx.set(Timer::Response(cell), rules.params.response);
        }
        self.broadcast(cell, Body::Accept(lease, instance, ballot), rules, cx);
        // From here on the own promise counts as any other.
        self.acceptors[index].keep_on(at, rules);
        let answer = self.acceptors[index].on_accept(lease, instance, ballot, at, rules);
        self.answer(at.node, Reply { cell, ballot, answer }, at, rules, cx);
    }

    /// Lines 27 to 31: a majority accepted.
    fn decide(&mut self, cell: CellId, place: usize, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let index = usize::from(cell.0);
        let Attempt { round, instance, lease, .. } = self.proposers[index].attempts.remove(place);
        self.proposers[index].rounds = 0;
        cx.mark("decided");
        if instance > Instance::INITIAL {
            cx.mark("next-instance");
        }
        if lease.owner != at.node {
            cx.mark("adopted-decided");
        }
        let news = if rules.prints(SUCCESS_OVERWRITES) {
            let acceptor = &mut self.acceptors[index];
            let is_news =
                acceptor.learned != Some(lease) && lease.owner == at.node && !rules.is_past(lease.end, at.now);
            let accepted = Some(Vote { ballot: round.ballot, value: lease });
            let paxos = paxos::Acceptor { promised: Some(round.ballot), accepted };
            **acceptor = Acceptor { instance, paxos, learned: Some(lease), ..**acceptor };
            is_news.then_some(Observed::Acquired(lease))
        } else {
            self.acceptors[index].on_learn(lease, instance, at, rules)
        };
        self.tell(cell, news, rules, cx);
        self.broadcast(cell, Body::Learn(lease, instance), rules, cx);
    }

    /// "When a majority of acceptors answers with a reject message, the proposer can safely discard its local state and
    /// restart with the instance number received" (§4.4): safely, if nothing of it may still count.
    fn step_back(&mut self, cell: CellId, place: usize, instance: Instance, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let index = usize::from(cell.0);
        self.proposers[index].attempts.remove(place);
        let acceptor = &self.acceptors[index];
        if instance >= acceptor.instance
            || !(rules.prints(REJECT_DISCARDS) || rules.discards() && acceptor.may_discard(at, rules))
        {
            return self.retry(cell, rules, cx);
        }
        cx.mark("stepped-back");
        self.forget(cell, instance);
        self.initiate(cell, instance, None, at, rules, cx);
    }

    /// "wait some time", if there is a next round.
    fn retry(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        if !rules.retries() {
            return;
        }
        cx.cancel(Timer::Response(cell));
        let proposer = &mut self.proposers[usize::from(cell.0)];
        proposer.rounds += 1;
        if proposer.rounds >= rules.params.rounds {
            proposer.rounds = 0;
            return cx.mark("gave-up");
        }
        let slot = cx.choose(rules.params.back_off_slots) + 1;
        cx.set(Timer::BackOff(cell), rules.params.back_off * u64::from(slot));
    }

    /// No majority answered in time: the proposer "had to wait 1 second and then retransmit the request" (§5.1). It is the same
    /// proposal, so that answers that are only late still count.
    pub(super) fn on_no_response(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        let proposer = &mut self.proposers[usize::from(cell.0)];
        let Some(Attempt { round, instance, lease, .. }) = proposer.attempts.last().cloned() else { return };
        cx.mark("timed-out");
        proposer.rounds += 1;
        if proposer.rounds >= rules.params.rounds {
            proposer.rounds = 0;
            self.drop_attempts(cell);
            return cx.mark("gave-up");
        }
        cx.set(Timer::Response(cell), rules.params.response);
        let body = match round.phase {
            Phase::Prepare { .. } => Body::Prepare(round.ballot, instance),
            Phase::Accept { .. } => Body::Accept(lease, instance, round.ballot),
        };
        self.broadcast(cell, body, rules, cx);
    }

    pub(super) fn tell(&self, cell: CellId, news: Option<Observed>, rules: &FaTLease, cx: Cx<'_, '_>) {
        match news {
            // Read back, and learned anew by the Paxos of its instance: not of this incarnation.
            Some(Observed::Acquired(lease)) if rules.is_durable() && lease.asked.nonce != self.nonce => {}
            Some(observed) => rules.show(cell, observed, cx),
            None => {}
        }
    }

    fn broadcast(&self, cell: CellId, body: Body, rules: &FaTLease, cx: Cx<'_, '_>) {
        let own = cx.node();
        for host in rules.hosts().filter(|host| *host != own) {
            cx.send(host, Message { cell, body: body.clone() });
        }
    }
}
