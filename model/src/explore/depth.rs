//! Depth first: the latest states come first, so that few wait.
//!
//! Workers fill the table side by side, and hand each other the oldest of what waits. Each state is expanded
//! once, whoever does it, so counts and verdict do not depend on their number. Which violation is met first does: one
//! that several workers met is searched for again by one.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard};

use super::Progress;
use super::graph::{Edge, Graph};
use super::level::Segment;
use super::search::{Bad, Search, Worker};
use super::sharing::{lock, look};
use super::space::{Row, Space, Successors};
use super::table::{Entered, ROOT, SHARD_COUNT, Shard, Table, shard_of};

/// A worker looks up from its own stack after so many states. Sooner, for one that has nothing to do, is worse: what is given
/// away then is soon worked off, and the two take turns.
const STRIDE: usize = 1 << 8;

/// Most strides are over before who has nothing to do has looked so often.
const LOOK_COUNT: usize = 500;

/// A table of so many states grows by several hands: all workers wait for it.
const SHARED_GROWTH_MIN: usize = 1 << 16;

/// What the workers of a search share.
struct Shared {
    /// Workers read it for a stride at a time, which is to fill it. To write it is to make a shard grow.
    table: RwLock<Table>,
    /// Held by who makes the table grow, and whether somebody wants to: the others then let go and wait, since a lock that
    /// is free for a moment goes to who runs, not to who is being woken.
    growth: Mutex<()>,
    is_growing: AtomicBool,
    states_max: u64,
    unique: AtomicU64,
    total: AtomicU64,
    over: AtomicBool,
    /// Whether somebody has nothing to do, and nothing was left for it yet.
    hungry: AtomicBool,
    stopped: Mutex<Option<String>>,
    heap: Mutex<Heap>,
    wake: Condvar,
}

/// What waits for whoever has nothing to do.
struct Heap {
    segments: Vec<Segment>,
    idle: usize,
    /// Of the idle ones.
    asleep: usize,
    workers: usize,
}

/// What one worker brings back.
#[derive(Default)]
struct Harvest {
    total: u64,
    /// New states and transitions since all were last told: telling them costs a line of memory that every worker writes.
    untold: (u64, u64),
    open: Vec<u32>,
    bad: Option<Bad>,
    graph: Option<Graph>,
    waiting: usize,
}

impl<S: Space> Search<S> {
    pub(super) fn dive(&mut self, watch: &mut dyn FnMut(Progress) -> bool) {
        if self.bad.is_some() {
            return;
        }
        self.dive_together(watch);
        if self.bad.is_some() && self.workers.len() > 1 {
            let space = self.workers[0].space.fork();
            *self = Search::new(space, self.limits, 1);
            self.begin();
            self.dive_together(watch);
        }
    }

    fn dive_together(&mut self, watch: &mut dyn FnMut(Progress) -> bool) {
        let table = std::mem::replace(&mut self.table, Table::new());
        let shared = Shared {
            states_max: self.limits.states,
            unique: AtomicU64::new(table.len() as u64),
            table: RwLock::new(table),
            growth: Mutex::new(()),
            is_growing: AtomicBool::new(false),
            total: AtomicU64::new(self.stats.total),
            over: AtomicBool::new(false),
            hungry: AtomicBool::new(false),
            stopped: Mutex::new(None),
            heap: Mutex::new(Heap {
                segments: std::mem::take(&mut self.first).into_segments().collect(),
                idle: 0,
                asleep: 0,
                workers: self.workers.len(),
            }),
            wake: Condvar::new(),
        };
        let keeps_edges = self.graph.is_some();
        let (first, others) = self.workers.split_first_mut().expect("a search has a worker");
        let harvests: Vec<Harvest> = std::thread::scope(|scope| {
            let shared = &shared;
            let others: Vec<_> = others
                .iter_mut()
                .map(|worker| scope.spawn(move || worker.dive(shared, keeps_edges, &mut |_| true)))
                .collect();
            let own = first.dive(shared, keeps_edges, watch);
            let rest = others.into_iter().map(|other| other.join().expect("a worker does not panic: steps are caught"));
            std::iter::once(own).chain(rest).collect()
        });
        self.stopped = shared.stopped.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.table = shared.table.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = 0;
        for harvest in harvests {
            self.stats.total += harvest.total;
            self.stats.cut |= !harvest.open.is_empty();
            self.open_states.extend(harvest.open);
            waiting += harvest.waiting;
            if let (Some(graph), Some(more)) = (&mut self.graph, harvest.graph) {
                graph.append(more);
            }
            self.bad = self.bad.take().or(harvest.bad);
        }
        self.stats.exhausted = self.bad.is_none() && self.stopped.is_none();
        self.note_memory(waiting);
    }
}

impl<S: Space> Worker<S> {
    fn dive(&mut self, shared: &Shared, keeps_edges: bool, watch: &mut dyn FnMut(Progress) -> bool) -> Harvest {
        let mut harvest = Harvest { graph: keeps_edges.then(Graph::default), ..Harvest::default() };
        let mut found = Successors::in_lanes(1);
        found.keeps_edges = keeps_edges;
        let mut stack = Segment::default();
        let mut cells = Vec::new();
        while let Some(segment) = shared.next(&mut stack) {
            stack = segment;
            self.space.begin(0);
            let mut table = shared.table();
            for _ in 0..STRIDE {
                let Some((weight, state)) = stack.pop(&mut cells) else { break };
                found.clear();
                found.begin(state);
                self.space.expand(Row { cells: &cells, weight }, &*table, &mut found);
                harvest.total += found.total;
                harvest.untold.1 += found.total;
                table = shared.land(table, &found, &mut stack, &mut harvest);
                if found.cut {
                    harvest.open.push(state);
                }
                if let Some(violation) = found.fallen.take() {
                    harvest.bad = Some(Bad { state, violation, in_state: found.fallen_here });
                    shared.finish(None);
                }
                if shared.over.load(Ordering::Relaxed) {
                    return harvest;
                }
                if shared.is_growing.load(Ordering::Relaxed) {
                    break;
                }
            }
            drop(table);
            harvest.waiting = harvest.waiting.max(stack.memory());
            let (unique, total) = std::mem::take(&mut harvest.untold);
            shared.unique.fetch_add(unique, Ordering::Relaxed);
            shared.total.fetch_add(total, Ordering::Relaxed);
            self.look_up(shared, &mut stack, watch);
        }
        harvest
    }

    /// Between two strides: budgets, progress, and something for whoever is idle.
    fn look_up(&self, shared: &Shared, stack: &mut Segment, watch: &mut dyn FnMut(Progress) -> bool) {
        let (unique, total) = (shared.unique.load(Ordering::Relaxed), shared.total.load(Ordering::Relaxed));
        if self.space.misfit().is_some() {
            shared.finish(None);
        }
        if unique > shared.states_max {
            shared.finish(Some(format!("the bound of {} states ran out", shared.states_max)));
        }
        if !watch(Progress { unique, total, depth: None, left: stack.len() as u64 }) {
            shared.finish(Some("the budget ran out".to_owned()));
        }
        let mut heap = lock(&shared.heap);
        // Something lies ready for each before anybody asks: the half of a stack is soon worked off, and waiting is dear.
        if heap.workers > 1 && heap.segments.len() < heap.workers && stack.len() > 1 {
            heap.segments.push(stack.split_oldest());
            shared.hungry.store(false, Ordering::Relaxed);
            if heap.asleep > 0 {
                shared.wake.notify_one();
            }
        }
    }
}

impl Shared {
    fn table(&self) -> RwLockReadGuard<'_, Table> {
        if self.is_growing.load(Ordering::Relaxed) {
            drop(lock(&self.growth));
        }
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to work on: the own stack, or else what another left. `None` once the search is over.
    fn next(&self, stack: &mut Segment) -> Option<Segment> {
        if stack.len() > 0 {
            return Some(std::mem::take(stack));
        }
        let mut heap = lock(&self.heap);
        heap.idle += 1;
        let mut looked = false;
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(segment) = heap.segments.pop() {
                heap.idle -= 1;
                return Some(segment);
            }
            if heap.idle == heap.workers {
                self.over.store(true, Ordering::Relaxed);
                self.wake.notify_all();
                return None;
            }
            self.hungry.store(true, Ordering::Relaxed);
            if looked {
                heap.asleep += 1;
                heap = self.wake.wait(heap).unwrap_or_else(PoisonError::into_inner);
                heap.asleep -= 1;
            } else {
                drop(heap);
                look(LOOK_COUNT, || self.has_news().then_some(()));
                looked = true;
                heap = lock(&self.heap);
            }
        }
    }

    /// Whether something was left for who has nothing to do, or the search is over.
    fn has_news(&self) -> bool {
        !self.hungry.load(Ordering::Relaxed) || self.over.load(Ordering::Relaxed)
    }

    fn finish(&self, why: Option<String>) {
        if why.is_some() {
            let mut stopped = lock(&self.stopped);
            *stopped = stopped.take().or(why);
        }
        let _heap = lock(&self.heap);
        self.over.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// Takes what an expansion found into the table: new states go on the stack.
    fn land<'t>(
        &'t self,
        mut table: RwLockReadGuard<'t, Table>,
        found: &Successors,
        stack: &mut Segment,
        harvest: &mut Harvest,
    ) -> RwLockReadGuard<'t, Table> {
        // All slots are fetched from memory at once: entering a state waits for what was fetched before it.
        let lane = found.only();
        for entry in &lane.entries {
            table.shards[shard_of(entry.fingerprint)].prefetch(entry.fingerprint);
        }
        let mut start = 0;
        for entry in &lane.entries {
            let end = entry.end as usize;
            let shard = shard_of(entry.fingerprint);
            let mut entered = table.shards[shard].enter(entry.fingerprint, entry.from);
            while entered == Entered::Full {
                drop(table);
                self.grow(shard);
                table = self.table();
                entered = table.shards[shard].enter(entry.fingerprint, entry.from);
            }
            if let Entered::New(state) = entered {
                harvest.untold.0 += 1;
                stack.push(Row { cells: &lane.cells[start..end], weight: entry.weight }, state);
            }
            if let Some(graph) = &mut harvest.graph
                && entry.from != ROOT
            {
                let to = table.number(entry.fingerprint);
                graph.edges.push(Edge { from: entry.from, to, action: entry.action });
            }
            start = end;
        }
        if let Some(graph) = &mut harvest.graph {
            graph.note_goals(&lane.entries);
        }
        table
    }

    /// Makes the shard grow, unless another worker just did, and with it all that soon would: to have the table to oneself,
    /// all others must stop.
    fn grow(&self, shard: usize) {
        let _growth = lock(&self.growth);
        self.is_growing.store(true, Ordering::Relaxed);
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        self.is_growing.store(false, Ordering::Relaxed);
        if !table.shards[shard].is_full() {
            return;
        }
        let hands = if table.len() < SHARED_GROWTH_MIN { 1 } else { lock(&self.heap).workers };
        let mut filling: Vec<&mut Shard> = table.shards.iter_mut().filter(|shard| shard.is_filling()).collect();
        std::thread::scope(|scope| {
            let mut shares = filling.chunks_mut(SHARD_COUNT.div_ceil(hands));
            let own = shares.next();
            for share in shares {
                scope.spawn(|| share.iter_mut().for_each(|shard| shard.grow()));
            }
            own.into_iter().flatten().for_each(|shard| shard.grow());
        });
    }
}
