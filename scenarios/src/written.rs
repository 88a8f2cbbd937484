//! Exact scripts as pinned files hold them, by name.

use seedbed_model::{ExactReplayed, ExactScript, ExactStep, NodeClock, Protocol, moves};
use seedbed_sim::NamedClock;

use crate::pin::{PinnedScript, PinnedStep};

/// A script as text, with what its replay shows the nodes to do.
pub(crate) fn pinned<P: Protocol>(protocol: &P, script: &ExactScript<P>, replayed: &ExactReplayed) -> PinnedScript {
    let names = protocol.nodes();
    let step = |(index, step): (usize, &ExactStep<P>)| PinnedStep {
        step: moves::text_of(&step.what, &names),
        answers: step.answers.clone(),
        lengths: step.lengths.clone(),
        does: replayed.does.get(index).cloned().unwrap_or_default(),
    };
    let odd = names.iter().zip(&script.clocks).filter(|(_, clock)| **clock != NodeClock::EXACT);
    PinnedScript {
        untimed: script.untimed,
        clocks: odd.map(|(node, clock)| NamedClock { node: node.clone(), clock: *clock }).collect(),
        steps: script.steps.iter().enumerate().map(step).collect(),
    }
}

/// A script up to the first step that cannot be read, and which that is and why.
pub(crate) type Read<P> = (ExactScript<P>, Option<(usize, String)>);

/// Reads a script.
///
/// # Errors
/// If it has the clock of a node that is not there.
pub(crate) fn read<P: Protocol>(protocol: &P, script: &PinnedScript) -> Result<Read<P>, String> {
    let names = protocol.nodes();
    let mut clocks = vec![NodeClock::EXACT; if script.clocks.is_empty() { 0 } else { names.len() }];
    for NamedClock { node, clock } in &script.clocks {
        let known = names.iter().position(|name| name == node);
        let index = known.ok_or_else(|| format!("a clock of `{node}`; the nodes are {}", names.join(", ")))?;
        clocks[index] = *clock;
    }
    let mut read = ExactScript { untimed: script.untimed, clocks, steps: Vec::new() };
    for (index, step) in script.steps.iter().enumerate() {
        match moves::move_of(&step.step, &names) {
            Ok(what) => {
                read.steps.push(ExactStep { what, answers: step.answers.clone(), lengths: step.lengths.clone() });
            }
            Err(why) => return Ok((read, Some((index, format!("the step can no longer be read: {why}"))))),
        }
    }
    Ok((read, None))
}
