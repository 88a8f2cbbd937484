//! A protocol that breaks the rules, as its mutants say.

use std::sync::atomic::{AtomicU32, Ordering};

use seedbed_model::{
    Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, Nonce, Offers, Outcome, Property, Protocol, Watch,
};
use serde::{Deserialize, Serialize};

/// What a protocol must not have: something outside that it remembers.
static OUTSIDE: AtomicU32 = AtomicU32::new(0);

/// A node that counts its decisions, and breaks a rule as its mutants say.
#[derive(Clone)]
pub struct Rogue {
    mutants: Mutants,
}

/// It has none.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {}

impl Protocol for Rogue {
    type State = u32;
    type Message = Never;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = bool;
    type Observation = u32;
    type Monitor = ();

    fn nodes(&self) -> Vec<String> {
        vec!["rogue".into()]
    }

    fn start(&self, (): &(), _: Nonce, _: &mut Context<'_, Self>) -> u32 {
        0
    }

    fn step(&self, count: &mut u32, _: Input<Self>, cx: &mut Context<'_, Self>) {
        *count += 1;
        assert!(*count < 4 || !self.mutants.has("panics"), "{count} decisions are too many");
        if self.mutants.has("remembers") {
            cx.observe(OUTSIDE.fetch_add(1, Ordering::Relaxed));
        }
        if *count == 5 {
            cx.mark("fifth");
        }
    }

    fn decisions(&self, _: NodeId, count: &u32, offers: &mut Offers<'_, Self>) {
        if *count < 9 {
            offers.offer(true);
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![Property::sometimes("fifth", "there are five decisions")]
    }

    fn watch(&self, (): &mut (), _: NodeId, _: &Event<Self>, _: &mut Watch<'_>) {}
}

impl Family for Rogue {
    type Protocol = Rogue;
    type Params = Params;
    const NAME: &'static str = "rogue";
    const SUMMARY: &'static str = "breaks the rules";

    fn mutants() -> &'static [Mutant] {
        &[
            Mutant { name: "panics", removes: "patience", outcome: Outcome::Falls("panic") },
            Mutant { name: "remembers", removes: "forgetting", outcome: Outcome::Harmless("the state is the same") },
        ]
    }

    fn build(_: &Params, mutants: Mutants) -> Result<Rogue, String> {
        Ok(Rogue { mutants })
    }
}
