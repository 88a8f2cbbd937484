//! The oracle: who leads (Zab, phase 0: "Πₗₑ", an oracle), and who no longer hears whom.
//!
//! The published TLA+ specifications have both as atomic actions over all servers. Here it is a node: it knows what servers
//! told it last, elects one that is as recent as all of a quorum of those that look, and sends the others to it: those that are more
//! recent, too, which it may not have heard of. With `elects-anyone` it elects any, as in the paper: what its leader then is worth, the
//! leader finds out by itself. It elects `elections` times, as a leader that meets a more recent server gives up, and so it could
//! go on for ever.
//!
//! A server that restarts, or looks again for another reason, tells it, and it tells the other end of its connection. A leader
//! whose followers left gives up at some time, and may go on believing until then, while they elect another; who looks
//! then may be sent to either, or wait for an election. That is decided when the oracle hears of the server: to decide later is to
//! hear of it later.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Offers};

use super::message::{Decision, Message, Round, Zxid};
use super::mutants::ELECTION_IGNORES_ZXID;
use super::{Params, Zab};

/// The oracle's state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Oracle {
    /// What it knows of each server and observer that told it anything.
    seats: BTreeMap<NodeId, Seat>,
    /// How often it may still break a connection.
    timeouts: u32,
    /// How often it may still elect.
    elections: u32,
    /// How many transactions leaders have issued, as they said when they gave up.
    issued: u32,
    /// How often it may still restart a server.
    restarts: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Seat {
    round: Round,
    doing: Task,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Task {
    Looking {
        current: u32,
        last: Zxid,
    },
    Leading,
    Following(NodeId),
    /// It is being told that it no longer hears this leader; a leader, that it hears no quorum.
    Parted(NodeId),
}

type Cx<'a, 'b> = &'a mut Context<'b, Zab>;

impl Oracle {
    /// Before anyone told it anything.
    pub fn start(zab: &Zab) -> Self {
        let Params { timeouts, elections, restarts, .. } = zab.params;
        Oracle { seats: BTreeMap::new(), timeouts, elections, issued: 0, restarts }
    }

    /// A server looks for a leader.
    pub fn on_message(&mut self, from: NodeId, message: Message, zab: &Zab, cx: Cx<'_, '_>) {
        let Message::Looking { round, current, last, issued } = message else { return cx.mark("input out of place") };
        if !self.awaits(from, round) {
            return cx.mark("looked before");
        }
        self.issued = self.issued.max(issued);
        let before = self.seats.insert(from, Seat { round, doing: Task::Looking { current, last } });
        match before {
            Some(Seat { doing: Task::Leading, .. }) => self.dethrone(from, cx),
            Some(Seat { doing: Task::Parted(leader), .. }) if leader == from => self.dethrone(from, cx),
            Some(Seat { doing: Task::Following(leader) | Task::Parted(leader), round }) if self.leads(leader) => {
                cx.send(leader, Message::Gone { learner: from, connection: round });
            }
            _ => {}
        }
        self.join(from, round, zab, cx);
    }

    /// Sends a server that looks to one that leads; a voter may wait for an election instead.
    fn join(&mut self, server: NodeId, connection: Round, zab: &Zab, cx: Cx<'_, '_>) {
        let leads = |(node, seat): (&NodeId, &Seat)| (seat.doing == Task::Leading).then_some((*node, seat.round));
        let leaders: Vec<(NodeId, Round)> = self.seats.iter().filter_map(leads).collect();
        let may_wait = self.elections > 0 && zab.votes(server);
        let ways = leaders.len() + usize::from(may_wait && !leaders.is_empty());
        if leaders.is_empty() {
            return;
        }
        if let Some((leader, round)) = leaders.get(cx.choose(ways as u32) as usize) {
            cx.send(*leader, Message::Join { round: *round, learner: server, connection });
            self.seats.insert(server, Seat { round: connection, doing: Task::Following(*leader) });
        }
    }

    /// How many voters follow a leader.
    fn followers(&self, leader: NodeId, zab: &Zab) -> usize {
        let follows = |(node, seat): (&NodeId, &Seat)| zab.votes(*node) && seat.doing == Task::Following(leader);
        self.seats.iter().filter(|entry| follows(*entry)).count()
    }

    fn leads(&self, server: NodeId) -> bool {
        self.seats.get(&server).is_some_and(|seat| seat.doing == Task::Leading)
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
        for leader in
            self.seats.keys().filter(|node| self.leads(**node) && self.followers(**node, zab) + 1 < zab.quorum())
        {
            offers.offer(Decision::TimeOut(*leader));
        }
        if self.timeouts > 0 {
            for (learner, seat) in &self.seats {
                if matches!(seat.doing, Task::Following(_)) {
                    offers.offer(Decision::TimeOut(*learner));
                }
            }
        }
        if self.restarts > 0 {
            self.seats.keys().for_each(|server| offers.offer(Decision::Restart(*server)));
        }
    }

    /// One is taken.
    pub fn decide(&mut self, decision: Decision, cx: Cx<'_, '_>) {
        match decision {
            Decision::Elect(leader) => self.elect(leader, cx),
            Decision::TimeOut(learner) => {
                let Some(Seat { round, doing }) = self.seats.get_mut(&learner) else { return };
                if let Task::Following(leader) = *doing {
                    cx.mark("timed-out");
                    self.timeouts -= 1;
                    *doing = Task::Parted(leader);
                } else {
                    cx.mark("deposed");
                    *doing = Task::Parted(learner);
                }
                cx.send(learner, Message::Lost { connection: *round });
            }
            Decision::Restart(server) => {
                self.restarts -= 1;
                cx.send(server, Message::Restart);
            }
            Decision::Issue | Decision::Look => cx.mark("input out of place"),
        }
    }

    /// Those that are as recent as all of a quorum, of those that look.
    fn electable(&self, zab: &Zab) -> Vec<NodeId> {
        if self.elections == 0 {
            return Vec::new();
        }
        let lookers = self.lookers(zab);
        let is_most =
            |history: (u32, Zxid)| lookers.iter().filter(|(_, other)| *other <= history).count() >= zab.quorum();
        let is_any = zab.params.elects_anyone || zab.has(ELECTION_IGNORES_ZXID);
        let anyone = is_any && lookers.len() >= zab.quorum();
        lookers.iter().filter(|(_, history)| anyone || is_most(*history)).map(|(server, _)| *server).collect()
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

    /// The leader leads no more: all its connections are broken.
    fn dethrone(&mut self, leader: NodeId, cx: Cx<'_, '_>) {
        for (learner, seat) in &mut self.seats {
            if seat.doing == Task::Following(leader) {
                seat.doing = Task::Parted(leader);
                cx.send(*learner, Message::Lost { connection: seat.round });
            }
        }
    }
}
