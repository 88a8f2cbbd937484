//! Seedbed beside its peers: the same kind of work, in one process run.
//!
//! - [`ours`]: registers in the ordinary contract
//! - [`exploring`]: exhaustive search of one model, by stateright, by our explorer on its actors, and on our contract
//! - [`messages`]: messages per second of a simulated closed loop
//!
//! `cargo bench` in this folder measures all of it and prints the ratios.

pub mod exploring;
pub mod messages;
pub mod ours;
