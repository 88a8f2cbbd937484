//! A server or observer: what it knows, what it is doing, and how it comes to that.

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Offers, OpId, Part};

use super::Zab;
use super::election::{Ballot, Looking};
use super::leader::Leader;
use super::learner::Learner;
use super::log::{Durable, EPOCHS, Log};
use super::message::{Answer, Decision, Doing, Message, Observation, Packet, Record, Round, Timer, Value};
use super::mutants::{LOG_DELIVERED, SILENT_KEPT, ZK_2845};

/// A server's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Server {
    /// The paper's f.p, as written.
    pub(super) accepted: u32,
    /// The paper's f.a, as written.
    pub(super) current: u32,
    /// The history.
    pub(super) log: Part<Log>,
    /// Since it looked for a leader last.
    pub(super) round: Round,
    /// What it votes for, or voted for.
    pub(super) ballot: Ballot,
    /// What it is doing.
    pub(super) role: Role,
    /// The operation of its client that awaits its delivery.
    pub(super) open: Option<OpId>,
    /// While it leads: how many transactions leaders have issued by decisions.
    pub(super) issued: u32,
}

/// LOOKING, FOLLOWING or OBSERVING, LEADING.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Role {
    /// Phase 0.
    Looking(Looking),
    /// Phases 1 to 3, at a follower or observer.
    Learning(Learner),
    /// Phases 1 to 3, at a leader.
    Leading(Leader),
}

pub(super) type Cx<'a, 'b> = &'a mut Context<'b, Zab>;

impl Server {
    /// From what its disk holds: all of the log is its history.
    pub fn start(disk: &Durable, nonce: Nonce, zab: &Zab, cx: Cx<'_, '_>) -> Self {
        if disk.accepted > 0 {
            cx.mark("recovered");
        }
        if !zab.is_alone() {
            cx.observe(Observation::Recovered { accepted: disk.accepted, current: disk.current, tree: disk.snapshot });
        }
        let mut server = Server {
            accepted: disk.accepted,
            current: disk.current,
            log: Part::new(Log::recover(disk)),
            round: Round::before_first(nonce, cx.node().0),
            ballot: Ballot::of(cx.node()),
            role: Role::Looking(Looking::default()),
            open: None,
            issued: 0,
        };
        if zab.has(LOG_DELIVERED) {
            server.deliver_all(zab, cx);
        }
        if zab.is_alone() {
            server.begin_alone(zab, cx);
        }
        server.search(zab, cx);
        server
    }

    /// One input.
    pub fn step(&mut self, input: Input<Zab>, zab: &Zab, cx: Cx<'_, '_>) {
        self.on_input(input, zab, cx);
        while let Some(record) = self.log.next_instant() {
            self.on_durable(&record, zab, cx);
        }
    }

    fn on_input(&mut self, input: Input<Zab>, zab: &Zab, cx: Cx<'_, '_>) {
        match input {
            Input::Message { from, message } => self.on_message(from, message, zab, cx),
            Input::Durable(record) => self.on_durable(&record, zab, cx),
            Input::Timer(timer) => self.on_timer(timer, zab, cx),
            Input::Operation { op, operation } => self.on_operation(op, operation, zab, cx),
            Input::Decision(Decision::Issue) => {
                self.issued += 1;
                self.propose(Value::Issued(self.issued), zab, cx);
            }
            Input::Decision(Decision::Look) => self.look(zab, cx),
            Input::Decision(_) => cx.mark("input out of place"),
        }
    }

    fn on_message(&mut self, from: NodeId, message: Message, zab: &Zab, cx: Cx<'_, '_>) {
        if !self.awaits(cx.node(), from, &message) {
            return;
        }
        match message {
            Message::Notification { vote, election, doing } => {
                self.on_notification(from, vote, election, doing, zab, cx);
            }
            Message::Packet { connection, number, packet } => {
                let is_own = connection.number.scope() == cx.node().0;
                if is_own {
                    if let Role::Learning(learner) = &mut self.role
                        && learner.channel.read(number)
                    {
                        self.on_leader(packet, zab, cx);
                    }
                } else if matches!(self.role, Role::Leading(_)) {
                    // Otherwise it may lead later, and read it then.
                    self.on_learner(from, connection, number, packet, zab, cx);
                }
            }
            Message::Lead { learners, issued, .. } => {
                self.issued = issued;
                self.lead(zab, cx);
                learners.into_iter().for_each(|(learner, connection)| self.invite(learner, connection, cx));
            }
            Message::Join { learner, connection, .. } => self.invite(learner, connection, cx),
            Message::Invite { term, .. } => self.follow(from, Some(term), zab, cx),
            Message::Lost { .. } => self.look(zab, cx),
            Message::Gone { learner, .. } => self.on_gone(learner, zab, cx),
            Message::Restart => self.restart(zab, cx),
            Message::Looking { .. } => cx.mark("input out of place"),
        }
    }

    /// Whether a message can do anything, now or later. A connection that is over stays over, and so does a round.
    pub fn awaits(&self, own: NodeId, from: NodeId, message: &Message) -> bool {
        let looks = matches!(self.role, Role::Looking(_));
        match message {
            Message::Notification { .. } | Message::Looking { .. } | Message::Restart => true,
            // To a learner, the connection is its own; to anybody else, the sender's.
            Message::Packet { connection, number, packet } => match &self.role {
                _ if connection.number.scope() == own.0 => match &self.role {
                    Role::Learning(learner) => learner.leader == from && learner.channel.awaits(*connection, *number),
                    _ => false,
                },
                Role::Leading(leader) => {
                    leader.awaits(from, *connection, *number, packet)
                        && packet.term().is_none_or(|term| term == self.round)
                }
                _ => matches!(packet, Packet::FollowerInfo { term: None, .. }),
            },
            Message::Lead { round, .. } | Message::Invite { connection: round, .. } => looks && *round == self.round,
            Message::Join { round, .. } => *round == self.round,
            Message::Lost { connection } => *connection == self.round,
            Message::Gone { learner, connection } => match &self.role {
                Role::Leading(leader) => leader.has(*learner, *connection),
                _ => false,
            },
        }
    }

    fn on_durable(&mut self, record: &Record, zab: &Zab, cx: Cx<'_, '_>) {
        match record {
            Record::Accepted(epoch) => cx.observe(Observation::Accepted(*epoch)),
            Record::Current(epoch) => cx.observe(Observation::Current(*epoch)),
            _ => self.log.synced(record),
        }
        match &self.role {
            Role::Looking(_) => {}
            Role::Learning(_) => self.on_learner_durable(record, zab, cx),
            Role::Leading(_) => self.on_leader_durable(record, zab, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, zab: &Zab, cx: Cx<'_, '_>) {
        match (timer, &self.role) {
            (Timer::Notify, Role::Looking(_)) => self.notify(zab, cx),
            (Timer::Finalize, Role::Looking(_)) => self.decide(zab, cx),
            (Timer::Leader, Role::Learning(_)) if !zab.has(SILENT_KEPT) => {
                cx.mark("leader-silent");
                self.look(zab, cx);
            }
            (Timer::Connect, Role::Learning(_)) => self.connect(zab, cx),
            (Timer::Tick, Role::Leading(_)) => self.on_tick(zab, cx),
            (Timer::Establish, Role::Leading(leader)) if !leader.is_established() => {
                cx.mark("not-established");
                self.look(zab, cx);
            }
            (Timer::Learner(learner), Role::Leading(_)) => {
                cx.mark("learner-silent");
                self.on_gone(learner, zab, cx);
            }
            _ => {}
        }
    }

    /// A client's operation: to the leader, through the connection if that is another.
    fn on_operation(&mut self, op: OpId, value: Value, zab: &Zab, cx: Cx<'_, '_>) {
        match &mut self.role {
            Role::Leading(leader) if leader.broadcasts(zab) => {
                self.open = Some(op);
                self.propose(value, zab, cx);
            }
            Role::Learning(learner) if learner.is_up_to_date() => {
                self.open = Some(op);
                learner.channel.send(learner.leader, Packet::Request(value), cx);
            }
            _ => cx.respond(op, Answer::Refused),
        }
    }

    /// The decisions.
    pub fn decisions(&self, node: NodeId, zab: &Zab, offers: &mut Offers<'_, Zab>) {
        if zab.is_alone() {
            return self.decisions_alone(node, zab, offers);
        }
        let Role::Leading(leader) = &self.role else { return };
        if leader.broadcasts(zab) && self.issued < zab.params.transactions {
            offers.offer(Decision::Issue);
        }
    }

    /// ZB4: a server without a leader, or a leader without a quorum, looks for a leader.
    pub(super) fn look(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        cx.observe(Observation::Looks);
        if let Some(op) = self.open.take() {
            cx.respond(op, Answer::Unknown);
        }
        if zab.has(ZK_2845) {
            let delivered = self.log.delivered();
            self.log.txns.truncate(delivered);
            self.log.durable = self.log.last();
        }
        if !zab.has_oracle() {
            self.forget_timers(zab, cx);
        }
        self.search(zab, cx);
    }

    /// A crash and a start in one action: what it wrote is there, and nothing else.
    fn restart(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        cx.mark("restarted");
        let (snapshot, log) = (self.log.base, self.log.txns.clone());
        let disk = Durable { accepted: self.accepted, current: self.current, snapshot, log };
        cx.observe(Observation::Looks);
        let tree = disk.snapshot;
        cx.observe(Observation::Recovered { accepted: disk.accepted, current: disk.current, tree });
        self.log = Part::new(Log::recover(&disk));
        self.issued = 0;
        if zab.has(LOG_DELIVERED) {
            self.deliver_all(zab, cx);
        }
        self.search(zab, cx);
    }

    fn search(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        self.round = self.round.next();
        self.role = Role::Looking(Looking::default());
        if zab.has_oracle() {
            let issued = std::mem::take(&mut self.issued);
            let (round, current, last) = (self.round, self.current, self.log.last());
            cx.send(zab.oracle(), Message::Looking { round, current, last, issued });
        } else {
            self.begin_election(zab, cx);
        }
    }

    pub(super) fn forget_timers(&self, zab: &Zab, cx: Cx<'_, '_>) {
        let own = [Timer::Notify, Timer::Finalize, Timer::Leader, Timer::Connect, Timer::Tick, Timer::Establish];
        own.into_iter().for_each(|timer| cx.cancel(timer));
        (0..zab.server_count()).for_each(|node| cx.cancel(Timer::Learner(NodeId(node))));
    }

    /// What it is doing, as others are told.
    pub(super) fn doing(&self) -> Doing {
        match self.role {
            Role::Looking(_) => Doing::Looking,
            Role::Learning(_) => Doing::Following,
            Role::Leading(_) => Doing::Leading,
        }
    }

    /// Accepts an epoch.
    pub(super) fn accept(&mut self, epoch: u32, zab: &Zab, cx: Cx<'_, '_>) {
        self.accepted = epoch;
        self.log.persist(EPOCHS, Record::Accepted(epoch), zab, cx);
    }

    /// Sends for a server that looks.
    fn invite(&self, learner: NodeId, connection: Round, cx: Cx<'_, '_>) {
        if matches!(self.role, Role::Leading(_)) {
            cx.send(learner, Message::Invite { connection, term: self.round });
        }
    }

    /// From here on this history is of that epoch's leader.
    pub(super) fn enter(&mut self, epoch: u32, zab: &Zab, cx: Cx<'_, '_>) {
        self.current = epoch;
        self.log.persist(EPOCHS, Record::Current(epoch), zab, cx);
    }

    /// Delivers all of the history.
    pub(super) fn deliver_all(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        while !self.log.undelivered().is_empty() {
            self.deliver(zab, cx);
        }
    }

    /// Delivers the next transaction, and tells the client that waits for it.
    pub(super) fn deliver(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let txn = self.log.deliver(zab, cx);
        if let Some(op) = self.open.filter(|op| txn.value == Value::Asked(cx.node(), *op)) {
            self.open = None;
            cx.respond(op, Answer::Delivered);
        }
    }
}
