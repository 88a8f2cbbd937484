//! How good the net is: every mutant tried by every engine, and the whole protocol beside it.
//!
//! - `declared`: whether what must come of a mutant does;
//! - `measure`: how soon each engine kills it, over restarts; `engines`: how each of them searches;
//! - `clean`: that nothing falls where nothing is removed.

mod clean;
mod declared;
mod engines;
mod measure;

use seedbed_model::{Mutant, Span};

use crate::face::{Face, Setup};
use crate::file::{Class, Expect};
use crate::library::{Bound, Scenario};
use crate::seeds::SeedRange;

pub(crate) use clean::clean;
pub(crate) use engines::Searcher;
pub(crate) use measure::Effort;

/// What a protocol's mutants are tried on.
pub(crate) struct Trial<'a> {
    pub(crate) face: &'a dyn Face,
    /// The quick ones.
    pub(crate) bounds: Vec<Bound>,
    /// The quick ones that hold while nothing is removed.
    pub(crate) scenarios: Vec<Scenario>,
    /// The seeds that the simulator tries in each scenario.
    pub(crate) seeds: SeedRange,
    /// For each mutant, half of it for each engine.
    pub(crate) budget: Option<Span>,
    pub(crate) jobs: usize,
}

impl Trial<'_> {
    /// The bounds at which the explorer claims to see the mutant.
    fn claiming(&self, mutant: &Mutant) -> impl Iterator<Item = &Bound> {
        let name = mutant.name;
        self.bounds.iter().filter(move |bound| bound.claims.iter().any(|claim| claim == name))
    }
}

/// The scenarios that mutants are tried in: quick ones, which hold while nothing is removed.
pub(crate) fn fit(scenarios: Vec<Scenario>) -> Vec<Scenario> {
    let fits = |scenario: &Scenario| scenario.class == Class::Quick && scenario.expect == Expect::Holds;
    scenarios.into_iter().filter(fits).collect()
}

impl Setup {
    /// The same without the mechanism.
    fn without(whole: &Setup, mutant: &Mutant) -> Setup {
        let mut mutants = whole.mutants.clone();
        mutants.push(mutant.name.to_owned());
        Setup { mutants, ..whole.clone() }
    }
}
