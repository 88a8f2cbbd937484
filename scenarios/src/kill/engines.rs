//! How each engine searches for the fall of a mutant, from a number alone.

use std::ops::ControlFlow;
use std::str::FromStr;

use seedbed_model::explore::{Aids, Order, Pace, Sampling, Strategy, Verdict, Walks};
use seedbed_model::{Mutant, Span, hash};
use seedbed_sim::{Seed, Settings};

use crate::command::Searched;
use crate::engine::Engine;
use crate::exit::BadInput;
use crate::face::{Face, Setup};
use crate::library::{self, Bound, Scenario};
use crate::moment::{At, Origin};
use crate::pin::PinnedScript;

/// Steps of a walk, at most.
const WALK_STEPS: u32 = 1_000;
/// How many times the highest priority falls in a walk by priority.
const CHANGES: u32 = 3;

/// Steps from a moment.
const MOMENT_DEPTH: u32 = 40;
/// States from a moment.
const MOMENT_STATES: u64 = 5_000;

/// So many moments of a search: each costs what many runs do.
pub(super) const MOMENT_COUNT: u64 = 40;

/// An engine that mutants are measured with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Searcher {
    /// Seed after seed.
    Simulator,
    /// Seeds that go on from rare places.
    Guided,
    /// Every state within reach of a moment of a run, seed after seed.
    ExploreAt,
    /// Random walks over the explorer's choices.
    Walks,
    /// The same by priority.
    Pct,
    /// Every state, breadth first.
    Explorer,
}

impl Searcher {
    pub(crate) const ALL: [Searcher; 6] = [
        Searcher::Simulator,
        Searcher::Guided,
        Searcher::ExploreAt,
        Searcher::Walks,
        Searcher::Pct,
        Searcher::Explorer,
    ];

    /// As flags and tables name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Searcher::Simulator => "simulator",
            Searcher::Guided => "guided",
            Searcher::ExploreAt => "explore-at",
            Searcher::Walks => "walks",
            Searcher::Pct => "pct",
            Searcher::Explorer => "explorer",
        }
    }

    /// What its effort counts.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Searcher::Simulator | Searcher::Guided => "seed",
            Searcher::ExploreAt => "moment",
            Searcher::Walks | Searcher::Pct => "walk",
            Searcher::Explorer => "state",
        }
    }

    /// Whether it searches a bound of the explorer, not a scenario.
    pub(crate) fn is_of_bounds(self) -> bool {
        matches!(self, Searcher::Walks | Searcher::Pct | Searcher::Explorer)
    }

    /// Whether another number makes another search.
    pub(crate) fn is_random(self) -> bool {
        self != Searcher::Explorer
    }
}

impl FromStr for Searcher {
    type Err = String;
    fn from_str(text: &str) -> Result<Searcher, String> {
        let names = Searcher::ALL.map(Searcher::name);
        let found = Searcher::ALL.into_iter().find(|searcher| searcher.name() == text);
        found.ok_or_else(|| format!("`{text}` is no engine; write all, or some of {}", names.join(",")))
    }
}

/// Where an engine searches.
#[derive(Clone, Copy)]
pub(crate) enum Place<'a> {
    Scenario(&'a Scenario),
    Bound(&'a Bound),
}

impl Place<'_> {
    pub(crate) fn name(self) -> String {
        match self {
            Place::Scenario(scenario) => scenario.name.clone(),
            Place::Bound(bound) => bound.name.clone(),
        }
    }

    /// What runs there: the whole protocol, or the protocol without a mechanism.
    fn setup(self, mutant: Option<&Mutant>) -> Setup {
        let whole = match self {
            Place::Scenario(scenario) => scenario.setup.clone(),
            Place::Bound(bound) => Setup { params: bound.params.clone(), ..Setup::default() },
        };
        mutant.map_or_else(|| whole.clone(), |mutant| Setup::without(&whole, mutant))
    }
}

/// One search.
pub(crate) struct Search<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) searcher: Searcher,
    pub(crate) place: Place<'a>,
    /// The mechanism that is switched off; `None` for the whole protocol.
    pub(crate) mutant: Option<&'a Mutant>,
    /// The first seed, of `limit` that nobody else has; walks are drawn from it.
    pub(crate) seed: u64,
    /// Gives up after so many units.
    pub(crate) limit: u64,
    pub(crate) jobs: usize,
}

/// What a search came to.
#[derive(Default)]
pub(crate) struct Come {
    /// Units taken, that of the fall among them.
    pub(crate) units: u64,
    /// The first fall.
    pub(crate) fall: Option<Fall>,
}

/// The first fall of a search.
pub(crate) struct Fall {
    pub(crate) property: String,
    pub(crate) setup: Setup,
    pub(crate) run: FallenRun,
}

/// A run that fell, to be made small.
pub(crate) enum FallenRun {
    Seeded(Box<Settings>, Seed),
    Scripted(PinnedScript),
}

impl Search<'_> {
    /// Searches until something falls.
    ///
    /// # Errors
    /// What the protocol or the explorer refuses.
    pub(crate) fn run(&self) -> Result<Come, BadInput> {
        let setup = self.place.setup(self.mutant);
        let come = match self.place {
            Place::Scenario(scenario) => match self.searcher {
                Searcher::Guided => self.guided(setup, &scenario.settings),
                Searcher::ExploreAt => self.moments(setup, scenario),
                _ => self.seeds(setup, &scenario.settings),
            },
            Place::Bound(bound) => self.explored(setup, bound),
        };
        come.map_err(|why| BadInput::file(format!("{} {}", self.searcher.name(), self.place.name()), why))
    }

    fn seeds(&self, setup: Setup, settings: &Settings) -> Result<Come, String> {
        let mut come = Come::default();
        let range = self.seed..self.seed.saturating_add(self.limit);
        self.face.sweep(&setup, settings, range, self.jobs, &mut |run| {
            come.units += 1;
            let Some(fell) = run.violations.into_iter().next() else { return ControlFlow::Continue(()) };
            let run = FallenRun::Seeded(Box::new(settings.clone()), run.seed);
            come.fall = Some(Fall { property: fell.violation.property, setup: setup.clone(), run });
            ControlFlow::Break(())
        })?;
        Ok(come)
    }

    fn guided(&self, setup: Setup, settings: &Settings) -> Result<Come, String> {
        let mut come = Come::default();
        let range = self.seed..self.seed.saturating_add(self.limit);
        self.face.guide(&setup, settings, range, self.jobs, &mut |run, _| {
            come.units += 1;
            let Some(fell) = run.violations.into_iter().next() else { return ControlFlow::Continue(()) };
            let planned = Settings { plan: Some(run.plan), ..settings.clone() };
            let run = FallenRun::Seeded(Box::new(planned), run.seed);
            come.fall = Some(Fall { property: fell.violation.property, setup: setup.clone(), run });
            ControlFlow::Break(())
        })?;
        Ok(come)
    }

    /// Of each seed's run, everything that can follow one moment of it. A run that falls by itself counts too.
    fn moments(&self, setup: Setup, scenario: &Scenario) -> Result<Come, String> {
        let searched = Searched::of(self.face, scenario, &[]).map_err(|refused| refused.to_string())?;
        let mut bounds = library::full_bounds(&searched.bound(scenario).bounds)?;
        (bounds.depth, bounds.states) = (Some(MOMENT_DEPTH), MOMENT_STATES);
        let strategy = Strategy { jobs: self.jobs, ..Strategy::default() };
        let mut come = Come::default();
        for number in 0..self.limit {
            let seed = self.seed.saturating_add(number);
            come.units += 1;
            let part = hash(seed, b"moment") % scenario.settings.duration.0.max(1);
            let pace = Pace { delay: searched.delay, ..Pace::default() };
            let (seed, at) = (Seed::Number(seed), At::Time(Span(part)));
            let origin = Origin { settings: &scenario.settings, seed, at, pace };
            let Ok(found) = self.face.explore_from(&setup, &origin, &bounds, &strategy, &mut |_| true) else {
                come.fall = self.fall_of(&setup, scenario, seed)?;
                if come.fall.is_some() {
                    return Ok(come);
                }
                continue;
            };
            if let (Verdict::Violated(violation), Some(shown)) = (found.verdict, found.counterexample) {
                let run = FallenRun::Scripted(shown.script);
                come.fall = Some(Fall { property: violation.property, setup, run });
                return Ok(come);
            }
        }
        Ok(come)
    }

    /// The fall of the seed's own run, if it has one.
    fn fall_of(&self, setup: &Setup, scenario: &Scenario, seed: Seed) -> Result<Option<Fall>, String> {
        let run = self.face.simulate(setup, &scenario.settings, seed)?;
        Ok(run.violations.into_iter().next().map(|fell| Fall {
            property: fell.violation.property,
            setup: setup.clone(),
            run: FallenRun::Seeded(Box::new(scenario.settings.clone()), seed),
        }))
    }

    fn explored(&self, setup: Setup, bound: &Bound) -> Result<Come, String> {
        let mut bounds = library::full_bounds(&bound.bounds)?;
        let walks = |sampling| Order::Walks(Walks { count: self.limit, steps: WALK_STEPS, sampling, seed: self.seed });
        let order = match self.searcher {
            Searcher::Walks => walks(Sampling::Uniform),
            Searcher::Pct => walks(Sampling::Pct { changes: CHANGES }),
            _ => {
                bounds.states = bounds.states.min(self.limit);
                Order::BreadthFirst
            }
        };
        let strategy = Strategy { order, jobs: self.jobs };
        let found = self.face.explore(&setup, &bounds, Engine::Seedbed, &strategy, Aids::default(), &mut |_| true)?;
        let units = if self.searcher == Searcher::Explorer { found.stats.unique } else { found.stats.walks };
        let fall = match (found.verdict, found.counterexample) {
            (Verdict::Violated(violation), Some(shown)) => {
                Some(Fall { property: violation.property, setup, run: FallenRun::Scripted(shown.script) })
            }
            _ => None,
        };
        Ok(Come { units, fall })
    }
}
