//! The interned store: a world as a short row of small integers.
//!
//! A step is a pure function of the components it reads, so it is computed once and then looked up; a successor's
//! fingerprint is the parent's with the weights of changed components exchanged.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustc_hash::FxHashMap;

use super::bounds::{Bounds, Clock, Lengths};
use super::layout::{Block, Layout};
use super::memo::{Dependencies, Memo};
use super::pool::{ABSENT, Collector, FLIGHT, Id, NamesIn, Pool, Typed};
use crate::canonical::{Canonical, Decoder, Encoder, SplitPart, encoding, hash};
use crate::host::{Host, Local, Phase};
use crate::name::NodeId;
use crate::plain::Envelope;
use crate::property::{DeadlineOp, Violation, Watch};
use crate::protocol::{Effect, Event, Protocol, Relevance, Surroundings};
use crate::script;
use crate::time::{Span, Stamp, Timers};
use crate::trace::encode_effect;
use crate::world::{Lapse, Refused, Store};

/// No list of effects.
const NONE: u32 = u32::MAX;

/// A message in flight.
#[derive(Debug, Clone, PartialEq, Eq, seedbed_derive::Canonical)]
pub(super) struct Flight<M> {
    pub(super) envelope: Envelope<M>,
    /// Ticks it may still take; `None`: any.
    pub(super) life: Option<u32>,
}

/// What the hot loop needs of a message in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlightInfo {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The receiver's input.
    pub(super) local: u32,
    pub(super) life: Option<u32>,
    /// Whether its relevance need not be asked for.
    pub(super) always_live: bool,
}

/// What is left of the fault budgets, and the links cut now.
#[derive(Debug, Clone, Default, PartialEq, Eq, seedbed_derive::Canonical)]
pub(super) struct Faults {
    pub(super) losses: u32,
    pub(super) duplicates: u32,
    pub(super) crashes: u32,
    pub(super) pauses: u32,
    pub(super) cuts: u32,
    pub(super) cut: BTreeSet<(NodeId, NodeId)>,
}

/// A world being changed: fixed slots, messages in flight in any order, and the sum of all weights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) fixed: Vec<Id>,
    pub(super) flights: Vec<Id>,
    pub(super) weight: u64,
    /// Whether a component's list of tags changed since the row was canonical.
    pub(super) tags_changed: bool,
}

/// A row in which every node has just started.
#[derive(Debug, Clone)]
pub(super) struct Initial {
    pub(super) row: Work,
    /// What the starts drew, in order.
    pub(super) starts: Vec<u32>,
}

/// One way a step can go.
struct Branch {
    writes: Box<[(u16, Id)]>,
    sends: Box<[Id]>,
    timer_ops: u32,
    events: u32,
    answers: Box<[u32]>,
    goals: u32,
    broken: Option<Violation>,
}

/// One way a monitor's fold can go.
struct Fold {
    writes: Box<[(u16, Id)]>,
    deadline_ops: u32,
    goals: u32,
    violation: Option<Violation>,
}

/// The odometer over everything a choice leaves open: which branch, which length, which message a full link loses.
#[derive(Debug, Default)]
pub(super) struct Odometer {
    digits: Vec<(u32, u32)>,
    at: usize,
}

impl Odometer {
    fn pick(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        if self.at == self.digits.len() {
            self.digits.push((0, count as u32));
        }
        let digit = self.digits[self.at].0;
        self.at += 1;
        digit as usize
    }

    /// Moves on to the next combination; false after the last, ready to begin again.
    pub(super) fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((digit, count)) = self.digits.pop() {
            if digit + 1 < count {
                self.digits.push((digit + 1, count));
                return true;
            }
        }
        false
    }
}

/// What happened in the step being taken, beside the new row.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Answers for the script.
    pub(super) answers: Vec<u32>,
    /// Messages that a full link lost.
    pub(super) overflowed: Vec<Id>,
    /// The first property that fell.
    pub(super) violation: Option<Violation>,
    /// Bits of the `reachable always` goals reached.
    pub(super) goals: u32,
}

/// Kinds of input and output that occurred.
#[derive(Debug, Default)]
pub(super) struct Exercised {
    pub(super) messages: BTreeSet<usize>,
    pub(super) timers: BTreeSet<usize>,
    pub(super) records: BTreeSet<usize>,
    pub(super) operations: BTreeSet<usize>,
    pub(super) decisions: BTreeSet<usize>,
}

/// One way to carry out what a step does to its timers: the timers afterwards, and the answers for the script.
type Rearmed = (Id, Box<[u32]>);

/// What a tick makes of a node's timers, and which lapse.
type Elapsed<T> = (Id, Box<[T]>);

/// The interned store of one exploration.
pub(super) struct Interned<P: Protocol> {
    pub(super) protocol: P,
    pub(super) bounds: Bounds,
    pub(super) layout: Layout,
    pub(super) pool: Pool,
    pub(super) work: Work,
    pub(super) odometer: Odometer,
    pub(super) taken: Taken,
    pub(super) exercised: Exercised,
    pub(super) reached: BTreeSet<&'static str>,
    /// Whether rows keep their names as they are, for scripts: old stamps do not become one.
    pub(super) keeps_names: bool,
    /// Why the bounds do not fit the protocol, once that has shown.
    pub(super) misfit: Option<String>,
    /// Names of the `reachable always` properties, by bit.
    goal_names: Vec<&'static str>,
    /// By flight id; `None` for other ids.
    flights: Vec<Option<FlightInfo>>,
    locals: Typed<(NodeId, Local<P>)>,
    timer_ops: Typed<Vec<Effect<P>>>,
    events: Typed<(NodeId, Vec<Event<P>>)>,
    deadline_ops: Typed<Vec<DeadlineOp>>,
    timer_sets: FxHashMap<Id, Timers<P::Timer>>,
    deadline_sets: FxHashMap<Id, Timers<u32>>,
    fault_sets: FxHashMap<Id, Faults>,
    branches: Vec<Branch>,
    folds: Vec<Fold>,
    /// Ranges of branches, of folds, of decisions.
    ranges: Vec<(u32, u32)>,
    host_memo: Memo<P::Timer>,
    watch_memo: Memo<P::Timer>,
    decide_memo: Memo<P::Timer>,
    relevance_memo: Memo<P::Timer>,
    relevances: Vec<Relevance<Id>>,
    offered: Vec<u32>,
    rearm_memo: FxHashMap<(Id, u32), Box<[Rearmed]>>,
    elapse_memo: FxHashMap<Id, Elapsed<P::Timer>>,
    deadline_memo: FxHashMap<(Id, u32), Id>,
    sync_memo: FxHashMap<Id, Box<[u32]>>,
    crash_memo: FxHashMap<Id, Box<[u32]>>,
    invoke_memo: FxHashMap<(Id, Id), Option<u32>>,
    due_memo: FxHashMap<Id, Box<[u32]>>,
    aged_memo: FxHashMap<Id, Id>,
    pub(super) renamed: super::canonize::Renamed,
}

/// The interned store of a run whose nodes have all just started, with its initial rows: one for each combination of
/// clock offsets.
pub(super) fn initial<P: Protocol>(protocol: &P, bounds: &Bounds) -> Result<(Interned<P>, Vec<Initial>), String> {
    let count = protocol.nodes().len();
    if count == 0 || count > usize::from(u16::MAX) {
        return Err(format!("a protocol has 1 to 65,535 nodes, not {count}"));
    }
    let monitor_parts = split(&P::Monitor::default()).1.len();
    // The parts of a state are known once it has started: lay out for a host that is down, start, and lay out anew.
    let sizes: Vec<usize> =
        (0..count).map(|node| parts_once_started(protocol, NodeId(node as u16))).collect::<Result<_, _>>()?;
    let mut store = Interned::new(protocol.clone(), bounds.clone(), Layout::new(&sizes, monitor_parts));
    let mut rows = Vec::new();
    for offsets in offset_choices(protocol, bounds) {
        store.lay_out(&offsets);
        let blank = store.work.clone();
        loop {
            store.reset(&blank);
            for node in store.layout.node_ids() {
                let local = store.local_index(node, Local::Start);
                crate::world::apply(&mut store, &crate::Choice::At(node, local))
                    .map_err(|refused| refused.to_string())?;
            }
            rows.push(Initial { row: store.work.clone(), starts: store.taken.answers.clone() });
            if !store.odometer.advance() {
                break;
            }
        }
    }
    Ok((store, rows))
}

/// How many parts the node's host has after its start.
fn parts_once_started<P: Protocol>(protocol: &P, node: NodeId) -> Result<usize, String> {
    let mut host = Host::new();
    let timers = Timers::default();
    let mut around =
        Around { timers: &timers, clock: 0, asked: Vec::new(), clock_asked: false, odometer: &mut Odometer::default() };
    host.feed(protocol, node, Local::Start, &mut around, &mut Vec::new());
    Ok(split(&host).1.len())
}

fn offset_choices<P: Protocol>(protocol: &P, bounds: &Bounds) -> Vec<Vec<i64>> {
    let mut choices = vec![Vec::new()];
    for node in 0..protocol.nodes().len() as u16 {
        let most = (protocol.clock(NodeId(node)).offset.0 / bounds.tick.0) as i64;
        choices = choices
            .into_iter()
            .flat_map(|start: Vec<i64>| {
                (-most..=most).map(move |ticks| {
                    let mut offsets = start.clone();
                    offsets.push(ticks);
                    offsets
                })
            })
            .collect();
    }
    let tick = bounds.tick.0 as i64;
    choices.into_iter().map(|offsets| offsets.into_iter().map(|ticks| ticks * tick).collect()).collect()
}

fn split<T: Canonical>(value: &T) -> (Vec<u8>, Vec<SplitPart>) {
    let mut out = Encoder::split();
    value.encode(&mut out);
    out.into_split()
}

impl<P: Protocol> Interned<P> {
    fn new(protocol: P, bounds: Bounds, layout: Layout) -> Self {
        let goal_names = protocol
            .properties()
            .iter()
            .filter(|property| property.kind == crate::Kind::ReachableAlways)
            .map(|property| property.name)
            .take(32)
            .collect();
        Interned {
            protocol,
            bounds,
            layout,
            pool: Pool::new(),
            work: Work::default(),
            odometer: Odometer::default(),
            taken: Taken::default(),
            exercised: Exercised::default(),
            reached: BTreeSet::new(),
            keeps_names: false,
            misfit: None,
            goal_names,
            flights: Vec::new(),
            locals: Typed::new(),
            timer_ops: Typed::new(),
            events: Typed::new(),
            deadline_ops: Typed::new(),
            timer_sets: FxHashMap::default(),
            deadline_sets: FxHashMap::default(),
            fault_sets: FxHashMap::default(),
            branches: Vec::new(),
            folds: Vec::new(),
            ranges: Vec::new(),
            host_memo: Memo::new(),
            watch_memo: Memo::new(),
            decide_memo: Memo::new(),
            relevance_memo: Memo::new(),
            relevances: Vec::new(),
            offered: Vec::new(),
            rearm_memo: FxHashMap::default(),
            elapse_memo: FxHashMap::default(),
            deadline_memo: FxHashMap::default(),
            sync_memo: FxHashMap::default(),
            crash_memo: FxHashMap::default(),
            invoke_memo: FxHashMap::default(),
            due_memo: FxHashMap::default(),
            aged_memo: FxHashMap::default(),
            renamed: super::canonize::Renamed::default(),
        }
    }

    /// Names of the `reachable always` properties, by bit.
    pub(super) fn goal_names(&self) -> &[&'static str] {
        &self.goal_names
    }

    /// Puts the components of a world that has not started in place.
    fn lay_out(&mut self, offsets: &[i64]) {
        let layout = self.layout.clone();
        self.work = Work { fixed: vec![ABSENT; layout.fixed], ..Work::default() };
        for node in layout.node_ids() {
            let ids = self.intern_split(layout.nodes[node.index()], &mut Host::<P>::new());
            self.place(layout.nodes[node.index()], &ids);
            let timers = self.intern_timers(layout.timers[node.index()], Timers::default());
            self.set(layout.timers[node.index()], timers);
        }
        let monitor = self.intern_split(layout.monitor, &mut P::Monitor::default());
        self.place(layout.monitor, &monitor);
        let deadlines = self.intern_deadlines(Timers::default());
        self.set(layout.deadlines, deadlines);
        let Bounds { losses, duplicates, crashes, pauses, cuts, .. } = self.bounds;
        let faults = self.intern_faults(Faults { losses, duplicates, crashes, pauses, cuts, cut: BTreeSet::new() });
        self.set(layout.faults, faults);
        let clocks: std::collections::BTreeMap<NodeId, i64> = layout.node_ids().zip(offsets.iter().copied()).collect();
        let clocks = self.pool.intern_value(layout.clocks.into(), &clocks);
        self.set(layout.clocks, clocks);
    }

    fn place(&mut self, block: Block, ids: &[Id]) {
        for (slot, id) in block.slots().zip(ids) {
            self.set(slot, *id);
        }
    }

    /// Starts a step from `row`.
    pub(super) fn reset(&mut self, row: &Work) {
        self.work.fixed.clear();
        self.work.fixed.extend_from_slice(&row.fixed);
        self.work.flights.clear();
        self.work.flights.extend_from_slice(&row.flights);
        self.work.weight = row.weight;
        self.work.tags_changed = row.tags_changed;
        self.taken.answers.clear();
        self.taken.overflowed.clear();
        self.taken.violation = None;
        self.taken.goals = 0;
    }

    #[inline]
    pub(super) fn set(&mut self, slot: u16, id: Id) {
        let old = std::mem::replace(&mut self.work.fixed[usize::from(slot)], id);
        self.work.weight = self.work.weight.wrapping_sub(self.pool.weight(old)).wrapping_add(self.pool.weight(id));
        self.work.tags_changed |= self.pool.tags_index(old) != self.pool.tags_index(id);
    }

    #[inline]
    fn put(&mut self, flight: Id) {
        self.work.flights.push(flight);
        self.work.weight = self.work.weight.wrapping_add(self.pool.weight(flight));
        self.work.tags_changed |= self.pool.tags_index(flight) != 0;
    }

    #[inline]
    pub(super) fn remove_flight(&mut self, at: usize) -> Id {
        let flight = self.work.flights.swap_remove(at);
        self.work.weight = self.work.weight.wrapping_sub(self.pool.weight(flight));
        self.work.tags_changed |= self.pool.tags_index(flight) != 0;
        flight
    }

    #[inline]
    pub(super) fn flight(&self, id: Id) -> FlightInfo {
        self.flights[id as usize].expect("an id in flight is a flight's")
    }

    /// A flight's message, for output.
    pub(super) fn envelope(&self, id: Id) -> Envelope<P::Message> {
        self.decode_flight(id).envelope
    }

    pub(super) fn decode_flight(&self, id: Id) -> Flight<P::Message> {
        crate::canonical::decoding(self.pool.bytes(id)).expect("the pool holds what was encoded")
    }

    pub(super) fn intern_flight(&mut self, flight: Flight<P::Message>) -> Id {
        let id = self.pool.intern_value(FLIGHT, &flight);
        if self.flights.len() <= id as usize {
            self.flights.resize(id as usize + 1, None);
        }
        if self.flights[id as usize].is_none() {
            let Envelope { from, to, message } = flight.envelope;
            let local = self.local_index(to, Local::Deliver(from, message));
            self.flights[id as usize] = Some(FlightInfo { from, to, local, life: flight.life, always_live: false });
        }
        id
    }

    pub(super) fn local_index(&mut self, node: NodeId, local: Local<P>) -> u32 {
        let key = hash(u64::from(node.0), &encoding(&local));
        self.locals.intern(key, (node, local))
    }

    /// What a local index stands for.
    pub(super) fn local_of(&self, index: u32) -> &(NodeId, Local<P>) {
        self.locals.get(index)
    }

    pub(super) fn intern_timers(&mut self, slot: u16, timers: Timers<P::Timer>) -> Id {
        let id = self.pool.intern_value(slot.into(), &timers);
        self.timer_sets.entry(id).or_insert(timers);
        id
    }

    pub(super) fn timers(&self, id: Id) -> &Timers<P::Timer> {
        &self.timer_sets[&id]
    }

    pub(super) fn intern_deadlines(&mut self, deadlines: Timers<u32>) -> Id {
        let id = self.pool.intern_value(self.layout.deadlines.into(), &deadlines);
        self.deadline_sets.entry(id).or_insert(deadlines);
        id
    }

    pub(super) fn intern_faults(&mut self, faults: Faults) -> Id {
        let id = self.pool.intern_value(self.layout.faults.into(), &faults);
        self.fault_sets.entry(id).or_insert(faults);
        id
    }

    /// Budgets left and links cut.
    pub(super) fn faults(&self) -> &Faults {
        &self.fault_sets[&self.work.fixed[usize::from(self.layout.faults)]]
    }

    pub(super) fn faults_of(&self, id: Id) -> &Faults {
        &self.fault_sets[&id]
    }

    /// Changes budgets or cuts.
    pub(super) fn change_faults(&mut self, change: impl FnOnce(&mut Faults)) {
        let mut faults = self.faults().clone();
        change(&mut faults);
        let id = self.intern_faults(faults);
        self.set(self.layout.faults, id);
    }

    /// Interns a value's core and parts into the slots of `block`; slots beyond its parts are absent.
    ///
    /// # Panics
    /// If the value has more parts than the block: the number of parts must not grow.
    pub(super) fn intern_split<T: Canonical>(&mut self, block: Block, value: &mut T) -> Vec<Id> {
        let (core, parts) = split(value);
        assert!(parts.len() < usize::from(block.len), "{} parts where the start had {}", parts.len(), block.len - 1);
        let (core_names, part_names) = Collector::of(value).into_split();
        self.intern_pieces(block, &core, &parts, core_names, part_names)
    }

    fn intern_pieces(
        &mut self,
        block: Block,
        core: &[u8],
        parts: &[SplitPart],
        core_names: NamesIn,
        part_names: Vec<NamesIn>,
    ) -> Vec<Id> {
        let mut ids = vec![ABSENT; usize::from(block.len)];
        ids[0] = self.pool.intern(block.start.into(), core, || core_names);
        for (index, (part, names)) in parts.iter().zip(part_names).enumerate() {
            let place = u32::from(block.start) + 1 + index as u32;
            ids[index + 1] = self.pool.intern(place, &part.bytes, || names);
        }
        ids
    }

    /// The value whose core and parts are `ids`.
    pub(super) fn decode_split<T: Canonical>(&self, ids: &[Id]) -> T {
        let parts: Vec<&[u8]> = ids[1..].iter().filter(|id| **id != ABSENT).map(|id| self.pool.bytes(*id)).collect();
        let mut input = Decoder::split(self.pool.bytes(ids[0]), &parts);
        T::decode(&mut input).expect("the pool holds what was encoded")
    }

    pub(super) fn host(&self, node: NodeId) -> Host<P> {
        self.decode_split(&self.work.fixed[self.layout.nodes[node.index()].range()])
    }

    pub(super) fn monitor(&self) -> P::Monitor {
        self.decode_split(&self.work.fixed[self.layout.monitor.range()])
    }

    fn goal_bits(&self, names: &[&'static str]) -> u32 {
        self.goal_names.iter().enumerate().filter(|(_, goal)| names.contains(goal)).map(|(bit, _)| 1 << bit).sum()
    }

    fn clock_offset(&self, node: NodeId) -> i64 {
        self.offsets(&self.work).get(node.index()).copied().unwrap_or(0)
    }

    /// How far each node's clock is ahead [ns] in `row`; empty if none is.
    pub(super) fn offsets(&self, row: &Work) -> Vec<i64> {
        let id = row.fixed[usize::from(self.layout.clocks)];
        let clocks: std::collections::BTreeMap<NodeId, i64> =
            crate::canonical::decoding(self.pool.bytes(id)).expect("the pool holds what was encoded");
        let offsets: Vec<i64> = clocks.into_values().collect();
        if offsets.iter().all(|offset| *offset == 0) { Vec::new() } else { offsets }
    }

    // ---- steps ----

    fn step(&mut self, node: NodeId, local: u32) -> u32 {
        let work = &self.work;
        let sets = &self.timer_sets;
        let found =
            self.host_memo.find(local, |at| work.fixed[usize::from(at)], |id, timer| sets[&id].is_armed(timer, 0));
        let range = found.unwrap_or_else(|| self.compute(node, local));
        let (start, len) = self.ranges[range as usize];
        start + self.odometer.pick(len as usize) as u32
    }

    #[cold]
    fn compute(&mut self, node: NodeId, local: u32) -> u32 {
        let start = self.branches.len() as u32;
        let mut odometer = Odometer::default();
        let mut depends = Dependencies { slots: Vec::new(), timers: None };
        let mut asked = Vec::new();
        self.exercise(local);
        loop {
            let branch = self.compute_branch(node, local, &mut odometer, &mut depends, &mut asked);
            self.branches.push(branch);
            if !odometer.advance() {
                break;
            }
        }
        depends.slots.sort_unstable();
        depends.slots.dedup();
        if !asked.is_empty() {
            depends.timers = Some((self.layout.timers[node.index()], asked));
        }
        let len = self.branches.len() as u32 - start;
        let range = self.ranges.len() as u32;
        self.ranges.push((start, len));
        let (work, sets) = (&self.work, &self.timer_sets);
        self.host_memo.insert(
            local,
            depends,
            range,
            |at| work.fixed[usize::from(at)],
            |id, timer| sets[&id].is_armed(timer, 0),
        );
        range
    }

    fn compute_branch(
        &mut self,
        node: NodeId,
        local: u32,
        odometer: &mut Odometer,
        depends: &mut Dependencies<P::Timer>,
        asked: &mut Vec<P::Timer>,
    ) -> Branch {
        let block = self.layout.nodes[node.index()];
        let clock = self.clock_offset(node);
        let mut host = self.host(node);
        let input = self.locals.get(local).1.clone();
        let timers = self.timers(self.work.fixed[usize::from(self.layout.timers[node.index()])]);
        let mut around = Around { timers, clock, asked: std::mem::take(asked), clock_asked: false, odometer };
        let mut effects = Vec::new();
        let protocol = &self.protocol;
        let stepped = catch_unwind(AssertUnwindSafe(|| host.feed(protocol, node, input, &mut around, &mut effects)));
        let Around { asked: asked_now, clock_asked, .. } = around;
        *asked = asked_now;
        if clock_asked {
            depends.slots.push(self.layout.clocks);
        }
        if let Err(panic) = stepped {
            depends.slots.extend(block.slots());
            return Branch::broken(panic_text(&*panic));
        }
        let (core, parts) = split(&host);
        if parts.len() >= usize::from(block.len) {
            depends.slots.extend(block.slots());
            return Branch::broken(format!(
                "{} parts where the start had {}: the number of parts must not grow",
                parts.len(),
                block.len - 1
            ));
        }
        let old: Vec<Id> = self.work.fixed[block.range()].to_vec();
        depends.slots.extend(slots_read(block, &old, &parts));
        let (core_names, part_names) = Collector::of(&mut host).into_split();
        let new = self.intern_pieces(block, &core, &parts, core_names, part_names);
        let writes = block
            .slots()
            .zip(old.iter().zip(&new))
            .filter(|(_, (old, new))| old != new)
            .map(|(slot, (_, new))| (slot, *new))
            .collect();
        let answers = odometer.digits.iter().map(|(digit, _)| *digit).collect();
        Branch { answers, ..self.branch_of(node, writes, effects) }
    }

    fn branch_of(&mut self, node: NodeId, writes: Box<[(u16, Id)]>, effects: Vec<Effect<P>>) -> Branch {
        let (mut sends, mut timer_ops, mut events, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    let life = self.bounds.delay;
                    sends.push(self.intern_flight(Flight { envelope: Envelope { from: node, to, message }, life }));
                }
                Effect::Happened(event) => events.push(event),
                Effect::Mark(what) => marks.push(what),
                Effect::Persist { record, .. } => {
                    self.exercised.records.insert(record.kind());
                }
                Effect::Set { .. } | Effect::Copy { .. } | Effect::Cancel(_) | Effect::Unarm => timer_ops.push(effect),
                Effect::RespondAfter { .. } => {}
            }
        }
        self.reached.extend(marks.iter().copied());
        let goals = self.goal_bits(&marks);
        let timer_ops = if timer_ops.is_empty() { NONE } else { self.intern_ops(timer_ops) };
        let events = if events.is_empty() { NONE } else { self.intern_events(node, events) };
        Branch { writes, sends: sends.into(), timer_ops, events, answers: Box::default(), goals, broken: None }
    }

    fn intern_ops(&mut self, ops: Vec<Effect<P>>) -> u32 {
        let mut bytes = Vec::new();
        for op in &ops {
            encode_effect(NodeId(0), op, &mut bytes);
        }
        self.timer_ops.intern(hash(0, &bytes), ops)
    }

    fn intern_events(&mut self, node: NodeId, events: Vec<Event<P>>) -> u32 {
        self.events.intern(hash(u64::from(node.0), &encoding(&events)), (node, events))
    }

    fn exercise(&mut self, local: u32) {
        let exercised = &mut self.exercised;
        let _ = match &self.locals.get(local).1 {
            Local::Deliver(_, message) => exercised.messages.insert(message.kind()),
            Local::Fire(timer) => exercised.timers.insert(timer.kind()),
            Local::Decide(decision) => exercised.decisions.insert(decision.kind()),
            _ => false,
        };
    }

    // ---- timers ----

    fn rearm_results(&mut self, node: NodeId, timers: Id, ops: u32) -> Box<[Rearmed]> {
        let slot = self.layout.timers[node.index()];
        let effects = self.timer_ops.get(ops).clone();
        let mut odometer = Odometer::default();
        let mut results: Vec<Rearmed> = Vec::new();
        loop {
            let mut set = self.timers(timers).clone();
            let mut answers = Vec::new();
            for effect in &effects {
                match effect {
                    Effect::Set { timer, span } => {
                        let end = self.length(node, *span, &mut odometer, &mut answers);
                        set.set(timer.clone(), end);
                    }
                    Effect::Copy { to, from } => {
                        set.copy(from, to, 0);
                    }
                    Effect::Cancel(timer) => set.cancel(timer),
                    Effect::Unarm => set.clear(),
                    _ => {}
                }
            }
            let id = self.intern_timers(slot, set);
            if !results.iter().any(|(other, _)| *other == id) {
                results.push((id, answers.into()));
            }
            if !odometer.advance() {
                return results.into();
            }
        }
    }

    fn length(&mut self, node: NodeId, span: Span, odometer: &mut Odometer, answers: &mut Vec<u32>) -> u64 {
        let tick = self.bounds.tick;
        let range = match script::lengths(span, self.protocol.clock(node), tick) {
            Ok(range) => range,
            Err(why) => {
                self.misfit.get_or_insert(why);
                return 0;
            }
        };
        let count = (range.end() - range.start() + 1) as usize;
        if count == 1 {
            return range.start() * tick.0;
        }
        let index = match (self.bounds.clock, self.bounds.lengths) {
            (Clock::Untimed, _) => 0,
            (Clock::Digital, Lengths::Longest) => count - 1,
            (Clock::Digital, Lengths::All) => odometer.pick(count),
        };
        answers.push(index as u32);
        (range.start() + index as u64) * tick.0
    }

    // ---- what is on offer ----

    /// Inputs that the node's timers allow: firings of due timers, or of any in an untimed world.
    pub(super) fn firings(&mut self, node: NodeId) -> Box<[u32]> {
        let id = self.work.fixed[usize::from(self.layout.timers[node.index()])];
        if let Some(known) = self.due_memo.get(&id) {
            return known.clone();
        }
        let untimed = self.bounds.clock == Clock::Untimed;
        let due: Vec<P::Timer> =
            self.timers(id).iter().filter(|(_, end)| untimed || *end == 0).map(|(timer, _)| timer.clone()).collect();
        let locals: Box<[u32]> = due.into_iter().map(|timer| self.local_index(node, Local::Fire(timer))).collect();
        self.due_memo.insert(id, locals.clone());
        locals
    }

    /// Syncs of streams that have something unsynced.
    pub(super) fn syncs(&mut self, node: NodeId) -> Box<[u32]> {
        let disk = self.work.fixed[usize::from(self.layout.nodes[node.index()].start) + 1];
        if let Some(known) = self.sync_memo.get(&disk) {
            return known.clone();
        }
        let streams = self.host(node).unsynced();
        let locals: Box<[u32]> =
            streams.into_iter().map(|(stream, _)| self.local_index(node, Local::Sync(stream))).collect();
        self.sync_memo.insert(disk, locals.clone());
        locals
    }

    /// Crashes, one for each way to keep prefixes of the streams.
    pub(super) fn crashes(&mut self, node: NodeId) -> Box<[u32]> {
        let disk = self.work.fixed[usize::from(self.layout.nodes[node.index()].start) + 1];
        if let Some(known) = self.crash_memo.get(&disk) {
            return known.clone();
        }
        let mut ways: Vec<crate::Kept> = vec![Vec::new()];
        for (stream, count) in self.host(node).unsynced() {
            ways = ways
                .into_iter()
                .flat_map(|way| {
                    (0..=count).map(move |kept| {
                        let mut way = way.clone();
                        way.push((stream, kept));
                        way
                    })
                })
                .collect();
        }
        let locals: Box<[u32]> = ways.into_iter().map(|kept| self.local_index(node, Local::Crash(kept))).collect();
        self.crash_memo.insert(disk, locals.clone());
        locals
    }

    /// The client's next operation, if it has one to invoke.
    pub(super) fn invocation(&mut self, node: NodeId) -> Option<u32> {
        let start = usize::from(self.layout.nodes[node.index()].start);
        let key = (self.work.fixed[start], self.work.fixed[start + 2]);
        if let Some(known) = self.invoke_memo.get(&key) {
            return *known;
        }
        let can = self.host(node).can_invoke(&self.protocol, node);
        let local = can.then(|| self.local_index(node, Local::Invoke));
        self.invoke_memo.insert(key, local);
        local
    }

    /// The decisions open at a node, as a range of [`Self::offered`].
    pub(super) fn decisions(&mut self, node: NodeId) -> std::ops::Range<usize> {
        let (work, sets) = (&self.work, &self.timer_sets);
        let input = u32::from(node.0);
        let found =
            self.decide_memo.find(input, |at| work.fixed[usize::from(at)], |id, timer| sets[&id].is_armed(timer, 0));
        let range = found.unwrap_or_else(|| self.compute_decisions(node));
        let (start, len) = self.ranges[range as usize];
        start as usize..(start + len) as usize
    }

    /// The `at`-th local of all offered.
    pub(super) fn offered(&self, at: usize) -> u32 {
        self.offered[at]
    }

    fn compute_decisions(&mut self, node: NodeId) -> u32 {
        let host = self.host(node);
        let timers_slot = self.layout.timers[node.index()];
        let timers = self.timers(self.work.fixed[usize::from(timers_slot)]);
        let mut odometer = Odometer::default();
        let mut around = Around { timers, clock: 0, asked: Vec::new(), clock_asked: false, odometer: &mut odometer };
        let offered = host.decisions(&self.protocol, node, &mut around);
        let asked = around.asked;
        let start = self.offered.len() as u32;
        for decision in offered {
            let local = self.local_index(node, Local::Decide(decision));
            self.offered.push(local);
        }
        let depends = self.depends_of(node, &host, timers_slot, asked);
        let range = self.ranges.len() as u32;
        self.ranges.push((start, self.offered.len() as u32 - start));
        let (work, sets) = (&self.work, &self.timer_sets);
        self.decide_memo.insert(
            node.0.into(),
            depends,
            range,
            |at| work.fixed[usize::from(at)],
            |id, timer| sets[&id].is_armed(timer, 0),
        );
        range
    }

    /// What a function that only read `host` depended on.
    fn depends_of(
        &self,
        node: NodeId,
        host: &Host<P>,
        timers_slot: u16,
        asked: Vec<P::Timer>,
    ) -> Dependencies<P::Timer> {
        let block = self.layout.nodes[node.index()];
        let old = &self.work.fixed[block.range()];
        let mut slots = slots_read(block, old, &split(host).1);
        slots.sort_unstable();
        slots.dedup();
        Dependencies { slots, timers: (!asked.is_empty()).then_some((timers_slot, asked)) }
    }

    /// What the message in flight can still do.
    pub(super) fn relevance(&mut self, flight: Id) -> Relevance<Id> {
        let work = &self.work;
        if let Some(found) = self.relevance_memo.find(flight, |at| work.fixed[usize::from(at)], |_, _| false) {
            return self.relevances[found as usize].clone();
        }
        self.compute_relevance(flight)
    }

    fn compute_relevance(&mut self, flight: Id) -> Relevance<Id> {
        let Flight { envelope: Envelope { from, to, message }, life } = self.decode_flight(flight);
        let host = self.host(to);
        let relevance = match &host.state {
            // A node that is down may start again: what its next state makes of the message is not known yet.
            None => Relevance::Live,
            Some(state) => self.protocol.relevance(to, state, from, &message),
        };
        let depends = self.depends_of(to, &host, self.layout.timers[to.index()], Vec::new());
        let relevance = match relevance {
            Relevance::Same(message) => {
                Relevance::Same(self.intern_flight(Flight { envelope: Envelope { from, to, message }, life }))
            }
            Relevance::Always => {
                if let Some(info) = &mut self.flights[flight as usize] {
                    info.always_live = true;
                }
                Relevance::Always
            }
            Relevance::Live => Relevance::Live,
            Relevance::Dead => Relevance::Dead,
        };
        let index = self.relevances.len() as u32;
        self.relevances.push(relevance.clone());
        let work = &self.work;
        self.relevance_memo.insert(flight, depends, index, |at| work.fixed[usize::from(at)], |_, _| false);
        relevance
    }

    // ---- the monitor ----

    fn fold(&mut self, events: u32) {
        let work = &self.work;
        let found = self.watch_memo.find(events, |at| work.fixed[usize::from(at)], |_, _| false);
        let range = found.unwrap_or_else(|| self.compute_fold(events));
        let (start, len) = self.ranges[range as usize];
        let index = start as usize + self.odometer.pick(len as usize);
        for write in 0..self.folds[index].writes.len() {
            let (slot, id) = self.folds[index].writes[write];
            self.set(slot, id);
        }
        let fold = &self.folds[index];
        self.taken.goals |= fold.goals;
        if let (None, Some(violation)) = (&self.taken.violation, &fold.violation) {
            self.taken.violation = Some(violation.clone());
        }
        if fold.deadline_ops != NONE {
            let ops = fold.deadline_ops;
            self.change_deadlines(ops);
        }
    }

    fn compute_fold(&mut self, events: u32) -> u32 {
        let block = self.layout.monitor;
        let old: Vec<Id> = self.work.fixed[block.range()].to_vec();
        let start = self.folds.len() as u32;
        let mut odometer = Odometer::default();
        let mut slots = Vec::new();
        loop {
            let mut monitor = self.monitor();
            let (mut violations, mut reached, mut deadlines) = (Vec::new(), Vec::new(), Vec::new());
            let (node, list) = self.events.get(events).clone();
            for event in &list {
                if let Event::Invoked(_, operation) = event {
                    self.exercised.operations.insert(operation.kind());
                }
                let mut forks = Forks(&mut odometer);
                let mut watch = Watch {
                    violations: &mut violations,
                    reached: &mut reached,
                    deadlines: &mut deadlines,
                    surroundings: &mut forks,
                    forks: true,
                };
                self.protocol.watch(&mut monitor, node, event, &mut watch);
            }
            slots.extend(slots_read(block, &old, &split(&monitor).1));
            let new = self.intern_split(block, &mut monitor);
            let writes = block
                .slots()
                .zip(old.iter().zip(&new))
                .filter(|(_, (old, new))| old != new)
                .map(|(slot, (_, new))| (slot, *new))
                .collect();
            self.reached.extend(reached.iter().copied());
            let goals = self.goal_bits(&reached);
            let deadline_ops = if deadlines.is_empty() {
                NONE
            } else {
                self.deadline_ops.intern(hash(0, &encoding(&deadlines)), deadlines)
            };
            let mut violation = violations.into_iter().next();
            if let Some(violation) = &mut violation {
                violation.call_by_name(&self.protocol.nodes());
            }
            self.folds.push(Fold { writes, deadline_ops, goals, violation });
            if !odometer.advance() {
                break;
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let range = self.ranges.len() as u32;
        self.ranges.push((start, self.folds.len() as u32 - start));
        let work = &self.work;
        self.watch_memo.insert(
            events,
            Dependencies { slots, timers: None },
            range,
            |at| work.fixed[usize::from(at)],
            |_, _| false,
        );
        range
    }

    fn change_deadlines(&mut self, ops: u32) {
        let slot = self.layout.deadlines;
        let old = self.work.fixed[usize::from(slot)];
        let new = match self.deadline_memo.get(&(old, ops)) {
            Some(new) => *new,
            None => {
                let mut deadlines = self.deadline_sets[&old].clone();
                for op in self.deadline_ops.get(ops) {
                    match op {
                        DeadlineOp::Set(id, span) => deadlines.set(*id, span.0),
                        DeadlineOp::Clear(id) => deadlines.cancel(id),
                    }
                }
                let new = self.intern_deadlines(deadlines);
                self.deadline_memo.insert((old, ops), new);
                new
            }
        };
        self.set(slot, new);
    }

    /// Steps remembered so far.
    pub(super) fn step_count(&self) -> usize {
        self.host_memo.len()
    }

    /// Different messages met.
    pub(super) fn message_count(&self) -> usize {
        self.flights.iter().flatten().count()
    }
}

impl Branch {
    fn broken(text: String) -> Self {
        Branch {
            writes: Box::default(),
            sends: Box::default(),
            timer_ops: NONE,
            events: NONE,
            answers: Box::default(),
            goals: 0,
            broken: Some(Violation { property: "panic".to_owned(), detail: text }),
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

/// The slots of a block that a function read, by the trails on what it left. A part that was made anew or moved says
/// nothing of what it was made from: then everything counts as read.
fn slots_read(block: Block, old: &[Id], parts: &[SplitPart]) -> Vec<u16> {
    let present = old[1..].iter().filter(|id| **id != ABSENT).count();
    let in_place =
        parts.len() == present && parts.iter().enumerate().all(|(index, part)| part.trail.origin == Some(index as u16));
    if !in_place {
        return block.slots().collect();
    }
    let mut slots = vec![block.start];
    slots.extend(
        parts
            .iter()
            .enumerate()
            .filter(|(_, part)| part.trail.touched)
            .map(|(index, _)| block.start + 1 + index as u16),
    );
    slots
}

/// What surrounds a step that is being computed: it notes what was asked for.
struct Around<'a, T: Ord> {
    timers: &'a Timers<T>,
    clock: i64,
    asked: Vec<T>,
    clock_asked: bool,
    odometer: &'a mut Odometer,
}

impl<T: Ord + Clone> Surroundings<T> for Around<'_, T> {
    fn is_armed(&mut self, timer: &T) -> bool {
        if !self.asked.contains(timer) {
            self.asked.push(timer.clone());
        }
        self.timers.is_armed(timer, 0)
    }
    fn clock(&mut self) -> Stamp {
        self.clock_asked = true;
        Stamp(self.clock)
    }
    fn choose(&mut self, count: u32) -> u32 {
        self.odometer.pick(count as usize) as u32
    }
}

struct Forks<'a>(&'a mut Odometer);

impl Surroundings<u32> for Forks<'_> {
    fn is_armed(&mut self, _: &u32) -> bool {
        false
    }
    fn clock(&mut self) -> Stamp {
        Stamp(0)
    }
    fn choose(&mut self, count: u32) -> u32 {
        self.0.pick(count as usize) as u32
    }
}

impl<P: Protocol> Store<P> for Interned<P> {
    type Envelope = Id;
    type Local = u32;
    /// Index of a branch.
    type Outcome = u32;

    #[inline]
    fn phase(&self, node: NodeId) -> Phase {
        let core = self.work.fixed[usize::from(self.layout.nodes[node.index()].start)];
        // The phase is the first byte of a host's encoding.
        match self.pool.bytes(core)[0] {
            0 => Phase::Up,
            1 => Phase::Paused,
            _ => Phase::Down,
        }
    }
    #[inline]
    fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.bounds.cuts > 0 && self.faults().cut.contains(&(from, to))
    }
    fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool) {
        self.change_faults(|faults| {
            if cut {
                faults.cut.insert((from, to));
            } else {
                faults.cut.remove(&(from, to));
            }
        });
    }
    #[inline]
    fn ends(&self, envelope: &Id) -> (NodeId, NodeId) {
        let info = self.flight(*envelope);
        (info.from, info.to)
    }
    #[inline]
    fn is_in_flight(&self, envelope: &Id) -> bool {
        self.work.flights.contains(envelope)
    }
    #[inline]
    fn take(&mut self, envelope: &Id) {
        if let Some(at) = self.work.flights.iter().position(|flight| flight == envelope) {
            self.remove_flight(at);
        }
    }
    fn local<'a>(&'a self, local: &'a u32) -> &'a Local<P> {
        &self.locals.get(*local).1
    }
    fn is_due(&self, node: NodeId, timer: &P::Timer) -> bool {
        let timers = self.timers(self.work.fixed[usize::from(self.layout.timers[node.index()])]);
        timers.is_due(timer, 0) || (self.bounds.clock == Clock::Untimed && timers.end(timer).is_some())
    }
    fn is_armed(&self, node: NodeId, timer: &P::Timer) -> bool {
        self.timers(self.work.fixed[usize::from(self.layout.timers[node.index()])]).is_armed(timer, 0)
    }
    fn unarm(&mut self, node: NodeId, timer: &P::Timer) {
        let ops = self.intern_ops(vec![Effect::Cancel(timer.clone())]);
        self.rearm_by(node, ops);
    }
    #[inline]
    fn receive(&mut self, node: NodeId, envelope: &Id) -> u32 {
        let local = self.flight(*envelope).local;
        self.begin(node, local)
    }
    fn run(&mut self, node: NodeId, local: &u32) -> Result<u32, Refused> {
        let offered = match &self.locals.get(*local).1 {
            Local::Sync(_) => self.syncs(node).contains(local),
            Local::Invoke => self.invocation(node).is_some(),
            Local::Decide(_) => self.decisions(node).any(|at| self.offered[at] == *local),
            _ => true,
        };
        if offered { Ok(self.begin(node, *local)) } else { Err(Refused::NotOffered) }
    }
    fn lapse(&mut self, node: NodeId, timer: &P::Timer) -> u32 {
        let local = self.local_index(node, Local::Lapse(timer.clone()));
        self.begin(node, local)
    }
    #[inline]
    fn rearm(&mut self, node: NodeId, outcome: &u32) {
        let ops = self.branches[*outcome as usize].timer_ops;
        if ops != NONE {
            self.rearm_by(node, ops);
        }
    }
    #[inline]
    fn send(&mut self, _: NodeId, outcome: &u32) {
        for index in 0..self.branches[*outcome as usize].sends.len() {
            let flight = self.branches[*outcome as usize].sends[index];
            self.put_bounded(flight);
        }
    }
    #[inline]
    fn watch(&mut self, _: NodeId, outcome: &u32) {
        let events = self.branches[*outcome as usize].events;
        if events != NONE {
            self.fold(events);
        }
    }
    fn elapse(&mut self, span: Span) -> Vec<Lapse<P::Timer>> {
        let mut lapses = Vec::new();
        for node in self.layout.node_ids() {
            let slot = self.layout.timers[node.index()];
            let (id, lapsed) = self.elapsed(slot, span);
            self.set(slot, id);
            lapses.extend(lapsed.iter().map(|timer| Lapse::Timer(node, timer.clone())));
        }
        let mut deadlines = self.deadline_sets[&self.work.fixed[usize::from(self.layout.deadlines)]].clone();
        if !deadlines.is_empty() {
            lapses.extend(deadlines.elapse(span).into_iter().map(Lapse::Deadline));
            let id = self.intern_deadlines(deadlines);
            self.set(self.layout.deadlines, id);
        }
        self.age_flights(span);
        self.shift_stamps(span);
        lapses
    }
    fn deadline(&mut self, id: u32) {
        let ops = vec![DeadlineOp::Clear(id)];
        let ops = self.deadline_ops.intern(hash(0, &encoding(&ops)), ops);
        self.change_deadlines(ops);
        let events = self.intern_events(NodeId(0), vec![Event::Deadline(id)]);
        self.fold(events);
    }
}

impl<P: Protocol> Interned<P> {
    /// Runs the host on an input: the branch taken, its state written.
    #[inline]
    fn begin(&mut self, node: NodeId, local: u32) -> u32 {
        let index = self.step(node, local);
        for write in 0..self.branches[index as usize].writes.len() {
            let (slot, id) = self.branches[index as usize].writes[write];
            self.set(slot, id);
        }
        let branch = &self.branches[index as usize];
        self.taken.goals |= branch.goals;
        self.taken.answers.extend_from_slice(&branch.answers);
        if let Some(broken) = &branch.broken {
            self.taken.violation.get_or_insert_with(|| broken.clone());
        }
        index
    }

    fn rearm_by(&mut self, node: NodeId, ops: u32) {
        let slot = self.layout.timers[node.index()];
        let old = self.work.fixed[usize::from(slot)];
        if !self.rearm_memo.contains_key(&(old, ops)) {
            let results = self.rearm_results(node, old, ops);
            self.rearm_memo.insert((old, ops), results);
        }
        let results = &self.rearm_memo[&(old, ops)];
        let (new, answers) = &results[self.odometer.pick(results.len())];
        self.taken.answers.extend_from_slice(answers);
        let new = *new;
        self.set(slot, new);
    }

    /// Puts a message in flight; where its link is full, one of the link's messages is lost, any of them.
    fn put_bounded(&mut self, flight: Id) {
        if let Some(capacity) = self.bounds.capacity {
            let info = self.flight(flight);
            let on_link = |store: &Self, id: Id| {
                let other = store.flight(id);
                (other.from, other.to) == (info.from, info.to)
            };
            let rivals: Vec<usize> =
                (0..self.work.flights.len()).filter(|at| on_link(self, self.work.flights[*at])).collect();
            if rivals.len() >= capacity as usize {
                let pick = self.odometer.pick(rivals.len() + 1);
                if pick == 0 {
                    self.taken.overflowed.push(flight);
                    return;
                }
                let lost = self.remove_flight(rivals[pick - 1]);
                self.taken.overflowed.push(lost);
            }
        }
        self.put(flight);
    }

    fn elapsed(&mut self, slot: u16, span: Span) -> Elapsed<P::Timer> {
        let old = self.work.fixed[usize::from(slot)];
        if let Some(known) = self.elapse_memo.get(&old) {
            return known.clone();
        }
        let mut timers = self.timers(old).clone();
        let lapsed: Box<[P::Timer]> = timers.elapse(span).into();
        let new = self.intern_timers(slot, timers);
        self.elapse_memo.insert(old, (new, lapsed.clone()));
        (new, lapsed)
    }

    fn age_flights(&mut self, span: Span) {
        if self.bounds.delay.is_none() {
            return;
        }
        let ticks = (span.0 / self.bounds.tick.0) as u32;
        for at in 0..self.work.flights.len() {
            let old = self.work.flights[at];
            let new = match self.aged_memo.get(&old) {
                Some(new) => *new,
                None => {
                    let mut flight = self.decode_flight(old);
                    flight.life = flight.life.map(|life| life.saturating_sub(ticks));
                    let new = self.intern_flight(flight);
                    self.aged_memo.insert(old, new);
                    new
                }
            };
            self.replace_flight(at, new);
        }
    }

    /// Exchanges a message in flight for another.
    pub(super) fn replace_flight(&mut self, at: usize, new: Id) {
        let old = std::mem::replace(&mut self.work.flights[at], new);
        self.work.weight = self.work.weight.wrapping_sub(self.pool.weight(old)).wrapping_add(self.pool.weight(new));
        self.work.tags_changed |= self.pool.tags_index(old) != self.pool.tags_index(new);
    }
}
