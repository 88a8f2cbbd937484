//! Canonical bytes and canonical names: what fingerprints and digests are taken over.
//!
//! A value has exactly one encoding, the same on every machine and build, and never depends on `Hash`. Integers are
//! LEB128, sequences carry their length, enums their variant's index. [`Part`]s of a value can be encoded apart, so
//! that the explorer stores and fingerprints them apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::name::{NodeId, TagSpace};
use crate::part::{Part, Trail};
use crate::text::{TextReader, TextWriter, Unreadable};
use crate::time::Stamp;

/// A value with one canonical encoding, whose tags, node ids and stamps can be renamed.
///
/// Derive it: `#[derive(Canonical)]`.
pub trait Canonical: Sized {
    /// Names of an enum's variants; empty for anything else. Verdicts list the kinds that were never exercised.
    const KINDS: &'static [&'static str] = &[];

    /// Index into [`Self::KINDS`]; 0 for anything but an enum.
    fn kind(&self) -> usize {
        0
    }

    /// Appends the encoding to `out`.
    fn encode(&self, out: &mut Encoder);

    /// Reads back what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// On bytes that no value encodes to. Trailing bytes are the caller's business.
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed>;

    /// Writes the value as text, by name: see [`crate::text`].
    fn write(&self, out: &mut TextWriter<'_>) {
        out.opaque(self);
    }

    /// Reads back what [`Self::write`] wrote.
    ///
    /// # Errors
    /// On text that is no value's.
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.opaque()
    }

    /// Shows every tag, node id and stamp inside to `names`, in encoding order, to be read or replaced.
    fn rename(&mut self, names: &mut dyn Renaming) {
        let _ = names;
    }
}

/// What the explorer does to the names inside a value: ranks tags, permutes nodes, shifts stamps.
pub trait Renaming {
    /// A counter of the space `space`.
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let _ = (space, rank);
    }
    /// A node's id.
    fn node(&mut self, node: &mut NodeId) {
        let _ = node;
    }
    /// An opaque instant.
    fn stamp(&mut self, stamp: &mut Stamp) {
        let _ = stamp;
    }
    /// A part begins (`true`) or ends: what comes between belongs to it.
    fn part(&mut self, begins: bool) {
        let _ = begins;
    }
}

/// Bytes that no value encodes to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed encoding at byte {at}: {what}")]
pub struct Malformed {
    /// Offset of the offending byte.
    pub at: usize,
    /// What was found, and what would be right.
    pub what: String,
}

/// Where encodings are written.
#[derive(Debug, Default, Clone)]
pub struct Encoder {
    bytes: Vec<u8>,
    /// `Some` while parts are kept apart; `parts[i]` is the encoding of the i-th part met.
    parts: Option<Vec<SplitPart>>,
}

/// One part of a value encoded apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitPart {
    /// Its encoding.
    pub bytes: Vec<u8>,
    /// What was done to it since it was laid out.
    pub trail: Trail,
}

impl Encoder {
    /// An encoder that writes parts inline.
    pub fn whole() -> Self {
        Self::default()
    }

    /// An encoder that writes parts inline, and so many bytes before it asks for memory again.
    pub fn with_room(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), parts: None }
    }

    /// An encoder that keeps parts apart: see [`Self::into_split`].
    pub fn split() -> Self {
        Self { bytes: Vec::new(), parts: Some(Vec::new()) }
    }

    /// Forgets what was written and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        if let Some(parts) = &mut self.parts {
            parts.clear();
        }
    }

    /// What was written so far, without the parts kept apart.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The core (everything outside the parts) and the parts in the order met.
    pub fn into_split(self) -> (Vec<u8>, Vec<SplitPart>) {
        (self.bytes, self.parts.unwrap_or_default())
    }

    /// One raw byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// An unsigned integer as LEB128.
    #[inline]
    pub fn number(&mut self, number: u64) {
        if number < 0x80 {
            self.bytes.push(number as u8);
        } else {
            self.long_number(number);
        }
    }

    fn long_number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// An unsigned integer as eight bytes, the lowest first: for what is written often and is mostly large.
    #[inline]
    pub fn fixed(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    fn part(&mut self, trail: Trail, write: impl FnOnce(&mut Encoder)) {
        match self.parts.take() {
            None => write(self),
            Some(mut parts) => {
                // A part inside a part is written inline: `self.parts` is `None` meanwhile.
                let outside = std::mem::take(&mut self.bytes);
                write(self);
                parts.push(SplitPart { bytes: std::mem::replace(&mut self.bytes, outside), trail });
                self.parts = Some(parts);
            }
        }
    }
}

/// Where encodings are read.
#[derive(Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The parts kept apart, and how many of them were read.
    parts: Option<(&'a [&'a [u8]], usize)>,
}

impl<'a> Decoder<'a> {
    /// Reads a value with its parts inline.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, parts: None }
    }

    /// Reads a value whose parts were kept apart.
    pub fn split(core: &'a [u8], parts: &'a [&'a [u8]]) -> Self {
        Self { bytes: core, at: 0, parts: Some((parts, 0)) }
    }

    /// Whether every byte was read.
    pub fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// One raw byte.
    ///
    /// # Errors
    /// At the end.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| self.malformed("ends early".into()))?;
        self.at += 1;
        Ok(byte)
    }

    /// A LEB128 integer.
    ///
    /// # Errors
    /// At the end, past 64 bits, and on padding (a number has one encoding).
    pub fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if byte == 0 && shift > 0 {
                    return Err(self.malformed("padded integer".into()));
                }
                return Ok(number);
            }
        }
        Err(self.malformed("integer beyond 64 bits".into()))
    }

    /// The error for a variant index that the enum does not have.
    pub fn unknown_variant(&self, found: u8, count: usize) -> Malformed {
        self.malformed(format!("variant {found} of an enum with {count} variants"))
    }

    /// An error at the current byte.
    pub fn malformed(&self, what: String) -> Malformed {
        Malformed { at: self.at, what }
    }

    fn part<T: Canonical>(&mut self) -> Result<Part<T>, Malformed> {
        let Some((parts, read)) = &mut self.parts else { return T::decode(self).map(Part::new) };
        let index = *read;
        *read += 1;
        match parts.get(index) {
            Some(bytes) => decoding(bytes).map(|value| Part::laid_out(value, index as u16)),
            None => Err(self.malformed(format!("part {index} is missing"))),
        }
    }
}

/// The encoding of `value` with its parts inline.
pub fn encoding<T: Canonical>(value: &T) -> Vec<u8> {
    let mut out = Encoder::whole();
    value.encode(&mut out);
    out.bytes
}

/// The value that `bytes` encode, all of them.
///
/// # Errors
/// On malformed or trailing bytes.
pub fn decoding<T: Canonical>(bytes: &[u8]) -> Result<T, Malformed> {
    let mut input = Decoder::whole(bytes);
    let value = T::decode(&mut input)?;
    if input.is_done() { Ok(value) } else { Err(input.malformed("trailing bytes".into())) }
}

/// The project's one content hash: XXH3, 64 bits, seeded by `slot` so that equal bytes in different places differ.
///
/// Pinned by a test vector; fingerprints, digests and pinned files depend on it.
#[inline]
pub fn hash(slot: u64, bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64_with_seed(bytes, slot)
}

impl<T: Canonical> Canonical for Part<T> {
    fn encode(&self, out: &mut Encoder) {
        out.part(self.trail(), |out| self.untracked().encode(out));
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        input.part()
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        self.untracked().write(out);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        T::read(input).map(Part::new)
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        names.part(true);
        self.untracked_mut().rename(names);
        names.part(false);
    }
}

macro_rules! canonical_unsigned {
    ($($int:ty),*) => {$(
        impl Canonical for $int {
            #[inline]
            fn encode(&self, out: &mut Encoder) {
                out.number(*self as u64);
            }
            #[inline]
            fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
                let number = input.number()?;
                Self::try_from(number).map_err(|_| input.malformed(format!("{number} is too large for {}", stringify!($int))))
            }
            fn write(&self, out: &mut TextWriter<'_>) {
                out.push(&self.to_string());
            }
            fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
                input.number()
            }
        }
    )*};
}
canonical_unsigned!(u16, u32, u64, usize);

impl Canonical for u8 {
    #[inline]
    fn encode(&self, out: &mut Encoder) {
        out.byte(*self);
    }
    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        input.byte()
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&self.to_string());
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.number()
    }
}

/// Zigzag, so that small negative numbers are short too.
impl Canonical for i64 {
    fn encode(&self, out: &mut Encoder) {
        out.number(((self << 1) ^ (self >> 63)) as u64);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let number = input.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&self.to_string());
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.number()
    }
}

impl Canonical for bool {
    #[inline]
    fn encode(&self, out: &mut Encoder) {
        out.byte(u8::from(*self));
    }
    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(input.unknown_variant(other, 2)),
        }
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(if *self { "true" } else { "false" });
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        match input.word()? {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(input.unknown("truth", other, &["true", "false"])),
        }
    }
}

impl Canonical for String {
    fn encode(&self, out: &mut Encoder) {
        out.number(self.len() as u64);
        out.bytes.extend_from_slice(self.as_bytes());
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let bytes = Vec::<u8>::decode(input)?;
        String::from_utf8(bytes).map_err(|_| input.malformed("not UTF-8".into()))
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&format!("{self:?}"));
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.quoted()
    }
}

impl<T: Canonical> Canonical for Option<T> {
    fn encode(&self, out: &mut Encoder) {
        out.byte(u8::from(self.is_some()));
        if let Some(value) = self {
            value.encode(out);
        }
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(if bool::decode(input)? { Some(T::decode(input)?) } else { None })
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        match self {
            Some(value) => out.list(("Some(", ")"), [value], |out, value| value.write(out)),
            None => out.push("None"),
        }
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        if input.takes("None") {
            return Ok(None);
        }
        input.expect("Some(")?;
        let value = T::read(input)?;
        input.expect(")")?;
        Ok(Some(value))
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        if let Some(value) = self {
            value.rename(names);
        }
    }
}

impl<T: Canonical> Canonical for Box<T> {
    fn encode(&self, out: &mut Encoder) {
        (**self).encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        T::decode(input).map(Box::new)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        (**self).write(out);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        T::read(input).map(Box::new)
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        (**self).rename(names);
    }
}

impl<T: Canonical> Canonical for Vec<T> {
    fn encode(&self, out: &mut Encoder) {
        out.number(self.len() as u64);
        for item in self {
            item.encode(out);
        }
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = input.number()?;
        // The bytes left bound the memory asked for: a corrupt length must not exhaust it.
        let mut items = Vec::with_capacity((count as usize).min(input.bytes.len() - input.at));
        for _ in 0..count {
            items.push(T::decode(input)?);
        }
        Ok(items)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.list(("[", "]"), self, |out, item| item.write(out));
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.list(("[", "]"), T::read)
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        for item in self {
            item.rename(names);
        }
    }
}

impl<T: Canonical + Ord> Canonical for BTreeSet<T> {
    fn encode(&self, out: &mut Encoder) {
        out.number(self.len() as u64);
        for item in self {
            item.encode(out);
        }
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let mut items = BTreeSet::new();
        for _ in 0..input.number()? {
            let item = T::decode(input)?;
            if items.last().is_some_and(|last| *last >= item) {
                return Err(input.malformed("a set out of order".into()));
            }
            items.insert(item);
        }
        Ok(items)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.list(("[", "]"), self, |out, item| item.write(out));
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        Ok(set(input.list(("[", "]"), T::read)?))
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        let mut items: Vec<T> = std::mem::take(self).into_iter().collect();
        items.rename(names);
        *self = set(items);
    }
}

impl<K: Canonical + Ord, V: Canonical> Canonical for BTreeMap<K, V> {
    fn encode(&self, out: &mut Encoder) {
        out.number(self.len() as u64);
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let mut items = BTreeMap::new();
        for _ in 0..input.number()? {
            let (key, value) = <(K, V)>::decode(input)?;
            if items.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return Err(input.malformed("a map out of order".into()));
            }
            items.insert(key, value);
        }
        Ok(items)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.list(("{", "}"), self, |out, (key, value)| {
            key.write(out);
            out.push(": ");
            value.write(out);
        });
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        let pair = |input: &mut TextReader<'_>| {
            let key = K::read(input)?;
            input.expect(":")?;
            Ok((key, V::read(input)?))
        };
        Ok(map(input.list(("{", "}"), pair)?))
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        let mut items: Vec<(K, V)> = std::mem::take(self).into_iter().collect();
        items.rename(names);
        *self = map(items);
    }
}

// One by one: `collect` sorts first, and a sort made for each type that is held in a set or a map is a tenth of the code there is.

fn set<T: Ord>(items: Vec<T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        set.insert(item);
    }
    set
}

fn map<K: Ord, V>(items: Vec<(K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in items {
        map.insert(key, value);
    }
    map
}

macro_rules! canonical_tuple {
    ($($name:ident)*) => {
        #[allow(non_snake_case, unused_variables, reason = "the generic names double as bindings, and () has none")]
        impl<$($name: Canonical),*> Canonical for ($($name,)*) {
            #[inline]
            fn encode(&self, out: &mut Encoder) {
                let ($($name,)*) = self;
                $($name.encode(out);)*
            }
            #[inline]
            fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
                Ok(($($name::decode(input)?,)*))
            }
            fn write(&self, out: &mut TextWriter<'_>) {
                let ($($name,)*) = self;
                let parts: &[&dyn Fn(&mut TextWriter<'_>)] = &[$(&|out: &mut TextWriter<'_>| $name.write(out)),*];
                out.list(("(", ")"), parts, |out, part| part(out));
            }
            fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
                input.expect("(")?;
                let value = ($({
                    input.takes(",");
                    $name::read(input)?
                },)*);
                input.expect(")")?;
                Ok(value)
            }
            fn rename(&mut self, names: &mut dyn Renaming) {
                let ($($name,)*) = self;
                $($name.rename(names);)*
            }
        }
    };
}
canonical_tuple!();
canonical_tuple!(A);
canonical_tuple!(A B);
canonical_tuple!(A B C);
canonical_tuple!(A B C D);

#[cfg(test)]
mod tests {
    use super::*;

    /// Fingerprints and digests of every release hang on these two numbers.
    #[test]
    fn the_content_hash_is_pinned() {
        assert_eq!(hash(0, b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash(7, b"seedbed"), hash(7, b"seedbed"));
        assert_ne!(hash(7, b"seedbed"), hash(8, b"seedbed"));
    }

    #[test]
    fn parts_are_kept_apart_and_come_back() {
        let value = (3u32, vec![Part::new(5u32), Part::new(300)], 7u8);
        let mut out = Encoder::split();
        value.encode(&mut out);
        let (core, parts) = out.into_split();
        assert_eq!((core.as_slice(), parts.len()), ([3, 2, 7].as_slice(), 2));
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.bytes.as_slice()).collect();
        let back: (u32, Vec<Part<u32>>, u8) = Canonical::decode(&mut Decoder::split(&core, &parts)).unwrap();
        assert_eq!(back, value);
    }

    #[test]
    fn a_number_has_one_encoding() {
        assert!(decoding::<u32>(&[0x80, 0x00]).is_err());
        assert!(decoding::<u64>(&[0xff; 10]).is_err());
        assert_eq!(decoding::<u64>(&encoding(&u64::MAX)), Ok(u64::MAX));
        assert_eq!(decoding::<i64>(&encoding(&i64::MIN)), Ok(i64::MIN));
    }
}
