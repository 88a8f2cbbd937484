//! Which kinds of input and output occurred, and which marks and goals were reached.

use std::collections::BTreeMap;
use std::io;

use super::checkpoint::{Reader, Writer};
use crate::canonical::Canonical;
use crate::host::Local;
use crate::protocol::{Effect, Event, Protocol};

/// What occurred, each with the first moment at which it did: of two workers, either may have gone beyond the moment at
/// which the search ends.
#[derive(Debug, Clone)]
struct Met<T>(BTreeMap<T, u64>);

impl<T: Ord + Copy> Met<T> {
    fn note(&mut self, what: T, moment: u64) {
        self.0.entry(what).or_insert(moment);
    }

    /// Adds what `other` met no later than `last`, and forgets all that is later.
    fn join(&mut self, other: &Self, last: u64) {
        for (what, moment) in &other.0 {
            let known = self.0.entry(*what).or_insert(*moment);
            *known = (*known).min(*moment);
        }
        self.0.retain(|_, moment| *moment <= last);
    }

    fn contains(&self, what: &T) -> bool {
        self.0.contains_key(what)
    }
}

impl Met<usize> {
    fn save(&self, out: &mut Writer<'_, '_>) -> io::Result<()> {
        out.longs(&self.0.iter().flat_map(|(what, moment)| [*what as u64, *moment]).collect::<Vec<_>>())
    }

    fn load(input: &mut Reader<'_, '_>) -> Result<Self, String> {
        let pairs = input.longs()?;
        Ok(Met(pairs.chunks_exact(2).map(|pair| (pair[0] as usize, pair[1])).collect()))
    }
}

impl<T> Default for Met<T> {
    fn default() -> Self {
        Met(BTreeMap::new())
    }
}

/// Kinds of input and output that occurred, marks and goals.
#[derive(Debug, Clone, Default)]
pub struct Exercised {
    messages: Met<usize>,
    timers: Met<usize>,
    records: Met<usize>,
    operations: Met<usize>,
    decisions: Met<usize>,
    reached: Met<&'static str>,
}

impl Exercised {
    /// Something happens at a node at `moment`.
    pub fn local<P: Protocol>(&mut self, local: &Local<P>, moment: u64) {
        match local {
            Local::Deliver(_, message) => self.messages.note(message.kind(), moment),
            Local::Fire(timer) => self.timers.note(timer.kind(), moment),
            Local::Decide(decision) => self.decisions.note(decision.kind(), moment),
            _ => {}
        }
    }

    /// A step does something at `moment`.
    pub fn effect<P: Protocol>(&mut self, effect: &Effect<P>, moment: u64) {
        match effect {
            Effect::Persist { record, .. } => self.record(record.kind(), moment),
            Effect::Happened(event) => self.event(event, moment),
            _ => {}
        }
    }

    /// Properties see something at `moment`.
    pub fn event<P: Protocol>(&mut self, event: &Event<P>, moment: u64) {
        if let Event::Invoked(_, operation) = event {
            self.operations.note(operation.kind(), moment);
        }
    }

    /// A record of this kind is persisted at `moment`.
    pub(super) fn record(&mut self, kind: usize, moment: u64) {
        self.records.note(kind, moment);
    }

    /// A mark is taken or a goal reached at `moment`.
    pub(super) fn goal(&mut self, name: &'static str, moment: u64) {
        self.reached.note(name, moment);
    }

    /// Marks and goals, in order of name.
    pub(super) fn reached(&self) -> Vec<&'static str> {
        self.reached.0.keys().copied().collect()
    }

    /// The kinds that never occurred, as `message Grant`.
    pub fn missing<P: Protocol>(&self) -> Vec<String> {
        let kinds = [
            ("message", P::Message::KINDS, &self.messages),
            ("timer", P::Timer::KINDS, &self.timers),
            ("record", P::Record::KINDS, &self.records),
            ("operation", P::Operation::KINDS, &self.operations),
            ("decision", P::Decision::KINDS, &self.decisions),
        ];
        let mut all = Vec::new();
        for (what, names, met) in kinds {
            let missing = names.iter().enumerate().filter(|(kind, _)| !met.contains(kind));
            all.extend(missing.map(|(_, name)| format!("{what} {name}")));
        }
        all
    }

    /// Writes all of it.
    pub(super) fn save(&self, out: &mut Writer<'_, '_>) -> io::Result<()> {
        for kinds in [&self.messages, &self.timers, &self.records, &self.operations, &self.decisions] {
            kinds.save(out)?;
        }
        out.number(self.reached.0.len() as u64)?;
        for (name, moment) in &self.reached.0 {
            out.text(name.as_bytes())?;
            out.number(*moment)?;
        }
        Ok(())
    }

    /// Reads it back. Names outlive the process that reads them: marks have no list of their names to be found in.
    pub(super) fn load(input: &mut Reader<'_, '_>) -> Result<Self, String> {
        let mut exercised = Exercised {
            messages: Met::load(input)?,
            timers: Met::load(input)?,
            records: Met::load(input)?,
            operations: Met::load(input)?,
            decisions: Met::load(input)?,
            reached: Met::default(),
        };
        for _ in 0..input.number()? {
            let name = String::from_utf8(input.text()?).map_err(|_| "a goal's name is not UTF-8".to_owned())?;
            exercised.reached.note(name.leak(), input.number()?);
        }
        Ok(exercised)
    }

    /// Adds what another worker met, up to the moment `last`.
    pub fn join(&mut self, other: &Self, last: u64) {
        self.messages.join(&other.messages, last);
        self.timers.join(&other.timers, last);
        self.records.join(&other.records, last);
        self.operations.join(&other.operations, last);
        self.decisions.join(&other.decisions, last);
        self.reached.join(&other.reached, last);
    }
}
