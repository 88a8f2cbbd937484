//! All comparisons in one run: criterion's figures for each, then the ratios.

use std::cell::Cell;
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "a benchmark measures the wall clock; nothing here decides a run")]
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use seedbed_compare::exploring::{Seen, by_seedbed, by_stateright};
use seedbed_compare::messages::closed_loop;
use seedbed_model::Span;

/// Virtual time of one simulated run: half a million messages.
const LOOP_SPAN: Span = Span::secs(1_000);

/// Work done and the time it took, over all samples.
#[derive(Default)]
struct Tally {
    seen: Cell<Seen>,
    time: Cell<Duration>,
}

impl Tally {
    /// Does `work` so often.
    #[expect(clippy::disallowed_types, reason = "a benchmark measures the wall clock; nothing here decides a run")]
    fn time(&self, count: u64, work: impl Fn() -> Seen) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            let started = Instant::now();
            let seen = std::hint::black_box(work());
            total += started.elapsed();
            let before = self.seen.get();
            self.seen.set(Seen { unique: before.unique + seen.unique, total: before.total + seen.total });
        }
        self.time.set(self.time.get() + total);
        total
    }

    /// Different states and transitions per second.
    fn rates(&self) -> (f64, f64) {
        let (seen, seconds) = (self.seen.get(), self.time.get().as_secs_f64());
        (seen.unique as f64 / seconds, seen.total as f64 / seconds)
    }
}

/// Searches with `clients` clients, and prints how many times faster ours sees them.
fn exploring(criterion: &mut Criterion, clients: u16) {
    let (theirs, ours) = (Tally::default(), Tally::default());
    let mut group = criterion.benchmark_group("explore-paxos");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(1));
    let searches: [(&str, &Tally, &dyn Fn() -> Seen); 2] = [
        ("stateright-bfs", &theirs, &|| by_stateright(usize::from(clients))),
        ("seedbed", &ours, &|| by_seedbed(clients)),
    ];
    for (name, tally, search) in searches {
        let seen = search();
        println!("{name}, 3 servers, {clients} clients: {} unique, {} total", seen.unique, seen.total);
        group.throughput(Throughput::Elements(seen.unique));
        let id = BenchmarkId::new(name, clients);
        group.bench_function(id, |bencher| bencher.iter_custom(|count| tally.time(count, search)));
    }
    group.finish();
    print_ratio(&format!("explore, {clients} clients, different states"), ours.rates().0, theirs.rates().0);
    print_ratio(&format!("explore, {clients} clients, transitions"), ours.rates().1, theirs.rates().1);
}

fn print_ratio(what: &str, ours: f64, theirs: f64) {
    println!("{what} a second: seedbed {ours:.0}, stateright {theirs:.0}; ratio {:.1}", ours / theirs);
}

/// Simulates, and prints messages a second.
fn simulating(criterion: &mut Criterion) {
    let ours = Tally::default();
    let mut group = criterion.benchmark_group("simulate-closed-loop");
    group.sample_size(10).throughput(Throughput::Elements(closed_loop(LOOP_SPAN, 0)));
    group.bench_function("seedbed", |bencher| {
        bencher.iter_custom(|count| ours.time(count, || Seen { unique: 0, total: closed_loop(LOOP_SPAN, 0) }));
    });
    group.finish();
    println!("simulate, 5 nodes in a closed loop: {:.0} messages a second on one thread", ours.rates().1);
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    exploring(&mut criterion, 2);
    exploring(&mut criterion, 3);
    simulating(&mut criterion);
    criterion.final_summary();
}
