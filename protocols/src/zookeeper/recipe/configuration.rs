//! A configuration of several nodes, with the *ready* node (§2.3): "other processes will only use the configuration when that znode
//! exists. The new leader makes the configuration change by deleting ready, updating the various configuration znodes, and creating
//! ready. All of these changes can be pipelined"; "if the process that reads the ready znode requests to be notified of changes to
//! that znode, it will see a notification informing the client of the change before it can read any of the new configuration".
//!
//! One client writes it. What the paper does not say: of two that do, the one that leads no more may have requests under way in a
//! session that is not over, and what it writes then is part of the other's configuration. So it takes one that writes in one session:
//! clients of this workload do not crash.

use seedbed_model::Canonical;

use super::{Cx, Event, Recipe, Scene, Shown, create, delete, exists, get, is_there, set, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::{CONFIGURATION_STAYS_READY, READY_UNWATCHED};
use crate::zookeeper::path;
use crate::zookeeper::tree::TreeEvent;
use crate::zookeeper::txn::{Answer, Read, Write};

/// The node whose children are the configuration.
pub const CONFIGURATION: &str = "/configuration";

/// What it is made of.
pub(in crate::zookeeper) const PARTS: [&str; 2] = ["/configuration/one", "/configuration/two"];

fn ready() -> String {
    path::child(CONFIGURATION, "ready")
}

/// A client that writes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Configure {
    is_done: bool,
}

impl Recipe for Configure {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, _: Cx<'_, '_>) -> Vec<Ask> {
        match event {
            // From the beginning, also after a connection that broke.
            Event::Connected => {
                let first = (!scene.has(CONFIGURATION_STAYS_READY)).then(|| delete(ready()));
                let parts = PARTS.into_iter().map(|part| set(part, scene.value()));
                first.into_iter().chain(parts).chain([create(ready(), String::new())]).collect()
            }
            Event::Answered(Ask::Write(Write::Create(_)), answer) => {
                self.is_done = is_there(&answer);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// A client that reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum Configured {
    /// It looks whether it is ready.
    #[default]
    Begin,
    /// It waits until it is.
    Waiting,
    /// It reads it, as long as it stays ready.
    Reading(Vec<String>),
    /// It reads what is no configuration any more.
    Disturbed,
    /// It is over.
    Done,
}

impl Configured {
    fn begin(&mut self) -> Vec<Ask> {
        *self = Configured::Begin;
        vec![exists(ready(), true)]
    }

    fn on_part(&mut self, part: &str, data: String, cx: Cx<'_, '_>) -> Vec<Ask> {
        let is_last = part == PARTS[PARTS.len() - 1];
        match self {
            Configured::Disturbed if is_last => return self.begin(),
            Configured::Reading(parts) => {
                parts.push(data);
                if is_last {
                    cx.mark("configured");
                    show(cx, Shown::Configured(std::mem::take(parts)));
                    *self = Configured::Done;
                }
            }
            _ => {}
        }
        Vec::new()
    }
}

impl Recipe for Configured {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        match (&mut *self, event) {
            (_, Event::Ended) => {
                *self = Configured::Begin;
                Vec::new()
            }
            (_, Event::Connected) => self.begin(),
            (Configured::Begin, Event::Answered(_, Answer::Existence(Some(_)))) => {
                *self = Configured::Reading(Vec::new());
                PARTS.into_iter().map(|part| get(part, false)).collect()
            }
            (Configured::Begin, Event::Answered(_, Answer::Existence(None))) => {
                cx.mark("waited");
                *self = Configured::Waiting;
                Vec::new()
            }
            (Configured::Waiting, Event::Notified(_)) => self.begin(),
            (Configured::Reading(_), Event::Notified(trigger))
                if trigger.event == TreeEvent::Deleted && !scene.has(READY_UNWATCHED) =>
            {
                cx.mark("disturbed");
                *self = Configured::Disturbed;
                Vec::new()
            }
            (_, Event::Answered(Ask::Read { read: Read::Data(part), .. }, Answer::Data { data, .. })) => {
                self.on_part(&part, data, cx)
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        *self == Configured::Done
    }
}
