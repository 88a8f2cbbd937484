//! What an operation exposes to others before it returns: to the frontends of those who subscribed, and to the servers of
//! other pools, by a server that links their Lookup library (Centrifuge §4.1, Figure 11).
//!
//! It returns once all of them have it; what is not answered is sent again while the lease lasts. "If an initial message send
//! fails, the server should simply retry after a short period of time."

use std::collections::BTreeSet;

use seedbed_model::{NodeId, OpId};

use super::message::{Content, Item, Key, Operation, Push, Recipient, Reply, Request, Value};
use super::template::{Serving, Slot};
use super::{Application, Cx};
use crate::leasing::message::Message;
use crate::leasing::{Leasing, Owner, PUBLISH_UNCHECKED, PUBLISHED_AT_ONCE, RSS_CHECKED, Timer};

impl Leasing {
    /// Whether the operation asks for no lease: "the subscriptions they create are effectively immutable, and so calls to
    /// Publish do not need to do standard consistency checks about the validity of stored subscriptions" (PRS §3.1). A list
    /// that is there is right then, from whichever lease; where none is, the publication is refused. The RSS processor asks for
    /// none ever: its operations "may be omitted or performed multiple times".
    pub(super) fn is_unchecked(&self, operation: Operation) -> bool {
        let lists_unchecked = self.params.fixed_subscriptions || self.mutants.has(PUBLISH_UNCHECKED);
        let is_publication = matches!(operation, Operation::Publish(..));
        (lists_unchecked && is_publication)
            || (self.params.application == Application::RssProcessor && !self.mutants.has(RSS_CHECKED))
    }

    /// What a server asks of another pool's about what was put or published.
    fn call(&self, key: Key, event: Value) -> Operation {
        match self.service_of(key) {
            Application::Queue => Operation::Enqueue(key, event),
            _ => Operation::Publish(key, event),
        }
    }

    /// The number of such a request. It says what it is about, so that the answer does.
    fn call_number(&self, key: Key, event: Value) -> OpId {
        OpId(event.0 * u32::from(self.params.keys) + u32::from(key.0))
    }
}

impl Owner {
    /// Step 3 is done: what it exposes to others leaves, and the operation ends once they have it.
    pub(super) fn expose(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        let slot = &mut self.server.slots[usize::from(key.0)];
        let Some(serving) = slot.serving else { return };
        slot.waits = slot.recipients(key, serving.operation, leasing);
        let finds_none = slot.waits.is_empty() && matches!(serving.operation, Operation::Publish(..));
        if finds_none && leasing.params.fixed_subscriptions {
            slot.serving = None;
            return serving.refuse("refused-no-list", cx);
        }
        self.call_all(key, leasing, cx);
        let slot = &mut self.server.slots[usize::from(key.0)];
        if slot.waits.is_empty() || leasing.mutants.has(PUBLISHED_AT_ONCE) {
            slot.waits.clear();
            return self.conclude(key, leasing, cx);
        }
        cx.set(Timer::Work(key), leasing.params.patience);
    }

    /// Some have not answered: it is sent to them again, while the lease lasts. Whether there are any such.
    pub(super) fn exposes_on(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        let slot = &self.server.slots[usize::from(key.0)];
        let Some(Serving { operation, lease, .. }) = slot.serving.filter(|_| !slot.waits.is_empty()) else {
            return false;
        };
        if leasing.is_unchecked(operation) || self.held(leasing.range_of(key), cx) == Some(lease) {
            cx.mark("exposed-again");
            self.call_all(key, leasing, cx);
            cx.set(Timer::Work(key), leasing.params.patience);
        } else {
            self.server.slots[usize::from(key.0)].waits.clear();
            self.conclude(key, leasing, cx);
        }
        true
    }

    fn call_all(&self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        let slot = &self.server.slots[usize::from(key.0)];
        let Some(event) = slot.exposed() else { return };
        for recipient in &slot.waits {
            match *recipient {
                Recipient::Frontend(frontend) => cx.send(frontend, Message::Push(Push { key, event })),
                Recipient::Service(called) => {
                    let place = self.server.lookup.as_ref().and_then(|lookup| lookup.lookup(called, leasing));
                    let Some((owner, lease)) = place else {
                        cx.mark("nowhere-to-call");
                        continue;
                    };
                    let (op, operation) = (leasing.call_number(called, event), leasing.call(called, event));
                    cx.send(owner, Message::Request(Request { op, operation, lease }));
                }
            }
        }
    }

    /// A frontend has what was pushed to it.
    pub(crate) fn on_taken(&mut self, from: NodeId, push: Push, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.has(push.key, push.event, Recipient::Frontend(from), leasing, cx);
    }

    /// A server of another pool answers. If it refuses, it is asked again when the others are.
    pub(crate) fn on_call_answered(&mut self, reply: Reply, leasing: &Leasing, cx: &mut Cx<'_>) {
        if reply.result.is_none() {
            return cx.mark("call-refused");
        }
        let keys = u32::from(leasing.params.keys);
        let (called, event) = (Key((reply.op.0 % keys) as u16), Value(reply.op.0 / keys));
        let recipient = Recipient::Service(called);
        let calling = |slot: &Slot| slot.exposed() == Some(event) && slot.waits.contains(&recipient);
        let found = (0..).map(Key).zip(&self.server.slots).find(|(_, slot)| calling(slot)).map(|(key, _)| key);
        match found {
            Some(key) => self.has(key, event, recipient, leasing, cx),
            None => cx.mark("taken-too-late"),
        }
    }

    fn has(&mut self, key: Key, event: Value, recipient: Recipient, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(slot) = self.server.slots.get_mut(usize::from(key.0)) else { return };
        if slot.exposed() != Some(event) || !slot.waits.remove(&recipient) {
            return cx.mark("taken-too-late");
        }
        if slot.waits.is_empty() {
            cx.cancel(Timer::Work(key));
            self.conclude(key, leasing, cx);
        }
    }
}

impl Slot {
    /// What the operation that works here exposes to others.
    fn exposed(&self) -> Option<Value> {
        match self.serving?.operation {
            Operation::Publish(_, event) | Operation::Put(_, event) => Some(event),
            _ => None,
        }
    }

    /// To whom. "After updating the IP address, the Device Connectivity server sends a message" to the server of its topic
    /// (Centrifuge §4.1).
    fn recipients(&self, key: Key, operation: Operation, leasing: &Leasing) -> BTreeSet<Recipient> {
        match (operation, &self.stored) {
            (Operation::Publish(..), Some((_, Item { content: Content::Topic(topic), .. }))) => {
                topic.subscribers.clone()
            }
            (Operation::Put(..), _) if leasing.params.application == Application::LiveMesh => {
                BTreeSet::from([Recipient::Service(Key(key.0 + 1))])
            }
            _ => BTreeSet::new(),
        }
    }
}
