//! What the simulator promises, tried on a protocol that probes it. One program, so that its code is made once.

mod clocks;
mod common;
mod costs;
mod disks;
mod faults;
mod guided;
mod links;
mod runs;
mod settings;
mod shrinking;
mod ticks;
