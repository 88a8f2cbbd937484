//! The queue service: "once a message has been successfully enqueued, either the client will receive it, or the client will
//! know it has lost some messages" (Centrifuge §4.3; PRS §3.2).
//!
//! A client connects, which makes its queue, and takes one entry after the other; each request names the entry that the last
//! one brought, which leaves the queue thereby. A queue that was lost is not made anew before the client has heard of the
//! loss and connects again. Into a queue that is not there nothing is put: its client knows, or will.
//!
//! The servers "also link in the Lookup library so that they can receive a LossNotificationUpcall()", and put a notice into
//! the queue of each client that subscribed to a topic of another pool that was lost.

use seedbed_model::{NodeId, OpId, Serial};

use super::message::{Content, Entry, Key, Queue, Value};
use super::template::{Serving, Slot};
use super::{Application, Cx, Server};
use crate::leasing::message::{Edition, Generation, News, PollNumber};
use crate::leasing::{DEQUEUED_AT_ONCE, Leasing, Lookup, NOTICE_NOT_QUEUED, Owner};

impl Leasing {
    /// Whether servers link the Lookup library.
    pub(in crate::leasing) fn servers_look_up(&self) -> bool {
        self.params.application == Application::LiveMesh
    }
}

impl Owner {
    /// An answer to the Lookup of this server.
    pub(crate) fn on_news(
        &mut self,
        from: NodeId,
        poll: Serial<PollNumber>,
        edition: Edition,
        news: News,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        let Some(lookup) = &mut self.server.lookup else { return cx.mark("input out of place") };
        lookup.on_response(from, poll, edition, news, leasing, cx);
        self.server.note_losses(leasing, cx);
    }

    pub(crate) fn on_lookup_timer(&mut self, polls: bool, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(lookup) = &mut self.server.lookup else { return cx.mark("input out of place") };
        if polls {
            return lookup.poll(leasing, cx);
        }
        lookup.on_contact_end(leasing, cx);
        self.server.note_losses(leasing, cx);
    }
}

impl Server {
    /// The upcall, or queues that came from another server, whose Lookup may have known less: a notice for each client whose
    /// subscription is lost. After an upcall all queues are looked at, so that one that came is found by the next at the latest.
    pub(super) fn note_losses(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Server { slots, lookup, .. } = self;
        let Some(lookup) = lookup else { return };
        slots.iter_mut().for_each(|slot| slot.note_loss(lookup, leasing, cx));
    }
}

impl Slot {
    /// If what the client of this queue subscribed to is lost, the queue says so, once.
    pub(super) fn note_loss(&mut self, lookup: &Lookup, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(queue) = self.queue() else { return };
        let lost = queue.watched.filter(|(topic, lease)| !lookup.may_have(*topic, *lease, leasing));
        if let Some((topic, _)) = lost.filter(|_| !leasing.mutants.has(NOTICE_NOT_QUEUED)) {
            cx.mark("notice-queued");
            queue.watched = None;
            queue.entries.push(Entry::Lost(topic));
        }
    }

    fn queue(&mut self) -> Option<&mut Queue> {
        match &mut self.stored {
            Some((_, item)) => match &mut item.content {
                Content::Queue(queue) => Some(queue),
                _ => None,
            },
            None => None,
        }
    }

    pub(super) fn connect(&mut self, lease: Generation, watched: Option<(Key, Generation)>) {
        let content = &mut self.item(lease).content;
        if let Content::Queue(queue) = content {
            queue.watched = watched;
        } else {
            *content = Content::Queue(Queue { entries: Vec::new(), watched });
        }
    }

    /// `asked` says which of a frontend's operations it is; what is done once is done.
    pub(super) fn enqueue(&mut self, event: Value, asked: Option<(NodeId, OpId)>, cx: &mut Cx<'_>) {
        let is_done = asked.is_some_and(|(client, op)| self.is_done(client, op));
        let Some(queue) = self.queue() else { return cx.mark("enqueued-for-nobody") };
        if !is_done && !queue.entries.contains(&Entry::Event(event)) {
            queue.entries.push(Entry::Event(event));
        }
        self.note_done(asked);
    }

    /// The oldest entry, once what the client has taken is gone. `None`: there is no queue.
    pub(super) fn dequeue(
        &mut self,
        serving: Serving,
        taken: Option<Entry>,
        leasing: &Leasing,
    ) -> Option<Option<Entry>> {
        let Serving { client, op, .. } = serving;
        let is_done = self.is_done(client, op);
        let queue = self.queue()?;
        if !is_done && taken.is_some() && queue.entries.first().copied() == taken {
            queue.entries.remove(0);
        }
        let first = queue.entries.first().copied();
        if leasing.mutants.has(DEQUEUED_AT_ONCE) && first.is_some() {
            queue.entries.remove(0);
        }
        self.note_done(Some((client, op)));
        Some(first)
    }

    pub(super) fn is_done(&self, client: NodeId, op: OpId) -> bool {
        let done = self.stored.as_ref().and_then(|(_, item)| item.done.get(&client));
        done.is_some_and(|done| *done >= op)
    }

    pub(super) fn note_done(&mut self, asked: Option<(NodeId, OpId)>) {
        if let (Some((client, op)), Some((_, item))) = (asked, &mut self.stored) {
            let done = item.done.entry(client).or_insert(op);
            *done = op.max(*done);
        }
    }
}
