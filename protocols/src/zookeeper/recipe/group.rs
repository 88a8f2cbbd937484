//! Group membership (§2.4): "when a process member of the group starts, it creates an ephemeral child znode under z_g"; "processes can
//! obtain group information by simply listing the children of z_g". After a sync, where it is to be of now (§2.3).

use seedbed_model::Canonical;

use super::{Cx, Event, Recipe, Scene, Shown, children, create, create_ephemeral, is_there, label, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::{MEMBERS_STAY, MEMBERS_UNSYNCED};
use crate::zookeeper::path;
use crate::zookeeper::txn::Answer;

/// The node whose children are the group.
pub const GROUP: &str = "/group";

/// A client that becomes a member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Join {
    is_done: bool,
}

impl Recipe for Join {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let own = path::child(GROUP, &label(scene.session));
        match event {
            Event::Connected if scene.has(MEMBERS_STAY) => vec![create(own, String::new())],
            Event::Connected => vec![create_ephemeral(own, false)],
            Event::Answered(_, answer) if is_there(&answer) => {
                show(cx, Shown::Joined(scene.session));
                self.is_done = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

/// A client that looks who is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Members {
    is_done: bool,
}

impl Recipe for Members {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        match event {
            Event::Connected if scene.has(MEMBERS_UNSYNCED) => vec![children(GROUP)],
            Event::Connected => vec![Ask::Sync, children(GROUP)],
            Event::Answered(_, Answer::Children { children: names, .. }) => {
                cx.mark("members-seen");
                show(cx, Shown::Members(names));
                self.is_done = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
