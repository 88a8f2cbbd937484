//! Spans, stamps, ratios, and the bank of a node's timers.
//!
//! Every engine counts nanoseconds. The simulator moves through them; the explorer moves by whole ticks and keeps
//! `now` at zero, so that states which differ by a shift are one state.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use derive_where::derive_where;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::canonical::{Canonical, Decoder, Encoder, Malformed, Renaming};
use crate::text::{TextReader, TextWriter, Unreadable};

/// A length of time [ns].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Canonical for Span {
    #[inline]
    fn encode(&self, out: &mut Encoder) {
        self.0.encode(out);
    }
    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        u64::decode(input).map(Span)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&if *self > Span::LONGEST { format!("{}ns", self.0) } else { self.to_string() });
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        let word = input.word()?;
        // Beyond what a file may ask for, a whole number of nanoseconds still reads back.
        let nanos = word.strip_suffix("ns").and_then(|number| number.parse().ok()).map(Span);
        nanos.map_or_else(|| word.parse().map_err(|why: String| input.unreadable(why)), Ok)
    }
}

impl Span {
    /// No time.
    pub const ZERO: Span = Span(0);
    /// What `1t` stands for in a bound or a scenario: the explorer's usual step of time.
    pub const TICK: Span = Span(1_000_000_000);

    /// `count` ticks of [`Span::TICK`].
    pub const fn ticks(count: u64) -> Span {
        Span(count * Self::TICK.0)
    }

    /// `count` seconds.
    pub const fn secs(count: u64) -> Span {
        Span(count * 1_000_000_000)
    }

    /// `count` milliseconds.
    pub const fn millis(count: u64) -> Span {
        Span(count * 1_000_000)
    }
}

impl std::ops::Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl std::ops::Mul<u64> for Span {
    type Output = Span;
    fn mul(self, count: u64) -> Span {
        Span(self.0 * count)
    }
}

const UNITS: [(&str, u64); 6] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000), ("t", Span::TICK.0)];

/// The largest unit that leaves a whole number.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, size) = match self.0 {
            0 => ("s", 1_000_000_000),
            n if n % 1_000_000_000 == 0 => ("s", 1_000_000_000),
            n if n % 1_000_000 == 0 => ("ms", 1_000_000),
            n if n % 1_000 == 0 => ("us", 1_000),
            _ => ("ns", 1),
        };
        write!(f, "{}{name}", self.0 / size)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Span {
    type Err = String;
    /// A decimal number and a unit: `60s`, `1.5ms`, `3t`; exact to the nanosecond.
    fn from_str(text: &str) -> Result<Span, String> {
        let advice =
            || format!("`{text}` is no span; write a number and a unit (ns, us, ms, s, min, t), such as 60s or 3t");
        let split = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(advice)?;
        let (number, unit) = text.split_at(split);
        let (_, size) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(advice)?;
        let (whole, fraction) = number.trim().split_once('.').unwrap_or((number.trim(), ""));
        let digits = format!("{whole}{fraction}");
        // Not by way of a ratio: the count of nanoseconds in a minute exceeds its 32 bits.
        if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) || digits.len() > 27 {
            return Err(advice());
        }
        let (number, parts) = (digits.parse::<u128>().map_err(|_| advice())?, 10u128.pow(fraction.len() as u32));
        let exact = number * u128::from(*size);
        if exact % parts != 0 {
            return Err(format!("`{text}` is not a whole number of nanoseconds"));
        }
        let nanos = exact / parts;
        u64::try_from(nanos)
            .ok()
            .filter(|nanos| *nanos <= Span::LONGEST.0)
            .map(Span)
            .ok_or_else(|| format!("`{text}` is beyond the longest span, {}", Span::LONGEST))
    }
}

impl Span {
    /// The longest span that a file or flag may ask for: about 36 years, so that sums stay within 64 bits.
    pub const LONGEST: Span = Span(1 << 60);
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Written;
        impl serde::de::Visitor<'_> for Written {
            type Value = Span;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span such as \"60s\" or \"3t\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Span, E> {
                text.parse().map_err(E::custom)
            }
        }
        input.deserialize_str(Written)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

/// An exact ratio: what a decimal in a file becomes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub struct Ratio {
    /// Numerator.
    pub num: u32,
    /// Denominator; never 0.
    pub den: u32,
}

impl Ratio {
    /// Nothing.
    pub const ZERO: Ratio = Ratio { num: 0, den: 1 };
    /// The whole.
    pub const ONE: Ratio = Ratio { num: 1, den: 1 };

    /// `num / den` in lowest terms.
    ///
    /// # Panics
    /// If `den` is 0.
    pub fn new(num: u32, den: u32) -> Ratio {
        assert!(den > 0, "a ratio of {num} to nothing");
        let divisor = gcd(num, den);
        Ratio { num: num / divisor, den: den / divisor }
    }

    /// `span` times the ratio, rounded down.
    pub fn floor_of(self, span: Span) -> Span {
        Span((u128::from(span.0) * u128::from(self.num) / u128::from(self.den)) as u64)
    }

    /// `span` times the ratio, rounded up.
    pub fn ceil_of(self, span: Span) -> Span {
        Span((u128::from(span.0) * u128::from(self.num)).div_ceil(u128::from(self.den)) as u64)
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a.max(1) } else { gcd(b, a % b) }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.den {
            1 => write!(f, "{}", self.num),
            den => write!(f, "{}/{den}", self.num),
        }
    }
}

impl fmt::Debug for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Ratio {
    type Err = String;
    /// `13/12`, `0.05` or `2`, exactly.
    fn from_str(text: &str) -> Result<Ratio, String> {
        let bad = || format!("`{text}` is no ratio; write a decimal such as 0.05 or a fraction such as 13/12");
        if let Some((num, den)) = text.split_once('/') {
            let (num, den) = (num.trim().parse().map_err(|_| bad())?, den.trim().parse().map_err(|_| bad())?);
            return if den == 0 { Err(bad()) } else { Ok(Ratio::new(num, den)) };
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') || fraction.len() > 9 {
            return Err(bad());
        }
        let den = 10u32.pow(fraction.len() as u32);
        let num = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
        Ok(Ratio::new(num, den))
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct AnyForm;
        impl serde::de::Visitor<'_> for AnyForm {
            type Value = Ratio;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal such as 0.05 or a fraction such as \"13/12\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Ratio, E> {
                text.parse().map_err(E::custom)
            }
            // The shortest decimal that reads back as the same float is the one that was written.
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Ratio, E> {
                value.to_string().parse().map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Ratio, E> {
                value.to_string().parse().map_err(E::custom)
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Ratio, E> {
                value.to_string().parse().map_err(E::custom)
            }
        }
        input.deserialize_any(AnyForm)
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

/// An opaque instant: a node's own clock, plus or minus a span. Compared, stored and sent; never read as a number.
///
/// Only protocols that put times into messages or names need it. The explorer shifts all stamps of a world together
/// and saturates those older than [`crate::Protocol::stamp_horizon`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub(crate) i64);

impl Stamp {
    /// The stamp of a clock that shows `nanos` since the run's start. For drivers, not for steps.
    pub fn of_clock(nanos: i64) -> Stamp {
        Stamp(nanos)
    }

    /// Nanoseconds since the run's start. For output, not for steps.
    pub fn nanos(self) -> i64 {
        self.0
    }

    /// A later instant.
    #[must_use]
    pub fn plus(self, span: Span) -> Stamp {
        Stamp(self.0.saturating_add(span.0 as i64))
    }

    /// An earlier instant.
    #[must_use]
    pub fn minus(self, span: Span) -> Stamp {
        Stamp(self.0.saturating_sub(span.0 as i64))
    }
}

/// Shifts stamps into the past as time passes, no further than a floor [ns].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shifting {
    pub(crate) span: i64,
    pub(crate) floor: i64,
}

impl Renaming for Shifting {
    fn stamp(&mut self, stamp: &mut Stamp) {
        stamp.0 = stamp.0.saturating_sub(self.span).max(self.floor);
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.0 < 0 { "-" } else { "+" }, Span(self.0.unsigned_abs()))
    }
}

impl Canonical for Stamp {
    fn encode(&self, out: &mut Encoder) {
        self.0.encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        i64::decode(input).map(Stamp)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&format!("{}ns", self.0));
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        let word = input.word()?;
        let nanos = word.strip_suffix("ns").and_then(|number| number.parse().ok());
        nanos
            .map(Stamp)
            .ok_or_else(|| input.unreadable(format!("`{word}` is no instant; write nanoseconds, as -500ns")))
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        names.stamp(self);
    }
}

/// What a protocol assumes of a node's clock. Respected by default, broken on purpose by scenarios that say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockBound {
    /// A timer set for `d` ends no sooner than `d * shortest` in reference time.
    pub shortest: Ratio,
    /// A timer set for `d` ends no later than `d * longest` in reference time.
    pub longest: Ratio,
    /// Stamps are off by at most this, either way.
    pub offset: Span,
}

impl ClockBound {
    /// The reference clock: the unit of time in which every other clock is stated.
    pub const EXACT: ClockBound = ClockBound { shortest: Ratio::ONE, longest: Ratio::ONE, offset: Span::ZERO };
}

/// A node's timers: which are armed, and until when [ns on the reference clock].
///
/// A timer is armed while its end lies ahead; at its end it *lapses*, and stays here as *due* until its firing is
/// delivered or it is set or cancelled. There is no order on timers.
#[derive(Clone)]
#[derive_where(Debug, PartialEq, Eq, PartialOrd, Ord, Hash; T)]
pub struct Timers<T: Ord> {
    ends: BTreeMap<T, u64>,
    /// The same, once there are many: a node of thousands asks for hundreds of them in each step. It is never iterated.
    #[derive_where(skip)]
    index: Option<FxHashMap<T, u64>>,
}

/// A node of no more timers has no index of them.
const FEW: usize = 64;

impl<T: Ord> Default for Timers<T> {
    fn default() -> Self {
        Timers { ends: BTreeMap::new(), index: None }
    }
}

impl<T: Ord + Clone + Hash> Timers<T> {
    fn of(ends: BTreeMap<T, u64>) -> Self {
        let mut timers = Timers { ends, index: None };
        timers.reindex();
        timers
    }

    fn reindex(&mut self) {
        let is_many = self.ends.len() > FEW;
        self.index = is_many.then(|| self.ends.iter().map(|(timer, end)| (timer.clone(), *end)).collect());
    }

    fn remove(&mut self, timer: &T) {
        if let Some(index) = &mut self.index {
            index.remove(timer);
        }
        self.ends.remove(timer);
    }

    /// Whether `timer` was set and its end lies ahead.
    #[inline]
    pub fn is_armed(&self, timer: &T, now: u64) -> bool {
        self.end(timer).is_some_and(|end| end > now)
    }

    /// Whether `timer` has lapsed and its firing is still to be delivered.
    pub fn is_due(&self, timer: &T, now: u64) -> bool {
        self.end(timer).is_some_and(|end| end <= now)
    }

    /// When `timer` ends or ended.
    #[inline]
    pub fn end(&self, timer: &T) -> Option<u64> {
        match &self.index {
            Some(index) => index.get(timer).copied(),
            None => self.ends.get(timer).copied(),
        }
    }

    /// Sets `timer` to end at `end`, discarding a firing not yet delivered.
    pub fn set(&mut self, timer: T, end: u64) {
        if let Some(index) = &mut self.index {
            index.insert(timer.clone(), end);
        }
        self.ends.insert(timer, end);
        if self.index.is_none() {
            self.reindex();
        }
    }

    /// `to` ends when `from` ends; an unarmed `from` leaves `to` unarmed. The new end, if any.
    pub fn copy(&mut self, from: &T, to: &T, now: u64) -> Option<u64> {
        let end = self.end(from).filter(|end| *end > now);
        match end {
            Some(end) => self.set(to.clone(), end),
            None => self.remove(to),
        }
        end
    }

    /// Unarms `timer`, discarding a firing not yet delivered.
    pub fn cancel(&mut self, timer: &T) {
        self.remove(timer);
    }

    /// Unarms all.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.index = None;
    }

    /// Every timer here with its end, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&T, u64)> {
        self.ends.iter().map(|(timer, end)| (timer, *end))
    }

    /// Whether none is armed or due.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The explorer's step of time: `now` stays, every end comes nearer by `span`, down to 0. The timers that lapse.
    pub fn elapse(&mut self, span: Span) -> Vec<T> {
        let mut lapsed = Vec::new();
        for (timer, end) in &mut self.ends {
            if *end > 0 {
                *end = end.saturating_sub(span.0);
                if *end == 0 {
                    lapsed.push(timer.clone());
                }
            }
        }
        self.reindex();
        lapsed
    }
}

impl<T: Canonical + Ord + Clone + Hash> Canonical for Timers<T> {
    fn encode(&self, out: &mut Encoder) {
        self.ends.encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        BTreeMap::decode(input).map(Timers::of)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        self.ends.write(out);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        BTreeMap::read(input).map(Timers::of)
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        self.ends.rename(names);
        self.reindex();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many there were and are, what is told of them is the same.
    #[test]
    fn many_timers_are_like_few() {
        let mut timers = Timers::default();
        let count = 3 * FEW as u32;
        (0..count).for_each(|timer| timers.set(timer, u64::from(timer) + 1));
        timers.copy(&5, &count, 0);
        timers.copy(&5, &6, 6);
        timers.cancel(&7);
        let mut few: BTreeMap<u32, u64> = (0..count).map(|timer| (timer, u64::from(timer) + 1)).collect();
        few.extend([(count, 6)]);
        few.retain(|timer, _| ![6, 7].contains(timer));
        assert!((0..=count).all(|timer| timers.end(&timer) == few.get(&timer).copied()));
        assert_eq!(timers.elapse(Span(10)), [0, 1, 2, 3, 4, 5, 8, 9, count]);
        assert!(timers.is_due(&9, 0) && timers.is_armed(&10, 0));
        (10..count).for_each(|timer| timers.cancel(&timer));
        let left: Timers<u32> = crate::canonical::decoding(&crate::canonical::encoding(&timers)).unwrap();
        assert_eq!(left, timers, "with an index and without");
        timers.clear();
        assert!(timers.is_empty() && !timers.is_due(&9, 0));
    }

    #[test]
    fn spans_are_exact_and_print_as_they_read() {
        for text in ["60s", "15ms", "1500us", "7ns", "0s"] {
            assert_eq!(text.parse::<Span>().unwrap().to_string(), text);
        }
        assert_eq!("1.5ms".parse::<Span>(), Ok(Span(1_500_000)));
        assert_eq!("3t".parse::<Span>(), Ok(Span::ticks(3)));
        assert_eq!("5550417386ns".parse::<Span>(), Ok(Span(5_550_417_386)));
        assert!(".5s".parse::<Span>().is_err() && "1.2.3s".parse::<Span>().is_err());
        assert!("1.5ns".parse::<Span>().is_err());
        assert!("60".parse::<Span>().is_err());
        assert!("99999999min".parse::<Span>().is_err());
    }

    #[test]
    fn decimals_become_exact_ratios() {
        assert_eq!("0.05".parse::<Ratio>(), Ok(Ratio { num: 1, den: 20 }));
        assert_eq!("65/60".parse::<Ratio>(), Ok(Ratio { num: 13, den: 12 }));
        assert!("-1".parse::<Ratio>().is_err());
        assert!("1/0".parse::<Ratio>().is_err());
    }

    #[test]
    fn copying_an_unarmed_timer_leaves_the_target_unarmed() {
        let mut timers = Timers::default();
        timers.set("lease", 9);
        assert_eq!(timers.copy(&"request", &"lease", 0), None);
        assert!(!timers.is_armed(&"lease", 0));
        timers.set("request", 4);
        assert_eq!(timers.copy(&"request", &"lease", 4), None, "a timer that has lapsed is not armed");
        assert!(timers.is_due(&"request", 4));
    }

    #[test]
    fn setting_discards_a_firing_not_yet_delivered() {
        let mut timers = Timers::default();
        timers.set("renew", 1);
        assert!(timers.is_due(&"renew", 1));
        timers.set("renew", 3);
        assert!(!timers.is_due(&"renew", 1) && timers.is_armed(&"renew", 1));
    }
}
