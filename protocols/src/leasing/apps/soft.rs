//! What services with soft state are, as clients see them: objects that a demonic client may delete (PRS §2.4).

use seedbed_model::history::{Outcomes, Specification};

use super::message::{Answer, Entry, Key, Operation, Value};

/// One key of the table, as its clients see it.
pub(super) struct Soft;

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
            _ => {}
        }
    }

    fn keeps(&self, operation: &Operation, _: Option<&Answer>) -> bool {
        matches!(operation, Operation::Get(_) | Operation::Await(_))
    }
}

/// One queue: `None` while it is not there.
pub(super) struct SoftQueue;

impl Specification for SoftQueue {
    type State = Option<Vec<Value>>;
    type Operation = Operation;
    type Answer = Answer;
    type Part = Key;

    fn initial(&self) -> Option<Vec<Value>> {
        None
    }

    fn part(&self, operation: &Operation) -> Key {
        operation.key()
    }

    /// What was enqueued into no queue is lost with it. Whoever is told may have taken the last entry or not.
    fn outcomes(
        &self,
        queue: &Option<Vec<Value>>,
        operation: &Operation,
        outcomes: &mut Outcomes<Answer, Option<Vec<Value>>>,
    ) {
        match operation {
            Operation::Connect(..) => outcomes.push(Answer::Connected, Some(queue.clone().unwrap_or_default())),
            Operation::Enqueue(_, event) => {
                let with = queue.clone().map(|queue| queue.into_iter().chain([*event]).collect());
                outcomes.push(Answer::Enqueued, with.clone());
                outcomes.push(Answer::Failed, with);
                outcomes.push(Answer::Failed, queue.clone());
            }
            Operation::Dequeue(_, taken) => {
                let rest = queue.clone().map(|queue| without(queue, *taken));
                if let Some(rest) = &rest {
                    let first = rest.first().map(|event| Entry::Event(*event));
                    outcomes.push(Answer::Dequeued(first), Some(rest.clone()));
                }
                outcomes.push(Answer::Told, rest);
                outcomes.push(Answer::Told, queue.clone());
            }
            Operation::Lose(_) => outcomes.push(Answer::Lost, None),
            _ => {}
        }
    }
}

/// The queue once its first entry is taken, if that is this one.
fn without(mut queue: Vec<Value>, taken: Option<Entry>) -> Vec<Value> {
    if queue.first().is_some_and(|first| taken == Some(Entry::Event(*first))) {
        queue.remove(0);
    }
    queue
}
