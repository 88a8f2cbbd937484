//! Ranking tags: those of a space become 0, 1, 2 and so on, in their order.
//!
//! Tags are kept by blocks: 64 neighbouring tags of a space, a bit each. What a row holds is then the union of a few words,
//! and so is the question whether anything in it has to be renamed.

use rustc_hash::FxHashMap;

use super::pool::{Id, Pool, packed, rank_of};
use crate::canonical::Renaming;
use crate::name::TagSpace;

/// The tags of a row, and the rank of each among those of its space.
#[derive(Default)]
pub(super) struct Ranking {
    blocks: Vec<Block>,
    /// By a tag's bits above the block's.
    block_of: FxHashMap<u64, u32>,
    /// `[index]`: the list of tags of this index, by blocks.
    lists: Vec<Box<[Share]>>,
    /// `[block]`: which of its tags are in the row.
    present: Vec<u64>,
}

struct Block {
    /// Its first tag.
    first: u64,
    /// The blocks before it in its space, as far as they were met.
    lower: Vec<u32>,
}

/// The tags of a list that are in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Share {
    block: u32,
    tags: u64,
}

/// Tags of a block have these bits less in common.
const BLOCK_BITS: u32 = u64::BITS.ilog2();

impl Ranking {
    /// Takes the tags of a row's components. Whether any of them changes.
    pub(super) fn of_row<'i>(&mut self, pool: &Pool, row: impl Iterator<Item = &'i Id>) -> bool {
        self.catch_up(pool);
        self.present.clear();
        self.present.resize(self.blocks.len(), 0);
        for id in row {
            for share in &*self.lists[pool.tags_index(*id) as usize] {
                self.present[share.block as usize] |= share.tags;
            }
        }
        (0..).zip(&self.present).any(|(block, tags)| self.moves(Share { block, tags: *tags }))
    }

    /// Learns the lists that are new.
    fn catch_up(&mut self, pool: &Pool) {
        for index in self.lists.len()..pool.tag_list_count() {
            let mut shares: Vec<Share> = Vec::new();
            for &tag in pool.tag_list(index as u32) {
                let block = self.block(tag);
                let bit = bit_of(tag);
                match shares.last_mut() {
                    Some(last) if last.block == block => last.tags |= bit,
                    _ => shares.push(Share { block, tags: bit }),
                }
            }
            self.lists.push(shares.into());
        }
    }

    fn block(&mut self, tag: u64) -> u32 {
        let key = tag >> BLOCK_BITS;
        if let Some(known) = self.block_of.get(&key) {
            return *known;
        }
        let first = key << BLOCK_BITS;
        let number = self.blocks.len() as u32;
        let is_lower = |lower: u64, upper: u64| lower >> 32 == upper >> 32 && lower < upper;
        let mut lower = Vec::new();
        for (other, block) in (0..).zip(&mut self.blocks) {
            if is_lower(first, block.first) {
                block.lower.push(number);
            }
            if is_lower(block.first, first) {
                lower.push(other);
            }
        }
        self.blocks.push(Block { first, lower });
        self.block_of.insert(key, number);
        number
    }

    /// The rank of the block's first tag that is in the row.
    #[inline]
    fn base(&self, block: u32) -> u32 {
        let lower = &self.blocks[block as usize].lower;
        lower.iter().map(|block| self.present[*block as usize].count_ones()).sum()
    }

    /// Whether one of these tags of the row changes.
    #[inline]
    fn moves(&self, share: Share) -> bool {
        let present = self.present[share.block as usize];
        // The lowest of its tags, up to the first that is not in the row.
        let settled = present & !present.wrapping_add(1);
        let block = &self.blocks[share.block as usize];
        share.tags & !settled != 0 || (share.tags != 0 && self.base(share.block) != rank_of(block.first))
    }

    /// The row's list of this index, if it becomes another: its tags then, in their order.
    #[inline]
    pub(super) fn renamed(&self, index: u32, out: &mut Vec<u64>) -> bool {
        let shares = &self.lists[index as usize];
        if !shares.iter().any(|share| self.moves(*share)) {
            return false;
        }
        out.clear();
        for share in shares {
            let mut rest = share.tags;
            while rest != 0 {
                let bit = rest & rest.wrapping_neg();
                out.push(self.ranked_in(share.block, bit));
                rest ^= bit;
            }
        }
        true
    }

    /// What the block's tag of this bit becomes.
    #[inline]
    fn ranked_in(&self, block: u32, bit: u64) -> u64 {
        let below = self.present[block as usize] & (bit - 1);
        self.blocks[block as usize].first >> 32 << 32 | u64::from(self.base(block) + below.count_ones())
    }
}

#[inline]
fn bit_of(tag: u64) -> u64 {
    1 << (tag % (1 << BLOCK_BITS))
}

impl Renaming for &Ranking {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let tag = packed(space, *rank);
        if let Some(&block) = self.block_of.get(&(tag >> BLOCK_BITS))
            && self.present.get(block as usize).is_some_and(|present| present & bit_of(tag) != 0)
        {
            *rank = rank_of(self.ranked_in(block, bit_of(tag)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pool::NamesIn;
    use super::*;

    /// What sorting says: each tag of the row, with what it becomes.
    fn sorted(row: &[&[u64]]) -> Vec<(u64, u64)> {
        let mut tags: Vec<u64> = row.iter().flat_map(|tags| tags.iter().copied()).collect();
        tags.sort_unstable();
        tags.dedup();
        let rank = |tag: u64| tags.iter().filter(|other| **other >> 32 == tag >> 32 && **other < tag).count() as u64;
        tags.iter().map(|tag| (*tag, tag >> 32 << 32 | rank(*tag))).collect()
    }

    /// A component of each list.
    fn interned(pool: &mut Pool, lists: &[&[u64]]) -> Vec<Id> {
        let component = |(number, tags): (u32, &&[u64])| {
            pool.intern(0, &number.to_le_bytes(), || NamesIn { tags: (*tags).into(), stamped: false })
        };
        (0..).zip(lists).map(component).collect()
    }

    #[test]
    fn tags_are_ranked_as_by_sorting() {
        let in_space = |space: u64, ranks: &[u64]| ranks.iter().map(|rank| space << 32 | rank).collect::<Vec<u64>>();
        let lists = [
            in_space(1, &[0, 1]),
            in_space(1, &[2, 5]),
            in_space(1, &[200, 4_000_000_000]),
            in_space(1, &[63, 64]),
            in_space(2, &[7]),
            in_space(2, &[0]),
            [in_space(1, &[1, 130]), in_space(3, &[3, 64])].concat(),
            vec![],
        ];
        let lists: Vec<&[u64]> = lists.iter().map(|list| &**list).collect();
        let mut pool = Pool::new();
        let mut ranking = Ranking::default();
        for chosen in 0..1_u32 << lists.len() {
            let row: Vec<&[u64]> = (0..lists.len()).filter(|at| chosen >> at & 1 == 1).map(|at| lists[at]).collect();
            let ids = interned(&mut pool, &lists);
            let expected = sorted(&row);
            let ids: Vec<Id> = (0..lists.len()).filter(|at| chosen >> at & 1 == 1).map(|at| ids[at]).collect();
            let changes = ranking.of_row(&pool, ids.iter());
            assert_eq!(changes, expected.iter().any(|(tag, ranked)| tag != ranked), "{row:?}");
            let becomes = |tag: &u64| expected.iter().find(|(known, _)| known == tag).expect("it is in the row").1;
            for (tags, id) in row.iter().zip(&ids) {
                let (wanted, mut found) = (tags.iter().map(becomes).collect::<Vec<u64>>(), Vec::new());
                let is_renamed = ranking.renamed(pool.tags_index(*id), &mut found);
                assert_eq!(is_renamed, wanted != **tags, "{tags:?} in {row:?}");
                assert!(!is_renamed || found == wanted, "{tags:?} in {row:?}: {found:?}");
                for tag in *tags {
                    let space = TagSpace { kind: (tag >> 48) as u16, scope: (tag >> 32) as u16 };
                    let mut rank = rank_of(*tag);
                    (&mut &ranking).tag(space, &mut rank);
                    assert_eq!(packed(space, rank), becomes(tag));
                }
            }
        }
    }
}
