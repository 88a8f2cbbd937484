//! A follower's or observer's side of phases 1 to 3.

use seedbed_model::{Canonical, NodeId};

use super::Zab;
use super::channel::Channel;
use super::log::EPOCHS;
use super::message::{Mode, Packet, Record, Round, Timer, Txn, Zxid};
use super::mutants::*;
use super::server::{Cx, Role, Server};

/// What a learner knows of its connection.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Learner {
    /// Whom it learns from.
    pub leader: NodeId,
    /// The connection.
    pub channel: Channel,
    stage: Stage,
    /// While SNAP's snapshot is on its way to the disk: the transactions to be logged after it.
    held: Option<Vec<Txn>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Stage {
    /// Phase 1: waits for LEADERINFO and then for NEWLEADER, or for its promise to be durable.
    Discovery { promises: bool },
    /// Phase 2: what came with NEWLEADER is on its way to the disk.
    Logging,
    /// Then the current epoch is.
    Entering,
    /// NEWLEADER is acknowledged.
    Synchronized,
    /// Phase 3: UPTODATE has come.
    Broadcast,
}

impl Learner {
    /// It has said nothing to its leader yet.
    pub(super) fn of(leader: NodeId, connection: Round) -> Self {
        let stage = Stage::Discovery { promises: false };
        Learner { leader, channel: Channel::open(connection), stage, held: None }
    }

    /// Whether its server serves clients.
    pub fn is_up_to_date(&self) -> bool {
        self.stage == Stage::Broadcast
    }

    fn acknowledges(&self, zab: &Zab) -> bool {
        matches!(self.stage, Stage::Synchronized | Stage::Broadcast)
            || zab.has(ACK_BEFORE_EPOCH) && !matches!(self.stage, Stage::Discovery { .. })
    }
}

/// The learner, which is there as long as packets of its leader are.
macro_rules! learner {
    ($server:expr) => {
        match &mut $server.role {
            Role::Learning(learner) => learner,
            _ => return,
        }
    };
}

impl Server {
    /// Phase 1: opens a connection to the leader.
    pub(super) fn follow(&mut self, leader: NodeId, term: Option<Round>, zab: &Zab, cx: Cx<'_, '_>) {
        self.role = Role::Learning(Learner::of(leader, self.round));
        self.introduce(term, zab, cx);
        if !zab.has_oracle() {
            cx.set(Timer::Leader, zab.params.sync_limit);
        }
    }

    /// Nobody answered: the leader may not have led yet.
    pub(super) fn connect(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        self.round = self.round.next();
        learner!(self).channel = Channel::open(self.round);
        self.introduce(None, zab, cx);
    }

    fn introduce(&mut self, term: Option<Round>, zab: &Zab, cx: Cx<'_, '_>) {
        let accepted = self.accepted;
        let learner = learner!(self);
        learner.channel.send(learner.leader, Packet::FollowerInfo { accepted, term }, cx);
        if !zab.has_oracle() && !zab.has(CONNECT_ONCE) {
            cx.set(Timer::Connect, zab.params.notify);
        }
    }

    /// The next packet of the leader.
    pub(super) fn on_leader(&mut self, packet: Packet, zab: &Zab, cx: Cx<'_, '_>) {
        let learner = learner!(self);
        if !zab.has_oracle() {
            cx.set(Timer::Leader, zab.params.sync_limit);
        }
        match packet {
            Packet::LeaderInfo { epoch } => self.on_leader_info(epoch, zab, cx),
            Packet::NewLeader { epoch, mode, txns } => self.on_new_leader(epoch, mode, txns, zab, cx),
            Packet::Proposal(txn) => self.on_proposal(txn, zab, cx),
            Packet::Inform(txn) => {
                self.on_proposal(txn, zab, cx);
                self.on_commit(txn.zxid, zab, cx);
            }
            Packet::UpToDate { committed } => self.on_up_to_date(committed, zab, cx),
            Packet::Commit(zxid) => self.on_commit(zxid, zab, cx),
            Packet::Ping => learner.channel.send(learner.leader, Packet::Ping, cx),
            _ => cx.mark("input out of place"),
        }
    }

    /// NEWEPOCH: promised, once that is durable, if it is not below what was promised before. One that was promised before
    /// is answered, but does not count: it may have been another leader's.
    fn on_leader_info(&mut self, epoch: u32, zab: &Zab, cx: Cx<'_, '_>) {
        let (accepted, last) = (self.accepted, self.log.last());
        if !zab.has_oracle() {
            cx.cancel(Timer::Connect);
        }
        if epoch < accepted && !zab.has(OLD_EPOCH) {
            cx.mark("old-epoch");
            return self.look(zab, cx);
        }
        let counts = epoch != accepted;
        if counts {
            self.accept(epoch, zab, cx);
        }
        let learner = learner!(self);
        learner.stage = Stage::Discovery { promises: counts };
        if !counts {
            learner.channel.send(learner.leader, Packet::AckEpoch { current: None, last }, cx);
        } else if zab.has(PROMISE_BEFORE_FSYNC) {
            self.promise(cx);
        }
    }

    /// ACK-E, with the history that the leader goes by.
    fn promise(&mut self, cx: Cx<'_, '_>) {
        let (current, last) = (self.current, self.log.last());
        let learner = learner!(self);
        learner.stage = Stage::Discovery { promises: false };
        learner.channel.send(learner.leader, Packet::AckEpoch { current: Some(current), last }, cx);
    }

    /// Phase 2: the leader's history becomes the learner's. First the disk, then the epoch, then the answer.
    fn on_new_leader(&mut self, epoch: u32, mode: Mode, txns: Vec<Txn>, zab: &Zab, cx: Cx<'_, '_>) {
        if epoch != self.accepted && !zab.has(OLD_EPOCH) {
            cx.mark("old-epoch");
            return self.look(zab, cx);
        }
        let learner = learner!(self);
        learner.stage = Stage::Logging;
        match mode {
            Mode::Diff => cx.mark(if txns.is_empty() { "diff-empty" } else { "diff" }),
            Mode::Trunc(end) => {
                cx.mark("trunc");
                self.log.truncate(end, zab, cx);
            }
            Mode::Snap(tree) => {
                cx.mark("snap");
                self.log.restore(tree, zab, cx);
                if !zab.has(LOG_BEFORE_SNAPSHOT) && !zab.has(ZK_3642) {
                    learner.held = Some(txns);
                    return;
                }
            }
        }
        if zab.has(ZK_4643) {
            self.current = epoch;
            self.log.persist(EPOCHS, Record::Current(epoch), zab, cx);
        }
        if zab.has(ZK_3911) {
            learner.held = Some(txns);
        } else {
            txns.into_iter().for_each(|txn| self.log.append(txn, zab, cx));
        }
        self.enter_if_logged(zab, cx);
    }

    /// Once all of the history is durable, its epoch is written.
    fn enter_if_logged(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let epoch = self.accepted;
        let learner = learner!(self);
        let waits = !self.log.is_durable(zab) && !zab.has(ZK_4646) && !zab.has(ZK_3911);
        let holds = learner.held.is_some() && !zab.has(ZK_3911);
        if learner.stage != Stage::Logging || waits || holds {
            return;
        }
        learner.stage = Stage::Entering;
        self.enter(epoch, zab, cx);
    }

    fn on_proposal(&mut self, txn: Txn, zab: &Zab, cx: Cx<'_, '_>) {
        let last = self.log.last();
        let learner = learner!(self);
        if let Some(held) = &mut learner.held {
            return held.push(txn);
        }
        if !last.precedes(txn.zxid) {
            cx.mark("proposal out of order");
        }
        self.log.append(txn, zab, cx);
        if zab.has(ACK_BEFORE_FSYNC) && learner.acknowledges(zab) {
            learner.channel.send(learner.leader, Packet::Ack(txn.zxid), cx);
        }
    }

    /// What was written is durable: answers follow, in the order of the log.
    pub(super) fn on_learner_durable(&mut self, record: &Record, zab: &Zab, cx: Cx<'_, '_>) {
        match record {
            Record::Snapshot(tree) if *tree == self.log.base => {
                self.log_held(zab, cx);
                self.enter_if_logged(zab, cx);
            }
            Record::Append(txn) => {
                let learner = learner!(self);
                if learner.acknowledges(zab) && zab.votes(cx.node()) && !zab.has(ACK_BEFORE_FSYNC) {
                    learner.channel.send(learner.leader, Packet::Ack(txn.zxid), cx);
                }
                self.enter_if_logged(zab, cx);
            }
            Record::Truncate(_) => self.enter_if_logged(zab, cx),
            Record::Current(epoch) if *epoch == self.current => self.on_entered(zab, cx),
            Record::Accepted(epoch) if *epoch == self.accepted => {
                if learner!(self).stage == (Stage::Discovery { promises: true }) {
                    self.promise(cx);
                }
            }
            Record::Accepted(_) | Record::Current(_) | Record::Snapshot(_) => {}
        }
    }

    /// ACK-LD, with what was logged since, too.
    fn on_entered(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let is_hasty = zab.has(ZK_4646) || zab.has(ZK_3911);
        let learner = learner!(self);
        if learner.stage != Stage::Entering {
            return;
        }
        learner.stage = Stage::Synchronized;
        let held = learner.held.as_ref().and_then(|held| held.last()).map(|txn| txn.zxid);
        let logged = if is_hasty { held.unwrap_or(self.log.last()) } else { self.log.durable };
        learner.channel.send(learner.leader, Packet::AckNewLeader { logged }, cx);
    }

    fn log_held(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        for txn in learner!(self).held.take().unwrap_or_default() {
            self.log.append(txn, zab, cx);
        }
    }

    fn on_up_to_date(&mut self, committed: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        let learner = learner!(self);
        learner.stage = Stage::Broadcast;
        cx.mark("up-to-date");
        // Nothing is left here, but where a mechanism is missing.
        self.log_held(zab, cx);
        self.on_commit(committed, zab, cx);
    }

    /// Delivers all up to this, in the order of the log.
    fn on_commit(&mut self, zxid: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        if !learner!(self).is_up_to_date() {
            return;
        }
        while self.log.undelivered().first().is_some_and(|txn| txn.zxid <= zxid) {
            self.deliver(zab, cx);
        }
    }
}
