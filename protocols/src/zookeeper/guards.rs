//! What must hold of who may do what, of sizes, and of sessions that are over: a part of the [`monitor`](super::monitor).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId, Property, Span, Watch};

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
            "ephemerals-kept",
            "until its session is over, an ephemeral node goes by an explicit delete alone (§2.1)",
        ),
        Property::always(
            "connections-kept",
            "while no server has crashed, no client leaves the one that it is connected to (§4.4), where `keeps` says so",
        ),
        Property::always(
            "sessions-kept",
            "no leader ends the session of a client that is up (§4.4), where `keeps` says so",
        ),
        Property::within(
            "served-again",
            "once all faults are healed, each client that is up is connected within `served` (§2.3)",
        ),
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
    /// Clients that are up, where `keeps` or `served` is judged.
    up: BTreeMap<NodeId, Up>,
    /// Whether a server has crashed.
    has_lost: bool,
}

/// What a client that is up has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Up {
    session: Option<Session>,
    is_connected: bool,
}

impl Guards {
    /// A client that crashed and comes back has proved nothing.
    pub(super) fn crashed(&mut self, node: NodeId, zookeeper: &ZooKeeper) {
        self.has_lost |= zookeeper.params.keeps && !zookeeper.is_client(node);
        self.proved.remove(&node);
        self.up.remove(&node);
    }

    pub(super) fn started(&mut self, node: NodeId, zookeeper: &ZooKeeper) {
        let is_judged = zookeeper.params.keeps || zookeeper.params.served > Span::ZERO;
        if is_judged && zookeeper.is_client(node) {
            self.up.insert(node, Up::default());
        }
    }

    pub(super) fn disconnected(&mut self, node: NodeId, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        if let Some(up) = self.up.get_mut(&node) {
            if zookeeper.params.keeps && !self.has_lost && up.is_connected && up.session.is_some() {
                watch.violated("connections-kept", format!("{node:?} leaves its server, and none has crashed"));
            }
            up.is_connected = false;
        }
    }

    /// A client's session is over, for all it knows.
    pub(super) fn ended(&mut self, node: NodeId) {
        if let Some(up) = self.up.get_mut(&node) {
            up.session = None;
        }
    }

    /// The deadline of `served`.
    pub(super) fn on_served_deadline(&self, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        if let Some((node, _)) = self.up.iter().find(|(_, up)| !up.is_connected) {
            let served = zookeeper.params.served;
            watch.violated("served-again", format!("{node:?} is not connected, {served} after the last fault"));
        }
    }

    /// The end of a session, which deletes these nodes.
    fn closed(&self, entry: &Entry, paths: &[String], tree: &Tree, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        let session = entry.txn.session;
        let owner = |path: &String| tree.node(path).and_then(|node| node.record.owner);
        if let Some(path) = paths.iter().find(|path| owner(path).is_some_and(|owner| owner != session)) {
            watch.violated("ephemerals-kept", format!("{path} goes with {session:?}, and is another's"));
        }
        let holder = self.up.iter().find(|(_, up)| up.session == Some(session));
        if let (Some((node, _)), None, true) = (holder, &entry.asked, zookeeper.params.keeps) {
            watch.violated("sessions-kept", format!("{session:?} of {node:?} is ended, which is up"));
        }
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
        if let Change::CloseSession { paths } = &entry.txn.change {
            self.ended.insert(entry.txn.session, zxid);
            self.closed(entry, paths, tree, zookeeper, watch);
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

    pub(super) fn connected(&mut self, node: NodeId, session: Session, zxid: Zxid, watch: &mut Watch<'_>) {
        if let Some(end) = self.ended.get(&session).filter(|end| **end <= zxid) {
            let words = format!("{node:?} is served in {session:?} as of {zxid:?}, which ended with {end:?}");
            watch.violated("served-while-open", words);
        }
        if let Some(up) = self.up.get_mut(&node) {
            *up = Up { session: Some(session), is_connected: true };
        }
    }

    pub(super) fn in_process(&self, node: NodeId, count: u32, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        let most = zookeeper.params.outstanding;
        if count > most {
            watch.violated("throttled", format!("{node:?} has {count} requests in process, and takes {most}"));
        }
    }
}
