//! Shrinking: from a run that falls to a smaller one that falls alike.
//!
//! A *piece* is a step of an exact script that remembers where its message came from. A *try* plays some of the pieces
//! from the start, tolerantly: what cannot happen any more is left out, and with it all that hangs on it; a timer that is
//! told before its end waits for it. The try counts if the same thing goes wrong ([`Signature::is_like`]) in a world that
//! kept its word: no firing later, no message longer on its way, none lost where the first run lost none ([`Limits`]).
//!
//! Fewer nodes are better, then fewer faults, then fewer steps, then rounder numbers. The end is *1-minimal*: without any
//! one piece the fall goes away. Every loop gives up when the budget of tries is spent, and says so.
//!
//! - `attempt`: one try; `limits`: what the world promises; `pieces`: steps that know their messages;
//! - `passes`: what is tried, in which order; `measure`: what is smaller;
//! - `explain`: what a shrunk run shows; `point`: since when its fall was certain.

mod attempt;
mod explain;
mod limits;
mod measure;
mod passes;
mod pieces;
mod point;

use derive_where::derive_where;
use seedbed_model::signature::Signature;
use seedbed_model::{ExactScript, Protocol};

pub use explain::{Contribution, chain, continuations, contributions};
pub use limits::Limits;
pub use measure::Size;
pub use passes::LONG;
pub use point::{Certain, certain};

use attempt::Attempt;
use passes::Search;
use pieces::{Pieces, without};

/// How long a search may go on.
pub struct Budget<'a> {
    /// Tries, at most.
    pub tries: u64,
    /// Hears how far the search is; `false` ends it. For people: whether it says so never changes what is found before.
    pub watch: &'a mut dyn FnMut(Progress) -> bool,
}

/// How far a search is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Tries so far.
    pub tries: u64,
    /// The smallest run so far.
    pub size: Size,
}

/// What a run was shrunk to.
#[derive_where(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk<P: Protocol> {
    /// The run. It replays strictly.
    pub script: ExactScript<P>,
    /// What goes wrong in it.
    pub signature: Signature,
    /// What the world of the first run promised, and that of this one does.
    pub limits: Limits,
    /// How large the run was.
    pub before: Size,
    /// How large it is.
    pub after: Size,
    /// Tries that it took.
    pub tries: u64,
    /// Whether nothing can be left out any more; otherwise the budget ran out.
    pub is_minimal: bool,
}

/// Shrinks a run that falls.
///
/// # Errors
/// If nothing falls at the end of `script`, or it does not happen: in words.
pub fn shrink<P: Protocol>(protocol: &P, script: &ExactScript<P>, mut budget: Budget<'_>) -> Result<Shrunk<P>, String> {
    let (pieces, limits) = pieces::read(protocol, script)?;
    let mut free = Attempt::new(protocol, script, None, None);
    let first = free.run(&pieces).ok_or("no property falls in the run")?;
    let wanted = first.signature.clone();
    let mut attempt = Attempt::new(protocol, script, Some(limits), Some(wanted));
    let first = attempt.run(&pieces).ok_or("the run does not keep the promises that were read off it")?;
    let before = first.size;
    let mut search = Search::new(attempt, first, &mut budget);
    let is_minimal = search.run();
    let (tries, found, clocks) = search.finish();
    let steps = found.pieces.iter().map(|piece| piece.step.clone()).collect();
    Ok(Shrunk {
        script: ExactScript { untimed: script.untimed, clocks, steps },
        signature: found.signature,
        limits,
        before,
        after: found.size,
        tries,
        is_minimal,
    })
}

/// The elements of a shrunk run that fall is said to need, and whether it does without each: `true` where the fall stays.
/// Each is left out of a run played from its start. For tests of minimality.
///
/// # Errors
/// As of [`shrink`].
pub fn needless<P: Protocol>(protocol: &P, shrunk: &Shrunk<P>) -> Result<Vec<bool>, String> {
    let (pieces, _) = pieces::read(protocol, &shrunk.script)?;
    let mut attempt = Attempt::new(protocol, &shrunk.script, Some(shrunk.limits), Some(shrunk.signature.clone()));
    let first = attempt.run(&pieces).ok_or("the shrunk run does not fall")?;
    let is_needless =
        |left: usize| attempt.run(&without(&pieces, left)).is_some_and(|found| found.measure() < first.measure());
    Ok((0..pieces.len()).map(is_needless).collect())
}

/// A run that falls as it should.
#[derive_where(Debug, Clone)]
pub(crate) struct Found<P: Protocol> {
    pub(crate) pieces: Pieces<P>,
    pub(crate) signature: Signature,
    pub(crate) size: Size,
    pub(crate) roughness: u64,
}
