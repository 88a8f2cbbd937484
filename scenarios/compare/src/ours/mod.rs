//! Stateright's models written to Seedbed's ordinary contract.
//!
//! - [`register`], [`history`]: a register with clients, and what they saw
//! - [`paxos`]: the register over Paxos; same states, same transitions
//! - [`two_phase`]: two-phase commit; same states

pub mod history;
pub mod paxos;
pub mod register;
pub mod two_phase;
