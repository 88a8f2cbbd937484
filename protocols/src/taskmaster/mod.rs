//! TaskMaster: priority queues of tasks that workers lease (Hyman, Boswell, TaskMaster: A Scalable, Reliable Queuing Infrastructure
//! for Building Distributed Systems, Google), over a data store that has single-row writes alone.
//!
//! - [`task`]: queues, tasks, ApplyAtoms, replay-safe counters
//! - [`request`], [`message`], [`observation`]: what is asked for, sent, and shown; `work`: what a message takes a node
//! - [`store`]: the data store, a node
//! - [`node`]: the TaskMaster node, the life of an operation; [`log`]: the commit log; [`recovery`]; [`checkpoint`], and the reaper
//! - [`locks`], [`cache`], [`recent`]: causal concurrency; the task cache, and what leaves it first
//! - [`admission`]: whose turn it is; `update`, `lease`: the operations; [`batching`]: several in one call
//! - [`cluster`], [`manager`], [`gathering`]: several nodes and their proxies; resharding by restart; what all nodes say together
//! - [`client`], [`workers`], [`workload`]: those who ask; the workers of §7; what is asked for
//! - [`naming`], [`statistics`]: names of queues, and what went through them (§3.5, §4)
//! - [`properties`]: what must hold, in words; [`monitor`], `recovered`, [`serving`], [`order`], [`uses`], [`toils`], [`answers`], [`ledger`]: of
//!   TaskMaster, of a recovery, of a cluster, of leases, of workers, of long work, of batches; the tasks as they must be
//! - [`params`], [`mutants`]: sizes; what each mechanism is there for
//!
//! # Decisions where the paper is open
//!
//! - TA1. An operation is answered once its ApplyAtom is committed: it and all before it are in the log. Its rows are written after
//!   that, and its locks are held until they are durable. To answer as soon as its own atom is in the log loses what was acknowledged
//!   (`replies-unordered`), to free locks at the commit lets others read old rows (`locks-until-commit`).
//! - TA2. The minimum ticket passes an atom once the atom's rows are durable and its deltas are in durable counters: a checkpoint takes
//!   it down as it begins, and writes it after the counters (`minimum-past-pending`). The log is trimmed up to an earlier minimum, which
//!   is durable already: one that is still under way at a crash may appear after the next incarnation has looked for it, and before that
//!   one writes itself down with what it saw (`trims-ahead`; the simulator found it).
//! - TA3. Tickets are numbers within an incarnation of the node, and each incarnation has a log of its own. What lies behind the first
//!   gap as a node recovers was never acknowledged; once the node serves, its log is never read again, and no ticket is used twice. A
//!   log that goes on with the number of the gap brings it back after a second crash (`tickets-again`).
//! - TA4. Every write bears a timestamp, as a cell of Bigtable's does: rows of tasks and counters the ticket of their atom, the row of the
//!   minimum ticket the incarnation that writes it. The store shows the latest, so that a late write of a dead incarnation, or one
//!   that is written again, is as if it had come in order (`writes-as-they-come`). A node that recovers writes the row of the minimum
//!   ticket before it reads the log (`log-unfenced`): what an earlier one still had under way there cannot appear any more while it
//!   replays.
//! - TA5. Leases are measured by the TaskMaster node's clock alone, which goes on over its crashes. A dequeue names no lease but comes from
//!   a worker: it succeeds as long as the task is leased to that worker, also where the time is over, and is refused after another has
//!   leased it (`dequeues-of-others`). An update that is refused in a part is refused as a whole, and says why.
//! - TA6. An enqueue that meets an available task collapses into it, as §3.2 says of tasks that are "still queued waiting for processing". One
//!   that meets a leased task is noted there: as the task is dequeued it is available once more. To collapse there too loses a
//!   wake-up (`collapses-into-leased`). In a request that enqueues several tasks, each does so by itself.
//! - TA7. Deltas are counted in the order of tickets, at the commit, and a counter rejects what is not after its last ticket. Where atoms
//!   are counted as they come, the earlier of two is rejected (`counts-unordered`).
//! - A lease passes over tasks that others have locked instead of waiting for them: it may return fewer than there are, as an
//!   approximation of the top k may.
//! - Expired leases are not written back as available: a refill, or a look at a queue that is wholly cached, gives them to the worker that
//!   asks, in one ApplyAtom.
//! - A refill leases from what its scan found, not from what the cache keeps of it: leased tasks that are not pinned could else fill
//!   a small cache for ever.
//! - A FIFO queue's last PID is in its counter, which outlives its tasks and its deletion (`fifo-forgets`).
//! - Which operations have TaskMaster's threads, where those are bounded, goes round the queues: see [`admission`] (§6.2).
//!
//! - What a worker batches may be one operation, or several. One update of many tasks, and one lease of many, is one operation: it is
//!   logged and committed as one, which saves "the network round-trip, RPC parsing, and commit log delay" (§6.1), and a part that is
//!   refused refuses all (TA5). A batch of updates and leases (§4) saves the round trip alone: see [`batching`].
//! - A request may say how long its leases last, and its renewals (§4); what that is measured from is TA5.
//! - Clusters, and resharding: see [`cluster`] and [`manager`]. The dynamic resizing that §5.7 thinks of ("could be implemented") is
//!   none of it.
//!
//! # Memory
//!
//! A task takes 350 bytes of a run: a row of the store, and twice what the properties compare it with. Measured by `million`: a
//! million tasks in 1,000 queues, enqueued by batches, a quarter of them leased and dequeued, with two crashes, take 370 MB of a
//! process whose threads share an allocator's arena (`MALLOC_ARENA_MAX=1`), and up to 650 MB where each has its own.

pub mod admission;
pub mod answers;
pub mod batching;
pub mod cache;
pub mod checkpoint;
pub mod client;
pub mod cluster;
pub mod gathering;
mod lease;
pub mod ledger;
pub mod locks;
pub mod log;
pub mod manager;
pub mod message;
pub mod monitor;
pub mod mutants;
pub mod naming;
pub mod node;
pub mod observation;
pub mod order;
pub mod params;
pub mod properties;
pub mod recent;
mod recovered;
pub mod recovery;
pub mod request;
pub mod serving;
pub mod statistics;
pub mod store;
pub mod task;
pub mod toils;
mod update;
pub mod uses;
mod work;
pub mod workers;
pub mod workload;

#[cfg(test)]
mod tests;

pub use params::{Consistency, Params, Workload};

use seedbed_model::{
    Canonical, Context, Event, Input, Mutants, Never, NodeId, Nonce, Offers, OpId, Property, Protocol, Relevance, Watch,
};

use client::Client;
use cluster::{Proxy, Role};
use manager::{Job, Manager};
use message::{Answer, Decision, Message, Observation, Operation, Timer};
use monitor::Monitor;
use node::Node;
use store::Store;
use task::Name;

/// The protocol.
#[derive(Debug, Clone)]
pub struct TaskMaster {
    params: Params,
    /// What clients do.
    scripts: Vec<Vec<Operation>>,
    /// What is in the store at first.
    first: Vec<Name>,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// The data store.
    Store(Store),
    /// TaskMaster.
    Node(Box<Node>),
    /// A client or worker.
    Client(Client),
    /// A proxy.
    Proxy(Proxy),
    /// A TaskMaster job that does not run.
    Job(Job),
    /// The cluster management.
    Manager(Manager),
}

impl TaskMaster {
    fn has(&self, mutant: &str) -> bool {
        self.mutants.has(mutant)
    }

    fn client_count(&self) -> u16 {
        if self.scripts.is_empty() { self.params.clients } else { self.scripts.len() as u16 }
    }
}

impl Protocol for TaskMaster {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Never;
    type Durable = ();
    type Operation = Operation;
    type Answer = Answer;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let clients = (1..=self.client_count()).map(|number| format!("client-{number}"));
        self.names_of_servers().into_iter().chain(clients).collect()
    }

    fn start(&self, _: &(), nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        match self.role(cx.node()) {
            Role::Store => State::Store(Store::new(&self.first)),
            Role::Job if self.is_managed() => State::Job(Job::start(nonce, self, cx)),
            Role::Job => State::Node(Box::new(Node::start(nonce, self, cx))),
            Role::Proxy => State::Proxy(Proxy::start(nonce, self, cx)),
            Role::Manager => State::Manager(Manager::start(self, cx)),
            Role::Client => State::Client(Client::start(nonce, self)),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (
                state @ (State::Node(_) | State::Job(_)),
                Input::Message { from, message: message @ (Message::Begin { .. } | Message::Stop) },
            ) => self.told(state, from, &message, cx),
            (State::Job(job), input) => job.step(&input, self, cx),
            (State::Proxy(proxy), input) => proxy.step(input, self, cx),
            (State::Manager(manager), input) => manager.step(input, self, cx),
            (State::Store(store), input) => store.step(input, self, cx),
            (State::Node(node), input) => node.step(input, self, cx),
            (State::Client(client), input) => client.step(input, self, cx),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        match state {
            State::Store(_) | State::Proxy(_) | State::Job(_) => {}
            State::Manager(manager) => manager.decisions(self, offers),
            State::Node(node) => node.decisions(self, offers),
            State::Client(client) => client.decisions(self, offers),
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        let Some(index) = node.0.checked_sub(self.first_client().0) else { return 0 };
        self.scripts.get(usize::from(index)).map_or(self.params.operations, |script| script.len() as u32)
    }

    fn operation(&self, node: NodeId, op: OpId, _: Option<&Answer>, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        self.client_operation(node, op, draw)
    }

    fn properties(&self) -> Vec<Property> {
        properties::properties()
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, self, watch);
    }

    fn owes(&self, monitor: &Monitor, property: &str) -> bool {
        property == "every-operation-ends" && monitor.owes()
    }

    fn relevance(&self, _: NodeId, to: &State, _: NodeId, message: &Message) -> Relevance<Message> {
        let is_live = match to {
            State::Store(store) => !store.is_dead(message, self),
            State::Node(node) => node.awaits(message),
            State::Client(client) => client.awaits(message),
            State::Job(job) => job.awaits(message),
            State::Proxy(_) | State::Manager(_) => return Relevance::Always,
        };
        if is_live { Relevance::Live } else { Relevance::Dead }
    }

    fn message_work(&self, message: &Message) -> u32 {
        self.work_of(message)
    }

    fn stands_for(&self, node: NodeId) -> Option<&'static str> {
        if node >= self.first_client() && !self.params.client_crashes {
            return Some("clients that do not crash");
        }
        if self.manager() == Some(node) {
            return Some("the cluster management application, which stops and starts jobs");
        }
        (node == self.store()).then_some("a data store as Bigtable: ordered rows, single writes durable once answered")
    }
}
