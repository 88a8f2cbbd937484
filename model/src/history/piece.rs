//! Cutting a contradiction down to the operations that make it.

use super::judge::Court;
use super::plan::Role;
use super::search::Found;
use super::specification::Specification;

/// The contradicting operations among those with a role, and whether each is known to be needed.
///
/// An operation outside the piece is free: it may take effect at any time or never, and what it was answered does not
/// count. (If it were left out instead, a read of a value would contradict everything as soon as the value's write is
/// left out.) Setting one free never takes an order away, so an operation that was needed once stays needed, and one
/// pass over single operations makes the piece minimal. A try that runs out of budget keeps its operations.
pub(super) fn piece<S: Specification>(
    court: &mut Court<'_, S>,
    end: u64,
    role: impl Fn(usize) -> Role,
) -> (Vec<usize>, bool) {
    let mut cut = Cut {
        fixed: (0..court.intervals.len()).map(|index| role(index) == Role::Fixed).collect(),
        role,
        is_minimal: true,
    };
    // What was invoked after the prefix seldom matters.
    let late: Vec<usize> = (0..cut.fixed.len()).filter(|index| court.intervals[*index].invoked > end).collect();
    cut.set_free(court, &late);
    let mut size = cut.members().len().div_ceil(2);
    while size > 0 {
        // Only what the tries of single operations say counts.
        cut.is_minimal = true;
        for chunk in cut.members().chunks(size) {
            cut.set_free(court, chunk);
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    (cut.members(), cut.is_minimal)
}

struct Cut<R> {
    /// `fixed[i]`: whether operation `i` is in the piece.
    fixed: Vec<bool>,
    role: R,
    is_minimal: bool,
}

impl<R: Fn(usize) -> Role> Cut<R> {
    fn members(&self) -> Vec<usize> {
        (0..self.fixed.len()).filter(|index| self.fixed[*index]).collect()
    }

    /// Sets operations free, if what is left still has no order.
    fn set_free<S: Specification>(&mut self, court: &mut Court<'_, S>, operations: &[usize]) {
        operations.iter().for_each(|index| self.fixed[*index] = false);
        let steps = court.try_steps();
        let found = court.search(steps, |index| match (self.role)(index) {
            Role::Fixed if !self.fixed[index] => Role::Free,
            role => role,
        });
        if !matches!(found, Found::None(_)) {
            operations.iter().for_each(|index| self.fixed[*index] = true);
            self.is_minimal &= matches!(found, Found::Order(_));
        }
    }
}
