//! The interned store of a run under way.

use super::*;
use crate::explore::moment::Moment;

/// The interned store of a world as a run left it, with its only initial row. `names`: see [`Interned::keep_names`].
pub(in crate::explore) fn initial_at<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    names: bool,
    moment: &Moment<P>,
) -> Result<(Interned<P>, Vec<Initial>), String> {
    if bounds.clock == Clock::Untimed {
        return Err("clock: a moment of a run has times; leave out untimed".into());
    }
    // A host that is down then may start again, and has as many parts as one that starts.
    let parts =
        |(index, host)| parts_once_started(protocol, NodeId(index as u16)).map(|many| many.max(split(host).1.len()));
    let sizes: Vec<usize> = moment.hosts.iter().enumerate().map(parts).collect::<Result<_, _>>()?;
    let monitor_parts = split(&P::Monitor::default()).1.len().max(split(&moment.monitor).1.len());
    let mut store = Interned::new(protocol.clone(), bounds.clone(), Layout::new(&sizes, monitor_parts));
    store.keep_names(names);
    store.may_cut |= !moment.cuts.is_empty();
    store.life = moment.pace.delay.map(|delay| delay.0).or(store.life);
    store.lay_out(&moment.offsets);
    store.lay_out_moment(moment);
    let row = store.work.clone();
    Ok((store, vec![Initial { row, starts: Vec::new(), violation: None }]))
}

impl<P: Protocol> Interned<P> {
    /// Puts the components of a world as it is in place.
    fn lay_out_moment(&mut self, moment: &Moment<P>) {
        let layout = self.layout.clone();
        for node in layout.node_ids() {
            let block = layout.nodes[node.index()];
            let ids = self.intern_split(block, &mut moment.hosts[node.index()].clone());
            self.place(block, &ids);
            let slot = layout.timers[node.index()];
            let timers = self.intern_timers(slot, moment.timers[node.index()].clone());
            self.set(slot, timers);
        }
        let monitor = self.intern_split(layout.monitor, &mut moment.monitor.clone());
        self.place(layout.monitor, &monitor);
        let deadlines = self.intern_deadlines(moment.deadlines.clone());
        self.set(layout.deadlines, deadlines);
        self.lay_out_faults(moment.cuts.clone());
        for envelope in &moment.flights {
            let flight = self.intern_flight(Flight { envelope: envelope.clone(), life: self.life });
            self.put(flight);
        }
    }

    /// How far away the next end of a timer, a deadline or a message's time is; `None` if there is none ahead.
    pub(in crate::explore) fn next_end(&self) -> Option<Span> {
        let timers = self.layout.node_ids().flat_map(|node| {
            let slot = self.layout.timers[node.index()];
            self.timers(self.work.fixed[usize::from(slot)]).iter().map(|(_, end)| end)
        });
        let deadlines = &self.deadline_sets[&self.work.fixed[usize::from(self.layout.deadlines)]];
        let deadlines = deadlines.iter().map(|(_, end)| end);
        let lives = self.work.flights.iter().filter_map(|flight| self.flight(*flight).life);
        timers.chain(deadlines).chain(lives).filter(|end| *end > 0).min().map(Span)
    }
}
