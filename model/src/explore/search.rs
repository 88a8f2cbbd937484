//! Breadth first, with the shortest counterexample.

use super::bounds::Clock;
use super::canonize::{fingerprint, permutations};
use super::interned::{Faults, Initial, Interned, Odometer, Work, initial};
use super::pool::Id;
use super::table::{Landings, Table};
use super::{Bounds, Exploration, Progress, Stats, Verdict, report};
use crate::canonical::Canonical;
use crate::host::{Local, Phase};
use crate::name::NodeId;
use crate::property::Violation;
use crate::protocol::Protocol;
use crate::script::{Script, ScriptStep};
use crate::time::{Shifting, Span};
use crate::world::{Choice, Named, Store, apply};

/// States are expanded in batches of this many between two calls of `watch`.
const WATCH_EVERY: u32 = 1 << 12;

/// The choices as the interned store names them.
pub(super) type Pick = Choice<Id, u32>;

/// A queue of rows, flat.
#[derive(Default)]
struct Level {
    cells: Vec<Id>,
    /// Per row: where it ends, and its weight.
    rows: Vec<(u64, u64)>,
}

impl Level {
    fn push(&mut self, work: &mut Work) {
        work.flights.sort_unstable();
        self.cells.extend_from_slice(&work.fixed);
        self.cells.extend_from_slice(&work.flights);
        self.rows.push((self.cells.len() as u64, work.weight));
    }

    fn load(&self, index: usize, fixed: usize, work: &mut Work) {
        let start = if index == 0 { 0 } else { self.rows[index - 1].0 as usize };
        let (end, weight) = self.rows[index];
        work.fixed.clear();
        work.fixed.extend_from_slice(&self.cells[start..start + fixed]);
        work.flights.clear();
        work.flights.extend_from_slice(&self.cells[start + fixed..end as usize]);
        work.weight = weight;
        work.tags_changed = false;
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.rows.clear();
    }

    fn memory(&self) -> usize {
        self.cells.capacity() * 4 + self.rows.capacity() * 16
    }
}

/// An interned store that walks from row to row.
pub(super) struct Walker<P: Protocol> {
    pub(super) store: Interned<P>,
    pub(super) initial: Vec<Initial>,
    permutations: Vec<Vec<NodeId>>,
    ranked: bool,
    other: Work,
    least: Work,
}

/// What became of one way to take a choice.
pub(super) struct Landed {
    /// Of the canonical row; meaningless if a property fell.
    pub(super) fingerprint: u64,
    /// Whether a bound on tags cuts the state off.
    pub(super) cut: bool,
}

impl<P: Protocol> Walker<P> {
    pub(super) fn new(protocol: &P, bounds: &Bounds) -> Result<Self, String> {
        let (store, initial) = initial(protocol, bounds)?;
        let permutations = if bounds.symmetry { permutations(protocol) } else { Vec::new() };
        Ok(Walker {
            store,
            initial,
            permutations,
            ranked: protocol.tags_are_ranked(),
            other: Work::default(),
            least: Work::default(),
        })
    }

    /// Turns the row being worked on into its canonical form.
    pub(super) fn canonize(&mut self) -> Landed {
        let store = &mut self.store;
        store.drop_dead(true);
        if store.keeps_names {
            store.saturate_stamps();
        }
        if self.ranked {
            store.rank_tags();
        }
        let cut = store.bounds.tag_max.is_some_and(|most| store.has_tag_beyond(most));
        let fingerprint = if self.permutations.is_empty() {
            fingerprint(store.work.weight)
        } else {
            store.choose_symmetric(&self.permutations, &mut self.other, &mut self.least)
        };
        Landed { fingerprint, cut }
    }

    /// Everything that can happen in the row being worked on.
    pub(super) fn options(&mut self, out: &mut Vec<Pick>) {
        out.clear();
        self.deliveries(out);
        let Faults { crashes, pauses, .. } = *self.store.faults();
        for node in self.store.layout.node_ids() {
            self.local_options(node, crashes, pauses, out);
        }
        self.link_options(out);
        if self.store.bounds.clock == Clock::Digital && !self.store.is_urgent() {
            out.push(Choice::Elapse(self.store.bounds.tick));
        }
    }

    fn deliveries(&mut self, out: &mut Vec<Pick>) {
        let store = &self.store;
        let faults = store.faults();
        let mut before = None;
        // Rows in a queue are sorted; those of a walk need not be.
        for &flight in &store.work.flights {
            if before == Some(flight) {
                continue;
            }
            before = Some(flight);
            let info = store.flight(flight);
            let phase = store.phase(info.to);
            if phase != Phase::Paused {
                out.push(Choice::Deliver(flight));
            }
            if faults.duplicates > 0 && phase == Phase::Up {
                out.push(Choice::Duplicate(flight));
            }
            if faults.losses > 0 {
                out.push(Choice::Lose(flight));
            }
        }
    }

    fn local_options(&mut self, node: NodeId, crashes: u32, pauses: u32, out: &mut Vec<Pick>) {
        let store = &mut self.store;
        let phase = store.phase(node);
        if phase == Phase::Up {
            out.extend(store.firings(node).iter().map(|local| Choice::At(node, *local)));
            out.extend(store.syncs(node).iter().map(|local| Choice::At(node, *local)));
            out.extend(store.invocation(node).map(|local| Choice::At(node, local)));
            for at in store.decisions(node) {
                out.push(Choice::At(node, store.offered(at)));
            }
        }
        if phase != Phase::Down && crashes > 0 {
            out.extend(store.crashes(node).iter().map(|local| Choice::At(node, *local)));
        }
        let simple = match phase {
            Phase::Up if pauses > 0 => Local::Pause,
            Phase::Paused => Local::Resume,
            Phase::Down if store.bounds.restart => Local::Restart,
            Phase::Up | Phase::Down => return,
        };
        let local = store.local_index(node, simple);
        out.push(Choice::At(node, local));
    }

    fn link_options(&mut self, out: &mut Vec<Pick>) {
        if self.store.bounds.cuts == 0 {
            return;
        }
        let faults = self.store.faults();
        for from in self.store.layout.node_ids() {
            for to in self.store.layout.node_ids().filter(|to| *to != from) {
                if faults.cut.contains(&(from, to)) {
                    out.push(Choice::Heal(from, to));
                } else if faults.cuts > 0 {
                    out.push(Choice::Cut(from, to));
                }
            }
        }
    }

    /// Takes `pick` in the row being worked on, the way the odometer says, and pays for it.
    pub(super) fn take(&mut self, pick: &Pick) {
        let store = &mut self.store;
        match pick {
            Choice::Duplicate(_) => store.change_faults(|faults| faults.duplicates -= 1),
            Choice::Lose(_) => store.change_faults(|faults| faults.losses -= 1),
            Choice::Cut(..) => store.change_faults(|faults| faults.cuts -= 1),
            Choice::At(_, local) => match store.local_of(*local).1 {
                Local::Crash(_) => store.change_faults(|faults| faults.crashes -= 1),
                Local::Pause => store.change_faults(|faults| faults.pauses -= 1),
                _ => {}
            },
            Choice::Deliver(_) | Choice::Heal(..) | Choice::Elapse(_) => {}
        }
        let applied = apply(store, pick);
        debug_assert!(applied.is_ok(), "an option was refused: {applied:?}");
    }

    /// The choice by what it is about, `elapsed` after the start: its stamps are then those of a plain world.
    pub(super) fn named(&self, pick: &Pick, elapsed: Span) -> Named<P> {
        let mut named = match pick {
            Choice::Deliver(flight) => Choice::Deliver(self.store.envelope(*flight)),
            Choice::Duplicate(flight) => Choice::Duplicate(self.store.envelope(*flight)),
            Choice::Lose(flight) => Choice::Lose(self.store.envelope(*flight)),
            Choice::At(node, local) => Choice::At(*node, self.store.local_of(*local).1.clone()),
            Choice::Cut(from, to) => Choice::Cut(*from, *to),
            Choice::Heal(from, to) => Choice::Heal(*from, *to),
            Choice::Elapse(span) => Choice::Elapse(*span),
        };
        named.rename(&mut Shifting { span: -(elapsed.0 as i64), floor: i64::MIN });
        named
    }

    /// A script without steps yet, for a walk from the initial row `start`.
    pub(super) fn script_from(&self, start: &Work, starts: Vec<u32>) -> Script<P> {
        let bounds = &self.store.bounds;
        let offsets = self.store.offsets(start);
        Script { tick: bounds.tick, untimed: bounds.clock == Clock::Untimed, offsets, starts, steps: Vec::new() }
    }

    /// The script steps of the way just taken: the choice, and the losses of links that were full.
    pub(super) fn script_steps(&self, named: Named<P>, elapsed: Span) -> Vec<ScriptStep<P>> {
        let first = ScriptStep { choice: named, answers: self.store.taken.answers.clone() };
        let lost = self
            .store
            .taken
            .overflowed
            .iter()
            .map(|flight| ScriptStep { choice: self.named(&Choice::Lose(*flight), elapsed), answers: Vec::new() });
        std::iter::once(first).chain(lost).collect()
    }
}

/// A transition that a property fell on, or a state that a goal is cut off from.
struct Bad {
    /// The state it starts from.
    state: u32,
    violation: Violation,
    /// Whether the violation is in the state itself.
    in_state: bool,
}

/// Whether a path is walked over rows whose names are kept, so that its script runs in a plain world.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    AsTheyAre,
    Renamed,
}

struct Search<'p, P: Protocol> {
    protocol: &'p P,
    bounds: &'p Bounds,
    walker: Walker<P>,
    table: Table,
    landings: Landings,
    parents: Vec<u32>,
    level: Level,
    next: Level,
    /// (from, to) of every transition, kept where a `reachable always` property asks for it.
    edges: Option<Vec<(u32, u32)>>,
    /// (state, goals) of transitions that reach goals.
    goals: Vec<(u32, u32)>,
    /// States that were not expanded, or whose successors were cut off.
    open_states: Vec<u32>,
    stats: Stats,
    bad: Option<Bad>,
    stopped: Option<String>,
}

const ROOT: u32 = u32::MAX;

pub(super) fn run<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    let walker = Walker::new(protocol, bounds)?;
    let keeps_edges = !walker.store.goal_names().is_empty();
    let mut search = Search {
        protocol,
        bounds,
        walker,
        table: Table::new(),
        landings: Landings::new(),
        parents: Vec::new(),
        level: Level::default(),
        next: Level::default(),
        edges: keeps_edges.then(Vec::new),
        goals: Vec::new(),
        open_states: Vec::new(),
        stats: Stats::default(),
        bad: None,
        stopped: None,
    };
    search.begin();
    search.levels(watch);
    match search.walker.store.misfit.take() {
        Some(why) => Err(why),
        None => Ok(search.finish()),
    }
}

impl<P: Protocol> Search<'_, P> {
    fn begin(&mut self) {
        for initial in self.walker.initial.clone() {
            self.walker.store.reset(&initial.row);
            self.walker.store.work.tags_changed = true;
            let landed = self.walker.canonize();
            self.stats.total += 1;
            if self.table.insert(landed.fingerprint).is_none() {
                self.parents.push(ROOT);
                self.next.push(&mut self.walker.store.work);
            }
        }
    }

    fn levels(&mut self, watch: &mut dyn FnMut(Progress) -> bool) {
        let mut first_index = 0u32;
        loop {
            std::mem::swap(&mut self.level, &mut self.next);
            self.next.clear();
            if self.level.len() == 0 {
                self.stats.exhausted = true;
                return;
            }
            if self.bounds.depth.is_some_and(|depth| self.stats.depth >= depth) {
                self.stats.cut = true;
                self.stats.exhausted = true;
                self.open_states.extend(first_index..first_index + self.level.len() as u32);
                return;
            }
            if !self.expand_level(first_index, watch) {
                return;
            }
            if self.next.len() > 0 {
                self.stats.depth += 1;
            }
            first_index += self.level.len() as u32;
        }
    }

    /// False once the search is over.
    fn expand_level(&mut self, first_index: u32, watch: &mut dyn FnMut(Progress) -> bool) -> bool {
        let mut row = Work::default();
        let mut options = Vec::new();
        let fixed = self.walker.store.layout.fixed;
        let count = self.level.len() as u32;
        for offset in 0..count {
            self.level.load(offset as usize, fixed, &mut row);
            self.expand(first_index + offset, &row, &mut options);
            if self.bad.is_some() || self.walker.store.misfit.is_some() {
                return false;
            }
            if self.table.len() as u64 > self.bounds.states {
                self.stopped = Some(format!("the bound of {} states ran out", self.bounds.states));
                return false;
            }
            if offset % WATCH_EVERY == WATCH_EVERY - 1 || offset + 1 == count {
                self.note_memory();
                let progress = Progress {
                    unique: self.table.len() as u64,
                    total: self.stats.total,
                    depth: self.stats.depth,
                    left: u64::from(count - offset - 1) + self.next.len() as u64,
                };
                if !watch(progress) {
                    self.stopped = Some("the budget ran out".to_owned());
                    return false;
                }
            }
        }
        true
    }

    fn note_memory(&mut self) {
        let edges = self.edges.as_ref().map_or(0, |edges| edges.capacity() * 8);
        let bytes = self.table.memory()
            + self.landings.memory()
            + self.parents.capacity() * 4
            + self.level.memory()
            + self.next.memory()
            + edges;
        self.stats.bytes = self.stats.bytes.max((bytes + self.walker.store.pool.memory()) as u64);
    }

    fn expand(&mut self, index: u32, row: &Work, options: &mut Vec<Pick>) {
        self.walker.store.reset(row);
        self.walker.options(options);
        let mut cut = false;
        for pick in options.iter() {
            loop {
                self.walker.store.reset(row);
                self.walker.take(pick);
                self.stats.total += 1;
                cut |= self.land(index);
                if !self.walker.store.odometer.advance() {
                    break;
                }
                if self.bad.is_some() {
                    return;
                }
            }
            if self.bad.is_some() {
                return;
            }
        }
        if cut {
            self.stats.cut = true;
            self.open_states.push(index);
        }
    }

    /// Whether the successor was cut off.
    #[inline]
    fn land(&mut self, from: u32) -> bool {
        if let Some(violation) = self.walker.store.taken.violation.take() {
            self.bad = Some(Bad { state: from, violation, in_state: false });
            return false;
        }
        let goals = self.walker.store.taken.goals;
        let raw = fingerprint(self.walker.store.work.weight);
        let to = match self.landings.find(raw) {
            Some(known) => known,
            None => {
                let landed = self.walker.canonize();
                if landed.cut {
                    return true;
                }
                let to = self.insert(from, landed.fingerprint);
                self.landings.note(raw, to);
                to
            }
        };
        if let Some(edges) = &mut self.edges {
            edges.push((from, to));
            if goals != 0 {
                self.goals.push((from, goals));
            }
        }
        false
    }

    #[inline]
    fn insert(&mut self, from: u32, fingerprint: u64) -> u32 {
        match self.table.insert(fingerprint) {
            Some(known) => known,
            None => {
                self.parents.push(from);
                self.next.push(&mut self.walker.store.work);
                self.table.len() as u32 - 1
            }
        }
    }

    fn finish(mut self) -> Exploration<P> {
        self.note_memory();
        if self.bad.is_none() && self.stats.exhausted {
            self.bad = self.unreachable_goal();
        }
        self.stats.unique = self.table.len() as u64;
        self.stats.steps_computed = self.walker.store.step_count() as u64;
        self.stats.parts = self.walker.store.pool.len() as u64;
        self.stats.messages = self.walker.store.message_count() as u64;
        let bad = self.bad.take();
        let script = bad.as_ref().map(|bad| self.counterexample(bad));
        let verdict = match (bad, self.stopped.take()) {
            (Some(bad), _) => Verdict::Violated(bad.violation),
            (None, Some(why)) => Verdict::Unknown(why),
            (None, None) => Verdict::Holds,
        };
        Exploration {
            verdict,
            script,
            reached: self.walker.store.reached.iter().copied().collect(),
            unexercised: report::unexercised::<P>(&self.walker.store.exercised, self.protocol),
            abstractions: report::abstractions(self.protocol, self.bounds),
            stats: self.stats,
        }
    }

    /// The shallowest state from which a `reachable always` goal cannot be reached. States that were not expanded
    /// count as reaching everything.
    fn unreachable_goal(&self) -> Option<Bad> {
        let edges = self.edges.as_ref()?;
        let reverse = Reverse::of(edges, self.table.len());
        let names = self.walker.store.goal_names();
        (0..names.len()).find_map(|bit| {
            let reaching = self.goals.iter().filter(|(_, goals)| goals >> bit & 1 == 1).map(|(state, _)| *state);
            let reached = reverse.closure(reaching.chain(self.open_states.iter().copied()));
            let state = reached.iter().position(|reached| !reached)? as u32;
            let detail = format!("after these steps `{}` cannot be reached any more, whatever happens", names[bit]);
            let violation = Violation { property: names[bit].to_owned(), detail };
            Some(Bad { state, violation, in_state: true })
        })
    }

    /// The path to `bad`, replayed over rows whose names are not canonical, so that the script runs in a plain world.
    fn counterexample(&mut self, bad: &Bad) -> Script<P> {
        let mut chain = vec![bad.state];
        while self.parents[chain[chain.len() - 1] as usize] != ROOT {
            chain.push(self.parents[chain[chain.len() - 1] as usize]);
        }
        chain.reverse();
        let fingerprints = self.table.by_index();
        let path: Vec<u64> = chain.iter().map(|state| fingerprints[*state as usize]).collect();
        // A protocol that breaks the rule of `Tag` can have a path that exists under renaming alone. Then the names of the
        // script are the renamed ones: better a script that drifts than none.
        let named = self.walk_path(bad, &path, Names::AsTheyAre);
        named.or_else(|| self.walk_path(bad, &path, Names::Renamed)).expect("the search walked this path")
    }

    fn walk_path(&mut self, bad: &Bad, path: &[u64], names: Names) -> Option<Script<P>> {
        self.walker.store.keeps_names = names == Names::AsTheyAre;
        let (mut row, starts) = self.first_row(path[0], names)?;
        let mut script = self.walker.script_from(&row, starts);
        for &goal in &path[1..] {
            let lands = |landed, violation: Option<&Violation>| violation.is_none() && landed == goal;
            let (steps, next) = self.step_to(&row, elapsed_in(&script), names, lands)?;
            script.steps.extend(steps);
            row = next;
        }
        if !bad.in_state {
            let falls =
                |_, violation: Option<&Violation>| violation.is_some_and(|v| v.property == bad.violation.property);
            script.steps.extend(self.step_to(&row, elapsed_in(&script), names, falls)?.0);
        }
        Some(script)
    }

    fn first_row(&mut self, goal: u64, names: Names) -> Option<(Work, Vec<u32>)> {
        for Initial { row, starts } in self.walker.initial.clone() {
            self.walker.store.reset(&row);
            self.walker.store.work.tags_changed = true;
            if self.walker.canonize().fingerprint == goal {
                let row = if names == Names::AsTheyAre { row } else { self.walker.store.work.clone() };
                return Some((row, starts));
            }
        }
        None
    }

    /// The first way on from `row` that `wanted` accepts, and the row it leads to.
    fn step_to(
        &mut self,
        row: &Work,
        elapsed: Span,
        names: Names,
        wanted: impl Fn(u64, Option<&Violation>) -> bool,
    ) -> Option<(Vec<ScriptStep<P>>, Work)> {
        let walker = &mut self.walker;
        let mut options = Vec::new();
        // The search or the step before may have stopped in the middle of a choice's ways.
        walker.store.odometer = Odometer::default();
        walker.store.reset(row);
        walker.options(&mut options);
        for pick in &options {
            loop {
                walker.store.reset(row);
                let named = walker.named(pick, elapsed);
                walker.take(pick);
                let steps = walker.script_steps(named, elapsed);
                let violation = walker.store.taken.violation.take();
                walker.store.drop_dead(false);
                let kept = walker.store.work.clone();
                walker.store.work.tags_changed = true;
                let landed = if violation.is_none() { walker.canonize().fingerprint } else { 0 };
                if wanted(landed, violation.as_ref()) {
                    let next = if names == Names::AsTheyAre { kept } else { walker.store.work.clone() };
                    return Some((steps, next));
                }
                if !walker.store.odometer.advance() {
                    break;
                }
            }
        }
        None
    }
}

/// How much time passes in a script.
fn elapsed_in<P: Protocol>(script: &Script<P>) -> Span {
    script.steps.iter().fold(Span::ZERO, |sum, step| match &step.choice {
        Choice::Elapse(span) => sum + *span,
        _ => sum,
    })
}

/// Predecessors of every state, flat.
struct Reverse {
    starts: Vec<u32>,
    sources: Vec<u32>,
}

impl Reverse {
    fn of(edges: &[(u32, u32)], count: usize) -> Self {
        let mut starts = vec![0u32; count + 1];
        for (_, to) in edges {
            starts[*to as usize + 1] += 1;
        }
        for index in 1..=count {
            starts[index] += starts[index - 1];
        }
        let mut at = starts.clone();
        let mut sources = vec![0u32; edges.len()];
        for (from, to) in edges {
            sources[at[*to as usize] as usize] = *from;
            at[*to as usize] += 1;
        }
        Reverse { starts, sources }
    }

    /// Which states can reach one of `seeds`.
    fn closure(&self, seeds: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut reached = vec![false; self.starts.len() - 1];
        let mut stack: Vec<u32> = Vec::new();
        let mut push = |state: u32, stack: &mut Vec<u32>| {
            if !std::mem::replace(&mut reached[state as usize], true) {
                stack.push(state);
            }
        };
        for seed in seeds {
            push(seed, &mut stack);
        }
        while let Some(state) = stack.pop() {
            let range = self.starts[state as usize] as usize..self.starts[state as usize + 1] as usize;
            for &source in &self.sources[range] {
                push(source, &mut stack);
            }
        }
        reached
    }
}
