//! Echo: a client asks with a word, the server sends it back, the client asks again until it hears.
//!
//! The network may lose, repeat, delay and reorder: the timer outlives losses, the request's number tells a late
//! answer from the one awaited. The server keeps nothing, so it may crash; a client that crashes forgets its request
//! and begins a new session.

use std::collections::BTreeMap;

use seedbed_model::{
    Canonical, Context, Event, Family, Input, Mutant, Mutants, Never, NodeId, Nonce, Offers, Outcome, Property,
    Protocol, Relevance, Span, Watch,
};
use serde::{Deserialize, Serialize};

use super::request::RequestId;

const SERVER: NodeId = NodeId(0);

const NO_RETRY: &str = "no-retry";
const NO_NUMBER_CHECK: &str = "no-number-check";

/// Sizes and times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many clients. At least 1.
    pub clients: u16,
    /// How many words there are to choose from. At least 1; with one alone, no answer can be wrong.
    pub words: u8,
    /// A client asks again after so long without an answer.
    pub retry: Span,
    /// Once the last fault is healed, every request is answered within this. At least `retry`, and the time of two
    /// messages.
    pub patience: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { clients: 1, words: 2, retry: Span::ticks(2), patience: Span::ticks(10) }
    }
}

/// The protocol.
#[derive(Debug, Clone)]
pub struct Echo {
    params: Params,
    mutants: Mutants,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// The server, which keeps nothing.
    Server,
    /// A client.
    Client(Client),
}

/// A client's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Client {
    /// The latest request.
    last: RequestId,
    /// Its word, while the answer is awaited.
    open: Option<u8>,
}

/// What client and server send each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// To the server.
    Request(RequestId, u8),
    /// Back, with the same word.
    Answer(RequestId, u8),
}

/// A client's timers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// Armed while an answer is awaited.
    Retry,
}

/// What a client may do at any moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Decision {
    /// Begin the next request.
    Ask,
}

/// What clients show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// A request begins, with this word.
    Asked(u8),
    /// It ends, with this word for an answer.
    Answered(u8),
}

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// The words asked and not yet answered.
    open: BTreeMap<NodeId, u8>,
    /// Whether the last fault is healed.
    healed: bool,
}

impl Client {
    fn ask(&mut self, echo: &Echo, cx: &mut Context<'_, Echo>) {
        if self.open.is_some() {
            return cx.mark("asked twice");
        }
        let word = cx.choose(u32::from(echo.params.words)) as u8;
        self.last = self.last.next();
        self.open = Some(word);
        cx.observe(Observation::Asked(word));
        self.send(word, echo, cx);
    }

    fn send(&self, word: u8, echo: &Echo, cx: &mut Context<'_, Echo>) {
        cx.send(SERVER, Message::Request(self.last, word));
        if !echo.mutants.has(NO_RETRY) {
            cx.set(Timer::Retry, echo.params.retry);
        }
    }

    fn on_retry(&mut self, echo: &Echo, cx: &mut Context<'_, Echo>) {
        if let Some(word) = self.open {
            cx.mark("retried");
            self.send(word, echo, cx);
        }
    }

    fn on_answer(&mut self, id: RequestId, word: u8, echo: &Echo, cx: &mut Context<'_, Echo>) {
        if !self.awaits(id, echo) {
            return cx.mark("stale answer ignored");
        }
        self.open = None;
        cx.cancel(Timer::Retry);
        cx.observe(Observation::Answered(word));
    }

    fn awaits(&self, id: RequestId, echo: &Echo) -> bool {
        self.open.is_some() && (id == self.last || echo.mutants.has(NO_NUMBER_CHECK))
    }
}

impl Protocol for Echo {
    type State = State;
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
        let clients = (1..=self.params.clients).map(|number| format!("client-{number}"));
        std::iter::once("server".to_owned()).chain(clients).collect()
    }

    fn start(&self, (): &(), nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        match cx.node() {
            SERVER => State::Server,
            _ => State::Client(Client { last: RequestId::before_first(nonce, nonce.scope()), open: None }),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Server, Input::Message { from, message: Message::Request(id, word) }) => {
                cx.send(from, Message::Answer(id, word));
            }
            (State::Client(client), Input::Message { message: Message::Answer(id, word), .. }) => {
                client.on_answer(id, word, self, cx);
            }
            (State::Client(client), Input::Timer(Timer::Retry)) => client.on_retry(self, cx),
            (State::Client(client), Input::Decision(Decision::Ask)) => client.ask(self, cx),
            _ => cx.mark("input out of place"),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if matches!(state, State::Client(Client { open: None, .. })) {
            offers.offer(Decision::Ask);
        }
    }

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always("answer-fits", "an answer carries the word of the request it ends"),
            Property::sometimes("answered", "a request is answered"),
            Property::sometimes("retried", "a request is sent again"),
            Property::eventually("all-answered", "a client that stays up is answered, however long it takes"),
            Property::reachable_always("answerable", "whatever happened, a request can still be answered"),
            Property::within("answered-after-healing", "once the last fault is healed, requests are answered in time"),
        ]
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Asked(word)) => {
                monitor.open.insert(node, *word);
                self.demand(monitor, node, watch);
            }
            Event::Observed(Observation::Answered(word)) => {
                watch.reached("answered");
                watch.reached("answerable");
                let asked = monitor.close(node, watch);
                if asked != Some(*word) {
                    watch.violated("answer-fits", format!("{node:?} asked {asked:?} and took the answer {word}"));
                }
            }
            Event::Crashed => {
                watch.reached("crashed");
                monitor.close(node, watch);
            }
            Event::Healed => {
                monitor.healed = true;
                monitor.open.keys().for_each(|node| self.demand(monitor, *node, watch));
            }
            Event::Deadline(node) => {
                let patience = self.params.patience;
                let detail = format!("n{node} has waited {patience} for an answer, with nothing in the way");
                watch.violated("answered-after-healing", detail);
            }
            Event::Started | Event::Invoked(..) | Event::Responded(..) => {}
        }
    }

    fn owes(&self, monitor: &Monitor, _: &str) -> bool {
        !monitor.open.is_empty()
    }

    fn relevance(&self, _: NodeId, to: &State, _: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Client(client), Message::Answer(id, _)) if !self.may_await(client, *id) => Relevance::Dead,
            (_, Message::Answer(..)) => Relevance::Live,
            (_, Message::Request(..)) => Relevance::Always,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        vec![(1..=self.params.clients).map(NodeId).collect()]
    }
}

impl Echo {
    /// Whether the client awaits `id`, or may come to.
    fn may_await(&self, client: &Client, id: RequestId) -> bool {
        client.awaits(id, self) || self.mutants.has(NO_NUMBER_CHECK)
    }

    fn demand(&self, monitor: &Monitor, node: NodeId, watch: &mut Watch<'_>) {
        if monitor.healed {
            watch.set_deadline(u32::from(node.0), self.params.patience);
        }
    }
}

impl Monitor {
    fn close(&mut self, node: NodeId, watch: &mut Watch<'_>) -> Option<u8> {
        if self.healed {
            watch.clear_deadline(u32::from(node.0));
        }
        self.open.remove(&node)
    }
}

impl Family for Echo {
    type Protocol = Echo;
    type Params = Params;
    const NAME: &'static str = "echo";
    const SUMMARY: &'static str = "a client's numbered requests, retried until the server's answer comes";

    fn mutants() -> &'static [Mutant] {
        &[
            Mutant {
                name: NO_RETRY,
                removes: "the client's sending again when no answer comes",
                outcome: Outcome::Falls("answerable"),
            },
            Mutant {
                name: NO_NUMBER_CHECK,
                removes: "the client's check that an answer belongs to the request it awaits",
                outcome: Outcome::Falls("answer-fits"),
            },
        ]
    }

    fn build(params: &Params, mutants: Mutants) -> Result<Echo, String> {
        let Params { clients, words, retry, patience } = params;
        if *clients == 0 || *words == 0 || *retry == Span::ZERO {
            return Err("clients, words and retry must be positive".into());
        }
        if patience < retry {
            return Err(format!(
                "patience {patience} is shorter than retry {retry}: it must be longer by two messages"
            ));
        }
        Ok(Echo { params: params.clone(), mutants })
    }
}
