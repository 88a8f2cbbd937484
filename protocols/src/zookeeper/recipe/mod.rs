//! What an application does with the library: batches of requests, and the recipes of §2.4, as state machines.
//!
//! - [`queue`]: locks without herd effect, read/write locks, the election of a leader; [`file`]: locks by a lock file
//! - [`barrier`]: double barriers; [`configuration`]: with the *ready* node (§2.3); [`group`]: membership; [`rendezvous`]
//! - [`application`]: the applications of §3
//! - [`consensus`]: what §2 claims, "we can implement consensus for any number of processes"
//! - [`monitor`]: what must hold of them
//!
//! A recipe outlives its connection, not its session. After a connection that broke it does not know what became of its last
//! request. Its node bears the session's name, so that it finds it again: after a sync, which comes after whatever was committed
//! of it; what was not is refused from then on, as the session is elsewhere. (The client's name would not do: a client that
//! crashed and came back may find what an earlier session of it has left, and that goes with that session.)

pub mod application;
pub mod barrier;
pub mod configuration;
pub mod consensus;
pub mod file;
pub mod group;
pub mod monitor;
pub mod queue;
pub mod rendezvous;

use seedbed_model::{Canonical, Context, NodeId, OpId};

use super::ZooKeeper;
use super::acl;
use super::message::{Ask, Observation};
use super::tree::Trigger;
use super::txn::{ANY, Answer, Create, ErrorKind, Read, Session, Write};
use crate::zab::message::Zxid;

use application::Command;
use barrier::Barrier;
use configuration::{Configure, Configured};
use consensus::Consensus;
use file::FileLock;
use group::{Join, Members};
use queue::{Kind, Queue};
use rendezvous::Rendezvous;

/// The names of nodes that recipes need.
pub use self::{configuration::CONFIGURATION, file::FILE, group::GROUP, queue::ELECTION, queue::LEADER, queue::LOCK};

type Cx<'a, 'b> = &'a mut Context<'b, ZooKeeper>;

/// What a client's application is to do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Operation {
    /// All of these, one after the other without waiting for answers.
    Batch(Vec<Ask>),
    /// Take a place in a queue, wait for its turn, hold what it is for, give it back.
    Queue(Kind),
    /// Acquire, hold and release the lock file (§2.4, "simple locks").
    SimpleLock,
    /// Enter the barrier of this operation, and leave it again.
    Barrier,
    /// Write the configuration.
    Configure,
    /// Read it, once it is ready.
    Configuration,
    /// Be a member of the group.
    Join,
    /// See who is.
    Members,
    /// Say where the master is, at the rendezvous of this operation.
    Fill,
    /// See where it is.
    Meet,
    /// Agree with all others on a value for this operation.
    Agree,
    /// Lead, and write the configuration of those that fetch.
    CommandFetchers,
    /// Lead, and assign shards to those that are there.
    CommandSlaves,
}

/// What recipes show to their properties.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Shown {
    /// A client holds what this node of it stands for.
    Held(Session, String),
    /// It holds it no longer.
    Released,
    /// It has entered the barrier of this path.
    Entered(Session, String),
    /// It is ready to leave it.
    Leaves(String),
    /// It has left it.
    Left(String),
    /// It has read the parts of a configuration.
    Configured(Vec<String>),
    /// It is a member of the group.
    Joined(Session),
    /// It has seen who the members are.
    Members(Vec<String>),
    /// It has met the master, who is there.
    Met(OpId, String),
    /// It has agreed on this.
    Decided(OpId, String),
}

/// What a task hears of.
#[derive(Debug, Clone)]
pub enum Event {
    /// There is a connection.
    Connected,
    /// An answer.
    Answered(Ask, Answer),
    /// A watch fired.
    Notified(Trigger),
    /// The connection is lost: what a watch is to tell may be delayed (§2.1).
    Delayed,
    /// The session is over.
    Ended,
    /// What it waited for has lasted long enough.
    Release,
}

/// Where a recipe's step happens.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    zookeeper: &'a ZooKeeper,
    node: NodeId,
    op: OpId,
    session: Session,
}

impl Scene<'_> {
    fn has(&self, mutant: &str) -> bool {
        self.zookeeper.has(mutant)
    }

    /// The path of this operation's own node.
    fn path(&self, beginning: &str) -> String {
        format!("{beginning}-{}", self.op.0)
    }

    /// What nobody else writes.
    fn value(&self) -> String {
        value(self.node, self.op)
    }
}

/// A state machine.
trait Recipe {
    /// What it asks next.
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask>;

    /// Whether it is over.
    fn is_done(&self) -> bool;

    /// Whether it has what it waited for, until it hears that that is enough.
    fn holds(&self) -> bool {
        false
    }

    /// What it answers its application.
    fn answers(&self) -> Vec<Answer> {
        Vec::new()
    }
}

/// An operation under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Task {
    op: OpId,
    work: Work,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Work {
    Batch(Batch),
    Queue(Queue),
    FileLock(FileLock),
    Barrier(Barrier),
    Configure(Configure),
    Configured(Configured),
    Join(Join),
    Members(Members),
    Rendezvous(Rendezvous),
    Consensus(Consensus),
    Command(Command),
}

impl Task {
    /// Nothing is asked yet.
    pub fn new(op: OpId, operation: Operation) -> Task {
        let work = match operation {
            Operation::Batch(asks) => Work::Batch(Batch { open: asks.len() as u32, asks, answers: Vec::new() }),
            Operation::Queue(kind) => Work::Queue(Queue::new(kind)),
            Operation::SimpleLock => Work::FileLock(FileLock::default()),
            Operation::Barrier => Work::Barrier(Barrier::default()),
            Operation::Configure => Work::Configure(Configure::default()),
            Operation::Configuration => Work::Configured(Configured::default()),
            Operation::Join => Work::Join(Join::default()),
            Operation::Members => Work::Members(Members::default()),
            Operation::Fill => Work::Rendezvous(Rendezvous::new(true)),
            Operation::Meet => Work::Rendezvous(Rendezvous::new(false)),
            Operation::Agree => Work::Consensus(Consensus::default()),
            Operation::CommandFetchers => Work::Command(Command::fetchers()),
            Operation::CommandSlaves => Work::Command(Command::slaves()),
        };
        Task { op, work }
    }

    /// Which operation it is.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// Whether it has what it waited for, until it hears that that is enough.
    pub fn holds(&self) -> bool {
        self.work.recipe().holds()
    }

    /// What came of it, once it is over.
    pub fn finished(&self) -> Option<Vec<Answer>> {
        let recipe = self.work.recipe();
        recipe.is_done().then(|| recipe.answers())
    }

    /// What it asks next.
    pub fn on_event(&mut self, event: Event, session: Session, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) -> Vec<Ask> {
        let scene = Scene { zookeeper, node: cx.node(), op: self.op, session };
        self.work.recipe_mut().on_event(event, scene, cx)
    }
}

/// The recipe of a task, whichever it is.
macro_rules! recipe {
    ($work:expr) => {
        match $work {
            Work::Batch(recipe) => recipe,
            Work::Queue(recipe) => recipe,
            Work::FileLock(recipe) => recipe,
            Work::Barrier(recipe) => recipe,
            Work::Configure(recipe) => recipe,
            Work::Configured(recipe) => recipe,
            Work::Join(recipe) => recipe,
            Work::Members(recipe) => recipe,
            Work::Rendezvous(recipe) => recipe,
            Work::Consensus(recipe) => recipe,
            Work::Command(recipe) => recipe,
        }
    };
}

impl Work {
    fn recipe(&self) -> &dyn Recipe {
        recipe!(self)
    }

    fn recipe_mut(&mut self) -> &mut dyn Recipe {
        recipe!(self)
    }
}

/// Requests without waiting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Batch {
    /// What is to be asked, once there is a connection.
    asks: Vec<Ask>,
    /// What came back; in the order of the answers.
    answers: Vec<Answer>,
    /// How many answers are to come.
    open: u32,
}

impl Recipe for Batch {
    fn on_event(&mut self, event: Event, _: Scene<'_>, _: Cx<'_, '_>) -> Vec<Ask> {
        match event {
            Event::Connected => std::mem::take(&mut self.asks),
            Event::Answered(_, answer) => {
                self.answers.push(answer);
                self.open -= 1;
                Vec::new()
            }
            Event::Notified(_) | Event::Delayed | Event::Ended | Event::Release => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.open == 0
    }

    fn answers(&self) -> Vec<Answer> {
        self.answers.clone()
    }
}

/// What a client writes in an operation, and nobody else.
pub(super) fn value(node: NodeId, op: OpId) -> String {
    format!("{}.{}", node.0, op.0)
}

/// A session's name in paths.
fn label(Session(Zxid { epoch, counter }): Session) -> String {
    format!("{epoch}.{counter}")
}

fn show(cx: Cx<'_, '_>, shown: Shown) {
    cx.observe(Observation::Recipe(shown));
}

fn exists(path: impl Into<String>, watch: bool) -> Ask {
    Ask::Read { read: Read::Exists(path.into()), watch }
}

fn get(path: impl Into<String>, watch: bool) -> Ask {
    Ask::Read { read: Read::Data(path.into()), watch }
}

fn children(path: impl Into<String>) -> Ask {
    Ask::Read { read: Read::Children(path.into()), watch: false }
}

fn set(path: impl Into<String>, data: String) -> Ask {
    Ask::Write(Write::SetData { path: path.into(), data, version: ANY })
}

fn delete(path: impl Into<String>) -> Ask {
    Ask::Write(Write::Delete { path: path.into(), version: ANY })
}

/// A regular node.
fn create(path: impl Into<String>, data: String) -> Ask {
    let (path, acl) = (path.into(), acl::open());
    Ask::Write(Write::Create(Create { path, data, acl, ephemeral: false, sequential: false }))
}

/// A node that goes with its session.
fn create_ephemeral(path: impl Into<String>, sequential: bool) -> Ask {
    let (path, acl) = (path.into(), acl::open());
    Ask::Write(Write::Create(Create { path, data: String::new(), acl, ephemeral: true, sequential }))
}

/// Whether a node is there after this answer to its creation, whoever created it.
fn is_there(answer: &Answer) -> bool {
    matches!(answer, Answer::Created { .. } | Answer::Failed(ErrorKind::NodeExists))
}

/// Whether a node is gone after this answer to its deletion.
fn is_gone(answer: &Answer) -> bool {
    matches!(answer, Answer::Deleted | Answer::Failed(ErrorKind::NoNode))
}
