//! Fuzzy snapshots (§4.3): "we do a depth first scan of the tree atomically reading each znode's data and meta-data", while
//! transactions are applied. The result may be no state that ever was; the transactions since the scan began, applied again,
//! make of it the state that is.

use std::collections::BTreeSet;

use seedbed_model::Canonical;

use super::path::{self, ROOT};
use super::tree::{Tree, Znode};
use super::txn::Session;
use crate::zab::message::Zxid;

/// A scan under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Scan {
    snapshot: Snapshot,
    /// Paths still to be read, the next one last.
    pending: Vec<String>,
}

/// What a scan wrote down.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Snapshot {
    /// The last transaction applied before it began. All later ones must be applied again.
    pub zxid: Zxid,
    /// The sessions open when it began.
    pub sessions: BTreeSet<Session>,
    /// Nodes, each as it was when it was read. Parents come before their children. Empty: a snapshot of nothing, the root alone.
    pub nodes: Vec<(String, Znode)>,
}

impl Scan {
    /// Begins, without having read a node.
    pub fn begin(tree: &Tree) -> Scan {
        let snapshot = Snapshot { zxid: tree.last(), sessions: tree.sessions().clone(), nodes: Vec::new() };
        Scan { snapshot, pending: vec![ROOT.to_owned()] }
    }

    /// Whether all is read.
    pub fn is_done(&self) -> bool {
        self.pending.is_empty()
    }

    /// Reads one node, atomically: its data, what is kept of it, and which children it has. Those that are gone when their turn
    /// comes are left out, and those that came later are not known of.
    pub fn read_next(&mut self, tree: &Tree) {
        let Some(path) = self.pending.pop() else { return };
        let Some(node) = tree.node(&path) else { return };
        self.pending.extend(node.children.iter().rev().map(|name| path::child(&path, name)));
        self.snapshot.nodes.push((path, Znode { children: BTreeSet::new(), ..node.clone() }));
    }

    /// The snapshot, once all is read.
    pub fn finish(self) -> Snapshot {
        self.snapshot
    }
}

impl Snapshot {
    /// The tree that it holds, right only after the transactions since its beginning.
    ///
    /// # Panics
    /// On a snapshot that is no scan's: a node without its parent.
    pub fn restored(&self) -> Tree {
        Tree::assembled(self.nodes.iter().cloned(), &self.sessions, self.zxid).expect("a scan reads parents first")
    }
}
