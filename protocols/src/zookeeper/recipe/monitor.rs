//! What must hold of recipes: a fold over what clients show, beside the tree to which every transaction comes as it is ordered.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, NodeId, OpId, Property, Watch};

use super::application::{SHARDS, TOPICS};
use super::barrier::{BARRIER, READY};
use super::configuration::PARTS;
use super::queue::{is_read, number};
use super::{ELECTION, FILE, GROUP, LEADER, LOCK, Shown, label, value};
use crate::zab::message::Zxid;
use crate::zookeeper::ZooKeeper;
use crate::zookeeper::message::Ask;
use crate::zookeeper::path;
use crate::zookeeper::tree::{Tree, TreeEvent, Trigger};
use crate::zookeeper::txn::{Change, Read, Session, Txn, Write};

/// See the module.
pub fn properties() -> Vec<Property> {
    vec![
        Property::always(
            "mutual-exclusion",
            "two sessions that are open never hold a lock at once, unless both are to read (§2.4)",
        ),
        Property::always(
            "lock-in-order",
            "nobody holds a lock while who came before is in the queue, but for readers before a reader (§2.4)",
        ),
        Property::always(
            "no-herd",
            "a node of the queue that goes wakes up one client, or all readers behind a writer (§2.4)",
        ),
        Property::sometimes("herd", "a lock file that goes wakes up more than one client (§2.4)"),
        Property::sometimes("shared", "two clients hold a lock to read (§2.4)"),
        Property::always("leader-is-first", "what says who leads is written by the first of the queue (§2.1)"),
        Property::always("barrier-is-full", "nobody enters a barrier before all have registered (§2.4)"),
        Property::always("barrier-outlasts", "nobody leaves a barrier before all in it are ready to leave (§2.4)"),
        Property::always("configuration-is-whole", "nobody sees a configuration that is half written (§2.3)"),
        Property::always("members-live", "who has no session is no member of the group (§2.4)"),
        Property::always("members-all-seen", "who looks sees all that were members before, and still are (§2.4)"),
        Property::always("rendezvous-is-filled", "who meets the master is told where it is (§2.4)"),
        Property::always(
            "commanded-by-leader",
            "configuration and assignments of an application are written by the first of the queue (§3)",
        ),
        Property::always(
            "assigned-to-members",
            "a master assigns no shard to a slave that is gone by when it looked last, or was told to look again (§3)",
        ),
        Property::sometimes("slaves-changed", "a master hears that slaves came or went (§3)"),
        Property::always("consensus", "nobody decides differently than another (§2)"),
    ]
}

/// What they remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Recipes {
    /// By the lock: whose session, and whether to read.
    holders: BTreeMap<(String, NodeId), (Session, bool)>,
    /// Those whose latest place in a queue is one to read.
    readers: BTreeSet<NodeId>,
    /// Who was told that a node of a lock went.
    woken: BTreeMap<String, BTreeSet<NodeId>>,
    /// By path.
    barriers: BTreeMap<String, Barrier>,
    /// Sessions whose clients know that they are members.
    joined: BTreeSet<Session>,
    /// Those that were when a client asked who is.
    to_see: BTreeMap<NodeId, BTreeSet<Session>>,
    /// What was decided.
    decided: BTreeMap<OpId, String>,
    /// Where there are masters: as of what each has looked who is in the group, or was told that it is to look,
    looked: BTreeMap<NodeId, Zxid>,
    /// since when who was in it is not,
    gone: BTreeMap<String, Zxid>,
    /// and the last transaction.
    last: Zxid,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Barrier {
    /// The sessions, by name, that had registered when it was full first.
    members: BTreeSet<String>,
    /// Who has entered, and is not ready to leave.
    inside: BTreeMap<NodeId, Session>,
}

impl Recipes {
    /// A client asks for something.
    pub(in crate::zookeeper) fn asked(&mut self, node: NodeId, ask: &Ask, watch: &mut Watch<'_>) {
        match ask {
            Ask::Write(Write::SetData { path, data, .. }) if SHARDS.contains(&path.as_str()) => {
                let looked = self.looked.get(&node).copied().unwrap_or(Zxid::ZERO);
                if self.gone.get(data).is_some_and(|since| *since <= looked) {
                    let words = format!("{node:?} assigns {path} to {data}, which is gone as of what it knows");
                    watch.violated("assigned-to-members", words);
                }
            }
            Ask::Write(Write::Create(create)) if path::parent(&create.path) == Some(LOCK) => {
                match is_read(path::name(&create.path)) {
                    true => self.readers.insert(node),
                    false => self.readers.remove(&node),
                };
            }
            Ask::Read { read: Read::Children(path), .. } if path == GROUP => {
                self.to_see.insert(node, self.joined.clone());
            }
            _ => {}
        }
    }

    /// A client gets an answer, as of this transaction.
    pub(in crate::zookeeper) fn answered(&mut self, node: NodeId, ask: &Ask, zxid: Zxid, zookeeper: &ZooKeeper) {
        let looks = matches!(ask, Ask::Read { read: Read::Children(path), .. } if path == GROUP);
        if looks && zookeeper.has_masters() {
            self.looked.insert(node, zxid);
        }
    }

    /// A client crashed.
    pub(in crate::zookeeper) fn crashed(&mut self, node: NodeId) {
        self.released(node);
        self.readers.remove(&node);
        self.to_see.remove(&node);
        for barrier in self.barriers.values_mut() {
            barrier.inside.remove(&node);
        }
    }

    /// A transaction is the next; the tree has it, and this is what happened there.
    pub(in crate::zookeeper) fn ordered(
        &mut self,
        txn: &Txn,
        tree: &Tree,
        triggers: &[Trigger],
        zookeeper: &ZooKeeper,
        watch: &mut Watch<'_>,
    ) {
        if zookeeper.has_masters() {
            self.group_changed(txn.zxid, triggers);
        }
        match &txn.change {
            Change::SetData { path, .. } if path == LEADER => {
                let owner = leader(tree);
                if owner != Some(txn.session) {
                    watch.violated(
                        "leader-is-first",
                        format!("{:?} writes that it leads, and {owner:?} does", txn.session),
                    );
                }
            }
            Change::SetData { path, .. } if zookeeper.has_masters() && is_command(path) => {
                let owner = leader(tree);
                if owner != Some(txn.session) {
                    let words = format!("{:?} sets {path}, and {owner:?} leads", txn.session);
                    watch.violated("commanded-by-leader", words);
                }
            }
            Change::CloseSession { .. } => {
                self.joined.remove(&txn.session);
                if tree.node(&path::child(GROUP, &label(txn.session))).is_some() {
                    watch.violated("members-live", format!("{:?} is over, and a member", txn.session));
                }
            }
            _ => {}
        }
        for trigger in triggers.iter().filter(|trigger| trigger.event == TreeEvent::Created) {
            let Some(root) = path::parent(&trigger.path).filter(|root| root.starts_with(BARRIER)) else { continue };
            let registered: BTreeSet<String> = queue(tree, root).filter(|name| *name != READY).cloned().collect();
            let barrier = self.barriers.entry(root.to_owned()).or_default();
            if barrier.members.is_empty() && registered.len() >= usize::from(zookeeper.params.clients) {
                barrier.members = registered;
            }
        }
    }

    /// Who is in the group changes, or nothing does.
    fn group_changed(&mut self, zxid: Zxid, triggers: &[Trigger]) {
        self.last = zxid;
        for trigger in triggers.iter().filter(|trigger| path::parent(&trigger.path) == Some(GROUP)) {
            let name = path::name(&trigger.path).to_owned();
            match trigger.event {
                TreeEvent::Deleted => drop(self.gone.insert(name, zxid)),
                TreeEvent::Created => drop(self.gone.remove(&name)),
                TreeEvent::Changed | TreeEvent::Child => {}
            }
        }
    }

    /// A client is told of a change.
    pub(in crate::zookeeper) fn notified(&mut self, node: NodeId, trigger: &Trigger, watch: &mut Watch<'_>) {
        if trigger.path == GROUP
            && let Some(looked) = self.looked.get_mut(&node)
        {
            *looked = self.last;
            watch.reached("slaves-changed");
        }
        let root = path::parent(&trigger.path).unwrap_or_default();
        let is_place = root == LOCK || root == ELECTION || TOPICS.contains(&root);
        if trigger.event != TreeEvent::Deleted || !(is_place || trigger.path == FILE) {
            return;
        }
        let woken = self.woken.entry(trigger.path.clone()).or_default();
        woken.insert(node);
        if woken.len() < 2 {
            return;
        }
        if !is_place {
            watch.reached("herd");
        } else if is_read(path::name(&trigger.path)) || woken.iter().any(|woken| !self.readers.contains(woken)) {
            watch.violated("no-herd", format!("{woken:?} wake up for {}", trigger.path));
        } else {
            watch.reached("readers-woken");
        }
    }

    /// A client shows something.
    pub(in crate::zookeeper) fn shown(
        &mut self,
        node: NodeId,
        shown: &Shown,
        tree: &Tree,
        zookeeper: &ZooKeeper,
        watch: &mut Watch<'_>,
    ) {
        let is_open = |session: &Session| tree.sessions().contains(session);
        match shown {
            Shown::Held(session, place) => self.held(node, *session, place, tree, watch),
            Shown::Released => self.released(node),
            Shown::Entered(session, root) => {
                let barrier = self.barriers.entry(root.clone()).or_default();
                if barrier.members.is_empty() {
                    watch.violated("barrier-is-full", format!("{node:?} enters {root}, which not all have reached"));
                }
                if barrier.members.contains(&label(*session)) {
                    barrier.inside.insert(node, *session);
                }
            }
            Shown::Leaves(root) => {
                self.barriers.entry(root.clone()).or_default().inside.remove(&node);
            }
            Shown::Left(root) => {
                let inside = self.barriers.get(root).into_iter().flat_map(|barrier| &barrier.inside);
                if let Some((other, _)) = inside.clone().find(|(_, session)| is_open(session)) {
                    watch.violated("barrier-outlasts", format!("{node:?} leaves {root}, and {other:?} is in it"));
                }
            }
            Shown::Configured(parts) => {
                if parts.iter().any(|part| *part != parts[0]) {
                    watch.violated("configuration-is-whole", format!("{node:?} sees {parts:?}"));
                }
            }
            Shown::Joined(session) => {
                if is_open(session) {
                    self.joined.insert(*session);
                }
            }
            Shown::Members(names) => {
                let to_see = self.to_see.remove(&node).unwrap_or_default();
                let missed = to_see.iter().find(|session| is_open(session) && !names.contains(&label(**session)));
                if let Some(missed) = missed {
                    watch.violated("members-all-seen", format!("{node:?} sees {names:?}, and not {missed:?}"));
                }
            }
            Shown::Met(op, data) => {
                if *data != value(zookeeper.first_client(), *op) {
                    watch.violated("rendezvous-is-filled", format!("{node:?} meets nobody at {data:?}"));
                }
            }
            Shown::Decided(op, decided) => {
                let first = self.decided.entry(*op).or_insert_with(|| decided.clone());
                if first != decided {
                    watch.violated("consensus", format!("{node:?} decides {decided}, and another {first}"));
                }
            }
        }
    }

    fn held(&mut self, node: NodeId, session: Session, place: &str, tree: &Tree, watch: &mut Watch<'_>) {
        watch.reached("locked");
        let is_file = place == FILE;
        let name = path::name(place);
        let lock = if is_file { FILE } else { path::parent(place).unwrap_or_default() };
        let reads = is_read(name);
        let is_before = |other: &&String| number(other) < number(name) && !(reads && is_read(other));
        if let Some(before) = queue(tree, lock).find(is_before).filter(|_| !is_file) {
            watch.violated("lock-in-order", format!("{node:?} holds the lock, and {before} came before"));
        }
        if is_file {
            self.woken.remove(FILE);
        }
        let is_open = |session: Session| tree.sessions().contains(&session);
        for ((other_lock, other), (held, other_reads)) in &self.holders {
            if other_lock != lock || *other == node || !is_open(*held) || !is_open(session) {
                continue;
            }
            match reads && *other_reads {
                true => watch.reached("shared"),
                false => watch.violated("mutual-exclusion", format!("{node:?} holds the lock, and so does {other:?}")),
            }
        }
        self.holders.insert((lock.to_owned(), node), (session, reads));
    }

    fn released(&mut self, node: NodeId) {
        self.holders.retain(|(_, holder), _| *holder != node);
    }
}

/// Whose place is the first of those that are to lead.
fn leader(tree: &Tree) -> Option<Session> {
    let first = queue(tree, ELECTION).min_by_key(|name| number(name))?;
    tree.node(&path::child(ELECTION, first))?.record.owner
}

/// Whether a master alone sets it.
fn is_command(path: &str) -> bool {
    PARTS.contains(&path) || SHARDS.contains(&path)
}

/// The names of a node's children.
fn queue<'a>(tree: &'a Tree, root: &str) -> impl Iterator<Item = &'a String> {
    tree.node(root).into_iter().flat_map(|node| &node.children)
}
