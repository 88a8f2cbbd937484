//! Sizes, and what clients do.

use seedbed_model::{Family, Mutant, Mutants, Span};
use serde::{Deserialize, Serialize};

use super::task::{Pid, Queue};
use super::{TaskMaster, mutants, workload};

/// Which operations wait for each other (§5.5, §6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consistency {
    /// Updates that have a task in common; a refill and a deletion, with all of their queue.
    Causal,
    /// All that have a queue in common.
    Partial,
    /// All.
    Strict,
}

/// What clients without scripts do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// All that a client can do.
    Mixed,
    /// Each operation enqueues `batch` tasks.
    Enqueue,
    /// Each leases `batch` tasks, and dequeues them in a second call.
    LeaseDequeue,
    /// Each leases `batch` tasks, which nobody dequeues.
    Lease,
    /// Of five operations the first four of a client's enqueue `batch` tasks, then each leases and dequeues as many.
    FillThenDrain,
    /// Each enqueues one task: one time in `pids` the one that the others of its process enqueue, too, else one of its own (Figure 3).
    Collide,
    /// One client leases and dequeues, the others enqueue in queues of their own (Figure 6).
    Isolation,
    /// A pipeline whose stages are the queues; what the last has done may go back to the first (§7).
    Pipeline,
    /// Tasks of which each waits for the drain of a pipeline (§7).
    Coordination,
    /// Conversions that may fail (§7).
    BackOff,
    /// Tasks that are enqueued at any node of a cluster, and done; and lists over all nodes (§5.7).
    Spread,
    /// Tasks that are enqueued, and long work on them, with renewals (§3.3).
    Toil,
    /// Updates and leases, two or three in one call, each by itself (§4); leases of several lengths.
    Batches,
}

/// Sizes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// Which operations wait for each other.
    pub consistency: Consistency,
    /// What each client does, one script each: see [`workload`]. Empty: `clients` draw what they do.
    pub scripts: Vec<String>,
    /// How many clients there are without scripts. 1 to 5,000.
    pub clients: u16,
    /// What they do.
    pub workload: Workload,
    /// How many operations each of them does.
    pub operations: u32,
    /// From how many queues they draw. 1 to 10,000.
    pub queues: u16,
    /// So many clients are the threads of one worker process, which has its share of the queues to itself (§6). 0: all are of one.
    pub threads: u16,
    /// How many tasks an operation is about, where the workload is not mixed. 1 to 1,000.
    pub batch: u32,
    /// From how many PIDs clients draw. 1 or more.
    pub pids: u32,
    /// Each queue has so many tasks at first.
    pub filled: u32,
    /// Whether queues are FIFO: all PIDs are assigned.
    pub fifo: bool,
    /// Tasks that are there at first, as `queue:pid`.
    pub tasks: String,
    /// How long a lease lasts, where the request does not say (§4: `lease_secs`).
    pub lease: Span,
    /// Whether it is judged what leases pass over: to remember what else was at work tells apart what is the same else.
    pub ordered: bool,
    /// No queue's leases expire more often than this, 30s in the paper (§5.6). 0s: at any time.
    pub expiry_every: Span,
    /// At most so many cached tasks; 0: no bound.
    pub cache: u32,
    /// At most so many tasks are fetched by a refill at once. 1 or more.
    pub prefetch: u32,
    /// How many TaskMaster nodes there are. 1 to 16; several have proxies.
    pub nodes: u16,
    /// To how many nodes the cluster is resharded, one time after the other, each by a restart of all. At most 4 times, to 1 to 16.
    pub reshards: Vec<u16>,
    /// How many proxies stand before the nodes; 0: clients ask the one node. At most 16.
    pub proxies: u16,
    /// How long a node that puts a list together waits for the others. 0s: for ever.
    pub gather: Span,
    /// From how many consistency groups queues are. 1 or more.
    pub groups: u16,
    /// Whether rates and lease durations are kept (§3.5).
    pub statistics: bool,
    /// After so many failures a conversion is denied (§7). 1 to 16.
    pub tries: u32,
    /// How long what has failed first waits; each time twice as long.
    pub back_off: Span,
    /// How long a coordinator waits before it looks again whether its pipeline has drained, and a worker before it renews a lease.
    pub poll: Span,
    /// How often it does.
    pub polls: u32,
    /// At most so many tasks of a queue are leased at once (§6.1); 0: no bound.
    pub leased_max: u32,
    /// How often counters are written, 500ms in the paper (§5.3). 0s: `checkpoints` times, at any moment.
    pub checkpoint: Span,
    /// How many checkpoints an incarnation may begin where `checkpoint` is 0s.
    pub checkpoints: u32,
    /// Whether deleted tasks are reaped in the background.
    pub reaper: bool,
    /// At most so many operations are worked on at once, as by so many threads (§6.1); the others wait, and of those the queues take
    /// turns (§6.2). 0: no bound.
    pub threads_of_node: u32,
    /// How much longer the store takes for the random read of a row than for a scan or a write (§5.1).
    pub random_read: Span,
    /// Over how many servers the data store is spread, 20 in the paper (§6): of time that steps take, each message to it takes one step,
    /// and TaskMaster, one machine, so many for each of its own. 0: all take one step.
    pub servers_of_store: u32,
    /// After so long the store is asked again what it has not answered. 0s: never.
    pub retry: Span,
    /// How long a client waits for a reply. 0s: for ever, but for `give-ups`.
    pub patience: Span,
    /// How often each client may give a call up where `patience` is 0s.
    pub give_ups: u32,
    /// Whether the explorer lets clients crash, too. A client that crashes forgets what it held, as one that gives up does.
    pub client_crashes: bool,
    /// Within so long of the healing of all faults, all that TaskMaster had begun before must have ended. 0s: it is not judged.
    ///
    /// It follows from the rest of a scenario. What was lost before is asked for again after `retry`; from then on a round trip to the
    /// store takes two delays. A recovery takes five (it reads the minimum, fences it, scans, writes, begins its log), an operation
    /// three (it reads, is logged, is applied), and at worst the operations that are open wait for each other: of each client the call
    /// that it waits for, and those that it gave up during the longest outage, one in each `patience`. A cluster may have been about to
    /// reshard: what the manager says, or is told, may have been lost twice, and a job that takes over asks where logs begin: two
    /// retries and three round trips more. A test holds the scenarios to it.
    pub progress: Span,
    /// Within so long of the loss of a lease, a worker that renews it has left off. 0s: it is not judged.
    ///
    /// It follows from the rest: it may have been told before that the lease was its own still, and wait `patience` for that; then it
    /// renews after `poll`, and waits `patience` for what comes of that. A test holds the scenarios to it.
    pub told_within: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            consistency: Consistency::Causal,
            scripts: Vec::new(),
            clients: 3,
            workload: Workload::Mixed,
            operations: 10,
            queues: 2,
            threads: 0,
            batch: 1,
            pids: 8,
            filled: 0,
            fifo: false,
            tasks: String::new(),
            lease: Span::secs(30),
            ordered: false,
            expiry_every: Span::ZERO,
            cache: 0,
            prefetch: 2,
            nodes: 1,
            reshards: Vec::new(),
            proxies: 0,
            gather: Span::ZERO,
            groups: 1,
            statistics: false,
            tries: 3,
            back_off: Span::millis(100),
            poll: Span::millis(100),
            polls: 20,
            leased_max: 0,
            threads_of_node: 0,
            random_read: Span::ZERO,
            servers_of_store: 0,
            checkpoint: Span::ZERO,
            checkpoints: 0,
            reaper: false,
            retry: Span::ZERO,
            patience: Span::ZERO,
            give_ups: 0,
            client_crashes: true,
            progress: Span::ZERO,
            told_within: Span::ZERO,
        }
    }
}

impl Family for TaskMaster {
    type Protocol = TaskMaster;
    type Params = Params;
    const NAME: &'static str = "taskmaster";
    const SUMMARY: &'static str =
        "TaskMaster: reliable priority queues with leases over a data store of single-row writes (Hyman, Boswell)";

    fn mutants() -> &'static [Mutant] {
        mutants::MUTANTS
    }

    fn build(params: &Params, mutants: Mutants) -> Result<TaskMaster, String> {
        let Params { clients, queues, .. } = params;
        if !(1..=5000).contains(clients) || params.scripts.len() > 5000 {
            return Err(format!("clients {clients} and {} scripts: 1 to 5000 are possible", params.scripts.len()));
        }
        if !(1..=10_000).contains(queues) {
            return Err(format!("queues {queues}: 1 to 10000 are possible"));
        }
        if !(1..=1000).contains(&params.batch) {
            return Err(format!("batch {}: 1 to 1000 tasks are possible", params.batch));
        }
        if params.pids == 0 {
            return Err("pids 0: there is none to draw; 1 or more is possible".into());
        }
        check_cluster(params)?;
        if params.groups == 0 {
            return Err("groups 0: each queue is of one; 1 or more is possible".into());
        }
        if !(1..=16).contains(&params.tries) {
            return Err(format!("tries {}: 1 to 16 are possible", params.tries));
        }
        if params.workload == Workload::BackOff && u32::from(*clients) * params.operations > 256 {
            return Err(
                "workload back-off: at most 256 operations of all clients have PIDs of their own in one millisecond"
                    .into(),
            );
        }
        let processes = clients.div_ceil(params.threads.max(1));
        if params.threads > 0 && *queues < processes {
            return Err(format!(
                "queues {queues}: each of {processes} processes of {} clients has one or more",
                params.threads
            ));
        }
        if params.prefetch == 0 {
            return Err("prefetch 0: a refill that fetches nothing finds nothing; 1 or more is possible".into());
        }
        if params.lease == Span::ZERO {
            return Err("lease 0s: a lease that is over as it begins; write a positive span".into());
        }
        if params.checkpoint > Span::ZERO && params.checkpoints > 0 {
            return Err("checkpoints is for checkpoint 0s: else a timer begins them; leave it out".into());
        }
        if params.patience > Span::ZERO && params.give_ups > 0 {
            return Err("give-ups is for patience 0s: else a timer ends a call; leave it out".into());
        }
        let mut first = workload::first_tasks(&params.tasks)?;
        first.extend((0..*queues).flat_map(|queue| (1..=params.filled).map(move |pid| (Queue(queue), Pid(pid)))));
        let scripts = params.scripts.iter().enumerate().map(|(index, script)| workload::script(index, script));
        let scripts = scripts.collect::<Result<Vec<_>, _>>()?;
        if !params.fifo && scripts.iter().flatten().any(workload::is_fifo) {
            return Err("a script enqueues at `+`, where TaskMaster assigns the PID: that needs fifo = true".into());
        }
        Ok(TaskMaster { params: params.clone(), scripts, first, mutants })
    }
}

/// What there are of servers.
fn check_cluster(params: &Params) -> Result<(), String> {
    let Params { nodes, reshards, proxies, .. } = params;
    if let Some(nodes) = std::iter::once(nodes).chain(reshards).find(|nodes| !(1..=16).contains(*nodes)) {
        return Err(format!("nodes {nodes}: 1 to 16 are possible, also after a reshard"));
    }
    if reshards.len() > 4 || *proxies > 16 {
        return Err(format!("reshards {}, proxies {proxies}: at most 4 and 16 are possible", reshards.len()));
    }
    if (*nodes > 1 || !reshards.is_empty()) && *proxies == 0 {
        return Err("proxies 0: workers do not know which of several nodes has a group; 1 or more is possible".into());
    }
    Ok(())
}
