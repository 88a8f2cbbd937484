//! One model, searched by stateright's checkers and by our explorer.

use std::fmt::Debug;
use std::hash::Hash;

use seedbed_model::explore::{Order, Progress, Strategy};
use seedbed_stateright::{Checked, Options};
use stateright::{Checker, Expectation, Model};

/// How much both saw of a space that they exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) unique: u64,
    pub(crate) total: u64,
    /// States on the longest of the shortest ways, as stateright counts them: one more than there are steps. `None` where
    /// it is not compared.
    pub(crate) depth: Option<u64>,
}

/// What both said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    /// No property fell.
    Holds(Counts),
    /// This one fell, after so many actions. Stateright searches on until it has an answer for every property, and of
    /// one that falls several times it names a later way.
    Falls(&'static str, usize),
}

/// What stateright said, with the goals it reached.
struct Theirs {
    said: Said,
    reached: Vec<&'static str>,
}

/// Every order and number of workers.
fn strategies() -> impl Iterator<Item = Strategy> {
    let orders = [Order::BreadthFirst, Order::DepthFirst];
    orders.into_iter().flat_map(|order| [1, 2].map(|jobs| Strategy { order, jobs }))
}

/// Searches by stateright, breadth first, and by each strategy of ours. What all of them said; of a property that fell,
/// the shortest way.
///
/// # Panics
/// If they do not say the same.
#[track_caller]
pub(crate) fn agree<M>(name: &str, model: M, explore: impl Fn(M, &Options) -> Result<Checked, String>) -> Said
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + PartialEq + Hash + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let theirs = theirs(&model, &model.clone().checker().spawn_bfs().join());
    all_agree(name, &model, explore, &theirs)
}

/// The same by symmetry, which stateright has depth first alone: its depth is then that of the ways it took, and is not
/// compared.
///
/// # Panics
/// If they do not say the same.
#[track_caller]
pub(crate) fn agree_by_symmetry<M>(
    name: &str,
    model: M,
    represent: fn(&M::State) -> M::State,
    explore: impl Fn(M, &Options) -> Result<Checked, String>,
) -> Said
where
    M: Model + Clone + Send + Sync + 'static,
    M::State: Clone + Debug + PartialEq + Hash + Send + Sync,
    M::Action: Clone + Debug + PartialEq + Send + Sync,
{
    let mut theirs = theirs(&model, &model.clone().checker().symmetry_fn(represent).spawn_dfs().join());
    if let Said::Holds(counts) = &mut theirs.said {
        counts.depth = None;
    }
    all_agree(name, &model, explore, &theirs)
}

fn theirs<M>(model: &M, checker: &impl Checker<M>) -> Theirs
where
    M: Model,
    M::State: Clone + Debug + PartialEq + Hash,
    M::Action: Clone + Debug + PartialEq,
{
    let mut found = checker.discoveries();
    let (unique, total) = (checker.unique_state_count() as u64, checker.state_count() as u64);
    let mut said = Said::Holds(Counts { unique, total, depth: Some(checker.max_depth() as u64) });
    let mut reached = Vec::new();
    for property in model.properties() {
        match (found.remove(property.name), property.expectation) {
            (Some(path), Expectation::Always) => said = Said::Falls(property.name, path.into_actions().len()),
            (Some(_), _) => reached.push(property.name),
            (None, _) => {}
        }
    }
    Theirs { said, reached }
}

#[track_caller]
fn all_agree<M: Model + Clone>(
    name: &str,
    model: &M,
    explore: impl Fn(M, &Options) -> Result<Checked, String>,
    theirs: &Theirs,
) -> Said {
    let mut shortest = theirs.said.clone();
    for strategy in strategies() {
        let ours = explore(model.clone(), &Options { strategy, ..Options::default() }).expect("it is searched");
        compare(&format!("{name} by {strategy:?}"), theirs, &ours, strategy.order);
        if let (Said::Falls(_, length), Some(found)) = (&mut shortest, ours.fallen) {
            *length = (*length).min(found.actions.len());
        }
    }
    shortest
}

#[track_caller]
fn compare(name: &str, theirs: &Theirs, ours: &Checked, order: Order) {
    match (&theirs.said, &ours.fallen) {
        (Said::Holds(counts), None) => {
            let seen = (ours.stats.unique, ours.stats.total, ours.stats.exhausted);
            assert_eq!(seen, (counts.unique, counts.total, true), "{name}");
            if let (Order::BreadthFirst, Some(depth)) = (order, counts.depth) {
                assert_eq!(ours.stats.depth.map(|steps| u64::from(steps) + 1), Some(depth), "{name}");
            }
            assert_eq!(ours.reached, theirs.reached, "{name}");
        }
        (Said::Falls(property, length), Some(found)) => {
            assert_eq!(found.property, *property, "{name}");
            if order == Order::BreadthFirst {
                assert!(found.actions.len() <= *length, "{name}: {:?} and {length}", found.actions);
            }
        }
        (theirs, ours) => panic!("{name}: stateright says {theirs:?}, we say {ours:?}"),
    }
}

/// A search that nobody watches.
pub(crate) fn quiet<M: Clone>(
    explore: impl Fn(M, &Options, &mut dyn FnMut(Progress) -> bool) -> Result<Checked, String>,
) -> impl Fn(M, &Options) -> Result<Checked, String> {
    move |model, options| explore(model, options, &mut |_| true)
}
