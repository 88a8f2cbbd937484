//! What is tried, in which order. Delta debugging (Zeller and Hildebrandt 2002) over nodes, faults and steps: larger parts
//! are left out before smaller ones, and single ones until none can be. Then numbers are made rounder.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use seedbed_model::{Choice, ExactStep, Move, NodeClock, NodeId, Protocol, Span};

use super::attempt::Attempt;
use super::measure::{digits, is_odd};
use super::pieces::{Piece, Pieces};
use super::{Budget, Found, Progress};

/// A run of more steps is long: single steps of it are left out only after whole stretches, and its numbers stay as they are.
pub const LONG: usize = 500;

/// Rounder numbers get at most the budget divided by this.
const ROUNDING_PART: u64 = 4;

/// A stretch of fewer steps is left out by its single steps.
const STRETCH_MIN: usize = 4;

/// A run that carries on may be so many times as long as the smallest one so far, if it is smaller otherwise: so that what it saves
/// in nodes and faults is not paid for in tries.
const CARRIED_TIMES: usize = 2;

/// Once windows of all sizes were tried, those of no more steps are tried again.
const WINDOW_AGAIN: usize = 8;

/// A pass of a search, and whether it goes on until it finds nothing more.
type Pass<S> = (fn(&mut S), bool);

/// A search under way.
pub(crate) struct Search<'a, 'b, 'c, P: Protocol> {
    attempt: Attempt<'a, P>,
    best: Found<P>,
    budget: &'b mut Budget<'c>,
    tries: u64,
    /// Of them, those for rounder numbers.
    rounding: u64,
    is_over: bool,
    /// The largest window of steps that the next pass over them leaves out.
    window: usize,
}

impl<'a, 'b, 'c, P: Protocol> Search<'a, 'b, 'c, P> {
    pub(crate) fn new(attempt: Attempt<'a, P>, best: Found<P>, budget: &'b mut Budget<'c>) -> Self {
        let mut search = Search { attempt, best, budget, tries: 0, rounding: 0, is_over: false, window: 0 };
        search.attempt.expect_like(&search.best.pieces);
        search
    }

    /// One pass after the other, until none finds anything in what is left. Whether the end is 1-minimal; otherwise the budget
    /// ran out.
    pub(crate) fn run(&mut self) -> bool {
        let passes: [Pass<Self>; 6] = [
            (Self::nodes, false),
            (Self::faults, false),
            (Self::steps, true),
            (Self::pauses, false),
            (Self::clocks, false),
            (Self::numbers, false),
        ];
        self.without_waiting();
        self.stretches();
        self.window = self.best.pieces.len() / 2;
        let mut fruitless_count = 0;
        for (pass, is_exhaustive) in passes.iter().cycle() {
            let before = self.best.measure();
            pass(self);
            fruitless_count = match self.best.measure() == before {
                true => fruitless_count + 1,
                false => usize::from(*is_exhaustive),
            };
            if self.is_over {
                return false;
            }
            if fruitless_count == passes.len() {
                if !self.reread() {
                    return true;
                }
                fruitless_count = 0;
            }
        }
        unreachable!("the passes come round again");
    }

    /// Takes the pieces as the script alone tells them, so that what is minimal is so for its readers. Whether they are others.
    fn reread(&mut self) -> bool {
        let Some(pieces) = self.attempt.reread(&self.best.pieces) else { return false };
        let is_other = senders(&pieces) != senders(&self.best.pieces);
        let found = if is_other { self.attempt.run(&pieces) } else { None };
        let found = found.filter(|found| found.measure() <= self.best.measure());
        found.map(|found| self.stand_on(found)).is_some()
    }

    pub(crate) fn finish(self) -> (u64, Found<P>, Vec<NodeClock>) {
        let mut clocks = self.attempt.clocks().to_vec();
        let used = clocks.iter().rposition(|clock| *clock != NodeClock::EXACT).map_or(0, |last| last + 1);
        clocks.truncate(used);
        (self.tries, self.best, clocks)
    }

    /// Adopts the pieces that are kept, if they fall and are smaller.
    fn keep(&mut self, keep: &dyn Fn(usize, &Piece<P>) -> bool) -> bool {
        let pieces = &self.best.pieces;
        let kept = pieces.iter().enumerate().filter(|(index, piece)| keep(*index, piece));
        let rest: Pieces<P> = kept.map(|(_, piece)| Rc::clone(piece)).collect();
        // What is left as it is cannot be smaller.
        rest.len() < pieces.len() && self.attempt(&rest)
    }

    /// Adopts other pieces, if they fall and are smaller.
    fn attempt(&mut self, pieces: &[Rc<Piece<P>>]) -> bool {
        if !self.may_try() {
            return false;
        }
        if self.attempt.carries_on() {
            self.attempt.set_carried_max(Some(self.carried_max(pieces)));
        }
        let found = self.attempt.run(pieces);
        self.adopt(found)
    }

    /// How long a run of these pieces may get by carrying on and still be the smaller one.
    fn carried_max(&self, pieces: &[Rc<Piece<P>>]) -> usize {
        let weight =
            |pieces: &[Rc<Piece<P>>]| pieces.iter().filter(|piece| piece.is_start() || piece.is_fault()).count();
        let best = &self.best.pieces;
        best.len() * if weight(pieces) < weight(best) { CARRIED_TIMES } else { 1 }
    }

    /// Adopts the pieces with one of them changed, if they fall and are smaller.
    fn change(&mut self, index: usize, changed: Piece<P>) -> bool {
        let mut pieces = self.best.pieces.clone();
        pieces[index] = Rc::new(changed);
        self.attempt(&pieces)
    }

    fn adopt(&mut self, found: Option<Found<P>>) -> bool {
        match found {
            Some(found) if found.measure() < self.best.measure() => {
                self.stand_on(found);
                true
            }
            _ => false,
        }
    }

    fn stand_on(&mut self, found: Found<P>) {
        self.attempt.expect_like(&found.pieces);
        self.best = found;
    }

    fn may_try(&mut self) -> bool {
        let progress = Progress { tries: self.tries, size: self.best.size };
        self.is_over = self.is_over || self.tries >= self.budget.tries || !(self.budget.watch)(progress);
        self.tries += u64::from(!self.is_over);
        !self.is_over
    }

    /// Time passes only for timers that are told, and at the end.
    fn without_waiting(&mut self) {
        let last = self.best.pieces.iter().rposition(|piece| piece.is_time());
        self.keep(&|index, piece| !piece.is_time() || Some(index) == last);
        self.keep(&|_, piece| !piece.is_time());
    }

    fn nodes(&mut self) {
        let nodes: Vec<NodeId> =
            self.best.pieces.iter().filter(|piece| piece.is_start()).filter_map(|piece| piece.node()).collect();
        self.groups(&nodes.into_iter().rev().map(Group::from).collect::<Vec<_>>());
    }

    /// A fault with what ends it at the same node.
    fn faults(&mut self) {
        let ids: Vec<u32> = self.best.pieces.iter().filter(|piece| piece.is_fault()).map(|piece| piece.id).collect();
        let with_repair = ids.iter().map(|id| Group::Pieces(self.with_repair(*id))).collect::<Vec<_>>();
        self.groups(&with_repair);
        self.copies();
    }

    /// A copy whose message need not arrive too is the message.
    fn copies(&mut self) {
        for index in 0..self.best.pieces.len() {
            let Some(piece) = self.best.pieces.get(index) else { return };
            if let Some(Choice::Duplicate(envelope)) = piece.step.choice() {
                let what = Move::Choice(Choice::Deliver(envelope.clone()));
                let changed = Piece { step: ExactStep { what, ..piece.step.clone() }, ..Piece::clone(piece) };
                self.change(index, changed);
            }
        }
    }

    fn with_repair(&self, id: u32) -> BTreeSet<u32> {
        let mut group = BTreeSet::from([id]);
        let Some(at) = self.best.pieces.iter().position(|piece| piece.id == id) else { return group };
        let fault = &self.best.pieces[at];
        let mends = |piece: &&Rc<Piece<P>>| match (fault.step.choice(), piece.step.choice()) {
            (Some(Choice::Cut(from, to)), Some(Choice::Heal(a, b))) => (from, to) == (a, b),
            _ => piece.is_repair() && piece.node().is_some() && piece.node() == fault.node(),
        };
        group.extend(self.best.pieces[at..].iter().find(mends).map(|piece| piece.id));
        group
    }

    /// Leaves out groups: halves of them, quarters, and so on to single ones.
    fn groups(&mut self, groups: &[Group]) {
        let mut size = groups.len();
        while size > 0 && !self.is_over {
            for part in groups.chunks(size) {
                self.keep(&|_, piece| !part.iter().any(|group| group.has(piece)));
            }
            size /= 2;
        }
    }

    /// Of a long run leaves out faults and whole stretches, and lets what is owed after them happen by itself: else most of what
    /// comes after them is of messages that were not sent, and what was sent instead never arrives.
    fn stretches(&mut self) {
        self.attempt.set_carried_max(Some(self.best.pieces.len()));
        let mut size = self.best.pieces.len() / 2;
        while size >= STRETCH_MIN && self.best.size.steps > LONG && !self.is_over {
            self.nodes();
            self.faults();
            self.windows(size);
            size = size.min(self.best.pieces.len()) / 2;
        }
        self.attempt.set_carried_max(None);
    }

    /// Leaves out steps until none can be. In a chain of which each can be left out once the next is, or once the one before is,
    /// single ones go in one sweep: so sweeps change their direction.
    fn steps(&mut self) {
        let mut size = self.window.max(1);
        self.window = self.window.min(WINDOW_AGAIN);
        while size > 1 && !self.is_over {
            self.windows(size);
            size /= 2;
        }
        let mut is_forward = false;
        while size == 1 && !self.is_over {
            let before = self.best.size.steps;
            if is_forward {
                self.singles()
            } else {
                self.windows(1)
            }
            is_forward = !is_forward;
            size = usize::from(self.best.size.steps < before);
        }
    }

    /// Single ones from the start to the end.
    fn singles(&mut self) {
        let mut index = 0;
        while index < self.best.pieces.len() && !self.is_over {
            if !self.keep(&|other, _| other != index) {
                index += 1;
            }
        }
    }

    /// From the end to the start: what comes last hangs on what comes first, not the other way round.
    fn windows(&mut self, size: usize) {
        let mut end = self.best.pieces.len();
        while end > 0 && !self.is_over {
            let start = end.saturating_sub(size);
            self.keep(&|index, _| !(start..end).contains(&index));
            end = start.min(self.best.pieces.len());
        }
    }

    /// Time that passes in two places passes in one of them.
    fn pauses(&mut self) {
        let mut index = self.best.pieces.len();
        while index > 0 {
            index -= 1;
            let times = self.best.pieces.iter().enumerate().filter(|(_, piece)| piece.is_time());
            let times: Vec<usize> = times.map(|(place, _)| place).collect();
            let Some(place) = times.iter().position(|time| *time == index) else { continue };
            let before = place.checked_sub(1).map(|before| times[before]);
            let after = times.get(place + 1).copied();
            if [after, before].into_iter().flatten().any(|other| self.join(index, other)) {
                // The next one may have come into its place.
                index = (index + 1).min(self.best.pieces.len());
            }
        }
    }

    /// Lets the time of one piece pass at another instead.
    fn join(&mut self, from: usize, to: usize) -> bool {
        let span = |index: usize| match self.best.pieces[index].step.choice() {
            Some(Choice::Elapse(span)) => *span,
            _ => Span::ZERO,
        };
        let what = Move::Choice(Choice::Elapse(span(from) + span(to)));
        let step = ExactStep { what, answers: Vec::new(), lengths: Vec::new() };
        let mut pieces = self.best.pieces.clone();
        pieces[to] = Rc::new(Piece { step, ..Piece::clone(&pieces[to]) });
        pieces.remove(from);
        self.attempt(&pieces)
    }

    fn clocks(&mut self) {
        for index in 0..self.attempt.clocks().len() {
            let drawn = self.attempt.clocks()[index];
            let exact = NodeClock { rate: NodeClock::EXACT.rate, offset_ns: 0, ..drawn };
            for simpler in [NodeClock::EXACT, exact, NodeClock { offset_ns: 0, ..drawn }] {
                if (is_odd(&drawn) || drawn != NodeClock::EXACT) && simpler != drawn && self.may_try() {
                    self.attempt.set_clock(index, simpler);
                    let found = self.attempt.run(&self.best.pieces);
                    if self.adopt(found) {
                        break;
                    }
                    self.attempt.set_clock(index, drawn);
                }
            }
        }
    }

    /// Numbers have many rounder ones, and that a run is 1-minimal does not hang on them: they get a part of the budget.
    fn numbers(&mut self) {
        // They take the most tries by far, and nobody reads those of a run that is still long.
        if self.best.size.steps > LONG {
            return;
        }
        for index in (0..self.best.pieces.len()).rev() {
            // What comes before stays in place unless the run gets shorter; then there is another round.
            let Some(piece) = self.best.pieces.get(index).map(Rc::clone) else { continue };
            for changed in simpler(&piece) {
                if self.rounding >= self.budget.tries / ROUNDING_PART {
                    return;
                }
                self.rounding += 1;
                if self.change(index, changed) {
                    break;
                }
            }
        }
    }
}

/// By which piece, in order, each message was sent, and which of that one's it is.
fn senders<P: Protocol>(pieces: &[Rc<Piece<P>>]) -> Vec<Option<(usize, u32)>> {
    let places: BTreeMap<u32, usize> = pieces.iter().enumerate().map(|(place, piece)| (piece.id, place)).collect();
    let sender = |piece: &Rc<Piece<P>>| piece.origin.and_then(|origin| Some((*places.get(&origin.step)?, origin.nth)));
    pieces.iter().map(sender).collect()
}

/// What is left out together.
enum Group {
    Nodes(BTreeSet<NodeId>),
    Pieces(BTreeSet<u32>),
}

impl From<NodeId> for Group {
    fn from(node: NodeId) -> Self {
        Group::Nodes(BTreeSet::from([node]))
    }
}

impl Group {
    fn has<P: Protocol>(&self, piece: &Piece<P>) -> bool {
        match self {
            Group::Nodes(nodes) => piece.node().is_some_and(|node| nodes.contains(&node)),
            Group::Pieces(ids) => ids.contains(&piece.id),
        }
    }
}

/// The piece with simpler answers, lengths or spans; the simplest first.
fn simpler<P: Protocol>(piece: &Piece<P>) -> Vec<Piece<P>> {
    let mut found = Vec::new();
    if piece.step.answers.iter().any(|answer| *answer > 0) {
        let mut changed = piece.clone();
        changed.step.answers.clear();
        found.push(changed);
        for index in 0..piece.step.answers.len() {
            let mut changed = piece.clone();
            changed.step.answers[index] = 0;
            found.push(changed);
        }
    }
    if !piece.step.lengths.is_empty() {
        let mut changed = piece.clone();
        changed.step.lengths.clear();
        found.push(changed);
    }
    if let Some(Choice::Elapse(span)) = piece.step.choice() {
        found.extend(rounder(*span).into_iter().map(|span| {
            let mut changed = piece.clone();
            changed.step.what = Move::Choice(Choice::Elapse(span));
            changed
        }));
    }
    found
}

/// Spans with fewer digits than `span`, the roundest first: down to each of its digits, up, and powers of ten.
fn rounder(span: Span) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut unit = 1u64;
    while unit <= span.0 {
        found.extend([Span(unit), Span(span.0 / unit * unit), Span(span.0.div_ceil(unit) * unit)]);
        unit = unit.saturating_mul(10);
    }
    found.retain(|other| other.0 > 0 && digits(*other) < digits(span));
    found.sort_by_key(|span| (digits(*span), *span));
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounder_spans_have_fewer_digits() {
        let found = rounder(Span(1_234_000));
        assert!(
            found.contains(&Span(1_000_000)) && found.contains(&Span(1_230_000)) && found.contains(&Span(2_000_000))
        );
        assert!(found.iter().all(|span| digits(*span) < 4));
        assert_eq!(rounder(Span(3_000)), []);
    }
}
