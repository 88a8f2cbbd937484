//! Publish-subscribe: under each key a topic's subscription list, and what is published goes to all who are on it
//! (Centrifuge §2, §4.4, Figure 10; PRS §3).
//!
//! A publication is an operation of the template that exposes something to each who subscribed before it returns. It is
//! accepted once all of them have it, so the server keeps nothing for anybody, and whoever is on a list that was lost hears
//! of that from its own Lookup.

use super::message::{Content, Recipient, Topic};
use super::template::Slot;
use crate::leasing::message::Generation;

impl Slot {
    pub(super) fn subscribe(&mut self, lease: Generation, subscriber: Recipient) {
        let content = &mut self.item(lease).content;
        match content {
            Content::Topic(topic) => drop(topic.subscribers.insert(subscriber)),
            _ => *content = Content::Topic(Topic { subscribers: [subscriber].into() }),
        }
    }
}
