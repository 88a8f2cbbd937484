//! The closed loop on Seedbed: five nodes, each with one request in flight to a random other, 10 ms one way. The digest
//! of the run and a property are on.

use seedbed_model::{Canonical, Context, Event, Input, Never, NodeId, Nonce, Property, Protocol, Span, Watch};
use seedbed_sim::{Network, Seed, Settings, simulate};

/// How many nodes.
const NODES: u16 = 5;

/// Every node asks another, drawn anew each time, and asks again when the answer comes.
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

/// Sends a request of this count to any other node.
fn ask(count: u64, cx: &mut Context<'_, ClosedLoop>) {
    let peer = cx.node().0 + 1 + cx.choose(u32::from(NODES) - 1) as u16;
    cx.send(NodeId(peer % NODES), Message::Request(count));
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
        ask(1, cx);
        1
    }

    fn step(&self, state: &mut u64, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message: Message::Request(count) } => cx.send(from, Message::Answer(count)),
            Input::Message { message: Message::Answer(count), .. } if count == *state => {
                cx.observe(count);
                *state += 1;
                ask(*state, cx);
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

/// One way.
const LATENCY: Span = Span::millis(10);

/// Simulates the loop until about so many pairs of messages have gone back and forth, and says how many messages were
/// sent.
///
/// # Panics
/// If the property falls.
pub fn closed_loop(pairs: u64, seed: u64) -> u64 {
    let network = Network { delay_min: LATENCY, delay_max: Span(LATENCY.0 + 1_000), ..Network::default() };
    let duration = LATENCY * 2 * (pairs / u64::from(NODES));
    let settings = Settings { duration, quiet: Span::ZERO, network, step_count_max: u64::MAX, ..Settings::default() };
    let run = simulate(&ClosedLoop, &settings, Seed::Number(seed), None);
    assert!(run.violations.is_empty(), "{:?}", run.violations);
    run.messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_two_messages() {
        let messages = closed_loop(5_000, 7);
        assert!((9_900..=10_010).contains(&messages), "{messages}");
    }
}
