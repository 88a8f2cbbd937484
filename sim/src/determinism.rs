//! The promise that a seed has one run, checked: run twice, compare as the second goes, stop at the first difference.

use std::fmt;

use seedbed_model::trace::{describe_choice, encode_effect};
use seedbed_model::{Effect, Named, NodeId, Protocol, decoding, encoding, hash};

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

/// Runs `seed` twice and compares instants, choices, answers and effects step by step. Keeps some tens of bytes for
/// each step.
///
/// # Errors
/// The first step that differs.
///
/// # Panics
/// If the settings do not pass [`Settings::check`].
pub fn check_determinism<P: Protocol>(protocol: &P, settings: &Settings, seed: Seed) -> Result<(), Divergence> {
    let mut log = Log::default();
    let first = simulate(protocol, settings, seed, Some(&mut log));
    let mut compare = Compare { names: protocol.nodes(), log: &log, seen: 0, found: None };
    let second = simulate(protocol, settings, seed, Some(&mut compare));
    if let Some(divergence) = compare.found {
        return Err(divergence);
    }
    if compare.seen < log.ends.len() {
        let first = log.words::<P>(&compare.names, compare.seen);
        return Err(Divergence { step: second.steps + 1, first, second: "the run ended".into() });
    }
    let ends = |run: &crate::run::Run| format!("{:?} with {:?}", run.end, run.violations);
    match first == second {
        true => Ok(()),
        false => Err(Divergence { step: second.steps, first: ends(&first), second: ends(&second) }),
    }
}

/// The first run: the encoding of each choice, and a hash of everything else of the step.
#[derive(Default)]
struct Log {
    bytes: Vec<u8>,
    /// `ends[i]`: where the encoding of the i-th entry ends, and the hash of the rest.
    ends: Vec<(usize, u64)>,
}

impl Log {
    fn choice(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1].0 };
        &self.bytes[start..self.ends[index].0]
    }

    fn words<P: Protocol>(&self, names: &[String], index: usize) -> String {
        match decoding::<Named<P>>(self.choice(index)) {
            Ok(choice) => describe_choice(names, &choice),
            Err(malformed) => format!("a choice that does not read back ({malformed})"),
        }
    }
}

/// Everything of a step but its choice.
fn rest<P: Protocol>(at_ns: u64, answers: &[u32], effects: &[(NodeId, Effect<P>)]) -> u64 {
    let mut bytes = encoding(&(at_ns, answers.to_vec()));
    for (node, effect) in effects {
        encode_effect(*node, effect, &mut bytes);
    }
    hash(0, &bytes)
}

impl<P: Protocol> Tracer<P> for Log {
    fn step(&mut self, at_ns: u64, _: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        self.bytes.extend_from_slice(&encoding(choice));
        self.ends.push((self.bytes.len(), rest(at_ns, answers, effects)));
    }
}

struct Compare<'a> {
    names: Vec<String>,
    log: &'a Log,
    /// Entries compared so far.
    seen: usize,
    found: Option<Divergence>,
}

impl<P: Protocol> Tracer<P> for Compare<'_> {
    fn step(&mut self, at_ns: u64, step: u64, choice: &Named<P>, answers: &[u32], effects: &[(NodeId, Effect<P>)]) {
        if self.found.is_some() {
            return;
        }
        let index = self.seen;
        self.seen += 1;
        let words = describe_choice(&self.names, choice);
        self.found = match self.log.ends.get(index) {
            None => Some(Divergence { step, first: "the run had ended".into(), second: words }),
            Some(_) if self.log.choice(index) != encoding(choice) => {
                Some(Divergence { step, first: self.log.words::<P>(&self.names, index), second: words })
            }
            Some((_, other)) if *other != rest(at_ns, answers, effects) => Some(Divergence {
                step,
                second: format!("{words}, at another time or with other effects"),
                first: words,
            }),
            Some(_) => None,
        };
    }
}
