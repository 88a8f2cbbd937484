//! Which cached tasks were used least recently: a list in which one is found and moved at a cost that hardly grows with it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use seedbed_model::{Canonical, Decoder, Encoder, Malformed, Renaming, TextReader, TextWriter, Unreadable};

use super::task::Name;

/// Names in the order of their last use.
///
/// It is as a list of names to whoever compares or encodes it: when each was used is no part of what it means.
#[derive(Debug, Clone, Default)]
pub struct Recent {
    /// By the number of the last use.
    by_use: BTreeMap<u64, Name>,
    /// The other way round: `by_use[uses[name]] == name`.
    uses: BTreeMap<Name, u64>,
}

impl Recent {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.uses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Whether this one is there.
    pub fn has(&self, name: Name) -> bool {
        self.uses.contains_key(&name)
    }

    /// It is used now.
    pub fn used(&mut self, name: Name) {
        self.remove(name);
        let next = self.by_use.last_key_value().map_or(0, |(last, _)| last + 1);
        self.by_use.insert(next, name);
        self.uses.insert(name, next);
    }

    /// It is gone.
    pub fn remove(&mut self, name: Name) {
        if let Some(last) = self.uses.remove(&name) {
            self.by_use.remove(&last);
        }
    }

    /// Takes out the one that was not used for longest.
    pub fn pop(&mut self) -> Option<Name> {
        let (_, name) = self.by_use.pop_first()?;
        self.uses.remove(&name);
        Some(name)
    }

    fn names(&self) -> Vec<Name> {
        self.by_use.values().copied().collect()
    }
}

impl FromIterator<Name> for Recent {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Self {
        let mut recent = Recent::default();
        names.into_iter().for_each(|name| recent.used(name));
        recent
    }
}

impl PartialEq for Recent {
    fn eq(&self, other: &Self) -> bool {
        self.by_use.values().eq(other.by_use.values())
    }
}

impl Eq for Recent {}

impl PartialOrd for Recent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Recent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.by_use.values().cmp(other.by_use.values())
    }
}

impl Hash for Recent {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.names().hash(hasher);
    }
}

impl Canonical for Recent {
    fn encode(&self, out: &mut Encoder) {
        self.names().encode(out);
    }
    fn decode(input: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Vec::<Name>::decode(input)?.into_iter().collect())
    }
    fn write(&self, out: &mut TextWriter<'_>) {
        self.names().write(out);
    }
    fn read(input: &mut TextReader<'_>) -> Result<Self, Unreadable> {
        Ok(Vec::<Name>::read(input)?.into_iter().collect())
    }
    fn rename(&mut self, names: &mut dyn Renaming) {
        let mut listed = self.names();
        listed.rename(names);
        *self = listed.into_iter().collect();
    }
}

#[cfg(test)]
mod tests {
    use seedbed_model::{decoding, encoding};

    use super::super::task::{Pid, Queue};
    use super::*;

    fn name(pid: u32) -> Name {
        (Queue(0), Pid(pid))
    }

    #[test]
    fn the_least_recently_used_comes_first_and_how_it_got_there_is_forgotten() {
        let mut recent: Recent = [1, 2, 3].map(name).into_iter().collect();
        recent.used(name(1));
        assert_eq!(recent, [2, 3, 1].map(name).into_iter().collect());
        assert!(recent > [2, 1, 3].map(name).into_iter().collect());
        recent.remove(name(3));
        assert_eq!((recent.pop(), recent.pop(), recent.pop()), (Some(name(2)), Some(name(1)), None));
    }

    #[test]
    fn it_is_encoded_as_the_list_that_it_is() {
        let mut recent: Recent = [5, 1].map(name).into_iter().collect();
        recent.used(name(5));
        let bytes = encoding(&recent);
        assert_eq!(bytes, encoding(&vec![name(1), name(5)]));
        assert_eq!(decoding(&bytes), Ok(recent));
    }
}
