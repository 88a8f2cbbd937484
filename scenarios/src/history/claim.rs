//! What a scenario demands of what its clients see.

use seedbed_model::history::specifications::{self, Shipped, Work};
use seedbed_model::history::{Call, Judgement, Value};
use seedbed_model::{NodeId, OpId, Property, Protocol};
use serde::{Deserialize, Serialize};

use super::edn;
use crate::exit::unknown;

/// The property that a claim adds to those of the protocol.
pub(crate) const PROPERTY: Property =
    Property::history("history", "what clients see has an order, as the scenario's `history` demands");

/// [`Judgement`], in flags and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize, Serialize)]
#[value(rename_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Judge {
    /// One order, each operation between its invocation and its answer
    #[default]
    Linearizable,
    /// The same, with several operations of a client in flight, in the order of their invocations
    ALinearizable,
    /// One order that keeps each client's own; real time does not count
    Sequential,
    /// An order for each client: its reads see its writes and never go back
    Session,
}

impl Judge {
    pub(crate) fn judgement(self) -> Judgement {
        match self {
            Judge::Linearizable => Judgement::Linearizable,
            Judge::ALinearizable => Judgement::ALinearizable,
            Judge::Sequential => Judgement::Sequential,
            Judge::Session => Judgement::Session,
        }
    }
}

/// A scenario's `history`: what its clients see is in order, as one of the shipped specifications.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Claim {
    /// The specification's name.
    pub(crate) spec: String,
    #[serde(default)]
    pub(crate) judge: Judge,
    /// The object's value at first, as EDN; none for the specification's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) initial: Option<String>,
}

impl Claim {
    /// Does `work` on the specification.
    ///
    /// # Errors
    /// If there is no such specification, or it cannot begin so.
    pub(crate) fn with<W: Work>(&self, work: W) -> Result<W::Result, String> {
        if !specifications::NAMES.contains(&self.spec.as_str()) {
            return Err(unknown("specification", &self.spec, &specifications::NAMES));
        }
        let initial = self.initial.as_deref().map(edn::one).transpose().map_err(|why| format!("initial: {why}"))?;
        specifications::with(&self.spec, initial, work).map_err(|why| format!("initial: {why}"))
    }

    /// Whether the claim makes sense for what the clients of `protocol` do first.
    ///
    /// # Errors
    /// If the specification is none, nothing of the clients is recorded, or it does not have what they do.
    pub(crate) fn check<P: Protocol>(&self, protocol: &P) -> Result<(), String> {
        if protocol.properties().iter().any(|property| property.name == PROPERTY.name) {
            return Err("the protocol has a property `history` of its own; leave the scenario's out".into());
        }
        self.with(Fit { calls: first_calls(protocol) })?
    }
}

/// What each client does first, with the lowest draws and the highest; as recorded.
fn first_calls<P: Protocol>(protocol: &P) -> Vec<Call> {
    let clients = (0..protocol.nodes().len() as u16).map(NodeId).filter(|node| protocol.operation_count(*node) > 0);
    let draws: [fn(u32) -> u32; 2] = [|_| 0, |count| count.saturating_sub(1)];
    let firsts = clients.flat_map(|node| draws.map(|draw| protocol.operation(node, OpId(0), None, &mut { draw })));
    firsts.filter_map(|operation| protocol.recorded_call(&operation)).collect()
}

/// Whether calls are of a specification.
struct Fit {
    calls: Vec<Call>,
}

impl Work for Fit {
    type Result = Result<(), String>;

    fn on<S: Shipped>(self, specification: &S) -> Self::Result {
        if self.calls.is_empty() {
            return Err(
                "no operation of this protocol's clients is recorded (`recorded_call`), so nothing can be judged"
                    .into(),
            );
        }
        self.calls.iter().try_for_each(|call| read(specification, call).map(drop))
    }
}

/// A recorded call as the specification has it.
///
/// # Errors
/// If it does not have it.
pub(crate) fn read<S: Shipped>(specification: &S, call: &Call) -> Result<Call, String> {
    let shapes = specification.shapes();
    let shape = shapes.iter().find(|shape| shape.name == call.name).ok_or_else(|| {
        let known: Vec<&str> = shapes.iter().map(|shape| shape.name).collect();
        format!("the specification has no operation `{}`, which clients do; it has {}", call.name, known.join(", "))
    })?;
    shape.call(key(call), &call.argument)
}

/// A call's key, if it has one.
pub(crate) fn key(call: &Call) -> Option<Value> {
    Some(call.key.clone()).filter(|key| *key != Value::Nil)
}
