//! One lease, one grantor, several holders; time is kept in timers alone.
//!
//! The holder counts its lease from the *sending* of the request, the grantor its promise from the *receipt*, and the
//! promise is longer by as much as the holder's clock may be slow: so the promise outlasts the lease, whatever the
//! delays. The grantor's clock is the unit of time. After a start it does not know what it promised before, and
//! grants nothing until every earlier promise has run out.

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, NodeSet, Nonce, Offers,
    Outcome, Property, Protocol, Ratio, Relevance, Span, Watch,
};
use serde::{Deserialize, Serialize};

use super::request::RequestId;

const GRANTOR: NodeId = NodeId(0);

const FROM_RECEIPT: &str = "from-receipt";
const NO_MARGIN: &str = "no-margin";
const NO_NUMBER_CHECK: &str = "no-number-check";
const NO_START_WAIT: &str = "no-start-wait";

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many nodes want the lease. At least 1.
    pub holders: u16,
    /// How long a lease is, on the holder's clock.
    pub lease: Span,
    /// How long the grantor keeps its promise, on its own clock. At least `lease` times `longest`.
    pub promise: Span,
    /// A holder's second takes at most so many of the grantor's. At least 1.
    pub longest: Ratio,
}

impl Default for Params {
    fn default() -> Self {
        Params { holders: 2, lease: Span::ticks(3), promise: Span::ticks(4), longest: Ratio { num: 4, den: 3 } }
    }
}

/// The protocol.
#[derive(Debug, Clone)]
pub struct LeaseTimers {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Who grants.
    Grantor(Grantor),
    /// Who holds, while its lease timer is armed.
    Holder(Holder),
}

/// The grantor's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Grantor {
    /// To whom it last promised the lease. The promise stands while its timer is armed.
    holder: Option<NodeId>,
}

/// A holder's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Holder {
    /// The latest request.
    last: RequestId,
    /// Whether its answer is awaited.
    waiting: bool,
}

/// What grantor and holders send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To the grantor.
    Ask(RequestId),
    /// Back, naming the request.
    Grant(RequestId),
}

/// The timers of both roles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At a holder: where the lease would end that the open request asks for.
    Request,
    /// At a holder: the lease is held while it is armed.
    Lease,
    /// At the grantor: nobody else gets the lease while it is armed.
    Promise,
}

/// What a holder may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Ask for the lease, or for its renewal.
    Ask,
}

/// What holders show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The lease is held from here on, until it lapses.
    Held,
    /// It is no longer held.
    Lapsed,
}

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// Who holds the lease.
    holders: NodeSet,
}

impl Grantor {
    fn on_ask(&mut self, from: NodeId, id: RequestId, lease: &LeaseTimers, cx: &mut Context<'_, LeaseTimers>) {
        if cx.is_armed(&Timer::Promise) && self.holder != Some(from) {
            return cx.mark("refused");
        }
        if self.holder.is_some_and(|holder| holder != from) {
            cx.mark("handed-over");
        }
        self.holder = Some(from);
        cx.set(Timer::Promise, lease.promise());
        cx.send(from, Message::Grant(id));
    }
}

impl Holder {
    fn ask(&mut self, lease: &LeaseTimers, cx: &mut Context<'_, LeaseTimers>) {
        if self.waiting {
            return cx.mark("asked twice");
        }
        self.last = self.last.next();
        self.waiting = true;
        // At the sending, before anyone can have promised anything: the lease counts from here.
        cx.set(Timer::Request, lease.params.lease);
        cx.send(GRANTOR, Message::Ask(self.last));
    }

    fn on_grant(&mut self, id: RequestId, lease: &LeaseTimers, cx: &mut Context<'_, LeaseTimers>) {
        // An answer to an earlier request promises less than the latest request's timer says.
        if !self.awaits(id, lease) {
            return cx.mark("stale grant ignored");
        }
        if !cx.is_armed(&Timer::Request) {
            return cx.mark("grant came too late");
        }
        let renewed = cx.is_armed(&Timer::Lease);
        cx.mark(if renewed { "renewed" } else { "acquired" });
        self.waiting = false;
        if lease.mutants.has(FROM_RECEIPT) {
            cx.set(Timer::Lease, lease.params.lease);
        } else {
            cx.copy(Timer::Request, Timer::Lease);
        }
        cx.cancel(Timer::Request);
        cx.observe(Observation::Held);
    }

    fn awaits(&self, id: RequestId, lease: &LeaseTimers) -> bool {
        self.waiting && (id == self.last || lease.mutants.has(NO_NUMBER_CHECK))
    }
}

impl LeaseTimers {
    fn promise(&self) -> Span {
        if self.mutants.has(NO_MARGIN) { self.params.lease } else { self.params.promise }
    }
}

impl Protocol for LeaseTimers {
    type State = State;
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
        let holders = (1..=self.params.holders).map(|number| format!("holder-{number}"));
        std::iter::once("grantor".to_owned()).chain(holders).collect()
    }

    fn start(&self, (): &(), nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        if cx.node() != GRANTOR {
            return State::Holder(Holder { last: RequestId::before_first(nonce, nonce.scope()), waiting: false });
        }
        // Whatever an earlier incarnation promised has run out after this.
        if !self.mutants.has(NO_START_WAIT) {
            cx.set(Timer::Promise, self.promise());
        }
        State::Grantor(Grantor { holder: None })
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Grantor(grantor), Input::Message { from, message: Message::Ask(id) }) => {
                grantor.on_ask(from, id, self, cx);
            }
            (State::Holder(holder), Input::Message { message: Message::Grant(id), .. }) => {
                holder.on_grant(id, self, cx)
            }
            (State::Holder(holder), Input::Timer(Timer::Request)) => holder.waiting = false,
            (State::Holder(holder), Input::Decision(Decision::Ask)) => holder.ask(self, cx),
            // Lease and promise end by themselves: whether they are armed is all that counts.
            (_, Input::Timer(Timer::Lease | Timer::Promise)) => {}
            _ => cx.mark("input out of place"),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if matches!(state, State::Holder(Holder { waiting: false, .. })) {
            offers.offer(Decision::Ask);
        }
    }

    fn lapsed(&self, _: NodeId, _: &State, timer: &Timer) -> Option<Observation> {
        (*timer == Timer::Lease).then_some(Observation::Lapsed)
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always("single-holder", "no two nodes hold the lease at one instant"),
            Property::sometimes("acquired", "a node without the lease gets it"),
            Property::sometimes("renewed", "a node with the lease gets it for longer"),
            Property::sometimes("handed-over", "another node gets the lease than before"),
            Property::reachable_always("obtainable", "whatever happened, the lease can still be had"),
        ]
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Held) => {
                watch.reached("obtainable");
                monitor.holders.insert(node);
                if monitor.holders.len() > 1 {
                    watch.violated("single-holder", format!("{:?} hold the lease at one instant", monitor.holders));
                }
            }
            Event::Observed(Observation::Lapsed) => monitor.holders.remove(node),
            Event::Crashed => {
                watch.reached("crashed");
                monitor.holders.remove(node);
            }
            _ => {}
        }
    }

    fn relevance(&self, _: NodeId, to: &State, _: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Holder(holder), Message::Grant(id)) if !self.may_await(holder, *id) => Relevance::Dead,
            (_, Message::Grant(_)) => Relevance::Live,
            (_, Message::Ask(_)) => Relevance::Always,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![(1..=self.params.holders).map(NodeId).collect()]
    }

    fn clock(&self, node: NodeId) -> ClockBound {
        match node {
            GRANTOR => ClockBound::EXACT,
            _ => ClockBound { longest: self.params.longest, ..ClockBound::EXACT },
        }
    }
}

impl LeaseTimers {
    /// Whether the holder awaits `id`, or may come to.
    fn may_await(&self, holder: &Holder, id: RequestId) -> bool {
        holder.awaits(id, self) || self.mutants.has(NO_NUMBER_CHECK)
    }
}

impl Family for LeaseTimers {
    type Protocol = LeaseTimers;
    type Params = Params;
    const NAME: &'static str = "lease-timers";
    const SUMMARY: &'static str =
        "one lease among several holders, safe under delay and bounded drift, on timers alone";

    fn mutants() -> &'static [Mutant] {
        const FALLS: Outcome = Outcome::Falls("single-holder");
        &[
            Mutant {
                name: FROM_RECEIPT,
                removes: "the counting of the lease from the sending of its request: it counts from the grant's receipt",
                outcome: FALLS,
            },
            Mutant {
                name: NO_MARGIN,
                removes: "what the promise is longer than the lease, for slow holders",
                outcome: FALLS,
            },
            Mutant {
                name: NO_NUMBER_CHECK,
                removes: "the holder's check that a grant answers its latest request",
                outcome: FALLS,
            },
            Mutant {
                name: NO_START_WAIT,
                removes: "the grantor's wait, after a start, for the promises it may have forgotten",
                outcome: FALLS,
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<LeaseTimers, String> {
        let Params { holders, lease, promise, longest } = params;
        if *holders == 0 || *lease == Span::ZERO || longest.num < longest.den {
            return Err("holders and lease must be positive, and longest at least 1".into());
        }
        let needed = longest.ceil_of(*lease);
        if *promise < needed {
            return Err(format!(
                "promise {promise} is too short: a lease of {lease} may take {needed} on the slowest clock"
            ));
        }
        Ok(LeaseTimers { params: params.clone(), mutants })
    }
}
