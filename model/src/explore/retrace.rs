//! The way to a violation, walked again over rows whose names are not canonical.
//!
//! A message that acts as another does was exchanged for it in the search, and stayed exchanged even where its receiver went
//! down and nothing more can be said of it. A walk over rows with their own names keeps the message, so that a plain world
//! finds it in flight, and remembers what it stands for.

use super::interned::{Flight, Initial, Work};
use super::search::Fall;
use super::walker::Walker;
use crate::plain::Envelope;
use crate::property::Violation;
use crate::protocol::{Protocol, Relevance};
use crate::script::{Script, ScriptStep};
use crate::time::Span;
use crate::world::Choice;

/// Whether a path is walked over rows whose names are kept, so that its script runs in a plain world.
#[derive(Clone, Copy, PartialEq)]
enum Names {
    AsTheyAre,
    Renamed,
}

/// Messages in flight, each with the one it was exchanged for in the search.
type StandsFor<M> = Vec<(Envelope<M>, Envelope<M>)>;

impl<P: Protocol> Walker<P> {
    /// The script of the way to `fall`, and the step from which it repeats for ever, if it does. `None` if the way cannot be
    /// walked again, which is a defect of the search: what it says of a fall then proves nothing.
    pub(super) fn counterexample(&mut self, fall: &Fall) -> Option<(Script<P>, Option<usize>)> {
        // A protocol that breaks the rule of `Tag` can have a path that exists under renaming alone. Then the names of the
        // script are the renamed ones: better a script that drifts than none.
        let named = self.walk_path(fall, Names::AsTheyAre);
        named.or_else(|| self.walk_path(fall, Names::Renamed))
    }

    fn walk_path(&mut self, fall: &Fall, names: Names) -> Option<(Script<P>, Option<usize>)> {
        self.store.keep_names(names == Names::AsTheyAre);
        let (mut row, starts) = self.first_row(fall.path[0], names)?;
        let mut script = self.script_from(&row, starts);
        let mut stands_for = StandsFor::new();
        let way = fall.path[1..].iter().map(|fingerprint| (*fingerprint, None));
        let cycle = fall.cycle.iter().flatten().map(|turn| (turn.fingerprint, Some(turn.action)));
        let mut repeats_from = None;
        for (at, (goal, action)) in way.chain(cycle).enumerate() {
            if at + 1 == fall.path.len() {
                repeats_from = Some(script.steps.len());
            }
            let lands = |landed, violation: Option<&Violation>| violation.is_none() && landed == goal;
            let (steps, next) = self.step_to(&row, elapsed_in(&script), names, &stands_for, action, lands)?;
            script.steps.extend(steps);
            row = next;
            if names == Names::AsTheyAre {
                stands_for = self.exchanged(&row, &stands_for);
            }
        }
        if !fall.in_state {
            let falls =
                |_, violation: Option<&Violation>| violation.is_some_and(|v| v.property == fall.violation.property);
            script.steps.extend(self.step_to(&row, elapsed_in(&script), names, &stands_for, None, falls)?.0);
        }
        let ends = fall.cycle.is_some().then_some(script.steps.len());
        Some((script, repeats_from.or(ends)))
    }

    fn first_row(&mut self, goal: u64, names: Names) -> Option<(Work, Vec<u32>)> {
        for Initial { row, starts, .. } in self.initial.clone() {
            self.store.reset(&row);
            if self.begin_row().fingerprint == goal {
                let row = if names == Names::AsTheyAre { row } else { self.store.work.clone() };
                return Some((row, starts));
            }
        }
        None
    }

    /// Exchanges the messages of the row being worked on for what they stand for.
    fn exchange(&mut self, stands_for: &StandsFor<P::Message>) {
        for at in 0..self.store.work.flights.len() {
            let flight = self.store.decode_flight(self.store.work.flights[at]);
            if let Some((_, other)) = stands_for.iter().find(|(message, _)| *message == flight.envelope) {
                let other = self.store.intern_flight(Flight { envelope: other.clone(), life: flight.life });
                self.store.replace_flight(at, other);
            }
        }
    }

    /// What the messages of `row` stand for now, of which those of `before` stood for something already.
    fn exchanged(&mut self, row: &Work, before: &StandsFor<P::Message>) -> StandsFor<P::Message> {
        self.store.reset(row);
        self.exchange(before);
        let mut stands_for = StandsFor::new();
        for at in 0..row.flights.len() {
            let known = self.store.work.flights[at];
            let other = match self.store.relevance(known) {
                Relevance::Same(other) => other,
                _ => known,
            };
            let (message, other) = (self.store.envelope(row.flights[at]), self.store.envelope(other));
            if message != other {
                stands_for.push((message, other));
            }
        }
        stands_for
    }

    /// The first way on from `row` that takes `action`, if one is given, and that `wanted` accepts; and the row it leads to.
    fn step_to(
        &mut self,
        row: &Work,
        elapsed: Span,
        names: Names,
        stands_for: &StandsFor<P::Message>,
        action: Option<u32>,
        wanted: impl Fn(u64, Option<&Violation>) -> bool,
    ) -> Option<(Vec<ScriptStep<P>>, Work)> {
        let walker = self;
        let mut options = Vec::new();
        // The search or the step before may have stopped in the middle of a choice's ways.
        walker.store.odometer.restart();
        walker.store.reset(row);
        walker.options(&mut options);
        for pick in &options {
            if action.is_some_and(|action| walker.store.action_of(pick) != action) {
                continue;
            }
            loop {
                walker.store.reset(row);
                let named = walker.named(pick, elapsed);
                walker.take(pick);
                let steps = walker.script_steps(named, elapsed);
                let violation = walker.store.taken.violation.take();
                walker.store.drop_dead(false, None);
                let kept = walker.store.work.clone();
                walker.exchange(stands_for);
                walker.store.work.tags_changed = true;
                let landed = if violation.is_none() { walker.canonize().fingerprint } else { 0 };
                if wanted(landed, violation.as_ref()) {
                    let next = if names == Names::AsTheyAre { kept } else { walker.store.work.clone() };
                    return Some((steps, next));
                }
                if !walker.store.odometer.advance() {
                    break;
                }
            }
        }
        None
    }
}

/// How much time passes in a script.
fn elapsed_in<P: Protocol>(script: &Script<P>) -> Span {
    script.steps.iter().fold(Span::ZERO, |sum, step| match &step.choice {
        Choice::Elapse(span) => sum + *span,
        _ => sum,
    })
}
