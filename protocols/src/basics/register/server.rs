//! A server: keeps the highest version it was given.

use seedbed_model::{Canonical, Context, Input, NodeId, Stream};

use super::message::{Message, Request, Stored};
use super::{Register, params};

const COPY: Stream = Stream(0);

/// A server's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Server {
    /// The highest version given.
    kept: Stored,
    /// The highest version on the disk. At most `kept`.
    durable: Stored,
}

impl Server {
    /// What the disk holds.
    pub fn start(durable: &Stored) -> Self {
        Server { kept: *durable, durable: *durable }
    }

    /// One input.
    pub fn step(&mut self, input: Input<Register>, register: &Register, cx: &mut Context<'_, Register>) {
        match input {
            Input::Message { from, message: Message::Query(request) } => {
                // Perhaps not durable yet: a reader that goes by it makes it so at a majority before it answers.
                cx.send(from, Message::Found(request, self.kept));
            }
            Input::Message { from, message: Message::Store(request, stored) } => {
                self.on_store(from, request, stored, register, cx);
            }
            Input::Durable(record) => self.durable = self.durable.max(record),
            Input::Decision(never) => match never {},
            _ => cx.mark("input out of place"),
        }
    }

    fn on_store(
        &mut self,
        from: NodeId,
        request: Request,
        stored: Stored,
        register: &Register,
        cx: &mut Context<'_, Register>,
    ) {
        let is_blind = register.mutants.has(params::OVERWRITE);
        self.kept = if is_blind { stored } else { self.kept.max(stored) };
        if self.durable >= stored {
            return cx.send(from, Message::Done(request));
        }
        // A copy that is on its way to the disk already is written again: the answer must wait for one of them.
        let ticket = cx.persist(COPY, stored);
        match register.mutants.has(params::NO_DURABLE_COPY) {
            true => cx.send(from, Message::Done(request)),
            false => cx.send_after(ticket, from, Message::Done(request)),
        }
    }
}
