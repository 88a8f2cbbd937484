//! What the leader does beside: it turns requests into transactions, and looks after sessions (§4.1, §4.4).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId, Offers};

use super::ZooKeeper;
use super::embedded::Proposal;
use super::message::{Asked, Connection, Decision, Entry, Forwarded, Message, Round, Timer};
use super::mutants::MOVED_UNCHECKED;
use super::processor::Processor;
use super::server::Cx;
use super::tree::Tree;
use super::txn::{Change, ErrorKind, Request, Session, Txn, Write};
use crate::zab::message::Zxid;

/// A leader's state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Leading {
    pub(super) epoch: u32,
    /// The last transaction it has proposed.
    last: Zxid,
    processor: Processor,
    /// How many messages of each follower it has read, in which of its rounds.
    followers: BTreeMap<NodeId, (Round, u32)>,
    /// The connection of each session that it knows of: only what comes from there counts.
    owners: BTreeMap<Session, Connection>,
    /// How many sessions it has ended.
    expired: u32,
    /// What it has proposed in this step, where Zab itself is below it. Empty between steps.
    proposed: Vec<Proposal>,
}

impl Leading {
    pub(super) fn new(epoch: u32) -> Leading {
        Leading {
            epoch,
            last: Zxid { epoch, counter: 0 },
            processor: Processor::default(),
            followers: BTreeMap::new(),
            owners: BTreeMap::new(),
            expired: 0,
            proposed: Vec::new(),
        }
    }

    /// The last transaction it has proposed.
    pub(super) fn proposed(&self) -> Zxid {
        self.last
    }

    /// What it has proposed and Zab does not know of yet.
    pub(super) fn next_proposed(&mut self) -> Option<Proposal> {
        if self.proposed.is_empty() { None } else { Some(self.proposed.remove(0)) }
    }

    /// Whether a message was lost before this one, on a link that keeps their order.
    pub(super) fn misses(&self, from: NodeId, round: Round, number: u32) -> bool {
        let read = self.followers.get(&from).filter(|(known, _)| *known == round).map_or(0, |(_, read)| *read);
        number > read + 1
    }

    pub(super) fn awaits(&self, from: NodeId, round: Round, number: u32) -> bool {
        match self.followers.get(&from) {
            Some((known, read)) if *known == round => number > *read,
            Some((known, _)) => round > *known,
            None => true,
        }
    }

    /// Whether the message is the next of its follower.
    pub(super) fn reads(&mut self, from: NodeId, round: Round, number: u32) -> bool {
        let (known, read) = self.followers.entry(from).or_insert((round, 0));
        if *known < round {
            (*known, *read) = (round, 0);
        }
        let is_next = number == *read + 1;
        *read += u32::from(is_next);
        is_next
    }

    /// What a sync that comes now is behind, where it is no transaction: the last that this leader has proposed, or what it began with.
    pub(super) fn sync_point(&self, tree: &Tree) -> Zxid {
        if self.last.counter == 0 { tree.last() } else { self.last }
    }

    /// A request that `server` passed on. Where that is this server itself, the answer to a revalidation comes back.
    pub(super) fn on_forward(
        &mut self,
        server: NodeId,
        asked: Asked,
        what: Forwarded,
        tree: &Tree,
        zookeeper: &ZooKeeper,
        cx: Cx<'_, '_>,
    ) -> Option<bool> {
        let request = |session, write, identities| Request { session, identities, write };
        match what {
            Forwarded::Open => {
                let txn = self.propose(
                    request(Session(Zxid::ZERO), Write::CreateSession, Vec::new()),
                    Some(&asked),
                    tree,
                    zookeeper,
                    cx,
                );
                self.owners.insert(txn.session, asked.connection);
                self.heard(txn.session, zookeeper, cx);
            }
            Forwarded::Touch(session) => self.heard(session, zookeeper, cx),
            Forwarded::Revalidate(session) => {
                let is_open = self.processor.is_open(tree, session);
                let owner = self.owners.entry(session).or_insert(asked.connection);
                *owner = asked.connection.max(*owner);
                self.heard(session, zookeeper, cx);
                if server == cx.node() {
                    return Some(is_open);
                }
                cx.send(server, Message::Validated { asked, is_open });
            }
            Forwarded::Write(session, ..) if self.is_elsewhere(session, asked.connection, zookeeper) => {
                cx.mark("session-moved");
                let change = Change::Error(ErrorKind::SessionMoved);
                self.empty(session, change, &asked, zookeeper, cx);
            }
            Forwarded::Write(session, write, identities) => {
                self.heard(session, zookeeper, cx);
                self.propose(request(session, write, identities), Some(&asked), tree, zookeeper, cx);
            }
            // "The leader needs to issue a null transaction to commit and orders the sync after that transaction" (§4.4).
            Forwarded::Sync => self.empty(Session(Zxid::ZERO), Change::Check, &asked, zookeeper, cx),
        }
        None
    }

    /// "The leader determines that there has been a failure if no other server receives anything from a client session within the
    /// session timeout" (§4.4).
    pub(super) fn heard(&self, session: Session, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if zookeeper.is_timed() {
            cx.set(Timer::Session(session), zookeeper.params.session);
        }
    }

    pub(super) fn is_open(&self, session: Session, tree: &Tree) -> bool {
        self.processor.is_open(tree, session)
    }

    pub(super) fn expire(&mut self, session: Session, tree: &Tree, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.expired += 1;
        let request = Request { session, identities: Vec::new(), write: Write::CloseSession };
        self.propose(request, None, tree, zookeeper, cx);
    }

    pub(super) fn applied(&mut self, zxid: Zxid) {
        self.processor.applied(zxid);
    }

    pub(super) fn decisions(&self, tree: &Tree, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        if self.expired >= zookeeper.params.expiries {
            return;
        }
        let may_expire = |session: &Session| {
            let owner = self.owners.get(session).map(|connection| NodeId(connection.number.scope()));
            self.processor.is_open(tree, *session) && owner.is_none_or(|client| zookeeper.may_expire(client))
        };
        for session in tree.sessions().iter().filter(|session| may_expire(session)) {
            offers.offer(Decision::Expire(*session));
        }
    }

    fn is_elsewhere(&self, session: Session, connection: Connection, zookeeper: &ZooKeeper) -> bool {
        !zookeeper.has(MOVED_UNCHECKED) && self.owners.get(&session).is_some_and(|owner| *owner != connection)
    }

    fn propose(
        &mut self,
        request: Request,
        asked: Option<&Asked>,
        tree: &Tree,
        zookeeper: &ZooKeeper,
        cx: Cx<'_, '_>,
    ) -> Txn {
        let zxid = self.last.next_in(self.epoch);
        let txn = self.processor.process(tree, &request, zxid, &zookeeper.mutants);
        self.send(Some(request), txn.clone(), asked, zookeeper, cx);
        txn
    }

    /// A transaction of no request: it changes nothing.
    fn empty(&mut self, session: Session, change: Change, asked: &Asked, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let zxid = self.last.next_in(self.epoch);
        self.send(None, Txn { zxid, session, change }, Some(asked), zookeeper, cx);
    }

    fn send(
        &mut self,
        request: Option<Request>,
        txn: Txn,
        asked: Option<&Asked>,
        zookeeper: &ZooKeeper,
        cx: Cx<'_, '_>,
    ) {
        self.last = txn.zxid;
        let entry = Entry { txn, asked: asked.cloned() };
        if zookeeper.has_zab() {
            return self.proposed.push(Proposal { request, entry });
        }
        cx.send(zookeeper.broadcast(), Message::Propose { request, entry });
    }
}
