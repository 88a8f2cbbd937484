//! A search finds the same whatever way it goes about it: in either order, with any number of workers, in one go or
//! taken up again.

use std::io::{self, Write};

use crate::build;
use seedbed_model::Protocol;
use seedbed_model::explore::{
    Aids, Bounds, Clock, Exploration, Frontier, Keeper, Kept, Order, Shelf, Strategy, Verdict, explore, explore_aided,
};
use seedbed_protocols::basics::{lease_timers, paxos};
use seedbed_protocols::seqpair;

fn small_paxos(mutants: &[&str]) -> (paxos::Paxos, Bounds) {
    let params = paxos::Params { servers: 3, clients: 2, rounds: 1, ..Default::default() };
    (build::<paxos::Paxos>(params, mutants), Bounds { clock: Clock::Untimed, ..Bounds::default() })
}

/// Levels of more states than one round expands.
fn crashing_paxos() -> (paxos::Paxos, Bounds) {
    let (protocol, bounds) = small_paxos(&[]);
    (protocol, Bounds { crashes: 1, depth: Some(15), ..bounds })
}

fn leases(mutants: &[&str]) -> (lease_timers::LeaseTimers, Bounds) {
    (build::<lease_timers::LeaseTimers>(Default::default(), mutants), Bounds { capacity: Some(1), ..Bounds::default() })
}

fn pairs(mutants: &[&str]) -> (seqpair::SeqPair, Bounds) {
    let bounds = Bounds { capacity: Some(1), crashes: 1, depth: Some(12), ..Bounds::default() };
    (build::<seqpair::SeqPair>(Default::default(), mutants), bounds)
}

/// All of an exploration but the work that it took.
fn found<P: Protocol>(found: &Exploration<P>) -> impl PartialEq + std::fmt::Debug + use<P> {
    let stats = &found.stats;
    let counts = (stats.unique, stats.total, stats.depth, stats.exhausted, stats.cut);
    (found.verdict.clone(), found.script.clone(), counts, found.reached.clone(), found.unexercised.clone())
}

fn breadth_first(jobs: usize) -> Strategy {
    Strategy { order: Order::BreadthFirst, jobs }
}

fn depth_first(jobs: usize) -> Strategy {
    Strategy { order: Order::DepthFirst, jobs }
}

fn is_the_same_for_any_number_of_workers<P: Protocol>((protocol, bounds): (P, Bounds)) {
    let one = explore(&protocol, &bounds, &breadth_first(1), &mut |_| true).expect("the bounds fit");
    for jobs in [2, 5] {
        let many = explore(&protocol, &bounds, &breadth_first(jobs), &mut |_| true).expect("the bounds fit");
        assert_eq!(found(&many), found(&one), "{jobs} workers");
    }
    if bounds.depth.is_some() {
        return;
    }
    let deep = explore(&protocol, &bounds, &depth_first(1), &mut |_| true).expect("the bounds fit");
    assert_eq!(matches!(deep.verdict, Verdict::Holds), matches!(one.verdict, Verdict::Holds));
    if deep.verdict == Verdict::Holds {
        assert_eq!((deep.stats.unique, deep.stats.total), (one.stats.unique, one.stats.total));
    }
    let many = explore(&protocol, &bounds, &depth_first(2), &mut |_| true).expect("the bounds fit");
    assert_eq!(found(&many), found(&deep), "2 workers, depth first");
}

#[test]
fn workers_change_nothing() {
    is_the_same_for_any_number_of_workers(small_paxos(&[]));
    is_the_same_for_any_number_of_workers(small_paxos(&["ignore-accepted"]));
    is_the_same_for_any_number_of_workers(leases(&[]));
    is_the_same_for_any_number_of_workers(leases(&["no-margin"]));
    is_the_same_for_any_number_of_workers(leases(&["from-receipt"]));
    is_the_same_for_any_number_of_workers(pairs(&[]));
    is_the_same_for_any_number_of_workers(pairs(&["no-nonce"]));
}

/// Keeps everything that is ever saved.
#[derive(Default)]
struct Album {
    saved: Vec<Vec<u8>>,
    is_full: bool,
}

impl Keeper for Album {
    fn is_due(&mut self) -> bool {
        true
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
        if self.is_full {
            return Err("the disk is full".into());
        }
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(|error| error.to_string())?;
        self.saved.push(bytes);
        Ok(())
    }
}

fn resumed<P: Protocol>(protocol: &P, bounds: &Bounds, jobs: usize, bytes: &[u8]) -> Result<Exploration<P>, String> {
    let (mut album, mut from) = (Album::default(), bytes);
    let kept = Kept { subject: "a test", resume: Some(&mut from), keeper: &mut album };
    explore_aided(protocol, bounds, &breadth_first(jobs), kept.into(), &mut |_| true)
}

fn goes_on_from_any_checkpoint<P: Protocol>((protocol, bounds): (P, Bounds)) {
    let mut album = Album::default();
    let kept = Kept { subject: "a test", resume: None, keeper: &mut album };
    let whole =
        explore_aided(&protocol, &bounds, &breadth_first(1), kept.into(), &mut |_| true).expect("the bounds fit");
    assert!(album.saved.len() > 1, "{} checkpoints", album.saved.len());
    let step = album.saved.len().div_ceil(4);
    for (index, bytes) in album.saved.iter().enumerate().step_by(step) {
        let jobs = 1 + index % 2;
        let again = resumed(&protocol, &bounds, jobs, bytes).expect("what was saved is whole");
        assert_eq!(found(&again), found(&whole), "checkpoint {index}, {jobs} workers");
    }
}

#[test]
fn a_search_goes_on_where_it_was_kept() {
    goes_on_from_any_checkpoint(crashing_paxos());
}

/// A shelf that counts.
#[derive(Default)]
struct Shelves {
    put_away: Vec<Vec<u8>>,
    turns: u32,
    is_full: bool,
}

impl Shelf for Shelves {
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.put_away.push(bytes.to_vec());
        Ok(self.put_away.len() as u64 - 1)
    }

    fn get(&mut self, place: u64, count: usize) -> io::Result<Vec<u8>> {
        let bytes = self.put_away[place as usize].clone();
        assert_eq!(bytes.len(), count);
        Ok(bytes)
    }

    fn turn(&mut self) -> io::Result<()> {
        self.turns += 1;
        Ok(())
    }
}

#[test]
fn a_frontier_that_is_put_away_changes_nothing() {
    let (protocol, bounds) = crashing_paxos();
    let whole = explore(&protocol, &bounds, &breadth_first(1), &mut |_| true).expect("the bounds fit");
    for jobs in [1, 2] {
        let (mut shelf, mut album) = (Shelves::default(), Album::default());
        let kept = Some(Kept { subject: "a test", resume: None, keeper: &mut album });
        let aids = Aids { kept, frontier: Some(Frontier { shelf: &mut shelf, bytes: 0 }) };
        let away =
            explore_aided(&protocol, &bounds, &breadth_first(jobs), aids, &mut |_| true).expect("the bounds fit");
        assert_eq!(found(&away), found(&whole), "{jobs} workers");
        assert!(shelf.put_away.len() > 10 && Some(shelf.turns) >= whole.stats.depth, "nothing was put away");
        let middle = &album.saved[album.saved.len() / 2];
        let again = resumed(&protocol, &bounds, jobs, middle).expect("what was saved is whole");
        assert_eq!(found(&again), found(&whole), "a checkpoint of a frontier that is away");
    }
    let mut shelf = Shelves { is_full: true, ..Shelves::default() };
    let aids = Aids { kept: None, frontier: Some(Frontier { shelf: &mut shelf, bytes: 0 }) };
    let full = explore_aided(&protocol, &bounds, &breadth_first(1), aids, &mut |_| true);
    assert!(full.is_err_and(|why| why.starts_with("the frontier: ")), "a full disk is an error");
}

#[test]
fn what_is_damaged_or_of_another_search_is_refused() {
    let (protocol, bounds) = crashing_paxos();
    let mut album = Album::default();
    let kept = Kept { subject: "a test", resume: None, keeper: &mut album };
    explore_aided(&protocol, &bounds, &breadth_first(1), kept.into(), &mut |_| true).expect("the bounds fit");
    let whole = &album.saved[0];
    let why = |bytes: &[u8]| resumed(&protocol, &bounds, 1, bytes).map(drop).expect_err("it is refused");
    assert_eq!(why(b""), "it is no checkpoint: it is too short");
    assert_eq!(why(&[b'x'; 40]), "it is no checkpoint of this version: it does not begin with `seedbed checkpoint 2`");
    let cut = &whole[..whole.len() / 2];
    assert_eq!(why(cut), "it ends in the middle of the search: it is damaged");
    for at in (30..whole.len()).step_by(whole.len() / 23) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert!(resumed(&protocol, &bounds, 1, &damaged).is_err(), "byte {at} changed and nobody noticed");
    }
    assert_eq!(why(&[whole, &b"x"[..]].concat()), "it goes on behind the search: it is damaged");
    let mut from = &whole[..];
    let kept = Kept { subject: "another", resume: Some(&mut from), keeper: &mut Album::default() };
    let other = explore_aided(&protocol, &bounds, &breadth_first(1), kept.into(), &mut |_| true).err();
    assert_eq!(other.as_deref(), Some("it is of another search: it holds a test, and this is another"));
}

#[test]
fn a_search_that_cannot_be_kept_ends_with_the_reason() {
    let (protocol, bounds) = crashing_paxos();
    let mut album = Album { is_full: true, ..Album::default() };
    let kept = Kept { subject: "a test", resume: None, keeper: &mut album };
    let why = explore_aided(&protocol, &bounds, &breadth_first(1), kept.into(), &mut |_| true).err();
    assert_eq!(why.as_deref(), Some("the disk is full"));
}

#[test]
fn a_bound_on_depth_is_refused_depth_first() {
    let (protocol, bounds) = pairs(&[]);
    let why = explore(&protocol, &bounds, &depth_first(1), &mut |_| true).map(drop).expect_err("it is refused");
    assert!(why.starts_with("a bound on depth needs the order breadth-first"), "{why}");
}
