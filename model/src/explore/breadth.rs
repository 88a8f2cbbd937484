//! Breadth first, with the shortest counterexample.
//!
//! A level is expanded in rounds, a round in chunks. Workers take chunks in any order; what a round found is then taken
//! into the table in the order of the chunks, shard by shard. So numbers, parents and the first violation do not depend
//! on how many workers there are. Each state found lies in the lane of the worker that will take it: it alone reads it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Progress;
use super::crew::{Crew, Task};
use super::frontier::{Frontier, Level};
use super::level::Segment;
use super::search::{Aids, Bad, Kept, Search, Worker};
use super::space::{Lane, Space, Successors};
use super::table::{Shard, Table, shard_of};

/// A round expands about so many states, between two calls of `watch`.
const ROUND: usize = 1 << 14;

/// A chunk is at most so many states, and at least so many, if there are as many: an eighth of its level, so that there
/// is something for each worker in a small one too.
const CHUNK: std::ops::RangeInclusive<usize> = 4..=1 << 8;

/// What a worker found in a few states.
pub(super) struct Chunk {
    number: usize,
    found: Successors,
    /// States with a successor that was cut off.
    open: Vec<u32>,
    /// (state, claims owed there).
    owing: Vec<(u32, u32)>,
    bad: Option<Bad>,
}

impl Chunk {
    pub(super) fn of(number: usize, found: Successors) -> Self {
        Chunk { number, found, open: Vec::new(), owing: Vec::new(), bad: None }
    }
}

/// Some rows of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub(super) segment: usize,
    pub(super) start: usize,
    end: usize,
}

/// Some chunks of a level.
struct Round {
    /// The segments of the units, by the number of the first's.
    level: Vec<Arc<Segment>>,
    first: usize,
    units: Vec<Unit>,
    /// As it was before the round.
    table: Table,
    /// The first unit that no worker has taken.
    next: AtomicUsize,
    /// Of the first chunk.
    moment: u64,
    keeps_edges: bool,
    /// Of what is found.
    lanes: usize,
}

impl<S: Space> Worker<S> {
    /// Expands units until none is left, or a property falls.
    fn work_on(&mut self, round: &Round) {
        loop {
            let number = round.next.fetch_add(1, Ordering::Relaxed);
            if number >= round.units.len() {
                return;
            }
            self.expand(number, round);
            if self.done.last().is_some_and(|chunk| chunk.bad.is_some()) {
                return;
            }
        }
    }

    fn expand(&mut self, number: usize, round: &Round) {
        let unit = round.units[number];
        let segment = &round.level[unit.segment - round.first];
        let mut found = self.spare.pop().unwrap_or_else(|| Successors::in_lanes(round.lanes));
        found.clear();
        found.keeps_edges = round.keeps_edges;
        let mut chunk = Chunk::of(number, found);
        self.space.begin(round.moment + number as u64);
        for at in unit.start..unit.end {
            let found = &mut chunk.found;
            found.begin(segment.state(at));
            self.space.expand(segment.row(at, &mut self.cells), &round.table, found);
            if found.owed != 0 {
                chunk.owing.push((found.from, found.owed));
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

impl<'env, S: Space + 'env> Search<S> {
    pub(super) fn levels(&mut self, aids: Aids<'_>, watch: &mut dyn FnMut(Progress) -> bool) -> Result<(), String> {
        std::thread::scope(|scope| self.levels_with(&Crew::new(scope, self.workers.len()), aids, watch))
    }

    fn levels_with(
        &mut self,
        crew: &Crew<'env>,
        mut aids: Aids<'_>,
        watch: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<(), String> {
        let mut level = std::mem::take(&mut self.first);
        let mut next = Level::default();
        if let Some(Kept { subject, resume: Some(from), .. }) = &mut aids.kept {
            (level, next) = self.load(subject, *from)?;
        }
        let mut depth = *self.stats.depth.get_or_insert(0);
        loop {
            if self.bad.is_some() {
                return Ok(());
            }
            // A search that was kept at the end of a level has the next one alone.
            if level.is_empty() && next.is_empty() {
                self.stats.exhausted = true;
                return Ok(());
            }
            if !level.is_empty() && self.limits.depth.is_some_and(|most| depth >= most) {
                self.stats.cut = true;
                self.stats.exhausted = true;
                return self.leave_open(&level, aids.frontier.as_mut());
            }
            if !self.expand_level(crew, &mut level, &mut next, &mut aids, watch)? {
                return Ok(());
            }
            if !next.is_empty() {
                depth += 1;
                self.stats.depth = Some(depth);
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
            self.open_states.extend(level.part(at, frontier.as_deref_mut())?.states());
        }
        Ok(())
    }

    /// False once the search is over.
    fn expand_level(
        &mut self,
        crew: &Crew<'env>,
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
            self.expand_round(crew, level, &round, aids.frontier.as_mut())?;
            self.merge(crew, next);
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

    fn expand_round(
        &mut self,
        crew: &Crew<'env>,
        level: &Level,
        units: &[Unit],
        mut frontier: Option<&mut Frontier<'_>>,
    ) -> Result<(), String> {
        let (first, last) = (units[0].segment, units[units.len() - 1].segment);
        let parts = (first..=last).map(|at| level.part(at, frontier.as_deref_mut()));
        let parts = parts.collect::<Result<_, _>>()?;
        let round = Arc::new(Round {
            level: parts,
            first,
            units: units.to_vec(),
            table: std::mem::take(&mut self.table),
            next: AtomicUsize::new(0),
            moment: self.moment,
            keeps_edges: self.graph.is_some(),
            lanes: self.workers.len(),
        });
        let idle = self.workers.split_off(self.workers.len().min(units.len()));
        let tasks = self.workers.drain(..).map(|mut worker| -> Task<'env, Worker<S>> {
            let round = Arc::clone(&round);
            Box::new(move || {
                worker.work_on(&round);
                worker
            })
        });
        self.workers = crew.together(tasks);
        self.workers.extend(idle);
        self.table = Arc::into_inner(round).expect("every task has let go of the round").table;
        Ok(())
    }

    /// Takes what the round found into the table, up to the first violation.
    fn merge(&mut self, crew: &Crew<'env>, next: &mut Level) {
        let mut chunks: Vec<Chunk> = self.workers.iter_mut().flat_map(|worker| worker.done.drain(..)).collect();
        in_order(&mut chunks);
        if let Some(last) = chunks.iter().position(|chunk| chunk.bad.is_some()) {
            chunks.truncate(last + 1);
        }
        self.take(crew, chunks, next);
    }

    pub(super) fn take(&mut self, crew: &Crew<'env>, chunks: Vec<Chunk>, next: &mut Level) {
        let keeps_edges = self.graph.is_some();
        let Some(counts) = chunks.first().map(|chunk| chunk.found.shares()) else { return };
        let shared = Arc::new(chunks);
        let mut shards = self.table.shards.drain(..);
        let shares: Vec<Vec<Shard>> = counts.iter().map(|count| shards.by_ref().take(*count).collect()).collect();
        drop(shards);
        let tasks = shares.into_iter().enumerate().map(|(lane, mut share)| -> Task<'env, Vec<Shard>> {
            let chunks = Arc::clone(&shared);
            Box::new(move || {
                land(chunks.iter().map(|chunk| &chunk.found.lanes[lane]), &mut share, keeps_edges);
                share
            })
        });
        self.table.shards = crew.together(tasks).into_iter().flatten().collect();
        let mut chunks = Arc::into_inner(shared).expect("every task has let go of the chunks");
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
                chunk.found.lanes.iter().for_each(|lane| graph.note_goals(&lane.entries));
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
}

/// The slots of so many transitions are fetched from memory at once.
const BATCH: usize = 32;

fn land<'l>(lanes: impl Iterator<Item = &'l Lane>, shards: &mut [Shard], keeps_edges: bool) {
    let first = shards[0].number();
    for lane in lanes {
        let mut start = 0;
        for batch in lane.entries.chunks(BATCH) {
            for entry in batch {
                shards[shard_of(entry.fingerprint) - first].prefetch(entry.fingerprint);
            }
            for entry in batch {
                let end = entry.end as usize;
                shards[shard_of(entry.fingerprint) - first].land(entry, &lane.cells[start..end], keeps_edges);
                start = end;
            }
        }
    }
}

fn units(level: &Level) -> impl Iterator<Item = Unit> {
    let chunk = (level.len() as usize / 8).clamp(*CHUNK.start(), *CHUNK.end());
    level.rows().enumerate().flat_map(move |(segment, rows)| {
        (0..rows).step_by(chunk).map(move |start| Unit { segment, start, end: rows.min(start + chunk) })
    })
}

fn in_order(chunks: &mut [Chunk]) {
    chunks.sort_unstable_by_key(|chunk| chunk.number);
}
