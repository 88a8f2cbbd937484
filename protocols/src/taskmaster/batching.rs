//! Batches: "batching multiple update or lease operations into a single RPC" (§4). Each operation is one by itself, with locks, an
//! atom and an outcome of its own: what is refused in one refuses no other, and none waits for another but as operations of different
//! calls do. Who takes the call in, a node, or a proxy, which sends each to the node of its group, answers it once all have ended,
//! with what came of each in the order of the request (`answers-as-they-end`, `refusal-ends-batch`).
//!
//! Its operations are numbered from the call's number on, as if they had been called one by one. If who took the call in crashes, what
//! was carried out of it is so, and the caller waits for a reply that does not come, as for that of any call.

use std::collections::BTreeMap;

use seedbed_model::{Canonical, Context};

use super::message::{Observation, OpKey, Reply, Request};
use super::{TaskMaster, mutants};

/// Those that are not answered, by their first operations.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Batches(BTreeMap<OpKey, Vec<Option<Reply>>>);

impl Batches {
    /// The operations of a batch; none, if it is at work already.
    pub fn begin(&mut self, first: OpKey, requests: Vec<Request>) -> Vec<(OpKey, Request)> {
        if self.0.contains_key(&first) {
            return Vec::new();
        }
        // A client waits for one reply at a time: it has given up what it asked before.
        self.0.retain(|other, _| other.client != first.client || *other > first);
        self.0.insert(first, vec![None; requests.len()]);
        (0..).zip(requests).map(|(place, request)| (first.part(place), request)).collect()
    }

    /// A call has ended: what is to be answered now, whole, and as which.
    pub(super) fn ended(
        &mut self,
        key: OpKey,
        reply: Reply,
        rules: &TaskMaster,
        cx: &mut Context<'_, TaskMaster>,
    ) -> Option<(OpKey, Reply)> {
        let Some((first, replies)) = self.of(key) else { return Some((key, reply)) };
        cx.observe(Observation::PartEnded(key, reply.clone()));
        if rules.has(mutants::REFUSAL_ENDS_BATCH) && matches!(reply, Reply::Lost(_)) {
            replies.iter_mut().filter(|other| other.is_none()).for_each(|other| *other = Some(reply.clone()));
        }
        let place = match rules.has(mutants::ANSWERS_AS_THEY_END) {
            true => replies.iter().position(Option::is_none).unwrap_or_default(),
            false => (key.call - first.call) as usize,
        };
        replies[place] = Some(reply);
        let whole: Vec<Reply> = replies.iter().cloned().collect::<Option<_>>()?;
        self.0.remove(&first);
        cx.observe(Observation::Batched(first, whole.clone()));
        Some((first, Reply::Batch(whole)))
    }

    /// The batch that an operation is of.
    fn of(&mut self, key: OpKey) -> Option<(OpKey, &mut Vec<Option<Reply>>)> {
        let (first, replies) = self.0.range_mut(..=key).next_back()?;
        let is_of =
            (first.client, first.nonce) == (key.client, key.nonce) && key.call - first.call < replies.len() as u32;
        is_of.then_some((*first, replies))
    }
}
