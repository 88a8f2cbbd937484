//! The hot paths: a message of a long run, with few and with many things on the agenda, and a whole short run.
//!
//! `cargo bench -p seedbed-sim`

#[path = "../examples/ping_pong/mod.rs"]
mod ping_pong;

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use ping_pong::PingPong;
use seedbed_model::Span;
use seedbed_sim::{Network, Seed, Settings, simulate};

/// One way.
const DELAY: Span = Span::millis(10);

/// Settings of so many pairs of messages a node.
fn settings(pairs: u64) -> Settings {
    let network = Network { delay_min: Span::millis(9), delay_max: Span::millis(11), ..Network::default() };
    Settings {
        duration: DELAY * 2 * pairs,
        quiet: Span::ZERO,
        network,
        step_count_max: u64::MAX,
        ..Settings::default()
    }
}

/// A run of so many messages, with so many of them in flight at once.
fn long_run(criterion: &mut Criterion, nodes: u16) {
    let protocol = PingPong { nodes };
    let settings = settings(100_000 / u64::from(nodes));
    let messages = simulate(&protocol, &settings, Seed::Number(0), None).messages;
    assert!(messages > 150_000, "{messages}");
    let mut group = criterion.benchmark_group("long-run");
    group.sample_size(20).throughput(Throughput::Elements(messages));
    group.bench_function(format!("{nodes}-in-flight"), |bencher| {
        bencher.iter(|| black_box(simulate(&protocol, &settings, Seed::Number(0), None).digest));
    });
    group.finish();
}

/// A fresh run of fifty pairs of messages, from its seed to its result.
fn fresh_run(criterion: &mut Criterion) {
    let protocol = PingPong { nodes: 5 };
    let settings = settings(10);
    let mut seed = 0;
    criterion.bench_function("fresh-run", |bencher| {
        bencher.iter(|| {
            seed += 1;
            black_box(simulate(&protocol, &settings, Seed::Number(seed), None).digest)
        });
    });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    long_run(&mut criterion, 5);
    long_run(&mut criterion, 1_000);
    fresh_run(&mut criterion);
    criterion.final_summary();
}
