//! What must hold of the answers to batches (§4).

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Event, NodeId, Watch};

use super::TaskMaster;
use super::message::{Observation, OpKey, Reply};

/// What came of the operations of batches that are not answered, and who gathers it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Answers(BTreeMap<(NodeId, OpKey), Reply>);

impl Answers {
    /// Folds an event.
    pub fn watch(&mut self, node: NodeId, event: &Event<TaskMaster>, watch: &mut Watch<'_>) {
        match event {
            Event::Crashed | Event::Observed(Observation::Halted) => self.0.retain(|(at, _), _| *at != node),
            Event::Observed(Observation::PartEnded(key, reply)) => {
                self.0.insert((node, *key), reply.clone());
            }
            Event::Observed(Observation::Batched(first, replies)) => self.answered(node, *first, replies, watch),
            _ => {}
        }
    }

    fn answered(&mut self, node: NodeId, first: OpKey, replies: &[Reply], watch: &mut Watch<'_>) {
        for (place, reply) in (0..).zip(replies) {
            let came = self.0.remove(&(node, first.part(place)));
            if came.as_ref() != Some(reply) {
                let detail = format!("operation {place} of a batch is answered with {reply:?}, and came to {came:?}");
                watch.violated("batches-answered", detail);
            }
        }
        let lost = replies.iter().filter(|reply| matches!(reply, Reply::Lost(_))).count();
        watch.reached(if (1..replies.len()).contains(&lost) { "refused-in-part" } else { "batched" });
    }
}
