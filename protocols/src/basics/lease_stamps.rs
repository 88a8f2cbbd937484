//! One lease, one grantor, several holders; the lease's end is an absolute time, written into messages and records.
//!
//! A holder uses the lease while its own clock is before the end. The grantor gives it to another node only when its
//! own clock is past the end by as much as two clocks may differ. Neither delays nor lost, repeated or late grants
//! matter: the end says how long a grant is good for. The grantor's promise is durable before the grant leaves.

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, Nonce, Offers, Outcome,
    Property, Protocol, Span, Stamp, Stream, Watch,
};
use serde::{Deserialize, Serialize};

const GRANTOR: NodeId = NodeId(0);
const PROMISES: Stream = Stream(0);

const NO_OFFSET_MARGIN: &str = "no-offset-margin";
const GRANT_BEFORE_DURABLE: &str = "grant-before-durable";

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many nodes want the lease. At least 1.
    pub holders: u16,
    /// How far ahead of the grantor's clock a lease ends.
    pub lease: Span,
    /// Every clock is off by at most this, either way: two of them differ by at most twice as much.
    pub offset: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { holders: 2, lease: Span::ticks(3), offset: Span::ticks(1) }
    }
}

/// The protocol.
#[derive(Debug, Clone)]
pub struct LeaseStamps {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Who grants.
    Grantor(Grantor),
    /// Who holds, until the end of its latest grant.
    Holder(Holder),
}

/// The grantor's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Grantor {
    /// The latest promise.
    promise: Option<Promise>,
    /// Whether it is still on its way to the disk.
    writing: bool,
}

/// What the grantor promises, and writes: the lease is this node's until then.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Promise {
    /// Whose.
    holder: NodeId,
    /// Until when, on the grantor's clock.
    end: Stamp,
}

/// A holder's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Holder {
    /// The latest end granted.
    end: Option<Stamp>,
}

/// What grantor and holders send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To the grantor.
    Ask,
    /// Back: the lease is the receiver's until then.
    Grant(Stamp),
}

/// What a holder may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Ask for the lease, or for its renewal.
    Ask,
    /// Use the lease, if it is still good.
    Use,
}

/// What nodes show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The grantor gives the lease to a node.
    Granted(NodeId),
    /// A holder uses it.
    Used,
}

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// To whom the grantor last gave the lease.
    holder: Option<NodeId>,
}

impl Grantor {
    fn on_ask(&mut self, from: NodeId, lease: &LeaseStamps, cx: &mut Context<'_, LeaseStamps>) {
        if self.writing {
            return cx.mark("refused: a promise is being written");
        }
        let now = cx.clock();
        if let Some(promise) = self.promise.as_ref().filter(|promise| promise.holder != from) {
            // The holder's clock may show less than ours by the margin, and it stops only at the end on its own.
            if now < promise.end.plus(lease.margin()) {
                return cx.mark("refused: promised to another");
            }
            cx.mark("handed-over");
        }
        let promise = Promise { holder: from, end: now.plus(lease.params.lease) };
        let grant = Message::Grant(promise.end);
        self.promise = Some(promise.clone());
        self.writing = true;
        cx.observe(Observation::Granted(from));
        let ticket = cx.persist(PROMISES, promise);
        if lease.mutants.has(GRANT_BEFORE_DURABLE) {
            cx.send(from, grant);
        } else {
            // A grantor that forgets its promise in a crash would give the lease away a second time.
            cx.send_after(ticket, from, grant);
        }
    }
}

impl Holder {
    fn on_grant(&mut self, end: Stamp) {
        self.end = self.end.max(Some(end));
    }

    fn use_lease(&mut self, cx: &mut Context<'_, LeaseStamps>) {
        let now = cx.clock();
        match self.end {
            Some(end) if now < end => cx.observe(Observation::Used),
            _ => cx.mark("expired"),
        }
    }
}

impl LeaseStamps {
    fn margin(&self) -> Span {
        if self.mutants.has(NO_OFFSET_MARGIN) { Span::ZERO } else { self.difference() }
    }

    /// How much two clocks may differ.
    fn difference(&self) -> Span {
        self.params.offset * 2
    }
}

impl Protocol for LeaseStamps {
    type State = State;
    type Message = Message;
    type Timer = Never;
    type Record = Promise;
    type Durable = Option<Promise>;
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let holders = (1..=self.params.holders).map(|number| format!("holder-{number}"));
        std::iter::once("grantor".to_owned()).chain(holders).collect()
    }

    fn start(&self, durable: &Option<Promise>, _: Nonce, cx: &mut Context<'_, Self>) -> State {
        match cx.node() {
            GRANTOR => State::Grantor(Grantor { promise: durable.clone(), writing: false }),
            _ => State::Holder(Holder { end: None }),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Grantor(grantor), Input::Message { from, message: Message::Ask }) => grantor.on_ask(from, self, cx),
            (State::Grantor(grantor), Input::Durable(_)) => grantor.writing = false,
            (State::Holder(holder), Input::Message { message: Message::Grant(end), .. }) => holder.on_grant(end),
            (State::Holder(_), Input::Decision(Decision::Ask)) => cx.send(GRANTOR, Message::Ask),
            (State::Holder(holder), Input::Decision(Decision::Use)) => holder.use_lease(cx),
            _ => cx.mark("input out of place"),
        }
    }

    fn fold(&self, durable: &mut Option<Promise>, _: Stream, record: &Promise) {
        *durable = Some(record.clone());
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if let State::Holder(holder) = state {
            offers.offer(Decision::Ask);
            if holder.end.is_some() {
                offers.offer(Decision::Use);
            }
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always("single-holder", "whoever uses the lease is the node it was last given to"),
            Property::sometimes("handed-over", "another node gets the lease than before"),
            Property::sometimes("expired", "a node finds its lease ended"),
            Property::reachable_always("usable", "whatever happened, the lease can still be used"),
        ]
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Crashed => watch.reached("crashed"),
            Event::Observed(Observation::Granted(holder)) => monitor.holder = Some(*holder),
            Event::Observed(Observation::Used) => {
                watch.reached("usable");
                if monitor.holder != Some(node) {
                    let holder = monitor.holder.map_or_else(|| "nobody".to_owned(), |holder| format!("{holder:?}"));
                    watch.violated("single-holder", format!("{node:?} uses the lease that was given to {holder}"));
                }
            }
            _ => {}
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![(1..=self.params.holders).map(NodeId).collect()]
    }

    fn clock(&self, _: NodeId) -> ClockBound {
        ClockBound { offset: self.params.offset, ..ClockBound::EXACT }
    }

    /// An end this far back is past on every clock, also with the margin.
    fn stamp_horizon(&self) -> Span {
        self.difference() + self.params.offset
    }
}

impl Family for LeaseStamps {
    type Protocol = LeaseStamps;
    type Params = Params;
    const NAME: &'static str = "lease-stamps";
    const SUMMARY: &'static str =
        "one lease among several holders, with absolute ends and clocks that differ by a bound";

    fn mutants() -> &'static [Mutant] {
        &[
            Mutant {
                name: NO_OFFSET_MARGIN,
                removes: "the grantor's wait beyond the end, for clocks behind its own",
                outcome: Outcome::Falls("single-holder"),
            },
            Mutant {
                name: GRANT_BEFORE_DURABLE,
                removes: "the grantor's wait for its disk before a grant leaves",
                outcome: Outcome::Falls("single-holder"),
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<LeaseStamps, String> {
        if params.holders == 0 || params.lease == Span::ZERO {
            return Err("holders and lease must be positive".into());
        }
        let difference = params.offset * 2;
        if params.lease <= difference {
            return Err(format!(
                "lease {} may be over before it begins: clocks differ by up to {difference}",
                params.lease
            ));
        }
        Ok(LeaseStamps { params: params.clone(), mutants })
    }
}
