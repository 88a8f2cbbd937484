//! What must hold: the properties of Zab (DSN 2011, §3) and of its published specifications, with ∀ where they mean it.
//!
//! The order in which transactions were first delivered anywhere is *the* order; each server's deliveries must be a prefix of
//! it. A server that restarts or takes a snapshot has delivered what its snapshot has.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Event, NodeId, Part, Property, Span, Watch};

use super::alone::{self, Elections};
use super::message::{Observation, Tree, Txn, Zxid};
use super::{Params, Zab};

const LEADERSHIP: &str = "leadership";
const TOTAL_ORDER: &str = "total-order";
const INTEGRITY: &str = "integrity";
const PRIMARY_ORDER: &str = "primary-order";
const PRIMARY_INTEGRITY: &str = "primary-integrity";
const COMMITTED_SURVIVES: &str = "committed-survives";
const EPOCHS_GROW: &str = "epochs-grow";
const ZXID_ONCE: &str = "zxid-once";
const SAME_TREE: &str = "same-tree";
const LED_AGAIN: &str = "led-again";
const CAUGHT_UP: &str = "caught-up";
const TAKEOVER: &str = "takeover";

/// The deadlines.
const SETTLED: u32 = 0;
const DELIVERED: u32 = 1;
const TAKEN_OVER: u32 = 2;

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// What was delivered anywhere, in order.
    order: Vec<Txn>,
    /// What was broadcast.
    proposed: BTreeSet<Txn>,
    /// Who was established in which epoch, with how many transactions.
    leaders: BTreeMap<u32, (NodeId, u32)>,
    /// What each server has.
    servers: BTreeMap<NodeId, Seen>,
    /// What is demanded in bounded time.
    demands: Part<Demands>,
    /// Where elections are all there is.
    elections: Part<Elections>,
}

/// What a server has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Seen {
    /// How many transactions it has delivered.
    delivered: u32,
    /// The accepted epoch that is durable.
    accepted: u32,
    /// The current epoch that is durable.
    current: u32,
}

/// What is demanded in bounded time.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Demands {
    /// Who is down.
    down: BTreeSet<NodeId>,
    /// Who leads now, as far as it knows itself.
    leading: BTreeSet<NodeId>,
    /// How much was delivered anywhere when all had to be settled.
    due: u32,
}

/// See the module.
pub(super) fn properties(params: &Params) -> Vec<Property> {
    if params.histories > 0 {
        return alone::properties(params);
    }
    let mut all = vec![
        Property::always(
            LEADERSHIP,
            "at most one leader is established in an epoch, and once (specification: Leadership)",
        ),
        Property::always(
            TOTAL_ORDER,
            "each server delivers a prefix of one order, without gaps and repetitions (Zab §3: total order, agreement; \
             specification: PrefixConsistency)",
        ),
        Property::always(INTEGRITY, "what is delivered was broadcast by an established leader (Zab §3)"),
        Property::always(
            PRIMARY_ORDER,
            "of one leader's transactions all before one that is delivered are delivered before it, in their order, and \
             transactions of an earlier epoch before those of a later one (Zab §3: local and global primary order)",
        ),
        Property::always(
            PRIMARY_INTEGRITY,
            "once a leader is established, nothing of an earlier epoch is delivered that is not in its history (Zab §3)",
        ),
        Property::always(
            COMMITTED_SURVIVES,
            "what was ever delivered anywhere is never lost: the history of a leader that is established begins with all of it that \
             is of earlier epochs, and no server gives any of it up, by TRUNC or otherwise (Zab §3; ZooKeeper §2.3, durability)",
        ),
        Property::always(
            EPOCHS_GROW,
            "no epoch of a server ever falls, also over a crash, and f.a never exceeds f.p (Zab §4)",
        ),
        Property::always(ZXID_ONCE, "no zxid is given twice (Zab §3)"),
        Property::always(
            SAME_TREE,
            "a snapshot that is read or taken over is the state after some prefix of the order (ZooKeeper §4.3)",
        ),
        Property::sometimes("established", "a leader is established"),
        Property::sometimes("re-established", "another leader than before is"),
        Property::sometimes("delivered", "a transaction is delivered"),
        Property::sometimes("delivered-everywhere", "one is delivered by every server"),
        Property::sometimes("inherited", "a leader is established with transactions that nobody had delivered"),
        Property::sometimes("crashed", "a server crashes"),
    ];
    if params.progress > Span::ZERO {
        all.push(Property::within(
            LED_AGAIN,
            "once all faults are healed, one server leads within `progress`, established in the latest epoch (ZooKeeper §2.3)",
        ));
        all.push(Property::within(
            CAUGHT_UP,
            "what was delivered anywhere by then is delivered everywhere after as long again (ZooKeeper §2.3)",
        ));
    }
    if params.takeover > Span::ZERO {
        all.push(Property::within(
            TAKEOVER,
            "within `takeover` of the latest crash or start while nobody leads, if a quorum is up, a leader is established (ZooKeeper §5.2: less than 200 ms)",
        ));
    }
    all
}

impl Monitor {
    pub(super) fn watch(&mut self, node: NodeId, event: &Event<Zab>, zab: &Zab, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(observation) => self.observe(node, observation, zab, watch),
            Event::Crashed if zab.is_alone() => {}
            Event::Crashed => {
                watch.reached("crashed");
                self.on_crash(node, zab, watch);
            }
            Event::Started if zab.params.takeover > Span::ZERO => self.on_start(node, zab, watch),
            Event::Healed if zab.params.progress > Span::ZERO => watch.set_deadline(SETTLED, zab.params.progress),
            Event::Deadline(SETTLED) => self.on_settled(zab, watch),
            Event::Deadline(DELIVERED) => self.on_delivered_deadline(zab, watch),
            Event::Deadline(TAKEN_OVER) => self.on_taken_over_deadline(zab, watch),
            _ => {}
        }
    }

    fn observe(&mut self, node: NodeId, observation: &Observation, zab: &Zab, watch: &mut Watch<'_>) {
        match observation {
            Observation::Recovered { accepted, current, tree } => {
                self.epochs(node, Some(*accepted), Some(*current), watch);
                self.restored(node, *tree, watch);
            }
            Observation::Accepted(epoch) => self.epochs(node, Some(*epoch), None, watch),
            Observation::Current(epoch) => self.epochs(node, None, Some(*epoch), watch),
            Observation::Restored(tree) => self.restored(node, *tree, watch),
            Observation::Truncated(removed) => self.truncated(node, removed, watch),
            Observation::Established { epoch, history } => self.established(node, *epoch, *history, zab, watch),
            Observation::Proposed(txn) => self.proposed(node, *txn, watch),
            Observation::Delivered(txn) => self.delivered(node, *txn, zab, watch),
            Observation::Looks if zab.is_timed() => drop(self.demands.leading.remove(&node)),
            Observation::Looks => {}
            Observation::Voted { .. } | Observation::Found { .. } => {
                self.elections.observe(node, observation, zab, watch)
            }
        }
    }

    fn epochs(&mut self, node: NodeId, accepted: Option<u32>, current: Option<u32>, watch: &mut Watch<'_>) {
        let seen = self.servers.entry(node).or_default();
        let (accepted, current) = (accepted.unwrap_or(seen.accepted), current.unwrap_or(seen.current));
        if accepted < seen.accepted || current < seen.current || current > accepted {
            let words = format!(
                "{node:?} has accepted epoch {accepted} and is in {current}, after {} and {}",
                seen.accepted, seen.current
            );
            watch.violated(EPOCHS_GROW, words);
        }
        (seen.accepted, seen.current) = (accepted, current);
    }

    fn restored(&mut self, node: NodeId, tree: Tree, watch: &mut Watch<'_>) {
        let prefix = self.order.get(..tree.count as usize).map(|prefix| Tree::default().with(prefix));
        if prefix != Some(tree) {
            let words =
                format!("{node:?} has the state of {} transactions up to {:?}, which never was", tree.count, tree.last);
            watch.violated(SAME_TREE, words);
        }
        self.servers.entry(node).or_default().delivered = tree.count;
    }

    fn truncated(&self, node: NodeId, removed: &[Zxid], watch: &mut Watch<'_>) {
        if let Some(zxid) = removed.iter().find(|zxid| self.order.iter().any(|txn| txn.zxid == **zxid)) {
            watch.violated(COMMITTED_SURVIVES, format!("{node:?} gives up {zxid:?}, which was delivered"));
        }
    }

    fn established(&mut self, node: NodeId, epoch: u32, history: Tree, zab: &Zab, watch: &mut Watch<'_>) {
        watch.reached(if self.leaders.is_empty() { "established" } else { "re-established" });
        if let Some((other, _)) = self.leaders.insert(epoch, (node, history.count)) {
            watch.violated(LEADERSHIP, format!("{node:?} is established in epoch {epoch}, and {other:?} was"));
        }
        let count = self.order.len() as u32;
        // A leader may hear so late that a quorum has its history that others have gone on in a later epoch.
        let due = self.order.iter().take_while(|txn| txn.zxid.epoch < epoch).count() as u32;
        if history.count < due {
            let lost = self.order[history.count as usize].zxid;
            let words = format!(
                "{node:?} is established in epoch {epoch} with {} transactions, but {due} of earlier epochs were delivered: {lost:?} is lost",
                history.count
            );
            watch.violated(COMMITTED_SURVIVES, words);
        }
        if history.count > count {
            watch.reached("inherited");
        }
        if zab.is_timed() {
            self.demands.leading.insert(node);
            watch.clear_deadline(TAKEN_OVER);
        }
    }

    fn proposed(&mut self, node: NodeId, txn: Txn, watch: &mut Watch<'_>) {
        if self.leaders.get(&txn.zxid.epoch).is_none_or(|(leader, _)| *leader != node) {
            watch.violated(INTEGRITY, format!("{node:?} broadcasts {:?}, but does not lead that epoch", txn.zxid));
        }
        if self.proposed.iter().any(|other| other.zxid == txn.zxid) {
            watch.violated(ZXID_ONCE, format!("{node:?} broadcasts another {:?}", txn.zxid));
        }
        self.proposed.insert(txn);
    }

    fn delivered(&mut self, node: NodeId, txn: Txn, zab: &Zab, watch: &mut Watch<'_>) {
        watch.reached("delivered");
        let seen = self.servers.entry(node).or_default();
        let place = seen.delivered as usize;
        seen.delivered += 1;
        let everywhere =
            zab.voters().all(|server| self.servers.get(&server).is_some_and(|seen| seen.delivered as usize > place));
        if everywhere {
            watch.reached("delivered-everywhere");
        }
        match self.order.get(place) {
            Some(first) if *first != txn => {
                let words = format!("{node:?} delivers {:?} where {:?} was delivered before", txn.zxid, first.zxid);
                watch.violated(TOTAL_ORDER, words);
            }
            Some(_) => {}
            None => self.first_delivered(node, txn, watch),
        }
    }

    /// The order grows.
    fn first_delivered(&mut self, node: NodeId, txn: Txn, watch: &mut Watch<'_>) {
        let epoch = txn.zxid.epoch;
        let last = self.order.last().map_or(Zxid::ZERO, |txn| txn.zxid);
        if self.order.contains(&txn) {
            watch.violated(TOTAL_ORDER, format!("{node:?} delivers {:?} twice", txn.zxid));
        } else if !self.proposed.contains(&txn) {
            watch.violated(INTEGRITY, format!("{node:?} delivers {:?}, which nobody broadcast", txn.zxid));
        } else if !last.precedes(txn.zxid) {
            watch.violated(PRIMARY_ORDER, format!("{node:?} delivers {:?} after {last:?}", txn.zxid));
        }
        let place = self.order.len() as u32;
        if let Some((later, (leader, count))) =
            self.leaders.iter().find(|(later, (_, count))| **later > epoch && *count <= place)
        {
            let words = format!(
                "{node:?} delivers {:?}, which is not among the {count} of {leader:?}, established in epoch {later}",
                txn.zxid
            );
            watch.violated(PRIMARY_INTEGRITY, words);
        }
        self.order.push(txn);
    }

    fn on_crash(&mut self, node: NodeId, zab: &Zab, watch: &mut Watch<'_>) {
        if !zab.is_timed() {
            return;
        }
        self.demands.leading.remove(&node);
        self.demands.down.insert(node);
        if zab.params.takeover > Span::ZERO && self.demands.leading.is_empty() {
            watch.set_deadline(TAKEN_OVER, zab.params.takeover);
        }
    }

    /// Time counts from when a quorum is up, at the latest.
    fn on_start(&mut self, node: NodeId, zab: &Zab, watch: &mut Watch<'_>) {
        self.demands.down.remove(&node);
        if self.demands.leading.is_empty() {
            watch.set_deadline(TAKEN_OVER, zab.params.takeover);
        }
    }

    fn leads_latest(&self) -> bool {
        self.leaders.last_key_value().is_some_and(|(_, (leader, _))| self.demands.leading.contains(leader))
    }

    fn on_settled(&mut self, zab: &Zab, watch: &mut Watch<'_>) {
        if !self.leads_latest() || self.demands.leading.len() > 1 {
            let words = format!("{:?} lead {} after the last fault", self.demands.leading, zab.params.progress);
            watch.violated(LED_AGAIN, words);
        }
        self.demands.due = self.order.len() as u32;
        watch.set_deadline(DELIVERED, zab.params.progress);
    }

    fn on_delivered_deadline(&mut self, zab: &Zab, watch: &mut Watch<'_>) {
        let due = self.demands.due;
        let behind = (0..zab.server_count())
            .map(NodeId)
            .find(|node| self.servers.get(node).is_none_or(|seen| seen.delivered < due));
        if let Some(node) = behind {
            let delivered = self.servers.get(&node).map_or(0, |seen| seen.delivered);
            watch.violated(CAUGHT_UP, format!("{node:?} has delivered {delivered} of {due} transactions"));
        }
    }

    fn on_taken_over_deadline(&mut self, zab: &Zab, watch: &mut Watch<'_>) {
        let up = zab.voters().filter(|node| !self.demands.down.contains(node)).count();
        if up >= zab.quorum() && !self.leads_latest() {
            watch.violated(TAKEOVER, format!("nobody leads {} after the latest crash or start", zab.params.takeover));
        }
    }
}
