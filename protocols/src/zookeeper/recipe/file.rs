//! A lock file (§2.4): "to acquire a lock, a client tries to create the designated znode with the EPHEMERAL flag. If the create
//! succeeds, the client holds the lock. Otherwise, the client can read the znode with the watch flag set". When it goes, all that
//! wait for it vie for it: the herd effect.

use seedbed_model::Canonical;

use super::{Cx, Event, Recipe, Scene, Shown, create_ephemeral, delete, exists, is_gone, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::FILE_OF_ANYONE;
use crate::zookeeper::txn::{Answer, ErrorKind, Session, Stat};

/// A lock file.
pub const FILE: &str = "/file";

/// How far a client is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum FileLock {
    /// It is to be begun, or begun again in another session.
    #[default]
    Begin,
    /// It looks whether the file is there and its own, after a connection that broke.
    Looking,
    /// The file is being created.
    Creating,
    /// It asks whether the file is there.
    Asking,
    /// It waits for the file to go.
    Waiting,
    /// It has it.
    Held,
    /// The file is being deleted.
    Deleting,
    /// It looks whether the file is still there and its own, before it deletes it again: it may be another's by now.
    Checking,
    /// It is over.
    Done,
}

impl FileLock {
    fn create(&mut self) -> Vec<Ask> {
        *self = FileLock::Creating;
        vec![create_ephemeral(FILE, false)]
    }

    fn delete(&mut self) -> Vec<Ask> {
        *self = FileLock::Deleting;
        vec![delete(FILE)]
    }

    fn hold(&mut self, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        show(cx, Shown::Held(scene.session, FILE.into()));
        *self = FileLock::Held;
        Vec::new()
    }

    fn becomes(&mut self, step: FileLock) -> Vec<Ask> {
        *self = step;
        Vec::new()
    }
}

impl Recipe for FileLock {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        match (*self, event) {
            (FileLock::Held, Event::Ended) => {
                show(cx, Shown::Released);
                self.becomes(FileLock::Done)
            }
            (FileLock::Deleting | FileLock::Checking, Event::Ended) => self.becomes(FileLock::Done),
            (_, Event::Ended) => self.becomes(FileLock::Begin),
            (FileLock::Begin, Event::Connected) | (FileLock::Waiting, Event::Notified(_)) => self.create(),
            (FileLock::Creating, Event::Answered(_, Answer::Created { .. })) => self.hold(scene, cx),
            (FileLock::Creating, Event::Answered(_, Answer::Failed(ErrorKind::NodeExists)))
            | (FileLock::Asking, Event::Connected) => {
                *self = FileLock::Asking;
                vec![exists(FILE, true)]
            }
            // After a connection that broke: perhaps the file is its own.
            (FileLock::Creating | FileLock::Looking, Event::Connected) => {
                *self = FileLock::Looking;
                vec![Ask::Sync, exists(FILE, true)]
            }
            (FileLock::Looking, Event::Answered(_, Answer::Existence(Some(stat))))
                if is_of(scene.session, &stat) || scene.has(FILE_OF_ANYONE) =>
            {
                self.hold(scene, cx)
            }
            (FileLock::Looking | FileLock::Asking, Event::Answered(_, Answer::Existence(Some(_)))) => {
                cx.mark("waited");
                self.becomes(FileLock::Waiting)
            }
            (FileLock::Looking | FileLock::Asking, Event::Answered(_, Answer::Existence(None))) => self.create(),
            (FileLock::Held, Event::Release) => {
                show(cx, Shown::Released);
                self.delete()
            }
            (FileLock::Deleting, Event::Answered(_, answer)) if is_gone(&answer) => self.becomes(FileLock::Done),
            (FileLock::Deleting | FileLock::Checking, Event::Connected) => {
                *self = FileLock::Checking;
                vec![Ask::Sync, exists(FILE, false)]
            }
            (FileLock::Checking, Event::Answered(_, Answer::Existence(found))) => {
                match found.is_some_and(|stat| is_of(scene.session, &stat)) {
                    true => self.delete(),
                    false => self.becomes(FileLock::Done),
                }
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        *self == FileLock::Done
    }

    fn holds(&self) -> bool {
        *self == FileLock::Held
    }
}

fn is_of(session: Session, stat: &Stat) -> bool {
    stat.ephemeral_owner == Some(session)
}
