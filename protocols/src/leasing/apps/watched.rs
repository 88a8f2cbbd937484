//! What must hold of what stands on leasing.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::history::{Configurations, Specification};
use seedbed_model::{Canonical, Data, Event, NodeId, OpId, Property, Span, Watch};

use super::deliveries::{self, Deliveries};
use super::message::{Answer, Entry, Key, Operation, Value};
use super::replicas::Quorums;
use super::soft::{Soft, SoftDocument, SoftQueue, Written};
use super::{Application, replicas};
use crate::leasing::message::{Generation, RangeId};
use crate::leasing::{Leasing, Observation};

const CONTINUITY: &str = "continuity";
const COVERED: &str = "covered";
const ONCE_A_PERIOD: &str = "once-a-period";
const SOFT: &str = "soft-linearizable";
const SOFT_DOCUMENT: &str = "soft-document";
const KEPT_FOR_TTL: &str = "kept-for-ttl";
const ANSWERED_IN_TIME: &str = "answered-in-time";
const SOFT_QUEUE: &str = "soft-queue";
const LOSS_AFTER_ANSWER: &str = "loss-after-answer";

/// The demonic client of PRS §2.4.
const DEMON: NodeId = NodeId(u16::MAX);

/// The deadline of a range's period is this and the range's number less. No loss has it.
const PERIOD: u32 = u32::MAX - 1;

/// The deadline of a client's refresh is this and the client's number. It is above those of what is owed.
const TTL: u32 = 3 << 30;

/// The deadline of a client's answer is this and the client's number.
const LIMIT: u32 = TTL + (1 << 20);

/// What the properties remember. Nothing of it without an application.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Watched {
    /// What clients saw of each key.
    histories: BTreeMap<Key, Configurations<Option<Value>, Operation, Answer>>,
    /// And of each queue.
    queues: BTreeMap<Key, Configurations<Option<Vec<Value>>, Operation, Answer>>,
    /// What each frontend was told: whatever is older than the generation is lost.
    lost: BTreeMap<(NodeId, RangeId), Generation>,
    /// What is owed to who subscribed.
    deliveries: Deliveries,
    /// And of each document.
    documents: BTreeMap<Key, Configurations<Written, Operation, Answer>>,
    /// Documents that a client asked to keep less than their time to live ago, and whether it was answered.
    refreshed: BTreeMap<NodeId, (Key, bool)>,
    /// Ranges whose task began less than a period ago.
    recent: BTreeSet<RangeId>,
    /// What clients are owed where values are replicated.
    quorums: Quorums,
}

pub(crate) fn properties() -> Vec<Property> {
    let mut properties = vec![
        Property::always(
            CONTINUITY,
            "check_lease_continuous succeeds only for the lease that this Owner has held since the handle was made \
             (PRS §2.2, Centrifuge §3.2)",
        ),
        Property::always(
            COVERED,
            "what an Owner exposes was done under a lease that it held from the first check on (PRS Figure 4, steps 1 to 5)",
        ),
        Property::always(
            ONCE_A_PERIOD,
            "a range's periodic task begins at most once in a period, on whichever Owner (PRS §3.4)",
        ),
        Property::history(
            SOFT,
            "what clients see of a key has an order, in which each loss of its lease deletes it and nothing else does \
             (PRS §2.4: \"ACID without the Durability\")",
        ),
        Property::history(
            SOFT_QUEUE,
            "what clients see of a queue has an order, in which each loss of its lease deletes it and nothing else does: what was \
             enqueued is dequeued, or its client is told (Centrifuge §4.3)",
        ),
        Property::history(
            SOFT_DOCUMENT,
            "what clients see of a document has an order, in which each update is for the version before it, and each loss of \
             its lease and its expiry deletes it (PRS §3)",
        ),
        Property::always(
            KEPT_FOR_TTL,
            "no document, value, subscription or queue expires less than its time to live after an update or a refresh of it that \
             was answered was asked for (PRS §3.4)",
        ),
        Property::within(
            ANSWERED_IN_TIME,
            "where retries end, a client hears of what it asked within that time (PRS §7.2)",
        ),
        deliveries::property(),
        Property::always(
            LOSS_AFTER_ANSWER,
            "no client is answered from state that its frontend was told is lost: the news of its loss comes after (PRS §2.1)",
        ),
    ];
    properties.extend(replicas::properties());
    properties
}

pub(crate) fn goals() -> Vec<Property> {
    vec![
        Property::sometimes("held-back", "a frontend has as many requests at a server as the cap allows (PRS §3.3)"),
        Property::sometimes("put", "a client is told that its value is kept"),
        Property::sometimes("got", "a client gets a value that was put"),
        Property::sometimes("subscribed", "a client is told that it has subscribed"),
        Property::sometimes("published", "a client is told that what it published is accepted"),
        Property::sometimes("delivered", "a frontend gives its client what was published"),
        Property::sometimes("connected", "a client that subscribed has a queue for what is published"),
        Property::sometimes("enqueued", "a client is told that what it enqueued is accepted"),
        Property::sometimes("dequeued", "a client takes something from its queue"),
        Property::sometimes("updated", "a client is told that its update is made"),
        Property::sometimes("conflict", "an update comes too late for the version that it is for"),
        Property::sometimes("expired", "what nobody refreshed is deleted"),
        Property::sometimes("exposed-without-lease", "a server answers without the lease (PRS §3.1)"),
        Property::sometimes("gave-up", "a frontend ends its retries (PRS §7.2)"),
        Property::sometimes("stale-state", "a server finds that what it stored was under another lease"),
        Property::sometimes("client-told", "a client that waits for it hears that what it put is lost"),
        Property::sometimes("task-done", "a periodic task is done under one lease"),
    ]
}

impl Watched {
    /// Folds an event. `holder` says who holds a range, under which generation, as all properties know it.
    pub(crate) fn fold(
        &mut self,
        leasing: &Leasing,
        node: NodeId,
        event: &Event<Leasing>,
        holder: impl Fn(RangeId) -> Option<(NodeId, Generation)>,
        watch: &mut Watch<'_>,
    ) {
        if leasing.delivers() {
            self.deliveries.fold(leasing, node, event, watch);
        }
        if leasing.params.application == Application::Queue {
            watch_each(&mut self.queues, &SoftQueue, SOFT_QUEUE, node, event, watch);
        }
        if leasing.params.application == Application::SectionedDocument {
            watch_each(&mut self.documents, &SoftDocument, SOFT_DOCUMENT, node, event, watch);
        }
        self.refresh(leasing, node, event, watch);
        if leasing.is_replicated() {
            self.quorums.fold(leasing, node, event, watch);
        } else if matches!(leasing.params.application, Application::HashTable | Application::RssProcessor) {
            watch_each(&mut self.histories, &Soft, SOFT, node, event, watch);
        }
        leasing.limit(node, event, watch);
        match event {
            Event::Responded(_, answer) => match answer {
                Answer::GaveUp => watch.reached("gave-up"),
                Answer::Put => watch.reached("put"),
                Answer::Got(Some(_)) => watch.reached("got"),
                Answer::Updated => watch.reached("updated"),
                Answer::Enqueued => watch.reached("enqueued"),
                Answer::Dequeued(Some(Entry::Event(_))) => watch.reached("dequeued"),
                _ => {}
            },
            Event::Crashed => self.lost.retain(|(lookup, _), _| *lookup != node),
            Event::Deadline(id) if Self::is_period(*id) => drop(self.recent.remove(&RangeId((PERIOD - id) as u8))),
            Event::Observed(observation) => self.observed(leasing, node, observation, holder, watch),
            _ => {}
        }
    }

    /// Whether a deadline is one of a period, of a refresh, or of what is owed.
    pub(crate) fn is_own(id: u32) -> bool {
        id >= TTL || deliveries::is_own(id)
    }

    fn is_period(id: u32) -> bool {
        (PERIOD - u32::from(u8::MAX)..=PERIOD).contains(&id)
    }

    fn observed(
        &mut self,
        leasing: &Leasing,
        node: NodeId,
        observation: &Observation,
        holder: impl Fn(RangeId) -> Option<(NodeId, Generation)>,
        watch: &mut Watch<'_>,
    ) {
        match observation {
            Observation::Continuous { range, lease } if holder(*range) != Some((node, *lease)) => {
                let words = format!(
                    "{node:?} takes {lease:?} of {range:?} for held without a break: {}",
                    words(holder(*range))
                );
                watch.violated(CONTINUITY, words);
            }
            Observation::Exposed { range, lease } if holder(*range) != Some((node, *lease)) => {
                let words =
                    format!("{node:?} exposes what it did under {lease:?} of {range:?}: {}", words(holder(*range)));
                watch.violated(COVERED, words);
            }
            Observation::TaskBegun(range) => {
                if !self.recent.insert(*range) {
                    let words = format!("{node:?} begins the task of {range:?} less than a period after it last began");
                    watch.violated(ONCE_A_PERIOD, words);
                }
                let period = leasing.params.owner_shortest.floor_of(leasing.params.period);
                watch.set_deadline(PERIOD - u32::from(range.0), period);
            }
            // Whatever was under way to this Owner did not come.
            Observation::Held { range, from: None, .. } | Observation::Lost { range, .. } => {
                self.lose(leasing, *range, watch);
            }
            Observation::Notified { range, generation } if leasing.has_frontends() => {
                self.lost.insert((node, *range), *generation);
            }
            Observation::Disconnected => self.lost.retain(|(lookup, _), _| *lookup != node),
            Observation::Believed { range, lease } => {
                if let Some(told) = self.lost.get(&(node, *range)).filter(|told| lease < *told) {
                    let words = format!(
                        "{node:?} answers its client from {lease:?} of {range:?}, and has told that all before {told:?} is lost"
                    );
                    watch.violated(LOSS_AFTER_ANSWER, words);
                }
            }
            _ => {}
        }
    }

    /// A document lives from the asking for an update or a refresh on, if that is answered.
    fn refresh(&mut self, leasing: &Leasing, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        // Who is not asked for leases may have left what was refreshed at another.
        if leasing.params.ttl == Span::ZERO || leasing.params.application == Application::RssProcessor {
            return;
        }
        match event {
            Event::Invoked(_, operation) if refreshes(*operation) => {
                self.refreshed.insert(node, (operation.key(), false));
                let ttl = leasing.params.owner_shortest.floor_of(leasing.params.ttl);
                watch.set_deadline(TTL + u32::from(node.0), ttl);
            }
            Event::Responded(_, answer) if is_refreshed(*answer) => {
                self.refreshed.entry(node).and_modify(|(_, answered)| *answered = true);
            }
            Event::Deadline(id) if (TTL..=TTL + u32::from(u16::MAX)).contains(id) => {
                self.refreshed.remove(&NodeId((id - TTL) as u16));
            }
            Event::Observed(Observation::Expired(key)) => {
                if let Some((client, _)) = self.refreshed.iter().find(|(_, refreshed)| **refreshed == (*key, true)) {
                    let words = format!("{node:?} deletes {key:?}, which {client:?} refreshed");
                    watch.violated(KEPT_FOR_TTL, words);
                }
                lose_each(&mut self.documents, &SoftDocument, SOFT_DOCUMENT, |other| other == *key, watch);
                lose_each(&mut self.histories, &Soft, SOFT, |other| other == *key, watch);
                lose_each(&mut self.queues, &SoftQueue, SOFT_QUEUE, |other| other == *key, watch);
            }
            _ => {}
        }
    }

    /// Who held the range crashed.
    pub(crate) fn crashed(&mut self, leasing: &Leasing, range: RangeId, lease: Generation, watch: &mut Watch<'_>) {
        self.lose(leasing, range, watch);
        if leasing.delivers() {
            self.deliveries.lose(range, lease);
        }
    }

    /// A loss is a delete of each key in the range, at this instant: the demonic client's.
    fn lose(&mut self, leasing: &Leasing, range: RangeId, watch: &mut Watch<'_>) {
        self.quorums.lose(leasing, range);
        lose_each(&mut self.histories, &Soft, SOFT, |key| leasing.range_of(key) == range, watch);
        lose_each(&mut self.queues, &SoftQueue, SOFT_QUEUE, |key| leasing.range_of(key) == range, watch);
        lose_each(&mut self.documents, &SoftDocument, SOFT_DOCUMENT, |key| leasing.range_of(key) == range, watch);
    }
}

impl Leasing {
    /// A client hears within the limit of its frontend's retries.
    fn limit(&self, node: NodeId, event: &Event<Leasing>, watch: &mut Watch<'_>) {
        if self.params.retry_limit == Span::ZERO {
            return;
        }
        let id = LIMIT + u32::from(node.0);
        match event {
            Event::Invoked(_, operation) if self.is_limited(*operation) => {
                let slowest = self.params.owner_longest.ceil_of(self.params.retry_limit);
                watch.set_deadline(id, slowest + self.params.patience);
            }
            Event::Responded(..) | Event::Crashed => watch.clear_deadline(id),
            Event::Deadline(passed) if (LIMIT..=LIMIT + u32::from(u16::MAX)).contains(passed) => {
                let client = NodeId((passed - LIMIT) as u16);
                let words = format!("{client:?} has told its client nothing for more than {}", self.params.retry_limit);
                watch.violated(ANSWERED_IN_TIME, words);
            }
            _ => {}
        }
    }
}

/// Whether it asks for what is under its key to live on.
fn refreshes(operation: Operation) -> bool {
    let updates = matches!(operation, Operation::Update(_) | Operation::Refresh(_) | Operation::Put(..));
    updates || matches!(operation, Operation::Subscribe(_) | Operation::Connect(..) | Operation::Dequeue(..))
}

/// Whether the answer says that it does.
fn is_refreshed(answer: Answer) -> bool {
    let is_updated = matches!(answer, Answer::Updated | Answer::Refreshed(true) | Answer::Put);
    is_updated || matches!(answer, Answer::Subscribed | Answer::Connected | Answer::Dequeued(_))
}

/// What clients see of each key.
type Histories<S> = BTreeMap<Key, Configurations<S, Operation, Answer>>;

fn watch_each<S: Data, X>(
    histories: &mut Histories<S>,
    specification: &X,
    property: &str,
    node: NodeId,
    event: &Event<Leasing>,
    watch: &mut Watch<'_>,
) where
    X: Specification<State = S, Operation = Operation, Answer = Answer>,
{
    match event {
        Event::Invoked(_, operation) => {
            let history = histories.entry(operation.key()).or_default();
            history.watch(specification, property, node, event, watch);
        }
        // What was given up may be done yet.
        Event::Responded(_, Answer::GaveUp) => {
            let left = &Event::<Leasing>::Crashed;
            histories.values_mut().for_each(|history| history.watch(specification, property, node, left, watch));
        }
        Event::Responded(..) | Event::Crashed => {
            histories.values_mut().for_each(|history| history.watch(specification, property, node, event, watch));
        }
        _ => {}
    }
}

/// The demonic client deletes.
fn lose_each<S: Data, X>(
    histories: &mut Histories<S>,
    specification: &X,
    property: &str,
    is_lost: impl Fn(Key) -> bool,
    watch: &mut Watch<'_>,
) where
    X: Specification<State = S, Operation = Operation, Answer = Answer>,
{
    for (key, history) in histories.iter_mut().filter(|(key, _)| is_lost(**key)) {
        let invoked: Event<Leasing> = Event::Invoked(OpId(0), Operation::Lose(*key));
        history.watch(specification, property, DEMON, &invoked, watch);
        history.watch(specification, property, DEMON, &Event::<Leasing>::Responded(OpId(0), Answer::Lost), watch);
    }
}

fn words(holder: Option<(NodeId, Generation)>) -> String {
    match holder {
        None => "nobody holds it".into(),
        Some((node, generation)) => format!("{node:?} holds it under {generation:?}"),
    }
}
