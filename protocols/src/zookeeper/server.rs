//! A server: its replica, its clients, its place under a leader (§4.2 to §4.4).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, Stream};

use super::ZooKeeper;
use super::clients::{Client, ClientState, FIRST, Held};
use super::embedded::{Below, Durable, Record};
use super::leader::Leading;
use super::message::{Asked, Decision, Entry, Forwarded, Kept, Message, Observation, Progress, Round, Timer, ToClient};
use super::mutants::{CONNECTED_IS_HEARD, SESSIONS_UNCOUNTED, SESSIONS_UNENDED, WATCH_AFTER_STATE};
use super::params::Syncs;
use super::snapshot::Scan;
use super::tree::Tree;
use super::txn::{Answer, Change};
use super::watches::Watches;
use crate::zab::message::Zxid;

pub(super) type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

const SNAPSHOTS: Stream = Stream(0);

/// A server's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Server {
    pub(super) round: Round,
    pub(super) tree: Tree,
    /// How many transactions it has applied.
    pub(super) index: u32,
    /// How many it must have applied again, before its tree is what it was.
    fuzzy: u32,
    pub(super) role: Role,
    /// Whether it has got what it missed before it joined: nothing else counts before.
    is_caught: bool,
    /// The largest epoch that it has heard of.
    pub(super) epoch: u32,
    pub(super) clients: BTreeMap<NodeId, Client>,
    pub(super) watches: Watches,
    /// Requests that it does not take yet, in order.
    pub(super) held: Vec<Held>,
    /// A snapshot under way, and how many transactions came before it.
    scan: Option<(Scan, u32)>,
    /// How many snapshots it has begun.
    scans: u32,
    /// Where Zab itself is below it.
    pub(super) below: Option<Box<Below>>,
}

/// What a server is to the broadcast.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) enum Role {
    /// It knows of no leader, and serves nobody.
    Looking,
    /// It follows.
    Following { leader: NodeId, epoch: u32, forwarded: u32 },
    /// It leads.
    Leading(Leading),
}

impl Server {
    /// From what the disk holds: all since comes again.
    pub fn start(disk: &Durable, nonce: Nonce, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) -> Server {
        let kept = &disk.kept;
        let has_snapshot = !kept.snapshot.nodes.is_empty();
        let round = Round::before_first(nonce, cx.node().0).next();
        let tree = if has_snapshot { kept.snapshot.restored() } else { zookeeper.first_tree() };
        if has_snapshot {
            cx.mark("restored");
        }
        if kept.end > kept.index {
            cx.mark("restored-fuzzy");
        }
        if !zookeeper.has_zab() {
            cx.send(zookeeper.broadcast(), Message::Join { round, index: kept.index });
        }
        if zookeeper.is_timed() {
            cx.set(Timer::Alive, zookeeper.params.alive);
        }
        let mut server = Server {
            round,
            tree,
            index: kept.index,
            fuzzy: kept.end,
            role: Role::Looking,
            is_caught: false,
            epoch: 0,
            clients: BTreeMap::new(),
            watches: Watches::default(),
            held: Vec::new(),
            scan: None,
            scans: 0,
            below: None,
        };
        server.start_zab(disk, nonce, zookeeper, cx);
        server
    }

    /// One input.
    pub fn step(&mut self, input: Input<ZooKeeper>, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.on_input(input, zookeeper, cx);
        self.broadcast_proposed(zookeeper, cx);
    }

    fn on_input(&mut self, input: Input<ZooKeeper>, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match input {
            Input::Message { from, message: Message::Zab(carried) } => self.on_carried(from, *carried, zookeeper, cx),
            Input::Message { from, message } => {
                self.on_message(from, message, zookeeper, cx);
                self.take_held(zookeeper, cx);
            }
            Input::Decision(Decision::Scan) => self.scan(cx),
            Input::Decision(Decision::Expire(session)) => {
                if let Role::Leading(leading) = &mut self.role {
                    cx.mark("expired");
                    leading.expire(session, &self.tree, zookeeper, cx);
                }
            }
            Input::Timer(Timer::Session(session)) => {
                if let Role::Leading(leading) = &mut self.role
                    && leading.is_open(session, &self.tree)
                    && !zookeeper.has(SESSIONS_UNENDED)
                {
                    cx.mark("expired");
                    leading.expire(session, &self.tree, zookeeper, cx);
                }
            }
            Input::Timer(Timer::Alive) if zookeeper.has_zab() => self.tell_touched(zookeeper, cx),
            Input::Timer(Timer::Alive) => self.say_alive(zookeeper, cx),
            Input::Timer(Timer::Zab(timer)) => self.step_zab(Input::Timer(timer), zookeeper, cx),
            Input::Durable(Record::Zab(written)) => self.on_written(*written, zookeeper, cx),
            Input::Durable(Record::Snapshot(_)) => cx.mark("snapshot"),
            _ => cx.mark("input out of place"),
        }
    }

    /// What is open.
    pub fn decisions(&self, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        if self.scan.is_some() || (self.scans < zookeeper.params.snapshots && self.tree.last() > Zxid::ZERO) {
            offers.offer(Decision::Scan);
        }
        if let Role::Leading(leading) = &self.role {
            leading.decisions(&self.tree, zookeeper, offers);
        }
    }

    /// Whether a message can still do something.
    pub fn awaits(&self, from: NodeId, message: &Message) -> bool {
        match message {
            Message::ToServer { connection, number, .. } => match self.clients.get(&from) {
                Some(client) => {
                    let is_open = client.state != ClientState::Closed;
                    client.link.connection < *connection || (is_open && client.link.awaits(*connection, *number))
                }
                None => *number == FIRST,
            },
            Message::Forward { epoch, round, number, .. } => match &self.role {
                Role::Leading(leading) if leading.epoch == *epoch => leading.awaits(from, *round, *number),
                Role::Leading(leading) => leading.epoch < *epoch,
                Role::Looking | Role::Following { .. } => *epoch > self.epoch,
            },
            Message::Validated { asked, .. } => self.clients.get(&asked.client).is_some_and(|client| {
                client.link.connection == asked.connection && matches!(client.state, ClientState::Validating(..))
            }),
            Message::Synced { asked, .. } => self.awaits_sync(asked),
            Message::Catch { round, .. } => *round == self.round && !self.is_caught,
            Message::Deliver { round, index, .. } => *round == self.round && *index >= self.index,
            Message::Lead { round, epoch, .. } | Message::Follow { round, epoch, .. } => {
                *round == self.round && *epoch > self.epoch
            }
            Message::Lost { round, epoch } => *round == self.round && *epoch >= self.epoch,
            Message::Rejoin { round } => *round == self.round,
            Message::Zab(_) => true,
            Message::Touched { epoch, .. } => matches!(&self.role, Role::Leading(leading) if leading.epoch == *epoch),
            Message::ToClient { .. }
            | Message::Propose { .. }
            | Message::Join { .. }
            | Message::Alive { .. }
            | Message::Established { .. } => false,
        }
    }

    /// Whether it has what comes before a message of the broadcast.
    fn is_ready(&self, message: &Message) -> bool {
        match message {
            Message::Deliver { index, .. } | Message::Lead { index, .. } => self.is_caught && *index == self.index,
            Message::Follow { .. } | Message::Lost { .. } => self.is_caught,
            _ => true,
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        // Without a mark: what is not next has no effect at all.
        if !self.awaits(from, &message) || !self.is_ready(&message) {
            return;
        }
        match message {
            Message::ToServer { connection, number, packet } => {
                self.on_packet(from, connection, number, packet, zookeeper, cx)
            }
            Message::Forward { epoch, round, number, asked, what } => {
                let Role::Leading(leading) = &mut self.role else { return };
                if leading.epoch != epoch {
                    return;
                }
                if zookeeper.is_timed() && leading.misses(from, round, number) {
                    // What it has passed on before is lost: it starts anew, with its clients.
                    cx.mark("forward-lost");
                    return cx.send(from, Message::Rejoin { round });
                }
                if leading.reads(from, round, number) {
                    if what == Forwarded::Sync && zookeeper.params.syncs == Syncs::Queued {
                        let after = leading.sync_point(&self.tree);
                        return cx.send(from, Message::Synced { asked, after });
                    }
                    leading.on_forward(from, asked, what, &self.tree, zookeeper, cx);
                }
            }
            Message::Synced { asked, after } => self.on_synced(asked, after, zookeeper, cx),
            Message::Validated { asked, is_open } => self.on_validated(&asked, is_open, zookeeper, cx),
            Message::Catch { entries, led, .. } => {
                self.is_caught = true;
                for entry in entries {
                    self.deliver(entry, zookeeper, cx);
                }
                if let Some((leader, epoch)) = led {
                    self.enter(epoch, Role::Following { leader, epoch, forwarded: 0 }, zookeeper, cx);
                }
            }
            Message::Deliver { entry, .. } => self.deliver(entry, zookeeper, cx),
            Message::Lead { epoch, .. } => {
                let leading = Leading::new(epoch);
                self.count_sessions(&leading, zookeeper, cx);
                cx.send(zookeeper.broadcast(), Message::Established { epoch });
                self.enter(epoch, Role::Leading(leading), zookeeper, cx);
            }
            Message::Follow { epoch, leader, .. } => {
                self.enter(epoch, Role::Following { leader, epoch, forwarded: 0 }, zookeeper, cx);
            }
            Message::Lost { epoch, .. } => self.enter(epoch, Role::Looking, zookeeper, cx),
            Message::Rejoin { .. } => {
                cx.mark("rejoined");
                if zookeeper.has_zab() {
                    return self.part(zookeeper, cx);
                }
                self.enter(self.epoch, Role::Looking, zookeeper, cx);
                self.is_caught = false;
                self.join(zookeeper, cx);
            }
            Message::Touched { sessions, .. } => {
                if let Role::Leading(leading) = &self.role {
                    let open = sessions.iter().filter(|session| leading.is_open(**session, &self.tree));
                    open.for_each(|session| leading.heard(*session, zookeeper, cx));
                }
            }
            Message::ToClient { .. }
            | Message::Propose { .. }
            | Message::Join { .. }
            | Message::Alive { .. }
            | Message::Zab(_)
            | Message::Established { .. } => {
                cx.mark("input out of place");
            }
        }
    }

    /// Nobody knows when they were last heard of.
    pub(super) fn count_sessions(&self, leading: &Leading, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if !zookeeper.has(SESSIONS_UNCOUNTED) {
            self.tree.sessions().iter().for_each(|session| leading.heard(*session, zookeeper, cx));
        }
    }

    fn join(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.round = self.round.next();
        cx.send(zookeeper.broadcast(), Message::Join { round: self.round, index: self.index });
    }

    /// It says how far it is; or, where what it asked for when it joined has not come, it joins again.
    fn say_alive(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        cx.set(Timer::Alive, zookeeper.params.alive);
        if zookeeper.has(CONNECTED_IS_HEARD) {
            self.touch_all(zookeeper, cx);
        }
        if !self.is_caught {
            cx.mark("joined-again");
            return self.join(zookeeper, cx);
        }
        let proposed = match &self.role {
            Role::Leading(leading) => Some(leading.proposed()),
            _ => None,
        };
        let progress = Progress { index: self.index, epoch: self.epoch, proposed };
        cx.send(zookeeper.broadcast(), Message::Alive { round: self.round, progress });
    }

    pub(super) fn forward(
        &mut self,
        client: NodeId,
        number: u32,
        what: Forwarded,
        zookeeper: &ZooKeeper,
        cx: Cx<'_, '_>,
    ) {
        let Some(connection) = self.clients.get(&client).map(|client| client.link.connection) else { return };
        let asked = Asked { client, connection, number };
        match &mut self.role {
            Role::Looking => cx.mark("input out of place"),
            Role::Leading(leading) if what == Forwarded::Sync && zookeeper.params.syncs == Syncs::Queued => {
                let after = leading.sync_point(&self.tree);
                self.on_synced(asked, after, zookeeper, cx);
            }
            Role::Leading(leading) => {
                if let Some(is_open) = leading.on_forward(cx.node(), asked.clone(), what, &self.tree, zookeeper, cx) {
                    self.on_validated(&asked, is_open, zookeeper, cx);
                }
            }
            Role::Following { leader, epoch, forwarded } => {
                *forwarded += 1;
                let (leader, message) =
                    (*leader, Message::Forward { epoch: *epoch, round: self.round, number: *forwarded, asked, what });
                cx.send(leader, message);
            }
        }
    }

    /// "When a server processes a write request, it also sends out and clears notifications relative to any watch that
    /// corresponds to that update. Servers process writes in order and do not process other writes or reads concurrently."
    pub(super) fn deliver(&mut self, entry: Entry, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.index += 1;
        let (answer, triggers) = self.tree.apply(&entry.txn, &zookeeper.mutants);
        if let Role::Leading(leading) = &mut self.role {
            leading.applied(entry.txn.zxid);
        }
        if self.index >= self.fuzzy {
            cx.observe(Observation::Applied { zxid: entry.txn.zxid, digest: self.tree.digest() });
        }
        let is_late = zookeeper.has(WATCH_AFTER_STATE);
        if !is_late {
            self.notify(&triggers, cx);
        }
        let answer = match entry.txn.change {
            // A sync's null transaction.
            Change::Check => Answer::Synced,
            _ => answer,
        };
        if let Some(asked) = &entry.asked {
            self.answer(asked, answer, zookeeper, cx);
        }
        if is_late {
            self.notify(&triggers, cx);
        }
        self.answer_synced(zookeeper, cx);
        if matches!(entry.txn.change, Change::CloseSession { .. }) {
            self.ended(entry.txn.session, cx);
        }
        self.admit_all(zookeeper, cx);
    }

    /// Whoever follows another leader, or none, starts anew with its clients.
    pub(super) fn enter(&mut self, epoch: u32, role: Role, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.epoch = epoch;
        self.role = role;
        let is_open = |state: &ClientState| !matches!(state, ClientState::Closed | ClientState::Waiting(_));
        let open = |(id, client): (&NodeId, &Client)| is_open(&client.state).then_some(*id);
        let clients: Vec<NodeId> = self.clients.iter().filter_map(open).collect();
        clients.into_iter().for_each(|client| self.close(client, ToClient::Closed, cx));
        self.admit_all(zookeeper, cx);
    }

    fn scan(&mut self, cx: Cx<'_, '_>) {
        let (mut scan, index) = self.scan.take().unwrap_or_else(|| {
            self.scans += 1;
            (Scan::begin(&self.tree), self.index)
        });
        scan.read_next(&self.tree);
        if !scan.is_done() {
            self.scan = Some((scan, index));
            return;
        }
        if self.index > index {
            cx.mark("fuzzy");
        }
        // What it read may itself be out of a fuzzy snapshot, and not right yet.
        let end = self.index.max(self.fuzzy);
        cx.persist(SNAPSHOTS, Record::Snapshot(Kept { snapshot: scan.finish(), index, end }));
    }
}
