//! An Owner: it holds what it is told to hold, for as long as it may (Centrifuge §2.3).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, NodeId, Nonce, Part, Relevance};

use super::apps::Server;
use super::apps::api::Handle;
use super::apps::message::Cargo;
use super::message::{Generation, ManagerNumber, Message, Offer, OwnerNumber, RangeId};
use super::mutants::{
    HAND_OVER_UNDER_LEASE, MIGRATED_UNCHECKED, RENEWAL_AFTER_RESTART, STICK_TO_LEADER, TIMER_FROM_RECEIPT,
};
use super::{BackOff, Feature, Leasing, Observation, Timer};
use crate::seqpair::{Link, Pair, Verdict};

type Cx<'a> = Context<'a, Leasing>;

/// An Owner's volatile state.
///
/// 1. it holds range `i` exactly while `holdings[i]` is `Held` *and* the range's `Lease` timer is armed;
/// 2. it has the state of a range that another Owner handed over exactly while that is `Received` and the timer armed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Owner {
    /// Its end of the link to the Manager; a new leader of the Manager service is to it the Manager restarted.
    link: Link<OwnerNumber, ManagerNumber>,
    /// Which Manager server answered the latest request, if one did. The only one, where there is one.
    leader: Option<NodeId>,
    /// `[i]` belongs to range `i`.
    holdings: Vec<Part<Holding>>,
    /// What the application has here.
    pub(super) server: Server,
}

/// What an Owner has of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) enum Holding {
    /// Nothing.
    Nothing,
    /// State without a lease: that of this generation, handed over.
    Received(Generation),
    /// The lease of this generation.
    Held(Generation),
}

impl Owner {
    pub(super) fn start(leasing: &Leasing, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let mut owner = Owner {
            link: Link::new(nonce, cx.node().0),
            leader: leasing.only_manager(),
            holdings: leasing.ranges().map(|_| Part::new(Holding::Nothing)).collect(),
            server: Server::start(leasing, nonce, cx),
        };
        owner.request(leasing, cx);
        owner
    }

    /// Asks for the renewal of everything held; what is left out is dropped thereby. "Unless that server becomes
    /// unresponsive", the request goes to the leader alone (Centrifuge §2.1.1); else to all, of whom the leader answers.
    pub(super) fn request(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.forget_expired(cx);
        let (mut wanted, mut received) = (BTreeMap::new(), BTreeMap::new());
        for (range, holding) in ids(&self.holdings) {
            match holding {
                Holding::Nothing => {}
                Holding::Received(generation) => drop(received.insert(range, generation)),
                Holding::Held(generation) => drop(wanted.insert(range, generation)),
            }
        }
        // §2.3.1: the Owner's timer starts at the sending, before the Manager's can.
        cx.set(Timer::Request, leasing.params.lease);
        cx.set(Timer::Renew, leasing.params.renew);
        cx.cancel(Timer::BackOff(cx.node()));
        let request = Message::LeaseRequest { pair: self.link.outgoing(), wanted, received };
        leasing.send_to_manager(self.leader, request, cx);
        self.report_load(leasing, cx);
        if !leasing.mutants.has(STICK_TO_LEADER) {
            self.leader = leasing.only_manager();
        }
    }

    /// A lease whose timer is not armed has ended, whether or not its firing has come.
    fn forget_expired(&mut self, cx: &mut Cx<'_>) {
        let Owner { holdings, server, .. } = self;
        for (range, holding) in ids_mut(holdings) {
            if **holding != Holding::Nothing && !cx.is_armed(&Timer::Lease(range)) {
                server.ended(range, **holding, cx);
                **holding = Holding::Nothing;
                cx.cancel(Timer::Lease(range));
            }
        }
    }

    pub(super) fn on_response(&mut self, from: NodeId, response: &Response<'_>, leasing: &Leasing, cx: &mut Cx<'_>) {
        let verdict = self.link.admit(response.pair, leasing.owner_checks());
        if verdict == Verdict::Stale {
            return cx.mark("stale-response");
        }
        self.leader = Some(from);
        match verdict {
            Verdict::Stale => {}
            Verdict::Race => {
                cx.mark("race-dropped");
                if leasing.backs_off(cx.node(), cx) == BackOff::Over {
                    self.request(leasing, cx);
                }
            }
            // A Manager that restarted, or a new leader: it learns of this Owner at once, and of its leases.
            Verdict::NewSession => self.request(leasing, cx),
            Verdict::Fresh => self.take_in(response, leasing, cx),
        }
    }

    /// The complete set: drops what is not in it, renews what is held, and tells the Manager of the rest.
    fn take_in(&mut self, response: &Response<'_>, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.forget_expired(cx);
        let mut must_tell = cx.is_armed(&Timer::BackOff(cx.node()));
        let Owner { holdings, server, .. } = self;
        for (range, holding) in ids_mut(holdings) {
            let mut place = Place { range, holding, server };
            let told = match response.moves.get(&range) {
                Some(to) => place.hand_over(*to, leasing, cx),
                None => place.take_in(response.leases.get(&range).copied(), leasing, cx),
            };
            must_tell |= told == Told::Must;
        }
        if must_tell {
            self.request(leasing, cx);
        }
    }

    /// Another Owner's state of a range, for which the Manager will give the lease once it knows. It is kept for as long as
    /// a lease, no longer: by then the Manager has given it up.
    pub(super) fn on_hand_over(
        &mut self,
        range: RangeId,
        generation: Generation,
        cargo: Cargo,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        self.forget_expired(cx);
        let Some(holding) = self.holdings.get_mut(usize::from(range.0)) else { return cx.mark("state of no range") };
        match **holding {
            Holding::Received(before) if before >= generation => return cx.mark("state-too-late"),
            Holding::Held(_) => return cx.mark("state-too-late"),
            Holding::Received(_) | Holding::Nothing => {}
        }
        **holding = Holding::Received(generation);
        self.server.receive(generation, cargo);
        cx.set(Timer::Lease(range), leasing.params.lease);
        self.request(leasing, cx);
    }

    pub(super) fn on_lease_end(&mut self, range: RangeId, cx: &mut Cx<'_>) {
        let holding = std::mem::replace(&mut *self.holdings[usize::from(range.0)], Holding::Nothing);
        self.server.ended(range, holding, cx);
    }

    /// Which Manager server answered the latest request, if one did.
    pub(super) fn leader(&self) -> Option<NodeId> {
        self.leader
    }

    /// The generation of the lease that it holds now.
    pub(super) fn held(&self, range: RangeId, cx: &mut Cx<'_>) -> Option<Generation> {
        self.generation(range).filter(|_| cx.is_armed(&Timer::Lease(range)))
    }

    /// The generation of the state that another Owner handed over, for which the lease is yet to come.
    pub(super) fn received(&self, range: RangeId) -> Option<Generation> {
        match *self.holdings[usize::from(range.0)] {
            Holding::Received(generation) => Some(generation),
            Holding::Held(_) | Holding::Nothing => None,
        }
    }

    /// The generation of the range's lease: what a lapse of its timer ends.
    pub(super) fn generation(&self, range: RangeId) -> Option<Generation> {
        match *self.holdings[usize::from(range.0)] {
            Holding::Held(generation) => Some(generation),
            Holding::Received(_) | Holding::Nothing => None,
        }
    }

    /// What a response in flight can still do here.
    pub(super) fn relevance(&self, message: &Message, leasing: &Leasing) -> Relevance<Message> {
        if let (Message::LookupResponse { poll, .. }, Some(lookup)) = (message, &self.server.lookup) {
            return lookup.relevance(*poll);
        }
        let Message::LeaseResponse { pair, leases, moves } = message else { return Relevance::Live };
        let checks = leasing.owner_checks();
        match self.link.relevance(*pair, checks) {
            Relevance::Dead => Relevance::Dead,
            // A racing response is dropped whatever it says.
            Relevance::Same(pair) if checks.race => {
                Relevance::Same(Message::LeaseResponse { pair, leases: BTreeMap::new(), moves: BTreeMap::new() })
            }
            Relevance::Same(pair) => {
                Relevance::Same(Message::LeaseResponse { pair, leases: leases.clone(), moves: moves.clone() })
            }
            Relevance::Live | Relevance::Always => Relevance::Live,
        }
    }
}

/// A response of the Manager.
pub(super) struct Response<'a> {
    pub(super) pair: Pair<ManagerNumber, OwnerNumber>,
    pub(super) leases: &'a BTreeMap<RangeId, Offer>,
    pub(super) moves: &'a BTreeMap<RangeId, NodeId>,
}

/// Whether the Manager must hear of what became of an offer.
#[derive(PartialEq)]
enum Told {
    Must,
    NeedNot,
}

/// A range at this Owner, while a response is taken in.
struct Place<'a> {
    range: RangeId,
    holding: &'a mut Holding,
    server: &'a mut Server,
}

impl Place<'_> {
    fn take_in(&mut self, offer: Option<Offer>, leasing: &Leasing, cx: &mut Cx<'_>) -> Told {
        match (*self.holding, offer) {
            (Holding::Nothing | Holding::Received(_), None) => Told::NeedNot,
            (Holding::Held(generation), Some(offer)) if offer.generation() == generation => {
                renew(self.range, leasing, cx)
            }
            (Holding::Held(generation), None) => {
                self.lose(generation, cx);
                Told::Must
            }
            (before, Some(Offer::Migrated { generation, from })) => {
                // What was handed over to it, or the half that stays here of a range that splits.
                let has_state = before == Holding::Received(from) || before == Holding::Held(from);
                if !has_state && !leasing.mutants.has(MIGRATED_UNCHECKED) {
                    cx.mark("migrated-refused");
                    return Told::Must;
                }
                if before == Holding::Held(from) {
                    cx.mark("retained");
                }
                self.accept(Lease { generation, from: has_state.then_some(from), migrated: Some(from) }, leasing, cx)
            }
            (before, Some(Offer::Renewal(_))) if !leasing.mutants.has(RENEWAL_AFTER_RESTART) => {
                cx.mark("renewal-refused");
                leasing.show(Feature::OwnerCrash, cx);
                // The half that stays, and whose new number a new leader knows alone.
                if let (Holding::Held(generation), true) = (before, leasing.params.halves) {
                    self.lose(generation, cx);
                }
                Told::Must
            }
            (before, Some(offer)) => {
                if let Holding::Held(generation) = before {
                    self.lose(generation, cx);
                }
                self.accept(Lease { generation: offer.generation(), from: None, migrated: None }, leasing, cx)
            }
        }
    }

    /// "Nodes are notified" of a transfer, "so that they can move state with the lease" (Centrifuge §2.1.2): first the lease
    /// is dropped, and then the state leaves.
    fn hand_over(&mut self, to: NodeId, leasing: &Leasing, cx: &mut Cx<'_>) -> Told {
        let (range, Holding::Held(generation)) = (self.range, *self.holding) else { return Told::NeedNot };
        let cargo = self.server.cargo(range, generation, leasing);
        cx.send(to, Message::HandOver { range, generation, cargo });
        if leasing.mutants.has(HAND_OVER_UNDER_LEASE) {
            return Told::NeedNot;
        }
        *self.holding = Holding::Nothing;
        cx.cancel(Timer::Lease(range));
        cx.observe(Observation::Moved { range, generation });
        self.server.revoked(range, cx);
        Told::Must
    }

    fn lose(&mut self, generation: Generation, cx: &mut Cx<'_>) {
        *self.holding = Holding::Nothing;
        cx.cancel(Timer::Lease(self.range));
        cx.observe(Observation::Lost { range: self.range, generation });
        self.server.revoked(self.range, cx);
    }

    fn accept(&mut self, lease: Lease, leasing: &Leasing, cx: &mut Cx<'_>) -> Told {
        if !may_date(leasing, cx) {
            cx.mark("grant-too-late");
            return Told::Must;
        }
        let (range, Lease { generation, from, migrated }) = (self.range, lease);
        *self.holding = Holding::Held(generation);
        date(range, leasing, cx);
        cx.observe(Observation::Held { range, generation, from, migrated });
        self.server.granted(Handle { range, lease: generation }, from, leasing, cx);
        Told::NeedNot
    }
}

/// A lease to be held, and whose state comes with it.
struct Lease {
    generation: Generation,
    from: Option<Generation>,
    migrated: Option<Generation>,
}

fn renew(range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) -> Told {
    if may_date(leasing, cx) {
        cx.mark("renewal");
        date(range, leasing, cx);
    }
    Told::NeedNot
}

/// A request sent longer ago than a lease gives no time to hold anything.
fn may_date(leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
    cx.is_armed(&Timer::Request) || leasing.mutants.has(TIMER_FROM_RECEIPT)
}

/// "Hold lease for 60 - T seconds" (Figure 5), T counted from the sending of the request that the response names.
fn date(range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
    if leasing.mutants.has(TIMER_FROM_RECEIPT) {
        cx.set(Timer::Lease(range), leasing.params.lease);
    } else {
        cx.copy(Timer::Request, Timer::Lease(range));
    }
}

fn ids(holdings: &[Part<Holding>]) -> impl Iterator<Item = (RangeId, Holding)> {
    (0..).map(RangeId).zip(holdings.iter().map(|holding| **holding))
}

fn ids_mut(holdings: &mut [Part<Holding>]) -> impl Iterator<Item = (RangeId, &mut Part<Holding>)> {
    (0..).map(RangeId).zip(holdings.iter_mut())
}
