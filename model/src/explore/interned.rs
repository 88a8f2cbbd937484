//! The interned store: a world as a short row of small integers.
//!
//! A step is a pure function of the components it reads, so it is computed once and then looked up; a successor's
//! fingerprint is the parent's with the weights of changed components exchanged.

mod claims;
mod folds;
mod moments;
mod offers;
mod steps;
mod store;
mod values;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustc_hash::{FxHashMap, FxHashSet};

use super::bounds::{Bounds, Clock};
use super::exercised::Exercised;
use super::layout::{Block, Layout};
use super::marks::Marks;
use super::memo::{Dependencies, Memo};
use super::odometer::Odometer;
use super::pool::{ABSENT, ACTION, Collector, FLIGHT, Id, Lists, NamesIn, Pool};
use super::sharing::Shared;
use super::typed::Typed;
use crate::canonical::{Canonical, Decoder, Encoder, SplitPart, encoding, hash};
use crate::effects::Effects;
use crate::host::{Host, Local, Phase};
use crate::name::NodeId;
use crate::plain::Envelope;
use crate::property::{DeadlineOp, Property, Violation, Watch};
use crate::protocol::{Effect, Event, Protocol, Relevance, Surroundings};
use crate::time::{Span, Stamp, Timers};
use crate::trace::encode_effect;
use crate::world::{Lapse, Refused, Store};

/// No list of effects.
const NONE: u32 = u32::MAX;

/// A message in flight.
#[derive(Debug, Clone, PartialEq, Eq, seedbed_derive::Canonical)]
pub(super) struct Flight<M> {
    pub(super) envelope: Envelope<M>,
    /// How long it may still take [ns]; `None`: any time.
    pub(super) life: Option<u64>,
}

/// What the hot loop needs of a message in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlightInfo {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// The receiver's input.
    pub(super) local: u32,
    pub(super) life: Option<u64>,
    /// Whether its relevance need not be asked for.
    pub(super) always_live: bool,
    /// Whether nothing else happens before it arrives.
    pub(super) at_once: bool,
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

impl Work {
    /// Becomes a copy, in the memory that it has.
    #[inline]
    pub(super) fn become_like(&mut self, other: &Work) {
        self.fixed.clear();
        self.fixed.extend_from_slice(&other.fixed);
        self.flights.clear();
        self.flights.extend_from_slice(&other.flights);
        self.weight = other.weight;
        self.tags_changed = other.tags_changed;
    }
}

/// A row in which every node has just started.
#[derive(Debug, Clone)]
pub(super) struct Initial {
    pub(super) row: Work,
    /// What the starts drew, in order.
    pub(super) starts: Vec<u32>,
    /// What fell while they started.
    pub(super) violation: Option<Violation>,
}

/// One way a step can go: what it does to a row, small and flat, and on one line of memory, since every transition reads one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Branch {
    /// What its writes, and what its sends, add to a row's weight. What it writes over is known: it read it.
    written: u64,
    sent: u64,
    timer_ops: u32,
    events: u32,
    pub(super) goals: u32,
    /// Index of what hardly any branch has.
    extra: u32,
    write_count: u16,
    send_count: u16,
    /// Whether its writes exchange lists of tags, and whether its sends have tags.
    writes_tags: bool,
    sends_tags: bool,
    /// A slot and an id for each write, then an id for each send; or where they begin in `branch_cells`, if they are more.
    cells: [u32; CELLS_NEAR],
}

/// So many cells of a branch are at hand.
const CELLS_NEAR: usize = 6;

const _: () = assert!(size_of::<Branch>() == 64);

/// What hardly any branch has.
#[derive(Clone)]
struct Extra {
    answers: Box<[u32]>,
    broken: Option<Violation>,
}

/// One way a monitor's fold can go.
#[derive(Clone)]
struct Fold {
    writes: Box<[(u16, Id)]>,
    /// What they add to a row's weight, and whether they exchange lists of tags. What is written over is known: it was read.
    written: u64,
    writes_tags: bool,
    deadline_ops: u32,
    reached: Box<[&'static str]>,
    /// The bits of those.
    goals: u32,
    violation: Option<Violation>,
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
    /// Of the search: see [`Exercised`].
    pub(super) moment: u64,
    /// Whether a message was met that is not always live.
    pub(super) knows_mortals: bool,
    /// Whether a message was met that arrives before anything else happens.
    pub(super) knows_at_once: bool,
    /// Messages met that are not known to be always live.
    pub(super) mortals: Vec<Id>,
    /// Components up to here have their typed forms at hand.
    registered: usize,
    /// See [`Self::keep_names`].
    pub(super) keeps_names: bool,
    /// Why the bounds do not fit the protocol, once that has shown.
    pub(super) misfit: Option<String>,
    /// Ways that one step may go, at most; beyond them it is left at those.
    pub(super) ways_max: usize,
    /// Whether a step was.
    pub(super) is_cut_short: bool,
    /// Whether a link may be cut: by a budget, or because one was when the exploration began.
    pub(super) may_cut: bool,
    /// How long a message may take [ns]; `None`: any time.
    pub(super) life: Option<u64>,
    /// The claims about where states lead, by bit.
    pub(super) claims: Vec<super::space::Claim>,
    /// What the monitor owes, by its parts.
    owed_memo: FxHashMap<Box<[Id]>, u32>,
    /// What a choice takes, by its local's index; 0 if not asked for yet.
    actions: Vec<u32>,
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
    branch_cells: Vec<u32>,
    extras: Vec<Extra>,
    folds: Vec<Fold>,
    /// Ranges of branches, of folds, of decisions.
    ranges: Vec<(u32, u32)>,
    /// Node steps computed here.
    step_count: usize,
    host_memo: Memo<P::Timer>,
    told_ways: Shared<P::Timer, Vec<Way>>,
    /// Deliveries known to change nothing, where such messages stay in flight.
    ignored: Marks,
    watch_memo: Memo<P::Timer>,
    told_folds: Shared<P::Timer, Vec<Fold>>,
    decide_memo: Memo<P::Timer>,
    told_decisions: Shared<P::Timer, Vec<u32>>,
    relevance_memo: Memo<P::Timer>,
    told_relevances: Shared<P::Timer, Relevance<Id>>,
    /// What permutations make of blocks.
    told_images: Shared<P::Timer, Vec<Id>>,
    relevances: Vec<Relevance<Id>>,
    offered: Vec<u32>,
    rearm_memo: FxHashMap<(Id, u32), Box<[Rearmed]>>,
    elapse_memo: FxHashMap<(Id, Span), Elapsed<P::Timer>>,
    deadline_memo: FxHashMap<(Id, u32), Id>,
    syncs_of: Lists,
    crashes_of: Lists,
    invoke_memo: FxHashMap<(Id, Id), Option<u32>>,
    firings_of: Lists,
    aged_memo: FxHashMap<(Id, Span), Id>,
    pub(super) renamed: super::canonize::Renamed,
}

/// The interned store of a run whose nodes have all just started, with its initial rows: one for each combination of
/// clock offsets. `names`: see [`Interned::keep_names`].
pub(super) fn initial<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    names: bool,
) -> Result<(Interned<P>, Vec<Initial>), String> {
    let count = protocol.nodes().len();
    if count == 0 || count > usize::from(u16::MAX) {
        return Err(format!("a protocol has 1 to 65,535 nodes, not {count}"));
    }
    if let (true, Clock::Digital, Some(delay)) = (bounds.keep_ignored, bounds.clock, bounds.delay) {
        return Err(format!(
            "keep-ignored with delay {delay}: a message that changes nothing would stay in flight, and hold up time; leave out one \
             of them"
        ));
    }
    let monitor_parts = split(&P::Monitor::default()).1.len();
    // The parts of a state are known once it has started: lay out for a host that is down, start, and lay out anew.
    let sizes: Vec<usize> =
        (0..count).map(|node| parts_once_started(protocol, NodeId(node as u16))).collect::<Result<_, _>>()?;
    let slots = sizes.iter().map(|parts| parts + 2).sum::<usize>() + monitor_parts + 4;
    if slots > usize::from(u16::MAX) {
        return Err(format!("the parts of {count} nodes' states are {slots}, and a row takes 65,535; use fewer nodes"));
    }
    let mut store = Interned::new(protocol.clone(), bounds.clone(), Layout::new(&sizes, monitor_parts));
    store.keep_names(names);
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
            let starts = store.taken.answers.clone();
            rows.push(Initial { row: store.work.clone(), starts, violation: store.taken.violation.take() });
            if !store.odometer.advance() {
                break;
            }
        }
    }
    Ok((store, rows))
}

pub(super) use moments::initial_at;
use steps::Way;
pub(super) use steps::{Glance, Glanced};

/// How many parts the node's host has after its start.
fn parts_once_started<P: Protocol>(protocol: &P, node: NodeId) -> Result<usize, String> {
    let mut host = Host::new();
    let timers = Timers::default();
    let mut around = Around {
        timers: &timers,
        clock: &|| 0,
        asked: Vec::new(),
        clock_asked: false,
        odometer: &mut Odometer::default(),
    };
    host.feed(protocol, node, Local::Start, &mut around, &mut Effects::new());
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
        let claims = claims::of(&protocol, &bounds);
        Interned {
            may_cut: bounds.cuts > 0,
            life: bounds.life(),
            protocol,
            bounds,
            layout,
            pool: Pool::new(),
            work: Work::default(),
            odometer: Odometer::default(),
            taken: Taken::default(),
            exercised: Exercised::default(),
            moment: 0,
            knows_mortals: false,
            knows_at_once: false,
            mortals: Vec::new(),
            registered: 0,
            keeps_names: false,
            misfit: None,
            ways_max: usize::MAX,
            is_cut_short: false,
            claims,
            owed_memo: FxHashMap::default(),
            actions: Vec::new(),
            flights: Vec::new(),
            locals: Typed::new(),
            timer_ops: Typed::new(),
            events: Typed::new(),
            deadline_ops: Typed::new(),
            timer_sets: FxHashMap::default(),
            deadline_sets: FxHashMap::default(),
            fault_sets: FxHashMap::default(),
            branches: Vec::new(),
            branch_cells: Vec::new(),
            extras: Vec::new(),
            folds: Vec::new(),
            ranges: Vec::new(),
            step_count: 0,
            host_memo: Memo::new(),
            told_ways: Shared::new(),
            ignored: Marks::default(),
            watch_memo: Memo::new(),
            told_folds: Shared::new(),
            decide_memo: Memo::new(),
            told_decisions: Shared::new(),
            relevance_memo: Memo::new(),
            told_relevances: Shared::new(),
            told_images: Shared::new(),
            relevances: Vec::new(),
            offered: Vec::new(),
            rearm_memo: FxHashMap::default(),
            elapse_memo: FxHashMap::default(),
            deadline_memo: FxHashMap::default(),
            syncs_of: Lists::default(),
            crashes_of: Lists::default(),
            invoke_memo: FxHashMap::default(),
            firings_of: Lists::default(),
            aged_memo: FxHashMap::default(),
            renamed: super::canonize::Renamed::default(),
        }
    }

    /// Whether rows keep their names as they are, for scripts: old stamps do not become one, and draws that make no
    /// difference are told apart.
    pub(super) fn keep_names(&mut self, keeps: bool) {
        if std::mem::replace(&mut self.keeps_names, keeps) != keeps {
            self.rearm_memo.clear();
        }
    }

    /// Another worker's store: the same ids mean the same.
    pub(super) fn fork(&self) -> Self {
        let mut store = Interned::new(self.protocol.clone(), self.bounds.clone(), self.layout.clone());
        store.pool = self.pool.fork();
        store.locals = self.locals.fork();
        store.timer_ops = self.timer_ops.fork();
        store.events = self.events.fork();
        store.deadline_ops = self.deadline_ops.fork();
        store.told_ways = self.told_ways.fork();
        store.told_folds = self.told_folds.fork();
        store.told_decisions = self.told_decisions.fork();
        store.told_relevances = self.told_relevances.fork();
        store.told_images = self.told_images.fork();
        store.may_cut = self.may_cut;
        store.life = self.life;
        store.register();
        store
    }

    /// Learns what other workers have met, so that their rows can be read.
    pub(super) fn catch_up(&mut self) {
        self.pool.catch_up();
        self.register();
        if !self.knows_mortals {
            self.settle();
        }
    }

    /// What another worker found for `input` in the row being worked on, or `compute` does, who then tells the others.
    fn learn<V: Clone>(
        &mut self,
        input: u32,
        told: impl Fn(&Self) -> &Shared<P::Timer, V>,
        compute: impl FnOnce(&mut Self) -> (Dependencies<P::Timer>, V),
    ) -> (Dependencies<P::Timer>, V) {
        let row = |store: &Self, at: u16| store.work.fixed[usize::from(at)];
        let armed = |store: &Self, id: Id, timer: &P::Timer| store.timers(id).is_armed(timer, 0);
        if let Some(found) = told(self).ask(input, |at| row(self, at), |id, timer| armed(self, id, timer)) {
            self.catch_up_with_results();
            return found;
        }
        let found = compute(self);
        told(self).tell(input, &found.0, &found.1, |at| row(self, at), |id, timer| armed(self, id, timer));
        found
    }

    /// What permutations make of a block of the row being worked on, one after the other.
    pub(super) fn learn_images(&mut self, block: Block, compute: impl FnOnce(&mut Self) -> Vec<Id>) -> Vec<Id> {
        let depends = Dependencies { slots: block.slots().collect(), timers: None };
        self.learn(block.start.into(), |store| &store.told_images, |store| (depends, compute(store))).1
    }

    /// Learns what other workers' results are made of.
    fn catch_up_with_results(&mut self) {
        self.pool.catch_up();
        self.register();
        self.locals.catch_up();
        self.timer_ops.catch_up();
        self.events.catch_up();
        self.deadline_ops.catch_up();
    }

    /// Learns which of the messages met others found to be always live.
    fn settle(&mut self) {
        let (pool, flights) = (&self.pool, &mut self.flights);
        self.mortals.retain(|id| match &mut flights[*id as usize] {
            Some(info) if pool.is_always_live(*id) => {
                info.always_live = true;
                false
            }
            _ => true,
        });
    }

    /// Gets the typed forms of components that others interned ready.
    fn register(&mut self) {
        while self.registered < self.pool.len() {
            let id = self.registered as Id;
            self.registered += 1;
            let place = self.pool.place(id);
            if place == FLIGHT {
                let flight = self.decode_flight(id);
                self.register_flight(id, flight);
            } else if id != ABSENT && place != ACTION {
                self.register_slot(id, place as u16);
            }
        }
    }

    fn register_slot(&mut self, id: Id, slot: u16) {
        const WHOLE: &str = "the pool holds what was encoded";
        let bytes = self.pool.bytes(id);
        if self.layout.timers.contains(&slot) {
            let timers = crate::canonical::decoding(bytes).expect(WHOLE);
            self.timer_sets.entry(id).or_insert(timers);
        } else if slot == self.layout.deadlines {
            let deadlines = crate::canonical::decoding(bytes).expect(WHOLE);
            self.deadline_sets.entry(id).or_insert(deadlines);
        } else if slot == self.layout.faults {
            let faults = crate::canonical::decoding(bytes).expect(WHOLE);
            self.fault_sets.entry(id).or_insert(faults);
        }
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
        self.lay_out_faults(BTreeSet::new());
        let clocks: std::collections::BTreeMap<NodeId, i64> = layout.node_ids().zip(offsets.iter().copied()).collect();
        let clocks = self.pool.intern_value(layout.clocks.into(), &clocks);
        self.set(layout.clocks, clocks);
    }

    /// Full budgets, and the links that are cut to begin with.
    fn lay_out_faults(&mut self, cut: BTreeSet<(NodeId, NodeId)>) {
        let Bounds { losses, duplicates, crashes, pauses, cuts, .. } = self.bounds;
        let faults = self.intern_faults(Faults { losses, duplicates, crashes, pauses, cuts, cut });
        self.set(self.layout.faults, faults);
    }

    fn place(&mut self, block: Block, ids: &[Id]) {
        for (slot, id) in block.slots().zip(ids) {
            self.set(slot, *id);
        }
    }

    /// Starts a step from `row`.
    pub(super) fn reset(&mut self, row: &Work) {
        self.work.become_like(row);
        self.taken.answers.clear();
        self.taken.overflowed.clear();
        self.taken.violation = None;
        self.taken.goals = 0;
    }

    #[inline]
    pub(super) fn set(&mut self, slot: u16, id: Id) {
        let old = std::mem::replace(&mut self.work.fixed[usize::from(slot)], id);
        self.work.weight = self.work.weight.wrapping_add(self.pool.change(old, id));
        self.work.tags_changed |= self.pool.are_tags_other(old, id);
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

    /// The sum of the weights of what is in the row being worked on.
    pub(super) fn weight_of_work(&self) -> u64 {
        let all = self.work.fixed.iter().chain(&self.work.flights);
        all.map(|id| self.pool.weight(*id)).fold(0, u64::wrapping_add)
    }

    #[inline]
    pub(super) fn flight(&self, id: Id) -> &FlightInfo {
        self.flights[id as usize].as_ref().expect("an id in flight is a flight's")
    }
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

/// What surrounds a step that is being computed: it notes what was asked for.
struct Around<'a, T: Ord> {
    timers: &'a Timers<T>,
    /// The node's own clock, which few steps ask for.
    clock: &'a dyn Fn() -> i64,
    asked: Vec<T>,
    clock_asked: bool,
    odometer: &'a mut Odometer,
}

impl<T: Ord + Clone + std::hash::Hash> Surroundings<T> for Around<'_, T> {
    fn is_armed(&mut self, timer: &T) -> bool {
        if !self.asked.contains(timer) {
            self.asked.push(timer.clone());
        }
        self.timers.is_armed(timer, 0)
    }
    fn clock(&mut self) -> Stamp {
        self.clock_asked = true;
        Stamp((self.clock)())
    }
    fn choose(&mut self, count: u32) -> u32 {
        self.odometer.pick(count as usize) as u32
    }
}
