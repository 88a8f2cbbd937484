//! The change log of the lease table (Centrifuge §2.1.2, §2.2.1; PRS §4.2).

use seedbed_model::{Canonical, Nonce};

use super::message::{Assignment, Change, Edition, News, RangeId};

/// The latest changes of the lease table.
///
/// 1. `changes` are the last ones, oldest first, with growing numbers;
/// 2. `since` is the edition before the oldest of them, and the latest edition when there is none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Log {
    since: Edition,
    changes: Vec<Change>,
}

impl Log {
    pub(super) fn new(manager: Nonce) -> Self {
        Log { since: Edition::before_first(manager, 0), changes: Vec::new() }
    }

    /// The edition after the latest change.
    pub fn edition(&self) -> Edition {
        self.changes.last().map_or(self.since, |change| change.edition)
    }

    /// Notes a change, and truncates the log to `length_max`.
    pub(super) fn push(&mut self, range: RangeId, assignment: Assignment, length_max: usize) {
        let edition = self.edition().next();
        self.changes.push(Change { edition, range, assignment });
        while self.changes.len() > length_max {
            self.since = self.changes.remove(0).edition;
        }
    }

    /// Whether every change after `known` is still here.
    pub fn reaches_back_to(&self, known: Edition) -> bool {
        known.nonce == self.since.nonce && known >= self.since
    }

    /// What a Lookup at `known` must hear: the changes since, or `table` where the log was truncated or is longer.
    pub(super) fn news(&self, known: Option<Edition>, table: Vec<Assignment>) -> News {
        let Some(known) = known.filter(|known| self.reaches_back_to(*known)) else { return News::Snapshot(table) };
        let changes: Vec<Change> = self.changes.iter().filter(|change| change.edition > known).copied().collect();
        if changes.len() > table.len() { News::Snapshot(table) } else { News::Changes(changes) }
    }
}
