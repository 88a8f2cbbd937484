//! The agenda: what is to happen, by time.
//!
//! At one instant the ends of timers pass first (node by node), then the monitor's deadlines, then everything else in
//! the order in which it was scheduled, last the end of the run.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use derive_where::derive_where;
use seedbed_model::{Choice, Envelope, Named, NodeId, Protocol, Stream};

/// Something to happen.
#[derive_where(Debug, Clone)]
pub(crate) enum Due<P: Protocol> {
    /// A message in flight arrives, or a copy of it, or it is lost.
    Message(Named<P>),
    /// A timer set to end now ends; stale if its end is another by now [ns].
    Lapse(NodeId, P::Timer, u64),
    /// The firing of a timer that ended arrives; stale as above.
    Fire(NodeId, P::Timer, u64),
    /// A deadline of the monitor passes; stale as above.
    Deadline(u32, u64),
    /// The oldest record of a stream becomes durable, unless the node crashed since: its count of crashes then.
    Sync(NodeId, Stream, u32),
    /// A client's next operation.
    Invoke(NodeId),
    /// A decision is taken, if the offer of that number still stands.
    Decide(NodeId, u64),
    /// The plan's fault of that index begins.
    Begin(usize),
    /// It ends.
    Mend(usize),
    /// The flapping links of that fault go off or on.
    Toggle(usize),
    /// The plan's turn of that index: all draws from here on are another seed's.
    Turn(usize),
    /// A node has done its next step, unless it crashed since: its count of crashes then.
    Serve(NodeId, u32),
    /// The active phase is over.
    Heal,
    /// The quiet phase is over.
    End,
}

/// The order within an instant.
#[derive(Clone, Copy)]
enum Class {
    Lapse = 0,
    Deadline = 1,
    Other = 2,
    End = 3,
}

#[derive(Clone, Copy)]
struct Entry {
    /// When [ns].
    at: u64,
    /// Class, node and sequence number, most significant first.
    order: u64,
    /// Where in the slab.
    slot: u32,
}

impl Entry {
    /// One number is compared without a branch between its halves.
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at) << 64 | u128::from(self.order)
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Entry {}

/// Entries by time. Those due first lie sorted beside a heap: most worlds have but a few at a time, and those of a large
/// world are taken out of its heap by the dozen.
struct Queue {
    /// From `head` on the first due is first; what lies before has left.
    near: Vec<Entry>,
    head: usize,
    /// None of them is due before the entries that are near.
    heap: BinaryHeap<Reverse<Entry>>,
}

/// Beyond so many near ones, moving them costs more than the heap does.
const NEAR_COUNT_MAX: usize = 32;

/// What has left is forgotten when there is no more room, which is once in [`NEAR_COUNT_MAX`] entries at most.
const ROOM: usize = 2 * NEAR_COUNT_MAX;

impl Queue {
    fn new() -> Self {
        Queue { near: Vec::with_capacity(ROOM), head: 0, heap: BinaryHeap::new() }
    }

    #[inline(always)]
    fn push(&mut self, entry: Entry) {
        // What is scheduled last is mostly due late.
        let near = &self.near[self.head..];
        let later = near.iter().rev().take_while(|near| entry < **near).count();
        if later == 0 && (near.len() == NEAR_COUNT_MAX || !self.heap.is_empty()) {
            return self.heap.push(Reverse(entry));
        }
        let is_full = near.len() == NEAR_COUNT_MAX;
        if self.near.len() == ROOM {
            self.near.drain(..std::mem::take(&mut self.head));
        }
        self.near.insert(self.near.len() - later, entry);
        if is_full {
            self.heap.extend(self.near.pop().map(Reverse));
        }
    }

    #[inline]
    fn first(&self) -> Option<&Entry> {
        self.near.get(self.head).or_else(|| self.heap.peek().map(|Reverse(entry)| entry))
    }

    #[inline]
    fn pop(&mut self) -> Option<Entry> {
        if self.head == self.near.len() {
            self.refill();
        }
        let entry = self.near.get(self.head).copied();
        self.head += usize::from(entry.is_some());
        entry
    }

    /// Takes the entries due first out of the heap.
    fn refill(&mut self) {
        self.near.clear();
        self.head = 0;
        while self.near.len() < NEAR_COUNT_MAX / 2
            && let Some(Reverse(entry)) = self.heap.pop()
        {
            self.near.push(entry);
        }
    }
}

/// A priority queue whose payloads lie still in a slab while their keys move.
pub(crate) struct Agenda<P: Protocol> {
    queue: Queue,
    slab: Vec<Option<Due<P>>>,
    free: Vec<u32>,
    /// Entries scheduled so far.
    sequence: u64,
}

const NODE_SHIFT: u32 = 44;
const CLASS_SHIFT: u32 = 60;

impl<P: Protocol> Agenda<P> {
    pub(crate) fn new() -> Self {
        Agenda { queue: Queue::new(), slab: Vec::with_capacity(16), free: Vec::with_capacity(16), sequence: 0 }
    }

    /// Schedules `due` at `at` [ns].
    ///
    /// # Panics
    /// Beyond 2^44 entries or 2^32 at a time.
    pub(crate) fn push(&mut self, at: u64, due: Due<P>) {
        let (class, node) = match &due {
            Due::Lapse(node, ..) => (Class::Lapse, node.0),
            Due::Deadline(..) => (Class::Deadline, 0),
            Due::End => (Class::End, 0),
            _ => (Class::Other, 0),
        };
        let place = self.enter(at, class, node);
        *place = Some(due);
    }

    /// [`Self::push`] of a message's arrival, which is scheduled most.
    #[inline(always)]
    pub(crate) fn push_delivery(&mut self, at: u64, envelope: Envelope<P::Message>) {
        let place = self.enter(at, Class::Other, 0);
        *place = Some(Due::Message(Choice::Deliver(envelope)));
    }

    /// Schedules what is to be written to the place.
    #[inline(always)]
    fn enter(&mut self, at: u64, class: Class, node: u16) -> &mut Option<Due<P>> {
        assert!(self.sequence >> NODE_SHIFT == 0, "the agenda numbers 2^44 entries");
        let order = (class as u64) << CLASS_SHIFT | u64::from(node) << NODE_SHIFT | self.sequence;
        self.sequence += 1;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slab.push(None);
            u32::try_from(self.slab.len() - 1).expect("the agenda holds fewer than 2^32 entries")
        });
        self.queue.push(Entry { at, order, slot });
        &mut self.slab[slot as usize]
    }

    /// When the first entry is due [ns].
    #[inline]
    pub(crate) fn next_at(&self) -> Option<u64> {
        self.queue.first().map(|entry| entry.at)
    }

    /// Removes the first entry: when it is due [ns], and what is.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> (u64, Due<P>) {
        let entry = self.queue.pop().expect("the end of the run is on the agenda");
        self.free.push(entry.slot);
        (entry.at, self.slab[entry.slot as usize].take().expect("an entry has its place"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::seed::Seed;
    use crate::stream::{Label, Streams, below};

    /// Whatever the mix of entering and leaving, entries leave in the order of their keys.
    #[test]
    fn entries_leave_in_order() {
        let mut streams = Streams::new(Seed::Number(5), 1);
        let mut draw = 0;
        let mut below = |count| {
            draw += 1;
            below(streams.word(Label::choose(NodeId(0)), draw), count)
        };
        for size in [3, 40, 400] {
            let (mut queue, mut expected) = (Queue::new(), BTreeSet::new());
            let mut now = 0;
            for order in 0..20_000 {
                if expected.len() < size && below(3) > 0 {
                    let at = now + u64::from(below(100));
                    queue.push(Entry { at, order, slot: 0 });
                    expected.insert((at, order));
                } else {
                    let first = expected.pop_first();
                    assert_eq!(queue.first().map(|entry| (entry.at, entry.order)), first);
                    assert_eq!(queue.pop().map(|entry| (entry.at, entry.order)), first);
                    now = first.map_or(now, |(at, _)| at);
                }
            }
        }
    }
}
