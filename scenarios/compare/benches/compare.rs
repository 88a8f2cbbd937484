//! All comparisons in one run: criterion's figures for each, then medians and ratios.

use std::cell::{Cell, RefCell};
use std::time::Duration;
#[expect(clippy::disallowed_types, reason = "a benchmark measures the wall clock; nothing here decides a run")]
use std::time::Instant;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use seedbed_compare::exploring::{
    Seen, breadth_first, by_adapter, by_seedbed, by_stateright, by_stateright_depth_first, depth_first,
};
use seedbed_compare::messages::closed_loop;
use seedbed_model::Span;

/// Virtual time of one simulated run: half a million messages.
const LOOP_SPAN: Span = Span::secs(1_000);

/// The times of one kind of work.
#[derive(Default)]
struct Tally {
    seen: Cell<Seen>,
    times: RefCell<Vec<Duration>>,
}

impl Tally {
    /// Does `work` so often.
    #[expect(clippy::disallowed_types, reason = "a benchmark measures the wall clock; nothing here decides a run")]
    fn time(&self, count: u64, work: impl Fn() -> Seen) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            let started = Instant::now();
            self.seen.set(std::hint::black_box(work()));
            let took = started.elapsed();
            self.times.borrow_mut().push(took);
            total += took;
        }
        total
    }

    /// The median [s].
    fn seconds(&self) -> f64 {
        let mut times = self.times.borrow().clone();
        times.sort_unstable();
        times.get(times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64)
    }
}

/// One search of one model: its name and how it is done.
type Search<'s> = (&'s str, &'s dyn Fn() -> Seen);

/// Searches with `clients` clients, and prints how many times faster each is than stateright's breadth-first search, and
/// than its best.
fn exploring(criterion: &mut Criterion, clients: u16) {
    let count = usize::from(clients);
    let searches: [Search<'_>; 10] = [
        ("stateright-bfs-1", &|| by_stateright(count, 1)),
        ("stateright-bfs-2", &|| by_stateright(count, 2)),
        ("stateright-dfs-1", &|| by_stateright_depth_first(count, 1)),
        ("stateright-dfs-2", &|| by_stateright_depth_first(count, 2)),
        ("seedbed-bfs-1", &|| by_seedbed(clients, breadth_first(1))),
        ("seedbed-bfs-2", &|| by_seedbed(clients, breadth_first(2))),
        ("seedbed-dfs-1", &|| by_seedbed(clients, depth_first(1))),
        ("seedbed-dfs-2", &|| by_seedbed(clients, depth_first(2))),
        ("adapter-bfs-1", &|| by_adapter(count, breadth_first(1))),
        ("adapter-bfs-2", &|| by_adapter(count, breadth_first(2))),
    ];
    let mut group = criterion.benchmark_group("explore-paxos");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(1));
    let mut rows = Vec::new();
    for (name, search) in searches {
        let tally = Tally::default();
        group.throughput(Throughput::Elements(search().unique));
        let id = BenchmarkId::new(name, clients);
        group.bench_function(id, |bencher| bencher.iter_custom(|count| tally.time(count, search)));
        rows.push((name, tally.seen.get(), tally.seconds()));
    }
    group.finish();
    let best = rows.iter().filter(|row| row.0.starts_with("stateright")).map(|row| row.2).fold(f64::INFINITY, f64::min);
    println!("paxos, 3 servers, {clients} clients        unique       total  bytes   median s  x bfs-1  x best");
    for (name, seen, seconds) in &rows {
        let Seen { unique, total, bytes_per_state } = seen;
        println!(
            "{name:<32} {unique:>9} {total:>11} {bytes_per_state:>6} {seconds:>10.3} {:>8.1} {:>7.1}",
            rows[0].2 / seconds,
            best / seconds
        );
    }
}

/// Simulates, and prints messages a second.
fn simulating(criterion: &mut Criterion) {
    let ours = Tally::default();
    let mut group = criterion.benchmark_group("simulate-closed-loop");
    group.sample_size(10).throughput(Throughput::Elements(closed_loop(LOOP_SPAN, 0)));
    group.bench_function("seedbed", |bencher| {
        bencher.iter_custom(|count| ours.time(count, || Seen { total: closed_loop(LOOP_SPAN, 0), ..Seen::default() }));
    });
    group.finish();
    println!(
        "simulate, 5 nodes in a closed loop: {:.0} messages a second on one thread",
        ours.seen.get().total as f64 / ours.seconds()
    );
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    exploring(&mut criterion, 2);
    exploring(&mut criterion, 3);
    simulating(&mut criterion);
    criterion.final_summary();
}
