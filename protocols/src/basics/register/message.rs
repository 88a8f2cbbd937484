//! Versions and values, what clients ask, what is sent, what is written.

use seedbed_model::{Canonical, NodeId, OpId};

/// What the register holds; 0 at first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Value(pub u32);

/// Which write a value is from. Distinct for every write, also across restarts of its writer, since operations are
/// numbered through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Version {
    /// From 1; higher than any that the writer found.
    pub number: u32,
    /// Whose write it is.
    pub writer: NodeId,
    /// Which of its writes.
    pub op: OpId,
}

/// A value with its version, in the order of versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Stored {
    /// `None` for the value at first.
    pub version: Option<Version>,
    /// What was written.
    pub value: Value,
}

/// What a client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// Hold this from here on.
    Write(Value),
    /// What is held?
    Read,
}

/// What it gets back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// It is held.
    Written,
    /// This is held.
    Read(Value),
}

/// A phase of an operation: what a server's answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Request {
    /// The client's operation.
    pub op: OpId,
    /// Whether it stores already, or still asks.
    pub is_storing: bool,
}

/// What clients and servers send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To a server: what do you keep?
    Query(Request),
    /// To a client: this.
    Found(Request, Stored),
    /// To a server: keep this, unless you keep something newer.
    Store(Request, Stored),
    /// To a client: that, or something newer, is durable here.
    Done(Request),
}

/// A client's timer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// Ask again those that have not answered.
    Resend,
}
