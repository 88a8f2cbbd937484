//! Double barriers (§2.4): "every process p registers with b - by creating a znode as a child of b - on entry, and unregisters -
//! removes the child - when it is ready to leave. Processes can enter the barrier when the number of child znodes of b exceeds the
//! barrier threshold. Processes can leave the barrier when all of the processes have removed their children."
//!
//! "To enter, processes watch for the existence of a `ready` child of b that will be created by the process that causes the number of
//! children to exceed the barrier threshold. To leave, processes watch for a particular child to disappear and only check the exit
//! condition once that znode has been removed."
//!
//! Each operation has a barrier of its own, for all clients, which whoever comes first creates. Who registers again in another
//! session, as the first one ended, comes late: it enters where the others have, and they do not wait for it.

use seedbed_model::Canonical;

use super::{
    Cx, Event, Recipe, Scene, Shown, children, create, create_ephemeral, delete, exists, is_there, label, show,
};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::{BARRIER_LEFT_ALONE, BARRIER_UNCOUNTED};
use crate::zookeeper::path;
use crate::zookeeper::txn::Answer;

/// What the path of a barrier begins with.
pub(super) const BARRIER: &str = "/barrier";

/// The name of the child that lets all enter.
pub(super) const READY: &str = "ready";

/// How far a client is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum Barrier {
    /// It is to be begun, or begun again in another session.
    #[default]
    Begin,
    /// It registers, and counts who has; perhaps the barrier is ready.
    Registering { is_ready: bool },
    /// It waits for the barrier to be ready.
    Waiting,
    /// It says that it is.
    Readying,
    /// It computes.
    In,
    /// It has unregistered, and looks who has not.
    Looking,
    /// It waits for one who has not.
    Outlasting,
    /// It is over.
    Done,
}

impl Barrier {
    fn enter(&mut self, root: String, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        cx.mark("entered");
        show(cx, Shown::Entered(scene.session, root));
        *self = Barrier::In;
        Vec::new()
    }

    fn leave(&mut self, root: String, cx: Cx<'_, '_>) -> Vec<Ask> {
        cx.mark("left-barrier");
        show(cx, Shown::Left(root));
        *self = Barrier::Done;
        Vec::new()
    }

    fn on_registered(
        &mut self,
        count: usize,
        is_ready: bool,
        root: String,
        scene: Scene<'_>,
        cx: Cx<'_, '_>,
    ) -> Vec<Ask> {
        if is_ready || scene.has(BARRIER_UNCOUNTED) {
            self.enter(root, scene, cx)
        } else if count >= usize::from(scene.zookeeper.params.clients) {
            *self = Barrier::Readying;
            vec![create(path::child(&root, READY), String::new())]
        } else {
            cx.mark("waited");
            *self = Barrier::Waiting;
            Vec::new()
        }
    }
}

impl Recipe for Barrier {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let root = scene.path(BARRIER);
        let own = path::child(&root, &label(scene.session));
        let ready = path::child(&root, READY);
        match (*self, event) {
            (Barrier::Begin | Barrier::Registering { .. } | Barrier::Waiting | Barrier::Readying, Event::Ended) => {
                *self = Barrier::Begin;
                Vec::new()
            }
            // Its child went with the session: whoever waits for it waits no more.
            (Barrier::In, Event::Ended) => {
                show(cx, Shown::Leaves(root));
                *self = Barrier::Done;
                Vec::new()
            }
            (_, Event::Ended) => {
                *self = Barrier::Done;
                Vec::new()
            }
            (Barrier::Begin | Barrier::Registering { .. } | Barrier::Waiting | Barrier::Readying, Event::Connected) => {
                *self = Barrier::Registering { is_ready: false };
                let first = [create(&root, String::new()), exists(&ready, true)];
                first.into_iter().chain([create_ephemeral(own, false), children(root)]).collect()
            }
            (Barrier::Registering { .. }, Event::Answered(_, Answer::Existence(Some(_)))) => {
                *self = Barrier::Registering { is_ready: true };
                Vec::new()
            }
            (Barrier::Registering { .. }, Event::Notified(trigger)) if trigger.path == ready => {
                *self = Barrier::Registering { is_ready: true };
                Vec::new()
            }
            (Barrier::Registering { is_ready }, Event::Answered(_, Answer::Children { children: names, .. })) => {
                let count = names.iter().filter(|name| *name != READY).count();
                self.on_registered(count, is_ready, root, scene, cx)
            }
            (Barrier::Waiting, Event::Notified(trigger)) if trigger.path == ready => self.enter(root, scene, cx),
            (Barrier::Readying, Event::Answered(_, answer)) if is_there(&answer) => self.enter(root, scene, cx),
            (Barrier::In, Event::Release) => {
                show(cx, Shown::Leaves(root.clone()));
                *self = Barrier::Looking;
                vec![delete(own), children(root)]
            }
            (Barrier::Looking | Barrier::Outlasting, Event::Connected) => {
                *self = Barrier::Looking;
                vec![delete(own), children(root)]
            }
            (Barrier::Looking, Event::Answered(_, Answer::Children { children: names, .. })) => {
                match names.into_iter().find(|name| name != READY) {
                    Some(other) if !scene.has(BARRIER_LEFT_ALONE) => {
                        *self = Barrier::Outlasting;
                        vec![exists(path::child(&root, &other), true)]
                    }
                    _ => self.leave(root, cx),
                }
            }
            (Barrier::Outlasting, Event::Answered(_, Answer::Existence(None)))
            | (Barrier::Outlasting, Event::Notified(_)) => {
                *self = Barrier::Looking;
                vec![children(root)]
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        *self == Barrier::Done
    }

    fn holds(&self) -> bool {
        *self == Barrier::In
    }
}
