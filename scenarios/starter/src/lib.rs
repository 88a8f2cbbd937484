//! The starter: a protocol of one's own, from nothing to a checked property.
//!
//! Copy this crate, and change it; its `Cargo.toml` says what to write there elsewhere. It has everything that a protocol needs, once:
//!
//! - a protocol: an attendant lets cars park, one at a time ([`Parking`]);
//! - a property that must hold, and goals that must be reached ([`Protocol::properties`]);
//! - a mutant: the one mechanism, switched off, so that the property is seen to fall ([`NO_LOOK`]);
//! - a scenario and bounds (`scenarios/`), a command (`src/main.rs`) and tests (`tests/`).
//!
//! ```text
//! cargo run -p seedbed-starter -- run                               # seeds, in virtual time
//! cargo run -p seedbed-starter -- check parking                     # every order of events
//! cargo run -p seedbed-starter -- check parking --mutant no-look    # the mechanism is needed: this finds why
//! ```

use seedbed::Registry;
use seedbed_model::{
    Canonical, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, NodeSet, Nonce, Offers, Outcome,
    Property, Protocol, Watch,
};
use serde::{Deserialize, Serialize};

/// The mutant: the attendant does not look whether the place is free.
pub const NO_LOOK: &str = "no-look";
const ATTENDANT: NodeId = NodeId(0);

/// One parking place, an attendant, and cars. Assumes that links neither lose nor copy messages.
#[derive(Debug, Clone)]
pub struct Parking {
    params: Params,
    mutants: Mutants,
}

/// Sizes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many cars. 1 to 60.
    pub cars: u16,
}

impl Default for Params {
    fn default() -> Self {
        Params { cars: 3 }
    }
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Remembers whom it let in.
    Attendant(Option<NodeId>),
    /// Somewhere.
    Car(Car),
}

/// Where a car is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Car {
    /// On the road.
    Away,
    /// At the gate: it has asked.
    Waiting,
    /// On the place.
    Parked,
}

/// What cars and attendant say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// A car asks to be let in.
    Ask,
    /// It is.
    Enter,
    /// It is not: the place is taken.
    Full,
    /// A car has left.
    Leave,
}

/// What a car may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Drive up and ask.
    Ask,
    /// Drive off.
    Leave,
}

/// What the property watches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// A car stands on the place from here on.
    Parked,
    /// It does not.
    Left,
}

impl Protocol for Parking {
    type State = State;
    type Message = Message;
    type Timer = Never;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = NodeSet;

    fn nodes(&self) -> Vec<String> {
        let cars = (1..=self.params.cars).map(|number| format!("car-{number}"));
        std::iter::once("attendant".to_owned()).chain(cars).collect()
    }

    fn start(&self, (): &(), _: Nonce, cx: &mut Context<'_, Self>) -> State {
        if cx.node() == ATTENDANT { State::Attendant(None) } else { State::Car(Car::Away) }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Attendant(place), Input::Message { from, message: Message::Ask }) => {
                if place.is_some() && !self.mutants.has(NO_LOOK) {
                    cx.mark("turned-away");
                    return cx.send(from, Message::Full);
                }
                *place = Some(from);
                cx.send(from, Message::Enter);
            }
            (State::Attendant(place), Input::Message { message: Message::Leave, .. }) => *place = None,
            (State::Car(car), Input::Decision(Decision::Ask)) => {
                *car = Car::Waiting;
                cx.send(ATTENDANT, Message::Ask);
            }
            (State::Car(car), Input::Message { message: Message::Enter, .. }) => {
                *car = Car::Parked;
                cx.observe(Observation::Parked);
            }
            (State::Car(car), Input::Message { message: Message::Full, .. }) => *car = Car::Away,
            (State::Car(car), Input::Decision(Decision::Leave)) => {
                *car = Car::Away;
                cx.observe(Observation::Left);
                cx.send(ATTENDANT, Message::Leave);
            }
            _ => cx.mark("unexpected"),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        match state {
            State::Car(Car::Away) => offers.offer(Decision::Ask),
            State::Car(Car::Parked) => offers.offer(Decision::Leave),
            State::Car(Car::Waiting) | State::Attendant(_) => {}
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always("one-car", "no two cars stand on the place at one instant"),
            Property::sometimes("parked", "a car parks"),
            Property::sometimes("turned-away", "a car finds the place taken"),
            Property::reachable_always("parkable", "whatever happened, a car can still come to park"),
        ]
    }

    fn watch(&self, parked: &mut NodeSet, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Parked) => {
                parked.insert(node);
                watch.reached("parked");
                watch.reached("parkable");
                if parked.len() > 1 {
                    let names = self.nodes();
                    let cars: Vec<&str> = parked.iter().map(|car| names[car.index()].as_str()).collect();
                    watch.violated("one-car", format!("{} stand on the place", cars.join(" and ")));
                }
            }
            Event::Observed(Observation::Left) => parked.remove(node),
            _ => {}
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![(1..=self.params.cars).map(NodeId).collect()]
    }
}

impl Family for Parking {
    type Protocol = Parking;
    type Params = Params;
    const NAME: &'static str = "parking";
    const SUMMARY: &'static str = "one parking place and an attendant who lets one car in at a time";

    fn mutants() -> &'static [Mutant] {
        &[Mutant {
            name: NO_LOOK,
            removes: "the attendant's look whether the place is free",
            outcome: Outcome::Falls("one-car"),
        }]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Parking, String> {
        if !(1..=60).contains(&params.cars) {
            return Err(format!("{} cars: 1 to 60 are possible", params.cars));
        }
        Ok(Parking { params: params.clone(), mutants })
    }
}

/// What the command and the tests know: this protocol, with its files.
pub fn registry() -> Registry {
    Registry::new().with::<Parking>(seedbed::files!("../scenarios/parking", check, ["busy"]))
}
