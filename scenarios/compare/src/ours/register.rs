//! A register with clients, over whatever keeps it.
//!
//! Servers come first. A client writes once and then reads, each time from the next server, as stateright's
//! `RegisterActor` does. A message that changes nothing stays in flight there: explore with `keep_ignored`.

use std::fmt::Debug;

use seedbed_model::explore::{Bounds, Clock};
use seedbed_model::{Canonical, Context, Data, Event, Input, Never, NodeId, Nonce, Property, Protocol, Watch};

use super::history::{History, Operation, Value};

/// What keeps the register.
pub trait Server: Clone + Debug + Send + Sync + 'static {
    /// A server's state.
    type State: Data;
    /// What servers send each other.
    type Internal: Data;
    /// The state at the start.
    fn start(&self) -> Self::State;
    /// One message, to completion.
    fn step(&self, state: &mut Self::State, from: NodeId, message: Message<Self::Internal>, cx: Hands<'_, '_, Self>);
}

/// A server's hands.
pub type Hands<'c, 'a, S> = &'c mut Context<'a, Register<S>>;

/// Names a request.
pub type Request = u32;

/// What travels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message<I> {
    /// Between servers.
    Internal(I),
    /// Write this.
    Put(Request, Value),
    /// Read.
    Get(Request),
    /// It is written.
    PutOk(Request),
    /// It was read.
    GetOk(Request, Value),
}

/// A register: how many servers and clients, and what the servers do.
#[derive(Debug, Clone)]
pub struct Register<S> {
    /// Servers: the first nodes.
    pub servers: u16,
    /// Clients: the nodes after them.
    pub clients: u16,
    /// What a server does.
    pub server: S,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State<S> {
    /// A server.
    Server(S),
    /// A client: the request it waits for, and how many operations it began.
    Client {
        /// The request whose answer is awaited.
        awaiting: Option<Request>,
        /// Operations begun.
        begun: u32,
    },
}

/// What the history is told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Seen {
    /// A client invoked it.
    Invoked(Operation),
    /// A client was answered.
    Answered(Option<Value>),
}

const LINEARIZABLE: &str = "linearizable";
const VALUE_CHOSEN: &str = "value-chosen";

impl<S> Register<S> {
    /// The bounds under which states and transitions are those of stateright's model.
    pub fn bounds() -> Bounds {
        Bounds { clock: Clock::Untimed, keep_ignored: true, symmetry: false, ..Bounds::default() }
    }

    fn ask(&self, cx: &mut Context<'_, Self>, begun: u32) -> State<S::State>
    where
        S: Server,
    {
        let index = u32::from(cx.node().0);
        let request = (begun + 1) * index;
        let server = NodeId(((index + begun) % u32::from(self.servers)) as u16);
        let (operation, message) = if begun == 0 {
            let value = b'A' + (index - u32::from(self.servers)) as u8;
            (Operation::Write(value), Message::Put(request, value))
        } else {
            (Operation::Read(None), Message::Get(request))
        };
        cx.observe(Seen::Invoked(operation));
        cx.send(server, message);
        State::Client { awaiting: Some(request), begun: begun + 1 }
    }
}

impl<S: Server> Protocol for Register<S> {
    type State = State<S::State>;
    type Message = Message<S::Internal>;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Seen;
    type Monitor = History;

    fn nodes(&self) -> Vec<String> {
        let servers = (0..self.servers).map(|index| format!("server-{index}"));
        servers.chain((0..self.clients).map(|index| format!("client-{index}"))).collect()
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> Self::State {
        if cx.node().0 < self.servers { State::Server(self.server.start()) } else { self.ask(cx, 0) }
    }

    fn step(&self, state: &mut Self::State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        // Nothing else reaches a node here: there are no timers, records, operations or decisions.
        let Input::Message { from, message } = input;
        match (state, message) {
            (State::Server(server), message) => self.server.step(server, from, message, cx),
            (State::Client { awaiting, begun }, Message::PutOk(request)) if *awaiting == Some(request) => {
                cx.observe(Seen::Answered(None));
                let next = self.ask(cx, *begun);
                if let State::Client { awaiting: asked, begun: now } = next {
                    (*awaiting, *begun) = (asked, now);
                }
            }
            (State::Client { awaiting, begun }, Message::GetOk(request, value)) if *awaiting == Some(request) => {
                cx.observe(Seen::Answered(Some(value)));
                *awaiting = None;
                *begun += 1;
            }
            _ => {}
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always(LINEARIZABLE, "what clients saw can be put in one order"),
            Property::sometimes(VALUE_CHOSEN, "a client reads a value that was written"),
        ]
    }

    fn watch(&self, history: &mut History, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let Event::Observed(seen) = event else { return };
        let client = usize::from(node.0 - self.servers);
        match seen {
            Seen::Invoked(operation) => history.invoked(client, *operation),
            Seen::Answered(value) => {
                history.answered(client, *value);
                if value.is_some_and(|value| value != 0) {
                    watch.reached(VALUE_CHOSEN);
                }
            }
        }
        if !history.is_linearizable() {
            watch.violated(LINEARIZABLE, format!("no order explains {history:?}"));
        }
    }
}
