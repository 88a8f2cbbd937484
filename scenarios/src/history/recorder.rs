//! What the clients of a run see, event by event.

use std::collections::BTreeMap;

use seedbed_model::history::{Call, Value};
use seedbed_model::{Effect, Event, Named, NodeId, OpId, Protocol};
use seedbed_sim::Tracer;

use super::events::Type;

/// An event of a run, on its way out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    /// When, on the reference clock [ns].
    pub(crate) at_ns: u64,
    /// In which step of the run.
    pub(crate) step: u64,
    /// Whose operation.
    pub(crate) node: NodeId,
    pub(crate) op: OpId,
    /// The client: its node's index, plus the number of nodes for each crash of it, since a client that lost sight of
    /// an operation goes on under another number.
    pub(crate) process: u64,
    pub(crate) kind: Type,
    pub(crate) call: Call,
    /// What it was answered, if it was.
    pub(crate) answer: Option<Value>,
}

/// A tracer that hands on what clients see, as it happens, and keeps operations in flight alone.
pub(crate) struct ClientRecorder<'a, P: Protocol> {
    protocol: &'a P,
    node_count: u64,
    /// Instant [ns] and step of what is being seen.
    now: (u64, u64),
    crashes: BTreeMap<NodeId, u64>,
    open: BTreeMap<(NodeId, OpId), P::Operation>,
    sink: &'a mut dyn FnMut(Seen),
}

impl<'a, P: Protocol> ClientRecorder<'a, P> {
    pub(crate) fn new(protocol: &'a P, sink: &'a mut dyn FnMut(Seen)) -> Self {
        let node_count = protocol.nodes().len() as u64;
        ClientRecorder { protocol, node_count, now: (0, 0), crashes: BTreeMap::new(), open: BTreeMap::new(), sink }
    }

    fn process(&self, node: NodeId) -> u64 {
        self.crashes.get(&node).copied().unwrap_or(0) * self.node_count + u64::from(node.0)
    }

    fn event(&mut self, node: NodeId, event: &Event<P>) {
        match event {
            Event::Invoked(op, operation) => {
                self.open.insert((node, *op), operation.clone());
                self.see((node, *op), Type::Invoke, operation, None);
            }
            Event::Responded(op, answer) => {
                if let Some(operation) = self.open.remove(&(node, *op)) {
                    let answer = self.protocol.recorded_answer(&operation, answer);
                    self.see((node, *op), Type::Ok, &operation, Some(answer));
                }
            }
            Event::Crashed => self.crashed(node),
            _ => {}
        }
    }

    /// Nobody will ever know what came of what the client had in flight.
    fn crashed(&mut self, node: NodeId) {
        let lost: Vec<(NodeId, OpId)> = self.open.keys().filter(|(client, _)| *client == node).copied().collect();
        for key in lost {
            if let Some(operation) = self.open.remove(&key) {
                self.see(key, Type::Info, &operation, None);
            }
        }
        *self.crashes.entry(node).or_default() += 1;
    }

    fn see(&mut self, (node, op): (NodeId, OpId), kind: Type, operation: &P::Operation, answer: Option<Value>) {
        let (process, (at_ns, step)) = (self.process(node), self.now);
        if let Some(call) = self.protocol.recorded_call(operation) {
            (self.sink)(Seen { at_ns, step, node, op, process, kind, call, answer });
        }
    }
}

impl<P: Protocol> Tracer<P> for ClientRecorder<'_, P> {
    fn step(&mut self, at_ns: u64, step: u64, _: &Named<P>, _: &[u32], effects: &[(NodeId, Effect<P>)]) {
        self.now = (at_ns, step);
        for (node, effect) in effects {
            if let Effect::Happened(event) = effect {
                self.event(*node, event);
            }
        }
    }
}
