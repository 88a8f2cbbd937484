//! A register over single-decree Paxos, written against stateright's `Actor` trait, as a user of stateright would.
//!
//! Servers are acceptors, proposers and learners. The first write a server is asked for becomes its proposal; a write
//! that comes later is left unanswered. A server that knows the decision answers reads. Clients are stateright's own
//! `RegisterActor`: each writes once and then reads from the next server. What clients see must be linearizable.
//! Stateright's documentation and its `paxos` example count 16,668 different states with two clients and three servers,
//! 1,194,428 with three: the tests hold this module to both.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out, majority, model_peers};

use crate::{Registers, Request, Value, registers};

/// The round, then whose it is.
type Ballot = (u32, Id);

/// A write: its request, who asks, and what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Write {
    request: Request,
    client: Id,
    value: Value,
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

/// What travels.
pub type Message = crate::Message<Internal>;

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
    type Msg = Message;
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

    fn on_msg(&self, id: Id, state: &mut Cow<'_, State>, src: Id, msg: Message, out: &mut Out<Self>) {
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
    fn answer(&self, state: &State, client: Id, request: Request, out: &mut Out<Self>) {
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

/// Three servers and `clients` clients.
pub fn model(clients: usize, network: Network<Message>) -> Registers<Server> {
    const SERVERS: usize = 3;
    let servers = (0..SERVERS).map(|index| Server { peers: model_peers(index, SERVERS) });
    registers(servers.collect(), clients, network)
}
