//! Acceptor, proposer and learner in one.

use seedbed_model::{Canonical, Context, Input, NodeId, NodeSet, Stream};

use super::Paxos;
use super::message::{Ballot, Durable, Message, Observation, Proposal, Record, Timer, Value};
use super::params;

const ACCEPTOR: Stream = Stream(0);

/// A server's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Server {
    /// The acceptor: what is durable, or on its way there.
    acceptor: Durable,
    /// The ballot that this proposer is trying.
    attempt: Option<Attempt>,
    /// Clients to be told what is chosen.
    waiting: NodeSet,
    /// What this learner knows to be chosen.
    chosen: Option<Value>,
}

/// A proposer's try of one ballot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Attempt {
    ballot: Ballot,
    phase: Phase,
    /// In phase 1 what the client asked for, in phase 2 what is proposed.
    value: Value,
    /// Acceptors heard in this phase; oneself once one's own record is durable.
    heard: NodeSet,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Phase {
    /// With the highest proposal that an acceptor of the quorum accepted before it promised.
    Preparing(Option<Proposal>),
    Accepting,
}

impl Server {
    /// A server that knows what its acceptor wrote, and nothing else.
    pub fn start(durable: &Durable) -> Self {
        Server { acceptor: durable.clone(), attempt: None, waiting: NodeSet::EMPTY, chosen: None }
    }

    /// One input.
    pub fn step(&mut self, input: Input<Paxos>, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        match input {
            Input::Message { from, message } => self.on_message(from, message, paxos, cx),
            Input::Durable(record) => self.on_durable(&record, paxos, cx),
            Input::Timer(Timer::Retry) => self.on_retry(paxos, cx),
            Input::Timer(Timer::Resend) | Input::Operation { .. } => cx.mark("input out of place"),
            Input::Decision(never) => match never {},
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        match message {
            Message::Propose(value) => self.on_propose(from, value, paxos, cx),
            Message::Prepare(ballot) => self.on_prepare(from, ballot, paxos, cx),
            Message::Promise(ballot, accepted) => self.on_promise(from, ballot, accepted, paxos, cx),
            Message::Accept(proposal) => self.on_accept(from, proposal, paxos, cx),
            Message::Accepted(ballot) => self.on_accepted(from, ballot, paxos, cx),
            Message::Learn(value) => self.learn(value, cx),
            Message::Chosen(_) => cx.mark("input out of place"),
        }
    }

    /// Whether promises to `ballot` are counted. Never again if they are not: no ballot is tried twice.
    pub fn awaits_promise(&self, ballot: Ballot) -> bool {
        let awaits = |attempt: &Attempt| attempt.ballot == ballot && matches!(attempt.phase, Phase::Preparing(_));
        self.attempt.as_ref().is_some_and(awaits)
    }

    /// Whether acceptances of `ballot` are counted, or will be.
    pub fn awaits_acceptance(&self, ballot: Ballot) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.ballot == ballot)
    }

    // Acceptor.

    /// §2.2, phase 1b.
    fn on_prepare(&mut self, from: NodeId, ballot: Ballot, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        if self.acceptor.promised >= Some(ballot) {
            return cx.mark("preempted");
        }
        let promise = Message::Promise(ballot, self.acceptor.accepted);
        self.write(Record::Promised(ballot), Some((from, promise)), paxos, cx);
    }

    /// §2.2, phase 2b.
    fn on_accept(&mut self, from: NodeId, proposal: Proposal, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let is_below = self.acceptor.promised > Some(proposal.ballot);
        if is_below && !paxos.mutants.has(params::ACCEPT_BELOW_PROMISE) {
            return cx.mark("preempted");
        }
        if self.acceptor.accepted == Some(proposal) {
            return cx.mark("accepted before");
        }
        self.write(Record::Accepted(proposal), Some((from, Message::Accepted(proposal.ballot))), paxos, cx);
    }

    /// Changes the acceptor, and answers once the change cannot be forgotten.
    fn write(&mut self, record: Record, answer: Option<(NodeId, Message)>, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        self.acceptor.fold(&record);
        let ticket = cx.persist(ACCEPTOR, record);
        let Some((to, message)) = answer else { return };
        if paxos.mutants.has(params::NO_DURABLE_PROMISE) {
            cx.send(to, message);
        } else {
            cx.send_after(ticket, to, message);
        }
    }

    // Proposer.

    fn on_propose(&mut self, from: NodeId, value: Value, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        if let Some(chosen) = self.chosen {
            let told = if paxos.mutants.has(params::OWN_ANSWER) { value } else { chosen };
            return cx.send(from, Message::Chosen(told));
        }
        self.waiting.insert(from);
        if self.attempt.is_none() {
            self.attempt(value, paxos, cx);
        }
    }

    fn on_retry(&mut self, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        if let Some(attempt) = &self.attempt {
            cx.mark("retried");
            self.attempt(attempt.value, paxos, cx);
        }
    }

    /// §2.2, phase 1a: a ballot higher than any this server knows.
    fn attempt(&mut self, value: Value, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let round = self.acceptor.promised.map_or(0, |ballot| ballot.round) + 1;
        self.attempt = None;
        if round > paxos.params.rounds {
            return cx.mark("out of rounds");
        }
        let ballot = Ballot { round, server: cx.node() };
        let phase = Phase::Preparing(self.acceptor.accepted);
        self.attempt = Some(Attempt { ballot, phase, value, heard: NodeSet::EMPTY });
        self.acceptor.fold(&Record::Promised(ballot));
        let ticket = cx.persist(ACCEPTOR, Record::Promised(ballot));
        for server in others(paxos, cx) {
            // A proposer that forgot its ballot could use it again, for another value.
            cx.send_after(ticket, server, Message::Prepare(ballot));
        }
        if paxos.retries() {
            let slot = cx.choose(paxos.params.retry_slots);
            cx.set(Timer::Retry, paxos.params.retry * (1 + u64::from(slot)));
        }
    }

    fn on_promise(
        &mut self,
        from: NodeId,
        ballot: Ballot,
        accepted: Option<Proposal>,
        paxos: &Paxos,
        cx: &mut Context<'_, Paxos>,
    ) {
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.ballot == ballot) else {
            return cx.mark("answer to an old ballot");
        };
        let Phase::Preparing(highest) = &mut attempt.phase else {
            return cx.mark("promise beyond the quorum");
        };
        *highest = (*highest).max(accepted);
        attempt.heard.insert(from);
        self.propose_if_promised(paxos, cx);
    }

    /// §2.2, phase 2a: the value of the highest proposal that the quorum accepted, or any, if it accepted none.
    fn propose_if_promised(&mut self, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let Some(attempt) = &mut self.attempt else { return };
        let Phase::Preparing(highest) = attempt.phase else { return };
        if attempt.heard.len() < paxos.quorum() {
            return;
        }
        if let Some(accepted) = highest.filter(|_| !paxos.mutants.has(params::IGNORE_ACCEPTED)) {
            cx.mark("adopted");
            attempt.value = accepted.value;
        } else if paxos.mutants.has(params::UNASKED_VALUE) {
            attempt.value = paxos.unasked();
        }
        attempt.phase = Phase::Accepting;
        attempt.heard = NodeSet::EMPTY;
        let proposal = Proposal { ballot: attempt.ballot, value: attempt.value };
        if paxos.mutants.has(params::HASTY_ANSWER) {
            tell(std::mem::take(&mut self.waiting), proposal.value, cx);
        }
        for server in others(paxos, cx) {
            cx.send(server, Message::Accept(proposal));
        }
        // Its own acceptor may have promised a higher ballot meanwhile.
        if self.acceptor.promised == Some(proposal.ballot) {
            self.write(Record::Accepted(proposal), None, paxos, cx);
        }
    }

    fn on_accepted(&mut self, from: NodeId, ballot: Ballot, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.ballot == ballot) else {
            return cx.mark("answer to an old ballot");
        };
        attempt.heard.insert(from);
        self.finish_if_accepted(paxos, cx);
    }

    fn finish_if_accepted(&mut self, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let Some(attempt) = &self.attempt else { return };
        if attempt.heard.len() < paxos.quorum() {
            return;
        }
        let value = attempt.value;
        for server in others(paxos, cx) {
            cx.send(server, Message::Learn(value));
        }
        self.learn(value, cx);
    }

    /// A proposer counts its own acceptor once that cannot forget.
    fn on_durable(&mut self, record: &Record, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let Some(attempt) = &mut self.attempt else { return };
        match (record, &attempt.phase) {
            (Record::Promised(ballot), Phase::Preparing(_)) if *ballot == attempt.ballot => {
                attempt.heard.insert(cx.node());
                self.propose_if_promised(paxos, cx);
            }
            (Record::Accepted(proposal), Phase::Accepting) if proposal.ballot == attempt.ballot => {
                attempt.heard.insert(cx.node());
                self.finish_if_accepted(paxos, cx);
            }
            _ => {}
        }
    }

    // Learner.

    /// §2.3.
    fn learn(&mut self, value: Value, cx: &mut Context<'_, Paxos>) {
        if self.chosen == Some(value) {
            return cx.mark("learned before");
        }
        self.chosen = Some(value);
        cx.observe(Observation::Learned(value));
        if self.attempt.take().is_some() {
            cx.cancel(Timer::Retry);
        }
        tell(std::mem::take(&mut self.waiting), value, cx);
    }
}

fn tell(clients: NodeSet, value: Value, cx: &mut Context<'_, Paxos>) {
    clients.iter().for_each(|client| cx.send(client, Message::Chosen(value)));
}

fn others(paxos: &Paxos, cx: &Context<'_, Paxos>) -> impl Iterator<Item = NodeId> + use<> {
    let node = cx.node();
    paxos.servers().filter(move |server| *server != node)
}
