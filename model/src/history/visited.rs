//! The configurations that a search has met.

use rustc_hash::FxHashMap;

/// Where no chain goes on.
const END: u32 = u32::MAX;

/// Configurations met, by the 128-bit fingerprint of what is compared for equality, each with the sets of optional
/// operations that were used up on the way there.
///
/// Two different configurations share a fingerprint with a chance below n² / 2^129 for n of them; a search would then
/// miss an order. For 10^8 configurations that is 10^-23.
#[derive(Default)]
pub(super) struct Visited {
    /// To the newest of the chain in `used`.
    table: FxHashMap<[u64; 2], u32>,
    /// Counts, `stride` of them for each entry: how many operations of each optional kind were used.
    used: Vec<u32>,
    /// `older[i]` is the entry before entry `i` in its chain, or [`END`].
    older: Vec<u32>,
}

impl Visited {
    /// Whether the configuration is new: none met before is equal but for optional operations and used no more of any
    /// kind. What is left unused can still be used, so such a one can do all that this one can.
    pub(super) fn insert(&mut self, fingerprint: u128, used: &[u32]) -> bool {
        let key = [fingerprint as u64, (fingerprint >> 64) as u64];
        if used.is_empty() {
            return self.table.insert(key, END).is_none();
        }
        let newest = self.table.get(&key).copied().unwrap_or(END);
        let mut entry = newest;
        while entry != END {
            let start = entry as usize * used.len();
            if self.used[start..start + used.len()].iter().zip(used).all(|(before, now)| before <= now) {
                return false;
            }
            entry = self.older[entry as usize];
        }
        self.table.insert(key, self.older.len() as u32);
        self.older.push(newest);
        self.used.extend_from_slice(used);
        true
    }

    /// What is held here [bytes].
    pub(super) fn bytes(&self) -> u64 {
        (self.table.capacity() * 25 * 8 / 7 + self.used.capacity() * 4 + self.older.capacity() * 4) as u64
    }
}

/// The weight of one component of a configuration: fingerprints are sums of weights, changed in place. Two rounds of
/// the finaliser of SplitMix64 (Steele, Lea, Flood 2014) a half.
pub(super) fn weight(space: u32, index: u32, value: u32) -> u128 {
    let seed = (u64::from(space) << 62) ^ (u64::from(index) << 32) ^ u64::from(value);
    let low = mixed(seed ^ 0x9e37_79b9_7f4a_7c15);
    let high = mixed(low ^ seed.rotate_left(29) ^ 0xd1b5_4a32_d192_ed03);
    u128::from(high) << 64 | u128::from(low)
}

fn mixed(mut x: u64) -> u64 {
    for _ in 0..2 {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_used_less_hides_what_used_more_and_nothing_else() {
        let mut visited = Visited::default();
        assert!(visited.insert(7, &[1, 1]));
        assert!(!visited.insert(7, &[1, 2]));
        assert!(visited.insert(7, &[0, 3]));
        assert!(visited.insert(7, &[1, 0]));
        assert!(!visited.insert(7, &[2, 0]));
        assert!(visited.insert(8, &[5, 5]));
    }

    #[test]
    fn weights_of_different_components_differ() {
        let mut weights = std::collections::BTreeSet::new();
        for space in 0..3 {
            for index in 0..40 {
                for value in 0..40 {
                    assert!(weights.insert(weight(space, index, value)));
                }
            }
        }
    }
}
