//! A node's step: looked up, or computed once under what it read; and what it does to the node's timers.

use super::*;

impl<P: Protocol> Interned<P> {
    /// What a node's step on `local` would make of the row being worked on, after the message `taken` was taken from flight (or
    /// [`ABSENT`]). `None` if that is not known, may go several ways, or a property falls. The node is up, links are whole and take
    /// any number of messages.
    #[inline]
    pub(in crate::explore) fn glance(&mut self, node: NodeId, local: u32, taken: Id) -> Option<Glance> {
        // Where there are several ways, this is the index of none.
        let index = self.known_ways(local)? ^ ALONE;
        let branch = self.branches.get(index as usize)?;
        let Branch { written, sent, timer_ops, events, extra, writes_tags, sends_tags, .. } = *branch;
        if extra != NONE {
            return None;
        }
        let left = self.work.weight.wrapping_sub(self.pool.weight(taken));
        let mut glance = Glance {
            weight: left.wrapping_add(written).wrapping_add(sent),
            changes_tags: writes_tags || sends_tags || self.pool.tags_index(taken) != 0,
            node,
            taken,
            branch: index,
            timers: ABSENT,
            fold: NONE,
        };
        if timer_ops != NONE {
            let old = self.work.fixed[usize::from(self.layout.timers[node.index()])];
            let [(new, answers)] = &**self.rearm_memo.get(&(old, timer_ops))? else { return None };
            if !answers.is_empty() {
                return None;
            }
            if *new != old {
                glance.timers = *new;
                glance.weight = glance.weight.wrapping_add(self.pool.change(old, *new));
                glance.changes_tags |= self.pool.are_tags_other(old, *new);
            }
        }
        if events != NONE {
            glance.fold = self.plain_fold(events)?;
            let fold = &self.folds[glance.fold as usize];
            glance.weight = glance.weight.wrapping_add(fold.written);
            glance.changes_tags |= fold.writes_tags;
        }
        Some(glance)
    }

    /// What the step does that was glanced at.
    #[inline]
    pub(in crate::explore) fn glanced(&self, glance: &Glance) -> Glanced<'_> {
        let branch = &self.branches[glance.branch as usize];
        let (writes, sends) = branch.cells(&self.branch_cells);
        let fold = self.folds.get(glance.fold as usize);
        let timers = self.layout.timers[glance.node.index()];
        Glanced {
            writes,
            rearmed: (glance.timers != ABSENT).then_some((timers, glance.timers)),
            folded: fold.map_or(&[], |fold| &fold.writes),
            sends,
            goals: branch.goals | fold.map_or(0, |fold| fold.goals),
        }
    }

    #[inline]
    pub(super) fn step(&mut self, node: NodeId, local: u32) -> u32 {
        let ways = self.known_ways(local).unwrap_or_else(|| self.learn_ways(node, local));
        if ways & ALONE != 0 {
            return ways & !ALONE;
        }
        let (start, len) = self.ranges[ways as usize];
        start + self.odometer.pick(len as usize) as u32
    }

    #[inline]
    fn known_ways(&mut self, local: u32) -> Option<u32> {
        let (work, sets) = (&self.work, &self.timer_sets);
        self.host_memo.find(local, |at| work.fixed[usize::from(at)], |id, timer| sets[&id].is_armed(timer, 0))
    }

    /// Whether the delivery of the message to a node that is up is known to change nothing, from its receiver's core alone.
    #[inline]
    pub(in crate::explore) fn is_ignored(&self, flight: &FlightInfo) -> bool {
        let work = &self.work;
        self.ignored.has(flight.local, |at| work.fixed[usize::from(at)]) && !self.is_cut(flight.from, flight.to)
    }

    #[cold]
    fn learn_ways(&mut self, node: NodeId, local: u32) -> u32 {
        let (depends, ways) = self.learn(local, |store| &store.told_ways, |store| store.compute_ways(node, local));
        self.keep_ways(local, depends, ways)
    }

    fn compute_ways(&mut self, node: NodeId, local: u32) -> (Dependencies<P::Timer>, Vec<Way>) {
        self.step_count += 1;
        let mut odometer = Odometer::default();
        let mut depends = Dependencies { slots: Vec::new(), timers: None };
        let (mut asked, mut ways) = (Vec::new(), Vec::new());
        loop {
            ways.push(self.compute_way(node, local, &mut odometer, &mut depends, &mut asked));
            if !odometer.advance() {
                break;
            }
            if ways.len() >= self.ways_max {
                self.is_cut_short = true;
                break;
            }
        }
        depends.slots.sort_unstable();
        depends.slots.dedup();
        if !asked.is_empty() {
            depends.timers = Some((self.layout.timers[node.index()], asked));
        }
        (depends, ways)
    }

    /// Remembers the ways of a step that depend on this. What [`Self::known_ways`] says of it from here on.
    fn keep_ways(&mut self, local: u32, depends: Dependencies<P::Timer>, ways: Vec<Way>) -> u32 {
        let input = &self.locals.get(local).1;
        let is_delivery = matches!(input, Local::Deliver(..));
        self.exercised.local(input, self.moment);
        let (start, len) = (self.branches.len() as u32, ways.len() as u32);
        for way in ways {
            way.records.iter().for_each(|kind| self.exercised.record(*kind, self.moment));
            // A message that changes nothing and stays in flight was not delivered: what its step marked did not happen.
            if !(self.bounds.keep_ignored && is_delivery && way.is_nothing()) {
                way.marks.iter().for_each(|mark| self.exercised.goal(mark, self.moment));
            }
            let branch = self.branch_of(way);
            self.branches.push(branch);
        }
        let ways = if len == 1 {
            start | ALONE
        } else {
            self.ranges.push((start, len));
            self.ranges.len() as u32 - 1
        };
        let is_ignored = self.bounds.keep_ignored && self.branches[start as usize..].iter().all(Branch::is_empty);
        let (work, sets) = (&self.work, &self.timer_sets);
        let slot = |at: u16| work.fixed[usize::from(at)];
        if let (true, &[only], None) = (is_ignored, &*depends.slots, &depends.timers) {
            self.ignored.mark(local, only, slot(only));
        }
        self.host_memo.insert(local, depends, ways, slot, |id, timer| sets[&id].is_armed(timer, 0));
        ways
    }

    fn compute_way(
        &mut self,
        node: NodeId,
        local: u32,
        odometer: &mut Odometer,
        depends: &mut Dependencies<P::Timer>,
        asked: &mut Vec<P::Timer>,
    ) -> Way {
        let block = self.layout.nodes[node.index()];
        let clock = || self.clock_offset(node);
        let mut host = self.host(node);
        let input = self.locals.get(local).1.clone();
        let timers = self.timers(self.work.fixed[usize::from(self.layout.timers[node.index()])]);
        let mut around = Around { timers, clock: &clock, asked: std::mem::take(asked), clock_asked: false, odometer };
        let mut effects = Effects::new();
        let protocol = &self.protocol;
        let stepped = catch_unwind(AssertUnwindSafe(|| host.feed(protocol, node, input, &mut around, &mut effects)));
        let Around { asked: asked_now, clock_asked, .. } = around;
        *asked = asked_now;
        if clock_asked {
            depends.slots.push(self.layout.clocks);
        }
        if let Err(panic) = stepped {
            depends.slots.extend(block.slots());
            return Way::broken(panic_text(&*panic));
        }
        let (core, parts) = split(&host);
        if parts.len() >= usize::from(block.len) {
            depends.slots.extend(block.slots());
            return Way::broken(format!(
                "{} parts where the start had {}: the number of parts must not grow",
                parts.len(),
                block.len - 1
            ));
        }
        let old: Vec<Id> = self.work.fixed[block.range()].to_vec();
        depends.slots.extend(slots_read(block, &old, &parts));
        let new = self.intern_pieces(block, &core, &parts, &mut host);
        let writes = writes(block, &old, &new).collect();
        let answers: Box<[u32]> = odometer.digits().collect();
        let extra = (!answers.is_empty()).then_some(Extra { answers, broken: None });
        Way { writes, extra, ..self.way_of(node, effects) }
    }

    fn way_of(&mut self, node: NodeId, effects: Effects<P>) -> Way {
        let mut way = Way::default();
        let (mut timer_ops, mut events) = (Vec::new(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Send { to, message, .. } => {
                    let flight = Flight { envelope: Envelope { from: node, to, message }, life: self.life };
                    way.sends.push(self.intern_flight(flight));
                }
                Effect::Happened(event) => events.push(event),
                Effect::Mark(what) => way.marks.push(what),
                Effect::Persist { record, .. } => way.records.push(record.kind()),
                Effect::Set { .. } | Effect::Copy { .. } | Effect::Cancel(_) | Effect::Unarm => timer_ops.push(effect),
                Effect::RespondAfter { .. } => {}
            }
        }
        way.timer_ops = (!timer_ops.is_empty()).then(|| self.intern_ops(timer_ops));
        way.events = (!events.is_empty()).then(|| self.intern_events(node, events));
        way
    }

    fn branch_of(&mut self, way: Way) -> Branch {
        let Way { writes, sends, timer_ops, events, marks, extra, .. } = way;
        let pairs = writes.iter().flat_map(|write| [u32::from(write.slot), write.new]);
        let all: Vec<u32> = pairs.chain(sends.iter().copied()).collect();
        let mut cells = [0; CELLS_NEAR];
        match cells.get_mut(..all.len()) {
            Some(near) => near.copy_from_slice(&all),
            None => {
                cells[0] = self.branch_cells.len() as u32;
                self.branch_cells.extend_from_slice(&all);
            }
        }
        let extra = extra.map_or(NONE, |extra| {
            self.extras.push(extra);
            self.extras.len() as u32 - 1
        });
        let pool = &self.pool;
        Branch {
            written: self.written(&writes),
            sent: sends.iter().map(|flight| pool.weight(*flight)).fold(0, u64::wrapping_add),
            cells,
            write_count: writes.len() as u16,
            send_count: sends.len() as u16,
            timer_ops: timer_ops.unwrap_or(NONE),
            events: events.unwrap_or(NONE),
            goals: self.goal_bits(&marks),
            extra,
            writes_tags: self.writes_tags(&writes),
            sends_tags: sends.iter().any(|flight| pool.tags_index(*flight) != 0),
        }
    }

    /// What the writes add to a row's weight.
    pub(super) fn written(&self, writes: &[Write]) -> u64 {
        writes.iter().map(|write| self.pool.change(write.old, write.new)).fold(0, u64::wrapping_add)
    }

    /// Whether the writes exchange lists of tags.
    pub(super) fn writes_tags(&self, writes: &[Write]) -> bool {
        writes.iter().any(|write| self.pool.are_tags_other(write.old, write.new))
    }

    pub(super) fn intern_ops(&mut self, ops: Vec<Effect<P>>) -> u32 {
        let mut out = Encoder::whole();
        for op in &ops {
            encode_effect(NodeId(0), op, &mut out);
        }
        self.timer_ops.intern(hash(0, out.bytes()), ops)
    }

    pub(super) fn intern_events(&mut self, node: NodeId, events: Vec<Event<P>>) -> u32 {
        self.events.intern(hash(u64::from(node.0), &encoding(&events)), (node, events))
    }

    pub(super) fn rearm_results(&mut self, node: NodeId, timers: Id, ops: u32) -> Box<[Rearmed]> {
        let slot = self.layout.timers[node.index()];
        let effects = self.timer_ops.get(ops).clone();
        let mut odometer = Odometer::default();
        let mut results: Vec<Rearmed> = Vec::new();
        let mut known: FxHashSet<Id> = FxHashSet::default();
        for way_count in 1.. {
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
            // Lengths of a timer that the same step sets anew or cancels make no difference, but to a script's answers.
            if known.insert(id) || self.keeps_names {
                results.push((id, answers.into()));
            }
            if !odometer.advance() {
                break;
            }
            if way_count >= self.ways_max {
                self.is_cut_short = true;
                break;
            }
        }
        results.into()
    }

    fn length(&mut self, node: NodeId, span: Span, odometer: &mut Odometer, answers: &mut Vec<u32>) -> u64 {
        let length = self.bounds.length(span, self.protocol.clock(node), odometer, answers);
        length.unwrap_or_else(|why| {
            self.misfit.get_or_insert(why);
            0
        })
    }
}

/// What a step does that was glanced at.
#[derive(Debug, Clone, Copy)]
pub(in crate::explore) struct Glanced<'a> {
    /// A slot and an id for each write to the node.
    pub(in crate::explore) writes: &'a [u32],
    /// The slot and the id of the node's timers, if they are others.
    pub(in crate::explore) rearmed: Option<(u16, Id)>,
    /// A slot and an id for each write to the monitor.
    pub(in crate::explore) folded: &'a [(u16, Id)],
    pub(in crate::explore) sends: &'a [Id],
    /// The bits of the goals it reaches.
    pub(in crate::explore) goals: u32,
}

impl Glanced<'_> {
    #[inline]
    pub(in crate::explore) fn is_nothing(&self) -> bool {
        self.writes.is_empty()
            && self.rearmed.is_none()
            && self.folded.is_empty()
            && self.sends.is_empty()
            && self.goals == 0
    }
}

/// What a step comes to, seen without taking it.
#[derive(Debug, Clone, Copy)]
pub(in crate::explore) struct Glance {
    /// Of the row afterwards.
    pub(in crate::explore) weight: u64,
    /// Whether the row's tags may not be canonical then.
    pub(in crate::explore) changes_tags: bool,
    /// Whose step it is.
    pub(in crate::explore) node: NodeId,
    /// The message it takes from flight, or [`ABSENT`].
    pub(in crate::explore) taken: Id,
    branch: u32,
    /// What its timers are then, or [`ABSENT`] if they stay as they are.
    timers: Id,
    /// What the monitor makes of it, if it is told of anything.
    fold: u32,
}

/// In what is remembered of a step: it has but one way, and this is the branch. Else it is a range of branches.
const ALONE: u32 = 1 << 31;

impl Branch {
    /// A slot and an id for each write, and an id for each send.
    #[inline]
    pub(super) fn cells<'a>(&'a self, far: &'a [u32]) -> (&'a [u32], &'a [u32]) {
        let writes = 2 * usize::from(self.write_count);
        let count = writes + usize::from(self.send_count);
        let all = if count <= CELLS_NEAR { &self.cells[..] } else { &far[self.cells[0] as usize..] };
        all[..count].split_at(writes)
    }

    fn is_empty(&self) -> bool {
        let is_more = (self.timer_ops, self.events, self.extra) != (NONE, NONE, NONE);
        self.write_count == 0 && self.send_count == 0 && self.goals == 0 && !is_more
    }
}

/// One way a step can go, in names that mean the same to all workers.
#[derive(Clone, Default)]
pub(super) struct Way {
    writes: Vec<Write>,
    sends: Vec<Id>,
    timer_ops: Option<u32>,
    events: Option<u32>,
    marks: Vec<&'static str>,
    /// The kinds of what it persists.
    records: Vec<usize>,
    extra: Option<Extra>,
}

impl Way {
    fn broken(text: String) -> Self {
        let broken = Some(Violation { property: "panic".to_owned(), detail: text });
        Way { extra: Some(Extra { answers: Box::default(), broken }), ..Way::default() }
    }

    /// Whether it changes nothing, whatever it marks.
    fn is_nothing(&self) -> bool {
        self.writes.is_empty() && self.sends.is_empty() && self.timer_ops.is_none() && self.events.is_none()
    }
}

/// A component exchanged for another.
#[derive(Clone)]
pub(super) struct Write {
    pub(super) slot: u16,
    old: Id,
    pub(super) new: Id,
}

/// What of a block's parts is written over.
pub(super) fn writes(block: Block, old: &[Id], new: &[Id]) -> impl Iterator<Item = Write> {
    let changed = block.slots().zip(old.iter().zip(new)).filter(|(_, (old, new))| old != new);
    changed.map(|(slot, (old, new))| Write { slot, old: *old, new: *new })
}

/// The slots of a block that a function read, by the trails on what it left. A part that was made anew or moved says
/// nothing of what it was made from: then everything counts as read.
pub(super) fn slots_read(block: Block, old: &[Id], parts: &[SplitPart]) -> Vec<u16> {
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
