//! What a model asks of its protocol, with the types left out.

use std::collections::BTreeSet;

use seedbed_model::explore::{Bounds, Exercised};
use seedbed_model::trace::{describe_choice, with_names};
use seedbed_model::{Protocol, ScriptStep, Span, Violation, decoding, encoding, hash};

use crate::normal::Reductions;
use crate::world::{Way, World};

/// Where a way leads. Worlds and steps are told by their canonical encodings: a world is not `Sync`, its bytes are.
pub(crate) struct Landing {
    /// The steps of the way.
    pub(crate) steps: Vec<u8>,
    /// The world as it is then.
    pub(crate) world: Vec<u8>,
    /// Two hashes of the normal form, and of what fell on the way.
    pub(crate) key: [u64; 2],
    /// What fell on the way.
    pub(crate) falls: Vec<Violation>,
    /// Marks taken and goals reached on it.
    pub(crate) reached: BTreeSet<&'static str>,
}

/// The ways of the worlds of a protocol within bounds.
///
/// # Panics
/// On bytes that are not the encoding of its worlds or steps.
pub(crate) trait Ways: Send + Sync {
    /// Every start; none if the bounds do not fit the protocol.
    fn initial(&self) -> Vec<Landing>;
    /// Every way on from a world.
    ///
    /// # Errors
    /// If the bounds do not fit the protocol.
    fn onward(&self, world: &[u8], exercised: &mut Exercised) -> Result<Vec<Landing>, String>;
    /// Whether the world has a tag beyond `most`.
    fn has_tag_beyond(&self, world: &[u8], most: u32) -> bool;
    /// The steps in words.
    fn steps_told(&self, steps: &[u8]) -> String;
    /// The world in lines.
    fn world_told(&self, world: &[u8]) -> String;
}

/// Of a protocol.
pub(crate) struct OfProtocol<P: Protocol> {
    protocol: P,
    bounds: Bounds,
    reductions: Reductions,
    names: Vec<String>,
}

impl<P: Protocol> OfProtocol<P> {
    pub(crate) fn new(protocol: &P, bounds: &Bounds) -> Self {
        let reductions = Reductions::of(protocol, bounds);
        OfProtocol { protocol: protocol.clone(), bounds: bounds.clone(), reductions, names: protocol.nodes() }
    }

    fn landing(&self, way: Way<P>, before: &World<P>) -> Landing {
        // A panic leads nowhere.
        let mut world = way.next.unwrap_or_else(|| before.clone());
        if self.reductions.dead {
            world.bury(&self.protocol, false);
        }
        let mut bytes = world.normal_form(&self.protocol, &self.bounds, self.reductions);
        for fall in &way.violations {
            bytes.extend(encoding(&fall.property));
        }
        Landing {
            steps: encoding(&way.steps),
            world: encoding(&world),
            key: [hash(0, &bytes), hash(1, &bytes)],
            falls: way.violations,
            reached: way.reached,
        }
    }

    fn decoded(world: &[u8]) -> World<P> {
        decoding(world).expect("a state holds what was encoded")
    }
}

impl<P: Protocol> Ways for OfProtocol<P> {
    fn initial(&self) -> Vec<Landing> {
        let starts = World::initial(&self.protocol, &self.bounds).unwrap_or_default();
        // A start that panics leads nowhere, and there is nothing before it.
        let known = starts.into_iter().filter_map(|way| Some((way.next.clone()?, way)));
        known.map(|(world, way)| self.landing(way, &world)).collect()
    }

    fn onward(&self, world: &[u8], exercised: &mut Exercised) -> Result<Vec<Landing>, String> {
        let world = Self::decoded(world);
        let ways = world.ways_noting(&self.protocol, &self.bounds, exercised)?;
        Ok(ways.into_iter().map(|way| self.landing(way, &world)).collect())
    }

    fn has_tag_beyond(&self, world: &[u8], most: u32) -> bool {
        Self::decoded(world).has_tag_beyond(most, self.reductions)
    }

    fn steps_told(&self, steps: &[u8]) -> String {
        let steps: Vec<ScriptStep<P>> = decoding(steps).expect("an action holds what was encoded");
        let words: Vec<String> = steps.iter().map(|step| describe_choice(&self.names, &step.choice)).collect();
        words.join("; ")
    }

    fn world_told(&self, world: &[u8]) -> String {
        with_names(&self.names, &Self::decoded(world).told(&self.names))
    }
}

impl<P: Protocol> World<P> {
    /// The world in lines. `names[i]` is node `i`'s.
    fn told(&self, names: &[String]) -> String {
        let mut text = format!("after {}\n", Span(self.now));
        for (at, host) in self.hosts.iter().enumerate() {
            text.push_str(&format!("{}: {}\n", names[at], self.host_told(at, host)));
        }
        for flight in &self.flights {
            let envelope = &flight.envelope;
            let (from, to) = (&names[envelope.from.index()], &names[envelope.to.index()]);
            let life = flight.life.map_or_else(String::new, |ticks| format!(", within {ticks} ticks"));
            text.push_str(&format!("in flight, {from} to {to}: {:?}{life}\n", envelope.message));
        }
        for (from, to) in &self.cuts {
            text.push_str(&format!("cut: {} to {}\n", names[from.index()], names[to.index()]));
        }
        let deadlines: Vec<String> = self
            .deadlines
            .iter()
            .map(|(id, end)| format!("deadline {id} in {}", Span(end.saturating_sub(self.now))))
            .collect();
        text.push_str(&format!("monitor: {:?} {}\n", self.monitor, deadlines.join(", ")));
        let left = self.budgets;
        text.push_str(&format!(
            "faults left: {} losses, {} duplicates, {} crashes, {} pauses, {} cuts\n",
            left.losses, left.duplicates, left.crashes, left.pauses, left.cuts
        ));
        text
    }

    fn host_told(&self, at: usize, host: &seedbed_model::Host<P>) -> String {
        let mut text = match &host.state {
            Some(state) => format!("{:?}, {state:?}", host.phase),
            None => format!("{:?}", host.phase),
        };
        for (timer, end) in self.timers[at].iter() {
            match end.checked_sub(self.now) {
                Some(left) if left > 0 => text.push_str(&format!("; {timer:?} ends in {}", Span(left))),
                _ => text.push_str(&format!("; {timer:?} is due")),
            }
        }
        for unsynced in &host.disk.tail {
            text.push_str(&format!("; writing {:?}", unsynced.record));
        }
        text
    }
}
