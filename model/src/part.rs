//! Parts of a node's state: stored, fingerprinted and tracked apart.

use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A piece of state (a session, a range, an instance) that steps read and write apart from the rest.
///
/// It behaves like the value inside. The explorer stores each part apart, and remembers a step under the parts it
/// read alone: two ranges then add up instead of multiplying. How many parts a state has must not change while the
/// node runs.
///
/// A part inside a part counts as one with it.
pub struct Part<T> {
    value: T,
    /// Where the explorer put this part when it laid the state out; `NEW` for a part that a step made.
    origin: u16,
    touched: Cell<bool>,
}

const NEW: u16 = u16::MAX;

/// What a step did to a part, as [`crate::Encoder::split`] finds it afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trail {
    /// The index the part was laid out at; `None` if a step made it, so that nothing is known of what it read.
    pub origin: Option<u16>,
    /// Whether it was read or written since.
    pub touched: bool,
}

impl<T> Part<T> {
    /// A part nobody has touched.
    pub fn new(value: T) -> Self {
        Self { value, origin: NEW, touched: Cell::new(false) }
    }

    /// A part laid out at index `origin`.
    pub(crate) fn laid_out(value: T, origin: u16) -> Self {
        Self { value, origin, touched: Cell::new(false) }
    }

    pub(crate) fn trail(&self) -> Trail {
        Trail { origin: (self.origin != NEW).then_some(self.origin), touched: self.touched.get() }
    }

    /// The value, without counting as a read.
    pub(crate) fn untracked(&self) -> &T {
        &self.value
    }

    pub(crate) fn untracked_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Deref for Part<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.touched.set(true);
        &self.value
    }
}

impl<T> DerefMut for Part<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.touched.set(true);
        &mut self.value
    }
}

/// Comparing, hashing and cloning look at the value and are reads: a step that compares two parts depends on both.
impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl<T: Eq> Eq for Part<T> {}
impl<T: PartialOrd> PartialOrd for Part<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (**self).partial_cmp(&**other)
    }
}
impl<T: Ord> Ord for Part<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}
impl<T: std::hash::Hash> std::hash::Hash for Part<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
impl<T: Clone> Clone for Part<T> {
    fn clone(&self) -> Self {
        Part::new((**self).clone())
    }
}
impl<T: Default> Default for Part<T> {
    fn default() -> Self {
        Part::new(T::default())
    }
}
impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
