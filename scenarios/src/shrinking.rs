//! Shrinking a seed's run: first its world, by running it again with smaller parameters and fewer faults, then its script.

use seedbed_model::{Ratio, Signature};
use seedbed_reports::number::grouped;
use seedbed_sim::shrink::{Budget, LONG, Progress, Size};
use seedbed_sim::{Plan, Run, Seed, Settings};
use toml::{Table, Value};

use crate::console::Meter;
use crate::face::{Face, Setup};
use crate::history::claim;
use crate::shrunken::Shrunken;
use crate::stopwatch::Deadline;

/// Tries of a search, if nothing else is said.
pub(crate) const BUDGET: u64 = 100_000;

/// A run of no more steps is short: it is read whole.
pub(crate) const SHORT: u64 = LONG as u64;

/// Seeds that a smaller world is tried with, the first one's own among them.
const SEED_COUNT: u64 = 8;

/// Why a scenario's own demand on histories is not shrunk.
const UNFOLLOWED: &str = "a script follows the protocol's own properties, not the scenario's `history`: watch it in the \
                          protocol (`Property::history`) to shrink its fall";

/// A run to shrink, and how long it may take.
pub(crate) struct Shrinking<'a> {
    pub(crate) face: &'a dyn Face,
    pub(crate) setup: Setup,
    pub(crate) settings: Settings,
    pub(crate) seed: Seed,
    /// The property whose fall is kept; the first that fell, if nothing is said.
    pub(crate) property: Option<String>,
    /// Tries, at most.
    pub(crate) tries: u64,
    /// For people: whether it is over never changes what was found before.
    pub(crate) deadline: Deadline,
    pub(crate) meter: &'a Meter,
}

/// What came of it.
pub(crate) struct Found {
    /// How large the run was.
    pub(crate) before: Size,
    /// With its parameters as they are at the end.
    pub(crate) setup: Setup,
    pub(crate) shrunken: Shrunken,
    /// Tries in all.
    pub(crate) tries: u64,
}

/// A world under way to a smaller one.
struct World {
    setup: Setup,
    /// How many there are with these parameters.
    nodes: usize,
    settings: Settings,
    seed: Seed,
    run: Run,
}

impl Shrinking<'_> {
    /// Shrinks. `Err` if nothing falls, in words.
    pub(crate) fn run(&self) -> Result<Found, String> {
        if self.setup.history.is_some() && self.property.as_deref() == Some(claim::PROPERTY.name) {
            return Err(UNFOLLOWED.into());
        }
        let setup = Setup { history: None, ..self.setup.clone() };
        let first = self.face.simulate(&setup, &self.settings, self.seed)?;
        let fell = first.violations.iter().map(|found| &found.violation.property);
        let mut fell = fell.filter(|name| self.property.as_ref().is_none_or(|wanted| wanted == *name));
        let property = fell.next().ok_or_else(|| match &self.property {
            Some(property) => format!("{property} does not fall with seed {}", self.seed),
            None if self.setup.history.is_some() => {
                format!("no property of the protocol falls with seed {}; {UNFOLLOWED}", self.seed)
            }
            None => format!("no property falls with seed {}", self.seed),
        })?;
        let wanted = self.face.sign(&setup, &self.settings, self.seed, property)?;
        let wanted = wanted.ok_or("the run falls once and not again: it is not deterministic")?;
        let nodes = self.face.describe(&setup)?.nodes.len();
        let before = Size { nodes, faults: fault_count(&first.plan), steps: first.steps as usize + nodes };
        let mut search = Worlds {
            shrinking: self,
            wanted,
            steps_max: if first.steps > SHORT { u64::MAX } else { SHORT },
            tries: 0,
            world: World {
                setup: self.setup.clone(),
                nodes,
                settings: self.settings.clone(),
                seed: self.seed,
                run: first,
            },
        };
        search.params()?;
        search.plan()?;
        let (tries, world) = (search.tries, search.world);
        let mut watch = |progress: Progress| self.goes_on(tries + progress.tries, progress.size);
        let budget = Budget { tries: self.tries.saturating_sub(tries), watch: &mut watch };
        let shrunken = self.face.shrink(&world.setup, &world.settings, world.seed, budget)?;
        let tries = tries + shrunken.tries;
        Ok(Found { before, setup: world.setup, shrunken, tries })
    }

    fn goes_on(&self, tries: u64, size: Size) -> bool {
        self.meter.at(tries);
        let Size { nodes, faults, steps } = size;
        self.meter.note(format!("at most; now {nodes} nodes, {faults} faults, {} steps", grouped(steps as u64)));
        !self.deadline.is_over()
    }
}

/// What goes wrong in a plan: each fault, each clock, and losing and copying once each.
fn fault_count(plan: &Plan) -> usize {
    plan.faults.len() + plan.clocks.len() + usize::from(plan.loss.num > 0) + usize::from(plan.duplicate.num > 0)
}

/// The search for a smaller world in which the same thing goes wrong.
struct Worlds<'a> {
    shrinking: &'a Shrinking<'a>,
    wanted: Signature,
    /// A world in which it takes more steps is no smaller one, where the first run is short: what is saved in nodes and faults would
    /// be paid for in steps to read. A long run nobody reads, and fewer nodes and faults make it shorter in the end.
    steps_max: u64,
    tries: u64,
    world: World,
}

impl Worlds<'_> {
    /// Every whole number among the parameters, as small as it may be.
    fn params(&mut self) -> Result<(), String> {
        let full = self.shrinking.face.full_params(&self.world.setup.params)?;
        let numbers: Vec<(String, i64)> =
            full.iter().filter_map(|(key, value)| Some((key.clone(), value.as_integer()?))).collect();
        for (key, now) in numbers {
            let smaller = (0..8).chain((3..62).map(|power| 1i64 << power)).filter(|value| *value < now);
            for value in smaller {
                let params = with(&self.world.setup.params, &key, value);
                if self.try_params(params)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn try_params(&mut self, params: Table) -> Result<bool, String> {
        let setup = Setup { params, ..self.world.setup.clone() };
        let Ok(described) = self.shrinking.face.describe(&setup) else { return Ok(false) };
        // A plan that names a node which is gone is none.
        let plan = self.world.settings.plan.as_ref();
        if plan.is_some_and(|plan| plan.check_for(&described.nodes).is_err()) {
            return Ok(false);
        }
        let own = self.world.seed;
        let others = match own {
            Seed::Number(first) => (1..SEED_COUNT).map(|next| Seed::Number(first.wrapping_add(next))).collect(),
            _ => Vec::new(),
        };
        for seed in std::iter::once(own).chain(others) {
            if self.adopt(setup.clone(), described.nodes.len(), self.world.settings.clone(), seed)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Fewer losses, copies, faults and odd clocks.
    fn plan(&mut self) -> Result<(), String> {
        let drawn = self.world.run.plan.clone();
        self.try_plan(Plan { loss: Ratio::ZERO, duplicate: Ratio::ZERO, ..drawn.clone() })?;
        self.try_plan(Plan { loss: Ratio::ZERO, ..self.world.run.plan.clone() })?;
        self.try_plan(Plan { duplicate: Ratio::ZERO, ..self.world.run.plan.clone() })?;
        let mut size = drawn.faults.len();
        while size > 0 {
            let mut at = 0;
            while at < self.world.run.plan.faults.len() {
                let mut plan = self.world.run.plan.clone();
                let end = (at + size).min(plan.faults.len());
                plan.faults.drain(at..end);
                at = if self.try_plan(plan)? { at } else { end };
            }
            size /= 2;
        }
        for index in (0..self.world.run.plan.clocks.len()).rev() {
            let mut plan = self.world.run.plan.clone();
            plan.clocks.remove(index);
            self.try_plan(plan)?;
        }
        Ok(())
    }

    fn try_plan(&mut self, plan: Plan) -> Result<bool, String> {
        if fault_count(&plan) >= fault_count(&self.world.run.plan) {
            return Ok(false);
        }
        let settings = Settings { plan: Some(plan), ..self.world.settings.clone() };
        self.adopt(self.world.setup.clone(), self.world.nodes, settings, self.world.seed)
    }

    /// Adopts the world if the same thing goes wrong in it.
    fn adopt(&mut self, setup: Setup, nodes: usize, settings: Settings, seed: Seed) -> Result<bool, String> {
        let (face, world) = (self.shrinking.face, &self.world);
        let size = Size { nodes: world.nodes, faults: fault_count(&world.run.plan), steps: world.run.steps as usize };
        if self.tries >= self.shrinking.tries || !self.shrinking.goes_on(self.tries, size) {
            return Ok(false);
        }
        self.tries += 1;
        let run = face.simulate(&setup, &settings, seed)?;
        let property = &self.wanted.property;
        let falls = run.violations.first().is_some_and(|found| found.violation.property == *property);
        if !falls || run.steps > self.steps_max {
            return Ok(false);
        }
        let signature = face.sign(&setup, &settings, seed, property)?;
        let is_like = signature.is_some_and(|signature| signature.is_like(&self.wanted));
        if is_like {
            self.world = World { setup, nodes, settings, seed, run };
        }
        Ok(is_like)
    }
}

fn with(params: &Table, key: &str, value: i64) -> Table {
    let mut params = params.clone();
    params.insert(key.to_owned(), Value::Integer(value));
    params
}
