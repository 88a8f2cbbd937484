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
    pub fn new() -> Self {
        Self::default()
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
                && let Effect::Send { to, message, .. } = std::mem::replace(effect, Effect::Unarm)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{Never, NodeId, Nonce, OpId, Stream};
    use crate::property::Property;
    use crate::protocol::{Context, Input};
    use crate::time::Span;

    #[derive(Debug, Clone)]
    struct Numbers;

    impl Protocol for Numbers {
        type State = u8;
        type Message = u8;
        type Timer = u8;
        type Record = u8;
        type Durable = ();
        type Operation = Never;
        type Answer = u8;
        type Decision = Never;
        type Observation = u8;
        type Monitor = ();

        fn nodes(&self) -> Vec<String> {
            vec!["one".into()]
        }
        fn start(&self, (): &(), _: Nonce, _: &mut Context<'_, Self>) -> u8 {
            0
        }
        fn step(&self, _: &mut u8, _: Input<Self>, _: &mut Context<'_, Self>) {}
        fn properties(&self) -> Vec<Property> {
            Vec::new()
        }
    }

    /// Each effect, with what it acts on.
    fn one_of_each() -> Vec<(Effect<Numbers>, Acts)> {
        let none = Acts::default();
        let within = Acts { within: true, ..none };
        let happened = |event| Effect::Happened(event);
        let ticket = crate::protocol::Ticket(0);
        vec![
            (Effect::Send { to: NodeId(0), message: 1, after: None }, Acts { sends: true, ..none }),
            (Effect::Persist { stream: Stream(0), record: 2 }, Acts { persists: true, ..within }),
            (Effect::Set { timer: 3, span: Span(1) }, within),
            (Effect::Copy { to: 3, from: 4 }, within),
            (Effect::Cancel(3), within),
            (Effect::Unarm, within),
            (Effect::Mark("rare"), within),
            (happened(Event::Observed(5)), Acts { shows: true, ..none }),
            (happened(Event::Responded(OpId(0), 6)), Acts { shows: true, responds: true, ..none }),
            (Effect::RespondAfter { op: OpId(0), answer: 7, after: ticket }, none),
        ]
    }

    #[test]
    fn what_an_effect_acts_on_is_noted_until_they_are_cleared() {
        let mut effects = Effects::new();
        for (effect, acts) in one_of_each() {
            effects.clear();
            assert_eq!(*effects.acts(), Acts::default());
            effects.push(effect);
            assert_eq!(*effects.acts(), acts, "{effects:?}");
        }
        let mut all: Effects<Numbers> = Effects::new();
        all.extend(one_of_each().into_iter().map(|(effect, _)| effect));
        assert_eq!(*all.acts(), Acts { within: true, persists: true, sends: true, shows: true, responds: true });
    }

    #[test]
    fn messages_leave_and_the_rest_stays() {
        let mut effects = Effects::new();
        effects.extend(one_of_each().into_iter().map(|(effect, _)| effect));
        let mut sent = Vec::new();
        effects.send(|to, message| sent.push((to, message)));
        assert_eq!(sent, [(NodeId(0), 1)]);
        let rest: Vec<_> = one_of_each().into_iter().skip(1).map(|(effect, _)| effect).collect();
        assert_eq!(effects[1..], rest);
    }
}
