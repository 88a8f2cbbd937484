//! The client library: one connection, one session, requests in order (§2.2, §2.3, §4.4).

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, OpId};

use super::ZooKeeper;
use super::message::{Ask, Connection, Decision, Link, Message, Observation, Operation, Returned, ToClient, ToServer};
use super::recipe::{Event, Task};
use super::txn::{Answer, ErrorKind, Session};
use super::watches::ClientWatches;
use crate::zab::message::Zxid;

type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

/// A client's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    link: Link,
    server: NodeId,
    phase: Phase,
    session: Option<Session>,
    /// The last transaction that a server said it had applied.
    seen: Zxid,
    /// Requests without an answer, by their packets' numbers.
    pending: Vec<(u32, Ask)>,
    watches: ClientWatches,
    task: Option<Task>,
    /// How often it has left a server of its own accord.
    left: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Phase {
    Idle,
    Connecting,
    Connected,
}

impl Client {
    /// It connects when it is the moment.
    pub fn start(nonce: Nonce, cx: Cx<'_, '_>) -> Client {
        Client {
            link: Link::open(Connection::before_first(nonce, cx.node().0)),
            server: NodeId(0),
            phase: Phase::Idle,
            session: None,
            seen: Zxid::ZERO,
            pending: Vec::new(),
            watches: ClientWatches::default(),
            task: None,
            left: 0,
        }
    }

    /// One input.
    pub fn step(&mut self, input: Input<ZooKeeper>, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match input {
            Input::Operation { op, operation } => self.on_operation(op, operation, cx),
            Input::Message { from, message: Message::ToClient { connection, number, zxid, packet } } => {
                if from == self.server && self.link.read(connection, number) {
                    self.on_packet(zxid, packet, zookeeper, cx);
                }
            }
            Input::Decision(Decision::Connect(server)) => self.connect(server, cx),
            Input::Decision(Decision::Leave) => {
                cx.mark("left");
                self.left += 1;
                self.disconnected(cx);
            }
            Input::Decision(Decision::Release) => self.tell(Event::Release, cx),
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether a packet can still be read.
    pub fn awaits(&self, from: NodeId, connection: Connection, number: u32) -> bool {
        from == self.server && self.phase != Phase::Idle && self.link.awaits(connection, number)
    }

    /// What is open.
    pub fn decisions(&self, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        if self.phase == Phase::Idle {
            return zookeeper.servers().for_each(|server| offers.offer(Decision::Connect(server)));
        }
        if self.left < zookeeper.params.moves {
            offers.offer(Decision::Leave);
        }
        if self.phase == Phase::Connected && self.task.as_ref().is_some_and(Task::holds) {
            offers.offer(Decision::Release);
        }
    }

    fn on_operation(&mut self, op: OpId, operation: Operation, cx: Cx<'_, '_>) {
        self.task = Some(Task::new(op, operation));
        if self.phase == Phase::Connected {
            self.tell(Event::Connected, cx);
        }
    }

    fn connect(&mut self, server: NodeId, cx: Cx<'_, '_>) {
        self.server = server;
        self.phase = Phase::Connecting;
        self.link = Link::open(self.link.connection.next());
        let packet = ToServer::Connect { session: self.session, seen: self.seen, watched: self.watches.paths() };
        self.send(packet, cx);
    }

    fn on_packet(&mut self, zxid: Zxid, packet: ToClient, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match packet {
            ToClient::Closed => return self.disconnected(cx),
            ToClient::Expired => return self.ended(cx),
            ToClient::Connected(session) => {
                cx.mark(if self.session.is_some() { "session-kept" } else { "connected" });
                self.session = Some(session);
                self.phase = Phase::Connected;
                self.tell(Event::Connected, cx);
            }
            ToClient::Event(trigger) => {
                cx.mark("notified");
                cx.observe(Observation::Notified(trigger.clone()));
                if !self.watches.fire(&trigger).is_empty() {
                    self.tell(Event::Notified(trigger), cx);
                }
            }
            ToClient::Answer(number, answer) => self.on_answer(number, answer, zxid, zookeeper, cx),
        }
        self.seen = self.seen.max(zxid);
    }

    fn on_answer(&mut self, number: u32, answer: Answer, zxid: Zxid, _: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(place) = self.pending.iter().position(|(other, _)| *other == number) else {
            return cx.mark("input out of place");
        };
        let (_, ask) = self.pending.remove(place);
        if let Ask::Read { read, watch: true } = &ask {
            self.watches.set(0, read, &answer);
        }
        let place = place as u32;
        cx.observe(Observation::Answered { place, ask: ask.clone(), answer: answer.clone(), zxid });
        self.tell(Event::Answered(ask, answer), cx);
    }

    /// What becomes of open requests, nobody knows.
    fn disconnected(&mut self, cx: Cx<'_, '_>) {
        self.phase = Phase::Idle;
        cx.observe(Observation::Disconnected);
        for (_, ask) in std::mem::take(&mut self.pending) {
            self.tell(Event::Answered(ask, Answer::Failed(ErrorKind::ConnectionLoss)), cx);
        }
    }

    fn ended(&mut self, cx: Cx<'_, '_>) {
        self.disconnected(cx);
        cx.mark("session-ended");
        cx.observe(Observation::Ended);
        self.session = None;
        self.seen = Zxid::ZERO;
        self.watches = ClientWatches::default();
        self.tell(Event::Ended, cx);
    }

    /// The task goes on, and says what it asks next and whether it is over.
    fn tell(&mut self, event: Event, cx: Cx<'_, '_>) {
        let (Some(task), node) = (&mut self.task, cx.node()) else { return };
        let session = self.session.unwrap_or(Session(Zxid::ZERO));
        let asks = task.on_event(event, node, session, cx);
        if let Some(answers) = task.finished() {
            cx.respond(task.op(), Returned(answers));
            self.task = None;
        }
        asks.into_iter().for_each(|ask| self.ask(ask, cx));
    }

    fn ask(&mut self, ask: Ask, cx: Cx<'_, '_>) {
        cx.observe(Observation::Asked(ask.clone()));
        let number = self.send(ToServer::Ask(ask.clone()), cx);
        self.pending.push((number, ask));
    }

    fn send(&mut self, packet: ToServer, cx: Cx<'_, '_>) -> u32 {
        let (connection, number) = (self.link.connection, self.link.next());
        cx.send(self.server, Message::ToServer { connection, number, packet });
        number
    }
}
