//! Leases: "workers atomically discover and lease the k highest priority tasks" (§3.4), from the cache, which is refilled where it
//! does not hold enough (§5.4.2); and which queues there are (§4).

use std::collections::BTreeSet;

use seedbed_model::{Context, Span};

use super::cache::FirstMissing;
use super::locks::{Lock, Mode};
use super::log::ACKNOWLEDGED;
use super::message::{Listing, Observation, OpKey, Read, Reply, Request, Timer};
use super::node::{Node, Op, Stage};
use super::params::Consistency;
use super::task::{Atom, Lease, Name, Pid, Queue, Row, Task};
use super::{TaskMaster, mutants};

/// What is asked for.
struct Wanted {
    queues: BTreeSet<Queue>,
    count: usize,
    most: Pid,
    length: Option<Span>,
}

impl Wanted {
    fn of(request: &Request, rules: &TaskMaster) -> Wanted {
        let Request::Lease { queues, count, most, length } = request else {
            return Wanted { queues: BTreeSet::new(), count: 0, most: Pid(0), length: None };
        };
        let most = most.filter(|_| !rules.has(mutants::FILTER_IGNORED)).unwrap_or(Pid(u32::MAX));
        Wanted { queues: queues.clone(), count: *count as usize, most, length: *length }
    }

    /// Whether anything that is wanted may be missing in the cache.
    fn is_missing(&self, first_missing: FirstMissing) -> bool {
        first_missing.pid().is_some_and(|pid| pid <= self.most)
    }
}

impl TaskMaster {
    /// "Exclusive, arbitrary-length task leases" (§3.3): for as long as the request says (§4), else for as long as is usual.
    pub(super) fn length_of(&self, asked: Option<Span>) -> Span {
        asked.filter(|_| !self.has(mutants::LENGTH_IGNORED)).unwrap_or(self.params.lease)
    }
}

impl Node {
    /// "Lease operations read lock the queue before discovery"; a refill takes the queue for itself (§5.5). All queues are locked
    /// first, in their order: whoever discovers tasks waits for nobody.
    pub(super) fn locks_of_lease(
        &self,
        key: OpKey,
        request: &Request,
        for_itself: bool,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> Vec<(Lock, Mode)> {
        let wanted = Wanted::of(request, rules);
        match rules.params.consistency {
            Consistency::Strict => vec![(Lock::Whole, Mode::Write)],
            Consistency::Partial => wanted.queues.iter().map(|queue| (Lock::Queue(*queue), Mode::Write)).collect(),
            Consistency::Causal if rules.has(mutants::REFILLS_TOGETHER) => {
                wanted.queues.iter().map(|queue| (Lock::Queue(*queue), Mode::Read)).collect()
            }
            Consistency::Causal => {
                let mut locks = Vec::new();
                for queue in &wanted.queues {
                    let is_short = for_itself || self.is_short(key, *queue, &wanted, rules, cx);
                    locks.push((Lock::Queue(*queue), if is_short { Mode::Write } else { Mode::Read }));
                }
                locks
            }
        }
    }

    /// Whether the cache does not hold enough of the queue, and a refill, or the expiry of leases, may bring more.
    fn is_short(
        &self,
        key: OpKey,
        queue: Queue,
        wanted: &Wanted,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> bool {
        let now = cx.clock();
        let known: Vec<(Pid, Task)> = self.cache.known(queue).take_while(|(pid, _)| *pid <= wanted.most).collect();
        let free = known.iter().filter(|(pid, task)| task.lease.is_none() && !self.locks.is_taken(key, (queue, *pid)));
        let has_expired = known.iter().any(|(_, task)| task.is_expired(now)) && may_expire(queue, rules, cx);
        free.count() < wanted.count && (has_expired || wanted.is_missing(self.cache.head(queue).first_missing))
    }

    /// All queues are locked.
    pub(super) fn discover(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let wanted = Wanted::of(&self.ops[&key].request, rules);
        if let Some(first) = wanted.queues.first() {
            self.discover_from(key, *first, &wanted, rules, cx);
        }
    }

    /// In this queue and those behind it.
    fn discover_from(
        &mut self,
        key: OpKey,
        first: Queue,
        wanted: &Wanted,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        for queue in wanted.queues.range(first..) {
            let known: Vec<(Pid, Task)> = self.cache.known(*queue).collect();
            self.show_known(*queue, cx);
            if self.pick(key, *queue, &known, wanted, rules, cx) {
                return self.lease(key, wanted, rules, cx);
            }
            let first_missing = self.cache.head(*queue).first_missing;
            if let Some(from) = first_missing.pid()
                && wanted.is_missing(first_missing)
                && self.may_refill(key, *queue, rules)
            {
                return self.refill(key, (*queue, from), wanted, rules, cx);
            }
        }
        self.lease(key, wanted, rules, cx);
    }

    fn may_refill(&self, key: OpKey, queue: Queue, rules: &TaskMaster) -> bool {
        self.locks.owns(key, queue) || rules.has(mutants::REFILLS_TOGETHER)
    }

    fn show_known(&self, queue: Queue, cx: &mut Context<'_, TaskMaster>) {
        let first_missing = self.cache.head(queue).first_missing.pid();
        cx.observe(Observation::Knows(queue, first_missing, self.cache.known(queue).collect()));
    }

    /// Takes what is free, in order. True: there is enough.
    fn pick(
        &mut self,
        key: OpKey,
        queue: Queue,
        tasks: &[(Pid, Task)],
        wanted: &Wanted,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> bool {
        let now = cx.clock();
        let expires = self.locks.owns(key, queue) && may_expire(queue, rules, cx);
        let mut has_expired = false;
        let mut in_order: Vec<&(Pid, Task)> = tasks.iter().take_while(|(pid, _)| *pid <= wanted.most).collect();
        if rules.has(mutants::LEASES_LAST_FIRST) {
            in_order.reverse();
        }
        for (pid, task) in in_order {
            let is_expired =
                task.lease.is_some() && (rules.has(mutants::LEASES_THE_LEASED) || expires && task.is_expired(now));
            if task.lease.is_some() && !is_expired {
                continue;
            }
            if self.has_enough(key, queue, wanted, rules) || !is_expired && self.has_no_room(queue, rules) {
                break;
            }
            let row = self.row((queue, *pid), rules);
            if self.ops[&key].rows.contains_key(&row) {
                continue;
            }
            let is_locked = match rules.params.consistency {
                Consistency::Causal if rules.has(mutants::IDS_UNLOCKED) => true,
                Consistency::Causal => self.locks.try_write(key, Lock::Task((queue, *pid))),
                Consistency::Partial | Consistency::Strict => true,
            };
            if !is_locked {
                cx.mark("passed-over");
                continue;
            }
            if is_expired {
                cx.mark("expired");
                has_expired = true;
            }
            if let Some(op) = self.ops.get_mut(&key) {
                op.rows.insert(row, Some(*task));
            }
        }
        if has_expired && rules.params.expiry_every > Span::ZERO {
            cx.observe(Observation::Expired(queue));
            cx.set(Timer::Expiry(queue), rules.params.expiry_every);
        }
        self.has_enough(key, queue, wanted, rules) && !rules.has(mutants::COUNTS_EACH_QUEUE)
    }

    /// "At most k tasks" of all queues together.
    fn has_enough(&self, key: OpKey, queue: Queue, wanted: &Wanted, rules: &TaskMaster) -> bool {
        let rows = &self.ops[&key].rows;
        let count = match rules.has(mutants::COUNTS_EACH_QUEUE) {
            true => rows.keys().filter(|row| row.queue == queue).count(),
            false => rows.len(),
        };
        count >= wanted.count
    }

    /// "There is a fixed number of tasks which can be leased from a queue at once" (§6.1), those included that are about to be.
    fn has_no_room(&self, queue: Queue, rules: &TaskMaster) -> bool {
        let most = i64::from(rules.params.leased_max);
        if most == 0 {
            return false;
        }
        let leased = self.counters.get(&queue).map_or(0, |counter| counter.leased);
        let leases = self.ops.values().filter(|op| matches!(op.request, Request::Lease { .. }));
        let rows = leases
            .flat_map(|op| &op.rows)
            .filter(|(row, task)| row.queue == queue && task.is_some_and(|task| task.lease.is_none()));
        let taken = if rules.has(mutants::CAP_COUNTS_DURABLE) { 0 } else { rows.count() as i64 };
        leased + taken >= most
    }

    /// "The number of prefetched tasks is determined by the historical queue throughput and bounded by a user defined constant"
    /// (§5.4.1): twice as many as were leased since the last refill.
    fn refill(
        &mut self,
        key: OpKey,
        (queue, pid): Name,
        wanted: &Wanted,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        cx.mark("refill");
        let taken = self.cache.head(queue).taken * 2;
        let taken = if rules.has(mutants::PREFETCHES_ALIKE) { 0 } else { taken };
        let count = (wanted.count as u32).max(taken).clamp(1, rules.params.prefetch);
        if count as usize > wanted.count {
            cx.mark("prefetched");
        }
        let from = self.row((queue, pid), rules);
        let Some(op) = self.ops.get_mut(&key) else { return };
        op.round += 1;
        op.stage = Stage::Refilling(from, count);
        let round = op.round;
        self.read(Some((key, round)), Read::Tasks { from, count }, rules, cx);
    }

    /// A scan is there. What it found is leased at once where that is still wanted: the cache need not hold it for so long.
    pub(super) fn refilled(
        &mut self,
        key: OpKey,
        from: Row,
        count: u32,
        found: &[(Row, Task)],
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let wanted = Wanted::of(&self.ops[&key].request, rules);
        let queue = from.queue;
        let tasks: Vec<(Pid, Task)> = found.iter().map(|(row, task)| (row.pid, *task)).collect();
        let evicted = self.cache.refill(from.name(), &tasks, count, rules.keeping());
        if evicted.any {
            cx.mark("evicted");
        }
        if evicted.leased {
            cx.mark("evicted though leased");
        }
        self.show_known(queue, cx);
        if self.pick(key, queue, &tasks, &wanted, rules, cx) {
            return self.lease(key, &wanted, rules, cx);
        }
        match tasks.last() {
            // What is leased already may fill the cache: the scan goes on behind it.
            Some((last, _)) if tasks.len() >= count as usize && *last < wanted.most => {
                self.refill(key, (queue, last.next()), &wanted, rules, cx);
            }
            _ => self.discover_from(key, Queue(queue.0 + 1), &wanted, rules, cx),
        }
    }

    /// Leases what was found.
    fn lease(&mut self, key: OpKey, wanted: &Wanted, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let op = self.ops[&key].clone();
        if op.rows.is_empty() && self.is_worth_another_look(key, &op, wanted, rules, cx) {
            return self.look_again(key, &op.request, rules, cx);
        }
        if op.rows.is_empty() {
            self.reply(key, Reply::Leased(Vec::new()), rules, cx);
            return self.end(key, rules, cx);
        }
        let until = cx.clock().plus(rules.length_of(wanted.length));
        let mut atom = Atom::default();
        for (row, task) in &op.rows {
            // Whose lease has run out may be done once more, at once.
            let task = task.unwrap_or(Task::available(0));
            let data = task.lease.and(task.again).unwrap_or(task.data);
            let leased = Task { lease: Some(Lease { worker: key.client, until }), ..Task::available(data) };
            atom.change(*row, Some(task), Some(leased));
            self.cache.taken(row.queue, 1, rules.params.prefetch);
        }
        let names: Vec<Name> = atom.rows.keys().map(|row| row.name()).collect();
        if rules.params.statistics {
            let now = cx.clock();
            names.iter().for_each(|name| self.statistics.leased(*name, now));
        }
        cx.observe(Observation::Leases(op.request.clone(), names));
        self.append(key, atom, rules, cx);
        for woken in self.locks.share(key) {
            self.lock(woken, rules, cx);
        }
    }

    /// Whether it only looked at the cache, which did not have what it seemed to have.
    fn is_worth_another_look(
        &self,
        key: OpKey,
        op: &Op,
        wanted: &Wanted,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> bool {
        let mut queues = wanted.queues.iter();
        op.round != ACKNOWLEDGED
            && queues.any(|queue| !self.locks.owns(key, *queue) && self.is_short(key, *queue, wanted, rules, cx))
    }

    /// With the queues to itself.
    fn look_again(&mut self, key: OpKey, request: &Request, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if rules.has(mutants::REFILLS_TOGETHER) {
            self.reply(key, Reply::Leased(Vec::new()), rules, cx);
            return self.end(key, rules, cx);
        }
        cx.mark("looked-again");
        self.release(key, rules, cx);
        let locks = self.locks_of_lease(key, request, true, rules, cx);
        if let Some(op) = self.ops.get_mut(&key) {
            op.stage = Stage::Locking(locks);
        }
        self.lock(key, rules, cx);
    }

    /// "Returned queues can be filtered by several properties including queue length and name regular expression" (§4).
    pub(super) fn listed(&self, listing: &Listing, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Vec<Queue> {
        let queues = match rules.has(mutants::LISTS_ALL) {
            true => self.counters.keys().copied().collect(),
            false => rules.listed(listing, self.counters.iter().map(|(queue, counter)| (*queue, counter.size()))),
        };
        cx.observe(Observation::Listed(listing.clone(), queues.clone()));
        queues
    }
}

/// "Limiting the expiration frequency to a user defined maximum" (§5.6).
fn may_expire(queue: Queue, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> bool {
    !cx.is_armed(&Timer::Expiry(queue)) || rules.has(mutants::EXPIRES_AT_WILL)
}
