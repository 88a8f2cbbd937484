//! The Paxos group itself in the place of what stands for it: `group = "paxos"`. Its acceptors are nodes of this world, a
//! Manager server is a candidate, and [`Ask`] and [`Ruling`] are what they are with the atomic group.
//!
//! For the simulator. The explorer has the atomic group, which [`crate::paxos::group`] is checked to be: its monitor is that
//! group's state, and each of its rulings one that the atomic group could have given.

use seedbed_model::{Context, Embedding, Input, Mutants, NodeId, Nonce, Protocol, Stream};

use super::message::{Ask, Register, Ruling};
use super::{Durable, Leasing, Message, Params, Record, Timer};
use crate::paxos::group::{self as paxos, Acceptor, Candidate, PaxosGroup};

type Cx<'a> = Context<'a, Leasing>;

/// How the group lives in leasing.
struct Lift;

impl Embedding<Leasing, PaxosGroup<Register>> for Lift {
    fn message(&self, message: paxos::Message<Register>) -> Message {
        Message::Paxos(message)
    }
    fn timer(&self, timer: &paxos::Timer) -> Timer {
        Timer::Paxos(timer.clone())
    }
    fn record(&self, stream: Stream, record: paxos::Kept<Register>) -> (Stream, Record) {
        (stream, Record::Paxos(record))
    }
}

/// The group's rules: the Managers are its servers.
pub(super) fn group(params: &Params) -> PaxosGroup<Register> {
    let first = NodeId(params.owners + params.lookups + params.managers);
    PaxosGroup::new(group_params(params), Mutants::none(), first, None)
}

/// Its sizes and times.
pub(super) fn group_params(params: &Params) -> paxos::Params {
    paxos::Params {
        servers: params.managers,
        acceptors: params.acceptors,
        leader_lease: params.leader_lease,
        leader_margin: params.leader_margin,
        leader_renew: params.leader_renew,
        manager_longest: params.manager_longest,
        ..paxos::Params::default()
    }
}

impl Leasing {
    pub(super) fn start_acceptor(&self, durable: &Durable, nonce: Nonce, cx: &mut Cx<'_>) -> Acceptor<Register> {
        match cx.embed(&Lift, |cx| self.group.start(&durable.kept, nonce, cx)) {
            paxos::State::Acceptor(acceptor) => acceptor,
            paxos::State::Server(_) => unreachable!("acceptors are the last nodes"),
        }
    }

    pub(super) fn step_acceptor(&self, acceptor: &mut Acceptor<Register>, input: Input<Self>, cx: &mut Cx<'_>) {
        match input {
            Input::Message { from, message: Message::Paxos(message) } => {
                cx.embed(&Lift, |cx| acceptor.on_message(from, message, &self.group, cx));
            }
            Input::Durable(Record::Paxos(_)) => cx.embed(&Lift, |cx| acceptor.on_durable(cx)),
            // Whether it is armed is all that counts.
            Input::Timer(Timer::Paxos(_)) => {}
            _ => cx.mark("input out of place"),
        }
    }

    pub(super) fn ask_acceptors(&self, candidate: &mut Candidate<Register>, ask: Ask, cx: &mut Cx<'_>) {
        cx.embed(&Lift, |cx| match ask {
            Ask::Lease => candidate.ask(&self.group, cx),
            Ask::Renewal { update, .. } => candidate.renew(update, &self.group, cx),
        });
    }

    pub(super) fn hear_acceptor(
        &self,
        candidate: &mut Candidate<Register>,
        from: NodeId,
        message: paxos::Message<Register>,
        cx: &mut Cx<'_>,
    ) -> Option<Ruling> {
        let ruling = cx.embed(&Lift, |cx| candidate.on_answer(from, message, &self.group, cx))?;
        Some(match ruling {
            paxos::Ruling::No => Ruling::No,
            paxos::Ruling::Renewed => Ruling::Renewed,
            paxos::Ruling::Elected { term, earlier, value } => {
                Ruling::Elected { term: self.term(term), earlier, register: value }
            }
        })
    }

    /// The term of that number: terms are ordered as their numbers are.
    fn term(&self, number: u16) -> Nonce {
        (0..number).fold(Nonce::first(self.group().0), |term, _| term.next())
    }
}
