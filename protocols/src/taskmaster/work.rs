//! What a message takes a node, where steps take time (`costs.step`). Without `servers-of-store` each takes one step, whoever it is
//! for.
//!
//! The paper's data store is 20 tablet servers; TaskMaster is one machine. With `servers-of-store` a step is what the store takes for a
//! message, its servers sharing what comes, and TaskMaster takes as many times as long as there are servers. What it takes grows
//! with the tasks in a request, or in its reply, as "RPC parsing" does (§6.1): one, and one for each task; then one for each answer of
//! the store: the row that was read, the atom in the log, each row that is durable. A scan's answer is one, however long: "linear
//! reads (scans) are fast" (§5.1).

use super::TaskMaster;
use super::message::{Message, Request};

impl TaskMaster {
    pub(super) fn work_of(&self, message: &Message) -> u32 {
        let servers = self.params.servers_of_store;
        match message {
            _ if servers == 0 => 1,
            Message::Call { request, .. } | Message::Passed { request, .. } => servers * (1 + tasks_of(request)),
            Message::Read { .. } | Message::Write { .. } | Message::Reply { .. } => 1,
            _ => servers,
        }
    }
}

/// How many tasks the request carries, or asks for.
fn tasks_of(request: &Request) -> u32 {
    match request {
        Request::Update(update) => super::update::names(update).count() as u32,
        Request::Lease { count, .. } => *count,
        Request::Batch(requests) => requests.iter().map(|request| 1 + tasks_of(request)).sum(),
        _ => 0,
    }
}
