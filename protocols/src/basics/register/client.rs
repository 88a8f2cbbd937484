//! The client library: two rounds of a majority for each operation.

use seedbed_model::{Canonical, Context, Input, NodeId, NodeSet, OpId};

use super::message::{Answer, Message, Operation, Request, Stored, Timer, Version};
use super::{Register, params};

/// A client's volatile state.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    open: Option<Open>,
}

/// The operation that is under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Open {
    op: OpId,
    operation: Operation,
    is_storing: bool,
    /// While asking, the highest version found; then what is stored.
    stored: Stored,
    /// Servers that answered in this round.
    heard: NodeSet,
    /// How often this round may still be asked again.
    left: u32,
}

impl Client {
    /// One input.
    pub fn step(&mut self, input: Input<Register>, register: &Register, cx: &mut Context<'_, Register>) {
        match input {
            Input::Operation { op, operation } => self.on_operation(op, operation, register, cx),
            Input::Message { from, message: Message::Found(request, stored) } if self.awaits(request, from) => {
                self.on_answer(from, stored, register, cx);
            }
            Input::Message { from, message: Message::Done(request) } if self.awaits(request, from) => {
                self.on_answer(from, Stored::default(), register, cx);
            }
            Input::Timer(Timer::Resend) => self.on_resend(register, cx),
            Input::Decision(never) => match never {},
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether an answer of this server to this request would count.
    pub fn awaits(&self, request: Request, from: NodeId) -> bool {
        self.open.as_ref().is_some_and(|open| open.request() == request && !open.heard.contains(from))
    }

    fn on_operation(&mut self, op: OpId, operation: Operation, register: &Register, cx: &mut Context<'_, Register>) {
        let mut open = Open {
            op,
            operation,
            is_storing: false,
            stored: Stored::default(),
            heard: NodeSet::EMPTY,
            left: register.params.resends,
        };
        if matches!(operation, Operation::Write(_)) && register.mutants.has(params::NO_QUERY) {
            open.store(register, cx);
        }
        open.send(register, cx);
        self.open = Some(open);
    }

    fn on_answer(&mut self, from: NodeId, stored: Stored, register: &Register, cx: &mut Context<'_, Register>) {
        let Some(open) = &mut self.open else { return };
        open.heard.insert(from);
        open.stored = open.stored.max(stored);
        if open.heard.len() < register.quorum() {
            return;
        }
        let is_over = open.operation == Operation::Read && register.mutants.has(params::NO_WRITE_BACK);
        if open.is_storing || is_over {
            if open.left > 0 {
                cx.cancel(Timer::Resend);
            }
            cx.respond(open.op, open.answer());
            self.open = None;
        } else {
            open.store(register, cx);
            open.send(register, cx);
        }
    }

    fn on_resend(&mut self, register: &Register, cx: &mut Context<'_, Register>) {
        let Some(open) = &mut self.open else { return };
        cx.mark("asked again");
        open.left -= 1;
        open.send(register, cx);
    }
}

impl Open {
    fn request(&self) -> Request {
        Request { op: self.op, is_storing: self.is_storing }
    }

    fn answer(&self) -> Answer {
        match self.operation {
            Operation::Write(_) => Answer::Written,
            Operation::Read => Answer::Read(self.stored.value),
        }
    }

    /// The second round: a writer's value under a version above all found, or what a reader found.
    fn store(&mut self, register: &Register, cx: &mut Context<'_, Register>) {
        if let Operation::Write(value) = self.operation {
            let number = self.stored.version.map_or(0, |version| version.number) + 1;
            self.stored = Stored { version: Some(Version { number, writer: cx.node(), op: self.op }), value };
        }
        self.is_storing = true;
        self.heard = NodeSet::EMPTY;
        self.left = register.params.resends;
    }

    /// To those that have not answered.
    fn send(&self, register: &Register, cx: &mut Context<'_, Register>) {
        for server in register.servers().filter(|server| !self.heard.contains(*server)) {
            let message = match self.is_storing {
                false => Message::Query(self.request()),
                true => Message::Store(self.request(), self.stored),
            };
            cx.send(server, message);
        }
        if self.left > 0 {
            cx.set(Timer::Resend, register.params.resend);
        }
    }
}
