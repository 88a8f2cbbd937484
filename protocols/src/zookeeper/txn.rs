//! Requests, the transactions they become, and what comes back.

use seedbed_model::Canonical;

use super::acl::{Acl, Identity};
use crate::zab::message::Zxid;

/// A session, by the transaction that created it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Session(pub Zxid);

/// A version of data or of an access-control list, or a count of changes: 32 bits with a sign, which wrap around.
pub type Version = i64;

/// The version that matches any.
pub const ANY: Version = -1;

/// The version after this one.
pub fn next_version(version: Version) -> Version {
    Version::from((version as i32).wrapping_add(1))
}

/// What is known of a znode beside its data, as clients see it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Stat {
    /// The transaction that created it.
    pub czxid: Zxid,
    /// The last that set its data.
    pub mzxid: Zxid,
    /// The last that created or deleted a child.
    pub pzxid: Zxid,
    /// How often its data was set.
    pub version: Version,
    /// How often a child was created or deleted.
    pub cversion: Version,
    /// How often its access-control list was set.
    pub aversion: Version,
    /// Whose it is, if it is ephemeral.
    pub ephemeral_owner: Option<Session>,
    /// How many bytes its data has.
    pub data_length: u64,
    /// How many children it has.
    pub num_children: u64,
}

/// What went wrong: the real server's codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum ErrorKind {
    /// There is no such node, or no parent for it.
    NoNode,
    /// There is one already.
    NodeExists,
    /// The version is another.
    BadVersion,
    /// It has children.
    NotEmpty,
    /// Its parent is ephemeral.
    NoChildrenForEphemerals,
    /// Who asks may not.
    NoAuth,
    /// The access-control list is none.
    InvalidAcl,
    /// The path is none.
    BadArguments,
    /// The session has ended.
    SessionExpired,
    /// The session is served elsewhere by now.
    SessionMoved,
    /// Nobody knows what became of the request: the connection broke, perhaps over a request that is too long.
    ConnectionLoss,
    /// In a multi, before what failed.
    RolledBack,
    /// In a multi, after what failed.
    RuntimeInconsistency,
}

impl ErrorKind {
    /// As recordings have it.
    pub fn name(self) -> String {
        if self == ErrorKind::InvalidAcl { "InvalidACL".into() } else { format!("{self:?}") }
    }
}

/// Who asks, and what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Request {
    /// In which session.
    pub session: Session,
    /// Who the connection has proved to be.
    pub identities: Vec<Identity>,
    /// What is to change.
    pub write: Write,
}

/// What changes the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Write {
    /// `create(path, data, flags)`.
    Create(Create),
    /// `delete(path, version)`.
    Delete {
        /// Which.
        path: String,
        /// Its version, or [`ANY`].
        version: Version,
    },
    /// `setData(path, data, version)`.
    SetData {
        /// Which.
        path: String,
        /// What it is to hold.
        data: String,
        /// Its version, or [`ANY`].
        version: Version,
    },
    /// `setACL(path, acl, version)`.
    SetAcl {
        /// Which.
        path: String,
        /// Who may do what with it.
        acl: Vec<Acl>,
        /// The list's version, or [`ANY`].
        version: Version,
    },
    /// That it has this version: in a multi.
    Check {
        /// Which.
        path: String,
        /// Its version, or [`ANY`].
        version: Version,
    },
    /// All of them or none.
    Multi(Vec<Write>),
    /// A session begins; the request's session is not looked at.
    CreateSession,
    /// It ends, and with it its ephemeral nodes.
    CloseSession,
}

/// What is to be created.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Create {
    /// Where; a sequential name's beginning.
    pub path: String,
    /// What it is to hold.
    pub data: String,
    /// Who may do what with it.
    pub acl: Vec<Acl>,
    /// Whether it goes with the session.
    pub ephemeral: bool,
    /// Whether the parent's count is appended to its name.
    pub sequential: bool,
}

/// What reads the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Read {
    /// `getData(path, watch)`.
    Data(String),
    /// `exists(path, watch)`.
    Exists(String),
    /// `getChildren(path, watch)`.
    Children(String),
    /// `getACL(path)`.
    Acl(String),
}

/// A state change that leaves nothing to the moment: everything in it is absolute, so that applying it again changes nothing,
/// if all that follow it are applied again too (§4.1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Txn {
    /// Its place in the order of all.
    pub zxid: Zxid,
    /// Whose request it is.
    pub session: Session,
    /// What changes.
    pub change: Change,
}

/// What a transaction changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Change {
    /// A node is there.
    Create {
        /// With its sequence number, if any.
        path: String,
        /// Its data.
        data: String,
        /// Its access-control list.
        acl: Vec<Acl>,
        /// Whether it is the session's.
        ephemeral: bool,
        /// How many children the parent has had then.
        parent_creations: Version,
    },
    /// A node is gone.
    Delete {
        /// Which.
        path: String,
    },
    /// A node holds this.
    SetData {
        /// Which.
        path: String,
        /// What.
        data: String,
        /// In this version.
        version: Version,
    },
    /// A node has this list.
    SetAcl {
        /// Which.
        path: String,
        /// Which list.
        acl: Vec<Acl>,
        /// In this version.
        version: Version,
    },
    /// Nothing: the version was as it was to be.
    Check,
    /// All of these, in order.
    Multi(Vec<Change>),
    /// The session of this transaction's number is there.
    CreateSession,
    /// The session is gone, and these nodes with it, in this order.
    CloseSession {
        /// Its ephemeral nodes.
        paths: Vec<String>,
    },
    /// Nothing: an errorTXN.
    Error(ErrorKind),
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Answer {
    /// Under this name.
    Created {
        /// With its sequence number, if any.
        path: String,
        /// As it is now.
        stat: Stat,
    },
    /// Gone.
    Deleted,
    /// As it is now.
    Set(Stat),
    /// The version is as it was to be.
    Checked,
    /// One for each.
    Many(Vec<Answer>),
    /// The session's name.
    Opened(Session),
    /// The session is over.
    Closed,
    /// This.
    Data {
        /// What it holds.
        data: String,
        /// Its stat.
        stat: Stat,
    },
    /// There is one, or none.
    Existence(Option<Stat>),
    /// These, in order.
    Children {
        /// Their names.
        children: Vec<String>,
        /// The parent's stat.
        stat: Stat,
    },
    /// This list.
    Acl {
        /// As far as it is shown.
        acl: Vec<Acl>,
        /// Its node's stat.
        stat: Stat,
    },
    /// All that was committed before is seen here.
    Synced,
    /// It is known who the client is.
    Authenticated,
    /// It did not work.
    Failed(ErrorKind),
}

/// Length of a packet on the wire beside strings, lists and numbers: `xid` and `type`.
const HEADER_LENGTH: u64 = 8;

/// Requests of at most so many bytes are read by default (`jute.maxbuffer`): 1 MB less one byte.
pub const PACKET_LENGTH_MAX: u64 = 0xf_ffff;

impl Write {
    /// How long its packet is, in bytes: who sends a longer one than the server reads loses the connection.
    pub fn packet_length(&self) -> u64 {
        HEADER_LENGTH + self.body_length()
    }

    fn body_length(&self) -> u64 {
        match self {
            Write::Create(create) => string(&create.path) + string(&create.data) + list(&create.acl) + 4,
            Write::Delete { path, .. } | Write::Check { path, .. } => string(path) + 4,
            Write::SetData { path, data, .. } => string(path) + string(data) + 4,
            Write::SetAcl { path, acl, .. } => string(path) + list(acl) + 4,
            // Each with its type, whether it is the last, and an error code; one such header ends them.
            Write::Multi(writes) => writes.iter().map(|write| 9 + write.body_length()).sum::<u64>() + 9,
            Write::CreateSession | Write::CloseSession => 0,
        }
    }
}

fn string(text: &str) -> u64 {
    4 + text.len() as u64
}

fn list(acl: &[Acl]) -> u64 {
    4 + acl.iter().map(|entry| 4 + string(&entry.identity.scheme) + string(&entry.identity.id)).sum::<u64>()
}
