//! The judgements, their budgets and their verdicts.

use std::collections::BTreeMap;

use super::piece;
use super::plan::{Plan, Role, Roles};
use super::prefix;
use super::prepared::Prepared;
use super::search::{Found, Furthest, Limit, Limits, Search};
use super::specification::Specification;
use super::{History, Interval, NEVER};

/// A try to make a contradiction clear may search so much, and no more than the budget.
const TRY_STEPS_MAX: u64 = 1_000_000;

/// What is demanded of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    /// One order of all operations, each between its invocation and its answer (Herlihy and Wing 1990).
    Linearizable,
    /// The same, where a client may have several operations in flight, and its own take effect in the order in which
    /// it invoked them (A-linearizability: Hunt et al. 2010, §2.3).
    ALinearizable,
    /// One order of all operations that keeps every client's own; real time does not count (Lamport 1979).
    Sequential,
    /// For each client an order of every client's updates and of its own reads, that keeps every client's own order:
    /// its reads see its writes, never go back, and see each client's writes in order (read your writes, monotonic
    /// reads, monotonic writes: Terry et al. 1994, without writes follow reads). Clients may see different orders.
    Session,
}

impl Judgement {
    /// For flags and output.
    pub fn name(self) -> &'static str {
        match self {
            Judgement::Linearizable => "linearizable",
            Judgement::ALinearizable => "a-linearizable",
            Judgement::Sequential => "sequential",
            Judgement::Session => "session",
        }
    }

    /// Whether an operation must come after those answered before its invocation.
    pub fn is_real_time(self) -> bool {
        matches!(self, Judgement::Linearizable | Judgement::ALinearizable)
    }

    /// Whether a client's operations must come in the order of their invocations, even if they overlap.
    pub fn is_in_process_order(self) -> bool {
        self != Judgement::Linearizable
    }

    /// Whether an object is judged right by judging each of its parts (Herlihy and Wing 1990, §3.1: linearizability
    /// is local, the others are not).
    pub fn is_local(self) -> bool {
        self == Judgement::Linearizable
    }
}

/// What a judgement may use. Both are counted, not measured: equal inputs end alike on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Configurations searched, over all parts. Tries for [`Options::piece`] come beside it, with at most 1,000,000 each,
    /// and at most 20,000,000 together for a piece; operations that are free in a try count, too, where they are tried.
    pub steps: u64,
    /// Memory of one search [bytes], about: what is remembered, not the history itself.
    pub bytes: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { steps: 50_000_000, bytes: 2 << 30 }
    }
}

/// How to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What is demanded.
    pub judgement: Judgement,
    /// Whether parts are judged one by one where that is right ([`Judgement::is_local`]).
    pub split: bool,
    /// Whether a contradiction is made clear: the longest prefix, a minimal piece. Without, the prefix may be shorter.
    pub piece: bool,
    /// What may be used.
    pub budget: Budget,
}

impl Default for Options {
    fn default() -> Self {
        Options { judgement: Judgement::Linearizable, split: true, piece: true, budget: Budget::default() }
    }
}

/// Whether there is an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// There is: indices of operations. Operations without an answer are there if the order uses them. Under
    /// [`Judgement::Session`] each client has its own order, and this is empty.
    Ordered(Vec<usize>),
    /// There is none.
    Violated(Contradiction),
    /// The budget ran out first.
    Unknown(Exhausted),
}

/// Why there is no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The part of the object, in words, if it was judged by itself; or the client whose view has no order.
    pub within: Option<String>,
    /// The event of the answer that ends the longest prefix: everything before it can be ordered, with it nothing.
    /// Without real time, of the earliest answer that the longest order found does not explain.
    pub end: u64,
    /// Whether that prefix is known to be the longest. Never without real time, or if [`Options::piece`] is off.
    pub is_longest: bool,
    /// An order of the prefix: indices of operations.
    pub prefix: Vec<usize>,
    /// Indices of operations that contradict each other, in the order of their invocations: even if nobody knew what
    /// came of any other operation invoked by then, so that it may take effect at any later time or never (of a finite
    /// object, any number of times), these have no order; so they have none alone. Empty if it was not asked for.
    pub piece: Vec<usize>,
    /// Whether each of `piece` is known to be needed: with it set free as well, there is an order.
    pub is_minimal: bool,
}

/// The budget that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// [`Budget::steps`].
    Steps(u64),
    /// [`Budget::bytes`].
    Bytes(u64),
    /// The caller's, which said no to going on.
    Stopped,
}

/// Judges a history. `watch` is told now and then how many configurations were searched, and may say no to going on.
pub fn judge<S: Specification>(
    specification: &S,
    history: &History<S::Operation, S::Answer>,
    options: &Options,
    watch: &mut dyn FnMut(u64) -> bool,
) -> Verdict {
    let intervals = history.intervals();
    let is_split = options.judgement.is_local() && options.split;
    // Parts are prepared one by one.
    let prepared = Prepared::new(specification, if is_split { &[] } else { intervals });
    let mut court = Court { specification, intervals, options, prepared, watch, steps: 0 };
    match options.judgement {
        Judgement::Session => court.sessions(),
        _ if is_split => court.parts(),
        _ => court.whole(None, &|_| Role::Fixed),
    }
}

/// One judgement under way.
pub(super) struct Court<'a, S: Specification> {
    pub(super) specification: &'a S,
    pub(super) intervals: &'a [Interval<S::Operation, S::Answer>],
    pub(super) options: &'a Options,
    prepared: Prepared<'a, S>,
    watch: &'a mut dyn FnMut(u64) -> bool,
    /// Configurations so far.
    steps: u64,
}

/// What one search of operations says, before a contradiction is made clear.
enum Finding {
    Ordered(Vec<usize>),
    Violated(End),
    Unknown(Exhausted),
}

/// Where a history can no longer be ordered.
struct End {
    furthest: Furthest,
    is_longest: bool,
}

impl<S: Specification> Court<'_, S> {
    /// One search of `intervals`, which are those of the court, or the first of them with fewer answers. `steps` is the
    /// most that it may take.
    fn search(&mut self, intervals: &[Interval<S::Operation, S::Answer>], steps: u64, role: Roles<'_>) -> Found {
        let Court { specification, prepared, watch, options, .. } = self;
        let plan = Plan::new(*specification, intervals, options.judgement, prepared, role);
        let limits = Limits { steps, bytes: options.budget.bytes };
        let before = self.steps;
        let mut search = Search::new(&plan, &mut prepared.states);
        let found = search.run(limits, &mut |steps| watch(before + steps));
        self.steps += search.steps;
        found
    }

    /// A search with a try's share of the budget and at most `steps`; how many it took, too.
    pub(super) fn attempt(&mut self, steps: u64, role: Roles<'_>) -> (Found, u64) {
        let before = self.steps;
        let found = self.search(self.intervals, self.try_steps().min(steps), role);
        (found, self.steps - before)
    }

    /// A search of the first of the operations with fewer answers, with a try's share of the budget.
    pub(super) fn beside(&mut self, intervals: &[Interval<S::Operation, S::Answer>], role: Roles<'_>) -> Found {
        self.search(intervals, self.try_steps(), role)
    }

    fn try_steps(&self) -> u64 {
        self.options.budget.steps.min(TRY_STEPS_MAX)
    }

    fn whole(&mut self, within: Option<String>, role: Roles<'_>) -> Verdict {
        match self.find(role) {
            Finding::Ordered(order) => Verdict::Ordered(order),
            Finding::Violated(end) => Verdict::Violated(self.contradiction(within, end, role)),
            Finding::Unknown(exhausted) => Verdict::Unknown(exhausted),
        }
    }

    fn find(&mut self, role: Roles<'_>) -> Finding {
        let steps = self.options.budget.steps.saturating_sub(self.steps);
        match self.search(self.intervals, steps, role) {
            Found::Order(order) => Finding::Ordered(indices(order)),
            Found::None(furthest) => {
                let is_asked = self.options.judgement.is_real_time() && self.options.piece;
                let (furthest, is_longest) = match is_asked {
                    true => prefix::longest(self, furthest, role),
                    false => (furthest, false),
                };
                Finding::Violated(End { furthest, is_longest })
            }
            Found::Limit(Limit::Steps) => Finding::Unknown(Exhausted::Steps(self.options.budget.steps)),
            Found::Limit(Limit::Bytes) => Finding::Unknown(Exhausted::Bytes(self.options.budget.bytes)),
            Found::Limit(Limit::Stopped) => Finding::Unknown(Exhausted::Stopped),
        }
    }

    fn contradiction(&mut self, within: Option<String>, end: End, role: Roles<'_>) -> Contradiction {
        let End { furthest, is_longest } = end;
        let (piece, is_minimal) = match self.options.piece {
            true => piece::piece(self, furthest.end, is_longest, role),
            false => (Vec::new(), false),
        };
        Contradiction { within, end: furthest.end, is_longest, prefix: indices(furthest.order), piece, is_minimal }
    }

    /// Each part by itself. A part that is violated says more than one that is unknown; of several, the one that is
    /// violated first says how long the longest prefix of the history is.
    fn parts(&mut self) -> Verdict {
        let mut parts: BTreeMap<S::Part, Vec<usize>> = BTreeMap::new();
        for (index, interval) in self.intervals.iter().enumerate() {
            parts.entry(self.specification.part(&interval.operation)).or_default().push(index);
        }
        let is_split = parts.len() > 1;
        let (mut orders, mut unknown) = (Vec::new(), None);
        let mut first: Option<(S::Part, Vec<usize>, End)> = None;
        for (part, members) in parts {
            match self.within(&members, |court| court.find(&|_| Role::Fixed)) {
                Finding::Ordered(order) => orders.push(outer(&members, order)),
                Finding::Violated(end) => {
                    let is_first = |(.., other): &(_, _, End)| end.furthest.end < other.furthest.end;
                    if first.as_ref().is_none_or(is_first) {
                        first = Some((part, members, end));
                    }
                }
                Finding::Unknown(exhausted) => unknown = unknown.or(Some(exhausted)),
            }
        }
        match (first, unknown) {
            (Some((part, members, end)), _) => {
                let within = is_split.then(|| format!("{part:?}"));
                let found = self.within(&members, |court| court.contradiction(within, end, &|_| Role::Fixed));
                let (prefix, piece) = (outer(&members, found.prefix), outer(&members, found.piece));
                Verdict::Violated(Contradiction { prefix, piece, ..found })
            }
            (None, Some(exhausted)) => Verdict::Unknown(exhausted),
            (None, None) => Verdict::Ordered(merged(self.intervals, &orders)),
        }
    }

    /// Works on some of the operations alone.
    fn within<T>(&mut self, members: &[usize], work: impl FnOnce(&mut Court<'_, S>) -> T) -> T {
        let all = self.intervals;
        let own: Vec<_> = members.iter().map(|index| all[*index].clone()).collect();
        let mut court = Court {
            specification: self.specification,
            intervals: &own,
            options: self.options,
            prepared: Prepared::new(self.specification, &own),
            watch: &mut *self.watch,
            steps: self.steps,
        };
        let done = work(&mut court);
        self.steps = court.steps;
        done
    }

    /// For each client the updates of all and what it did itself.
    fn sessions(&mut self) -> Verdict {
        let processes: std::collections::BTreeSet<u64> =
            self.intervals.iter().map(|interval| interval.process).collect();
        let (intervals, specification) = (self.intervals, self.specification);
        for process in processes {
            let role = |index: usize| {
                let interval: &Interval<_, _> = &intervals[index];
                let is_seen =
                    interval.process == process || !specification.keeps(&interval.operation, interval.answer.as_ref());
                if is_seen { Role::Fixed } else { Role::Absent }
            };
            match self.whole(Some(format!("the view of process {process}")), &role) {
                Verdict::Ordered(_) => {}
                verdict => return verdict,
            }
        }
        Verdict::Ordered(Vec::new())
    }
}

fn indices(order: Vec<u32>) -> Vec<usize> {
    order.into_iter().map(|index| index as usize).collect()
}

/// Indices among `members` as indices of the history.
fn outer(members: &[usize], indices: Vec<usize>) -> Vec<usize> {
    indices.into_iter().map(|index| members[index]).collect()
}

/// One order of all operations from one of each part. Each operation is given an instant: its invocation, or that of
/// one before it in its part's order, if that is later. It is within the interval, since no operation comes after one
/// that was invoked only after its own answer; and instants of different parts differ, since each is an event.
fn merged<O, A>(intervals: &[Interval<O, A>], orders: &[Vec<usize>]) -> Vec<usize> {
    let mut instants: Vec<(u64, usize)> = Vec::new();
    for order in orders {
        let mut instant = 0;
        for index in order {
            instant = instant.max(intervals[*index].invoked);
            debug_assert!(instant < intervals[*index].returned || intervals[*index].returned == NEVER);
            instants.push((instant, *index));
        }
    }
    by_instant(&mut instants);
    instants.into_iter().map(|(_, index)| index).collect()
}

/// Stable: operations of one instant are of one part, in its order.
fn by_instant(instants: &mut [(u64, usize)]) {
    instants.sort_by_key(|(instant, _)| *instant);
}
