//! How fast runs go: five nodes in a closed loop, one request in flight each, 10 ms one way.
//!
//! `cargo run --release -p seedbed-sim --example throughput`; measure it from outside (`time`, `perf stat`).

#![allow(clippy::print_stdout, reason = "a program for people")]

mod ping_pong;

use ping_pong::PingPong;
use seedbed_model::Span;
use seedbed_sim::{Network, Seed, Settings, simulate};

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
        let run = simulate(&PingPong { nodes: 5 }, &settings, Seed::Number(seed), None);
        messages += run.messages;
        digest ^= run.digest;
    }
    println!("{messages} messages in {runs} runs, digest {digest:016x}");
}
