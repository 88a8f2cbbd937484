//! A frontend: it takes a client's operation to the Owner that its Lookup names, again and again (PRS §2.1, Centrifuge
//! §3.1).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId, OpId, Span};

use super::message::{Answer, Key, Operation, Push, Reply, Request};
use super::replicas::Replicas;
use super::{Application, Cx};
use crate::leasing::message::{Generation, Message};
use crate::leasing::{
    ANSWER_AFTER_NEWS, Leasing, Lookup, NEWS_KEPT_BACK, Observation, PUT_AGAIN, RETRIES_FOR_EVER, Timer,
};

/// What a frontend keeps beside its Lookup.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Frontend {
    open: Option<Open>,
    /// The leases under which its client put last or subscribed, where it must hear of their loss.
    kept: BTreeMap<Key, Generation>,
    /// Of an operation on a name whose value is replicated.
    pub(super) replicas: Replicas,
}

/// The operation under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Open {
    op: OpId,
    operation: Operation,
    /// The lease under which a put was first asked for; `None` before that. What was asked later was under leases that
    /// nothing was lost between.
    first: Option<Generation>,
}

impl Frontend {
    /// What its client subscribed to, and under which lease, where a queue brings what is published there.
    fn subscription(&self, leasing: &Leasing) -> Option<(Key, Generation)> {
        let is_topic = |key: Key| leasing.params.application == Application::LiveMesh && !leasing.tells_client_of(key);
        self.kept.iter().map(|(key, lease)| (*key, *lease)).find(|(key, _)| is_topic(*key))
    }
}

impl Lookup {
    pub(crate) fn on_operation(&mut self, op: OpId, operation: Operation, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(frontend) = &mut self.frontend else { return };
        let operation = match operation {
            Operation::Connect(queue, _) => Operation::Connect(queue, frontend.subscription(leasing)),
            other => other,
        };
        frontend.open = Some(Open { op, operation, first: None });
        if leasing.is_limited(operation) {
            cx.set(Timer::GiveUp, leasing.params.retry_limit);
        }
        match operation {
            Operation::Await(_) => {
                self.tell(leasing, cx);
            }
            Operation::Dequeue(..) if self.tell(leasing, cx) => {}
            _ => self.ask(leasing, cx),
        }
    }

    /// The upcall, on its way to the client that waits for it.
    pub(crate) fn pass_on_news(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if leasing.mutants.has(NEWS_KEPT_BACK) {
            return;
        }
        self.note_losses(leasing, cx);
        let is_told = |open: Open| matches!(open.operation, Operation::Await(_) | Operation::Dequeue(..));
        let waits = self.open().is_some_and(is_told);
        if waits && self.tell(leasing, cx) {
            cx.mark("client-told");
        }
    }

    /// "The servers linking in the Lookup library may wish to learn of this crash so they can proactively republish"
    /// (Centrifuge §3.1).
    fn note_losses(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(frontend) = &self.frontend else { return };
        let is_lost =
            |key: &Key, lease: &Generation| leasing.tells_client_of(*key) && !self.may_have(*key, *lease, leasing);
        let lost: Vec<Key> =
            frontend.kept.iter().filter(|(key, lease)| is_lost(key, lease)).map(|(key, _)| *key).collect();
        for key in lost {
            cx.observe(Observation::Missed(key));
            self.keep(key, None);
        }
    }

    /// Notes that its client must hear of the loss of this lease, or need not any more.
    fn keep(&mut self, key: Key, lease: Option<Generation>) {
        let Some(frontend) = &mut self.frontend else { return };
        match lease {
            Some(lease) => frontend.kept.insert(key, lease),
            None => frontend.kept.remove(&key),
        };
    }

    /// What was published to a topic that its client subscribed to, or subscribes to just now.
    pub(crate) fn on_push(&mut self, from: NodeId, push: Push, cx: &mut Cx<'_>) {
        let Some(frontend) = &self.frontend else { return cx.mark("input out of place") };
        let subscribes = frontend.open.is_some_and(|open| open.operation == Operation::Subscribe(push.key));
        if subscribes || frontend.kept.contains_key(&push.key) {
            cx.observe(Observation::Delivered(push));
        } else {
            cx.mark("push-unwanted");
        }
        cx.send(from, Message::Taken(push));
    }

    /// Answers a client that waits for news of a loss, if there was any.
    fn tell(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        let (Some(frontend), Some(open)) = (&self.frontend, self.open()) else { return false };
        let key = open.operation.key();
        let is_kept = frontend.kept.get(&key).is_some_and(|lease| self.may_have(key, *lease, leasing));
        if !is_kept {
            self.answer(open.op, Answer::Told, leasing, cx);
        }
        !is_kept
    }

    /// Asks the Owner of the moment, which may refuse, and waits; or waits for there to be one.
    pub(crate) fn ask(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(open) = self.open() else { return };
        let Open { op, operation, first } = open;
        if leasing.is_replicated() {
            return self.ask_replicas(op, operation, leasing, cx);
        }
        let is_put = matches!(operation, Operation::Put(..) | Operation::Enqueue(..) | Operation::Update(_))
            && !leasing.is_unchecked(operation);
        if is_put && first.is_some_and(|first| self.is_lost(operation.key(), first, leasing)) {
            // What was asked may have been done; nothing that was asked can be done any more.
            cx.mark("put-failed");
            if !leasing.mutants.has(PUT_AGAIN) {
                return self.answer(op, Answer::Failed, leasing, cx);
            }
        }
        let Some((owner, lease)) = self.lookup(operation.key(), leasing) else {
            cx.mark("nowhere-to-ask");
            return cx.set(Timer::Retry, leasing.params.retry);
        };
        if is_put {
            self.set_open(Open { first: Some(first.unwrap_or(lease)), ..open });
        }
        cx.send(owner, Message::Request(Request { op, operation, lease }));
        cx.set(Timer::Retry, leasing.params.patience);
    }

    pub(crate) fn on_reply(&mut self, reply: Reply, leasing: &Leasing, cx: &mut Cx<'_>) {
        let whole = leasing.whole_of(reply.op);
        let Some(open) = self.open().filter(|open| open.op == whole) else { return cx.mark("reply-too-late") };
        if leasing.is_replicated() {
            if let Some(answer) = self.on_replica(reply, open.operation, leasing, cx) {
                self.answer(open.op, answer, leasing, cx);
            }
            return;
        }
        let Some((lease, answer)) = reply.result else {
            return cx.set(Timer::Retry, leasing.params.retry);
        };
        let key = open.operation.key();
        let is_unchecked = leasing.is_unchecked(open.operation);
        if !is_unchecked && !self.may_have(key, lease, leasing) {
            cx.mark("reply-after-news");
            if !leasing.mutants.has(ANSWER_AFTER_NEWS) {
                return cx.set(Timer::Retry, leasing.params.retry);
            }
        }
        if !is_unchecked {
            cx.observe(Observation::Believed { range: leasing.range_of(key), lease });
        }
        let is_kept = matches!(answer, Answer::Subscribed | Answer::Connected);
        if is_kept || (leasing.params.republish && answer == Answer::Put) {
            self.keep(key, Some(lease));
        }
        self.answer(open.op, answer, leasing, cx);
    }

    /// Whether a reply to this operation would count.
    pub(crate) fn awaits_reply(&self, op: OpId, leasing: &Leasing) -> bool {
        self.open().is_some_and(|open| open.op == leasing.whole_of(op))
    }

    /// "To retry once every 30 seconds for up to 5 minutes" (PRS §7.2).
    pub(crate) fn give_up(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        if let Some(open) = self.open().filter(|_| !leasing.mutants.has(RETRIES_FOR_EVER)) {
            cx.mark("gave-up");
            self.answer(open.op, Answer::GaveUp, leasing, cx);
        }
    }

    fn answer(&mut self, op: OpId, answer: Answer, leasing: &Leasing, cx: &mut Cx<'_>) {
        if let Some(frontend) = &mut self.frontend {
            frontend.open = None;
            frontend.replicas = Replicas::default();
        }
        if leasing.params.retry_limit > Span::ZERO {
            cx.cancel(Timer::GiveUp);
        }
        cx.cancel(Timer::Retry);
        cx.respond(op, answer);
    }

    fn open(&self) -> Option<Open> {
        self.frontend.as_ref().and_then(|frontend| frontend.open)
    }

    fn set_open(&mut self, open: Open) {
        if let Some(frontend) = &mut self.frontend {
            frontend.open = Some(open);
        }
    }
}
