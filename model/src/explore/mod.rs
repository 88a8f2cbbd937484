//! The exhaustive explorer: every choice, breadth first, with the shortest counterexample.

mod avoid;
mod bits;
mod bounds;
mod breadth;
mod canonize;
mod checkpoint;
mod crew;
mod depth;
mod exercised;
mod fairness;
mod frontier;
mod graph;
mod interned;
mod landings;
mod layout;
mod level;
mod marks;
mod memo;
mod moment;
mod odometer;
mod pool;
mod ranking;
mod report;
mod retrace;
mod sample;
mod search;
mod sharing;
mod space;
mod strategy;
mod symmetry;
mod table;
mod typed;
mod walk;
mod walker;

pub use avoid::{Avoidance, avoidance};
pub use bounds::{Bounds, Clock, Lengths};
pub use checkpoint::{Keeper, Reader, Writer};
pub use exercised::Exercised;
pub use frontier::{Frontier, Shelf};
pub use marks::Marks;
pub use moment::{Moment, Pace};
pub use odometer::Odometer;
pub use report::abstractions;
pub use search::{Aids, Fall, Kept, Limits, Searched, Turn, search, search_aided};
pub use space::{Claim, ClaimKind, Row, Seen, Space, Successors};
pub use strategy::{Order, Sampling, Strategy, Walks};
pub use walk::{Walk, accepts};

use crate::property::Violation;
use crate::protocol::Protocol;
use crate::script::Script;
use walker::Walker;

/// What an exploration found.
#[derive(Debug, Clone)]
pub struct Exploration<P: Protocol> {
    /// The answer.
    pub verdict: Verdict,
    /// A counterexample (breadth first, a shortest one), replayable by [`crate::replay`].
    pub script: Option<Script<P>>,
    /// Where the counterexample is a run without end: the index in the script from which its steps repeat for ever; its
    /// length if nothing happens any more.
    pub repeats_from: Option<usize>,
    /// How much was seen.
    pub stats: Stats,
    /// Marks taken and goals reached, in order of name.
    pub reached: Vec<&'static str>,
    /// Message kinds, timers, records, operations and decisions that never occurred, as `message Grant`.
    pub unexercised: Vec<String>,
    /// The abstractions in force, in words: where the model is smaller than the protocol.
    pub abstractions: Vec<String>,
}

/// The answer of an exploration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every property holds within the bounds.
    Holds,
    /// One fell.
    Violated(Violation),
    /// A budget ran out first: which.
    Unknown(String),
}

/// How much an exploration saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Different states, up to the reductions in force.
    pub unique: u64,
    /// Transitions to states within the bounds.
    pub total: u64,
    /// Steps from the start to the furthest state; `None` depth first, where a state may be met on a long way first.
    pub depth: Option<u32>,
    /// Whether every state within the bounds was seen.
    pub exhausted: bool,
    /// Whether the bound on tags or on depth cut states off.
    pub cut: bool,
    /// Random walks begun, where the order is one of walks.
    pub walks: u64,
    /// Node steps computed; all others were remembered.
    pub steps_computed: u64,
    /// Different parts of nodes.
    pub parts: u64,
    /// Different messages.
    pub messages: u64,
    /// Memory of the tables and queues [bytes], at their largest.
    pub bytes: u64,
}

impl Stats {
    /// The chance that two different states had one fingerprint, so that one was missed: at most `1 / this`.
    pub fn collision_odds(&self) -> u64 {
        let pairs = u128::from(self.unique) * u128::from(self.unique.max(1)) / 2;
        u64::try_from((1u128 << 64) / pairs.max(1)).unwrap_or(u64::MAX)
    }
}

/// What a running exploration reports, some times a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Different states so far.
    pub unique: u64,
    /// Transitions so far.
    pub total: u64,
    /// The level being expanded, where there are levels.
    pub depth: Option<u32>,
    /// States of the level still to be expanded.
    pub left: u64,
}

/// The world of `protocol` within `bounds` as a space, for searches of one's own.
///
/// # Errors
/// If the bounds do not fit the protocol.
pub fn space<P: Protocol>(protocol: &P, bounds: &Bounds) -> Result<impl Space, String> {
    Walker::new(protocol, bounds)
}

/// Explores `protocol` within `bounds`. `watch` is called now and then; `false` stops the exploration as unknown.
///
/// # Errors
/// If the bounds do not fit the protocol (a tick too coarse for a timer, say) or the strategy.
pub fn explore<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    strategy: &Strategy,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    explore_aided(protocol, bounds, strategy, Aids::default(), watch)
}

/// Explores as [`explore`] does, with what `aids` the search.
///
/// # Errors
/// Beside those of [`explore`]: those of [`search_aided`].
pub fn explore_aided<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    strategy: &Strategy,
    aids: Aids<'_>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    explore_from(protocol, bounds, strategy, None, aids, watch)
}

/// Explores as [`explore_aided`] does, from `moment` if one is given instead of from the start. The script of a
/// counterexample then holds the steps after that moment: [`Moment::exact`] puts them behind those before.
///
/// # Errors
/// Beside those of [`explore_aided`]: if the moment does not fit the protocol.
pub fn explore_from<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    strategy: &Strategy,
    moment: Option<&Moment<P>>,
    aids: Aids<'_>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    let mut found = match (strategy.order, &aids.kept, &aids.frontier) {
        (Order::Walks(walks), None, None) => sample::explore(protocol, bounds, &walks, moment, watch)?,
        _ => {
            let limits = Limits { depth: bounds.depth, states: bounds.states };
            let walker = Walker::from(protocol, bounds, moment)?;
            report::exploration(protocol, bounds, search_aided(walker, limits, strategy, aids, watch)?)
        }
    };
    found.abstractions.extend(moment.iter().flat_map(|moment| moment.abstractions()));
    Ok(found)
}
