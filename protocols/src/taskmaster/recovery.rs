//! Recovery (§5.3): "simply a matter of scanning from the minimum applied ticket through the end of the range and re-applying each
//! operation in order."
//!
//! 1. It reads where the log begins, and writes itself down as the owner of that row: what an earlier incarnation has still under way
//!    to it can then not be shown any more (TA4).
//! 2. It scans the log and the counters. The committed part ends before the first ticket that is missing; what lies behind was never
//!    acknowledged, and its log is never read again (TA3).
//! 3. It writes the rows and the counters of the committed part, each with the timestamp of its ticket, so that a row which was
//!    written already, or is written late by an earlier incarnation, is the same.
//! 4. Once these are durable it begins a log of its own: the minimum ticket is then of its incarnation.
//!
//! A job of a later sharding takes over, before it has a log of its own, what the logs of the former owners of its groups hold: it asks
//! where each of them begins, and replays the atoms of its groups alone. Until then its row of the minimum ticket names a ticket of
//! theirs, so that it does so again if it crashes meanwhile; after that their logs are never read again (TA3). Nobody takes their
//! minimum tickets over: they only grow, past atoms whose rows and counters are durable.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, NodeId, Nonce, Span};

use super::log::Log;
use super::message::{Found, Message, Minimum, Observation, Place, Read, Timer, Write};
use super::node::Node;
use super::task::{Atom, Counter, Queue, Row, Task, Ticket};
use super::{TaskMaster, mutants};

/// How far the node has recovered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Phase {
    /// It asks where the log begins.
    Looking,
    /// It takes the log over, which begins behind this ticket.
    Fencing(Ticket),
    /// It scans the log and the counters.
    Scanning {
        /// Where its log begins.
        after: Ticket,
        /// Behind these tickets, each once it is there: of its own log, or of those that it takes over.
        logs: BTreeMap<Ticket, Option<Vec<(Ticket, Atom)>>>,
        /// Once they are there.
        counters: Option<Vec<(Queue, Counter)>>,
    },
    /// It writes what was committed, from behind the first of two tickets up to the second. These are not durable yet.
    Replaying(BTreeSet<(Ticket, Place)>, Ticket, Ticket),
    /// It begins its own log, behind this ticket.
    Beginning(Ticket),
    /// It is ready.
    Serving,
    /// It asks where the logs of these begin, which it takes over; of those that have answered, the ticket.
    Inheriting(BTreeMap<NodeId, Option<Ticket>>),
}

impl Node {
    /// What it reads for itself.
    pub(super) fn on_own_found(
        &mut self,
        read: Read,
        found: Found,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        match (&mut self.phase, found) {
            (Phase::Looking, Found::Minimum(minimum)) => self.fence(minimum, rules, cx),
            (Phase::Inheriting(minima), Found::Minimum(Some(minimum))) => {
                if let Read::MinimumOf(node) = read {
                    minima.insert(node, Some(minimum.ticket));
                    self.inherit(rules, cx);
                }
            }
            (Phase::Scanning { logs, .. }, Found::Log(found)) => {
                if let Read::Log(after) = read {
                    logs.insert(after, Some(found));
                    self.replay(rules, cx);
                }
            }
            (Phase::Scanning { counters, .. }, Found::Counters(found)) => {
                *counters = Some(found);
                self.replay(rules, cx);
            }
            (Phase::Serving, Found::Tasks(tasks)) => self.on_old(read, &tasks, rules, cx),
            _ => cx.mark("late answer"),
        }
    }

    fn fence(&mut self, minimum: Option<Minimum>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let own = Ticket { incarnation: self.nonce, number: 0 };
        let first = match rules.predecessors(cx.node()).first() {
            Some(node) => Ticket { incarnation: Nonce::first(node.0), number: 0 },
            None => own,
        };
        let after = minimum.map_or(first, |minimum| minimum.ticket);
        if rules.has(mutants::LOG_UNFENCED) {
            return self.scan(after, rules, cx);
        }
        self.phase = Phase::Fencing(after);
        self.write(own, Write::Minimum(Minimum { owner: self.nonce, ticket: after, trimmed: after }), rules, cx);
    }

    fn scan(&mut self, after: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if after.incarnation.scope() == cx.node().0 {
            return self.scan_logs(after, BTreeMap::from([(after, None)]), rules, cx);
        }
        if rules.has(mutants::INHERITS_NOTHING) {
            return self.scan_logs(after, BTreeMap::new(), rules, cx);
        }
        cx.mark("takes over");
        let minima: BTreeMap<NodeId, Option<Ticket>> =
            rules.predecessors(cx.node()).into_iter().map(|node| (node, None)).collect();
        for node in minima.keys() {
            self.read(None, Read::MinimumOf(*node), rules, cx);
        }
        self.phase = Phase::Inheriting(minima);
    }

    /// Once it knows where all begin. Each has a log of its own: it has served, else nobody would have resharded.
    fn inherit(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Phase::Inheriting(minima) = &self.phase else { return };
        let Some(tickets) = minima.values().copied().collect::<Option<Vec<Ticket>>>() else { return };
        let Some(first) = rules.predecessors(cx.node()).first().copied() else { return };
        let after = Ticket { incarnation: Nonce::first(first.0), number: 0 };
        self.scan_logs(after, tickets.into_iter().map(|ticket| (ticket, None)).collect(), rules, cx);
    }

    fn scan_logs(
        &mut self,
        after: Ticket,
        logs: BTreeMap<Ticket, Option<Vec<(Ticket, Atom)>>>,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        for behind in logs.keys() {
            self.read(None, Read::Log(*behind), rules, cx);
        }
        self.phase = Phase::Scanning { after, logs, counters: None };
        self.read(None, Read::Counters, rules, cx);
    }

    /// Once all scans are there.
    fn replay(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Phase::Scanning { after, logs, counters: Some(counters) } = &self.phase else { return };
        let Some(logs) = logs.iter().map(|(behind, log)| Some((*behind, log.as_ref()?))).collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let (after, node) = (*after, cx.node());
        let mut committed = Vec::new();
        for (behind, log) in logs {
            let of_log = committed_behind(behind, log, rules.has(mutants::GAP_AS_NONE));
            if of_log.len() < log.len() {
                cx.mark("gap");
            }
            committed.extend(of_log);
        }
        let end = committed.last().map_or(after, |(ticket, _)| *ticket);
        committed.retain(|(_, atom)| atom.deltas.keys().all(|queue| rules.is_of(*queue, node)));
        self.counters = counters.iter().filter(|(queue, _)| rules.is_of(*queue, node)).copied().collect();
        let mut rows: BTreeMap<Row, (Ticket, Option<Task>)> = BTreeMap::new();
        let mut changed = BTreeSet::new();
        for (ticket, atom) in &committed {
            rows.extend(atom.rows.iter().map(|(row, task)| (*row, (*ticket, *task))));
            for (queue, delta) in &atom.deltas {
                let counter = self.counters.entry(*queue).or_default();
                let is_deleted = atom.deleted == Some(*queue);
                if counter.count(*ticket, *delta, is_deleted, !rules.has(mutants::COUNTS_REPLAYS)) {
                    changed.insert(*queue);
                } else {
                    cx.mark("counted-already");
                }
            }
        }
        let rows = rows.into_iter().map(|(row, (ticket, task))| (ticket, Write::Task(row, task)));
        let changed = changed.into_iter().filter_map(|queue| {
            let counter = self.counters[&queue];
            counter.upto.map(|upto| (upto, Write::Counter(queue, counter)))
        });
        let writes: Vec<(Ticket, Write)> = rows.chain(changed).collect();
        if !writes.is_empty() {
            cx.mark("replayed");
        }
        let places = writes.iter().map(|(ticket, write)| (*ticket, write.place())).collect();
        self.phase = Phase::Replaying(places, after, end);
        for (version, write) in writes {
            self.write(version, write, rules, cx);
        }
        self.begin_log(rules, cx);
    }

    /// Once all that was committed is durable.
    fn begin_log(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Phase::Replaying(places, after, end) = &self.phase else { return };
        if !places.is_empty() {
            return;
        }
        let after = *after;
        let ticket = match rules.has(mutants::TICKETS_AGAIN) {
            true => *end,
            false => Ticket { incarnation: self.nonce, number: 0 },
        };
        self.phase = Phase::Beginning(ticket);
        let trimmed = if rules.has(mutants::TRIMS_AHEAD) { ticket } else { after };
        let minimum = Minimum { owner: self.nonce, ticket, trimmed };
        self.write(self.version_of_minimum(ticket), Write::Minimum(minimum), rules, cx);
    }

    /// The minimum only grows while an incarnation lasts; before it has a log of its own, it is lowest.
    pub(super) fn version_of_minimum(&self, ticket: Ticket) -> Ticket {
        Ticket { incarnation: self.nonce, number: ticket.number + 1 }
    }

    pub(super) fn on_recovery_written(
        &mut self,
        version: Ticket,
        place: Place,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        match (&mut self.phase, place) {
            (Phase::Fencing(after), Place::Minimum) => {
                let after = *after;
                self.scan(after, rules, cx);
            }
            (Phase::Replaying(places, ..), _) => {
                places.remove(&(version, place));
                self.begin_log(rules, cx);
            }
            (Phase::Beginning(ticket), Place::Minimum) if version.number > 0 => {
                let ticket = *ticket;
                self.serve(ticket, rules, cx);
            }
            _ => cx.mark("late answer"),
        }
    }

    fn serve(&mut self, ticket: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        self.phase = Phase::Serving;
        self.log = Log::behind(ticket);
        if rules.has(mutants::FIFO_FORGETS) {
            for counter in self.counters.values_mut() {
                counter.last = super::task::Pid(0);
            }
        }
        cx.observe(Observation::Recovered(self.counters.iter().map(|(queue, counter)| (*queue, *counter)).collect()));
        if rules.params.checkpoint > Span::ZERO {
            cx.set(Timer::Checkpoint, rules.params.checkpoint);
        }
        let deleted = self.counters.iter().filter(|(_, counter)| counter.generation > 0);
        for queue in deleted.map(|(queue, _)| *queue).collect::<Vec<_>>() {
            self.reap(queue, rules, cx);
        }
        if let Some(manager) = rules.manager() {
            cx.send(manager, Message::Ready(rules.sharding_of(cx.node())));
        }
        for (key, request) in std::mem::take(&mut self.early) {
            self.begin(key, request, rules, cx);
        }
    }
}

/// Of what lies behind `after` in the log, what was committed: all before the first ticket that is missing.
fn committed_behind(after: Ticket, log: &[(Ticket, Atom)], gaps_are_none: bool) -> Vec<(Ticket, Atom)> {
    let expected = after.number + 1..;
    let whole = log.iter().zip(expected).take_while(|((ticket, _), number)| gaps_are_none || ticket.number == *number);
    whole.map(|(logged, _)| logged.clone()).collect()
}
