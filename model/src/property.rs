//! Properties: what must hold, what must be reached, and the fold that watches.

use crate::protocol::Surroundings;
use crate::time::{Span, Stamp};

/// Something that must hold or must be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Kebab case, distinct within the protocol.
    pub name: &'static str,
    /// What kind of claim.
    pub kind: Kind,
    /// The claim in words, with the paper's section.
    pub words: &'static str,
}

/// The kinds of claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Holds after each step.
    Always,
    /// Is reached at least once: by a mark or [`Watch::reached`] of the property's name.
    Sometimes,
    /// After an event, something follows within a span: a deadline of the monitor never passes.
    Within,
    /// From every state it can still be reached, again and again. Checked by the explorer alone.
    ReachableAlways,
    /// What clients see can be put in an order: [`crate::history::Configurations`] watches it.
    History,
    /// What is owed ([`crate::Protocol::owes`]) is not owed for ever on any weakly fair run: one on which every message,
    /// timer firing, write and tick of time that stays possible comes in the end. Faults, restarts, clients and
    /// decisions need never come. Checked by the explorer alone, where its bounds ask for it.
    Eventually,
}

impl Kind {
    /// For output.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Always => "always",
            Kind::Sometimes => "sometimes",
            Kind::Within => "within",
            Kind::ReachableAlways => "reachable always",
            Kind::History => "history",
            Kind::Eventually => "eventually",
        }
    }
}

impl Property {
    /// An `always`.
    pub const fn always(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::Always, words }
    }
    /// A goal.
    pub const fn sometimes(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::Sometimes, words }
    }
    /// A bounded response.
    pub const fn within(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::Within, words }
    }
    /// A goal that no state may cut off.
    pub const fn reachable_always(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::ReachableAlways, words }
    }
    /// An order of what clients see.
    pub const fn history(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::History, words }
    }
    /// A debt that no fair run owes for ever.
    pub const fn eventually(name: &'static str, words: &'static str) -> Self {
        Property { name, kind: Kind::Eventually, words }
    }
}

/// What a run or a search ends with where a monitor gave up a property: [`Watch::unknown`].
pub const UNKNOWN: &str = "unknown";

/// A property that fell, and who did it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The property's name; `panic` for a broken assertion of the protocol, [`UNKNOWN`] for one that was given up.
    pub property: String,
    /// What happened, in words, naming the culprits.
    pub detail: String,
}

impl Violation {
    /// Calls nodes by their names instead of their ids.
    pub(crate) fn call_by_name(&mut self, names: &[String]) {
        self.detail = crate::trace::with_names(names, &self.detail);
    }
}

/// What the monitor does with its deadlines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, seedbed_derive::Canonical)]
pub enum DeadlineOp {
    /// The deadline passes after the span, unless it is cleared.
    Set(u32, Span),
    /// It no longer passes.
    Clear(u32),
}

/// The monitor's hands, while it folds one event.
pub struct Watch<'a> {
    pub(crate) violations: &'a mut Vec<Violation>,
    pub(crate) reached: &'a mut Vec<&'static str>,
    pub(crate) deadlines: &'a mut Vec<DeadlineOp>,
    pub(crate) surroundings: &'a mut dyn Surroundings<u32>,
    /// Whether every answer of [`Watch::follow`] is tried.
    pub(crate) forks: bool,
}

impl Watch<'_> {
    /// The property `name` fell.
    pub fn violated(&mut self, name: &str, detail: impl Into<String>) {
        self.violations.push(Violation { property: name.to_owned(), detail: detail.into() });
    }

    /// Whether the property `name` holds is unknown from here on, for this reason: a bound of the monitor is reached.
    /// The run ends with it, as it is then of no more use.
    pub fn unknown(&mut self, name: &str, why: &str) {
        self.violated(UNKNOWN, format!("whether {name} holds: {why}"));
    }

    /// The goal `name` was reached.
    pub fn reached(&mut self, name: &'static str) {
        self.reached.push(name);
    }

    /// [`crate::Event::Deadline`] comes after `span` of reference time, unless the deadline is set anew or cleared.
    pub fn set_deadline(&mut self, id: u32, span: Span) {
        self.deadlines.push(DeadlineOp::Set(id, span));
    }

    /// The deadline no longer passes.
    pub fn clear_deadline(&mut self, id: u32) {
        self.deadlines.push(DeadlineOp::Clear(id));
    }

    /// Whether this engine watches one obligation at a time: it follows each of them in some branch
    /// ([`Self::follow`]), so that one slot of state covers all. Otherwise the monitor must follow all.
    pub fn one_at_a_time(&self) -> bool {
        self.forks
    }

    /// Whether to follow this obligation. Always, where every obligation can be followed; both ways in the explorer,
    /// which keeps the monitor's state small at no loss: whatever is violated is followed in some branch.
    pub fn follow(&mut self) -> bool {
        !self.forks || self.surroundings.choose(2) == 1
    }
}

/// The surroundings of a monitor that is never asked to fork.
#[derive(Default)]
pub(crate) struct Unforked;

impl Surroundings<u32> for Unforked {
    fn is_armed(&mut self, _: &u32) -> bool {
        false
    }
    fn clock(&mut self) -> Stamp {
        Stamp(0)
    }
    fn choose(&mut self, _: u32) -> u32 {
        0
    }
}
