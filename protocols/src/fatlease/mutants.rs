//! The switches: mechanisms left out, and printed lines put back. [`super::Variant::AsPublished`] puts all printed lines
//! back at once.
//!
//! # The pseudo-code, line by line
//!
//! Lines are counted as printed: INITIATE_CONSENSUS 1 to 36; PREPARE, ACCEPT and LEARN run on from 1 to 53; GET_LEASE and
//! CHECK_LOCAL_STATE from 1 to 48; INVALIDATE and INV from 1 to 15. "Falls" gives the property and the steps of a shortest way,
//! as the explorer counts them at the bound named (`scenarios/fatlease/check.toml`). A line that is not listed is as printed.
//!
//! | line | as printed | what is wrong | repaired | switch | result |
//! |---|---|---|---|---|---|
//! | INITIATE 9 | p_l ← (⊥, p.λ_acc, p.b, p.i) of an OUTDATED | the proposer takes over another acceptor's vote and drops its own, which may have completed a majority since it asked | p_l is the acceptor's: it moves when PREPARE arrives there | `printed-outdated-overwrites` | `lease-invariant`, 23, `renewal-invalidation` |
//! | INITIATE 10, 14, 35 | λ is proposed anew, though line 22 may have made it another's | another's lease gets into an instance its owner never asked for; the owner may have given it up | each round proposes a lease of its own | `printed-retried-lease` | `invalidated-unused`, 20, `invalidation` |
//! | INITIATE 20; PREPARE 15, 18, 21 | the answer bears p_l.b, just raised to the proposer's b | all answers tie, so that the largest λ_acc is any | λ_acc has its own ballot, and the answer bears that | `printed-single-ballot` | `lease-invariant`, 16, `ballots` |
//! | INITIATE 21 | b ← p.b | in print it changes nothing, as p.b is b; with the ballot of λ_acc the proposer falls below its own promises | b stays | `printed-ballot-from-answer` | `adopted-decided` is never reached, `ballots` |
//! | INITIATE 22 | λ ← p.λ_acc, over or not | acceptors that refuse what is over never let the instance end | on to the next instance when λ_acc is over on every clock | `printed-proposes-what-is-over` | `progress`, in the simulator |
//! | INITIATE 29 | p_l ← (λ, λ, b, i) | a late majority overwrites what the own acceptor has voted for since, in a later instance | the proposer learns as anyone does | `printed-success-overwrites` | `lease-invariant`, 21, `late` |
//! | PREPARE 3 | OUTDATED if i < p_l.i ∧ λ_lrn = ⊥ | a proposer of an old instance gets ACK where the new one is complete | OUTDATED whenever i < p_l.i | `printed-outdated-if-incomplete` | harmless: ACCEPT 28 refuses it |
//! | PREPARE 3, as the text reads | … ∧ λ_lrn ≠ ⊥ | the same where the new one is not complete | the same | `text-outdated-if-complete` | `not-forgotten`, 19, `invalidation-overtaken`: who gave up its lease acknowledges its instance to the next owner, which then learns the lease given up |
//! | PREPARE 7 to 9 | p_l ← (⊥, ⊥, b, i) for a larger i | a lease that is valid is forgotten, by its owner too | the reject rule (§4.4), and the previous lease is kept (§4.3) | `printed-prepare-jumps` | `not-forgotten`, 10, `renewal` |
//! | ACCEPT 31 to 33 | p_l ← (⊥, λ, b, i) for a larger i | the same without a PREPARE | the same | `printed-accept-jumps` | nothing: who sends an ACCEPT has a majority of promises, which the majority of a valid lease refuses at PREPARE |
//! | ACCEPT 36 to 38 | λ_acc ← λ, b stays | a proposer below the vote finds it, above it does not | b is raised | `printed-accept-keeps-ballot` | `lease-invariant`, 16, `ballots` |
//! | ACCEPT 36 | any λ is accepted | a message from before everything was forgotten is a vote in an instance that began anew | not what is past on the own clock | `printed-accept-outdated` | `lease-invariant`, 22, `late-vote-after-crash` |
//! | ACCEPT 36 to 38 | λ_lrn stays | what was learned in an instance of that number hides a vote of the new count, if votes are believed settled by it | no vote for another while it may be valid, else λ_lrn ← ⊥ | `printed-accept-keeps-learned` | harmless: votes count by themselves. Without the refusal, λ_lrn ← ⊥ is worse than the print: `accept-forgets-learned` falls |
//! | LEARN 46 to 48 | p_l ← (λ, ⊥, 0, i) for a larger i | a valid lease of before is forgotten | the reject rule. λ_acc = ⊥ and b = 0 stand: the acceptor never voted there | `printed-learn-jumps` | harmless: what is chosen there was let through by a majority |
//! | LEARN 46 to 51 | any λ is learned | as at ACCEPT | not what is past on the own clock | `printed-learn-anything` | `not-forgotten`, 17, `discard-late` |
//! | LEARN 51 | λ_acc stays | a vote that was not chosen rejects the owner's renewal | it is forgotten if it is another | `printed-learn-keeps-accepted` | harmless: a renewal waits |
//! | CHECK 29, 39, 41 | valid while c ≤ t | at c = t a lease is valid though v has passed since it was asked for, which is when a crashed host may be back | c < t (§4.1) | `printed-valid-at-end` | `restart-forgets`, 20, `crash` |
//! | INVALIDATE 5, 7 | p_l.i is raised, then INV(p_l.i) is sent | others give up the instance after | INV names the instance given up | `printed-inv-number` | harmless once INV names the lease too; one line more is one instance skipped |
//! | INV 11 to 14 | whatever is held goes | a late INV takes a valid lease of another owner | only the lease it names | `printed-inv-takes-any` | `not-forgotten`, 18, `invalidation-discard-late`: numbers began anew, and an INV of before names them |
//! | §4.1 | p_k is the latest instance | a renewing owner does not know its own lease, others may propose in the renew instance | the lease of the previous instance is kept | `no-previous-instance` | `not-forgotten`, 10, `renewal` |
//! | §4.4 | state is discarded when its lease is over | a promise has no lease, and goes at once | kept for v + 2 d_max | `printed-discard-when-over` | `lease-invariant`, 14, `discard` |
//! | §4.4 | a rejected proposer "can safely discard its local state" | its acceptor's votes for others go too | if it may be discarded | `printed-reject-discards` | not seen to fall at `discard`, `renewal-discard` nor in the simulator. A way to two owners is known, with three proposers: rejects that were sent before a majority's owner renewed into the rejected number arrive when the proposer's acceptor has voted there |
//! | §4.4 | rejoin after v + d_max | on a clock that moves by d_max the wait is v, and the lease lasts v + d_max | v + 2 d_max on the own clock | `printed-recovery` | `restart-forgets`, 20, `moving-crash`; harmless at fixed differences |
//!
//! # All printed lines at once
//!
//! What the explorer finds of `variant = "as-published"`, one bound and one pinned run each (`scenarios/fatlease/pinned`), shortest first in
//! each: the lines that make it, and what the repaired protocol does instead.
//!
//! | bound | falls | lines | instead |
//! |---|---|---|---|
//! | `as-published` | `lease-invariant`, 16 | INITIATE 20, PREPARE 15 and 18: a proposer takes its own vote for the largest, as all answers bear one ballot | a vote bears the ballot it was made under |
//! | `as-published-discard` | `lease-invariant`, 14 | §4.4: a host with a promise and no lease forgets the promise, and votes under a lower ballot | a promise is kept for v + 2 d_max |
//! | `as-published-instances` | `lease-invariant`, 27 | INITIATE 22 and 29: who completes a lease that is over overwrites its vote in the next instance | what is over is not proposed; a decision is learned as LEARN is |
//! | `as-published-invalidation` | `not-forgotten`, 18 | INVALIDATE 7: who hears INV skips an instance; PREPARE 7 to 9: its PREPARE takes the valid lease there | INV names the instance that is given up; the reject rule |
//! | `as-published-invalidation-late` | `not-forgotten`, 19 | INVALIDATE 7, INV 11 to 14: a late INV takes another owner's lease | INV takes the lease that it names |
//! | `as-published-crash` | `restart-forgets`, 19 | CHECK 29: at c = t a host that is back completes what it asked for before | a lease is over at its end |
//! | `as-published-crash-late` | `restart-forgets` and `lease-invariant`, 17 | ACCEPT 36, CHECK 29: an acceptor that is back votes twice at c = t for proposals whose promises it forgot | what is past its end is not accepted |
//! | `as-published-notice` | `loss-noticed`, 16 | CHECK 39: at c = t hosts are still told of a lease that was lost | a lease is over at its end |
//!
//! It falls too wherever the file's table of pairs has a star: for each two features that print has, at a bound at which the
//! repaired protocol holds.
//!
//! # Regular Paxos
//!
//! Each mechanism of `variant = "paxos"` beyond FaTLease's has a mutant too. `answers-survive` falls as soon as a host reads
//! back less than it has answered; that two owners may come of it shows the scenario `paxos-empty-disk`. A torn tail taken for
//! a record has no mutant: recovery cuts it off below the protocol.

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
/// A vote for another lease in the instance makes an acceptor forget the one that it learned there.
pub const ACCEPT_FORGETS_LEARNED: &str = "accept-forgets-learned";
/// A renewal may end before the lease that it renews.
pub const RENEWAL_SHORTENS: &str = "renewal-shortens";
/// An acceptor lets others pass as soon as its own host's lease is over.
pub const OWN_OVER_AT_END: &str = "own-over-at-end";
/// Another's lease is valid whatever the own clock shows.
pub const TOLD_FOR_EVER: &str = "told-for-ever";
/// A host never forgets what is over.
pub const NEVER_DISCARDS: &str = "never-discards";
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

/// Regular Paxos: ACK to PREPARE leaves before the promise is durable.
pub const UNSYNCED_PROMISE: &str = "answer-before-promise-durable";
/// Regular Paxos: ACK to ACCEPT leaves before the vote is durable.
pub const UNSYNCED_VOTE: &str = "answer-before-vote-durable";
/// Regular Paxos: a proposer counts its own acceptor before that cannot forget.
pub const OWN_UNSYNCED: &str = "own-answer-before-durable";
/// Regular Paxos: answers leave with the write under way, though their states go into the next.
pub const EARLIER_BATCH: &str = "answer-with-earlier-batch";
/// Regular Paxos: a restarted host does not read its disk.
pub const NOTHING_READ_BACK: &str = "nothing-read-back";
/// Regular Paxos: a restarted host uses a lease of before.
pub const RESTART_USES_LEASE: &str = "restart-uses-lease";

const fn mutant(name: &'static str, removes: &'static str, outcome: Outcome) -> Mutant {
    Mutant { name, removes, outcome }
}

const TWO_OWNERS: Outcome = Outcome::Falls("lease-invariant");
const FORGOTTEN: Outcome = Outcome::Falls("not-forgotten");
const OLD_LEASE: Outcome = Outcome::Falls("restart-forgets");
const GIVEN_UP: Outcome = Outcome::Falls("invalidated-unused");
const ANSWER_LOST: Outcome = Outcome::Falls("answers-survive");
/// ACCEPT refuses every older instance, and nothing falls at the bounds; over many rounds a host that is not told what it
/// missed forgets what is valid (scenario `give-up`).
const NOT_TOLD: Outcome = FORGOTTEN;
const ANOTHER_CHECK: Outcome = Outcome::Harmless(
    "ACCEPT refuses every older instance, so no lease comes of such an ACK; but the host that sent it is not told what it missed",
);

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(OUTDATED_OVERWRITES, "p_l left alone by an OUTDATED (INITIATE_CONSENSUS 9)", TWO_OWNERS),
    mutant(RETRIED_LEASE, "a lease of its own for each round (INITIATE_CONSENSUS 10, 14, 35)", GIVEN_UP),
    mutant(SINGLE_BALLOT, "the ballot of λ_acc beside the one promised (PREPARE 15, 18)", TWO_OWNERS),
    mutant(
        BALLOT_FROM_ANSWER,
        "the proposer's own ballot in ACCEPT (INITIATE_CONSENSUS 21)",
        Outcome::Unreachable("adopted-decided"),
    ),
    mutant(
        PROPOSES_WHAT_IS_OVER,
        "the next instance where λ_acc is over (INITIATE_CONSENSUS 22)",
        Outcome::Falls("progress"),
    ),
    mutant(SUCCESS_OVERWRITES, "learning by the rules of LEARN (INITIATE_CONSENSUS 29)", TWO_OWNERS),
    mutant(OUTDATED_IF_INCOMPLETE, "OUTDATED for every older instance (PREPARE 3)", ANOTHER_CHECK),
    mutant(OUTDATED_IF_COMPLETE, "OUTDATED for every older instance (PREPARE 3, read as the text)", NOT_TOLD),
    mutant(PREPARE_JUMPS, "the reject rule at PREPARE (PREPARE 7 to 9)", FORGOTTEN),
    mutant(
        ACCEPT_JUMPS,
        "the reject rule at ACCEPT (ACCEPT 31 to 33)",
        Outcome::Harmless(
            "who sends an ACCEPT has a majority of promises, which the majority of a valid lease refuses at PREPARE",
        ),
    ),
    mutant(ACCEPT_OUTDATED, "the refusal of leases that are over (ACCEPT 36)", TWO_OWNERS),
    mutant(ACCEPT_KEEPS_BALLOT, "the raising of b by ACCEPT (ACCEPT 36 to 38)", TWO_OWNERS),
    mutant(
        ACCEPT_KEEPS_LEARNED,
        "the forgetting of what was learned before a vote of a new count (ACCEPT 36 to 38)",
        Outcome::Harmless("a vote is held apart from what was learned, and rejects by itself"),
    ),
    mutant(
        LEARN_KEEPS_ACCEPTED,
        "the forgetting of a vote for what was not chosen (LEARN 51)",
        Outcome::Harmless("it makes the acceptor reject the owner's renewal until that vote is over, no more"),
    ),
    mutant(
        LEARN_JUMPS,
        "the reject rule at LEARN (LEARN 46 to 48)",
        Outcome::Harmless("what is learned was let through by a majority, which holds no other lease that is valid"),
    ),
    mutant(LEARN_ANYTHING, "the refusal to learn a lease that is over (LEARN 46 to 51)", FORGOTTEN),
    mutant(
        INV_NUMBER,
        "the number of the instance that is given up (INVALIDATE 7)",
        Outcome::Harmless("an INV takes only leases that end no later than the one it names"),
    ),
    mutant(INV_TAKES_ANY, "the lease that an INV speaks of (INV 11 to 14)", FORGOTTEN),
    mutant(VALID_AT_END, "that a lease is over at its end (§4.1; CHECK_LOCAL_STATE 29, 39, 41)", OLD_LEASE),
    mutant(NO_PREVIOUS, "the lease of the previous instance (§4.3, renew instances)", FORGOTTEN),
    mutant(DISCARD_WHEN_OVER, "the keeping of promises when state is discarded (§4.4)", TWO_OWNERS),
    mutant(
        REJECT_DISCARDS,
        "the same when a majority rejects (§4.4)",
        // Not seen to fall in FaTLease: it takes three proposers, a majority that began anew, and a renewal into the number that
        // it rejects. In regular Paxos a promise is forgotten that was answered.
        ANSWER_LOST,
    ),
    mutant(RECOVERY_SHORT, "the second d_max of the recovery wait on the own clock (§4.4)", OLD_LEASE),
    mutant(NO_REJECT, "the reject rule (§4.4)", TWO_OWNERS),
    mutant(LEARN_DROPS_ACCEPTED, "λ_acc when a lease is learned (LEARN 51)", TWO_OWNERS),
    mutant(
        ACCEPT_FORGETS_LEARNED,
        "the refusal of votes for another lease than the valid one learned in the instance (ACCEPT 36 to 38)",
        FORGOTTEN,
    ),
    mutant(RENEWAL_SHORTENS, "that a renewal ends after the lease that it renews (§4.3: no gap)", FORGOTTEN),
    mutant(OWN_OVER_AT_END, "the safety period before the owner's acceptor lets others pass (§4.4)", TWO_OWNERS),
    mutant(TOLD_FOR_EVER, "the end of another's lease (CHECK_LOCAL_STATE 38)", Outcome::Falls("loss-noticed")),
    mutant(
        NEVER_DISCARDS,
        "the discarding of state, by which numbers begin anew before they run out (§4.4)",
        Outcome::Falls("decided"),
    ),
    mutant(OLD_INSTANCE_ACKED, "OUTDATED: an old instance is answered with ACK (PREPARE 3 to 5)", NOT_TOLD),
    mutant(INVALIDATION_UNKEPT, "the keeping of what was invalidated (§4.3)", GIVEN_UP),
    mutant(INVALIDATED_BY_OTHERS, "the check that the owner invalidates (INVALIDATE 2)", GIVEN_UP),
    mutant(HALF_IS_MAJORITY, "the one above half that makes a majority (INITIATE_CONSENSUS 15, 27)", TWO_OWNERS),
    mutant(NO_RECOVERY, "the recovery wait (§4.4)", OLD_LEASE),
    mutant(RECOVERY_CUT, "what the recovery wait is longer than v (§4.4)", OLD_LEASE),
    mutant(OVER_WITHOUT_MARGIN, "the safety period behind a lease's end (CHECK_LOCAL_STATE 41)", TWO_OWNERS),
    mutant(
        VALID_WITHOUT_MARGIN,
        "the safety period before a lease's end (CHECK_LOCAL_STATE 38)",
        Outcome::Falls("told-valid"),
    ),
    mutant(UNSYNCED_PROMISE, "the write before a promise is answered (§3, regular Paxos)", ANSWER_LOST),
    mutant(UNSYNCED_VOTE, "the write before an acceptance is answered (§3, regular Paxos)", ANSWER_LOST),
    mutant(OWN_UNSYNCED, "the write before the own proposer counts its acceptor (§3, regular Paxos)", ANSWER_LOST),
    mutant(EARLIER_BATCH, "the fsync of an answer's own batch (§5, regular Paxos)", ANSWER_LOST),
    mutant(NOTHING_READ_BACK, "the reading of what was written, after a crash (§3, regular Paxos)", ANSWER_LOST),
    mutant(RESTART_USES_LEASE, "the asking anew for a lease that was read back (§6, regular Paxos)", OLD_LEASE),
];
