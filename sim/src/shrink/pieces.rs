//! Steps that know where their messages came from.

use std::collections::BTreeMap;
use std::rc::Rc;

use derive_where::derive_where;
use seedbed_model::exact::Origin;
use seedbed_model::{Choice, ExactScript, ExactStep, Local, Move, NodeId, Playback, Protocol};

use super::limits::{Limits, Observed};

/// A step with a name that it keeps when others are left out.
#[derive_where(Debug, Clone)]
pub(crate) struct Piece<P: Protocol> {
    /// Distinct in a run; counted from 1.
    pub(crate) id: u32,
    pub(crate) step: ExactStep<P>,
    /// For a message that arrives or is lost: the piece that sent it, and which of its messages it is.
    pub(crate) origin: Option<Origin>,
}

/// Pieces in their order; runs share them.
pub(crate) type Pieces<P> = Vec<Rc<Piece<P>>>;

impl<P: Protocol> Piece<P> {
    /// Where it happens.
    pub(crate) fn node(&self) -> Option<NodeId> {
        match self.step.choice()? {
            Choice::Deliver(envelope) | Choice::Duplicate(envelope) => Some(envelope.to),
            Choice::At(node, _) => Some(*node),
            _ => None,
        }
    }

    /// Whether the passing of time.
    pub(crate) fn is_time(&self) -> bool {
        matches!(self.step.choice(), Some(Choice::Elapse(_)))
    }

    /// Whether something goes wrong with it around the nodes.
    pub(crate) fn is_fault(&self) -> bool {
        match self.step.choice() {
            Some(Choice::Duplicate(_) | Choice::Lose(_) | Choice::Cut(..)) => true,
            Some(Choice::At(_, local)) => matches!(
                local,
                Local::Crash(_) | Local::Tear(..) | Local::Erase | Local::Corrupt(..) | Local::Pause | Local::Jump(_)
            ),
            _ => false,
        }
    }

    /// Whether it ends what a fault at its node began.
    pub(crate) fn is_repair(&self) -> bool {
        matches!(self.step.choice(), Some(Choice::At(_, Local::Restart | Local::Resume) | Choice::Heal(..)))
    }

    /// Whether its node starts for the first time.
    pub(crate) fn is_start(&self) -> bool {
        matches!(self.step.choice(), Some(Choice::At(_, Local::Start)))
    }
}

/// The pieces of a script as it happens, and what its world kept to.
///
/// # Errors
/// If a step cannot happen.
pub(crate) fn read<P: Protocol>(protocol: &P, script: &ExactScript<P>) -> Result<(Pieces<P>, Limits), String> {
    let mut playback = Playback::new(protocol, script.untimed, &script.clocks);
    let mut observed = Observed::default();
    // Which piece a step's number stands for: every step is taken, so they are the same.
    let mut pieces = Vec::new();
    for (index, step) in script.steps.iter().enumerate() {
        let origin = origin(&playback, &step.what);
        playback.world.driver.aim = origin;
        observed.before(&playback, step);
        playback.take(step).map_err(|refused| format!("step {}: {refused}", index + 1))?;
        observed.after(&mut playback, step);
        pieces.push(Rc::new(Piece { id: index as u32 + 1, step: step.clone(), origin }));
        if !playback.world.violations.is_empty() {
            break;
        }
    }
    Ok((pieces, observed.limits))
}

/// All pieces but one.
pub(crate) fn without<P: Protocol>(pieces: &[Rc<Piece<P>>], left: usize) -> Pieces<P> {
    let mut rest = pieces.to_vec();
    rest.remove(left);
    rest
}

/// The message that is meant: of several alike, the one sent first.
fn origin<P: Protocol>(playback: &Playback<P>, what: &Move<P>) -> Option<Origin> {
    let Move::Choice(Choice::Deliver(envelope) | Choice::Duplicate(envelope) | Choice::Lose(envelope)) = what else {
        return None;
    };
    let flight: &BTreeMap<_, _> = &playback.world.driver.flight;
    flight.iter().find(|(_, flying)| flying.envelope == *envelope).map(|(origin, _)| *origin)
}
