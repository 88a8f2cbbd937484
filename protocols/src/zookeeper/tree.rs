//! The data tree: znodes, sessions, what a transaction does to them (§2.1, §4.1, §4.3).
//!
//! Applying a transaction never fails and is done as the real server (3.8, `DataTree`) does it, so that a tree which has seen some
//! of the changes already (a fuzzy snapshot) comes out right in the end. Some places are there for that alone, each of which
//! was missing once: what a replayed delete does to its parent (`zk-3125-stale-pzxid`), and what a closed session deletes
//! (`zk-3145-session-without-paths`). That a replayed create sets no count of its parent back is harmless beside those
//! (`zk-3249-reverted-counts`): what it would set back, a later transaction sets right.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Encoder, Mutants, encoding, hash};

use super::acl::{self, Identity, Permissions};
use super::mutants::{
    EPHEMERALS_STAY, RELATIVE_SET, ZK_3125_STALE_PZXID, ZK_3145_SESSION_WITHOUT_PATHS, ZK_3249_REVERTED_COUNTS,
};
use super::path::{self, ROOT};
use super::txn::{Answer, Change, ErrorKind, Read, Session, Txn, Version, next_version};
pub use super::znode::{Record, Znode};
use crate::zab::message::Zxid;

/// What happened to a node, for those that watch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Trigger {
    /// What.
    pub event: TreeEvent,
    /// To which.
    pub path: String,
}

/// What can happen to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum TreeEvent {
    /// It was created.
    Created,
    /// It was deleted.
    Deleted,
    /// Its data was set.
    Changed,
    /// A child was created or deleted.
    Child,
}

/// The tree and the sessions, after all transactions up to `last`.
///
/// Invariants, kept by every method:
/// 1. the root is there, and the parent of every node, which has its name among its children;
/// 2. `ephemerals` has exactly the paths of nodes with an owner, by owner;
/// 3. `digest` is the sum of the hashes of all nodes, without their children, and sessions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Tree {
    nodes: BTreeMap<String, Znode>,
    sessions: BTreeSet<Session>,
    ephemerals: BTreeMap<Session, BTreeSet<String>>,
    last: Zxid,
    digest: u64,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Znode {
            data: String::new(),
            acl: acl::open(),
            record: Record::new(Zxid::ZERO, None),
            children: BTreeSet::new(),
        };
        let mut tree = Tree {
            nodes: BTreeMap::new(),
            sessions: BTreeSet::new(),
            ephemerals: BTreeMap::new(),
            last: Zxid::ZERO,
            digest: 0,
        };
        tree.put(ROOT, root);
        tree
    }
}

impl Tree {
    /// A tree with these nodes, parents first, before any transaction.
    pub fn first(paths: &[&str]) -> Tree {
        let root = Tree::default();
        let mut tree = root.clone();
        for path in paths {
            let node = root.nodes[ROOT].clone();
            tree.create(path, node, 1, &mut Vec::new(), &Mutants::none());
        }
        tree
    }

    /// A tree out of a snapshot: children and ephemerals follow from paths and owners. `None` where a parent is missing, which
    /// a scan from the root down never leaves out.
    pub fn assembled(
        nodes: impl IntoIterator<Item = (String, Znode)>,
        sessions: &BTreeSet<Session>,
        last: Zxid,
    ) -> Option<Tree> {
        let mut tree = Tree { last, ..Tree::default() };
        for (path, mut node) in nodes {
            node.children = BTreeSet::new();
            if path != ROOT {
                tree.nodes.get_mut(path::parent(&path)?)?.children.insert(path::name(&path).to_owned());
            }
            tree.put(&path, node);
        }
        sessions.iter().for_each(|session| tree.open(*session));
        Some(tree)
    }

    /// The last transaction applied.
    pub fn last(&self) -> Zxid {
        self.last
    }

    /// What two trees have in common exactly if they are the same, but for accidents of one in 2^64.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// A node.
    pub fn node(&self, path: &str) -> Option<&Znode> {
        self.nodes.get(path)
    }

    /// All nodes, by path.
    pub fn nodes(&self) -> impl Iterator<Item = (&String, &Znode)> {
        self.nodes.iter()
    }

    /// The sessions that are open.
    pub fn sessions(&self) -> &BTreeSet<Session> {
        &self.sessions
    }

    /// The ephemeral nodes of a session.
    pub fn ephemerals(&self, session: Session) -> impl Iterator<Item = &String> {
        self.ephemerals.get(&session).into_iter().flatten()
    }

    /// What a read finds, asked by somebody who is each of `who`. As in the real server, existence is nobody's secret.
    pub fn read(&self, read: &Read, who: &[Identity]) -> Answer {
        let (Read::Data(path) | Read::Exists(path) | Read::Children(path) | Read::Acl(path)) = read;
        if path.contains('\0') {
            return Answer::Failed(ErrorKind::BadArguments);
        }
        let node = match (self.nodes.get(path), read) {
            (node, Read::Exists(_)) => return Answer::Existence(node.map(Znode::stat)),
            (None, _) => return Answer::Failed(ErrorKind::NoNode),
            (Some(node), _) => node,
        };
        let is_list = matches!(read, Read::Acl(_));
        let wanted = if is_list { Permissions::READ.and(Permissions::ADMIN) } else { Permissions::READ };
        if !acl::allows(&node.acl, wanted, who) {
            return Answer::Failed(ErrorKind::NoAuth);
        }
        let stat = node.stat();
        match read {
            Read::Children(_) => Answer::Children { children: node.children.iter().cloned().collect(), stat },
            Read::Acl(_) if acl::allows(&node.acl, Permissions::ADMIN, who) => {
                Answer::Acl { acl: node.acl.clone(), stat }
            }
            Read::Acl(_) => Answer::Acl { acl: acl::shown(&node.acl), stat },
            Read::Data(_) | Read::Exists(_) => Answer::Data { data: node.data.clone(), stat },
        }
    }

    /// Applies a transaction: its answer, and what happened, in order. Transactions come in order; after a recovery those since
    /// the start of the snapshot come again.
    pub fn apply(&mut self, txn: &Txn, mutants: &Mutants) -> (Answer, Vec<Trigger>) {
        let mut triggers = Vec::new();
        let answer = self.change(txn, &txn.change, &mut triggers, mutants);
        // Not before the last change of a multi: a snapshot that starts in between must not claim the whole.
        self.last = self.last.max(txn.zxid);
        (answer, triggers)
    }

    /// One change of a transaction, or of a multi's parts: a snapshot may be at work between two of them.
    pub(super) fn change(
        &mut self,
        txn: &Txn,
        change: &Change,
        triggers: &mut Vec<Trigger>,
        mutants: &Mutants,
    ) -> Answer {
        match change {
            Change::Create { path, data, acl, ephemeral, parent_creations } => {
                let owner = ephemeral.then_some(txn.session);
                let node = Znode {
                    data: data.clone(),
                    acl: acl.clone(),
                    record: Record::new(txn.zxid, owner),
                    children: BTreeSet::new(),
                };
                self.create(path, node, *parent_creations, triggers, mutants)
            }
            Change::Delete { path } => self.delete(path, txn.zxid, triggers, mutants),
            Change::SetData { path, data, version } => self.update(path, |node| {
                node.data.clone_from(data);
                let is_relative = mutants.has(RELATIVE_SET);
                node.record.version = if is_relative { next_version(node.record.version) } else { *version };
                node.record.mzxid = txn.zxid;
                triggers.push(Trigger { event: TreeEvent::Changed, path: path.clone() });
            }),
            Change::SetAcl { path, acl, version } => self.update(path, |node| {
                node.acl.clone_from(acl);
                node.record.aversion = *version;
            }),
            Change::Check => Answer::Checked,
            Change::Multi(changes) => {
                Answer::Many(changes.iter().map(|part| self.change(txn, part, triggers, mutants)).collect())
            }
            Change::CreateSession => {
                self.open(Session(txn.zxid));
                Answer::Opened(Session(txn.zxid))
            }
            Change::CloseSession { paths } => self.close(txn, paths, triggers, mutants),
            Change::Error(kind) => Answer::Failed(*kind),
        }
    }

    fn create(
        &mut self,
        path: &str,
        node: Znode,
        parent_creations: Version,
        triggers: &mut Vec<Trigger>,
        mutants: &Mutants,
    ) -> Answer {
        let parent = path::parent(path).unwrap_or(ROOT);
        let zxid = node.record.czxid;
        let is_there = self.nodes.contains_key(path);
        let counted = self.update(parent, |parent| {
            // A parent that a snapshot caught later has counted more children already.
            if parent_creations > parent.record.creations || mutants.has(ZK_3249_REVERTED_COUNTS) {
                parent.record.creations = parent_creations;
                parent.record.pzxid = zxid;
            }
            parent.children.insert(path::name(path).to_owned());
        });
        if matches!(counted, Answer::Failed(_)) {
            return counted;
        }
        if is_there {
            // It comes again, and is in the snapshot: later than now, perhaps, and then what made it so comes again, too.
            self.update(path, |there| there.acl = node.acl);
            return Answer::Failed(ErrorKind::NodeExists);
        }
        let stat = node.stat();
        self.put(path, node);
        triggers.push(Trigger { event: TreeEvent::Created, path: path.to_owned() });
        triggers.push(Trigger { event: TreeEvent::Child, path: parent.to_owned() });
        Answer::Created { path: path.to_owned(), stat }
    }

    fn delete(&mut self, path: &str, zxid: Zxid, triggers: &mut Vec<Trigger>, mutants: &Mutants) -> Answer {
        let parent = path::parent(path).unwrap_or(ROOT);
        if mutants.has(ZK_3125_STALE_PZXID) && !self.nodes.contains_key(path) {
            return Answer::Failed(ErrorKind::NoNode);
        }
        // Also where the node is gone already: the snapshot caught its parent before, and it after.
        self.update(parent, |parent| {
            parent.children.remove(path::name(path));
            parent.record.pzxid = parent.record.pzxid.max(zxid);
        });
        if !self.remove(path) {
            return Answer::Failed(ErrorKind::NoNode);
        }
        for (event, path) in [(TreeEvent::Deleted, path), (TreeEvent::Child, parent)] {
            triggers.push(Trigger { event, path: path.to_owned() });
        }
        Answer::Deleted
    }

    fn close(&mut self, txn: &Txn, paths: &[String], triggers: &mut Vec<Trigger>, mutants: &Mutants) -> Answer {
        // What the leader saw, then what is here beside it. The leader's list deletes also what a snapshot has not, so that
        // the parent learns of it.
        let listed = if mutants.has(ZK_3145_SESSION_WITHOUT_PATHS) { &[] } else { paths };
        let known = self.ephemerals.get(&txn.session).cloned().unwrap_or_default();
        for path in listed.iter().chain(&known).filter(|_| !mutants.has(EPHEMERALS_STAY)) {
            self.delete(path, txn.zxid, triggers, mutants);
        }
        if self.sessions.remove(&txn.session) {
            self.digest = self.digest.wrapping_sub(session_hash(txn.session));
        }
        Answer::Closed
    }

    fn open(&mut self, session: Session) {
        if self.sessions.insert(session) {
            self.digest = self.digest.wrapping_add(session_hash(session));
        }
    }

    fn update(&mut self, path: &str, change: impl FnOnce(&mut Znode)) -> Answer {
        let Some(node) = self.nodes.get_mut(path) else { return Answer::Failed(ErrorKind::NoNode) };
        self.digest = self.digest.wrapping_sub(hash_of(path, node));
        change(node);
        self.digest = self.digest.wrapping_add(hash_of(path, node));
        Answer::Set(node.stat())
    }

    fn put(&mut self, path: &str, node: Znode) {
        self.digest = self.digest.wrapping_add(hash_of(path, &node));
        if let Some(owner) = node.record.owner {
            self.ephemerals.entry(owner).or_default().insert(path.to_owned());
        }
        if let Some(before) = self.nodes.insert(path.to_owned(), node) {
            self.digest = self.digest.wrapping_sub(hash_of(path, &before));
        }
    }

    /// Whether it was there. It has children only where it comes again: they are of a later node of this name, which comes again,
    /// too. (The real server leaves such children without a parent that lists them.)
    fn remove(&mut self, path: &str) -> bool {
        let Some(node) = self.nodes.remove(path) else { return false };
        self.digest = self.digest.wrapping_sub(hash_of(path, &node));
        if let Some(owner) = node.record.owner {
            self.disown(owner, path);
        }
        for name in &node.children {
            self.remove(&path::child(path, name));
        }
        true
    }

    fn disown(&mut self, owner: Session, path: &str) {
        let Some(paths) = self.ephemerals.get_mut(&owner) else { return };
        paths.remove(path);
        if paths.is_empty() {
            self.ephemerals.remove(&owner);
        }
    }
}

/// Slots of [`hash`], so that a node is no session.
const NODE_SLOT: u64 = 0x5a6b_0001;
const SESSION_SLOT: u64 = 0x5a6b_0002;

fn hash_of(path: &str, node: &Znode) -> u64 {
    let mut out = Encoder::whole();
    node.data.encode(&mut out);
    node.acl.encode(&mut out);
    node.record.encode(&mut out);
    hash(hash(NODE_SLOT, path.as_bytes()), out.bytes())
}

fn session_hash(session: Session) -> u64 {
    hash(SESSION_SLOT, &encoding(&session))
}
