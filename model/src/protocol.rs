//! The contract: a protocol is plain data, `start` and `step`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use derive_where::derive_where;

use crate::canonical::Canonical;
use crate::effects::Effects;
use crate::history::{Call, Value};
use crate::name::{NodeId, Nonce, OpId, Stream};
use crate::property::{Property, Watch};
use crate::time::{ClockBound, Span, Stamp};

/// What states, messages, timers and records are made of: plain data with a canonical encoding.
pub trait Data: Clone + Eq + Ord + Hash + Debug + Canonical + Send + 'static {}
impl<T: Clone + Eq + Ord + Hash + Debug + Canonical + Send + 'static> Data for T {}

/// A distributed protocol, written once and run under every scheduler.
///
/// A value of the type holds what is fixed for a run: parameters, topology, the mutants in force. A *step* takes one
/// input to completion; it is infallible, never blocks, and is a pure function of the state, the input, which timers
/// are armed, the clock's stamp where it asks for one, and the answers to [`Context::choose`].
///
/// Rules for authors:
/// 1. no time in state or messages: refer to a past instant by the timer set at it, or use a [`Stamp`];
/// 2. set timers at the event the guarantee counts from, and copy them later;
/// 3. compare counters ([`crate::Tag`]), never compute with them;
/// 4. "not armed" means expired, even if the firing has not come yet;
/// 5. what the paper leaves open ("recall now") is a [`Decision`](Protocol::Decision), not a random number;
/// 6. a bad or late input is a no-op with a mark; a broken invariant of yours is an `assert!`, and a finding.
pub trait Protocol: Clone + Send + Sync + Sized + 'static {
    /// The volatile state of a node, one type for all roles (an enum, usually). Lost in a crash.
    type State: Data;
    /// What nodes send each other.
    type Message: Data;
    /// Names of a node's timers.
    type Timer: Data;
    /// What a node writes to its disk.
    type Record: Data;
    /// The fold of the records: what a start finds.
    type Durable: Data + Default;
    /// What a client asks of its node.
    type Operation: Data;
    /// What it gets back.
    type Answer: Data;
    /// What the paper leaves to the moment.
    type Decision: Data;
    /// What a step shows to the properties.
    type Observation: Data;
    /// The state of all properties: a fold over events. Use [`crate::Part`]s for properties that do not interact.
    type Monitor: Data + Default;

    /// The nodes' names, in the order of their ids. At least one, at most 65,535.
    fn nodes(&self) -> Vec<String>;

    /// The state of a node that starts, from what its disk holds and a fresh nonce. Nothing else tells a restart: a node
    /// whose disk was replaced by an empty one starts as at the first time, but for its nonce.
    fn start(&self, durable: &Self::Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> Self::State;

    /// One input, to completion.
    fn step(&self, state: &mut Self::State, input: Input<Self>, cx: &mut Context<'_, Self>);

    /// Folds a record into what the disk holds.
    fn fold(&self, durable: &mut Self::Durable, stream: Stream, record: &Self::Record) {
        let _ = (durable, stream, record);
    }

    /// The decisions open to `node` now. A pure function of the state and of which timers are armed.
    fn decisions(&self, node: NodeId, state: &Self::State, offers: &mut Offers<'_, Self>) {
        let _ = (node, state, offers);
    }

    /// Called when a timer's end passes, before any firing is delivered: what ends by itself (a lease) shows it here.
    fn lapsed(&self, node: NodeId, state: &Self::State, timer: &Self::Timer) -> Option<Self::Observation> {
        let _ = (node, state, timer);
        None
    }

    /// How many operations the workload invokes at `node`, one after the other's answer.
    fn operation_count(&self, node: NodeId) -> u32 {
        let _ = node;
        0
    }

    /// The `op`-th operation of the client at `node`; `last` is the answer before it, if it came.
    ///
    /// # Panics
    /// May panic for `op` not below [`Self::operation_count`].
    fn operation(
        &self,
        node: NodeId,
        op: OpId,
        last: Option<&Self::Answer>,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Self::Operation {
        let _ = (last, draw);
        unreachable!("{node:?} has no operation {op:?}: operation_count is positive, so operation must be written")
    }

    /// What must hold and what must be reached.
    fn properties(&self) -> Vec<Property> {
        Vec::new()
    }

    /// How an operation is written in a recorded history, for readers outside; `None` if it has no place there.
    fn recorded_call(&self, operation: &Self::Operation) -> Option<Call> {
        let _ = operation;
        None
    }

    /// How its answer is written there; `None` if the answer leaves open what came of it: it may have taken effect, or may
    /// yet.
    fn recorded_answer(&self, operation: &Self::Operation, answer: &Self::Answer) -> Option<Value> {
        let _ = (operation, answer);
        Some(Value::Nil)
    }

    /// Folds an event into the monitor.
    fn watch(&self, monitor: &mut Self::Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let _ = (monitor, node, event, watch);
    }

    /// Whether `monitor` owes the `eventually` property of this name now. A pure function.
    fn owes(&self, monitor: &Self::Monitor, property: &str) -> bool {
        let _ = (monitor, property);
        false
    }

    /// What a message in flight can still do to its receiver, whose state is `to`.
    ///
    /// A promise that the explorer relies on and its debug mode tests: a dead message changes nothing whenever it is
    /// delivered, now or after any further steps; a message replaced by another acts as the other does.
    fn relevance(
        &self,
        node: NodeId,
        to: &Self::State,
        from: NodeId,
        message: &Self::Message,
    ) -> Relevance<Self::Message> {
        let _ = (node, to, from, message);
        Relevance::Always
    }

    /// Whether nothing else happens before `message` arrives, so that what one node tells another is one action of both. For
    /// nodes that stand for what a specification does at once. The explorer alone heeds it; the protocol names it
    /// where it [stands for](Self::stands_for) something.
    fn is_at_once(&self, message: &Self::Message) -> bool {
        let _ = message;
        false
    }

    /// How many bytes a message takes on a link, where that is not the length of its canonical encoding. Only
    /// simulated bandwidth asks.
    fn message_size(&self, message: &Self::Message) -> Option<u64> {
        let _ = message;
        None
    }

    /// How many bytes a record takes on a disk, where that is not the length of its canonical encoding. Only simulated
    /// disks of limited speed ask.
    fn record_size(&self, record: &Self::Record) -> Option<u64> {
        let _ = record;
        None
    }

    /// How many steps' time it takes a node to take a message in. Only simulated steps that cost time ask.
    fn message_work(&self, message: &Self::Message) -> u32 {
        let _ = message;
        1
    }

    /// Classes of interchangeable nodes. Within a class, permuting ids in the whole system changes nothing.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        Vec::new()
    }

    /// The service that the node stands for, where it is an atomic specification of one: a Paxos group, say, that is
    /// checked on its own to be such a node. No engine crashes or pauses it, since the service outlives that; messages to
    /// and from it fail as any other's. The output of the explorer names it.
    fn stands_for(&self, node: NodeId) -> Option<&'static str> {
        let _ = node;
        None
    }

    /// What is assumed of a node's clock.
    fn clock(&self, node: NodeId) -> ClockBound {
        let _ = node;
        ClockBound::EXACT
    }

    /// Stamps further back than this are all alike to every step: the explorer saturates them.
    fn stamp_horizon(&self) -> Span {
        Span::ZERO
    }

    /// Whether tags are only compared, so that the explorer may rename them. A mutant that breaks the rule of
    /// [`crate::Tag`] says no, and is explored with tags bounded instead.
    fn tags_are_ranked(&self) -> bool {
        true
    }
}

/// What reaches a node.
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input<P: Protocol> {
    /// A message delivered.
    Message {
        /// Its sender.
        from: NodeId,
        /// What it says.
        message: P::Message,
    },
    /// A timer's firing delivered: at or after its end.
    Timer(P::Timer),
    /// A record that is durable now. What waited for it has left already.
    Durable(P::Record),
    /// A client's operation invoked here.
    Operation {
        /// To be named in the response.
        op: OpId,
        /// What is asked.
        operation: P::Operation,
    },
    /// A decision taken, one of those offered.
    Decision(P::Decision),
}

/// What a step does, in order.
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect<P: Protocol> {
    /// A message leaves.
    Send {
        /// Its receiver.
        to: NodeId,
        /// What it says.
        message: P::Message,
        /// What must be durable first.
        after: Option<Ticket>,
    },
    /// A record is written; it becomes durable later.
    Persist {
        /// Where it is written.
        stream: Stream,
        /// What is written.
        record: P::Record,
    },
    /// A timer is set for a span of the own clock.
    Set {
        /// Which.
        timer: P::Timer,
        /// For how long.
        span: Span,
    },
    /// A timer takes over another's end.
    Copy {
        /// The one that ends when the other does.
        to: P::Timer,
        /// The other.
        from: P::Timer,
    },
    /// A timer is unarmed.
    Cancel(P::Timer),
    /// All timers are unarmed: the node crashed.
    Unarm,
    /// Something that properties see.
    Happened(Event<P>),
    /// A response that waits for a record.
    RespondAfter {
        /// Which operation.
        op: OpId,
        /// Its answer.
        answer: P::Answer,
        /// What must be durable first.
        after: Ticket,
    },
    /// A rare path was taken.
    Mark(&'static str),
}

/// What properties see, each with the node it happened at.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event<P: Protocol> {
    /// The node started, or restarted after a crash.
    Started,
    /// The node crashed; its volatile state is gone.
    Crashed,
    /// A client invoked an operation.
    Invoked(OpId, P::Operation),
    /// A client got its answer.
    Responded(OpId, P::Answer),
    /// A step showed something, or [`Protocol::lapsed`] did.
    Observed(P::Observation),
    /// A deadline that the monitor set has passed.
    Deadline(u32),
    /// The last fault is healed: from here on progress is demanded.
    Healed,
}

/// A record written in this step, for effects that must wait until it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub struct Ticket(pub(crate) u16);

/// What a message in flight can still do. See [`Protocol::relevance`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relevance<M> {
    /// Something, whatever the receiver's state: not asked again for this message.
    Always,
    /// Something, as far as is known.
    Live,
    /// Nothing, ever again.
    Dead,
    /// What that other message would do.
    Same(M),
}

/// What surrounds a step and is not state: the engines implement it, steps meet it through [`Context`].
pub trait Surroundings<T> {
    /// Whether the timer is armed.
    fn is_armed(&mut self, timer: &T) -> bool;
    /// The node's own clock.
    fn clock(&mut self) -> Stamp;
    /// A number below `count`.
    fn choose(&mut self, count: u32) -> u32;
}

/// A step's hands: what it may ask, and what it may do.
pub struct Context<'a, P: Protocol> {
    node: NodeId,
    effects: &'a mut Effects<P>,
    surroundings: &'a mut dyn Surroundings<P::Timer>,
    base: usize,
    persist_count: u16,
    touched: Option<Box<Touched<P::Timer>>>,
}

/// Which of a long step's effects was the last on each timer: to look through all of them for each question would take a
/// step over thousands of ranges the square of their number.
struct Touched<T> {
    /// Effects before this one are in `last`.
    upto: usize,
    last: BTreeMap<T, usize>,
}

/// A step of so many effects is looked through without an index.
const EFFECTS_SEARCHED_MAX: usize = 64;

impl<'a, P: Protocol> Context<'a, P> {
    /// For engines: a context that appends to `effects`.
    pub fn new(node: NodeId, effects: &'a mut Effects<P>, surroundings: &'a mut dyn Surroundings<P::Timer>) -> Self {
        let base = effects.len();
        Context { node, effects, surroundings, base, persist_count: 0, touched: None }
    }

    /// The node that steps.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Sends a message at once.
    #[inline]
    pub fn send(&mut self, to: NodeId, message: P::Message) {
        self.effects.push(Effect::Send { to, message, after: None });
    }

    /// Sends a message once the ticket's record is durable; never, if the node crashes before.
    pub fn send_after(&mut self, ticket: Ticket, to: NodeId, message: P::Message) {
        self.effects.push(Effect::Send { to, message, after: Some(ticket) });
    }

    /// Answers a client's operation.
    pub fn respond(&mut self, op: OpId, answer: P::Answer) {
        self.effects.push(Effect::Happened(Event::Responded(op, answer)));
    }

    /// Answers a client's operation once the ticket's record is durable.
    pub fn respond_after(&mut self, ticket: Ticket, op: OpId, answer: P::Answer) {
        self.effects.push(Effect::RespondAfter { op, answer, after: ticket });
    }

    /// Writes a record. It becomes durable later, and then comes back as [`Input::Durable`].
    pub fn persist(&mut self, stream: Stream, record: P::Record) -> Ticket {
        self.effects.push(Effect::Persist { stream, record });
        self.persist_count += 1;
        Ticket(self.persist_count - 1)
    }

    /// Sets `timer` to end after `span` of the own clock, discarding a firing not yet delivered.
    pub fn set(&mut self, timer: P::Timer, span: Span) {
        self.effects.push(Effect::Set { timer, span });
    }

    /// Lets `to` end when `from` ends; an unarmed `from` leaves `to` unarmed.
    pub fn copy(&mut self, from: P::Timer, to: P::Timer) {
        self.effects.push(Effect::Copy { to, from });
    }

    /// Unarms `timer`, discarding a firing not yet delivered.
    pub fn cancel(&mut self, timer: P::Timer) {
        self.effects.push(Effect::Cancel(timer));
    }

    /// Whether `timer` is armed: the only reading of time. What this step did to it already counts.
    pub fn is_armed(&mut self, timer: &P::Timer) -> bool {
        if self.effects.len() - self.base <= EFFECTS_SEARCHED_MAX {
            return self.is_armed_before(timer, self.effects.len());
        }
        let base = self.base;
        let seen = self.touched.get_or_insert_with(|| Box::new(Touched { upto: base, last: BTreeMap::new() }));
        for index in seen.upto..self.effects.len() {
            if let Some(timer) = touched(&self.effects[index]) {
                seen.last.insert(timer.clone(), index);
            }
        }
        seen.upto = self.effects.len();
        match seen.last.get(timer).copied() {
            Some(last) => self.is_armed_after(last),
            None => self.surroundings.is_armed(timer),
        }
    }

    fn is_armed_before(&mut self, timer: &P::Timer, end: usize) -> bool {
        match (self.base..end).rev().find(|index| touched(&self.effects[*index]) == Some(timer)) {
            Some(last) => self.is_armed_after(last),
            None => self.surroundings.is_armed(timer),
        }
    }

    /// Whether the timer is armed that the effect at `index` touched, just after it.
    fn is_armed_after(&mut self, index: usize) -> bool {
        match &self.effects[index] {
            Effect::Set { span, .. } => span.0 > 0,
            Effect::Copy { from, .. } => {
                let from = from.clone();
                self.is_armed_before(&from, index)
            }
            _ => false,
        }
    }

    /// The own clock, for protocols that put times into messages or names.
    pub fn clock(&mut self) -> Stamp {
        self.surroundings.clock()
    }

    /// A number below `count`: a seeded draw in the simulator, every answer in the explorer.
    ///
    /// # Panics
    /// If `count` is 0.
    pub fn choose(&mut self, count: u32) -> u32 {
        assert!(count > 0, "a choice among none");
        if count == 1 { 0 } else { self.surroundings.choose(count) }
    }

    /// Says that a rare path was taken: a campaign or an exploration reports the paths it never saw.
    pub fn mark(&mut self, what: &'static str) {
        self.effects.push(Effect::Mark(what));
    }

    /// Shows something to the properties.
    pub fn observe(&mut self, observation: P::Observation) {
        self.effects.push(Effect::Happened(Event::Observed(observation)));
    }

    /// Runs a step of an embedded protocol `Q`: its messages, timers and records become this protocol's.
    pub fn embed<Q: Protocol, R>(
        &mut self,
        lift: &impl Embedding<P, Q>,
        run: impl FnOnce(&mut Context<'_, Q>) -> R,
    ) -> R {
        let mut inner_effects = Effects::new();
        let node = self.node;
        let mut inner = Inner { outer: self, lift, of: PhantomData };
        let result = run(&mut Context::new(node, &mut inner_effects, &mut inner));
        let mut tickets = Vec::new();
        for effect in inner_effects {
            self.lift(lift, effect, &mut tickets);
        }
        result
    }

    fn lift<Q: Protocol>(&mut self, lift: &impl Embedding<P, Q>, effect: Effect<Q>, tickets: &mut Vec<Ticket>) {
        let outer_ticket = |ticket: Ticket| tickets[usize::from(ticket.0)];
        match effect {
            Effect::Send { to, message, after } => {
                let after = after.map(outer_ticket);
                self.effects.push(Effect::Send { to, message: lift.message(message), after });
            }
            Effect::Persist { stream, record } => {
                let (stream, record) = lift.record(stream, record);
                tickets.push(self.persist(stream, record));
            }
            Effect::Set { timer, span } => self.set(lift.timer(&timer), span),
            Effect::Copy { to, from } => self.copy(lift.timer(&from), lift.timer(&to)),
            Effect::Cancel(timer) => self.cancel(lift.timer(&timer)),
            Effect::Mark(what) => self.mark(what),
            Effect::Happened(Event::Observed(observation)) => lift.observed(observation, self),
            Effect::Happened(Event::Responded(op, answer)) => lift.responded(op, answer, None, self),
            Effect::RespondAfter { op, answer, after } => lift.responded(op, answer, Some(outer_ticket(after)), self),
            Effect::Happened(_) | Effect::Unarm => unreachable!("only the world makes these"),
        }
    }
}

/// The timer that an effect sets, copies to or cancels.
fn touched<P: Protocol>(effect: &Effect<P>) -> Option<&P::Timer> {
    match effect {
        Effect::Set { timer, .. } | Effect::Cancel(timer) | Effect::Copy { to: timer, .. } => Some(timer),
        _ => None,
    }
}

/// What surrounds an embedded step: the outer step's surroundings, with the timers' names mapped.
struct Inner<'c, 'a, P: Protocol, Q, L> {
    outer: &'c mut Context<'a, P>,
    lift: &'c L,
    of: PhantomData<Q>,
}

impl<P: Protocol, Q: Protocol, L: Embedding<P, Q>> Surroundings<Q::Timer> for Inner<'_, '_, P, Q, L> {
    fn is_armed(&mut self, timer: &Q::Timer) -> bool {
        let timer = self.lift.timer(timer);
        self.outer.is_armed(&timer)
    }
    fn clock(&mut self) -> Stamp {
        self.outer.clock()
    }
    fn choose(&mut self, count: u32) -> u32 {
        self.outer.choose(count)
    }
}

/// How a protocol `Q` lives inside a protocol `P`.
pub trait Embedding<P: Protocol, Q: Protocol> {
    /// `Q`'s message, as `P` sends it.
    fn message(&self, message: Q::Message) -> P::Message;
    /// `Q`'s timer, as `P` names it.
    fn timer(&self, timer: &Q::Timer) -> P::Timer;
    /// `Q`'s record, as `P` writes it.
    fn record(&self, stream: Stream, record: Q::Record) -> (Stream, P::Record);
    /// What `P` does with something that `Q` shows.
    fn observed(&self, observation: Q::Observation, cx: &mut Context<'_, P>) {
        let _ = (observation, cx);
    }
    /// What `P` does with an answer of `Q`, durable once `after` is.
    fn responded(&self, op: OpId, answer: Q::Answer, after: Option<Ticket>, cx: &mut Context<'_, P>) {
        let _ = (op, answer, after, cx);
    }
}

/// Where a node's open decisions are put.
pub struct Offers<'a, P: Protocol> {
    offered: &'a mut Vec<P::Decision>,
    surroundings: &'a mut dyn Surroundings<P::Timer>,
}

impl<'a, P: Protocol> Offers<'a, P> {
    /// For engines.
    pub fn new(offered: &'a mut Vec<P::Decision>, surroundings: &'a mut dyn Surroundings<P::Timer>) -> Self {
        Offers { offered, surroundings }
    }

    /// Whether `timer` is armed.
    pub fn is_armed(&mut self, timer: &P::Timer) -> bool {
        self.surroundings.is_armed(timer)
    }

    /// Opens a decision to the scheduler.
    pub fn offer(&mut self, decision: P::Decision) {
        self.offered.push(decision);
    }
}

/// The kebab-case name of a mutant, what it removes, and what must come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mutant {
    /// On the command line.
    pub name: &'static str,
    /// The mechanism it switches off, with the paper's section.
    pub removes: &'static str,
    /// What must come of it.
    pub outcome: Outcome,
}

impl Mutant {
    /// A mutant under which a property falls.
    pub const fn falls(name: &'static str, removes: &'static str, property: &'static str) -> Mutant {
        Mutant { name, removes, outcome: Outcome::Falls(property) }
    }
}

/// The declared outcome of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// This property falls.
    Falls(&'static str),
    /// This goal is never reached.
    Unreachable(&'static str),
    /// Nothing, within the bound, for this reason.
    Harmless(&'static str),
}

/// The mutants switched on in a run. Part of the run's context, never of a node's state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mutants(BTreeSet<&'static str>);

impl Mutants {
    /// The whole protocol.
    pub fn none() -> Self {
        Self::default()
    }

    /// Switches on the named ones.
    ///
    /// # Errors
    /// On a name that `known` does not have.
    pub fn named<'n>(known: &[Mutant], names: impl IntoIterator<Item = &'n str>) -> Result<Self, String> {
        names.into_iter().map(|name| Self::find(known, name)).collect::<Result<_, _>>().map(Mutants)
    }

    fn find(known: &[Mutant], name: &str) -> Result<&'static str, String> {
        known.iter().find(|mutant| mutant.name == name).map(|mutant| mutant.name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|mutant| mutant.name).collect();
            match names.as_slice() {
                [] => format!("no mutant `{name}`: the protocol has none"),
                _ => format!("no mutant `{name}`; known: {}", names.join(", ")),
            }
        })
    }

    /// Whether the mutant is on.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }

    /// Whether this is the whole protocol.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
