//! Names: nodes, streams, operations, tags, nonces.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;

use crate::canonical::{Canonical, Decoder, Encoder, Malformed, Renaming};
use crate::text::{TextReader, TextWriter, Unreadable};

/// A node, by its index in [`crate::Protocol::nodes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The index as a `usize`.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl Canonical for NodeId {
    #[inline]
    fn encode(&self, out: &mut Encoder) {
        out.number(u64::from(self.0));
    }
    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        u16::decode(input).map(NodeId)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.node(*self);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        input.node()
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        names.node(self);
    }
}

/// One of a node's durable streams: records of a stream become durable in the order they were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub struct Stream(pub u8);

/// An operation of one client: its place in the client's workload, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub struct OpId(pub u32);

/// A family of counters that a protocol only compares: sequence numbers, generation numbers, log numbers.
pub trait TagKind: 'static {
    /// Distinct among the kinds of one protocol; below 1,024. 0 is [`Incarnation`].
    const ID: u16;
    /// For output.
    const NAME: &'static str;
    /// Whether a tag's scope is a node's index, so that permuting nodes permutes the scopes.
    const BY_NODE: bool = false;
}

/// The counters of one kind and scope: only these are ever compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagSpace {
    /// [`TagKind::ID`].
    pub kind: u16,
    /// Tells apart the counters of one kind: a range, or a node.
    pub scope: u16,
}

/// A counter that is only compared: there is no arithmetic but [`Tag::next`].
///
/// The explorer renames tags by rank, space by space, so that a behaviour that counts up for ever still closes. That
/// is sound under one rule: **whoever takes `next` holds the largest tag of its space** (one allocator for a space,
/// which never forgets its last), and nobody tests two tags for being adjacent. Tags of different spaces are never
/// compared. A node that counts anew after a crash forgets its last: its numbers are [`crate::Serial`]s, whose
/// incarnations are spaces of their own. Never make a tag up: a marker (`Gone`) says that a tag no longer matters.
pub struct Tag<K> {
    scope: u16,
    rank: u32,
    kind: PhantomData<fn() -> K>,
}

impl<K: TagKind> Tag<K> {
    /// The first tag of its space.
    pub fn first(scope: u16) -> Self {
        Self { scope, rank: 0, kind: PhantomData }
    }

    /// A tag larger than this one, for the allocator of the space.
    #[must_use]
    pub fn next(self) -> Self {
        Self { rank: self.rank + 1, ..self }
    }

    /// The space it belongs to.
    pub fn space(self) -> TagSpace {
        TagSpace { kind: K::ID, scope: self.scope }
    }

    pub(crate) fn rank(self) -> u32 {
        self.rank
    }

    /// Its scope: the range or the node it was made for.
    pub fn scope(self) -> u16 {
        self.scope
    }
}

impl<K> Clone for Tag<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Tag<K> {}
impl<K> PartialEq for Tag<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.scope, self.rank) == (other.scope, other.rank)
    }
}
impl<K> Eq for Tag<K> {}
impl<K> PartialOrd for Tag<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
/// By scope, then by rank. Steps compare ranks within one scope only.
impl<K> Ord for Tag<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.scope, self.rank).cmp(&(other.scope, other.rank))
    }
}
impl<K> std::hash::Hash for Tag<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.scope, self.rank).hash(state);
    }
}
impl<K> fmt::Debug for Tag<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rank)
    }
}

impl<K: TagKind> Canonical for Tag<K> {
    #[inline]
    fn encode(&self, out: &mut Encoder) {
        out.number(u64::from(self.scope));
        out.number(u64::from(self.rank));
    }
    #[inline]
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let scope = u16::decode(input)?;
        let rank = u32::decode(input)?;
        Ok(Self { scope, rank, kind: PhantomData })
    }
    /// The rank, and the scope behind it if it is not 0.
    fn write(&self, out: &mut TextWriter<'_>) {
        out.push(&self.rank.to_string());
        if self.scope > 0 {
            out.push(&format!("@{}", self.scope));
        }
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        let rank = input.number()?;
        let scope = if input.takes("@") { input.number()? } else { 0 };
        Ok(Self { scope, rank, kind: PhantomData })
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        if K::BY_NODE {
            let mut node = NodeId(self.scope);
            names.node(&mut node);
            self.scope = node.0;
        }
        names.tag(self.space(), &mut self.rank);
    }
}

/// The incarnations of a node.
#[derive(Debug)]
pub enum Incarnation {}

impl TagKind for Incarnation {
    const ID: u16 = 0;
    const NAME: &'static str = "nonce";
    const BY_NODE: bool = true;
}

/// What a start is told: fresh, and larger than every earlier nonce of the node.
///
/// The papers ask only for a fresh nonce. An ordered one (a boot counter, a boot time) lets a receiver tell an old
/// incarnation's message from a new session without another round trip; a protocol that wants unordered nonces
/// compares for equality alone.
pub type Nonce = Tag<Incarnation>;

/// A set of up to 64 nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodeSet(u64);

impl NodeSet {
    /// No node.
    pub const EMPTY: NodeSet = NodeSet(0);

    /// Adds a node; true if it is new.
    ///
    /// # Panics
    /// On a node of index 64 or more.
    pub fn insert(&mut self, node: NodeId) -> bool {
        assert!(node.0 < 64, "a node set holds nodes 0 to 63, not {node:?}");
        let before = self.0;
        self.0 |= 1 << node.0;
        before != self.0
    }

    /// Removes a node.
    pub fn remove(&mut self, node: NodeId) {
        self.0 &= !(1 << node.0);
    }

    /// Whether the node is in it.
    pub fn contains(self, node: NodeId) -> bool {
        node.0 < 64 && self.0 >> node.0 & 1 == 1
    }

    /// How many nodes.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The nodes in order.
    pub fn iter(self) -> impl Iterator<Item = NodeId> {
        (0..64).filter(move |index| self.0 >> index & 1 == 1).map(NodeId)
    }
}

impl FromIterator<NodeId> for NodeSet {
    fn from_iter<I: IntoIterator<Item = NodeId>>(nodes: I) -> Self {
        let mut set = NodeSet::EMPTY;
        for node in nodes {
            set.insert(node);
        }
        set
    }
}

impl fmt::Debug for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Canonical for NodeSet {
    fn encode(&self, out: &mut Encoder) {
        out.number(self.0);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        u64::decode(input).map(NodeSet)
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        out.list(("[", "]"), self.iter(), |out, node| node.write(out));
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        Ok(input.list(("[", "]"), NodeId::read)?.into_iter().filter(|node| node.0 < 64).collect())
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        *self = self
            .iter()
            .map(|mut node| {
                names.node(&mut node);
                node
            })
            .collect();
    }
}

/// The kind of message, timer or record that a protocol does without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Never {}

impl Canonical for Never {
    fn encode(&self, _: &mut Encoder) {
        match *self {}
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Err(input.malformed("a value that cannot exist".into()))
    }
}
