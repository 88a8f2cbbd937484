//! Times and mutants.

use seedbed_model::{Family, Mutant, Mutants, Outcome, Span};
use serde::{Deserialize, Serialize};

use super::SeqPair;

/// Messages are not compared with what was sent or heard.
pub const NO_SEQUENCE_PAIRS: &str = "no-sequence-pairs";
/// Incarnations are not told apart.
pub const NO_NONCE: &str = "no-nonce";
/// The number of a dropped message counts as unheard.
pub const FORGET_DROPPED_NUMBER: &str = "forget-dropped-number";
/// What was dropped is sent anew at once.
pub const NO_BACK_OFF: &str = "no-back-off";

/// Times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// After a race a party waits for `back-off` times a random whole number below `back-off-slots`. More than a round
    /// trip, so that two parties in different slots do not race again.
    pub back_off: Span,
    /// How many slots. At least 1.
    pub back_off_slots: u32,
    /// After the last fault is healed, an exchange succeeds within this. Random back-off gives no certain bound: at `k`
    /// races in a row, each as long as the longest back-off and a round trip, it fails with odds of `slots` to the `-k`.
    pub progress: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { back_off: Span::secs(2), back_off_slots: 4, progress: Span::secs(200) }
    }
}

impl Family for SeqPair {
    type Protocol = SeqPair;
    type Params = Params;
    const NAME: &'static str = "seqpair";
    const SUMMARY: &'static str =
        "sequence-number pairs and nonces that keep crossed messages from being acted on (Centrifuge §2.3.2, PRS §4.3)";

    fn mutants() -> &'static [Mutant] {
        &[
            Mutant {
                name: NO_SEQUENCE_PAIRS,
                removes: "both comparisons of sequence numbers: with the latest sent, and with the latest heard (Centrifuge §2.3.2)",
                outcome: Outcome::Falls("in-context"),
            },
            Mutant {
                name: NO_NONCE,
                removes: "the nonces: numbers of different incarnations are compared (Centrifuge §2.3.2, last paragraph)",
                outcome: Outcome::Falls("in-context"),
            },
            Mutant {
                name: FORGET_DROPPED_NUMBER,
                removes: "the hearing of a dropped message's number (Centrifuge, Figure 7)",
                outcome: Outcome::Falls("progress-resumes"),
            },
            Mutant {
                name: NO_BACK_OFF,
                removes: "the random wait before a dropped message is sent anew (Centrifuge §2.3.2)",
                outcome: Outcome::Falls("progress-in-time"),
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<SeqPair, String> {
        if params.back_off_slots == 0 {
            return Err("back-off-slots is 0; a party needs at least 1 slot to wait in".into());
        }
        let round = params.back_off * u64::from(params.back_off_slots);
        if params.progress <= round {
            return Err(format!("progress {} leaves no time for one back-off of up to {round}", params.progress));
        }
        Ok(SeqPair { params: params.clone(), mutants })
    }
}
