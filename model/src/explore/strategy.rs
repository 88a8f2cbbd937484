//! How a search goes about it. Nothing here changes what is found, but for the length of a counterexample.

use serde::{Deserialize, Serialize};

/// The order of a search and who works on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strategy {
    /// Which states come first.
    pub order: Order,
    /// Workers. Counts, verdict and counterexample are the same for any number.
    pub jobs: usize,
}

/// Which states a search expands first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The nearest: counterexamples are the shortest.
    BreadthFirst,
    /// The latest: little memory waits in queues, counterexamples are long.
    DepthFirst,
}

impl Default for Strategy {
    fn default() -> Self {
        Strategy { order: Order::BreadthFirst, jobs: 1 }
    }
}
