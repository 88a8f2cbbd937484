//! Servers that each keep a copy of the register and tell nobody: linearizable with one server, and not with two.

use std::borrow::Cow;

use stateright::actor::register::RegisterMsg;
use stateright::actor::{Actor, Id, Network, Out};

use crate::{Registers, Request, UNWRITTEN, Value, registers};

/// What travels: servers send each other nothing.
pub type Message = crate::Message<()>;

/// A server.
#[derive(Debug, Clone)]
pub struct Server;

impl Actor for Server {
    type Msg = Message;
    type State = Value;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> Value {
        UNWRITTEN
    }

    fn on_msg(&self, _: Id, copy: &mut Cow<'_, Value>, src: Id, msg: Message, out: &mut Out<Self>) {
        match msg {
            RegisterMsg::Put(request, value) => self.write(copy.to_mut(), value, src, request, out),
            RegisterMsg::Get(request) => out.send(src, RegisterMsg::GetOk(request, **copy)),
            _ => {}
        }
    }
}

impl Server {
    fn write(&self, copy: &mut Value, value: Value, client: Id, request: Request, out: &mut Out<Self>) {
        *copy = value;
        out.send(client, RegisterMsg::PutOk(request));
    }
}

/// So many servers and clients.
pub fn model(servers: usize, clients: usize, network: Network<Message>) -> Registers<Server> {
    registers(vec![Server; servers], clients, network)
}
