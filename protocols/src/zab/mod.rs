//! Zab, the atomic broadcast that ZooKeeper stands on, whole: election, discovery, synchronization, broadcast.
//!
//! Sources: Hunt, Konar, Junqueira, Reed, ZooKeeper (USENIX ATC 2010), §4; Junqueira, Reed, Serafini, Zab: High-performance
//! broadcast for primary-backup systems (DSN 2011), cited as "Zab"; Zab 1.0 as Apache ZooKeeper implements it (FOLLOWERINFO,
//! LEADERINFO, ACKEPOCH, NEWLEADER, UPTODATE; DIFF, TRUNC, SNAP); fast leader election as there; and the public TLA+
//! specifications of both, whose properties the monitor has.
//!
//! - [`message`]: transactions, packets, records, timers
//! - [`channel`]: connections, which keep the order of what goes through them
//! - [`log`]: the history in memory and on disk
//! - [`server`]: what a server is doing, and how it comes to that
//! - [`election`]: fast leader election; `alone`: on its own; [`oracle`]: one node that stands for it
//! - [`leader`], [`learner`]: phases 1 to 3 from both sides
//! - [`application`]: what stands on it sees
//! - [`monitor`]: what must hold
//! - [`params`], [`mutants`]: sizes and times; what each mechanism is there for
//!
//! # Decisions where the sources differ or are open
//!
//! - The paper's leader fetches the most recent history of its quorum; ZooKeeper's must have it: one that finds a more recent
//!   follower in discovery gives up (`no-abdication`). As in ZooKeeper.
//! - DIFF, TRUNC or SNAP, the transactions after it and NEWLEADER are one packet, the paper's NEWLEADER(e', Iₑ'): a channel
//!   keeps their order, and a learner does nothing with a part of them. What it writes of them becomes durable record by record.
//! - The history that comes with it has no commits; UPTODATE says as far as what all is committed. It goes to each follower
//!   when that has acknowledged NEWLEADER, with what is committed *then* (`commit-of-history`).
//! - A learner's order of writes is snapshot, log, current epoch, each durable before the next (`log-before-snapshot`,
//!   `zk-4643-epoch-before-log`), and no proposal is acknowledged before (`ack-before-epoch`): a server's log counts for as much
//!   as the epoch that it is under. That holds for the leader itself: a quorum of followers may establish it before its own disk
//!   has the epoch, and its log does not count until then (`own-log-before-epoch`; the explorer found it).
//! - A truncation counts as history that is written: what was given up may have been on its way to the disk before it, and a crash
//!   that keeps the one and loses the other brings it back under the new epoch (`trunc-before-fsync`; the explorer found it, with
//!   three restarts).
//! - An ACK says that all up to its zxid is durable. Packets come in order, so it is an ACK for each.
//! - A history before establishment is delivered when its leader is established, not before: a snapshot then never holds what is
//!   not committed, and TRUNC never reaches into one.
//! - A server that looks for a leader keeps its history as it is; its log and its memory are never different
//!   (`zk-2845-retained-database`).
//! - A server that accepted an epoch which nobody else did cannot follow a leader of an earlier one; in ZooKeeper it tries until
//!   there is another leader for another reason. Here a leader that meets such a server gives up (`outdated-leader-stays`).
//! - Observers are synchronized once the leader is established, with what is delivered.
//! - A leader that loses its quorum, and a learner that loses its leader, look for a leader; so does a learner that is proposed an
//!   old epoch.
//!
//! # What makes the explored bounds smaller, and what falls under it all the same
//!
//! | what | where | falls under it |
//! |---|---|---|
//! | servers are interchanged where an oracle elects | `symmetry` | `no-synchronization`, at the same depth without it (`engines/zab.rs`) |
//! | packets that nobody can read any more are removed | `relevance` | the same |
//! | rounds are named by their rank | [`message::Rounds`] | all that a bound claims: `old-epoch-accepted`, between two leaders' rounds |
//! | an oracle elects and breaks connections | `election = "oracle"` | `no-abdication` (bound `anyone`); elections by themselves: `election-ignores-zxid` |
//! | each that it concerns hears of what it does before anything else happens | `at-once` | `log-delivered-at-restart`, heard later as well (`engines/zab.rs`); `commit-before-quorum`, `no-trunc` (bound `at-once-3-1-1-1`) |
//! | a restart is one action | `restarts` | `log-delivered-at-restart`, with a crash and a start as well (`engines/zab.rs`) |
//! | a disk takes no time | `disk = "none"` | `commit-before-quorum`, on streams as well (`engines/zab.rs`) |
//! | what comes with NEWLEADER is one packet | [`message::Packet::NewLeader`] | `duplicate-proposal`, `diff-for-snap` |
//! | leaders issue transactions, by decisions, instead of clients | `transactions` | `number-of-delivered`, `counter-goes-on` |
//! | two elections | `elections` | all of the above; `hasty-leader` needs three, and falls in scenarios |

mod alone;
pub mod application;
pub mod channel;
pub mod election;
pub mod leader;
pub mod learner;
pub mod log;
pub mod message;
pub mod monitor;
pub mod mutants;
pub mod oracle;
pub mod params;
pub mod server;
#[cfg(test)]
mod tests;

pub use params::{Election, Params};

use seedbed_model::{
    Canonical, Context, Event, Input, Mutants, NodeId, Nonce, Offers, OpId, Property, Protocol, Relevance, Span,
    Stream, Watch,
};

use log::Durable;
use message::{Answer, Decision, Message, Observation, Record, Timer, Value};
use monitor::Monitor;
use oracle::Oracle;
use server::Server;

/// The protocol.
#[derive(Debug, Clone)]
pub struct Zab {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Voting servers first, then observers.
    Server(Server),
    /// The last node, where there is one.
    Oracle(Oracle),
    /// A server that crashed and had nothing to write on ([`params::Disk::None`]): it never comes back, since to come back
    /// with nothing is to break what it promised.
    Gone,
}

impl Zab {
    fn has(&self, mutant: &str) -> bool {
        self.mutants.has(mutant)
    }

    /// Whether the node votes: in elections, and on proposals.
    fn votes(&self, node: NodeId) -> bool {
        node.0 < self.params.servers
    }

    fn quorum(&self) -> usize {
        usize::from(self.params.servers) / 2 + 1
    }

    fn voters(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.params.servers).map(NodeId)
    }

    fn server_count(&self) -> u16 {
        self.params.servers + self.params.observers
    }

    fn has_oracle(&self) -> bool {
        self.params.election == Election::Oracle
    }

    /// Whether elections are all there is.
    fn is_alone(&self) -> bool {
        self.params.histories > 0
    }

    /// Whether anything is demanded in bounded time.
    fn is_timed(&self) -> bool {
        self.params.progress > Span::ZERO || self.params.takeover > Span::ZERO
    }

    fn oracle(&self) -> NodeId {
        NodeId(self.server_count())
    }
}

impl Protocol for Zab {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Record;
    type Durable = Durable;
    type Operation = Value;
    type Answer = Answer;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let servers = (1..=self.params.servers).map(|number| format!("server-{number}"));
        let observers = (1..=self.params.observers).map(|number| format!("observer-{number}"));
        servers.chain(observers).chain(self.has_oracle().then(|| "oracle".to_owned())).collect()
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        if cx.node().0 == self.server_count() {
            State::Oracle(Oracle::start(self))
        } else if self.params.disk == params::Disk::None && nonce != Nonce::first(cx.node().0) {
            cx.mark("gone-for-good");
            State::Gone
        } else {
            State::Server(Server::start(durable, nonce, self, cx))
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Server(server), input) => server.step(input, self, cx),
            (State::Oracle(oracle), Input::Message { from, message }) => oracle.on_message(from, message, self, cx),
            (State::Oracle(oracle), Input::Decision(decision)) => oracle.decide(decision, cx),
            (State::Gone, _) => {}
            (State::Oracle(_), _) => cx.mark("input out of place"),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        durable.fold(record);
    }

    fn decisions(&self, node: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        match state {
            State::Server(server) => server.decisions(node, self, offers),
            State::Oracle(oracle) => oracle.decisions(self, offers),
            State::Gone => {}
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if node.0 < self.server_count() { self.params.operations } else { 0 }
    }

    fn operation(&self, node: NodeId, op: OpId, _: Option<&Answer>, _: &mut dyn FnMut(u32) -> u32) -> Value {
        Value::Asked(node, op)
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties(&self.params)
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, self, watch);
    }

    fn relevance(&self, node: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        let is_live = match (to, message) {
            (State::Server(server), Message::Notification { election, doing, .. }) if self.is_alone() => {
                return server.relevance_alone(node, *election, *doing, self);
            }
            (State::Server(server), message) => server.awaits(node, from, message),
            (State::Oracle(oracle), Message::Looking { round, .. }) => oracle.awaits(from, *round),
            (State::Oracle(_), _) => return Relevance::Always,
            (State::Gone, _) => return Relevance::Dead,
        };
        if is_live { Relevance::Live } else { Relevance::Dead }
    }

    fn is_at_once(&self, message: &Message) -> bool {
        self.params.at_once && !matches!(message, Message::Packet { .. })
    }

    /// Votes order the servers, the oracle does not.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        if !self.has_oracle() {
            return Vec::new();
        }
        vec![self.voters().collect(), (self.params.servers..self.server_count()).map(NodeId).collect()]
    }

    fn stands_for(&self, node: NodeId) -> Option<&'static str> {
        let what = match (self.params.at_once, self.params.disk) {
            (false, params::Disk::Streams) => "leader election (phase 0) and the detection of broken connections",
            (false, params::Disk::None) => {
                "leader election (phase 0) and the detection of broken connections (what is written is durable at once)"
            }
            (true, params::Disk::Streams) => {
                "leader election (phase 0) and broken connections, each one action of all that it concerns"
            }
            (true, params::Disk::None) => {
                "leader election (phase 0), broken connections and restarts, each one action of all that it concerns, as in \
                 the published specification (what is written is durable at once)"
            }
        };
        (self.has_oracle() && node == self.oracle()).then_some(what)
    }
}
