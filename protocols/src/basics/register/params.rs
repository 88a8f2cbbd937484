//! Sizes, times, mutants.

use seedbed_model::{Family, Mutant, Mutants, Outcome, Span};
use serde::{Deserialize, Serialize};

use super::Register;

/// Readers answer without storing back what they found.
pub const NO_WRITE_BACK: &str = "no-write-back";
/// A quorum is one server short of a majority.
pub const SMALL_QUORUM: &str = "small-quorum";
/// Writers do not ask for the versions there are.
pub const NO_QUERY: &str = "no-query";
/// Servers keep what they are given last, whatever its version.
pub const OVERWRITE: &str = "overwrite";
/// Servers acknowledge what is not durable yet.
pub const NO_DURABLE_COPY: &str = "no-durable-copy";

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many servers. 2 to 9.
    pub servers: u16,
    /// How many clients that write. 0 to 25.
    pub writers: u16,
    /// How many clients that read. 0 to 25.
    pub readers: u16,
    /// How often each writer writes.
    pub writes: u32,
    /// How often each reader reads.
    pub reads: u32,
    /// How often a client asks again in each round. At 0 no timer is ever set.
    pub resends: u32,
    /// How long it waits before.
    pub resend: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { servers: 3, writers: 1, readers: 1, writes: 1, reads: 2, resends: 0, resend: Span::ticks(4) }
    }
}

impl Family for Register {
    type Protocol = Register;
    type Params = Params;
    const NAME: &'static str = "register";
    const SUMMARY: &'static str = "a register kept by a majority of servers (Attiya, Bar-Noy, Dolev 1995)";

    fn mutants() -> &'static [Mutant] {
        const FALLS: Outcome = Outcome::Falls("linearizable");
        &[
            Mutant {
                name: NO_WRITE_BACK,
                removes: "a reader's second round, which stores back what it found",
                outcome: FALLS,
            },
            Mutant { name: SMALL_QUORUM, removes: "the overlap of any two quorums, by one server", outcome: FALLS },
            Mutant {
                name: NO_QUERY,
                removes: "a writer's first round, which finds the versions there are",
                outcome: FALLS,
            },
            Mutant { name: OVERWRITE, removes: "a server's comparison of versions", outcome: FALLS },
            Mutant {
                name: NO_DURABLE_COPY,
                removes: "a server's wait for its disk before it acknowledges",
                outcome: FALLS,
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Register, String> {
        let Params { servers, writers, readers, resends, resend, .. } = params;
        if !(2..=9).contains(servers) || *writers > 25 || *readers > 25 || writers + readers == 0 {
            return Err(format!(
                "{servers} servers, {writers} writers, {readers} readers: 2 to 9, 0 to 25 and 0 to 25 are possible, and at least one client"
            ));
        }
        if *resends > 0 && *resend == Span::ZERO {
            return Err("resend must be positive".into());
        }
        Ok(Register { params: params.clone(), mutants })
    }
}
