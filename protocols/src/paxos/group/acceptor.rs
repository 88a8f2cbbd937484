//! An acceptor of Paxos ([`crate::paxos::Acceptor`]), whose promise is also a grant of the leader lease: that it is granted is a
//! timer, which a restart sets anew.

use seedbed_model::{Canonical, Context, Data, NodeId, Stream};

use super::message::{Ballot, Bid, Kept, Message, Vote, Write};
use super::mutants::*;
use super::{PaxosGroup, Timer};
use crate::paxos::{Denied, Held, Writer};

/// The stream of the acceptor's state.
const ACCEPTOR: Stream = Stream(0);

/// An acceptor's volatile state.
///
/// 1. while `Timer::Granted` is armed, the server of `kept.promised` may lead by this acceptor's grant, and no other is
///    promised anything;
/// 2. an answer has left only if what it rests on is durable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Acceptor<V> {
    /// What is durable, or on its way there.
    pub kept: Kept<V>,
    writer: Writer<Message<V>>,
}

type Cx<'a, 'b, V> = &'a mut Context<'b, PaxosGroup<V>>;

impl<V: Data> Acceptor<V> {
    /// What was granted before a crash may be held: for how much longer no disk says, so for a whole margin.
    pub(super) fn start(durable: &Kept<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> Self {
        let kept = if group.paxos.state_is_read_back { durable.clone() } else { Kept::default() };
        if kept.promised.is_some() {
            cx.mark("read-back");
            if !group.has(RESTART_GRANTS) {
                cx.set(Timer::Granted, group.params.leader_margin);
            }
        }
        Acceptor { kept, writer: Writer::default() }
    }

    pub(crate) fn on_message(&mut self, from: NodeId, message: Message<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        match message {
            Message::Prepare(ballot) => self.on_prepare(from, ballot, group, cx),
            Message::Accept { ballot, bid, value } => self.on_accept(from, ballot, Write { bid, value }, group, cx),
            Message::Renew { ballot, bid } => self.on_renew(from, ballot, bid, group, cx),
            Message::Release(ballot) => self.on_release(ballot, cx),
            Message::Promise { .. } | Message::Granted { .. } | Message::Denied { .. } => {
                cx.mark("input out of place");
            }
        }
    }

    /// "Can I have the leader lease?" Not while another server may have it. Whoever has it and asks anew has forgotten that
    /// it has it.
    fn on_prepare(&mut self, from: NodeId, ballot: Ballot, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let is_anothers = self.kept.promised.is_some_and(|promised| promised.host != ballot.host);
        let is_granted = is_anothers && cx.is_armed(&Timer::Granted) && !group.has(GRANT_WHILE_HELD);
        if is_granted {
            cx.mark("lease-held");
            return deny(from, ballot.attempt, self.kept.denied(), cx);
        }
        match self.kept.prepare(ballot, &group.paxos) {
            Err(denied) => deny(from, ballot.attempt, denied, cx),
            Ok(vote) => {
                cx.set(Timer::Granted, group.params.leader_margin);
                let answer = Message::Promise { bid: ballot.attempt, vote };
                self.answer(Held { to: from, answer }, group.paxos.promise_is_written_first, cx);
            }
        }
    }

    /// The leader writes the register. That no other leads was seen by the majority that promised.
    fn on_accept(&mut self, from: NodeId, ballot: Ballot, write: Write<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let bid = write.bid;
        match self.kept.accept(Vote { ballot, value: write }, &group.paxos) {
            Err(denied) => deny(from, bid, denied, cx),
            Ok(false) => cx.mark("overtaken"),
            Ok(true) => {
                cx.set(Timer::Granted, group.params.leader_margin);
                let held = Held { to: from, answer: Message::Granted { bid } };
                self.answer(held, group.paxos.vote_is_written_first, cx);
            }
        }
    }

    /// The promise once more. Nothing to write, if it is durable.
    fn on_renew(&mut self, from: NodeId, ballot: Ballot, bid: Bid, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let is_durable = self.kept.promised == Some(ballot) && self.writer.is_idle();
        if let Err(denied) = self.kept.prepare(ballot, &group.paxos) {
            return deny(from, bid, denied, cx);
        }
        cx.set(Timer::Granted, group.params.leader_margin);
        if is_durable {
            return cx.send(from, Message::Granted { bid });
        }
        self.answer(Held { to: from, answer: Message::Granted { bid } }, group.paxos.promise_is_written_first, cx);
    }

    /// A candidate gives up its ballot, so that others need not wait for a lease that nobody holds.
    fn on_release(&mut self, ballot: Ballot, cx: Cx<'_, '_, V>) {
        if self.kept.promised == Some(ballot) {
            cx.mark("released");
            cx.cancel(Timer::Granted);
        }
    }

    /// Whether the ballot is not promised here, and never will be.
    pub(super) fn is_past(&self, ballot: Ballot, group: &PaxosGroup<V>) -> bool {
        self.kept.check(ballot, &group.paxos).is_err()
    }

    /// Answers once the present state is durable; a mutant that does not wait, at once.
    fn answer(&mut self, held: Held<Message<V>>, waits: bool, cx: Cx<'_, '_, V>) {
        if !waits {
            let Held { to, answer } = held.clone();
            cx.send(to, answer);
        }
        self.writer.push(held);
        self.write(cx);
    }

    fn write(&mut self, cx: Cx<'_, '_, V>) {
        let ready = self.writer.ready();
        if ready > 0 {
            self.writer.begin_write(ready, ACCEPTOR, |_| self.kept.clone(), cx);
        }
    }

    /// What waited while the disk was busy is written together.
    pub(crate) fn on_durable(&mut self, cx: Cx<'_, '_, V>) {
        self.writer.done();
        self.write(cx);
    }
}

fn deny<V: Data>(to: NodeId, bid: Bid, denied: Denied, cx: Cx<'_, '_, V>) {
    cx.mark("denied");
    cx.send(to, Message::Denied { bid, number: denied.number });
}
