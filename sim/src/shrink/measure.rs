//! What is smaller: fewer nodes, then fewer faults, then fewer steps, then rounder numbers.

use std::rc::Rc;

use seedbed_model::{Choice, NodeClock, Protocol, Span};

use super::Found;
use super::pieces::Piece;

/// How large a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Nodes that start.
    pub nodes: usize,
    /// Things that go wrong around them, and clocks that are not exact.
    pub faults: usize,
    /// Steps, starts and the passing of time among them.
    pub steps: usize,
}

impl Size {
    pub(crate) fn of<P: Protocol>(pieces: &[Rc<Piece<P>>], clocks: &[NodeClock]) -> Self {
        let count = |is: fn(&Piece<P>) -> bool| pieces.iter().filter(|piece| is(piece)).count();
        let odd = clocks.iter().filter(|clock| is_odd(clock)).count();
        Size { nodes: count(Piece::is_start), faults: count(Piece::is_fault) + odd, steps: pieces.len() }
    }
}

/// Whether the clock is anything but exact before its first jump.
pub(crate) fn is_odd(clock: &NodeClock) -> bool {
    clock.rate != NodeClock::EXACT.rate || clock.offset_ns != 0
}

/// How far from round the numbers of a run are: digits that are not trailing zeros, answers, lengths of their own.
pub(crate) fn roughness<P: Protocol>(pieces: &[Rc<Piece<P>>]) -> u64 {
    let of = |piece: &Rc<Piece<P>>| {
        let passed = match piece.step.choice() {
            Some(Choice::Elapse(span)) => digits(*span),
            _ => 0,
        };
        let answers: u64 = piece.step.answers.iter().map(|answer| u64::from(*answer > 0)).sum();
        let lengths: u64 = piece.step.lengths.iter().map(|length| 1 + digits(*length)).sum();
        passed + answers + lengths
    };
    pieces.iter().map(of).sum()
}

/// Digits before the trailing zeros.
pub(crate) fn digits(span: Span) -> u64 {
    let text = span.0.to_string();
    text.trim_end_matches('0').len() as u64
}

impl<P: Protocol> Found<P> {
    /// Compared to tell which of two runs is smaller.
    pub(crate) fn measure(&self) -> (Size, u64) {
        (self.size, self.roughness)
    }
}
