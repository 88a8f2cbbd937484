//! How a search goes about it.

use serde::{Deserialize, Serialize};

/// The order of a search and who works on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strategy {
    /// Which states come first.
    pub order: Order,
    /// Workers. Counts, verdict and counterexample are the same for any number.
    pub jobs: usize,
}

/// Which states come first. The first two see all of a space and differ in memory and in the length of a counterexample; the
/// others see a part of it, so that a verdict without a violation is [`super::Verdict::Unknown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The nearest: counterexamples are the shortest.
    BreadthFirst,
    /// The latest: little memory waits in queues, counterexamples are long.
    DepthFirst,
    /// The latest, remembered by three bits each (Holzmann's bit-state hashing): states are missed. One worker.
    BitState {
        /// The table's size [MiB].
        mebibytes: u32,
    },
    /// Random walks from the start, until something falls. One worker.
    Walks(Walks),
}

/// Random walks over the same choices as a search's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Walks {
    /// How many.
    pub count: u64,
    /// Steps of each; fewer if nothing can happen any more.
    pub steps: u32,
    /// How a choice is drawn.
    pub sampling: Sampling,
    /// Of walk `n`, the seed and `n` are the whole of its randomness.
    pub seed: u64,
}

/// How a walk draws its next choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sampling {
    /// Each choice alike.
    Uniform,
    /// By priority (Burckhardt et al., ASPLOS 2010): each link, each node's timers, disk, decisions and faults, and time
    /// have a random priority; the highest goes on until, at `changes` random steps, it falls below all others. A bug that
    /// hangs on `changes + 1` orderings is found in each walk with a chance that shrinks with the steps' number to the power
    /// `changes` at worst.
    Pct {
        /// How many times the highest priority falls in a walk.
        changes: u32,
    },
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy { order: Order::BreadthFirst, jobs: 1 }
    }
}

impl Order {
    /// Whether a search in this order, run to its end, has seen every state.
    pub fn sees_all(self) -> bool {
        matches!(self, Order::BreadthFirst | Order::DepthFirst)
    }
}
