//! The thread that writes: "we introduced an extra thread that writes multiple messages (if available) to disk before calling
//! `fsync`" (FaTLease §5).

use seedbed_model::Canonical;

/// What waits for the disk at one acceptor. One write is under way at a time; what comes meanwhile waits for the next, and goes
/// into it together.
///
/// An answer leaves when the write that it went into is durable: an earlier one may hold less than what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Writer<A> {
    waiting: Vec<A>,
    /// What is done once the write under way is durable. `None`: none is.
    written: Option<Vec<A>>,
}

impl<A> Default for Writer<A> {
    fn default() -> Self {
        Writer { waiting: Vec::new(), written: None }
    }
}

impl<A> Writer<A> {
    /// Puts an answer behind the others. Whether it is the first that waits.
    pub fn push(&mut self, answer: A) -> bool {
        self.waiting.push(answer);
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

    /// Begins a write of the oldest `count` answers. `keep` are those of them that the writer hands back when it is done.
    ///
    /// # Panics
    /// If a write is under way, or so many do not wait.
    pub fn begin(&mut self, count: usize, keep: impl Fn(&A) -> bool) -> Vec<A>
    where
        A: Clone,
    {
        assert!(count <= self.ready(), "{count} answers into a write, of {} that may be", self.ready());
        let batch: Vec<A> = self.waiting.drain(..count).collect();
        self.written = Some(batch.iter().filter(|answer| keep(answer)).cloned().collect());
        batch
    }

    /// The write under way is durable: what was kept of it.
    pub fn done(&mut self) -> Vec<A> {
        self.written.take().unwrap_or_default()
    }

    /// Takes what waits for the next write.
    pub fn take_waiting(&mut self) -> Vec<A> {
        std::mem::take(&mut self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_while_a_write_is_under_way_goes_into_the_next_together() {
        let mut writer = Writer::default();
        assert!(writer.push(1));
        assert_eq!(writer.begin(1, |_| true), [1]);
        assert!(writer.push(2));
        assert!(!writer.push(3));
        assert_eq!(writer.ready(), 0, "one write at a time");
        assert_eq!(writer.done(), [1]);
        assert_eq!(writer.ready(), 2);
        assert_eq!(writer.begin(2, |answer| *answer == 3), [2, 3]);
        assert_eq!(writer.done(), [3], "only what was kept comes back");
    }

    #[test]
    fn a_write_takes_no_more_than_it_is_told_to() {
        let mut writer = Writer::default();
        for answer in 1..=3 {
            writer.push(answer);
        }
        assert_eq!(writer.begin(2, |_| false), [1, 2]);
        assert_eq!(writer.done(), Vec::<i32>::new());
        assert_eq!(writer.begin(1, |_| true), [3]);
    }
}
