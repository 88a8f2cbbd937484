//! A periodic task, "partitioning responsibility for that periodic task among a pool of servers"; "the servers doing the
//! periodic task link in the Owner library, and the Lookup library is not needed" (PRS §3.4).
//!
//! A grant's upcall says from when on it is this Owner's, and every period from there it runs: takes a handle, works for a
//! time, and makes what it did known if the handle still counts.

use seedbed_model::Canonical;

use super::api::Handle;
use super::message::Key;
use super::{Cx, Server};
use crate::leasing::message::{Generation, RangeId};
use crate::leasing::{Leasing, NO_FINAL_CHECK, Observation, Owner, TASK_AT_GRANT, TASK_BY_UPCALL, Timer};

/// A range's task.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Task {
    /// The lease under which it runs; `None` while it does not.
    running: Option<Generation>,
    /// The lease that the upcalls told of.
    granted: Option<Generation>,
}

impl Server {
    pub(super) fn await_task(&mut self, granted: Handle, leasing: &Leasing, cx: &mut Cx<'_>) {
        self.tasks[usize::from(granted.range.0)].granted = Some(granted.lease);
        cx.set(Timer::Task(granted.range), leasing.params.period);
        if leasing.mutants.has(TASK_AT_GRANT) {
            self.begin_task(granted, leasing, cx);
        }
    }

    pub(super) fn forget_task(&mut self, range: RangeId, cx: &mut Cx<'_>) {
        let Some(task) = self.tasks.get_mut(usize::from(range.0)) else { return };
        task.granted = None;
        cx.cancel(Timer::Task(range));
    }

    fn begin_task(&mut self, handle: Handle, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Handle { range, lease } = handle;
        cx.observe(Observation::TaskBegun(range));
        cx.set(Timer::Task(range), leasing.params.period);
        cx.set(Timer::Work(Key(u16::from(range.0))), leasing.params.work);
        self.tasks[usize::from(range.0)].running = Some(lease);
    }
}

impl Owner {
    /// A period has passed since the grant, or since the task began last. An upcall alone "does not guarantee strong
    /// consistency" (PRS §2.2): whether the lease is held, the library says.
    pub(crate) fn on_task_due(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        let handle = match leasing.mutants.has(TASK_BY_UPCALL) {
            true => self.server.tasks[usize::from(range.0)].granted,
            false => self.check_lease_now(range, cx),
        };
        match handle {
            Some(lease) => self.server.begin_task(Handle { range, lease }, leasing, cx),
            None => cx.mark("task-of-another"),
        }
    }

    /// The task is done, but for making that known.
    pub(super) fn on_task_done(&mut self, range: RangeId, leasing: &Leasing, cx: &mut Cx<'_>) {
        let Some(lease) = self.server.tasks[usize::from(range.0)].running.take() else { return };
        if self.check_lease_continuous(Handle { range, lease }, leasing, cx) || leasing.mutants.has(NO_FINAL_CHECK) {
            cx.mark("task-done");
            cx.observe(Observation::Exposed { range, lease });
        } else {
            cx.mark("task-abandoned");
        }
    }
}
