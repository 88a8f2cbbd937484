//! FaTLease: lease negotiation by Paxos without persistent state (Hupfeld et al., HPDC 2008, §3 to §5).
//!
//! Hosts agree on the owner of a resource by running Paxos on leases λ = (h, t), whose end t is an absolute time on h's own
//! clock. Each lease has a Paxos instance of its own; clocks differ by at most d_max. A host keeps nothing on disk: what
//! is over may be forgotten, and who crashed waits until all that it forgot is over.
//!
//! - `message`: leases, ballots, instances, what is said
//! - `acceptor`: p = (λ_lrn, λ_acc, b, i), UPON PREPARE, ACCEPT, LEARN, INV, the reject rule, CHECK_LOCAL_STATE
//! - `proposer`: INITIATE_CONSENSUS, GET_LEASE, renewals, INVALIDATE, discarding, rounds and back-off
//! - `durable`: `variant = "paxos"`, the regular Paxos of §5: what acceptors write before they answer, and read back
//! - `monitor`: what must hold
//! - `mutants`: **the pseudo-code line by line**: what is wrong, what is done instead, what comes of putting it back
//! - `params`: sizes and times
//!
//! # Why no two owners hold valid leases
//!
//! Within an instance by Paxos. Between instances by the acceptors alone, whatever proposers do: an acceptor that holds a
//! lease which may be valid, learned or only accepted, in the latest instance or from the one before, lets nobody but that
//! lease's owner lead it to another instance, nor accepts another owner's lease there. The majority that accepted a lease
//! therefore keeps others from a majority until it is over on every clock. What is forgotten, by discarding or by a
//! crash, is forgotten only when every lease that a promise or a vote of then could still help to is past on *every* clock; and
//! no acceptor accepts or learns a lease that is past on its own. So messages of before mean nothing after, though
//! instance numbers begin at 1 again.
//!
//! # Decisions where the paper is open
//!
//! Each names the mutant that does otherwise.
//! - A proposer's messages to its own acceptor arrive at once, in the same step; those between hosts take their time.
//! - An answer bears the ballot of the request that it answers. Ballots are unique for ever: by number, host, and the host's count
//!   under its incarnation's nonce. A count by number and host alone would begin again with discarding and after a crash.
//! - Promise and vote have a ballot each (`printed-single-ballot`), and ACCEPT raises the promise
//!   (`printed-accept-keeps-ballot`).
//! - A lease is valid while c < t (§4.1). The pseudo-code's c ≤ t makes it valid at the very instant at which waiting v is over
//!   (`printed-valid-at-end`).
//! - "Hosts wait for v + d_max" (§4.4) holds on a clock that runs true. On the host's own clock, which may move by d_max within
//!   the wait while the owner's moves the other way, it takes v + 2 d_max (`printed-recovery`). With clocks at fixed
//!   differences v is enough, since a lease of v is then valid for v. The same span keeps promises from being discarded: a
//!   lease proposed under a promise given at c ends by c + d_max + v, and every clock is past that when the own one is by
//!   d_max (`printed-discard-when-over`).
//! - The reject rule covers PREPARE, ACCEPT, LEARN and INV, and votes that nobody learned. Against renewals (§4.3): the
//!   lease's own owner passes it.
//! - The previous instance (§4.3) is kept by acceptors, as the lease of n - 1; they reject in n. The text has the proposer decide,
//!   which "must submit in n - 1 instead" if it missed that; but acceptors that are in n answer OUTDATED there, and a
//!   majority of them knows the lease of n - 1 anyway. CHECK_LOCAL_STATE looks at it too: a renewing owner's acceptor is
//!   in n already, and would not know its own lease any more (`no-previous-instance`).
//! - INV names the lease that is given up, with its end: a late one takes no other (`printed-inv-takes-any`), and what
//!   it removed is not accepted again (`invalidation-unkept`). A host that INV did not reach may be told of the lease until its end.
//! - An acceptor that learned a lease in an instance rejects votes for another there while it may be valid: an ACCEPT of a
//!   ballot that it promised before learning comes late, and an owner would forget its own lease (`accept-forgets-learned`).
//!   Once that lease is over, others may have forgotten the instance and begun anew: then it votes, and forgets what it learned. A vote
//!   for what was not chosen is forgotten when the instance's lease is learned.
//! - The owner's acceptor too holds the owner's lease until its clock is past the end by d_max: on a clock that moves back, a
//!   lease that was over is valid again, and another's was let through meanwhile (`own-over-at-end`). The owner itself
//!   may propose as soon as its lease is over, as printed.
//! - A renewal must end after the lease that it renews, which it need not on a clock that moved back: it would be the
//!   latest lease, and the owner would take it for its only one (`renewal-shortens`).
//! - A proposer that must propose a lease that is over goes on to the next instance: nothing else can have been
//!   chosen (`printed-proposes-what-is-over`).
//! - A rejected proposer forgets its state only if that may be forgotten (`printed-reject-discards`).
//! - Each round proposes a lease of its own (`printed-retried-lease`).
//!
//! # What the model leaves out
//!
//! Clocks that move (`skew-moves`) may show anything within the bound from one reading to the next, backward too: more than real
//! clocks do. Where `rounds` is 1 nobody waits: a proposal is given up when the next one begins, at any moment. Bounds on
//! ballot numbers, instances and proposals end deciding, so `decided` is only asked of hosts that discard and may propose for ever.

mod acceptor;
mod durable;
mod message;
mod monitor;
pub mod mutants;
mod params;
mod proposer;

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Input, Mutants, Never, NodeId, Nonce, Offers, Part, Property, Protocol,
    Relevance, Serial, Span, Stamp, Stream, Watch,
};

use crate::paxos::{Phase, Rules, Writer};

pub use acceptor::{Acceptor, Previous};
pub use durable::{Durable, Record};
pub use message::{Answer, Attempts, Ballot, Body, CellId, Instance, Lease, Message, Reply, Vote};
pub use monitor::Monitor;
pub use params::{Params, Variant};
pub use proposer::{Attempt, Proposer};

use acceptor::{At, Known};
use mutants::*;

/// The protocol.
#[derive(Debug, Clone)]
pub struct FaTLease {
    params: Params,
    mutants: Mutants,
    paxos: Rules,
}

/// A host's state, all of it volatile. Regular Paxos finds the acceptors' part of it again.
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
    /// Answers that wait for the disk. Regular Paxos alone.
    pub writer: Part<Writer<Reply>>,
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
    /// Answers wait for more that could be written with them.
    Linger,
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
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
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
    /// Regular Paxos: answers have left that rest on this.
    Answered(Acceptor),
    /// Regular Paxos: this is what a host starts with.
    ReadBack(Acceptor),
    /// It begins a proposal. Shown to the goals that count.
    Proposed(Instance),
    /// It forgets the cell's state. Likewise.
    Forgot,
}

impl FaTLease {
    fn new(params: Params, mutants: Mutants) -> Self {
        let paxos = Rules::whole(params.hosts);
        let mut protocol = FaTLease { params, mutants, paxos };
        protocol.paxos = Rules {
            majority_exceeds_half: !protocol.has(HALF_IS_MAJORITY),
            vote_promises: !protocol.prints(ACCEPT_KEEPS_BALLOT),
            vote_names_its_ballot: !protocol.prints(SINGLE_BALLOT),
            promise_is_written_first: !protocol.has(UNSYNCED_PROMISE),
            vote_is_written_first: !protocol.has(UNSYNCED_VOTE),
            state_is_read_back: !protocol.has(NOTHING_READ_BACK),
            ..paxos
        };
        protocol
    }

    fn hosts(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.hosts).map(NodeId)
    }

    fn cells(&self) -> impl Iterator<Item = CellId> + use<> {
        (0..self.params.cells).map(CellId)
    }

    fn asks(&self, node: NodeId) -> bool {
        node.0 < self.params.askers
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

    /// Whether acceptors write before they answer.
    fn is_durable(&self) -> bool {
        self.params.variant == Variant::Paxos
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
        let margin =
            if self.has(OVER_WITHOUT_MARGIN) || lease.owner == at.node { Span::ZERO } else { self.params.d_max };
        self.is_past(lease.end, at.now.minus(margin))
    }

    /// Whether no clock will show less than the lease's end any more, its owner's own included, which may move back. An
    /// acceptor holds a lease until then, its own host's too.
    fn is_over_for_all(&self, lease: Lease, at: At) -> bool {
        if lease.owner == at.node && !self.has(OWN_OVER_AT_END) {
            self.is_past(lease.end, at.now.minus(self.params.d_max))
        } else {
            self.is_over(lease, at)
        }
    }

    /// Whether a lease that is asked for now ends after `lease`. A clock that moved back may have made `lease` longer.
    fn extends(&self, lease: Lease, at: At) -> bool {
        at.now.plus(self.params.lease) > lease.end || self.has(RENEWAL_SHORTENS)
    }

    /// CHECK_LOCAL_STATE 27 to 48, for a lease that is known.
    fn known(&self, lease: Lease, at: At) -> Known {
        let margin =
            if self.has(VALID_WITHOUT_MARGIN) || lease.owner == at.node { Span::ZERO } else { self.params.d_max };
        let is_endless = lease.owner != at.node && self.has(TOLD_FOR_EVER);
        if is_endless || !self.is_past(lease.end, at.now.plus(margin)) {
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

impl Body {
    /// What shows of the clocks and the network in the lease that a message speaks of.
    fn mark(&self, at: At, rules: &FaTLease, cx: &mut Context<'_, FaTLease>) {
        let (Body::Accept(lease, ..) | Body::Learn(lease, _) | Body::Inv(_, lease)) = self else { return };
        if rules.is_past(lease.end, at.now) {
            cx.mark("late");
        }
        if lease.end > at.now.plus(rules.params.lease) {
            cx.mark("clocks-differ");
        }
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
        body.mark(at, rules, cx);
        let acceptor = &mut self.acceptors[index];
        let (ballot, answer) = match body {
            Body::Prepare(ballot, instance) => (ballot, acceptor.on_prepare(from, ballot, instance, at, rules)),
            Body::Accept(lease, instance, ballot) => (ballot, acceptor.on_accept(lease, instance, ballot, at, rules)),
            Body::Answer(ballot, answer) => {
                return self.on_answer(from, Reply { cell, ballot, answer }, at, rules, cx);
            }
            Body::Learn(lease, instance) => {
                let news = acceptor.on_learn(lease, instance, at, rules);
                return self.tell(cell, news, rules, cx);
            }
            Body::Inv(instance, lease) => return acceptor.on_inv(instance, lease, at, rules),
        };
        self.answer(from, Reply { cell, ballot, answer }, at, rules, cx);
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
    type Record = Record;
    type Durable = Durable;
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        (1..=self.params.hosts).map(|number| format!("host-{number}")).collect()
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> Host {
        let Params { skew, skew_moves, cells, attempts, .. } = self.params;
        let is_ahead = !skew_moves && skew > Span::ZERO && cx.choose(2) == 1;
        let mut host = Host {
            nonce,
            is_waiting: !self.is_durable(),
            is_ahead,
            attempt: Serial::before_first(nonce, cx.node().0),
            attempts_left: (attempts > 0).then_some(attempts),
            acceptors: (0..cells).map(|_| Part::new(Acceptor::default())).collect(),
            proposers: (0..cells).map(|_| Part::new(Proposer::default())).collect(),
            writer: Part::default(),
        };
        if self.is_durable() {
            host.read_back(durable, self, cx);
            host.rejoin(self, cx);
            return host;
        }
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
            Input::Durable(record) => host.on_durable(record, self, cx),
            Input::Timer(Timer::Linger) => host.write(self, cx),
            Input::Operation { .. } => cx.mark("input out of place"),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        durable.fold(record);
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
        let is_awaited = attempts.iter().find(|attempt| attempt.round.ballot == *ballot).is_some_and(|attempt| {
            let is_prepare = matches!(attempt.round.phase, Phase::Prepare { .. });
            match answer {
                Answer::Ack(_) => attempt.round.awaits_promise(from),
                Answer::Accepted => attempt.round.awaits_vote(from),
                Answer::Nack(_) => true,
                Answer::Outdated { .. } => is_prepare,
                Answer::Reject { learned, .. } => !is_prepare || learned.is_some() || !attempt.rejects.contains(from),
            }
        });
        if is_awaited { Relevance::Live } else { Relevance::Dead }
    }

    /// Five messages a lease and up to 750 kB/s for 1,500 leases a second (§5.1).
    fn message_size(&self, _: &Message) -> Option<u64> {
        Some(100)
    }

    /// A sector for each cell: with 2,000 kB/s the disk is congested from 4,000 leases a second on (§5.3).
    fn record_size(&self, record: &Record) -> Option<u64> {
        Some(512 * record.cells.len() as u64)
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
