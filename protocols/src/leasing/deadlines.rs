//! Within what the promises in bounded time hold, derived.

use seedbed_model::Span;

use super::{GroupKind, Params, Variant};

impl Params {
    /// The bound of the recovery notification when a message takes at most `delay`, a firing comes at most `lateness` after
    /// its timer's end, and at most `takeovers` times within it a new leader of the Centrifuge variant takes office: a
    /// `notice` above it holds, whatever is lost, crossed or crashed.
    ///
    /// Let an Owner lose a lease at time 0, or hand over its state.
    /// - The last request that lists it was sent before, and arrives before `delay`. The Manager's margin counts from
    ///   there (only what an Owner lists is renewed), so the generation changes by `delay + margin + lateness`, unless the
    ///   state arrives where it was to go. So it does if the Manager restarts, or in PRS another leads: its generations are
    ///   new then.
    /// - A leader that takes office before that, and reads the lease in the Paxos group, counts a whole margin anew: each
    ///   takeover puts the news off by a margin. It hears of the loss sooner if the Owner lives and says so.
    /// - What changed is told once the group has it: at most a bid's period, a lateness and a round trip later, or another
    ///   takes over.
    /// - If a poll sent after that is answered, the Lookup tells its application then: at most a poll's period, a
    ///   lateness and a round trip later. A poll that no leader answered goes to all servers, so that the next is answered
    ///   if any leads.
    /// - If none is, the last answered poll was sent before, and the Lookup's contact ends `contact` after its sending.
    pub fn notice_needed(&self, delay: Span, lateness: Span, takeovers: u64) -> Span {
        let known = delay + (self.margin + lateness) * (takeovers + 1);
        let committed = match self.variant {
            Variant::Prs => Span::ZERO,
            Variant::Centrifuge => self.manager_longest.ceil_of(self.leader_renew) + lateness + delay * 2,
        };
        let by_poll = self.owner_longest.ceil_of(self.poll) + lateness + delay * 2;
        let by_contact = self.owner_longest.ceil_of(self.contact) + lateness;
        known + committed + by_poll.max(by_contact)
    }

    /// The bound of progress when, from the healing on, a message takes at most `delay` and is not lost, a firing comes at
    /// most `lateness` after its timer's end, and each of `decisions` moves a decision that is open stays open for at most
    /// `decision`: a `progress` above it holds.
    ///
    /// - A leader is elected once the group's margin for the last one has run out: at the next bid, a round trip later.
    /// - Each Owner asks it within two renewals: the first goes to a server that is silent, the second to all.
    /// - What was granted before and is held by nobody ends with its margin, which the leader counts from its election; in
    ///   PRS it waits as long before it grants.
    /// - Then one decision after the other: a free range is granted; one that is not where it should be is handed over,
    ///   which fails at worst and ends with another margin, and is granted.
    /// - Each Lookup polls twice, the first time in vain, and a poll more has the end of it.
    pub fn progress_needed(&self, delay: Span, lateness: Span, decision: Span, decisions: u64) -> Span {
        let round = delay * 2 + lateness;
        let elected = match self.group {
            GroupKind::None => Span::ZERO,
            GroupKind::Atomic => self.leader_margin + self.manager_longest.ceil_of(self.leader_renew) + round,
            // Two round trips, with a write of the acceptors in each; candidates that keep each other from a majority try
            // again with the next bid.
            GroupKind::Paxos => self.leader_margin + (self.manager_longest.ceil_of(self.leader_renew) + round * 4) * 3,
        };
        let asked = self.owner_longest.ceil_of(self.renew) * 2 + round * 2;
        let ended = (self.margin + lateness) * 2;
        let decided = (decision + round * 4) * decisions;
        let polled = (self.owner_longest.ceil_of(self.poll) + round) * 3;
        elected + asked + ended + decided + polled
    }
}
