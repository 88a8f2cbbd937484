//! The client library: asks a server to have a value chosen, and another one when no answer comes.

use seedbed_model::{Canonical, Context, Input, NodeId, OpId};

use super::Paxos;
use super::message::{Message, Timer, Value};

/// A client's volatile state.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    open: Option<Open>,
}

/// The operation that awaits its answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Open {
    op: OpId,
    value: Value,
    /// The server asked last.
    server: NodeId,
    /// How often it may still ask another.
    left: u32,
}

impl Client {
    /// One input.
    pub fn step(&mut self, input: Input<Paxos>, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        match input {
            Input::Operation { op, operation } => self.on_operation(op, operation, paxos, cx),
            Input::Message { message: Message::Chosen(value), .. } => self.on_chosen(value, cx),
            Input::Timer(Timer::Resend) => self.on_resend(paxos, cx),
            Input::Decision(never) => match never {},
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether `message` can still change anything.
    pub fn may_use(&self, message: &Message) -> bool {
        self.open.is_some() || !matches!(message, Message::Chosen(_))
    }

    fn on_operation(&mut self, op: OpId, value: Value, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let open = Open { op, value, server: paxos.home(cx.node()), left: paxos.params.rounds - 1 };
        open.send(paxos, cx);
        self.open = Some(open);
    }

    fn on_resend(&mut self, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        let Some(open) = &mut self.open else { return };
        cx.mark("asked another server");
        open.server = NodeId((open.server.0 + 1) % paxos.params.servers);
        open.left -= 1;
        open.send(paxos, cx);
    }

    fn on_chosen(&mut self, value: Value, cx: &mut Context<'_, Paxos>) {
        let Some(open) = self.open.take() else { return cx.mark("answered before") };
        cx.cancel(Timer::Resend);
        cx.respond(open.op, value);
    }
}

impl Open {
    fn send(&self, paxos: &Paxos, cx: &mut Context<'_, Paxos>) {
        cx.send(self.server, Message::Propose(self.value));
        if self.left > 0 {
            cx.set(Timer::Resend, paxos.params.resend);
        }
    }
}
