//! The Paxos group as an atomic leader lease and register (Centrifuge §2.1.1, Figure 3; PRS §4.4, Figure 6).
//!
//! One node stands for the five acceptors: it is reached by messages like any other, never fails, and does each thing at
//! once. That a Paxos group behaves like it is checked on its own: [`crate::paxos::group`], which takes its place
//! with `group = "paxos"`. Its seam is [`Ask`] and [`Ruling`]: whoever answers
//! these as it does can take its place.

use seedbed_model::{Canonical, Context, NodeId, Nonce, Part, Serial};

use super::message::{Ask, BidNumber, Message, Register, Ruling};
use super::mutants::ANY_LEADER_COMMITS;
use super::{Leasing, Timer};

type Cx<'a> = Context<'a, Leasing>;

/// The group's state.
///
/// 1. `term` is the largest term ever given, and `leader` who got it;
/// 2. `latest` is the largest bid of `leader` that was granted in this term: what comes after it is older, and ignored;
/// 3. nobody else is elected while the `Leader` timer is armed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Group {
    term: Nonce,
    leader: Option<NodeId>,
    latest: Option<Serial<BidNumber>>,
    register: Part<Option<Register>>,
}

impl Group {
    pub(super) fn start(nonce: Nonce) -> Self {
        Group { term: nonce, leader: None, latest: None, register: Part::new(None) }
    }

    pub(super) fn on_bid(
        &mut self,
        from: NodeId,
        bid: Serial<BidNumber>,
        ask: Ask,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        if self.leader == Some(from) && self.latest.is_some_and(|latest| bid <= latest) {
            return cx.mark("stale-bid");
        }
        let ruling = match ask {
            Ask::Lease => self.elect(from, bid, leasing, cx),
            Ask::Renewal { term, update } => self.renew(bid, term, update, leasing, cx),
        };
        cx.send(from, Message::GroupResponse { bid, ruling });
    }

    /// "Can I have the leader lease?" Whoever has it and asks for it anew has forgotten that it has it.
    fn elect(&mut self, from: NodeId, bid: Serial<BidNumber>, leasing: &Leasing, cx: &mut Cx<'_>) -> Ruling {
        if self.leader != Some(from) && cx.is_armed(&Timer::Leader) {
            return Ruling::No;
        }
        let earlier = self.leader.is_some();
        self.term = self.term.next();
        self.leader = Some(from);
        self.latest = Some(bid);
        cx.set(Timer::Leader, leasing.params.leader_margin);
        Ruling::Elected { term: self.term, earlier, register: (*self.register).clone() }
    }

    /// "Renew leader lease and commit state update": both or neither, and only in the present term. Nothing that a
    /// deposed leader writes can arrive after its successor has read.
    fn renew(
        &mut self,
        bid: Serial<BidNumber>,
        term: Nonce,
        update: Option<Register>,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) -> Ruling {
        if term != self.term {
            if leasing.mutants.has(ANY_LEADER_COMMITS) && update.is_some() {
                *self.register = update;
                return Ruling::Renewed;
            }
            return Ruling::No;
        }
        self.latest = Some(bid);
        if update.is_some() {
            *self.register = update;
        }
        cx.set(Timer::Leader, leasing.params.leader_margin);
        Ruling::Renewed
    }
}
