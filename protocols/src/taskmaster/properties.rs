//! What must hold, in words.

use seedbed_model::Property;

/// All of them.
pub fn properties() -> Vec<Property> {
    vec![
        Property::always("acknowledged-kept", "what was acknowledged is there after a recovery, and as it was (§5.3)"),
        Property::always(
            "nothing-comes-back",
            "what was dequeued, deleted or never acknowledged does not come back (§5.2, §5.3)",
        ),
        Property::always(
            "prefix-recovered",
            "of what was in progress, a recovery brings back what came first in the log, each operation whole (§5.3)",
        ),
        Property::always(
            "one-by-one",
            "an operation changes tasks as they are, and no two change one at a time (§5.5)",
        ),
        Property::always("leased-to-one", "no task is leased while another worker's lease of it lasts (§3.3)"),
        Property::always(
            "holder-dequeues",
            "only the worker that a task is leased to takes it out of its queue (§5.6)",
        ),
        Property::always("renewed-in-time", "a lease that has run out, or is another's, is not renewed (§3.3)"),
        Property::always("counters-exact", "sizes and leased counts equal a recount (§3.5, §5.3)"),
        Property::always(
            "fifo-ids-grow",
            "an assigned PID is larger than all that were acknowledged before the request came (§3.2)",
        ),
        Property::always(
            "cache-hides-nothing",
            "the cache has all tasks before the first missing PID, as they are (§5.4)",
        ),
        Property::always("enqueued-then-done", "a task is leased after the last acknowledged enqueue of it (§3.2)"),
        Property::always("leased-within-cap", "no more tasks of a queue are leased at once than may be (§6.1)"),
        Property::always(
            "queues-take-turns",
            "while an operation on a queue waits for a thread, no other queue has two turns (§6.2)",
        ),
        Property::always(
            "leases-as-asked",
            "a lease is of no more tasks than asked for, of these queues, of none behind the maximum PID, and for as long as asked (§4)",
        ),
        Property::always(
            "leases-in-order",
            "a lease passes over no task that is free, unless another operation at work is about it (§3.3)",
        ),
        Property::always("expires-seldom", "leases of a queue expire no more often than `expiry-every` (§5.6)"),
        Property::always("within-a-group", "no operation changes tasks of two consistency groups (§3.4, §5.7)"),
        Property::always(
            "served-by-one",
            "a consistency group is served by one TaskMaster node at one instant, the one that its hash says (§3.4, §5.7)",
        ),
        Property::always("carried-out-once", "what is asked through a proxy is carried out once at most (§5.7)"),
        Property::always("aggregates-all", "a list over all nodes has what each said, or says that it has not (§3.5)"),
        Property::always(
            "enqueues-find-a-node",
            "what may be enqueued at any node is, if one, and all proxies, are up all the time (§5.7, §7)",
        ),
        Property::always("lists-what-is-there", "a list names the queues of its size and name, and no others (§4)"),
        Property::always(
            "batches-answered",
            "a batch is answered once all of its operations have ended, with what came of each, in their order (§4)",
        ),
        Property::always(
            "statistics-right",
            "what is said of a queue is as it is: its size, leased tasks and their workers; what went through it since its node started, and how long its tasks were leased (§3.5)",
        ),
        Property::always(
            "in-one-stage",
            "what went into a pipeline is in one stage at a time, until the last one is done with it (§3.4, §7)",
        ),
        Property::always("drained-first", "a task moves on to be processed once its pipeline has drained (§7)"),
        Property::always(
            "backs-off",
            "what failed waits in the queue of its failures, twice as long each time, and is denied after the last (§7)",
        ),
        Property::within(
            "told-in-time",
            "a worker that renews a lease which it has lost is told at its next call, and leaves off within `told-within` (§3.3)",
        ),
        Property::within(
            "operations-end",
            "once all faults are healed, all that was begun ends within `progress`: there is no deadlock (§5.5)",
        ),
        Property::eventually("every-operation-ends", "an operation that was begun ends, if nobody crashes (§5.5)"),
    ]
}
