//! Searching a space: what both orders share, and breadth first, with the shortest counterexample.
//!
//! A level is expanded in rounds, a round in chunks. Workers take chunks in any order; what a round found is then taken
//! into the table in the order of the chunks, shard by shard. So numbers, parents and the first violation do not depend
//! on how many workers there are.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::bits;
use super::checkpoint::Keeper;
use super::frontier::{Frontier, Level};
use super::graph::Graph;
use super::level::Segment;
use super::space::{Claim, ClaimKind, Space, Successors};
use super::strategy::{Order, Strategy};
use super::table::{ROOT, SHARD_COUNT, Shard, Table, shard_of};
use super::{Progress, Stats};
use crate::property::Violation;

/// A round expands about so many states, between two calls of `watch`.
const ROUND: usize = 1 << 12;

/// A chunk is at most so many states, and at least so many, if there are as many: an eighth of its level, so that there
/// is something for each worker in a small one too.
const CHUNK: std::ops::RangeInclusive<usize> = 4..=1 << 8;

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
    let mut search = Search::new(space, limits, strategy.jobs.max(1));
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
    done: Vec<Chunk>,
    spare: Vec<Successors>,
    /// Of the row being expanded.
    cells: Vec<u32>,
}

/// What a worker found in a few states.
struct Chunk {
    number: usize,
    found: Successors,
    /// States with a successor that was cut off.
    open: Vec<u32>,
    /// (state, claims owed there).
    owing: Vec<(u32, u32)>,
    bad: Option<Bad>,
}

/// Some rows of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) segment: usize,
    pub(super) start: usize,
    end: usize,
}

/// Some chunks of a level, and what workers may know of the rest.
struct Round<'a> {
    /// The segments of the units, by the number of the first's.
    level: &'a [&'a Segment],
    first: usize,
    units: &'a [Unit],
    table: &'a Table,
    /// Of the first chunk.
    moment: u64,
    keeps_edges: bool,
    /// Whether transitions to states of the table are left out.
    filters: bool,
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
    spare: Vec<Segment>,
}

impl<S: Space> Worker<S> {
    pub(super) fn new(space: S) -> Self {
        Worker { space, done: Vec::new(), spare: Vec::new(), cells: Vec::new() }
    }

    fn expand(&mut self, number: usize, round: &Round<'_>) {
        let unit = round.units[number];
        let segment = round.level[unit.segment - round.first];
        let mut found = self.spare.pop().unwrap_or_default();
        found.clear();
        found.keeps_edges = round.keeps_edges;
        let mut chunk = Chunk { number, found, open: Vec::new(), owing: Vec::new(), bad: None };
        self.space.begin(round.moment + number as u64);
        for at in unit.start..unit.end {
            let found = &mut chunk.found;
            let start = found.entries.len();
            found.begin(segment.state(at));
            self.space.expand(segment.row(at, &mut self.cells), found);
            if found.owed != 0 {
                chunk.owing.push((found.from, found.owed));
            }
            if round.filters {
                found.forget_known(start, |fingerprint| round.table.contains(fingerprint));
            }
            if found.cut {
                chunk.open.push(found.from);
            }
            if let Some(violation) = found.fallen.take() {
                chunk.bad = Some(Bad { state: found.from, violation, in_state: found.fallen_here });
                break;
            }
        }
        self.done.push(chunk);
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
        let mut found = Successors { from: ROOT, ..Successors::default() };
        self.workers[0].space.begin(0);
        self.workers[0].space.start(&mut found);
        let fallen = found.fallen.take().zip(found.entries.last().map(|entry| entry.fingerprint));
        let chunk = Chunk { number: 0, found, open: Vec::new(), owing: Vec::new(), bad: None };
        let mut first = Level::default();
        self.take(vec![chunk], &mut first);
        // What falls while a system starts falls in the start that was handed over last.
        self.bad = fallen.map(|(violation, start)| Bad { state: self.table.number(start), violation, in_state: true });
        self.first = first;
    }

    fn levels(&mut self, mut aids: Aids<'_>, watch: &mut dyn FnMut(Progress) -> bool) -> Result<(), String> {
        let mut level = std::mem::take(&mut self.first);
        let mut next = Level::default();
        if let Some(Kept { subject, resume: Some(from), .. }) = &mut aids.kept {
            (level, next) = self.load(subject, *from)?;
        }
        loop {
            if self.bad.is_some() {
                return Ok(());
            }
            // A search that was kept at the end of a level has the next one alone.
            if level.is_empty() && next.is_empty() {
                self.stats.exhausted = true;
                return Ok(());
            }
            if !level.is_empty() && self.limits.depth.is_some_and(|depth| self.stats.depth >= depth) {
                self.stats.cut = true;
                self.stats.exhausted = true;
                return self.leave_open(&level, aids.frontier.as_mut());
            }
            if !self.expand_level(&mut level, &mut next, &mut aids, watch)? {
                return Ok(());
            }
            if !next.is_empty() {
                self.stats.depth += 1;
            }
            level = std::mem::take(&mut next);
            if let Some(frontier) = &mut aids.frontier {
                frontier.shelf.turn().map_err(|error| format!("the frontier: {error}"))?;
            }
        }
    }

    /// The states of a level that will not be expanded.
    fn leave_open(&mut self, level: &Level, mut frontier: Option<&mut Frontier<'_>>) -> Result<(), String> {
        for at in 0..level.part_count() {
            match level.fetched(at, frontier.as_deref_mut())? {
                Some(segment) => self.open_states.extend(segment.states()),
                None => self.open_states.extend(level.here(at).into_iter().flat_map(Segment::states)),
            }
        }
        Ok(())
    }

    /// False once the search is over.
    fn expand_level(
        &mut self,
        level: &mut Level,
        next: &mut Level,
        aids: &mut Aids<'_>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<bool, String> {
        let mut left = level.len();
        let mut expanded = 0;
        let units: Vec<Unit> = units(level).collect();
        let mut units = units.into_iter().peekable();
        while units.peek().is_some() {
            let mut round = Vec::new();
            let mut count = 0;
            while let Some(unit) = units.next_if(|_| count < ROUND) {
                count += unit.end - unit.start;
                round.push(unit);
            }
            self.expand_round(level, &round, aids.frontier.as_mut())?;
            self.merge(next);
            left -= count as u64;
            // A search that ends here ends at the moment of the chunk that ended it.
            self.moment += if self.bad.is_none() { round.len() as u64 } else { 0 };
            self.note_memory(level.memory() + next.memory());
            // What was expanded makes room for what was found.
            let end = units.peek().map_or(level.part_count(), |unit| unit.segment);
            self.spare.extend((expanded..end).filter_map(|at| level.recycle(at)));
            expanded = end;
            next.spill(aids.frontier.as_mut())?;
            if self.is_over(left + next.len(), watch) {
                return Ok(false);
            }
            if let Some(kept) = &mut aids.kept
                && kept.keeper.is_due()
            {
                let (subject, rest) = (kept.subject, units.peek().copied());
                let frontier = &mut aids.frontier;
                kept.keeper.save(&mut |to| self.save(subject, level, rest, next, frontier.as_mut(), to))?;
            }
        }
        Ok(true)
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

    fn expand_round(
        &mut self,
        level: &Level,
        units: &[Unit],
        mut frontier: Option<&mut Frontier<'_>>,
    ) -> Result<(), String> {
        // What is known already need not travel from one worker to another; a single one asks once, when it lands.
        let filters = self.workers.len() > 1;
        let keeps_edges = self.graph.is_some();
        let (first, last) = (units[0].segment, units[units.len() - 1].segment);
        let fetched = (first..=last).map(|at| level.fetched(at, frontier.as_deref_mut()));
        let fetched: Vec<Option<Segment>> = fetched.collect::<Result<_, _>>()?;
        let segments = fetched.iter().enumerate().map(|(at, fetched)| fetched.as_ref().or(level.here(first + at)));
        let segments: Vec<&Segment> = segments.map(|segment| segment.expect("a part is here or fetched")).collect();
        let (table, moment) = (&self.table, self.moment);
        let round = Round { level: &segments, first, units, table, moment, keeps_edges, filters };
        let next = AtomicUsize::new(0);
        let work = |worker: &mut Worker<S>| loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= units.len() {
                return;
            }
            worker.expand(number, &round);
            if worker.done.last().is_some_and(|chunk| chunk.bad.is_some()) {
                return;
            }
        };
        let busy = self.workers.len().min(units.len());
        let (first, others) = self.workers[..busy].split_first_mut().expect("a round has a chunk, a search a worker");
        std::thread::scope(|scope| {
            for worker in others {
                scope.spawn(|| work(worker));
            }
            work(first);
        });
        Ok(())
    }

    /// Takes what the round found into the table, up to the first violation.
    fn merge(&mut self, next: &mut Level) {
        let mut chunks: Vec<Chunk> = self.workers.iter_mut().flat_map(|worker| worker.done.drain(..)).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.number);
        if let Some(last) = chunks.iter().position(|chunk| chunk.bad.is_some()) {
            chunks.truncate(last + 1);
        }
        self.take(chunks, next);
    }

    fn take(&mut self, mut chunks: Vec<Chunk>, next: &mut Level) {
        let keeps_edges = self.graph.is_some();
        let jobs = self.workers.len().min(chunks.len());
        if jobs < 2 {
            land(&chunks, &mut self.table.shards, keeps_edges);
        } else {
            std::thread::scope(|scope| {
                for shards in self.table.shards.chunks_mut(SHARD_COUNT.div_ceil(jobs)) {
                    scope.spawn(|| land(&chunks, shards, keeps_edges));
                }
            });
        }
        for shard in &mut self.table.shards {
            if shard.fresh.len() > 0 {
                let spare = self.spare.pop().unwrap_or_default();
                next.push(std::mem::replace(&mut shard.fresh, spare));
            }
            if let Some(graph) = &mut self.graph {
                graph.edges.append(&mut shard.edges);
            }
        }
        for chunk in &mut chunks {
            self.stats.total += chunk.found.total;
            self.stats.cut |= !chunk.open.is_empty();
            self.open_states.append(&mut chunk.open);
            if let Some(graph) = &mut self.graph {
                graph.note_goals(&chunk.found.entries);
                graph.owing.append(&mut chunk.owing);
            }
            if let Some(bad) = chunk.bad.take() {
                self.moment += chunk.number as u64;
                self.bad.get_or_insert(bad);
            }
        }
        let worker = &mut self.workers[0];
        worker.spare.extend(chunks.into_iter().map(|chunk| chunk.found));
        self.share_spares();
    }

    fn share_spares(&mut self) {
        let (first, others) = self.workers.split_first_mut().expect("a search has a worker");
        let share = first.spare.len() / (others.len() + 1);
        for worker in others {
            let from = first.spare.len().saturating_sub(share.saturating_sub(worker.spare.len()));
            worker.spare.extend(first.spare.drain(from..));
        }
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

/// The slots of so many transitions are on their way from memory at once.
const AHEAD: usize = 8;

fn land(chunks: &[Chunk], shards: &mut [Shard], keeps_edges: bool) {
    let first = shards[0].number();
    for chunk in chunks {
        let mut start = 0;
        let entries = &chunk.found.entries;
        for (at, entry) in entries.iter().enumerate() {
            if let Some(later) = entries.get(at + AHEAD)
                && let Some(shard) = shards.get(shard_of(later.fingerprint).wrapping_sub(first))
            {
                shard.touch(later.fingerprint);
            }
            let end = entry.end as usize;
            if let Some(shard) = shards.get_mut(shard_of(entry.fingerprint).wrapping_sub(first)) {
                shard.land(entry, &chunk.found.cells[start..end], keeps_edges);
            }
            start = end;
        }
    }
}

fn units(level: &Level) -> impl Iterator<Item = Unit> {
    let chunk = (level.len() as usize / 8).clamp(*CHUNK.start(), *CHUNK.end());
    level.rows().enumerate().flat_map(move |(segment, rows)| {
        (0..rows).step_by(chunk).map(move |start| Unit { segment, start, end: rows.min(start + chunk) })
    })
}
