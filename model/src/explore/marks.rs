//! Marks on pairs of an input and a component: a bit each, so that many can be asked about at little cost.

/// Inputs that are marked for a component of their place. Not all of them need be: a mark that is missing costs time alone.
#[derive(Debug, Default)]
pub struct Marks {
    /// `numbers[input]`: the place of its components, and its number among the inputs of the place.
    numbers: Vec<Option<(u16, u16)>>,
    /// `counts[place]`: inputs that have a number.
    counts: Vec<u16>,
    /// [`WORDS`] words for each component.
    bits: Vec<u64>,
}

/// Room for the marks of so many inputs of one place.
const COUNT_MAX: u16 = 256;
const WORDS: usize = COUNT_MAX as usize / 64;

impl Marks {
    /// Whether `input` was marked for the component that stands in its place now.
    #[inline]
    pub fn has(&self, input: u32, component_in: impl Fn(u16) -> u32) -> bool {
        let Some(Some((place, number))) = self.numbers.get(input as usize) else { return false };
        let word = component_in(*place) as usize * WORDS + usize::from(number / 64);
        self.bits.get(word).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Marks `input` for `component` in `place`, if there is room. No two places have a component in common.
    pub fn mark(&mut self, input: u32, place: u16, component: u32) {
        let Some(number) = self.number(input, place) else { return };
        let start = component as usize * WORDS;
        if self.bits.len() < start + WORDS {
            self.bits.resize(start + WORDS, 0);
        }
        self.bits[start + usize::from(number / 64)] |= 1 << (number % 64);
    }

    /// The input's number, which it gets if it has none; `None` without room, or if its place is another.
    fn number(&mut self, input: u32, place: u16) -> Option<u16> {
        if self.numbers.len() <= input as usize {
            self.numbers.resize(input as usize + 1, None);
        }
        if self.counts.len() <= usize::from(place) {
            self.counts.resize(usize::from(place) + 1, 0);
        }
        let count = &mut self.counts[usize::from(place)];
        let number = &mut self.numbers[input as usize];
        if number.is_none() && *count < COUNT_MAX {
            *number = Some((place, *count));
            *count += 1;
        }
        number.filter(|(known, _)| *known == place).map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_marked_is_found_and_nothing_else() {
        let mut marks = Marks::default();
        for input in 0..200 {
            marks.mark(input, (input % 3) as u16, 10 * (input % 3) + input % 7);
        }
        for input in 0..200 {
            for component in 10 * (input % 3)..10 * (input % 3) + 10 {
                let expected = component % 10 == input % 7;
                assert_eq!(marks.has(input, |_| component), expected, "input {input}, component {component}");
            }
        }
        assert!(!marks.has(1_000, |_| 0));
    }

    #[test]
    fn beyond_the_room_nothing_is_marked() {
        let mut marks = Marks::default();
        (0..300).for_each(|input| marks.mark(input, 0, 5));
        assert_eq!((0..300).filter(|input| marks.has(*input, |_| 5)).count(), usize::from(COUNT_MAX));
        marks.mark(0, 1, 9);
        assert!(!marks.has(0, |_| 9), "its place is another");
    }
}
