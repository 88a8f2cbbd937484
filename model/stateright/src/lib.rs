//! The bridge to stateright, both ways.
//!
//! # Its models on our explorer
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
//! Where a user of stateright writes `.symmetry_fn(represent)`, [`explore_actors_by_symmetry`] and
//! [`explore_model_by_symmetry`] take the same function.
//!
//! `Expectation::Eventually` means what stateright says it means: every run meets it, whether it ends or goes on for
//! ever. Where a run comes back to a state, or joins another, stateright documents that it may miss the counterexample;
//! this search does not.
//!
//! # Our worlds on its checkers
//!
//! Another checker, over another store: the plain one instead of the explorer's interned one, with a normal form of
//! its own. Where the two agree on verdict, states and transitions, neither lost any.
//!
//! - [`World`]: a plain world within bounds, and every way on from it;
//! - [`Reductions`]: the normal form in which two worlds count as one;
//! - [`WorldModel`]: the `stateright::Model`;
//! - [`check`]: a run of stateright's checker; [`serve`]: its Explorer page.
//!
//! Not checked here: what only the whole graph of states tells (`reachable always`, `eventually`). stateright's own `eventually` is
//! no substitute: by its documentation it misses behaviours that end in a cycle.

mod actors;
mod check;
mod checkers;
mod driver;
mod model;
mod network;
mod normal;
mod values;
mod waiting;
mod ways;
mod whole;
mod world;

pub use actors::{Shared, SharedActor};
pub use check::{
    Checked, Found, Options, Reads, Represent, explore_actors, explore_actors_by_symmetry, explore_model,
    explore_model_by_symmetry,
};
pub use checkers::{check, serve, unchecked};
pub use model::{Action, State, WorldModel};
pub use normal::Reductions;
pub use world::{Way, World};
