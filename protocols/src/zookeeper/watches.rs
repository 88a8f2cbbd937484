//! Watches (§2.1, §4.4): who is to be told what, at the server and at the client.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::Canonical;

use super::tree::{Tree, TreeEvent, Trigger};
use super::txn::{Answer, Read, Session};
use crate::zab::message::Zxid;

type ByPath<T> = BTreeMap<String, BTreeSet<T>>;

/// What a watch is left on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Watched {
    /// A node.
    Data,
    /// That there is none.
    Absence,
    /// A node's children.
    Children,
}

/// What a read that asked for a watch leaves one on, and where. `exists` leaves one on an absent node too, `getData` and
/// `getChildren` leave none where they failed.
pub fn watched<'r>(read: &'r Read, answer: &Answer) -> Option<(Watched, &'r str)> {
    match (read, answer) {
        (_, Answer::Failed(_)) | (Read::Acl(_), _) => None,
        (Read::Exists(path), Answer::Existence(None)) => Some((Watched::Absence, path)),
        (Read::Data(path) | Read::Exists(path), _) => Some((Watched::Data, path)),
        (Read::Children(path), _) => Some((Watched::Children, path)),
    }
}

/// The watches that a server tracks: of the clients connected to it, "only the server that a client is connected to tracks and
/// triggers notifications for that client".
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Watches {
    /// Left by `getData` and `exists`.
    data: ByPath<Session>,
    /// Left by `getChildren`.
    child: ByPath<Session>,
}

/// The watches that a client library has set, with what the application calls each.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct ClientWatches {
    /// Of nodes that were there: by `getData`, and by `exists`.
    data: ByPath<u32>,
    /// Of nodes that were not: by `exists`.
    exist: ByPath<u32>,
    /// By `getChildren`.
    child: ByPath<u32>,
}

/// What a client tells a server that it moves to, so that no watch is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct WatchedPaths {
    data: BTreeSet<String>,
    exist: BTreeSet<String>,
    child: BTreeSet<String>,
}

impl WatchedPaths {
    /// Whether it is among them.
    pub fn has(&self, watched: Watched, path: &str) -> bool {
        let paths = match watched {
            Watched::Data => &self.data,
            Watched::Absence => &self.exist,
            Watched::Children => &self.child,
        };
        paths.contains(path)
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.exist.is_empty() && self.child.is_empty()
    }
}

impl Watches {
    /// A read was answered that asked for a watch.
    pub fn set(&mut self, session: Session, read: &Read, answer: &Answer) {
        let Some((watched, path)) = watched(read, answer) else { return };
        let watches = match watched {
            Watched::Data | Watched::Absence => &mut self.data,
            Watched::Children => &mut self.child,
        };
        watches.entry(path.to_owned()).or_default().insert(session);
    }

    /// Who is told of it, each once; their watches of it are gone. One who watches a node's data and its children hears of its
    /// deletion once.
    pub fn fire(&mut self, trigger: &Trigger) -> BTreeSet<Session> {
        let mut told = BTreeSet::new();
        let (of_data, of_child) = match trigger.event {
            TreeEvent::Created | TreeEvent::Changed => (true, false),
            TreeEvent::Deleted => (true, true),
            TreeEvent::Child => (false, true),
        };
        if of_data {
            told.extend(self.data.remove(&trigger.path).unwrap_or_default());
        }
        if of_child {
            told.extend(self.child.remove(&trigger.path).unwrap_or_default());
        }
        told
    }

    /// The session ended, or is served elsewhere.
    pub fn forget(&mut self, session: Session) {
        for watches in [&mut self.data, &mut self.child] {
            watches.retain(|_, sessions| {
                sessions.remove(&session);
                !sessions.is_empty()
            });
        }
    }

    /// A client that has seen all up to `seen` moved here: what happened since is told at once, for the rest it is watched.
    pub fn take_over(&mut self, session: Session, paths: WatchedPaths, seen: Zxid, tree: &Tree) -> Vec<Trigger> {
        let mut missed = Vec::new();
        let mut decide = |path: String, event: Option<TreeEvent>, watches: &mut ByPath<Session>| match event {
            Some(event) => missed.push(Trigger { event, path }),
            None => {
                watches.entry(path).or_default().insert(session);
            }
        };
        for path in paths.data {
            let event = match tree.node(&path) {
                None => Some(TreeEvent::Deleted),
                Some(node) => (node.record.mzxid > seen).then_some(TreeEvent::Changed),
            };
            decide(path, event, &mut self.data);
        }
        for path in paths.exist {
            let event = tree.node(&path).map(|_| TreeEvent::Created);
            decide(path, event, &mut self.data);
        }
        for path in paths.child {
            let event = match tree.node(&path) {
                None => Some(TreeEvent::Deleted),
                Some(node) => (node.record.pzxid > seen).then_some(TreeEvent::Child),
            };
            decide(path, event, &mut self.child);
        }
        missed
    }

    /// Whether nobody watches anything.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty() && self.child.is_empty()
    }
}

impl ClientWatches {
    /// A read was answered that the application asked a watch for.
    pub fn set(&mut self, watch: u32, read: &Read, answer: &Answer) {
        let Some((watched, path)) = watched(read, answer) else { return };
        let watches = match watched {
            Watched::Data => &mut self.data,
            Watched::Absence => &mut self.exist,
            Watched::Children => &mut self.child,
        };
        watches.entry(path.to_owned()).or_default().insert(watch);
    }

    /// A notification came: which of the application's watches fire, in order.
    pub fn fire(&mut self, trigger: &Trigger) -> BTreeSet<u32> {
        let kinds: &mut [&mut ByPath<u32>] = match trigger.event {
            TreeEvent::Created | TreeEvent::Changed => &mut [&mut self.data, &mut self.exist],
            TreeEvent::Deleted => &mut [&mut self.data, &mut self.exist, &mut self.child],
            TreeEvent::Child => &mut [&mut self.child],
        };
        kinds.iter_mut().flat_map(|watches| watches.remove(&trigger.path).unwrap_or_default()).collect()
    }

    /// What is watched.
    pub fn paths(&self) -> WatchedPaths {
        let paths = |watches: &ByPath<u32>| watches.keys().cloned().collect();
        WatchedPaths { data: paths(&self.data), exist: paths(&self.exist), child: paths(&self.child) }
    }
}
