//! The TaskMaster node: its state, what comes to it, and the life of an operation.
//!
//! An operation takes its locks, reads what it must know and the cache does not, is put into the log, is committed, answered, and
//! written to its rows; then its locks are free.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, Span};

use super::admission::Admission;
use super::batching::Batches;
use super::cache::Cache;
use super::checkpoint::Checkpoint;
use super::gathering::Gatherings;
use super::locks::{Lock, Locks, Mode};
use super::log::Log;
use super::message::*;
use super::recovery::Phase;
use super::statistics::Statistics;
use super::task::{Counter, Name, Pid, Queue, Row, Task, Ticket};
use super::{TaskMaster, mutants};

/// The volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Node {
    pub(super) nonce: Nonce,
    pub(super) phase: Phase,
    /// Calls that came before it could serve them.
    pub(super) early: BTreeMap<OpKey, Request>,
    pub(super) ops: BTreeMap<OpKey, Op>,
    pub(super) admission: Admission,
    /// Through which proxy a call came, if through one.
    pub(super) via: BTreeMap<OpKey, NodeId>,
    pub(super) gatherings: Gatherings,
    pub(super) batches: Batches,
    pub(super) locks: Locks,
    pub(super) log: Log,
    pub(super) counters: BTreeMap<Queue, Counter>,
    /// The last PID assigned in each FIFO queue, where it is not enqueued yet.
    pub(super) assigned: BTreeMap<Queue, Pid>,
    pub(super) cache: Cache,
    pub(super) checkpoint: Checkpoint,
    /// Nothing where `statistics` are not kept.
    pub(super) statistics: Statistics,
    /// What the store has not answered, where it is to be asked again.
    pub(super) unanswered: BTreeMap<Question, Message>,
}

/// What the store is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Question {
    /// A read.
    Read(Option<(OpKey, u32)>, Read),
    /// A write.
    Write(Ticket, Place),
}

/// An operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Op {
    pub(super) request: Request,
    /// Numbers its readings.
    pub(super) round: u32,
    pub(super) stage: Stage,
    /// What it knows of rows: for an update of those it names, for a lease of those it takes.
    pub(super) rows: BTreeMap<Row, Option<Task>>,
}

/// How far an operation is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Stage {
    /// It waits for a lock; behind it, these.
    Locking(Vec<(Lock, Mode)>),
    /// An update waits for so many rows.
    Reading(u32),
    /// A lease waits for a scan from this row on of so many tasks.
    Refilling(Row, u32),
    /// It is in the log. A lease's tasks count as leased until it is committed.
    Logged,
}

impl Node {
    /// After a start or a crash.
    pub fn start(nonce: Nonce, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) -> Node {
        let mut node = Node {
            nonce,
            phase: Phase::Looking,
            early: BTreeMap::new(),
            ops: BTreeMap::new(),
            admission: Admission::default(),
            via: BTreeMap::new(),
            gatherings: Gatherings::default(),
            batches: Batches::default(),
            locks: Locks::default(),
            log: Log::behind(Ticket { incarnation: nonce, number: 0 }),
            counters: BTreeMap::new(),
            assigned: BTreeMap::new(),
            cache: Cache::default(),
            checkpoint: Checkpoint { left: rules.params.checkpoints, ..Checkpoint::default() },
            statistics: Statistics::default(),
            unanswered: BTreeMap::new(),
        };
        node.read(None, Read::Minimum, rules, cx);
        node
    }

    /// One input.
    pub fn step(&mut self, input: Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Message { message, .. } if !self.awaits(&message) => cx.mark("late answer"),
            Input::Message { from, message } => self.on_message(from, message, rules, cx),
            Input::Timer(Timer::Retry) => self.on_retry(rules, cx),
            Input::Timer(Timer::Checkpoint) => {
                self.write_checkpoint(rules, cx);
                cx.set(Timer::Checkpoint, rules.params.checkpoint);
            }
            Input::Timer(Timer::Expiry(_)) => {}
            Input::Timer(Timer::Gather(client)) => self.gathered_late(client, rules, cx),
            Input::Decision(Decision::Checkpoint) => {
                self.checkpoint.left = self.checkpoint.left.saturating_sub(1);
                self.write_checkpoint(rules, cx);
            }
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether an answer is for this incarnation.
    pub fn awaits(&self, message: &Message) -> bool {
        match message {
            Message::Found { nonce, .. } | Message::Written { nonce, .. } => *nonce == self.nonce,
            _ => true,
        }
    }

    /// See [`seedbed_model::Protocol::decisions`].
    pub fn decisions(&self, rules: &TaskMaster, offers: &mut Offers<'_, TaskMaster>) {
        if rules.params.checkpoint == Span::ZERO && self.checkpoint.left > 0 && self.has_to_checkpoint(rules) {
            offers.offer(Decision::Checkpoint);
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match message {
            Message::Call { nonce, call, request: Request::Batch(requests) } => {
                let parts = self.batches.begin(OpKey { client: from, nonce, call }, requests);
                parts.into_iter().for_each(|(part, request)| self.on_call(part, request, rules, cx));
            }
            Message::Call { nonce, call, request } => {
                self.on_call(OpKey { client: from, nonce, call }, request, rules, cx);
            }
            Message::Passed { key, request } => {
                self.via.insert(key, from);
                self.on_call(key, request, rules, cx);
            }
            Message::Gather { key, listing } => self.on_gather(from, key, &listing, rules, cx),
            Message::Gathered { key, reports } => self.on_gathered(from, key, reports, rules, cx),
            Message::Found { asker, read, found, .. } => {
                self.unanswered.remove(&Question::Read(asker, read));
                match asker {
                    Some((key, round)) => self.on_found(key, round, read, found, rules, cx),
                    None => self.on_own_found(read, found, rules, cx),
                }
            }
            Message::Written { version, place, .. } => {
                self.unanswered.remove(&Question::Write(version, place));
                match self.phase {
                    Phase::Serving => self.on_written(version, place, rules, cx),
                    _ => self.on_recovery_written(version, place, rules, cx),
                }
            }
            _ => cx.mark("message out of place"),
        }
    }

    fn on_call(&mut self, key: OpKey, request: Request, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if self.phase == Phase::Serving {
            self.begin(key, request, rules, cx);
        } else {
            self.early.insert(key, request);
        }
    }

    /// Whether it is this incarnation, and ready.
    pub fn serves(&self, nonce: Nonce) -> bool {
        self.nonce == nonce && self.phase == Phase::Serving
    }

    fn on_written(&mut self, version: Ticket, place: Place, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match place {
            Place::Log => self.on_logged(version, rules, cx),
            Place::Task(row) => self.on_applied(version, row, rules, cx),
            Place::Counter(_) | Place::Minimum => self.on_checkpointed(version, place, rules, cx),
        }
    }

    /// An operation begins.
    pub(super) fn begin(&mut self, key: OpKey, request: Request, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if self.ops.contains_key(&key) || self.admission.has(key) {
            return cx.mark("call heard twice");
        }
        match request {
            Request::List(listing) if rules.is_cluster(rules.sharding_of(cx.node())) => {
                self.gather(key, listing, rules, cx);
            }
            Request::Survey(listing) => self.gather(key, listing, rules, cx),
            Request::List(listing) => {
                let queues = self.listed(&listing, rules, cx);
                self.reply(key, Reply::Queues(queues), rules, cx);
            }
            Request::Inspect(queue) => {
                let report = self.report(queue, cx);
                self.reply(key, Reply::Statistics(report), rules, cx);
            }
            Request::Batch(_) => cx.mark("message out of place"),
            request if rules.crosses_groups(&request) && !rules.has(mutants::CROSSES_GROUPS) => {
                cx.mark("refused: it crosses groups");
                self.reply(key, Reply::CrossesGroups, rules, cx);
            }
            request => {
                cx.observe(Observation::Begun(key));
                if !self.waits_for_thread(key, &request, rules, cx) {
                    self.carry(key, request, rules, cx);
                }
            }
        }
    }

    /// It has a thread.
    pub(super) fn carry(&mut self, key: OpKey, request: Request, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let request = match request {
            Request::Update(update) => Request::Update(self.assign(update)),
            request => request,
        };
        if rules.params.ordered {
            cx.observe(Observation::Asked(key, request.clone()));
        }
        let wanted = match &request {
            Request::Update(update) => rules.locks_of_update(update),
            Request::Delete(queue) => vec![(rules.lock_of(*queue), Mode::Write)],
            _ => self.locks_of_lease(key, &request, false, rules, cx),
        };
        self.ops.insert(key, Op { request, round: 0, stage: Stage::Locking(wanted), rows: BTreeMap::new() });
        self.lock(key, rules, cx);
    }

    /// Takes locks until one must be waited for.
    pub(super) fn lock(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(Op { stage: Stage::Locking(wanted), .. }) = self.ops.get_mut(&key) else { return };
        while !wanted.is_empty() {
            let (lock, mode) = wanted.remove(0);
            let joins_readers = mode == Mode::Read && self.locks.is_read(lock);
            if joins_readers && rules.has(mutants::READERS_FIRST) {
                self.locks.join(key, lock);
            } else if !self.locks.acquire(key, lock, mode) {
                if joins_readers {
                    cx.mark("reader behind a writer");
                }
                return cx.mark("waited");
            }
        }
        match &self.ops[&key].request {
            Request::Update(_) => self.read_rows(key, rules, cx),
            Request::Delete(queue) => self.delete(key, *queue, rules, cx),
            _ => self.discover(key, rules, cx),
        }
    }

    /// Frees what `key` has, and lets those go on who waited.
    pub(super) fn release(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        for woken in self.locks.release(key) {
            self.lock(woken, rules, cx);
        }
    }

    pub(super) fn end(&mut self, key: OpKey, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        self.ops.remove(&key);
        cx.observe(Observation::Ended(key));
        self.release(key, rules, cx);
        self.admit(rules, cx);
    }

    fn on_found(
        &mut self,
        key: OpKey,
        round: u32,
        read: Read,
        found: Found,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let Some(op) = self.ops.get_mut(&key).filter(|op| op.round == round) else { return cx.mark("late answer") };
        let Found::Tasks(tasks) = found else { return cx.mark("message out of place") };
        match (&mut op.stage, read) {
            (Stage::Reading(left), Read::Row(row)) if !op.rows.contains_key(&row) => {
                op.rows.insert(row, tasks.first().map(|(_, task)| *task));
                *left -= 1;
                if *left == 0 {
                    self.update(key, rules, cx);
                }
            }
            (Stage::Refilling(from, count), Read::Tasks { .. }) => {
                let (from, count) = (*from, *count);
                self.refilled(key, from, count, &tasks, rules, cx);
            }
            _ => cx.mark("late answer"),
        }
    }

    pub(super) fn reply(&mut self, key: OpKey, reply: Reply, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if let Some(proxy) = self.via.remove(&key) {
            return cx.send(proxy, Message::PassedBack { key, reply });
        }
        if let Some((key, reply)) = self.batches.ended(key, reply, rules, cx) {
            cx.send(key.client, Message::Reply { nonce: key.nonce, call: key.call, reply });
        }
    }

    pub(super) fn read(
        &mut self,
        asker: Option<(OpKey, u32)>,
        read: Read,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        self.ask(Question::Read(asker, read), Message::Read { nonce: self.nonce, asker, read }, rules, cx);
    }

    pub(super) fn write(
        &mut self,
        version: Ticket,
        write: Write,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) {
        let question = Question::Write(version, write.place());
        self.ask(question, Message::Write { nonce: self.nonce, version, write }, rules, cx);
    }

    fn ask(&mut self, question: Question, message: Message, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if rules.params.retry > Span::ZERO && !rules.has(mutants::ASKS_ONCE) {
            self.unanswered.insert(question, message.clone());
            if !cx.is_armed(&Timer::Retry) {
                cx.set(Timer::Retry, rules.params.retry);
            }
        }
        cx.send(rules.store(), message);
    }

    fn on_retry(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if self.unanswered.is_empty() {
            return;
        }
        cx.mark("asked the store again");
        for message in self.unanswered.values() {
            cx.send(rules.store(), message.clone());
        }
        cx.set(Timer::Retry, rules.params.retry);
    }

    /// The row of a task, in the queue's present generation.
    pub(super) fn row(&self, (queue, pid): Name, rules: &TaskMaster) -> Row {
        let generation = self.counters.get(&queue).map_or(0, |counter| counter.generation);
        Row { queue, generation: if rules.has(mutants::GENERATION_UNNAMED) { 0 } else { generation }, pid }
    }
}
