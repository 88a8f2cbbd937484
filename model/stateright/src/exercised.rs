//! Which kinds of input and output occurred.

use std::collections::BTreeSet;

use seedbed_model::{Canonical, Choice, Effect, Event, Local, Named, NodeId, Protocol};

/// Kinds by their index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exercised {
    messages: BTreeSet<usize>,
    timers: BTreeSet<usize>,
    records: BTreeSet<usize>,
    operations: BTreeSet<usize>,
    decisions: BTreeSet<usize>,
}

impl Exercised {
    pub(crate) fn choice<P: Protocol>(&mut self, choice: &Named<P>) {
        let _ = match choice {
            Choice::Deliver(envelope) | Choice::Duplicate(envelope) => self.messages.insert(envelope.message.kind()),
            Choice::At(_, Local::Fire(timer)) => self.timers.insert(timer.kind()),
            Choice::At(_, Local::Decide(decision)) => self.decisions.insert(decision.kind()),
            _ => false,
        };
    }

    pub(crate) fn effects<P: Protocol>(&mut self, effects: &[(NodeId, Effect<P>)]) {
        for (_, effect) in effects {
            let _ = match effect {
                Effect::Persist { record, .. } => self.records.insert(record.kind()),
                Effect::Happened(Event::Invoked(_, operation)) => self.operations.insert(operation.kind()),
                _ => false,
            };
        }
    }

    pub(crate) fn add(&mut self, other: Exercised) {
        self.messages.extend(other.messages);
        self.timers.extend(other.timers);
        self.records.extend(other.records);
        self.operations.extend(other.operations);
        self.decisions.extend(other.decisions);
    }

    /// The kinds that never occurred, as `message Grant`.
    pub(crate) fn missing<P: Protocol>(&self) -> Vec<String> {
        let kinds = [
            ("message", P::Message::KINDS, &self.messages),
            ("timer", P::Timer::KINDS, &self.timers),
            ("record", P::Record::KINDS, &self.records),
            ("operation", P::Operation::KINDS, &self.operations),
            ("decision", P::Decision::KINDS, &self.decisions),
        ];
        let mut all = Vec::new();
        for (what, names, seen) in kinds {
            let missing = names.iter().enumerate().filter(|(kind, _)| !seen.contains(kind));
            all.extend(missing.map(|(_, name)| format!("{what} {name}")));
        }
        all
    }
}
