//! Probe.
#![allow(clippy::disallowed_types)]
use seedbed_compare::ours::{paxos, register::Register};
use seedbed_model::explore::*;
fn main() {
    let clients: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let jobs = std::env::args().nth(2).unwrap().parse().unwrap();
    let order = if std::env::args().nth(3).is_some() { Order::DepthFirst } else { Order::BreadthFirst };
    let t = std::time::Instant::now();
    if std::env::args().nth(3).as_deref() == Some("sr") { println!("{:?} {:?}", seedbed_compare::exploring::by_stateright(clients.into()), t.elapsed()); return; }
    let e = explore(&paxos::register(clients), &Register::<paxos::Paxos>::bounds(), &Strategy { order, jobs }, &mut |_| true).unwrap();
    println!("{:?} {:?} {:?}", e.verdict, e.stats, t.elapsed());
}
