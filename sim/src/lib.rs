//! One seeded path through a world, in virtual time, at speed.
//!
//! A *run* is a protocol, [`Settings`] and a [`Seed`]; it has one digest, on every machine and thread count. The
//! [`Plan`] holds what goes wrong in it; it is drawn from the seed, and can be edited and passed back in. What each
//! thing *means* is written in `seedbed_model`; this crate only says what happens when.
//!
//! - `seed`, `stream`: randomness, as pure functions of seed, label and counter;
//! - `settings`: every knob, with its unit; `sizer`: how long messages and records are;
//! - `network`, `shape`, `clock`, `faults`: the fault models; `mix`, `drawing`: which faults a seed has; `words`: a plan
//!   for people;
//! - `agenda`, `scheduler`, `simulation`, `costs`, `injection`: the loop, the queues at nodes, the faults;
//! - `certify`: what of a run the explorer does not have;
//! - `run`, `sweep`: one run, many runs; `recording`: a run as an exact script;
//! - `guided`: seeds that learn from what earlier ones reached;
//! - `signing`: which failures are one; `shrink`: from a run that falls to a smaller one that falls alike;
//! - `trace`, `determinism`: watching a run, checking that a seed has one.

mod agenda;
mod certify;
mod clock;
mod costs;
mod determinism;
mod drawing;
mod faults;
mod guided;
mod injection;
mod kinds;
mod mix;
mod network;
mod recording;
mod run;
mod scheduler;
mod seed;
mod settings;
mod shape;
pub mod shrink;
mod signing;
mod simulation;
mod sizer;
mod stream;
mod sweep;
mod trace;
mod words;

pub use certify::uncertifiable;
pub use determinism::{Divergence, check_determinism};
pub use drawing::plan;
pub use faults::{Fault, NamedClock, Plan, TimedFault, Turn, Ways};
pub use guided::{Guidance, guide};
pub use recording::record;
pub use run::{End, Found, Run, simulate, simulate_plan};
pub use seed::Seed;
pub use seedbed_model::NodeClock;
pub use settings::{ClockSettings, Costs, DiskTimes, Distribution, FaultMix, Network, Settings, SpanRange};
pub use signing::signature;
pub use sizer::Sizer;
pub use sweep::{sweep, sweep_with};
pub use trace::{Recorder, Tracer};
