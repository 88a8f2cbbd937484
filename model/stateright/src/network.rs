//! Stateright's three networks as cells of a row.
//!
//! Cells are ids of parcels. A network without order has a parcel for each message, a duplicating one also a marked
//! parcel for what it delivered last; an ordered network has a parcel for each flow, with all that waits in it.

use std::collections::VecDeque;
use std::hash::Hash;

use stateright::actor::{Envelope, Id as ActorId, Network};

/// What one cell of the network stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Parcel<M> {
    /// A message in flight.
    Message(Envelope<M>),
    /// What a duplicating network delivered last.
    Last(Envelope<M>),
    /// All that waits between two actors, oldest first.
    Flow(ActorId, ActorId, VecDeque<M>),
}

/// Which network it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Duplicating,
    NonDuplicating,
    Ordered,
}

impl Kind {
    pub(crate) fn of<M: Eq + Hash>(network: &Network<M>) -> Self {
        match network {
            Network::UnorderedDuplicating(..) => Kind::Duplicating,
            Network::UnorderedNonDuplicating(_) => Kind::NonDuplicating,
            Network::Ordered(_) => Kind::Ordered,
        }
    }
}

/// The parcels of a network.
pub(crate) fn parcels<M: Clone + Eq + Hash>(network: &Network<M>) -> Vec<Parcel<M>> {
    match network {
        Network::UnorderedDuplicating(set, last) => {
            let messages = set.iter().cloned().map(Parcel::Message);
            messages.chain(last.iter().cloned().map(Parcel::Last)).collect()
        }
        Network::UnorderedNonDuplicating(multiset) => multiset
            .iter()
            .flat_map(|(envelope, count)| std::iter::repeat_n(Parcel::Message(envelope.clone()), *count))
            .collect(),
        Network::Ordered(flows) => {
            flows.iter().map(|((src, dst), flow)| Parcel::Flow(*src, *dst, flow.clone())).collect()
        }
    }
}

/// The network of these parcels.
pub(crate) fn network<'p, M: Clone + Eq + Hash + 'p>(
    kind: Kind,
    parcels: impl Iterator<Item = &'p Parcel<M>>,
) -> Network<M> {
    let mut last = None;
    let mut envelopes = Vec::new();
    for parcel in parcels {
        match parcel {
            Parcel::Message(envelope) => envelopes.push(envelope.clone()),
            Parcel::Last(envelope) => last = Some(envelope.clone()),
            Parcel::Flow(src, dst, flow) => {
                envelopes.extend(flow.iter().map(|msg| Envelope { src: *src, dst: *dst, msg: msg.clone() }));
            }
        }
    }
    match kind {
        Kind::Duplicating => Network::new_unordered_duplicating_with_last_msg(envelopes, last),
        Kind::NonDuplicating => Network::new_unordered_nonduplicating(envelopes),
        Kind::Ordered => Network::new_ordered(envelopes),
    }
}

impl<M> Parcel<M> {
    /// The message that can be delivered or lost, if there is one: of a flow, its head.
    pub(crate) fn deliverable(&self) -> Option<Envelope<&M>> {
        match self {
            Parcel::Message(envelope) => Some(Envelope { src: envelope.src, dst: envelope.dst, msg: &envelope.msg }),
            Parcel::Last(_) => None,
            Parcel::Flow(src, dst, flow) => flow.front().map(|msg| Envelope { src: *src, dst: *dst, msg }),
        }
    }
}
