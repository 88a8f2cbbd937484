//! What counts of runs say of the seeds that were not run. For people: nothing is decided by these figures.

#![expect(clippy::float_arithmetic, reason = "estimates for a reader; verdicts are made of the counts themselves")]

use serde::{Deserialize, Serialize};

/// The quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// How likely a seed makes a property fall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chance {
    /// The property.
    pub property: String,
    /// Runs in which it fell, in parts of all.
    pub share: f64,
    /// The lower end of the interval of 95 % (Wilson 1927).
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// With so many seeds it falls at least once with a probability of 95 %, if `share` is its probability; `None` if
    /// it never fell.
    pub seeds_to_detect: Option<u64>,
}

/// The chance of a property that fell in `fell` of `runs` runs.
pub(super) fn chance(property: &str, fell: u64, runs: u64) -> Chance {
    let (low, high) = interval(fell, runs);
    let share = if runs == 0 { 0.0 } else { fell as f64 / runs as f64 };
    Chance { property: property.to_owned(), share, low, high, seeds_to_detect: seeds_to_detect(fell, runs) }
}

/// Wilson's interval of 95 % for a probability that showed in `hits` of `count` tries.
fn interval(hits: u64, count: u64) -> (f64, f64) {
    if count == 0 {
        return (0.0, 1.0);
    }
    let (n, p, z2) = (count as f64, hits as f64 / count as f64, Z * Z);
    let middle = p + z2 / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z2 / n;
    let low = if hits == 0 { 0.0 } else { (middle - spread) / scale };
    let high = if hits == count { 1.0 } else { (middle + spread) / scale };
    (low, high)
}

/// The least n with 1 - (1 - p)^n at least 95 %.
fn seeds_to_detect(fell: u64, runs: u64) -> Option<u64> {
    match fell {
        0 => None,
        _ if fell >= runs => Some(1),
        _ => Some((0.05_f64.ln() / (-(fell as f64 / runs as f64)).ln_1p()).ceil() as u64),
    }
}

/// The rule of three (Hanley and Lippman-Hand 1983); `None` where it says nothing.
pub(super) fn clean_bound(runs: u64) -> Option<f64> {
    (runs > 3).then(|| 3.0 / runs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 0.000_5
    }

    /// Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    #[test]
    fn intervals_are_those_of_the_literature() {
        for (hits, count, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let found = interval(hits, count);
            assert!(near(found.0, low) && near(found.1, high), "{hits} of {count}: {found:?}");
        }
    }

    #[test]
    fn nothing_is_claimed_without_runs_and_ends_stay_in_bounds() {
        assert_eq!(interval(0, 0), (0.0, 1.0));
        assert_eq!(interval(5, 5).1, 1.0);
        assert_eq!((clean_bound(3), clean_bound(300)), (None, Some(0.01)));
    }

    #[test]
    fn so_many_seeds_detect_and_one_less_does_not() {
        for (fell, runs) in [(1_u32, 2_u32), (1, 100), (3, 70), (99, 100)] {
            let p = f64::from(fell) / f64::from(runs);
            let count = seeds_to_detect(fell.into(), runs.into()).unwrap();
            let missed = |count: u64| (1.0 - p).powi(count as i32);
            assert!(missed(count) <= 0.05 && (count == 1 || missed(count - 1) > 0.05), "{fell} of {runs}: {count}");
        }
        assert_eq!((seeds_to_detect(0, 9), seeds_to_detect(9, 9)), (None, Some(1)));
    }
}
