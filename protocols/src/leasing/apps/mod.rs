//! What stands on leasing: services whose state is soft, and their frontends (PRS §2, §3; Centrifuge §3, §4).
//!
//! An Owner is a server of the service, and asks its own library alone: `check_lease_now`, `check_lease_continuous`, and
//! the upcalls that say what was granted and revoked. A frontend has a Lookup, which says where to ask and what was lost.
//! Everything here is between those two and their clients; the Manager knows nothing of it.
//!
//! - `api`: the two calls and the upcalls of the Owner library, and `lookup`
//! - `task`: a periodic task, spread over a pool that links only the Owner library (PRS §3.4)
//! - `hash_table`: the template of five steps (PRS Figure 4, Centrifuge Figure 10) around puts and gets
//! - `frontend`: a client's operation on its way to the Owner, again and again
//! - `message`: keys, values, operations, what frontends and servers send each other
//! - `watched`: what must hold of all this
//!
//! Every step of the template is needed. Step 1 is there not only "to avoid wasted work", as PRS Figure 4 says: where stale
//! state is found by the number of step 1, as in Centrifuge Figure 10, a request that comes late or to the wrong Owner would
//! discard what is valid (`no-first-check`; then `stored-unchecked`, `no-final-check`, `continuous-by-range`).
//!
//! Decisions where the papers are open:
//! - *a loss is a delete at its instant*, neither earlier nor later, and the demonic client of PRS §2.4 issues no other: what is
//!   found after a loss is nothing, until it is put anew. A clean migration deletes nothing;
//! - *steps 3 and 4 are one instant*, at the end of the time that an operation takes: what is stored is stored under a lease
//!   that is held, and a put that was overtaken by a loss leaves nothing behind. Figure 4 stores and then checks, which can
//!   put an old value over a newer one of a later lease;
//! - *one operation at a time works on a key*; another is refused meanwhile, and comes again. Else one could see what
//!   another did and then failed to finish;
//! - *a request names the lease that its frontend looked up, and is served under that one alone* (after the last paragraph
//!   of Centrifuge §3.2, and stricter): what was sent before a loss does nothing after it (`any-lease-number`);
//! - *an item remembers the latest request of each frontend that changed it*, so that one that comes twice is done once. It
//!   moves with the state and is lost with it (`done-again`);
//! - *a put whose lease was lost while its frontend waited for the answer fails*: it was done before the loss, or not at
//!   all, and nobody can know. Figure 4 returns false; whether to put anew is the client's to say, as a new operation
//!   (`put-again`);
//! - *an answer counts only while nothing was lost since its lease*, as far as the frontend knows: one that was overtaken
//!   by the news of the loss would let its client believe that the loss was an earlier one's (`answer-after-news`);
//! - the task first runs a whole period after a grant: who had the range before may have run it just now (`task-at-grant`).

pub(super) mod api;
pub(super) mod frontend;
pub(super) mod hash_table;
pub(super) mod message;
pub(super) mod task;
#[cfg(test)]
mod tests;
pub(super) mod watched;

use seedbed_model::{Canonical, Context, NodeId, OpId, Part};
use serde::{Deserialize, Serialize};

use super::{Leasing, Params, RangeId};
use frontend::Frontend;
use hash_table::Slot;
use message::{Key, Operation, Value};
use task::Task;

type Cx<'a> = Context<'a, Leasing>;

/// Which service runs on the Owners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Application {
    /// None: leases are all there is.
    None,
    /// A task that is due once a period in each range (PRS §3.4).
    PeriodicTask,
    /// A hash table in memory (PRS Figure 4).
    HashTable,
}

/// An Owner's part in the service.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(super) struct Server {
    /// `[k]` belongs to key `k`. None without a hash table.
    pub(super) slots: Vec<Part<Slot>>,
    /// `[i]` belongs to range `i`. None without a task.
    pub(super) tasks: Vec<Part<Task>>,
}

impl Server {
    pub(super) fn start(leasing: &Leasing) -> Self {
        let is = |application| leasing.params.application == application;
        let keys = if is(Application::HashTable) { leasing.params.keys } else { 0 };
        let tasks = if is(Application::PeriodicTask) { leasing.params.ranges } else { 0 };
        Server {
            slots: (0..keys).map(|_| Part::new(Slot::default())).collect(),
            tasks: (0..tasks).map(|_| Part::new(Task::default())).collect(),
        }
    }
}

impl Leasing {
    /// Which range a key is in.
    pub(super) fn range_of(&self, key: Key) -> RangeId {
        RangeId((key.0 % u16::from(self.params.ranges)) as u8)
    }

    /// The keys of a range.
    pub(super) fn keys_of(&self, range: RangeId) -> impl Iterator<Item = Key> + use<> {
        (u16::from(range.0)..self.params.keys).step_by(usize::from(self.params.ranges)).map(Key)
    }

    /// Whether the service has frontends, and clients at them.
    pub(super) fn has_frontends(&self) -> bool {
        self.params.application == Application::HashTable
    }

    pub(super) fn new_frontend(&self) -> Option<Part<Frontend>> {
        self.has_frontends().then(|| Part::new(Frontend::default()))
    }

    /// A client puts and gets by turns, and at every other frontend it begins with a get; or it puts, and puts anew whenever
    /// that is lost; or it only gets. Every value is put once.
    pub(super) fn client_operation(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let Params { owners, lookups, keys, writers, republish, .. } = self.params;
        let client = node.0 - owners - 1;
        let value = Value(op.0 * u32::from(lookups) + u32::from(client) + 1);
        let writes = writers == 0 || client < writers;
        if writes && republish {
            let own = Key(client % keys);
            return if op.0.is_multiple_of(2) { Operation::Put(own, value) } else { Operation::Await(own) };
        }
        let key = Key(if keys == 1 { 0 } else { draw(u32::from(keys)) as u16 });
        match writes && (op.0 + u32::from(client)).is_multiple_of(2) {
            true => Operation::Put(key, value),
            false => Operation::Get(key),
        }
    }
}

impl Operation {
    /// Which key it is about.
    pub fn key(self) -> Key {
        match self {
            Operation::Put(key, _) | Operation::Get(key) | Operation::Await(key) | Operation::Lose(key) => key,
        }
    }
}
