//! States that wait to be expanded.
//!
//! A row waits packed: its cells are small integers, and there are many rows. The cells of a segment take a byte each while
//! they all fit, then two, and beyond that a byte for each seven bits, the lowest first, of which the highest bit says
//! that another follows.

use super::space::Row;

/// Some states, flat, in the order they are to be expanded.
#[derive(Default)]
pub(super) struct Segment {
    width: Width,
    bytes: Vec<u8>,
    ends: Vec<u32>,
    weights: Vec<u64>,
    states: Vec<u32>,
}

const FULL: &str = "the rows that wait in one place take less than 4 GiB";

/// Cells, ends, weights, states: a segment as it is kept in a checkpoint.
pub(super) type Lists = (Vec<u32>, Vec<u32>, Vec<u64>, Vec<u32>);

impl Segment {
    /// # Panics
    /// Beyond 4 GiB of packed rows.
    #[inline]
    pub(super) fn push(&mut self, row: Row<'_>, state: u32) {
        if Width::of(row.cells) > self.width {
            self.widen(Width::of(row.cells));
        }
        self.width.pack(row.cells, &mut self.bytes);
        self.ends.push(u32::try_from(self.bytes.len()).expect(FULL));
        self.weights.push(row.weight);
        self.states.push(state);
    }

    /// Packs what is here anew.
    #[cold]
    fn widen(&mut self, width: Width) {
        let (mut bytes, mut cells, mut start) = (Vec::with_capacity(2 * self.bytes.capacity()), Vec::new(), 0);
        for end in &mut self.ends {
            cells.clear();
            self.width.unpack(&self.bytes[start..*end as usize], &mut cells);
            width.pack(&cells, &mut bytes);
            start = *end as usize;
            *end = u32::try_from(bytes.len()).expect(FULL);
        }
        (self.width, self.bytes) = (width, bytes);
    }

    pub(super) fn lists(&self) -> Lists {
        let (mut cells, mut ends) = (Vec::new(), Vec::new());
        for at in 0..self.len() {
            self.width.unpack(self.packed(at), &mut cells);
            ends.push(cells.len() as u32);
        }
        (cells, ends, self.weights.clone(), self.states.clone())
    }

    /// The segment of such lists; `None` if they do not fit together.
    pub(super) fn of_lists((cells, ends, weights, states): Lists) -> Option<Self> {
        let fits = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == cells.len()
            && (ends.len(), ends.len()) == (weights.len(), states.len());
        if !fits {
            return None;
        }
        let mut segment = Segment::default();
        let mut start = 0;
        for ((end, weight), state) in ends.into_iter().zip(weights).zip(states) {
            segment.push(Row { cells: &cells[start..end as usize], weight }, state);
            start = end as usize;
        }
        Some(segment)
    }

    /// All of it as bytes: the width of the cells, the counts of rows and of packed bytes, and the lists.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(9 + self.bytes.len() + self.len() * 16);
        bytes.push(self.width as u8);
        let counts = [self.len() as u32, self.bytes.len() as u32];
        for list in [&counts[..], &self.ends, &self.states] {
            list.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
        self.weights.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes.extend_from_slice(&self.bytes);
        bytes
    }

    /// The segment of such bytes; `None` if they do not fit together.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let (width, rest) = bytes.split_first()?;
        let width = Width::of_byte(*width)?;
        let (counts, rest) = rest.split_at_checked(8)?;
        let (rows, packed) = (word(counts) as usize, word(&counts[4..]) as usize);
        if rest.len() != rows * 16 + packed {
            return None;
        }
        let words = |bytes: &[u8]| bytes.chunks_exact(4).map(word).collect::<Vec<u32>>();
        let (ends, rest) = rest.split_at(rows * 4);
        let (states, rest) = rest.split_at(rows * 4);
        let (weights, bytes) = rest.split_at(rows * 8);
        let long = |eight: &[u8]| u64::from(word(&eight[4..])) << 32 | u64::from(word(eight));
        let (ends, states, weights) = (words(ends), words(states), weights.chunks_exact(8).map(long).collect());
        let whole = |end: &u32| width != Width::Two || end.is_multiple_of(2);
        let fits = ends.is_sorted() && ends.iter().all(whole) && ends.last().map_or(0, |end| *end as usize) == packed;
        fits.then(|| Segment { width, bytes: bytes.to_vec(), ends, weights, states })
    }

    /// The rows from the `at`-th on.
    pub(super) fn rest(&self, at: usize) -> Segment {
        let (mut rest, mut cells) = (Segment::default(), Vec::new());
        for row in at..self.len() {
            let row = (self.row(row, &mut cells), self.state(row));
            rest.push(row.0, row.1);
        }
        rest
    }

    /// Forgets the rows and keeps the memory, and the width: what comes next is much like it.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.weights.clear();
        self.states.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn start(&self, at: usize) -> usize {
        if at == 0 { 0 } else { self.ends[at - 1] as usize }
    }

    fn packed(&self, at: usize) -> &[u8] {
        &self.bytes[self.start(at)..self.ends[at] as usize]
    }

    /// The row, unpacked into `cells`.
    #[inline]
    pub(super) fn row<'c>(&self, at: usize, cells: &'c mut Vec<u32>) -> Row<'c> {
        cells.clear();
        self.width.unpack(self.packed(at), cells);
        Row { cells, weight: self.weights[at] }
    }

    #[inline]
    pub(super) fn state(&self, at: usize) -> u32 {
        self.states[at]
    }

    pub(super) fn states(&self) -> &[u32] {
        &self.states
    }

    /// Removes the last row, after unpacking it into `cells`. Its weight and state.
    pub(super) fn pop(&mut self, cells: &mut Vec<u32>) -> Option<(u64, u32)> {
        let last = self.len().checked_sub(1)?;
        let (weight, state) = (self.row(last, cells).weight, self.states[last]);
        self.bytes.truncate(self.start(last));
        self.ends.truncate(last);
        self.weights.truncate(last);
        self.states.truncate(last);
        Some((weight, state))
    }

    /// The older half, which no longer is in this one.
    pub(super) fn split_oldest(&mut self) -> Segment {
        let at = self.len() / 2;
        let start = self.start(at) as u32;
        let rest = Segment {
            width: self.width,
            bytes: self.bytes.split_off(start as usize),
            ends: self.ends.split_off(at).into_iter().map(|end| end - start).collect(),
            weights: self.weights.split_off(at),
            states: self.states.split_off(at),
        };
        std::mem::replace(self, rest)
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.weights.capacity() * 8 + self.states.capacity() * 4
    }
}

/// How the cells of a segment are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Width {
    /// A byte each.
    #[default]
    One,
    /// Two bytes each.
    Two,
    /// A byte for each seven bits.
    Varied,
}

impl Width {
    /// The least that takes these cells.
    #[inline]
    fn of(cells: &[u32]) -> Width {
        match cells.iter().fold(0, |all, cell| all | cell) {
            0..0x100 => Width::One,
            0x100..0x1_0000 => Width::Two,
            _ => Width::Varied,
        }
    }

    fn of_byte(byte: u8) -> Option<Width> {
        [Width::One, Width::Two, Width::Varied].into_iter().find(|width| *width as u8 == byte)
    }

    #[inline]
    fn pack(self, cells: &[u32], bytes: &mut Vec<u8>) {
        match self {
            Width::One => bytes.extend(cells.iter().map(|cell| *cell as u8)),
            Width::Two => {
                let start = bytes.len();
                bytes.resize(start + 2 * cells.len(), 0);
                for (pair, cell) in bytes[start..].as_chunks_mut::<2>().0.iter_mut().zip(cells) {
                    *pair = (*cell as u16).to_le_bytes();
                }
            }
            Width::Varied => cells.iter().for_each(|cell| pack_varied(*cell, bytes)),
        }
    }

    #[inline]
    fn unpack(self, packed: &[u8], cells: &mut Vec<u32>) {
        match self {
            Width::One => cells.extend(packed.iter().map(|byte| u32::from(*byte))),
            Width::Two => {
                let pairs = packed.as_chunks::<2>().0;
                cells.extend(pairs.iter().map(|pair| u32::from(u16::from_le_bytes(*pair))));
            }
            Width::Varied => unpack_varied(packed, cells),
        }
    }
}

/// In a packed cell of varied length: another byte follows.
const MORE: u32 = 0x80;

#[inline]
fn pack_varied(mut cell: u32, bytes: &mut Vec<u8>) {
    while cell >= MORE {
        bytes.push((cell | MORE) as u8);
        cell >>= 7;
    }
    bytes.push(cell as u8);
}

#[inline]
fn unpack_varied(packed: &[u8], cells: &mut Vec<u32>) {
    let (mut cell, mut shift) = (0, 0);
    for byte in packed.iter().map(|byte| u32::from(*byte)) {
        cell |= (byte & (MORE - 1)) << shift;
        if byte < MORE {
            cells.push(cell);
            (cell, shift) = (0, 0);
        } else {
            shift += 7;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<u32>> {
        let edges = [0, 1, 127, 128, 16_383, 16_384, (1 << 28) - 1, 1 << 28, u32::MAX];
        (0..=edges.len()).map(|length| edges[..length].to_vec()).collect()
    }

    fn segment() -> Segment {
        let mut segment = Segment::default();
        for (at, cells) in rows().iter().enumerate() {
            segment.push(Row { cells, weight: u64::MAX - at as u64 }, at as u32);
        }
        segment
    }

    #[track_caller]
    fn holds(segment: &Segment, rows: &[Vec<u32>], first: usize) {
        assert_eq!(segment.len(), rows.len());
        let mut cells = vec![7];
        for (at, expected) in rows.iter().enumerate() {
            let weight = u64::MAX - (first + at) as u64;
            assert_eq!(segment.row(at, &mut cells), Row { cells: expected, weight });
            assert_eq!(segment.state(at), (first + at) as u32);
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        holds(&segment(), &rows(), 0);
        holds(&segment().rest(3), &rows()[3..], 3);
        holds(&Segment::of_lists(segment().lists()).expect("the lists fit"), &rows(), 0);
    }

    #[test]
    fn the_last_comes_first_and_halves_are_whole() {
        let mut newer = segment();
        let older = newer.split_oldest();
        let half = older.len();
        holds(&older, &rows()[..half], 0);
        holds(&newer, &rows()[half..], half);
        let mut cells = Vec::new();
        for (at, row) in rows().iter().enumerate().skip(half).rev() {
            assert_eq!(newer.pop(&mut cells), Some((u64::MAX - at as u64, at as u32)));
            assert_eq!(cells, *row);
        }
        assert_eq!(newer.pop(&mut cells), None);
    }

    #[test]
    fn lists_that_do_not_fit_are_refused() {
        let (cells, ends, weights, states) = segment().lists();
        assert!(Segment::of_lists((cells.clone(), ends.clone(), weights[1..].to_vec(), states.clone())).is_none());
        assert!(Segment::of_lists((cells[1..].to_vec(), ends, weights, states)).is_none());
    }
}
