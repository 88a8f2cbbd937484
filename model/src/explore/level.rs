//! States that wait to be expanded.

use super::space::Row;

/// Some states, flat, in the order they are to be expanded.
#[derive(Default)]
pub(super) struct Segment {
    cells: Vec<u32>,
    ends: Vec<u32>,
    weights: Vec<u64>,
    states: Vec<u32>,
}

impl Segment {
    #[inline]
    pub(super) fn push(&mut self, row: Row<'_>, state: u32) {
        self.cells.extend_from_slice(row.cells);
        self.ends.push(self.cells.len() as u32);
        self.weights.push(row.weight);
        self.states.push(state);
    }

    /// Cells, ends, weights, states.
    pub(super) fn lists(&self) -> (&[u32], &[u32], &[u64], &[u32]) {
        (&self.cells, &self.ends, &self.weights, &self.states)
    }

    /// The segment of such lists; `None` if they do not fit together.
    pub(super) fn of_lists((cells, ends, weights, states): (Vec<u32>, Vec<u32>, Vec<u64>, Vec<u32>)) -> Option<Self> {
        let fits = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == cells.len()
            && (ends.len(), ends.len()) == (weights.len(), states.len());
        fits.then_some(Segment { cells, ends, weights, states })
    }

    /// All of it as bytes: the counts of cells and rows, and the lists.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.cells.len() * 4 + self.len() * 16);
        let counts = [self.cells.len() as u32, self.len() as u32];
        for list in [&counts[..], &self.cells, &self.ends, &self.states] {
            list.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        }
        self.weights.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        bytes
    }

    /// The segment of such bytes; `None` if they do not fit together.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let word = |four: &[u8]| u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let (counts, rest) = bytes.split_at_checked(8)?;
        let (cells, rows) = (word(counts) as usize, word(&counts[4..]) as usize);
        if rest.len() != cells * 4 + rows * 16 {
            return None;
        }
        let words = |bytes: &[u8]| bytes.chunks_exact(4).map(word).collect::<Vec<u32>>();
        let (cells, rest) = rest.split_at(cells * 4);
        let (ends, rest) = rest.split_at(rows * 4);
        let (states, weights) = rest.split_at(rows * 4);
        let long = |eight: &[u8]| u64::from(word(&eight[4..])) << 32 | u64::from(word(eight));
        let weights = weights.chunks_exact(8).map(long).collect();
        Segment::of_lists((words(cells), words(ends), weights, words(states)))
    }

    /// The rows from the `at`-th on.
    pub(super) fn rest(&self, at: usize) -> Segment {
        let mut rest = Segment::default();
        (at..self.len()).for_each(|row| rest.push(self.row(row), self.state(row)));
        rest
    }

    /// Forgets the rows and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.ends.clear();
        self.weights.clear();
        self.states.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    #[inline]
    pub(super) fn row(&self, at: usize) -> Row<'_> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        Row { cells: &self.cells[start..self.ends[at] as usize], weight: self.weights[at] }
    }

    #[inline]
    pub(super) fn state(&self, at: usize) -> u32 {
        self.states[at]
    }

    pub(super) fn states(&self) -> &[u32] {
        &self.states
    }

    /// Removes the last row, after copying it to `cells`. Its weight and state.
    pub(super) fn pop(&mut self, cells: &mut Vec<u32>) -> Option<(u64, u32)> {
        let last = self.len().checked_sub(1)?;
        cells.clear();
        cells.extend_from_slice(self.row(last).cells);
        let (weight, state) = (self.weights[last], self.states[last]);
        self.ends.truncate(last);
        self.weights.truncate(last);
        self.states.truncate(last);
        self.cells.truncate(self.cells.len() - cells.len());
        Some((weight, state))
    }

    /// The older half, which no longer is in this one.
    pub(super) fn split_oldest(&mut self) -> Segment {
        let at = self.len() / 2;
        let cell = if at == 0 { 0 } else { self.ends[at - 1] };
        let rest = Segment {
            cells: self.cells.split_off(cell as usize),
            ends: self.ends.split_off(at).into_iter().map(|end| end - cell).collect(),
            weights: self.weights.split_off(at),
            states: self.states.split_off(at),
        };
        std::mem::replace(self, rest)
    }

    pub(super) fn memory(&self) -> usize {
        self.cells.capacity() * 4 + self.ends.capacity() * 4 + self.weights.capacity() * 8 + self.states.capacity() * 4
    }
}
