//! A world of a protocol as a space: what can happen in a row, and the canonical rows it leads to.

use std::any::TypeId;
use std::io;

use super::Bounds;
use super::bounds::Clock;
use super::canonize::{Change, Mortals, fingerprint};
use super::checkpoint::{Reader, Writer};
use super::exercised::Exercised;
use super::interned::{Faults, Glance, Glanced, Initial, Interned, Taken, Work, initial, initial_at};
use super::landings::Landings;
use super::moment::{Moment, Pace};
use super::pool::{ABSENT, Id};
use super::space::{Claim, Row, Seen, Space, Successors};
use super::symmetry::Symmetry;
use crate::canonical::Canonical;
use crate::host::{Local, Phase};
use crate::name::{Never, NodeId};
use crate::protocol::Protocol;
use crate::script::{Script, ScriptStep};
use crate::time::{Shifting, Span};
use crate::world::{Choice, Named, Store, apply};

/// The choices as the interned store names them.
pub(super) type Pick = Choice<Id, u32>;

/// An interned store that walks from row to row.
pub(super) struct Walker<P: Protocol> {
    pub(super) store: Interned<P>,
    pub(super) initial: Vec<Initial>,
    symmetry: Symmetry,
    ranked: bool,
    /// `[i]` says whether node `i` stands for a service and so never fails.
    specifications: Vec<bool>,
    row: Work,
    picks: Vec<Pick>,
    /// Of the nodes in the row whose options are asked for.
    phases: Vec<Phase>,
    /// By pick, what it comes to where that is seen without taking it.
    glances: Vec<Option<Glance>>,
    /// Of the row that was glanced at.
    mortals: Mortals,
    landings: Landings,
    cells: Cells,
    has_faults: bool,
    /// Whether every link is whole and takes any number of messages.
    is_open: bool,
    pace: Pace,
}

/// What is left of some fault budgets.
#[derive(Clone, Copy, Default)]
struct Left {
    losses: u32,
    duplicates: u32,
    crashes: u32,
    pauses: u32,
}

/// How a row becomes the cells that wait in queues: the slots that can change, and then the flights.
#[derive(Debug, Clone)]
struct Cells {
    /// The slots that can change.
    live: Vec<u16>,
    /// `[slot]`: its place among them.
    places: Vec<u16>,
    /// A row with the others.
    base: Vec<Id>,
}

impl Cells {
    fn of<P: Protocol>(store: &Interned<P>, initial: &[Initial]) -> Self {
        let base = initial[0].row.fixed.clone();
        let layout = &store.layout;
        let mut dead = Vec::new();
        for node in layout.node_ids() {
            let start = layout.nodes[node.index()].start;
            dead.extend((!exists::<P::Timer>()).then_some(layout.timers[node.index()]));
            // A host's parts: its disk, its client, and then those of its state.
            dead.extend((!exists::<P::Record>()).then_some(start + 1));
            dead.extend((!exists::<P::Operation>()).then_some(start + 2));
        }
        dead.extend((!store.bounds.has_faults() && !store.may_cut).then_some(layout.faults));
        dead.extend(clocks_are_alike(store, initial).then_some(layout.clocks));
        let live: Vec<u16> = (0..layout.fixed as u16).filter(|slot| !dead.contains(slot)).collect();
        let mut places = vec![u16::MAX; layout.fixed];
        live.iter().zip(0..).for_each(|(slot, place)| places[usize::from(*slot)] = place);
        Cells { live, places, base }
    }

    /// What becomes of `row` by a step that takes the message `taken` from flight, if any, then writes and sends: what taking it
    /// and [`Self::write`] come to.
    #[inline]
    fn write_after(&self, row: Row<'_>, taken: Id, does: &Glanced<'_>, cells: &mut Vec<u32>) {
        let start = cells.len();
        cells.extend_from_slice(row.cells);
        for write in does.writes.chunks_exact(2) {
            cells[start + usize::from(self.places[write[0] as usize])] = write[1];
        }
        for (slot, id) in does.folded.iter().chain(&does.rearmed) {
            cells[start + usize::from(self.places[usize::from(*slot)])] = *id;
        }
        let flights = &row.cells[self.live.len()..];
        if let Some(at) = flights.iter().position(|flight| *flight == taken) {
            cells.swap_remove(start + self.live.len() + at);
        }
        cells.extend_from_slice(does.sends);
    }

    #[inline]
    fn write(&self, work: &Work, cells: &mut Vec<u32>) {
        cells.extend(self.live.iter().map(|slot| work.fixed[usize::from(*slot)]));
        cells.extend_from_slice(&work.flights);
    }

    /// `work` becomes a canonical row.
    #[inline]
    fn read(&self, row: Row<'_>, work: &mut Work) {
        let (slots, flights) = row.cells.split_at(self.live.len());
        work.fixed.clear();
        work.fixed.extend_from_slice(&self.base);
        for (slot, id) in self.live.iter().zip(slots) {
            work.fixed[usize::from(*slot)] = *id;
        }
        work.flights.clear();
        work.flights.extend_from_slice(flights);
        work.weight = row.weight;
        work.tags_changed = false;
    }
}

/// Whether no row says anything else of the clocks: all begin with the same ones, and nodes that are interchanged do not
/// bring theirs along.
fn clocks_are_alike<P: Protocol>(store: &Interned<P>, initial: &[Initial]) -> bool {
    let offsets = store.offsets(&initial[0].row);
    let offset = |node: NodeId| offsets.get(node.index());
    let mut classes = store.protocol.symmetry().into_iter();
    initial.iter().all(|other| store.offsets(&other.row) == offsets)
        && classes.all(|class| class.iter().all(|node| offset(*node) == offset(class[0])))
}

/// What became of one way to take a choice.
pub(super) struct Landed {
    /// Of the canonical row; meaningless if a property fell.
    pub(super) fingerprint: u64,
    /// Whether a bound on tags cuts the state off.
    pub(super) cut: bool,
}

impl<P: Protocol> Walker<P> {
    /// For a search.
    pub(super) fn new(protocol: &P, bounds: &Bounds) -> Result<Self, String> {
        Walker::keeping(protocol, bounds, None, false)
    }

    /// For a search from a moment, if one is given.
    pub(super) fn from(protocol: &P, bounds: &Bounds, moment: Option<&Moment<P>>) -> Result<Self, String> {
        Walker::keeping(protocol, bounds, moment, false)
    }

    /// For single paths, with names as they are.
    pub(super) fn with_names(protocol: &P, bounds: &Bounds, moment: Option<&Moment<P>>) -> Result<Self, String> {
        Walker::keeping(protocol, bounds, moment, true)
    }

    fn keeping(protocol: &P, bounds: &Bounds, moment: Option<&Moment<P>>, names: bool) -> Result<Self, String> {
        // Fairness is about a message, a timer, a record: it must keep its name from state to state.
        let mut bounds = bounds.clone();
        bounds.symmetry &= !bounds.eventually;
        bounds.drop_dead &= !bounds.eventually;
        let (store, initial) = match moment {
            None => initial(protocol, &bounds, names)?,
            Some(moment) => initial_at(protocol, &bounds, names, moment)?,
        };
        let symmetry = if bounds.symmetry { Symmetry::of(protocol)? } else { Symmetry::none() };
        let cells = Cells::of(&store, &initial);
        Ok(Walker {
            has_faults: bounds.has_faults(),
            is_open: bounds.capacity.is_none() && !store.may_cut,
            pace: moment.map_or(Pace::TICKS, |moment| moment.pace),
            cells,
            store,
            initial,
            symmetry,
            ranked: protocol.tags_are_ranked() && !bounds.eventually,
            specifications: (0..protocol.nodes().len() as u16)
                .map(|node| protocol.stands_for(NodeId(node)).is_some())
                .collect(),
            row: Work::default(),
            picks: Vec::new(),
            phases: Vec::new(),
            glances: Vec::new(),
            mortals: Mortals::default(),
            landings: Landings::new(),
        })
    }

    /// Turns the row being worked on into its canonical form.
    pub(super) fn canonize(&mut self) -> Landed {
        self.store.drop_dead(true, None);
        self.canonize_living()
    }

    /// The same, where no message is dead.
    fn canonize_living(&mut self) -> Landed {
        let store = &mut self.store;
        if store.keeps_names {
            store.saturate_stamps();
        }
        if self.ranked {
            store.rank_tags();
        }
        let cut = store.bounds.tag_max.is_some_and(|most| store.has_tag_beyond(most));
        let fingerprint =
            if self.symmetry.is_none() { fingerprint(store.work.weight) } else { self.symmetry.make_least(store) };
        Landed { fingerprint, cut }
    }

    /// Turns the initial row being worked on into its canonical form: a run under way may have stamps from long ago.
    pub(super) fn begin_row(&mut self) -> Landed {
        self.store.work.tags_changed = true;
        self.store.saturate_stamps();
        self.canonize()
    }

    /// Everything that can happen in the row being worked on.
    pub(super) fn options(&mut self, out: &mut Vec<Pick>) {
        out.clear();
        self.phases.clear();
        self.phases.extend(self.store.layout.node_ids().map(|node| self.store.phase(node)));
        self.deliveries(out);
        if self.store.knows_at_once && self.keep_at_once(out) {
            return;
        }
        let left = self.left();
        for node in self.store.layout.node_ids() {
            self.local_options(node, &left, out);
        }
        self.link_options(out);
        if self.store.bounds.clock == Clock::Digital && !self.store.is_urgent() {
            out.extend(self.next_span().map(Choice::Elapse));
        }
    }

    /// How far time passes in one step; `None` if it makes no difference.
    #[inline]
    fn next_span(&self) -> Option<Span> {
        match self.pace.is_by_events {
            false => Some(self.store.bounds.tick),
            true => self.store.next_end().into_iter().chain(self.pace.stride).min(),
        }
    }

    /// What is left of the fault budgets.
    #[inline]
    fn left(&self) -> Left {
        if !self.has_faults {
            return Left::default();
        }
        let Faults { losses, duplicates, crashes, pauses, .. } = *self.store.faults();
        Left { losses, duplicates, crashes, pauses }
    }

    fn deliveries(&self, out: &mut Vec<Pick>) {
        let left = self.left();
        let store = &self.store;
        let keep_ignored = store.bounds.keep_ignored;
        // A copy of a message is looked for only where one of its kin, by the lowest bits, came before.
        let mut kin = 0u64;
        for (at, &flight) in store.work.flights.iter().enumerate() {
            let bit = 1 << (flight % 64);
            if kin & bit != 0 && store.work.flights[..at].contains(&flight) {
                continue;
            }
            kin |= bit;
            let info = store.flight(flight);
            let phase = self.phases[info.to.index()];
            if phase != Phase::Paused && !(keep_ignored && phase == Phase::Up && store.is_ignored(info)) {
                out.push(Choice::Deliver(flight));
            }
            if left.duplicates > 0 && phase == Phase::Up {
                out.push(Choice::Duplicate(flight));
            }
            if left.losses > 0 {
                out.push(Choice::Lose(flight));
            }
        }
    }

    /// Whether a message arrives before anything else happens: of the deliveries those of such messages are left.
    #[inline]
    fn keep_at_once(&self, out: &mut Vec<Pick>) -> bool {
        let is_at_once = |pick: &Pick| matches!(pick, Choice::Deliver(flight) if self.store.flight(*flight).at_once);
        let is_any = out.iter().any(is_at_once);
        if is_any {
            out.retain(is_at_once);
        }
        is_any
    }

    fn local_options(&mut self, node: NodeId, left: &Left, out: &mut Vec<Pick>) {
        let store = &mut self.store;
        let phase = self.phases[node.index()];
        if phase == Phase::Up {
            if exists::<P::Timer>() {
                out.extend(store.firings(node).iter().map(|local| Choice::At(node, *local)));
            }
            if exists::<P::Record>() {
                out.extend(store.syncs(node).iter().map(|local| Choice::At(node, *local)));
            }
            if exists::<P::Operation>() {
                out.extend(store.invocation(node).map(|local| Choice::At(node, local)));
            }
            if exists::<P::Decision>() {
                for at in store.decisions(node) {
                    out.push(Choice::At(node, store.offered(at)));
                }
            }
        }
        if self.specifications[node.index()] {
            return;
        }
        if phase != Phase::Down && left.crashes > 0 {
            out.extend(store.crashes(node).iter().map(|local| Choice::At(node, *local)));
        }
        let simple = match phase {
            Phase::Up if left.pauses > 0 => Local::Pause,
            Phase::Paused => Local::Resume,
            Phase::Down if store.bounds.restart => Local::Restart,
            Phase::Up | Phase::Down => return,
        };
        let local = store.local_index(node, simple);
        out.push(Choice::At(node, local));
    }

    fn link_options(&mut self, out: &mut Vec<Pick>) {
        if !self.store.may_cut {
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
        named.rename(&mut Shifting { span: -((self.pace.since + elapsed).0 as i64), floor: i64::MIN });
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

/// Whether there are values of the type at all.
fn exists<T: 'static>() -> bool {
    TypeId::of::<T>() != TypeId::of::<Never>()
}

impl<P: Protocol> Space for Walker<P> {
    fn start(&mut self, out: &mut Successors) {
        for initial in self.initial.clone() {
            self.store.reset(&initial.row);
            let landed = self.begin_row();
            let work = &self.store.work;
            out.push(landed.fingerprint, work.weight, 0, |cells| self.cells.write(work, cells));
            if let Some(violation) = initial.violation {
                out.fell_here(violation);
                return;
            }
        }
    }

    fn expand(&mut self, row: Row<'_>, _: &dyn Seen, out: &mut Successors) {
        let mut picks = std::mem::take(&mut self.picks);
        self.cells.read(row, &mut self.store.work);
        self.options(&mut picks);
        // All of them now: a pick that is taken changes the row that glances are read from.
        self.glance(&picks);
        let is_fair = self.store.bounds.eventually;
        if is_fair {
            out.owe(self.store.owed());
        }
        // The row is kept once a pick has to be taken: until then it is the one being worked on.
        let (mut from, mut is_kept) = (std::mem::take(&mut self.row), false);
        for (at, pick) in picks.iter().enumerate() {
            if is_fair {
                out.act(self.store.action_of(pick));
            }
            if let Some(glance) = self.glances[at] {
                debug_assert!(self.is_glanced_right(row, pick, &glance));
                if self.land_at_a_glance(row, &glance, out) {
                    continue;
                }
            }
            if !std::mem::replace(&mut is_kept, true) {
                from.become_like(&self.store.work);
            }
            self.go_every_way(pick, &from, out);
            if out.has_fallen() {
                break;
            }
        }
        self.row = from;
        self.picks = picks;
    }

    fn fork(&self) -> Self {
        Walker {
            has_faults: self.has_faults,
            is_open: self.is_open,
            pace: self.pace,
            cells: self.cells.clone(),
            store: self.store.fork(),
            initial: self.initial.clone(),
            symmetry: self.symmetry.fork(),
            ranked: self.ranked,
            specifications: self.specifications.clone(),
            row: Work::default(),
            picks: Vec::new(),
            phases: Vec::new(),
            glances: Vec::new(),
            mortals: Mortals::default(),
            landings: Landings::new(),
        }
    }

    fn begin(&mut self, moment: u64) {
        self.store.moment = moment;
        self.store.catch_up();
    }

    fn claims(&self) -> Vec<Claim> {
        self.store.claims.clone()
    }

    fn misfit(&self) -> Option<String> {
        self.store.misfit.clone()
    }

    fn memory(&self) -> usize {
        self.store.pool.memory() + self.landings.memory()
    }

    fn save(workers: &[&Self], out: &mut Writer<'_, '_>) -> io::Result<()> {
        let mut exercised = Exercised::default();
        workers.iter().for_each(|walker| exercised.join(&walker.store.exercised, u64::MAX));
        exercised.save(out)?;
        let mut pool = workers[0].store.pool.fork();
        pool.catch_up();
        pool.save(out)
    }

    fn load(&mut self, input: &mut Reader<'_, '_>) -> Result<(), String> {
        self.store.exercised = Exercised::load(input)?;
        self.store.pool.load(input)?;
        self.store.catch_up();
        Ok(())
    }
}

impl<P: Protocol> Walker<P> {
    /// Notes what the picks come to, where that is seen without taking them.
    #[inline]
    fn glance(&mut self, picks: &[Pick]) {
        self.glances.clear();
        if !self.is_open {
            self.glances.resize(picks.len(), None);
            return;
        }
        if self.symmetry.is_none() {
            self.mortals = self.store.mortals_in_flight();
        }
        for pick in picks {
            let step = match pick {
                Choice::Deliver(flight) => {
                    let info = self.store.flight(*flight);
                    (self.phases[info.to.index()] == Phase::Up).then_some((info.to, info.local, *flight))
                }
                Choice::At(node, local) => match self.store.local_of(*local).1 {
                    Local::Sync(_) | Local::Invoke | Local::Decide(_) => Some((*node, *local, ABSENT)),
                    _ => None,
                },
                _ => None,
            };
            self.glances.push(step.and_then(|(node, local, taken)| self.store.glance(node, local, taken)));
        }
    }

    /// Tells where a step leads from `row` that was glanced at; false if it must be taken to know.
    #[inline]
    fn land_at_a_glance(&mut self, row: Row<'_>, glance: &Glance, out: &mut Successors) -> bool {
        let does = self.store.glanced(glance);
        if glance.taken != ABSENT && self.store.bounds.keep_ignored && does.is_nothing() {
            return true;
        }
        let raw = fingerprint(glance.weight);
        if self.is_dear(glance.changes_tags) {
            let known = self.landings.find(raw);
            known.into_iter().for_each(|known| out.known(known, does.goals));
            return known.is_some();
        }
        let is_canonical = self.lets_all_live(glance, &does);
        if is_canonical {
            out.push(raw, glance.weight, does.goals, |out| self.cells.write_after(row, glance.taken, &does, out));
        }
        is_canonical
    }

    /// Whether the step that was glanced at leaves no message that may be dropped or exchanged.
    #[inline]
    fn lets_all_live(&self, glance: &Glance, does: &Glanced<'_>) -> bool {
        self.store.lets_all_live(self.mortals, glance.node, glance.taken, does.sends)
    }

    /// Whether a row takes more to make canonical than to look up where it led to lately.
    #[inline]
    fn is_dear(&self, changes_tags: bool) -> bool {
        !self.symmetry.is_none() || changes_tags
    }

    /// Whether taking the pick in `row` comes to what was seen. Leaves the row being worked on as it was.
    fn is_glanced_right(&mut self, row: Row<'_>, pick: &Pick, glance: &Glance) -> bool {
        let (kept, mut from) = (self.store.work.clone(), Work::default());
        self.cells.read(row, &mut from);
        self.store.reset(&from);
        self.take(pick);
        let (mut seen, mut taken) = (Vec::new(), Vec::new());
        let does = self.store.glanced(glance);
        self.cells.write_after(row, glance.taken, &does, &mut seen);
        let (goals_seen, lets_all_live) = (does.goals, self.lets_all_live(glance, &does));
        if self.symmetry.is_none() && lets_all_live {
            self.store.drop_dead(true, None);
        }
        self.cells.write(&self.store.work, &mut taken);
        let Taken { answers, overflowed, violation, goals } = &self.store.taken;
        let is_alike = (&seen, glance.weight, glance.changes_tags)
            == (&taken, self.store.work.weight, self.store.work.tags_changed)
            && (*goals, violation.is_some()) == (goals_seen, false)
            && answers.is_empty()
            && overflowed.is_empty()
            && self.store.odometer.is_at_rest();
        self.store.reset(&kept);
        is_alike
    }

    /// Takes the pick in every way that it can go from `from`, up to the first that a property falls on.
    fn go_every_way(&mut self, pick: &Pick, from: &Work, out: &mut Successors) {
        let changed = self.change_by(pick, from);
        loop {
            self.store.reset(from);
            self.take(pick);
            if !self.was_ignored(pick, from) {
                self.land(changed, out);
            }
            if out.has_fallen() {
                self.store.odometer.restart();
                return;
            }
            if !self.store.odometer.advance() {
                return;
            }
        }
    }

    /// Whether a message was delivered that changed nothing, and such messages stay in flight.
    #[inline]
    fn was_ignored(&self, pick: &Pick, from: &Work) -> bool {
        match pick {
            Choice::Deliver(flight) if self.store.bounds.keep_ignored => {
                let (work, taken) = (&self.store.work, &self.store.taken);
                taken.violation.is_none()
                    && taken.goals == 0
                    && work.weight == from.weight.wrapping_sub(self.store.pool.weight(*flight))
                    && work.fixed == from.fixed
            }
            _ => false,
        }
    }

    /// What the pick changes in `from` that messages are about, if that is one node alone.
    #[inline]
    fn change_by(&self, pick: &Pick, from: &Work) -> Option<Change> {
        let (node, first_sent) = match pick {
            Choice::Deliver(flight) => (self.store.flight(*flight).to, from.flights.len() - 1),
            Choice::Duplicate(flight) => (self.store.flight(*flight).to, from.flights.len()),
            Choice::At(node, _) => (*node, from.flights.len()),
            Choice::Lose(_) | Choice::Cut(..) | Choice::Heal(..) | Choice::Elapse(_) => return None,
        };
        // A link that is full loses a message from among the others.
        self.is_open.then_some(Change { node, first_sent })
    }

    #[inline]
    fn land(&mut self, changed: Option<Change>, out: &mut Successors) {
        if let Some(violation) = self.store.taken.violation.take() {
            out.fell(violation);
            return;
        }
        let goals = self.store.taken.goals;
        let Work { weight, tags_changed, .. } = self.store.work;
        let (raw, is_dear) = (fingerprint(weight), self.is_dear(tags_changed));
        if is_dear && let Some(known) = self.landings.find(raw) {
            out.known(known, goals);
            return;
        }
        self.store.drop_dead(true, changed);
        let landed = self.canonize_living();
        if landed.cut {
            out.cut();
            return;
        }
        if is_dear {
            self.landings.note(raw, landed.fingerprint);
        }
        let work = &self.store.work;
        out.push(landed.fingerprint, work.weight, goals, |cells| self.cells.write(work, cells));
    }
}
