//! What a step does, in order, and what that acts on.

use derive_where::derive_where;

use crate::name::NodeId;
use crate::protocol::{Effect, Event, Protocol};

/// The effects of a step, in order.
///
/// Most steps send a message or two: to look through their effects for what is not there costs as much as the step.
/// Hence [`Acts`], noted on the way.
#[derive_where(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effects<P: Protocol> {
    list: Vec<Effect<P>>,
    acts: Acts,
}

/// What a step's effects may act on: nothing else is acted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Acts {
    /// The node's timers or its disk, or the marks.
    pub within: bool,
    /// The node's disk.
    pub persists: bool,
    /// The network.
    pub sends: bool,
    /// The monitor.
    pub shows: bool,
    /// The node's client.
    pub responds: bool,
}

impl<P: Protocol> Effects<P> {
    /// None so far.
    pub const fn new() -> Self {
        let acts = Acts { within: false, persists: false, sends: false, shows: false, responds: false };
        Effects { list: Vec::new(), acts }
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, effect: Effect<P>) {
        match &effect {
            Effect::Send { .. } => self.acts.sends = true,
            Effect::Persist { .. } => (self.acts.within, self.acts.persists) = (true, true),
            Effect::Happened(event) => {
                self.acts.shows = true;
                self.acts.responds |= matches!(event, Event::Responded(..));
            }
            Effect::RespondAfter { .. } => {}
            Effect::Set { .. } | Effect::Copy { .. } | Effect::Cancel(_) | Effect::Unarm | Effect::Mark(_) => {
                self.acts.within = true;
            }
        }
        self.list.push(effect);
    }

    /// What they act on, since the last [`Self::clear`].
    #[inline]
    pub fn acts(&self) -> &Acts {
        &self.acts
    }

    /// Forgets them and keeps the memory.
    pub fn clear(&mut self) {
        self.list.clear();
        self.acts = Acts::default();
    }

    /// Takes out those from the `base`-th on.
    pub(crate) fn split_off(&mut self, base: usize) -> Vec<Effect<P>> {
        self.list.split_off(base)
    }

    /// Takes the messages out, in order; the other effects stay.
    #[inline]
    pub(crate) fn send(&mut self, mut send: impl FnMut(NodeId, P::Message)) {
        for effect in &mut self.list {
            if matches!(effect, Effect::Send { .. })
                && let Effect::Send { to, message, .. } = std::mem::replace(effect, Effect::Mark("sent"))
            {
                send(to, message);
            }
        }
    }
}

impl<P: Protocol> std::ops::Deref for Effects<P> {
    type Target = [Effect<P>];
    #[inline]
    fn deref(&self) -> &[Effect<P>] {
        &self.list
    }
}

impl<P: Protocol> IntoIterator for Effects<P> {
    type Item = Effect<P>;
    type IntoIter = std::vec::IntoIter<Effect<P>>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'e, P: Protocol> IntoIterator for &'e Effects<P> {
    type Item = &'e Effect<P>;
    type IntoIter = std::slice::Iter<'e, Effect<P>>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

impl<P: Protocol> Extend<Effect<P>> for Effects<P> {
    fn extend<I: IntoIterator<Item = Effect<P>>>(&mut self, effects: I) {
        effects.into_iter().for_each(|effect| self.push(effect));
    }
}
