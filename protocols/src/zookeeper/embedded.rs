//! Zab itself in the place of what stands for it: `broadcast = "zab"`. A server of ZooKeeper is one of Zab, too; who leads the one
//! leads the other (§4.2).
//!
//! For the simulator. The explorer has the node that stands for Zab, which [`crate::zab`] is checked on its own to be.
//!
//! Zab knows transactions by their zxids, which it gives once each. What a transaction does goes beside it, in messages and on the
//! disk, and so does the tree beside a state of Zab's: SNAP carries it, and a snapshot holds it. That snapshot is not fuzzy, and
//! written at once; fuzzy ones are `snapshots`, over the node that stands for Zab.
//!
//! - A server's clients go when its leader does. What a follower passes on to its leader is numbered beside Zab's connection; where
//!   something of it is lost, the follower gives its leader up, as a broken connection makes it do (`forward-lost`).
//! - A follower tells its leader once in `alive` of which sessions it has heard, as the real one does with its answers to pings. Over
//!   the node that stands for Zab it does so for each request, which costs the leader a step for each read anywhere.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Context, Embedding, Input, Mutants, NodeId, Nonce, Protocol, Span, Stream};

use super::ZooKeeper;
use super::leader::Leading;
use super::message::{Entry, Kept, Message, Observation, Timer};
use super::params::Params;
use super::server::{Cx, Role, Server};
use super::tree::Tree;
use super::txn::{Request, Session};
use crate::zab::application::Place;
use crate::zab::log::Durable as ZabDurable;
use crate::zab::message as zab;
use crate::zab::server::Server as ZabServer;
use crate::zab::{self as broadcast, Zab};

/// What is proposed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Proposal {
    /// What becomes the transaction, for the properties alone.
    pub request: Option<Request>,
    /// What is broadcast.
    pub entry: Entry,
}

/// A message of Zab, and what is beside the transactions and the state in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Carried {
    /// Zab's.
    pub message: zab::Message,
    /// What its transactions do.
    pub proposals: Vec<Proposal>,
    /// What its state is.
    pub tree: Option<Tree>,
}

/// What a server writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Record {
    /// A fuzzy snapshot.
    Snapshot(Kept),
    /// A record of Zab.
    Zab(Box<Written>),
}

/// A record of Zab, and what is beside the transaction or the state in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Written {
    record: zab::Record,
    proposal: Option<Proposal>,
    tree: Option<Tree>,
}

impl Written {
    /// What became its transaction, if it is of one.
    pub(super) fn request(&self) -> Option<&Request> {
        self.proposal.as_ref().and_then(|proposal| proposal.request.as_ref())
    }
}

/// What a server finds on its disk.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// A fuzzy snapshot.
    pub kept: Kept,
    zab: ZabDurable,
    /// What the transactions of Zab's log do.
    proposals: BTreeMap<zab::Zxid, Proposal>,
    /// What the state of Zab's snapshot is; `None` before the first.
    tree: Option<Tree>,
}

impl Durable {
    /// What a record changes.
    pub fn fold(&mut self, record: &Record) {
        match record {
            Record::Snapshot(kept) => self.kept.clone_from(kept),
            Record::Zab(written) => {
                let Written { record, proposal, tree } = &**written;
                self.zab.fold(record);
                if let Some(proposal) = proposal {
                    self.proposals.insert(proposal.entry.txn.zxid, proposal.clone());
                }
                if tree.is_some() {
                    self.tree.clone_from(tree);
                }
                if matches!(record, zab::Record::Truncate(_) | zab::Record::Snapshot(_)) {
                    let kept: BTreeSet<zab::Zxid> = self.zab.log.iter().map(|txn| txn.zxid).collect();
                    self.proposals.retain(|zxid, _| kept.contains(zxid));
                }
            }
        }
    }
}

/// The server of Zab below a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Below {
    /// `None` in the midst of its step.
    zab: Option<ZabServer>,
    /// What the transactions of its history do.
    proposals: BTreeMap<zab::Zxid, Proposal>,
    /// What the state is that it takes over.
    tree: Option<Tree>,
    /// The sessions that were heard of since the leader was told.
    pub(super) touched: BTreeSet<Session>,
}

/// How Zab lives in a server: what it delivers is applied in the midst of its step, before what it sends after.
struct Lift<'a> {
    server: RefCell<&'a mut Server>,
    zookeeper: &'a ZooKeeper,
}

impl Embedding<ZooKeeper, Zab> for Lift<'_> {
    fn message(&self, message: zab::Message) -> Message {
        let server = self.server.borrow();
        let proposals = transactions(&message).iter().filter_map(|txn| server.proposal(txn.zxid)).collect();
        let tree = match &message {
            zab::Message::Packet { packet: zab::Packet::NewLeader { mode: zab::Mode::Snap(state), .. }, .. } => {
                server.tree_of(state)
            }
            _ => None,
        };
        Message::Zab(Box::new(Carried { message, proposals, tree }))
    }

    fn timer(&self, timer: &zab::Timer) -> Timer {
        Timer::Zab(timer.clone())
    }

    fn record(&self, stream: Stream, record: zab::Record) -> (Stream, Record) {
        let server = self.server.borrow();
        let (proposal, tree) = match &record {
            zab::Record::Append(txn) => (server.proposal(txn.zxid), None),
            zab::Record::Snapshot(state) => (None, server.tree_of(state)),
            zab::Record::Accepted(_) | zab::Record::Current(_) | zab::Record::Truncate(_) => (None, None),
        };
        (stream, Record::Zab(Box::new(Written { record, proposal, tree })))
    }

    fn observed(&self, observation: zab::Observation, cx: &mut Context<'_, ZooKeeper>) {
        let mut server = self.server.borrow_mut();
        match observation {
            zab::Observation::Delivered(txn) => server.on_committed(txn.zxid, self.zookeeper, cx),
            zab::Observation::Restored(state) => server.take_over(&state, cx),
            _ => {}
        }
    }
}

fn transactions(message: &zab::Message) -> &[zab::Txn] {
    let zab::Message::Packet { packet, .. } = message else { return &[] };
    match packet {
        zab::Packet::NewLeader { txns, .. } => txns,
        zab::Packet::Proposal(txn) | zab::Packet::Inform(txn) => std::slice::from_ref(txn),
        _ => &[],
    }
}

/// The sizes and times of Zab.
pub(super) fn zab_params(params: &Params) -> broadcast::Params {
    broadcast::Params {
        servers: params.servers,
        window: params.window,
        snapshot_every: params.snapshot_every,
        ping: params.alive,
        sync_limit: params.patience,
        init_limit: params.patience + params.patience,
        notify: params.finalize_wait,
        finalize_wait: params.finalize_wait,
        ..broadcast::Params::default()
    }
}

/// Its rules.
pub(super) fn zab(params: &Params) -> Result<Zab, String> {
    use seedbed_model::Family;
    if params.session == Span::ZERO || params.snapshots > 0 {
        return Err(
            "broadcast \"zab\" runs by timers, and writes snapshots of its own: say session, and snapshot-every instead of snapshots"
                .into(),
        );
    }
    Zab::build(&zab_params(params), Mutants::none()).map_err(|why| format!("broadcast \"zab\": {why}"))
}

impl Server {
    /// From what the disk holds.
    pub(super) fn start_zab(&mut self, disk: &Durable, nonce: Nonce, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(rules) = &zookeeper.zab else { return };
        if let Some(tree) = &disk.tree {
            cx.mark("restored");
            self.tree.clone_from(tree);
        }
        let proposals = disk.proposals.clone();
        self.below = Some(Box::new(Below { zab: None, proposals, tree: None, touched: BTreeSet::new() }));
        self.index = disk.zab.snapshot.count;
        let lift = Lift { server: RefCell::new(self), zookeeper };
        let state = cx.embed(&lift, |cx| rules.start(&disk.zab, nonce, cx));
        if let (broadcast::State::Server(zab), Some(below)) = (state, &mut self.below) {
            below.zab = Some(zab);
        }
    }

    pub(super) fn on_carried(&mut self, from: NodeId, carried: Carried, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Carried { message, proposals, tree } = carried;
        if let Some(below) = &mut self.below {
            below.proposals.extend(proposals.into_iter().map(|proposal| (proposal.entry.txn.zxid, proposal)));
            below.tree = tree;
        }
        self.step_zab(Input::Message { from, message }, zookeeper, cx);
        if let Some(below) = &mut self.below {
            below.tree = None;
        }
    }

    pub(super) fn on_written(&mut self, written: Written, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        self.step_zab(Input::Durable(written.record), zookeeper, cx);
    }

    /// One input of Zab below, and what follows for the server.
    pub(super) fn step_zab(&mut self, input: Input<Zab>, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(rules) = &zookeeper.zab else { return cx.mark("input out of place") };
        let Some(mut zab) = self.below.as_mut().and_then(|below| below.zab.take()) else { return };
        cx.embed(&Lift { server: RefCell::new(self), zookeeper }, |cx| zab.step(input, rules, cx));
        let (place, base) = (zab.place(), zab.base());
        if let Some(below) = &mut self.below {
            below.zab = Some(zab);
            while below.proposals.first_key_value().is_some_and(|(zxid, _)| *zxid <= base) {
                below.proposals.pop_first();
            }
        }
        self.settle(place, zookeeper, cx);
    }

    /// Its leader is another than before, or it is, or there is none.
    fn settle(&mut self, place: Place, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        match (place, &self.role) {
            (Place::Looking, Role::Looking) => {}
            (Place::Following { epoch, leader }, Role::Following { epoch: known, leader: followed, .. })
                if epoch == *known && leader == *followed => {}
            (Place::Leading { epoch }, Role::Leading(leading)) if epoch == leading.epoch => {}
            (Place::Looking, _) => self.enter(self.epoch, Role::Looking, zookeeper, cx),
            (Place::Following { epoch, leader }, _) => {
                self.round = self.round.next();
                self.enter(epoch, Role::Following { leader, epoch, forwarded: 0 }, zookeeper, cx);
            }
            (Place::Leading { epoch }, _) => {
                cx.mark(if self.epoch == 0 { "led" } else { "led-again" });
                let leading = Leading::new(epoch);
                self.count_sessions(&leading, zookeeper, cx);
                self.enter(epoch, Role::Leading(leading), zookeeper, cx);
            }
        }
    }

    /// What the leader has proposed in this step goes to Zab.
    pub(super) fn broadcast_proposed(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        while let Role::Leading(leading) = &mut self.role
            && let Some(proposal) = leading.next_proposed()
        {
            let zxid = proposal.entry.txn.zxid;
            if let Some(below) = &mut self.below {
                below.proposals.insert(zxid, proposal);
            }
            self.step_zab(Input::Decision(zab::Decision::Issue), zookeeper, cx);
            let given = self.below.as_ref().and_then(|below| below.zab.as_ref()).map(ZabServer::last);
            assert_eq!(given, Some(zxid), "Zab numbers transactions as their leader does");
        }
    }

    /// What it has passed on to its leader is lost: their connection is broken.
    pub(super) fn part(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(zab) = self.below.as_ref().and_then(|below| below.zab.as_ref()) else { return };
        let connection = zab.connection();
        self.step_zab(Input::Message { from: cx.node(), message: zab::Message::Lost { connection } }, zookeeper, cx);
    }

    /// A follower says of which sessions it has heard.
    pub(super) fn tell_touched(&mut self, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        cx.set(Timer::Alive, zookeeper.params.alive);
        let Some(below) = &mut self.below else { return };
        let sessions = std::mem::take(&mut below.touched);
        if let (Role::Following { leader, epoch, .. }, false) = (&self.role, sessions.is_empty()) {
            cx.send(*leader, Message::Touched { epoch: *epoch, sessions });
        }
    }

    fn proposal(&self, zxid: zab::Zxid) -> Option<Proposal> {
        self.below.as_ref()?.proposals.get(&zxid).cloned()
    }

    /// The tree that is this state of Zab's: its own, or what it is taking over.
    fn tree_of(&self, state: &zab::Tree) -> Option<Tree> {
        let taken_over = self.below.as_ref().and_then(|below| below.tree.as_ref());
        let tree = [Some(&self.tree), taken_over].into_iter().flatten().find(|tree| tree.last() == state.last);
        assert!(tree.is_some(), "there is no tree as of {:?}", state.last);
        tree.cloned()
    }

    fn on_committed(&mut self, zxid: zab::Zxid, zookeeper: &ZooKeeper, cx: Cx<'_, '_>) {
        let Some(Proposal { request, entry }) = self.proposal(zxid) else {
            panic!("{zxid:?} is delivered without what it does");
        };
        cx.observe(Observation::Delivered { place: self.index, request, entry: entry.clone() });
        self.deliver(entry, zookeeper, cx);
    }

    fn take_over(&mut self, state: &zab::Tree, cx: Cx<'_, '_>) {
        cx.mark("took-over");
        if let Some(tree) = self.tree_of(state) {
            self.tree = tree;
            self.index = state.count;
        }
    }
}
