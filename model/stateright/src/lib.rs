//! Models and actors written for stateright, unchanged, on Seedbed's explorer.
//!
//! Where a user of stateright writes `model.checker().spawn_bfs().join()`, [`explore_actors`] searches the same
//! `ActorModel`: the same states, the same transitions, the same verdicts, by a search that keeps each actor's states,
//! each message and each history once and computes each step once. [`explore_model`] searches any other `Model`, whose
//! states are then wholes.
//!
//! Stateright's rules are kept, since its own code computes each step: a message that changes nothing is not consumed,
//! timers fire at any time, a duplicating network remembers what it delivered last. Values are told apart by 128 bits of
//! XXH3 over what their `Hash` writes; states by 64 bits, as everywhere in Seedbed.
//!
//! Not searched: `Expectation::Eventually`. It is refused, not passed over.

mod actors;
mod check;
mod network;
mod values;
mod whole;

pub use check::{Checked, Found, Options, Reads, explore_actors, explore_model};
