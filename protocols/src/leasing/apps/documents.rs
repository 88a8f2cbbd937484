//! The sectioned document: "a key is mapped to a document. The document contains a version number, and updates can be made
//! conditional on the document's current version. […] Each document is sub-divided into a number of named sections"; it is
//! "expired using a TTL value unless client requests explicitly refresh" it (PRS §3, §3.4).

use seedbed_model::Span;

use super::Cx;
use super::message::{Answer, Content, Document, Key, Operation, Update, Value};
use super::template::{Serving, Slot};
use crate::leasing::message::Generation;
use crate::leasing::{Leasing, Observation, Owner, REFRESH_FORGOTTEN, Timer, VERSION_UNCHECKED};

impl Owner {
    /// What is under the key was not refreshed for its time to live, as far as this server knows. "All of the applications
    /// built using the PRS use TTLs" (§3.4).
    pub(crate) fn on_expiry(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        let range = leasing.range_of(key);
        let (held, received) = (self.held(range, cx), self.received(range));
        let slot = &mut self.server.slots[usize::from(key.0)];
        let Some((lease, item)) = &mut slot.stored else { return };
        // What another server handed over has its whole time from the lease on: this is the end of an earlier document's.
        if item.content != Content::Nothing && received != Some(*lease) {
            // What is stored under another lease is lost already, or another's.
            if held == Some(*lease) {
                cx.observe(Observation::Expired(key));
            }
            cx.mark("expired");
            item.content = Content::Nothing;
        }
    }
}

impl Slot {
    /// What is in a section, and the document's version.
    pub(super) fn read(&self, section: u8) -> Answer {
        let document = self.document();
        let value = document.and_then(|document| document.sections.get(&section).copied());
        Answer::Read { version: document.map(|document| document.version), value }
    }

    /// What is done once is done; what is refused may come again, and be done then.
    pub(super) fn update(&mut self, serving: Serving, update: Update, leasing: &Leasing, cx: &mut Cx<'_>) -> Answer {
        let Serving { client, op, lease, .. } = serving;
        let Update { key, section, value, expected } = update;
        if self.is_done(client, op) {
            cx.mark("done-already");
            return Answer::Updated;
        }
        let version = self.document().map(|document| document.version);
        if version != expected && !leasing.mutants.has(VERSION_UNCHECKED) {
            cx.mark("conflict");
            return Answer::Conflict(version);
        }
        let document = self.document_made(lease, value);
        document.version = value;
        document.sections.insert(section, value);
        self.note_done(Some((client, op)));
        lives_on(key, leasing, cx);
        Answer::Updated
    }

    pub(super) fn refresh(&self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) -> Answer {
        let is_there = self.document().is_some();
        if is_there && !leasing.mutants.has(REFRESH_FORGOTTEN) {
            lives_on(key, leasing, cx);
        }
        Answer::Refreshed(is_there)
    }

    /// What came from another server, which knew when it was refreshed: it has its whole time here again.
    pub(super) fn restart_expiry(&self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        if self.has_content() {
            lives_on(key, leasing, cx);
        }
    }

    /// A value, a list or a queue lives from when it is made, and on from each time that its client puts it again,
    /// subscribes again, connects or dequeues: "subscriptions are similarly maintained using TTLs and explicit client
    /// refreshes", as are queues and feeds (PRS §3). `made`: there was nothing under the key before.
    pub(super) fn refresh_by(&self, operation: Operation, made: bool, leasing: &Leasing, cx: &mut Cx<'_>) {
        let refreshes = matches!(
            operation,
            Operation::Put(..) | Operation::Subscribe(_) | Operation::Connect(..) | Operation::Dequeue(..)
        );
        if refreshes && (made || !leasing.mutants.has(REFRESH_FORGOTTEN)) {
            lives_on(operation.key(), leasing, cx);
        }
    }

    pub(super) fn has_content(&self) -> bool {
        self.stored.as_ref().is_some_and(|(_, item)| item.content != Content::Nothing)
    }

    fn document(&self) -> Option<&Document> {
        match &self.stored {
            Some((_, item)) => match &item.content {
                Content::Document(document) => Some(document),
                _ => None,
            },
            None => None,
        }
    }

    fn document_made(&mut self, lease: Generation, version: Value) -> &mut Document {
        let content = &mut self.item(lease).content;
        if !matches!(content, Content::Document(_)) {
            *content = Content::Document(Document { version, sections: Default::default() });
        }
        match content {
            Content::Document(document) => document,
            _ => unreachable!("a document was just put there"),
        }
    }
}

fn lives_on(key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
    if leasing.params.ttl > Span::ZERO {
        cx.set(Timer::Expiry(key), leasing.params.ttl);
    }
}
