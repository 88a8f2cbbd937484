//! What clients, servers and the broadcast send each other, what is written and shown, and the names in it.

use std::collections::BTreeSet;

use seedbed_model::{Canonical, NodeId};

use super::acl::Identity;
use super::embedded::Carried;
pub use super::link::{Connection, Connections, Link, Round, Rounds};
use super::recipe::Shown;
use super::snapshot::Snapshot;
use super::tree::Trigger;
use super::txn::{Answer, Read, Request, Session, Txn, Write};
use super::watches::WatchedPaths;
use crate::zab::message::Zxid;

/// A request as an application makes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Ask {
    /// It goes through the leader.
    Write(Write),
    /// It is answered where the client is connected.
    Read {
        /// What is read.
        read: Read,
        /// Whether the client is to be told of the next change.
        watch: bool,
    },
    /// What was committed before is to be seen by what comes after.
    Sync,
    /// Who the client is, beside what it has proved before.
    Auth(Identity),
}

/// Who asked for a transaction, and what is to be answered.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Asked {
    /// Who.
    pub client: NodeId,
    /// On which connection.
    pub connection: Connection,
    /// The request's number there.
    pub number: u32,
}

/// What is broadcast: a transaction, and whose request it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Entry {
    /// The transaction.
    pub txn: Txn,
    /// `None`: the leader's own, that ends a session.
    pub asked: Option<Asked>,
}

/// What a server passes on to the leader.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Forwarded {
    /// A client wants a session.
    Open,
    /// A client with the session is here now.
    Revalidate(Session),
    /// A write in the session, of who is all of these.
    Write(Session, Write, Vec<Identity>),
    /// A sync.
    Sync,
    /// The session's client was heard of.
    Touch(Session),
}

/// From a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum ToServer {
    /// The first packet of a connection.
    Connect {
        /// `None`: a new one is wanted.
        session: Option<Session>,
        /// The last zxid that the client has seen.
        seen: Zxid,
        /// What it watches.
        watched: WatchedPaths,
        /// Who it has proved to be.
        identities: Vec<Identity>,
    },
    /// A request.
    Ask(Ask),
    /// A heartbeat.
    Ping,
}

/// To a client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum ToClient {
    /// In the session.
    Connected(Session),
    /// To the request of this number.
    Answer(u32, Answer),
    /// A watch fired.
    Event(Trigger),
    /// To a heartbeat.
    Pong,
    /// Go elsewhere.
    Closed,
    /// Your session is over.
    Expired,
}

/// All messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// From a client.
    ToServer {
        /// On which connection.
        connection: Connection,
        /// The how manieth packet.
        number: u32,
        /// What.
        packet: ToServer,
    },
    /// To a client.
    ToClient {
        /// On which connection.
        connection: Connection,
        /// The how manieth packet.
        number: u32,
        /// The last transaction that the server has applied (§4.4).
        zxid: Zxid,
        /// What.
        packet: ToClient,
    },
    /// From a follower to the leader of the epoch, in order.
    Forward {
        /// Of which leader.
        epoch: u32,
        /// The follower's round.
        round: Round,
        /// The how manieth.
        number: u32,
        /// Who asked.
        asked: Asked,
        /// What.
        what: Forwarded,
    },
    /// From the leader: whether a session is open that was to be validated.
    Validated {
        /// Who asked.
        asked: Asked,
        /// Whether it is.
        is_open: bool,
    },
    /// From the leader to the broadcast.
    Propose {
        /// What becomes the transaction, for the properties alone. `None`: it was refused before it was looked at.
        request: Option<Request>,
        /// What is proposed.
        entry: Entry,
    },
    /// From a server to the broadcast: all after so many transactions, please.
    Join {
        /// A new one.
        round: Round,
        /// How many it has applied.
        index: u32,
    },
    /// From a server to the broadcast, where time passes: it is there.
    Alive {
        /// Of the server.
        round: Round,
        /// How far it is.
        progress: Progress,
    },
    /// From the broadcast: it was given up, and must join again.
    Rejoin {
        /// Of the server.
        round: Round,
    },
    /// From the broadcast: what a server that joined has missed.
    Catch {
        /// Of the server.
        round: Round,
        /// How many transactions come before these.
        index: u32,
        /// All there are.
        entries: Vec<Entry>,
        /// Who leads which epoch.
        led: Option<(NodeId, u32)>,
    },
    /// From the broadcast: the transaction after so many others is committed.
    Deliver {
        /// Of the server.
        round: Round,
        /// How many come before.
        index: u32,
        /// Which.
        entry: Entry,
    },
    /// From the broadcast: lead, when you have applied all of these.
    Lead {
        /// Of the server.
        round: Round,
        /// Which epoch.
        epoch: u32,
        /// How many.
        index: u32,
    },
    /// From a server to the broadcast: it leads.
    Established {
        /// Which epoch.
        epoch: u32,
    },
    /// From the broadcast: follow.
    Follow {
        /// Of the server.
        round: Round,
        /// Which epoch.
        epoch: u32,
        /// Whom.
        leader: NodeId,
    },
    /// From the broadcast: nobody leads this epoch any more.
    Lost {
        /// Of the server.
        round: Round,
        /// Which epoch.
        epoch: u32,
    },
    /// Between servers, where Zab itself is below them.
    Zab(Box<Carried>),
    /// From a follower to the leader of the epoch, where Zab itself is below them: these sessions were heard of.
    Touched {
        /// Of which leader.
        epoch: u32,
        /// Which.
        sessions: BTreeSet<Session>,
    },
    /// From the leader: a sync is behind this transaction, where it is none itself.
    Synced {
        /// Who asked.
        asked: Asked,
        /// Which.
        after: Zxid,
    },
}

/// How far a server is, by which the broadcast sees what was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Progress {
    /// How many transactions it has applied.
    pub index: u32,
    /// The largest epoch that it has heard of.
    pub epoch: u32,
    /// The last transaction that it has proposed, if it leads.
    pub proposed: Option<Zxid>,
}

/// What a server writes: a snapshot, and how many transactions came before it began.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Kept {
    /// As the scan read it.
    pub snapshot: Snapshot,
    /// How many.
    pub index: u32,
    /// How many when it ended: those in between are in it or not.
    pub end: u32,
}

/// The timers of all roles, where time passes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// At a client: it has sent nothing for a third of the session's timeout, less `early`.
    Heartbeat,
    /// At a client: it has heard nothing for two thirds of it.
    Silence,
    /// At the leader: nothing was heard of the session.
    Session(Session),
    /// At a server: it says that it is there.
    Alive,
    /// At the broadcast: the server was not heard of.
    Heard(NodeId),
    /// At a server: of Zab below it.
    Zab(crate::zab::message::Timer),
}

/// What is left to the moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// At the broadcast: this server leads.
    Elect(NodeId),
    /// At the broadcast: who leads is not heard of any more.
    Depose,
    /// At the leader: nothing was heard of the session for too long.
    Expire(Session),
    /// At a server: its snapshot reads the next node.
    Scan,
    /// At a client: it connects to this server.
    Connect(NodeId),
    /// At a client: it has not heard of its server for too long.
    Leave,
    /// At a client: it has held the lock, or computed in the barrier, for long enough.
    Release,
}

/// What came of an operation: an answer for each request of a batch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Returned(pub Vec<Answer>);

/// What nodes show to the properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The broadcast: this is the next transaction.
    Ordered {
        /// What it was made of.
        request: Option<Request>,
        /// Which, and whose.
        entry: Entry,
    },
    /// A server is to apply the next transaction, where Zab itself is below it: whoever does so first shows what the order is.
    Delivered {
        /// How many the server has applied before.
        place: u32,
        /// What it was made of.
        request: Option<Request>,
        /// Which, and whose.
        entry: Entry,
    },
    /// A server has applied all up to this one, and has this tree.
    Applied {
        /// Which.
        zxid: Zxid,
        /// Of the tree.
        digest: u64,
    },
    /// A client sends a request.
    Asked {
        /// On which connection.
        connection: Connection,
        /// The request's number there.
        number: u32,
        /// Which.
        ask: Ask,
    },
    /// A client gets an answer to the how manieth of its open requests, from 0.
    Answered {
        /// Which.
        place: u32,
        /// What was asked.
        ask: Ask,
        /// What came back.
        answer: Answer,
        /// What the server had applied.
        zxid: Zxid,
    },
    /// A client is served, in the session.
    Connected {
        /// Which.
        session: Session,
        /// What the server had applied.
        zxid: Zxid,
    },
    /// A server that is to be spared has so many requests in process.
    InProcess(u32),
    /// A client is told of a change.
    Notified(Trigger),
    /// A client's requests are open no more.
    Disconnected {
        /// What it watches, of which it has told its application that events may be delayed.
        told: WatchedPaths,
    },
    /// A client's session has ended, for all it knows.
    Ended,
    /// A client shows how far it is with a recipe.
    Recipe(Shown),
}
