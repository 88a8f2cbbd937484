//! The acceptor, and the learner in it: p = (λ_lrn, λ_acc, b, i) of one cell (§4.1), and UPON PREPARE, ACCEPT, LEARN, INV. What
//! an acceptor does within an instance is Paxos ([`crate::paxos::Acceptor`]); which instance that is, and whom it lets in, is here.

use seedbed_model::{Canonical, NodeId, Stamp};

use super::message::{Answer, Ballot, Instance, Lease, Vote};
use super::mutants::*;
use super::{FaTLease, Observed};
use crate::paxos::{self, Denied};

/// The state of the latest instance that a host knows of, and the lease of the one before.
///
/// Invariants, by which no two owners hold valid leases:
/// 1. of the leases in `learned`, `accepted` and `previous` that may still be valid, those which can have been chosen have
///    one owner (the reject rule, §4.4);
/// 2. nothing is forgotten before `keep`: by then every clock is past the end of whatever was promised or accepted here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Acceptor {
    /// i.
    pub instance: Instance,
    /// b and λ_acc: what is promised and accepted in it.
    pub paxos: paxos::Acceptor<Ballot, Lease>,
    /// λ_lrn.
    pub learned: Option<Lease>,
    /// What was known of an earlier instance and may still be valid: that of instance `instance - 1`, where a renewal is
    /// under way (§4.3, "the previous instance").
    pub previous: Option<Previous>,
    /// Nothing of this is discarded before the own clock shows it. Kept only where states are discarded.
    pub keep: Option<Stamp>,
}

/// The lease of an earlier instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Previous {
    /// Which.
    pub lease: Lease,
    /// Whether it was learned; else only accepted here.
    pub is_learned: bool,
}

/// Who steps, and what its clock shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) node: NodeId,
    pub(super) now: Stamp,
}

/// What CHECK_LOCAL_STATE finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// A lease that is valid.
    Valid(Lease),
    /// `none`: the latest lease is over.
    None,
    /// `locally_unknown`.
    Unknown,
    /// `wait`: within the safety period.
    Wait,
}

impl Default for Acceptor {
    fn default() -> Self {
        let paxos = paxos::Acceptor::default();
        Acceptor { instance: Instance::INITIAL, paxos, learned: None, previous: None, keep: None }
    }
}

impl Acceptor {
    /// CHECK_LOCAL_STATE, with the rule for renew instances (§4.3): "if n is incomplete, proposals may only be issued in this
    /// instance if the lease in n-1 is no longer valid".
    pub(super) fn check_local_state(&self, at: At, rules: &FaTLease) -> Known {
        match (self.learned, self.previous) {
            (Some(lease), _) => rules.known(lease, at),
            (None, Some(Previous { lease, is_learned })) => match rules.known(lease, at) {
                Known::None => Known::Unknown,
                Known::Valid(lease) if is_learned => Known::Valid(lease),
                _ => Known::Wait,
            },
            (None, None) => Known::Unknown,
        }
    }

    /// UPON PREPARE(b, i).
    pub(super) fn on_prepare(
        &mut self,
        from: NodeId,
        ballot: Ballot,
        instance: Instance,
        at: At,
        rules: &FaTLease,
    ) -> Answer {
        if instance < self.instance && self.says_outdated(rules) {
            let paxos::Acceptor { promised, accepted } = self.paxos;
            return Answer::Outdated { instance: self.instance, promised, accepted };
        }
        if !rules.prints(PREPARE_JUMPS)
            && let Some(reject) = self.reject(from, instance, at, rules)
        {
            return reject;
        }
        if instance > self.instance {
            self.move_to(instance, rules.prints(PREPARE_JUMPS), at, rules);
        }
        let vote = match self.paxos.prepare(ballot, &rules.paxos) {
            Err(Denied { number }) => return Answer::Nack(number),
            Ok(vote) => vote,
        };
        if from != at.node {
            // The own proposer's ballot protects nothing until it sends ACCEPT.
            self.keep_on(at, rules);
        }
        Answer::Ack(vote)
    }

    /// UPON ACCEPT(λ, i, b).
    pub(super) fn on_accept(
        &mut self,
        lease: Lease,
        instance: Instance,
        ballot: Ballot,
        at: At,
        rules: &FaTLease,
    ) -> Answer {
        let nack = Answer::Nack(self.paxos.denied().number);
        if instance < self.instance || (rules.is_past(lease.end, at.now) && !rules.prints(ACCEPT_OUTDATED)) {
            return nack;
        }
        if !rules.prints(ACCEPT_JUMPS)
            && let Some(reject) = self.reject(lease.owner, instance, at, rules)
        {
            return reject;
        }
        if let Some(reject) = self.reject_in_instance(lease, instance, at, rules) {
            return reject;
        }
        if instance > self.instance {
            // "acceptor has missed instance and votes for value": p ← (⊥, λ, b, i).
            self.move_to(instance, rules.prints(ACCEPT_JUMPS), at, rules);
            self.paxos.promised = Some(ballot);
        }
        if self.paxos.accept(Vote { ballot, value: lease }, &rules.paxos).is_err() {
            return nack;
        }
        if !rules.prints(ACCEPT_KEEPS_LEARNED) {
            // Another lease was learned in an instance of this number, is over, and was forgotten by others, who began anew.
            self.learned = self.learned.filter(|learned| *learned == lease);
        }
        self.keep_on(at, rules);
        Answer::Accepted
    }

    /// UPON LEARN(λ, i). Whether it was news of the host's own lease.
    pub(super) fn on_learn(&mut self, lease: Lease, instance: Instance, at: At, rules: &FaTLease) -> Option<Observed> {
        let is_late = rules.is_past(lease.end, at.now) && !rules.prints(LEARN_ANYTHING);
        let is_kept_out = !rules.prints(LEARN_JUMPS) && self.reject(lease.owner, instance, at, rules).is_some();
        if instance < self.instance || is_late || is_kept_out {
            return None;
        }
        if instance > self.instance {
            self.move_to(instance, rules.prints(LEARN_JUMPS), at, rules);
        } else {
            // What else was accepted in the instance was not chosen.
            let stays = |vote: &Vote| !rules.has(LEARN_DROPS_ACCEPTED) && vote.value == lease;
            self.paxos.accepted = self.paxos.accepted.filter(|vote| stays(vote) || rules.prints(LEARN_KEEPS_ACCEPTED));
        }
        let is_news = self.learned != Some(lease);
        self.learned = Some(lease);
        self.previous = self.previous.filter(|previous| previous.lease.end > lease.end);
        self.keep_on(at, rules);
        (is_news && lease.owner == at.node && !rules.is_past(lease.end, at.now)).then_some(Observed::Acquired(lease))
    }

    /// UPON INV(i).
    pub(super) fn on_inv(&mut self, instance: Instance, lease: Lease, at: At, rules: &FaTLease) {
        // A late INV must not take a lease that it does not speak of.
        let is_of_another = self
            .held()
            .any(|held| !rules.is_over_for_all(held, at) && (held.owner != lease.owner || held.end > lease.end));
        if instance < self.instance || (is_of_another && !rules.prints(INV_TAKES_ANY)) {
            return;
        }
        self.give_up(instance.next(), rules);
    }

    /// p ← (⊥, ⊥, 0, i). What was voted for and promised until now is kept from being discarded as before: the lease given up
    /// may still be on its way. Nothing more is to be kept: who knew nothing of the instance is as if INV had been lost.
    pub(super) fn give_up(&mut self, instance: Instance, rules: &FaTLease) {
        let keep = self.keep.filter(|_| !rules.has(INVALIDATION_UNKEPT));
        *self = Acceptor { instance, keep, ..Acceptor::default() };
    }

    /// Whether all of this may be forgotten (§4.4).
    pub(super) fn may_discard(&self, at: At, rules: &FaTLease) -> bool {
        if rules.has(NEVER_DISCARDS) {
            return false;
        }
        match rules.prints(DISCARD_WHEN_OVER) {
            true => self.held().all(|lease| rules.is_over(lease, at)),
            false => self.keep.is_none_or(|keep| at.now >= keep),
        }
    }

    /// The leases that may have been chosen as far as this host knows.
    pub(super) fn held(&self) -> impl Iterator<Item = Lease> + use<> {
        self.current().chain(self.previous.map(|previous| previous.lease))
    }

    fn current(&self) -> impl Iterator<Item = Lease> + use<> {
        self.learned.into_iter().chain(self.paxos.accepted.map(|vote| vote.value))
    }

    /// A promise or a vote is kept for as long as a lease proposed under it can be accepted anywhere: it ends by
    /// `c + d_max + v`, and every clock is past that when the own one is past it by `d_max`.
    pub(super) fn keep_on(&mut self, at: At, rules: &FaTLease) {
        if rules.discards() {
            self.keep = self.keep.max(Some(at.now.plus(rules.retention())));
        }
    }

    /// The reject rule (§4.4): "an acceptor always checks its local state for a non-outdated instance with a lower instance
    /// number". A renewal by the lease's owner passes; so does what stays in the instance, where Paxos decides.
    fn reject(&self, owner: NodeId, instance: Instance, at: At, rules: &FaTLease) -> Option<Answer> {
        let current = self.current().filter(|_| instance > self.instance);
        let previous = self.previous.map(|previous| previous.lease);
        let is_kept = |lease: &Lease| lease.owner != owner && !rules.is_over_for_all(*lease, at);
        current.chain(previous).find(is_kept).filter(|_| !rules.has(NO_REJECT))?;
        Some(Answer::Reject { instance: self.instance, learned: self.learned })
    }

    /// Against votes in the instance for another lease than the one that was learned there, which may be valid: a ballot that
    /// was promised before is late.
    fn reject_in_instance(&self, lease: Lease, instance: Instance, at: At, rules: &FaTLease) -> Option<Answer> {
        let learned = self.learned.filter(|learned| instance == self.instance && *learned != lease)?;
        let is_left_out = rules.has(ACCEPT_FORGETS_LEARNED) || rules.prints(ACCEPT_KEEPS_LEARNED);
        if rules.is_over_for_all(learned, at) || is_left_out {
            return None;
        }
        Some(Answer::Reject { instance, learned: Some(learned) })
    }

    fn says_outdated(&self, rules: &FaTLease) -> bool {
        if rules.has(OLD_INSTANCE_ACKED) {
            return false;
        }
        let printed = rules.prints(OUTDATED_IF_INCOMPLETE);
        (!printed || self.learned.is_none()) && (!rules.has(OUTDATED_IF_COMPLETE) || self.learned.is_some())
    }

    /// The acceptor "will discard its old state and start a new instance"; the lease that may be valid is kept,
    /// unless a printed line `forgets` it.
    fn move_to(&mut self, instance: Instance, forgets: bool, at: At, rules: &FaTLease) {
        let current = self.learned.map(|lease| Previous { lease, is_learned: true });
        let accepted = self.paxos.accepted.map(|vote| Previous { lease: vote.value, is_learned: false });
        let may_hold = |previous: &Previous| !rules.is_over_for_all(previous.lease, at);
        let all = current.into_iter().chain(accepted).chain(self.previous).filter(may_hold);
        let previous = all.max_by_key(|previous| (previous.lease.end, previous.is_learned));
        let previous = previous.filter(|_| !forgets && !rules.prints(NO_PREVIOUS));
        *self = Acceptor { instance, previous, keep: self.keep, ..Acceptor::default() };
    }
}

#[cfg(test)]
mod tests {
    use seedbed_model::{Family, Mutants, Nonce, Serial, Span, encoding};

    use super::*;

    /// "A maximum of two Multipaxos instances per lease" (§6), and what a host keeps of them does not grow.
    #[test]
    fn an_acceptor_keeps_two_instances() {
        let rules = FaTLease::build(&Default::default(), Mutants::none()).expect("the defaults make sense");
        let owner = NodeId(0);
        let mut acceptor = Acceptor::default();
        let mut attempt = Serial::before_first(Nonce::first(owner.0), owner.0);
        let mut sizes = Vec::new();
        for round in 1..=100 {
            attempt = attempt.next();
            let instance = Instance(round);
            let at = At { node: NodeId(1), now: Stamp::of_clock(i64::from(round) * Span::secs(5).0 as i64) };
            let ballot = Ballot { number: 1, host: owner, attempt };
            let lease = Lease { owner, end: at.now.plus(Span::secs(15)), asked: attempt };
            assert_eq!(acceptor.on_prepare(owner, ballot, instance, at, &rules), Answer::Ack(None));
            let before = acceptor.previous.map(|previous| previous.lease.asked);
            assert!(round == 1 || before.is_some_and(|asked| asked.next() == attempt), "the renewed lease is kept");
            assert_eq!(acceptor.on_accept(lease, instance, ballot, at, &rules), Answer::Accepted);
            let asked: std::collections::BTreeSet<_> = acceptor.held().map(|lease| lease.asked).collect();
            assert!(asked.len() <= 2, "leases of {} instances in {acceptor:?}", asked.len());
            sizes.push(encoding(&acceptor).len());
            assert_eq!(acceptor.on_learn(lease, instance, at, &rules), None);
            assert_eq!(acceptor.previous, None, "what is renewed is settled");
        }
        assert!(sizes.iter().all(|size| *size <= 80), "an acceptor takes {:?} bytes", sizes.iter().max());
    }
}
