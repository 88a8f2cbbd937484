//! Memory: a run in its steady state asks for none, and a long run holds no more than a short one.
//!
//! One test, alone in its process: the allocator counts what every thread does.

#[path = "promises/common.rs"]
mod common;
#[path = "../examples/ping_pong/mod.rs"]
mod ping_pong;

use std::alloc::System;

use common::{Probe, everything};
use ping_pong::PingPong;
use seedbed_model::{Effect, Named, NodeId, Protocol, Span};
use seedbed_sim::{FaultMix, Seed, Settings, Tracer, simulate};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const RUN_COUNT: u32 = 8;

/// Messages of a run so long, and how often it asked for memory: the least of some runs, for the thread that waits for
/// the test may ask meanwhile.
fn asked(duration: Span) -> (u64, usize) {
    (0..RUN_COUNT).map(|_| asked_once(duration)).min().expect("there are runs")
}

fn asked_once(duration: Span) -> (u64, usize) {
    let settings = Settings { duration, quiet: Span::ZERO, ..Settings::default() };
    let region = Region::new(ALLOCATOR);
    let run = simulate(&PingPong { nodes: 5 }, &settings, Seed::Number(1), None);
    let change = region.change();
    (run.messages, change.allocations + change.reallocations)
}

/// The most bytes held at any step, beside what was held before.
struct Peak {
    before: isize,
    most: isize,
    steps: u64,
}

fn held() -> isize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as isize - stats.bytes_deallocated as isize
}

impl<P: Protocol> Tracer<P> for Peak {
    fn step(&mut self, _: u64, _: u64, _: &Named<P>, _: &[u32], _: &[(NodeId, Effect<P>)]) {
        self.most = self.most.max(held() - self.before);
        self.steps += 1;
    }
}

/// Steps of a run of so many minutes with every kind of fault, and the most bytes that it held.
fn peak(minutes: u64) -> (u64, isize) {
    let duration = Span::secs(60 * minutes);
    // As many faults a minute, whatever the length: the plan grows with the run, and is counted apart.
    let faults = FaultMix { swarm: false, never_restart: seedbed_model::Ratio::ZERO, ..everything().faults };
    let settings = Settings { duration, quiet: Span::ZERO, faults, ..everything() };
    let mut peak = Peak { before: held(), most: 0, steps: 0 };
    simulate(&Probe::default(), &settings, Seed::Number(1), Some(&mut peak));
    (peak.steps, peak.most)
}

#[test]
fn a_long_run_asks_for_no_more_memory_than_a_short_one() {
    let (short, long) = (asked(Span::secs(20)), asked(Span::secs(200)));
    assert!(long.0 > 9 * short.0 && short.0 > 5_000, "{short:?} and {long:?} messages");
    assert_eq!(long.1, short.1, "the steady state asks for no memory");

    let (short, long) = (peak(10), peak(200));
    assert!(long.0 > 10 * short.0, "{short:?} and {long:?} steps");
    // The journals that corruptions need are full in the long run: 1,024 records of each of three nodes.
    let journals = 3 * 1024 * 16;
    assert!(long.1 < short.1 + journals, "{} bytes in the short run, {} in the long", short.1, long.1);
}
