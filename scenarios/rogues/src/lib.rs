//! Protocols for tests of the command: what no shipped one does, or may do.

pub mod greeting;
pub mod impatient;
pub mod rogue;
