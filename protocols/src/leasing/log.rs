//! The change log of the lease table (Centrifuge §2.1.2, §2.2.1; PRS §4.2).

use seedbed_model::{Canonical, Nonce};

use super::Leasing;
use super::message::{Assignment, Change, Edition, News, RangeId};
use super::mutants::TRUNCATED_WITHOUT_SNAPSHOT;

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
    pub(super) fn new(term: Nonce) -> Self {
        Log { since: Edition::before_first(term, 0), changes: Vec::new() }
    }

    /// The edition after the latest change.
    pub fn edition(&self) -> Edition {
        self.changes.last().map_or(self.since, |change| change.edition)
    }

    /// Notes a change made in `term`, and truncates the log to `length_max`.
    pub(super) fn push(&mut self, term: Nonce, range: RangeId, assignment: Assignment, length_max: usize) {
        let latest = self.edition();
        let before = if latest.nonce == term { latest } else { Edition::before_first(term, 0) };
        let edition = before.next();
        self.changes.push(Change { edition, range, assignment });
        while self.changes.len() > length_max {
            self.since = self.changes.remove(0).edition;
        }
    }

    /// Forgets the changes up to this edition.
    pub(super) fn truncate(&mut self, upto: Edition) {
        while self.changes.first().is_some_and(|change| change.edition <= upto) {
            self.since = self.changes.remove(0).edition;
        }
    }

    /// Whether there is any change in it.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether every change after `known` is still here.
    pub(super) fn reaches_back_to(&self, known: Edition, leasing: &Leasing) -> bool {
        known >= self.since || leasing.mutants.has(TRUNCATED_WITHOUT_SNAPSHOT)
    }

    /// What a Lookup at `known` must hear: the changes since, or `table` where the log was truncated or is longer.
    pub(super) fn news(&self, known: Option<Edition>, table: Vec<Assignment>, leasing: &Leasing) -> News {
        let Some(known) = known.filter(|known| self.reaches_back_to(*known, leasing)) else {
            return News::Snapshot(table);
        };
        let changes: Vec<Change> = self.changes.iter().filter(|change| change.edition > known).copied().collect();
        if changes.len() > table.len() { News::Snapshot(table) } else { News::Changes(changes) }
    }
}
