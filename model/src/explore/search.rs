//! Searching a space: what all orders share.

use std::io::Read;

use super::bits;
use super::breadth::Chunk;
use super::checkpoint::Keeper;
use super::crew::Crew;
use super::frontier::{Frontier, Level};
use super::graph::Graph;
use super::level::Segment;
use super::space::{Claim, ClaimKind, Space, Successors};
use super::strategy::{Order, Strategy};
use super::table::{ROOT, Table, WORKER_COUNT_MAX};
use super::{Progress, Stats};
use crate::property::Violation;

/// How far a search may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// No further than so many steps from the start.
    pub depth: Option<u32>,
    /// Gives up beyond so many unique states.
    pub states: u64,
}

/// What a search of a space found.
pub struct Searched<S> {
    /// How much was seen.
    pub stats: Stats,
    /// The property that fell first.
    pub fall: Option<Fall>,
    /// Which budget ran out.
    pub stopped: Option<String>,
    /// The workers' spaces, the given one first.
    pub spaces: Vec<S>,
    /// The moment at which the search ended; see [`Space::begin`].
    pub moment: u64,
}

/// A property that fell, and the way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fall {
    /// What fell.
    pub violation: Violation,
    /// The fingerprints of the states on the way.
    pub path: Vec<u64>,
    /// Whether the violation is in the last of them; else it is on a transition from it.
    pub in_state: bool,
    /// What then repeats for ever, if it is a run without end that violates: transitions that lead back to the last state
    /// of `path`, or none if nothing that must happen is left to happen there.
    pub cycle: Option<Vec<Turn>>,
}

/// A transition of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The state it leads to.
    pub fingerprint: u64,
    /// What it takes; see [`Successors::act`].
    pub action: u32,
}

/// Searches `space` within `limits`. `watch` is called now and then; `false` ends the search as unknown.
///
/// # Errors
/// If the space makes no sense, or the limits do not fit the order.
pub fn search<S: Space>(
    space: S,
    limits: Limits,
    strategy: &Strategy,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Searched<S>, String> {
    search_aided(space, limits, strategy, Aids::default(), watch)
}

/// Searches as [`search`] does, with what `aids` it.
///
/// # Errors
/// Beside those of [`search`]: if it is aided and its order is not breadth first, if what was kept is not of this search or
/// damaged, or if something could not be kept or put away.
pub fn search_aided<S: Space>(
    space: S,
    limits: Limits,
    strategy: &Strategy,
    aids: Aids<'_>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Searched<S>, String> {
    if aids.frontier.is_some() && strategy.order != Order::BreadthFirst {
        return Err("a frontier on disk needs the order breadth-first: in the others little waits".into());
    }
    if aids.kept.is_some() && strategy.order != Order::BreadthFirst {
        return Err("checkpoints need the order breadth-first".into());
    }
    if strategy.order != Order::BreadthFirst && limits.depth.is_some() {
        return Err(
            "a bound on depth needs the order breadth-first: depth first, a state may be met on a long way first"
                .into(),
        );
    }
    refuse_eventual(strategy.order, &space.claims())?;
    match strategy.order {
        Order::BitState { mebibytes } => return bits::search(space, limits, mebibytes, watch),
        Order::Walks(_) => return Err("walks are of a world: a space has no choices to draw".into()),
        Order::BreadthFirst | Order::DepthFirst => {}
    }
    let mut search = Search::new(space, limits, strategy.jobs.clamp(1, WORKER_COUNT_MAX));
    search.begin();
    match strategy.order {
        Order::BreadthFirst => search.levels(aids, watch)?,
        _ => search.dive(watch),
    }
    match search.workers.iter().find_map(|worker| worker.space.misfit()) {
        Some(why) => Err(why),
        None => Ok(search.finish()),
    }
}

/// Cycles are looked for in the graph that a search breadth first leaves.
pub(super) fn refuse_eventual(order: Order, claims: &[Claim]) -> Result<(), String> {
    match claims.iter().find(|claim| claim.kind != ClaimKind::Reachable) {
        Some(claim) if order != Order::BreadthFirst => {
            Err(format!("`{}` is claimed eventually, which needs the order breadth-first", claim.name))
        }
        _ => Ok(()),
    }
}

/// What helps a search breadth first beyond one process and its memory.
#[derive(Default)]
pub struct Aids<'k> {
    /// How it is kept.
    pub kept: Option<Kept<'k>>,
    /// Where states wait that memory has no room for.
    pub frontier: Option<Frontier<'k>>,
}

impl<'k> From<Kept<'k>> for Aids<'k> {
    fn from(kept: Kept<'k>) -> Self {
        Aids { kept: Some(kept), frontier: None }
    }
}

/// How a search is kept.
pub struct Kept<'k> {
    /// What is searched, in words that no other search shares.
    pub subject: &'k str,
    /// What was kept of it before.
    pub resume: Option<&'k mut dyn Read>,
    /// Where it is kept.
    pub keeper: &'k mut dyn Keeper,
}

/// A state or a transition that a property fell on.
pub(super) struct Bad {
    /// The state, or the one that the transition starts from.
    pub(super) state: u32,
    pub(super) violation: Violation,
    pub(super) in_state: bool,
}

pub(super) struct Worker<S> {
    pub(super) space: S,
    /// What it found in the round.
    pub(super) done: Vec<Chunk>,
    pub(super) spare: Vec<Successors>,
    /// Of the row being expanded.
    pub(super) cells: Vec<u32>,
}

pub(super) struct Search<S> {
    pub(super) workers: Vec<Worker<S>>,
    pub(super) limits: Limits,
    pub(super) table: Table,
    pub(super) graph: Option<Graph>,
    /// States that were not expanded, or whose successors were cut off.
    pub(super) open_states: Vec<u32>,
    pub(super) stats: Stats,
    pub(super) bad: Option<Bad>,
    pub(super) stopped: Option<String>,
    pub(super) moment: u64,
    pub(super) first: Level,
    /// Empty segments, to be used again.
    pub(super) spare: Vec<Segment>,
}

impl<S: Space> Worker<S> {
    pub(super) fn new(space: S) -> Self {
        Worker { space, done: Vec::new(), spare: Vec::new(), cells: Vec::new() }
    }
}

impl<S: Space> Search<S> {
    pub(super) fn new(space: S, limits: Limits, jobs: usize) -> Self {
        let graph = (!space.claims().is_empty()).then(Graph::default);
        let forks: Vec<S> = (1..jobs).map(|_| space.fork()).collect();
        let workers = std::iter::once(space).chain(forks).map(Worker::new).collect();
        Search {
            workers,
            limits,
            table: Table::new(),
            graph,
            open_states: Vec::new(),
            stats: Stats::default(),
            bad: None,
            stopped: None,
            moment: 0,
            first: Level::default(),
            spare: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        let mut found = Successors::in_lanes(self.workers.len());
        found.begin(ROOT);
        self.workers[0].space.begin(0);
        self.workers[0].space.start(&mut found);
        let fallen = found.fallen.take().zip(found.last());
        let mut first = Level::default();
        self.take(&Crew::alone(), vec![Chunk::of(0, found)], &mut first);
        // What falls while a system starts falls in the start that was handed over last.
        self.bad = fallen.map(|(violation, start)| Bad { state: self.table.number(start), violation, in_state: true });
        self.first = first;
    }

    /// Whether the search ends here: a property fell, a budget ran out, or the space makes no sense.
    pub(super) fn is_over(&mut self, left: u64, watch: &mut dyn FnMut(Progress) -> bool) -> bool {
        if self.bad.is_some() || self.workers.iter().any(|worker| worker.space.misfit().is_some()) {
            return true;
        }
        let unique = self.table.len() as u64;
        if unique > self.limits.states {
            self.stopped = Some(format!("the bound of {} states ran out", self.limits.states));
            return true;
        }
        if !watch(Progress { unique, total: self.stats.total, depth: self.stats.depth, left }) {
            self.stopped = Some("the budget ran out".to_owned());
            return true;
        }
        false
    }

    pub(super) fn note_memory(&mut self, waiting: usize) {
        let spaces: usize = self.workers.iter().map(|worker| worker.space.memory()).sum();
        let found: usize = self.workers.iter().flat_map(|worker| &worker.spare).map(Successors::memory).sum();
        let graph = self.graph.as_ref().map_or(0, Graph::memory);
        let spare: usize = self.spare.iter().map(Segment::memory).sum();
        let bytes = self.table.memory() + waiting + spare + spaces + found + graph;
        self.stats.bytes = self.stats.bytes.max(bytes as u64);
    }

    fn finish(mut self) -> Searched<S> {
        self.stats.unique = self.table.len() as u64;
        let mut fall = self.bad.take().map(|bad| Fall {
            path: self.table.path_to(bad.state),
            violation: bad.violation,
            in_state: bad.in_state,
            cycle: None,
        });
        if let (None, true, Some(graph)) = (&fall, self.stats.exhausted, self.graph.take()) {
            fall = graph.judge(&self.table, &self.workers[0].space.claims(), &self.open_states);
        }
        let spaces = self.workers.into_iter().map(|worker| worker.space).collect();
        Searched { stats: self.stats, fall, stopped: self.stopped, spaces, moment: self.moment }
    }
}
