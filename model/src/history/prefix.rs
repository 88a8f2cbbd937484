//! The longest prefix of a history that can be ordered.

use super::judge::Court;
use super::plan::{Role, Roles};
use super::search::{Found, Furthest};
use super::specification::Specification;
use super::{Interval, NEVER};

/// The longest prefix that has an order, and whether it is known that no longer one has: a prefix of one that has an
/// order has one too, so the end is found by halves.
///
/// A search of the whole history knows what operations in flight will be answered, and so ends at `known.end` or later
/// only if what is in flight there is taken as not answered yet. A try that runs out of budget leaves what is known.
pub(super) fn longest<S: Specification>(
    court: &mut Court<'_, S>,
    known: Furthest,
    role: Roles<'_>,
) -> (Furthest, bool) {
    let is_answered = |(index, end): &(usize, u64)| *end >= known.end && *end != NEVER && role(*index) == Role::Fixed;
    let ends = court.intervals.iter().map(|interval| interval.returned).enumerate();
    let mut ends: Vec<u64> = ends.filter(is_answered).map(|(_, end)| end).collect();
    ends.sort();
    let mut best = known;
    // The last of them is known to be too late, and everything before the first to be early enough; the end is near
    // the first, as a rule.
    let (mut early, mut late, mut step) = (0, ends.len().saturating_sub(1), 1);
    while early < late {
        let middle = early + (late - early).div_ceil(2).min(step) - 1;
        // Up to and with the answer at `ends[middle]`.
        match court.beside(&up_to(court.intervals, ends[middle]), role) {
            Found::Order(order) => {
                early = middle + 1;
                step *= 2;
                best = Furthest { order, end: ends[early] };
            }
            Found::None(_) => late = middle,
            Found::Limit(_) => return (best, false),
        }
    }
    (best, true)
}

/// What was known of each operation right after `end`: those invoked later are there, but can only come after it, and
/// need not.
fn up_to<O: Clone, A: Clone>(intervals: &[Interval<O, A>], end: u64) -> Vec<Interval<O, A>> {
    let cut = |interval: &Interval<O, A>| match interval.returned > end {
        true => Interval { answer: None, returned: NEVER, ..interval.clone() },
        false => interval.clone(),
    };
    intervals.iter().filter(|interval| interval.invoked <= end).map(cut).collect()
}
