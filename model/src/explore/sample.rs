//! Random walks over the choices of a world, uniform or by priority.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::interned::Work;
use super::moment::Moment;
use super::search::refuse_eventual;
use super::strategy::{Order, Sampling, Walks};
use super::table::{ROOT, Table, shard_of};
use super::walker::{Pick, Walker};
use super::{Bounds, Exploration, Progress, Stats, Verdict, report};
use crate::canonical::hash;
use crate::host::Local;
use crate::name::NodeId;
use crate::property::Violation;
use crate::protocol::Protocol;
use crate::script::Script;
use crate::time::Span;
use crate::world::Choice;

/// What competes: whatever has the highest priority goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Link(NodeId, NodeId),
    Timers(NodeId),
    Disk(NodeId),
    Client(NodeId),
    Decisions(NodeId),
    Faults(NodeId),
    Cuts,
    Time,
}

/// Priorities as they are drawn: the task in turn falls below all others at some steps.
struct Priorities {
    of: BTreeMap<Task, u64>,
    /// Steps at which the task in turn falls, the last first.
    falls_at: Vec<u32>,
    /// Below every priority so far.
    least: u64,
}

/// A fresh priority is at least this, so that what falls stays below.
const FRESH: u64 = 1 << 32;

impl Priorities {
    fn new(changes: u32, steps: u32, rng: &mut ChaCha8Rng) -> Self {
        let mut falls_at: Vec<u32> = (0..changes).map(|_| below(rng, steps)).collect();
        falls_at.sort_unstable_by(|one, other| other.cmp(one));
        Priorities { of: BTreeMap::new(), falls_at, least: FRESH }
    }

    /// The task in turn at `step`.
    fn turn(&mut self, tasks: &[Task], step: u32, rng: &mut ChaCha8Rng) -> Task {
        for task in tasks {
            self.of.entry(*task).or_insert_with(|| FRESH | u64::from(rng.next_u32()) << 33);
        }
        let highest = |of: &BTreeMap<Task, u64>| *tasks.iter().max_by_key(|task| (of[task], **task)).expect("a choice");
        while self.falls_at.last().is_some_and(|at| *at <= step) {
            self.falls_at.pop();
            self.least -= 1;
            self.of.insert(highest(&self.of), self.least);
        }
        highest(&self.of)
    }
}

/// A number below `count`, each about as likely.
fn below(rng: &mut ChaCha8Rng, count: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(count)) >> 32) as u32
}

/// A walk looks up from its steps after so many.
const STRIDE: u32 = 1 << 12;

struct Sampler<P: Protocol> {
    walker: Walker<P>,
    seen: Table,
    picks: Vec<Pick>,
    tasks: Vec<Task>,
}

/// Walks at random until something falls or the walks are done.
pub(super) fn explore<P: Protocol>(
    protocol: &P,
    bounds: &Bounds,
    walks: &Walks,
    moment: Option<&Moment<P>>,
    watch: &mut dyn FnMut(Progress) -> bool,
) -> Result<Exploration<P>, String> {
    // A bound on counters is about ranks, and a walk keeps names: it may go on where a search is cut off.
    let bounds = &Bounds { tag_max: bounds.tag_max.filter(|_| !protocol.tags_are_ranked()), ..bounds.clone() };
    let walks = &Walks { steps: bounds.depth.map_or(walks.steps, |depth| depth.min(walks.steps)), ..*walks };
    let walker = Walker::with_names(protocol, bounds, moment)?;
    refuse_eventual(Order::Walks(*walks), &walker.store.claims)?;
    let mut sampler = Sampler { walker, seen: Table::new(), picks: Vec::new(), tasks: Vec::new() };
    let mut stats = Stats::default();
    let mut found = None;
    let mut done = 0;
    let mut why = None;
    while done < walks.count && found.is_none() {
        let left = walks.count - done;
        let mut goes_on = |stats: &Stats| {
            watch(Progress { unique: stats.unique, total: stats.total, depth: None, left }) || {
                why = Some("the budget ran out".to_owned());
                false
            }
        };
        found = sampler.walk(walks, done, &mut stats, &mut goes_on);
        done += 1;
        stats.walks = done;
        if let Some(misfit) = &sampler.walker.store.misfit {
            return Err(misfit.clone());
        }
        stats.unique = sampler.seen.len() as u64;
        let progress = Progress { unique: stats.unique, total: stats.total, depth: None, left: walks.count - done };
        if stats.unique > bounds.states {
            why = Some(format!("the bound of {} states ran out", bounds.states));
            break;
        }
        if why.is_some() || done.is_multiple_of(64) && !watch(progress) {
            why = Some("the budget ran out".to_owned());
            break;
        }
    }
    stats.bytes = (sampler.seen.memory() + sampler.walker.store.pool.memory()) as u64;
    let (script, verdict) = match found {
        Some((violation, script)) => (Some(script), Verdict::Violated(violation)),
        None => {
            let sampled = format!("nothing fell in {done} random walks of up to {} steps", walks.steps);
            (None, Verdict::Unknown(why.map_or(sampled.clone(), |why| format!("{why}; {sampled}"))))
        }
    };
    Ok(report::sampled(protocol, bounds, sampler.walker, stats, verdict, script))
}

impl<P: Protocol> Sampler<P> {
    /// One walk, as long as it `goes_on`: what fell on it, and the way there.
    fn walk(
        &mut self,
        walks: &Walks,
        number: u64,
        stats: &mut Stats,
        goes_on: &mut dyn FnMut(&Stats) -> bool,
    ) -> Option<(Violation, Script<P>)> {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&walks.seed.to_le_bytes());
        key[8..16].copy_from_slice(&number.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        let start = below(&mut rng, self.walker.initial.len() as u32) as usize;
        let initial = self.walker.initial[start].clone();
        let mut script = self.walker.script_from(&initial.row, initial.starts);
        if let Some(violation) = initial.violation {
            return Some((violation, script));
        }
        let mut priorities = match walks.sampling {
            Sampling::Uniform => None,
            Sampling::Pct { changes } => Some(Priorities::new(changes, walks.steps, &mut rng)),
        };
        let mut row = initial.row;
        let mut elapsed = Span::ZERO;
        for step in 0..walks.steps {
            if step % STRIDE == STRIDE - 1 && !goes_on(stats) {
                return None;
            }
            self.walker.store.reset(&row);
            let mut picks = std::mem::take(&mut self.picks);
            self.walker.options(&mut picks);
            let pick =
                (!picks.is_empty()).then(|| picks[self.choose(&picks, priorities.as_mut(), step, &mut rng)].clone());
            self.picks = picks;
            let pick = pick?;
            let named = self.walker.named(&pick, elapsed);
            self.walker.store.odometer.scramble(rng.next_u64());
            self.walker.take(&pick);
            stats.total += 1;
            stats.depth = stats.depth.max(Some(step + 1));
            script.steps.extend(self.walker.script_steps(named, elapsed));
            if let Choice::Elapse(span) = pick {
                elapsed = elapsed + span;
            }
            if let Some(violation) = self.walker.store.taken.violation.take() {
                return Some((violation, script));
            }
            if self.is_beyond_tags() {
                return None;
            }
            self.note();
            self.carry(&mut row);
        }
        None
    }

    /// The row being worked on is where the walk goes on.
    fn carry(&mut self, row: &mut Work) {
        std::mem::swap(row, &mut self.walker.store.work);
    }

    fn is_beyond_tags(&self) -> bool {
        let store = &self.walker.store;
        store.bounds.tag_max.is_some_and(|most| store.has_tag_beyond(most))
    }

    fn note(&mut self) {
        let fingerprint = hash(0, &self.walker.store.work.weight.to_le_bytes()) | 1;
        self.seen.shards[shard_of(fingerprint)].insert(fingerprint, ROOT);
    }

    fn choose(
        &mut self,
        picks: &[Pick],
        priorities: Option<&mut Priorities>,
        step: u32,
        rng: &mut ChaCha8Rng,
    ) -> usize {
        let Some(priorities) = priorities else { return below(rng, picks.len() as u32) as usize };
        self.tasks.clear();
        self.tasks.extend(picks.iter().map(|pick| task_of(&self.walker, pick)));
        let turn = priorities.turn(&self.tasks, step, rng);
        let candidates = self.tasks.iter().filter(|task| **task == turn).count();
        let nth = below(rng, candidates as u32) as usize;
        let mut at = self.tasks.iter().enumerate().filter(|(_, task)| **task == turn).map(|(at, _)| at);
        at.nth(nth).expect("a task in turn has a choice")
    }
}

fn task_of<P: Protocol>(walker: &Walker<P>, pick: &Pick) -> Task {
    match pick {
        Choice::Deliver(flight) | Choice::Duplicate(flight) | Choice::Lose(flight) => {
            let info = walker.store.flight(*flight);
            Task::Link(info.from, info.to)
        }
        Choice::At(node, local) => match walker.store.local_of(*local).1 {
            Local::Fire(_) | Local::Lapse(_) => Task::Timers(*node),
            Local::Sync(_) => Task::Disk(*node),
            Local::Invoke => Task::Client(*node),
            Local::Decide(_) => Task::Decisions(*node),
            _ => Task::Faults(*node),
        },
        Choice::Cut(..) | Choice::Heal(..) => Task::Cuts,
        Choice::Elapse(_) => Task::Time,
    }
}
