//! The clients of a server: connections, requests in order, notifications (§4.4).

use seedbed_model::{Canonical, NodeId};

use super::ZooKeeper;
use super::acl::Identity;
use super::message::{Ask, Asked, Connection, Forwarded, Link, Message, Observation, ToClient, ToServer};
use super::mutants::{
    IDENTITIES_UNFORWARDED, LATE_VALIDATION, READS_OVERTAKE, REPLIES_AT_ONCE, STALE_SERVER, SYNC_OVERTAKEN,
    SYNC_WITHOUT_FLUSH, UNTHROTTLED, WATCHES_STAY,
};
use super::processor::Processor;
use super::server::{Cx, Role, Server};
use super::tree::Trigger;
use super::txn::{Answer, Request, Session, Write};
use super::watches::WatchedPaths;
use crate::zab::message::Zxid;

/// The number of a connection's first packet.
pub(super) const FIRST: u32 = 1;

/// A client as its server knows it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Client {
    pub(super) link: Link,
    pub(super) state: ClientState,
    /// Requests that are not answered, in order.
    pub(super) pending: Vec<(u32, Ask)>,
    /// Syncs among them that are no transactions, and what each is behind.
    syncs: Vec<(u32, Zxid)>,
    /// Who it has proved to be.
    pub(super) identities: Vec<Identity>,
}

/// A request that a server does not take yet, as it has too many in process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Held {
    from: NodeId,
    connection: Connection,
    number: u32,
    ask: Ask,
}

/// What a client says when it connects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Greeting {
    pub(super) session: Option<Session>,
    pub(super) seen: Zxid,
    pub(super) watched: WatchedPaths,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum ClientState {
    /// It asked for a new session.
    Opening,
    /// It has seen more than this server has, or this server knows of no leader.
    Waiting(Greeting),
    /// It has the session, if the leader says so.
    Validating(Session, Greeting),
    /// It is served.
    Served(Session),
    /// It was told to go, and is remembered lest an older connection begins.
    Closed,
}

impl Server {
    pub(super) fn on_packet(
        &mut self,
        from: NodeId,
        connection: Connection,
        number: u32,
        packet: ToServer,
        zookeeper: &ZooKeeper,
        cx: Cx<'_, '_>,
    ) {
        match packet {
            ToServer::Connect { session, seen, watched, identities } => {
                self.forget(from);
                let mut link = Link::open(connection, zookeeper.params.numbers);
                link.read(connection, number);
                let state = ClientState::Waiting(Greeting { session, seen, watched });
                self.clients.insert(from, Client { link, state, pending: Vec::new(), syncs: Vec::new(), identities });
                self.admit(from, zookeeper, cx);
            }
            ToServer::Ping => {
                let Some(client) = self.clients.get_mut(&from) else { return };
                if client.link.read(connection, number)
                    && let ClientState::Served(session) = client.state
                {
                    self.tell(from, ToClient::Pong, cx);
                    self.touch(from, number, session, zookeeper, cx);
                }
            }
            ToServer::Ask(ask) => {
                let Some(client) = self.clients.get_mut(&from) else { return };
                if !client.link.read(connection, number) {
                    return;
                }
                if zookeeper.is_too_long(&ask) {
                    cx.mark("too-long");
                    return self.close(from, ToClient::Closed, cx);
                }
                if self.is_full(zookeeper) {
                    cx.mark("throttled");
                    return self.held.push(Held { from, connection, number, ask });
                }
                self.on_ask(from, number, ask, zookeeper, cx);
            }
        }
    }

    /// The leader is to know that the session's client was heard of: now, or with others.
    fn touch(&mut self, from: NodeId, number: u32, session: Session, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match (&mut self.below, &self.role) {
            (Some(below), Role::Following { .. }) => drop(below.touched.insert(session)),
            _ => self.forward(from, number, Forwarded::Touch(session), zookeeper, cx),
        }
    }

    /// Only where a mechanism is missing.
    pub(super) fn touch_all(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let served = |(id, client): (&NodeId, &Client)| match client.state {
            ClientState::Served(session) => Some((*id, session)),
            _ => None,
        };
        let all: Vec<(NodeId, Session)> = self.clients.iter().filter_map(served).collect();
        all.into_iter().for_each(|(client, session)| self.touch(client, 0, session, zookeeper, cx));
    }

    /// "ZooKeeper uses request throttling to keep servers from being overwhelmed" (§5.1).
    fn is_full(&self, zookeeper: &ZooKeeper) -> bool {
        let most = zookeeper.params.outstanding as usize;
        most > 0 && !zookeeper.has(UNTHROTTLED) && self.in_process() >= most
    }

    fn in_process(&self) -> usize {
        self.clients.values().map(|client| client.pending.len()).sum()
    }

    /// Requests that can be taken by now.
    pub(super) fn take_held(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        while !self.held.is_empty() && !self.is_full(zookeeper) {
            let Held { from, connection, number, ask } = self.held.remove(0);
            if self.clients.get(&from).is_some_and(|client| client.link.connection == connection) {
                self.on_ask(from, number, ask, zookeeper, cx);
            }
        }
    }

    /// "If the client has a more recent view than the server, the server does not reestablish the session with the client until
    /// the server has caught up" (§4.4).
    pub(super) fn admit(&mut self, from: NodeId, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(client) = self.clients.get_mut(&from) else { return };
        let ClientState::Waiting(greeting) = &client.state else { return };
        if self.role == Role::Looking || !zookeeper.may_enter(from, &self.tree) {
            return;
        }
        if self.tree.last() < greeting.seen && !zookeeper.has(STALE_SERVER) {
            return cx.mark("held-back");
        }
        let (what, state) = match greeting.session {
            None => (Forwarded::Open, ClientState::Opening),
            Some(session) => (Forwarded::Revalidate(session), ClientState::Validating(session, greeting.clone())),
        };
        client.state = state;
        self.forward(from, FIRST, what, zookeeper, cx);
    }

    pub(super) fn admit_all(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let waiting = |(id, client): (&NodeId, &Client)| matches!(client.state, ClientState::Waiting(_)).then_some(*id);
        let clients: Vec<NodeId> = self.clients.iter().filter_map(waiting).collect();
        clients.into_iter().for_each(|client| self.admit(client, zookeeper, cx));
    }

    pub(super) fn on_validated(&mut self, asked: &Asked, is_open: bool, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(client) = self.clients.get_mut(&asked.client) else { return };
        let ClientState::Validating(session, Greeting { seen, watched, .. }) = client.state.clone() else { return };
        // What the leader said may be overtaken by the end of the session, which comes another way.
        let is_over = self.tree.last() >= session.0
            && !self.tree.sessions().contains(&session)
            && !zookeeper.has(LATE_VALIDATION);
        if !is_open || is_over {
            return self.close(asked.client, ToClient::Expired, cx);
        }
        client.state = ClientState::Served(session);
        self.tell(asked.client, ToClient::Connected(session), cx);
        if zookeeper.has(WATCHES_STAY) {
            return;
        }
        for missed in self.watches.take_over(session, watched, seen, &self.tree) {
            self.tell(asked.client, ToClient::Event(missed), cx);
        }
    }

    /// Requests of a client are answered in their order: a read waits for the writes before it.
    fn on_ask(&mut self, from: NodeId, number: u32, ask: Ask, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(client) = self.clients.get_mut(&from) else { return };
        let ClientState::Served(session) = client.state else { return };
        let is_local = match &ask {
            Ask::Read { .. } => client.pending.is_empty() || zookeeper.has(READS_OVERTAKE),
            Ask::Sync => client.pending.is_empty() && zookeeper.has(SYNC_WITHOUT_FLUSH),
            Ask::Auth(identity) => {
                client.identities.push(identity.clone());
                client.pending.is_empty()
            }
            Ask::Write(_) => false,
        };
        if zookeeper.is_timed() && matches!(ask, Ask::Read { .. }) {
            self.touch(from, number, session, zookeeper, cx);
        }
        let Some(client) = self.clients.get_mut(&from) else { return };
        if is_local {
            return self.answer_here(from, session, number, &ask, cx);
        }
        if zookeeper.has(REPLIES_AT_ONCE)
            && client.pending.is_empty()
            && let Ask::Write(write @ (Write::SetData { .. } | Write::Delete { .. })) = &ask
        {
            let identities = client.identities.clone();
            let foreseen = self.foreseen(session, write, identities.clone(), zookeeper);
            self.forward(from, number, Forwarded::Write(session, write.clone(), identities), zookeeper, cx);
            return self.tell(from, ToClient::Answer(number, foreseen), cx);
        }
        client.pending.push((number, ask.clone()));
        let identities = match zookeeper.has(IDENTITIES_UNFORWARDED) {
            true => Vec::new(),
            false => client.identities.clone(),
        };
        if zookeeper.params.outstanding > 0 {
            cx.observe(Observation::InProcess(self.in_process() as u32));
        }
        match ask {
            Ask::Write(write) => {
                self.forward(from, number, Forwarded::Write(session, write, identities), zookeeper, cx)
            }
            Ask::Sync => self.forward(from, number, Forwarded::Sync, zookeeper, cx),
            Ask::Read { .. } => cx.mark("read-waited"),
            Ask::Auth(_) => {}
        }
    }

    /// What would become of a write if it were the next.
    fn foreseen(&self, session: Session, write: &Write, identities: Vec<Identity>, zookeeper: &ZooKeeper) -> Answer {
        let request = Request { session, identities, write: write.clone() };
        let Zxid { epoch, counter } = self.tree.last();
        let next = Zxid { epoch, counter: counter + 1 };
        let txn = Processor::default().process(&self.tree, &request, next, &zookeeper.mutants);
        self.tree.clone().apply(&txn, &zookeeper.mutants).0
    }

    fn answer_here(&mut self, from: NodeId, session: Session, number: u32, ask: &Ask, cx: Cx<'_, '_>) {
        let answer = match ask {
            Ask::Read { read, watch } => {
                let identities = self.clients.get(&from).map_or(&[][..], |client| &client.identities);
                let answer = self.tree.read(read, identities);
                if *watch {
                    self.watches.set(session, read, &answer);
                }
                answer
            }
            Ask::Auth(_) => Answer::Authenticated,
            Ask::Write(_) | Ask::Sync => Answer::Synced,
        };
        self.tell(from, ToClient::Answer(number, answer), cx);
    }

    pub(super) fn notify(&mut self, triggers: &[Trigger], cx: Cx<'_, '_>) {
        for trigger in triggers {
            for session in self.watches.fire(trigger) {
                if let Some(client) = self.client_of(session) {
                    self.tell(client, ToClient::Event(trigger.clone()), cx);
                }
            }
        }
    }

    pub(super) fn answer(&mut self, asked: &Asked, answer: Answer, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(client) = self.clients.get_mut(&asked.client) else { return };
        if client.link.connection != asked.connection {
            return;
        }
        match (&client.state, &answer) {
            (ClientState::Opening, Answer::Opened(session)) => {
                let session = *session;
                client.state = ClientState::Served(session);
                self.tell(asked.client, ToClient::Connected(session), cx);
            }
            (ClientState::Served(session), _) => {
                let session = *session;
                if !zookeeper.has(SYNC_OVERTAKEN) {
                    self.answer_before(asked.client, session, asked.number, cx);
                }
                let Some(client) = self.clients.get_mut(&asked.client) else { return };
                let Some(place) = client.pending.iter().position(|(number, _)| *number == asked.number) else { return };
                client.pending.remove(place);
                self.tell(asked.client, ToClient::Answer(asked.number, answer), cx);
                self.drain(asked.client, session, cx);
            }
            _ => {}
        }
    }

    /// A sync is behind a transaction, and over once that is applied.
    pub(super) fn on_synced(&mut self, asked: Asked, after: Zxid, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if let Some(client) = self.clients.get_mut(&asked.client) {
            client.syncs.push((asked.number, after));
        }
        self.answer_synced(zookeeper, cx);
    }

    pub(super) fn answer_synced(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let last = self.tree.last();
        let mut over = Vec::new();
        for (id, client) in &mut self.clients {
            let connection = client.link.connection;
            for (number, _) in client.syncs.extract_if(.., |(_, after)| *after <= last) {
                over.push(Asked { client: *id, connection, number });
            }
        }
        over.iter().for_each(|asked| self.answer(asked, Answer::Synced, zookeeper, cx));
    }

    /// Whether a sync is open.
    pub(super) fn awaits_sync(&self, asked: &Asked) -> bool {
        self.clients.get(&asked.client).is_some_and(|client| {
            client.link.connection == asked.connection && client.pending.contains(&(asked.number, Ask::Sync))
        })
    }

    /// Syncs before a transaction that is applied now are over with it, although the leader's word of them comes another way.
    fn answer_before(&mut self, from: NodeId, session: Session, number: u32, cx: Cx<'_, '_>) {
        while let Some((first, Ask::Sync)) = self.clients.get(&from).and_then(|client| client.pending.first())
            && *first < number
        {
            let first = *first;
            if let Some(client) = self.clients.get_mut(&from) {
                client.pending.remove(0);
            }
            self.tell(from, ToClient::Answer(first, Answer::Synced), cx);
            self.drain(from, session, cx);
        }
    }

    /// Reads whose turn it is.
    fn drain(&mut self, from: NodeId, session: Session, cx: Cx<'_, '_>) {
        while let Some(client) = self.clients.get_mut(&from) {
            match client.pending.first().cloned() {
                Some((number, ask @ (Ask::Read { .. } | Ask::Auth(_)))) => {
                    client.pending.remove(0);
                    self.answer_here(from, session, number, &ask, cx);
                }
                _ => return,
            }
        }
    }

    pub(super) fn ended(&mut self, session: Session, cx: Cx<'_, '_>) {
        self.watches.forget(session);
        if let Some(client) = self.client_of(session) {
            self.close(client, ToClient::Expired, cx);
        }
    }

    fn client_of(&self, session: Session) -> Option<NodeId> {
        self.clients.iter().find(|(_, client)| client.state == ClientState::Served(session)).map(|(client, _)| *client)
    }

    fn tell(&mut self, to: NodeId, packet: ToClient, cx: Cx<'_, '_>) {
        let Some(client) = self.clients.get_mut(&to) else { return };
        let (connection, number, zxid) = (client.link.connection, client.link.take_number(), self.tree.last());
        cx.send(to, Message::ToClient { connection, number, zxid, packet });
    }

    pub(super) fn close(&mut self, client: NodeId, why: ToClient, cx: Cx<'_, '_>) {
        self.tell(client, why, cx);
        self.forget(client);
        if let Some(client) = self.clients.get_mut(&client) {
            client.state = ClientState::Closed;
            client.pending.clear();
            client.syncs.clear();
        }
    }

    fn forget(&mut self, client: NodeId) {
        if let Some(Client { state: ClientState::Served(session), .. }) = self.clients.get(&client) {
            self.watches.forget(*session);
        }
    }
}
