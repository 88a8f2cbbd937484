//! Workers of §3.3, §3.6 and §7, in their own words: those that renew leases while they work; those that look which queues there are;
//! coordination that waits for a drain; and
//! conversions that are tried again later and later, and after some failures denied. What each does next follows from what it has asked and what came of it.
//!
//! - Queue 0 holds what coordinates, queue 1 the queries of a pipeline, queue 2 what is to be processed once they are all done.
//! - Queue 0 holds conversions that nobody has tried, queue n those that have failed n times. Their PIDs are times, the milliseconds
//!   of the workers' clocks with something unique behind: a number, which no engine moves on with the clock, so that back-off is for
//!   the simulator alone.

use std::collections::BTreeSet;

use seedbed_model::{Context, Stamp};

use super::client::{Client, done};
use super::message::{Answer, Observation, Open, Outcome, Reply, Request, Timer, Update};
use super::task::{Name, Pid, Queue};
use super::{TaskMaster, mutants};

/// What coordinates.
pub const COORDINATION: Queue = Queue(0);
/// The pipeline that it waits for.
pub const PIPELINE: Queue = Queue(1);
/// Where it moves on to.
pub const PROCESS: Queue = Queue(2);

/// So many PIDs have the same time.
const PIDS_OF_MILLISECOND: u32 = 256;

/// At most so many queries belong to a task that coordinates.
pub const QUERIES_MAX: u32 = 16;

/// "A PID representing an exponentially increasing time in the future."
pub fn pid_of(time: Stamp, data: u32) -> Pid {
    let milliseconds = (time.nanos().max(0) / 1_000_000) as u32;
    Pid(milliseconds * PIDS_OF_MILLISECOND + data % PIDS_OF_MILLISECOND)
}

/// Its time [ms].
pub fn milliseconds(pid: Pid) -> u32 {
    pid.0 / PIDS_OF_MILLISECOND
}

/// The PID of a query of a task that coordinates.
pub fn query(of: Pid, number: u32) -> Pid {
    Pid(of.0 * QUERIES_MAX + number)
}

/// Which task it belongs to.
pub fn of_query(pid: Pid) -> Pid {
    Pid(pid.0 / QUERIES_MAX)
}

impl TaskMaster {
    /// "Workers attempt to acquire leases on tasks whose PID is at most the current time."
    pub(super) fn lease_of_due(&self, now: Stamp) -> Request {
        let queues = (0..=self.params.tries).map(|failures| Queue(failures as u16)).collect();
        Request::Lease { queues, count: 1, most: Some(pid_of(now, PIDS_OF_MILLISECOND - 1)), length: None }
    }

    /// "Evenly distributing the addition of work among multiple TaskMaster nodes" (§5.7): in another queue each time, counted from one
    /// that the data draws.
    pub(super) fn enqueued_at(&self, tried: u32, data: u32) -> Request {
        let queue = Queue(((data + tried) % u32::from(self.params.queues)) as u16);
        Request::Update(Update { enqueues: vec![(queue, Some(Pid(data)), data)], ..Update::default() })
    }

    /// A request of a user's.
    pub(super) fn submission(&self, data: u32, now: Stamp) -> Request {
        let enqueues = vec![(Queue(0), Some(pid_of(now, data)), data)];
        Request::Update(Update { enqueues, ..Update::default() })
    }

    /// One task that coordinates.
    pub(super) fn lease_of_coordination(&self) -> Request {
        Request::Lease { queues: BTreeSet::from([COORDINATION]), count: 1, most: None, length: None }
    }
}

impl Client {
    /// A renewal "acts as a heart-beat signal from the worker" (§3.3). Who is told that a lease is lost leaves off.
    pub(super) fn toil(&mut self, open: Open, reply: Reply, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let goes_on =
            |update: &Update| update.dequeues.is_empty() && (reply == Reply::Done || rules.has(mutants::TOILS_ON));
        let request = match (&open.request, &reply) {
            (Request::Lease { .. }, Reply::Leased(leased)) if !leased.is_empty() => {
                let renews: Vec<Name> = leased.iter().map(|(name, _)| *name).collect();
                cx.observe(Observation::Toils(renews.clone()));
                Request::Update(Update { renews, ..Update::default() })
            }
            (Request::Update(update), _) if goes_on(update) => {
                cx.mark("renewed");
                open.request.clone()
            }
            (Request::Update(_), Reply::Lost(_)) => {
                cx.mark("leaves off");
                return cx.respond(open.op, Answer::Replied(reply));
            }
            _ => return cx.respond(open.op, Answer::Replied(reply)),
        };
        self.open = Some(Open { request, ..open });
        cx.set(Timer::Poll, rules.params.poll);
    }

    /// It renews, or is done.
    pub(super) fn beat(&mut self, open: Open, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Request::Update(update) = open.request.clone() else { return };
        let (update, polls) = match open.polls {
            0 => (Update { dequeues: update.renews, ..Update::default() }, 0),
            left => (update, left - 1),
        };
        self.call(Open { request: Request::Update(update), polls, ..open }, rules, cx);
    }

    /// "Workers ask TaskMaster for a list of queues of interest based on that application's naming scheme", and lease from them: of all
    /// those of a group at once, "to reduce the quantity of RPCs" (§3.6); of which group, goes round.
    pub(super) fn discover(&mut self, open: Open, reply: Reply, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let queues: BTreeSet<Queue> = match &reply {
            Reply::Queues(queues) => queues.iter().copied().collect(),
            Reply::Aggregate { queues, .. } => queues.iter().map(|report| report.queue).collect(),
            Reply::Leased(leased) if !leased.is_empty() => {
                let request = Request::Update(done(leased, None));
                return self.call(Open { request, ..open }, rules, cx);
            }
            _ => return cx.respond(open.op, Answer::Replied(reply)),
        };
        let groups: BTreeSet<u16> = queues.iter().map(|queue| rules.group_of(*queue)).collect();
        let Some(group) = groups.iter().nth(open.op.0 as usize % groups.len().max(1)) else {
            return cx.respond(open.op, Answer::Replied(reply));
        };
        cx.mark("discovered");
        let queues = queues.into_iter().filter(|queue| rules.group_of(*queue) == *group).collect();
        let request = Request::Lease { queues, count: 2, most: None, length: None };
        self.call(Open { request, ..open }, rules, cx);
    }

    /// A conversion is leased, and over: "the task is dequeued and a new task is enqueued in a backoff queue should a conversion fail".
    pub(super) fn convert(
        &mut self,
        open: Open,
        outcome: Outcome,
        reply: Reply,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let (Request::Lease { .. }, Reply::Leased(leased)) = (&open.request, &reply) else {
            return cx.respond(open.op, Answer::Replied(reply));
        };
        let Some((name, data)) = leased.first().copied() else {
            return cx.respond(open.op, Answer::Replied(reply));
        };
        let enqueues = self.again(name, data, outcome, rules, cx).into_iter().collect();
        let update = Update { enqueues, dequeues: vec![name], ..Update::default() };
        self.call(Open { request: Request::Update(update), ..open }, rules, cx);
    }

    /// "Exponential backoff is modeled by having multiple backoff queues, each representing some number of sequential conversion
    /// failures"; "a request is denied after some number".
    fn again(
        &self,
        (queue, _): Name,
        data: u32,
        outcome: Outcome,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> Option<(Queue, Option<Pid>, u32)> {
        if outcome == Outcome::Succeeds {
            cx.mark("converted");
            return None;
        }
        let failures = u32::from(queue.0);
        if failures >= rules.params.tries && !rules.has(mutants::NEVER_DENIES) {
            cx.mark("denied");
            return None;
        }
        cx.mark("backed-off");
        let wait = if rules.has(mutants::BACKS_OFF_NOT) { 0 } else { rules.params.back_off.0 << failures };
        let at = cx.clock().plus(seedbed_model::Span(wait));
        let behind = Queue((failures + 1).min(rules.params.tries) as u16);
        Some((behind, Some(pid_of(at, data)), data))
    }

    /// "A worker leases this task and enqueues a number of query tasks into the first pipeline. Once that pipeline has drained, the task
    /// is dequeued and a task is enqueued into the process queue atomically."
    ///
    /// With the queries the lease is renewed: a worker that has lost the task enqueues none.
    pub(super) fn coordinate(
        &mut self,
        open: Open,
        count: u32,
        reply: Reply,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let task = self.held.keys().copied().find(|name| name.0 == COORDINATION);
        let (Some(name), false) = (task, matches!(reply, Reply::Lost(_))) else {
            return cx.respond(open.op, Answer::Replied(reply));
        };
        match (&open.request, &reply) {
            (Request::Lease { .. }, _) => {
                let queries = (0..count).map(|number| (PIPELINE, Some(query(name.1, number)), number));
                let update = Update { enqueues: queries.collect(), renews: vec![name], ..Update::default() };
                self.call(Open { request: Request::Update(update), ..open }, rules, cx);
            }
            (Request::Update(_), _) if !rules.has(mutants::DRAIN_UNSEEN) => self.look_at_pipeline(open, rules, cx),
            (Request::Inspect(_), Reply::Statistics(report)) if report.available + report.leased > 0 => {
                cx.mark("not drained");
                self.open = Some(open);
                cx.set(Timer::Poll, rules.params.poll);
            }
            _ => {
                cx.mark("moved on after a drain");
                let enqueues = vec![(PROCESS, Some(name.1), 0)];
                let update = Update { enqueues, dequeues: vec![name], ..Update::default() };
                let operation = super::message::Operation::Finish;
                self.call(Open { request: Request::Update(update), operation, ..open }, rules, cx);
            }
        }
    }

    /// Unless it has looked often enough: the lease then runs out, and another begins anew.
    pub(super) fn look_at_pipeline(&mut self, open: Open, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if open.polls == 0 {
            return cx.respond(open.op, Answer::Unknown);
        }
        let polls = open.polls - 1;
        self.call(Open { request: Request::Inspect(PIPELINE), polls, ..open }, rules, cx);
    }
}
