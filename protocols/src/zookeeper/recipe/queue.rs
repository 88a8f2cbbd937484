//! A queue of ephemeral sequential nodes (§2.4): locks without herd effect, read/write locks, the election of a leader.
//!
//! "1 n = create(l + "/lock-", EPHEMERAL|SEQUENTIAL); 2 C = getChildren(l, false); 3 if n is lowest znode in C, exit; 4 p = znode in C
//! ordered just before n; 5 if exists(p, true) wait for watch event; 6 goto 2. Unlock: 1 delete(n)". For a read lock only write
//! nodes count in 3 and 4.
//!
//! - The read lock's printed line 6 is "goto 3", which looks at the children as they were: the write node that went is among them
//!   for ever, and the client asks for it without an end. Here all go to 2.
//! - Who leads writes its name to a known node (§2.1) before it acts. A leader whose session is over cannot: the write is refused.

use seedbed_model::Canonical;

use crate::zab::message::Zxid;

use super::application::TOPICS;
use super::{Cx, Event, Recipe, Scene, Shown, children, create_ephemeral, delete, exists, is_gone, label, set, show};
use crate::zookeeper::message::Ask;
use crate::zookeeper::mutants::{
    LOCK_HERDS, LOCK_SORTS_NAMES, LOCK_UNCHECKED, LOCK_UNLOOKED, PLACES_UNNAMED, PUBLISHES_UNLOOKED, READERS_QUEUE,
    READS_PAST_WRITERS, WRITES_PAST_READERS,
};
use crate::zookeeper::path;
use crate::zookeeper::txn::{Answer, Session};

/// The node whose children are a queue for a lock.
pub const LOCK: &str = "/lock";

/// The node whose children are a queue for the lead.
pub const ELECTION: &str = "/election";

/// What says who leads.
pub const LEADER: &str = "/leader";

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Kind {
    /// A lock.
    Lock,
    /// To read: with others that read.
    Read,
    /// To write: alone.
    Write,
    /// To lead.
    Lead,
    /// To serve the first topic, or the second.
    Serve(bool),
}

impl Kind {
    fn root(self) -> &'static str {
        match self {
            Kind::Lead => ELECTION,
            Kind::Serve(is_second) => TOPICS[usize::from(is_second)],
            Kind::Lock | Kind::Read | Kind::Write => LOCK,
        }
    }

    /// What the name of a place in the queue begins with.
    fn beginning(self, session: Session) -> String {
        let kind = match self {
            Kind::Lock => "lock",
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Lead => "lead",
            Kind::Serve(_) => "serve",
        };
        format!("{kind}-{}-", label(session))
    }
}

/// A client in the queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Queue {
    kind: Kind,
    step: Step,
}

/// How far it is. Its node has this path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Step {
    /// It is to be begun, or begun again in another session.
    Begin,
    /// It looks for a node of its own, after a connection that broke.
    Looking,
    /// Its node is being created.
    Creating,
    /// It looks who is before it.
    Listing(String),
    /// It asks whether the one before it is there.
    Asking(String),
    /// It waits for the one before it to go.
    Waiting(String),
    /// It says that it leads.
    Publishing(String),
    /// It has it.
    Held(String),
    /// Its node is being deleted.
    Deleting(String),
    /// It is over.
    Done,
}

impl Queue {
    pub(super) fn new(kind: Kind) -> Queue {
        Queue { kind, step: Step::Begin }
    }

    fn list(&mut self, own: String) -> Vec<Ask> {
        self.step = Step::Listing(own);
        vec![children(self.kind.root())]
    }

    /// Who must go before `own` has its turn, nearest last.
    fn before(&self, own: &str, names: Vec<String>, scene: Scene<'_>) -> Vec<String> {
        let own = path::name(own);
        let is_lower = |name: &String| match scene.has(LOCK_SORTS_NAMES) {
            true => name.as_str() < own,
            false => number(name) < number(own),
        };
        let counts = |name: &String| match self.kind {
            Kind::Read if scene.has(READS_PAST_WRITERS) => false,
            Kind::Read => !is_read(name) || scene.has(READERS_QUEUE),
            Kind::Write => !is_read(name) || !scene.has(WRITES_PAST_READERS),
            Kind::Lock | Kind::Lead | Kind::Serve(_) => true,
        };
        let mut before: Vec<String> = names.into_iter().filter(|name| is_lower(name) && counts(name)).collect();
        before.sort_by_key(|name| number(name));
        before
    }

    /// It is its turn.
    fn take(&mut self, own: String, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        if self.kind == Kind::Lead {
            self.step = Step::Publishing(own);
            return vec![set(LEADER, label(scene.session))];
        }
        self.hold(own, scene, cx);
        Vec::new()
    }

    fn hold(&mut self, own: String, scene: Scene<'_>, cx: Cx<'_, '_>) {
        if matches!(self.kind, Kind::Serve(_)) {
            cx.mark("primary");
        }
        show(cx, Shown::Held(scene.session, own.clone()));
        self.step = Step::Held(own);
    }

    /// What it held or gave back went with the session; else it begins again.
    fn end(&mut self, cx: Cx<'_, '_>) {
        if self.holds() {
            show(cx, Shown::Released);
        }
        let is_over = matches!(self.step, Step::Held(_) | Step::Deleting(_));
        self.step = if is_over { Step::Done } else { Step::Begin };
    }
}

impl Recipe for Queue {
    fn on_event(&mut self, event: Event, scene: Scene<'_>, cx: Cx<'_, '_>) -> Vec<Ask> {
        let beginning = match scene.has(PLACES_UNNAMED) {
            true => self.kind.beginning(Session(Zxid::ZERO)),
            false => self.kind.beginning(scene.session),
        };
        match (self.step.clone(), event) {
            (_, Event::Ended) => {
                self.end(cx);
                Vec::new()
            }
            (Step::Begin, Event::Connected) => {
                self.step = Step::Creating;
                vec![create_ephemeral(path::child(self.kind.root(), &beginning), true)]
            }
            (Step::Creating, Event::Answered(_, Answer::Created { path, .. })) => {
                let is_unlooked = scene.has(LOCK_UNLOOKED) && self.kind != Kind::Lead;
                let is_published = scene.has(PUBLISHES_UNLOOKED) && self.kind == Kind::Lead;
                if is_unlooked || is_published { self.take(path, scene, cx) } else { self.list(path) }
            }
            // After a connection that broke.
            (Step::Creating | Step::Looking, Event::Connected) => {
                self.step = Step::Looking;
                vec![Ask::Sync, children(self.kind.root())]
            }
            (Step::Looking, Event::Answered(_, Answer::Children { children: names, .. })) => {
                let Some(own) = names.into_iter().find(|name| name.starts_with(&beginning)) else {
                    self.step = Step::Begin;
                    return self.on_event(Event::Connected, scene, cx);
                };
                cx.mark("node-found-again");
                self.list(path::child(self.kind.root(), &own))
            }
            (Step::Listing(own) | Step::Asking(own) | Step::Publishing(own), Event::Connected) => self.list(own),
            (Step::Listing(own), Event::Answered(_, Answer::Children { children: names, .. })) => {
                let mut before = self.before(&own, names, scene);
                let before = if scene.has(LOCK_HERDS) { before.into_iter().next() } else { before.pop() };
                match before {
                    None => self.take(own, scene, cx),
                    Some(before) => {
                        self.step = Step::Asking(own);
                        vec![exists(path::child(self.kind.root(), &before), true)]
                    }
                }
            }
            (Step::Asking(own), Event::Answered(_, Answer::Existence(Some(_)))) => {
                cx.mark("waited");
                self.step = Step::Waiting(own);
                Vec::new()
            }
            (Step::Waiting(own), Event::Notified(_)) if scene.has(LOCK_UNCHECKED) => self.take(own, scene, cx),
            (Step::Asking(own), Event::Answered(_, Answer::Existence(None)))
            | (Step::Waiting(own), Event::Notified(_)) => self.list(own),
            (Step::Publishing(own), Event::Answered(_, Answer::Set(_))) => {
                cx.mark("leads");
                self.hold(own, scene, cx);
                Vec::new()
            }
            (Step::Held(own), Event::Release) => {
                show(cx, Shown::Released);
                self.step = Step::Deleting(own.clone());
                vec![delete(own)]
            }
            (Step::Deleting(own), Event::Connected) => vec![delete(own)],
            (Step::Deleting(_), Event::Answered(_, answer)) if is_gone(&answer) => {
                self.step = Step::Done;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.step == Step::Done
    }

    fn holds(&self) -> bool {
        matches!(self.step, Step::Held(_))
    }
}

/// The number at the end of a sequential node's name.
pub(super) fn number(name: &str) -> Option<i64> {
    name.rsplit('-').next().and_then(|number| number.parse().ok())
}

/// Whether a place in the queue is one to read.
pub(super) fn is_read(name: &str) -> bool {
    name.starts_with("read-")
}
