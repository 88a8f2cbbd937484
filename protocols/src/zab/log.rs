//! A server's history, in memory and on disk.
//!
//! On disk are three streams, which become durable independently: the log (transactions, truncations), the two epochs, and
//! snapshots. A restart takes the latest snapshot and replays the log after it: all of it, as nothing on the disk says what
//! was committed.

use seedbed_model::{Canonical, Context, Stream};

use super::message::{Mode, Observation, Record, Tree, Txn, Zxid};
use super::mutants::{DIFF_FOR_SNAP, NO_SYNCHRONIZATION, NO_TRUNC, SNAPSHOT_OF_LOG, TRUNC_BEFORE_FSYNC, ZK_3642};
use super::params::Disk;
use super::{Params, Zab};

/// The files `acceptedEpoch` and `currentEpoch`.
pub const EPOCHS: Stream = Stream(0);
/// The write-ahead log.
pub const LOG: Stream = Stream(1);
/// Snapshots.
pub const SNAPSHOTS: Stream = Stream(2);

/// What the disk holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    /// The paper's f.p: nothing of an earlier leader is accepted.
    pub accepted: u32,
    /// The paper's f.a: of the leader whose history this is.
    pub current: u32,
    /// The latest snapshot.
    pub snapshot: Tree,
    /// The transactions after it.
    pub log: Vec<Txn>,
}

impl Durable {
    /// What a record changes.
    pub fn fold(&mut self, record: &Record) {
        match record {
            Record::Accepted(epoch) => self.accepted = *epoch,
            Record::Current(epoch) => self.current = *epoch,
            // It may become durable after a snapshot that has it.
            Record::Append(txn) if txn.zxid <= self.snapshot.last => {}
            Record::Append(txn) => self.log.push(*txn),
            Record::Truncate(end) => self.log.retain(|txn| txn.zxid <= *end),
            Record::Snapshot(tree) => {
                self.snapshot = *tree;
                self.log.retain(|txn| txn.zxid > tree.last);
            }
        }
    }
}

/// A history as a server holds it in memory.
///
/// 1. `txns` follow on `base`;
/// 2. `tree` is `base` and the first of them that are delivered; at most `window` of those are kept;
/// 3. all of it is written; what of it is durable ends with `durable`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Log {
    /// The state before the transactions held here.
    pub base: Tree,
    /// Those, in order.
    pub txns: Vec<Txn>,
    /// The state that is delivered.
    pub tree: Tree,
    /// The end of what is durable, once all that was truncated durably is.
    pub durable: Zxid,
    /// How many truncations are on their way to the disk: a crash may keep what was logged before one, and lose the truncation.
    truncations: u32,
    /// What this step wrote on a disk that takes no time. Empty between steps.
    instant: Vec<Record>,
}

type Cx<'a, 'b> = &'a mut Context<'b, Zab>;

impl Log {
    /// What a restart finds.
    pub fn recover(disk: &Durable) -> Self {
        let mut log = Log {
            base: disk.snapshot,
            txns: disk.log.clone(),
            tree: disk.snapshot,
            durable: Zxid::ZERO,
            truncations: 0,
            instant: Vec::new(),
        };
        log.durable = log.last();
        log
    }

    /// The last transaction.
    pub fn last(&self) -> Zxid {
        self.txns.last().map_or(self.base.last, |txn| txn.zxid)
    }

    /// How many of `txns` are delivered.
    pub fn delivered(&self) -> usize {
        (self.tree.count - self.base.count) as usize
    }

    /// The transactions that are not.
    pub fn undelivered(&self) -> &[Txn] {
        &self.txns[self.delivered()..]
    }

    /// Whether a transaction of this number is held, or the last before those that are.
    pub fn has(&self, zxid: Zxid) -> bool {
        self.base.last == zxid || self.txns.iter().any(|txn| txn.zxid == zxid)
    }

    /// Those after `zxid`.
    pub fn after(&self, zxid: Zxid) -> Vec<Txn> {
        self.txns.iter().filter(|txn| txn.zxid > zxid).copied().collect()
    }

    /// Whether everything written is durable, and everything given up is gone.
    pub fn is_durable(&self, zab: &Zab) -> bool {
        self.durable == self.last() && (self.truncations == 0 || zab.has(TRUNC_BEFORE_FSYNC))
    }

    /// Writes a record.
    pub fn persist(&mut self, stream: Stream, record: Record, zab: &Zab, cx: Cx<'_, '_>) {
        match zab.params.disk {
            Disk::Streams => drop(cx.persist(stream, record)),
            Disk::None => self.instant.push(record),
        }
    }

    /// The next record that the step wrote on a disk that takes no time.
    pub fn next_instant(&mut self) -> Option<Record> {
        if self.instant.is_empty() { None } else { Some(self.instant.remove(0)) }
    }

    /// Logs a transaction.
    pub fn append(&mut self, txn: Txn, zab: &Zab, cx: Cx<'_, '_>) {
        self.txns.push(txn);
        self.persist(LOG, Record::Append(txn), zab, cx);
    }

    /// Gives up what comes after `end`.
    pub fn truncate(&mut self, end: Zxid, zab: &Zab, cx: Cx<'_, '_>) {
        let removed: Vec<Zxid> = self.txns.iter().map(|txn| txn.zxid).filter(|zxid| *zxid > end).collect();
        self.txns.retain(|txn| txn.zxid <= end);
        if self.delivered() > self.txns.len() {
            // Only where a mechanism is missing: what was delivered is taken back.
            self.tree = self.base.with(&self.txns);
        }
        self.truncations += 1;
        self.persist(LOG, Record::Truncate(end), zab, cx);
        cx.observe(Observation::Truncated(removed));
    }

    /// Takes another's state for all of it, and writes it.
    pub fn restore(&mut self, tree: Tree, zab: &Zab, cx: Cx<'_, '_>) {
        (self.base, self.tree, self.txns) = (tree, tree, Vec::new());
        if zab.has(ZK_3642) {
            self.durable = tree.last;
        } else {
            self.persist(SNAPSHOTS, Record::Snapshot(tree), zab, cx);
        }
        cx.observe(Observation::Restored(tree));
    }

    /// Delivers the next transaction, and forgets one that no longer fits into the window.
    pub fn deliver(&mut self, zab: &Zab, cx: Cx<'_, '_>) -> Txn {
        let Params { window, snapshot_every, .. } = zab.params;
        let txn = self.txns[self.delivered()];
        self.tree.apply(&txn);
        cx.observe(Observation::Delivered(txn));
        if self.delivered() > window as usize {
            let first = self.txns.remove(0);
            self.base.apply(&first);
        }
        if snapshot_every > 0 && self.tree.count.is_multiple_of(snapshot_every) {
            cx.mark("snapshot");
            self.persist(SNAPSHOTS, Record::Snapshot(self.snapshot(zab)), zab, cx);
        }
        txn
    }

    /// The state that a snapshot holds.
    pub(super) fn snapshot(&self, zab: &Zab) -> Tree {
        if zab.has(SNAPSHOT_OF_LOG) { self.tree.with(self.undelivered()) } else { self.tree }
    }

    /// A record of the log or of the snapshots is durable.
    pub fn synced(&mut self, record: &Record) {
        match record {
            // One from before a snapshot that was taken over meanwhile.
            Record::Append(txn) if txn.zxid <= self.base.last => self.durable = self.durable.max(txn.zxid),
            Record::Append(txn) => self.durable = txn.zxid,
            Record::Truncate(end) => {
                self.durable = *end;
                self.truncations -= 1;
            }
            Record::Snapshot(tree) => self.durable = self.durable.max(tree.last),
            Record::Accepted(_) | Record::Current(_) => {}
        }
    }
}

impl Log {
    /// Where the history meets that of a learner which ends with `last`, and what comes after (LearnerHandler.syncFollower).
    pub(super) fn meet(&self, last: Zxid, zab: &Zab) -> (Mode, Vec<Txn>) {
        if zab.has(NO_SYNCHRONIZATION) {
            return (Mode::Diff, Vec::new());
        }
        if last < self.base.last && !zab.has(DIFF_FOR_SNAP) {
            let tree = self.snapshot(zab);
            return (Mode::Snap(tree), self.after(tree.last));
        }
        if self.has(last) || last < self.base.last {
            return (Mode::Diff, self.after(last));
        }
        let before = self.txns.iter().map(|txn| txn.zxid).filter(|zxid| *zxid < last).max();
        let end = before.unwrap_or(self.base.last);
        if zab.has(NO_TRUNC) { (Mode::Diff, self.after(end)) } else { (Mode::Trunc(end), self.after(end)) }
    }
}
