//! A hash table in the Owners' memory: "a distributed soft-state in-memory hashtable with strong consistency and recovery
//! notifications" (PRS §2.2, Figure 4; the same template in Centrifuge, Figure 10).

use seedbed_model::{Canonical, NodeId, OpId};

use super::api::Handle;
use super::message::{Answer, Cargo, Item, Key, Operation, Reply, Request};
use super::{Cx, Server};
use crate::leasing::message::{Generation, Message, RangeId};
use crate::leasing::{
    ANY_LEASE_NUMBER, DONE_AGAIN, Leasing, NO_FINAL_CHECK, NO_FIRST_CHECK, Observation, Owner, STATE_LEFT_BEHIND,
    STORED_UNCHECKED, Timer,
};

/// What a server has of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Slot {
    /// `this.state[key]`, with `this.handles[key]`: the lease under which it was stored.
    stored: Option<(Generation, Item)>,
    /// What works on it.
    serving: Option<Serving>,
}

/// An operation between its first check and its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Serving {
    client: NodeId,
    op: OpId,
    operation: Operation,
    /// The handle of step 1.
    lease: Generation,
}

impl Owner {
    /// Steps 1 and 2, and the beginning of 3, which takes time.
    pub(crate) fn on_app_request(&mut self, client: NodeId, request: Request, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Request { op, operation, lease } = request;
        let key = operation.key();
        if self.server.slots.get(usize::from(key.0)).is_none() {
            return cx.mark("request for no key");
        }
        // (1) Check that the request has arrived at the correct node.
        let now = self.check_lease_now(leasing.range_of(key), cx);
        let handle = match now {
            Some(now) if now == lease || leasing.mutants.has(ANY_LEASE_NUMBER) => now,
            _ if leasing.mutants.has(NO_FIRST_CHECK) => lease,
            _ => return refuse(client, op, "refused-no-lease", cx),
        };
        let slot = &mut self.server.slots[usize::from(key.0)];
        match slot.serving {
            Some(serving) if (serving.client, serving.op) == (client, op) => return cx.mark("asked-again"),
            Some(_) => return refuse(client, op, "refused-busy", cx),
            None => {}
        }
        // (2) Validate that existing state is not stale; discard what is.
        if let Some((stored, _)) = slot.stored
            && stored != handle
        {
            cx.mark("stale-state");
            if !leasing.mutants.has(STORED_UNCHECKED) {
                slot.stored = None;
            }
        }
        slot.serving = Some(Serving { client, op, operation, lease: handle });
        cx.set(Timer::Work(key), leasing.params.work);
    }

    /// The operation has taken its time: steps 3 to 5, in one instant.
    pub(crate) fn on_work_end(&mut self, key: Key, leasing: &Leasing, cx: &mut Cx<'_>) {
        if !self.server.tasks.is_empty() {
            return self.on_task_done(RangeId(key.0 as u8), leasing, cx);
        }
        let Some(serving) = self.server.slots[usize::from(key.0)].serving.take() else { return };
        let Serving { client, op, lease, .. } = serving;
        // (4) Check that the lease has covered the entire operation; before (3), so that nothing newer is overwritten.
        let range = leasing.range_of(key);
        let is_covered = self.check_lease_continuous(Handle { range, lease }, leasing, cx);
        if !is_covered && !leasing.mutants.has(NO_FINAL_CHECK) {
            return refuse(client, op, "refused-lease-lost", cx);
        }
        // (3) Perform the operation; store the handle with any created state.
        let slot = &mut self.server.slots[usize::from(key.0)];
        let answer = slot.operate(serving, leasing, cx);
        // (5) Expose the state.
        cx.observe(Observation::Exposed { range, lease });
        cx.send(client, Message::Reply(Reply { op, result: Some((lease, answer)) }));
    }
}

impl Server {
    /// What leaves with the state of a range: what was stored under its lease.
    pub(crate) fn cargo(&self, range: RangeId, lease: Generation, leasing: &Leasing) -> Cargo {
        if self.slots.is_empty() {
            return Cargo::new();
        }
        if leasing.mutants.has(STATE_LEFT_BEHIND) {
            return Cargo::new();
        }
        let stored = |key: Key| match &self.slots[usize::from(key.0)].stored {
            Some((handle, item)) if *handle == lease => Some((key, item.clone())),
            _ => None,
        };
        leasing.keys_of(range).filter_map(stored).collect()
    }

    /// State that came before its lease: it is kept under the number it had.
    pub(crate) fn receive(&mut self, lease: Generation, cargo: Cargo) {
        for (key, item) in cargo {
            if let Some(slot) = self.slots.get_mut(usize::from(key.0)) {
                slot.stored = Some((lease, item));
            }
        }
    }

    /// A lease that came with state makes the state its own: it was held without a break, by one Owner after the other.
    pub(super) fn adopt_items(&mut self, lease: Handle, from: Option<Generation>, leasing: &Leasing) {
        let Some(from) = from else { return };
        for key in leasing.keys_of(lease.range) {
            if let Some((handle, _)) = &mut self.slots[usize::from(key.0)].stored
                && *handle == from
            {
                *handle = lease.lease;
            }
        }
    }
}

impl Slot {
    /// What is done once is done: a put that comes again changes nothing.
    fn operate(&mut self, serving: Serving, leasing: &Leasing, cx: &mut Cx<'_>) -> Answer {
        let Serving { client, op, operation, lease } = serving;
        let Operation::Put(_, value) = operation else {
            return Answer::Got(self.stored.as_ref().and_then(|(_, item)| item.value));
        };
        let mut item = self.stored.take().map(|(_, item)| item).unwrap_or_default();
        let is_done = item.done.get(&client).is_some_and(|done| *done >= op);
        if is_done {
            cx.mark("done-already");
        }
        if !is_done || leasing.mutants.has(DONE_AGAIN) {
            item.value = Some(value);
            item.done.insert(client, op);
        }
        self.stored = Some((lease, item));
        Answer::Put
    }
}

/// "Frontends should retry after a short backoff on such rejected requests" (PRS §2.1).
fn refuse(client: NodeId, op: OpId, why: &'static str, cx: &mut Cx<'_>) {
    cx.mark(why);
    cx.send(client, Message::Reply(Reply { op, result: None }));
}
