//! A campaign cut into shards.

use serde::{Deserialize, Serialize};

use super::Header;
use super::seeds::SeedSpan;

/// What each of several machines runs, and what puts their results together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// Whence.
    #[serde(flatten)]
    pub header: Header,
    /// In order of their numbers. One without a seed is left out.
    pub shards: Vec<ShardPlan>,
    /// The line that merges their results.
    pub merge: String,
}

/// The part of one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardPlan {
    /// Which, from 1.
    pub index: u64,
    /// The seeds of each scenario that has some here.
    pub scenarios: Vec<ShardSeeds>,
    /// The line that runs them.
    pub command: String,
}

/// Seeds of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardSeeds {
    /// `protocol/scenario`.
    pub name: String,
    /// Its seeds.
    pub seeds: SeedSpan,
}
