//! A register that a majority of servers keeps, without agreeing on an order (Attiya, Bar-Noy and Dolev, "Sharing memory
//! robustly in message-passing systems", JACM 1995; the variant with many writers).
//!
//! A server works for one client at a time, in two phases. First it asks all for their value and its tag, until a
//! majority has answered: the greatest tag is the latest write. Then it has a majority record the value to be read, or the
//! value to be written under a tag greater than all it saw. A read records too: a later read must not see less.
//! A server counts itself in each majority at once, without a message.
//!
//! Stateright's own example of this register counts 544 different states with two servers and two clients.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out, majority, model_peers};

use crate::{Registers, Request, UNWRITTEN, Value, registers};

/// The order of writes: a counter, then whose write it is.
pub type Tag = (u64, Id);

/// What servers send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Internal {
    /// Asks for a server's value.
    Query(Request),
    /// A server's value.
    Holds(Request, Tag, Value),
    /// Asks to record a value, unless a later one is held.
    Record(Request, Tag, Value),
    /// It is recorded, or a later one is.
    Recorded(Request),
}

/// What travels.
pub type Message = crate::Message<Internal>;

/// Who asked for what a server is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Task {
    request: Request,
    client: Id,
}

/// What a server is doing for a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It works for nobody.
    Idle,
    /// It asks for values; `write` is what will be written, `None` for a read.
    Querying {
        /// For whom.
        task: Task,
        /// What will be written.
        write: Option<Value>,
        /// What a server holds, for each that has answered.
        held: BTreeMap<Id, (Tag, Value)>,
    },
    /// It has a value recorded; `read` is the answer to a read, `None` for a write.
    Recording {
        /// For whom.
        task: Task,
        /// What was read.
        read: Option<Value>,
        /// Who has recorded it.
        by: BTreeSet<Id>,
    },
}

/// A server's state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    tag: Tag,
    value: Value,
    phase: Phase,
}

/// A server: whom it talks to.
#[derive(Debug, Clone)]
pub struct Server {
    peers: Vec<Id>,
}

impl Actor for Server {
    type Msg = Message;
    type State = State;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, id: Id, _: &Option<()>, _: &mut Out<Self>) -> State {
        State { tag: (0, id), value: UNWRITTEN, phase: Phase::Idle }
    }

    fn on_msg(&self, id: Id, state: &mut Cow<'_, State>, src: Id, msg: Message, out: &mut Out<Self>) {
        let is_idle = state.phase == Phase::Idle;
        match msg {
            RegisterMsg::Put(request, value) if is_idle => {
                self.query(state.to_mut(), id, Task { request, client: src }, Some(value), out);
            }
            RegisterMsg::Get(request) if is_idle => {
                self.query(state.to_mut(), id, Task { request, client: src }, None, out);
            }
            RegisterMsg::Internal(internal) => self.on_internal(id, state, src, internal, out),
            _ => {}
        }
    }
}

impl Server {
    fn quorum(&self) -> usize {
        majority(self.peers.len() + 1)
    }

    fn tell(&self, internal: Internal, out: &mut Out<Self>) {
        out.broadcast(&self.peers, &RegisterMsg::Internal(internal));
    }

    fn query(&self, state: &mut State, id: Id, task: Task, write: Option<Value>, out: &mut Out<Self>) {
        let held = BTreeMap::from([(id, (state.tag, state.value))]);
        state.phase = Phase::Querying { task, write, held };
        self.tell(Internal::Query(task.request), out);
    }

    fn on_internal(&self, id: Id, state: &mut Cow<'_, State>, src: Id, internal: Internal, out: &mut Out<Self>) {
        match internal {
            Internal::Query(request) => {
                out.send(src, RegisterMsg::Internal(Internal::Holds(request, state.tag, state.value)));
            }
            Internal::Record(request, tag, value) => {
                out.send(src, RegisterMsg::Internal(Internal::Recorded(request)));
                if tag > state.tag {
                    state.to_mut().record(tag, value);
                }
            }
            Internal::Holds(request, tag, value) if state.is_querying(request) => {
                self.on_holds(state.to_mut(), id, src, (tag, value), out);
            }
            Internal::Recorded(request) if state.is_waiting_for(request, src) => {
                self.on_recorded(state.to_mut(), src, out);
            }
            _ => {}
        }
    }

    fn on_holds(&self, state: &mut State, id: Id, src: Id, holds: (Tag, Value), out: &mut Out<Self>) {
        let Phase::Querying { task, write, held } = &mut state.phase else { return };
        held.insert(src, holds);
        if held.len() != self.quorum() {
            return;
        }
        let (latest, found) = held.values().max().copied().expect("a quorum is not empty");
        let (task, read) = (*task, if write.is_none() { Some(found) } else { None });
        let (tag, value) = write.map_or((latest, found), |value| ((latest.0 + 1, id), value));
        if tag > state.tag {
            state.record(tag, value);
        }
        state.phase = Phase::Recording { task, read, by: BTreeSet::from([id]) };
        self.tell(Internal::Record(task.request, tag, value), out);
    }

    fn on_recorded(&self, state: &mut State, src: Id, out: &mut Out<Self>) {
        let Phase::Recording { task, read, by } = &mut state.phase else { return };
        by.insert(src);
        if by.len() == self.quorum() {
            let done = read.map_or(RegisterMsg::PutOk(task.request), |value| RegisterMsg::GetOk(task.request, value));
            out.send(task.client, done);
            state.phase = Phase::Idle;
        }
    }
}

impl State {
    fn record(&mut self, tag: Tag, value: Value) {
        (self.tag, self.value) = (tag, value);
    }

    fn is_querying(&self, request: Request) -> bool {
        matches!(&self.phase, Phase::Querying { task, .. } if task.request == request)
    }

    fn is_waiting_for(&self, request: Request, server: Id) -> bool {
        matches!(&self.phase, Phase::Recording { task, by, .. } if task.request == request && !by.contains(&server))
    }
}

/// So many servers and clients.
pub fn model(servers: usize, clients: usize, network: Network<Message>) -> Registers<Server> {
    let peers = (0..servers).map(|index| Server { peers: model_peers(index, servers) });
    registers(peers.collect(), clients, network)
}
