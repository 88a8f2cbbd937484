//! The dumb twin: a breadth-first search over plain worlds. What counts reduces nothing but a shift in time.

use std::collections::{BTreeMap, BTreeSet};

use seedbed_model::{Choice, Local, Named, encoding};
use seedbed_stateright::{Reductions, World};

use crate::generate::Sample;
use crate::table::Table;

/// A level is expanded while there are fewer states than this; a sample with more is explored to that depth.
const STATES_MAX: usize = 100;

/// What a sample's exploration must find.
pub(crate) struct Truth {
    /// The bound on depth, if the sample has more states.
    pub(crate) depth: Option<u32>,
    /// The properties that fall in the fewest steps, and how many those are.
    pub(crate) fall: Option<Fall>,
    /// Goals reached on the way; all of them if nothing fell.
    pub(crate) reached: BTreeSet<&'static str>,
    /// Whether `then` falls: a weakly fair run of the states that were expanded owes it for ever.
    pub(crate) lasts: bool,
    /// One world for each state, in the order found. Its depth.
    worlds: Vec<(World<Table>, u32)>,
    sample: Sample,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fall {
    pub(crate) properties: BTreeSet<String>,
    pub(crate) steps: usize,
}

/// A transition, and what it takes that must come in the end if it stays possible.
struct Edge {
    from: usize,
    to: usize,
    action: Option<Vec<u8>>,
}

/// The graph as it is found.
#[derive(Default)]
struct Graph {
    known: BTreeMap<Vec<u8>, usize>,
    worlds: Vec<(World<Table>, u32)>,
    edges: Vec<Edge>,
    /// States from which the next step can reach the goal of `again`.
    near_goal: BTreeSet<usize>,
    reached: BTreeSet<&'static str>,
    falls: BTreeSet<String>,
}

impl Graph {
    fn add(&mut self, sample: &Sample, key: Reductions, world: World<Table>, depth: u32) -> usize {
        let form = world.normal_form(&sample.table, &sample.bounds, key);
        let next = self.worlds.len();
        let index = *self.known.entry(form).or_insert(next);
        if index == next {
            self.worlds.push((world, depth));
        }
        index
    }

    fn expand(&mut self, sample: &Sample, key: Reductions, index: usize) {
        let (world, depth) = self.worlds[index].clone();
        for way in world.ways(&sample.table, &sample.bounds).expect("the bounds fit") {
            if let Some(fall) = way.violations.first() {
                self.falls.insert(fall.property.clone());
                continue;
            }
            if way.reached.contains("again") {
                self.near_goal.insert(index);
            }
            self.reached.extend(way.reached);
            let action = fair_action(&way.steps[0].choice);
            let to = self.add(sample, key, way.next.expect("nothing panics"), depth + 1);
            self.edges.push(Edge { from: index, to, action });
        }
    }

    /// The depth of the shallowest state from which the goal is cut off. What was not expanded may reach anything.
    fn cut_off(&self, open: usize) -> Option<u32> {
        let mut reaches: Vec<bool> =
            (0..self.worlds.len()).map(|index| index >= open || self.near_goal.contains(&index)).collect();
        loop {
            let is_more = |edge: &&Edge| reaches[edge.to] && !reaches[edge.from];
            let more: Vec<usize> = self.edges.iter().filter(is_more).map(|edge| edge.from).collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|from| reaches[from] = true);
        }
        let cut_off = self.worlds.iter().zip(&reaches).filter(|(_, reaches)| !**reaches);
        cut_off.map(|((_, depth), _)| *depth).min()
    }
}

impl Graph {
    /// Whether a weakly fair run owes for ever, by the definition as a fixed point (Emerson and Lei): the greatest set of
    /// owing states from each of which every action possible there can be taken or forgone without leaving the set.
    fn lasts(&self, expanded: usize) -> bool {
        let owes = |(index, (world, _)): (usize, &(World<Table>, u32))| index < expanded && *world.monitor() == 1;
        let mut lasting: Vec<bool> = self.worlds.iter().enumerate().map(owes).collect();
        loop {
            let within: Vec<&Edge> = self.edges.iter().filter(|edge| lasting[edge.from] && lasting[edge.to]).collect();
            let mut kept = lasting.clone();
            let actions: BTreeSet<&Vec<u8>> = self.edges.iter().filter_map(|edge| edge.action.as_ref()).collect();
            for action in actions {
                let takes = |edge: &&Edge| edge.action.as_ref() == Some(action);
                let able: BTreeSet<usize> = self.edges.iter().filter(takes).map(|edge| edge.from).collect();
                let mut serves: Vec<bool> = (0..lasting.len()).map(|state| !able.contains(&state)).collect();
                within.iter().filter(|edge| takes(edge)).for_each(|edge| serves[edge.from] = true);
                while let Some(edge) = within.iter().find(|edge| serves[edge.to] && !serves[edge.from]) {
                    serves[edge.from] = true;
                }
                kept.iter_mut().zip(serves).for_each(|(kept, serves)| *kept &= serves);
            }
            if kept == lasting {
                return lasting.contains(&true);
            }
            lasting = kept;
        }
    }
}

/// What is fair by design: messages, timers, writes and time come; faults, restarts, clients and decisions need not.
pub(crate) fn fair_action(choice: &Named<Table>) -> Option<Vec<u8>> {
    let is_fair = match choice {
        Choice::Deliver(_) | Choice::Elapse(_) => true,
        Choice::At(_, local) => matches!(local, Local::Fire(_) | Local::Lapse(_) | Local::Sync(_)),
        _ => false,
    };
    is_fair.then(|| encoding(choice))
}

impl Truth {
    pub(crate) fn of(sample: &Sample) -> Truth {
        Truth::keyed(sample, Reductions::NONE)
    }

    /// With states that count as one under `key`, to the sample's own bound on depth if it has one. For what hangs on a
    /// whole graph: one that goes on for ever may be finite under a reduction.
    pub(crate) fn keyed(sample: &Sample, key: Reductions) -> Truth {
        let goes_on = |states: usize, level: u32| match sample.bounds.depth {
            Some(depth) => level < depth,
            None => states < STATES_MAX,
        };
        let mut graph = Graph::default();
        for start in World::initial(&sample.table, &sample.bounds).expect("the bounds fit") {
            graph.reached.extend(start.reached);
            graph.add(sample, key, start.next.expect("nothing panics"), 0);
        }
        let (mut expanded, mut level) = (0, 0);
        while graph.falls.is_empty() && expanded < graph.worlds.len() && goes_on(graph.worlds.len(), level) {
            level += 1;
            let count = graph.worlds.len();
            (expanded..count).for_each(|index| graph.expand(sample, key, index));
            expanded = count;
        }
        // A sample in which something falls may go on for ever: then it too is explored no further than it was here.
        let is_whole = expanded == graph.worlds.len() && graph.falls.is_empty();
        let lasts = sample.table.then && graph.falls.is_empty() && graph.lasts(expanded);
        let fall = if graph.falls.is_empty() {
            let depth = sample.table.again.then(|| graph.cut_off(expanded)).flatten();
            depth.map(|depth| Fall { properties: BTreeSet::from(["again".to_owned()]), steps: depth as usize })
        } else {
            Some(Fall { properties: graph.falls, steps: level as usize })
        };
        let depth = (!is_whole).then_some(level);
        Truth { depth, fall, lasts, reached: graph.reached, worlds: graph.worlds, sample: sample.clone() }
    }

    /// How many states there are without reductions.
    pub(crate) fn plain_states(&self) -> u64 {
        self.worlds.len() as u64
    }

    /// Every state under the reductions.
    pub(crate) fn states(&self, reductions: Reductions) -> BTreeSet<Vec<u8>> {
        let form = |world: &World<Table>| world.normal_form(&self.sample.table, &self.sample.bounds, reductions);
        self.worlds.iter().map(|(world, _)| form(world)).collect()
    }

    /// Whether something was explored that a mistake could show in.
    pub(crate) fn is_telling(&self) -> bool {
        self.worlds.len() > 20
    }
}
