//! What must hold of a chosen value.

use std::collections::BTreeSet;

use seedbed_model::history::{Configurations, Outcomes, Specification};
use seedbed_model::{Canonical, Event, NodeId, Part, Property, Watch};

use super::Paxos;
use super::message::{Observation, Value};

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// What clients asked for.
    proposed: BTreeSet<Value>,
    /// What the first learner learned.
    chosen: Option<Value>,
    /// What may be chosen, as far as clients can tell.
    history: Part<Configurations<Option<Value>, Value, Value>>,
}

/// Consensus as its clients see it: the first proposal to take effect is everyone's answer.
struct Sequential;

impl Specification for Sequential {
    type State = Option<Value>;
    type Operation = Value;
    type Answer = Value;
    type Part = ();

    fn initial(&self) -> Option<Value> {
        None
    }

    fn part(&self, _: &Value) {}

    fn outcomes(&self, chosen: &Option<Value>, proposed: &Value, outcomes: &mut Outcomes<Value, Option<Value>>) {
        let chosen = chosen.unwrap_or(*proposed);
        outcomes.push(chosen, Some(chosen));
    }
}

/// See the module.
pub fn properties() -> Vec<Property> {
    vec![
        Property::always("agreement", "no two servers learn different values (§2.1)"),
        Property::always("validity", "a learned value was proposed by a client (§2.1)"),
        Property::always("integrity", "no client is told a value before a server learned one (§2.1)"),
        Property::history(
            "linearizable",
            "what clients are told can be put in one order: the first proposal is chosen",
        ),
        Property::sometimes("chosen", "a value is chosen"),
        Property::sometimes("answered", "a client is told"),
        Property::sometimes("preempted", "an acceptor keeps a promise to a higher ballot"),
        Property::sometimes("adopted", "a proposer gives up its value for one accepted before"),
    ]
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<Paxos>, watch: &mut Watch<'_>) {
        if matches!(event, Event::Invoked(..) | Event::Responded(..) | Event::Crashed) {
            self.history.watch(&Sequential, "linearizable", node, event, watch);
        }
        match event {
            Event::Crashed => watch.reached("crashed"),
            Event::Invoked(_, value) => drop(self.proposed.insert(*value)),
            Event::Observed(Observation::Learned(value)) => self.learned(node, *value, watch),
            Event::Responded(_, value) => self.told(node, *value, watch),
            _ => {}
        }
    }

    fn learned(&mut self, node: NodeId, value: Value, watch: &mut Watch<'_>) {
        watch.reached("chosen");
        if !self.proposed.contains(&value) {
            watch.violated("validity", format!("{node:?} learns {value:?}, which nobody proposed"));
        }
        let chosen = *self.chosen.get_or_insert(value);
        if chosen != value {
            watch.violated("agreement", format!("{node:?} learns {value:?} after another learned {chosen:?}"));
        }
    }

    fn told(&self, node: NodeId, value: Value, watch: &mut Watch<'_>) {
        watch.reached("answered");
        // Which value, `linearizable` judges.
        if self.chosen.is_none() {
            watch.violated("integrity", format!("{node:?} is told {value:?}, but nothing was learned yet"));
        }
    }
}
