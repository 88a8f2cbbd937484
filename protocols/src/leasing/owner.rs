//! An Owner: it holds what it is told to hold, for as long as it may (Centrifuge §2.3).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context, Nonce, Part, Relevance};

use super::message::{Generation, ManagerNumber, Message, Offer, OwnerNumber, RangeId};
use super::params::{RENEWAL_AFTER_RESTART, TIMER_FROM_RECEIPT};
use super::{BackOff, Leasing, MANAGER, Observation, Timer};
use crate::seqpair::{Link, Pair, Verdict};

type Cx<'a> = Context<'a, Leasing>;

/// An Owner's volatile state.
///
/// It holds range `i` exactly while `holdings[i]` is set *and* the range's `Lease` timer is armed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Owner {
    /// Its end of the link to the Manager.
    link: Link<OwnerNumber, ManagerNumber>,
    /// The generation of each range's lease, if it has one.
    holdings: Vec<Part<Option<Generation>>>,
}

impl Owner {
    pub(super) fn start(leasing: &Leasing, nonce: Nonce, cx: &mut Cx<'_>) -> Self {
        let mut owner = Owner {
            link: Link::new(nonce, cx.node().0),
            holdings: leasing.ranges().map(|_| Part::new(None)).collect(),
        };
        owner.request(leasing, cx);
        owner
    }

    /// Asks for the renewal of everything held; what is left out is dropped thereby.
    pub(super) fn request(&mut self, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.forget_expired(cx);
        let wanted =
            ids(&self.holdings).filter_map(|(range, held)| held.map(|generation| (range, generation))).collect();
        // §2.3.1: the Owner's timer starts at the sending, before the Manager's can.
        cx.set(Timer::Request, leasing.params.lease);
        cx.set(Timer::Renew, leasing.params.renew);
        cx.cancel(Timer::BackOff(cx.node()));
        cx.send(MANAGER, Message::LeaseRequest { pair: self.link.outgoing(), wanted });
    }

    /// A lease whose timer is not armed has ended, whether or not its firing has come.
    fn forget_expired(&mut self, cx: &mut Cx<'_>) {
        for (range, held) in ids_mut(&mut self.holdings) {
            if held.is_some() && !cx.is_armed(&Timer::Lease(range)) {
                **held = None;
                cx.cancel(Timer::Lease(range));
            }
        }
    }

    pub(super) fn on_response(
        &mut self,
        pair: Pair<ManagerNumber, OwnerNumber>,
        leases: &BTreeMap<RangeId, Offer>,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) {
        match self.link.admit(pair, leasing.owner_checks()) {
            Verdict::Stale => cx.mark("stale-response"),
            Verdict::Race => {
                cx.mark("race-dropped");
                if leasing.backs_off(cx.node(), cx) == BackOff::Over {
                    self.request(leasing, cx);
                }
            }
            // A Manager that restarted: it learns of this Owner at once. Leases of the old one end by themselves.
            Verdict::NewSession => self.request(leasing, cx),
            Verdict::Fresh => self.take_in(leases, leasing, cx),
        }
    }

    /// The complete set: drops what is not in it, renews what is held, and tells the Manager of the rest.
    fn take_in(&mut self, leases: &BTreeMap<RangeId, Offer>, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.forget_expired(cx);
        let mut must_tell = cx.is_armed(&Timer::BackOff(cx.node()));
        for (range, held) in ids_mut(&mut self.holdings) {
            must_tell |= take_in_one(range, held, leases.get(&range).copied(), leasing, cx) == Told::Must;
        }
        if must_tell {
            self.request(leasing, cx);
        }
    }

    pub(super) fn on_lease_end(&mut self, range: RangeId) {
        *self.holdings[usize::from(range.0)] = None;
    }

    /// The generation of the range's lease: what a lapse of its timer ends.
    pub(super) fn generation(&self, range: RangeId) -> Option<Generation> {
        *self.holdings[usize::from(range.0)]
    }

    /// What a response in flight can still do here.
    pub(super) fn relevance(
        &self,
        pair: Pair<ManagerNumber, OwnerNumber>,
        leases: &BTreeMap<RangeId, Offer>,
        leasing: &Leasing,
    ) -> Relevance<Message> {
        let checks = leasing.owner_checks();
        match self.link.relevance(pair, checks) {
            Relevance::Dead => Relevance::Dead,
            // A racing response is dropped whatever it says.
            Relevance::Same(pair) if checks.race => {
                Relevance::Same(Message::LeaseResponse { pair, leases: BTreeMap::new() })
            }
            Relevance::Same(pair) => Relevance::Same(Message::LeaseResponse { pair, leases: leases.clone() }),
            Relevance::Live | Relevance::Always => Relevance::Live,
        }
    }
}

/// Whether the Manager must hear of what became of an offer.
#[derive(PartialEq)]
enum Told {
    Must,
    NeedNot,
}

fn take_in_one(
    range: RangeId,
    held: &mut Option<Generation>,
    offer: Option<Offer>,
    leasing: &Leasing,
    cx: &mut Cx<'_>,
) -> Told {
    match (*held, offer) {
        (None, None) => Told::NeedNot,
        (Some(generation), None) => {
            lose(range, generation, held, cx);
            Told::Must
        }
        (Some(generation), Some(offer)) if offer.generation() == generation => renew(range, leasing, cx),
        (_, Some(Offer::Renewal(_))) if !leasing.mutants.has(RENEWAL_AFTER_RESTART) => {
            cx.mark("renewal-refused");
            Told::Must
        }
        (before, Some(offer)) => {
            if let Some(generation) = before {
                lose(range, generation, held, cx);
            }
            accept(range, offer.generation(), held, leasing, cx)
        }
    }
}

fn lose(range: RangeId, generation: Generation, held: &mut Option<Generation>, cx: &mut Cx<'_>) {
    *held = None;
    cx.cancel(Timer::Lease(range));
    cx.observe(Observation::Lost { range, generation });
}

fn renew(range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) -> Told {
    if may_date(leasing, cx) {
        cx.mark("renewal");
        date(range, leasing, cx);
    }
    Told::NeedNot
}

fn accept(
    range: RangeId,
    generation: Generation,
    held: &mut Option<Generation>,
    leasing: &Leasing,
    cx: &mut Cx<'_>,
) -> Told {
    if !may_date(leasing, cx) {
        cx.mark("grant-too-late");
        return Told::Must;
    }
    *held = Some(generation);
    date(range, leasing, cx);
    cx.observe(Observation::Held { range, generation });
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

fn ids(holdings: &[Part<Option<Generation>>]) -> impl Iterator<Item = (RangeId, Option<Generation>)> {
    (0..).map(RangeId).zip(holdings.iter().map(|held| **held))
}

fn ids_mut(
    holdings: &mut [Part<Option<Generation>>],
) -> impl Iterator<Item = (RangeId, &mut Part<Option<Generation>>)> {
    (0..).map(RangeId).zip(holdings.iter_mut())
}
