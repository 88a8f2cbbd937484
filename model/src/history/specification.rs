//! What a sequential object does.

use std::fmt::Debug;
use std::hash::Hash;

/// A sequential object: a pure function from a state and an operation to what may come of it.
///
/// ```
/// use seedbed_model::history::{Outcomes, Specification};
///
/// /// Hands out tickets, each once, in any order: an operation with several outcomes.
/// struct Tickets(u8);
///
/// impl Specification for Tickets {
///     type State = Vec<u8>;
///     type Operation = ();
///     type Answer = u8;
///     type Part = ();
///     fn initial(&self) -> Vec<u8> {
///         (0..self.0).collect()
///     }
///     fn part(&self, _: &()) {}
///     fn outcomes(&self, left: &Vec<u8>, _: &(), outcomes: &mut Outcomes<u8, Vec<u8>>) {
///         for ticket in left {
///             outcomes.push(*ticket, left.iter().copied().filter(|other| other != ticket).collect());
///         }
///     }
/// }
/// ```
pub trait Specification {
    /// The state of one part of the object.
    type State: Clone + Eq + Hash;
    /// What is asked.
    type Operation: Clone + Eq + Hash + Debug;
    /// What comes back.
    type Answer: Clone + Eq + Hash + Debug;
    /// The name of a part: a key, say. An object of one part has `()`.
    type Part: Clone + Ord + Debug;

    /// The state of every part at first.
    fn initial(&self) -> Self::State;

    /// The part that an operation touches, alone: it neither reads nor changes any other.
    fn part(&self, operation: &Self::Operation) -> Self::Part;

    /// Everything that may come of `operation` in `state`: pairs of an answer and the next state. None at all means
    /// that the operation waits until the state allows it.
    fn outcomes(
        &self,
        state: &Self::State,
        operation: &Self::Operation,
        outcomes: &mut Outcomes<Self::Answer, Self::State>,
    );

    /// Whether `operation`, answered so, changes no state, whichever it is in: a read, a refusal. `None` stands for any
    /// answer. Saying no is always right; saying yes lets the judge order such an operation as soon as it fits.
    fn keeps(&self, operation: &Self::Operation, answer: Option<&Self::Answer>) -> bool {
        let _ = (operation, answer);
        false
    }

    /// Whether `operation` can always take effect, with one outcome, and what it leaves does not depend on the state before:
    /// a write. Saying no is always right; saying yes makes cutting a contradiction down cheaper.
    fn overwrites(&self, operation: &Self::Operation) -> bool {
        let _ = operation;
        false
    }

    /// Whether finitely many different operations, however often they come, reach finitely many states only: a register
    /// yes, a queue no. Cutting a contradiction down is then much cheaper.
    fn is_finite(&self) -> bool {
        false
    }

    /// What a state holds outside itself [bytes], for the budget of memory.
    fn heap_bytes(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }
}

/// Where a specification puts what may come of an operation.
#[derive(Debug)]
pub struct Outcomes<A, S> {
    /// Only outcomes with this answer matter; `None`: all do.
    wanted: Option<A>,
    pairs: Vec<(A, S)>,
}

impl<A: Eq, S: Eq> Outcomes<A, S> {
    /// Takes the outcomes whose answer is `wanted`, or all.
    pub fn new(wanted: Option<A>) -> Self {
        Outcomes { wanted, pairs: Vec::new() }
    }

    /// The operation may answer `answer` and leave `next`.
    pub fn push(&mut self, answer: A, next: S) {
        if self.wanted.as_ref().is_none_or(|wanted| *wanted == answer) {
            self.pairs.push((answer, next));
        }
    }

    /// Those taken, in the order in which they were pushed.
    pub fn into_pairs(self) -> Vec<(A, S)> {
        self.pairs
    }
}
