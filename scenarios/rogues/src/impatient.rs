//! A client that gives up: it answers its own operation, and nobody will know what came of it.

use seedbed_model::history::{Call, Value};
use seedbed_model::{
    Canonical, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, Nonce, OpId, Outcome, Property, Protocol,
    Span, Watch,
};
use serde::{Deserialize, Serialize};

const SERVER: NodeId = NodeId(0);

/// A register on a server, and a client that writes and reads by turns and waits a second for each answer.
#[derive(Clone)]
pub struct Impatient {
    mutants: Mutants,
}

/// It has none.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

/// What a node holds: the register, or what the client waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct State {
    value: u32,
    awaited: Option<OpId>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// This is the value.
    Write(u32),
    /// What is the value?
    Read,
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To the server.
    Ask(OpId, Operation),
    /// To the client: the value as it is then.
    Told(OpId, u32),
}

/// What came of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// The value as it was then.
    Value(u32),
    /// No answer came in time.
    GivenUp,
}

impl Protocol for Impatient {
    type State = State;
    type Message = Message;
    type Timer = ();
    type Record = Never;
    type Durable = ();
    type Operation = Operation;
    type Answer = Answer;
    type Decision = Never;
    type Observation = Never;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["server".into(), "client".into()]
    }

    fn start(&self, (): &(), _: Nonce, _: &mut Context<'_, Self>) -> State {
        State::default()
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Operation { op, operation } => {
                state.awaited = Some(op);
                cx.set((), Span::secs(1));
                cx.send(SERVER, Message::Ask(op, operation));
            }
            Input::Message { from, message: Message::Ask(op, operation) } => {
                if let Operation::Write(value) = operation {
                    state.value = value;
                }
                cx.send(from, Message::Told(op, state.value));
            }
            Input::Message { message: Message::Told(op, value), .. } if state.awaited == Some(op) => {
                state.awaited = None;
                cx.cancel(());
                cx.respond(op, Answer::Value(value));
            }
            Input::Timer(()) => {
                if let Some(op) = state.awaited.take() {
                    cx.mark("gave up");
                    cx.respond(op, Answer::GivenUp);
                }
            }
            _ => {}
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if node == SERVER { 0 } else { 20 }
    }

    fn operation(&self, _: NodeId, op: OpId, _: Option<&Answer>, _: &mut dyn FnMut(u32) -> u32) -> Operation {
        if op.0.is_multiple_of(2) { Operation::Write(op.0 + 1) } else { Operation::Read }
    }

    fn properties(&self) -> Vec<Property> {
        Vec::new()
    }

    fn recorded_call(&self, operation: &Operation) -> Option<Call> {
        Some(match operation {
            Operation::Write(value) => Call::new("write", i64::from(*value)),
            Operation::Read => Call::new("read", Value::Nil),
        })
    }

    fn recorded_answer(&self, operation: &Operation, answer: &Answer) -> Option<Value> {
        match (operation, answer) {
            (_, Answer::GivenUp) if !self.mutants.has("sure") => None,
            (Operation::Write(_), _) | (_, Answer::GivenUp) => Some(Value::Nil),
            (Operation::Read, Answer::Value(value)) => Some(i64::from(*value).into()),
        }
    }

    fn watch(&self, (): &mut (), _: NodeId, _: &Event<Self>, _: &mut Watch<'_>) {}
}

impl Family for Impatient {
    type Protocol = Impatient;
    type Params = Params;
    const NAME: &'static str = "impatient";
    const SUMMARY: &'static str = "gives up, and does not know what came of it";

    fn mutants() -> &'static [Mutant] {
        &[Mutant {
            name: "sure",
            removes: "the client's doubt: what it gave up is recorded as done",
            outcome: Outcome::Falls("history"),
        }]
    }

    fn build(_: &Params, mutants: Mutants) -> Result<Impatient, String> {
        Ok(Impatient { mutants })
    }
}
