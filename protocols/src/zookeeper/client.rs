//! The client library: one connection, one session, requests in order (§2.2, §2.3, §4.4).

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, OpId, Span};

use super::ZooKeeper;
use super::acl::Identity;
use super::message::{Ask, Connection, Decision, Link, Message, Observation, Returned, Timer, ToClient, ToServer};
use super::mutants::{
    CONNECTS_ONCE, HEARTBEATS_UNSENT, IDENTITIES_LEFT, IDLE_FORGOTTEN, LOSS_UNTOLD, SEEN_BEFORE_EVENTS,
    SILENT_SERVER_KEPT,
};
use super::recipe::{Event, Operation, Task};
use super::txn::{Answer, ErrorKind, Session, Write};
use super::watches::{ClientWatches, WatchedPaths};
use crate::zab::message::Zxid;

type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

/// A client's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    link: Link,
    server: NodeId,
    phase: Phase,
    session: Option<Session>,
    /// All up to this transaction it has seen, and been told of.
    seen: Zxid,
    /// Requests without an answer.
    pending: Vec<Pending>,
    watches: ClientWatches,
    /// Who it has proved to be, and proves again where it connects.
    identities: Vec<Identity>,
    task: Option<Task>,
    /// How often it has left a server of its own accord.
    left: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Pending {
    /// Of the packet.
    number: u32,
    ask: Ask,
    /// Whether the task waits for it, and not an earlier one that is over.
    is_of_task: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Phase {
    Idle,
    /// Perhaps for so long that a heartbeat is due.
    Connecting {
        is_idle: bool,
    },
    Connected,
}

impl Client {
    /// It connects when it is the moment.
    pub fn start(nonce: Nonce, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) -> Client {
        let mut client = Client {
            link: Link::open(Connection::before_first(nonce, cx.node().0), zookeeper.params.numbers),
            server: NodeId(0),
            phase: Phase::Idle,
            session: None,
            seen: Zxid::ZERO,
            pending: Vec::new(),
            watches: ClientWatches::default(),
            identities: Vec::new(),
            task: None,
            left: 0,
        };
        if zookeeper.is_timed() {
            client.connect(zookeeper.first_server(cx.node()), zookeeper, cx);
        }
        client
    }

    /// One input.
    pub fn step(&mut self, input: Input<ZooKeeper>, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match input {
            Input::Operation { op, operation } => self.on_operation(op, operation, zookeeper, cx),
            Input::Message { from, message: Message::ToClient { connection, number, zxid, packet } } => {
                if self.awaits(from, connection, number) && self.link.read(connection, number) {
                    self.on_packet(zxid, packet, zookeeper, cx);
                }
            }
            Input::Decision(Decision::Connect(server)) => self.connect(server, zookeeper, cx),
            Input::Decision(Decision::Leave) => {
                cx.mark("left");
                self.left += 1;
                self.disconnected(zookeeper, cx);
            }
            Input::Decision(Decision::Release) => self.tell(Event::Release, zookeeper, cx),
            Input::Timer(Timer::Heartbeat) => match self.phase {
                Phase::Connected => self.beat(zookeeper, cx),
                Phase::Connecting { .. } => self.phase = Phase::Connecting { is_idle: true },
                Phase::Idle => {}
            },
            // "Switch to a new server if it has not heard from a server for 2s/3" (§4.4).
            Input::Timer(Timer::Silence) => {
                cx.mark("silence");
                self.disconnected(zookeeper, cx);
            }
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether a packet can still be read.
    pub fn awaits(&self, from: NodeId, connection: Connection, number: u32) -> bool {
        from == self.server && self.phase != Phase::Idle && self.link.awaits(connection, number)
    }

    /// What is open.
    pub fn decisions(&self, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        if self.phase == Phase::Connected && self.task.as_ref().is_some_and(Task::holds) {
            offers.offer(Decision::Release);
        }
        if zookeeper.is_timed() {
            return;
        }
        if self.phase == Phase::Idle {
            return zookeeper.servers().for_each(|server| offers.offer(Decision::Connect(server)));
        }
        if self.left < zookeeper.params.moves {
            offers.offer(Decision::Leave);
        }
    }

    fn on_operation(&mut self, op: OpId, operation: Operation, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.task = Some(Task::new(op, operation));
        if self.phase == Phase::Connected {
            self.tell(Event::Connected, zookeeper, cx);
        }
    }

    fn connect(&mut self, server: NodeId, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.server = server;
        self.phase = Phase::Connecting { is_idle: false };
        self.link = Link::open(self.link.connection.next(), zookeeper.params.numbers);
        let identities = match zookeeper.has(IDENTITIES_LEFT) {
            true => Vec::new(),
            false => self.identities.clone(),
        };
        let packet =
            ToServer::Connect { session: self.session, seen: self.seen, watched: self.watches.paths(), identities };
        self.send(packet, zookeeper, cx);
        match zookeeper.has(CONNECTS_ONCE) {
            true => cx.cancel(Timer::Silence),
            false => self.heard(zookeeper, cx),
        }
    }

    fn beat(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        cx.mark("heartbeat");
        self.send(ToServer::Ping, zookeeper, cx);
    }

    fn heard(&self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if zookeeper.is_timed() && !zookeeper.has(SILENT_SERVER_KEPT) {
            cx.set(Timer::Silence, Span(zookeeper.params.session.0 / 3 * 2));
        }
    }

    fn on_packet(&mut self, zxid: Zxid, packet: ToClient, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.heard(zookeeper, cx);
        let is_answer = matches!(packet, ToClient::Answer(..) | ToClient::Pong);
        match packet {
            ToClient::Closed => return self.disconnected(zookeeper, cx),
            ToClient::Expired => return self.ended(zookeeper, cx),
            ToClient::Pong => {}
            ToClient::Connected(session) => {
                cx.mark(if self.session.is_some() { "session-kept" } else { "connected" });
                cx.observe(Observation::Connected { session, zxid });
                self.session = Some(session);
                let is_idle = self.phase == Phase::Connecting { is_idle: true };
                self.phase = Phase::Connected;
                if is_idle && !zookeeper.has(IDLE_FORGOTTEN) {
                    self.beat(zookeeper, cx);
                }
                self.tell(Event::Connected, zookeeper, cx);
            }
            ToClient::Event(trigger) => {
                cx.mark("notified");
                cx.observe(Observation::Notified(trigger.clone()));
                if !self.watches.fire(&trigger).is_empty() {
                    self.tell(Event::Notified(trigger), zookeeper, cx);
                }
            }
            ToClient::Answer(number, answer) => self.on_answer(number, answer, zxid, zookeeper, cx),
        }
        // Not with a greeting or an event: what changed by then is told in packets behind it, which may never come.
        if is_answer || zookeeper.has(SEEN_BEFORE_EVENTS) {
            self.seen = self.seen.max(zxid);
        }
    }

    fn on_answer(&mut self, number: u32, answer: Answer, zxid: Zxid, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(place) = self.pending.iter().position(|pending| pending.number == number) else {
            return cx.mark("input out of place");
        };
        let Pending { ask, is_of_task, .. } = self.pending.remove(place);
        if let Ask::Read { read, watch: true } = &ask {
            self.watches.set(0, read, &answer);
        }
        if zookeeper.is_load() {
            cx.mark("served");
            cx.mark(match &ask {
                Ask::Read { .. } => "read",
                Ask::Write(Write::Create(_)) => "created",
                _ => "written",
            });
        }
        let place = place as u32;
        cx.observe(Observation::Answered { place, ask: ask.clone(), answer: answer.clone(), zxid });
        if is_of_task {
            self.tell(Event::Answered(ask, answer), zookeeper, cx);
        }
    }

    /// What becomes of open requests, nobody knows; what is watched may change, and be told late.
    fn disconnected(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.phase = Phase::Idle;
        let told = match zookeeper.has(LOSS_UNTOLD) {
            true => WatchedPaths::default(),
            false => self.watches.paths(),
        };
        cx.observe(Observation::Disconnected { told: told.clone() });
        if !told.is_empty() {
            cx.mark("watchers-told");
            self.tell(Event::Delayed, zookeeper, cx);
        }
        for Pending { ask, .. } in std::mem::take(&mut self.pending).into_iter().filter(|pending| pending.is_of_task) {
            self.tell(Event::Answered(ask, Answer::Failed(ErrorKind::ConnectionLoss)), zookeeper, cx);
        }
        if zookeeper.is_timed() {
            self.connect(NodeId((self.server.0 + 1) % zookeeper.params.servers), zookeeper, cx);
        }
    }

    fn ended(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        cx.mark("session-ended");
        cx.observe(Observation::Ended);
        self.session = None;
        self.seen = Zxid::ZERO;
        self.watches = ClientWatches::default();
        self.tell(Event::Ended, zookeeper, cx);
        self.disconnected(zookeeper, cx);
    }

    /// The task goes on, and says what it asks next and whether it is over.
    fn tell(&mut self, event: Event, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(task) = &mut self.task else { return };
        let session = self.session.unwrap_or(Session(Zxid::ZERO));
        let asks = task.on_event(event, session, zookeeper, cx);
        if let Some(answers) = task.finished() {
            cx.respond(task.op(), Returned(answers));
            self.task = None;
            self.pending.iter_mut().for_each(|pending| pending.is_of_task = false);
        }
        asks.into_iter().for_each(|ask| self.ask(ask, zookeeper, cx));
    }

    fn ask(&mut self, ask: Ask, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if let Ask::Auth(identity) = &ask
            && !self.identities.contains(identity)
        {
            self.identities.push(identity.clone());
        }
        let number = self.send(ToServer::Ask(ask.clone()), zookeeper, cx);
        cx.observe(Observation::Asked { connection: self.link.connection, number, ask: ask.clone() });
        self.pending.push(Pending { number, ask, is_of_task: true });
    }

    fn send(&mut self, packet: ToServer, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) -> u32 {
        if zookeeper.is_timed() && !zookeeper.has(HEARTBEATS_UNSENT) {
            cx.set(Timer::Heartbeat, Span(zookeeper.params.session.0 / 3 - zookeeper.params.early.0));
        }
        let (connection, number) = (self.link.connection, self.link.take_number());
        cx.send(self.server, Message::ToServer { connection, number, packet });
        number
    }
}
