//! The switches: mechanisms left out, and printed lines put back. [`super::Variant::AsPublished`] puts all printed lines
//! back at once.

use seedbed_model::{Mutant, Outcome};

/// INITIATE_CONSENSUS 9: p_l takes over what an OUTDATED says.
pub const OUTDATED_OVERWRITES: &str = "printed-outdated-overwrites";
/// INITIATE_CONSENSUS 10, 14, 35: λ is proposed anew as it is, though line 22 may have changed it.
pub const RETRIED_LEASE: &str = "printed-retried-lease";
/// INITIATE_CONSENSUS 20, PREPARE 15 and 18: answers bear the ballot promised, not the one of λ_acc.
pub const SINGLE_BALLOT: &str = "printed-single-ballot";
/// INITIATE_CONSENSUS 21: b ← p.b.
pub const BALLOT_FROM_ANSWER: &str = "printed-ballot-from-answer";
/// INITIATE_CONSENSUS 22: λ_acc is proposed whether it is over or not.
pub const PROPOSES_WHAT_IS_OVER: &str = "printed-proposes-what-is-over";
/// INITIATE_CONSENSUS 29: p_l ← (λ, λ, b, i), whatever the acceptor did meanwhile.
pub const SUCCESS_OVERWRITES: &str = "printed-success-overwrites";
/// PREPARE 3: OUTDATED only if λ_lrn = ⊥.
pub const OUTDATED_IF_INCOMPLETE: &str = "printed-outdated-if-incomplete";
/// PREPARE 3, as the text reads: OUTDATED only if λ_lrn ≠ ⊥.
pub const OUTDATED_IF_COMPLETE: &str = "text-outdated-if-complete";
/// PREPARE 7 to 9: a newer instance is begun whatever the older one holds.
pub const PREPARE_JUMPS: &str = "printed-prepare-jumps";
/// ACCEPT 31 to 33: likewise.
pub const ACCEPT_JUMPS: &str = "printed-accept-jumps";
/// ACCEPT 36: a lease is accepted though it is over.
pub const ACCEPT_OUTDATED: &str = "printed-accept-outdated";
/// ACCEPT 36 to 38: b stays as it was promised.
pub const ACCEPT_KEEPS_BALLOT: &str = "printed-accept-keeps-ballot";
/// ACCEPT 36 to 38: what was learned in an instance of that number stays.
pub const ACCEPT_KEEPS_LEARNED: &str = "printed-accept-keeps-learned";
/// LEARN 51: what was accepted otherwise in the instance stays.
pub const LEARN_KEEPS_ACCEPTED: &str = "printed-learn-keeps-accepted";
/// LEARN 46 to 48: a newer instance replaces the older one whatever that holds.
pub const LEARN_JUMPS: &str = "printed-learn-jumps";
/// LEARN 46 to 51: a lease is learned though it is over.
pub const LEARN_ANYTHING: &str = "printed-learn-anything";
/// INVALIDATE 7: INV names p_l.i after line 5 has raised it.
pub const INV_NUMBER: &str = "printed-inv-number";
/// INV 11 to 14: whatever is held in that instance or an earlier one goes.
pub const INV_TAKES_ANY: &str = "printed-inv-takes-any";
/// CHECK_LOCAL_STATE 29, 39, 41: a lease is valid at its end too.
pub const VALID_AT_END: &str = "printed-valid-at-end";
/// §4.1: a host holds the latest instance alone.
pub const NO_PREVIOUS: &str = "no-previous-instance";
/// §4.4: state is discarded as soon as its lease is over.
pub const DISCARD_WHEN_OVER: &str = "printed-discard-when-over";
/// §4.4: a proposer that a majority rejected discards its state at once.
pub const REJECT_DISCARDS: &str = "printed-reject-discards";
/// §4.4: a host rejoins after v + d_max on its own clock.
pub const RECOVERY_SHORT: &str = "printed-recovery";

/// An acceptor never rejects.
pub const NO_REJECT: &str = "no-reject";
/// LEARN takes λ_acc along.
pub const LEARN_DROPS_ACCEPTED: &str = "learn-drops-accepted";
/// An old instance is answered with ACK.
pub const OLD_INSTANCE_ACKED: &str = "old-instance-acked";
/// INVALIDATE and INV forget that the lease may still be on its way.
pub const INVALIDATION_UNKEPT: &str = "invalidation-unkept";
/// Anyone invalidates.
pub const INVALIDATED_BY_OTHERS: &str = "invalidated-by-others";
/// A majority is half.
pub const HALF_IS_MAJORITY: &str = "half-is-majority";
/// A restarted host rejoins at once.
pub const NO_RECOVERY: &str = "no-recovery-wait";
/// A restarted host rejoins after v.
pub const RECOVERY_CUT: &str = "recovery-cut-to-v";
/// A lease is over when the own clock is past its end.
pub const OVER_WITHOUT_MARGIN: &str = "over-without-margin";
/// A lease is valid until the own clock is past its end.
pub const VALID_WITHOUT_MARGIN: &str = "valid-without-margin";

const fn mutant(name: &'static str, removes: &'static str, outcome: Outcome) -> Mutant {
    Mutant { name, removes, outcome }
}

const TWO_OWNERS: Outcome = Outcome::Falls("lease-invariant");

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(OUTDATED_OVERWRITES, "p_l left alone by an OUTDATED (INITIATE_CONSENSUS 9)", TWO_OWNERS),
    mutant(RETRIED_LEASE, "a lease of its own for each round (INITIATE_CONSENSUS 10, 14, 35)", TWO_OWNERS),
    mutant(SINGLE_BALLOT, "the ballot of λ_acc beside the one promised (PREPARE 15, 18)", TWO_OWNERS),
    mutant(BALLOT_FROM_ANSWER, "the proposer's own ballot in ACCEPT (INITIATE_CONSENSUS 21)", Outcome::Unreachable("adopted-decided")),
    mutant(PROPOSES_WHAT_IS_OVER, "the next instance where λ_acc is over (INITIATE_CONSENSUS 22)", TWO_OWNERS),
    mutant(SUCCESS_OVERWRITES, "learning by the rules of LEARN (INITIATE_CONSENSUS 29)", TWO_OWNERS),
    mutant(OUTDATED_IF_INCOMPLETE, "OUTDATED for every older instance (PREPARE 3)", TWO_OWNERS),
    mutant(OUTDATED_IF_COMPLETE, "OUTDATED for every older instance (PREPARE 3, read as the text)", TWO_OWNERS),
    mutant(PREPARE_JUMPS, "the reject rule at PREPARE (PREPARE 7 to 9)", TWO_OWNERS),
    mutant(ACCEPT_JUMPS, "the reject rule at ACCEPT (ACCEPT 31 to 33)", TWO_OWNERS),
    mutant(ACCEPT_OUTDATED, "the refusal of leases that are over (ACCEPT 36)", TWO_OWNERS),
    mutant(ACCEPT_KEEPS_BALLOT, "the raising of b by ACCEPT (ACCEPT 36 to 38)", TWO_OWNERS),
    mutant(ACCEPT_KEEPS_LEARNED, "the forgetting of what was learned before a vote of a new count (ACCEPT 36 to 38)", TWO_OWNERS),
    mutant(LEARN_KEEPS_ACCEPTED, "the forgetting of a vote for what was not chosen (LEARN 51)", TWO_OWNERS),
    mutant(LEARN_JUMPS, "the reject rule at LEARN (LEARN 46 to 48)", TWO_OWNERS),
    mutant(LEARN_ANYTHING, "the refusal to learn a lease that is over (LEARN 46 to 51)", TWO_OWNERS),
    mutant(INV_NUMBER, "the number of the instance that is given up (INVALIDATE 7)", TWO_OWNERS),
    mutant(INV_TAKES_ANY, "the lease that an INV speaks of (INV 11 to 14)", TWO_OWNERS),
    mutant(VALID_AT_END, "that a lease is over at its end (§4.1; CHECK_LOCAL_STATE 29, 39, 41)", TWO_OWNERS),
    mutant(NO_PREVIOUS, "the lease of the previous instance (§4.3, renew instances)", TWO_OWNERS),
    mutant(DISCARD_WHEN_OVER, "the keeping of promises when state is discarded (§4.4)", TWO_OWNERS),
    mutant(REJECT_DISCARDS, "the same when a majority rejects (§4.4)", TWO_OWNERS),
    mutant(RECOVERY_SHORT, "the second d_max of the recovery wait on the own clock (§4.4)", TWO_OWNERS),
    mutant(NO_REJECT, "the reject rule (§4.4)", TWO_OWNERS),
    mutant(LEARN_DROPS_ACCEPTED, "λ_acc when a lease is learned (LEARN 51)", TWO_OWNERS),
    mutant(OLD_INSTANCE_ACKED, "OUTDATED: an old instance is answered with ACK (PREPARE 3 to 5)", TWO_OWNERS),
    mutant(INVALIDATION_UNKEPT, "the keeping of what was invalidated (§4.3)", TWO_OWNERS),
    mutant(INVALIDATED_BY_OTHERS, "the check that the owner invalidates (INVALIDATE 2)", TWO_OWNERS),
    mutant(HALF_IS_MAJORITY, "the one above half that makes a majority (INITIATE_CONSENSUS 15, 27)", TWO_OWNERS),
    mutant(NO_RECOVERY, "the recovery wait (§4.4)", TWO_OWNERS),
    mutant(RECOVERY_CUT, "what the recovery wait is longer than v (§4.4)", TWO_OWNERS),
    mutant(OVER_WITHOUT_MARGIN, "the safety period behind a lease's end (CHECK_LOCAL_STATE 41)", TWO_OWNERS),
    mutant(
        VALID_WITHOUT_MARGIN,
        "the safety period before a lease's end (CHECK_LOCAL_STATE 38)",
        Outcome::Falls("told-valid"),
    ),
];
