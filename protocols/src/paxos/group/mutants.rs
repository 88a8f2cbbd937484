//! The switches: mechanisms left out.

use seedbed_model::{Mutant, Outcome};

/// A promise, and with it a grant, is answered before it is durable.
pub const UNSYNCED_PROMISE: &str = "unsynced-promise";
/// A vote is answered before it is durable.
pub const UNSYNCED_VOTE: &str = "unsynced-vote";
/// A restarted acceptor does not read its disk.
pub const NOTHING_READ_BACK: &str = "nothing-read-back";
/// A restarted acceptor grants the lease to whoever asks first.
pub const RESTART_GRANTS: &str = "restart-grants-at-once";
/// An acceptor grants the lease while another may have it.
pub const GRANT_WHILE_HELD: &str = "grant-while-held";
/// An acceptor accepts what it promised not to.
pub const ACCEPT_BELOW_PROMISE: &str = "accept-below-promise";
/// A leader's earlier bid replaces a later one that overtook it.
pub const OVERTAKEN_ACCEPTED: &str = "overtaken-accepted";
/// Two ballots of one number are promised one after the other.
pub const NUMBERS_TIE: &str = "numbers-tie";
/// A new leader does not write back what it reads.
pub const NO_WRITE_BACK: &str = "no-write-back";
/// A new leader takes nothing for the register.
pub const PRIOR_IGNORED: &str = "prior-ignored";
/// A new leader takes the first vote that it hears.
pub const PRIOR_OF_ANY: &str = "prior-of-any";
/// A candidate that failed leaves its grants to run out.
pub const NO_RELEASE: &str = "no-release";
/// A leader counts its lease from the receipt of the ruling.
pub const LEASE_FROM_RECEIPT: &str = "lease-from-receipt";
/// A leader leads on when its lease is over.
pub const OLD_LEADER_LEADS: &str = "old-leader-leads";
/// A server bids once.
pub const BIDS_ONCE: &str = "bids-once";
/// A majority is half.
pub const HALF_IS_MAJORITY: &str = "half-is-majority";

const fn mutant(name: &'static str, removes: &'static str, outcome: Outcome) -> Mutant {
    Mutant { name, removes, outcome }
}

const TWO_LEADERS: Outcome = Outcome::Falls("single-leader");
const OLD_READ: Outcome = Outcome::Falls("newest-read");

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(UNSYNCED_PROMISE, "the write before a promise and a grant are answered (FaTLease §3)", TWO_LEADERS),
    mutant(UNSYNCED_VOTE, "the write before a vote is answered (FaTLease §3)", OLD_READ),
    mutant(NOTHING_READ_BACK, "the reading of what was written, after a crash (FaTLease §3)", OLD_READ),
    mutant(RESTART_GRANTS, "the margin that a restarted acceptor waits for whom it promised", TWO_LEADERS),
    mutant(GRANT_WHILE_HELD, "the refusal while the lease is granted to another (Centrifuge Figure 3)", TWO_LEADERS),
    mutant(ACCEPT_BELOW_PROMISE, "the promise to accept nothing of smaller ballots (FaTLease §3)", TWO_LEADERS),
    mutant(OVERTAKEN_ACCEPTED, "the order of a leader's bids at acceptors", OLD_READ),
    mutant(NUMBERS_TIE, "one ballot for each number", Outcome::Falls("terms-grow")),
    mutant(NO_WRITE_BACK, "the second phase of an election (FaTLease §3)", OLD_READ),
    mutant(PRIOR_IGNORED, "the reading of the register by a new leader (Centrifuge §2.1.1)", OLD_READ),
    mutant(PRIOR_OF_ANY, "the largest of the votes that a new leader hears (FaTLease §3)", OLD_READ),
    mutant(NO_RELEASE, "the release of those that granted an election which fails", Outcome::Falls("led-again")),
    mutant(LEASE_FROM_RECEIPT, "the counting of the leader lease from the sending of the bid", TWO_LEADERS),
    mutant(OLD_LEADER_LEADS, "the end of the leader lease at the leader (Centrifuge §2.1.1)", TWO_LEADERS),
    mutant(
        BIDS_ONCE,
        "the periodic asking of standbys and renewing of leaders (Centrifuge §2.1.1)",
        Outcome::Falls("led-again"),
    ),
    mutant(HALF_IS_MAJORITY, "the one above half that makes a majority", TWO_LEADERS),
];
