//! The states that wait to be expanded, in the order they are to be: in memory, and beyond a budget elsewhere.

use std::io;
use std::sync::Arc;

use super::level::Segment;

/// Where waiting states go that memory has no room for, as a disk would be.
pub trait Shelf {
    /// Puts bytes away. A number that finds them again.
    ///
    /// # Errors
    /// If they could not be put away; the search then ends.
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64>;

    /// The bytes put away under `place`, of which there are `count`.
    ///
    /// # Errors
    /// If they cannot be read back; the search then ends.
    fn get(&mut self, place: u64, count: usize) -> io::Result<Vec<u8>>;

    /// What was put away before the last turn will not be asked for any more.
    ///
    /// # Errors
    /// If the room could not be used again; the search then ends.
    fn turn(&mut self) -> io::Result<()>;
}

/// How a frontier is kept small.
pub struct Frontier<'k> {
    /// Where the rest goes.
    pub shelf: &'k mut dyn Shelf,
    /// States of a level wait in memory up to so many bytes.
    pub bytes: usize,
}

/// Some states that wait.
enum Part {
    Here(Arc<Segment>),
    Away { place: u64, bytes: usize, rows: usize },
}

/// States that wait, in order.
#[derive(Default)]
pub(super) struct Level {
    parts: Vec<Part>,
}

impl Level {
    pub(super) fn push(&mut self, segment: Segment) {
        self.parts.push(Part::Here(Arc::new(segment)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// How many states there are in each part.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| match part {
            Part::Here(segment) => segment.len(),
            Part::Away { rows, .. } => *rows,
        })
    }

    pub(super) fn len(&self) -> u64 {
        self.rows().map(|rows| rows as u64).sum()
    }

    /// Memory held [bytes].
    pub(super) fn memory(&self) -> usize {
        let here = self.parts.iter().map(|part| match part {
            Part::Here(segment) => segment.memory(),
            Part::Away { .. } => 0,
        });
        here.sum::<usize>() + self.parts.capacity() * size_of::<Part>()
    }

    /// Puts what is here away, if it is more than memory has room for.
    pub(super) fn spill(&mut self, frontier: Option<&mut Frontier<'_>>) -> Result<(), String> {
        let Some(frontier) = frontier.filter(|frontier| self.memory() > frontier.bytes) else { return Ok(()) };
        for part in &mut self.parts {
            if let Part::Here(segment) = part {
                let bytes = segment.to_bytes();
                let place = frontier.shelf.put(&bytes).map_err(|error| format!("the frontier: {error}"))?;
                *part = Part::Away { place, bytes: bytes.len(), rows: segment.len() };
            }
        }
        Ok(())
    }

    /// A part, wherever it is.
    pub(super) fn part(&self, at: usize, frontier: Option<&mut Frontier<'_>>) -> Result<Arc<Segment>, String> {
        let (place, bytes) = match &self.parts[at] {
            Part::Here(segment) => return Ok(Arc::clone(segment)),
            Part::Away { place, bytes, .. } => (place, bytes),
        };
        let frontier = frontier.expect("what was put away was put on a shelf");
        let found = frontier.shelf.get(*place, *bytes).map_err(|error| format!("the frontier: {error}"))?;
        let damaged = || "the frontier: what comes back is not what was put away".to_owned();
        Segment::of_bytes(&found).map(Arc::new).ok_or_else(damaged)
    }

    /// A part that was expanded, empty, to be used again; `None` if it is away.
    pub(super) fn recycle(&mut self, at: usize) -> Option<Segment> {
        let Part::Here(segment) = &mut self.parts[at] else { return None };
        // Whoever expanded it has let go of it.
        let mut segment = Arc::into_inner(std::mem::take(segment))?;
        segment.clear();
        Some(segment)
    }

    /// The parts that are here.
    pub(super) fn into_segments(self) -> impl Iterator<Item = Segment> {
        self.parts.into_iter().filter_map(|part| match part {
            Part::Here(segment) => Arc::into_inner(segment),
            Part::Away { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::space::Row;

    struct Memory(Vec<Vec<u8>>);

    impl Shelf for Memory {
        fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
            self.0.push(bytes.to_vec());
            Ok(self.0.len() as u64 - 1)
        }
        fn get(&mut self, place: u64, _: usize) -> io::Result<Vec<u8>> {
            Ok(self.0[place as usize].clone())
        }
        fn turn(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn segment(rows: &[(&[u32], u64, u32)]) -> Segment {
        let mut segment = Segment::default();
        rows.iter().for_each(|(cells, weight, state)| segment.push(Row { cells, weight: *weight }, *state));
        segment
    }

    #[test]
    fn what_is_put_away_comes_back_as_it_was() {
        let mut shelf = Memory(Vec::new());
        let mut frontier = Frontier { shelf: &mut shelf, bytes: 0 };
        let mut level = Level::default();
        level.push(segment(&[(&[1, 2, 3], u64::MAX, 7), (&[], 0, 8)]));
        level.push(segment(&[(&[9], 5, 9)]));
        assert!(level.memory() > 0);
        level.spill(Some(&mut frontier)).expect("memory takes it");
        assert!(level.recycle(0).is_none() && level.len() == 3, "it is no longer here");
        let back = level.part(0, Some(&mut frontier)).expect("it comes back");
        let mut cells = Vec::new();
        assert_eq!(back.row(0, &mut cells), Row { cells: &[1, 2, 3], weight: u64::MAX });
        assert_eq!(back.state(1), 8);
        shelf.0[1].pop();
        let mut frontier = Frontier { shelf: &mut shelf, bytes: 0 };
        assert!(level.part(1, Some(&mut frontier)).is_err_and(|why| why.contains("not what was put away")));
    }
}
