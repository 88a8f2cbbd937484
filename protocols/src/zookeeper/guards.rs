//! What must hold of who may do what, of sizes, and of sessions that are over: a part of the [`monitor`](super::monitor).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId, Property, Watch};

use super::ZooKeeper;
use super::acl::{self, Identity, Permissions};
use super::message::{Ask, Connection, Entry};
use super::tree::Tree;
use super::txn::{Change, ErrorKind, Request, Session, Write};
use crate::zab::message::Zxid;

/// See the module.
pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::always(
            "acl-obeyed",
            "a node's data is set, or that is refused for want of authority, as who the client had proved to be may do it or not",
        ),
        Property::always("data-bounded", "no request is longer than the limit (§4)"),
        Property::always("throttled", "no server has more requests in process than its limit (§5.1)"),
        Property::always("served-while-open", "no server serves a session that it knows to be over (§2.1)"),
    ]
}

/// What they remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Guards {
    /// Who each client has proved to be.
    proved: BTreeMap<NodeId, Vec<Identity>>,
    /// And had when it asked to set data, where that is not ordered yet.
    askers: BTreeMap<(Connection, u32), Vec<Identity>>,
    /// With what each session ended.
    ended: BTreeMap<Session, Zxid>,
}

impl Guards {
    /// A client crashed: who comes back has proved nothing.
    pub(super) fn crashed(&mut self, node: NodeId) {
        self.proved.remove(&node);
    }

    pub(super) fn asked(
        &mut self,
        node: NodeId,
        connection: Connection,
        number: u32,
        ask: &Ask,
        zookeeper: &ZooKeeper,
    ) {
        match ask {
            Ask::Auth(identity) => self.proved.entry(node).or_default().push(identity.clone()),
            Ask::Write(Write::SetData { .. }) if zookeeper.has_lists() => {
                let proved = self.proved.get(&node).cloned().unwrap_or_default();
                self.askers.insert((connection, number), proved);
            }
            _ => {}
        }
    }

    /// `tree` is the one before the transaction.
    pub(super) fn ordered(
        &mut self,
        request: Option<&Request>,
        entry: &Entry,
        tree: &Tree,
        zookeeper: &ZooKeeper,
        watch: &mut Watch<'_>,
    ) {
        let (zxid, limit) = (entry.txn.zxid, zookeeper.params.request_max);
        if request.is_some_and(|request| request.write.packet_length() > limit) {
            watch.violated("data-bounded", format!("{zxid:?} is of a request of more than {limit} bytes"));
        }
        if matches!(entry.txn.change, Change::CloseSession { .. }) {
            self.ended.insert(entry.txn.session, zxid);
        }
        let Some(asked) = &entry.asked else { return };
        let Some(proved) = self.askers.remove(&(asked.connection, asked.number)) else { return };
        let Some(Write::SetData { path, .. }) = request.map(|request| &request.write) else { return };
        let Some(node) = tree.node(path) else { return };
        let may = acl::allows(&node.acl, Permissions::WRITE, &proved);
        match &entry.txn.change {
            Change::SetData { .. } if !may => {
                watch.violated("acl-obeyed", format!("{:?} sets {path}, and may not", asked.client));
            }
            Change::Error(ErrorKind::NoAuth) if may => {
                watch.violated("acl-obeyed", format!("{:?} may set {path}, and is refused", asked.client));
            }
            _ => {}
        }
    }

    pub(super) fn connected(&self, node: NodeId, session: Session, zxid: Zxid, watch: &mut Watch<'_>) {
        if let Some(end) = self.ended.get(&session).filter(|end| **end <= zxid) {
            let words = format!("{node:?} is served in {session:?} as of {zxid:?}, which ended with {end:?}");
            watch.violated("served-while-open", words);
        }
    }

    pub(super) fn in_process(&self, node: NodeId, count: u32, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        let most = zookeeper.params.outstanding;
        if count > most {
            watch.violated("throttled", format!("{node:?} has {count} requests in process, and takes {most}"));
        }
    }
}
