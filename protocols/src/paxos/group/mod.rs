//! The group that a Manager service stands on: a leader lease and a register, kept by acceptors (Centrifuge §2.1.1 and Figure
//! 3; PRS §4.4 and Figure 6: "the leader election in Paxos").
//!
//! Servers compete for the leader lease; the leader renews it, and with the same message commits its state, which the next
//! leader reads. It is Paxos on one register: a ballot is a leader's, its first phase asks for the lease and reads, its second
//! writes back what was read, and from then on each bid of the leader is a second phase of its own.
//!
//! - `message`: ballots, bids, votes; what is said and written
//! - `acceptor`: promise, grant and vote, durable before they are answered
//! - `candidate`: a server's side, whole: what a protocol embeds that stands on the group
//! - `server`: a server that leads as long as its lease runs, and commits; here for the group's own tests
//! - `monitor`: **what the group is checked to be**: the atomic leader lease and register of `leasing`'s `group = "atomic"`
//! - `params`, `mutants`: sizes and times; what each mechanism is there for
//!
//! # Why it is an atomic leader lease and register
//!
//! A leader counts its lease from the sending of a bid, and each acceptor of a majority keeps the lease from others for longer,
//! from the receipt. A second leader's majority has one of those, which grants when that has run out. The first
//! leader's later bids fail at that acceptor, so nothing that it writes is committed after its successor has read. What was
//! committed before has a majority, one of which the successor hears, and the largest ballot and bid of what it hears is
//! that or something offered later. It writes back what it reads under its own ballot: else what only a minority accepted
//! could be read by one leader, missed by the next, and read by a third.
//!
//! # Decisions where the papers are open
//!
//! - The promise of a ballot is the grant of the lease: an acceptor that granted it to one server denies others until its timer
//!   ends (`grant-while-held`). The grant is not written, the promise is: a restarted acceptor keeps a whole margin for whom it
//!   promised (`restart-grants-at-once`).
//! - A candidate that cannot have a majority any more releases those that granted, else several candidates can keep each
//!   other from a majority for ever (`no-release`).
//! - A ballot's number is the term: servers take numbers of their own, and acceptors promise one number once, as a server that
//!   crashed counts anew (`numbers-tie`).
//! - A renewal without an update writes nothing, if what it rests on is durable.
//! - Clocks as in `leasing`: the acceptors' are the unit, a server's may be slower by `manager-longest`.

mod acceptor;
mod candidate;
mod message;
mod monitor;
mod mutants;
mod params;
mod server;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use seedbed_model::{
    Canonical, ClockBound, Context, Data, Event, Input, Mutants, Never, NodeId, Nonce, Offers, Property, Protocol,
    Relevance, Stream, Watch,
};

pub use acceptor::Acceptor;
pub use candidate::{Candidate, Ruling};
pub use message::{Ballot, Bid, Bids, Kept, Message, Vote, Write};
pub use monitor::Monitor;
pub use mutants::*;
pub use params::{ManagerGroup, Params, Version};
pub use server::Server;

use crate::paxos::{Rules, Share};

/// The protocol, for a register of type `V`.
#[derive(Debug, Clone)]
pub struct PaxosGroup<V> {
    params: Params,
    mutants: Mutants,
    paxos: Rules,
    /// The acceptors' ids begin here.
    first: NodeId,
    /// What a leader of this term commits as its n-th: of the group alone. `None` where another protocol says what.
    made: Option<fn(u16, u32) -> V>,
    of: PhantomData<fn() -> V>,
}

/// A node's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State<V> {
    /// The first nodes.
    Server(Server<V>),
    /// The nodes after those.
    Acceptor(Acceptor<V>),
}

/// The timers of both roles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At a server: the next bid is to be sent.
    NextBid,
    /// At a server: the leader lease counted from the sending of the latest bid.
    Bid,
    /// At a server: its leader lease is held.
    Lead,
    /// At an acceptor: the leader lease is granted to the server that it promised last.
    Granted,
}

/// What a server may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Commit a new state, as leader.
    Commit,
    /// Bid, where that is not done from time to time.
    Bid,
}

/// What servers show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation<V> {
    /// A server leads from here on.
    Leads {
        /// In this term.
        term: u16,
        /// Whether it thinks that another may have led before.
        earlier: bool,
        /// What it read.
        value: Option<V>,
    },
    /// The leader sends this to be committed.
    Offered(V),
    /// It is told that this is committed.
    Committed(V),
    /// It leads no longer.
    Deposed,
}

impl<V> PaxosGroup<V> {
    /// A group whose acceptors' ids begin at `first`. `made`: see the field.
    pub(crate) fn new(params: Params, mutants: Mutants, first: NodeId, made: Option<fn(u16, u32) -> V>) -> Self {
        let paxos = Rules {
            majority_exceeds_half: !mutants.has(HALF_IS_MAJORITY),
            promise_binds: !mutants.has(ACCEPT_BELOW_PROMISE),
            // Terms are numbers, and a server that crashed counts anew.
            number_is_promised_once: !mutants.has(NUMBERS_TIE),
            later_turn_stands: !mutants.has(OVERTAKEN_ACCEPTED),
            votes_are_taken_up: !mutants.has(PRIOR_IGNORED),
            highest_is_taken_up: !mutants.has(PRIOR_OF_ANY),
            promise_is_written_first: !mutants.has(UNSYNCED_PROMISE),
            vote_is_written_first: !mutants.has(UNSYNCED_VOTE),
            state_is_read_back: !mutants.has(NOTHING_READ_BACK),
            ..Rules::whole(params.acceptors)
        };
        PaxosGroup { params, mutants, paxos, first, made, of: PhantomData }
    }

    pub(super) fn acceptors(&self) -> impl Iterator<Item = NodeId> + use<V> {
        let first = self.first.0;
        (0..self.params.acceptors).map(move |index| NodeId(first + index))
    }

    fn has(&self, mutant: &str) -> bool {
        self.mutants.has(mutant)
    }

    /// No two servers take one number.
    fn share(&self, server: NodeId) -> Share {
        let of = self.params.servers;
        // Of servers that are not the first nodes, all but one stand just before the acceptors.
        Share { of, place: if server.0 == 0 { 0 } else { server.0 + of - self.first.0 } }
    }

    fn is_acceptor(&self, node: NodeId) -> bool {
        node >= self.first
    }
}

impl<V: Data> Protocol for PaxosGroup<V> {
    type State = State<V>;
    type Message = Message<V>;
    type Timer = Timer;
    type Record = Kept<V>;
    type Durable = Kept<V>;
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation<V>;
    type Monitor = Monitor<V>;

    fn nodes(&self) -> Vec<String> {
        let servers = (1..=self.params.servers).map(|number| format!("server-{number}"));
        servers.chain((1..=self.params.acceptors).map(|number| format!("acceptor-{number}"))).collect()
    }

    fn start(&self, durable: &Kept<V>, nonce: Nonce, cx: &mut Context<'_, Self>) -> State<V> {
        if self.is_acceptor(cx.node()) {
            State::Acceptor(Acceptor::start(durable, self, cx))
        } else {
            State::Server(Server::start(nonce, self, cx))
        }
    }

    fn step(&self, state: &mut State<V>, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Server(server), Input::Message { from, message }) => server.on_message(from, message, self, cx),
            (State::Server(server), Input::Timer(Timer::NextBid) | Input::Decision(Decision::Bid)) => {
                server.bid(self, cx);
            }
            (State::Server(server), Input::Timer(Timer::Lead)) => server.on_lease_end(self, cx),
            (State::Server(server), Input::Decision(Decision::Commit)) => server.commit(self, cx),
            (State::Acceptor(acceptor), Input::Message { from, message }) => {
                acceptor.on_message(from, message, self, cx);
            }
            (State::Acceptor(acceptor), Input::Durable(_)) => acceptor.on_durable(cx),
            // Whether it is armed is all that counts.
            (_, Input::Timer(Timer::Bid | Timer::Granted)) => {}
            _ => cx.mark("input out of place"),
        }
    }

    fn fold(&self, durable: &mut Kept<V>, _: Stream, record: &Kept<V>) {
        *durable = record.clone();
    }

    fn decisions(&self, _: NodeId, state: &State<V>, offers: &mut Offers<'_, Self>) {
        if let State::Server(server) = state {
            server.decisions(self, offers);
        }
    }

    fn lapsed(&self, _: NodeId, state: &State<V>, timer: &Timer) -> Option<Observation<V>> {
        match (state, timer) {
            (State::Server(server), Timer::Lead) if server.is_in_office() && !self.has(OLD_LEADER_LEADS) => {
                Some(Observation::Deposed)
            }
            _ => None,
        }
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties(&self.params)
    }

    fn watch(&self, monitor: &mut Monitor<V>, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        monitor.watch(node, event, self, watch);
    }

    fn relevance(&self, _: NodeId, to: &State<V>, from: NodeId, message: &Message<V>) -> Relevance<Message<V>> {
        let is_dead = match (to, message) {
            (State::Acceptor(acceptor), Message::Release(ballot)) => acceptor.is_past(*ballot, self),
            (State::Acceptor(_), _) => return Relevance::Always,
            (State::Server(server), _) => !server.awaits(from, message),
        };
        if is_dead { Relevance::Dead } else { Relevance::Live }
    }

    /// Ballots order the servers.
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![self.acceptors().collect()]
    }

    fn clock(&self, node: NodeId) -> ClockBound {
        if self.is_acceptor(node) {
            ClockBound::EXACT
        } else {
            ClockBound { longest: self.params.manager_longest, ..ClockBound::EXACT }
        }
    }
}
