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

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, Span};

use super::log::Log;
use super::message::{Found, Minimum, Observation, Place, Read, Timer, Write};
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
        /// Behind this ticket.
        after: Ticket,
        /// Once it is there.
        log: Option<Vec<(Ticket, Atom)>>,
        /// Once they are there.
        counters: Option<Vec<(Queue, Counter)>>,
    },
    /// It writes what was committed, from behind the first of two tickets up to the second. These are not durable yet.
    Replaying(BTreeSet<(Ticket, Place)>, Ticket, Ticket),
    /// It begins its own log, behind this ticket.
    Beginning(Ticket),
    /// It is ready.
    Serving,
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
            (Phase::Scanning { log, .. }, Found::Log(found)) => {
                *log = Some(found);
                self.replay(rules, cx);
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
        let after = minimum.map_or(own, |minimum| minimum.ticket);
        if rules.has(mutants::LOG_UNFENCED) {
            return self.scan(after, rules, cx);
        }
        self.phase = Phase::Fencing(after);
        self.write(own, Write::Minimum(Minimum { owner: self.nonce, ticket: after, trimmed: after }), rules, cx);
    }

    fn scan(&mut self, after: Ticket, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        self.phase = Phase::Scanning { after, log: None, counters: None };
        self.read(None, Read::Log(after), rules, cx);
        self.read(None, Read::Counters, rules, cx);
    }

    /// Once both scans are there.
    fn replay(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Phase::Scanning { after, log: Some(log), counters: Some(counters) } = &self.phase else { return };
        let after = *after;
        let committed = committed(after, log, rules.has(mutants::GAP_AS_NONE));
        if committed.len() < log.len() {
            cx.mark("gap");
        }
        let end = committed.last().map_or(after, |(ticket, _)| *ticket);
        self.counters = counters.iter().copied().collect();
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
        for (key, request) in std::mem::take(&mut self.early) {
            self.begin(key, request, rules, cx);
        }
    }
}

/// Of what lies behind `after` in the log, what was committed: all before the first ticket that is missing.
fn committed(after: Ticket, log: &[(Ticket, Atom)], gaps_are_none: bool) -> Vec<(Ticket, Atom)> {
    let expected = after.number + 1..;
    let whole = log.iter().zip(expected).take_while(|((ticket, _), number)| gaps_are_none || ticket.number == *number);
    whole.map(|(logged, _)| logged.clone()).collect()
}
