//! The interned store as a [`Store`]: the primitives that `world::apply` puts in order.

use super::*;

impl<P: Protocol> Store<P> for Interned<P> {
    type Envelope = Id;
    type Local = u32;
    type Outcome = Branch;

    #[inline]
    fn phase(&self, node: NodeId) -> Phase {
        let core = self.work.fixed[usize::from(self.layout.nodes[node.index()].start)];
        // The phase is the first byte of a host's encoding.
        match self.pool.first_byte(core) {
            0 => Phase::Up,
            1 => Phase::Paused,
            _ => Phase::Down,
        }
    }
    #[inline]
    fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.may_cut && self.faults().cut.contains(&(from, to))
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
    fn receive(&mut self, node: NodeId, envelope: &Id) -> Branch {
        let local = self.flight(*envelope).local;
        self.begin(node, local)
    }
    fn run(&mut self, node: NodeId, local: &u32) -> Result<Branch, Refused> {
        let offered = match &self.locals.get(*local).1 {
            Local::Sync(_) => self.syncs(node).contains(local),
            Local::Invoke => self.invocation(node).is_some(),
            Local::Decide(_) => self.decisions(node).any(|at| self.offered[at] == *local),
            // Rows hold folds, not records, and clocks that never jump.
            Local::Corrupt(..) | Local::Jump(_) => false,
            _ => true,
        };
        if offered { Ok(self.begin(node, *local)) } else { Err(Refused::NotOffered) }
    }
    fn lapse(&mut self, node: NodeId, timer: &P::Timer) -> Branch {
        let local = self.local_index(node, Local::Lapse(timer.clone()));
        self.begin(node, local)
    }
    #[inline]
    fn rearm(&mut self, node: NodeId, outcome: &Branch) {
        if outcome.timer_ops != NONE {
            self.rearm_by(node, outcome.timer_ops);
        }
    }
    #[inline]
    fn send(&mut self, _: NodeId, outcome: &Branch) {
        if self.bounds.capacity.is_none() {
            let (_, sends) = outcome.cells(&self.branch_cells);
            self.work.flights.extend_from_slice(sends);
            self.work.weight = self.work.weight.wrapping_add(outcome.sent);
            self.work.tags_changed |= outcome.sends_tags;
            return;
        }
        for at in 0..usize::from(outcome.send_count) {
            self.put_bounded(outcome.cells(&self.branch_cells).1[at]);
        }
    }
    #[inline]
    fn watch(&mut self, _: NodeId, outcome: &Branch) {
        if outcome.events != NONE {
            self.fold(outcome.events);
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
    pub(super) fn begin(&mut self, node: NodeId, local: u32) -> Branch {
        let index = self.step(node, local);
        let branch = self.branches[index as usize];
        for write in branch.cells(&self.branch_cells).0.chunks_exact(2) {
            self.work.fixed[write[0] as usize] = write[1];
        }
        self.work.weight = self.work.weight.wrapping_add(branch.written);
        self.work.tags_changed |= branch.writes_tags;
        self.taken.goals |= branch.goals;
        if branch.extra != NONE {
            let extra = &self.extras[branch.extra as usize];
            self.taken.answers.extend_from_slice(&extra.answers);
            if let Some(broken) = &extra.broken {
                self.taken.violation.get_or_insert_with(|| broken.clone());
            }
        }
        branch
    }

    pub(super) fn rearm_by(&mut self, node: NodeId, ops: u32) {
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
    pub(super) fn put_bounded(&mut self, flight: Id) {
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

    pub(super) fn elapsed(&mut self, slot: u16, span: Span) -> Elapsed<P::Timer> {
        let old = self.work.fixed[usize::from(slot)];
        if let Some(known) = self.elapse_memo.get(&(old, span)) {
            return known.clone();
        }
        let mut timers = self.timers(old).clone();
        let lapsed: Box<[P::Timer]> = timers.elapse(span).into();
        let new = self.intern_timers(slot, timers);
        self.elapse_memo.insert((old, span), (new, lapsed.clone()));
        (new, lapsed)
    }

    pub(super) fn age_flights(&mut self, span: Span) {
        if self.life.is_none() {
            return;
        }
        for at in 0..self.work.flights.len() {
            let old = self.work.flights[at];
            let new = match self.aged_memo.get(&(old, span)) {
                Some(new) => *new,
                None => {
                    let mut flight = self.decode_flight(old);
                    flight.life = flight.life.map(|life| life.saturating_sub(span.0));
                    let new = self.intern_flight(flight);
                    self.aged_memo.insert((old, span), new);
                    new
                }
            };
            self.replace_flight(at, new);
        }
    }

    /// Exchanges a message in flight for another.
    pub(in crate::explore) fn replace_flight(&mut self, at: usize, new: Id) {
        let old = std::mem::replace(&mut self.work.flights[at], new);
        self.work.weight = self.work.weight.wrapping_add(self.pool.change(old, new));
        self.work.tags_changed |= self.pool.are_tags_other(old, new);
    }
}
