//! A simulated closed loop: five nodes, each with one request in flight to its neighbour, 10 ms one way.
//!
//! The peers' figures for this very work are in the project's performance notes: a raw loop (heap, one draw and a
//! running digest a message) 25.7 million messages a CPU second, madsim 0.2.34 0.73, moonpool-sim 0.8.0 0.54 to 0.71,
//! turmoil 0.7.2 0.034 to 0.247, on the machine of those notes. They drift with the machine: compare ratios only.

use seedbed_model::{Canonical, Context, Event, Input, Never, NodeId, Nonce, Property, Protocol, Span, Watch};
use seedbed_sim::{Network, Seed, Settings, simulate};

/// How many nodes.
const NODES: u16 = 5;

/// Every node asks its neighbour, and asks again when the answer comes.
#[derive(Debug, Clone)]
pub struct ClosedLoop;

/// Asked and answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// The asker's count.
    Request(u64),
    /// The same count.
    Answer(u64),
}

/// What the property remembers: `answers[i]` is how often node `i` was answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    answers: Vec<u64>,
}

fn neighbour(node: NodeId) -> NodeId {
    NodeId((node.0 + 1) % NODES)
}

impl Protocol for ClosedLoop {
    /// The request in flight.
    type State = u64;
    type Message = Message;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    /// The count of the answer.
    type Observation = u64;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        (1..=NODES).map(|number| format!("node-{number}")).collect()
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u64 {
        cx.send(neighbour(cx.node()), Message::Request(1));
        1
    }

    fn step(&self, state: &mut u64, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::Request(count) } => cx.send(from, Message::Answer(count)),
            Input::Message { message: Message::Answer(count), .. } if count == *state => {
                cx.observe(count);
                *state += 1;
                cx.send(neighbour(cx.node()), Message::Request(*state));
            }
            _ => cx.mark("answer to another request"),
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::always("in-order", "answers come one after the other, without a gap")]
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let Event::Observed(count) = event else { return };
        monitor.answers.resize(usize::from(NODES), 0);
        let answers = &mut monitor.answers[node.index()];
        *answers += 1;
        if *answers != *count {
            watch.violated("in-order", format!("{node:?} took answer {count} as number {answers}"));
        }
    }
}

/// Simulates the loop for `span` of virtual time, with the digest and the property on, and says how many messages
/// were sent.
///
/// # Panics
/// If the property falls.
pub fn closed_loop(span: Span, seed: u64) -> u64 {
    let latency = Span::millis(10);
    let network = Network { delay_min: latency, delay_max: latency, ..Network::default() };
    let settings =
        Settings { duration: span, quiet: Span::ZERO, network, step_count_max: u64::MAX, ..Settings::default() };
    let run = simulate(&ClosedLoop, &settings, Seed::Number(seed), None);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run.messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_second_is_five_hundred_messages() {
        let messages = closed_loop(Span::secs(10), 7);
        assert!((4_900..=5_010).contains(&messages), "{messages}");
    }
}
