//! The atomic broadcast, as a node that stands for it (§4.2): what Zab is checked to be, on its own, by [`crate::zab`].
//!
//! It has one order of transactions, and delivers a prefix of it to each server. It elects a leader, any server that joined, and
//! takes proposals of that leader alone, in the order of their zxids: what a leader proposed and was not ordered when another is
//! elected is lost. "Changes broadcast by a leader are delivered in the order they were sent and all changes from previous
//! leaders are delivered to an established leader before it broadcasts its own changes" (§4.2). A server that restarts joins
//! again, and gets all since its snapshot.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, NodeId, Offers};

use super::ZooKeeper;
use super::message::{Decision, Entry, Message, Observation, Progress, Round, Timer};
use super::txn::Request;
use crate::zab::message::Zxid;

type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

/// Its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Broadcast {
    log: Vec<Entry>,
    epoch: u32,
    leader: Option<NodeId>,
    /// Whether the leader is ready for followers.
    is_established: bool,
    /// Servers that joined, with their latest rounds.
    members: BTreeMap<NodeId, Round>,
    /// Those among them that were not heard of for too long.
    silent: BTreeSet<NodeId>,
    /// How often it has deposed a leader without a reason.
    deposed: u32,
    /// Those that had not applied all when they said last how far they are.
    behind: BTreeMap<NodeId, u32>,
    /// Where the leader had proposed more when it said so last: the last that was ordered then.
    awaited: Option<Zxid>,
}

impl Broadcast {
    /// A message.
    pub fn on_message(&mut self, from: NodeId, message: Message, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match message {
            Message::Join { round, index } if self.awaits(from, round) => {
                self.on_join(from, round, index, zookeeper, cx)
            }
            Message::Propose { request, entry } if self.takes(from, entry.txn.zxid) => self.order(request, entry, cx),
            Message::Alive { round, progress } if self.members.get(&from) == Some(&round) => {
                match self.silent.contains(&from) {
                    true => cx.send(from, Message::Rejoin { round }),
                    false => {
                        self.heard(from, zookeeper, cx);
                        self.mend(from, round, progress, zookeeper, cx);
                    }
                }
            }
            Message::Established { epoch } if self.awaits_leader(from, epoch) => self.on_established(from, cx),
            Message::Established { .. } | Message::Propose { .. } | Message::Join { .. } | Message::Alive { .. } => {}
            _ => cx.mark("input out of place"),
        }
    }

    /// What was lost between a server and the broadcast is sent again, or is given up with the leader that proposed it. What has not
    /// come from one time that a server says how far it is to the next, for which it is on its way, never will.
    fn mend(&mut self, server: NodeId, round: Round, progress: Progress, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let count = self.log.len() as u32;
        let was_behind = match progress.index < count {
            true => self.behind.insert(server, progress.index) == Some(progress.index),
            false => {
                self.behind.remove(&server);
                false
            }
        };
        if was_behind {
            cx.mark("delivery-lost");
            self.behind.remove(&server);
            return cx.send(server, Message::Rejoin { round });
        }
        if self.leader == Some(server) {
            match progress.proposed.filter(|_| progress.epoch == self.epoch) {
                Some(_) if !self.is_established => self.on_established(server, cx),
                Some(proposed) if proposed.counter > 0 && proposed > self.last() => {
                    if self.awaited.replace(self.last()) == Some(self.last()) {
                        cx.mark("proposal-lost");
                        self.depose(cx);
                        self.elect_any(zookeeper, cx);
                    }
                }
                Some(_) => self.awaited = None,
                None => cx.send(server, Message::Lead { round, epoch: self.epoch, index: count }),
            }
        } else if let (Some(leader), true) = (self.leader, self.is_established && progress.epoch < self.epoch) {
            cx.send(server, Message::Follow { round, epoch: self.epoch, leader });
        }
    }

    /// A server was not heard of for too long.
    pub fn on_silence(&mut self, server: NodeId, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        cx.mark("given-up");
        self.silent.insert(server);
        if self.leader == Some(server) {
            self.depose(cx);
        }
        self.elect_any(zookeeper, cx);
    }

    /// Whether a server's round is news.
    pub fn awaits(&self, server: NodeId, round: Round) -> bool {
        self.members.get(&server).is_none_or(|member| *member < round)
    }

    /// Whether a server that is to lead an epoch is still waited for.
    pub fn awaits_leader(&self, server: NodeId, epoch: u32) -> bool {
        self.leader == Some(server) && self.epoch == epoch && !self.is_established
    }

    /// Whether a proposal can still be ordered.
    pub fn can_take(&self, from: NodeId, zxid: Zxid) -> bool {
        self.leader == Some(from) && zxid.epoch == self.epoch && zxid > self.last()
    }

    /// What is open.
    pub fn decisions(&self, zookeeper: &ZooKeeper, offers: &mut Offers<'_, ZooKeeper>) {
        match self.leader {
            _ if zookeeper.is_timed() => {}
            None if self.is_quorate(zookeeper) => {
                self.members.keys().for_each(|server| offers.offer(Decision::Elect(*server)))
            }
            Some(_) if self.deposed < zookeeper.params.deposals => offers.offer(Decision::Depose),
            _ => {}
        }
    }

    /// One is taken.
    pub fn decide(&mut self, decision: Decision, cx: Cx<'_, '_>) {
        match decision {
            Decision::Elect(server) => self.elect(server, cx),
            Decision::Depose => {
                cx.mark("deposed");
                self.deposed += 1;
                self.depose(cx);
            }
            _ => cx.mark("input out of place"),
        }
    }

    fn is_quorate(&self, zookeeper: &ZooKeeper) -> bool {
        self.members.len() - self.silent.len() > usize::from(zookeeper.params.servers) / 2
    }

    fn heard(&self, server: NodeId, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if zookeeper.is_timed() {
            cx.set(Timer::Heard(server), zookeeper.params.patience);
        }
    }

    /// Where time passes, a leader is elected as soon as one can be.
    fn elect_any(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        if !zookeeper.is_timed() || self.leader.is_some() || !self.is_quorate(zookeeper) {
            return;
        }
        let live: Vec<NodeId> = self.members.keys().copied().filter(|member| !self.silent.contains(member)).collect();
        let chosen = cx.choose(live.len() as u32);
        self.elect(live[chosen as usize], cx);
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
        let led = self.leader.filter(|_| self.is_established).map(|leader| (leader, self.epoch));
        cx.send(from, Message::Catch { round, index, entries, led });
        self.silent.remove(&from);
        self.heard(from, zookeeper, cx);
        // For the first leader, nobody has to be waited for.
        if self.epoch == 0 && self.is_quorate(zookeeper) {
            self.elect(from, cx);
        }
        self.elect_any(zookeeper, cx);
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
        cx.mark(if self.epoch == 0 { "elected" } else { "re-elected" });
        self.epoch += 1;
        self.leader = Some(server);
        self.awaited = None;
        self.is_established = false;
        let (epoch, index) = (self.epoch, self.log.len() as u32);
        cx.send(server, Message::Lead { round: self.members[&server], epoch, index });
    }

    fn on_established(&mut self, leader: NodeId, cx: Cx<'_, '_>) {
        self.is_established = true;
        for (member, round) in self.members.iter().filter(|(member, _)| **member != leader) {
            cx.send(*member, Message::Follow { round: *round, epoch: self.epoch, leader });
        }
    }

    fn depose(&mut self, cx: Cx<'_, '_>) {
        self.leader = None;
        for (member, round) in &self.members {
            cx.send(*member, Message::Lost { round: *round, epoch: self.epoch });
        }
    }
}
