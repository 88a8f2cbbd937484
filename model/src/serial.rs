//! `<number, nonce>` pairs: counters that begin anew with each incarnation of who counts.

use std::fmt::Debug;
use std::hash::Hash;

use crate::canonical::{Canonical, Decoder, Encoder, Malformed, Renaming};
use crate::name::{NodeId, Nonce, Tag, TagKind, TagSpace};
use crate::text::{TextReader, TextWriter, Unreadable};
use crate::time::Stamp;

/// A kind of number: an empty enum that derives what plain data has.
pub trait NumberKind: TagKind + Copy + Ord + Hash + Debug {}
impl<K: TagKind + Copy + Ord + Hash + Debug> NumberKind for K {}

/// A number that one incarnation gave. Ordered by incarnation first.
///
/// An incarnation begins at the first number and so does not hold the largest of its kind: numbers of different
/// incarnations are never compared, and each incarnation's are a tag space of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Serial<K: NumberKind> {
    /// The incarnation that counts.
    pub nonce: Nonce,
    /// Its count.
    pub number: Tag<K>,
}

impl<K: NumberKind> Serial<K> {
    /// What precedes the first number of an incarnation; nothing bears it.
    pub fn before_first(nonce: Nonce, scope: u16) -> Self {
        Serial { nonce, number: Tag::first(scope) }
    }

    /// The serial after this one. For the incarnation's node alone.
    #[must_use]
    pub fn next(self) -> Self {
        Serial { number: self.number.next(), ..self }
    }
}

impl<K: NumberKind> Debug for Serial<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}.{:?}", self.nonce, self.number)
    }
}

impl<K: NumberKind> Canonical for Serial<K> {
    fn encode(&self, out: &mut Encoder) {
        self.nonce.encode(out);
        self.number.encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Serial { nonce: Nonce::decode(input)?, number: Tag::decode(input)? })
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        self.nonce.write(out);
        out.push(".");
        self.number.write(out);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        let nonce = Nonce::read(input)?;
        input.expect(".")?;
        Ok(Serial { nonce, number: Tag::read(input)? })
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        let incarnation = self.nonce;
        self.nonce.rename(names);
        self.number.rename(&mut Within { incarnation, names });
    }
}

/// Kinds stay below this, so that a kind and an incarnation make one number.
const KINDS: u16 = 1024;

/// Shows the numbers of an incarnation as a space of their own. Of 64 incarnations of a node at once, or of 256 nodes, two
/// may share a space: that merges fewer states, and is as sound.
struct Within<'a> {
    incarnation: Nonce,
    names: &'a mut dyn Renaming,
}

impl Renaming for Within<'_> {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let incarnation = (self.incarnation.rank() % u32::from(u16::MAX / KINDS)) as u16;
        // Of the nodes too: incarnations of two are alike in number only until they are ranked.
        let scope = space.scope ^ self.incarnation.scope() << 8;
        self.names.tag(TagSpace { kind: space.kind + incarnation * KINDS, scope }, rank);
    }
    fn node(&mut self, node: &mut NodeId) {
        self.names.node(node);
    }
    fn stamp(&mut self, stamp: &mut Stamp) {
        self.names.stamp(stamp);
    }
}
