//! Two parties that exchange messages over a link which drops what crossed (Centrifuge §2.3.2, PRS §4.3).
//!
//! - [`link`]: the layer, for any protocol between two parties: [`Link`], [`Pair`], [`Verdict`]
//! - `party`: a party that speaks when it likes, answers, and backs off after a race
//! - `monitor`: no message is acted on out of context, and progress resumes
//!
//! The protocol exercises the layer alone: what the messages say does not matter, only whether they are acted on.

pub mod link;
mod monitor;
mod params;
mod party;
#[cfg(test)]
mod tests;

use seedbed_model::{
    Canonical, Context, Event, Input, Mutants, Never, NodeId, Nonce, Offers, Property, Protocol, Relevance, TagKind,
    Watch,
};

pub use link::{Checks, Heard, Link, Pair, Verdict};
pub use monitor::Monitor;
pub use params::{FORGET_DROPPED_NUMBER, NO_BACK_OFF, NO_NONCE, NO_SEQUENCE_PAIRS, Params};
pub use party::Party;

/// The numbers that a party gives to its messages; its index is the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sequence {}

impl TagKind for Sequence {
    const ID: u16 = 1;
    const NAME: &'static str = "sequence number";
    const BY_NODE: bool = true;
}

/// The protocol: two parties, `left` and `right`.
#[derive(Debug, Clone)]
pub struct SeqPair {
    params: Params,
    mutants: Mutants,
}

/// What a message asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Word {
    /// An answer is wanted.
    Tell,
    /// None is.
    Answer,
}

/// What the parties send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Message {
    /// Which message, and which it follows.
    pub pair: Pair<Sequence, Sequence>,
    /// What it asks for.
    pub word: Word,
}

/// A party's only timer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// A message was dropped as racing; at its end the party sends anew.
    BackOff,
}

/// What a party may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Speak up.
    Tell,
}

/// What a party shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// It sent this message.
    Sent(Pair<Sequence, Sequence>),
    /// It acted on this message.
    Acted(Pair<Sequence, Sequence>),
}

const PARTIES: [NodeId; 2] = [NodeId(0), NodeId(1)];

fn other(node: NodeId) -> NodeId {
    NodeId(1 - node.0)
}

impl SeqPair {
    fn checks(&self) -> Checks {
        let nonce = !self.mutants.has(NO_NONCE);
        let hear_dropped = !self.mutants.has(FORGET_DROPPED_NUMBER);
        Checks { nonce, hear_dropped, ..Checks::ALL }.without_numbers_if(self.mutants.has(NO_SEQUENCE_PAIRS))
    }
}

impl Protocol for SeqPair {
    type State = Party;
    type Message = Message;
    type Timer = Timer;
    type Record = Never;
    type Durable = ();
    type Operation = Never;
    type Answer = Never;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        vec!["left".into(), "right".into()]
    }

    fn start(&self, (): &(), nonce: Nonce, cx: &mut Context<'_, Self>) -> Party {
        Party::start(nonce, cx)
    }

    fn step(&self, party: &mut Party, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { message, .. } => party.on_message(message, self, cx),
            Input::Timer(Timer::BackOff) => party.on_back_off(cx),
            Input::Decision(Decision::Tell) => party.send(Word::Tell, cx),
            Input::Durable(never) => match never {},
            Input::Operation { operation, .. } => match operation {},
        }
    }

    /// A party that waits to send anew waits with everything else.
    fn decisions(&self, _: NodeId, _: &Party, offers: &mut Offers<'_, Self>) {
        if !offers.is_armed(&Timer::BackOff) {
            offers.offer(Decision::Tell);
        }
    }

    fn properties(&self) -> Vec<Property> {
        monitor::properties()
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        self.fold(monitor, node, event, watch);
    }

    fn relevance(&self, _: NodeId, to: &Party, _: NodeId, message: &Message) -> Relevance<Message> {
        let checks = self.checks();
        match to.link.relevance(message.pair, checks) {
            // Without the check, what a message names is shown when it is acted on.
            Relevance::Same(_) if !checks.race => Relevance::Live,
            Relevance::Same(pair) => Relevance::Same(Message { pair, ..message.clone() }),
            Relevance::Live => Relevance::Live,
            Relevance::Always => Relevance::Always,
            Relevance::Dead => Relevance::Dead,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![PARTIES.to_vec()]
    }

    /// Without nonces, numbers of a forgotten incarnation are compared with those of the present one.
    fn tags_are_ranked(&self) -> bool {
        !self.mutants.has(NO_NONCE)
    }
}
