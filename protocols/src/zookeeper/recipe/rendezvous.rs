//! Rendezvous (§2.4): "when the master starts it fills in z_r with information about addresses and ports it is using. When workers
//! start, they read z_r with watch set to true. If z_r has not been filled in yet, the worker waits to be notified when z_r is updated."
//!
//! Each operation has a rendezvous of its own, which whoever comes first creates: the paper's client starts nobody here.

use seedbed_model::Canonical;

use super::{Cx, Event, Recipe, Scene, Shown, create, get, set, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::RENDEZVOUS_UNFILLED;
use crate::zookeeper::txn::Answer;

const RENDEZVOUS: &str = "/rendezvous";

/// The master or a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Rendezvous {
    is_master: bool,
    is_done: bool,
}

impl Rendezvous {
    pub(super) fn new(is_master: bool) -> Rendezvous {
        Rendezvous { is_master, is_done: false }
    }
}

impl Recipe for Rendezvous {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let path = scene.path(RENDEZVOUS);
        match event {
            Event::Connected if self.is_master => vec![create(&path, String::new()), set(path, scene.value())],
            Event::Connected => vec![create(&path, String::new()), get(path, true)],
            Event::Answered(_, Answer::Set(_)) => {
                self.is_done = true;
                Vec::new()
            }
            Event::Answered(_, Answer::Data { data, .. }) if !data.is_empty() || scene.has(RENDEZVOUS_UNFILLED) => {
                cx.mark("met");
                show(cx, Shown::Met(scene.op, data));
                self.is_done = true;
                Vec::new()
            }
            Event::Answered(_, Answer::Data { .. }) => {
                cx.mark("waited");
                Vec::new()
            }
            Event::Notified(trigger) if trigger.path == path => vec![get(path, true)],
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
