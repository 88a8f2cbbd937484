//! Those who ask: clients that enqueue, and workers that lease, work, and dequeue or renew (§3.6). "Via RPC without a client library."

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, Input, Nonce, Offers, OpId, Span};

use super::message::*;
use super::task::{Name, Queue};
use super::{TaskMaster, Workload, mutants};

/// A client's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    nonce: Nonce,
    /// The number of the last call; of a batch, that of its last operation.
    call: u32,
    pub(super) open: Option<Open>,
    /// The tasks that it takes for its own, with their data.
    pub(super) held: BTreeMap<Name, u32>,
    /// How often it may still give a call up, where that is a decision.
    left: u32,
}

impl Client {
    /// After a start or a crash.
    pub fn start(nonce: Nonce, rules: &TaskMaster) -> Client {
        Client { nonce, call: 0, open: None, held: BTreeMap::new(), left: rules.params.give_ups }
    }

    /// One input.
    pub fn step(&mut self, input: Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Operation { op, operation } => self.on_operation(op, operation, rules, cx),
            Input::Message { message, .. } if !self.awaits(&message) || cx.is_armed(&Timer::Poll) => {
                cx.mark("late reply")
            }
            Input::Message { message: Message::Reply { reply, .. }, .. } => self.on_reply(reply, rules, cx),
            Input::Timer(Timer::Patience) => self.give_up(rules, cx),
            Input::Timer(Timer::Poll) => match self.open.take() {
                Some(open) if matches!(open.operation, Operation::Toil(..)) => self.beat(open, rules, cx),
                Some(open) => self.look_at_pipeline(open, rules, cx),
                None => {}
            },
            Input::Decision(Decision::GiveUp) => {
                self.left = self.left.saturating_sub(1);
                self.give_up(rules, cx);
            }
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether this is the reply that it waits for.
    pub fn awaits(&self, message: &Message) -> bool {
        let Message::Reply { nonce, call, .. } = message else { return false };
        let first = |open: &Open| self.call + 1 - open.request.operations();
        *nonce == self.nonce && self.open.as_ref().is_some_and(|open| first(open) == *call)
    }

    /// See [`seedbed_model::Protocol::decisions`].
    pub fn decisions(&self, rules: &TaskMaster, offers: &mut Offers<'_, TaskMaster>) {
        if rules.params.patience == Span::ZERO && self.left > 0 && self.open.is_some() {
            offers.offer(Decision::GiveUp);
        }
    }

    fn on_operation(&mut self, op: OpId, operation: Operation, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(request) = self.request_of(&operation, rules, cx) else { return cx.respond(op, Answer::Idle) };
        let polls = match operation {
            Operation::Anywhere(_) => u32::from(rules.params.queues) - 1,
            Operation::Toil(_, beats) => beats,
            _ => rules.params.polls,
        };
        self.call(Open { op, operation, request, polls }, rules, cx);
    }

    /// What it asks for first; `None`: it is about what is held, and nothing is.
    fn request_of(
        &self,
        operation: &Operation,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> Option<Request> {
        Some(match operation {
            Operation::Call(request) | Operation::Work(request, _) | Operation::Toil(request, _) => request.clone(),
            Operation::Anywhere(data) => rules.enqueued_at(0, *data),
            Operation::Submit(data) => rules.submission(*data, cx.clock()),
            Operation::Convert(_) => rules.lease_of_due(cx.clock()),
            Operation::Discover(listing) => Request::List(listing.clone()),
            Operation::Coordinate(_) => rules.lease_of_coordination(),
            Operation::Finish => {
                Request::Update(Update { dequeues: self.held_in_a_group(rules)?, ..Update::default() })
            }
            Operation::Renew(length) => {
                let renews = self.held_in_a_group(rules)?;
                Request::Update(Update { renews, length: *length, ..Update::default() })
            }
            Operation::Together(operations) => {
                let requests = operations.iter().filter_map(|operation| self.request_of(operation, rules, cx));
                let requests: Vec<Request> = requests.collect();
                (!requests.is_empty()).then_some(Request::Batch(requests))?
            }
        })
    }

    /// What is held of the tasks that one update may be about.
    fn held_in_a_group(&self, rules: &TaskMaster) -> Option<Vec<Name>> {
        let (queue, _) = self.held.keys().next()?;
        let group = rules.group_of(*queue);
        Some(self.held.keys().copied().filter(|(queue, _)| rules.group_of(*queue) == group).collect())
    }

    pub(super) fn call(&mut self, open: Open, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let (request, call) = (open.request.clone(), self.call + 1);
        self.call += request.operations();
        cx.send(rules.entry(cx.node(), call), Message::Call { nonce: self.nonce, call, request });
        self.open = Some(open);
        if rules.params.patience > Span::ZERO {
            cx.set(Timer::Patience, rules.params.patience);
        }
    }

    fn on_reply(&mut self, reply: Reply, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        let Some(open) = self.open.take() else { return };
        if rules.params.patience > Span::ZERO {
            cx.cancel(Timer::Patience);
        }
        self.learn(&reply, &open.request, cx);
        if rules.params.workload != Workload::Mixed {
            (0..tasks_done(&open, &reply)).for_each(|_| cx.mark("task"));
        }
        match (&open.operation, &open.request, &reply) {
            (Operation::Work(_, next), Request::Lease { .. }, Reply::Leased(names)) if !names.is_empty() => {
                let mut update = done(names, *next);
                if rules.has(mutants::MOVES_IN_TWO) {
                    update.enqueues.clear();
                }
                self.call(Open { request: Request::Update(update), ..open }, rules, cx);
            }
            (Operation::Work(_, Some(next)), Request::Update(update), Reply::Done)
                if rules.has(mutants::MOVES_IN_TWO) && update.enqueues.is_empty() =>
            {
                let enqueues = update.dequeues.iter().map(|(_, pid)| (*next, Some(*pid), 0)).collect();
                let update = Update { enqueues, ..Update::default() };
                self.call(Open { request: Request::Update(update), ..open }, rules, cx);
            }
            (Operation::Toil(..), ..) => self.toil(open, reply, rules, cx),
            (Operation::Discover(_), ..) => self.discover(open, reply, rules, cx),
            (Operation::Convert(outcome), ..) => {
                let outcome = *outcome;
                self.convert(open, outcome, reply, rules, cx);
            }
            (Operation::Coordinate(count), ..) => {
                let count = *count;
                self.coordinate(open, count, reply, rules, cx);
            }
            _ => cx.respond(open.op, Answer::Replied(reply)),
        }
    }

    /// What it holds from now on.
    fn learn(&mut self, reply: &Reply, request: &Request, cx: &mut Context<'_, TaskMaster>) {
        match (reply, request) {
            (Reply::Leased(names), _) => self.held.extend(names.iter().copied()),
            (Reply::Lost(name), _) => {
                cx.mark("learns that a lease is lost");
                self.held.remove(name);
            }
            (Reply::Done, Request::Update(update)) => {
                for name in &update.dequeues {
                    self.held.remove(name);
                }
            }
            (Reply::Batch(replies), Request::Batch(requests)) => {
                for (reply, request) in replies.iter().zip(requests) {
                    self.learn(reply, request, cx);
                }
            }
            _ => {}
        }
    }

    fn give_up(&mut self, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if let Some(open) = self.open.take() {
            if let (Operation::Anywhere(data), 1..) = (&open.operation, open.polls) {
                cx.mark("asks another node");
                let tried =
                    if rules.has(mutants::ENQUEUES_AT_ONE) { 0 } else { u32::from(rules.params.queues) - open.polls };
                let request = rules.enqueued_at(tried, *data);
                return self.call(Open { request, polls: open.polls - 1, ..open }, rules, cx);
            }
            cx.mark("gave-up");
            cx.cancel(Timer::Poll);
            cx.respond(open.op, Answer::Unknown);
        }
    }
}

/// How many tasks came where an operation was to bring them: what experiments count.
fn tasks_done(open: &Open, reply: &Reply) -> usize {
    match (&open.operation, &open.request, reply) {
        (Operation::Work(..), Request::Update(update), Reply::Done) => update.dequeues.len(),
        (Operation::Call(_), Request::Update(update), Reply::Done) => update.enqueues.len(),
        (Operation::Call(_), _, Reply::Leased(names)) => names.len(),
        _ => 0,
    }
}

/// "Atomically dequeues that task and enqueues the derivative unit of work into the next stage's queue" (§3.6).
pub(super) fn done(leased: &[(Name, u32)], next: Option<Queue>) -> Update {
    let enqueues =
        next.into_iter().flat_map(|queue| leased.iter().map(move |((_, pid), data)| (queue, Some(*pid), *data)));
    let dequeues = leased.iter().map(|(name, _)| *name).collect();
    Update { enqueues: enqueues.collect(), dequeues, ..Update::default() }
}
