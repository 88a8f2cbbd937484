//! "Once a message has been accepted by the Publish-subscribe service, each subscriber will either receive the message or
//! know that they missed some messages" (Centrifuge §4.4).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Event, NodeId, Property, Watch};

use super::Application;
use super::message::{Answer, Entry, Key, Operation, Push};
use crate::leasing::message::{Generation, RangeId};
use crate::leasing::{Leasing, Observation};

const DELIVERED_OR_TOLD: &str = "delivered-or-told";

/// The deadlines of what is owed have this number and those after it. No loss comes so far.
const FIRST: u32 = 1 << 31;

/// Whether a deadline is one of these.
pub(super) fn is_own(id: u32) -> bool {
    (FIRST..FIRST + (1 << 30)).contains(&id)
}

pub(super) fn property() -> Property {
    Property::within(
        DELIVERED_OR_TOLD,
        "once a publication is accepted, each client that had subscribed before it has it, or its subscription is lost, and it \
         hears of that within `notice`; by then it or a notice is in the client's queue, where it has one (Centrifuge §4.1, \
         §4.3, §4.4)",
    )
}

/// How far the delivery of something that is owed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Owed {
    /// It is published, and perhaps not accepted.
    Offered,
    /// It is accepted, and the deadline of this number set.
    Accepted(u32),
    /// The deadline has passed: it is in the client's queue, or a notice is.
    Due,
    /// And the client has asked for what is in its queue.
    Asked,
}

/// Who is owed what.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Deliveries {
    /// What the clients are at, and under which lease it was answered.
    open: BTreeMap<NodeId, (Operation, Option<Generation>)>,
    /// The leases of subscriptions that were answered, of clients that were not told of a loss since.
    subscribed: BTreeMap<(NodeId, Key), Generation>,
    /// Where what is published goes to queues, the topic that the client subscribed to, and whether its queue is there.
    connected: BTreeMap<NodeId, (Key, bool)>,
    /// What was published after a subscription.
    owed: BTreeMap<(NodeId, Push), Owed>,
    /// What was stored in the range under this lease or an earlier one is lost.
    gone: BTreeMap<RangeId, Generation>,
    /// What was stored under this lease is on its way to another Owner.
    moved: BTreeMap<RangeId, Generation>,
}

impl Deliveries {
    pub(super) fn fold(&mut self, leasing: &Leasing, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        match event {
            Event::Invoked(_, operation) => {
                self.open.insert(node, (*operation, None));
                if let Some(push) = published(*operation) {
                    self.offer(push);
                }
                if let Operation::Dequeue(..) = operation {
                    let due = self.owed.iter_mut().filter(|((client, _), owed)| *client == node && **owed == Owed::Due);
                    due.for_each(|(_, owed)| *owed = Owed::Asked);
                }
            }
            Event::Responded(_, answer) => {
                if let Some((operation, lease)) = self.open.remove(&node) {
                    self.responded(leasing, node, (operation, lease), *answer, watch);
                }
            }
            Event::Crashed => {
                let open = self.open.remove(&node);
                if let Some(unanswered) = open.and_then(|(operation, _)| published(operation)) {
                    self.forget(|_, push| push == unanswered, watch);
                }
                self.connected.remove(&node);
                self.subscribed.retain(|(subscriber, _), _| *subscriber != node);
                self.forget(|subscriber, _| subscriber == node, watch);
            }
            Event::Observed(observation) => self.observed(node, observation, watch),
            Event::Deadline(id) => self.fall_due(leasing, *id, watch),
            _ => {}
        }
    }

    fn responded(
        &mut self,
        leasing: &Leasing,
        node: NodeId,
        (operation, lease): (Operation, Option<Generation>),
        answer: Answer,
        watch: &mut Watch<'_>,
    ) {
        match (operation, answer) {
            (Operation::Subscribe(topic), Answer::Subscribed) => {
                watch.reached("subscribed");
                match leasing.params.application {
                    // It is owed nothing before it is connected.
                    Application::LiveMesh => drop(self.connected.insert(node, (topic, false))),
                    _ => drop(lease.map(|lease| self.subscribed.insert((node, topic), lease))),
                }
            }
            (Operation::Connect(..), Answer::Connected) => {
                watch.reached("connected");
                self.connected.entry(node).and_modify(|(_, is_there)| *is_there = true);
            }
            (Operation::Dequeue(..), Answer::Dequeued(Some(Entry::Event(event)))) => {
                watch.reached("dequeued");
                self.forget(|client, push| client == node && push.event == event, watch);
            }
            (operation, Answer::GaveUp) => {
                if let Some(unanswered) = published(operation) {
                    self.forget(|_, push| push == unanswered, watch);
                }
            }
            (Operation::Dequeue(..), Answer::Dequeued(Some(Entry::Lost(_))) | Answer::Told) => self.told(node, watch),
            (Operation::Dequeue(..), Answer::Dequeued(None)) => {
                let missed = |((client, _), owed): &(&(NodeId, Push), &Owed)| *client == node && **owed == Owed::Asked;
                if let Some(((_, push), _)) = self.owed.iter().find(missed) {
                    let words = format!(
                        "the queue of {node:?} has neither {push:?} nor a notice, more than {} after that was accepted",
                        leasing.params.notice
                    );
                    watch.violated(DELIVERED_OR_TOLD, words);
                }
            }
            (operation, Answer::Published | Answer::Put) => {
                if let Some(push) = published(operation) {
                    watch.reached("published");
                    self.accept(leasing, push, watch);
                }
            }
            _ => {}
        }
    }

    /// The client knows that it may have missed anything.
    fn told(&mut self, client: NodeId, watch: &mut Watch<'_>) {
        self.connected.remove(&client);
        self.forget(|other, _| other == client, watch);
    }

    fn fall_due(&mut self, leasing: &Leasing, id: u32, watch: &mut Watch<'_>) {
        let found = self.owed.iter_mut().find(|(_, owed)| **owed == Owed::Accepted(id));
        let Some(((subscriber, push), owed)) = found else { return };
        if self.connected.contains_key(subscriber) {
            *owed = Owed::Due;
            return;
        }
        let notice = leasing.params.notice;
        let words = format!("{subscriber:?} has neither {push:?} nor word of a loss, {notice} after that was accepted");
        watch.violated(DELIVERED_OR_TOLD, words);
    }

    fn observed(&mut self, node: NodeId, observation: &Observation, watch: &mut Watch<'_>) {
        match observation {
            Observation::Believed { lease, .. } => {
                if let Some((_, answered)) = self.open.get_mut(&node) {
                    *answered = Some(*lease);
                }
            }
            Observation::Delivered(push) => {
                watch.reached("delivered");
                self.forget(|subscriber, owed| (subscriber, owed) == (node, *push), watch);
            }
            Observation::Missed(_) if self.connected.contains_key(&node) => self.told(node, watch),
            Observation::Missed(key) => {
                self.subscribed.remove(&(node, *key));
                self.forget(|subscriber, push| (subscriber, push.key) == (node, *key), watch);
            }
            // Who did not refresh its subscription in time has left (PRS §3.4).
            Observation::Expired(key) => {
                self.subscribed.retain(|(_, topic), _| topic != key);
                self.forget(|_, push| push.key == *key, watch);
            }
            Observation::Lost { range, generation } => self.lose(*range, *generation),
            Observation::Moved { range, generation } => drop(self.moved.insert(*range, *generation)),
            Observation::Held { range, from, .. } => {
                let before = self.moved.remove(range);
                before.filter(|_| from.is_none()).into_iter().for_each(|before| self.lose(*range, before));
            }
            _ => {}
        }
    }

    /// What was stored under this lease is lost.
    pub(super) fn lose(&mut self, range: RangeId, lease: Generation) {
        self.gone.insert(range, lease);
    }

    /// Whoever has subscribed by now is owed it, if it is accepted.
    fn offer(&mut self, push: Push) {
        let subscribed = self.subscribed.keys().copied();
        let is_there = |(_, (_, is_there)): &(&NodeId, &(Key, bool))| *is_there;
        let connected = self.connected.iter().filter(is_there).map(|(client, (topic, _))| (*client, *topic));
        let of_topic = subscribed.chain(connected).filter(|(_, topic)| *topic == push.key);
        self.owed.extend(of_topic.map(|(subscriber, _)| ((subscriber, push), Owed::Offered)));
    }

    /// From here on, who has it not must have lost its subscription, and hear of that; or it is in a queue.
    fn accept(&mut self, leasing: &Leasing, accepted: Push, watch: &mut Watch<'_>) {
        let Deliveries { subscribed, owed, gone, .. } = self;
        let gone = gone.get(&leasing.range_of(accepted.key));
        let id = |owed: &Owed| if let Owed::Accepted(id) = owed { Some(*id) } else { None };
        let mut ids = owed.values().filter_map(id).max().map_or(FIRST, |id| id + 1)..;
        let has_room = ids.start == FIRST || !watch.one_at_a_time();
        owed.retain(|(subscriber, push), owed| {
            if *push != accepted || *owed != Owed::Offered {
                return true;
            }
            let lease = subscribed.get(&(*subscriber, push.key));
            if lease.is_some_and(|lease| gone.is_none_or(|gone| lease > gone)) {
                let words = format!("{push:?} is accepted, and {subscriber:?} has it not, whose {lease:?} is not lost");
                watch.violated(DELIVERED_OR_TOLD, words);
            }
            let Some(id) = ids.next().filter(|_| has_room && watch.follow()) else { return false };
            watch.set_deadline(id, leasing.params.notice);
            *owed = Owed::Accepted(id);
            true
        });
    }

    fn forget(&mut self, is_settled: impl Fn(NodeId, Push) -> bool, watch: &mut Watch<'_>) {
        self.owed.retain(|(subscriber, push), owed| {
            let settled = is_settled(*subscriber, *push);
            if let (true, Owed::Accepted(id)) = (settled, *owed) {
                watch.clear_deadline(id);
            }
            !settled
        });
    }
}

/// What an operation publishes, and under which topic: a device's address under the topic of the device.
fn published(operation: Operation) -> Option<Push> {
    match operation {
        Operation::Publish(key, event) => Some(Push { key, event }),
        Operation::Put(Key(device), event) => Some(Push { key: Key(device + 1), event }),
        _ => None,
    }
}
