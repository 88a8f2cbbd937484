//! What the faults of a plan do to a running simulation, and how they are healed.

use seedbed_model::{Choice, Event, Local, NodeId, Phase, Protocol, Span};

use crate::faults::{Fault, Ways, kept};
use crate::simulation::Simulation;

impl<P: Protocol> Simulation<'_, '_, P> {
    /// The fault of that index begins.
    pub(crate) fn begin(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.faults[index].fault {
            Fault::Crash { node, keeps, .. } => self.crash(index, self.node(node), *keeps),
            Fault::Pause { node, .. } => self.pause(index, self.node(node)),
            Fault::Partition { side, ways, .. } => self.partition(side, *ways, true),
        }
    }

    /// It ends.
    pub(crate) fn mend(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.faults[index].fault {
            Fault::Crash { node, .. } => self.restart(index, self.node(node)),
            Fault::Pause { node, .. } => self.resume(index, self.node(node)),
            Fault::Partition { side, ways, .. } => self.partition(side, *ways, false),
        }
    }

    fn node(&self, name: &str) -> NodeId {
        index(&self.names, name)
    }

    fn crash(&mut self, index: usize, node: NodeId, keeps: u32) {
        if self.phase(node) == Phase::Down {
            return;
        }
        let unsynced = self.world.hosts[node.index()].unsynced();
        let keep = |(stream, count)| (stream, kept(keeps, stream, count));
        let kept = unsynced.into_iter().map(keep).collect();
        self.world.driver.crashed(node);
        self.happen(Choice::At(node, Local::Crash(kept)));
        let seat = &mut self.seats[node.index()];
        (seat.down_by, seat.paused_by) = (Some(index), None);
        self.release(node);
        self.look_at(node);
    }

    fn restart(&mut self, index: usize, node: NodeId) {
        if self.seats[node.index()].down_by == Some(index) {
            self.seats[node.index()].down_by = None;
            self.happen(Choice::At(node, Local::Restart));
            self.look_at(node);
        }
    }

    fn pause(&mut self, index: usize, node: NodeId) {
        if self.phase(node) == Phase::Up {
            self.seats[node.index()].paused_by = Some(index);
            self.happen(Choice::At(node, Local::Pause));
            self.look_at(node);
        }
    }

    fn resume(&mut self, index: usize, node: NodeId) {
        if self.seats[node.index()].paused_by == Some(index) {
            self.seats[node.index()].paused_by = None;
            self.happen(Choice::At(node, Local::Resume));
            self.release(node);
            self.look_at(node);
        }
    }

    /// Cuts the links of a partition, or heals those that no other partition cuts.
    fn partition(&mut self, side: &[String], ways: Ways, cut: bool) {
        let side: Vec<NodeId> = side.iter().map(|name| self.node(name)).collect();
        for near in &side {
            for far in self.world.nodes().filter(|far| !side.contains(far)) {
                if ways != Ways::In {
                    self.link(*near, far, cut);
                }
                if ways != Ways::Out {
                    self.link(far, *near, cut);
                }
            }
        }
    }

    fn link(&mut self, from: NodeId, to: NodeId, cut: bool) {
        let count = self.cuts.entry((from, to)).or_insert(0);
        let before = *count;
        *count = if cut { before + 1 } else { before.saturating_sub(1) };
        match (before, *count) {
            (0, 1) => self.happen(Choice::Cut(from, to)),
            (1, 0) => self.happen(Choice::Heal(from, to)),
            _ => {}
        }
    }

    /// The end of the active phase: every fault still in force is healed, but for crashes for ever.
    pub(crate) fn heal(&mut self) {
        let plan = self.plan;
        for (index, timed) in plan.faults.iter().enumerate() {
            let for_ever = timed.fault.end().is_none();
            match &timed.fault {
                Fault::Crash { node, .. } if !for_ever => self.restart(index, self.node(node)),
                Fault::Pause { node, .. } => self.resume(index, self.node(node)),
                Fault::Crash { .. } | Fault::Partition { .. } => {}
            }
        }
        for (from, to) in self.world.cuts.clone() {
            self.happen(Choice::Heal(from, to));
        }
        self.cuts.clear();
        self.quiet = true;
        self.world.driver.links.calm();
        if !self.settings.tick_mode {
            self.prepare(Choice::Elapse(Span::ZERO));
            self.note();
            self.world.show(NodeId(0), &Event::Healed);
            self.tell(Event::Healed);
        }
    }
}

/// The node of that name; a checked plan names no other.
pub(crate) fn index(names: &[String], name: &str) -> NodeId {
    let found = names.iter().position(|other| other == name);
    NodeId(found.unwrap_or_else(|| panic!("the plan names `{name}`, which is no node")) as u16)
}
