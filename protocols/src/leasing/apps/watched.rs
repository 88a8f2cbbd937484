//! What must hold of what stands on leasing.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::history::{Configurations, Outcomes, Specification};
use seedbed_model::{Canonical, Event, NodeId, OpId, Property, Watch};

use super::message::{Answer, Key, Operation, Value};
use crate::leasing::message::{Generation, RangeId};
use crate::leasing::{Leasing, Observation};

const CONTINUITY: &str = "continuity";
const COVERED: &str = "covered";
const ONCE_A_PERIOD: &str = "once-a-period";
const SOFT: &str = "soft-linearizable";
const LOSS_AFTER_ANSWER: &str = "loss-after-answer";

/// The demonic client of PRS §2.4.
const DEMON: NodeId = NodeId(u16::MAX);

/// The deadline of a range's period is this and the range's number less. No loss has it.
const PERIOD: u32 = u32::MAX - 1;

/// What the properties remember. Nothing of it without an application.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Watched {
    /// What clients saw of each key.
    histories: BTreeMap<Key, Configurations<Option<Value>, Operation, Answer>>,
    /// What each frontend was told: whatever is older than the generation is lost.
    lost: BTreeMap<(NodeId, RangeId), Generation>,
    /// Ranges whose task began less than a period ago.
    recent: BTreeSet<RangeId>,
}

pub(crate) fn properties() -> Vec<Property> {
    vec![
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
        Property::always(
            LOSS_AFTER_ANSWER,
            "no client is answered from state that its frontend was told is lost: the news of its loss comes after (PRS §2.1)",
        ),
    ]
}

pub(crate) fn goals() -> Vec<Property> {
    vec![
        Property::sometimes("put", "a client is told that its value is kept"),
        Property::sometimes("got", "a client gets a value that was put"),
        Property::sometimes("stale-state", "a server finds that what it stored was under another lease"),
        Property::sometimes("client-told", "a client that waits for it hears that what it put is lost"),
        Property::sometimes("task-done", "a periodic task is done under one lease"),
    ]
}

/// One key of the table, as its clients see it.
struct Soft;

impl Specification for Soft {
    type State = Option<Value>;
    type Operation = Operation;
    type Answer = Answer;
    type Part = Key;

    fn initial(&self) -> Option<Value> {
        None
    }

    fn part(&self, operation: &Operation) -> Key {
        operation.key()
    }

    /// A put that failed was done or was not.
    fn outcomes(&self, kept: &Option<Value>, operation: &Operation, outcomes: &mut Outcomes<Answer, Option<Value>>) {
        match operation {
            Operation::Put(_, value) => {
                outcomes.push(Answer::Put, Some(*value));
                outcomes.push(Answer::Failed, Some(*value));
                outcomes.push(Answer::Failed, *kept);
            }
            Operation::Get(_) => outcomes.push(Answer::Got(*kept), *kept),
            Operation::Await(_) => outcomes.push(Answer::Told, *kept),
            Operation::Lose(_) => outcomes.push(Answer::Lost, None),
        }
    }

    fn keeps(&self, operation: &Operation, _: Option<&Answer>) -> bool {
        matches!(operation, Operation::Get(_) | Operation::Await(_))
    }
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
        match event {
            Event::Invoked(_, operation) => {
                let history = self.histories.entry(operation.key()).or_default();
                history.watch(&Soft, SOFT, node, event, watch);
            }
            Event::Responded(_, answer) => {
                self.histories.values_mut().for_each(|history| history.watch(&Soft, SOFT, node, event, watch));
                match answer {
                    Answer::Put => watch.reached("put"),
                    Answer::Got(Some(_)) => watch.reached("got"),
                    Answer::Got(None) | Answer::Failed | Answer::Told | Answer::Lost => {}
                }
            }
            Event::Crashed => {
                self.histories.values_mut().for_each(|history| history.watch(&Soft, SOFT, node, event, watch));
                self.lost.retain(|(lookup, _), _| *lookup != node);
            }
            Event::Deadline(id) if Self::is_period(*id) => drop(self.recent.remove(&RangeId((PERIOD - id) as u8))),
            Event::Observed(observation) => self.observed(leasing, node, observation, holder, watch),
            _ => {}
        }
    }

    /// Whether a deadline is one of a period.
    pub(crate) fn is_period(id: u32) -> bool {
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

    /// A loss is a delete of each key in the range, at this instant: the demonic client's.
    pub(crate) fn lose(&mut self, leasing: &Leasing, range: RangeId, watch: &mut Watch<'_>) {
        for (key, history) in &mut self.histories {
            if leasing.range_of(*key) == range {
                let invoked: Event<Leasing> = Event::Invoked(OpId(0), Operation::Lose(*key));
                history.watch(&Soft, SOFT, DEMON, &invoked, watch);
                history.watch(&Soft, SOFT, DEMON, &Event::<Leasing>::Responded(OpId(0), Answer::Lost), watch);
            }
        }
    }
}

fn words(holder: Option<(NodeId, Generation)>) -> String {
    match holder {
        None => "nobody holds it".into(),
        Some((node, generation)) => format!("{node:?} holds it under {generation:?}"),
    }
}
