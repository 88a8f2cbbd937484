//! FaTLease.
mod acceptor;
mod message;
mod monitor;
pub mod mutants;
mod params;
mod proposer;

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Input, Mutants, Never, NodeId, Nonce, Offers, Part, Property, Protocol,
    Relevance, Serial, Span, Stamp, Watch,
};

pub use acceptor::{Acceptor, Previous};
pub use message::{Answer, Attempts, Ballot, Body, CellId, Instance, Lease, Message, Vote};
pub use monitor::Monitor;
pub use params::{Params, Variant};
pub use proposer::{Attempt, Phase, Proposer};

use acceptor::{At, Known};
use mutants::*;

/// The protocol.
#[derive(Debug, Clone)]
pub struct FaTLease {
    params: Params,
    mutants: Mutants,
}

/// A host's state, all of it volatile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Host {
    /// The incarnation.
    pub nonce: Nonce,
    /// Whether it waits out the recovery period.
    pub is_waiting: bool,
    /// Whether its clock is ahead, where that is fixed.
    pub is_ahead: bool,
    /// Its latest proposal.
    pub attempt: Serial<Attempts>,
    /// How many proposals it may begin, where that is bounded.
    pub attempts_left: Option<u8>,
    /// `acceptors[c]` is that of cell `c`.
    pub acceptors: Vec<Part<Acceptor>>,
    /// `proposers[c]` is that of cell `c`.
    pub proposers: Vec<Part<Proposer>>,
}

/// A host's timers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// The recovery period (§4.4).
    Rejoin,
    /// The cell's round waits for a majority.
    Response(CellId),
    /// "Wait some time" before the next round.
    BackOff(CellId),
    /// The client asks again.
    Poll(CellId),
}

/// What clients, and a host with state to forget, may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// GET_LEASE: to use the lease, be told who has it, or propose.
    GetLease(CellId),
    /// Extend the own lease (§4.3).
    Renew(CellId),
    /// INVALIDATE.
    Invalidate(CellId),
    /// Forget what is over (§4.4).
    Discard(CellId),
}

/// What hosts show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Observation {
    /// Of which cell.
    pub cell: CellId,
    /// What.
    pub what: Observed,
}

/// What happened in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observed {
    /// The host learns that this lease of its own is decided on.
    Acquired(Lease),
    /// It has a valid lease of its own.
    Used {
        /// Which.
        lease: Lease,
        /// Whether this incarnation asked for it.
        is_own: bool,
    },
    /// It is told that another's lease is valid.
    Told(Lease),
    /// It knows no valid lease; its clock shows this.
    Without {
        /// Its clock.
        now: Stamp,
    },
    /// It gives up this lease.
    Invalidated(Lease),
}

impl FaTLease {
    fn hosts(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.hosts).map(NodeId)
    }

    fn cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.params.cells).map(CellId)
    }

    fn asks(&self, node: NodeId) -> bool {
        node.0 < self.params.askers
    }

    /// ⌊|H|/2 + 1⌋.
    fn quorum(&self) -> usize {
        let half = usize::from(self.params.hosts / 2);
        if self.has(HALF_IS_MAJORITY) { half.max(1) } else { half + 1 }
    }

    fn has(&self, mutant: &str) -> bool {
        self.mutants.has(mutant)
    }

    /// Whether the printed line is in force.
    fn prints(&self, line: &str) -> bool {
        self.params.variant == Variant::AsPublished || self.has(line)
    }

    /// Whether a round that failed is followed by another.
    fn retries(&self) -> bool {
        self.params.rounds > 1
    }

    fn discards(&self) -> bool {
        self.params.discards
    }

    /// Whether no bound on numbers ends all proposing.
    fn can_go_on(&self) -> bool {
        let Params { ballots, instances, attempts, discards, .. } = self.params;
        attempts == 0 && (discards || ballots == 0 && instances == 0)
    }

    fn is_within(&self, instance: Instance, number: u16) -> bool {
        (self.params.ballots == 0 || number <= self.params.ballots)
            && (self.params.instances == 0 || instance.0 <= self.params.instances)
    }

    /// For so long on the own clock a promise may matter: a lease proposed under it ends by the proposer's clock at the
    /// promise and v, which is at most d_max ahead of the own one; every clock is past that when the own one is by d_max.
    fn retention(&self) -> Span {
        self.params.lease + self.params.d_max * 2
    }

    /// The recovery period, on the own clock: a crash forgets what `retention` speaks of.
    fn recovery(&self) -> Span {
        if self.has(NO_RECOVERY) {
            Span::ZERO
        } else if self.has(RECOVERY_CUT) {
            self.params.lease
        } else if self.prints(RECOVERY_SHORT) {
            self.params.lease + self.params.d_max
        } else {
            self.retention()
        }
    }

    /// Whether a lease of that end is over where a clock shows `now`: valid is what ends later (§4.1, c < t). In print it is
    /// valid at its end too (CHECK_LOCAL_STATE 29, 39, 41).
    fn is_past(&self, end: Stamp, now: Stamp) -> bool {
        if self.prints(VALID_AT_END) { now > end } else { now >= end }
    }

    /// Whether the lease is over for its owner, by the safety period if that is another (CHECK_LOCAL_STATE 29, 41).
    fn is_over(&self, lease: Lease, at: At) -> bool {
        let margin = if self.has(OVER_WITHOUT_MARGIN) || lease.owner == at.node { Span::ZERO } else { self.params.d_max };
        self.is_past(lease.end, at.now.minus(margin))
    }

    /// CHECK_LOCAL_STATE 27 to 48, for a lease that is known.
    fn known(&self, lease: Lease, at: At) -> Known {
        let margin = if self.has(VALID_WITHOUT_MARGIN) || lease.owner == at.node { Span::ZERO } else { self.params.d_max };
        if !self.is_past(lease.end, at.now.plus(margin)) {
            Known::Valid(lease)
        } else if self.is_over(lease, at) {
            Known::None
        } else {
            Known::Wait
        }
    }

    fn show(&self, cell: CellId, what: Observed, cx: &mut Context<'_, Self>) {
        cx.observe(Observation { cell, what });
    }
}

impl Host {
    /// The host and its clock, read once in a step.
    fn at(&self, rules: &FaTLease, cx: &mut Context<'_, FaTLease>) -> At {
        let skew = rules.params.skew;
        let is_ahead = if rules.params.skew_moves && skew > Span::ZERO { cx.choose(2) == 1 } else { self.is_ahead };
        let now = cx.clock().plus(if is_ahead { skew } else { Span::ZERO });
        At { node: cx.node(), now }
    }

    /// Begins a proposal, if the host may.
    fn pays(&mut self) -> bool {
        match &mut self.attempts_left {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, rules: &FaTLease, cx: &mut Context<'_, FaTLease>) {
        let Message { cell, body } = message;
        let index = usize::from(cell.0);
        let at = self.at(rules, cx);
        let acceptor = &mut self.acceptors[index];
        let (ballot, answer) = match body {
            Body::Prepare(ballot, instance) => (ballot, acceptor.on_prepare(from, ballot, instance, at, rules)),
            Body::Accept(lease, instance, ballot) => {
                (ballot, acceptor.on_accept(lease, instance, ballot, at, rules))
            }
            Body::Answer(ballot, answer) => return self.on_answer(cell, from, ballot, answer, at, rules, cx),
            Body::Learn(lease, instance) => {
                let news = acceptor.on_learn(lease, instance, at, rules);
                return self.tell(cell, news, rules, cx);
            }
            Body::Inv(instance, lease) => return acceptor.on_inv(instance, lease, at, rules),
        };
        cx.send(from, Message { cell, body: Body::Answer(ballot, answer) });
    }

    fn rejoin(&mut self, rules: &FaTLease, cx: &mut Context<'_, FaTLease>) {
        self.is_waiting = false;
        if rules.asks(cx.node()) && rules.params.poll > Span::ZERO {
            for cell in rules.cells() {
                self.poll(cell, rules, cx);
            }
        }
    }

    fn poll(&mut self, cell: CellId, rules: &FaTLease, cx: &mut Context<'_, FaTLease>) {
        cx.set(Timer::Poll(cell), rules.params.poll);
        self.get_lease(cell, rules, cx);
    }

    fn decisions(&self, node: NodeId, rules: &FaTLease, offers: &mut Offers<'_, FaTLease>) {
        for cell in rules.cells() {
            let acceptor = &self.acceptors[usize::from(cell.0)];
            if rules.asks(node) {
                offers.offer(Decision::GetLease(cell));
            }
            let known = acceptor.learned.or(acceptor.previous.map(|previous| previous.lease));
            let owns = known.is_some_and(|lease| lease.owner == node);
            if rules.params.renewals && owns {
                offers.offer(Decision::Renew(cell));
            }
            if rules.params.invalidations && (owns || known.is_some() && rules.has(INVALIDATED_BY_OTHERS)) {
                offers.offer(Decision::Invalidate(cell));
            }
            if rules.params.discards && **acceptor != Acceptor::default() {
                offers.offer(Decision::Discard(cell));
            }
        }
    }
}

impl Protocol for FaTLease {
    type State = Host;
    type Message = Message;
    type Timer = Timer;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        (1..=self.params.hosts).map(|number| format!("host-{number}")).collect()
    }

    fn start(&self, (): &(), nonce: Nonce, cx: &mut Context<'_, Self>) -> Host {
        let Params { skew, skew_moves, cells, attempts, .. } = self.params;
        let is_ahead = !skew_moves && skew > Span::ZERO && cx.choose(2) == 1;
        let mut host = Host {
            nonce,
            is_waiting: true,
            is_ahead,
            attempt: Serial::before_first(nonce, cx.node().0),
            attempts_left: (attempts > 0).then_some(attempts),
            acceptors: (0..cells).map(|_| Part::new(Acceptor::default())).collect(),
            proposers: (0..cells).map(|_| Part::new(Proposer::default())).collect(),
        };
        // No disk says whether this is the first start. What the own clock takes for the period may be shorter by what
        // the clock moves meanwhile.
        let fast = skew_moves && skew > Span::ZERO && cx.choose(2) == 1;
        let wait = Span(self.recovery().0.saturating_sub(if fast { skew.0 } else { 0 }));
        if wait == Span::ZERO {
            host.rejoin(self, cx);
        } else {
            cx.set(Timer::Rejoin, wait);
        }
        host
    }

    fn step(&self, host: &mut Host, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Timer(Timer::Rejoin) => host.rejoin(self, cx),
            _ if host.is_waiting => cx.mark("not yet rejoined"),
            Input::Message { from, message } => host.on_message(from, message, self, cx),
            Input::Timer(Timer::Poll(cell)) => host.poll(cell, self, cx),
            Input::Timer(Timer::Response(cell)) => host.on_no_response(cell, self, cx),
            Input::Timer(Timer::BackOff(cell)) | Input::Decision(Decision::GetLease(cell)) => {
                host.get_lease(cell, self, cx);
            }
            Input::Decision(Decision::Renew(cell)) => host.renew(cell, self, cx),
            Input::Decision(Decision::Invalidate(cell)) => host.invalidate(cell, self, cx),
            Input::Decision(Decision::Discard(cell)) => host.discard(cell, self, cx),
            Input::Durable(_) | Input::Operation { .. } => cx.mark("input out of place"),
        }
    }

    fn decisions(&self, node: NodeId, host: &Host, offers: &mut Offers<'_, Self>) {
        if self.params.decisions && !host.is_waiting {
            host.decisions(node, self, offers);
        }
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties(self)
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        self.fold(monitor, node, event, watch);
    }

    /// Ballots are used once: an answer to one that is not under way never matters again.
    fn relevance(&self, _: NodeId, to: &Host, from: NodeId, message: &Message) -> Relevance<Message> {
        let Body::Answer(ballot, answer) = &message.body else { return Relevance::Always };
        if self.prints(BALLOT_FROM_ANSWER) {
            return Relevance::Always;
        }
        let attempts = &to.proposers[usize::from(message.cell.0)].attempts;
        let is_awaited = match attempts.iter().find(|attempt| attempt.ballot == *ballot).map(|attempt| &attempt.phase) {
            None => false,
            Some(Phase::Prepare { acks, rejects, .. }) => match answer {
                Answer::Ack(_) => !acks.contains(from),
                Answer::Reject { learned: None, .. } => !rejects.contains(from),
                _ => true,
            },
            Some(Phase::Accept { acks }) => match answer {
                Answer::Accepted => !acks.contains(from),
                Answer::Nack(_) | Answer::Reject { .. } => true,
                Answer::Ack(_) | Answer::Outdated { .. } => false,
            },
        };
        if is_awaited { Relevance::Live } else { Relevance::Dead }
    }

    /// Ballots order the hosts that ask.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![self.hosts().filter(|host| !self.asks(*host)).collect()]
    }

    fn clock(&self, _: NodeId) -> ClockBound {
        ClockBound { offset: self.params.offset, ..ClockBound::EXACT }
    }

    /// An end or a time to keep so far back is past on every clock, also with the margin.
    fn stamp_horizon(&self) -> Span {
        self.params.d_max + self.params.offset * 2
    }
}
