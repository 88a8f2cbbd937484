//! What must hold between two parties.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Event, NodeId, Property, Serial, Watch};

use super::link::Heard;
use super::{Observation, SeqPair, Sequence};

const IN_CONTEXT: &str = "in-context";
const RESUMES: &str = "progress-resumes";
const IN_TIME: &str = "progress-in-time";

/// The deadline of `progress-in-time`.
const PROGRESS: u32 = 0;

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    /// The latest message of each party that is up and has sent any.
    latest: BTreeMap<NodeId, Serial<Sequence>>,
}

pub(super) fn properties() -> Vec<Property> {
    vec![
        Property::always(
            IN_CONTEXT,
            "whoever acts on a message acts on one whose sender had received the actor's latest message, acted on or \
             dropped (Centrifuge §2.3.2, Figure 7)",
        ),
        Property::reachable_always(RESUMES, "whatever crossed, was lost or crashed, a message can get through again"),
        Property::within(IN_TIME, "after the last fault is healed, a message gets through within `progress`"),
        Property::sometimes("race", "two messages cross, and one is dropped for it"),
        Property::sometimes("resend", "after its back-off a party sends anew"),
        Property::sometimes("stale-dropped", "a copy, or a message of an earlier incarnation, is dropped"),
        Property::sometimes("new-session", "a party meets a new incarnation of the other"),
        Property::sometimes("acted", "a message gets through"),
    ]
}

impl SeqPair {
    pub(super) fn fold(&self, monitor: &mut Monitor, node: NodeId, event: &Event<SeqPair>, watch: &mut Watch<'_>) {
        match event {
            Event::Observed(Observation::Sent(pair)) => {
                monitor.latest.insert(node, pair.own);
            }
            Event::Observed(Observation::Acted(pair)) => {
                watch.reached(RESUMES);
                watch.clear_deadline(PROGRESS);
                let latest = monitor.latest.get(&node).map_or(Heard::Nothing, |serial| Heard::Latest(*serial));
                if pair.heard != latest {
                    let words = format!(
                        "{node:?} acts on {:?}, sent when its sender had heard {:?}; the latest of {node:?} is {latest:?}",
                        pair.own, pair.heard
                    );
                    watch.violated(IN_CONTEXT, words);
                }
            }
            Event::Crashed => {
                monitor.latest.remove(&node);
            }
            Event::Healed => watch.set_deadline(PROGRESS, self.params.progress),
            Event::Deadline(PROGRESS) => {
                watch.violated(IN_TIME, format!("no message was acted on for {}", self.params.progress));
            }
            _ => {}
        }
    }
}
