//! The closed loop on madsim: five nodes, each with one request in flight to a random other, 10 ms one way.
//!
//! `seedbed-compare-madsim RUNS PAIRS` does so many fresh runs of so many pairs of messages, and prints how many messages
//! arrived.

use std::net::{Ipv4Addr, SocketAddr};

use madsim::net::Endpoint;
use madsim::rand::Rng;
use madsim::runtime::{Handle, Runtime};
use madsim::time::{Duration, sleep};
use madsim::{Config, rand};

const NODES: u8 = 5;
const REQUEST: u64 = 1;
const ANSWER: u64 = 2;

fn address(node: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(10, 0, 0, node + 1), port).into()
}

async fn serve(node: u8) {
    let endpoint = Endpoint::bind(address(node, 1)).await.expect("the port is free");
    let mut buffer = [0; 8];
    loop {
        let (length, from) = endpoint.recv_from(REQUEST, &mut buffer).await.expect("requests arrive");
        endpoint.send_to(from, ANSWER, &buffer[..length]).await.expect("the asker is there");
    }
}

/// Messages that arrived.
async fn ask(node: u8, pairs: u64) -> u64 {
    // Until all are bound.
    sleep(Duration::from_millis(1)).await;
    let endpoint = Endpoint::bind(address(node, 2)).await.expect("the port is free");
    let mut buffer = [0; 8];
    for count in 0..pairs {
        let peer = (node + 1 + rand::thread_rng().gen_range(0..NODES - 1)) % NODES;
        endpoint.send_to(address(peer, 1), REQUEST, &count.to_le_bytes()).await.expect("the peer is there");
        endpoint.recv_from(ANSWER, &mut buffer).await.expect("answers arrive");
        assert_eq!(u64::from_le_bytes(buffer), count, "answers come one after the other");
    }
    2 * pairs
}

fn run(seed: u64, pairs: u64) -> u64 {
    let mut config = Config::default();
    config.net.send_latency = Duration::from_millis(10)..Duration::from_micros(10_001);
    Runtime::with_seed_and_config(seed, config).block_on(async move {
        let mut clients = Vec::new();
        for index in 0..NODES {
            let node = Handle::current().create_node().ip(address(index, 1).ip()).build();
            node.spawn(serve(index));
            clients.push(node.spawn(ask(index, pairs / u64::from(NODES))));
        }
        let mut messages = 0;
        for client in clients {
            messages += client.await.expect("a client ends");
        }
        messages
    })
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().expect("RUNS PAIRS are numbers"));
    let (runs, pairs): (u64, u64) = numbers.next().zip(numbers.next()).expect("RUNS PAIRS");
    let messages: u64 = (0..runs).map(|seed| run(seed, pairs)).sum();
    println!("runs={runs} messages={messages}");
}
