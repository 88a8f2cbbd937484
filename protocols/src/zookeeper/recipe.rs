//! What an application does with the library: batches of requests, and the recipes of §2.4, as state machines.
//!
//! A recipe outlives its connection, not its session. After a connection that broke it does not know what became of its last
//! request. Its node bears the session's name, so that it finds it again: after a sync, which comes after whatever was committed
//! of it; what was not is refused from then on, as the session is elsewhere. (The client's name would not do: a client that
//! crashed and came back may find what an earlier session of it has left, and that goes with that session.)

use seedbed_model::{Canonical, Context, OpId};

use super::ZooKeeper;
use super::acl;
use super::message::{Ask, Observation, Operation};
use super::mutants::{FILE_OF_ANYONE, LOCK_HERDS, LOCK_SORTS_NAMES, LOCK_UNLOOKED};
use super::path;
use super::tree::Trigger;
use super::txn::{ANY, Answer, Create, ErrorKind, Read, Session, Write};
use crate::zab::message::Zxid;

/// The node whose children are a queue for a lock.
pub const LOCK: &str = "/lock";

/// A lock file.
pub const FILE: &str = "/file";

/// An operation under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Task {
    /// Requests without waiting.
    Batch {
        /// Which operation.
        op: OpId,
        /// What is to be asked, once there is a connection.
        asks: Vec<Ask>,
        /// What came back; in the order of the answers.
        answers: Vec<Answer>,
        /// How many answers are to come.
        open: u32,
    },
    /// A lock.
    Lock {
        /// Which operation.
        op: OpId,
        /// Whether waiters stand in a queue.
        queues: bool,
        /// How far it is.
        step: Step,
    },
}

/// How far a lock is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Step {
    /// It is to be begun, or begun again after a connection that broke.
    Begin,
    /// It looks for a node of its own, from before.
    Looking,
    /// Its node is being created.
    Creating,
    /// It looks who is before it; its node has this path.
    Listing(String),
    /// It asks whether the one before it is there.
    Asking(String),
    /// It waits for the one before it to go.
    Waiting(String),
    /// It has it.
    Held(String),
    /// Its node is being deleted.
    Deleting(String),
    /// It looks whether its lock file is still there and its own, before it deletes it again: it may be another's by now.
    Checking,
    /// It is over.
    Done,
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
    /// The session is over.
    Ended,
    /// The lock was held for long enough.
    Release,
}

impl Task {
    /// Nothing is asked yet.
    pub fn new(op: OpId, operation: Operation) -> Task {
        match operation {
            Operation::Batch(asks) => Task::Batch { op, open: asks.len() as u32, asks, answers: Vec::new() },
            Operation::Lock => Task::Lock { op, queues: true, step: Step::Begin },
            Operation::SimpleLock => Task::Lock { op, queues: false, step: Step::Begin },
        }
    }

    /// Which operation it is.
    pub fn op(&self) -> OpId {
        match self {
            Task::Batch { op, .. } | Task::Lock { op, .. } => *op,
        }
    }

    /// Whether it holds the lock.
    pub fn holds(&self) -> bool {
        matches!(self, Task::Lock { step: Step::Held(_), .. })
    }

    /// What came of it, once it is over.
    pub fn finished(&self) -> Option<Vec<Answer>> {
        match self {
            Task::Batch { open: 0, answers, .. } => Some(answers.clone()),
            Task::Lock { step: Step::Done, .. } => Some(Vec::new()),
            _ => None,
        }
    }

    /// What it asks next.
    pub fn on_event(
        &mut self,
        event: Event,
        session: Session,
        zookeeper: &ZooKeeper,
        cx: &mut Context<'_, ZooKeeper>,
    ) -> Vec<Ask> {
        match self {
            Task::Batch { asks, answers, open, .. } => match event {
                Event::Connected => std::mem::take(asks),
                Event::Answered(_, answer) => {
                    answers.push(answer);
                    *open -= 1;
                    Vec::new()
                }
                _ => Vec::new(),
            },
            Task::Lock { queues: true, step, .. } => step.queued(event, session, zookeeper, cx),
            Task::Lock { step, .. } => step.simple(event, session, zookeeper, cx),
        }
    }
}

impl Step {
    /// §2.4: "1 n = create(l + "/lock-", EPHEMERAL|SEQUENTIAL); 2 C = getChildren(l, false); 3 if n is lowest znode in C, exit;
    /// 4 p = znode in C ordered just before n; 5 if exists(p, true) wait for watch event; 6 goto 2".
    fn queued(
        &mut self,
        event: Event,
        session: Session,
        zookeeper: &ZooKeeper,
        cx: &mut Context<'_, ZooKeeper>,
    ) -> Vec<Ask> {
        let children = || Ask::Read { read: Read::Children(LOCK.into()), watch: false };
        let prefix = prefix(session);
        match (self.clone(), event) {
            (_, Event::Ended) => {
                self.leave(cx);
                *self = Step::Begin;
                Vec::new()
            }
            (Step::Begin, Event::Connected) => {
                *self = Step::Creating;
                vec![created(path::child(LOCK, &prefix), true)]
            }
            (Step::Creating, Event::Answered(_, Answer::Created { path, .. })) => {
                if zookeeper.has(LOCK_UNLOOKED) {
                    self.hold(path, session, cx);
                    return Vec::new();
                }
                *self = Step::Listing(path);
                vec![children()]
            }
            // After a connection that broke.
            (Step::Creating | Step::Looking, Event::Connected) => {
                *self = Step::Looking;
                vec![Ask::Sync, children()]
            }
            (Step::Looking, Event::Answered(_, Answer::Children { children: names, .. })) => {
                let Some(own) = names.into_iter().find(|name| name.starts_with(&prefix)) else {
                    *self = Step::Begin;
                    return self.queued(Event::Connected, session, zookeeper, cx);
                };
                cx.mark("node-found-again");
                *self = Step::Listing(path::child(LOCK, &own));
                vec![children()]
            }
            (Step::Listing(own) | Step::Asking(own), Event::Connected) => {
                *self = Step::Listing(own);
                vec![children()]
            }
            (Step::Listing(own), Event::Answered(_, Answer::Children { children: names, .. })) => {
                let is_before = |name: &String| match zookeeper.has(LOCK_SORTS_NAMES) {
                    true => name.as_str() < path::name(&own),
                    false => number(name) < number(&own),
                };
                let mut before: Vec<String> = names.into_iter().filter(is_before).collect();
                before.sort_by_key(|name| number(name));
                let before = if zookeeper.has(LOCK_HERDS) { before.into_iter().next() } else { before.pop() };
                match before {
                    None => {
                        self.hold(own, session, cx);
                        Vec::new()
                    }
                    Some(before) => {
                        *self = Step::Asking(own);
                        vec![Ask::Read { read: Read::Exists(path::child(LOCK, &before)), watch: true }]
                    }
                }
            }
            (Step::Asking(own), Event::Answered(_, Answer::Existence(found))) => match found {
                Some(_) => {
                    cx.mark("waited");
                    *self = Step::Waiting(own);
                    Vec::new()
                }
                None => {
                    *self = Step::Listing(own);
                    vec![children()]
                }
            },
            (Step::Waiting(own), Event::Notified(_)) => {
                *self = Step::Listing(own);
                vec![children()]
            }
            (state, event) => {
                *self = state;
                self.release(event, cx)
            }
        }
    }

    /// §2.4: "to acquire a lock, a client tries to create the designated znode with the EPHEMERAL flag. If the create succeeds, the
    /// client holds the lock. Otherwise, the client can read the znode with the watch flag set".
    fn simple(
        &mut self,
        event: Event,
        session: Session,
        zookeeper: &ZooKeeper,
        cx: &mut Context<'_, ZooKeeper>,
    ) -> Vec<Ask> {
        let file = || FILE.to_owned();
        let asked = || Ask::Read { read: Read::Exists(file()), watch: true };
        match (self.clone(), event) {
            (_, Event::Ended) => {
                self.leave(cx);
                *self = Step::Begin;
                Vec::new()
            }
            (Step::Begin, Event::Connected) | (Step::Waiting(_), Event::Notified(_)) => {
                *self = Step::Creating;
                vec![created(file(), false)]
            }
            (Step::Deleting(_) | Step::Checking, Event::Connected) => {
                *self = Step::Checking;
                vec![Ask::Sync, Ask::Read { read: Read::Exists(file()), watch: false }]
            }
            (Step::Checking, Event::Answered(_, Answer::Existence(found))) => {
                if found.is_none_or(|stat| stat.ephemeral_owner != Some(session)) {
                    *self = Step::Done;
                    return Vec::new();
                }
                *self = Step::Deleting(file());
                vec![Ask::Write(Write::Delete { path: file(), version: ANY })]
            }
            (Step::Creating, Event::Answered(_, Answer::Created { .. })) => {
                self.hold(FILE.into(), session, cx);
                Vec::new()
            }
            (Step::Creating, Event::Answered(_, Answer::Failed(ErrorKind::NodeExists)))
            | (Step::Asking(_), Event::Connected) => {
                *self = Step::Asking(FILE.into());
                vec![asked()]
            }
            // After a connection that broke: perhaps the file is its own.
            (Step::Creating | Step::Looking, Event::Connected) => {
                *self = Step::Looking;
                vec![Ask::Sync, asked()]
            }
            (Step::Looking, Event::Answered(_, Answer::Existence(Some(stat))))
                if stat.ephemeral_owner == Some(session) || zookeeper.has(FILE_OF_ANYONE) =>
            {
                self.hold(FILE.into(), session, cx);
                Vec::new()
            }
            (Step::Looking | Step::Asking(_), Event::Answered(_, Answer::Existence(found))) => match found {
                Some(_) => {
                    cx.mark("waited");
                    *self = Step::Waiting(FILE.into());
                    Vec::new()
                }
                None => {
                    *self = Step::Creating;
                    vec![created(file(), false)]
                }
            },
            (state, event) => {
                *self = state;
                self.release(event, cx)
            }
        }
    }

    /// "Unlock: 1 delete(n)".
    fn release(&mut self, event: Event, cx: &mut Context<'_, ZooKeeper>) -> Vec<Ask> {
        let deleted = |own: &String| vec![Ask::Write(Write::Delete { path: own.clone(), version: ANY })];
        match (self.clone(), event) {
            (Step::Held(own), Event::Release) => {
                cx.observe(Observation::Released);
                let asks = deleted(&own);
                *self = Step::Deleting(own);
                asks
            }
            (Step::Deleting(own), Event::Connected) => deleted(&own),
            (Step::Deleting(_), Event::Answered(_, Answer::Deleted | Answer::Failed(ErrorKind::NoNode))) => {
                *self = Step::Done;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn hold(&mut self, own: String, session: Session, cx: &mut Context<'_, ZooKeeper>) {
        cx.observe(Observation::Held { session, number: number(&own) });
        *self = Step::Held(own);
    }

    fn leave(&mut self, cx: &mut Context<'_, ZooKeeper>) {
        if matches!(self, Step::Held(_)) {
            cx.observe(Observation::Released);
        }
    }
}

/// What names in a session begin with.
fn prefix(Session(Zxid { epoch, counter }): Session) -> String {
    format!("{epoch}.{counter}-")
}

/// The number at the end of a sequential node's name.
pub(super) fn number(name: &str) -> Option<i64> {
    name.rsplit('-').next().and_then(|number| number.parse().ok())
}

fn created(path: String, sequential: bool) -> Ask {
    Ask::Write(Write::Create(Create { path, data: String::new(), acl: acl::open(), ephemeral: true, sequential }))
}
