//! `seedbed-compare [--samples N] [CONTEST…]` holds the contests in one sitting and prints their tables; without names,
//! the usual ones.
//!
//! The other verbs are what its children are asked: `search WORK SEARCHER ORDER JOBS`, `simulate RUNS PAIRS`,
//! `meter PROGRAM ARGUMENT…`.

use std::process::ExitCode;

use seedbed_compare::exploring::{Searcher, Work, search};
use seedbed_compare::messages::closed_loop;
use seedbed_compare::meter::{METER, meter};
use seedbed_compare::sitting::{USUAL, contest};
use seedbed_model::explore::{Order, Strategy};

const USAGE: &str = "usage: seedbed-compare [--samples N] [CONTEST...]";

/// Runs of each contender, unless it is said otherwise.
const SAMPLES: usize = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match obey(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("failed to {why}");
            ExitCode::from(2)
        }
    }
}

fn obey(words: &[String]) -> Result<(), String> {
    let rest = words.get(1..).unwrap_or_default();
    match words.first().map(String::as_str) {
        Some(METER) => {
            let (program, arguments) = rest.split_first().ok_or("meter nothing")?;
            println!("{}", meter(program, arguments)?);
        }
        Some("search") => println!("{}", searched(rest).ok_or("search: it needs WORK SEARCHER ORDER JOBS")?),
        Some("simulate") => println!("{}", simulated(rest).ok_or("simulate: it needs RUNS PAIRS")?),
        Some("--samples") => {
            let samples = rest.first().and_then(|text| text.parse().ok()).filter(|samples| *samples > 0);
            sit(&rest[1.min(rest.len())..], samples.ok_or_else(|| format!("read the number of samples: {USAGE}"))?)?;
        }
        Some(flag) if flag.starts_with('-') => return Err(format!("know the flag {flag}: {USAGE}")),
        _ => sit(words, SAMPLES)?,
    }
    Ok(())
}

fn sit(names: &[String], samples: usize) -> Result<(), String> {
    let ourselves = std::env::current_exe().map_err(|why| format!("find this program: {why}"))?;
    let names: Vec<&str> = if names.is_empty() { USUAL.to_vec() } else { names.iter().map(String::as_str).collect() };
    println!("medians of {samples}, in turns, each run a process of its own");
    for name in names {
        println!("\n{}", contest(name, &ourselves)?.hold(&ourselves, samples)?);
    }
    Ok(())
}

fn searched(words: &[String]) -> Option<String> {
    let [work, searcher, order, jobs] = words else { return None };
    let searcher = match &**searcher {
        "stateright" => Searcher::Stateright,
        "adapter" => Searcher::Adapter,
        "seedbed" => Searcher::Contract,
        _ => return None,
    };
    let order = match &**order {
        "bfs" => Order::BreadthFirst,
        "dfs" => Order::DepthFirst,
        _ => return None,
    };
    let seen = search(Work::named(work)?, searcher, Strategy { order, jobs: jobs.parse().ok()? });
    Some(format!("unique={} total={}", seen.unique, seen.total))
}

fn simulated(words: &[String]) -> Option<String> {
    let [runs, pairs] = words else { return None };
    let (runs, pairs): (u64, u64) = (runs.parse().ok()?, pairs.parse().ok()?);
    let messages: u64 = (0..runs).map(|seed| closed_loop(pairs, seed)).sum();
    Some(format!("runs={runs} messages={messages}"))
}
