//! What must hold (§2.3, §2.4, §4): a fold over what nodes show, beside a tree of its own to which every transaction comes as it
//! is ordered.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Part, Property, Span, Watch};

use super::guards::{self, Guards};
use super::message::{Ask, Asked, Connection, Entry, Observation};
use super::processor::Processor;
use super::recipe::{self, monitor::Recipes};
use super::tree::{Tree, TreeEvent, Trigger};
use super::txn::{Answer, Change, Request, Session, Write};
use super::watches::{Watched, watched};
use super::{Params, ZooKeeper};
use crate::zab::message::Zxid;

/// See the module.
pub fn properties() -> Vec<Property> {
    let of_service = vec![
        Property::always(
            "one-by-one",
            "a transaction is what its request becomes if all before it are applied first (§4.1)",
        ),
        Property::always("linearizable-writes", "a write asked for after another's answer is ordered after it (§2.3)"),
        Property::always(
            "fifo-client-order",
            "requests of a client are ordered and answered in the order it sent them (§2.3)",
        ),
        Property::always("never-back", "no answer is of an older state than one before it in the session (§4.4)"),
        Property::always(
            "watch-before-state",
            "a client sees the notification of a change before it sees the state after it (§2.3), also where it moved",
        ),
        Property::always(
            "watchers-told",
            "a client whose connection is lost hears with each watch that events of it may be delayed (§2.1)",
        ),
        Property::always("sync-sees-all", "a sync sees all that was committed before it was asked for (§4.4)"),
        Property::always("ephemerals-with-session", "a session that is over has no ephemeral node (§2.1)"),
        Property::always(
            "numbers-once",
            "a sequential node's number is larger than that of any before it under the parent (§2.1)",
        ),
        Property::always(
            "replicas-agree",
            "servers that applied the same transactions have the same tree (§4.1, §4.3)",
        ),
        Property::within(
            "expiry-in-time",
            "once all faults are healed, the session of a client that crashed is over within `expiry` (§4.4)",
        ),
        Property::within(
            "orphan-in-time",
            "the session of the one client that crashed is over within `orphaned` of that (§4.4)",
        ),
    ];
    of_service.into_iter().chain(guards::properties()).chain(recipe::monitor::properties()).collect()
}

/// The deadline of `expiry`.
const EXPIRY: u32 = 0;
/// And of `orphaned`.
const ORPHANED: u32 = 1;
/// And of `served`.
const SERVED: u32 = 2;

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    order: Part<Ordered>,
    clients: BTreeMap<NodeId, Client>,
    /// Writes that were answered before they were ordered.
    early: BTreeSet<Place>,
    recipes: Recipes,
    guards: Part<Guards>,
    /// Whose each session is, where `expiry` or `orphaned` is judged.
    owners: BTreeMap<Session, NodeId>,
    /// Sessions whose clients crashed.
    orphans: BTreeSet<Session>,
}

/// A request, by its connection and its number there.
type Place = (Connection, u32);

/// The one order of all transactions.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Ordered {
    /// `None` before the first.
    tree: Option<Tree>,
    /// The tree's digest after each.
    digests: BTreeMap<Zxid, u64>,
    /// What each did.
    changes: Vec<(Zxid, Trigger)>,
    /// The latest request of each session that it has.
    places: BTreeMap<Session, Place>,
    /// The largest number given under each parent.
    numbers: BTreeMap<String, i64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Client {
    /// The last state it saw.
    seen: Zxid,
    /// Since when it watches what, for which events.
    watches: BTreeMap<(Watched, String), Zxid>,
    /// Its open requests, in order.
    open: Vec<Open>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Open {
    Read,
    /// It must see all up to this.
    Sync(Zxid),
    Write {
        place: Place,
        is_ordered: bool,
        /// What must be ordered before.
        after: BTreeSet<Place>,
    },
}

impl Monitor {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<ZooKeeper>, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(observation) => self.observed(node, observation, zookeeper, watch),
            Event::Crashed => {
                watch.reached("crashed");
                self.clients.remove(&node);
                self.recipes.crashed(node);
                self.guards.crashed(node, zookeeper);
                if zookeeper.params.orphaned > Span::ZERO && zookeeper.is_client(node) {
                    watch.set_deadline(ORPHANED, zookeeper.params.orphaned);
                }
                self.orphans
                    .extend(self.owners.iter().filter(|(_, owner)| **owner == node).map(|(session, _)| *session));
            }
            Event::Started => self.guards.started(node, zookeeper),
            Event::Healed => {
                let Params { expiry, served, .. } = zookeeper.params;
                let demanded = [(EXPIRY, expiry), (SERVED, served)].into_iter().filter(|(_, span)| *span > Span::ZERO);
                demanded.for_each(|(name, span)| watch.set_deadline(name, span));
            }
            Event::Deadline(SERVED) => self.guards.on_served_deadline(zookeeper, watch),
            Event::Deadline(EXPIRY) => {
                if let Some(session) = self.open_orphan() {
                    let expiry = zookeeper.params.expiry;
                    watch.violated(
                        "expiry-in-time",
                        format!("{session:?} is still open, {expiry} after the last fault"),
                    );
                }
            }
            Event::Deadline(ORPHANED) => {
                if let Some(session) = self.open_orphan() {
                    let after = zookeeper.params.orphaned;
                    watch.violated("orphan-in-time", format!("{session:?} is still open, {after} after the crash"));
                }
            }
            _ => {}
        }
    }

    /// A session whose client crashed.
    fn open_orphan(&self) -> Option<Session> {
        let tree = self.order.tree.as_ref()?;
        self.orphans.iter().copied().find(|session| tree.sessions().contains(session))
    }

    fn observed(&mut self, node: NodeId, shown: &Observation, zookeeper: &ZooKeeper, watch: &mut Watch<'_>) {
        match shown {
            Observation::Delivered { place, entry, .. } if (*place as usize) < self.order.digests.len() => {
                if !self.order.digests.contains_key(&entry.txn.zxid) {
                    let zxid = entry.txn.zxid;
                    watch.violated("replicas-agree", format!("{node:?} applies {zxid:?}, which is not in the order"));
                }
            }
            Observation::Ordered { request, entry } | Observation::Delivered { request, entry, .. } => {
                if let Some(asked) = &entry.asked {
                    self.write_ordered(asked, watch);
                    let Params { expiry, orphaned, .. } = zookeeper.params;
                    if entry.txn.change == Change::CreateSession && expiry.max(orphaned) > Span::ZERO {
                        self.owners.insert(entry.txn.session, asked.client);
                    }
                }
                let tree = self.order.tree.get_or_insert_with(|| zookeeper.first_tree());
                self.guards.ordered(request.as_ref(), entry, tree, zookeeper, watch);
                let triggers = self.order.ordered(request.as_ref(), entry, zookeeper, watch);
                if let Some(tree) = &self.order.tree {
                    self.recipes.ordered(&entry.txn, tree, &triggers, zookeeper, watch);
                }
            }
            Observation::Applied { zxid, digest } => {
                if self.order.digests.get(zxid).is_some_and(|other| other != digest) {
                    watch.violated("replicas-agree", format!("after {zxid:?} {node:?} has another tree than the rest"));
                }
            }
            Observation::Asked { connection, number, ask } => {
                self.recipes.asked(node, ask, watch);
                self.guards.asked(node, *connection, *number, ask, zookeeper);
                let open = match ask {
                    Ask::Write(_) => {
                        Open::Write { place: (*connection, *number), is_ordered: false, after: self.early.clone() }
                    }
                    Ask::Sync => Open::Sync(self.order.last()),
                    Ask::Read { .. } | Ask::Auth(_) => Open::Read,
                };
                self.clients.entry(node).or_default().open.push(open);
            }
            Observation::Answered { place, ask, answer, zxid } => {
                self.recipes.answered(node, ask, *zxid, zookeeper);
                self.answered(node, *place, ask, answer, *zxid, watch);
            }
            Observation::Connected { session, zxid } => self.guards.connected(node, *session, *zxid, watch),
            Observation::InProcess(count) => self.guards.in_process(node, *count, zookeeper, watch),
            Observation::Notified(trigger) => self.notified(node, trigger, watch),
            Observation::Disconnected { told } => {
                self.guards.disconnected(node, zookeeper, watch);
                if let Some(client) = self.clients.get_mut(&node) {
                    client.open.clear();
                    if let Some((_, path)) = client.watches.keys().find(|(watched, path)| !told.has(*watched, path)) {
                        watch.violated("watchers-told", format!("{node:?} watches {path}, and does not hear"));
                    }
                }
            }
            Observation::Ended => {
                self.guards.ended(node);
                self.clients.remove(&node);
            }
            Observation::Recipe(shown) => {
                if let Some(tree) = &self.order.tree {
                    self.recipes.shown(node, shown, tree, zookeeper, watch);
                }
            }
        }
    }

    fn write_ordered(&mut self, asked: &Asked, watch: &mut Watch<'_>) {
        let ordered = (asked.connection, asked.number);
        self.early.remove(&ordered);
        let open = self.clients.get_mut(&asked.client).into_iter().flat_map(|client| &mut client.open);
        for request in open {
            if let Open::Write { place, is_ordered, after } = request
                && *place == ordered
            {
                *is_ordered = true;
                if !after.is_disjoint(&self.early) {
                    let detail = format!(
                        "{:?} asked for a write after another's answer, and it is ordered before",
                        asked.client
                    );
                    watch.violated("linearizable-writes", detail);
                }
            }
        }
    }

    fn answered(&mut self, node: NodeId, place: u32, ask: &Ask, answer: &Answer, zxid: Zxid, watch: &mut Watch<'_>) {
        let client = self.clients.entry(node).or_default();
        if place > 0 {
            watch
                .violated("fifo-client-order", format!("{node:?} gets an answer before one that it asked for earlier"));
        }
        if zxid < client.seen {
            let detail = format!("{node:?} has seen {:?}, and gets an answer as of {zxid:?}", client.seen);
            watch.violated("never-back", detail);
        }
        client.seen = client.seen.max(zxid);
        if (place as usize) < client.open.len() {
            match client.open.remove(place as usize) {
                Open::Write { place, is_ordered: false, .. } => {
                    self.early.insert(place);
                }
                Open::Sync(all) if zxid < all => {
                    watch.violated(
                        "sync-sees-all",
                        format!("{node:?} is as of {zxid:?} after a sync, and {all:?} was committed"),
                    );
                }
                Open::Write { .. } | Open::Sync(_) | Open::Read => {}
            }
        }
        for ((watched, path), since) in &client.watches {
            if self.order.changed(*watched, path, *since, zxid) {
                let detail =
                    format!("{node:?} sees {zxid:?} and was not told of what it watches of {path}, since {since:?}");
                watch.violated("watch-before-state", detail);
            }
        }
        if let Ask::Read { read, watch: true } = ask
            && let Some((watched, path)) = watched(read, answer)
        {
            client.watches.entry((watched, path.to_owned())).or_insert(zxid);
        }
    }

    fn notified(&mut self, node: NodeId, trigger: &Trigger, watch: &mut Watch<'_>) {
        let client = self.clients.entry(node).or_default();
        client.watches.retain(|(watched, path), _| *path != trigger.path || !is_of(*watched, trigger.event));
        self.recipes.notified(node, trigger, watch);
    }
}

impl Ordered {
    fn last(&self) -> Zxid {
        self.tree.as_ref().map_or(Zxid::ZERO, Tree::last)
    }

    /// What happens in the tree.
    fn ordered(
        &mut self,
        request: Option<&Request>,
        entry: &Entry,
        zookeeper: &ZooKeeper,
        watch: &mut Watch<'_>,
    ) -> Vec<Trigger> {
        let Entry { txn, asked } = entry;
        // What changes nothing may come late. So may a session: its client does not know of it, and it expires.
        let may_be_late = matches!(txn.change, Change::Error(_) | Change::Check | Change::CreateSession);
        if let Some(asked) = asked.as_ref().filter(|_| !may_be_late) {
            let place = (asked.connection, asked.number);
            let before = self.places.insert(txn.session, place);
            if before.is_some_and(|before| before > place) {
                let detail = format!("{:?} of {:?} comes after what was asked for later", txn.zxid, asked.client);
                watch.violated("fifo-client-order", detail);
            }
        }
        let tree = self.tree.get_or_insert_with(|| zookeeper.first_tree());
        let whole = request.map(|request| Processor::default().process(tree, request, txn.zxid, &zookeeper.mutants));
        if let Some(whole) = whole.filter(|whole| whole != txn) {
            let detail = format!("{:?}: {:?}, and not {:?}", txn.zxid, txn.change, whole.change);
            watch.violated("one-by-one", detail);
        }
        if let Some(Write::Create(create)) = request.map(|request| &request.write)
            && let (true, Change::Create { path, .. }) = (create.sequential, &txn.change)
        {
            let number = path[create.path.len()..].parse().unwrap_or(i64::MIN);
            let parent = super::path::parent(path).unwrap_or_default().to_owned();
            let before = self.numbers.insert(parent, number);
            if before.is_some_and(|before| before >= number) {
                watch.violated("numbers-once", format!("{path} is created after number {before:?}"));
            }
        }
        let (_, triggers) = tree.apply(txn, &zookeeper.mutants);
        // Another node of its name counts from the beginning.
        for gone in triggers.iter().filter(|trigger| trigger.event == TreeEvent::Deleted) {
            self.numbers.remove(&gone.path);
        }
        let is_over =
            |session: Session| !tree.sessions().contains(&session) && tree.ephemerals(session).next().is_some();
        if is_over(txn.session) {
            watch.violated(
                "ephemerals-with-session",
                format!("{:?} is over, and has {:?}", txn.session, tree.ephemerals(txn.session).next()),
            );
        }
        self.digests.insert(txn.zxid, tree.digest());
        self.changes.extend(triggers.iter().map(|trigger| (txn.zxid, trigger.clone())));
        triggers
    }

    /// Whether what was watched since `since` is another in the state as of `seen`.
    fn changed(&self, watched: Watched, path: &str, since: Zxid, seen: Zxid) -> bool {
        let mut changes = self.changes.iter().filter(|(zxid, trigger)| {
            *zxid > since && *zxid <= seen && trigger.path == path && is_of(watched, trigger.event)
        });
        match watched {
            // A node that came and went while the client moved is absent as before, and nobody tells.
            Watched::Absence => changes.next_back().is_some_and(|(_, trigger)| trigger.event != TreeEvent::Deleted),
            Watched::Data | Watched::Children => changes.next().is_some(),
        }
    }
}

fn is_of(watched: Watched, event: TreeEvent) -> bool {
    match watched {
        Watched::Data => event != TreeEvent::Child,
        Watched::Absence => event != TreeEvent::Child,
        Watched::Children => matches!(event, TreeEvent::Child | TreeEvent::Deleted),
    }
}
