//! Single-decree Paxos: servers choose one value among those that clients propose.
//!
//! Every server is acceptor, proposer and learner. What an acceptor promises or accepts is durable before its answer
//! leaves; a proposer's own promise is durable before anyone hears of its ballot, so a restarted proposer never uses a
//! ballot twice. A proposer that hears no quorum tries again with a higher ballot, after a while; a client that hears
//! nothing asks the next server. Source: Lamport, Paxos Made Simple (2001), §2.2 and §2.3.
//!
//! - [`message`]: ballots, values, messages, records, timers
//! - [`server`]: acceptor, proposer, learner
//! - [`client`]: the client library
//! - [`monitor`]: what must hold
//! - [`params`]: sizes, times, mutants

pub mod client;
pub mod message;
pub mod monitor;
pub mod params;
pub mod server;

pub use params::Params;

use seedbed_model::history::{Call, Value as Recorded};
use seedbed_model::{
    Canonical, Context, Event, Input, Mutants, Never, NodeId, Nonce, OpId, Property, Protocol, Relevance, Stream, Watch,
};

use client::Client;
use message::{Durable, Message, Observation, Record, Timer, Value};
use monitor::Monitor;
use server::Server;

/// The protocol.
#[derive(Debug, Clone)]
pub struct Paxos {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Acceptor, proposer and learner.
    Server(Server),
    /// A client library.
    Client(Client),
}

impl Paxos {
    fn servers(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.servers).map(NodeId)
    }

    /// How many acceptors make a quorum: any two quorums have one in common.
    fn quorum(&self) -> usize {
        let majority = usize::from(self.params.servers) / 2 + 1;
        if self.mutants.has(params::SMALL_QUORUM) { majority - 1 } else { majority }
    }

    /// The server that the client at `node` asks first.
    fn home(&self, node: NodeId) -> NodeId {
        NodeId(self.client_index(node) % self.params.servers)
    }

    fn client_index(&self, node: NodeId) -> u16 {
        node.0 - self.params.servers
    }

    /// A value that no client proposes.
    fn unasked(&self) -> Value {
        Value(self.params.clients as u8)
    }

    /// Whether anyone ever tries twice.
    fn retries(&self) -> bool {
        self.params.rounds > 1
    }
}

impl Protocol for Paxos {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Record;
    type Durable = Durable;
    type Operation = Value;
    type Answer = Value;
    type Decision = Never;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let servers = (1..=self.params.servers).map(|number| format!("server-{number}"));
        let clients = (1..=self.params.clients).map(|number| format!("client-{number}"));
        servers.chain(clients).collect()
    }

    fn start(&self, durable: &Durable, _: Nonce, cx: &mut Context<'_, Self>) -> State {
        if cx.node().0 < self.params.servers {
            State::Server(Server::start(durable))
        } else {
            State::Client(Client::default())
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match state {
            State::Server(server) => server.step(input, self, cx),
            State::Client(client) => client.step(input, self, cx),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        durable.fold(record);
    }

    /// One proposal a client.
    fn operation_count(&self, node: NodeId) -> u32 {
        u32::from(node.0 >= self.params.servers)
    }

    fn operation(&self, node: NodeId, _: OpId, _: Option<&Value>, _: &mut dyn FnMut(u32) -> u32) -> Value {
        Value(self.client_index(node) as u8)
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties()
    }

    /// As `consensus`.
    fn recorded_call(&self, value: &Value) -> Option<Call> {
        Some(Call::new("propose", i64::from(value.0)))
    }

    fn recorded_answer(&self, _: &Value, chosen: &Value) -> Option<Recorded> {
        Some(i64::from(chosen.0).into())
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, watch);
    }

    fn relevance(&self, _: NodeId, to: &State, _: NodeId, message: &Message) -> Relevance<Message> {
        let is_awaited = match (to, message) {
            (State::Server(server), Message::Promise(ballot, _)) => server.awaits_promise(*ballot),
            (State::Server(server), Message::Accepted(ballot)) => server.awaits_acceptance(*ballot),
            (State::Client(client), Message::Chosen(_)) => client.awaits_answer(),
            _ => return Relevance::Always,
        };
        if is_awaited { Relevance::Live } else { Relevance::Dead }
    }

    /// Ballots order the servers that propose, so those cannot be interchanged. A server that no client ever asks never
    /// proposes, and its id is in no ballot.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        if self.retries() {
            return Vec::new();
        }
        vec![self.servers().filter(|server| server.0 >= self.params.clients).collect()]
    }
}
