//! A register over single-decree Paxos: [`seedbed_stateright_models::paxos`], to the letter, in Seedbed's contract.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId};

use super::history::Value;
use super::register::{Hands, Message, Register, Request, Server};

/// The round, then whose it is.
type Ballot = (u32, NodeId);

/// A write: its request, who asks, and what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Write {
    request: Request,
    client: NodeId,
    value: Value,
}

/// What an acceptor accepted last.
type Accepted = Option<(Ballot, Write)>;

/// What servers send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
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

/// A Paxos server.
#[derive(Debug, Clone)]
pub struct Paxos {
    servers: u16,
}

/// A server's state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct State {
    ballot: Ballot,
    proposal: Option<Write>,
    promises: BTreeMap<NodeId, Accepted>,
    acceptances: BTreeSet<NodeId>,
    accepted: Accepted,
    is_decided: bool,
}

/// Three servers and `clients` clients.
pub fn register(clients: u16) -> Register<Paxos> {
    Register { servers: 3, clients, server: Paxos { servers: 3 } }
}

impl Server for Paxos {
    type State = State;
    type Internal = Internal;

    fn start(&self) -> State {
        State {
            ballot: (0, NodeId(0)),
            proposal: None,
            promises: BTreeMap::new(),
            acceptances: BTreeSet::new(),
            accepted: None,
            is_decided: false,
        }
    }

    fn step(&self, state: &mut State, from: NodeId, message: Message<Internal>, cx: Hands<'_, '_, Self>) {
        match (state.is_decided, message) {
            (true, Message::Get(request)) => {
                let (_, write) = state.accepted.expect("who knows the decision has accepted it");
                cx.send(from, Message::GetOk(request, write.value));
            }
            (false, Message::Put(request, value)) if state.proposal.is_none() => {
                self.propose(state, Write { request, client: from, value }, cx);
            }
            (false, Message::Internal(internal)) => self.internal(state, from, internal, cx),
            _ => {}
        }
    }
}

impl Paxos {
    fn tell(&self, internal: &Internal, cx: Hands<'_, '_, Self>) {
        let own = cx.node();
        for peer in (0..self.servers).map(NodeId).filter(|peer| *peer != own) {
            cx.send(peer, Message::Internal(internal.clone()));
        }
    }

    fn quorum(&self) -> usize {
        usize::from(self.servers) / 2 + 1
    }

    fn propose(&self, state: &mut State, write: Write, cx: Hands<'_, '_, Self>) {
        state.ballot = (state.ballot.0 + 1, cx.node());
        state.proposal = Some(write);
        state.promises = BTreeMap::from([(cx.node(), state.accepted)]);
        state.acceptances = BTreeSet::new();
        self.tell(&Internal::Prepare(state.ballot), cx);
    }

    fn internal(&self, state: &mut State, from: NodeId, internal: Internal, cx: Hands<'_, '_, Self>) {
        match internal {
            Internal::Prepare(ballot) if ballot > state.ballot => {
                state.ballot = ballot;
                cx.send(from, Message::Internal(Internal::Promise(ballot, state.accepted)));
            }
            Internal::Promise(ballot, accepted) if ballot == state.ballot => self.promise(state, from, accepted, cx),
            Internal::Accept(ballot, write) if ballot >= state.ballot => {
                state.ballot = ballot;
                state.accepted = Some((ballot, write));
                cx.send(from, Message::Internal(Internal::Accepted(ballot)));
            }
            Internal::Accepted(ballot) if ballot == state.ballot => self.acceptance(state, from, cx),
            Internal::Decided(ballot, write) => {
                state.ballot = ballot;
                state.accepted = Some((ballot, write));
                state.is_decided = true;
            }
            _ => {}
        }
    }

    fn promise(&self, state: &mut State, from: NodeId, accepted: Accepted, cx: Hands<'_, '_, Self>) {
        state.promises.insert(from, accepted);
        if state.promises.len() != self.quorum() {
            return;
        }
        let highest = state.promises.values().max().copied().flatten();
        let write = highest.map(|(_, write)| write).or(state.proposal).expect("a proposer has a proposal");
        state.proposal = Some(write);
        state.accepted = Some((state.ballot, write));
        state.acceptances.insert(cx.node());
        self.tell(&Internal::Accept(state.ballot, write), cx);
    }

    fn acceptance(&self, state: &mut State, from: NodeId, cx: Hands<'_, '_, Self>) {
        state.acceptances.insert(from);
        if state.acceptances.len() != self.quorum() {
            return;
        }
        let write = state.proposal.expect("a proposer has a proposal");
        state.is_decided = true;
        self.tell(&Internal::Decided(state.ballot, write), cx);
        cx.send(write.client, Message::PutOk(write.request));
    }
}
