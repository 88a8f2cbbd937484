//! The search for an order: depth first, with memory of what was tried.
//!
//! Wing and Gong 1993 with the memory of Lowe 2017 ("Testing for linearizability", §3), and these differences. A
//! configuration is how far each lane is, not a set of operations. An operation that changes no state is ordered as
//! soon as it fits: in any order that has it later it can be moved forward, as nothing before it need come first. An
//! operation that need not be ordered is used only where it changes the state, alike ones in the order of their
//! invocations, and a configuration that used more of them than an equal one met before is not searched again.

use super::NEVER;
use super::plan::{Item, Plan};
use super::specification::Specification;
use super::states::States;
use super::visited::{Visited, weight};

/// Spaces of [`weight`].
const LANE: u32 = 0;
const STATE: u32 = 1;
const BESIDE: u32 = 2;

/// The callback is asked after this many configurations.
const WATCH_EVERY: u64 = 1 << 14;

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Operations in an order that explains every answer.
    Order(Vec<u32>),
    /// There is none.
    None(Furthest),
    /// A limit was reached first.
    Limit(Limit),
}

/// The furthest that a search came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Furthest {
    /// Operations in an order that explains all answers before `end`.
    pub(super) order: Vec<u32>,
    /// The event of the first answer that no order explains.
    pub(super) end: u64,
}

/// What a search ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Steps,
    Bytes,
    Stopped,
}

/// What a search may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Configurations.
    pub(super) steps: u64,
    /// Memory [bytes].
    pub(super) bytes: u64,
}

/// Where an operation is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Lane(u32),
    Optional(u32),
    /// One of those that may come any number of times.
    Repeated,
}

/// An operation that can come next, with what comes of it.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    place: Place,
    /// Where the lane is afterwards.
    head: u32,
    index: u32,
    slot: u32,
    state: u32,
    returned: u64,
}

/// What undoes a candidate.
#[derive(Debug, Clone, Copy)]
struct Move {
    place: Place,
    index: u32,
    head: u32,
    slot: u32,
    state: u32,
}

/// A configuration on the path: which of its candidates are left, and where the trail was.
#[derive(Debug, Clone, Copy)]
struct Frame {
    candidates_start: usize,
    trail_length: usize,
}

/// One search.
pub(super) struct Search<'a, 's, S: Specification> {
    plan: &'a Plan,
    states: &'a mut States<'s, S>,
    heads: Vec<u32>,
    used: Vec<u32>,
    row: Vec<u32>,
    fingerprint: u128,
    trail: Vec<Move>,
    frames: Vec<Frame>,
    candidates: Vec<Candidate>,
    visited: Visited,
    /// Where what overwrites was offered: configurations but for the part that it is of.
    overwritten: Visited,
    furthest: Furthest,
    /// Configurations so far, and free operations tried.
    pub(super) steps: u64,
    /// When the callback is asked next.
    watched: u64,
}

impl<'a, 's, S: Specification> Search<'a, 's, S> {
    pub(super) fn new(plan: &'a Plan, states: &'a mut States<'s, S>) -> Self {
        Search {
            heads: vec![0; plan.lanes.len()],
            used: vec![0; plan.optional.len()],
            row: vec![0; plan.slots as usize],
            plan,
            states,
            fingerprint: 0,
            trail: Vec::new(),
            frames: Vec::new(),
            candidates: Vec::new(),
            visited: Visited::default(),
            overwritten: Visited::default(),
            furthest: Furthest::default(),
            steps: 0,
            watched: 0,
        }
    }

    /// Searches. `watch` is told the number of configurations now and then, and may say no to going on.
    pub(super) fn run(&mut self, limits: Limits, watch: &mut dyn FnMut(u64) -> bool) -> Found {
        loop {
            let end = self.settle();
            if end == NEVER {
                return Found::Order(self.order());
            }
            if let Some(limit) = self.limit(limits, watch) {
                return Found::Limit(limit);
            }
            let frame = Frame { candidates_start: self.candidates.len(), trail_length: self.trail.len() };
            self.frames.push(frame);
            if self.visited.insert(self.fingerprint, &self.used) {
                self.steps += 1;
                self.offer(end);
            }
            self.note(end, frame);
            if !self.advance() {
                return Found::None(std::mem::take(&mut self.furthest));
            }
        }
    }

    fn limit(&mut self, limits: Limits, watch: &mut dyn FnMut(u64) -> bool) -> Option<Limit> {
        if self.steps >= limits.steps {
            return Some(Limit::Steps);
        }
        if self.steps < self.watched {
            return None;
        }
        self.watched = self.steps + WATCH_EVERY;
        if self.bytes() > limits.bytes {
            return Some(Limit::Bytes);
        }
        (!watch(self.steps)).then_some(Limit::Stopped)
    }

    /// What the search holds [bytes], about.
    pub(super) fn bytes(&self) -> u64 {
        let candidates = self.candidates.capacity() * size_of::<Candidate>();
        self.visited.bytes() + self.overwritten.bytes() + self.states.bytes() + candidates as u64
    }

    fn order(&self) -> Vec<u32> {
        self.trail.iter().map(|step| step.index).collect()
    }

    /// The earliest answer not yet explained: nothing invoked after it can come next. [`NEVER`] if all are.
    fn end(&self) -> u64 {
        let lanes = self.plan.ends.iter().zip(&self.heads);
        lanes.map(|(ends, head)| ends[*head as usize]).min().unwrap_or(NEVER)
    }

    fn can_come(&self, item: &Item, end: u64) -> bool {
        !self.plan.real_time || item.invoked < end
    }

    /// Orders every operation that changes no state and fits here, until none is left. Returns [`Self::end`].
    fn settle(&mut self) -> u64 {
        'again: loop {
            let end = self.end();
            for lane in 0..self.heads.len() {
                let Some(item) = self.plan.lanes[lane].get(self.heads[lane] as usize) else { continue };
                if !item.keeps || !self.can_come(item, end) {
                    continue;
                }
                let state = self.row[item.slot as usize];
                let (from, to) = self.states.step(item.kind, state);
                if from < to {
                    self.take(candidate(Place::Lane(lane as u32), self.heads[lane] + 1, item, state));
                    continue 'again;
                }
            }
            return end;
        }
    }

    /// Pushes everything that can come next, what is to be tried first at the end.
    fn offer(&mut self, end: u64) {
        let start = self.candidates.len();
        for index in 0..self.plan.repeated.len() {
            self.offer_item(&self.plan.repeated[index], Place::Repeated, 0, end);
        }
        (0..self.plan.blind.len()).for_each(|slot| self.offer_blind(slot, end));
        // Free operations can be many, and each is tried: they count.
        self.steps += (self.candidates.len() - start) as u64;
        for kind in 0..self.used.len() {
            if let Some(item) = self.plan.optional[kind].get(self.used[kind] as usize) {
                self.offer_item(item, Place::Optional(kind as u32), 0, end);
            }
        }
        for lane in 0..self.heads.len() {
            for head in self.heads[lane] as usize..self.plan.lanes[lane].len() {
                let item = &self.plan.lanes[lane][head];
                self.offer_item(item, Place::Lane(lane as u32), head as u32 + 1, end);
                if !item.is_optional() {
                    break;
                }
            }
        }
        latest_first(&mut self.candidates[start..]);
    }

    /// What overwrites a part, unless it was offered where all but that part was the same, and nothing more was used up:
    /// everything that it leads to is then reached from there.
    fn offer_blind(&mut self, slot: usize, end: u64) {
        if self.plan.blind[slot].is_empty() {
            return;
        }
        let beside = self.fingerprint.wrapping_sub(weight(STATE, slot as u32, self.row[slot]));
        // The part is told apart from another that is left out likewise.
        let beside = beside.wrapping_add(weight(BESIDE, slot as u32, 0));
        if self.overwritten.insert(beside, &self.used) {
            for index in 0..self.plan.blind[slot].len() {
                self.offer_item(&self.plan.blind[slot][index], Place::Repeated, 0, end);
            }
        }
    }

    fn offer_item(&mut self, item: &Item, place: Place, head: u32, end: u64) {
        if !self.can_come(item, end) {
            return;
        }
        let state = self.row[item.slot as usize];
        let (from, to) = self.states.step(item.kind, state);
        for index in from..to {
            let next = self.states.next(index);
            if !item.is_optional() || next != state {
                self.candidates.push(candidate(place, head, item, next));
            }
        }
    }

    /// Remembers how far this configuration came, if it leads nowhere and none came further.
    fn note(&mut self, end: u64, frame: Frame) {
        if self.candidates.len() == frame.candidates_start && end > self.furthest.end {
            self.furthest = Furthest { order: self.order(), end };
        }
    }

    /// Goes on to the next candidate on the path; whether there is one.
    fn advance(&mut self) -> bool {
        while let Some(frame) = self.frames.last().copied() {
            self.undo(frame.trail_length);
            if self.candidates.len() > frame.candidates_start
                && let Some(candidate) = self.candidates.pop()
            {
                self.take(candidate);
                return true;
            }
            self.frames.pop();
        }
        false
    }

    fn take(&mut self, candidate: Candidate) {
        let Candidate { place, head, index, slot, state, .. } = candidate;
        let before = match place {
            Place::Lane(lane) => self.set_head(lane, head),
            Place::Optional(kind) => {
                self.used[kind as usize] += 1;
                0
            }
            Place::Repeated => 0,
        };
        let state = self.set_state(slot, state);
        self.trail.push(Move { place, index, head: before, slot, state });
    }

    fn undo(&mut self, trail_length: usize) {
        while self.trail.len() > trail_length
            && let Some(Move { place, head, slot, state, .. }) = self.trail.pop()
        {
            match place {
                Place::Lane(lane) => drop(self.set_head(lane, head)),
                Place::Optional(kind) => self.used[kind as usize] -= 1,
                Place::Repeated => {}
            }
            self.set_state(slot, state);
        }
    }

    /// Returns the head before.
    fn set_head(&mut self, lane: u32, head: u32) -> u32 {
        let before = std::mem::replace(&mut self.heads[lane as usize], head);
        self.exchange(LANE, lane, before, head);
        before
    }

    /// Returns the state before.
    fn set_state(&mut self, slot: u32, state: u32) -> u32 {
        let before = std::mem::replace(&mut self.row[slot as usize], state);
        if before != state {
            self.exchange(STATE, slot, before, state);
        }
        before
    }

    fn exchange(&mut self, space: u32, index: u32, before: u32, after: u32) {
        self.fingerprint =
            self.fingerprint.wrapping_sub(weight(space, index, before)).wrapping_add(weight(space, index, after));
    }
}

fn candidate(place: Place, head: u32, item: &Item, state: u32) -> Candidate {
    Candidate { place, head, index: item.index, slot: item.slot, state, returned: item.returned }
}

fn latest_first(candidates: &mut [Candidate]) {
    candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.returned));
}
