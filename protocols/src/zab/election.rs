//! Fast leader election, as ZooKeeper implements it.
//!
//! A server votes for the most recent server that it has heard of, in an election that its logical clock numbers, and sends
//! its vote to all voters. When a quorum has its vote it waits `finalize-wait` for a better one. Servers that already follow
//! or lead answer with whom; a quorum of those, with the leader among them, is joined, whatever election they were in.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, NodeId};

use super::Zab;
use super::message::{Doing, Message, Observation, Timer, Vote, Zxid};
use super::mutants::{ELECTION_IGNORES_ZXID, FINALIZE_UNWAITED, JOINS_UNLED, VOTES_OF_ANY_ELECTION};
use super::server::{Cx, Role, Server};

/// What a server votes for, or voted for when it found its leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Ballot {
    /// The logical clock.
    pub election: u32,
    /// The vote.
    pub vote: Vote,
}

impl Ballot {
    /// Before any election.
    pub(super) fn of(server: NodeId) -> Self {
        Ballot { election: 0, vote: Vote { epoch: 0, zxid: Zxid::ZERO, leader: server } }
    }
}

/// What a server that looks for a leader has heard.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Looking {
    /// The votes of this election.
    votes: BTreeMap<NodeId, Vote>,
    /// What servers say that do not look.
    settled: BTreeMap<NodeId, (NodeId, Doing)>,
    /// Whether a quorum has the vote, and only a better one is waited for.
    is_final: bool,
}

impl Looking {
    fn count(&self, vote: Vote) -> usize {
        self.votes.values().filter(|other| **other == vote).count()
    }

    /// Whether the leader leads, and a quorum votes for it, in this election, or follows it, in any.
    fn has_settled(&self, vote: Vote, zab: &Zab) -> bool {
        let quorum = zab.quorum();
        let leads =
            zab.has(JOINS_UNLED) || self.settled.get(&vote.leader).is_some_and(|(_, doing)| *doing == Doing::Leading);
        let followers = self.settled.values().filter(|(leader, _)| *leader == vote.leader).count();
        leads && (followers >= quorum || self.count(vote) >= quorum)
    }
}

impl Server {
    /// A new election: the server votes for itself.
    pub(super) fn begin_election(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        self.ballot.election += 1;
        self.ballot.vote = self.own_vote(zab, cx);
        self.count_own(zab, cx);
        self.notify(zab, cx);
    }

    /// Sends the vote to all voters, and again after a while.
    pub(super) fn notify(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let own = cx.node();
        for server in zab.voters().filter(|server| *server != own) {
            self.tell(server, cx);
        }
        if !zab.is_alone() {
            cx.set(Timer::Notify, zab.params.notify);
        }
    }

    pub(super) fn on_notification(
        &mut self,
        from: NodeId,
        vote: Vote,
        election: u32,
        doing: Doing,
        zab: &Zab,
        cx: Cx<'_, '_>,
    ) {
        let looks = matches!(self.role, Role::Looking(_));
        if !looks || !zab.votes(from) {
            if doing == Doing::Looking {
                self.tell(from, cx);
            }
            return;
        }
        match doing {
            Doing::Looking => self.on_vote(from, vote, election, zab, cx),
            Doing::Following | Doing::Leading => self.on_settled(from, vote, election, doing, zab, cx),
        }
    }

    fn on_vote(&mut self, from: NodeId, vote: Vote, election: u32, zab: &Zab, cx: Cx<'_, '_>) {
        if election < self.ballot.election {
            return self.tell(from, cx);
        }
        if election > self.ballot.election {
            self.ballot.election = election;
            self.ballot.vote = better(self.own_vote(zab, cx), vote, zab);
            if !zab.has(VOTES_OF_ANY_ELECTION) {
                self.role = Role::Looking(Looking::default());
            }
            self.change_vote(zab, cx);
        } else if better(self.ballot.vote, vote, zab) != self.ballot.vote {
            self.ballot.vote = vote;
            self.change_vote(zab, cx);
        }
        let Role::Looking(looking) = &mut self.role else { return };
        looking.votes.insert(from, vote);
        if looking.count(self.ballot.vote) >= zab.quorum() && !looking.is_final {
            looking.is_final = true;
            if zab.has(FINALIZE_UNWAITED) {
                return self.decide(zab, cx);
            }
            cx.set(Timer::Finalize, zab.params.finalize_wait);
        }
    }

    fn change_vote(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        if let Role::Looking(looking) = &mut self.role {
            looking.is_final = false;
        }
        cx.cancel(Timer::Finalize);
        self.count_own(zab, cx);
        self.notify(zab, cx);
    }

    /// An answer of a server that has a leader, or is one: joined if a quorum says so, and the leader leads. Who is said to lead
    /// and looks is not what they follow: that was an earlier incarnation.
    fn on_settled(&mut self, from: NodeId, vote: Vote, election: u32, doing: Doing, zab: &Zab, cx: Cx<'_, '_>) {
        let in_this_election = election == self.ballot.election;
        let Role::Looking(looking) = &mut self.role else { return };
        looking.settled.insert(from, (vote.leader, doing));
        if in_this_election {
            looking.votes.insert(from, vote);
        }
        if vote.leader != cx.node() && looking.has_settled(vote, zab) {
            cx.mark("joined");
            self.ballot.election = election;
            self.conclude(vote, true, zab, cx);
        }
    }

    /// No better vote has come than the one that a quorum has.
    pub(super) fn decide(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        self.conclude(self.ballot.vote, false, zab, cx);
    }

    /// The election is over, for this server.
    fn conclude(&mut self, vote: Vote, joined: bool, zab: &Zab, cx: Cx<'_, '_>) {
        self.ballot.vote = vote;
        self.forget_timers(zab, cx);
        if zab.is_alone() {
            return self.settle_alone(joined, cx);
        }
        if vote.leader == cx.node() { self.lead(zab, cx) } else { self.follow(vote.leader, None, zab, cx) }
    }

    fn tell(&self, server: NodeId, cx: Cx<'_, '_>) {
        let Ballot { vote, election } = self.ballot;
        cx.send(server, Message::Notification { vote, election, doing: self.doing() });
    }

    fn count_own(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let vote = self.ballot.vote;
        if let (Role::Looking(looking), true) = (&mut self.role, zab.votes(cx.node())) {
            looking.votes.insert(cx.node(), vote);
        }
        if zab.is_alone() {
            cx.observe(Observation::Voted { election: self.ballot.election, vote });
        }
    }

    /// For itself; an observer's vote is not counted, and less than any.
    fn own_vote(&self, zab: &Zab, cx: Cx<'_, '_>) -> Vote {
        if !zab.votes(cx.node()) {
            return Ballot::of(NodeId(0)).vote;
        }
        Vote { epoch: self.current, zxid: self.log.last(), leader: cx.node() }
    }
}

/// The better of two votes; the first, if they are equal.
fn better(one: Vote, other: Vote, zab: &Zab) -> Vote {
    let is_better = if zab.has(ELECTION_IGNORES_ZXID) { other.leader > one.leader } else { other > one };
    if is_better { other } else { one }
}
