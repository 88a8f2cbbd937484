//! The closed loop on turmoil: five nodes, each with one request in flight to a random other, 10 ms one way.
//!
//! `seedbed-compare-turmoil RUNS PAIRS TICK` does so many fresh runs of so many pairs of messages, in ticks of so many
//! milliseconds, and prints how many messages arrived.

use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use turmoil::net::UdpSocket;

const NODES: u64 = 5;

async fn serve() -> turmoil::Result {
    let socket = UdpSocket::bind("0.0.0.0:1").await?;
    let mut buffer = [0; 8];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await?;
        socket.send_to(&buffer[..length], from).await?;
    }
}

async fn ask(node: u64, seed: u64, pairs: u64) -> turmoil::Result {
    let mut draws = SmallRng::seed_from_u64(seed * NODES + node);
    let socket = UdpSocket::bind("0.0.0.0:2").await?;
    let mut buffer = [0; 8];
    for count in 0..pairs {
        let peer = (node + 1 + draws.random_range(0..NODES - 1)) % NODES;
        socket.send_to(&count.to_le_bytes(), (server(peer), 1)).await?;
        socket.recv_from(&mut buffer).await?;
        assert_eq!(u64::from_le_bytes(buffer), count, "answers come one after the other");
    }
    Ok(())
}

fn server(node: u64) -> String {
    format!("server-{node}")
}

fn run(seed: u64, pairs: u64, tick: Duration) -> u64 {
    let latency = Duration::from_millis(10);
    let mut simulation = turmoil::Builder::new()
        .simulation_duration(Duration::from_secs(1 << 24))
        .tick_duration(tick)
        .rng_seed(seed)
        .min_message_latency(latency)
        .max_message_latency(latency)
        .build();
    for node in 0..NODES {
        simulation.host(server(node), serve);
    }
    for node in 0..NODES {
        simulation.client(format!("client-{node}"), ask(node, seed, pairs / NODES));
    }
    simulation.run().expect("all clients end");
    2 * (pairs / NODES) * NODES
}

fn main() {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|text| text.parse().expect("RUNS PAIRS TICK are numbers")).collect();
    let [runs, pairs, tick] = numbers[..] else { panic!("RUNS PAIRS TICK") };
    let messages: u64 = (0..runs).map(|seed| run(seed, pairs, Duration::from_millis(tick))).sum();
    println!("runs={runs} messages={messages}");
}
