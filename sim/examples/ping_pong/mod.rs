//! The closed loop whose speed and memory are measured: one request in flight a node.

use seedbed_model::{Canonical, ClockBound, Context, Input, Never, NodeId, Nonce, Protocol, Ratio, Span};

/// Each node asks the next one, and asks again when it has its answer.
#[derive(Debug, Clone)]
pub(crate) struct PingPong {
    pub(crate) nodes: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) enum Message {
    Request(u64),
    Answer(u64),
}

impl Protocol for PingPong {
    type State = u64;
    type Message = Message;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Never;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        (0..self.nodes).map(|node| format!("node-{node}")).collect()
    }
    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u64 {
        cx.send(NodeId((cx.node().0 + 1) % self.nodes), Message::Request(0));
        0
    }
    fn step(&self, count: &mut u64, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::Request(number) } => cx.send(from, Message::Answer(number)),
            Input::Message { from, message: Message::Answer(number) } => {
                *count += 1;
                cx.send(from, Message::Request(number + 1));
            }
            Input::Timer(never) => match never {},
            Input::Durable(_) | Input::Operation { .. } | Input::Decision(_) => {}
        }
    }
    fn clock(&self, _: NodeId) -> ClockBound {
        ClockBound { shortest: Ratio { num: 9, den: 10 }, longest: Ratio { num: 11, den: 10 }, offset: Span::millis(5) }
    }
}
