//! Seedbed: run a protocol under a seeded simulator, check it exhaustively, replay what they find.
//!
//! A user's crate implements [`model::Family`] for a protocol of its own, puts it into a [`Registry`] with its files,
//! and hands that to [`main`]: every verb of the command works on it as on the shipped ones. `starter` beside this
//! crate is such a crate, whole.
//!
//! - [`registry`](Registry): protocols with their scenario files.
//! - [`testing`]: the same scenarios and bounds from `cargo test`.
//! - [`exit`]: exit codes, and why input is refused.
//! - [`model`], [`sim`]: the crates below, re-exported.

mod abreast;
mod campaign;
mod checkpoint;
mod command;
mod console;
mod drive;
mod engine;
mod exactness;
pub mod exit;
mod experiment;
mod exploration;
mod face;
mod file;
mod folder;
mod frontier;
mod gathering;
mod guided;
mod history;
mod judging;
mod keeping;
mod kill;
mod library;
mod moment;
mod observed;
mod params;
mod pin;
mod pinned;
mod registry;
mod results;
mod seeds;
// Tests inside this crate do without the shipped protocols: to compile them twice takes minutes.
#[cfg(not(test))]
mod shipped;
mod shrinking;
mod shrunken;
mod stopwatch;
mod taped;
pub mod testing;
mod written;

pub use command::{main, run};
pub use registry::{Comparison, Files, Registry, Unlike};
pub use seedbed_model as model;
pub use seedbed_sim as sim;
#[cfg(not(test))]
pub use shipped::shipped;
