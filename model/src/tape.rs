//! Tapes: what the nodes of a real system took in, each by itself, and all of them joined into one run.
//!
//! A node that runs outside an engine writes a line for each step, before anything of the step leaves it: what happened, the
//! answers to [`crate::Context::choose`], and what the node did, all by name. The joined run is an [`ExactScript`], and is
//! replayed, checked, drawn, shrunk and pinned as any other.
//!
//! What tapes promise, and need:
//! 1. the nodes' times are of one clock (the monotonic clock of one machine), so that their order is the order in which
//!    things happened; a message that arrives before it was sent is found by the replay;
//! 2. a node that was killed wrote all that left it: no line is missing but of a step that nobody saw;
//! 3. what a crash kept is told by the next start, which counts what it found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clock::NodeClock;
use crate::exact::{ExactReplayed, ExactScript, ExactStep, Move, Playback};
use crate::host::{Kept, Local};
use crate::moves;
use crate::name::{NodeId, Stream};
use crate::property::Violation;
use crate::protocol::Protocol;
use crate::time::Span;
use crate::world::Choice;

/// One step of a node, or of the cluster itself (`healed`, `crash NODE`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TapeLine {
    /// When, on the clock that all tapes share [ns].
    pub at: u64,
    /// What happened, as [`moves::text_of`] has it.
    pub step: String,
    /// Answers to [`crate::Context::choose`], in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<u32>,
    /// What the node did, as [`moves::effect_text`] has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub does: Vec<String>,
    /// Of a start: what the node came up with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<Found>,
}

/// What a node that starts comes up with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Found {
    /// How often it has started, this time included: from 1.
    pub incarnation: u64,
    /// What its stamps are ahead of the tapes' clock [ns]. It stays so until the next start.
    pub stamps_ahead: i64,
    /// How many records each stream holds, by the stream's number; those with none are left out.
    pub records: BTreeMap<u8, u64>,
}

/// One node's tape, or the cluster's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tape {
    /// Its node's name; the cluster's own may have any that is no node's.
    pub name: String,
    /// In the order in which they were written.
    pub lines: Vec<TapeLine>,
}

/// Tapes that do not make a run: which line of which tape, from 1, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{tape}, line {line}: {why}")]
pub struct Unjoinable {
    /// The tape's name.
    pub tape: String,
    /// From 1.
    pub line: usize,
    /// What was found, and what would be right.
    pub why: String,
}

/// What a node of a system that is not ours shows, as its log has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ObservedLine {
    /// When, on a clock that all lines share [ns].
    pub at: u64,
    /// Which node.
    pub node: String,
    /// What, as [`moves::event_of`] reads it: `observed Holds(..)`.
    pub event: String,
}

/// What the properties say of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witnessed {
    /// The property that fell, and after which line, from 0.
    pub fell: Option<(usize, Violation)>,
    /// Marks and goals reached, each with how often.
    pub reached: BTreeMap<&'static str, u64>,
}

/// Judges what the nodes of a system that is not ours showed, in the order in which it happened. `until`: how long the log
/// goes on after its last line [ns], for promises in bounded time.
///
/// # Errors
/// On a line that is none of this protocol's, or earlier than the one before: which, from 0, and why.
pub fn witness<P: Protocol>(
    protocol: &P,
    lines: &[ObservedLine],
    until: Option<u64>,
) -> Result<Witnessed, (usize, String)> {
    let names = protocol.nodes();
    let mut playback = Playback::new(protocol, false, &[]);
    let began = lines.first().map_or(0, |line| line.at);
    let mut fell = None;
    for (index, line) in lines.iter().enumerate() {
        let node = names.iter().position(|name| *name == line.node).map(|node| NodeId(node as u16));
        let node =
            node.ok_or_else(|| (index, format!("no node is called `{}`; they are {}", line.node, names.join(", "))))?;
        let event = moves::event_of::<P>(&line.event, &names).map_err(|why| (index, why.to_string()))?;
        let at = line.at.checked_sub(began).filter(|at| *at >= playback.world.driver.now);
        let at = at.ok_or_else(|| (index, "earlier than the line before; sort the log by `at`".to_owned()))?;
        playback.witness(at, node, &event);
        if let Some(violation) = playback.world.violations.first() {
            fell = Some((index, violation.clone()));
            break;
        }
    }
    if let (None, Some(until)) = (&fell, until) {
        playback.take(&ExactStep::of(Choice::Elapse(Span(until)))).map_err(|why| (lines.len(), why.to_string()))?;
        fell = playback.world.violations.first().map(|violation| (lines.len(), violation.clone()));
    }
    Ok(Witnessed { fell, reached: playback.world.reached })
}

/// All tapes as one run.
pub struct Joined<P: Protocol> {
    /// What happened.
    pub script: ExactScript<P>,
    /// `does[i]`: what the tapes say that nodes did in step `i`. Of steps that no tape has (time, a crash): nothing.
    pub does: Vec<Option<Vec<String>>>,
    /// When the run began, on the tapes' clock [ns].
    pub began: u64,
}

/// Reads a tape's lines. A last one without its end was cut short by a kill: nothing of its step was seen, and it is left
/// out. `parse` reads the JSON of one.
///
/// # Errors
/// On a line that is none: which, from 1, and why.
pub fn read<E: std::fmt::Display>(
    text: &str,
    parse: impl Fn(&str) -> Result<TapeLine, E>,
) -> Result<Vec<TapeLine>, (usize, String)> {
    let whole = text.split_inclusive('\n').map_while(|line| line.strip_suffix('\n'));
    whole.enumerate().map(|(index, line)| parse(line).map_err(|why| (index + 1, why.to_string()))).collect()
}

/// Joins tapes.
///
/// # Errors
/// If a line says what cannot be read, or a start contradicts what was written before.
pub fn join<P: Protocol>(protocol: &P, tapes: &[Tape]) -> Result<Joined<P>, Unjoinable> {
    let names = protocol.nodes();
    let mut lines: Vec<(u64, usize, usize)> = Vec::new();
    for (tape, Tape { lines: own, .. }) in tapes.iter().enumerate() {
        lines.extend(own.iter().enumerate().map(|(line, found)| (found.at, tape, line)));
    }
    lines.sort_unstable();
    let began = lines.first().map_or(0, |(at, ..)| *at);
    let mut joining = Joining {
        names: &names,
        now: began,
        began,
        nodes: vec![Standing::default(); names.len()],
        joined: Joined {
            script: ExactScript { untimed: false, clocks: vec![NodeClock::EXACT; names.len()], steps: Vec::new() },
            does: Vec::new(),
            began,
        },
    };
    for (_, tape, line) in lines {
        let Tape { name, lines } = &tapes[tape];
        let unjoinable = |why| Unjoinable { tape: name.clone(), line: line + 1, why };
        if lines.get(line + 1).is_some_and(|next| starts_again(&lines[line], next)) {
            continue;
        }
        joining.take(name, &lines[line]).map_err(unjoinable)?;
    }
    Ok(joining.joined)
}

/// Whether the start that is `line` came to nothing: the node was killed before it had noted the incarnation, so nothing of
/// it was seen, and the next start is of the same one.
fn starts_again(line: &TapeLine, next: &TapeLine) -> bool {
    let incarnation = |line: &TapeLine| line.found.as_ref().map(|found| found.incarnation);
    incarnation(line).is_some() && incarnation(line) == incarnation(next)
}

/// What a node is known to be at, while tapes are joined.
#[derive(Debug, Clone, Default)]
struct Standing {
    is_up: bool,
    /// The steps of crashes whose kept records the next start tells.
    crash: Option<usize>,
    incarnation: u64,
    stamps_ahead: i64,
    durable: BTreeMap<u8, u64>,
    /// Written and not yet durable.
    unsynced: BTreeMap<u8, u64>,
}

struct Joining<'a, P: Protocol> {
    names: &'a [String],
    began: u64,
    now: u64,
    nodes: Vec<Standing>,
    joined: Joined<P>,
}

impl<P: Protocol> Joining<'_, P> {
    fn push(&mut self, step: ExactStep<P>, does: Option<Vec<String>>) {
        self.joined.script.steps.push(step);
        self.joined.does.push(does);
    }

    fn pass_to(&mut self, at: u64) {
        if at > self.now {
            self.push(ExactStep::of(Choice::Elapse(Span(at - self.now))), None);
            self.now = at;
        }
    }

    fn take(&mut self, tape: &str, line: &TapeLine) -> Result<(), String> {
        let what: Move<P> = moves::move_of(&line.step, self.names).map_err(|why| why.to_string())?;
        self.pass_to(line.at);
        match &what {
            Move::Choice(Choice::At(node, Local::Start)) => {
                let found = line.found.as_ref().ok_or("a start tells what it `found`: nothing is there")?;
                return self.start(*node, found, line);
            }
            Move::Choice(Choice::At(node, Local::Crash(_))) => {
                self.crash(*node);
                return Ok(());
            }
            Move::Choice(Choice::At(node, Local::Sync(stream))) => {
                let standing = &mut self.nodes[node.index()];
                let unsynced = standing.unsynced.get_mut(&stream.0).filter(|count| **count > 0);
                *unsynced.ok_or_else(|| format!("stream {} has nothing to become durable", stream.0))? -= 1;
                *standing.durable.entry(stream.0).or_insert(0) += 1;
            }
            _ => {}
        }
        let node = match &what {
            Move::Choice(Choice::At(node, _)) => Some(*node),
            Move::Choice(Choice::Deliver(envelope)) => Some(envelope.to),
            _ => None,
        };
        if let Some(node) = node.filter(|node| self.names[node.index()] != tape) {
            return Err(format!("a step of {} on the tape of {tape}", self.names[node.index()]));
        }
        if let Some(node) = node {
            self.note_written(node, line);
        }
        let does = node.map(|_| line.does.clone());
        self.push(ExactStep { what, answers: line.answers.clone(), lengths: Vec::new() }, does);
        Ok(())
    }

    /// Counts what the step wrote, by what it says that it did.
    fn note_written(&mut self, node: NodeId, line: &TapeLine) {
        let standing = &mut self.nodes[node.index()];
        for written in line.does.iter().filter_map(|done| done.strip_prefix("persist ")) {
            if let Some(Ok(stream)) = written.split(':').next().map(str::parse::<u8>) {
                *standing.unsynced.entry(stream).or_insert(0) += 1;
            }
        }
    }

    /// The node is down from here on. What it keeps is not known yet.
    fn crash(&mut self, node: NodeId) {
        if self.nodes[node.index()].is_up {
            self.nodes[node.index()].is_up = false;
            self.nodes[node.index()].crash = Some(self.joined.script.steps.len());
            self.push(ExactStep::of(Choice::At(node, Local::Crash(Vec::new()))), None);
        }
    }

    fn start(&mut self, node: NodeId, found: &Found, line: &TapeLine) -> Result<(), String> {
        let index = node.index();
        let first = self.nodes[index].incarnation == 0;
        if found.incarnation != self.nodes[index].incarnation + 1 {
            let due = self.nodes[index].incarnation + 1;
            return Err(format!("incarnation {} starts, and {due} is the next: a tape is missing", found.incarnation));
        }
        if first {
            let offset_ns = found.stamps_ahead.saturating_add_unsigned(self.began);
            let offset_max = Span(offset_ns.unsigned_abs());
            self.joined.script.clocks[index] =
                NodeClock { offset_ns, offset_max, jump_max: Span::LONGEST, ..NodeClock::EXACT };
        } else {
            self.crash(node);
            self.settle_crash(node, found)?;
            let by_ns = found.stamps_ahead - self.nodes[index].stamps_ahead;
            if by_ns != 0 {
                self.push(ExactStep::of(Choice::At(node, Local::Jump(by_ns))), None);
            }
        }
        let local = if first { Local::Start } else { Local::Restart };
        let step = ExactStep { what: Move::Choice(Choice::At(node, local)), ..ExactStep::of(Choice::Elapse(Span(0))) };
        self.push(ExactStep { answers: line.answers.clone(), ..step }, Some(line.does.clone()));
        let standing = &mut self.nodes[index];
        standing.is_up = true;
        standing.incarnation = found.incarnation;
        standing.stamps_ahead = found.stamps_ahead;
        standing.durable = found.records.clone();
        standing.unsynced.clear();
        self.note_written(node, line);
        Ok(())
    }

    /// What the crash before kept is what the start found beyond what was durable. A start that finds nothing where something
    /// was durable has an empty disk; one that finds less is a finding of its own.
    fn settle_crash(&mut self, node: NodeId, found: &Found) -> Result<(), String> {
        let standing = &self.nodes[node.index()];
        let crash = standing.crash.ok_or("the node starts, and did not crash")?;
        if found.records.is_empty() && standing.durable.values().any(|count| *count > 0) {
            self.push(ExactStep::of(Choice::At(node, Local::Erase)), None);
            return Ok(());
        }
        let streams: Vec<u8> = standing.durable.keys().chain(standing.unsynced.keys()).copied().collect();
        let count = |counts: &BTreeMap<u8, u64>, stream: u8| counts.get(&stream).copied().unwrap_or(0);
        let mut kept: Kept = Vec::new();
        for (stream, found) in &found.records {
            if !streams.contains(stream) && *found > 0 {
                return Err(format!("stream {stream} holds {found} records, and none was written"));
            }
        }
        for stream in std::collections::BTreeSet::from_iter(streams) {
            let (durable, unsynced) = (count(&standing.durable, stream), count(&standing.unsynced, stream));
            let found = count(&found.records, stream);
            match found.checked_sub(durable) {
                None => return Err(format!("stream {stream} holds {found} records, and {durable} were durable")),
                Some(more) if more > unsynced => {
                    let written = durable + unsynced;
                    return Err(format!("stream {stream} holds {found} records, and {written} were written"));
                }
                Some(more) if more > 0 => kept.push((Stream(stream), more as u32)),
                Some(_) => {}
            }
        }
        self.joined.script.steps[crash].what = Move::Choice(Choice::At(node, Local::Crash(kept)));
        Ok(())
    }
}

/// Where the replay of joined tapes went another way: the first step, from 0, that could not happen, or in which something else
/// was done than the tapes say; and why.
pub fn drift<P: Protocol>(joined: &Joined<P>, exact: &ExactReplayed) -> Option<(usize, String)> {
    let differs = || {
        let pairs = joined.does.iter().zip(&exact.does).enumerate();
        let mut told = pairs.filter_map(|(index, (was, is))| was.as_ref().map(|was| (index, was, is)));
        let (index, was, is) = told.find(|(_, was, is)| was != is)?;
        Some((index, format!("by the tape it did `{}`, in the replay `{}`", was.join("; "), is.join("; "))))
    };
    exact.replayed.drift.clone().or_else(differs)
}
