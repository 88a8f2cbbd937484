//! What must hold of what workers do with TaskMaster (§3.5, §4, §7).

use std::collections::BTreeSet;

use seedbed_model::{Canonical, Span, Stamp, Watch};

use super::gathering::Report;
use super::ledger::Ledger;
use super::message::Request;
use super::statistics::Statistics;
use super::task::{Atom, Name, Pid, Queue, Task};
use super::workers::{PIPELINE, PROCESS, milliseconds, of_query, query};
use super::{TaskMaster, Workload};

/// What these properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Uses {
    /// What went through queues since TaskMaster started, where statistics are kept.
    statistics: Statistics,
    /// Renewed by an operation that gets its ticket next.
    renewed: BTreeSet<Name>,
    /// For how long the operation that gets its ticket next asks to lease, or to renew.
    length: Option<Span>,
}

impl Uses {
    /// Whether these are what was asked for.
    pub fn leases(&mut self, request: &Request, names: &[Name], watch: &mut Watch<'_>) {
        let Request::Lease { queues, count, most, length } = request else { return };
        self.length = *length;
        let most = most.unwrap_or(Pid(u32::MAX));
        if names.iter().map(|(queue, _)| *queue).collect::<BTreeSet<_>>().len() > 1 {
            watch.reached("leased-of-two-queues");
        }
        let is_wrong = |(queue, pid): &&Name| !queues.contains(queue) || *pid > most;
        if let Some(name) = names.iter().find(is_wrong) {
            watch.violated("leases-as-asked", format!("{request:?} gives {name:?}"));
        }
        if names.len() > *count as usize {
            watch.violated("leases-as-asked", format!("{request:?} gives {} tasks", names.len()));
        }
    }

    /// A lease is renewed.
    pub fn renewed(&mut self, name: Name, length: Option<Span>, rules: &TaskMaster) {
        self.length = length;
        if rules.params.statistics {
            self.renewed.insert(name);
        }
    }

    /// A TaskMaster node has stopped, that of these queues.
    pub fn halted(&mut self, are_its: impl Fn(Queue) -> bool) {
        self.statistics.forget(are_its);
        self.ended();
    }

    /// An update that was refused in a part has renewed nothing.
    pub fn ended(&mut self) {
        self.renewed.clear();
        self.length = None;
    }

    /// Whether the queue is as is said of it.
    pub fn reported(&self, report: &Report, due: &Ledger, watch: &mut Watch<'_>) {
        let Report { queue, available, leased, sample, flow } = report;
        let went = self.statistics.of(*queue);
        if went.measured > 0 {
            watch.reached("measured");
        }
        if !sample.is_empty() {
            watch.reached("sampled");
        }
        let is_leased = |(pid, lease)| due.task((*queue, pid)).and_then(|task| task.lease) == Some(lease);
        let is_right = sample.iter().all(|task| is_leased(*task));
        if (went, due.count(*queue)) != (*flow, (*available, *leased)) || !is_right {
            let detail = format!("{queue:?} has had {went:?} and has {:?}; said is {report:?}", due.count(*queue));
            watch.violated("statistics-right", detail);
        }
    }

    /// An operation has its ticket.
    pub fn logged(&mut self, now: Stamp, atom: &Atom, due: &Ledger, rules: &TaskMaster, watch: &mut Watch<'_>) {
        self.lasts_as_asked(now, atom, due, watch);
        if rules.params.statistics {
            for (row, after) in &atom.rows {
                self.count(row.name(), due.task(row.name()), *after, now);
            }
            if let Some(queue) = atom.deleted {
                self.statistics.deleted(queue);
            }
            self.renewed.clear();
        }
        if rules.params.workload == Workload::BackOff {
            backs_off(now, atom, due, rules, watch);
        }
    }

    /// Leases that begin, or go on, do so for as long as the request says.
    fn lasts_as_asked(&mut self, now: Stamp, atom: &Atom, due: &Ledger, watch: &mut Watch<'_>) {
        let Some(length) = self.length.take() else { return };
        for (row, after) in &atom.rows {
            let lease_of = |task: Option<Task>| task.and_then(|task| task.lease);
            let (before, lease) = (lease_of(due.task(row.name())), lease_of(*after));
            if let Some(lease) = lease.filter(|lease| Some(*lease) != before && lease.until != now.plus(length)) {
                let detail = format!("{:?} is leased at {now:?} for {length}, until {:?}", row.name(), lease.until);
                watch.violated("leases-as-asked", detail);
            }
        }
    }

    fn count(&mut self, name: Name, before: Option<Task>, after: Option<Task>, now: Stamp) {
        let leased = |task: Option<Task>| task.is_some_and(|task| task.lease.is_some());
        let noted = |task: Option<Task>| task.is_some_and(|task| task.again.is_some());
        match (leased(before), leased(after)) {
            (true, false) => {
                self.statistics.dequeued(name, now);
                if after.is_some() && !noted(before) {
                    self.statistics.enqueued(name.0);
                }
            }
            (false, true) => self.statistics.leased(name, now),
            (true, true) if noted(after) && !noted(before) => self.statistics.enqueued(name.0),
            (true, true) if !self.renewed.contains(&name) && before != after => self.statistics.leased(name, now),
            (false, false) if before.is_none() => self.statistics.enqueued(name.0),
            _ => {}
        }
    }
}

/// An operation is committed, and `due` is as it has made it.
pub fn committed(atom: &Atom, due: &Ledger, rules: &TaskMaster, watch: &mut Watch<'_>) {
    let groups: BTreeSet<u16> = atom.rows.keys().map(|row| rules.group_of(row.queue)).collect();
    if groups.len() > 1 {
        watch.violated("within-a-group", format!("one operation changes tasks of groups {groups:?}"));
    }
    match rules.params.workload {
        Workload::Pipeline => in_one_stage(atom, due, rules, watch),
        Workload::Coordination => drained_first(atom, due, watch),
        _ => {}
    }
}

fn in_one_stage(atom: &Atom, due: &Ledger, rules: &TaskMaster, watch: &mut Watch<'_>) {
    let last = Queue(rules.params.queues - 1);
    for (row, after) in &atom.rows {
        let stages = (0..=last.0).map(Queue).filter(|queue| due.task((*queue, row.pid)).is_some()).count();
        let has_left = after.is_none() && row.queue == last;
        let from_last =
            atom.rows.iter().any(|(other, task)| other.queue == last && other.pid == row.pid && task.is_none());
        if after.is_some() && row.queue == Queue(0) && from_last {
            watch.reached("fed-back");
        }
        if stages > 1 || stages == 0 && !has_left {
            watch.violated("in-one-stage", format!("{:?} is in {stages} stages", row.pid));
        }
    }
}

fn drained_first(atom: &Atom, due: &Ledger, watch: &mut Watch<'_>) {
    for (row, _) in
        atom.rows.iter().filter(|(row, after)| row.queue == PROCESS && after.is_some_and(|task| task.lease.is_none()))
    {
        watch.reached("drained");
        let queries = due.of(PIPELINE).map(|(pid, _)| pid);
        if let Some(left) = queries.into_iter().find(|pid| of_query(*pid) == row.pid) {
            debug_assert!(left >= query(row.pid, 0));
            watch
                .violated("drained-first", format!("{:?} moves on, and {left:?} of its pipeline is not done", row.pid));
        }
    }
}

fn backs_off(now: Stamp, atom: &Atom, due: &Ledger, rules: &TaskMaster, watch: &mut Watch<'_>) {
    let moved: Vec<(Name, Task)> = atom
        .rows
        .iter()
        .filter(|(_, after)| after.is_none())
        .filter_map(|(row, _)| Some((row.name(), due.task(row.name())?)))
        .collect();
    for (row, after) in &atom.rows {
        let Some(after) = after else { continue };
        if after.lease.is_some() && i64::from(milliseconds(row.pid)) > now.nanos() / 1_000_000 {
            watch.violated("backs-off", format!("{:?} is leased at {now:?}, before its time", row.name()));
        }
        let Some(((queue, pid), _)) = moved.iter().find(|(_, task)| task.data == after.data) else { continue };
        let least = (rules.params.back_off.0 << queue.0) / 1_000_000;
        let waits = u64::from(milliseconds(row.pid).saturating_sub(milliseconds(*pid)));
        if row.queue.0 != queue.0 + 1 || u32::from(row.queue.0) > rules.params.tries || waits < least {
            let detail = format!("what failed in {queue:?} goes to {:?}, for {waits} ms", row.queue);
            watch.violated("backs-off", detail);
        }
    }
}
