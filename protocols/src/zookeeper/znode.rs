//! Nodes of the tree.

use std::collections::BTreeSet;

use seedbed_model::Canonical;

use super::acl::Acl;
use super::txn::{Session, Stat, Version};
use crate::zab::message::Zxid;

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Znode {
    /// What it holds.
    pub data: String,
    /// Who may do what with it.
    pub acl: Vec<Acl>,
    /// What is kept of it beside that.
    pub record: Record,
    /// The names of its children. Not in a snapshot: their paths say it.
    pub children: BTreeSet<String>,
}

/// What is kept of a node's history.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Record {
    /// See [`Stat`].
    pub czxid: Zxid,
    /// See [`Stat`].
    pub mzxid: Zxid,
    /// See [`Stat`].
    pub pzxid: Zxid,
    /// See [`Stat`].
    pub version: Version,
    /// How many children were ever created: from this, and not from how many there are, come sequence numbers.
    pub creations: Version,
    /// See [`Stat`].
    pub aversion: Version,
    /// See [`Stat`].
    pub owner: Option<Session>,
}

impl Record {
    /// Of a node that is created.
    pub fn new(zxid: Zxid, owner: Option<Session>) -> Record {
        Record { czxid: zxid, mzxid: zxid, pzxid: zxid, version: 0, creations: 0, aversion: 0, owner }
    }
}

impl Znode {
    /// As clients see it. Changes of children are counted from their creations: each that is not there was deleted, too.
    pub fn stat(&self) -> Stat {
        let Record { czxid, mzxid, pzxid, version, creations, aversion, owner } = self.record;
        let count = self.children.len();
        let changes = (creations as i32).wrapping_mul(2).wrapping_sub(count as i32);
        Stat {
            czxid,
            mzxid,
            pzxid,
            version,
            cversion: changes.into(),
            aversion,
            ephemeral_owner: owner,
            data_length: self.data.len() as u64,
            num_children: count as u64,
        }
    }
}
