//! Streams of random numbers: each draw is a pure function of the seed, a label and a counter.
//!
//! The generator is ChaCha8. The seed is its key, the label its nonce, the counter its position: there is nothing to
//! store for a stream but how far it was read, and a draw of one stream never moves another. A small direct-mapped
//! cache keeps the blocks read last.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use seedbed_model::{NodeId, Ratio, Span};

use crate::seed::Seed;

/// What a stream is for: its ChaCha nonce, different for different labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Label(u64);

/// The kinds' numbers are part of what a seed means: never reuse one.
impl Label {
    /// Which kinds of fault a seed enables.
    pub(crate) const OPTIONS: Label = Label::of(0, 0, 0);

    /// The `index`-th fault of a kind.
    pub(crate) const fn fault(kind: u16, index: u16) -> Label {
        Label::of(1, kind, index)
    }
    /// A node's clock.
    pub(crate) const fn clock(node: NodeId) -> Label {
        Label::of(2, node.0, 0)
    }
    /// Delays of a link.
    pub(crate) const fn delay(from: NodeId, to: NodeId) -> Label {
        Label::of(3, from.0, to.0)
    }
    /// Losses of a link.
    pub(crate) const fn loss(from: NodeId, to: NodeId) -> Label {
        Label::of(4, from.0, to.0)
    }
    /// Which messages of a link are duplicated.
    pub(crate) const fn duplicate(from: NodeId, to: NodeId) -> Label {
        Label::of(5, from.0, to.0)
    }
    /// Delays of a link's copies.
    pub(crate) const fn copy(from: NodeId, to: NodeId) -> Label {
        Label::of(6, from.0, to.0)
    }
    /// What a node's steps choose.
    pub(crate) const fn choose(node: NodeId) -> Label {
        Label::of(7, node.0, 0)
    }
    /// How long a node's decisions wait.
    pub(crate) const fn decision(node: NodeId) -> Label {
        Label::of(8, node.0, 0)
    }
    /// How long a node's disk takes.
    pub(crate) const fn disk(node: NodeId) -> Label {
        Label::of(9, node.0, 0)
    }
    /// How long a node's client thinks.
    pub(crate) const fn workload(node: NodeId) -> Label {
        Label::of(10, node.0, 0)
    }
    /// How late a node hears of its timers.
    pub(crate) const fn lateness(node: NodeId) -> Label {
        Label::of(11, node.0, 0)
    }
    /// Real lengths of a node's timers, where each is drawn apart.
    pub(crate) const fn length(node: NodeId) -> Label {
        Label::of(12, node.0, 0)
    }

    const fn of(kind: u64, first: u16, second: u16) -> Label {
        Label(kind << 32 | (first as u64) << 16 | second as u64)
    }
}

/// Words of a cached block: what ChaCha makes at a time, four of its own blocks.
const BLOCK_WORDS: u64 = 64;

/// A block in the cache.
#[derive(Clone)]
struct Block {
    nonce: u64,
    /// Index of the block in its stream.
    index: u64,
    bytes: [u8; 4 * BLOCK_WORDS as usize],
}

/// All streams of a run.
pub(crate) struct Streams {
    generator: ChaCha8Rng,
    /// `slots[i]` is the place in `blocks` of the block that hashes to `i`; `EMPTY` before the first.
    slots: Vec<u16>,
    blocks: Vec<Block>,
    /// Whether half of the pairs are the least or the largest.
    pub(crate) sharp: bool,
}

const EMPTY: u16 = u16::MAX;
const SLOTS_MIN: usize = 1024;
const BLOCKS_MIN: usize = 32;
const SLOTS_MAX: usize = 8192;

impl Streams {
    /// The streams of `seed`, for a world of `node_count` nodes.
    pub(crate) fn new(seed: Seed, node_count: usize) -> Self {
        let slots = (node_count * 64).next_power_of_two().clamp(SLOTS_MIN, SLOTS_MAX);
        Streams {
            generator: ChaCha8Rng::from_seed(seed.key()),
            slots: vec![EMPTY; slots],
            blocks: Vec::with_capacity(BLOCKS_MIN),
            sharp: false,
        }
    }

    /// The `counter`-th 32 bits of the stream.
    #[inline]
    pub(crate) fn word(&mut self, label: Label, counter: u64) -> u32 {
        let at = (counter % BLOCK_WORDS) as usize * 4;
        let bytes = &self.block(label.0, counter / BLOCK_WORDS).bytes;
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    /// The `counter`-th 64 bits of the stream: its words `2 * counter` (low) and `2 * counter + 1`.
    #[inline(always)]
    pub(crate) fn pair(&mut self, label: Label, counter: u64) -> u64 {
        let at = (counter % (BLOCK_WORDS / 2)) as usize * 8;
        let bytes = &self.block(label.0, counter / (BLOCK_WORDS / 2)).bytes;
        let mut pair = [0; 8];
        pair.copy_from_slice(&bytes[at..at + 8]);
        let pair = u64::from_le_bytes(pair);
        if self.sharp { sharpened(pair) } else { pair }
    }

    /// Whether the `counter`-th event of the stream happens, where it does with probability `ratio`.
    #[inline]
    pub(crate) fn chance(&mut self, label: Label, counter: u64, ratio: Ratio) -> bool {
        ratio.num > 0 && below(self.word(label, counter), ratio.den) < ratio.num
    }

    /// A stream read from its start, one draw after the other.
    pub(crate) fn draws(&mut self, label: Label) -> Draws<'_> {
        Draws { streams: self, label, counter: 0 }
    }

    #[inline]
    fn block(&mut self, nonce: u64, index: u64) -> &Block {
        let mixed = (nonce ^ index.rotate_left(40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> 32) as usize & (self.slots.len() - 1);
        let place = usize::from(self.slots[slot]);
        match self.blocks.get(place) {
            Some(block) if block.nonce == nonce && block.index == index => &self.blocks[place],
            _ => self.fill(slot, nonce, index),
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, slot: usize, nonce: u64, index: u64) -> &Block {
        if self.slots[slot] == EMPTY {
            self.slots[slot] = self.blocks.len() as u16;
            self.blocks.push(Block { nonce, index, bytes: [0; 4 * BLOCK_WORDS as usize] });
        }
        let block = &mut self.blocks[usize::from(self.slots[slot])];
        (block.nonce, block.index) = (nonce, index);
        self.generator.set_stream(nonce);
        self.generator.set_word_pos(u128::from(index * BLOCK_WORDS));
        self.generator.fill_bytes(&mut block.bytes);
        block
    }
}

/// A number below `count`, from 32 random bits. Off from even by at most `count / 2^32` (Lemire 2019, without the
/// rejection, so that a draw takes exactly one word).
#[inline]
pub(crate) fn below(word: u32, count: u32) -> u32 {
    ((u64::from(word) * u64::from(count)) >> 32) as u32
}

/// Half of the numbers become the least or the largest. Which half the lowest bits say: those count least in what is drawn.
fn sharpened(pair: u64) -> u64 {
    match pair % 4 {
        0 => 0,
        1 => u64::MAX,
        _ => pair,
    }
}

/// A number below `count`, from 64 random bits.
#[inline]
pub(crate) fn part(pair: u64, count: u64) -> u64 {
    ((u128::from(pair) * u128::from(count)) >> 64) as u64
}

/// A number in `low..=high`, from 64 random bits.
#[inline]
pub(crate) fn between(pair: u64, low: u64, high: u64) -> u64 {
    low + ((u128::from(pair) * (u128::from(high - low) + 1)) >> 64) as u64
}

/// A stream read in order.
pub(crate) struct Draws<'a> {
    streams: &'a mut Streams,
    label: Label,
    /// Pairs read so far.
    counter: u64,
}

impl Draws<'_> {
    fn pair(&mut self) -> u64 {
        self.counter += 1;
        self.streams.pair(self.label, self.counter - 1)
    }

    /// 32 random bits.
    pub(crate) fn word(&mut self) -> u32 {
        (self.pair() >> 32) as u32
    }

    /// A number below `count`.
    pub(crate) fn below(&mut self, count: u32) -> u32 {
        below(self.word(), count)
    }

    /// Whether something of probability `ratio` happens.
    pub(crate) fn chance(&mut self, ratio: Ratio) -> bool {
        self.below(ratio.den) < ratio.num
    }

    /// A span in `low..=high`.
    pub(crate) fn span(&mut self, low: Span, high: Span) -> Span {
        Span(between(self.pair(), low.0, high.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every seed means hangs on these numbers.
    #[test]
    fn streams_are_pinned() {
        let mut streams = Streams::new(Seed::Number(7), 5);
        let found = [
            streams.word(Label::OPTIONS, 0),
            streams.word(Label::choose(NodeId(3)), 1_000),
            streams.word(Label::delay(NodeId(1), NodeId(2)), 65),
            streams.word(Label::delay(NodeId(2), NodeId(1)), 65),
        ];
        assert_eq!(found, PINNED, "{found:#x?}");
    }

    const PINNED: [u32; 4] = [0x2c44_ba73, 0x2dde_a2ac, 0x5238_8553, 0xa9a2_c808];

    /// The stream with nonce 0 under the all-zero key is the published ChaCha8 keystream (eSTREAM test vectors).
    #[test]
    fn seed_zero_is_the_published_chacha8_keystream() {
        let mut streams = Streams::new(Seed::Number(0), 1);
        let words = [0, 1, 2, 3].map(|counter| streams.word(Label::OPTIONS, counter).to_le_bytes());
        assert_eq!(
            words.concat(),
            [0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1]
        );
    }

    #[test]
    fn a_draw_does_not_depend_on_what_was_drawn_before() {
        let labels: Vec<Label> = (0..200).map(|n| Label::delay(NodeId(n), NodeId(n / 3))).collect();
        let mut forward = Streams::new(Seed::Number(1), 1);
        let ahead: Vec<u64> =
            labels.iter().flat_map(|label| [0, 31, 32, 99].map(|c| forward.pair(*label, c))).collect();
        let mut backward = Streams::new(Seed::Number(1), 1000);
        let mut behind: Vec<u64> =
            labels.iter().rev().flat_map(|label| [99, 32, 31, 0].map(|c| backward.pair(*label, c))).collect();
        behind.reverse();
        assert_eq!(ahead, behind);
    }

    #[test]
    fn ranges_reach_both_ends() {
        assert_eq!((between(0, 3, 9), between(u64::MAX, 3, 9)), (3, 9));
        assert_eq!(between(u64::MAX, 0, u64::MAX), u64::MAX);
        assert_eq!((below(0, 6), below(u32::MAX, 6)), (0, 5));
    }
}
