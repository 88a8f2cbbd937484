//! What clients do: scripts, or draws.
//!
//! A script is a list of operations, separated by `;`:
//! - `enqueue 0:1 0:2 1:+`: in one update, tasks 1 and 2 of queue 0, and one of queue 1, which is FIFO
//! - `lease 0 1 x2 <=5 for=3s`: two tasks of queues 0 and 1, none behind 5, for three seconds
//! - `work 0 x2 >1`: the same, and what was leased is dequeued, and enqueued in queue 1
//! - `toil 0 +3`: a task is leased, renewed three times, and dequeued
//! - `finish`, `renew for=3s`: what was leased is dequeued, or renewed, for three seconds
//! - `finish & lease 0`: both in one call, each by itself; what was leased, enqueued, finished or renewed may stand there
//! - `delete 0`, `list 1 0#.*`: deletes queue 0; lists queues of 1 task or more with such names
//! - `inspect 0`, `survey 1 0#.*`: statistics of queue 0; of all queues of 1 task or more with such names
//! - `discover 1 0#.*`: lists such queues, leases two tasks of those of a group, and dequeues them
//! - `anywhere 5`: task 5 is enqueued at any node, at another where one does not answer
//! - `coordinate 2`: leases a task of queue 0, enqueues two in queue 1, waits until it has drained, and moves on to queue 2

use std::collections::BTreeSet;
use std::str::FromStr;

use seedbed_model::{NodeId, OpId, Span};

use super::TaskMaster;
use super::message::{Listing, Operation, Outcome, Request, Update};
use super::naming::pattern;
use super::params::{Params, Workload};
use super::task::{Name, Pid, Queue};
use super::workers::{COORDINATION, PIPELINE, QUERIES_MAX};

/// What the `index`-th client does.
///
/// # Errors
/// What is no operation.
pub fn script(index: usize, text: &str) -> Result<Vec<Operation>, String> {
    let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
    parts.enumerate().map(|(op, part)| together((index * 100 + op) as u32, part)).collect()
}

/// `queue:pid`, several.
///
/// # Errors
/// What is none.
pub fn first_tasks(text: &str) -> Result<Vec<Name>, String> {
    let named = text.split_whitespace().map(|word| match task(word)? {
        (queue, Some(pid)) => Ok((queue, pid)),
        _ => Err(format!("task `{word}`: tasks that are there at first have PIDs, as in 0:1")),
    });
    named.collect()
}

/// Whether it leaves a PID to be assigned.
pub fn is_fifo(operation: &Operation) -> bool {
    let Operation::Call(Request::Update(update)) = operation else { return false };
    update.enqueues.iter().any(|(_, pid, _)| pid.is_none())
}

fn together(data: u32, text: &str) -> Result<Operation, String> {
    if !text.contains('&') {
        return operation(data, text);
    }
    let parts = text.split('&').map(|part| match operation(data, part.trim())? {
        part @ (Operation::Call(Request::Update(_) | Request::Lease { .. })
        | Operation::Finish
        | Operation::Renew(_)) => Ok(part),
        _ => Err(format!("`{text}`: updates and leases may be called together: enqueue, lease, finish, renew")),
    });
    Ok(Operation::Together(parts.collect::<Result<_, _>>()?))
}

fn operation(data: u32, text: &str) -> Result<Operation, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (verb, words) = words.split_first().map_or(("", [].as_slice()), |(verb, words)| (*verb, words));
    let one = |what: &str| match words {
        [word] => number(word),
        _ => Err(format!("`{text}`: {verb} is followed by {what}, one number")),
    };
    match verb {
        "enqueue" if !words.is_empty() => {
            let tasks = words.iter().map(|word| task(word).map(|(queue, pid)| (queue, pid, data)));
            let enqueues = tasks.collect::<Result<_, _>>()?;
            Ok(Operation::Call(Request::Update(Update { enqueues, ..Update::default() })))
        }
        "lease" => lease(words).map(|(request, _)| Operation::Call(request)),
        "work" => lease(words).map(|(request, next)| Operation::Work(request, next)),
        "toil" => toil(words),
        "finish" => Ok(Operation::Finish),
        "renew" => words.first().map(|word| length(word)).transpose().map(Operation::Renew),
        "delete" => Ok(Operation::Call(Request::Delete(Queue(one("a queue")?)))),
        "inspect" => Ok(Operation::Call(Request::Inspect(Queue(one("a queue")?)))),
        "list" => list(words).map(|listing| Operation::Call(Request::List(listing))),
        "discover" => list(words).map(Operation::Discover),
        "survey" => list(words).map(|listing| Operation::Call(Request::Survey(listing))),
        "anywhere" => Ok(Operation::Anywhere(u32::from(one("a task")?))),
        "coordinate" => match u32::from(one("how many tasks")?) {
            count @ 1..=QUERIES_MAX => Ok(Operation::Coordinate(count)),
            _ => Err(format!("`{text}`: 1 to {QUERIES_MAX} tasks are possible")),
        },
        _ => Err(format!(
            "`{text}` is no operation; known: enqueue Q:P…, lease Q… xN <=P for=SPAN, work Q… xN >Q, toil Q +N, finish, renew for=SPAN, delete Q, list N NAMES, inspect Q, survey N NAMES, discover N NAMES, anywhere P, coordinate N; and several & together"
        )),
    }
}

/// `for=3s`.
fn length(word: &str) -> Result<Span, String> {
    word.strip_prefix("for=").ok_or(format!("`{word}` is no length of a lease; write it as in for=3s"))?.parse()
}

/// The queues, how many, up to where, for how long, and the queue behind.
fn lease(words: &[&str]) -> Result<(Request, Option<Queue>), String> {
    let (mut queues, mut count, mut most, mut next, mut lasts) = (BTreeSet::new(), 1, None, None, None);
    for word in words {
        if let Some(pid) = word.strip_prefix("<=") {
            most = Some(Pid(number(pid)?));
        } else if word.starts_with("for=") {
            lasts = Some(length(word)?);
        } else if let Some(queue) = word.strip_prefix('>') {
            next = Some(Queue(number(queue)?));
        } else if let Some(many) = word.strip_prefix('x') {
            count = number(many)?;
        } else {
            queues.insert(Queue(number(word)?));
        }
    }
    if queues.is_empty() || count == 0 {
        return Err("a lease is of one queue or more, and of one task or more: lease 0 x1".into());
    }
    Ok((Request::Lease { queues, count, most, length: lasts }, next))
}

/// Of which queue, and how many renewals.
fn toil(words: &[&str]) -> Result<Operation, String> {
    match words {
        [queue, beats] if beats.starts_with('+') => {
            let queues = BTreeSet::from([Queue(number(queue)?)]);
            Ok(Operation::Toil(Request::Lease { queues, count: 1, most: None, length: None }, number(&beats[1..])?))
        }
        _ => Err("long work is on a task of a queue, with so many renewals: toil 0 +3".into()),
    }
}

/// The least size, and a regular expression.
fn list(words: &[&str]) -> Result<Listing, String> {
    let (least, names) = match words {
        [least] => (least, None),
        [least, names] => (least, Some((*names).to_owned())),
        _ => return Err("a list is of queues of a least size, and of names: list 1 0#.*".into()),
    };
    names.as_deref().map(pattern).transpose()?;
    Ok(Listing { pattern: names, least: number(least)?, most: 0 })
}

fn task(word: &str) -> Result<(Queue, Option<Pid>), String> {
    let (queue, pid) = word.split_once(':').ok_or(format!("`{word}` is no task; write queue:pid, as in 0:1 or 0:+"))?;
    let pid = if pid == "+" { None } else { Some(Pid(number(pid)?)) };
    Ok((Queue(number(queue)?), pid))
}

fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` is no number, or too large"))
}

impl TaskMaster {
    pub(super) fn client_operation(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let index = node.0 - self.first_client().0;
        if let Some(script) = self.scripts.get(usize::from(index)) {
            return script[op.0 as usize].clone();
        }
        let own = Own::of(index, self);
        match self.params.workload {
            Workload::Mixed => self.drawn(node, op, draw),
            Workload::Enqueue => self.enqueue(index, op, own, draw),
            Workload::LeaseDequeue => Operation::Work(self.lease_of(own, draw), None),
            Workload::Lease => Operation::Call(self.lease_of(own, draw)),
            Workload::FillThenDrain if op.0 < self.params.operations / 5 * 4 => self.enqueue(index, op, own, draw),
            Workload::FillThenDrain => Operation::Work(self.lease_of(own, draw), None),
            Workload::Collide => self.collide(index, op, own, draw),
            Workload::Isolation if index == 0 => Operation::Work(self.lease_of(own, draw), None),
            Workload::Isolation => self.enqueue(index, op, own, draw),
            Workload::Pipeline => self.stage(index, op, own, draw),
            Workload::Coordination => self.coordinated(index, op, draw),
            Workload::BackOff => self.conversion(index, op, draw),
            Workload::Spread => self.spread(index, op, draw),
            Workload::Batches => self.batch(node, op, draw),
            Workload::Toil => self.toil(index, op, own, draw),
        }
    }

    /// Tasks that nobody else enqueues, over queues in turn from one on.
    fn enqueue(&self, index: u16, op: OpId, own: Own, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let Params { batch, clients, fifo, .. } = self.params;
        let first = draw(own.count);
        let enqueues = (0..batch).map(|place| {
            let number = op.0 * batch + place;
            let pid = Pid(self.params.filled + number * u32::from(clients) + u32::from(index) + 1);
            (own.queue(first + place), (!fifo).then_some(pid), number)
        });
        Operation::Call(Request::Update(Update { enqueues: enqueues.collect(), ..Update::default() }))
    }

    fn lease_of(&self, own: Own, draw: &mut dyn FnMut(u32) -> u32) -> Request {
        let queues = BTreeSet::from([own.queue(draw(own.count))]);
        Request::Lease { queues, count: self.params.batch, most: None, length: None }
    }

    /// The first PID is the one that collides.
    fn collide(&self, index: u16, op: OpId, own: Own, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let Params { pids, operations, .. } = self.params;
        let queue = own.queue(draw(own.count));
        let pid = match draw(pids) {
            0 => 0,
            _ => 1 + u32::from(index) * operations + op.0,
        };
        let enqueues = vec![(queue, Some(Pid(pid + 1)), op.0)];
        Operation::Call(Request::Update(Update { enqueues, ..Update::default() }))
    }

    /// "The new unique links found on a given page are fed back into the fetching stage and the cycle continues" (§7).
    fn stage(&self, index: u16, op: OpId, own: Own, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        if draw(4) == 0 {
            let Operation::Call(Request::Update(mut update)) = self.enqueue(index, op, own, &mut |_| 0) else {
                unreachable!("it enqueues")
            };
            update.enqueues.iter_mut().for_each(|(queue, ..)| *queue = Queue(0));
            return Operation::Call(Request::Update(update));
        }
        let stage = draw(own.count);
        let is_last = stage + 1 == own.count;
        let next = if !is_last { Some(Queue(stage as u16 + 1)) } else { (draw(4) == 0).then_some(Queue(0)) };
        let request = Request::Lease {
            queues: BTreeSet::from([Queue(stage as u16)]),
            count: self.params.batch,
            most: None,
            length: None,
        };
        Operation::Work(request, next)
    }

    /// Clients in turn coordinate and do the pipeline's work.
    fn coordinated(&self, index: u16, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let pid = Pid(op.0 * u32::from(self.params.clients) + u32::from(index) + 1);
        let enqueues = vec![(COORDINATION, Some(pid), 0)];
        match (index % 2, draw(4)) {
            (0, 0) => Operation::Call(Request::Update(Update { enqueues, ..Update::default() })),
            (0, _) => Operation::Coordinate(1 + draw(3)),
            _ => Operation::Work(
                Request::Lease { queues: BTreeSet::from([PIPELINE]), count: 2, most: None, length: None },
                None,
            ),
        }
    }

    /// What is enqueued anywhere, and done.
    fn spread(&self, index: u16, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        match draw(6) {
            0..=2 => Operation::Anywhere(op.0 * u32::from(self.params.clients) + u32::from(index) + 1),
            3 => {
                let listing = Listing { pattern: None, least: 1, most: 0 };
                if draw(2) == 0 { Operation::Call(Request::List(listing)) } else { Operation::Discover(listing) }
            }
            _ => {
                let queues = BTreeSet::from([Queue(draw(u32::from(self.params.queues)) as u16)]);
                Operation::Work(Request::Lease { queues, count: 2, most: None, length: None }, None)
            }
        }
    }

    /// Two conversions in three fail.
    fn conversion(&self, index: u16, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        if draw(4) == 0 {
            return Operation::Submit(op.0 * u32::from(self.params.clients) + u32::from(index));
        }
        Operation::Convert(if draw(3) < 2 { Outcome::Fails } else { Outcome::Succeeds })
    }

    fn drawn(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let data = u32::from(node.0) * 1000 + op.0;
        let pids = self.params.pids;
        let group = self.drawn_group(draw);
        let queue = |draw: &mut dyn FnMut(u32) -> u32| group.queue(draw);
        match draw(16) {
            0..=4 => {
                let count = 1 + draw(3);
                let enqueues = (0..count).map(|_| {
                    let pid = Pid(1 + draw(pids));
                    (queue(draw), (!self.params.fifo).then_some(pid), data)
                });
                Operation::Call(Request::Update(Update { enqueues: enqueues.collect(), ..Update::default() }))
            }
            5..=7 => {
                let next = (!self.params.fifo && draw(2) == 0).then(|| queue(draw));
                Operation::Work(self.drawn_lease(group, draw), next)
            }
            8..=10 => Operation::Call(self.drawn_lease(group, draw)),
            11..=12 => Operation::Finish,
            13 => Operation::Renew(None),
            14 if draw(4) == 0 => Operation::Call(Request::Delete(queue(draw))),
            14 => {
                let pattern = (draw(2) == 0).then(|| "[0-9]+#[0-9]*[02468]".to_owned());
                Operation::Call(Request::List(Listing { pattern, least: 1, most: draw(3) }))
            }
            _ if self.params.statistics && draw(2) == 0 => {
                Operation::Call(Request::Survey(Listing { pattern: None, least: 1, most: 0 }))
            }
            _ => Operation::Call(Request::Inspect(queue(draw))),
        }
    }

    /// Half of them enqueue, half do long work.
    fn toil(&self, index: u16, op: OpId, own: Own, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        match draw(2) {
            0 => self.enqueue(index, op, own, draw),
            _ => Operation::Toil(self.lease_of(own, draw), 2 + draw(10)),
        }
    }

    /// Two or three operations, some of which say how long leases are to last.
    fn batch(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let count = 2 + draw(2);
        let length = |draw: &mut dyn FnMut(u32) -> u32| {
            let times = draw(4);
            (times > 0).then(|| Span(self.params.lease.0 * u64::from(times) / 2))
        };
        let operations = (0..count).map(|place| {
            let group = self.drawn_group(draw);
            match draw(8) {
                0..=2 => {
                    let data = u32::from(node.0) * 1000 + op.0 * 3 + place;
                    let enqueues = vec![(group.queue(draw), Some(Pid(1 + draw(self.params.pids))), data)];
                    Operation::Call(Request::Update(Update { enqueues, ..Update::default() }))
                }
                3..=5 => {
                    let queues = BTreeSet::from([group.queue(draw)]);
                    Operation::Call(Request::Lease { queues, count: 1 + draw(2), most: None, length: length(draw) })
                }
                6 => Operation::Finish,
                _ => Operation::Renew(length(draw)),
            }
        });
        Operation::Together(operations.collect())
    }

    fn drawn_group(&self, draw: &mut dyn FnMut(u32) -> u32) -> Group {
        let Params { groups, queues, .. } = self.params;
        let first = if groups > 1 { draw(u32::from(groups.min(queues))) as u16 } else { 0 };
        Group { first, step: groups, count: u32::from((queues - first).div_ceil(groups)) }
    }

    fn drawn_lease(&self, group: Group, draw: &mut dyn FnMut(u32) -> u32) -> Request {
        let count = 1 + draw(2);
        let queues = (0..count).map(|_| group.queue(draw)).collect();
        let most = (draw(4) == 0).then(|| Pid(1 + draw(self.params.pids)));
        Request::Lease { queues, count: 1 + draw(2), most, length: None }
    }
}

/// The queues of a consistency group, of which an operation may be about several.
#[derive(Clone, Copy)]
struct Group {
    first: u16,
    step: u16,
    count: u32,
}

impl Group {
    fn queue(self, draw: &mut dyn FnMut(u32) -> u32) -> Queue {
        Queue(self.first + self.step * draw(self.count) as u16)
    }
}

/// "Each worker process confines its operations to a set of queues disjoint from the queues accessed by other worker processes"
/// (§6): these.
#[derive(Clone, Copy)]
struct Own {
    first: u32,
    count: u32,
}

impl Own {
    /// Of the client of this index.
    fn of(index: u16, rules: &TaskMaster) -> Own {
        let Params { clients, threads, queues, workload, .. } = rules.params;
        let (process, processes) = match (workload, threads) {
            // One queue, and the rest for the load.
            (Workload::Isolation, _) => {
                let first = u32::from(index > 0);
                return Own { first, count: if index > 0 { u32::from(queues) - 1 } else { 1 } };
            }
            (_, 0) => (0, 1),
            (_, threads) => (index / threads, clients.div_ceil(threads)),
        };
        let count = u32::from(queues / processes);
        Own { first: u32::from(process) * count, count }
    }

    /// The `place`-th, in a circle.
    fn queue(self, place: u32) -> Queue {
        Queue((self.first + place % self.count) as u16)
    }
}
