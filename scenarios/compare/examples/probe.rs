//! One search of Paxos, timed: for profiling.
#![allow(clippy::disallowed_types)]
use seedbed_compare::exploring::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_default();
    let clients: u16 = args.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    let jobs = args.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let started = std::time::Instant::now();
    let seen = match what.as_str() {
        "stateright" => by_stateright(clients.into(), jobs),
        "stateright-dfs" => by_stateright_depth_first(clients.into(), jobs),
        "adapter" => by_adapter(clients.into(), breadth_first(jobs)),
        "adapter-dfs" => by_adapter(clients.into(), depth_first(jobs)),
        "dfs" => by_seedbed(clients, depth_first(jobs)),
        _ => by_seedbed(clients, breadth_first(jobs)),
    };
    println!("{what} {seen:?} {:?}", started.elapsed());
}
