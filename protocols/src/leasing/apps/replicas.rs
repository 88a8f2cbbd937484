//! A replicated store on the hash table: "to replicate data k times […], the frontend can simply call Lookup() with k different
//! keys derived from the original key in a consistent way (e.g., key_i = hash(name, i)), do a Put() or Get() on each one, and
//! return success only if a quorum respond" (PRS §2.4). And the cap of §3.3: "the number of outstanding requests at a frontend
//! destined for any particular middle tier server is not allowed to exceed a fixed cap".
//!
//! Decisions where the paper is open:
//! - *a name has one writer*, whose later values are greater, so that the greatest of what a quorum has is the newest;
//! - *a quorum is more than half*, so that what one quorum has stored the next finds (`one-is-quorum`), while no replica is
//!   lost: "this does not change the soft-state guarantees of the system, it just reduces the failure probability";
//! - *a request is outstanding until it is answered or its frontend has waited for it in vain* (`cap-ignored`).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Event, NodeId, OpId, Property, Watch};

use super::Cx;
use super::message::{Answer, Key, Operation, Reply, Request, Value};
use crate::leasing::message::{Message, RangeId};
use crate::leasing::{CAP_IGNORED, Leasing, Lookup, ONE_IS_QUORUM, Observation, Timer};

const QUORUM_NEWEST: &str = "quorum-newest";
const CAPPED: &str = "capped";

/// What a frontend knows of the replicas of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Replicas {
    /// At whom each is asked for, of those that have not answered.
    asked: BTreeMap<Key, NodeId>,
    /// What the others answered.
    answered: BTreeMap<Key, Answer>,
}

impl Leasing {
    pub(super) fn is_replicated(&self) -> bool {
        self.params.replicas > 1
    }

    /// The keys of a name, which is the first of them.
    fn replicas_of(&self, name: Key) -> impl Iterator<Item = Key> + use<> {
        (name.0..name.0 + self.params.replicas).map(Key)
    }

    /// The number of a request for one replica.
    fn replica_number(&self, op: OpId, key: Key) -> OpId {
        OpId(op.0 * u32::from(self.params.replicas) + u32::from(key.0 % self.params.replicas))
    }

    /// The frontend's operation that a request of this number is part of.
    pub(super) fn whole_of(&self, number: OpId) -> OpId {
        OpId(number.0 / u32::from(self.params.replicas))
    }

    fn quorum(&self) -> usize {
        if self.mutants.has(ONE_IS_QUORUM) { 1 } else { usize::from(self.params.replicas / 2 + 1) }
    }
}

impl Lookup {
    /// Asks for all replicas that have not answered, from the beginning or again.
    pub(super) fn ask_replicas(&mut self, op: OpId, operation: Operation, leasing: &Leasing, cx: &mut Cx<'_>) {
        if let Some(frontend) = &mut self.frontend {
            frontend.replicas.asked.clear();
        }
        self.ask_others(op, operation, leasing, cx);
        cx.set(Timer::Retry, leasing.params.patience);
    }

    /// Asks for those that are not asked for, as far as the cap allows.
    fn ask_others(&mut self, op: OpId, operation: Operation, leasing: &Leasing, cx: &mut Cx<'_>) {
        for key in leasing.replicas_of(operation.key()) {
            let place = self.lookup(key, leasing);
            let Some(frontend) = &mut self.frontend else { return };
            let Replicas { asked, answered } = &mut frontend.replicas;
            if asked.contains_key(&key) || answered.contains_key(&key) {
                continue;
            }
            let Some((owner, lease)) = place else {
                cx.mark("nowhere-to-ask");
                continue;
            };
            let count = asked.values().filter(|other| **other == owner).count() as u16;
            if leasing.params.cap > 0 && count >= leasing.params.cap {
                cx.mark("held-back");
                if !leasing.mutants.has(CAP_IGNORED) {
                    continue;
                }
            }
            asked.insert(key, owner);
            if leasing.params.cap > 0 {
                cx.observe(Observation::Outstanding { server: owner, count: count + 1 });
            }
            let (op, operation) = (leasing.replica_number(op, key), operation.at(key));
            cx.send(owner, Message::Request(Request { op, operation, lease }));
        }
    }

    /// A replica's answer; or it refuses, and is asked again with those that keep silent. The whole's answer, once a quorum
    /// has answered.
    pub(super) fn on_replica(
        &mut self,
        reply: Reply,
        operation: Operation,
        leasing: &Leasing,
        cx: &mut Cx<'_>,
    ) -> Option<Answer> {
        let key = Key(operation.key().0 + (reply.op.0 % u32::from(leasing.params.replicas)) as u16);
        let counts = reply.result.is_some_and(|(lease, _)| self.may_have(key, lease, leasing));
        let Replicas { asked, answered } = &mut self.frontend.as_mut()?.replicas;
        asked.remove(&key);
        match reply.result {
            Some((_, answer)) if counts => drop(answered.insert(key, answer)),
            _ => cx.set(Timer::Retry, leasing.params.retry),
        }
        if answered.len() >= leasing.quorum() {
            let newest = answered.values().copied().max();
            self.frontend.as_mut()?.replicas = Replicas::default();
            return newest;
        }
        self.ask_others(leasing.whole_of(reply.op), operation, leasing, cx);
        None
    }
}

impl Operation {
    /// The same on another key.
    fn at(self, key: Key) -> Operation {
        match self {
            Operation::Put(_, value) => Operation::Put(key, value),
            Operation::Get(_) => Operation::Get(key),
            other => other,
        }
    }
}

pub(super) fn properties() -> [Property; 2] {
    [
        Property::always(
            QUORUM_NEWEST,
            "a client gets what a quorum has stored before it asked, or something newer, if no replica was lost since (PRS §2.4)",
        ),
        Property::always(CAPPED, "no frontend has more requests outstanding at one server than the cap (PRS §3.3)"),
    ]
}

/// What clients are owed of each name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Quorums {
    /// What was stored last, of those of whose names no replica was lost since it was put.
    stored: BTreeMap<Key, Value>,
    /// What is being put, if no replica was lost since.
    putting: BTreeMap<NodeId, (Key, Value)>,
    /// Who asks, and what it must get.
    getting: BTreeMap<NodeId, (Key, Value)>,
}

impl Quorums {
    pub(super) fn fold(&mut self, leasing: &Leasing, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Outstanding { server, count }) if *count > leasing.params.cap => {
                watch.violated(CAPPED, format!("{node:?} has {count} requests outstanding at {server:?}"));
            }
            Event::Invoked(_, Operation::Put(name, value)) => drop(self.putting.insert(node, (*name, *value))),
            Event::Invoked(_, Operation::Get(name)) => {
                if let Some(value) = self.stored.get(name) {
                    self.getting.insert(node, (*name, *value));
                }
            }
            Event::Responded(_, Answer::Put) => {
                if let Some((name, value)) = self.putting.remove(&node) {
                    self.stored.insert(name, value);
                }
            }
            Event::Responded(_, Answer::Got(got)) => {
                let due = self.getting.remove(&node);
                if let Some((name, value)) = due.filter(|(_, value)| got.is_none_or(|got| got < *value)) {
                    let words =
                        format!("{node:?} gets {got:?} of {name:?}, of which a quorum has stored {value:?} before");
                    watch.violated(QUORUM_NEWEST, words);
                }
            }
            Event::Responded(..) | Event::Crashed => {
                self.putting.remove(&node);
                self.getting.remove(&node);
            }
            _ => {}
        }
    }

    /// What was stored in the range is lost.
    pub(super) fn lose(&mut self, leasing: &Leasing, range: RangeId) {
        let stays = |name: Key| leasing.replicas_of(name).all(|key| leasing.range_of(key) != range);
        self.stored.retain(|name, _| stays(*name));
        self.putting.retain(|_, (name, _)| stays(*name));
        self.getting.retain(|_, (name, _)| stays(*name));
    }
}
