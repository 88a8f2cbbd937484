//! What the faults of a plan do to a running simulation, and how they are healed.

use seedbed_model::{Choice, Event, Kept, Local, NodeId, Phase, Protocol, Span, Stream, hash};

use crate::agenda::Due;
use crate::faults::{Fault, Ways, is_torn, kept};
use crate::simulation::Simulation;

impl<P: Protocol> Simulation<'_, '_, P> {
    /// The fault of that index begins.
    pub(crate) fn begin(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.faults[index].fault {
            Fault::Crash { node, keeps, torn, .. } => drop(self.crash(index, self.node(node), *keeps, *torn)),
            Fault::EmptyDisk { node, .. } => self.empty_disk(index, self.node(node)),
            Fault::Corruption { node, keeps, record, .. } => self.corrupt(index, self.node(node), *keeps, *record),
            Fault::Pause { node, .. } => self.pause(index, self.node(node)),
            Fault::Partition { side, ways, .. } => self.partition(side, *ways, true),
            Fault::Flap { .. } => {
                self.flaps.insert(index, false);
                self.toggle(index);
            }
            Fault::SlowLinks { side, ways, factor, added, .. } => {
                let side = self.side(side);
                let added = Span(self.aligned(*added));
                self.world.driver.links.shape.slow_down(index, side, *ways, *factor, added);
            }
            Fault::SlowDisk { node, factor, added, .. } => {
                let (node, added) = (self.node(node), Span(self.aligned(*added)));
                self.world.driver.slow_disk(index, node, *factor, added);
            }
            Fault::FullDisk { node, .. } => {
                let node = self.node(node);
                self.seats[node.index()].full_count += 1;
            }
            Fault::Jump { node, by_ns } => self.jump(self.node(node), *by_ns),
        }
    }

    /// It ends.
    pub(crate) fn mend(&mut self, index: usize) {
        let plan = self.plan;
        match &plan.faults[index].fault {
            Fault::Crash { node, .. } | Fault::EmptyDisk { node, .. } | Fault::Corruption { node, .. } => {
                self.restart(index, self.node(node));
            }
            Fault::Pause { node, .. } => self.resume(index, self.node(node)),
            Fault::Partition { side, ways, .. } => self.partition(side, *ways, false),
            Fault::Flap { side, ways, .. } => {
                if self.flaps.remove(&index) == Some(true) {
                    self.partition(side, *ways, false);
                }
            }
            Fault::SlowLinks { .. } => self.world.driver.links.shape.speed_up(index),
            Fault::SlowDisk { .. } => self.world.driver.quick_disk(index),
            Fault::FullDisk { node, .. } => self.make_room(self.node(node)),
            Fault::Jump { .. } => {}
        }
    }

    fn node(&self, name: &str) -> NodeId {
        index(&self.names, name)
    }

    fn side(&self, names: &[String]) -> Vec<NodeId> {
        names.iter().map(|name| self.node(name)).collect()
    }

    /// Whether the node was not down before.
    fn crash(&mut self, index: usize, node: NodeId, keeps: u32, torn: bool) -> bool {
        if self.phase(node) == Phase::Down {
            return false;
        }
        let unsynced = self.world.hosts[node.index()].unsynced();
        let keep = |(stream, count)| (stream, kept(keeps, stream, count));
        let mut kept: Kept = unsynced.into_iter().map(keep).collect();
        let torn = if torn { torn_streams(keeps, &kept) } else { Vec::new() };
        self.world.driver.crashed(node);
        // To the explorer a torn record is one that is not kept: scripts say it in its words.
        if self.settings.tick_mode {
            kept.iter_mut().filter(|(stream, _)| torn.contains(stream)).for_each(|(_, count)| *count -= 1);
        }
        let local = match torn.is_empty() || self.settings.tick_mode {
            true => Local::Crash(kept),
            false => Local::Tear(kept, torn),
        };
        self.happen(Choice::At(node, local));
        let seat = &mut self.seats[node.index()];
        (seat.down_by, seat.paused_by, seat.free_at) = (Some(index), None, 0);
        seat.stalled.clear();
        self.ready.extend(seat.queue.drain(..));
        self.release(node);
        self.look_at(node);
        true
    }

    fn empty_disk(&mut self, index: usize, node: NodeId) {
        if self.crash(index, node, 0, false) {
            self.happen(Choice::At(node, Local::Erase));
        }
    }

    fn corrupt(&mut self, index: usize, node: NodeId, keeps: u32, record: u32) {
        if !self.crash(index, node, keeps, false) {
            return;
        }
        let counts = self.world.hosts[node.index()].disk.journal.counts();
        if !counts.is_empty() {
            let (stream, count) = counts[hash(0, &record.to_le_bytes()) as usize % counts.len()];
            self.happen(Choice::At(node, Local::Corrupt(stream, record % count)));
        }
    }

    fn jump(&mut self, node: NodeId, by_ns: i64) {
        let by_ns = self.world.driver.reach(node, by_ns);
        if by_ns != 0 {
            self.happen(Choice::At(node, Local::Jump(by_ns)));
        }
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

    fn make_room(&mut self, node: NodeId) {
        let seat = &mut self.seats[node.index()];
        seat.full_count = seat.full_count.saturating_sub(1);
        if seat.full_count == 0 {
            self.ready.extend(seat.stalled.drain(..));
        }
    }

    /// Cuts the links of a partition, or heals those that no other partition cuts.
    fn partition(&mut self, side: &[String], ways: Ways, cut: bool) {
        let side = self.side(side);
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

    /// Flapping links go off or on, and will again.
    pub(crate) fn toggle(&mut self, index: usize) {
        let plan = self.plan;
        let (Fault::Flap { side, ways, down, up, .. }, Some(was_cut)) =
            (&plan.faults[index].fault, self.flaps.get(&index).copied())
        else {
            return;
        };
        self.flaps.insert(index, !was_cut);
        self.partition(side, *ways, !was_cut);
        let at = self.world.driver.now + self.aligned(if was_cut { *up } else { *down });
        self.world.driver.agenda.push(at, Due::Toggle(index));
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
                Fault::EmptyDisk { node, .. } | Fault::Corruption { node, .. } => self.restart(index, self.node(node)),
                Fault::Pause { node, .. } => self.resume(index, self.node(node)),
                _ => {}
            }
        }
        for (from, to) in self.world.cuts.clone() {
            self.happen(Choice::Heal(from, to));
        }
        self.cuts.clear();
        self.flaps.clear();
        self.quiet = true;
        self.world.driver.calm();
        for node in self.world.nodes().filter(|node| self.seats[node.index()].full_count > 0).collect::<Vec<_>>() {
            self.seats[node.index()].full_count = 1;
            self.make_room(node);
        }
        if !self.settings.tick_mode {
            self.prepare_lapse();
            self.note();
            self.world.show(NodeId(0), &Event::Healed);
            self.tell(Event::Healed);
        }
    }
}

/// The streams of which a crash keeps something, the last of it torn.
fn torn_streams(keeps: u32, kept: &Kept) -> Vec<Stream> {
    kept.iter().filter(|(stream, count)| *count > 0 && is_torn(keeps, *stream)).map(|(stream, _)| *stream).collect()
}

/// The node of that name; a checked plan names no other.
pub(crate) fn index(names: &[String], name: &str) -> NodeId {
    let found = names.iter().position(|other| other == name);
    NodeId(found.unwrap_or_else(|| panic!("the plan names `{name}`, which is no node")) as u16)
}
