//! ZooKeeper: a replicated tree of znodes, over an atomic broadcast (Hunt, Konar, Junqueira, Reed, ZooKeeper: Wait-free coordination
//! for Internet-scale systems, USENIX ATC 2010), as Apache ZooKeeper 3.8 answers.
//!
//! By themselves, pure functions of what they are given:
//! - [`path`], [`acl`], [`txn`]: names; who may do what; requests, transactions, answers
//! - [`tree`], [`znode`], [`processor`], [`watches`], [`snapshot`]: the data tree; requests to transactions; notifications; fuzzy snapshots
//! - [`recorded`]: what a real server answered, compared
//!
//! The service on them:
//! - [`message`]: what is sent and shown
//! - [`atomic`]: the broadcast, as a node that stands for Zab; [`embedded`]: Zab itself, `broadcast = "zab"`
//! - [`server`], `clients`, `leader`: a replica; its clients; what the leader does beside
//! - [`client`], [`recipe`], `workload`: the library; the recipes of §2.4 and the applications of §3; what clients do
//! - `load`: how long messages are in measurements
//! - [`monitor`], `guards`: what must hold
//! - [`params`], [`mutants`]: sizes; what each mechanism is there for
//!
//! # Decisions where the paper is open
//!
//! - A session is named by the transaction that created it.
//! - A server whose leader changes sends its clients away: what was forwarded to the leader before may be lost. A client does not
//!   know then what became of its requests: connection loss. Who connects to a server that knows of no leader, or that is behind
//!   what the client has seen, waits there, as §4.4 says; the real server closes the connection.
//! - A client that moves is validated by the leader, which from then on refuses what still comes by its earlier connection.
//! - A sync is a null transaction, whatever is outstanding: "the leader needs to issue a null transaction to commit and orders the sync
//!   after that transaction" (§4.4). The implementation leaves it out, as "timeouts are set such that leaders realize they are not leaders
//!   before followers abandon them": `syncs = "queued"`. It sees all where no leader is deposed without knowing (bounds `sync-queued`,
//!   `sync-queued-deposed`), and over Zab itself (scenario `zab-syncs`), where an election takes longer than a leader takes to miss its quorum.
//! - Where `session` is 0s no time passes: that a session is heard of no more, that a leader is, and that a client leaves its server,
//!   are decisions of the moment. Else sessions have that timeout, which the leader counts anew for all of them when it begins to lead;
//!   a client sends a heartbeat after a third of it without a request, and tries the next server after two thirds without a packet. A
//!   heartbeat that falls due while it connects it sends as soon as it is connected (`idle-forgotten`; the explorer found it).
//!   A third and two thirds leave no margin, which a run in some 20,000 shows: a server that is lost just before a heartbeat reaches it,
//!   and of which the client hears a last packet after it sent that, costs a session whose client is up (scenario `heartbeat-lost`).
//!   `early` is that margin; the real client sends its heartbeats up to a second sooner than this section says.
//! - A client has seen what an answer or the answer to a heartbeat says that its server has applied, and not what a greeting or a
//!   notification says: more notifications of that state may be behind, and be lost with the connection (`seen-before-events`; the
//!   explorer found it).
//! - A packet that is lost leaves a connection stuck until its client gives it up. Between servers and the broadcast, where time
//!   passes, a server says how far it is, and what was lost is sent again, or is given up with the leader that proposed it: Zab's
//!   connections break there. Where no time passes, links lose nothing.
//! - Who a client is (`digest`) it says once, and again to each server that it moves to; requests behind that bear it.
//! - A request that is too long is not read, and costs the connection, as in the real one. A server with too many requests in process
//!   leaves the next ones where they are, whoever's they are; heartbeats it reads.
//! - `exists` of an absent node that comes and goes while the client moves to another server is told to nobody: it is absent as
//!   before. As in the real one.
//!
//! # What makes the explored bounds smaller, and what falls under it all the same
//!
//! | what | where | falls under it |
//! |---|---|---|
//! | one node stands for Zab | [`atomic`] | `replies-at-once`, `watches-stay`; over Zab itself in the scenario `zab-crashes` |
//! | servers are interchanged | `symmetry` | `watches-stay`, at the same depth without it (`engines/zookeeper.rs`) |
//! | packets that nobody can read any more are removed | `relevance` | the same |
//! | no time passes, timeouts are decisions | `session = "0s"` | `late-validation`, `zk-1208-create-after-close`; with time `connected-is-heard` (bound `orphan`) |
//! | numbers of packets begin anew | `numbers` | `connected-is-heard`, at the same depth without it (`engines/zookeeper.rs`) |
//! | clients come one after the other, and none but one in between expires | `workload = "queued"` | `lock-unchecked`; as they like, of two, in `lock-abandoned` |
//! | one server, where a recipe is what is looked at | `servers = 1` | `lock-unlooked`, `barrier-uncounted`, and the others of the recipes |
//! | a few requests, the same in each run | `operations`, workloads | what a bound claims; drawn ones in scenarios |

pub mod acl;
pub mod atomic;
pub mod client;
mod clients;
pub mod embedded;
mod guards;
mod leader;
pub mod link;
mod load;
pub mod message;
pub mod monitor;
pub mod mutants;
pub mod params;
pub mod path;
pub mod processor;
pub mod recipe;
pub mod recorded;
pub mod server;
pub mod snapshot;
pub mod tree;
pub mod txn;
pub mod watches;
mod workload;
pub mod znode;

#[cfg(test)]
mod embedded_tests;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod tests;

pub use params::{Connects, Params, Workload};

use seedbed_model::{
    Canonical, Context, Event, Input, Mutants, NodeId, Nonce, Offers, OpId, Property, Protocol, Relevance, Span,
    Stream, Watch,
};

use atomic::Broadcast;
use client::Client;
use embedded::{Durable, Record};
use message::{Ask, Decision, Message, Observation, Returned, Timer};
use monitor::Monitor;
use mutants::LONG_TAKEN;
use recipe::Operation;
use server::Server;

use crate::zab::Zab;

/// The protocol.
#[derive(Debug, Clone)]
pub struct ZooKeeper {
    params: Params,
    mutants: Mutants,
    /// Where Zab itself is below.
    zab: Option<Zab>,
}

/// A node. Servers come first, then clients.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// A server.
    Server(Server),
    /// A client.
    Client(Client),
    /// The last node.
    Broadcast(Broadcast),
}

impl ZooKeeper {
    fn has(&self, mutant: &str) -> bool {
        self.mutants.has(mutant)
    }

    fn servers(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.servers).map(NodeId)
    }

    /// Where a client connects first, where time passes.
    fn first_server(&self, client: NodeId) -> NodeId {
        let servers = self.params.servers;
        match self.params.connects {
            Connects::Spread => NodeId((client.0 - servers) % servers),
            Connects::Last => NodeId(servers - 1),
        }
    }

    /// The one that writes the configuration, and is the master of the others.
    fn first_client(&self) -> NodeId {
        NodeId(self.params.servers)
    }

    fn broadcast(&self) -> NodeId {
        NodeId(self.params.servers + self.params.clients)
    }

    /// Whether time passes: else all that timeouts do is a decision.
    fn is_timed(&self) -> bool {
        self.params.session > Span::ZERO
    }

    /// Whether a request is longer than servers read.
    fn is_too_long(&self, ask: &Ask) -> bool {
        matches!(ask, Ask::Write(write) if write.packet_length() > self.params.request_max) && !self.has(LONG_TAKEN)
    }

    /// Whether Zab itself is below.
    fn has_zab(&self) -> bool {
        self.zab.is_some()
    }

    fn is_client(&self, node: NodeId) -> bool {
        node.0 >= self.params.servers && node < self.broadcast()
    }
}

impl Protocol for ZooKeeper {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Record;
    type Durable = Durable;
    type Operation = Operation;
    type Answer = Returned;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let servers = (1..=self.params.servers).map(|number| format!("server-{number}"));
        let clients = (1..=self.params.clients).map(|number| format!("client-{number}"));
        servers.chain(clients).chain((!self.has_zab()).then(|| "broadcast".to_owned())).collect()
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        let node = cx.node();
        if node == self.broadcast() {
            State::Broadcast(Broadcast::default())
        } else if self.is_client(node) {
            State::Client(Client::start(nonce, self, cx))
        } else {
            State::Server(Server::start(durable, nonce, self, cx))
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Server(server), input) => server.step(input, self, cx),
            (State::Client(client), input) => client.step(input, self, cx),
            (State::Broadcast(broadcast), Input::Message { from, message }) => {
                broadcast.on_message(from, message, self, cx)
            }
            (State::Broadcast(broadcast), Input::Decision(decision)) => broadcast.decide(decision, cx),
            (State::Broadcast(broadcast), Input::Timer(Timer::Heard(server))) => broadcast.on_silence(server, self, cx),
            (State::Broadcast(_), _) => cx.mark("input out of place"),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        durable.fold(record);
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        match state {
            State::Server(server) => server.decisions(self, offers),
            State::Client(client) => client.decisions(self, offers),
            State::Broadcast(broadcast) => broadcast.decisions(self, offers),
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if self.is_client(node) { self.params.operations } else { 0 }
    }

    fn operation(&self, node: NodeId, op: OpId, _: Option<&Returned>, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        self.client_operation(node, op, draw)
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties()
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, self, watch);
    }

    fn relevance(&self, _: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        let is_live = match (to, message) {
            (State::Server(server), message) => server.awaits(from, message),
            (State::Client(client), Message::ToClient { connection, number, .. }) => {
                client.awaits(from, *connection, *number)
            }
            (State::Broadcast(broadcast), Message::Join { round, .. }) => broadcast.awaits(from, *round),
            (State::Broadcast(broadcast), Message::Propose { entry, .. }) => broadcast.can_take(from, entry.txn.zxid),
            (State::Broadcast(broadcast), Message::Established { epoch }) => broadcast.awaits_leader(from, *epoch),
            (State::Broadcast(_), Message::Alive { .. }) => return Relevance::Always,
            _ => false,
        };
        if is_live { Relevance::Live } else { Relevance::Dead }
    }

    /// Of `load` and `creates`: what they carry is stated.
    fn message_size(&self, message: &Message) -> Option<u64> {
        self.is_load().then(|| load::size(message, &self.params))
    }

    fn record_size(&self, record: &Record) -> Option<u64> {
        self.is_load().then(|| load::record_size(record, &self.params))
    }

    fn message_work(&self, message: &Message) -> u32 {
        match message {
            Message::ToServer { .. } => self.params.work_request,
            Message::Forward { .. } => self.params.work_forward,
            _ => 1,
        }
    }

    /// Clients have names, in what they write and in the queue of a lock.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        // Votes order them.
        if self.has_zab() { Vec::new() } else { vec![self.servers().collect()] }
    }

    fn stands_for(&self, node: NodeId) -> Option<&'static str> {
        (!self.has_zab() && node == self.broadcast())
            .then_some("Zab: the order of transactions, their delivery, the election of leaders")
    }
}
