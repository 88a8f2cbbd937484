//! Runs of stateright's own checkers, told as the explorer tells its own.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use seedbed_model::explore::{self, Bounds, Exploration, Order, Progress, Stats, Strategy, Verdict};
use seedbed_model::{Kind, Protocol, Script, Violation};
use stateright::{Checker, HasDiscoveries, Model, Path};

use crate::model::{Action, State, WorldModel};

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
    match strategy.order {
        Order::BreadthFirst => finish(builder.spawn_bfs(), protocol, bounds, watch),
        Order::DepthFirst => finish(builder.spawn_dfs(), protocol, bounds, watch),
        Order::BitState { .. } | Order::Walks(_) => Err("stateright's checkers go breadth first or depth first".into()),
    }
}

fn finish<P: Protocol>(
    mut checker: impl Checker<WorldModel<P>>,
    protocol: &P,
    bounds: &Bounds,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    let stopped = wait(&mut checker, bounds, watch)?;
    let model = checker.model();
    // A path is told by expanding its states again.
    model.stopped.store(false, Ordering::Relaxed);
    if let Some(why) = model.noting(|notes| notes.misfit.take()) {
        return Err(why);
    }
    let found = fall(&checker);
    // stateright counts the start as depth 1.
    let depth = (checker.max_depth() as u32).saturating_sub(1);
    let exhausted = found.is_none() && stopped.is_none();
    let stats = Stats {
        unique: checker.unique_state_count() as u64,
        total: checker.state_count() as u64,
        depth,
        exhausted,
        cut: model.noting(|notes| notes.cut),
        ..Stats::default()
    };
    let (script, verdict) = match (found, stopped) {
        (Some((script, violation)), _) => (Some(script), Verdict::Violated(violation)),
        (None, Some(why)) => (None, Verdict::Unknown(why)),
        (None, None) => (None, Verdict::Holds),
    };
    let not_checked = unchecked(protocol).into_iter().map(|name| format!("not checked: {name} (reachable always)"));
    Ok(Exploration {
        repeats_from: None,
        verdict,
        script,
        stats,
        reached: model.noting(|notes| notes.reached.iter().copied().collect()),
        unexercised: model.noting(|notes| notes.exercised.missing::<P>()),
        abstractions: explore::abstractions(protocol, bounds).into_iter().chain(not_checked).collect(),
    })
}

/// Waits for the checker's threads. Why it was stopped, if it was.
fn wait<P: Protocol>(
    checker: &mut impl Checker<WorldModel<P>>,
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
            Progress { unique, total: checker.state_count() as u64, depth: checker.max_depth() as u32, left: 0 };
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

/// The counterexample with the fewest steps, and what falls on it.
fn fall<P: Protocol>(checker: &impl Checker<WorldModel<P>>) -> Option<(Script<P>, Violation)> {
    let model = checker.model();
    let claims = model.properties();
    let mut discoveries = checker.discoveries();
    let failing = claims.iter().filter(|claim| claim.expectation.discovery_is_failure());
    let paths = failing.filter_map(|claim| Some((claim.name, discoveries.remove(claim.name)?)));
    let (_, path) = paths.min_by_key(|(_, path)| path.clone().into_vec().len())?;
    Some(told(model, path))
}

fn told<P: Protocol>(model: &WorldModel<P>, path: Path<State<P>, Action<P>>) -> (Script<P>, Violation) {
    let path = path.into_vec();
    let first = path.first().expect("a path has a start").0.world();
    let last = &path.last().expect("a path has an end").0;
    let steps = path.iter().filter_map(|(_, action)| action.as_ref()).flat_map(Action::steps).collect();
    let mut violation = last.falls().first().expect("a counterexample ends with a fall").clone();
    violation.detail = seedbed_model::trace::with_names(&model.protocol.nodes(), &violation.detail);
    (first.script(&model.bounds, steps), violation)
}

/// Serves stateright's Explorer page of `protocol` within `bounds` at `address`, until the process ends.
///
/// # Errors
/// If the bounds do not fit the protocol, or the address cannot be listened at.
pub fn serve<P: Protocol>(protocol: &P, bounds: &Bounds, address: SocketAddr) -> Result<(), String> {
    let model = WorldModel::new(protocol, bounds)?;
    // stateright panics where it cannot listen: ask first.
    TcpListener::bind(address).map_err(|error| format!("listen at {address}: {error}"))?;
    let checker = model.checker().serve(address);
    drop::<Arc<_>>(checker);
    Ok(())
}
