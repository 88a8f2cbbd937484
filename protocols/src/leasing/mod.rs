//! Manager-directed leasing: Centrifuge §2.1 to §2.3, PRS §4.1 to §4.4.
//!
//! One Manager assigns ranges to Owners by leases, recalls them, and keeps a generation number for each range. An Owner
//! holds a range for at most a lease counted from the request that the Manager's message names; the Manager keeps it
//! from others for a longer margin counted from the receipt of that request. Lookups poll the table, and tell their
//! applications of every generation that passed: whoever kept state there must store it anew.
//!
//! - `message`: what is said, and the names in it
//! - `manager`, `log`: the lease table, and its changes for Lookups
//! - `owner`, `lookup`: the two libraries
//! - `monitor`: single copy, generations held once, notification in time
//! - `params`: sizes, times, mutants
//!
//! Decisions where the papers are open, each with its reason:
//! - the Manager's margin counts from the *receipt of the request* that its messages name, and only for leases which
//!   that request lists or which are granted in answer to it; Figure 5 counts from the sending of the response, by which
//!   every response to an Owner that lost a lease puts off the notification of the loss (mutant `margin-from-send`);
//! - a pushed message may grant: it names the latest request heard, and the Owner counts from the sending of that;
//! - both ends drop racing messages, and requests without a race are never dropped;
//! - the Manager is silent to an Owner that has nothing and gets nothing;
//! - the generation changes when the Manager learns that a lease ended, not only at the next grant, so that Lookups hear
//!   of a loss even if nobody is left to take the range;
//! - a Manager keeps its table in memory alone (PRS §4.4): restarted, it waits until all that it may have granted has
//!   expired; its nonce makes its generations new. That it ever started is its only record.

mod log;
mod lookup;
mod manager;
mod message;
mod monitor;
mod owner;
mod params;
#[cfg(test)]
mod play;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Input, Mutants, Never, NodeId, Nonce, Offers, Property, Protocol, Relevance,
    Span, Stream, Watch,
};

use crate::seqpair::Checks;

pub use log::Log;
pub use lookup::Lookup;
pub use manager::Manager;
pub use message::{
    Assignment, Change, Edition, Generation, GenerationNumber, LogNumber, ManagerNumber, Message, News, Offer,
    OwnerNumber, PollNumber, RangeId,
};
pub use monitor::Monitor;
pub use owner::Owner;
pub use params::*;

/// The Manager's id.
pub const MANAGER: NodeId = NodeId(0);

/// The protocol.
#[derive(Debug, Clone)]
pub struct Leasing {
    params: Params,
    mutants: Mutants,
}

/// A node's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Node 0.
    Manager(Manager),
    /// The nodes after it.
    Owner(Owner),
    /// The nodes after those.
    Lookup(Lookup),
}

/// The timers of all roles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At the Manager: the margin counted from the receipt of the Owner's latest request. While it is armed, the Owner
    /// counts as live.
    Heard(NodeId),
    /// At the Manager: the range is kept from all but its Owner.
    Unavailable(RangeId),
    /// At the Manager, after a restart: an earlier incarnation's leases may be held.
    Quarantine,
    /// At the Manager and at an Owner: a message of this Owner's link was dropped as racing.
    BackOff(NodeId),
    /// At an Owner: the next request is to be sent.
    Renew,
    /// At an Owner: the lease counted from the sending of the latest request.
    Request,
    /// At an Owner: the range's lease is held.
    Lease(RangeId),
    /// At a Lookup: the next poll is to be sent.
    Poll,
    /// At a Lookup: how long contact lasts if the latest poll is answered.
    Asked,
    /// At a Lookup: its table is recent enough to be believed.
    Contact,
}

/// What the Manager may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Grant a free range to a live Owner.
    Grant(RangeId, NodeId),
    /// Take a range back from a live Owner.
    Recall(RangeId),
}

/// What the Manager writes down.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Record {
    /// It started for the first time.
    Started,
}

/// What the disk holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// Whether the Manager ever started.
    pub was_started: bool,
}

/// What nodes show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// An Owner holds the range from here on.
    Held {
        /// Which.
        range: RangeId,
        /// Under which generation.
        generation: Generation,
    },
    /// An Owner no longer holds it, and the state it kept there is gone.
    Lost {
        /// Which.
        range: RangeId,
        /// Under which generation.
        generation: Generation,
    },
    /// A Lookup has its first table since it had no contact.
    Connected(BTreeMap<RangeId, Generation>),
    /// A Lookup tells its application: of the range, whatever is older than the generation is lost.
    Notified {
        /// Which.
        range: RangeId,
        /// The present generation.
        generation: Generation,
    },
    /// A Lookup tells its application that everything is lost.
    Disconnected,
}

/// Whether a node that dropped a message must wait before it sends anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackOff {
    Begun,
    Over,
}

impl Leasing {
    fn owners(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=self.params.owners).map(NodeId)
    }

    /// The Owners in the order in which a free range is offered to them.
    fn candidates(&self, range: RangeId) -> impl Iterator<Item = NodeId> + use<> {
        let (owners, ranges) = (u32::from(self.params.owners), u32::from(self.params.ranges));
        let first = if self.params.candidates == 0 { 0 } else { u32::from(range.0) * owners / ranges };
        (0..owners).map(move |place| NodeId(((first + place) % owners) as u16 + 1))
    }

    fn lookups(&self) -> impl Iterator<Item = NodeId> + use<> {
        let before = self.params.owners;
        (1..=self.params.lookups).map(move |number| NodeId(before + number))
    }

    fn ranges(&self) -> impl Iterator<Item = RangeId> + use<> {
        (0..self.params.ranges).map(RangeId)
    }

    /// "After either party drops a racing message, it waits for a random backoff" (§2.3.2): perhaps for no time.
    fn backs_off(&self, owner: NodeId, cx: &mut Context<'_, Self>) -> BackOff {
        match cx.choose(self.params.back_off_slots) {
            0 => BackOff::Over,
            slot => {
                cx.set(Timer::BackOff(owner), self.params.back_off * u64::from(slot));
                BackOff::Begun
            }
        }
    }

    fn margin(&self) -> Span {
        if self.mutants.has(NO_MARGIN) { self.params.lease } else { self.params.margin }
    }

    fn manager_checks(&self) -> Checks {
        Checks { race: !self.mutants.has(OWNER_CHECKS_ONLY), ..self.checks() }
            .without_numbers_if(self.mutants.has(NO_SEQUENCE_PAIRS))
    }

    fn owner_checks(&self) -> Checks {
        Checks { race: !self.mutants.has(MANAGER_CHECKS_ONLY), ..self.checks() }
            .without_numbers_if(self.mutants.has(NO_SEQUENCE_PAIRS))
    }

    fn checks(&self) -> Checks {
        Checks { nonce: !self.mutants.has(NO_NONCE), ..Checks::ALL }
    }
}

impl Protocol for Leasing {
    type State = State;
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
        let owners = (1..=self.params.owners).map(|number| format!("owner-{number}"));
        let lookups = (1..=self.params.lookups).map(|number| format!("lookup-{number}"));
        std::iter::once("manager".to_owned()).chain(owners).chain(lookups).collect()
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        match cx.node() {
            MANAGER => State::Manager(Manager::start(self, durable.was_started, nonce, cx)),
            node if node.0 <= self.params.owners => State::Owner(Owner::start(self, nonce, cx)),
            _ => State::Lookup(Lookup::start(self, nonce, cx)),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match state {
            State::Manager(manager) => self.step_manager(manager, input, cx),
            State::Owner(owner) => self.step_owner(owner, input, cx),
            State::Lookup(lookup) => self.step_lookup(lookup, input, cx),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        match record {
            Record::Started => durable.was_started = true,
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if let State::Manager(manager) = state {
            manager.decisions(self, offers);
        }
    }

    fn lapsed(&self, _: NodeId, state: &State, timer: &Timer) -> Option<Observation> {
        match (state, timer) {
            (State::Owner(owner), Timer::Lease(range)) => {
                owner.generation(*range).map(|generation| Observation::Lost { range: *range, generation })
            }
            _ => None,
        }
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties()
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        Leasing::fold(self, monitor, node, event, watch);
    }

    fn relevance(&self, _: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Manager(manager), _) => manager.relevance(from, message, self),
            (State::Owner(owner), Message::LeaseResponse { pair, leases }) => owner.relevance(*pair, leases, self),
            (State::Lookup(lookup), Message::LookupResponse { poll, .. }) => lookup.relevance(*poll),
            _ => Relevance::Always,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![self.owners().collect(), self.lookups().collect()]
    }

    /// The Manager's clock is the unit; an Owner's or a Lookup's may be slower or faster by so much (§2.3.1).
    fn clock(&self, node: NodeId) -> ClockBound {
        match node {
            MANAGER => ClockBound::EXACT,
            _ => ClockBound {
                shortest: self.params.owner_shortest,
                longest: self.params.owner_longest,
                ..ClockBound::EXACT
            },
        }
    }

    /// Without nonces, numbers of a forgotten incarnation are compared with those of the present one.
    fn tags_are_ranked(&self) -> bool {
        !self.mutants.has(NO_NONCE)
    }
}

impl Leasing {
    fn step_manager(&self, manager: &mut Manager, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::LeaseRequest { pair, wanted } } => {
                manager.on_request(from, pair, &wanted, self, cx);
            }
            Input::Message { from, message: Message::LookupRequest { poll, known } } => {
                let news = manager.log().news(known, manager.table());
                cx.send(from, Message::LookupResponse { poll, edition: manager.log().edition(), news });
            }
            Input::Decision(Decision::Grant(range, owner)) => manager.grant(range, owner, self, cx),
            Input::Decision(Decision::Recall(range)) => manager.recall(range, self, cx),
            Input::Durable(Record::Started) | Input::Timer(Timer::Quarantine) => manager.on_ready(),
            Input::Timer(Timer::Unavailable(range)) => manager.on_unavailable_end(range, self, cx),
            Input::Timer(Timer::BackOff(owner)) => manager.on_back_off(owner, self, cx),
            Input::Timer(Timer::Heard(_)) => cx.mark("owner-silent"),
            _ => cx.mark("input out of place"),
        }
    }

    fn step_owner(&self, owner: &mut Owner, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { message: Message::LeaseResponse { pair, leases }, .. } => {
                owner.on_response(pair, &leases, self, cx);
            }
            Input::Timer(Timer::Renew | Timer::BackOff(_)) => owner.request(self, cx),
            Input::Timer(Timer::Lease(range)) => owner.on_lease_end(range),
            // Whether it is armed is all that counts.
            Input::Timer(Timer::Request) => {}
            _ => cx.mark("input out of place"),
        }
    }

    fn step_lookup(&self, lookup: &mut Lookup, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { message: Message::LookupResponse { poll, edition, news }, .. } => {
                lookup.on_response(poll, edition, news, self, cx);
            }
            Input::Timer(Timer::Poll) => lookup.poll(self, cx),
            Input::Timer(Timer::Contact) => lookup.on_contact_end(self, cx),
            Input::Timer(Timer::Asked) => {}
            _ => cx.mark("input out of place"),
        }
    }
}
