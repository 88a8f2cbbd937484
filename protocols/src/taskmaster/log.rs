//! The commit log (§5.3): ApplyAtoms with tickets, written in parallel, committed in the order of their tickets; and an operation's way
//! through it, from its ticket to its rows.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, Nonce};

use super::message::{Observation, OpKey, Reply, Request, Write};
use super::node::{Node, Stage};
use super::task::{Atom, Row, Ticket};
use super::{TaskMaster, mutants};

/// What was logged and is not wholly applied yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Log {
    /// Whose tickets these are: this incarnation's.
    pub incarnation: Nonce,
    /// The number of the last ticket that was given.
    pub given: u32,
    /// "Committed once it and all earlier ApplyAtoms have been successfully written": up to this number.
    pub committed: u32,
    /// The minimum ticket that is written.
    pub minimum: u32,
    /// Each atom until its rows are durable.
    pub pending: BTreeMap<u32, Pending>,
}

/// An atom under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Pending {
    /// Whose.
    pub op: OpKey,
    /// What.
    pub atom: Atom,
    /// Whether its row of the log is durable.
    pub is_written: bool,
    /// Its rows that are not durable; those of an atom that is not committed are not counted yet.
    pub unapplied: BTreeSet<Row>,
}

impl Log {
    /// An empty log behind this ticket.
    pub fn behind(ticket: Ticket) -> Log {
        let number = ticket.number;
        Log {
            incarnation: ticket.incarnation,
            given: number,
            committed: number,
            minimum: number,
            pending: BTreeMap::new(),
        }
    }

    /// The ticket of this number.
    pub fn ticket(&self, number: u32) -> Ticket {
        Ticket { incarnation: self.incarnation, number }
    }

    /// Gives an atom its ticket.
    pub fn append(&mut self, op: OpKey, atom: Atom) -> Ticket {
        self.given += 1;
        let pending = Pending { op, atom, is_written: false, unapplied: BTreeSet::new() };
        self.pending.insert(self.given, pending);
        self.ticket(self.given)
    }

    /// The next atom, once it is written, which commits it.
    pub fn commit(&mut self) -> Option<(Ticket, &mut Pending)> {
        let number = self.committed + 1;
        let ticket = self.ticket(number);
        let pending = self.pending.get_mut(&number).filter(|pending| pending.is_written)?;
        self.committed = number;
        Some((ticket, pending))
    }

    /// Up to where all atoms are committed and all their rows are durable (TA2).
    pub fn applied(&self) -> u32 {
        self.pending.keys().next().map_or(self.committed, |first| self.committed.min(first - 1))
    }
}

/// In place of the number of an operation's readings, once it was answered.
pub(super) const ACKNOWLEDGED: u32 = u32::MAX;

impl Node {
    /// Gives an atom its ticket and writes it.
    pub(super) fn append(&mut self, key: OpKey, atom: Atom, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(op) = self.ops.get_mut(&key) else { return };
        op.stage = Stage::Logged;
        let is_lease = matches!(op.request, Request::Lease { .. });
        let now = cx.clock();
        let ticket = self.log.append(key, atom.clone());
        cx.observe(Observation::Logged { op: key, ticket, now, atom: atom.clone() });
        if is_lease && rules.has(mutants::LEASE_UNPERSISTED) {
            self.acknowledge(ticket, rules, cx);
        }
        self.write(ticket, Write::Log(atom), rules, cx);
    }

    /// An atom is in the log. It is committed once all before it are.
    pub(super) fn on_logged(&mut self, ticket: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(pending) = self.log.pending.get_mut(&ticket.number).filter(|pending| !pending.is_written) else {
            return;
        };
        pending.is_written = true;
        if ticket.number > self.log.committed + 1 {
            cx.mark("logged-early");
            if rules.has(mutants::REPLIES_UNORDERED) {
                self.acknowledge(ticket, rules, cx);
            }
            if rules.has(mutants::COUNTS_UNORDERED) {
                self.count(ticket, rules);
            }
        }
        while let Some((ticket, pending)) = self.log.commit() {
            pending.unapplied = pending.atom.rows.keys().copied().collect();
            self.commit(ticket, rules, cx);
        }
    }

    /// It will be applied, whatever happens.
    fn commit(&mut self, ticket: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        self.count(ticket, rules);
        let Some(pending) = self.log.pending.get(&ticket.number).cloned() else { return };
        let (key, atom) = (pending.op, pending.atom);
        if let Some(queue) = atom.deleted {
            if !rules.has(mutants::CACHE_OUTLIVES_QUEUE) {
                self.cache.emptied(queue);
            }
            self.reap(queue, rules, cx);
        }
        for (row, task) in &atom.rows {
            if self.cache.put(row.name(), *task, rules.keeping()).leased {
                cx.mark("evicted though leased");
            }
        }
        let counts = atom.deltas.keys().map(|queue| (*queue, self.counters[queue])).collect();
        cx.observe(Observation::Committed(ticket, counts));
        self.acknowledge(ticket, rules, cx);
        for (row, task) in &atom.rows {
            self.write(ticket, Write::Task(*row, *task), rules, cx);
        }
        if atom.rows.is_empty() {
            self.log.pending.remove(&ticket.number);
            self.end(key, rules, cx);
        } else if rules.has(mutants::LOCKS_UNTIL_COMMIT) {
            self.end(key, rules, cx);
        }
    }

    fn count(&mut self, ticket: Ticket, rules: &TaskMaster) {
        let atom = &self.log.pending[&ticket.number].atom;
        for (queue, delta) in &atom.deltas {
            let counter = self.counters.entry(*queue).or_default();
            counter.count(ticket, *delta, atom.deleted == Some(*queue), !rules.has(mutants::COUNTS_REPLAYS));
            self.checkpoint.changed.insert(*queue);
        }
    }

    /// The reply comes after the commit; row writes follow, behind locks (TA1).
    fn acknowledge(&mut self, ticket: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(pending) = self.log.pending.get(&ticket.number) else { return };
        let key = pending.op;
        let leased = pending.atom.rows.iter().filter_map(|(row, task)| Some((row.name(), (*task)?.data))).collect();
        let Some(op) = self.ops.get_mut(&key) else { return };
        let is_new = op.round != ACKNOWLEDGED;
        let reply = if matches!(op.request, Request::Lease { .. }) { Reply::Leased(leased) } else { Reply::Done };
        op.round = ACKNOWLEDGED;
        op.rows.clear();
        if is_new {
            cx.observe(Observation::Acknowledged(ticket));
            self.reply(key, reply, rules, cx);
        }
    }

    pub(super) fn on_applied(
        &mut self,
        ticket: Ticket,
        row: Row,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let Some(pending) = self.log.pending.get_mut(&ticket.number) else { return };
        if pending.unapplied.remove(&row) && pending.unapplied.is_empty() {
            let key = pending.op;
            self.log.pending.remove(&ticket.number);
            if !rules.has(mutants::LOCKS_UNTIL_COMMIT) {
                self.end(key, rules, cx);
            }
        }
    }
}
