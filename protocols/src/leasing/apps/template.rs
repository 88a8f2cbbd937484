//! The template of five steps around an operation on the state under a key, which every service but the periodic task has:
//! the hash table, "a distributed soft-state in-memory hashtable with strong consistency and recovery notifications" (PRS
//! §2.2, Figure 4), and the others (Centrifuge Figure 10: "perform arbitrary operation on this state").

use std::collections::BTreeSet;

use seedbed_model::{Canonical, NodeId, OpId, Span};

use super::api::Handle;
use super::message::{Answer, Cargo, Content, Item, Key, Operation, Recipient, Reply, Request};
use super::{Cx, Server};
use crate::leasing::message::{Generation, Message, RangeId};
use crate::leasing::{
    ANSWER_OF_THE_CALL, ANY_LEASE_NUMBER, DONE_AGAIN, Leasing, NO_FINAL_CHECK, NO_FIRST_CHECK, Observation, Owner,
    STATE_LEFT_BEHIND, STORED_UNCHECKED, Timer,
};

/// What a server has of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Slot {
    /// `this.state[key]`, with `this.handles[key]`: the lease under which it was stored.
    pub(super) stored: Option<(Generation, Item)>,
    /// What works on it.
    pub(super) serving: Option<Serving>,
    /// Whom what it exposes has not reached.
    pub(super) waits: BTreeSet<Recipient>,
}

/// An operation between its first check and its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Serving {
    pub(super) client: NodeId,
    pub(super) op: OpId,
    pub(super) operation: Operation,
    /// The handle of step 1.
    pub(super) lease: Generation,
    /// Whether the lease was held when step 4 was asked for, if that is to be answered by an upcall.
    pub(super) asked: Option<bool>,
}

impl Owner {
    /// Steps 1 and 2, and the beginning of 3, which takes time.
    pub(crate) fn on_app_request(&mut self, client: NodeId, request: Request, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Request { op, operation, lease } = request;
        let key = operation.key();
        if self.server.slots.get(usize::from(key.0)).is_none() {
            return cx.mark("request for no key");
        }
        // (1) Check that the request has arrived at the correct node.
        let now = self.check_lease_now(leasing.range_of(key), cx);
        let handle = match now {
            Some(now) if now == lease || leasing.mutants.has(ANY_LEASE_NUMBER) => now,
            _ if leasing.mutants.has(NO_FIRST_CHECK) || leasing.is_unchecked(operation) => lease,
            _ => return refuse(client, op, "refused-no-lease", cx),
        };
        let slot = &mut self.server.slots[usize::from(key.0)];
        match slot.serving {
            Some(serving) if (serving.client, serving.op) == (client, op) => return cx.mark("asked-again"),
            Some(_) => return refuse(client, op, "refused-busy", cx),
            None => {}
        }
        // (2) Validate that existing state is not stale; discard what is.
        if let Some((stored, _)) = slot.stored
            && stored != handle
            && !leasing.is_unchecked(operation)
        {
            cx.mark("stale-state");
            if !leasing.mutants.has(STORED_UNCHECKED) {
                slot.stored = None;
            }
        }
        slot.serving = Some(Serving { client, op, operation, lease: handle, asked: None });
        match operation {
            Operation::Publish(..) => self.perform(key, leasing, cx),
            _ => cx.set(Timer::Work(key), leasing.params.work),
        }
    }

    /// The operation has taken its time.
    pub(crate) fn on_work_end(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        if !self.server.tasks.is_empty() {
            return self.on_task_done(RangeId(key.0 as u8), leasing, cx);
        }
        if !self.exposes_on(key, leasing, cx) {
            self.perform(key, leasing, cx);
        }
    }

    /// Steps 3 to 5, in one instant where nobody else is to see what was done. "The simplest way to handle multiple such
    /// external state exposures is to treat each exposure as marking the end of one operation" (PRS §2.2).
    fn perform(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(serving) = self.server.slots[usize::from(key.0)].serving else { return };
        let Serving { operation, lease, asked, .. } = serving;
        if leasing.params.upcall > Span::ZERO && asked.is_none() {
            return self.ask_library(key, serving, leasing, cx);
        }
        // (4) Check that the lease has covered the entire operation; before (3), so that nothing newer is overwritten.
        if !self.is_covered(key, serving, leasing, cx) {
            return self.give_up(key, "refused-lease-lost", cx);
        }
        // (3) Perform the operation; store the handle with any created state.
        let Owner { server, .. } = self;
        let slot = &mut server.slots[usize::from(key.0)];
        let made = !slot.has_content();
        let Some(answer) = slot.operate(serving, leasing, cx) else {
            return self.give_up(key, "refused-no-queue", cx);
        };
        slot.refresh_by(operation, made, leasing, cx);
        if let (Operation::Connect(..), Some(lookup)) = (operation, &server.lookup) {
            slot.note_loss(lookup, leasing, cx);
        }
        // (5) Expose the state.
        if leasing.exposes(operation) {
            return self.expose(key, leasing, cx);
        }
        self.answer(key, lease, answer, leasing, cx);
    }

    /// "Asynchronous versions of the calls" (PRS Figure 3): the library answers step 4 by an upcall, for the moment of that.
    fn ask_library(&mut self, key: Key, serving: Serving, leasing: &Leasing, cx: &mut Cx<'_>) {
        cx.mark("asked-library");
        let is_held = self.held(leasing.range_of(key), cx) == Some(serving.lease);
        self.server.slots[usize::from(key.0)].serving = Some(Serving { asked: Some(is_held), ..serving });
        cx.set(Timer::Work(key), leasing.params.upcall);
    }

    /// Whoever was to see what was done has seen it.
    pub(super) fn conclude(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(serving) = self.server.slots[usize::from(key.0)].serving else { return };
        if !self.is_covered(key, serving, leasing, cx) {
            return self.give_up(key, "refused-lease-lost", cx);
        }
        let answer = if matches!(serving.operation, Operation::Put(..)) { Answer::Put } else { Answer::Published };
        self.answer(key, serving.lease, answer, leasing, cx);
    }

    fn is_covered(&self, key: Key, serving: Serving, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        let (range, lease) = (leasing.range_of(key), serving.lease);
        if leasing.is_unchecked(serving.operation) {
            return true;
        }
        if let (Some(is_held), true) = (serving.asked, leasing.mutants.has(ANSWER_OF_THE_CALL)) {
            return is_held;
        }
        self.check_lease_continuous(Handle { range, lease }, leasing, cx) || leasing.mutants.has(NO_FINAL_CHECK)
    }

    fn answer(&mut self, key: Key, lease: Generation, answer: Answer, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(Serving { client, op, operation, .. }) = self.server.slots[usize::from(key.0)].serving.take() else {
            return;
        };
        let range = leasing.range_of(key);
        if !leasing.is_unchecked(operation) {
            cx.observe(Observation::Exposed { range, lease });
        } else if self.held(range, cx).is_none() {
            cx.mark("exposed-without-lease");
        }
        cx.send(client, Message::Reply(Reply { op, result: Some((lease, answer)) }));
    }

    fn give_up(&mut self, key: Key, why: &'static str, cx: &mut Cx<'_>) {
        if let Some(serving) = self.server.slots[usize::from(key.0)].serving.take() {
            serving.refuse(why, cx);
        }
    }
}

impl Server {
    /// What leaves with the state of a range: what was stored under its lease.
    pub(crate) fn cargo(&self, range: RangeId, lease: Generation, leasing: &Leasing) -> Cargo {
        if self.slots.is_empty() {
            return Cargo::new();
        }
        if leasing.mutants.has(STATE_LEFT_BEHIND) {
            return Cargo::new();
        }
        let stored = |key: Key| match &self.slots[usize::from(key.0)].stored {
            Some((handle, item)) if *handle == lease => Some((key, item.clone())),
            _ => None,
        };
        leasing.keys_of(range).filter_map(stored).collect()
    }

    /// State that came before its lease: it is kept under the number it had.
    pub(crate) fn receive(&mut self, lease: Generation, cargo: Cargo) {
        for (key, item) in cargo {
            if let Some(slot) = self.slots.get_mut(usize::from(key.0)) {
                slot.stored = Some((lease, item));
            }
        }
    }

    /// A lease that came with state makes the state its own: it was held without a break, by one Owner after the other.
    pub(super) fn adopt_items(&mut self, lease: Handle, from: Option<Generation>, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(from) = from else { return };
        for key in leasing.keys_of(lease.range) {
            if let Some((handle, _)) = &mut self.slots[usize::from(key.0)].stored
                && *handle == from
            {
                *handle = lease.lease;
                self.slots[usize::from(key.0)].restart_expiry(key, leasing, cx);
            }
        }
        self.note_losses(leasing, cx);
    }
}

impl Slot {
    /// What is done once is done: a put that comes again changes nothing.
    fn operate(&mut self, serving: Serving, leasing: &Leasing, cx: &mut Cx<'_>) -> Option<Answer> {
        let Serving { client, op, operation, lease, .. } = serving;
        Some(match operation {
            Operation::Put(_, value) => {
                let item = self.item(lease);
                let is_done = item.done.get(&client).is_some_and(|done| *done >= op);
                if is_done {
                    cx.mark("done-already");
                }
                if !is_done || leasing.mutants.has(DONE_AGAIN) {
                    item.content = Content::Value(value);
                    item.done.insert(client, op);
                }
                Answer::Put
            }
            Operation::Subscribe(_) => {
                self.subscribe(lease, leasing.recipient(client));
                Answer::Subscribed
            }
            Operation::Publish(..) => Answer::Published,
            Operation::Connect(_, watched) => {
                self.connect(lease, watched);
                Answer::Connected
            }
            Operation::Enqueue(_, event) => {
                let asked = leasing.is_frontend(client).then_some((client, op));
                self.enqueue(event, asked, cx);
                Answer::Enqueued
            }
            Operation::Read(_, section) => self.read(section),
            Operation::Update(update) => self.update(serving, update, leasing, cx),
            Operation::Refresh(key) => self.refresh(key, leasing, cx),
            Operation::Dequeue(_, taken) => Answer::Dequeued(self.dequeue(serving, taken, leasing)?),
            _ => Answer::Got(self.stored.as_ref().and_then(|(_, item)| item.content.value())),
        })
    }

    /// What is stored, from here on under this lease.
    pub(super) fn item(&mut self, lease: Generation) -> &mut Item {
        let stored = self.stored.get_or_insert_with(|| (lease, Item::default()));
        stored.0 = lease;
        &mut stored.1
    }
}

impl Serving {
    /// "Frontends should retry after a short backoff on such rejected requests" (PRS §2.1).
    pub(super) fn refuse(self, why: &'static str, cx: &mut Cx<'_>) {
        refuse(self.client, self.op, why, cx);
    }
}

fn refuse(client: NodeId, op: OpId, why: &'static str, cx: &mut Cx<'_>) {
    cx.mark(why);
    cx.send(client, Message::Reply(Reply { op, result: None }));
}
