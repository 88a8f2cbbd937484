//! The durable half of an acceptor: "for each prepare and accept message, the acceptor has to update its state before responding"
//! (FaTLease §3), and the thread for it, which "writes multiple messages (if available) to disk before calling `fsync`" (§5).

use seedbed_model::{Canonical, Context, NodeId, Protocol, Stream};

/// What waits for the disk at one node. One write is under way at a time; what comes meanwhile waits for the next, and goes
/// into it together.
///
/// An answer leaves when the write that it went into is durable: an earlier one may hold less than what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Writer<A> {
    waiting: Vec<Held<A>>,
    /// What its own node awaits of the write under way. `None`: none is.
    written: Option<Vec<Held<A>>>,
}

/// An acceptor's answer that rests on what is not durable yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Held<A> {
    /// The proposer.
    pub to: NodeId,
    /// What it is told.
    pub answer: A,
}

impl<A> Default for Writer<A> {
    fn default() -> Self {
        Writer { waiting: Vec::new(), written: None }
    }
}

impl<A> Writer<A> {
    /// Puts an answer behind the others. Whether it is the first that waits.
    pub fn push(&mut self, held: Held<A>) -> bool {
        self.waiting.push(held);
        self.waiting.len() == 1
    }

    /// Whether nothing waits and no write is under way: all is durable.
    pub fn is_idle(&self) -> bool {
        self.written.is_none() && self.waiting.is_empty()
    }

    /// How many answers could go into a write that begins now; 0 while another is under way.
    pub fn ready(&self) -> usize {
        if self.written.is_some() { 0 } else { self.waiting.len() }
    }

    /// Begins a write of what the oldest `count` answers rest on. To other nodes they leave as soon as it is durable.
    ///
    /// # Panics
    /// If a write is under way, or so many do not wait.
    pub fn begin_write<P: Protocol>(
        &mut self,
        count: usize,
        stream: Stream,
        record: impl FnOnce(&[Held<A>]) -> P::Record,
        cx: &mut Context<'_, P>,
    ) where
        A: Into<P::Message>,
    {
        let batch = self.begin(count);
        let ticket = cx.persist(stream, record(&batch));
        for Held { to, answer } in self.keep_own(batch, cx.node()) {
            cx.send_after(ticket, to, answer.into());
        }
    }

    /// The write under way is durable: the answers of it to the own node.
    pub fn done(&mut self) -> Vec<Held<A>> {
        self.written.take().unwrap_or_default()
    }

    /// Takes what waits for the next write.
    pub fn take_waiting(&mut self) -> Vec<Held<A>> {
        std::mem::take(&mut self.waiting)
    }

    fn begin(&mut self, count: usize) -> Vec<Held<A>> {
        assert!(count <= self.ready(), "{count} answers into a write, of {} that may be", self.ready());
        self.waiting.drain(..count).collect()
    }

    /// Returns the answers to others.
    fn keep_own(&mut self, batch: Vec<Held<A>>, node: NodeId) -> Vec<Held<A>> {
        let (own, others) = batch.into_iter().partition(|held| held.to == node);
        self.written = Some(own);
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: NodeId = NodeId(0);

    fn held(answer: u16) -> Held<u16> {
        Held { to: NodeId(answer % 2), answer }
    }

    #[test]
    fn what_comes_while_a_write_is_under_way_goes_into_the_next_together() {
        let mut writer = Writer::default();
        assert!(writer.push(held(2)));
        let batch = writer.begin(1);
        assert_eq!(writer.keep_own(batch, OWN), []);
        assert!(writer.push(held(3)));
        assert!(!writer.push(held(4)));
        assert_eq!(writer.ready(), 0, "one write at a time");
        assert_eq!(writer.done(), [held(2)]);
        assert_eq!(writer.ready(), 2);
        let batch = writer.begin(2);
        assert_eq!(batch, [held(3), held(4)]);
        assert_eq!(writer.keep_own(batch, OWN), [held(3)], "answers to others leave with the write");
        assert_eq!(writer.done(), [held(4)], "the node's own come back");
    }

    #[test]
    fn a_write_takes_no_more_than_it_is_told_to() {
        let mut writer = Writer::default();
        for answer in 1..=3 {
            writer.push(held(answer));
        }
        let batch = writer.begin(2);
        assert_eq!(writer.keep_own(batch, OWN), [held(1)]);
        assert_eq!(writer.done(), [held(2)]);
        assert_eq!(writer.begin(1), [held(3)]);
    }
}
