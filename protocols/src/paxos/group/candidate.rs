//! A server's side of the group: it asks for the leader lease, renews it, and commits the register with the renewal. Each
//! election is a round of Paxos ([`crate::paxos::Round`]), and each renewal one more second phase under its ballot.
//!
//! A bid is answered by a [`Ruling`], by which the group is to its servers an atomic leader lease and register: whoever counts
//! its lease from the sending of the bid that was granted leads alone.

use seedbed_model::{Canonical, Context, Data, NodeId, Nonce};

use super::PaxosGroup;
use super::message::{Ballot, Bid, Message, Write};
use super::mutants::*;
use crate::paxos;

/// A candidate's, and a leader's, state at one server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Candidate<V> {
    /// The latest bid.
    bid: Bid,
    /// The largest ballot number heard of, or used.
    heard: u16,
    /// The ballot that the server leads by, or tries to.
    ballot: Option<Ballot>,
    /// The bid that is not answered yet.
    round: Option<Round<V>>,
}

/// A bid under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Round<V> {
    paxos: paxos::Round<Ballot, Write<V>>,
    step: Step<V>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Step<V> {
    /// Phase 1: the lease is asked for, and the register read.
    Asking,
    /// Phase 2: what was read is written back. Else it might have been accepted by a minority alone, which the next
    /// leader need not hear.
    Confirming {
        /// Whether a vote was heard of: each leader has a majority of votes.
        earlier: bool,
        /// The register.
        value: Option<V>,
    },
    /// A leader's: phase 2 alone.
    Renewing,
}

/// What the group says to a bid.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Ruling<V> {
    /// Another leads, or may.
    No,
    /// The server may lead, in this term.
    Elected {
        /// Greater than that of every leader before.
        term: u16,
        /// Whether there may have been a leader before.
        earlier: bool,
        /// The register, as committed last. `None`: nothing ever was.
        value: Option<V>,
    },
    /// The lease is renewed; what came with the bid is committed.
    Renewed,
}

type Cx<'a, 'b, V> = &'a mut Context<'b, PaxosGroup<V>>;

impl<V: Data> Candidate<V> {
    /// A server that starts: it leads nothing.
    pub fn start(nonce: Nonce, node: NodeId) -> Self {
        Candidate { bid: Bid::before_first(nonce, node.0), heard: 0, ballot: None, round: None }
    }

    /// "Can I have the leader lease?" An earlier bid is given up.
    pub fn ask(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        self.give_up(group, cx);
        let number = group.share(cx.node()).beyond(self.heard);
        if group.params.ballots > 0 && number > group.params.ballots {
            return cx.mark("out of numbers");
        }
        self.bid = self.bid.next();
        self.heard = number;
        let ballot = Ballot { number: self.heard, host: cx.node(), attempt: self.bid };
        self.ballot = Some(ballot);
        self.round = Some(Round { paxos: paxos::Round::prepare(ballot), step: Step::Asking });
        self.send_all(&Message::Prepare(ballot), group, cx);
    }

    /// "Renew leader lease and commit state update." For a server that was elected, and asked for nothing since.
    pub fn renew(&mut self, update: Option<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let Some(ballot) = self.ballot else { return cx.mark("nothing to renew") };
        self.bid = self.bid.next();
        let bid = self.bid;
        self.round = Some(Round { paxos: paxos::Round::accept(ballot), step: Step::Renewing });
        match update {
            Some(value) => self.send_all(&Message::Accept { ballot, bid, value: Some(value) }, group, cx),
            None => self.send_all(&Message::Renew { ballot, bid }, group, cx),
        }
    }

    /// The server no longer leads, or tries to.
    pub fn step_down(&mut self) {
        self.ballot = None;
        self.round = None;
    }

    /// An acceptor's answer. What comes of it for the latest bid, if that is decided by it.
    pub fn on_answer(
        &mut self,
        from: NodeId,
        message: Message<V>,
        group: &PaxosGroup<V>,
        cx: Cx<'_, '_, V>,
    ) -> Option<Ruling<V>> {
        if let Message::Denied { number, .. } = message {
            self.heard = self.heard.max(number);
        }
        let bid = self.bid;
        let Some(round) = self.round.as_mut().filter(|_| message.answers() == Some(bid)) else {
            cx.mark("late answer");
            return None;
        };
        match (&round.step, message) {
            (Step::Asking, Message::Promise { vote, .. }) => {
                let is_promised = round.paxos.on_promise(from, vote, &group.paxos);
                is_promised.then(|| self.confirm(group, cx)).flatten()
            }
            (Step::Confirming { .. } | Step::Renewing, Message::Granted { .. }) => {
                let is_accepted = round.paxos.on_vote(from, &group.paxos);
                is_accepted.then(|| self.decide()).flatten()
            }
            (_, Message::Denied { .. }) => {
                let is_lost = round.paxos.on_denial(from, &group.paxos);
                is_lost.then(|| self.refused(group, cx))
            }
            _ => {
                cx.mark("late answer");
                None
            }
        }
    }

    /// Whether an answer is awaited, or tells of a larger number. Never again if not: each bid is sent once.
    pub(super) fn awaits(&self, from: NodeId, message: &Message<V>) -> bool {
        if matches!(message, Message::Denied { number, .. } if *number > self.heard) {
            return true;
        }
        let Some(round) = self.round.as_ref().filter(|_| message.answers() == Some(self.bid)) else { return false };
        match message {
            Message::Promise { .. } => round.paxos.awaits_promise(from),
            // It is answered after the promise, and so comes when the second phase has begun.
            Message::Granted { .. } => round.paxos.awaits_vote(from),
            Message::Denied { .. } => round.paxos.awaits_denial(from),
            _ => false,
        }
    }

    /// A majority promised: what it accepted last is written back, under the new ballot.
    fn confirm(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> Option<Ruling<V>> {
        let (ballot, bid) = (self.ballot?, self.bid);
        let round = self.round.as_mut()?;
        let prior = round.paxos.begin_accept();
        let earlier = prior.is_some();
        let value = prior.and_then(|vote| vote.value.value);
        if value.is_some() {
            cx.mark("value-read");
        }
        round.step = Step::Confirming { earlier, value: value.clone() };
        if group.has(NO_WRITE_BACK) {
            return self.decide();
        }
        self.send_all(&Message::Accept { ballot, bid, value }, group, cx);
        None
    }

    fn decide(&mut self) -> Option<Ruling<V>> {
        let term = self.ballot?.number;
        match self.round.take()?.step {
            Step::Confirming { earlier, value } => Some(Ruling::Elected { term, earlier, value }),
            Step::Renewing => Some(Ruling::Renewed),
            Step::Asking => None,
        }
    }

    /// So many denied that no majority is left.
    fn refused(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) -> Ruling<V> {
        self.give_up(group, cx);
        self.step_down();
        Ruling::No
    }

    /// Nobody leads by the ballot that is asked for: who granted the lease for it may grant it to another.
    fn give_up(&mut self, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        let Some(round) = self.round.take() else { return };
        let is_asking = matches!(round.step, Step::Asking | Step::Confirming { .. });
        if let Some(ballot) = self.ballot.take().filter(|_| is_asking && !group.has(NO_RELEASE)) {
            self.send_all(&Message::Release(ballot), group, cx);
        }
    }

    fn send_all(&self, message: &Message<V>, group: &PaxosGroup<V>, cx: Cx<'_, '_, V>) {
        group.acceptors().for_each(|acceptor| cx.send(acceptor, message.clone()));
    }
}

impl<V> Message<V> {
    /// The bid that an acceptor's answer names.
    fn answers(&self) -> Option<Bid> {
        match self {
            Message::Promise { bid, .. } | Message::Granted { bid } | Message::Denied { bid, .. } => Some(*bid),
            Message::Prepare(_) | Message::Accept { .. } | Message::Renew { .. } | Message::Release(_) => None,
        }
    }
}
