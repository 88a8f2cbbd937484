//! Every way to explore a sample, and what each promises. A further mode is one more line.

use seedbed_model::explore::{Bounds, Exploration, Order, Strategy, Verdict, explore};
use seedbed_model::{Choice, replay};
use seedbed_stateright::{Reductions, check};

use crate::generate::Sample;
use crate::reference::{Fall, Truth};
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
}

const ALL: Promises = Promises { shortest: true, reachable: true, states: true, depth: true };
/// Depth first: a counterexample is as long as it happens to be, and a bound on depth is refused.
const DEEP: Promises = Promises { shortest: false, depth: false, ..ALL };
/// stateright cannot say `reachable always`.
const THEIRS: Promises = Promises { reachable: false, ..ALL };
/// Its threads race for the first counterexample.
const THEIRS_RACING: Promises = Promises { shortest: false, ..THEIRS };
const THEIRS_DEEP: Promises = Promises { reachable: false, ..DEEP };

/// Depth first, a model that goes on for ever is left here: it may hide a near fall behind a long way.
const DEEP_STATES_MAX: u64 = 3_000;

const WIDE_1: Strategy = Strategy { order: Order::BreadthFirst, jobs: 1 };
const WIDE_2: Strategy = Strategy { order: Order::BreadthFirst, jobs: 2 };
const DEEP_1: Strategy = Strategy { order: Order::DepthFirst, jobs: 1 };
const DEEP_2: Strategy = Strategy { order: Order::DepthFirst, jobs: 2 };

fn as_it_is(_: &mut Sample) {}

fn plain(sample: &mut Sample) {
    sample.bounds.symmetry = false;
    sample.bounds.drop_dead = false;
    sample.table.ranked = false;
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
    Mode { name: "no symmetry", with: |s| s.bounds.symmetry = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "dead delivered", with: |s| s.bounds.drop_dead = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "tags as they are", with: |s| s.table.ranked = false, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "plain", with: plain, explore: seedbed, strategy: WIDE_1, promises: ALL },
    Mode { name: "plain, depth first", with: plain, explore: seedbed, strategy: DEEP_1, promises: DEEP },
    Mode { name: "stateright", with: as_it_is, explore: stateright, strategy: WIDE_1, promises: THEIRS },
    Mode { name: "stateright, 2 jobs", with: as_it_is, explore: stateright, strategy: WIDE_2, promises: THEIRS_RACING },
    Mode { name: "stateright, depth first", with: as_it_is, explore: stateright, strategy: DEEP_1, promises: THEIRS_DEEP },
];

/// Far more than the dumb twin finds: beyond, a mode goes where it was told not to.
const STATES_MAX: u64 = 50_000;

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
            (Some(_), Verdict::Unknown(_)) if !self.promises.depth => Ok(()),
            (fall, verdict) => Err(format!("{verdict:?}, not {fall:?}")),
        }
    }

    fn compare_states(&self, own: &Sample, truth: &Truth, found: &Exploration<Table>) -> Result<(), String> {
        let reached: Vec<&str> = truth.reached.iter().copied().collect();
        if found.reached != reached {
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
