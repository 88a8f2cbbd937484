//! Counting through everything that a choice leaves open.

use super::pool::mix;

/// The odometer over everything a choice leaves open: which branch, which length, which message a full link loses.
#[derive(Debug, Default)]
pub struct Odometer {
    digits: Vec<(u32, u32)>,
    at: usize,
    /// What new digits are drawn from; 0: they begin at 0.
    scrambled: u64,
}

impl Odometer {
    /// A digit of `count`: the one it stands at.
    #[inline]
    pub fn pick(&mut self, count: usize) -> usize {
        if count <= 1 {
            return 0;
        }
        if self.at == self.digits.len() {
            let digit = if self.scrambled == 0 { 0 } else { self.draw(count) };
            self.digits.push((digit, count as u32));
        }
        let digit = self.digits[self.at].0;
        self.at += 1;
        digit as usize
    }

    #[cold]
    fn draw(&mut self, count: usize) -> u32 {
        self.scrambled = mix(self.scrambled.wrapping_add(1)) | 1;
        (self.scrambled >> 16) as u32 % count as u32
    }

    /// Begins anew at a combination drawn from `seed` instead of the first.
    pub fn scramble(&mut self, seed: u64) {
        self.restart();
        self.scrambled = seed | 1;
    }

    /// Whether nothing was left open since it began.
    pub fn is_at_rest(&self) -> bool {
        self.digits.is_empty()
    }

    /// The digits it stands at, in the order they were picked.
    pub fn digits(&self) -> impl Iterator<Item = u32> {
        self.digits.iter().map(|(digit, _)| *digit)
    }

    /// Begins anew, wherever it was.
    pub fn restart(&mut self) {
        self.digits.clear();
        self.at = 0;
    }

    /// Moves on to the next combination; false after the last, ready to begin again.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((digit, count)) = self.digits.pop() {
            if digit + 1 < count {
                self.digits.push((digit + 1, count));
                return true;
            }
        }
        false
    }
}
