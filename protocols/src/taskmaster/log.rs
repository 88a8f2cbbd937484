//! The commit log (§5.3): ApplyAtoms with tickets, written in parallel, committed in the order of their tickets.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Canonical, Nonce};

use super::message::OpKey;
use super::task::{Atom, Row, Ticket};

/// What was logged and is not wholly applied yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Log {
    /// Whose tickets these are: this incarnation's.
    pub incarnation: Nonce,
    /// The number of the last ticket that was given.
    pub given: u32,
    /// "Committed once it and all earlier ApplyAtoms have been successfully written": up to this number.
    pub committed: u32,
    /// The minimum ticket that is written.
    pub minimum: u32,
    /// Each atom until its rows are durable.
    pub pending: BTreeMap<u32, Pending>,
}

/// An atom under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Pending {
    /// Whose.
    pub op: OpKey,
    /// What.
    pub atom: Atom,
    /// Whether its row of the log is durable.
    pub is_written: bool,
    /// Its rows that are not durable; those of an atom that is not committed are not counted yet.
    pub unapplied: BTreeSet<Row>,
}

impl Log {
    /// An empty log behind this ticket.
    pub fn behind(ticket: Ticket) -> Log {
        let number = ticket.number;
        Log {
            incarnation: ticket.incarnation,
            given: number,
            committed: number,
            minimum: number,
            pending: BTreeMap::new(),
        }
    }

    /// The ticket of this number.
    pub fn ticket(&self, number: u32) -> Ticket {
        Ticket { incarnation: self.incarnation, number }
    }

    /// Gives an atom its ticket.
    pub fn append(&mut self, op: OpKey, atom: Atom) -> Ticket {
        self.given += 1;
        let pending = Pending { op, atom, is_written: false, unapplied: BTreeSet::new() };
        self.pending.insert(self.given, pending);
        self.ticket(self.given)
    }

    /// The next atom, once it is written, which commits it.
    pub fn commit(&mut self) -> Option<(Ticket, &mut Pending)> {
        let number = self.committed + 1;
        let ticket = self.ticket(number);
        let pending = self.pending.get_mut(&number).filter(|pending| pending.is_written)?;
        self.committed = number;
        Some((ticket, pending))
    }

    /// Up to where all atoms are committed and all their rows are durable (TA2).
    pub fn applied(&self) -> u32 {
        self.pending.keys().next().map_or(self.committed, |first| self.committed.min(first - 1))
    }
}
