//! Every way to explore a sample, and what each promises. A further mode is one more line.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use seedbed_model::explore::{
    Bounds, Exploration, Keeper, Kept, Order, Sampling, Strategy, Verdict, Walks, explore, explore_aided,
};
use seedbed_model::{Choice, Script, ScriptStep, replay};
use seedbed_stateright::{Reductions, World, check};

use crate::generate::Sample;
use crate::reference::{Fall, Truth, fair_action};
use crate::table::Table;

type Explore = fn(&Table, &Bounds, &Strategy) -> Result<Exploration<Table>, String>;

/// One way to explore.
pub(crate) struct Mode {
    pub(crate) name: &'static str,
    /// What is changed of the sample.
    with: fn(&mut Sample),
    explore: Explore,
    strategy: Strategy,
    promises: Promises,
}

/// What a mode promises beside the verdict.
#[derive(Clone, Copy)]
struct Promises {
    /// The counterexample is a shortest.
    shortest: bool,
    /// `reachable always` properties are checked.
    reachable: bool,
    /// Every state is counted, once for each normal form.
    states: bool,
    /// States within a bound on depth are all found.
    depth: bool,
    /// What falls is found. If not, whatever is found does fall.
    falls: bool,
}

const ALL: Promises = Promises { shortest: true, reachable: true, states: true, depth: true, falls: true };
/// Depth first: a counterexample is as long as it happens to be, and a bound on depth is refused.
const DEEP: Promises = Promises { shortest: false, depth: false, ..ALL };
/// stateright cannot say `reachable always`.
const THEIRS: Promises = Promises { reachable: false, ..ALL };
/// Its threads race for the first counterexample.
const THEIRS_RACING: Promises = Promises { shortest: false, ..THEIRS };
/// A table of bits far larger than any sample: nothing is missed, and no verdict says so.
const BITS: Promises = Promises { reachable: false, ..DEEP };
const SAMPLED: Promises = Promises { states: false, falls: false, ..BITS };
const THEIRS_DEEP: Promises = Promises { reachable: false, ..DEEP };

/// Depth first, a model that goes on for ever is left here: it may hide a near fall behind a long way.
const DEEP_STATES_MAX: u64 = 3_000;

const WIDE_1: Strategy = Strategy { order: Order::BreadthFirst, jobs: 1 };
const WIDE_2: Strategy = Strategy { order: Order::BreadthFirst, jobs: 2 };
const DEEP_1: Strategy = Strategy { order: Order::DepthFirst, jobs: 1 };
const BIT_STATE: Strategy = Strategy { order: Order::BitState { mebibytes: 1 }, jobs: 1 };
const UNIFORM: Strategy = walks(Sampling::Uniform);
const PCT: Strategy = walks(Sampling::Pct { changes: 3 });
const DEEP_2: Strategy = Strategy { order: Order::DepthFirst, jobs: 2 };

const fn walks(sampling: Sampling) -> Strategy {
    Strategy { order: Order::Walks(Walks { count: 100, steps: 50, sampling, seed: 7 }), jobs: 1 }
}

fn as_it_is(_: &mut Sample) {}

fn plain(sample: &mut Sample) {
    sample.bounds.symmetry = false;
    sample.bounds.drop_dead = false;
    sample.table.ranked = false;
}

/// What lasts is judged over states as they are.
pub(crate) fn fair(sample: &mut Sample) {
    plain(sample);
    sample.bounds.eventually = true;
}

fn seedbed(table: &Table, bounds: &Bounds, strategy: &Strategy) -> Result<Exploration<Table>, String> {
    explore(table, bounds, strategy, &mut |_| true)
}

fn stateright(table: &Table, bounds: &Bounds, strategy: &Strategy) -> Result<Exploration<Table>, String> {
    check(table, bounds, strategy, &mut |_| true)
}

#[rustfmt::skip]
pub(crate) const MODES: &[Mode] = &[
    Mode { name: "reduced", with: as_it_is, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "reduced, 2 jobs", with: as_it_is, explore: seedbed, strategy: WIDE_2, promises: ALL },
    Mode { name: "reduced, depth first", with: as_it_is, explore: seedbed, strategy: DEEP_1, promises: DEEP },
    Mode { name: "reduced, depth first, 2 jobs", with: as_it_is, explore: seedbed, strategy: DEEP_2, promises: DEEP },
    Mode { name: "reduced, resumed", with: as_it_is, explore: resumed, strategy: WIDE_1, promises: ALL },
    Mode { name: "reduced, resumed, 2 jobs", with: as_it_is, explore: resumed, strategy: WIDE_2, promises: ALL },
    Mode { name: "reduced, bit-state", with: as_it_is, explore: seedbed, strategy: BIT_STATE, promises: BITS },
    Mode { name: "uniform walks", with: as_it_is, explore: seedbed, strategy: UNIFORM, promises: SAMPLED },
    Mode { name: "walks by priority", with: as_it_is, explore: seedbed, strategy: PCT, promises: SAMPLED },
    Mode { name: "no symmetry", with: |s| s.bounds.symmetry = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "dead delivered", with: |s| s.bounds.drop_dead = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "tags as they are", with: |s| s.table.ranked = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "plain", with: plain, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "plain, depth first", with: plain, explore: seedbed, strategy: DEEP_1, promises: DEEP },
    Mode { name: "fair", with: fair, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "fair, 2 jobs", with: fair, explore: seedbed, strategy: WIDE_2, promises: ALL },
    Mode { name: "stateright", with: as_it_is, explore: stateright, strategy: WIDE_1, promises: THEIRS },
    Mode { name: "stateright, 2 jobs", with: as_it_is, explore: stateright, strategy: WIDE_2, promises: THEIRS_RACING },
    Mode { name: "stateright, depth first", with: as_it_is, explore: stateright, strategy: DEEP_1, promises: THEIRS_DEEP },
];

/// Stopped after each round, and gone on with from what was kept.
fn resumed(table: &Table, bounds: &Bounds, strategy: &Strategy) -> Result<Exploration<Table>, String> {
    let mut kept: Option<Vec<u8>> = None;
    loop {
        let mut keeper = Once { bytes: None };
        let mut before = kept.as_deref();
        let resume = before.as_mut().map(|bytes| bytes as &mut dyn Read);
        let mut rounds = 0;
        let mut one_round = |_| {
            rounds += 1;
            rounds < 2
        };
        let kept_search = Kept { subject: "corpus", resume, keeper: &mut keeper };
        let found = explore_aided(table, bounds, strategy, kept_search.into(), &mut one_round)?;
        match keeper.bytes {
            Some(bytes) if found.verdict == Verdict::Unknown("the budget ran out".into()) => kept = Some(bytes),
            _ => return Ok(found),
        }
    }
}

/// Keeps the first of what it is given.
struct Once {
    bytes: Option<Vec<u8>>,
}

impl Keeper for Once {
    fn is_due(&mut self) -> bool {
        self.bytes.is_none()
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(|error| error.to_string())?;
        self.bytes = Some(bytes);
        Ok(())
    }
}

/// Far more than the dumb twin finds: beyond, a mode goes where it was told not to.
pub(crate) const STATES_MAX: u64 = 50_000;

impl Mode {
    /// Explores the sample. `Err` with what differs from the truth.
    pub(crate) fn judge(&self, sample: &Sample, truth: &Truth) -> Result<(), String> {
        let mut own = sample.clone();
        (self.with)(&mut own);
        own.bounds.depth = truth.depth;
        own.bounds.states = STATES_MAX;
        if truth.depth.is_some() && !self.promises.depth {
            return Ok(());
        }
        if !self.promises.depth {
            own.bounds.states = DEEP_STATES_MAX;
        }
        let found =
            (self.explore)(&own.table, &own.bounds, &self.strategy).map_err(|why| format!("{}: {why}", self.name))?;
        self.compare(&own, truth, &found).map_err(|why| format!("{}: {why}", self.name))
    }

    fn compare(&self, own: &Sample, truth: &Truth, found: &Exploration<Table>) -> Result<(), String> {
        let within_depth = (truth.depth.is_some() && own.table.again).then(|| cut_off(own));
        let fall = within_depth.as_ref().map_or(truth.fall.as_ref(), Option::as_ref);
        let fall = fall.filter(|fall| self.promises.reachable || !fall.properties.contains("again"));
        if fall.is_none() && truth.lasts && own.bounds.eventually {
            return compare_lasting(own, found);
        }
        match (fall, &found.verdict) {
            (None, Verdict::Holds) => self.compare_states(own, truth, found),
            (Some(fall), Verdict::Violated(violation)) => {
                let steps = replayed(own, found, &violation.property)?;
                if !self.promises.shortest {
                    return Ok(());
                }
                if steps != fall.steps || !fall.properties.contains(&violation.property) {
                    return Err(format!("{} falls in {steps} steps, not {fall:?}", violation.property));
                }
                Ok(())
            }
            (Some(_), Verdict::Unknown(why)) if why.starts_with("the bound of") || !self.promises.falls => Ok(()),
            (None, Verdict::Unknown(_)) if !self.strategy.order.sees_all() => self.compare_states(own, truth, found),
            (fall, verdict) => Err(format!("{verdict:?}, not {fall:?}")),
        }
    }

    fn compare_states(&self, own: &Sample, truth: &Truth, found: &Exploration<Table>) -> Result<(), String> {
        let reached: Vec<&str> = truth.reached.iter().copied().collect();
        let is_sampled = !self.promises.states && found.reached.iter().all(|goal| reached.contains(goal));
        if found.reached != reached && !is_sampled {
            return Err(format!("reached {:?}, not {reached:?}", found.reached));
        }
        // The truth is about the sample as it promises to be: a planted fault changes what is explored alone.
        let states = truth.states(Reductions::of(&own.table, &own.bounds)).len() as u64;
        if self.promises.states && found.stats.unique != states {
            return Err(format!("{} states, not {states}", found.stats.unique));
        }
        Ok(())
    }
}

/// A run that owes for ever: its steps lead back to where they began, owe all the way, and take or forgo every action.
fn compare_lasting(own: &Sample, found: &Exploration<Table>) -> Result<(), String> {
    match &found.verdict {
        Verdict::Violated(violation) if violation.property == "then" => {}
        verdict => return Err(format!("{verdict:?}, not a run that lasts")),
    }
    let script = found.script.as_ref().ok_or("a violation without a counterexample")?;
    let from = found.repeats_from.ok_or("a run that lasts without its cycle")?;
    let mut round = vec![walked(own, &script.steps[..from], script)?];
    for at in from..script.steps.len() {
        round.push(walked(own, &script.steps[..=at], script)?);
    }
    let form = |world: &World<Table>| world.normal_form(&own.table, &own.bounds, Reductions::NONE);
    if form(&round[0]) != form(&round[round.len() - 1]) {
        return Err("the cycle does not lead back".into());
    }
    let mut starved: Option<BTreeSet<Vec<u8>>> = None;
    for world in &round {
        if *world.monitor() != 1 {
            return Err("the cycle does not owe all the way".into());
        }
        let ways = world.ways(&own.table, &own.bounds)?;
        let possible: BTreeSet<Vec<u8>> = ways.iter().filter_map(|way| fair_action(&way.steps[0].choice)).collect();
        starved = Some(starved.map_or(possible.clone(), |starved| &starved & &possible));
    }
    let taken: BTreeSet<Vec<u8>> = script.steps[from..].iter().filter_map(|step| fair_action(&step.choice)).collect();
    match starved.unwrap_or_default().difference(&taken).count() {
        0 => Ok(()),
        count => Err(format!("the cycle starves {count} actions")),
    }
}

/// The world that the steps lead to, by the dumb twin's own ways.
fn walked(own: &Sample, steps: &[ScriptStep<Table>], script: &Script<Table>) -> Result<World<Table>, String> {
    let starts = World::initial(&own.table, &own.bounds)?;
    let is_start = |world: &World<Table>| script.starts.is_empty() || world.starts() == script.starts;
    let mut worlds: Vec<World<Table>> = starts.into_iter().filter_map(|way| way.next).filter(is_start).collect();
    let mut rest = steps;
    while !rest.is_empty() {
        let mut next = Vec::new();
        let mut taken = 0;
        for world in &worlds {
            for way in world.ways(&own.table, &own.bounds)? {
                if rest.starts_with(&way.steps) {
                    taken = way.steps.len();
                    next.extend(way.next);
                }
            }
        }
        if taken == 0 {
            return Err(format!("no way to take {:?}", rest[0].choice));
        }
        worlds = next;
        rest = &rest[taken..];
    }
    worlds.into_iter().next().ok_or_else(|| "no start".to_owned())
}

/// What falls within a bound on depth: more than without reductions, as a goal is cut off for sure only where
/// everything that follows was expanded.
fn cut_off(own: &Sample) -> Option<Fall> {
    let mut honest = own.clone();
    honest.table.planted = None;
    Truth::keyed(&honest, Reductions::of(&honest.table, &honest.bounds)).fall
}

/// The counterexample's steps, once a plain world has taken them to the same fall.
fn replayed(own: &Sample, found: &Exploration<Table>, property: &str) -> Result<usize, String> {
    let script = found.script.as_ref().ok_or("a violation without a counterexample")?;
    let replayed = replay(&own.table, script);
    if let Some((step, why)) = replayed.drift {
        return Err(format!("the counterexample drifts at step {step}: {why}"));
    }
    if property != "again" && !replayed.violations.iter().any(|fell| fell.property == property) {
        return Err(format!("the counterexample replays without the fall of {property}"));
    }
    // The loss of a full link is the end of the step before it.
    let overflows = own.bounds.capacity.is_some();
    Ok(script.steps.iter().filter(|step| !(overflows && matches!(step.choice, Choice::Lose(_)))).count())
}
