//! What must hold: what clients see has an order.

use seedbed_model::history::{Configurations, Outcomes, Specification};
use seedbed_model::{Canonical, Event, NodeId, Property, Watch};

use super::Register;
use super::message::{Answer, Operation, Value};

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    history: Configurations<Value, Operation, Answer>,
}

/// See the module.
pub fn properties() -> Vec<Property> {
    vec![
        Property::history(
            "linearizable",
            "what clients read and wrote can be put in one order, each within its interval",
        ),
        Property::sometimes("written", "a writer is told that its value is held"),
        Property::sometimes("read", "a reader gets a value that was written"),
    ]
}

/// The register as its clients see it.
struct Sequential;

impl Specification for Sequential {
    type State = Value;
    type Operation = Operation;
    type Answer = Answer;
    type Part = ();

    fn initial(&self) -> Value {
        Value::default()
    }

    fn part(&self, _: &Operation) {}

    fn outcomes(&self, held: &Value, operation: &Operation, outcomes: &mut Outcomes<Answer, Value>) {
        match operation {
            Operation::Write(value) => outcomes.push(Answer::Written, *value),
            Operation::Read => outcomes.push(Answer::Read(*held), *held),
        }
    }

    fn keeps(&self, operation: &Operation, _: Option<&Answer>) -> bool {
        *operation == Operation::Read
    }
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<Register>, watch: &mut Watch<'_>) {
        self.history.watch(&Sequential, "linearizable", node, event, watch);
        match event {
            Event::Crashed => watch.reached("crashed"),
            Event::Responded(_, Answer::Written) => watch.reached("written"),
            Event::Responded(_, Answer::Read(value)) if *value != Value::default() => watch.reached("read"),
            _ => {}
        }
    }
}
