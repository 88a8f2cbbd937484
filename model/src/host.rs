//! A host: one node with its disk and its client, and what each local event means for it.
//!
//! [`Host::feed`] is the one meaning of delivering, firing, syncing, invoking, deciding, crashing, restarting and
//! pausing at a node. The plain store calls it in place, the interned store remembers its results.

use derive_where::derive_where;

use crate::effects::Effects;
use crate::journal::Journal;
use crate::name::{NodeId, Nonce, OpId, Stream};
use crate::part::Part;
use crate::protocol::{Context, Effect, Event, Input, Offers, Protocol, Surroundings};

/// Whether a node takes inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub enum Phase {
    /// It does.
    Up,
    /// It is stopped for a while: time passes, timers lapse, nothing reaches it.
    Paused,
    /// It crashed: messages that arrive are lost.
    Down,
}

/// An effect that waits for a record to be durable.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Held<P: Protocol> {
    /// A message.
    Send(NodeId, P::Message),
    /// An answer.
    Respond(OpId, P::Answer),
}

/// A record written and not yet durable.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unsynced<P: Protocol> {
    /// Where it was written.
    pub stream: Stream,
    /// What was written.
    pub record: P::Record,
    /// What leaves once it is durable, in order.
    pub held: Vec<Held<P>>,
}

/// What a node would find on its disk, and what is still on the way there.
///
/// 1. `durable` is the fold of exactly the records that became durable, in the order they did;
/// 2. `tail` holds the others, oldest first; records of one stream become durable in order;
/// 3. no held effect of the tail has left the node.
///
/// A crash keeps `durable` and, for each stream, a prefix of its part of the tail of its own; the held effects are
/// lost. The last record of a prefix may be torn: recovery sees it by its checksum and cuts it off, so that a torn
/// record is unreadable, never half-applied. Source: Pillai et al. 2014. What became durable survives all of this; two
/// events break that on purpose, and only at a node that is down: [`Local::Erase`] and [`Local::Corrupt`].
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Disk<P: Protocol> {
    /// The fold of the durable records.
    pub durable: P::Durable,
    /// The rest.
    pub tail: Vec<Unsynced<P>>,
    /// The durable records one by one, where something may become of one of them.
    pub journal: Journal<P>,
}

impl<P: Protocol> Disk<P> {
    /// The record is durable.
    fn keep(&mut self, protocol: &P, stream: Stream, record: &P::Record) {
        protocol.fold(&mut self.durable, stream, record);
        self.journal.note(protocol, stream, record);
    }
}

/// The client at a node: its place in the workload.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Client<P: Protocol> {
    /// Operations invoked so far.
    pub invoked: u32,
    /// The one that awaits its answer. After a crash of the node it never comes.
    pub open: Option<OpId>,
    /// The latest answer.
    pub last: Option<P::Answer>,
}

/// How many unsynced records of each stream a crash keeps; streams left out keep none.
pub type Kept = Vec<(Stream, u32)>;

/// Something that happens at a node.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Local<P: Protocol> {
    /// The run begins.
    Start,
    /// A message arrives.
    Deliver(NodeId, P::Message),
    /// A lapsed timer's firing arrives. The world unarms it first.
    Fire(P::Timer),
    /// A timer's end passes.
    Lapse(P::Timer),
    /// The oldest unsynced record of the stream becomes durable.
    Sync(Stream),
    /// The client invokes its next operation.
    Invoke,
    /// An offered decision is taken.
    Decide(P::Decision),
    /// The node crashes and keeps these of its unsynced records.
    Crash(Kept),
    /// It starts again.
    Restart,
    /// It stops taking inputs.
    Pause,
    /// It takes inputs again.
    Resume,
    /// The node crashes as by [`Local::Crash`], and of what it keeps the last record of each of these streams is torn:
    /// its checksum fails, and recovery cuts it off. Marks `torn-record` for each.
    Tear(Kept, Vec<Stream>),
    /// The disk of a node that is down is replaced by an empty one. Its next start finds what a first start finds; its
    /// nonce is new all the same, for it does not come from the disk. Marks `empty-disk`.
    Erase,
    /// Of a node that is down, the durable record so many places before the last one of the stream fails its checksum:
    /// recovery ends the stream before it; other streams keep theirs. Marks `corrupt-record`. Only a store that keeps a
    /// [`Journal`] offers it.
    Corrupt(Stream, u32),
    /// The node's clock jumps by so much, forward or back [ns]: stamps move, timers do not.
    Jump(i64),
}

impl<P: Protocol> Local<P> {
    /// For output.
    pub fn name(&self) -> &'static str {
        match self {
            Local::Start => "start",
            Local::Deliver(..) => "deliver",
            Local::Fire(_) => "fire",
            Local::Lapse(_) => "lapse",
            Local::Sync(_) => "sync",
            Local::Invoke => "invoke",
            Local::Decide(_) => "decide",
            Local::Crash(_) => "crash",
            Local::Restart => "restart",
            Local::Pause => "pause",
            Local::Resume => "resume",
            Local::Tear(..) => "tear",
            Local::Erase => "erase",
            Local::Corrupt(..) => "corrupt",
            Local::Jump(_) => "jump",
        }
    }
}

/// One node, with everything that is its own but its timers' ends.
#[derive(seedbed_derive::Canonical)]
#[canonical(unbounded)]
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host<P: Protocol> {
    /// Whether it takes inputs.
    pub phase: Phase,
    /// Its latest incarnation; `None` before the first.
    pub nonce: Option<Nonce>,
    /// Its disk.
    pub disk: Part<Disk<P>>,
    /// Its client.
    pub client: Part<Client<P>>,
    /// Its volatile state; `None` while it is down.
    pub state: Option<P::State>,
}

impl<P: Protocol> Default for Host<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Protocol> Host<P> {
    /// A node that has not started.
    pub fn new() -> Self {
        Host { phase: Phase::Down, nonce: None, disk: Part::default(), client: Part::default(), state: None }
    }

    /// What `local` means here. Effects are appended to `out`, in order.
    ///
    /// Inputs to a node that is down, and lapses and firings that lost their timer, are no-ops: the world refuses
    /// what cannot happen before it comes here.
    #[inline]
    pub fn feed(
        &mut self,
        protocol: &P,
        node: NodeId,
        local: Local<P>,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        match local {
            Local::Deliver(from, message) => self.receive(protocol, node, from, message, surroundings, out),
            Local::Fire(timer) => self.step(protocol, node, Input::Timer(timer), surroundings, out),
            Local::Decide(decision) => self.step(protocol, node, Input::Decision(decision), surroundings, out),
            Local::Lapse(timer) => self.lapse(protocol, node, &timer, out),
            Local::Sync(stream) => self.sync(protocol, node, stream, surroundings, out),
            Local::Invoke => self.invoke(protocol, node, surroundings, out),
            Local::Crash(kept) => self.crash(protocol, kept, &[], out),
            Local::Tear(kept, torn) => self.crash(protocol, kept, &torn, out),
            Local::Erase => self.erase(out),
            Local::Corrupt(stream, back) => self.corrupt(protocol, stream, back, out),
            Local::Start | Local::Restart => self.start(protocol, node, surroundings, out),
            Local::Pause => self.phase = Phase::Paused,
            Local::Resume => self.phase = Phase::Up,
            // The clock is the world's, not the node's.
            Local::Jump(_) => {}
        }
    }

    /// What [`Local::Deliver`] means, for worlds that spend their time on it.
    #[inline(always)]
    pub fn receive(
        &mut self,
        protocol: &P,
        node: NodeId,
        from: NodeId,
        message: P::Message,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        self.step(protocol, node, Input::Message { from, message }, surroundings, out);
    }

    #[inline]
    fn step(
        &mut self,
        protocol: &P,
        node: NodeId,
        input: Input<P>,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        let Some(state) = &mut self.state else { return };
        let base = out.len();
        let mut cx = Context::new(node, out, surroundings);
        protocol.step(state, input, &mut cx);
        self.settle(base, out);
    }

    fn start(
        &mut self,
        protocol: &P,
        node: NodeId,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        self.phase = Phase::Up;
        let nonce = self.nonce.map_or_else(|| Nonce::first(node.0), Nonce::next);
        self.nonce = Some(nonce);
        out.push(Effect::Happened(Event::Started));
        let base = out.len();
        let mut cx = Context::new(node, out, surroundings);
        self.state = Some(protocol.start(&self.disk.durable, nonce, &mut cx));
        self.settle(base, out);
    }

    fn lapse(&mut self, protocol: &P, node: NodeId, timer: &P::Timer, out: &mut Effects<P>) {
        let observed = self.state.as_ref().and_then(|state| protocol.lapsed(node, state, timer));
        out.extend(observed.map(|observation| Effect::Happened(Event::Observed(observation))));
    }

    fn sync(
        &mut self,
        protocol: &P,
        node: NodeId,
        stream: Stream,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        let Some(index) = self.disk.tail.iter().position(|unsynced| unsynced.stream == stream) else { return };
        let Unsynced { record, held, .. } = self.disk.tail.remove(index);
        self.disk.keep(protocol, stream, &record);
        for effect in held {
            match effect {
                Held::Send(to, message) => out.push(Effect::Send { to, message, after: None }),
                Held::Respond(op, answer) => self.answered(op, answer, out),
            }
        }
        self.step(protocol, node, Input::Durable(record), surroundings, out);
    }

    fn invoke(
        &mut self,
        protocol: &P,
        node: NodeId,
        surroundings: &mut dyn Surroundings<P::Timer>,
        out: &mut Effects<P>,
    ) {
        let op = OpId(self.client.invoked);
        let mut draw = |count| if count <= 1 { 0 } else { surroundings.choose(count) };
        let operation = protocol.operation(node, op, self.client.last.as_ref(), &mut draw);
        self.client.invoked += 1;
        self.client.open = Some(op);
        out.push(Effect::Happened(Event::Invoked(op, operation.clone())));
        self.step(protocol, node, Input::Operation { op, operation }, surroundings, out);
    }

    fn crash(&mut self, protocol: &P, mut left: Kept, torn: &[Stream], out: &mut Effects<P>) {
        self.phase = Phase::Down;
        self.state = None;
        for (_, count) in left.iter_mut().filter(|(stream, count)| *count > 0 && torn.contains(stream)) {
            *count -= 1;
            out.push(Effect::Mark("torn-record"));
        }
        if !self.disk.tail.is_empty() {
            for unsynced in std::mem::take(&mut self.disk.tail) {
                let survives = left.iter_mut().find(|(stream, count)| *stream == unsynced.stream && *count > 0);
                if let Some((_, count)) = survives {
                    *count -= 1;
                    self.disk.keep(protocol, unsynced.stream, &unsynced.record);
                }
            }
        }
        if self.client.open.is_some() {
            self.client.open = None;
        }
        out.push(Effect::Unarm);
        out.push(Effect::Happened(Event::Crashed));
    }

    fn erase(&mut self, out: &mut Effects<P>) {
        let disk = &mut *self.disk;
        disk.durable = P::Durable::default();
        disk.journal.restart(&disk.durable);
        out.push(Effect::Mark("empty-disk"));
    }

    fn corrupt(&mut self, protocol: &P, stream: Stream, back: u32, out: &mut Effects<P>) {
        let disk = &mut *self.disk;
        if let Some(durable) = disk.journal.cut(protocol, stream, back) {
            disk.durable = durable;
            out.push(Effect::Mark("corrupt-record"));
        }
    }

    /// Moves what waits for a record behind the record, into the tail; notes which answers leave.
    #[inline]
    fn settle(&mut self, base: usize, out: &mut Effects<P>) {
        if out.acts().persists {
            self.hold(base, out);
        }
        if out.acts().responds {
            self.note_answers(&out[base..]);
        }
    }

    fn note_answers(&mut self, out: &[Effect<P>]) {
        for effect in out {
            if let Effect::Happened(Event::Responded(op, answer)) = effect {
                self.note_answer(*op, answer.clone());
            }
        }
    }

    fn hold(&mut self, base: usize, out: &mut Effects<P>) {
        let mut places = Vec::new();
        let disk = &mut *self.disk;
        for effect in out.split_off(base) {
            match effect {
                Effect::Persist { stream, ref record } => {
                    places.push(disk.tail.len());
                    disk.tail.push(Unsynced { stream, record: record.clone(), held: Vec::new() });
                    out.push(effect);
                }
                Effect::Send { to, message, after: Some(ticket) } => {
                    disk.tail[places[usize::from(ticket.0)]].held.push(Held::Send(to, message));
                }
                Effect::RespondAfter { op, answer, after } => {
                    disk.tail[places[usize::from(after.0)]].held.push(Held::Respond(op, answer));
                }
                other => out.push(other),
            }
        }
    }

    fn answered(&mut self, op: OpId, answer: P::Answer, out: &mut Effects<P>) {
        self.note_answer(op, answer.clone());
        out.push(Effect::Happened(Event::Responded(op, answer)));
    }

    fn note_answer(&mut self, op: OpId, answer: P::Answer) {
        if self.client.open == Some(op) {
            self.client.open = None;
            self.client.last = Some(answer);
        }
    }

    /// The decisions open here now.
    pub fn decisions(
        &self,
        protocol: &P,
        node: NodeId,
        surroundings: &mut dyn Surroundings<P::Timer>,
    ) -> Vec<P::Decision> {
        let mut offered = Vec::new();
        if let (Phase::Up, Some(state)) = (self.phase, &self.state) {
            protocol.decisions(node, state, &mut Offers::new(&mut offered, surroundings));
        }
        offered
    }

    /// Whether the client at this node has an operation to invoke.
    pub fn can_invoke(&self, protocol: &P, node: NodeId) -> bool {
        let count = protocol.operation_count(node);
        count > 0 && self.phase == Phase::Up && self.client.open.is_none() && self.client.invoked < count
    }

    /// The streams with unsynced records, each with how many, in order.
    pub fn unsynced(&self) -> Vec<(Stream, u32)> {
        let mut counts = std::collections::BTreeMap::new();
        for unsynced in &self.disk.tail {
            *counts.entry(unsynced.stream).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }
}
