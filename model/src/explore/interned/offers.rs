//! What can happen at a node now, and what a message in flight can still do.

use super::steps::slots_read;
use super::*;

impl<P: Protocol> Interned<P> {
    /// Inputs that the node's timers allow: firings of due timers, or of any in an untimed world.
    pub(in crate::explore) fn firings(&mut self, node: NodeId) -> &[u32] {
        let id = self.work.fixed[usize::from(self.layout.timers[node.index()])];
        if let Some(range) = self.firings_of.range(id) {
            return self.firings_of.items(range);
        }
        let untimed = self.bounds.clock == Clock::Untimed;
        let due: Vec<P::Timer> =
            self.timers(id).iter().filter(|(_, end)| untimed || *end == 0).map(|(timer, _)| timer.clone()).collect();
        let locals: Vec<u32> = due.into_iter().map(|timer| self.local_index(node, Local::Fire(timer))).collect();
        let range = self.firings_of.insert(id, locals);
        self.firings_of.items(range)
    }

    /// Syncs of streams that have something unsynced.
    pub(in crate::explore) fn syncs(&mut self, node: NodeId) -> &[u32] {
        let disk = self.work.fixed[usize::from(self.layout.nodes[node.index()].start) + 1];
        if let Some(range) = self.syncs_of.range(disk) {
            return self.syncs_of.items(range);
        }
        let streams = self.host(node).unsynced();
        let locals: Vec<u32> =
            streams.into_iter().map(|(stream, _)| self.local_index(node, Local::Sync(stream))).collect();
        let range = self.syncs_of.insert(disk, locals);
        self.syncs_of.items(range)
    }

    /// Crashes, one for each way to keep prefixes of the streams.
    pub(in crate::explore) fn crashes(&mut self, node: NodeId) -> &[u32] {
        let disk = self.work.fixed[usize::from(self.layout.nodes[node.index()].start) + 1];
        if let Some(range) = self.crashes_of.range(disk) {
            return self.crashes_of.items(range);
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
        let locals: Vec<u32> = ways.into_iter().map(|kept| self.local_index(node, Local::Crash(kept))).collect();
        let range = self.crashes_of.insert(disk, locals);
        self.crashes_of.items(range)
    }

    /// The client's next operation, if it has one to invoke.
    pub(in crate::explore) fn invocation(&mut self, node: NodeId) -> Option<u32> {
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
    pub(in crate::explore) fn decisions(&mut self, node: NodeId) -> std::ops::Range<usize> {
        let (work, sets) = (&self.work, &self.timer_sets);
        let input = u32::from(node.0);
        let found =
            self.decide_memo.find(input, |at| work.fixed[usize::from(at)], |id, timer| sets[&id].is_armed(timer, 0));
        let range = found.unwrap_or_else(|| self.learn_decisions(node));
        let (start, len) = self.ranges[range as usize];
        start as usize..(start + len) as usize
    }

    /// The `at`-th local of all offered.
    pub(in crate::explore) fn offered(&self, at: usize) -> u32 {
        self.offered[at]
    }

    #[cold]
    fn learn_decisions(&mut self, node: NodeId) -> u32 {
        let input = node.0.into();
        let (depends, locals) = self.learn(input, |store| &store.told_decisions, |store| store.compute_decisions(node));
        self.keep_decisions(node, depends, &locals)
    }

    fn compute_decisions(&mut self, node: NodeId) -> (Dependencies<P::Timer>, Vec<u32>) {
        let host = self.host(node);
        let timers_slot = self.layout.timers[node.index()];
        let timers = self.timers(self.work.fixed[usize::from(timers_slot)]);
        let mut odometer = Odometer::default();
        let mut around =
            Around { timers, clock: &|| 0, asked: Vec::new(), clock_asked: false, odometer: &mut odometer };
        let offered = host.decisions(&self.protocol, node, &mut around);
        let asked = around.asked;
        let locals = offered.into_iter().map(|decision| self.local_index(node, Local::Decide(decision))).collect();
        (self.depends_of(node, &host, timers_slot, asked), locals)
    }

    /// Remembers the decisions, which depend on this: as a range.
    fn keep_decisions(&mut self, node: NodeId, depends: Dependencies<P::Timer>, locals: &[u32]) -> u32 {
        let range = self.ranges.len() as u32;
        self.ranges.push((self.offered.len() as u32, locals.len() as u32));
        self.offered.extend_from_slice(locals);
        let (work, sets) = (&self.work, &self.timer_sets);
        let slot = |at: u16| work.fixed[usize::from(at)];
        self.decide_memo.insert(node.0.into(), depends, range, slot, |id, timer| sets[&id].is_armed(timer, 0));
        range
    }

    /// What a function that only read `host` depended on.
    pub(super) fn depends_of(
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
    pub(in crate::explore) fn relevance(&mut self, flight: Id) -> Relevance<Id> {
        let work = &self.work;
        if let Some(found) = self.relevance_memo.find(flight, |at| work.fixed[usize::from(at)], |_, _| false) {
            return self.relevances[found as usize].clone();
        }
        self.learn_relevance(flight)
    }

    #[cold]
    fn learn_relevance(&mut self, flight: Id) -> Relevance<Id> {
        let (depends, relevance) =
            self.learn(flight, |store| &store.told_relevances, |store| store.compute_relevance(flight));
        self.keep_relevance(flight, depends, &relevance);
        relevance
    }

    fn compute_relevance(&mut self, flight: Id) -> (Dependencies<P::Timer>, Relevance<Id>) {
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
            Relevance::Always => Relevance::Always,
            Relevance::Live => Relevance::Live,
            Relevance::Dead => Relevance::Dead,
        };
        (depends, relevance)
    }

    fn keep_relevance(&mut self, flight: Id, depends: Dependencies<P::Timer>, relevance: &Relevance<Id>) {
        if *relevance == Relevance::Always {
            self.pool.note_always_live(flight);
            if let Some(info) = &mut self.flights[flight as usize] {
                info.always_live = true;
            }
            if let Some(at) = self.mortals.iter().rposition(|id| *id == flight) {
                self.mortals.swap_remove(at);
            }
        } else {
            self.knows_mortals = true;
        }
        let index = self.relevances.len() as u32;
        self.relevances.push(relevance.clone());
        let work = &self.work;
        self.relevance_memo.insert(flight, depends, index, |at| work.fixed[usize::from(at)], |_, _| false);
    }
}
