//! One message there and back on loopback: a raw socket, the host, the host with a tape; one at a time, and 64 in flight.

#![allow(missing_docs, reason = "criterion's macros make public items")]
#![cfg(not(madsim))]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use seedbed_host::driver::{Pace, Setup, Status, Tape, run};
use seedbed_host::links::{Counts, Route, Transport};
use seedbed_host::memory::MemoryDisk;
use seedbed_host::{clock, tapes};
use seedbed_model::{Context, Input, Never, NodeId, Nonce, Protocol};
use tokio::sync::watch;

/// A client that keeps so many requests in flight, and a server that sends each back.
#[derive(Debug, Clone)]
struct Mirror {
    window: u32,
}

impl Protocol for Mirror {
    type State = ();
    type Message = u32;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Never;
    type Observation = Never;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["server".into(), "client".into()]
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) {
        if cx.node() == NodeId(1) {
            (0..self.window).for_each(|number| cx.send(NodeId(0), number));
        }
    }

    fn step(&self, (): &mut (), input: Input<Self>, cx: &mut Context<'_, Self>) {
        // Nothing else reaches a node without timers, records and clients.
        let Input::Message { from, message } = input;
        cx.send(from, message.wrapping_add(1));
    }
}

struct Cluster {
    client: watch::Receiver<Status>,
    stops: Vec<watch::Sender<bool>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Cluster {
    #[expect(clippy::disallowed_methods, reason = "each node has a thread, as it has a process outside")]
    fn start(window: u32, taped: bool) -> Cluster {
        let held: Vec<TcpListener> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let addresses: Vec<SocketAddr> = held.iter().map(|held| held.local_addr().expect("an address")).collect();
        drop(held);
        let (mut stops, mut threads, mut clients) = (Vec::new(), Vec::new(), Vec::new());
        for node in 0..2 {
            let (stop, stopped) = watch::channel(false);
            let (status, statuses) = watch::channel(Status::default());
            let path = std::env::temp_dir().join(format!("seedbed-bench-{}-{node}.jsonl", std::process::id()));
            let _ = std::fs::remove_file(&path);
            let tape = taped.then(|| -> Tape {
                let (mut writer, _) = tapes::Writer::open(&path).expect("a tape");
                Box::new(move |line| writer.write(line))
            });
            let setup = Setup {
                protocol: Mirror { window },
                route: Route {
                    cluster: 1,
                    node: NodeId(node),
                    incarnation: 0,
                    addresses: addresses.clone(),
                    transport: Transport::Tcp,
                    queue: 1024,
                },
                disk: MemoryDisk::new(Duration::ZERO),
                pace: Pace::default(),
                seed: 1,
                stamps_ahead: clock::stamps_ahead(),
                tape,
                last_line: None,
                planted: None,
            };
            threads.push(std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(run(setup, Arc::new(Counts::default()), status, stopped)).expect("a node");
            }));
            stops.push(stop);
            clients.push(statuses);
        }
        Cluster { client: clients.swap_remove(1), stops, threads }
    }

    /// How long so many messages there and back take.
    fn time(&mut self, count: u64) -> Duration {
        let wait = || std::thread::yield_now();
        let first = self.client.borrow().steps;
        while self.client.borrow().steps == first {
            wait();
        }
        let (from, began) = (self.client.borrow().steps, Instant::now());
        loop {
            let steps = self.client.borrow().steps;
            if steps >= from + count {
                return began.elapsed().mul_f64(count as f64 / (steps - from) as f64);
            }
            nap();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "whoever measures must not take a core from what is measured")]
fn nap() {
    std::thread::sleep(Duration::from_micros(200));
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for stop in &self.stops {
            // An error means that the node has ended already.
            let _ = stop.send(true);
        }
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// A blocking socket whose other end sends back what it reads, 16 B at a time.
#[expect(clippy::disallowed_methods, reason = "the other end")]
fn raw() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let mut bytes = [0; 1 << 12];
        while let Ok(length @ 1..) = stream.read(&mut bytes) {
            if stream.write_all(&bytes[..length]).is_err() {
                return;
            }
        }
    });
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    stream
}

fn time_raw(stream: &mut TcpStream, window: u64, count: u64) -> Duration {
    let began = Instant::now();
    let mut bytes = vec![0; 16 * window as usize];
    for _ in 0..count.div_ceil(window) {
        stream.write_all(&bytes).expect("a socket");
        stream.read_exact(&mut bytes).expect("a socket");
    }
    began.elapsed()
}

fn loopback(criterion: &mut Criterion) {
    for window in [1, 64] {
        let mut group = criterion.benchmark_group(format!("there and back, {window} in flight"));
        group.throughput(Throughput::Elements(1));
        let mut stream = raw();
        group.bench_function("raw socket", |bench| bench.iter_custom(|count| time_raw(&mut stream, window, count)));
        for (name, taped) in [("host", false), ("host with a tape", true)] {
            let mut cluster = Cluster::start(window as u32, taped);
            group.bench_function(name, |bench| bench.iter_custom(|count| cluster.time(count)));
        }
        group.finish();
    }
}

criterion_group!(benches, loopback);
criterion_main!(benches);
