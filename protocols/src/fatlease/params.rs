//! Sizes and times.

use seedbed_model::{Family, Mutant, Mutants, Span};
use serde::{Deserialize, Serialize};

use super::FaTLease;
use super::mutants::MUTANTS;

/// Sizes and times. Where a count may be 0 for "any", a bound is what the explorer sees no further than.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// The protocol as repaired, or as it is printed; or the regular Paxos that it is measured against.
    pub variant: Variant,
    /// How many hosts. 1 to 63.
    pub hosts: u16,
    /// How many of them, the first ones, have clients that ask. At most `hosts`.
    pub askers: u16,
    /// How many resources. 1 to 60,000.
    pub cells: u16,
    /// v: how far ahead of its owner's clock a lease ends. Longer than `d-max`.
    pub lease: Span,
    /// d_max: how much any two clocks differ at most. At least twice `offset`, and `skew`.
    pub d_max: Span,
    /// Every clock is off by at most this, either way.
    pub offset: Span,
    /// Besides, a host's clock may be ahead by this.
    pub skew: Span,
    /// Whether a clock is ahead by `skew` from one reading to the next or not; else from a host's start on.
    pub skew_moves: bool,
    /// Whether goals count who meets: proposers and ballots of an instance, hosts that forgot, hosts that rejoined. The
    /// explorer then tells apart what differs in the counts alone.
    pub counts: bool,
    /// How many proposals a host has under way in a cell at most. A new one beyond gives up the oldest.
    pub proposers: u8,
    /// Ballot numbers are at most this. 0: any.
    pub ballots: u16,
    /// Proposals are in instances up to this. 0: any.
    pub instances: u32,
    /// A host's incarnation begins at most so many proposals. 0: any.
    pub attempts: u8,
    /// Whether clients ask at moments of their own: for the lease and, where said below, for the other operations.
    pub decisions: bool,
    /// Whether owners renew.
    pub renewals: bool,
    /// Whether owners invalidate.
    pub invalidations: bool,
    /// Whether hosts discard state that is no longer of use (§4.4).
    pub discards: bool,
    /// GET_LEASE begins so many rounds before it gives up (§5.1: seven). 1: none is begun anew, and nobody waits.
    pub rounds: u8,
    /// How long a round waits for a majority (§5.1: one second).
    pub response: Span,
    /// "Wait some time": this, once to `back-off-slots` times.
    pub back_off: Span,
    /// See `back-off`. At least 1.
    pub back_off_slots: u32,
    /// Clients ask for the lease of every cell again and again after this. 0: they do not.
    pub poll: Span,
    /// Regular Paxos alone: at most so many answers wait for one fsync. 0: any number. 1: each has its own.
    pub batch: u16,
    /// Regular Paxos alone: a write begins when `batch` answers wait for it, or so long after the first. 0s: at once.
    pub linger: Span,
    /// Regular Paxos alone: whether `answers-survive` is watched. A scenario that breaks durability on purpose may look at what
    /// comes of it instead.
    pub audit: bool,
    /// When an owner lost its lease, every host that keeps asking stops being told of it within less than this. 0: not asked.
    pub notice: Span,
    /// When the last fault is healed, every host that keeps asking knows a valid lease within less than this. 0: not asked.
    pub progress: Span,
}

/// Which text is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// As repaired. Mutants put printed lines back one by one.
    Repaired,
    /// As printed in §4.2 and §4.3: all printed lines at once.
    AsPublished,
    /// Regular Paxos for the same leases (§3, §5): acceptors write before they answer, and read back what they wrote.
    Paxos,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            variant: Variant::Repaired,
            hosts: 3,
            askers: 3,
            cells: 1,
            lease: Span::secs(15),
            d_max: Span::secs(1),
            offset: Span::millis(500),
            skew: Span::ZERO,
            skew_moves: false,
            counts: false,
            proposers: 1,
            ballots: 0,
            instances: 0,
            attempts: 0,
            decisions: true,
            renewals: true,
            invalidations: true,
            discards: true,
            rounds: 7,
            response: Span::secs(1),
            back_off: Span::millis(500),
            back_off_slots: 4,
            poll: Span::ZERO,
            batch: 0,
            linger: Span::ZERO,
            audit: true,
            notice: Span::ZERO,
            progress: Span::ZERO,
        }
    }
}

impl Params {
    fn check(&self) -> Result<(), String> {
        let sized = (1..=63).contains(&self.hosts) && (1..=self.hosts).contains(&self.askers);
        if !sized || !(1..=60_000).contains(&self.cells) {
            return Err("hosts must be 1 to 63, askers 1 to hosts, cells 1 to 60000".into());
        }
        if !(1..=8).contains(&self.proposers) || self.rounds == 0 || self.back_off_slots == 0 {
            return Err("proposers must be 1 to 8, rounds and back-off-slots positive".into());
        }
        if self.rounds > 1 && (self.response == Span::ZERO || self.back_off == Span::ZERO) {
            return Err("response and back-off must be positive where there is more than one round".into());
        }
        let differ = self.offset * 2 + self.skew;
        if differ > self.d_max {
            return Err(format!("d-max {} is too small: clocks differ by up to {differ}", self.d_max));
        }
        if self.lease <= self.d_max {
            return Err(format!("lease {} must be longer than d-max, {} (§4.1)", self.lease, self.d_max));
        }
        if self.variant == Variant::AsPublished && self.renewals {
            return Err("renewals are not in the printed pseudo-code (§4.3); write renewals = false".into());
        }
        self.check_disk()?;
        if self.poll == Span::ZERO && (self.notice > Span::ZERO || self.progress > Span::ZERO) {
            return Err("notice and progress are for hosts that keep asking; write a poll above 0s".into());
        }
        Ok(())
    }

    fn check_disk(&self) -> Result<(), String> {
        if self.variant != Variant::Paxos && (self.batch > 0 || self.linger > Span::ZERO) {
            return Err("batch and linger are for acceptors that write; write variant = \"paxos\"".into());
        }
        if self.variant == Variant::Paxos && self.discards {
            return Err("regular Paxos keeps what it promised for ever (§4.4); write discards = false".into());
        }
        if self.batch == 1 && self.linger > Span::ZERO {
            return Err("a linger waits for a second answer, which batch = 1 has no room for".into());
        }
        Ok(())
    }
}

impl Family for FaTLease {
    type Protocol = FaTLease;
    type Params = Params;
    const NAME: &'static str = "fatlease";
    const SUMMARY: &'static str =
        "lease negotiation by Paxos without persistent state, repaired and as published, and with it (FaTLease §4, §5)";

    fn mutants() -> &'static [Mutant] {
        MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<FaTLease, String> {
        params.check()?;
        Ok(FaTLease::new(params.clone(), mutants))
    }
}
