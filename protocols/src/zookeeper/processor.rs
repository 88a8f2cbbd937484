//! The request processor (§4.1): a request becomes a transaction, in view of the *future* state.
//!
//! "When the leader receives a write request, it calculates what the state of the system will be when the write is applied and
//! transforms it into a transaction that captures this new state. The future state must be calculated because there may be
//! outstanding transactions." What goes wrong becomes an errorTXN, which takes a zxid like any other.
//!
//! Checks are made in the order of the real server (3.8, `PrepRequestProcessor`): where two fail, clients see the same one. It
//! differs from it in two things, which a client sees only while transactions are outstanding: there a `setACL` counts only once
//! it is applied, and the children that a closing session deletes still count for their parents until then. Both are mistakes of
//! it (the first was mended later), and against what §4.1 says.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Mutants};

use super::acl::{self, Acl, Permissions};
use super::mutants::{
    ACL_UNCHECKED, EPHEMERALS_OF_ALL, PRESENT_STATE, SEQUENCE_FROM_CHILDREN, ZK_1208_CREATE_AFTER_CLOSE,
    ZK_1624_LOST_ROLLBACK,
};
use super::path;
use super::tree::{Record, Tree, Znode};
use super::txn::{ANY, Change, Create, ErrorKind, Request, Session, Txn, Version, Write, next_version};
use crate::zab::message::Zxid;

/// What is known of the future state beside the tree: the outstanding changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Processor {
    /// Nodes that outstanding transactions change, each as the last of them leaves it; `None`: deleted.
    nodes: BTreeMap<String, Outstanding<Option<Future>>>,
    /// Sessions that outstanding transactions create (`true`) or close.
    sessions: BTreeMap<Session, Outstanding<bool>>,
}

/// A change that is not applied yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Outstanding<T> {
    /// The last transaction that changes it.
    zxid: Zxid,
    becomes: T,
}

/// A node in the future.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Future {
    record: Record,
    acl: Vec<Acl>,
    child_count: u64,
}

impl From<&Znode> for Future {
    fn from(node: &Znode) -> Future {
        Future { record: node.record.clone(), acl: node.acl.clone(), child_count: node.children.len() as u64 }
    }
}

type Prepared = Result<Change, ErrorKind>;

impl Processor {
    /// The transaction of a request, with the next zxid. `tree` has all transactions that were said to be
    /// [applied](Self::applied), and maybe more.
    pub fn process(&mut self, tree: &Tree, request: &Request, zxid: Zxid, mutants: &Mutants) -> Txn {
        if mutants.has(PRESENT_STATE) {
            *self = Processor::default();
        }
        let session = match request.write {
            Write::CreateSession => Session(zxid),
            _ => request.session,
        };
        let change = Preparation { processor: self, tree, request, zxid, mutants }.write(&request.write);
        Txn { zxid, session, change: change.unwrap_or_else(Change::Error) }
    }

    /// Transactions up to `zxid` are in the tree now.
    pub fn applied(&mut self, zxid: Zxid) {
        self.nodes.retain(|_, change| change.zxid > zxid);
        self.sessions.retain(|_, change| change.zxid > zxid);
    }

    /// Whether the session will be open.
    pub fn is_open(&self, tree: &Tree, session: Session) -> bool {
        self.sessions.get(&session).map_or_else(|| tree.sessions().contains(&session), |change| change.becomes)
    }
}

/// A request in preparation.
struct Preparation<'a> {
    processor: &'a mut Processor,
    tree: &'a Tree,
    request: &'a Request,
    zxid: Zxid,
    mutants: &'a Mutants,
}

impl Preparation<'_> {
    fn write(&mut self, write: &Write) -> Prepared {
        match write {
            Write::Create(create) => self.create(create),
            Write::Delete { path, version } => self.delete(path, *version),
            Write::SetData { path, data, version } => self.set_data(path, data, *version),
            Write::SetAcl { path, acl, version } => self.set_acl(path, acl, *version),
            Write::Check { path, version } => self.check(path, *version),
            Write::Multi(writes) => Ok(self.multi(writes)),
            Write::CreateSession => {
                self.session(Session(self.zxid), true);
                Ok(Change::CreateSession)
            }
            Write::CloseSession => Ok(self.close()),
        }
    }

    fn create(&mut self, create: &Create) -> Prepared {
        self.demand_session()?;
        let parent_path = path::parent(&create.path).ok_or(ErrorKind::BadArguments)?;
        let acl = acl::fixed(&create.acl, &self.request.identities).ok_or(ErrorKind::InvalidAcl)?;
        let mut parent = self.future(parent_path).ok_or(ErrorKind::NoNode)?;
        self.demand(&parent, Permissions::CREATE)?;
        let count = match self.mutants.has(SEQUENCE_FROM_CHILDREN) {
            true => parent.child_count as Version,
            false => parent.record.creations,
        };
        let path = if create.sequential { path::sequential(&create.path, count) } else { create.path.clone() };
        if !path::is_valid(&path) {
            return Err(ErrorKind::BadArguments);
        }
        if self.future(&path).is_some() {
            return Err(ErrorKind::NodeExists);
        }
        if parent.record.owner.is_some() {
            return Err(ErrorKind::NoChildrenForEphemerals);
        }
        let parent_creations = next_version(parent.record.creations);
        parent.child_count += 1;
        parent.record.creations = parent_creations;
        parent.record.pzxid = self.zxid;
        self.becomes(parent_path, Some(parent));
        let owner = create.ephemeral.then_some(self.request.session);
        let node = Future { record: Record::new(self.zxid, owner), acl: acl.clone(), child_count: 0 };
        self.becomes(&path, Some(node));
        Ok(Change::Create { path, data: create.data.clone(), acl, ephemeral: create.ephemeral, parent_creations })
    }

    fn delete(&mut self, path: &str, version: Version) -> Prepared {
        self.demand_session()?;
        let parent_path = path::parent(path).filter(|_| !path::is_special(path)).ok_or(ErrorKind::BadArguments)?;
        let parent = self.future(parent_path).ok_or(ErrorKind::NoNode)?;
        self.demand(&parent, Permissions::DELETE)?;
        let node = self.future(path).ok_or(ErrorKind::NoNode)?;
        demand_version(node.record.version, version)?;
        if node.child_count > 0 {
            return Err(ErrorKind::NotEmpty);
        }
        self.vanishes(path);
        Ok(Change::Delete { path: path.to_owned() })
    }

    fn set_data(&mut self, path: &str, data: &str, version: Version) -> Prepared {
        let mut node = self.existing(path, Permissions::WRITE)?;
        demand_version(node.record.version, version)?;
        let version = next_version(node.record.version);
        node.record.version = version;
        node.record.mzxid = self.zxid;
        self.becomes(path, Some(node));
        Ok(Change::SetData { path: path.to_owned(), data: data.to_owned(), version })
    }

    fn set_acl(&mut self, path: &str, acl: &[Acl], version: Version) -> Prepared {
        self.demand_session()?;
        if !path::is_valid(path) {
            return Err(ErrorKind::BadArguments);
        }
        let acl = acl::fixed(acl, &self.request.identities).ok_or(ErrorKind::InvalidAcl)?;
        let mut node = self.existing(path, Permissions::ADMIN)?;
        demand_version(node.record.aversion, version)?;
        let version = next_version(node.record.aversion);
        node.record.aversion = version;
        node.acl.clone_from(&acl);
        self.becomes(path, Some(node));
        Ok(Change::SetAcl { path: path.to_owned(), acl, version })
    }

    fn check(&mut self, path: &str, version: Version) -> Prepared {
        let node = self.existing(path, Permissions::READ)?;
        demand_version(node.record.version, version)?;
        Ok(Change::Check)
    }

    /// All or nothing. What is refused is reported where it was, as rolled back before, and as a runtime inconsistency after.
    fn multi(&mut self, writes: &[Write]) -> Change {
        let before = self.processor.clone();
        let mut changes = Vec::new();
        for (place, write) in writes.iter().enumerate() {
            match self.write(write) {
                Ok(change) => changes.push(change),
                Err(kind) => {
                    self.roll_back(before);
                    let error = |other: usize| match other.cmp(&place) {
                        std::cmp::Ordering::Less => ErrorKind::RolledBack,
                        std::cmp::Ordering::Equal => kind,
                        std::cmp::Ordering::Greater => ErrorKind::RuntimeInconsistency,
                    };
                    return Change::Multi((0..writes.len()).map(|other| Change::Error(error(other))).collect());
                }
            }
        }
        Change::Multi(changes)
    }

    fn roll_back(&mut self, before: Processor) {
        if self.mutants.has(ZK_1624_LOST_ROLLBACK) {
            // What the multi changed is forgotten, and with it what was outstanding of the same nodes.
            return self.processor.nodes.retain(|_, change| change.zxid != self.zxid);
        }
        *self.processor = before;
    }

    /// The session's ephemeral nodes, now and in the future, are deleted with it.
    fn close(&mut self) -> Change {
        let session = self.request.session;
        let is_of_all = self.mutants.has(EPHEMERALS_OF_ALL);
        let others = self.tree.sessions().iter().copied().filter(|_| is_of_all);
        let owners: BTreeSet<Session> = others.chain([session]).collect();
        let mut paths: BTreeSet<String> =
            owners.iter().flat_map(|owner| self.tree.ephemerals(*owner)).cloned().collect();
        for (path, change) in &self.processor.nodes {
            match &change.becomes {
                Some(Future { record: Record { owner: Some(owner), .. }, .. }) if *owner == session || is_of_all => {
                    paths.insert(path.clone())
                }
                _ => paths.remove(path),
            };
        }
        paths.iter().for_each(|path| self.vanishes(path));
        self.session(session, false);
        Change::CloseSession { paths: paths.into_iter().collect() }
    }

    /// A node of a well-formed path, which whoever asks may do this with.
    fn existing(&self, path: &str, wanted: Permissions) -> Result<Future, ErrorKind> {
        self.demand_session()?;
        if !path::is_valid(path) {
            return Err(ErrorKind::BadArguments);
        }
        let node = self.future(path).ok_or(ErrorKind::NoNode)?;
        self.demand(&node, wanted)?;
        Ok(node)
    }

    fn demand_session(&self) -> Result<(), ErrorKind> {
        let is_open = match self.mutants.has(ZK_1208_CREATE_AFTER_CLOSE) {
            true => self.tree.sessions().contains(&self.request.session),
            false => self.processor.is_open(self.tree, self.request.session),
        };
        if is_open { Ok(()) } else { Err(ErrorKind::SessionExpired) }
    }

    fn demand(&self, node: &Future, wanted: Permissions) -> Result<(), ErrorKind> {
        let is_allowed = acl::allows(&node.acl, wanted, &self.request.identities) || self.mutants.has(ACL_UNCHECKED);
        if is_allowed { Ok(()) } else { Err(ErrorKind::NoAuth) }
    }

    fn future(&self, path: &str) -> Option<Future> {
        match self.processor.nodes.get(path) {
            Some(change) => change.becomes.clone(),
            None => self.tree.node(path).map(Future::from),
        }
    }

    fn becomes(&mut self, path: &str, becomes: Option<Future>) {
        self.processor.nodes.insert(path.to_owned(), Outstanding { zxid: self.zxid, becomes });
    }

    /// The node is deleted, which its parent notices.
    fn vanishes(&mut self, path: &str) {
        self.becomes(path, None);
        let Some(parent_path) = path::parent(path) else { return };
        let Some(mut parent) = self.future(parent_path) else { return };
        parent.child_count = parent.child_count.saturating_sub(1);
        parent.record.pzxid = self.zxid;
        self.becomes(parent_path, Some(parent));
    }

    fn session(&mut self, session: Session, opens: bool) {
        self.processor.sessions.insert(session, Outstanding { zxid: self.zxid, becomes: opens });
    }
}

fn demand_version(found: Version, wanted: Version) -> Result<(), ErrorKind> {
    if wanted == ANY || wanted == found { Ok(()) } else { Err(ErrorKind::BadVersion) }
}
