//! Regular Paxos (§3, §5): "for each prepare and accept message, the acceptor has to update its state before responding".
//!
//! The same hosts, acceptors and proposers as FaTLease's; what differs is here. An acceptor's answer that rests on a changed
//! state leaves when that is durable, also to the host's own proposer: two writes a round. A host that restarts reads its
//! acceptors back and takes part at once, without the recovery wait; and nothing is discarded.
//!
//! Decisions where the paper is open:
//! - All of p is written, each time: "in FaTLease, this refers to all state contained in p_l" (§4.4). LEARN and INV change it
//!   without an answer, so they write nothing by themselves and go along with the next answer; a crash before that
//!   forgets them, as a lost message would have.
//! - NACK, OUTDATED and REJECT promise nothing, and leave at once.
//! - One thread writes ([`crate::paxos::Writer`]): a write takes the states of all cells whose answers wait (up to `batch`), and no answer
//!   leaves with an earlier write than its own (`answer-with-earlier-batch`).
//! - A host that reads back a lease of its own does not use it, as the client that asked for it is gone (§6: "a failed
//!   process will always lose its leases", here too): it asks for the next, which nobody else gets meanwhile, by the
//!   rule for renewals (`restart-uses-lease`).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Part, Span, Stream};

use super::acceptor::{Acceptor, At};
use super::message::{Answer, CellId, Lease, Reply};
use super::mutants::*;
use super::{FaTLease, Host, Observed, Timer};
use crate::paxos::{Held, Rules};

/// The stream of all acceptors of a host.
const ACCEPTORS: Stream = Stream(0);

/// One write: the states of these cells' acceptors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Record {
    /// As they were when the write began.
    pub cells: BTreeMap<CellId, Acceptor>,
}

/// What the disk holds: the state last written of each cell's acceptor.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// Cells that nothing was written of are not in it.
    pub cells: BTreeMap<CellId, Part<Acceptor>>,
}

impl Durable {
    pub(super) fn fold(&mut self, record: &Record) {
        for (cell, acceptor) in &record.cells {
            self.cells.insert(*cell, Part::new(acceptor.clone()));
        }
    }
}

impl Answer {
    fn is_promise_or_vote(self) -> bool {
        matches!(self, Answer::Ack(_) | Answer::Accepted)
    }

    /// Whether a mutant lets it leave before what it rests on is durable.
    fn is_hasty(self, rules: &Rules) -> bool {
        match self {
            Answer::Ack(_) => !rules.promise_is_written_first,
            Answer::Accepted => !rules.vote_is_written_first,
            Answer::Nack(_) | Answer::Outdated { .. } | Answer::Reject { .. } => false,
        }
    }
}

type Cx<'a, 'b> = &'a mut Context<'b, FaTLease>;

impl Host {
    /// An acceptor has answered: at once, or once that is durable what the answer rests on.
    pub(super) fn answer(&mut self, to: NodeId, reply: Reply, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let (answer, held) = (reply.answer, Held { to, answer: reply });
        if !rules.is_durable() || !answer.is_promise_or_vote() {
            return self.deliver(held, at, rules, cx);
        }
        let is_hasty = answer.is_hasty(&rules.paxos) || to == at.node && rules.has(OWN_UNSYNCED);
        let hasty = is_hasty.then(|| held.clone());
        if self.writer.push(held) && rules.params.linger > Span::ZERO {
            cx.set(Timer::Linger, rules.params.linger);
        }
        self.write(rules, cx);
        if let Some(held) = hasty {
            self.deliver_early(held, at, rules, cx);
        }
    }

    /// Begins the next write, if the disk is free and enough waits for it.
    pub(super) fn write(&mut self, rules: &FaTLease, cx: Cx<'_, '_>) {
        let (ready, batch) = (self.writer.ready(), usize::from(rules.params.batch));
        let is_full = batch > 0 && ready >= batch;
        if ready == 0 || !is_full && rules.params.linger > Span::ZERO && cx.is_armed(&Timer::Linger) {
            return;
        }
        let count = if is_full { batch } else { ready };
        if count > 1 {
            cx.mark("written-together");
        }
        let acceptors = &self.acceptors;
        let state = |held: &Held<Reply>| (held.answer.cell, (*acceptors[usize::from(held.answer.cell.0)]).clone());
        self.writer.begin_write(count, ACCEPTORS, |batch| Record { cells: batch.iter().map(state).collect() }, cx);
    }

    /// The write is durable, and the answers to others have left with it.
    pub(super) fn on_durable(&mut self, record: Record, rules: &FaTLease, cx: Cx<'_, '_>) {
        let at = self.at(rules, cx);
        for (cell, acceptor) in record.cells {
            rules.show(cell, Observed::Answered(acceptor), cx);
        }
        for held in self.writer.done() {
            self.deliver(held, at, rules, cx);
        }
        if rules.has(EARLIER_BATCH) {
            for held in self.writer.take_waiting() {
                self.deliver_early(held, at, rules, cx);
            }
        }
        self.write(rules, cx);
    }

    /// A restarted host finds what it wrote, and nothing else.
    pub(super) fn read_back(&mut self, durable: &Durable, rules: &FaTLease, cx: Cx<'_, '_>) {
        let found = durable.cells.iter().filter(|_| rules.paxos.state_is_read_back);
        for (cell, acceptor) in found {
            cx.mark("read-back");
            self.acceptors[usize::from(cell.0)] = acceptor.clone();
        }
        for cell in rules.cells() {
            let acceptor = (*self.acceptors[usize::from(cell.0)]).clone();
            rules.show(cell, Observed::ReadBack(acceptor), cx);
        }
    }

    /// Whether the lease is one that an earlier incarnation asked for, which this one does not use.
    pub(super) fn is_inherited(&self, lease: Lease, at: At, rules: &FaTLease) -> bool {
        let is_own = lease.owner == at.node && lease.asked.nonce != self.nonce;
        rules.is_durable() && is_own && !rules.has(RESTART_USES_LEASE)
    }

    /// Asks for the lease after one that was inherited.
    pub(super) fn take_over(&mut self, cell: CellId, rules: &FaTLease, cx: Cx<'_, '_>) {
        cx.mark("lease-inherited");
        if !(rules.retries() && self.is_busy(cell, cx)) {
            self.renew(cell, rules, cx);
        }
    }

    fn deliver(&mut self, held: Held<Reply>, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let Held { to, answer: reply } = held;
        if to == at.node {
            self.on_answer(to, reply, at, rules, cx);
        } else {
            cx.send(to, reply.into());
        }
    }

    /// What mutants do: the answer leaves before its state is durable.
    fn deliver_early(&mut self, held: Held<Reply>, at: At, rules: &FaTLease, cx: Cx<'_, '_>) {
        let acceptor = (*self.acceptors[usize::from(held.answer.cell.0)]).clone();
        rules.show(held.answer.cell, Observed::Answered(acceptor), cx);
        self.deliver(held, at, rules, cx);
    }
}
