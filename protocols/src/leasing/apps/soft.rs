//! What services with soft state are, as clients see them: objects that a demonic client may delete (PRS §2.4).

use std::collections::BTreeMap;

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

/// One document, as the version and the sections; `None` while there is none.
pub(super) struct SoftDocument;

/// A document's state.
pub(super) type Written = Option<(Value, BTreeMap<u8, Value>)>;

impl Specification for SoftDocument {
    type State = Written;
    type Operation = Operation;
    type Answer = Answer;
    type Part = Key;

    fn initial(&self) -> Written {
        None
    }

    fn part(&self, operation: &Operation) -> Key {
        operation.key()
    }

    fn outcomes(&self, document: &Written, operation: &Operation, outcomes: &mut Outcomes<Answer, Written>) {
        let version = document.as_ref().map(|(version, _)| *version);
        match operation {
            Operation::Read(_, section) => {
                let value = document.as_ref().and_then(|(_, sections)| sections.get(section).copied());
                outcomes.push(Answer::Read { version, value }, document.clone());
            }
            Operation::Update(update) if version == update.expected => {
                let mut sections = document.as_ref().map(|(_, sections)| sections.clone()).unwrap_or_default();
                sections.insert(update.section, update.value);
                let updated = Some((update.value, sections));
                outcomes.push(Answer::Updated, updated.clone());
                outcomes.push(Answer::Failed, updated);
                outcomes.push(Answer::Failed, document.clone());
            }
            Operation::Update(_) => {
                outcomes.push(Answer::Conflict(version), document.clone());
                outcomes.push(Answer::Failed, document.clone());
            }
            Operation::Refresh(_) => outcomes.push(Answer::Refreshed(document.is_some()), document.clone()),
            Operation::Lose(_) => outcomes.push(Answer::Lost, None),
            _ => {}
        }
    }

    fn keeps(&self, operation: &Operation, _: Option<&Answer>) -> bool {
        matches!(operation, Operation::Read(..) | Operation::Refresh(_))
    }
}
