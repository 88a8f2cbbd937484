//! How fast runs go: five nodes in a closed loop, one request in flight each, 10 ms one way.
//!
//! `cargo run --release -p seedbed-sim --example throughput`; measure it from outside (`time`, `perf stat`).

#![allow(clippy::print_stdout, reason = "a program for people")]

use seedbed_model::{Canonical, ClockBound, Context, Input, Never, NodeId, Nonce, Protocol, Ratio, Span};
use seedbed_sim::{Network, Seed, Settings, simulate};

const NODE_COUNT: u16 = 5;

/// Each node asks the next one, and asks again when it has its answer.
#[derive(Debug, Clone)]
struct PingPong;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Message {
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
        (0..NODE_COUNT).map(|node| format!("node-{node}")).collect()
    }
    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u64 {
        cx.send(NodeId((cx.node().0 + 1) % NODE_COUNT), Message::Request(0));
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

fn main() {
    let runs: u64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let pairs: u64 = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let delay = Span::millis(10);
    let settings = Settings {
        duration: delay * 2 * pairs,
        quiet: Span::ZERO,
        step_count_max: u64::MAX,
        network: Network { delay_min: Span::millis(9), delay_max: Span::millis(11), ..Network::default() },
        ..Settings::default()
    };
    let mut messages = 0;
    let mut digest = 0;
    for seed in 0..runs {
        let run = simulate(&PingPong, &settings, Seed::Number(seed), None);
        messages += run.messages;
        digest ^= run.digest;
    }
    println!("{messages} messages in {runs} runs, digest {digest:016x}");
}
