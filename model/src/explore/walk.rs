//! Single paths through the explorer's world: sampled walks, and whether a script is a path.

use super::Bounds;
use super::interned::{Initial, Work};
use super::pool::Id;
use super::walker::{Pick, Walker};
use crate::canonical::{Canonical, Encoder, encoding};
use crate::property::Violation;
use crate::protocol::Protocol;
use crate::script::{Script, ScriptStep};
use crate::time::{Shifting, Span};
use crate::world::{Choice, Named};

/// One path through the world as the explorer holds it, with names as they are (tags not ranked, nodes not permuted).
pub struct Walk<P: Protocol> {
    walker: Walker<P>,
    row: Work,
    options: Vec<Pick>,
    /// Since the start.
    elapsed: Span,
}

/// One way on.
pub struct Way<P: Protocol> {
    /// The step, and the losses of links that were full.
    pub steps: Vec<ScriptStep<P>>,
    /// The property that falls on it.
    pub violation: Option<Violation>,
    next: Work,
    elapsed: Span,
}

impl<P: Protocol> Walk<P> {
    /// A walk from the first initial state.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol.
    pub fn new(protocol: &P, bounds: &Bounds) -> Result<Self, String> {
        Self::at_start_of(protocol, bounds, &Script::new(Vec::new()))
    }

    /// A walk from the initial state that `script` starts from.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol, or it has no such initial state.
    pub fn at_start_of(protocol: &P, bounds: &Bounds, script: &Script<P>) -> Result<Self, String> {
        let walker = Walker::with_names(protocol, bounds, None)?;
        let offsets = if script.offsets.iter().all(|offset| *offset == 0) { &[][..] } else { &script.offsets };
        let starts =
            |drawn: &[u32]| drawn == script.starts || (script.starts.is_empty() && drawn.iter().all(|n| *n == 0));
        let is_start = |initial: &&Initial| walker.store.offsets(&initial.row) == offsets && starts(&initial.starts);
        let row = walker.initial.iter().find(is_start).map(|initial| initial.row.clone());
        let row = row.ok_or_else(|| {
            format!(
                "no run of these bounds starts with the clock offsets {offsets:?} and the draws {:?}",
                script.starts
            )
        })?;
        let mut walk = Walk { walker, row, options: Vec::new(), elapsed: Span::ZERO };
        walk.refresh();
        Ok(walk)
    }

    fn refresh(&mut self) {
        self.walker.store.reset(&self.row);
        self.walker.options(&mut self.options);
    }

    /// What can happen now.
    pub fn options(&self) -> Vec<Named<P>> {
        self.options.iter().map(|pick| self.walker.named(pick, self.elapsed)).collect()
    }

    /// Every way to take the `at`-th option: one for each combination of answers.
    pub fn ways(&mut self, at: usize) -> Vec<Way<P>> {
        let pick = self.options[at].clone();
        let mut ways = Vec::new();
        loop {
            self.walker.store.reset(&self.row);
            let named = self.walker.named(&pick, self.elapsed);
            self.walker.take(&pick);
            let elapsed = match &pick {
                Choice::Elapse(span) => self.elapsed + *span,
                _ => self.elapsed,
            };
            let steps = self.walker.script_steps(named, elapsed);
            let violation = self.walker.store.taken.violation.take();
            ways.push(Way { steps, violation, next: self.walker.store.work.clone(), elapsed });
            if !self.walker.store.odometer.advance() {
                return ways;
            }
        }
    }

    /// How long [ns] the message of the `at`-th option may still take, if it is about one and there is a limit.
    fn life(&self, at: usize) -> Option<u64> {
        match &self.options[at] {
            Choice::Deliver(flight) | Choice::Duplicate(flight) | Choice::Lose(flight) => {
                self.walker.store.flight(*flight).life
            }
            _ => None,
        }
    }

    /// Goes one of the [`Self::ways`].
    pub fn go(&mut self, way: &Way<P>) {
        self.row = way.next.clone();
        self.elapsed = way.elapsed;
        self.refresh();
    }

    /// The canonical encoding of what a plain world holds too: hosts, timers' ends and stamps relative to now,
    /// messages in flight in order. Two stores agree if these are equal. (The monitor is left out: the explorer's may fork.)
    pub fn snapshot(&mut self) -> Vec<u8> {
        self.walker.store.reset(&self.row);
        let store = &self.walker.store;
        let mut out = Encoder::whole();
        let mut shifting =
            Shifting { span: 0, floor: -(store.protocol.stamp_horizon().0 as i64) - store.bounds.tick.0 as i64 };
        for node in store.layout.node_ids() {
            let mut host = store.host(node);
            host.rename(&mut shifting);
            host.encode(&mut out);
            store.timers(self.row.fixed[usize::from(store.layout.timers[node.index()])]).encode(&mut out);
        }
        let shifted = |id: &Id| {
            let mut envelope = store.envelope(*id);
            envelope.rename(&mut Shifting { ..shifting });
            encoding(&envelope)
        };
        let mut flights: Vec<Vec<u8>> = self.row.flights.iter().map(shifted).collect();
        flights.sort_unstable();
        let mut bytes = out.bytes().to_vec();
        bytes.extend(flights.concat());
        bytes
    }
}

/// Whether `script` is a path of the explorer within `bounds`: each choice is on offer, with those answers.
///
/// # Errors
/// The first step that is not, and why.
pub fn accepts<P: Protocol>(protocol: &P, bounds: &Bounds, script: &Script<P>) -> Result<(), (usize, String)> {
    let mut walk = Walk::at_start_of(protocol, bounds, script).map_err(|why| (0, why))?;
    for (index, step) in script.steps.iter().enumerate() {
        // Of equal messages, the one with the least time left: whatever the others may still do, it may not.
        let named = |at: &usize| walk.walker.named(&walk.options[*at], walk.elapsed) == step.choice;
        let at = (0..walk.options.len()).filter(named).min_by_key(|at| walk.life(*at));
        let at = at.ok_or_else(|| (index, refusal(&walk, &step.choice)))?;
        let ways = walk.ways(at);
        let way = ways.iter().find(|way| way.steps.len() == 1 && way.steps[0].answers == step.answers);
        let way = way
            .ok_or_else(|| (index, format!("no way to take {:?} with the answers {:?}", step.choice, step.answers)))?;
        walk.go(way);
    }
    Ok(())
}

fn refusal<P: Protocol>(walk: &Walk<P>, choice: &Named<P>) -> String {
    match choice {
        Choice::Elapse(_) => "time may not pass: something due is not delivered yet".to_owned(),
        _ => format!("{choice:?} is not among the {} options", walk.options.len()),
    }
}
