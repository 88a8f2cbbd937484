//! A protocol's nodes outside the engines: real time, real sockets, real files.
//!
//! One host drives any protocol of [`seedbed_model`]. It is written against tokio, by way of `madsim-tokio`: compiled as it
//! is, nodes run on sockets; compiled with `--cfg madsim`, the same source runs in madsim's simulated world, where its own
//! promises are tested deterministically. What a node takes in can be taped, and tapes joined into a run
//! ([`seedbed_model::tape`]), which replays as any other.
//!
//! - `wire`: frames; `streams`: records in files; `folder`, `memory`: disks;
//! - `machine`: one node, without anything around it; `links`: its connections; `driver`: its loop;
//! - `clock`: the two clocks of a machine;
//! - `cluster`: what a cluster is, as a file; `tapes`: tapes as files; `command`: nodes and clusters as processes;
//! - `promises`: what every driver of a node promises.

pub mod clock;
pub mod cluster;
#[cfg(not(madsim))]
pub mod command;
pub mod driver;
#[cfg(not(madsim))]
pub mod folder;
pub mod links;
pub mod machine;
pub mod memory;
pub mod promises;
pub mod streams;
pub mod tapes;
pub mod wire;
