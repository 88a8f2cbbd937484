//! A register over single-decree Paxos, written against stateright's `Actor` trait, as a user of stateright would.
//!
//! Servers are acceptors, proposers and learners. The first write a server is asked for becomes its proposal; a write
//! that comes later is left unanswered. A server that knows the decision answers reads. Clients are stateright's own
//! `RegisterActor`: each writes once and then reads from the next server. What clients see must be linearizable.
//! Stateright's documentation and its `paxos` example count 16,668 different states with two clients and three servers,
//! 1,194,428 with three: the tests hold this module to both.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::Expectation;
use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, Network, Out, majority, model_peers};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;

/// The round, then whose it is.
type Ballot = (u32, Id);

/// A write: its request, who asks, and what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write {
    request: u64,
    client: Id,
    value: char,
}

/// What an acceptor accepted last.
type Accepted = Option<(Ballot, Write)>;

/// What servers send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Internal {
    /// Phase 1a.
    Prepare(Ballot),
    /// Phase 1b.
    Promise(Ballot, Accepted),
    /// Phase 2a.
    Accept(Ballot, Write),
    /// Phase 2b.
    Accepted(Ballot),
    /// To learners.
    Decided(Ballot, Write),
}

type Msg = RegisterMsg<u64, char, Internal>;

/// A server: whom it talks to.
#[derive(Debug, Clone)]
pub struct Server {
    peers: Vec<Id>,
}

/// A server's state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    ballot: Ballot,
    proposal: Option<Write>,
    promises: BTreeMap<Id, Accepted>,
    acceptances: BTreeSet<Id>,
    accepted: Accepted,
    is_decided: bool,
}

impl Actor for Server {
    type Msg = Msg;
    type State = State;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> State {
        State {
            ballot: (0, Id::from(0)),
            proposal: None,
            promises: BTreeMap::new(),
            acceptances: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        }
    }

    fn on_msg(&self, id: Id, state: &mut Cow<'_, State>, src: Id, msg: Msg, out: &mut Out<Self>) {
        match (state.is_decided, msg) {
            (true, RegisterMsg::Get(request)) => self.answer(state, src, request, out),
            (false, RegisterMsg::Put(request, value)) if state.proposal.is_none() => {
                self.propose(state.to_mut(), id, Write { request, client: src, value }, out);
            }
            (false, RegisterMsg::Internal(internal)) => self.on_internal(id, state, src, internal, out),
            _ => {}
        }
    }
}

impl Server {
    fn answer(&self, state: &State, client: Id, request: u64, out: &mut Out<Self>) {
        let (_, write) = state.accepted.expect("who knows the decision has accepted it");
        out.send(client, RegisterMsg::GetOk(request, write.value));
    }

    fn tell(&self, internal: Internal, out: &mut Out<Self>) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(internal));
    }

    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    fn propose(&self, state: &mut State, id: Id, write: Write, out: &mut Out<Self>) {
        state.ballot = (state.ballot.0 + 1, id);
        state.proposal = Some(write);
        state.promises = BTreeMap::from([(id, state.accepted)]);
        state.acceptances = BTreeSet::new();
        self.tell(Internal::Prepare(state.ballot), out);
    }

    fn on_internal(&self, id: Id, state: &mut Cow<'_, State>, src: Id, internal: Internal, out: &mut Out<Self>) {
        match internal {
            Internal::Prepare(ballot) if ballot > state.ballot => {
                state.to_mut().ballot = ballot;
                out.send(src, RegisterMsg::Internal(Internal::Promise(ballot, state.accepted)));
            }
            Internal::Promise(ballot, accepted) if ballot == state.ballot => {
                self.on_promise(state.to_mut(), id, src, accepted, out);
            }
            Internal::Accept(ballot, write) if ballot >= state.ballot => {
                let state = state.to_mut();
                state.ballot = ballot;
                state.accepted = Some((ballot, write));
                out.send(src, RegisterMsg::Internal(Internal::Accepted(ballot)));
            }
            Internal::Accepted(ballot) if ballot == state.ballot => self.on_acceptance(state.to_mut(), src, out),
            Internal::Decided(ballot, write) => {
                let state = state.to_mut();
                state.ballot = ballot;
                state.accepted = Some((ballot, write));
                state.is_decided = true;
            }
            _ => {}
        }
    }

    fn on_promise(&self, state: &mut State, id: Id, src: Id, accepted: Accepted, out: &mut Out<Self>) {
        state.promises.insert(src, accepted);
        if state.promises.len() != self.quorum() {
            return;
        }
        let highest = state.promises.values().max().copied().flatten();
        let write = highest.map(|(_, write)| write).or(state.proposal).expect("a proposer has a proposal");
        state.proposal = Some(write);
        state.accepted = Some((state.ballot, write));
        state.acceptances.insert(id);
        self.tell(Internal::Accept(state.ballot, write), out);
    }

    fn on_acceptance(&self, state: &mut State, src: Id, out: &mut Out<Self>) {
        state.acceptances.insert(src);
        if state.acceptances.len() != self.quorum() {
            return;
        }
        let write = state.proposal.expect("a proposer has a proposal");
        state.is_decided = true;
        self.tell(Internal::Decided(state.ballot, write), out);
        out.send(write.client, RegisterMsg::PutOk(write.request));
    }
}

/// What clients saw.
type History = LinearizabilityTester<Id, Register<char>>;

/// Three servers and `clients` clients, on a network that neither loses nor repeats and keeps no order.
pub fn model(clients: usize) -> ActorModel<RegisterActor<Server>, (), History> {
    const SERVERS: usize = 3;
    let servers = (0..SERVERS).map(|index| RegisterActor::Server(Server { peers: model_peers(index, SERVERS) }));
    let clients = (0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count: SERVERS });
    ActorModel::new((), LinearizabilityTester::new(Register('\0')))
        .actors(servers)
        .actors(clients)
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, "linearizable", |_, state| state.history.serialized_history().is_some())
        .property(Expectation::Sometimes, "value chosen", |_, state| {
            let is_read = |msg: &Msg| matches!(msg, RegisterMsg::GetOk(_, value) if *value != '\0');
            state.network.iter_deliverable().any(|envelope| is_read(envelope.msg))
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}

#[cfg(test)]
mod tests {
    use stateright::{Checker, Model};

    use super::*;

    #[test]
    fn two_clients_have_stateright_s_own_count() {
        let checker = model(2).checker().spawn_bfs().join();
        checker.assert_properties();
        assert_eq!(checker.unique_state_count(), 16_668);
    }

    #[test]
    #[ignore = "half a minute: run by name"]
    fn three_clients_have_stateright_s_own_count() {
        let checker = model(3).checker().spawn_dfs().join();
        checker.assert_properties();
        assert_eq!((checker.unique_state_count(), checker.state_count()), (1_194_428, 2_420_477));
    }
}
