//! A leader's side of phases 1 to 3.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId};

use super::Zab;
use super::channel::Channel;
use super::message::{Observation, Packet, Record, Round, Timer, Txn, Value, Zxid};
use super::mutants::*;
use super::server::{Cx, Role, Server};

/// What a leader knows of its phase and its learners.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Leader {
    phase: Phase,
    /// Whether its own disk has the current epoch: its log counts for nothing before.
    entered: bool,
    /// Its connections.
    learners: BTreeMap<NodeId, Peer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Phase {
    /// Phase 1: a quorum's accepted epochs are not known yet.
    Gathering,
    /// The epoch is on its way to the leader's own disk, and is proposed once it is there.
    Accepting,
    /// The epoch is proposed.
    Discovery,
    /// Phase 2: a quorum's history and epoch are awaited.
    Synchronization,
    /// Phase 3: established.
    Broadcast,
}

/// One end of a connection to a learner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Peer {
    channel: Channel,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Stage {
    /// It follows, and has accepted this epoch.
    Follows { accepted: u32 },
    /// It was proposed the epoch.
    Proposed,
    /// It accepted the epoch, with this history; if it had before, that does not count.
    Promised { counts: bool, last: Zxid },
    /// It was sent NEWLEADER.
    Sent,
    /// It has the leader's history, and has logged it as far as this.
    Synchronized { logged: Zxid },
}

impl Leader {
    /// Nobody follows it yet.
    pub(super) fn elected() -> Self {
        Leader { phase: Phase::Gathering, entered: false, learners: BTreeMap::new() }
    }

    /// Whether it is established.
    pub fn is_established(&self) -> bool {
        self.phase == Phase::Broadcast
    }

    /// Whether it broadcasts.
    pub(super) fn broadcasts(&self, zab: &Zab) -> bool {
        self.is_established() || zab.has(HASTY_BROADCAST) && self.phase == Phase::Synchronization
    }

    /// Whether this is the learner's connection.
    pub fn has(&self, learner: NodeId, connection: Round) -> bool {
        self.learners.get(&learner).is_some_and(|peer| peer.channel.connection == connection)
    }

    /// Whether the packet can still be read: on the learner's latest connection, or as the first of a new one.
    pub fn awaits(&self, from: NodeId, connection: Round, number: u32, packet: &Packet) -> bool {
        match self.learners.get(&from) {
            Some(peer) if peer.channel.connection >= connection => peer.channel.awaits(connection, number),
            _ => matches!(packet, Packet::FollowerInfo { .. }),
        }
    }

    /// How many voters of a kind, and the leader, if it is one of them.
    fn count(&self, zab: &Zab, own: bool, is_one: impl Fn(&Stage) -> bool) -> usize {
        let voters = self.learners.iter().filter(|(node, _)| zab.votes(**node));
        voters.filter(|(_, peer)| is_one(&peer.stage)).count() + usize::from(own)
    }

    /// The learners at a stage.
    fn at(&self, is_there: impl Fn(&Stage) -> bool) -> Vec<NodeId> {
        self.learners.iter().filter(|(_, peer)| is_there(&peer.stage)).map(|(node, _)| *node).collect()
    }

    fn send(&mut self, to: NodeId, packet: Packet, cx: Cx<'_, '_>) {
        if let Some(peer) = self.learners.get_mut(&to) {
            peer.channel.send(to, packet, cx);
        }
    }
}

/// The leader, which is there as long as its learners are heard.
macro_rules! leader {
    ($server:expr) => {
        match &mut $server.role {
            Role::Leading(leader) => leader,
            _ => return,
        }
    };
}

impl Server {
    /// Phase 1: waits for a quorum to follow.
    pub(super) fn lead(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        cx.mark("elected");
        self.role = Role::Leading(Leader::elected());
        if !zab.has_oracle() {
            cx.set(Timer::Establish, zab.params.init_limit);
            cx.set(Timer::Tick, zab.params.ping);
        }
    }

    pub(super) fn on_learner(
        &mut self,
        from: NodeId,
        connection: Round,
        number: u32,
        packet: Packet,
        zab: &Zab,
        cx: Cx<'_, '_>,
    ) {
        let leader = leader!(self);
        if !leader.has(from, connection) {
            let peer = Peer { channel: Channel::open(connection), stage: Stage::Proposed };
            leader.learners.insert(from, peer);
        }
        if !leader.learners.get_mut(&from).is_some_and(|peer| peer.channel.read(number)) {
            return;
        }
        if !zab.has_oracle() {
            cx.set(Timer::Learner(from), zab.params.sync_limit);
        }
        match packet {
            Packet::FollowerInfo { accepted, .. } => self.on_follower_info(from, accepted, zab, cx),
            Packet::AckEpoch { current, last } => self.on_ack_epoch(from, current, last, zab, cx),
            Packet::AckNewLeader { logged } => self.on_ack_new_leader(from, logged, zab, cx),
            Packet::Ack(zxid) => self.on_ack(from, zxid, zab, cx),
            Packet::Request(value) => self.propose(value, zab, cx),
            Packet::Ping => {}
            _ => cx.mark("input out of place"),
        }
    }

    fn stage(&mut self, learner: NodeId, stage: Stage) {
        if let Some(peer) = leader!(self).learners.get_mut(&learner) {
            peer.stage = stage;
        }
    }

    /// CEPOCH: a quorum of them, and the leader proposes an epoch above all of theirs. One that comes later and has accepted a
    /// later epoch could never follow: the leader gives up, for a new election.
    fn on_follower_info(&mut self, from: NodeId, accepted: u32, zab: &Zab, cx: Cx<'_, '_>) {
        self.stage(from, Stage::Follows { accepted });
        let own = self.accepted;
        let leader = leader!(self);
        if leader.phase != Phase::Gathering {
            if accepted > own && !zab.has(EPOCH_KEPT) && !zab.has(OLD_EPOCH) {
                cx.mark("outdated");
                return self.look(zab, cx);
            }
            if leader.phase != Phase::Accepting {
                self.propose_epoch(cx);
            }
            return;
        }
        let gathered = leader.count(zab, true, |stage| matches!(stage, Stage::Follows { .. }));
        if gathered >= zab.quorum() {
            let voters = leader.learners.iter().filter(|(node, _)| zab.votes(**node)).map(|(_, peer)| peer.stage);
            let accepted = voters.filter_map(|stage| match stage {
                Stage::Follows { accepted } => Some(accepted),
                _ => None,
            });
            let epoch = accepted.max().unwrap_or(0).max(own) + 1;
            leader.phase = Phase::Accepting;
            self.accept(epoch, zab, cx);
        }
    }

    /// NEWEPOCH, to all that have not been sent it.
    fn propose_epoch(&mut self, cx: Cx<'_, '_>) {
        let epoch = self.accepted;
        let leader = leader!(self);
        for learner in leader.at(|stage| matches!(stage, Stage::Follows { .. })) {
            leader.send(learner, Packet::LeaderInfo { epoch }, cx);
            if let Some(peer) = leader.learners.get_mut(&learner) {
                peer.stage = Stage::Proposed;
            }
        }
    }

    /// ACK-E. A follower with a more recent history should lead; a quorum without one is synchronized.
    fn on_ack_epoch(&mut self, from: NodeId, current: Option<u32>, last: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        self.stage(from, Stage::Promised { counts: current.is_some(), last });
        let own = (self.current, self.log.last());
        let epoch = self.accepted;
        let leader = leader!(self);
        match leader.phase {
            Phase::Discovery => {
                if current.is_some_and(|current| (current, last) > own) && !zab.has(NO_ABDICATION) {
                    cx.mark("abdicated");
                    return self.look(zab, cx);
                }
                let promised = leader.count(zab, true, |stage| matches!(stage, Stage::Promised { counts: true, .. }));
                if promised < zab.quorum() {
                    return;
                }
                leader.phase = Phase::Synchronization;
                self.enter(epoch, zab, cx);
                self.synchronize(zab, cx);
            }
            Phase::Synchronization | Phase::Broadcast => self.synchronize(zab, cx),
            Phase::Gathering | Phase::Accepting => cx.mark("input out of place"),
        }
    }

    /// Phase 2: NEWLEADER to all that have promised; to observers once the leader is established.
    fn synchronize(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let epoch = self.accepted;
        let leader = leader!(self);
        let is_established = leader.is_established();
        for learner in leader.at(|stage| matches!(stage, Stage::Promised { .. })) {
            let votes = zab.votes(learner);
            let Some(Peer { stage: Stage::Promised { last, .. }, .. }) = leader.learners.get(&learner) else {
                continue;
            };
            if !votes && !is_established {
                continue;
            }
            let last = *last;
            let (mode, mut txns) = self.log.meet(last, zab);
            if !votes {
                txns.retain(|txn| txn.zxid <= self.log.tree.last);
            }
            let repeated =
                if zab.has(DUPLICATE_PROPOSAL) && votes { self.log.undelivered().to_vec() } else { Vec::new() };
            leader.send(learner, Packet::NewLeader { epoch, mode, txns }, cx);
            if is_established {
                repeated.into_iter().for_each(|txn| leader.send(learner, Packet::Proposal(txn), cx));
            }
            if let Some(peer) = leader.learners.get_mut(&learner) {
                peer.stage = Stage::Sent;
            }
        }
        if zab.has(HASTY_LEADER) && !is_established {
            self.establish(zab, cx);
        }
    }

    /// ACK-LD.
    fn on_ack_new_leader(&mut self, from: NodeId, logged: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        self.stage(from, Stage::Synchronized { logged });
        if leader!(self).is_established() {
            self.bring_up_to_date(from, zab, cx);
            self.commit(zab, cx);
        } else {
            self.establish_if_synchronized(zab, cx);
        }
    }

    /// A quorum has the leader's history and its epoch, durably; the leader is one of them once its own disk is as far.
    fn establish_if_synchronized(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let is_durable = self.log.is_durable(zab) || zab.has(OWN_UNSYNCED);
        let leader = leader!(self);
        let is_synchronizing = leader.phase == Phase::Synchronization;
        let synchronized = |stage: &Stage| matches!(stage, Stage::Synchronized { .. });
        if is_synchronizing && leader.count(zab, leader.entered && is_durable, synchronized) >= zab.quorum() {
            self.establish(zab, cx);
        }
    }

    /// Phase 3: all of the history is committed, and what comes next is proposed.
    fn establish(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        leader!(self).phase = Phase::Broadcast;
        let history = self.log.tree.with(self.log.undelivered());
        cx.observe(Observation::Established { epoch: self.accepted, history });
        self.deliver_all(zab, cx);
        for learner in leader!(self).at(|stage| matches!(stage, Stage::Synchronized { .. })) {
            self.bring_up_to_date(learner, zab, cx);
        }
        self.synchronize(zab, cx);
    }

    /// COMMIT-LD, with what is committed now.
    fn bring_up_to_date(&mut self, learner: NodeId, zab: &Zab, cx: Cx<'_, '_>) {
        let committed = if zab.has(COMMIT_OF_HISTORY) { self.log.last() } else { self.log.tree.last };
        leader!(self).send(learner, Packet::UpToDate { committed }, cx);
    }

    /// Phase 3: the next zxid of the epoch, to all that were sent the history before it.
    pub(super) fn propose(&mut self, value: Value, zab: &Zab, cx: Cx<'_, '_>) {
        let epoch = self.accepted;
        let leader = leader!(self);
        if !leader.broadcasts(zab) {
            return cx.mark("request before establishment");
        }
        let last = if zab.has(NUMBER_REUSED) { self.log.tree.last } else { self.log.last() };
        let zxid = if zab.has(COUNTER_KEPT) { Zxid { epoch, counter: last.counter + 1 } } else { last.next_in(epoch) };
        let txn = Txn { zxid, value };
        cx.observe(Observation::Proposed(txn));
        self.log.append(txn, zab, cx);
        let to = leader.at(|stage| match stage {
            Stage::Sent => !zab.has(PROPOSAL_TO_ACKED),
            Stage::Synchronized { .. } => true,
            _ => false,
        });
        for learner in to.into_iter().filter(|node| zab.votes(*node)) {
            leader.send(learner, Packet::Proposal(txn), cx);
        }
    }

    fn on_ack(&mut self, from: NodeId, zxid: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        let leader = leader!(self);
        if let Some(Peer { stage: Stage::Synchronized { logged }, .. }) = leader.learners.get_mut(&from) {
            *logged = zxid.max(*logged);
        } else if let Some(Peer { stage: stage @ Stage::Sent, .. }) = leader.learners.get_mut(&from) {
            // Only where a mechanism is missing: it is counted as if NEWLEADER were acknowledged.
            *stage = Stage::Synchronized { logged: zxid };
        }
        self.commit(zab, cx);
    }

    /// What a quorum has logged is committed, in order.
    fn commit(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        loop {
            let own = if zab.has(OWN_UNSYNCED) { self.log.last() } else { self.log.durable };
            let leader = leader!(self);
            let Some(txn) = self.log.undelivered().first().copied().filter(|_| leader.is_established()) else { return };
            let has_logged = |stage: &Stage| matches!(stage, Stage::Synchronized { logged } if *logged >= txn.zxid);
            let is_in_epoch = leader.entered || zab.has(OWN_BEFORE_EPOCH);
            let logged = leader.count(zab, own >= txn.zxid && is_in_epoch, has_logged);
            let quorum = if zab.has(COMMIT_BEFORE_QUORUM) { 1 } else { zab.quorum() };
            if logged < quorum {
                return;
            }
            for learner in leader.at(|stage| matches!(stage, Stage::Synchronized { .. } | Stage::Sent)) {
                let is_sent = leader.learners.get(&learner).is_some_and(|peer| peer.stage == Stage::Sent);
                match (zab.votes(learner), is_sent) {
                    (true, true) => {}
                    (true, false) => leader.send(learner, Packet::Commit(txn.zxid), cx),
                    (false, _) => leader.send(learner, Packet::Inform(txn), cx),
                }
            }
            cx.mark("committed");
            self.deliver(zab, cx);
        }
    }

    pub(super) fn on_leader_durable(&mut self, record: &Record, zab: &Zab, cx: Cx<'_, '_>) {
        let (accepted, current) = (self.accepted, self.current);
        let leader = leader!(self);
        match (record, leader.phase) {
            (Record::Accepted(epoch), Phase::Accepting) if *epoch == accepted => {
                leader.phase = Phase::Discovery;
                self.propose_epoch(cx);
            }
            (Record::Current(epoch), Phase::Synchronization | Phase::Broadcast) if *epoch == current => {
                leader.entered = true;
                self.establish_if_synchronized(zab, cx);
                self.commit(zab, cx);
            }
            (_, Phase::Synchronization) => self.establish_if_synchronized(zab, cx),
            (_, Phase::Broadcast) => self.commit(zab, cx),
            _ => {}
        }
    }

    /// A learner's connection is broken: without a quorum of them the leader gives up.
    pub(super) fn on_gone(&mut self, learner: NodeId, zab: &Zab, cx: Cx<'_, '_>) {
        let leader = leader!(self);
        let had_quorum = leader.count(zab, true, |_| true) >= zab.quorum();
        leader.learners.remove(&learner);
        if had_quorum && leader.count(zab, true, |_| true) < zab.quorum() {
            cx.mark("quorum-lost");
            self.look(zab, cx);
        }
    }

    /// Half a tick: pings to all, so that they know their leader.
    pub(super) fn on_tick(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let leader = leader!(self);
        for learner in leader.at(|_| true) {
            leader.send(learner, Packet::Ping, cx);
        }
        cx.set(Timer::Tick, zab.params.ping);
    }
}
