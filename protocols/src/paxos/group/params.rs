//! Sizes and times; the group as a family of its own.

use seedbed_model::{Canonical, Family, Mutant, Mutants, NodeId, Ratio, Span};
use serde::{Deserialize, Serialize};

use super::PaxosGroup;
use super::mutants::MUTANTS;

/// Sizes and times. Where a count may be 0 for "any", a bound is what the explorer sees no further than.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many servers: a leader and standbys (Centrifuge §2.1.1: 3 standbys). 1 to 16.
    pub servers: u16,
    /// How many acceptors (Centrifuge §2.1.1: 5). 1 to 16.
    pub acceptors: u16,
    /// How long a leader leads, on its own clock, from the sending of the bid that was granted. Neither paper says.
    pub leader_lease: Span,
    /// How long an acceptor grants the lease to nobody else, from its granting. At least `leader-lease` times
    /// `manager-longest`.
    pub leader_margin: Span,
    /// How often a server bids. Less than `leader-lease`.
    pub leader_renew: Span,
    /// A span of a server's clock takes at most this times as long on an acceptor's. At least 1.
    pub manager_longest: Ratio,
    /// Ballot numbers are at most this. 0: any.
    pub ballots: u16,
    /// A server's incarnation bids so often, at moments of its own. 0: each `leader-renew`, and when it commits.
    pub bids: u8,
    /// All servers but the first bid so often. 0: as `bids` says.
    pub standby_bids: u8,
    /// A leader commits at most so many states in a term. 0: any.
    pub commits: u32,
    /// When the last fault is healed, a server leads within less than this. 0: not asked. It can be promised only where an
    /// election, two round trips with a write in each, takes less than `leader-renew`: else each bid gives up the one
    /// before; and by chance even then, as candidates may keep each other from a majority once more.
    pub progress: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            servers: 4,
            acceptors: 5,
            leader_lease: Span::secs(10),
            leader_margin: Span::secs(12),
            leader_renew: Span::secs(3),
            manager_longest: Ratio::new(13, 12),
            ballots: 0,
            bids: 0,
            standby_bids: 0,
            commits: 0,
            progress: Span::ZERO,
        }
    }
}

impl Params {
    /// Whether these make sense together.
    ///
    /// # Errors
    /// Which do not, and what would be right.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !(1..=16).contains(&self.servers) || !(1..=16).contains(&self.acceptors) {
            return Err(format!("servers {} and acceptors {} must be 1 to 16", self.servers, self.acceptors));
        }
        self.check_lease()
    }

    /// Whether the leader lease is one.
    pub(crate) fn check_lease(&self) -> Result<(), String> {
        if self.bids == 0 && (self.leader_renew == Span::ZERO || self.leader_renew >= self.leader_lease) {
            return Err(format!(
                "leader-renew {} must be positive and shorter than leader-lease {}",
                self.leader_renew, self.leader_lease
            ));
        }
        if self.manager_longest.num < self.manager_longest.den {
            return Err(format!("manager-longest {} is below 1", self.manager_longest));
        }
        let needed = self.manager_longest.ceil_of(self.leader_lease);
        if self.leader_margin < needed {
            return Err(format!(
                "leader-margin {} is too short: a leader lease of {} may take {needed} on the slowest clock",
                self.leader_margin, self.leader_lease
            ));
        }
        Ok(())
    }
}

/// What the group's own servers commit: states that tell who committed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Version {
    /// The leader's term.
    pub term: u16,
    /// Which of the leader's.
    pub count: u32,
}

/// The group as a family of its own, over a register of [`Version`]s.
#[derive(Debug)]
pub enum ManagerGroup {}

impl Family for ManagerGroup {
    type Protocol = PaxosGroup<Version>;
    type Params = Params;
    const NAME: &'static str = "manager-group";
    const SUMMARY: &'static str =
        "the Managers' Paxos group: a leader lease and a register that outlive crashes (Centrifuge §2.1.1, PRS §4.4)";

    fn mutants() -> &'static [Mutant] {
        MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<PaxosGroup<Version>, String> {
        params.check()?;
        let made = |term, count| Version { term, count };
        let first = NodeId(params.servers);
        Ok(PaxosGroup::new(params.clone(), mutants, first, Some(made)))
    }
}
