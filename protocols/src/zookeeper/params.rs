//! Sizes.

use seedbed_model::{Family, Mutant, Mutants};
use serde::{Deserialize, Serialize};

use super::{ZooKeeper, mutants};

/// What the servers stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BroadcastKind {
    /// One node, which stands for Zab.
    Atomic,
}

/// What clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Batches of reads, writes, watches and syncs on few nodes, drawn for each operation.
    Mixed,
    /// The first client watches a node, reads it after a sync, and watches again; the others set it.
    Watch,
    /// Each watches a node, sets it twice without waiting, and reads it.
    Cache,
    /// Each sets a node around a multi that is refused, without waiting.
    Multi,
    /// By turns: watch a node; set it; read it.
    Turns,
    /// By turns: create an ephemeral sequential node and read its parent without waiting; end the session.
    Register,
    /// By turns: create a node; set its parent and delete it again, without waiting.
    Child,
    /// Locks without herd effect.
    Lock,
    /// Locks by a lock file.
    SimpleLock,
    /// By the third of operations: a batch, a lock, a lock file.
    All,
}

/// Sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// What the servers stand on.
    pub broadcast: BroadcastKind,
    /// How many servers. 1 to 9.
    pub servers: u16,
    /// How many clients. 1 to 30.
    pub clients: u16,
    /// What they do.
    pub workload: Workload,
    /// How many operations each client does.
    pub operations: u32,
    /// How often a leader is elected.
    pub elections: u32,
    /// How often each client may leave a server of its own accord.
    pub moves: u32,
    /// How many sessions each leader may expire.
    pub expiries: u32,
    /// How many snapshots each server begins, from one start to the next.
    pub snapshots: u32,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            broadcast: BroadcastKind::Atomic,
            servers: 3,
            clients: 2,
            workload: Workload::Mixed,
            operations: 4,
            elections: 3,
            moves: 0,
            expiries: 0,
            snapshots: 0,
        }
    }
}

impl Family for ZooKeeper {
    type Protocol = ZooKeeper;
    type Params = Params;
    const NAME: &'static str = "zookeeper";
    const SUMMARY: &'static str = "ZooKeeper, over an atomic broadcast (Hunt, Konar, Junqueira, Reed 2010)";

    fn mutants() -> &'static [Mutant] {
        mutants::MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<ZooKeeper, String> {
        let Params { servers, clients, elections, .. } = params;
        if !(1..=9).contains(servers) || !(1..=30).contains(clients) {
            return Err(format!("servers {servers} and clients {clients}: 1 to 9 and 1 to 30 are possible"));
        }
        if *elections == 0 {
            return Err("elections 0: nobody would ever lead; at least 1 is wanted".into());
        }
        Ok(ZooKeeper { params: params.clone(), mutants })
    }
}
