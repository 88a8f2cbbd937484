//! The atomic broadcast, as a node that stands for it (§4.2): what Zab is checked to be, on its own, by [`crate::zab`].
//!
//! It has one order of transactions, and delivers a prefix of it to each server. It elects a leader, any server that joined, and
//! takes proposals of that leader alone, in the order of their zxids: what a leader proposed and was not ordered when another is
//! elected is lost. "Changes broadcast by a leader are delivered in the order they were sent and all changes from previous
//! leaders are delivered to an established leader before it broadcasts its own changes" (§4.2). A server that restarts joins
//! again, and gets all since its snapshot.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Offers};

use super::ZooKeeper;
use super::message::{Decision, Entry, Message, Observation, Round};
use super::txn::Request;
use crate::zab::message::Zxid;

type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

/// Its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Broadcast {
    log: Vec<Entry>,
    epoch: u32,
    leader: Option<NodeId>,
    /// Servers that joined, with their latest rounds.
    members: BTreeMap<NodeId, Round>,
    /// How often it has elected.
    elections: u32,
}

impl Broadcast {
    /// A message.
    pub fn on_message(&mut self, from: NodeId, message: Message, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match message {
            Message::Join { round, index } if self.awaits(from, round) => {
                self.on_join(from, round, index, zookeeper, cx)
            }
            Message::Propose { request, entry } if self.takes(from, entry.txn.zxid) => self.order(request, entry, cx),
            _ => cx.mark("input out of place"),
        }
    }

    /// Whether a server's round is news.
    pub fn awaits(&self, server: NodeId, round: Round) -> bool {
        self.members.get(&server).is_none_or(|member| *member < round)
    }

    /// Whether a proposal can still be ordered.
    pub fn can_take(&self, from: NodeId, zxid: Zxid) -> bool {
        self.leader == Some(from) && zxid.epoch == self.epoch && zxid > self.last()
    }

    /// What is open.
    pub fn decisions(&self, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        match self.leader {
            None if self.is_quorate(zookeeper) => {
                self.members.keys().for_each(|server| offers.offer(Decision::Elect(*server)))
            }
            Some(_) if self.elections < zookeeper.params.elections => offers.offer(Decision::Depose),
            _ => {}
        }
    }

    /// One is taken.
    pub fn decide(&mut self, decision: Decision, cx: Cx<'_, '_>) {
        match decision {
            Decision::Elect(server) => self.elect(server, cx),
            Decision::Depose => {
                cx.mark("deposed");
                self.depose(cx);
            }
            _ => cx.mark("input out of place"),
        }
    }

    fn is_quorate(&self, zookeeper: &ZooKeeper) -> bool {
        self.members.len() > usize::from(zookeeper.params.servers) / 2
    }

    fn takes(&self, from: NodeId, zxid: Zxid) -> bool {
        self.can_take(from, zxid) && self.last().next_in(self.epoch) == zxid
    }

    fn last(&self) -> Zxid {
        self.log.last().map_or(Zxid::ZERO, |entry| entry.txn.zxid)
    }

    fn on_join(&mut self, from: NodeId, round: Round, index: u32, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.members.insert(from, round);
        if self.leader == Some(from) {
            self.depose(cx);
        }
        let entries = self.log[index as usize..].to_vec();
        let led = self.leader.map(|leader| (leader, self.epoch));
        cx.send(from, Message::Catch { round, index, entries, led });
        // The first leader, nobody has to be waited for.
        if self.elections == 0 && self.is_quorate(zookeeper) {
            self.elect(from, cx);
        }
    }

    fn order(&mut self, request: Option<Request>, entry: Entry, cx: Cx<'_, '_>) {
        cx.observe(Observation::Ordered { request, entry: entry.clone() });
        let index = self.log.len() as u32;
        self.log.push(entry.clone());
        for (server, round) in &self.members {
            cx.send(*server, Message::Deliver { round: *round, index, entry: entry.clone() });
        }
    }

    fn elect(&mut self, server: NodeId, cx: Cx<'_, '_>) {
        cx.mark(if self.elections == 0 { "elected" } else { "re-elected" });
        self.elections += 1;
        self.epoch += 1;
        self.leader = Some(server);
        let (epoch, index) = (self.epoch, self.log.len() as u32);
        for (member, round) in &self.members {
            let round = *round;
            let message = match *member == server {
                true => Message::Lead { round, epoch, index },
                false => Message::Follow { round, epoch, leader: server },
            };
            cx.send(*member, message);
        }
    }

    fn depose(&mut self, cx: Cx<'_, '_>) {
        self.leader = None;
        for (member, round) in &self.members {
            cx.send(*member, Message::Lost { round: *round, epoch: self.epoch });
        }
    }
}
