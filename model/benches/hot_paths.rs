//! The hot paths: a step of a plain world; the search's own work, on a space that costs nothing; an exploration in which
//! nearly every step is seen at a glance; and one in which each row is made the least of its permutations.
//!
//! `cargo bench -p seedbed-model`

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use seedbed_model::explore::{Bounds, Clock, Limits, Row, Seen, Space, Strategy, Successors, explore, search};
use seedbed_model::{
    Canonical, Choice, Context, Driver, Envelope, Input, Local, Never, NodeId, Nonce, Plain, Protocol, Span, Stamp,
    apply, hash,
};

/// Each node sends itself messages and counts them, up to a limit.
#[derive(Debug, Clone)]
struct Counters {
    nodes: u16,
    limit: u64,
    are_interchangeable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Tick;

impl Protocol for Counters {
    type State = u64;
    type Message = Tick;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Never;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        (0..self.nodes).map(|index| format!("node-{index}")).collect()
    }
    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        if self.are_interchangeable { vec![(0..self.nodes).map(NodeId).collect()] } else { Vec::new() }
    }
    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> u64 {
        cx.send(cx.node(), Tick);
        0
    }
    fn step(&self, count: &mut u64, input: Input<Self>, cx: &mut Context<'_, Self>) {
        let Input::Message { .. } = input;
        if *count < self.limit {
            *count += 1;
            cx.send(cx.node(), Tick);
        }
    }
}

/// A scheduler that keeps what is in flight in order, and no time.
#[derive(Default)]
struct InOrder {
    flights: Vec<Envelope<Tick>>,
}

impl Driver<Counters> for InOrder {
    fn now(&self) -> u64 {
        0
    }
    fn clock(&mut self, _: NodeId) -> Stamp {
        Stamp::of_clock(0)
    }
    fn choose(&mut self, _: NodeId, _: u32) -> u32 {
        0
    }
    fn length(&mut self, _: NodeId, never: &Never, _: Span) -> u64 {
        match *never {}
    }
    fn send(&mut self, envelope: Envelope<Tick>) {
        self.flights.push(envelope);
    }
    fn is_in_flight(&self, envelope: &Envelope<Tick>) -> bool {
        self.flights.contains(envelope)
    }
    fn take(&mut self, envelope: &Envelope<Tick>) {
        self.flights.retain(|other| other != envelope);
    }
}

/// One message: delivered, counted, and sent again.
fn world_step(criterion: &mut Criterion) {
    let mut world = Plain::new(Counters { nodes: 1, limit: u64::MAX, are_interchangeable: false }, InOrder::default());
    apply(&mut world, &Choice::At(NodeId(0), Local::Start)).expect("a node that is down starts");
    criterion.bench_function("world/step", |bencher| {
        bencher.iter(|| {
            let envelope = world.driver.flights[0].clone();
            apply(&mut world, black_box(&Choice::Deliver(envelope))).expect("it is in flight")
        });
    });
}

/// Points of a grid: from each one step on along each axis. Neighbours meet again and again, as in protocols.
#[derive(Clone)]
struct Grid {
    axes: usize,
    length: u32,
}

impl Grid {
    fn push(cells: &[u32], out: &mut Successors) {
        let sum = cells.iter().fold(0u64, |sum, cell| sum << 8 | u64::from(*cell));
        out.push(hash(0, &sum.to_le_bytes()) | 1 << 63, sum, 0, |row| row.extend_from_slice(cells));
    }
}

impl Space for Grid {
    fn start(&mut self, out: &mut Successors) {
        Grid::push(&vec![0; self.axes], out);
    }
    fn expand(&mut self, row: Row<'_>, _: &dyn Seen, out: &mut Successors) {
        let mut cells = row.cells.to_vec();
        for axis in 0..self.axes {
            if cells[axis] + 1 < self.length {
                cells[axis] += 1;
                Grid::push(&cells, out);
                cells[axis] -= 1;
            }
        }
    }
    fn fork(&self) -> Self {
        self.clone()
    }
}

/// The table is probed for each transition, and each state's row is kept until it is expanded.
fn table_probe(criterion: &mut Criterion) {
    let searched = || {
        let limits = Limits { depth: None, states: u64::MAX };
        search(Grid { axes: 4, length: 16 }, limits, &Strategy::default(), &mut |_| true).expect("it is searched").stats
    };
    let stats = searched();
    assert_eq!(stats.unique, 16u64.pow(4));
    let mut group = criterion.benchmark_group("search");
    group.throughput(Throughput::Elements(stats.total));
    group.bench_function("table-probe", |bencher| bencher.iter(|| black_box(searched())));
    group.finish();
}

fn explored(criterion: &mut Criterion, name: &str, protocol: &Counters) {
    let bounds = Bounds { clock: Clock::Untimed, ..Bounds::default() };
    let explored =
        || explore(protocol, &bounds, &Strategy::default(), &mut |_| true).expect("the bounds fit the protocol").stats;
    let stats = explored();
    assert!(stats.exhausted && stats.unique > 10_000, "{stats:?}");
    let mut group = criterion.benchmark_group("explore");
    group.throughput(Throughput::Elements(stats.total));
    group.bench_function(name, |bencher| bencher.iter(|| black_box(explored())));
    group.finish();
}

/// Five steps at each node are computed; all other transitions look one of them up.
fn step_lookup(criterion: &mut Criterion) {
    explored(criterion, "step-lookup", &Counters { nodes: 7, limit: 3, are_interchangeable: false });
}

/// Each row has 23 others that it stands for.
fn permutations(criterion: &mut Criterion) {
    explored(criterion, "permutations", &Counters { nodes: 4, limit: 20, are_interchangeable: true });
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    world_step(&mut criterion);
    table_probe(&mut criterion);
    step_lookup(&mut criterion);
    permutations(&mut criterion);
    criterion.final_summary();
}
