//! The Owner library's calls and upcalls, and the Lookup library's (PRS Figure 3, Centrifuge Figure 8).

use seedbed_model::NodeId;

use super::message::Key;
use super::{Application, Cx, Server};
use crate::leasing::message::{Generation, RangeId};
use crate::leasing::owner::Holding;
use crate::leasing::{CONTINUOUS_BY_RANGE, Leasing, Lookup, Observation, Owner};

/// A key's range, and what a handle to it stands for: "a key, a lease generation number, and the Manager's nonce" (PRS
/// §2.2). The nonce is in the generation.
#[derive(Clone, Copy)]
pub(crate) struct Handle {
    pub(crate) range: RangeId,
    pub(crate) lease: Generation,
}

impl Owner {
    /// Whether this Owner has the key's lease now, and its number: `GetOwnershipHandle`, `CheckLeaseNow`. Purely local.
    pub(crate) fn check_lease_now(&self, range: RangeId, cx: &mut Cx<'_>) -> Option<Generation> {
        self.held(range, cx)
    }

    /// Whether it has held the lease without a break since the handle was made: `CheckContinuousOwnership`,
    /// `CheckLeaseContinuous`. A lease that was lost and granted anew, be it to this same Owner, has another number.
    pub(crate) fn check_lease_continuous(&self, handle: Handle, leasing: &Leasing, cx: &mut Cx<'_>) -> bool {
        let Handle { range, lease } = handle;
        let now = self.held(range, cx);
        let succeeds = now == Some(lease) || (now.is_some() && leasing.mutants.has(CONTINUOUS_BY_RANGE));
        if succeeds {
            cx.observe(Observation::Continuous { range, lease });
        } else {
            cx.mark("lease-not-continuous");
        }
        succeeds
    }
}

impl Server {
    /// `OwnershipUpcall(grant)`: a lease begins, perhaps with state that came with it from generation `from`.
    pub(crate) fn granted(&mut self, handle: Handle, from: Option<Generation>, leasing: &Leasing, cx: &mut Cx<'_>) {
        match leasing.params.application {
            Application::None => return,
            Application::PeriodicTask => self.await_task(handle, leasing, cx),
            _ => self.adopt_items(handle, from, leasing, cx),
        }
        cx.mark("upcall-grant");
    }

    /// `OwnershipUpcall(revoke)`: it ended. "There is no local scheduling guarantee ensuring an upcall conveying lost
    /// ownership will occur before a new operation on the lost key is received" (PRS §2.2): where a lease ends by its timer,
    /// this comes when the firing does. A hash table has no use for it: step 2 finds what is stale.
    pub(crate) fn revoked(&mut self, range: RangeId, cx: &mut Cx<'_>) {
        if !self.slots.is_empty() || !self.tasks.is_empty() {
            cx.mark("upcall-revoke");
        }
        self.forget_task(range, cx);
    }

    /// What was there ended by its timer.
    pub(crate) fn ended(&mut self, range: RangeId, holding: Holding, cx: &mut Cx<'_>) {
        if matches!(holding, Holding::Held(_)) {
            self.revoked(range, cx);
        }
    }
}

impl Lookup {
    /// Where to ask for the key, and under which lease: a hint, which the Owner checks (Centrifuge §3.1). `None` while
    /// there is no contact to the Manager, or nobody has it.
    pub(crate) fn lookup(&self, key: Key, leasing: &Leasing) -> Option<(NodeId, Generation)> {
        let line = self.line(leasing.range_of(key))?;
        line.owner.map(|owner| (owner, line.generation))
    }

    /// Whether state of this generation may be there still: no loss since was told.
    pub(crate) fn may_have(&self, key: Key, lease: Generation, leasing: &Leasing) -> bool {
        self.line(leasing.range_of(key)).is_some_and(|line| line.since <= lease)
    }

    /// Whether state of this generation was told to be lost. Without contact nobody can say.
    pub(crate) fn is_lost(&self, key: Key, lease: Generation, leasing: &Leasing) -> bool {
        self.line(leasing.range_of(key)).is_some_and(|line| line.since > lease)
    }
}
