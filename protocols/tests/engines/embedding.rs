//! A protocol embedded in another behaves as it does alone: same states, disks, messages and observations after the
//! same script.

use crate::walk::{Faults, Walk, end_of};
use proptest::prelude::*;
use seedbed_model::{
    Canonical, Choice, Context, Embedding, Envelope, Event, Family, Input, Local, Mutants, Named, NodeId, Nonce,
    Offers, OpId, Property, Protocol, ScriptStep, Stamp, Stream, Surroundings, Ticket, Watch,
};
use seedbed_protocols::basics::{echo, paxos};

/// Embeds `Q` and adds nothing but a name to what it sends, sets and writes.
#[derive(Clone)]
struct Layered<Q>(Q);

/// `Q`'s word, as the layer says it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
enum Layer<T> {
    /// Never made: it shifts the other's encoding, so that nothing is right by accident.
    #[allow(dead_code, reason = "never made, so that the other's encoding is shifted")]
    Own,
    Inner(T),
}

impl<T> Layer<T> {
    fn inner(self) -> T {
        match self {
            Layer::Inner(inner) => inner,
            Layer::Own => panic!("nobody makes it"),
        }
    }
}

struct Lift;

impl<Q: Protocol> Embedding<Layered<Q>, Q> for Lift {
    fn message(&self, message: Q::Message) -> Layer<Q::Message> {
        Layer::Inner(message)
    }
    fn timer(&self, timer: &Q::Timer) -> Layer<Q::Timer> {
        Layer::Inner(timer.clone())
    }
    fn record(&self, stream: Stream, record: Q::Record) -> (Stream, Layer<Q::Record>) {
        (Stream(stream.0 + 1), Layer::Inner(record))
    }
    fn observed(&self, observation: Q::Observation, cx: &mut Context<'_, Layered<Q>>) {
        cx.observe(observation);
    }
    fn responded(&self, op: OpId, answer: Q::Answer, after: Option<Ticket>, cx: &mut Context<'_, Layered<Q>>) {
        match after {
            None => cx.respond(op, answer),
            Some(ticket) => cx.respond_after(ticket, op, answer),
        }
    }
}

impl<Q: Protocol> Protocol for Layered<Q> {
    type State = Q::State;
    type Message = Layer<Q::Message>;
    type Timer = Layer<Q::Timer>;
    type Record = Layer<Q::Record>;
    type Durable = Q::Durable;
    type Operation = Q::Operation;
    type Answer = Q::Answer;
    type Decision = Q::Decision;
    type Observation = Q::Observation;
    type Monitor = Q::Monitor;

    fn nodes(&self) -> Vec<String> {
        self.0.nodes()
    }
    fn start(&self, durable: &Q::Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> Q::State {
        cx.embed(&Lift, |cx| self.0.start(durable, nonce, cx))
    }
    fn step(&self, state: &mut Q::State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        let input = match input {
            Input::Message { from, message } => Input::Message { from, message: message.inner() },
            Input::Timer(timer) => Input::Timer(timer.inner()),
            Input::Durable(record) => Input::Durable(record.inner()),
            Input::Operation { op, operation } => Input::Operation { op, operation },
            Input::Decision(decision) => Input::Decision(decision),
        };
        cx.embed(&Lift, |cx| self.0.step(state, input, cx));
    }
    fn fold(&self, durable: &mut Q::Durable, stream: Stream, record: &Layer<Q::Record>) {
        self.0.fold(durable, Stream(stream.0 - 1), &record.clone().inner());
    }
    fn decisions(&self, node: NodeId, state: &Q::State, offers: &mut Offers<'_, Self>) {
        let mut offered = Vec::new();
        self.0.decisions(node, state, &mut Offers::new(&mut offered, &mut Armed(offers)));
        offered.into_iter().for_each(|decision| offers.offer(decision));
    }
    fn operation_count(&self, node: NodeId) -> u32 {
        self.0.operation_count(node)
    }
    fn operation(
        &self,
        node: NodeId,
        op: OpId,
        last: Option<&Q::Answer>,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Q::Operation {
        self.0.operation(node, op, last, draw)
    }
    fn properties(&self) -> Vec<Property> {
        self.0.properties()
    }
    fn watch(&self, monitor: &mut Q::Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let event = match event.clone() {
            Event::Started => Event::Started,
            Event::Crashed => Event::Crashed,
            Event::Invoked(op, operation) => Event::Invoked(op, operation),
            Event::Responded(op, answer) => Event::Responded(op, answer),
            Event::Observed(observation) => Event::Observed(observation),
            Event::Deadline(id) => Event::Deadline(id),
            Event::Healed => Event::Healed,
        };
        self.0.watch(monitor, node, &event, watch);
    }
}

/// The layer's timers, as `Q` asks for them where decisions are offered: there are no clock and no draws there.
struct Armed<'o, 'a, P: Protocol>(&'o mut Offers<'a, P>);

impl<Q: Protocol> Surroundings<Q::Timer> for Armed<'_, '_, Layered<Q>> {
    fn is_armed(&mut self, timer: &Q::Timer) -> bool {
        self.0.is_armed(&Layer::Inner(timer.clone()))
    }
    fn clock(&mut self) -> Stamp {
        panic!("decisions are offered without a look at the clock")
    }
    fn choose(&mut self, _: u32) -> u32 {
        panic!("decisions are offered without a draw")
    }
}

/// The choice as the layer names things.
fn lifted<Q: Protocol>(choice: &Named<Q>) -> Named<Layered<Q>> {
    match choice.clone() {
        Choice::Deliver(envelope) => Choice::Deliver(lifted_envelope(envelope)),
        Choice::Duplicate(envelope) => Choice::Duplicate(lifted_envelope(envelope)),
        Choice::Lose(envelope) => Choice::Lose(lifted_envelope(envelope)),
        Choice::At(node, local) => Choice::At(node, lifted_local(local)),
        Choice::Cut(from, to) => Choice::Cut(from, to),
        Choice::Heal(from, to) => Choice::Heal(from, to),
        Choice::Elapse(span) => Choice::Elapse(span),
    }
}

fn lifted_envelope<M>(envelope: Envelope<M>) -> Envelope<Layer<M>> {
    Envelope { from: envelope.from, to: envelope.to, message: Layer::Inner(envelope.message) }
}

fn lifted_local<Q: Protocol>(local: Local<Q>) -> Local<Layered<Q>> {
    let lifted_stream = |stream: Stream| Stream(stream.0 + 1);
    match local {
        Local::Start => Local::Start,
        Local::Deliver(from, message) => Local::Deliver(from, Layer::Inner(message)),
        Local::Fire(timer) => Local::Fire(Layer::Inner(timer)),
        Local::Lapse(timer) => Local::Lapse(Layer::Inner(timer)),
        Local::Sync(stream) => Local::Sync(lifted_stream(stream)),
        Local::Invoke => Local::Invoke,
        Local::Decide(decision) => Local::Decide(decision),
        Local::Crash(kept) => {
            Local::Crash(kept.into_iter().map(|(stream, count)| (lifted_stream(stream), count)).collect())
        }
        Local::Restart => Local::Restart,
        Local::Pause => Local::Pause,
        Local::Resume => Local::Resume,
        Local::Tear(kept, torn) => Local::Tear(
            kept.into_iter().map(|(stream, count)| (lifted_stream(stream), count)).collect(),
            torn.into_iter().map(lifted_stream).collect(),
        ),
        Local::Erase => Local::Erase,
        Local::Corrupt(stream, back) => Local::Corrupt(lifted_stream(stream), back),
        Local::Jump(by_ns) => Local::Jump(by_ns),
    }
}

/// Walks the protocol alone, then takes the layered one along the same script.
fn check<Q: Protocol>(protocol: Q, picks: Vec<u32>) {
    let alone = Walk::new(&protocol, Faults::SOME, picks).run();
    let script: Vec<ScriptStep<Layered<Q>>> = alone
        .script
        .iter()
        .map(|step| ScriptStep { choice: lifted(&step.choice), answers: step.answers.clone() })
        .collect();
    let layered = end_of(&Layered(protocol), &script);
    for (inner, outer) in alone.world.hosts.iter().zip(&layered.hosts) {
        assert_eq!(inner.state, outer.state);
        assert_eq!(inner.disk.durable, outer.disk.durable);
        assert_eq!((inner.client.invoked, &inner.client.last), (outer.client.invoked, &outer.client.last));
    }
    let flight: Vec<_> = alone.world.driver.flight.iter().cloned().map(lifted_envelope).collect();
    assert_eq!(flight, layered.driver.flight);
    assert_eq!(alone.world.monitor, layered.monitor);
    assert_eq!(alone.world.reached, layered.reached);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn echo_in_a_layer_is_echo(picks in prop::collection::vec(any::<u32>(), 1..200)) {
        let params = echo::Params { clients: 2, ..Default::default() };
        check(echo::Echo::build(&params, Mutants::none()).unwrap(), picks);
    }

    #[test]
    fn paxos_in_a_layer_is_paxos(picks in prop::collection::vec(any::<u32>(), 1..300)) {
        let params = paxos::Params { clients: 2, rounds: 4, retry_slots: 2, ..Default::default() };
        check(paxos::Paxos::build(&params, Mutants::none()).unwrap(), picks);
    }
}
