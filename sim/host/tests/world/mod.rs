//! A world of hosts, in madsim or on this machine's sockets, in which nodes are killed and restarted.

#![allow(dead_code, unreachable_pub, reason = "each test that has this module uses a part of it")]

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use seedbed_host::clock;
use seedbed_host::cluster::{Judged, judge};
use seedbed_host::driver::{Pace, Planted, Setup, Status, run};
use seedbed_host::links::{Counts, Route, Transport};
use seedbed_host::memory::MemoryDisk;
use seedbed_model::tape::{Tape, TapeLine};
use seedbed_model::{NodeId, Protocol};
use tokio::sync::watch;

/// How a campaign goes.
#[derive(Clone)]
pub struct Campaign<P> {
    pub protocol: P,
    pub transport: Transport,
    pub pace: Pace,
    pub planted: Option<Planted>,
    /// How long nodes are killed and restarted, and how long they then are left alone.
    pub active: Duration,
    pub quiet: Duration,
    /// Between two kills, at most; and until the node is back, at most.
    pub kill_every: Duration,
    pub down: Duration,
    /// How long a sync takes.
    pub sync: Duration,
    /// Whether links are cut and nodes paused too, where the world can.
    pub cuts: bool,
}

impl<P: Protocol> Campaign<P> {
    pub fn new(protocol: P) -> Self {
        Campaign {
            protocol,
            transport: Transport::Tcp,
            pace: Pace::default(),
            planted: None,
            active: Duration::from_secs(2),
            quiet: Duration::from_millis(500),
            kill_every: Duration::from_millis(300),
            down: Duration::from_millis(60),
            sync: Duration::from_millis(5),
            cuts: false,
        }
    }
}

/// What a campaign came to.
pub struct Outcome {
    pub judged: Result<Judged, String>,
    pub tapes: Vec<Tape>,
    pub statuses: Vec<Status>,
    /// How a node ended by itself, if one did.
    pub failed: Option<String>,
    pub outdated: u64,
}

impl Outcome {
    /// What went wrong, in words.
    pub fn wrong(&self) -> Option<String> {
        if let Some(failed) = &self.failed {
            return Some(failed.clone());
        }
        match &self.judged {
            Err(why) => Some(why.clone()),
            Ok(judged) => match (judged.fell.first(), &judged.drift) {
                (Some((property, detail)), _) => Some(format!("{property}: {detail}")),
                (None, Some((at, why))) => Some(format!("step {at}: {why}")),
                (None, None) => None,
            },
        }
    }
}

/// The tapes of all nodes.
type Tapes = Arc<Mutex<BTreeMap<String, Vec<TapeLine>>>>;

struct Running {
    stop: watch::Sender<bool>,
    status: watch::Receiver<Status>,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

struct World<P: Protocol> {
    campaign: Campaign<P>,
    seed: u64,
    names: Vec<String>,
    addresses: Vec<SocketAddr>,
    disks: Vec<MemoryDisk>,
    counts: Vec<Arc<Counts>>,
    statuses: Vec<Status>,
    tapes: Tapes,
    running: Vec<Option<Running>>,
    places: Vec<place::Place>,
}

pub async fn campaign<P: Protocol>(campaign: Campaign<P>, seed: u64) -> Outcome {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = move |count: u64| ((u128::from(draws.next_u64()) * u128::from(count)) >> 64) as u64;
    let names = campaign.protocol.nodes();
    let places: Vec<place::Place> = (0..names.len()).map(place::Place::new).collect();
    let mut world = World {
        addresses: place::addresses(names.len()).await,
        disks: names.iter().map(|_| MemoryDisk::new(campaign.sync)).collect(),
        counts: names.iter().map(|_| Arc::default()).collect(),
        statuses: vec![Status::default(); names.len()],
        tapes: Tapes::default(),
        running: names.iter().map(|_| None).collect(),
        places,
        names,
        campaign,
        seed,
    };
    for node in 0..world.names.len() {
        world.start(node);
    }
    let killable: Vec<usize> = (0..world.names.len())
        .filter(|node| world.campaign.protocol.stands_for(NodeId(*node as u16)).is_none())
        .collect();
    let until = clock::now() + world.campaign.active.as_nanos() as u64;
    while clock::now() < until {
        tokio::time::sleep(part(world.campaign.kill_every, &mut draw)).await;
        let node = killable[draw(killable.len() as u64) as usize];
        match if world.campaign.cuts { draw(4) } else { 3 } {
            // One direction of a link; of a TCP connection, that stops what goes the other way too.
            0 => {
                let other = draw(world.names.len() as u64) as usize;
                world.places[node].cut(&world.places[other], true);
                tokio::time::sleep(part(world.campaign.kill_every, &mut draw)).await;
                world.places[node].cut(&world.places[other], false);
                continue;
            }
            1 => {
                world.places[node].pause(true);
                tokio::time::sleep(part(world.campaign.kill_every, &mut draw)).await;
                world.places[node].pause(false);
                continue;
            }
            _ => {}
        }
        world.kill(node, &mut draw).await;
        tokio::time::sleep(part(world.campaign.down, &mut draw)).await;
        world.start(node);
    }
    world.note("healed".into());
    tokio::time::sleep(world.campaign.quiet).await;
    world.end().await
}

fn part(span: Duration, draw: &mut impl FnMut(u64) -> u64) -> Duration {
    Duration::from_nanos(draw(span.as_nanos() as u64 + 1))
}

impl<P: Protocol> World<P> {
    fn start(&mut self, node: usize) {
        let (status, statuses) = watch::channel(Status::default());
        let (stop, stopped) = watch::channel(false);
        let (tapes, name) = (self.tapes.clone(), self.names[node].clone());
        let write = move |line: &TapeLine| {
            tapes.lock().expect("a tape").entry(name.clone()).or_default().push(line.clone());
            Ok(())
        };
        let setup = Setup {
            protocol: self.campaign.protocol.clone(),
            route: Route {
                cluster: 1,
                node: NodeId(node as u16),
                incarnation: 0,
                addresses: self.addresses.clone(),
                transport: self.campaign.transport,
                queue: 256,
            },
            disk: self.disks[node].clone(),
            pace: self.campaign.pace,
            seed: self.seed,
            stamps_ahead: clock::stamps_ahead(),
            tape: Some(Box::new(write)),
            last_line: None,
            planted: self.campaign.planted,
        };
        let task = self.places[node].spawn(run(setup, self.counts[node].clone(), status, stopped));
        self.running[node] = Some(Running { stop, status: statuses, task });
    }

    fn note(&mut self, step: String) {
        let line = TapeLine { at: clock::now(), step, answers: Vec::new(), does: Vec::new(), found: None };
        self.tapes.lock().expect("a tape").entry("cluster".into()).or_default().push(line);
    }

    async fn kill(&mut self, node: usize, draw: &mut impl FnMut(u64) -> u64) {
        let Some(running) = self.running[node].take() else { return };
        add(&mut self.statuses[node], &running.status.borrow());
        self.places[node].kill(running.task).await;
        self.disks[node].crash(draw);
        self.note(format!("crash {}: []", self.names[node]));
    }

    async fn end(mut self) -> Outcome {
        let mut failed = None;
        for node in 0..self.running.len() {
            let Some(running) = self.running[node].take() else { continue };
            let _ = running.stop.send(true);
            if let Ok(Err(why)) = running.task.await {
                failed = failed.or(Some(format!("{}: {why}", self.names[node])));
            }
            add(&mut self.statuses[node], &running.status.borrow());
        }
        let tapes = self.tapes.lock().expect("a tape").clone();
        let tapes: Vec<Tape> = tapes.into_iter().map(|(name, lines)| Tape { name, lines }).collect();
        let judged = judge(&self.campaign.protocol, &tapes);
        let outdated =
            self.counts.iter().map(|counts| counts.outdated.load(std::sync::atomic::Ordering::Relaxed)).sum();
        Outcome { judged, tapes, statuses: self.statuses, failed, outdated }
    }
}

fn add(sum: &mut Status, more: &Status) {
    sum.steps += more.steps;
    sum.invoked += more.invoked;
    sum.answered += more.answered;
    sum.durable += more.durable;
}

/// A world's run, from its seed.
#[cfg(madsim)]
pub fn world<F: Future>(seed: u64, future: F) -> F::Output {
    let mut config = madsim::Config::default();
    config.net.send_latency = Duration::from_millis(1)..Duration::from_millis(40);
    madsim::runtime::Runtime::with_seed_and_config(seed, config).block_on(future)
}

#[cfg(not(madsim))]
pub fn world<F: Future>(_: u64, future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

#[cfg(madsim)]
mod place {
    use super::*;
    use madsim::net::NetSim;
    use madsim::runtime::{Handle, NodeHandle};

    pub struct Place {
        handle: NodeHandle,
    }

    impl Place {
        pub fn new(node: usize) -> Place {
            let ip = std::net::Ipv4Addr::new(10, 0, 0, node as u8 + 1);
            Place { handle: Handle::current().create_node().name(format!("node-{node}")).ip(ip.into()).build() }
        }

        pub fn spawn<F>(&self, future: F) -> tokio::task::JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            // A node that was restarted has a new spawner.
            Handle::current().get_node(self.handle.id()).expect("the node").spawn(future)
        }

        pub async fn kill(&self, _: tokio::task::JoinHandle<std::io::Result<()>>) {
            Handle::current().kill(self.handle.id());
            Handle::current().restart(self.handle.id());
        }

        pub fn pause(&self, pause: bool) {
            match pause {
                true => Handle::current().pause(self.handle.id()),
                false => Handle::current().resume(self.handle.id()),
            }
        }

        pub fn cut(&self, other: &Place, cut: bool) {
            let net = NetSim::current();
            match cut {
                true => net.clog_link(self.handle.id(), other.handle.id()),
                false => net.unclog_link(self.handle.id(), other.handle.id()),
            }
        }
    }

    pub async fn addresses(count: usize) -> Vec<SocketAddr> {
        (0..count).map(|node| (std::net::Ipv4Addr::new(10, 0, 0, node as u8 + 1), 7000).into()).collect()
    }
}

#[cfg(not(madsim))]
mod place {
    use super::*;

    pub struct Place;

    impl Place {
        pub fn new(_: usize) -> Place {
            Place
        }

        pub fn spawn<F>(&self, future: F) -> tokio::task::JoinHandle<F::Output>
        where
            F: Future + Send + 'static,
            F::Output: Send + 'static,
        {
            tokio::spawn(future)
        }

        pub async fn kill(&self, task: tokio::task::JoinHandle<std::io::Result<()>>) {
            task.abort();
            // An error says that it was aborted.
            let _ = task.await;
        }

        pub fn cut(&self, _: &Place, _: bool) {}

        pub fn pause(&self, _: bool) {}
    }

    pub async fn addresses(count: usize) -> Vec<SocketAddr> {
        let mut held = Vec::new();
        for _ in 0..count {
            held.push(tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port"));
        }
        held.iter().map(|listener| listener.local_addr().expect("an address")).collect()
    }
}
