//! An acceptor: a promise that is also a grant of the leader lease, and a vote on the register. Both are durable before they
//! are answered; that the lease is granted is a timer, which a restart sets anew.

use seedbed_model::{Canonical, Context, Data, NodeId, Stream};

use super::message::{Ballot, Bid, Held, Kept, Message, Vote};
use super::mutants::*;
use super::{PaxosGroup, Timer};
use crate::paxos::Writer;

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
    writer: Writer<Held<V>>,
}

type Cx<'a, 'b, V> = &'a mut Context<'b, PaxosGroup<V>>;

impl<V: Data> Acceptor<V> {
    /// What was granted before a crash may be held: for how much longer no disk says, so for a whole margin.
    pub(super) fn start(durable: &Kept<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> Self {
        let kept = if group.has(NOTHING_READ_BACK) { Kept::default() } else { durable.clone() };
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
            Message::Accept { ballot, bid, value } => self.on_accept(from, Vote { ballot, bid, value }, group, cx),
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
        }
        if is_granted || self.is_below(ballot, group) {
            return self.deny(from, ballot.attempt, cx);
        }
        self.kept.promised = Some(ballot);
        cx.set(Timer::Granted, group.params.leader_margin);
        let answer = Message::Promise { bid: ballot.attempt, vote: self.kept.accepted.clone() };
        self.answer(Held { to: from, answer }, group.has(UNSYNCED_PROMISE), cx);
    }

    /// The leader writes the register. That no other leads was seen by the majority that promised.
    fn on_accept(&mut self, from: NodeId, vote: Vote<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        if self.is_below(vote.ballot, group) && !group.has(ACCEPT_BELOW_PROMISE) {
            return self.deny(from, vote.bid, cx);
        }
        let is_overtaken =
            self.kept.accepted.as_ref().is_some_and(|last| last.ballot == vote.ballot && last.bid > vote.bid);
        if is_overtaken && !group.has(OVERTAKEN_ACCEPTED) {
            return cx.mark("overtaken");
        }
        let bid = vote.bid;
        self.kept.promised = Some(vote.ballot);
        self.kept.accepted = Some(vote);
        cx.set(Timer::Granted, group.params.leader_margin);
        self.answer(Held { to: from, answer: Message::Granted { bid } }, group.has(UNSYNCED_VOTE), cx);
    }

    /// Nothing to write, if what is promised is durable.
    fn on_renew(&mut self, from: NodeId, ballot: Ballot, bid: Bid, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        if self.is_below(ballot, group) {
            return self.deny(from, bid, cx);
        }
        let is_durable = self.kept.promised == Some(ballot) && self.writer.is_idle();
        self.kept.promised = Some(ballot);
        cx.set(Timer::Granted, group.params.leader_margin);
        if is_durable {
            return cx.send(from, Message::Granted { bid });
        }
        self.answer(Held { to: from, answer: Message::Granted { bid } }, group.has(UNSYNCED_PROMISE), cx);
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
        self.is_below(ballot, group)
    }

    /// Terms are numbers, so that of one number only one ballot is promised: a server that crashed counts anew.
    fn is_below(&self, ballot: Ballot, group: &PaxosGroup<V>) -> bool {
        let Some(promised) = self.kept.promised.filter(|promised| *promised != ballot) else { return false };
        if group.has(NUMBERS_TIE) { ballot < promised } else { ballot.number <= promised.number }
    }

    fn deny(&self, to: NodeId, bid: Bid, cx: Cx<'_, '_, V>) {
        cx.mark("denied");
        let number = self.kept.promised.map_or(0, |promised| promised.number);
        cx.send(to, Message::Denied { bid, number });
    }

    /// Answers once the present state is durable; a mutant that is `hasty`, at once.
    fn answer(&mut self, held: Held<V>, hasty: bool, cx: Cx<'_, '_, V>) {
        if hasty {
            let Held { to, answer } = held.clone();
            cx.send(to, answer);
        }
        self.writer.push(held);
        self.write(cx);
    }

    fn write(&mut self, cx: Cx<'_, '_, V>) {
        let ready = self.writer.ready();
        if ready == 0 {
            return;
        }
        let answers = self.writer.begin(ready, |_| false);
        let ticket = cx.persist(ACCEPTOR, self.kept.clone());
        for Held { to, answer } in answers {
            cx.send_after(ticket, to, answer);
        }
    }

    /// What waited while the disk was busy is written together.
    pub(crate) fn on_durable(&mut self, cx: Cx<'_, '_, V>) {
        self.writer.done();
        self.write(cx);
    }
}
