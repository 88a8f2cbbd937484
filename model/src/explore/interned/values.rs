//! Values of the protocol as components: how they are interned and come back, and what is kept typed.

use super::*;

impl<P: Protocol> Interned<P> {
    /// A flight's message, for output.
    pub(in crate::explore) fn envelope(&self, id: Id) -> Envelope<P::Message> {
        self.decode_flight(id).envelope
    }

    pub(in crate::explore) fn decode_flight(&self, id: Id) -> Flight<P::Message> {
        crate::canonical::decoding(self.pool.bytes(id)).expect("the pool holds what was encoded")
    }

    pub(in crate::explore) fn intern_flight(&mut self, flight: Flight<P::Message>) -> Id {
        let id = self.pool.intern_value(FLIGHT, &flight);
        self.register_flight(id, flight);
        id
    }

    pub(super) fn register_flight(&mut self, id: Id, flight: Flight<P::Message>) {
        if self.flights.len() <= id as usize {
            self.flights.resize(id as usize + 1, None);
        }
        if self.flights[id as usize].is_none() {
            let Envelope { from, to, message } = flight.envelope;
            let at_once = self.protocol.is_at_once(&message);
            self.knows_at_once |= at_once;
            let local = self.local_index(to, Local::Deliver(from, message));
            let info = FlightInfo { from, to, local, life: flight.life, always_live: false, at_once };
            self.flights[id as usize] = Some(info);
            self.mortals.push(id);
        }
    }

    pub(in crate::explore) fn local_index(&mut self, node: NodeId, local: Local<P>) -> u32 {
        let key = hash(u64::from(node.0), &encoding(&local));
        self.locals.intern(key, (node, local))
    }

    /// What a local index stands for.
    pub(in crate::explore) fn local_of(&self, index: u32) -> &(NodeId, Local<P>) {
        self.locals.get(index)
    }

    pub(in crate::explore) fn intern_timers(&mut self, slot: u16, timers: Timers<P::Timer>) -> Id {
        let id = self.pool.intern_value(slot.into(), &timers);
        self.timer_sets.entry(id).or_insert(timers);
        id
    }

    pub(in crate::explore) fn timers(&self, id: Id) -> &Timers<P::Timer> {
        &self.timer_sets[&id]
    }

    pub(in crate::explore) fn intern_deadlines(&mut self, deadlines: Timers<u32>) -> Id {
        let id = self.pool.intern_value(self.layout.deadlines.into(), &deadlines);
        self.deadline_sets.entry(id).or_insert(deadlines);
        id
    }

    pub(in crate::explore) fn intern_faults(&mut self, faults: Faults) -> Id {
        let id = self.pool.intern_value(self.layout.faults.into(), &faults);
        self.fault_sets.entry(id).or_insert(faults);
        id
    }

    /// Budgets left and links cut.
    pub(in crate::explore) fn faults(&self) -> &Faults {
        &self.fault_sets[&self.work.fixed[usize::from(self.layout.faults)]]
    }

    pub(in crate::explore) fn faults_of(&self, id: Id) -> &Faults {
        &self.fault_sets[&id]
    }

    /// Changes budgets or cuts.
    pub(in crate::explore) fn change_faults(&mut self, change: impl FnOnce(&mut Faults)) {
        let mut faults = self.faults().clone();
        change(&mut faults);
        let id = self.intern_faults(faults);
        self.set(self.layout.faults, id);
    }

    /// Interns a value's core and parts into the slots of `block`; slots beyond its parts are absent.
    ///
    /// # Panics
    /// If the value has more parts than the block: the number of parts must not grow.
    pub(in crate::explore) fn intern_split<T: Canonical>(&mut self, block: Block, value: &mut T) -> Vec<Id> {
        let (core, parts) = split(value);
        assert!(parts.len() < usize::from(block.len), "{} parts where the start had {}", parts.len(), block.len - 1);
        self.intern_pieces(block, &core, &parts, value)
    }

    /// The same of a value whose core and parts are these.
    pub(super) fn intern_pieces<T: Canonical>(
        &mut self,
        block: Block,
        core: &[u8],
        parts: &[SplitPart],
        value: &mut T,
    ) -> Vec<Id> {
        let mut ids = vec![ABSENT; usize::from(block.len)];
        // Most pieces are known: the value's names are looked for once one is not.
        let mut names = None;
        let mut names_of = |piece: Option<usize>| {
            let (core, parts) = names.get_or_insert_with(|| Collector::of(value).into_split());
            piece.map_or(core, |part| &mut parts[part]).clone()
        };
        ids[0] = self.pool.intern(block.start.into(), core, || names_of(None));
        for (index, part) in parts.iter().enumerate() {
            let place = u32::from(block.start) + 1 + index as u32;
            ids[index + 1] = self.pool.intern(place, &part.bytes, || names_of(Some(index)));
        }
        ids
    }

    /// The value whose core and parts are `ids`.
    pub(in crate::explore) fn decode_split<T: Canonical>(&self, ids: &[Id]) -> T {
        let parts: Vec<&[u8]> = ids[1..].iter().filter(|id| **id != ABSENT).map(|id| self.pool.bytes(*id)).collect();
        let mut input = Decoder::split(self.pool.bytes(ids[0]), &parts);
        T::decode(&mut input).expect("the pool holds what was encoded")
    }

    pub(in crate::explore) fn host(&self, node: NodeId) -> Host<P> {
        self.decode_split(&self.work.fixed[self.layout.nodes[node.index()].range()])
    }

    pub(in crate::explore) fn monitor(&self) -> P::Monitor {
        self.decode_split(&self.work.fixed[self.layout.monitor.range()])
    }

    pub(super) fn clock_offset(&self, node: NodeId) -> i64 {
        self.offsets(&self.work).get(node.index()).copied().unwrap_or(0)
    }

    /// How far each node's clock is ahead [ns] in `row`; empty if none is.
    pub(in crate::explore) fn offsets(&self, row: &Work) -> Vec<i64> {
        let id = row.fixed[usize::from(self.layout.clocks)];
        let clocks: std::collections::BTreeMap<NodeId, i64> =
            crate::canonical::decoding(self.pool.bytes(id)).expect("the pool holds what was encoded");
        let offsets: Vec<i64> = clocks.into_values().collect();
        if offsets.iter().all(|offset| *offset == 0) { Vec::new() } else { offsets }
    }
}
