//! Protocols written against stateright's traits, as its users write them: nothing here knows of Seedbed.
//!
//! Registers, whose servers are actors and whose clients are stateright's own `RegisterActor`: each client writes once,
//! then reads from the next server. What clients see is stateright's `LinearizabilityTester`, the model's history.
//!
//! - [`paxos`]: servers that agree on one write;
//! - [`abd`]: servers that keep a register together, without agreeing on an order;
//! - [`single_copy`]: servers that know nothing of each other.
//!
//! And a `Model` without actors:
//!
//! - [`two_phase`]: two-phase commit, with interchangeable resource managers.

use std::fmt::Debug;
use std::hash::Hash;

use stateright::Expectation;
use stateright::actor::register::{RegisterActor, RegisterMsg};
use stateright::actor::{Actor, ActorModel, Id, Network};
use stateright::semantics::LinearizabilityTester;
use stateright::semantics::register::Register;

pub mod abd;
pub mod paxos;
pub mod single_copy;
pub mod two_phase;

/// Names a request.
pub type Request = u64;

/// What a register holds; [`UNWRITTEN`] at first.
pub type Value = char;

/// What a register holds before the first write.
pub const UNWRITTEN: Value = '\0';

/// What travels between clients and servers, and as `I` between servers.
pub type Message<I> = RegisterMsg<Request, Value, I>;

/// What clients saw.
pub type History = LinearizabilityTester<Id, Register<Value>>;

/// The model of a register over servers `S`.
pub type Registers<S> = ActorModel<RegisterActor<S>, (), History>;

/// The name of the property that what clients saw can be put in one order. It reads the history alone.
pub const LINEARIZABLE: &str = "linearizable";

/// The name of the goal that a client is about to read what was written.
pub const VALUE_CHOSEN: &str = "value chosen";

/// The network that neither loses nor repeats, and keeps no order.
pub fn unordered<I: Eq + Hash>() -> Network<Message<I>> {
    Network::new_unordered_nonduplicating([])
}

/// A register over these servers, used by so many clients.
pub fn registers<S, I>(servers: Vec<S>, clients: usize, network: Network<Message<I>>) -> Registers<S>
where
    S: Actor<Msg = Message<I>, Timer: Ord>,
    I: Clone + Debug + Ord + Hash,
{
    let server_count = servers.len();
    ActorModel::new((), LinearizabilityTester::new(Register(UNWRITTEN)))
        .actors(servers.into_iter().map(RegisterActor::Server))
        .actors((0..clients).map(|_| RegisterActor::Client { put_count: 1, server_count }))
        .init_network(network)
        .property(Expectation::Always, LINEARIZABLE, |_, state| state.history.serialized_history().is_some())
        .property(Expectation::Sometimes, VALUE_CHOSEN, |_, state| {
            let is_read = |msg: &Message<I>| matches!(msg, RegisterMsg::GetOk(_, value) if *value != UNWRITTEN);
            state.network.iter_deliverable().any(|envelope| is_read(envelope.msg))
        })
        .record_msg_in(RegisterMsg::record_returns)
        .record_msg_out(RegisterMsg::record_invocations)
}
