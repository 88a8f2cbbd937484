//! What parameters and scripts are refused, and the pure parts. Whole runs are in `seedbed check taskmaster` and its scenarios.

use seedbed_model::{Family, Mutants, NodeId, Nonce, Protocol, Span, Stamp};

use super::message::Listing;
use super::params::{Consistency, Params, Workload};
use super::task::{Atom, Counter, Delta, Pid, Queue, Row, Task, Ticket};
use super::workers::{milliseconds, pid_of};
use super::{TaskMaster, mutants};

fn refused(params: Params) -> String {
    TaskMaster::build(&params, Mutants::none()).expect_err("it must be refused")
}

fn ticket(number: u32) -> Ticket {
    Ticket { incarnation: Nonce::first(1), number }
}

#[test]
fn parameters_that_make_no_sense_are_refused_with_what_would_be_right() {
    let script = |text: &str| Params { scripts: vec![text.to_owned()], ..Params::default() };
    let cases = [
        (Params { clients: 0, ..Params::default() }, "1 to 5000"),
        (Params { queues: 0, ..Params::default() }, "1 to 10000"),
        (Params { batch: 0, ..Params::default() }, "1 to 1000"),
        (Params { pids: 0, ..Params::default() }, "1 or more"),
        (Params { clients: 9, threads: 2, queues: 4, ..Params::default() }, "5 processes"),
        (Params { prefetch: 0, ..Params::default() }, "1 or more"),
        (Params { lease: Span::ZERO, ..Params::default() }, "positive"),
        (Params { checkpoint: Span::secs(1), checkpoints: 1, ..Params::default() }, "leave it out"),
        (Params { patience: Span::secs(1), give_ups: 1, ..Params::default() }, "leave it out"),
        (Params { tasks: "0:+".into(), ..Params::default() }, "0:1"),
        (Params { groups: 0, ..Params::default() }, "1 or more"),
        (Params { tries: 0, ..Params::default() }, "1 to 16"),
        (Params { workload: Workload::BackOff, clients: 30, ..Params::default() }, "at most 256"),
        (Params { nodes: 0, ..Params::default() }, "1 to 16"),
        (Params { reshards: vec![17], proxies: 1, ..Params::default() }, "1 to 16"),
        (Params { reshards: vec![2; 5], proxies: 1, ..Params::default() }, "at most 4"),
        (Params { nodes: 2, ..Params::default() }, "1 or more"),
        (script("anywhere"), "one number"),
        (script("list 1 ["), "no regular expression"),
        (script("coordinate 17"), "1 to 16"),
        (script("enqueue 0:+"), "fifo = true"),
        (script("enqueue 0"), "queue:pid"),
        (script("enqueue 0:x"), "no number"),
        (script("lease x0"), "one queue or more"),
        (script("lease"), "one queue or more"),
        (script("delete"), "one number"),
        (script("sleep"), "known: enqueue"),
        (script("lease 0 & delete 0"), "called together"),
        (script("lease 0 &"), "no operation"),
        (script("toil 0"), "toil 0 +3"),
        (script("renew 3s"), "as in for=3s"),
        (script("lease 0 for=3"), "no span"),
    ];
    for (params, advice) in cases {
        let why = refused(params);
        assert!(why.contains(advice), "{why}: it does not say {advice}");
    }
}

#[test]
fn every_strategy_is_built_with_each_mutant() {
    for consistency in [Consistency::Causal, Consistency::Partial, Consistency::Strict] {
        for mutant in mutants::MUTANTS {
            let named = Mutants::named(mutants::MUTANTS, [mutant.name]).expect("it is known");
            let params = Params { consistency, ..Params::default() };
            assert!(TaskMaster::build(&params, named).is_ok(), "{}", mutant.name);
        }
    }
}

/// "Any update which occurred in the past with respect to the current value's time is rejected as a replay" (§5.3).
#[test]
fn a_counter_rejects_what_it_has_counted() {
    let mut counter = Counter::default();
    let one = Delta { available: 1, leased: 0, last: Pid(3) };
    assert!(counter.count(ticket(1), one, false, true));
    assert!(!counter.count(ticket(1), one, false, true));
    assert_eq!((counter.available, counter.last), (1, Pid(3)));
    assert!(counter.count(ticket(2), one, false, true));
    assert!(!counter.count(ticket(1), one, false, true), "out of order is a replay too");
    assert_eq!(counter.size(), 2);
}

#[test]
fn an_atom_counts_what_its_rows_become() {
    let row = Row { queue: Queue(0), generation: 0, pid: Pid(1) };
    let moved = Row { queue: Queue(1), ..row };
    let mut atom = Atom::default();
    atom.change(row, Some(Task::available(0)), None);
    atom.change(moved, None, Some(Task::available(0)));
    let delta = |available, last| Delta { available, leased: 0, last: Pid(last) };
    assert_eq!(atom.deltas[&Queue(0)], delta(-1, 0));
    assert_eq!(atom.deltas[&Queue(1)], delta(1, 1));
}

/// "The hash value of a consistency group's name determines the owning TaskMaster node. This provides a somewhat uniform
/// distribution of consistency groups to nodes" (§5.7).
#[test]
fn a_group_has_one_owner_in_each_sharding_and_every_node_has_groups() {
    let params = Params {
        nodes: 3,
        reshards: vec![4, 2],
        proxies: 2,
        groups: 100,
        queues: 200,
        clients: 1,
        ..Params::default()
    };
    let rules = TaskMaster::build(&params, Mutants::none()).expect("it is built");
    let names = rules.nodes();
    assert_eq!(names[1..5], ["taskmaster-1", "taskmaster-2", "taskmaster-3", "taskmaster-1-2"]);
    assert_eq!(names[10..], ["proxy-1", "proxy-2", "manager", "client-1"]);
    for (sharding, size) in [(0, 3), (1, 4), (2, 2)] {
        let jobs = rules.jobs_of(sharding);
        assert_eq!(jobs.len(), size);
        let owned = |job: u16| (0..200).filter(|queue| rules.owner(Queue(*queue), sharding).0 == job).count();
        let counts: Vec<usize> = jobs.clone().map(owned).collect();
        assert_eq!(counts.iter().sum::<usize>(), 200, "all are in the sharding");
        assert!(counts.iter().all(|count| (100..300).contains(&(count * size))), "{counts:?} of 200 queues");
        for queue in (0..100).map(Queue) {
            let same_group = Queue(queue.0 + 100);
            assert_eq!(rules.owner(queue, sharding), rules.owner(same_group, sharding), "one node for a group");
            assert_eq!(jobs.clone().filter(|job| rules.is_of(queue, NodeId(*job))).count(), 1);
        }
        for job in jobs {
            assert_eq!(rules.sharding_of(NodeId(job)), sharding);
        }
    }
}

/// What a former owner writes late has an earlier timestamp than all that the new one writes (TA4).
#[test]
fn tickets_of_a_later_sharding_are_larger() {
    let of = |node: u16, restarts: usize| {
        let incarnation = (0..restarts).fold(Nonce::first(node), |nonce, _| nonce.next());
        Ticket { incarnation, number: 1 }
    };
    assert!(of(1, 5) < of(3, 0));
    assert!(of(3, 0) < of(3, 1));
}

/// "Returned queues can be filtered by several properties including queue length and name regular expression" (§4).
#[test]
fn a_list_is_of_whole_names_and_of_queues_that_are_not_empty() {
    let rules = TaskMaster::build(&Params { groups: 2, ..Params::default() }, Mutants::none()).expect("it is built");
    let sizes = [(Queue(0), 5), (Queue(1), 0), (Queue(2), 1), (Queue(3), 9), (Queue(30), 9)];
    let listed = |pattern: Option<&str>, least, most| {
        let listing = Listing { pattern: pattern.map(str::to_owned), least, most };
        rules.listed(&listing, sizes.into_iter()).iter().map(|queue| queue.0).collect::<Vec<_>>()
    };
    assert_eq!(listed(None, 0, 0), [0, 2, 3, 30]);
    assert_eq!(listed(Some("[0-9]*#3"), 1, 0), [3], "30 is no match of the whole name");
    assert_eq!(listed(Some("0#.*"), 2, 0), [0, 30]);
    assert_eq!(listed(None, 5, 2), [0, 3]);
}

#[test]
fn a_later_time_is_a_later_pid() {
    let at = |seconds: i64| pid_of(Stamp::of_clock(seconds * 1_000_000_000), 255);
    assert!(at(1) < at(2));
    assert_eq!(milliseconds(at(2)), 2000);
}
