//! Sizes.

use seedbed_model::{Family, Mutant, Mutants, Span};
use serde::{Deserialize, Serialize};

use super::txn::PACKET_LENGTH_MAX;
use super::{ZooKeeper, embedded, mutants};

/// What the servers stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BroadcastKind {
    /// One node, which stands for Zab.
    Atomic,
    /// Zab itself, by the servers, with its elections, messages and disks. In the simulator.
    Zab,
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
    /// The same, but the first client takes two places in the queue without waiting, and gives them back, the later first.
    Abandoned,
    /// Locks without herd effect: a client is taken in once all before it have had a place in the queue, and a leader ends the sessions of
    /// none but those between the first and the last.
    Queued,
    /// Locks by a lock file.
    SimpleLock,
    /// Locks of both kinds, drawn for each operation.
    Locks,
    /// Locks to read or to write, drawn for each operation.
    ReadWrite,
    /// Elections of a leader.
    Election,
    /// Double barriers of all clients.
    Barrier,
    /// The first client writes a configuration, the others read it.
    Configuration,
    /// By turns: see who is in a group; join it; end the session. The first client begins with the second.
    Group,
    /// The first client says where it is, the others wait for it.
    Rendezvous,
    /// All agree on a value.
    Consensus,
    /// By turns, all of these.
    Recipes,
    /// The Fetching Service: the first two clients are masters, the others report, read the configuration and see who is healthy.
    Fetching,
    /// Katta: the first two clients are masters, of two the first; the others join, look at the shards and end their sessions.
    Katta,
    /// §5.1: batches of `batch` requests to read a node or to set it, `writes` of a hundred.
    Load,
    /// §5.2: create a node; delete it, without waiting, and create the next.
    Creates,
    /// Yahoo! Message Broker: all join, serve a topic, and look at who is there and whether they are to shut down.
    Broker,
    /// The first client creates a node that it alone may set; all set it, the others also once they have proved to be the first.
    Acl,
    /// By turns: a write that is too long; one that is not.
    Long,
    /// By turns, these two and as `mixed`.
    Guarded,
}

/// Where clients connect first, where time passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Connects {
    /// Each to another server than the one before it.
    Spread,
    /// All to the last: of servers that begin together, it is whom fast leader election elects.
    Last,
}

/// How a sync comes after what was committed (§4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Syncs {
    /// As a null transaction: whoever orders it leads.
    Ordered,
    /// Behind what its leader has proposed, without a transaction: "timeouts are set such that leaders realize they are not leaders
    /// before followers abandon them".
    Queued,
}

/// Sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// What the servers stand on.
    pub broadcast: BroadcastKind,
    /// How many servers. 1 to 13.
    pub servers: u16,
    /// How many clients. 1 to 300.
    pub clients: u16,
    /// What they do.
    pub workload: Workload,
    /// How many operations each client does.
    pub operations: u32,
    /// The timeout of sessions. 0s: no time passes, and `deposals`, `moves` and `expiries` bound what timeouts do.
    pub session: Span,
    /// So much sooner than after a third of `session` without a request a client sends its heartbeat. §4.4 has none of it: a third, and
    /// two of silence, leave nothing for what messages take where a server is lost with a heartbeat on its way to it. The real client
    /// has a second. Where a message takes up to d, 4d and what timers may be late are enough. Below a third of `session`.
    pub early: Span,
    /// How often a server says that it is there, and how far; with `broadcast` "zab", how often a leader pings, and a follower tells
    /// of which sessions it has heard. Where time passes; above what a message and its answer take.
    pub alive: Span,
    /// Who was not heard of for so long leads no more, and with `broadcast` "zab" follows no more. Above `alive`, and below two thirds
    /// of `session`.
    pub patience: Span,
    /// With `broadcast` "zab": how long a winning vote waits for a better one, and how often votes are sent. Below `patience`.
    pub finalize_wait: Span,
    /// With `broadcast` "zab": so many applied transactions are kept for servers that lack them; others need a snapshot.
    pub window: u32,
    /// With `broadcast` "zab": a snapshot is written after so many transactions. 0: never.
    pub snapshot_every: u32,
    /// Within so long of the healing of all faults the session of a client that crashed must be over. 0s: it is not judged. Where
    /// a message takes up to d: after `patience` and d the broadcast knows that a leader is gone, and tells another, d; that one counts
    /// `session` anew, for all; its transaction is ordered d later; and d for what a link still had to bring before: `patience` +
    /// `session` + 4d.
    pub expiry: Span,
    /// Within so long of a client's crash its session must be over, where nothing else goes wrong. 0s: it is not judged. Where a
    /// message takes up to d and one server is there: what the client sent last comes d later, the leader hears nothing from then
    /// on for `session`, and its transaction is ordered d after that: `session` + 2d.
    pub orphaned: Span,
    /// Whether no leader may end the session of a client that is up: where nothing goes wrong but crashes of clients, and, with enough of
    /// `early`, of servers one at a time.
    pub keeps: bool,
    /// Within so long of the healing of all faults each client that is up must be connected. 0s: it is not judged.
    pub served: Span,
    /// How a sync comes after what was committed.
    pub syncs: Syncs,
    /// Requests of at most so many bytes are read; who sends a longer one loses the connection (`jute.maxbuffer`).
    pub request_max: u64,
    /// A server with so many requests in process takes no more (`globalOutstandingLimit`). 0: it takes all.
    pub outstanding: u32,
    /// How many requests a client of `load` has outstanding.
    pub batch: u32,
    /// How many of a hundred are writes.
    pub writes: u32,
    /// How many bytes `load` and `creates` write and read, on links: the simulator's messages are as short as they can be.
    pub data: u32,
    /// How many steps' time a client's request takes its server, where steps cost time.
    pub work_request: u32,
    /// And one that a follower passed on takes the leader.
    pub work_forward: u32,
    /// Where clients connect first.
    pub connects: Connects,
    /// After so many packets a connection numbers them from 1 again, so that what goes on for ever comes back to where it was. 0: never,
    /// which is needed where clients ask for anything.
    pub numbers: u32,
    /// How often a leader is deposed that has not crashed.
    pub deposals: u32,
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
            session: Span::ZERO,
            early: Span::ZERO,
            alive: Span::millis(100),
            patience: Span::millis(400),
            finalize_wait: Span::millis(100),
            window: 500,
            snapshot_every: 0,
            expiry: Span::ZERO,
            orphaned: Span::ZERO,
            keeps: false,
            served: Span::ZERO,
            syncs: Syncs::Ordered,
            request_max: PACKET_LENGTH_MAX,
            outstanding: 0,
            batch: 100,
            writes: 0,
            data: 1024,
            work_request: 1,
            work_forward: 1,
            connects: Connects::Spread,
            numbers: 0,
            deposals: 0,
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
        let Params { servers, clients, session, alive, patience, deposals, moves, expiries, .. } = params;
        if !(1..=13).contains(servers) || !(1..=300).contains(clients) {
            return Err(format!("servers {servers} and clients {clients}: 1 to 13 and 1 to 300 are possible"));
        }
        if params.writes > 100 {
            return Err(format!("writes {}: it is a share, of 100", params.writes));
        }
        let is_timed = params.session > Span::ZERO;
        if is_timed && deposals + moves + expiries > 0 {
            return Err(
                "deposals, moves and expiries are for session 0s: else timers do these things; leave them out".into()
            );
        }
        if !is_timed && (params.keeps || params.expiry.max(params.orphaned).max(params.served) > Span::ZERO) {
            return Err(
                "expiry, orphaned, keeps and served are for sessions with a timeout; leave them out where session is 0s".into()
            );
        }
        if is_timed && (*alive == Span::ZERO || patience <= alive || patience.0 >= session.0 / 3 * 2) {
            return Err(format!(
                "alive {alive}, patience {patience}, session {session}: alive must be positive and below patience, which must be below two thirds of session"
            ));
        }
        if params.early > Span::ZERO && params.early.0 >= session.0 / 3 {
            return Err(format!("early {}, session {session}: early must be below a third of session", params.early));
        }
        if params.numbers > 0 && params.operations > 0 || (1..4).contains(&params.numbers) {
            return Err(format!(
                "numbers {}: it is for clients without operations, and at least 4; leave it out",
                params.numbers
            ));
        }
        let zab = match params.broadcast {
            BroadcastKind::Atomic => None,
            BroadcastKind::Zab => Some(embedded::zab(params)?),
        };
        Ok(ZooKeeper { params: params.clone(), mutants, zab })
    }
}
