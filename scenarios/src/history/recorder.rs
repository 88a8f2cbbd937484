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
    /// The client: its node's index, plus the number of nodes for each time that it lost sight of what it had in flight,
    /// after which it goes on under another number.
    pub(crate) process: u64,
    pub(crate) kind: Type,
    pub(crate) call: Call,
    /// What it was answered, if it was.
    pub(crate) answer: Option<Value>,
}

type Key = (NodeId, OpId);

/// An operation in flight.
struct Open<O> {
    process: u64,
    operation: O,
}

/// A tracer that hands on what clients see, as it happens, and keeps operations in flight alone.
pub(crate) struct ClientRecorder<'a, P: Protocol> {
    protocol: &'a P,
    node_count: u64,
    /// Instant [ns] and step of what is being seen.
    now: (u64, u64),
    /// How often each client lost sight of what it had in flight.
    losses: BTreeMap<NodeId, u64>,
    open: BTreeMap<Key, Open<P::Operation>>,
    sink: &'a mut dyn FnMut(Seen),
}

impl<'a, P: Protocol> ClientRecorder<'a, P> {
    pub(crate) fn new(protocol: &'a P, sink: &'a mut dyn FnMut(Seen)) -> Self {
        let node_count = protocol.nodes().len() as u64;
        ClientRecorder { protocol, node_count, now: (0, 0), losses: BTreeMap::new(), open: BTreeMap::new(), sink }
    }

    fn event(&mut self, node: NodeId, event: &Event<P>) {
        match event {
            Event::Invoked(op, operation) => self.invoked((node, *op), operation),
            Event::Responded(op, answer) => self.responded((node, *op), answer),
            Event::Crashed => {
                let lost = self.open.keys().filter(|(client, _)| *client == node).copied().collect();
                self.left_open(node, lost);
            }
            _ => {}
        }
    }

    fn invoked(&mut self, key: Key, operation: &P::Operation) {
        let (node, _) = key;
        let process = self.losses.get(&node).copied().unwrap_or(0) * self.node_count + u64::from(node.0);
        let open = Open { process, operation: operation.clone() };
        self.see(key, Type::Invoke, &open, None);
        self.open.insert(key, open);
    }

    fn responded(&mut self, key: Key, answer: &P::Answer) {
        let Some(open) = self.open.get(&key) else { return };
        match self.protocol.recorded_answer(&open.operation, answer) {
            None => self.left_open(key.0, vec![key]),
            answer => {
                if let Some(open) = self.open.remove(&key) {
                    self.see(key, Type::Ok, &open, answer);
                }
            }
        }
    }

    /// Nobody will ever know what came of these.
    fn left_open(&mut self, client: NodeId, lost: Vec<Key>) {
        for key in lost {
            if let Some(open) = self.open.remove(&key) {
                self.see(key, Type::Info, &open, None);
            }
        }
        *self.losses.entry(client).or_default() += 1;
    }

    fn see(&mut self, (node, op): Key, kind: Type, open: &Open<P::Operation>, answer: Option<Value>) {
        let (process, (at_ns, step)) = (open.process, self.now);
        if let Some(call) = self.protocol.recorded_call(&open.operation) {
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
