//! Small protocols that pull the contract in different directions.
//!
//! - [`echo`]: numbered requests, retried on a timer, answered by a server without state
//! - [`lease_timers`]: one lease among several holders, on timers alone
//! - [`lease_stamps`]: the same promise on absolute times in messages and records
//! - [`paxos`]: single-decree Paxos with durable acceptors, proposers that retry, and clients
//! - [`register`]: a register kept by a majority of servers, judged by what its clients see
//! - [`request`]: how the others number their requests

pub mod echo;
pub mod lease_stamps;
pub mod lease_timers;
pub mod paxos;
pub mod register;
pub mod request;
