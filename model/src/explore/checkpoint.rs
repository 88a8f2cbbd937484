//! Checkpoints: a search between two rounds, written out whole and read back.
//!
//! A file is a line of magic, the subject (what is searched, in the caller's words), the search, and a checksum over all
//! of it. Numbers are little-endian, lists carry their length. A search that is read back goes on exactly as it would
//! have: the same counts, verdict and counterexample.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use super::breadth::Unit;
use super::frontier::{Frontier, Level};
use super::graph::Edge;
use super::level::Segment;
use super::search::{Search, Worker};
use super::space::Space;
use super::table::{SHARD_COUNT, Table};

const MAGIC: &[u8] = b"seedbed checkpoint 2\n";

/// Where a search keeps itself, so that it can go on after a crash.
pub trait Keeper {
    /// Asked between two rounds: whether to save now.
    fn is_due(&mut self) -> bool;

    /// Saves what `write` writes, in place of what was saved before: whole or not at all.
    ///
    /// # Errors
    /// If it could not be saved; the search then ends.
    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), String>;
}

/// A writer that knows the checksum of what it wrote.
pub(super) struct Out<'w> {
    to: &'w mut dyn Write,
    sum: Xxh3,
}

impl Out<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.to.write_all(bytes)
    }

    pub(super) fn number(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.bytes(text)
    }

    pub(super) fn longs(&mut self, list: &[u64]) -> io::Result<()> {
        self.number(list.len() as u64)?;
        list.iter().try_for_each(|number| self.number(*number))
    }

    pub(super) fn words(&mut self, list: &[u32]) -> io::Result<()> {
        self.number(list.len() as u64)?;
        list.iter().try_for_each(|number| self.bytes(&number.to_le_bytes()))
    }

    fn pairs(&mut self, list: &[(u32, u32)]) -> io::Result<()> {
        self.number(list.len() as u64)?;
        list.iter().try_for_each(|(first, second)| self.number(u64::from(*first) << 32 | u64::from(*second)))
    }
}

/// A reader that knows the checksum of what it read, and that trusts no length.
pub(super) struct In<'r> {
    from: &'r mut dyn Read,
    sum: Xxh3,
}

/// No more is set aside for a list before its items are read.
const TRUSTED: usize = 1 << 16;

impl In<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => "it ends in the middle of the search: it is damaged".to_owned(),
            _ => error.to_string(),
        })?;
        self.sum.update(&bytes);
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64, String> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let count = self.number()?;
        let mut list = Vec::with_capacity(TRUSTED.min(count as usize));
        for _ in 0..count {
            list.push(item(self)?);
        }
        Ok(list)
    }

    pub(super) fn text(&mut self) -> Result<Vec<u8>, String> {
        self.list(|input| input.bytes::<1>().map(|[byte]| byte))
    }

    pub(super) fn longs(&mut self) -> Result<Vec<u64>, String> {
        self.list(Self::number)
    }

    pub(super) fn words(&mut self) -> Result<Vec<u32>, String> {
        self.list(|input| input.bytes().map(u32::from_le_bytes))
    }

    fn pairs(&mut self) -> Result<Vec<(u32, u32)>, String> {
        self.list(|input| input.number().map(|pair| ((pair >> 32) as u32, pair as u32)))
    }
}

impl<S: Space> Search<S> {
    /// Writes the search: `rest` is where what waits of the level begins, `next` what was found of the one after.
    pub(super) fn save(
        &self,
        subject: &str,
        level: &Level,
        rest: Option<Unit>,
        next: &Level,
        mut frontier: Option<&mut Frontier<'_>>,
        to: &mut dyn Write,
    ) -> io::Result<()> {
        let mut out = Out { to, sum: Xxh3::new() };
        out.bytes(MAGIC)?;
        out.text(subject.as_bytes())?;
        let spaces: Vec<&S> = self.workers.iter().map(|worker| &worker.space).collect();
        S::save(&spaces, &mut Writer(&mut out))?;
        let stats = &self.stats;
        for number in [self.moment, stats.total, stats.depth.unwrap_or(0).into(), stats.cut.into(), stats.bytes] {
            out.number(number)?;
        }
        for shard in &self.table.shards {
            out.longs(&shard.by_index())?;
            out.words(&shard.parents())?;
        }
        let rest = rest.map_or((level.part_count(), 0), |unit| (unit.segment, unit.start));
        level.save(rest, frontier.as_deref_mut(), &mut out)?;
        next.save((0, 0), frontier, &mut out)?;
        out.words(&self.open_states)?;
        if let Some(graph) = &self.graph {
            out.words(&graph.edges.iter().flat_map(|edge| [edge.from, edge.to, edge.action]).collect::<Vec<_>>())?;
            out.pairs(&graph.goals)?;
            out.pairs(&graph.owing)?;
        }
        let sum = out.sum.digest();
        out.to.write_all(&sum.to_le_bytes())
    }

    /// Reads a search back: what waits of the level, and what was found of the next.
    pub(super) fn load(&mut self, subject: &str, from: &mut dyn Read) -> Result<(Level, Level), String> {
        let mut input = In { from, sum: Xxh3::new() };
        let mut magic = Vec::new();
        for _ in MAGIC {
            magic.extend(input.bytes::<1>().map_err(|_| "it is no checkpoint: it is too short".to_owned())?);
        }
        if magic != MAGIC {
            return Err("it is no checkpoint of this version: it does not begin with `seedbed checkpoint 2`".into());
        }
        let found = input.text()?;
        if found != subject.as_bytes() {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(format!("it is of another search: it holds {found}, and this is {subject}"));
        }
        self.workers[0].space.load(&mut Reader(&mut input))?;
        self.moment = input.number()?;
        self.stats.total = input.number()?;
        self.stats.depth = Some(input.number()? as u32);
        self.stats.cut = input.number()? != 0;
        self.stats.bytes = input.number()?;
        self.table = load_table(&mut input)?;
        let (left, next) = (Level::load(&mut input)?, Level::load(&mut input)?);
        self.open_states = input.words()?;
        if let Some(graph) = &mut self.graph {
            let numbers = input.words()?;
            let edge = |of: &[u32]| Edge { from: of[0], to: of[1], action: of[2] };
            graph.edges = numbers.chunks_exact(3).map(edge).collect();
            graph.goals = input.pairs()?;
            graph.owing = input.pairs()?;
        }
        let sum = input.sum.digest();
        if input.number()? != sum {
            return Err("its checksum does not match: it is damaged".into());
        }
        let ends = input.from.read(&mut [0]).is_ok_and(|more| more == 0);
        if !ends {
            return Err("it goes on behind the search: it is damaged".into());
        }
        let forks: Vec<S> = (1..self.workers.len()).map(|_| self.workers[0].space.fork()).collect();
        self.workers.truncate(1);
        self.workers.extend(forks.into_iter().map(Worker::new));
        Ok((left, next))
    }
}

fn load_table(input: &mut In<'_>) -> Result<Table, String> {
    let mut table = Table::new();
    for number in 0..SHARD_COUNT {
        let (fingerprints, parents) = (input.longs()?, input.words()?);
        if fingerprints.len() != parents.len() {
            return Err(format!("{} states with {} parents", fingerprints.len(), parents.len()));
        }
        for (fingerprint, parent) in fingerprints.into_iter().zip(parents) {
            if fingerprint == 0 || !table.shards[number].insert(fingerprint, parent).1 {
                return Err(format!("the fingerprint {fingerprint:016x} comes twice or is none"));
            }
        }
    }
    Ok(table)
}

impl Level {
    /// Writes the parts from the `first`-th on, and of that the rows from the `start`-th on.
    fn save(
        &self,
        (first, start): (usize, usize),
        mut frontier: Option<&mut Frontier<'_>>,
        out: &mut Out<'_>,
    ) -> io::Result<()> {
        out.number((self.part_count() - first) as u64)?;
        for at in first..self.part_count() {
            let start = if at == first { start } else { 0 };
            let part = self.part(at, frontier.as_deref_mut()).map_err(io::Error::other)?;
            if start > 0 { part.rest(start).save(out)? } else { part.save(out)? }
        }
        Ok(())
    }

    fn load(input: &mut In<'_>) -> Result<Self, String> {
        let mut level = Level::default();
        for segment in input.list(Segment::load)? {
            level.push(segment);
        }
        Ok(level)
    }
}

impl Segment {
    fn save(&self, out: &mut Out<'_>) -> io::Result<()> {
        let (cells, ends, weights, states) = self.lists();
        out.words(&cells)?;
        out.words(&ends)?;
        out.longs(&weights)?;
        out.words(&states)
    }

    fn load(input: &mut In<'_>) -> Result<Self, String> {
        let lists = (input.words()?, input.words()?, input.longs()?, input.words()?);
        Segment::of_lists(lists).ok_or_else(|| "a queue does not fit together".into())
    }
}

/// Where a space writes what it knows.
pub struct Writer<'a, 'w>(&'a mut Out<'w>);

impl Writer<'_, '_> {
    /// Writes a number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn number(&mut self, number: u64) -> io::Result<()> {
        self.0.number(number)
    }

    /// Writes bytes and their length.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        self.0.text(text)
    }

    /// Writes numbers and their count.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn longs(&mut self, list: &[u64]) -> io::Result<()> {
        self.0.longs(list)
    }
}

/// Where a space reads it back.
pub struct Reader<'a, 'r>(&'a mut In<'r>);

impl Reader<'_, '_> {
    /// Reads a number.
    ///
    /// # Errors
    /// At the end of the file.
    pub fn number(&mut self) -> Result<u64, String> {
        self.0.number()
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// At the end of the file.
    pub fn text(&mut self) -> Result<Vec<u8>, String> {
        self.0.text()
    }

    /// Reads numbers.
    ///
    /// # Errors
    /// At the end of the file.
    pub fn longs(&mut self) -> Result<Vec<u64>, String> {
        self.0.longs()
    }
}
