//! The durable records of a node one by one: what a corruption needs, beside their fold.

use std::collections::VecDeque;

use derive_where::derive_where;

use crate::canonical::{Canonical, Decoder, Encoder, Malformed, Renaming};
use crate::name::Stream;
use crate::protocol::Protocol;
use crate::text::{TextReader, TextWriter, Unreadable};

/// A journal keeps so many records; older ones are out of a corruption's reach.
pub const RECORD_COUNT_MAX: usize = 1024;

/// The latest durable records in the order they became so, and the fold of those before them; or nothing, which is
/// how a journal begins.
///
/// No step reads it, and it is no part of a state: its canonical encoding is empty. It decides only what
/// [`crate::Local::Corrupt`] leaves, which the explorer never does.
#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Journal<P: Protocol> {
    kept: Option<Box<Records<P>>>,
}

#[derive_where(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
struct Records<P: Protocol> {
    /// The fold of what came before `latest`.
    before: P::Durable,
    /// Oldest first; at most [`RECORD_COUNT_MAX`].
    latest: VecDeque<(Stream, P::Record)>,
}

impl<P: Protocol> Journal<P> {
    /// Keeps records from here on; `durable` is the fold of those before.
    pub fn begin(&mut self, durable: &P::Durable) {
        self.kept = Some(Box::new(Records { before: durable.clone(), latest: VecDeque::new() }));
    }

    /// The disk holds `durable` now, and no record of it is known.
    pub(crate) fn restart(&mut self, durable: &P::Durable) {
        if self.kept.is_some() {
            self.begin(durable);
        }
    }

    /// The record is durable.
    pub(crate) fn note(&mut self, protocol: &P, stream: Stream, record: &P::Record) {
        let Some(records) = &mut self.kept else { return };
        if records.latest.len() == RECORD_COUNT_MAX
            && let Some((stream, record)) = records.latest.pop_front()
        {
            protocol.fold(&mut records.before, stream, &record);
        }
        records.latest.push_back((stream, record.clone()));
    }

    /// The records that a corruption can reach: streams with how many each, in order.
    pub fn counts(&self) -> Vec<(Stream, u32)> {
        let mut counts = std::collections::BTreeMap::new();
        for (stream, _) in self.kept.iter().flat_map(|records| &records.latest) {
            *counts.entry(*stream).or_insert(0) += 1;
        }
        counts.into_iter().collect()
    }

    /// Whether the record `back` places before the last one of the stream is known.
    pub fn reaches(&self, stream: Stream, back: u32) -> bool {
        self.place(stream, back).is_some()
    }

    fn place(&self, stream: Stream, back: u32) -> Option<usize> {
        let records = self.kept.as_ref()?;
        let of_stream = records.latest.iter().enumerate().rev().filter(|(_, (other, _))| *other == stream);
        of_stream.map(|(place, _)| place).nth(back as usize)
    }

    /// Forgets that record and those of its stream after it. The fold of what is left, unless it is not known.
    pub(crate) fn cut(&mut self, protocol: &P, stream: Stream, back: u32) -> Option<P::Durable> {
        let from = self.place(stream, back)?;
        let records = self.kept.as_mut()?;
        let mut place = 0;
        records.latest.retain(|(other, _)| {
            place += 1;
            *other != stream || place <= from
        });
        let mut durable = records.before.clone();
        for (stream, record) in &records.latest {
            protocol.fold(&mut durable, *stream, record);
        }
        Some(durable)
    }
}

/// Writes nothing: see [`Journal`].
impl<P: Protocol> Canonical for Journal<P> {
    fn encode(&self, _: &mut Encoder) {}
    fn decode(_: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self::default())
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push("()");
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.expect("()").map(|()| Self::default())
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        let Some(records) = &mut self.kept else { return };
        records.before.rename(names);
        records.latest.iter_mut().for_each(|(_, record)| record.rename(names));
    }
}
