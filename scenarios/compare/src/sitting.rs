//! What is compared in a sitting, with whom.

use std::path::Path;

use seedbed_model::explore::Order;

use crate::contest::{Contender, Contest, Unit, two_numbers};
use crate::exploring::{Searcher, Work};
use crate::peers;

/// The contests of a sitting that are held unless others are named.
pub const USUAL: [&str; 5] = ["paxos-2", "paxos-3", "two-phase-8", "closed-loop", "fresh-runs"];

/// Pairs of messages of a fresh run.
const FRESH_PAIRS: u64 = 50;

/// The contest of this name: those of [`Work::named`], `closed-loop`, `fresh-runs`.
///
/// # Errors
/// If there is no such contest.
pub fn contest(name: &str, ourselves: &Path) -> Result<Contest, String> {
    let kept = peers::kept_beside(ourselves);
    match name {
        "closed-loop" => Ok(Contest {
            title: "simulate one long closed loop of 5 nodes".into(),
            unit: Unit::Second("messages"),
            contenders: vec![
                peers::madsim(&kept, 1, 400_000),
                peers::turmoil(&kept, 1, 20_000, 1),
                peers::turmoil(&kept, 1, 100_000, 10),
                Ok(simulator(ourselves, 1, 5_000_000)),
            ],
            twice: None,
        }),
        "fresh-runs" => Ok(Contest {
            title: format!("simulate fresh runs of {FRESH_PAIRS} pairs of messages in the closed loop"),
            unit: Unit::First("runs"),
            contenders: vec![
                peers::madsim(&kept, 4_000, FRESH_PAIRS),
                peers::turmoil(&kept, 300, FRESH_PAIRS, 1),
                peers::turmoil(&kept, 1_000, FRESH_PAIRS, 10),
                Ok(simulator(ourselves, 100_000, FRESH_PAIRS)),
            ],
            twice: None,
        }),
        _ => match Work::named(name) {
            Some(work) => Ok(searches(name, work, ourselves)),
            None => Err(format!(
                "compare `{name}`: there is {}, and paxos-N, abd-N, two-phase-N of other sizes",
                USUAL.join(", ")
            )),
        },
    }
}

fn simulator(ourselves: &Path, runs: u64, pairs: u64) -> Contender {
    let arguments = vec!["simulate".into(), runs.to_string(), pairs.to_string()];
    let program = ourselves.to_path_buf();
    Contender { name: "seedbed".into(), is_peer: false, program, arguments, done: two_numbers }
}

fn searches(name: &str, work: Work, ourselves: &Path) -> Contest {
    let mut contenders = Vec::new();
    for searcher in [Searcher::Stateright, Searcher::Adapter, Searcher::Contract] {
        if searcher == Searcher::Contract && !work.has_contract() {
            continue;
        }
        for order in orders(work, searcher) {
            contenders.extend([1, 2].map(|jobs| Ok(search(name, searcher, order, jobs, ourselves))));
        }
    }
    if work == Work::TwoPhaseCommit(8) {
        contenders.push(peers::spin_two_phase(&peers::kept_beside(ourselves)));
    }
    Contest { title: format!("explore {name}"), unit: Unit::Work, contenders, twice: Some("adapter-bfs-1") }
}

/// Breadth first, stateright keeps the states of two levels whole: of the large register more than most machines hold.
fn orders(work: Work, searcher: Searcher) -> Vec<Order> {
    match (work, searcher) {
        (Work::Abd(2..), Searcher::Stateright) => vec![Order::DepthFirst],
        _ => vec![Order::BreadthFirst, Order::DepthFirst],
    }
}

fn search(name: &str, searcher: Searcher, order: Order, jobs: usize, ourselves: &Path) -> Contender {
    let who = match searcher {
        Searcher::Stateright => "stateright",
        Searcher::Adapter => "adapter",
        Searcher::Contract => "seedbed",
    };
    let order = if order == Order::BreadthFirst { "bfs" } else { "dfs" };
    let arguments = ["search", name, who, order, &jobs.to_string()].map(str::to_owned).to_vec();
    Contender {
        name: format!("{who}-{order}-{jobs}"),
        is_peer: searcher == Searcher::Stateright,
        program: ourselves.to_path_buf(),
        arguments,
        done: two_numbers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contest_that_there_is_not_is_refused() {
        let why = contest("raft-3", Path::new("compare")).expect_err("there is no such contest");
        assert!(why.starts_with("compare `raft-3`: there is paxos-2"), "{why}");
    }

    #[test]
    fn stateright_is_first_in_a_search() {
        let contest = contest("paxos-2", Path::new("compare")).expect("there is such a contest");
        let names: Vec<&str> = contest.contenders.iter().flatten().map(|contender| &*contender.name).collect();
        assert_eq!((names[0], names.len()), ("stateright-bfs-1", 12));
        assert!(contest.twice.is_some_and(|name| names.contains(&name)), "one of them is run twice at once");
    }
}
