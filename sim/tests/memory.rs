//! Memory: a run in its steady state asks for none, and a long run holds no more than a short one.
//!
//! One test, alone in its process: the allocator counts what every thread does.

mod common;

use std::alloc::System;

use common::{Probe, everything};
use seedbed_model::{Canonical, Context, Effect, Input, Named, Never, NodeId, Nonce, Protocol, Span};
use seedbed_sim::{FaultMix, Seed, Settings, Tracer, simulate};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

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
            _ => {}
        }
    }
}

/// Messages of a run so long, and how often it asked for memory.
fn asked(duration: Span) -> (u64, usize) {
    let settings = Settings { duration, quiet: Span::ZERO, ..Settings::default() };
    let region = Region::new(ALLOCATOR);
    let run = simulate(&PingPong, &settings, Seed::Number(1), None);
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
    asked(Span::secs(10));
    let (short, long) = (asked(Span::secs(20)), asked(Span::secs(200)));
    assert!(long.0 > 9 * short.0 && short.0 > 5_000, "{short:?} and {long:?} messages");
    assert_eq!(long.1, short.1, "the steady state asks for no memory");

    let (short, long) = (peak(10), peak(200));
    assert!(long.0 > 10 * short.0, "{short:?} and {long:?} steps");
    // The journals that corruptions need are full in the long run: 1,024 records of each of three nodes.
    let journals = 3 * 1024 * 16;
    assert!(long.1 < short.1 + journals, "{} bytes in the short run, {} in the long", short.1, long.1);
}
