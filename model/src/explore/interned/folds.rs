//! The monitor's fold: looked up, or computed once under what it read.

use super::steps::{Write, slots_read, writes};
use super::*;

impl<P: Protocol> Interned<P> {
    pub(super) fn fold(&mut self, events: u32) {
        let work = &self.work;
        let found = self.watch_memo.find(events, |at| work.fixed[usize::from(at)], |_, _| false);
        let range = found.unwrap_or_else(|| self.learn_folds(events));
        let (start, len) = self.ranges[range as usize];
        let index = start as usize + self.odometer.pick(len as usize);
        let fold = &self.folds[index];
        for (slot, id) in &fold.writes {
            self.work.fixed[usize::from(*slot)] = *id;
        }
        self.work.weight = self.work.weight.wrapping_add(fold.written);
        self.work.tags_changed |= fold.writes_tags;
        self.taken.goals |= fold.goals;
        if let (None, Some(violation)) = (&self.taken.violation, &fold.violation) {
            self.taken.violation = Some(violation.clone());
        }
        if fold.deadline_ops != NONE {
            let ops = fold.deadline_ops;
            self.change_deadlines(ops);
        }
    }

    /// The fold of these events in the row being worked on, if it is known, goes one way, and does no more than write.
    #[inline]
    pub(super) fn plain_fold(&mut self, events: u32) -> Option<u32> {
        let work = &self.work;
        let range = self.watch_memo.find(events, |at| work.fixed[usize::from(at)], |_, _| false)?;
        let (start, len) = self.ranges[range as usize];
        let fold = &self.folds[start as usize];
        (len == 1 && fold.deadline_ops == NONE && fold.violation.is_none()).then_some(start)
    }

    #[cold]
    fn learn_folds(&mut self, events: u32) -> u32 {
        let (depends, folds) = self.learn(events, |store| &store.told_folds, |store| store.compute_folds(events));
        self.keep_folds(events, depends, folds)
    }

    fn compute_folds(&mut self, events: u32) -> (Dependencies<P::Timer>, Vec<Fold>) {
        let block = self.layout.monitor;
        let old: Vec<Id> = self.work.fixed[block.range()].to_vec();
        let mut odometer = Odometer::default();
        let (mut slots, mut folds) = (Vec::new(), Vec::new());
        loop {
            let mut monitor = self.monitor();
            let (mut violations, mut reached, mut deadlines) = (Vec::new(), Vec::new(), Vec::new());
            let (node, list) = self.events.get(events);
            for event in list {
                let mut forks = Forks(&mut odometer);
                let mut watch = Watch {
                    violations: &mut violations,
                    reached: &mut reached,
                    deadlines: &mut deadlines,
                    surroundings: &mut forks,
                    forks: true,
                };
                self.protocol.watch(&mut monitor, *node, event, &mut watch);
            }
            slots.extend(slots_read(block, &old, &split(&monitor).1));
            let new = self.intern_split(block, &mut monitor);
            let writes: Vec<Write> = writes(block, &old, &new).collect();
            let deadline_ops = if deadlines.is_empty() {
                NONE
            } else {
                self.deadline_ops.intern(hash(0, &encoding(&deadlines)), deadlines)
            };
            let mut violation = violations.into_iter().next();
            if let Some(violation) = &mut violation {
                violation.call_by_name(&self.protocol.nodes());
            }
            let goals = self.goal_bits(&reached);
            folds.push(Fold {
                writes: writes.iter().map(|write| (write.slot, write.new)).collect(),
                written: self.written(&writes),
                writes_tags: self.writes_tags(&writes),
                deadline_ops,
                reached: reached.into(),
                goals,
                violation,
            });
            if !odometer.advance() {
                break;
            }
        }
        slots.sort_unstable();
        slots.dedup();
        (Dependencies { slots, timers: None }, folds)
    }

    /// Remembers the ways of a fold that depend on this: as a range.
    fn keep_folds(&mut self, events: u32, depends: Dependencies<P::Timer>, folds: Vec<Fold>) -> u32 {
        for event in &self.events.get(events).1 {
            self.exercised.event(event, self.moment);
        }
        for goal in folds.iter().flat_map(|fold| &fold.reached) {
            self.exercised.goal(goal, self.moment);
        }
        let range = self.ranges.len() as u32;
        self.ranges.push((self.folds.len() as u32, folds.len() as u32));
        self.folds.extend(folds);
        let work = &self.work;
        self.watch_memo.insert(events, depends, range, |at| work.fixed[usize::from(at)], |_, _| false);
        range
    }

    pub(super) fn change_deadlines(&mut self, ops: u32) {
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

    /// Node steps computed here.
    pub(in crate::explore) fn step_count(&self) -> usize {
        self.step_count
    }

    /// Different messages met.
    pub(in crate::explore) fn message_count(&self) -> usize {
        self.flights.iter().flatten().count()
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
