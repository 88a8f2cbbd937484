//! The longest prefix of a history that can be ordered.

use super::judge::Court;
use super::plan::Role;
use super::search::{Found, Furthest};
use super::specification::Specification;
use super::{Interval, NEVER};

/// The longest prefix that has an order, by halves: a prefix of one that has an order has one too.
///
/// A search of the whole history knows what operations in flight will be answered, and so ends at `known.end` or later
/// only if what is in flight there is taken as not answered yet. A try that runs out of budget leaves what is known.
pub(super) fn longest<S: Specification>(
    court: &mut Court<'_, S>,
    known: Furthest,
    role: impl Fn(usize) -> Role,
) -> Furthest {
    let mut ends: Vec<u64> = court.intervals.iter().map(|interval| interval.returned).collect();
    ends.retain(|end| *end >= known.end && *end != NEVER);
    ends.sort();
    let mut best = known;
    // The last of them is known to be too late, and everything before the first to be early enough.
    let (mut early, mut late) = (0, ends.len().saturating_sub(1));
    while early < late {
        let middle = early + (late - early) / 2;
        // Up to and with the answer at `ends[middle]`.
        let prefix = up_to(court.intervals, ends[middle]);
        let found = court.beside(&prefix, &role);
        match found {
            Found::Order(order) => {
                early = middle + 1;
                best = Furthest { order, end: ends[early] };
            }
            Found::None(_) => late = middle,
            Found::Limit(_) => return best,
        }
    }
    best
}

/// What was known of each operation right after `end`: those invoked later are there, but can only come after it, and
/// need not.
fn up_to<O: Clone, A: Clone>(intervals: &[Interval<O, A>], end: u64) -> Vec<Interval<O, A>> {
    let cut = |interval: &Interval<O, A>| match interval.returned > end {
        true => Interval { answer: None, returned: NEVER, ..interval.clone() },
        false => interval.clone(),
    };
    intervals.iter().map(cut).collect()
}
