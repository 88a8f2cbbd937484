//! Fast leader election on its own (`histories`): what it promises before phase 1, and what it does not.
//!
//! Each server begins with one of some histories, votes, and stays with the leader it finds; it looks again by a decision. Links
//! lose nothing here, and so no vote is sent twice. Two may find different leaders in one election: one decides, the other hears
//! of a better vote, with a third. That finalizeWait is there against, where a vote is underway for less time and nobody begins
//! late (`agrees`); it is no danger where it fails, as a leader without a quorum is never established.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId, Offers, Property, Relevance, Watch};

use super::election::Ballot;
use super::leader::Leader;
use super::learner::Learner;
use super::message::{Decision, Doing, Message, Observation, Vote, Zxid};
use super::server::{Cx, Role, Server};
use super::{Params, Zab};

const BY_QUORUM: &str = "elected-by-quorum";
const MOST_RECENT: &str = "elects-most-recent";
const JOINS_WHO_LED: &str = "joins-who-led";
const ONE_ELECTED: &str = "one-elected";

/// What the properties of elections remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Elections {
    /// Who has voted for what in which election.
    voted: BTreeSet<(u32, Vote, NodeId)>,
    /// What each server's history ends with.
    histories: BTreeMap<NodeId, (u32, Zxid)>,
    /// Who has found that it leads.
    led: BTreeSet<NodeId>,
    /// Who was found in each election, first, by votes.
    found: BTreeMap<u32, NodeId>,
}

/// See the module.
pub(super) fn properties(params: &Params) -> Vec<Property> {
    let mut all = vec![
        Property::always(
            BY_QUORUM,
            "who is found by votes has those of a quorum, of this election (fast leader election)",
        ),
        Property::always(MOST_RECENT, "whose history is not behind those of a quorum (fast leader election)"),
        Property::always(
            JOINS_WHO_LED,
            "who is found by answers has found before that it leads (fast leader election)",
        ),
        Property::sometimes("found", "a server finds its leader by votes"),
        Property::sometimes("found-apart", "two servers find different leaders in one election"),
    ];
    if params.agrees {
        all.push(Property::always(ONE_ELECTED, "all that find a leader in one election find the same (finalizeWait)"));
    }
    all
}

impl Elections {
    pub(super) fn observe(&mut self, node: NodeId, shown: &Observation, zab: &Zab, watch: &mut Watch<'_>) {
        match *shown {
            Observation::Voted { election, vote } => {
                self.voted.insert((election, vote, node));
                if vote.leader == node {
                    self.histories.insert(node, (vote.epoch, vote.zxid));
                }
            }
            Observation::Found { election, vote, joined } => {
                match joined {
                    true if !self.led.contains(&vote.leader) => {
                        let words = format!("{node:?} joins {:?}, which has not found that it leads", vote.leader);
                        watch.violated(JOINS_WHO_LED, words);
                    }
                    true => {}
                    false => self.found(node, election, vote, zab, watch),
                }
                if vote.leader == node {
                    self.led.insert(node);
                }
            }
            _ => {}
        }
    }

    fn found(&mut self, node: NodeId, election: u32, vote: Vote, zab: &Zab, watch: &mut Watch<'_>) {
        watch.reached("found");
        let voters = zab.voters().filter(|voter| self.voted.contains(&(election, vote, *voter))).count();
        let behind = self.histories.values().filter(|history| **history <= (vote.epoch, vote.zxid)).count();
        if voters < zab.quorum() {
            watch.violated(BY_QUORUM, format!("{node:?} finds {vote:?} in election {election}, with {voters} votes"));
        }
        if behind < zab.quorum() {
            watch.violated(MOST_RECENT, format!("{node:?} finds {vote:?}, and only {behind} are not ahead of it"));
        }
        let first = *self.found.entry(election).or_insert(vote.leader);
        if first != vote.leader {
            watch.reached("found-apart");
            if zab.params.agrees {
                let words = format!("{node:?} finds {:?} in election {election}, and another {first:?}", vote.leader);
                watch.violated(ONE_ELECTED, words);
            }
        }
    }
}

impl Server {
    /// With any of the histories.
    pub(super) fn begin_alone(&mut self, zab: &Zab, cx: Cx<'_, '_>) {
        let counter = cx.choose(zab.params.histories);
        self.current = 1;
        self.log.base.last = Zxid { epoch: 1, counter };
    }

    /// It has found a leader, and says so to who asks.
    pub(super) fn settle_alone(&mut self, joined: bool, cx: Cx<'_, '_>) {
        let (election, vote) = (self.ballot.election, self.ballot.vote);
        cx.observe(Observation::Found { election, vote, joined });
        self.role = match vote.leader == cx.node() {
            true => Role::Leading(Leader::elected()),
            false => Role::Learning(Learner::of(vote.leader, self.round)),
        };
    }

    /// What a notification can still do: who has found its leader for good hears no more of what others have found, and whose
    /// election is behind is only answered, whatever it votes for. Elections count from 1, and who looks again is in the second.
    pub(super) fn relevance_alone(&self, node: NodeId, election: u32, doing: Doing, zab: &Zab) -> Relevance<Message> {
        let is_settled = self.has_settled_alone();
        let is_over = is_settled && !self.may_look_alone(node, zab);
        let is_behind = is_over || election == 1 && (is_settled || self.ballot.election > 1);
        match doing {
            Doing::Following | Doing::Leading if is_over => Relevance::Dead,
            Doing::Looking if is_behind && election > 0 => {
                let Ballot { election, vote } = Ballot::of(NodeId(0));
                Relevance::Same(Message::Notification { vote, election, doing })
            }
            _ => Relevance::Live,
        }
    }

    pub(super) fn decisions_alone(&self, node: NodeId, zab: &Zab, offers: &mut Offers<'_, Zab>) {
        if self.has_settled_alone() && self.may_look_alone(node, zab) {
            offers.offer(Decision::Look);
        }
    }

    fn has_settled_alone(&self) -> bool {
        !matches!(self.role, Role::Looking(_))
    }

    /// Whether it looks again once it has found a leader in this election.
    fn may_look_alone(&self, node: NodeId, zab: &Zab) -> bool {
        node.0 < zab.params.again && self.ballot.election < zab.params.elections
    }
}
