//! Sizes, times, mutants.

use seedbed_model::{Family, Mutant, Mutants, Outcome, Span};
use serde::{Deserialize, Serialize};

use super::Paxos;

/// Acceptors answer before their record is durable.
pub const NO_DURABLE_PROMISE: &str = "no-durable-promise";
/// Proposers propose their own value whatever was accepted.
pub const IGNORE_ACCEPTED: &str = "ignore-accepted";
/// A quorum is one acceptor short of a majority.
pub const SMALL_QUORUM: &str = "small-quorum";
/// Acceptors accept what they promised not to.
pub const ACCEPT_BELOW_PROMISE: &str = "accept-below-promise";
/// Proposers that may propose anything propose what no client asked for.
pub const UNASKED_VALUE: &str = "unasked-value";
/// Servers tell their clients what they propose before anyone accepted it.
pub const HASTY_ANSWER: &str = "hasty-answer";
/// A client that asks when a value is chosen is told its own.
pub const OWN_ANSWER: &str = "own-answer";

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many servers: acceptors, proposers and learners in one. 2 to 9.
    pub servers: u16,
    /// How many clients, each with one value to propose. 1 to 50.
    pub clients: u16,
    /// The highest round of a ballot, and how many servers a client asks at most. At 1 nobody tries twice and no timer
    /// is ever set.
    pub rounds: u32,
    /// How long a proposer waits for a quorum before it tries again: one to `retry-slots` times this, at random.
    pub retry: Span,
    /// How many different waits there are, so that two proposers do not preempt each other for ever. At least 1.
    pub retry_slots: u32,
    /// How long a client waits for an answer.
    pub resend: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { servers: 3, clients: 2, rounds: 1, retry: Span::ticks(2), retry_slots: 1, resend: Span::ticks(4) }
    }
}

impl Family for Paxos {
    type Protocol = Paxos;
    type Params = Params;
    const NAME: &'static str = "paxos";
    const SUMMARY: &'static str = "single-decree Paxos with durable acceptors (Lamport 2001)";

    fn mutants() -> &'static [Mutant] {
        const FALLS: Outcome = Outcome::Falls("agreement");
        &[
            Mutant {
                name: NO_DURABLE_PROMISE,
                removes: "an acceptor's wait for its disk before it answers",
                outcome: FALLS,
            },
            Mutant {
                name: IGNORE_ACCEPTED,
                removes: "the rule that a proposer takes over the highest proposal its quorum accepted (§2.2, P2c)",
                outcome: FALLS,
            },
            Mutant { name: SMALL_QUORUM, removes: "the overlap of any two quorums, by one acceptor", outcome: FALLS },
            Mutant {
                name: ACCEPT_BELOW_PROMISE,
                removes: "an acceptor's refusal of proposals below its promise (§2.2, phase 2b)",
                outcome: FALLS,
            },
            Mutant {
                name: UNASKED_VALUE,
                removes: "the rule that what is proposed is what a client asked for (§2.1)",
                outcome: Outcome::Falls("validity"),
            },
            Mutant {
                name: HASTY_ANSWER,
                removes: "a proposer's wait for a quorum that accepted before it tells its clients (§2.3)",
                outcome: Outcome::Falls("integrity"),
            },
            Mutant {
                name: OWN_ANSWER,
                removes: "the chosen value from the answer to a client that asks later",
                outcome: Outcome::Falls("linearizable"),
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Paxos, String> {
        let Params { servers, clients, rounds, retry, retry_slots, resend } = params;
        if !(2..=9).contains(servers) || !(1..=50).contains(clients) {
            return Err(format!("{servers} servers and {clients} clients: 2 to 9 and 1 to 50 are possible"));
        }
        if *rounds == 0 || *retry_slots == 0 || *retry == Span::ZERO || *resend == Span::ZERO {
            return Err("rounds, retry, retry-slots and resend must be positive".into());
        }
        Ok(Paxos { params: params.clone(), mutants })
    }
}
