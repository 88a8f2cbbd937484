//! Keys, values, what clients ask, what frontends and servers send each other.

use std::collections::{BTreeMap, BTreeSet};
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
    /// Send on to me what is published under the topic.
    Subscribe(Key),
    /// Send this to all who subscribed to the topic.
    Publish(Key, Value),
    /// Make a queue for me, if there is none. The frontend adds to which topic its client subscribed, and under which lease.
    Connect(Key, Option<(Key, Generation)>),
    /// Put this into the queue.
    Enqueue(Key, Value),
    /// What is next in the queue? The last entry that it gave is taken.
    Dequeue(Key, Option<Entry>),
    /// What is in this section of the document?
    Read(Key, u8),
    /// Write a section, if the document's version is the one that is expected.
    Update(Update),
    /// Do not let the document expire.
    Refresh(Key),
}

/// A change of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Update {
    /// Which document.
    pub key: Key,
    /// Which of its sections.
    pub section: u8,
    /// What is written. It is the document's version from here on: no two updates write the same, so none is ever taken for
    /// another, of a document that was lost or expired before.
    pub value: Value,
    /// The version that it is made for; `None`: no document.
    pub expected: Option<Value>,
}

/// What a client finds in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Entry {
    /// Something that was enqueued.
    Event(Value),
    /// The subscription to this topic was lost, and perhaps what was published there.
    Lost(Key),
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
    /// What is published from here on comes, or else word that something may have been missed.
    Subscribed,
    /// Who subscribed has it, or hears that something may have been missed.
    Published,
    /// The queue is there.
    Connected,
    /// It is in the queue, or the queue's client hears that something may have been missed.
    Enqueued,
    /// This is next, or nothing.
    Dequeued(Option<Entry>),
    /// This is in the section of a document of this version.
    Read {
        /// `None`: there is no document.
        version: Option<Value>,
        /// What was written, if anything was.
        value: Option<Value>,
    },
    /// It is written.
    Updated,
    /// It is not: this is the version.
    Conflict(Option<Value>),
    /// It lives on; `false`: there is none.
    Refreshed(bool),
    /// Nothing, for as long as the frontend retries. What was asked may have been done, or be done yet.
    GaveUp,
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

/// From the server of a topic to a frontend whose client subscribed, and back from there once the client has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Push {
    /// The topic.
    pub key: Key,
    /// What was published.
    pub event: Value,
}

/// What is kept under a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Item {
    /// The state of the service.
    pub content: Content,
    /// The latest put of each frontend.
    pub done: BTreeMap<NodeId, OpId>,
}

/// What each service keeps under a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Content {
    /// Nothing.
    #[default]
    Nothing,
    /// A hash table: what was put.
    Value(Value),
    /// Publish-subscribe: who subscribed.
    Topic(Topic),
    /// The queue service.
    Queue(Queue),
    /// The sectioned document.
    Document(Document),
}

/// A document (PRS §3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Document {
    /// What was written last.
    pub version: Value,
    /// What was written last in each section.
    pub sections: BTreeMap<u8, Value>,
}

impl Content {
    /// What was put, if anything was.
    pub(crate) fn value(&self) -> Option<Value> {
        match self {
            Content::Value(value) => Some(*value),
            _ => None,
        }
    }
}

/// The subscription list of a topic (Centrifuge Figure 10).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Topic {
    /// To whom it goes.
    pub subscribers: BTreeSet<Recipient>,
}

/// Whom something is exposed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Recipient {
    /// A frontend, for its client.
    Frontend(NodeId),
    /// Whoever has this key of another pool.
    Service(Key),
}

/// A client's queue.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Queue {
    /// What its client has not taken, oldest first.
    pub entries: Vec<Entry>,
    /// The topic that the client subscribed to, and under which lease, if it must hear of the loss of that.
    pub watched: Option<(Key, Generation)>,
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
            _ => None,
        }
    }
}

impl Answer {
    /// As a store of values by key that may be lost. A put that failed may have been done, and what another client put under
    /// the next lease have been kept after it or before it.
    pub(crate) fn recorded(self) -> Recorded {
        match self {
            Answer::Failed => Recorded::Bool(false),
            Answer::Got(Some(value)) => i64::from(value.0).into(),
            Answer::Got(None) => "".into(),
            _ => Recorded::Nil,
        }
    }
}
