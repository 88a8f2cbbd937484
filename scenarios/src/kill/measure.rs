//! How soon each engine kills a mutant: the median over restarts, what the fall shrinks to, and false alarms.

use std::time::Duration;

use seedbed_model::record::{Kill, Measured, RunSize};
use seedbed_model::{Kind, Mutant, Outcome};
use seedbed_sim::shrink::{Budget, Size};

use super::Trial;
use super::engines::{Fall, FallenRun, MOMENT_COUNT, Place, Search, Searcher};
use crate::console::{Meter, Meters};
use crate::exit::BadInput;
use crate::face::Face;
use crate::shrinking::Shrinking;
use crate::stopwatch::{Deadline, Processor};

/// Tries to make a fall small.
const SHRINK_TRIES: u64 = 5_000;

/// How much is measured.
#[derive(Debug, Clone)]
pub(crate) struct Effort {
    pub(crate) searchers: Vec<Searcher>,
    /// Each with seeds and walks of its own.
    pub(crate) restarts: u32,
    /// Walks of one search.
    pub(crate) walks: u64,
    /// States of one search.
    pub(crate) states: u64,
}

impl Trial<'_> {
    /// Adds to a mutant's row how soon each engine kills it. A goal that is missed shows in all runs together and in none of
    /// them: of a mutant that makes one unreachable there is nothing to measure.
    ///
    /// # Errors
    /// What the protocol or the explorer refuses.
    pub(crate) fn measure(
        &self,
        mutant: &Mutant,
        effort: &Effort,
        kill: &mut Kill,
        meters: &Meters,
    ) -> Result<(), BadInput> {
        if matches!(mutant.outcome, Outcome::Unreachable(_)) {
            return Ok(());
        }
        let scenario = self.best_scenario(mutant)?;
        let bound = self.claiming(mutant).find(|bound| Some(&bound.name) == kill.explorer.place.as_ref());
        let bound = bound.or_else(|| self.claiming(mutant).next());
        for &searcher in &effort.searchers {
            let meter = meters.meter(&format!("{} against {}/{}", searcher.name(), kill.protocol, kill.mutant), None);
            let place = match searcher.is_of_bounds() {
                true => bound.map(Place::Bound),
                false => scenario.map(Place::Scenario),
            };
            let Some(place) = place else { continue };
            let measuring = Measuring { trial: self, mutant, effort, searcher, place, meter: &meter };
            kill.engines.push(measuring.run()?);
        }
        Ok(())
    }

    /// The scenario in which it falls first, so that others need not be tried by every restart; the first one, if it falls in
    /// none.
    fn best_scenario(&self, mutant: &Mutant) -> Result<Option<&crate::library::Scenario>, BadInput> {
        let mut best = self.scenarios.first();
        let mut least = self.seeds.count();
        for scenario in &self.scenarios {
            let search = Search {
                face: self.face,
                searcher: Searcher::Simulator,
                place: Place::Scenario(scenario),
                mutant: Some(mutant),
                seed: self.seeds.from,
                limit: least,
                jobs: self.jobs,
            };
            let come = search.run()?;
            if come.fall.is_some() {
                (best, least) = (Some(scenario), come.units.saturating_sub(1));
            }
        }
        Ok(best)
    }
}

struct Measuring<'a> {
    trial: &'a Trial<'a>,
    mutant: &'a Mutant,
    effort: &'a Effort,
    searcher: Searcher,
    place: Place<'a>,
    meter: &'a Meter,
}

impl Measuring<'_> {
    fn run(&self) -> Result<Measured, BadInput> {
        let mut measured = Measured {
            engine: self.searcher.name().to_owned(),
            unit: self.searcher.unit().to_owned(),
            place: self.place.name(),
            restarts: if self.searcher.is_random() { self.effort.restarts } else { 1 },
            limit: self.limit(),
            ..Measured::default()
        };
        let mut first = None;
        let mut spent = Duration::ZERO;
        for restart in 0..measured.restarts {
            self.meter.at(u64::from(restart));
            let processor = Processor::start();
            let come = self.search(restart, Some(self.mutant), measured.limit).run()?;
            spent += processor.spent();
            // The same seeds, walks and states, with nothing removed.
            let whole = self.search(restart, None, come.units).run()?;
            measured.clean += whole.units;
            measured.false_alarms += u64::from(whole.fall.is_some());
            if let Some(fall) = come.fall {
                measured.efforts.push(come.units);
                measured.found.push(fall.property.clone());
                first.get_or_insert(fall);
            }
        }
        measured.cpu_seconds = spent.as_secs_f64();
        measured.efforts.sort_unstable();
        measured.found.sort();
        measured.found.dedup();
        if let Some(fall) = first {
            self.shrink(&fall, &mut measured)?;
        }
        Ok(measured)
    }

    /// A restart's seeds are those behind all of the ones before, and behind those that the scenario was chosen by.
    fn search<'a>(&'a self, restart: u32, mutant: Option<&'a Mutant>, limit: u64) -> Search<'a> {
        let seeds = self.trial.seeds;
        Search {
            face: self.trial.face,
            searcher: self.searcher,
            place: self.place,
            mutant,
            seed: seeds.from.saturating_add(seeds.count().saturating_mul(u64::from(restart) + 1)),
            limit,
            jobs: self.trial.jobs,
        }
    }

    fn limit(&self) -> u64 {
        match self.searcher {
            Searcher::Simulator | Searcher::Guided => self.trial.seeds.count(),
            Searcher::ExploreAt => self.trial.seeds.count().min(MOMENT_COUNT),
            Searcher::Walks | Searcher::Pct => self.effort.walks,
            Searcher::Explorer => self.effort.states,
        }
    }

    /// What fails to come, rather than happens, shows in no single run: there is nothing to make small.
    fn shrink(&self, fall: &Fall, measured: &mut Measured) -> Result<(), BadInput> {
        let refused = |why: String| BadInput::file(self.place.name(), why);
        let properties = self.trial.face.describe(&fall.setup).map_err(refused)?.properties;
        let is_missed = |kind| matches!(kind, Kind::ReachableAlways | Kind::Eventually);
        if properties.iter().any(|property| property.name == fall.property && is_missed(property.kind)) {
            return Ok(());
        }
        let shrunk = shrunk(self.trial.face, fall, self.meter);
        let (before, after, is_minimal) = shrunk.map_err(refused)?;
        (measured.before, measured.after, measured.is_minimal) = (Some(size(before)), Some(size(after)), is_minimal);
        Ok(())
    }
}

fn shrunk(face: &dyn Face, fall: &Fall, meter: &Meter) -> Result<(Size, Size, bool), String> {
    match &fall.run {
        FallenRun::Seeded(settings, seed) => {
            let shrinking = Shrinking {
                face,
                setup: fall.setup.clone(),
                settings: (**settings).clone(),
                seed: *seed,
                property: Some(fall.property.clone()),
                tries: SHRINK_TRIES,
                deadline: Deadline::after(None),
                meter,
            };
            let found = shrinking.run()?;
            Ok((found.before, found.shrunken.after, found.shrunken.is_minimal))
        }
        FallenRun::Scripted(script) => {
            let budget = Budget { tries: SHRINK_TRIES, watch: &mut |_| true };
            let found = face.shrink_script(&fall.setup, script, budget)?;
            Ok((found.before, found.after, found.is_minimal))
        }
    }
}

fn size(size: Size) -> RunSize {
    RunSize { nodes: size.nodes, faults: size.faults, steps: size.steps }
}
