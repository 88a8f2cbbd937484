//! The row: which component of a world stands in which slot.

use crate::name::NodeId;

/// The slots of a row before its messages in flight. A row is `fixed` slots and then the flights, sorted.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// `nodes[i]`: the slots of node `i`.
    pub(super) nodes: Vec<Block>,
    /// `timers[i]`: the slot of node `i`'s timers.
    pub(super) timers: Vec<u16>,
    /// The monitor's core and parts.
    pub(super) monitor: Block,
    /// The monitor's deadlines.
    pub(super) deadlines: u16,
    /// Fault budgets and cut links.
    pub(super) faults: u16,
    /// Clock offsets.
    pub(super) clocks: u16,
    /// How many slots.
    pub(super) fixed: usize,
}

/// A core and its parts, in neighbouring slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The core's slot.
    pub(super) start: u16,
    /// Core and parts.
    pub(super) len: u16,
}

impl Block {
    pub(super) fn slots(self) -> std::ops::Range<u16> {
        self.start..self.start + self.len
    }

    pub(super) fn range(self) -> std::ops::Range<usize> {
        usize::from(self.start)..usize::from(self.start + self.len)
    }
}

impl Layout {
    /// `part_counts[i]`: parts of node `i`'s host, once it is up.
    pub(super) fn new(part_counts: &[usize], monitor_parts: usize) -> Self {
        let mut next = 0u16;
        let mut block = |len: usize| {
            let start = next;
            next += len as u16;
            Block { start, len: len as u16 }
        };
        let mut nodes = Vec::new();
        let mut timers = Vec::new();
        for parts in part_counts {
            nodes.push(block(1 + parts));
            timers.push(block(1).start);
        }
        let monitor = block(1 + monitor_parts);
        let (deadlines, faults, clocks) = (block(1).start, block(1).start, block(1).start);
        Layout { nodes, timers, monitor, deadlines, faults, clocks, fixed: usize::from(next) }
    }

    pub(super) fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u16).map(NodeId)
    }
}
