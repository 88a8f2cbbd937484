//! Keys, values, what clients ask, what frontends and servers send each other.

use std::collections::BTreeMap;
use std::fmt;

use seedbed_model::history::{Call, Value as Recorded};
use seedbed_model::{Canonical, NodeId, OpId};

use crate::leasing::Generation;

/// What the service keeps something under. Keys are dealt out to the ranges by turns: their hashes are of no matter here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Key(pub u16);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.0)
    }
}

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Value(pub u32);

/// What a client asks of its frontend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// Keep this under the key.
    Put(Key, Value),
    /// What is kept under the key?
    Get(Key),
    /// Wait for the news that what this client last put under the key is lost. The frontend answers it (PRS §2.1: it
    /// "should pass this notification along to any connected clients").
    Await(Key),
    /// What the demonic client of PRS §2.4 asks, at each loss of a lease. No client of ours does.
    Lose(Key),
}

/// What it gets back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// It is kept.
    Put,
    /// It is not: the lease was lost under way, and what was kept with it.
    Failed,
    /// This is kept, or nothing.
    Got(Option<Value>),
    /// It is lost, or was never kept, or the frontend cannot know.
    Told,
    /// To the demonic client.
    Lost,
}

/// From a frontend to the Owner that it looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Request {
    /// Which of the frontend's operations.
    pub op: OpId,
    /// What is asked.
    pub operation: Operation,
    /// The lease that the frontend looked up.
    pub lease: Generation,
}

/// From the Owner to the frontend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Reply {
    /// Which of the frontend's operations.
    pub op: OpId,
    /// The lease that covered it, with the answer; `None`: it was refused, or its lease was lost under way.
    pub result: Option<(Generation, Answer)>,
}

/// What is kept under a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Item {
    /// The value, if any was put.
    pub value: Option<Value>,
    /// The latest put of each frontend.
    pub done: BTreeMap<NodeId, OpId>,
}

/// The state of a range, on its way from one Owner to another.
pub(crate) type Cargo = BTreeMap<Key, Item>;

impl Operation {
    /// As a store of values by key.
    pub(crate) fn recorded(self) -> Option<Call> {
        let key = i64::from(self.key().0);
        match self {
            Operation::Put(_, value) => Some(Call::new("put", i64::from(value.0)).on(key)),
            Operation::Get(_) => Some(Call::new("get", Recorded::Nil).on(key)),
            Operation::Await(_) | Operation::Lose(_) => None,
        }
    }
}

impl Answer {
    /// A put that failed may be told as one that was done and lost.
    pub(crate) fn recorded(self) -> Recorded {
        match self {
            Answer::Got(Some(value)) => i64::from(value.0).into(),
            Answer::Got(None) => "".into(),
            Answer::Put | Answer::Failed | Answer::Told | Answer::Lost => Recorded::Nil,
        }
    }
}
