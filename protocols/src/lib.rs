//! The protocol families: pure state machines over `seedbed_model`.
//!
//! - [`basics`]: small protocols that pull the contract in different directions (echo, two leases, Paxos, a register)
//! - [`seqpair`]: sequence-number pairs and nonces between two parties (Centrifuge §2.3.2, PRS §4.3)
//! - [`fatlease`]: lease negotiation by Paxos without persistent state (FaTLease §4)
//! - [`paxos`]: what durable acceptors share: FaTLease's regular Paxos, and the Managers' group
//! - [`leasing`]: manager-directed leasing (Centrifuge §2.1 to §2.3, PRS §4.1 to §4.3)
//! - [`taskmaster`]: reliable queues with leases over a data store (TaskMaster §2 to §6)
//! - [`zab`]: ZooKeeper's atomic broadcast (ZooKeeper §4.2; Zab)
//! - [`zookeeper`]: the replicated data tree and its service (ZooKeeper §2 to §4)

pub mod basics;
pub mod fatlease;
pub mod leasing;
pub mod paxos;
pub mod seqpair;
pub mod taskmaster;
pub mod zab;
pub mod zookeeper;
