//! The oracle: who leads (Zab, phase 0: "Πₗₑ", an oracle), and who no longer hears whom.
//!
//! The published TLA+ specifications have both as atomic actions over all servers. Here it is a node: it knows what servers
//! told it last, elects one that is as recent as all of a quorum of those that look, and sends the others to it: those that are more
//! recent, too, which it may not have heard of. It elects `elections` times, as a leader that meets a more recent server gives up,
//! and so it could go on for ever. A server
//! that restarts, or looks again for another reason, tells it, and it tells the other end of its connection.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Offers};

use super::Zab;
use super::message::{Decision, Message, Round, Zxid};
use super::mutants::ELECTION_IGNORES_ZXID;

/// The oracle's state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Oracle {
    /// What it knows of each server and observer that told it anything.
    seats: BTreeMap<NodeId, Seat>,
    /// Whom it elected.
    leader: Option<NodeId>,
    /// How often it may still break a connection.
    timeouts: u32,
    /// How often it may still elect.
    elections: u32,
    /// How many transactions leaders have issued, as they said when they gave up.
    issued: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Seat {
    round: Round,
    doing: Task,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Task {
    Looking { current: u32, last: Zxid },
    Leading,
    Following(NodeId),
}

type Cx<'a, 'b> = &'a mut Context<'b, Zab>;

impl Oracle {
    /// Before anyone told it anything.
    pub fn start(zab: &Zab) -> Self {
        Oracle {
            seats: BTreeMap::new(),
            leader: None,
            timeouts: zab.params.timeouts,
            elections: zab.params.elections,
            issued: 0,
        }
    }

    /// A server looks for a leader.
    pub fn on_message(&mut self, from: NodeId, message: Message, cx: Cx<'_, '_>) {
        let Message::Looking { round, current, last, issued } = message else { return cx.mark("input out of place") };
        if !self.awaits(from, round) {
            return cx.mark("looked before");
        }
        self.issued = self.issued.max(issued);
        let before = self.seats.insert(from, Seat { round, doing: Task::Looking { current, last } });
        match before {
            Some(Seat { doing: Task::Leading, .. }) => self.dethrone(from, cx),
            Some(Seat { doing: Task::Following(leader), round }) if self.leader == Some(leader) => {
                cx.send(leader, Message::Gone { learner: from, connection: round });
            }
            _ => {}
        }
        if let Some(leader) = self.leader {
            let Some(led) = self.seats.get(&leader).map(|seat| seat.round) else { return };
            cx.send(leader, Message::Join { round: led, learner: from, connection: round });
            self.seats.insert(from, Seat { round, doing: Task::Following(leader) });
        }
    }

    /// Whether it has not heard of this round, or a later one.
    pub fn awaits(&self, server: NodeId, round: Round) -> bool {
        self.seats.get(&server).is_none_or(|seat| seat.round < round)
    }

    /// The decisions.
    pub fn decisions(&self, zab: &Zab, offers: &mut Offers<'_, Zab>) {
        for leader in self.electable(zab) {
            offers.offer(Decision::Elect(leader));
        }
        if self.timeouts > 0 {
            for (learner, seat) in &self.seats {
                if matches!(seat.doing, Task::Following(_)) {
                    offers.offer(Decision::TimeOut(*learner));
                }
            }
        }
    }

    /// One is taken.
    pub fn decide(&mut self, decision: Decision, cx: Cx<'_, '_>) {
        match decision {
            Decision::Elect(leader) => self.elect(leader, cx),
            Decision::TimeOut(learner) => {
                cx.mark("timed-out");
                self.timeouts -= 1;
                cx.send(learner, Message::Lost { connection: self.seats[&learner].round });
            }
            Decision::Issue => cx.mark("input out of place"),
        }
    }

    /// Those that are as recent as all of a quorum, of those that look.
    fn electable(&self, zab: &Zab) -> Vec<NodeId> {
        if self.leader.is_some() || self.elections == 0 {
            return Vec::new();
        }
        let lookers = self.lookers(zab);
        let is_most =
            |history: (u32, Zxid)| lookers.iter().filter(|(_, other)| *other <= history).count() >= zab.quorum();
        let ignores = zab.has(ELECTION_IGNORES_ZXID) && lookers.len() >= zab.quorum();
        lookers.iter().filter(|(_, history)| ignores || is_most(*history)).map(|(server, _)| *server).collect()
    }

    /// The voters that look, and how recent they are.
    fn lookers(&self, zab: &Zab) -> Vec<(NodeId, (u32, Zxid))> {
        let looking = |(server, seat): (&NodeId, &Seat)| match seat.doing {
            Task::Looking { current, last } if zab.votes(*server) => Some((*server, (current, last))),
            _ => None,
        };
        self.seats.iter().filter_map(looking).collect()
    }

    /// All others that look are to follow; the leader sends for them.
    fn elect(&mut self, leader: NodeId, cx: Cx<'_, '_>) {
        self.elections -= 1;
        self.leader = Some(leader);
        let mut learners = BTreeMap::new();
        let Some(Seat { round, .. }) = self.seats.get(&leader).cloned() else { return };
        for (node, seat) in &mut self.seats {
            if *node == leader {
                seat.doing = Task::Leading;
            } else if matches!(seat.doing, Task::Looking { .. }) {
                seat.doing = Task::Following(leader);
                learners.insert(*node, seat.round);
            }
        }
        cx.send(leader, Message::Lead { round, learners, issued: self.issued });
    }

    /// Its leader leads no more: everyone else's connection is broken.
    fn dethrone(&mut self, leader: NodeId, cx: Cx<'_, '_>) {
        self.leader = None;
        for (learner, seat) in &self.seats {
            if seat.doing == Task::Following(leader) {
                cx.send(*learner, Message::Lost { connection: seat.round });
            }
        }
    }
}
