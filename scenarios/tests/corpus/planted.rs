//! Faults planted in the explorer: a space that wraps the world's and is wrong in one way.

use std::panic::{AssertUnwindSafe, catch_unwind};

use seedbed_model::explore::{Claim, Limits, Order, Row, Seen, Space, Strategy, Successors, search, space};

use crate::generate::Sample;
use crate::modes;
use crate::reference::Truth;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Of every other chunk, as if a second worker had expanded it, each third state loses its last successor on the way
    /// into the table.
    LostMerge,
    /// Whatever happens counts as what must happen: one starved message or timer is outweighed by any other.
    AnyStepIsFair,
}

struct Faulty<S> {
    inner: S,
    fault: Fault,
    is_lossy: bool,
    expanded: u32,
}

impl<S: Space> Space for Faulty<S> {
    fn start(&mut self, out: &mut Successors) {
        self.inner.start(out);
    }

    fn expand(&mut self, row: Row<'_>, seen: &dyn Seen, out: &mut Successors) {
        self.inner.expand(row, seen, out);
        match self.fault {
            Fault::LostMerge if self.is_lossy && out.count() > 0 => {
                self.expanded += 1;
                if self.expanded.is_multiple_of(3) {
                    out.take_back();
                }
            }
            Fault::LostMerge => {}
            Fault::AnyStepIsFair => out.relabel(|action| action.min(1)),
        }
    }

    fn fork(&self) -> Self {
        Faulty { inner: self.inner.fork(), ..*self }
    }

    fn begin(&mut self, moment: u64) {
        self.is_lossy = moment % 2 == 1;
        self.inner.begin(moment);
    }

    fn claims(&self) -> Vec<Claim> {
        self.inner.claims()
    }

    fn misfit(&self) -> Option<String> {
        self.inner.misfit()
    }
}

impl Fault {
    /// Whether the sample, explored by two workers with the fault in place, gives another answer than the truth.
    pub(crate) fn is_caught(self, sample: &Sample, truth: &Truth) -> bool {
        let mut own = sample.clone();
        modes::fair(&mut own);
        own.bounds.depth = truth.depth;
        let world = space(&own.table, &own.bounds).expect("the bounds fit");
        let faulty = Faulty { inner: world, fault: self, is_lossy: false, expanded: 0 };
        let limits = Limits { depth: truth.depth, states: modes::STATES_MAX };
        let strategy = Strategy { order: Order::BreadthFirst, jobs: 2 };
        // A lost state that is met again as a known one breaks the search, which shows the fault too.
        let found = catch_unwind(AssertUnwindSafe(|| search(faulty, limits, &strategy, &mut |_| true)));
        let Ok(found) = found else { return true };
        let found = found.expect("it is searched");
        match found.fall {
            Some(fall) => truth.fall.is_none() && !(truth.lasts && fall.violation.property == "then"),
            None => truth.fall.is_some() || truth.lasts || found.stats.unique != truth.plain_states(),
        }
    }
}
