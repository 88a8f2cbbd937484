//! What may happen to a distributed system, and what it means: written once, over a store.
//!
//! A *choice* names one thing that happens. [`apply`] gives it its meaning, whatever the store: the plain one
//! ([`crate::Plain`]) changes in place, the interned one (the explorer's) keeps rows of small integers. Schedulers
//! only choose.
//!
//! The fault model:
//! - the network delivers messages in any order, as often as the scheduler says, or never; it alters none;
//! - a message that arrives over a cut link, or at a node that is down, is lost; at a paused node it waits;
//! - a timer's firing arrives at or after its end; the timer counts as unarmed from its end on;
//! - a crash takes the volatile state, the timers and a part of what is not yet durable; see [`crate::Disk`];
//! - what is durable survives, but where an assumption is broken on purpose: an empty disk, a corrupt record;
//! - a clock's jump moves stamps, never timers;
//! - a paused node takes no input; time passes for it.

use crate::host::{Local, Phase};
use crate::name::NodeId;
use crate::protocol::Protocol;
use crate::time::Span;

/// One thing that happens. `E` names a message in flight and `L` something at a node, as the store does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub enum Choice<E, L> {
    /// The message arrives.
    Deliver(E),
    /// A copy arrives; the message stays in flight.
    Duplicate(E),
    /// The message is lost.
    Lose(E),
    /// Something happens at a node.
    At(NodeId, L),
    /// The link from the first node to the second is cut.
    Cut(NodeId, NodeId),
    /// It works again.
    Heal(NodeId, NodeId),
    /// Time passes: timers and deadlines come nearer, and those that reach their end lapse.
    Elapse(Span),
}

/// Why a choice cannot happen now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The node is paused.
    #[error("the node is paused")]
    Paused,
    /// The node is down.
    #[error("the node is down")]
    Down,
    /// The node is up already.
    #[error("the node is up")]
    Up,
    /// The timer is not due.
    #[error("the timer is not due")]
    NotDue,
    /// No such message is in flight.
    #[error("no such message is in flight")]
    NoMessage,
    /// The node does not offer this, or has nothing to sync, to invoke or to corrupt.
    #[error("the node does not offer it")]
    NotOffered,
}

/// What becomes of a choice that can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It happened.
    Done,
    /// The message was lost: its link is cut or its receiver down.
    Lost,
}

/// What holds a world: nodes, disks, timers, messages in flight, the monitor.
///
/// The primitives have no meaning of their own: [`apply`] puts them in order.
pub trait Store<P: Protocol> {
    /// A message in flight.
    type Envelope: Clone;
    /// Something at a node.
    type Local: Clone;
    /// What a node's step did.
    type Outcome;

    /// Whether the node takes inputs.
    fn phase(&self, node: NodeId) -> Phase;
    /// Whether the link is cut.
    fn is_cut(&self, from: NodeId, to: NodeId) -> bool;
    /// Cuts or heals the link.
    fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool);
    /// The message's sender and receiver.
    fn ends(&self, envelope: &Self::Envelope) -> (NodeId, NodeId);
    /// Whether a copy of the message is in flight.
    fn is_in_flight(&self, envelope: &Self::Envelope) -> bool;
    /// Removes one copy of the message from flight.
    fn take(&mut self, envelope: &Self::Envelope);
    /// What `local` stands for.
    fn local<'a>(&'a self, local: &'a Self::Local) -> &'a Local<P>;
    /// Whether the timer's end has passed and its firing is to be delivered.
    fn is_due(&self, node: NodeId, timer: &P::Timer) -> bool;
    /// Whether the timer's end still lies ahead. Only an untimed world fires such a timer: it lapses first.
    fn is_armed(&self, node: NodeId, timer: &P::Timer) -> bool;
    /// Forgets the timer.
    fn unarm(&mut self, node: NodeId, timer: &P::Timer);
    /// Runs the host on a message that arrives.
    fn receive(&mut self, node: NodeId, envelope: &Self::Envelope) -> Self::Outcome;
    /// Runs the host on anything else. `Err` if the host does not offer it.
    fn run(&mut self, node: NodeId, local: &Self::Local) -> Result<Self::Outcome, Refused>;
    /// Lets the timer of a host that lapses show what ends by itself.
    fn lapse(&mut self, node: NodeId, timer: &P::Timer) -> Self::Outcome;
    /// Carries out what the step did to the node's timers, in order.
    fn rearm(&mut self, node: NodeId, outcome: &Self::Outcome);
    /// Puts the messages that the step sent in flight, in order.
    fn send(&mut self, node: NodeId, outcome: &Self::Outcome);
    /// Shows the monitor what happened, in order.
    fn watch(&mut self, node: NodeId, outcome: &Self::Outcome);
    /// Time passes by `span`. The timers and the monitor's deadlines that lapse, in order.
    fn elapse(&mut self, span: Span) -> Vec<Lapse<P::Timer>>;
    /// Shows the monitor that one of its deadlines has passed.
    fn deadline(&mut self, id: u32);
}

/// Something whose end has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lapse<T> {
    /// A node's timer.
    Timer(NodeId, T),
    /// A deadline of the monitor.
    Deadline(u32),
}

/// The choice as its store names things.
pub type ChoiceIn<P, S> = Choice<<S as Store<P>>::Envelope, <S as Store<P>>::Local>;

/// A choice named by what it is about: as scripts, traces and pinned files hold it.
pub type Named<P> = Choice<crate::Envelope<<P as Protocol>::Message>, Local<P>>;

/// What `choice` means.
///
/// # Errors
/// If it cannot happen now; nothing has changed then.
#[inline]
pub fn apply<P: Protocol, S: Store<P>>(store: &mut S, choice: &ChoiceIn<P, S>) -> Result<Applied, Refused> {
    match choice {
        Choice::Deliver(envelope) => return deliver(store, envelope),
        Choice::Duplicate(envelope) => return arrive(store, envelope, false),
        Choice::Lose(envelope) => {
            require(store.is_in_flight(envelope), Refused::NoMessage)?;
            store.take(envelope);
        }
        Choice::At(node, local) => at(store, *node, local)?,
        Choice::Cut(from, to) => store.set_cut(*from, *to, true),
        Choice::Heal(from, to) => store.set_cut(*from, *to, false),
        Choice::Elapse(span) => elapse(store, *span),
    }
    Ok(Applied::Done)
}

fn require(holds: bool, otherwise: Refused) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// What [`Choice::Deliver`] means: [`apply`], for a scheduler that knows what it chose.
///
/// # Errors
/// As for [`apply`].
#[inline(always)]
pub fn deliver<P: Protocol, S: Store<P>>(store: &mut S, envelope: &S::Envelope) -> Result<Applied, Refused> {
    arrive(store, envelope, true)
}

#[inline(always)]
fn arrive<P: Protocol, S: Store<P>>(store: &mut S, envelope: &S::Envelope, take: bool) -> Result<Applied, Refused> {
    require(store.is_in_flight(envelope), Refused::NoMessage)?;
    let (from, to) = store.ends(envelope);
    let phase = store.phase(to);
    let lost = phase == Phase::Down || store.is_cut(from, to);
    require(lost || phase == Phase::Up, Refused::Paused)?;
    if take {
        store.take(envelope);
    }
    if lost {
        return Ok(Applied::Lost);
    }
    let outcome = store.receive(to, envelope);
    settle(store, to, &outcome);
    Ok(Applied::Done)
}

fn at<P: Protocol, S: Store<P>>(store: &mut S, node: NodeId, local: &S::Local) -> Result<(), Refused> {
    let phase = store.phase(node);
    let is_up = || match phase {
        Phase::Up => Ok(()),
        Phase::Paused => Err(Refused::Paused),
        Phase::Down => Err(Refused::Down),
    };
    let fired = match store.local(local) {
        Local::Fire(timer) => {
            require(store.is_due(node, timer), Refused::NotDue)?;
            is_up()?;
            Some(timer.clone())
        }
        Local::Sync(_) | Local::Invoke | Local::Decide(_) | Local::Pause => is_up().map(|()| None)?,
        Local::Start | Local::Restart => require(phase == Phase::Down, Refused::Up).map(|()| None)?,
        Local::Crash(_) | Local::Tear(..) => require(phase != Phase::Down, Refused::Down).map(|()| None)?,
        Local::Erase | Local::Corrupt(..) => require(phase == Phase::Down, Refused::Up).map(|()| None)?,
        Local::Jump(_) => None,
        Local::Resume => require(phase == Phase::Paused, Refused::Up).map(|()| None)?,
        // Messages arrive by `Choice::Deliver`, lapses by `Choice::Elapse`: nothing else makes them happen.
        Local::Deliver(..) => return Err(Refused::NoMessage),
        Local::Lapse(_) => return Err(Refused::NotDue),
    };
    if let Some(timer) = fired {
        if store.is_armed(node, &timer) {
            lapse(store, Lapse::Timer(node, timer.clone()));
        }
        store.unarm(node, &timer);
    }
    let outcome = store.run(node, local)?;
    settle(store, node, &outcome);
    Ok(())
}

fn elapse<P: Protocol, S: Store<P>>(store: &mut S, span: Span) {
    for passed in store.elapse(span) {
        lapse(store, passed);
    }
}

/// What it means that the end of a timer or a deadline passes. For schedulers that move time from event to event;
/// [`Choice::Elapse`] does it for those that move by ticks.
pub fn lapse<P: Protocol, S: Store<P>>(store: &mut S, passed: Lapse<P::Timer>) {
    match passed {
        Lapse::Timer(node, timer) => {
            let outcome = store.lapse(node, &timer);
            settle(store, node, &outcome);
        }
        Lapse::Deadline(id) => store.deadline(id),
    }
}

/// The one order in which a step's effects act.
#[inline]
fn settle<P: Protocol, S: Store<P>>(store: &mut S, node: NodeId, outcome: &S::Outcome) {
    store.rearm(node, outcome);
    store.send(node, outcome);
    store.watch(node, outcome);
}
