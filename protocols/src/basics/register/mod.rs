//! A register that survives its servers: kept by a majority of them, written and read by many clients.
//!
//! A client asks every server for what it keeps and waits for a majority. A writer then stores its value with a higher
//! version at a majority; a reader stores back the highest version it found, before it answers, so that no later read
//! sees an older one. What a server has acknowledged is durable. Source: Attiya, Bar-Noy, Dolev, Sharing memory
//! robustly in message-passing systems (1995), with several writers after Lynch and Shvartsman (1997).
//!
//! - [`message`]: versions, values, operations, messages, records
//! - [`server`]: what keeps the register
//! - [`client`]: the client library
//! - [`monitor`]: what must hold: what clients see has an order
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
use message::{Answer, Message, Operation, Stored, Timer, Value};
use monitor::Monitor;
use server::Server;

/// The protocol.
#[derive(Debug, Clone)]
pub struct Register {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Keeps a copy.
    Server(Server),
    /// A client library.
    Client(Client),
}

impl Register {
    fn servers(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.servers).map(NodeId)
    }

    /// How many servers make a quorum: any two quorums have one in common.
    fn quorum(&self) -> usize {
        let majority = usize::from(self.params.servers) / 2 + 1;
        if self.mutants.has(params::SMALL_QUORUM) { majority - 1 } else { majority }
    }

    /// Writers come first among the clients. `None` for a server.
    fn client_index(&self, node: NodeId) -> Option<u16> {
        node.0.checked_sub(self.params.servers)
    }

    fn is_writer(&self, node: NodeId) -> bool {
        self.client_index(node).is_some_and(|index| index < self.params.writers)
    }
}

impl Protocol for Register {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Stored;
    type Durable = Stored;
    type Operation = Operation;
    type Answer = Answer;
    type Decision = Never;
    type Observation = Never;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let name = |kind: &'static str, count: u16| (1..=count).map(move |number| format!("{kind}-{number}"));
        let Params { servers, writers, readers, .. } = self.params;
        name("server", servers).chain(name("writer", writers)).chain(name("reader", readers)).collect()
    }

    fn start(&self, durable: &Stored, _: Nonce, cx: &mut Context<'_, Self>) -> State {
        match self.client_index(cx.node()) {
            None => State::Server(Server::start(durable)),
            Some(_) => State::Client(Client::default()),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match state {
            State::Server(server) => server.step(input, self, cx),
            State::Client(client) => client.step(input, self, cx),
        }
    }

    fn fold(&self, durable: &mut Stored, _: Stream, record: &Stored) {
        *durable = (*durable).max(*record);
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        match self.client_index(node) {
            None => 0,
            Some(_) if self.is_writer(node) => self.params.writes,
            Some(_) => self.params.reads,
        }
    }

    /// Every value is written once.
    fn operation(&self, node: NodeId, op: OpId, _: Option<&Answer>, _: &mut dyn FnMut(u32) -> u32) -> Operation {
        match self.client_index(node) {
            Some(index) if self.is_writer(node) => {
                Operation::Write(Value(op.0 * u32::from(self.params.writers) + u32::from(index) + 1))
            }
            _ => Operation::Read,
        }
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties()
    }

    fn recorded_call(&self, operation: &Operation) -> Option<Call> {
        Some(match operation {
            Operation::Write(value) => Call::new("write", i64::from(value.0)),
            Operation::Read => Call::new("read", Recorded::Nil),
        })
    }

    /// The register holds 0 at first.
    fn recorded_answer(&self, _: &Operation, answer: &Answer) -> Option<Recorded> {
        Some(match answer {
            Answer::Written => Recorded::Nil,
            Answer::Read(value) => i64::from(value.0).into(),
        })
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, watch);
    }

    fn relevance(&self, _: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Client(client), Message::Found(request, _) | Message::Done(request)) => {
                if client.awaits(*request, from) { Relevance::Live } else { Relevance::Dead }
            }
            _ => Relevance::Always,
        }
    }

    /// Versions order the writers; servers are all alike.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![self.servers().collect()]
    }
}
