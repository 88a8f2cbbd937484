//! Runs of stateright's own checkers, told as the explorer tells its own.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seedbed_model::explore::{self, Bounds, Exercised, Exploration, Order, Progress, Stats, Strategy, Verdict};
use seedbed_model::{Kind, Protocol, Script, Violation};
use stateright::{Checker, HasDiscoveries, Model, Path};

use crate::model::{Action, State, WorldModel};
use crate::world::World;

/// The time between two looks at a running checker grows up to this.
const LOOK_EVERY_MAX: Duration = Duration::from_millis(50);

/// The properties that stateright cannot say, by name: they are left out of a [`check`].
pub fn unchecked<P: Protocol>(protocol: &P) -> Vec<&'static str> {
    let properties = protocol.properties().into_iter();
    properties
        .filter(|property| matches!(property.kind, Kind::ReachableAlways | Kind::Eventually))
        .map(|property| property.name)
        .collect()
}

/// Explores `protocol` within `bounds` with stateright's checker on as many threads as there are jobs (one, if
/// there is a bound on depth). `watch` is called now and then; `false` stops the exploration as unknown.
///
/// Counts mean what the explorer's mean where both have the same normal form: everywhere but for monitors that follow
/// one obligation at a time, and messages that act alike. With several threads or depth first, the counterexample need
/// not be a shortest, and the depth is that of the furthest state met.
///
/// # Errors
/// If the bounds do not fit the protocol, or the order is depth first within a bound on depth: stateright does not
/// expand again a state that it met too deep.
pub fn check<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    strategy: &Strategy,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    if strategy.order == Order::DepthFirst && bounds.depth.is_some() {
        return Err("stateright's depth-first search misses states within a bound on depth; use breadth first".into());
    }
    let jobs = if bounds.depth.is_some() { 1 } else { strategy.jobs };
    let builder = WorldModel::new(protocol, bounds)?.checker().threads(jobs).finish_when(HasDiscoveries::AnyFailures);
    let checked = match strategy.order {
        Order::BreadthFirst => finish(builder.spawn_bfs(), bounds, watch)?,
        Order::DepthFirst => finish(builder.spawn_dfs(), bounds, watch)?,
        Order::BitState { .. } | Order::Walks(_) => {
            return Err("stateright's checkers go breadth first or depth first".into());
        }
    };
    let not_checked = unchecked(protocol).into_iter().map(|name| format!("not checked: {name} (of the whole graph)"));
    Ok(Exploration {
        repeats_from: None,
        script: checked.path.map(|path| script(bounds, &path)),
        verdict: match checked.verdict {
            Verdict::Violated(fall) => Verdict::Violated(Violation {
                detail: seedbed_model::trace::with_names(&protocol.nodes(), &fall.detail),
                ..fall
            }),
            verdict => verdict,
        },
        stats: checked.stats,
        reached: checked.reached,
        unexercised: checked.exercised.missing::<P>(),
        abstractions: explore::abstractions(protocol, bounds).into_iter().chain(not_checked).collect(),
    })
}

/// What a checker came to.
struct Finished {
    verdict: Verdict,
    /// To what fell.
    path: Option<Path<State, Action>>,
    stats: Stats,
    reached: Vec<&'static str>,
    exercised: Exercised,
}

fn finish(
    mut checker: impl Checker<WorldModel>,
    bounds: &Bounds,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Finished, String> {
    let stopped = wait(&mut checker, bounds, watch)?;
    let model = checker.model();
    // A path is told by expanding its states again.
    model.stopped.store(false, Ordering::Relaxed);
    if let Some(why) = model.noting(|notes| notes.misfit.take()) {
        return Err(why);
    }
    let path = path(&checker);
    // stateright counts the start as depth 1.
    let depth = (checker.max_depth() as u32).saturating_sub(1);
    let stats = Stats {
        unique: checker.unique_state_count() as u64,
        total: checker.state_count() as u64,
        depth: Some(depth),
        exhausted: path.is_none() && stopped.is_none(),
        cut: model.noting(|notes| notes.cut),
        ..Stats::default()
    };
    let verdict = match (&path, stopped) {
        (Some(path), _) => {
            Verdict::Violated(path.last_state().falls().first().expect("the path ends with a fall").clone())
        }
        (None, Some(why)) => Verdict::Unknown(why),
        (None, None) => Verdict::Holds,
    };
    let (reached, exercised) =
        model.noting(|notes| (notes.reached.iter().copied().collect(), std::mem::take(&mut notes.exercised)));
    Ok(Finished { verdict, path, stats, reached, exercised })
}

/// Waits for the checker's threads. Why it was stopped, if it was.
fn wait(
    checker: &mut impl Checker<WorldModel>,
    bounds: &Bounds,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<String>, String> {
    let threads = checker.handles();
    let mut stopped = None;
    let mut pause = Duration::from_micros(100);
    while threads.iter().any(|thread| !thread.is_finished()) {
        #[expect(clippy::disallowed_methods, reason = "waits for another library's threads; decides nothing")]
        std::thread::sleep(pause);
        pause = (pause * 2).min(LOOK_EVERY_MAX);
        let unique = checker.unique_state_count() as u64;
        let progress =
            Progress { unique, total: checker.state_count() as u64, depth: Some(checker.max_depth() as u32), left: 0 };
        if unique > bounds.states {
            stopped.get_or_insert(format!("the bound of {} states ran out", bounds.states));
        } else if stopped.is_none() && !watch(progress) {
            stopped = Some("the budget ran out".to_owned());
        }
        if stopped.is_some() {
            checker.model().stopped.store(true, Ordering::Relaxed);
        }
    }
    for thread in threads {
        thread.join().map_err(|_| "the protocol panicked outside its steps".to_owned())?;
    }
    Ok(stopped)
}

/// The counterexample with the fewest steps.
fn path(checker: &impl Checker<WorldModel>) -> Option<Path<State, Action>> {
    let claims = checker.model().properties();
    let mut discoveries = checker.discoveries();
    let failing = claims.iter().filter(|claim| claim.expectation.discovery_is_failure());
    let paths = failing.filter_map(|claim| discoveries.remove(claim.name));
    paths.min_by_key(|path| path.clone().into_vec().len())
}

fn script<P: Protocol>(bounds: &Bounds, path: &Path<State, Action>) -> Script<P> {
    let path = path.clone().into_vec();
    let first: World<P> = path.first().expect("a path has a start").0.world();
    let steps = path.iter().filter_map(|(_, action)| action.as_ref()).flat_map(Action::steps).collect();
    first.script(bounds, steps)
}

/// Serves stateright's Explorer page of `protocol` within `bounds` at `address`, until the process ends.
///
/// # Errors
/// If the bounds do not fit the protocol, or the address cannot be listened at.
pub fn serve<P: Protocol>(protocol: &P, bounds: &Bounds, address: SocketAddr) -> Result<(), String> {
    let model = WorldModel::new(protocol, bounds)?;
    serve_model(model, address)
}

fn serve_model(model: WorldModel, address: SocketAddr) -> Result<(), String> {
    // stateright panics where it cannot listen: ask first.
    TcpListener::bind(address).map_err(|error| format!("listen at {address}: {error}"))?;
    let checker = model.checker().serve(address);
    drop::<Arc<_>>(checker);
    Ok(())
}
