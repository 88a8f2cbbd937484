//! Cutting a contradiction down to the operations that make it.

use super::judge::Court;
use super::plan::{Role, Roles};
use super::search::Found;
use super::specification::Specification;

/// All tries to cut one piece may search so many configurations together.
const TRIES_STEPS_MAX: u64 = 20_000_000;

/// The contradicting operations among those with a role, and whether each is known to be needed.
///
/// An operation outside the piece is free: nobody knows what came of it, as if it had never been answered. (If it were
/// left out instead, a read of a value would contradict everything as soon as the value's write is left out.) Where the
/// prefix up to `end` is the longest, operations invoked later are left out: it contradicts itself without them.
///
/// Setting an operation free never takes an order away. So with the operations in a row, those nearest to the
/// contradiction first, there is a least number of them that must stay fixed, which is found by halves; the last of
/// them is needed, and with it fixed for good the next one is looked for among those before it (the divide and conquer
/// of Junker 2004, QuickXplain, in its plainest form). Few operations are fixed in most tries, which makes them cheap.
pub(super) fn piece<S: Specification>(
    court: &mut Court<'_, S>,
    end: u64,
    is_longest: bool,
    role: Roles<'_>,
) -> (Vec<usize>, bool) {
    let intervals = court.intervals;
    let role = |index: usize| match role(index) {
        Role::Fixed if is_longest && intervals[index].invoked > end => Role::Absent,
        role => role,
    };
    let mut row: Vec<usize> = (0..intervals.len()).filter(|index| role(*index) == Role::Fixed).collect();
    let times: Vec<(u64, u64)> = intervals.iter().map(|interval| (interval.invoked, interval.returned)).collect();
    order_row(&mut row, &times, end);
    let mut cut = Cut { needed: vec![false; intervals.len()], role: &role, steps: TRIES_STEPS_MAX, is_minimal: true };
    // All that is needed beside `needed` is among the first `left` of the row.
    let mut left = row.len();
    while left > 0 && !cut.contradicts(court, &[]) {
        left = cut.least(court, &row[..left]) - 1;
        cut.needed[row[left]] = true;
    }
    row.retain(|index| cut.needed[*index]);
    row.sort();
    (row, cut.is_minimal)
}

/// What is answered at the end, then what is invoked before it, then what is not answered by then. `times[i]` is when
/// operation `i` is invoked and answered.
fn order_row(row: &mut [usize], times: &[(u64, u64)], end: u64) {
    row.sort_by_key(|index| {
        let (invoked, returned) = times[*index];
        (returned != end, returned > end, std::cmp::Reverse(invoked), *index)
    });
}

struct Cut<'r> {
    /// `needed[i]`: whether operation `i` is in the piece for good.
    needed: Vec<bool>,
    role: Roles<'r>,
    /// Configurations left for tries.
    steps: u64,
    is_minimal: bool,
}

impl Cut<'_> {
    /// How many of `row`, from its beginning, contradict together with what is needed; with one fewer, they are not
    /// known to. At least 1, as nothing of it is known not to.
    fn least<S: Specification>(&mut self, court: &mut Court<'_, S>, row: &[usize]) -> usize {
        // `few` do not contradict, or are not known to; `many` do.
        let (mut few, mut many, mut step) = (0, row.len(), 1);
        while few + step < many {
            match self.contradicts(court, &row[..few + step]) {
                true => many = few + step,
                false => (few, step) = (few + step, step * 2),
            }
        }
        while few + 1 < many {
            let middle = few + (many - few) / 2;
            match self.contradicts(court, &row[..middle]) {
                true => many = middle,
                false => few = middle,
            }
        }
        many
    }

    /// Whether the operations are known to have no order together with what is needed, all others set free. A try that
    /// runs out of budget does not know.
    fn contradicts<S: Specification>(&mut self, court: &mut Court<'_, S>, operations: &[usize]) -> bool {
        let mut fixed = self.needed.clone();
        operations.iter().for_each(|index| fixed[*index] = true);
        let (found, steps) = court.attempt(self.steps, &|index| match (self.role)(index) {
            Role::Fixed if !fixed[index] => Role::Free,
            role => role,
        });
        self.steps -= steps.min(self.steps);
        self.is_minimal &= !matches!(found, Found::Limit(_));
        matches!(found, Found::None(_))
    }
}
