//! Seedbed's worlds as [`stateright::Model`]s.
//!
//! Another checker, over another store: the plain one instead of the explorer's interned one, with a normal form of
//! its own. Where the two agree on verdict, states and transitions, neither lost any.
//!
//! - [`World`]: a plain world within bounds, and every way on from it;
//! - [`Reductions`]: the normal form in which two worlds count as one;
//! - [`WorldModel`]: the `stateright::Model`;
//! - [`check`]: a run of stateright's checker; [`serve`]: its Explorer page.
//!
//! Not checked here: what only the whole graph of states tells (`reachable always`). stateright's own `eventually` is
//! no substitute: by its documentation it misses behaviours that end in a cycle.

mod check;
mod driver;
mod exercised;
mod model;
mod normal;
mod world;

pub use check::{Order, check, serve, unchecked};
pub use model::{Action, State, WorldModel};
pub use normal::Reductions;
pub use world::{Way, World};
