//! The promise that a seed has one run, checked: run twice, compare in blocks of steps, and look into the first block
//! that differs. However long the runs, the memory stays small: eight bytes for a thousand steps.

use std::fmt;

use seedbed_model::trace::{describe_choice, encode_effect};
use seedbed_model::{Canonical, Effect, Encoder, Named, NodeId, Protocol, decoding, encoding, hash};

use crate::run::simulate;
use crate::seed::Seed;
use crate::settings::Settings;
use crate::trace::Tracer;

/// Where two runs of one seed went apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The first step that differs.
    pub step: u64,
    /// What happened in the first run, in words.
    pub first: String,
    /// What happened in the second.
    pub second: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {} differs: first {}; then {}", self.step, self.first, self.second)
    }
}

/// Runs `seed` twice and compares instants, choices, answers and effects. Where they differ, runs it twice more to find
/// the step; a protocol that does not even differ alike is told by the thousand steps in which it first did.
///
/// # Errors
/// The first step that differs.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn check_determinism<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Result<(), Divergence> {
    let mut blocks = Blocks::default();
    let first = simulate(protocol, settings, seed, Some(&mut blocks));
    let mut again = Blocks::default();
    let second = simulate(protocol, settings, seed, Some(&mut again));
    let (blocks, again) = (blocks.finish(), again.finish());
    let differs = blocks.iter().zip(&again).position(|(a, b)| a != b);
    let differs = differs.or_else(|| (blocks.len() != again.len()).then(|| blocks.len().min(again.len())));
    if let Some(block) = differs {
        return Err(look_into(protocol, settings, seed, block));
    }
    let ends = |run: &crate::run::Run| format!("{:?} with {:?}", run.end, run.violations);
    match first == second {
        true => Ok(()),
        false => Err(Divergence { step: second.steps, first: ends(&first), second: ends(&second) }),
    }
}

/// Entries in a block.
const BLOCK_COUNT: u64 = 1024;

/// Two more runs, compared step by step from that block on.
fn look_into<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed, block: usize) -> Divergence {
    let from = block as u64 * BLOCK_COUNT;
    let mut log = Log { from, seen: 0, bytes: Vec::new(), ends: Vec::new() };
    let first = simulate(protocol, settings, seed, Some(&mut log));
    let mut compare = Compare { names: protocol.nodes(), log: &log, seen: 0, found: None };
    let second = simulate(protocol, settings, seed, Some(&mut compare));
    if let Some(divergence) = compare.found {
        return divergence;
    }
    if second.steps != first.steps {
        let place = (compare.seen - from.min(compare.seen)) as usize;
        let first = log.words::<P>(&compare.names, place).unwrap_or_else(|| "something".into());
        return Divergence { step: second.steps + 1, first, second: "the run ended".into() };
    }
    Divergence {
        step: from,
        first: format!("one of the {BLOCK_COUNT} steps from here on, or one before,"),
        second: "in two more runs no longer, or not here".into(),
    }
}

/// A run as a hash for each block of its entries.
#[derive(Default)]
struct Blocks {
    hashes: Vec<u64>,
    /// Of the block under way.
    hash: u64,
    count: u64,
    /// Where an entry is written to be hashed.
    encoder: Encoder,
}

impl Blocks {
    fn finish(mut self) -> Vec<u64> {
        self.hashes.push(self.hash);
        self.hashes
    }
}

impl<P: Protocol> Tracer<P> for Blocks {
    fn step(&mut self, at_ns: u64, _: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        self.encoder.clear();
        choice.encode(&mut self.encoder);
        encode_rest(at_ns, answers, effects, &mut self.encoder);
        self.hash = hash(self.hash, self.encoder.bytes());
        self.count += 1;
        if self.count.is_multiple_of(BLOCK_COUNT) {
            self.hashes.push(self.hash);
        }
    }
}

/// One block of the first run: the encoding of each choice, and a hash of everything else of the step.
struct Log {
    /// The first entry that it keeps; it keeps a block.
    from: u64,
    /// Entries seen so far.
    seen: u64,
    bytes: Vec<u8>,
    /// `ends[i]`: where the encoding of the i-th entry kept ends, and the hash of the rest.
    ends: Vec<(usize, u64)>,
}

impl Log {
    fn choice(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1].0 };
        &self.bytes[start..self.ends[index].0]
    }

    fn words<P: Protocol>(&self, names: &[String], index: usize) -> Option<String> {
        self.ends.get(index)?;
        Some(match decoding::<Named<P>>(self.choice(index)) {
            Ok(choice) => describe_choice(names, &choice),
            Err(malformed) => format!("a choice that does not read back ({malformed})"),
        })
    }
}

/// Everything of a step but its choice.
fn encode_rest<P: Protocol>(at_ns: u64, answers: &[u32], effects: &[(NodeId, Effect<P>)], out: &mut Encoder) {
    out.number(at_ns);
    out.number(answers.len() as u64);
    answers.iter().for_each(|answer| answer.encode(out));
    effects.iter().for_each(|(node, effect)| encode_effect(*node, effect, out));
}

/// A hash of it.
fn rest<P: Protocol>(at_ns: u64, answers: &[u32], effects: &[(NodeId, Effect<P>)]) -> u64 {
    let mut out = Encoder::whole();
    encode_rest(at_ns, answers, effects, &mut out);
    hash(0, out.bytes())
}

impl<P: Protocol> Tracer<P> for Log {
    fn step(&mut self, at_ns: u64, _: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        if (self.from..self.from + BLOCK_COUNT).contains(&self.seen) {
            self.bytes.extend_from_slice(&encoding(choice));
            self.ends.push((self.bytes.len(), rest(at_ns, answers, effects)));
        }
        self.seen += 1;
    }
}

struct Compare<'a> {
    names: Vec<String>,
    log: &'a Log,
    /// Entries seen so far.
    seen: u64,
    found: Option<Divergence>,
}

impl<P: Protocol> Tracer<P> for Compare<'_> {
    fn step(&mut self, at_ns: u64, step: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        let index = self.seen;
        self.seen += 1;
        if self.found.is_some() || !(self.log.from..self.log.from + BLOCK_COUNT).contains(&index) {
            return;
        }
        let index = (index - self.log.from) as usize;
        let words = describe_choice(&self.names, choice);
        self.found = match (self.log.ends.get(index), self.log.words::<P>(&self.names, index)) {
            (Some(_), Some(first)) if self.log.choice(index) != encoding(choice) => {
                Some(Divergence { step, first, second: words })
            }
            (Some((_, other)), _) if *other != rest(at_ns, answers, effects) => Some(Divergence {
                step,
                second: format!("{words}, at another time or with other effects"),
                first: words,
            }),
            (Some(_), _) => None,
            (None, _) => Some(Divergence { step, first: "the run had ended".into(), second: words }),
        };
    }
}
