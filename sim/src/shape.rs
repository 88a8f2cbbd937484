//! What slows messages down beside their delays: limited links, and links that are slow for a while.
//!
//! Model. A message of `size` bytes occupies its sender's uplink (all links of a node together) and then its link, each
//! for `size` over the rate; messages queue there in the order sent, lost ones too. Then its delay begins. A copy is
//! made by the network and occupies nothing.

use seedbed_model::{NodeId, Ratio, Span};

use crate::faults::Ways;

/// The time that `size` bytes take at `rate` bytes a second, rounded up [ns].
pub(crate) fn transfer(size: u64, rate: u64) -> u64 {
    let nanos = (u128::from(size) * 1_000_000_000).div_ceil(u128::from(rate.max(1)));
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// When something that comes at `now` and takes `span` is done at a server that is free from `free` on [ns].
pub(crate) fn served(now: u64, free: &mut u64, span: u64) -> u64 {
    *free = now.max(*free).saturating_add(span);
    *free
}

/// A disk that forces what was written in one flush after the other, all that waits in one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flushes {
    /// When the flush under way ends, or the last one did [ns].
    end: u64,
    /// When the one after it ends, if anything waits for it; else as `end`.
    next: u64,
}

impl Flushes {
    /// When what is written at `now` is forced, by a flush that takes `span` [ns]. What is asked later is written later.
    pub(crate) fn forced(&mut self, now: u64, span: u64) -> u64 {
        if now >= self.next {
            self.end = now.saturating_add(span);
            self.next = self.end;
            return self.end;
        }
        if now > self.end {
            self.end = self.next;
        }
        self.next = self.end.saturating_add(span);
        self.next
    }
}

/// Links that are slow for a while.
struct Slow {
    /// The plan's fault.
    fault: usize,
    /// In order.
    side: Vec<NodeId>,
    ways: Ways,
    factor: Ratio,
    added: Span,
}

impl Slow {
    fn covers(&self, from: NodeId, to: NodeId) -> bool {
        let (near, far) = (self.side.binary_search(&from).is_ok(), self.side.binary_search(&to).is_ok());
        (near && !far && self.ways != Ways::In) || (!near && far && self.ways != Ways::Out)
    }
}

/// The queues of links and uplinks, and the slow links.
#[derive(Default)]
pub(crate) struct Shape {
    /// Bytes a second of a link; `None` without limit.
    bandwidth: Option<u64>,
    /// Bytes a second of a node's links together; `None` without limit.
    uplink: Option<u64>,
    /// `links[from][to]`: from when on the link is free [ns].
    links: Vec<Vec<u64>>,
    /// `uplinks[from]` [ns].
    uplinks: Vec<u64>,
    slow: Vec<Slow>,
}

impl Shape {
    pub(crate) fn new(bandwidth: Option<u64>, uplink: Option<u64>, node_count: usize) -> Self {
        let links = if bandwidth.is_some() { vec![Vec::new(); node_count] } else { Vec::new() };
        let uplinks = if uplink.is_some() { vec![0; node_count] } else { Vec::new() };
        Shape { bandwidth, uplink, links, uplinks, slow: Vec::new() }
    }

    /// Whether sizes matter.
    pub(crate) fn is_limited(&self) -> bool {
        self.bandwidth.is_some() || self.uplink.is_some()
    }

    /// Whether any message takes longer than its delay.
    pub(crate) fn is_in_force(&self) -> bool {
        self.is_limited() || !self.slow.is_empty()
    }

    /// When a message of `size` bytes that is sent at `now` is on its way [ns].
    pub(crate) fn departure(&mut self, now: u64, from: NodeId, to: NodeId, size: u64) -> u64 {
        let mut at = now;
        if let Some(rate) = self.uplink {
            at = served(at, &mut self.uplinks[from.index()], transfer(size, rate));
        }
        if let Some(rate) = self.bandwidth {
            let row = &mut self.links[from.index()];
            if row.len() <= to.index() {
                row.resize(to.index() + 1, 0);
            }
            at = served(at, &mut row[to.index()], transfer(size, rate));
        }
        at
    }

    /// What the link makes of a delay [ns].
    pub(crate) fn stretched(&self, delay: u64, from: NodeId, to: NodeId) -> u64 {
        let slow = self.slow.iter().filter(|slow| slow.covers(from, to));
        slow.fold(delay, |delay, slow| (slow.factor.floor_of(Span(delay)) + slow.added).0)
    }

    /// Links are slow from here on.
    pub(crate) fn slow_down(&mut self, fault: usize, mut side: Vec<NodeId>, ways: Ways, factor: Ratio, added: Span) {
        side.sort_unstable();
        self.slow.push(Slow { fault, side, ways, factor, added });
    }

    /// They no longer are.
    pub(crate) fn speed_up(&mut self, fault: usize) {
        self.slow.retain(|slow| slow.fault != fault);
    }

    /// No link is slow.
    pub(crate) fn calm(&mut self) {
        self.slow.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);
    const C: NodeId = NodeId(2);

    #[test]
    fn bytes_take_their_time_rounded_up() {
        assert_eq!(transfer(0, 10), 0);
        assert_eq!(transfer(1, 1_000_000_000), 1);
        assert_eq!(transfer(10, 3), 3_333_333_334);
        assert_eq!(transfer(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn messages_queue_on_their_link_and_behind_none_of_another() {
        let mut shape = Shape::new(Some(1_000_000_000), None, 3);
        assert_eq!(shape.departure(0, A, B, 100), 100);
        assert_eq!(shape.departure(50, A, B, 100), 200);
        assert_eq!(shape.departure(50, A, C, 100), 150);
        assert_eq!(shape.departure(500, A, B, 100), 600, "the queue has run dry");
    }

    #[test]
    fn all_links_of_a_node_share_its_uplink() {
        let mut shape = Shape::new(None, Some(1_000_000_000), 3);
        assert_eq!(shape.departure(0, A, B, 100), 100);
        assert_eq!(shape.departure(0, A, C, 100), 200);
        assert_eq!(shape.departure(0, B, C, 100), 100);
    }

    #[test]
    fn slow_links_slow_their_direction_alone_and_add_up() {
        let mut shape = Shape::default();
        shape.slow_down(0, vec![A], Ways::Out, Ratio::new(2, 1), Span(5));
        assert_eq!((shape.stretched(10, A, B), shape.stretched(10, B, A), shape.stretched(10, B, C)), (25, 10, 10));
        shape.slow_down(1, vec![C, A], Ways::Both, Ratio::ONE, Span(100));
        assert_eq!((shape.stretched(10, A, B), shape.stretched(10, A, C)), (125, 25));
        shape.speed_up(0);
        assert_eq!(shape.stretched(10, A, B), 110);
        shape.calm();
        assert!(!shape.is_in_force());
    }
}
