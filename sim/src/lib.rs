//! One seeded path through a world, in virtual time, at speed.
//!
//! A *run* is a protocol, [`Settings`] and a [`Seed`]; it has one digest, on every machine and thread count. The
//! [`Plan`] holds what goes wrong in it; it is drawn from the seed, and can be edited and passed back in. What each
//! thing *means* is written in `seedbed_model`; this crate only says what happens when.
//!
//! - `seed`, `stream`: randomness, as pure functions of seed, label and counter;
//! - `settings`: every knob, with its unit;
//! - `network`, `clock`, `faults`: the fault models;
//! - `agenda`, `scheduler`, `run`: the loop;
//! - `trace`, `determinism`, `sweep`: watching a run, checking its one promise, running many.

mod agenda;
mod clock;
mod determinism;
mod faults;
mod network;
mod run;
mod scheduler;
mod seed;
mod settings;
mod stream;
mod sweep;
mod trace;

pub use clock::NodeClock;
pub use determinism::{Divergence, check_determinism};
pub use faults::{Fault, NamedClock, Plan, TimedFault, Ways, plan};
pub use run::{End, Found, Run, simulate, simulate_plan};
pub use seed::Seed;
pub use settings::{ClockSettings, DiskTimes, Distribution, FaultMix, Network, Settings, SpanRange};
pub use sweep::sweep;
pub use trace::{Recorder, Tracer};
