//! A shrunk run without its types.

use seedbed_model::{ExactScript, Protocol, Replayed, Signature, Span, replay_exact};
use seedbed_sim::shrink::{self, Budget, Certain, Size};

use crate::pin::PinnedScript;
use crate::written;

/// Random continuations from each moment.
const CONTINUATION_COUNT: u32 = 100;

/// States that are searched from a moment, to say whether the fall can still be avoided.
const CERTAIN_STATES: usize = 3_000;

/// What a run was shrunk to, and what it shows.
#[derive(Debug, Clone)]
pub(crate) struct Shrunken {
    pub(crate) script: PinnedScript,
    pub(crate) replayed: Replayed,
    pub(crate) signature: Signature,
    pub(crate) before: Size,
    pub(crate) after: Size,
    pub(crate) tries: u64,
    pub(crate) is_minimal: bool,
    /// Which steps the fall hangs on.
    pub(crate) chain: Vec<bool>,
    /// What still goes wrong, in words, and whether the fall goes away without it.
    pub(crate) faults: Vec<(String, bool)>,
    /// `[k]`: how many of `continuation_count` random continuations fall too, after the first `k` steps.
    pub(crate) falls: Vec<u32>,
    pub(crate) continuation_count: u32,
    /// Since when the fall was certain, where the explorer can say.
    pub(crate) certain: Option<Certain>,
    /// Steps without which the run still falls: none in a minimal one.
    pub(crate) needless: Vec<usize>,
}

/// Shrinks. `tick` divides every span that a timer is set for.
pub(crate) fn shrink<P: Protocol>(
    protocol: &P,
    script: &ExactScript<P>,
    tick: Span,
    budget: Budget<'_>,
) -> Result<Shrunken, String> {
    let names = protocol.nodes();
    let shrunk = shrink::shrink(protocol, script, budget)?;
    let exact = replay_exact(protocol, &shrunk.script);
    let replayed = &exact.replayed;
    let chain = shrink::chain(protocol, &shrunk.script)?;
    let needless = shrink::needless(protocol, &shrunk)?;
    let words = |found: &shrink::Contribution| match (found.step, found.clock) {
        (Some(step), _) => replayed.trace.get(step).map(|step| step.what.clone()).unwrap_or_default(),
        (None, Some(node)) => format!("the clock of {}: {}", names[node.index()], shrunk.script.clocks[node.index()]),
        (None, None) => String::new(),
    };
    let faults = shrink::contributions(protocol, &shrunk)?.iter().map(|it| (words(it), it.is_needed)).collect();
    Ok(Shrunken {
        falls: shrink::continuations(protocol, &shrunk, CONTINUATION_COUNT)?,
        continuation_count: CONTINUATION_COUNT,
        certain: shrink::certain(protocol, &shrunk, tick, CERTAIN_STATES),
        script: written::pinned(protocol, &shrunk.script, &exact),
        chain,
        faults,
        needless: needless.iter().enumerate().filter(|(_, stays)| **stays).map(|(index, _)| index).collect(),
        signature: shrunk.signature,
        before: shrunk.before,
        after: shrunk.after,
        tries: shrunk.tries,
        is_minimal: shrunk.is_minimal,
        replayed: exact.replayed,
    })
}
