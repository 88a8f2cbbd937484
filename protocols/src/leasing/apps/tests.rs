//! One test for each step of the template and each decision, and its mutant, step by step.

use seedbed_model::{Family, Local, Mutants, NodeId, Span};

use super::Application;
use super::message::{Answer, Key, Operation};
use crate::leasing::play::{OWNER_1, OWNER_2, Play, RANGE, params};
use crate::leasing::*;

pub(super) const FRONTEND: NodeId = NodeId(3);
pub(super) const OTHER: NodeId = NodeId(4);
const KEY: Key = Key(0);

/// Leases long enough to be of no matter; work takes a tick.
pub(super) fn table() -> Params {
    Params {
        application: Application::HashTable,
        operations: 4,
        lookups: 2,
        lease: Span::ticks(30),
        margin: Span::ticks(40),
        renew: Span::ticks(20),
        poll: Span::ticks(1),
        contact: Span::ticks(50),
        work: Span::ticks(1),
        retry: Span::ticks(1),
        patience: Span::ticks(1),
        notice: Span::ticks(200),
        migration: true,
        ..params()
    }
}

impl Play {
    /// Owner 1 holds the range, and both frontends know it.
    pub(super) fn serving_table(params: &Params, mutants: &[&str]) -> Play {
        let mut play = Play::new(params, mutants);
        play.deliver(OWNER_1, MANAGER);
        play.deliver(OWNER_2, MANAGER);
        play.decide(Decision::Grant(RANGE, OWNER_1));
        play.deliver(MANAGER, OWNER_1);
        for lookup in [FRONTEND, OTHER] {
            play.deliver(lookup, MANAGER);
            play.deliver(MANAGER, lookup);
        }
        play
    }

    pub(super) fn invoke(&mut self, frontend: NodeId) {
        self.at(frontend, Local::Invoke);
    }

    /// A tick passes, and the work on the key is done.
    pub(super) fn work(&mut self, owner: NodeId) {
        self.tick();
        self.at(owner, Local::Fire(Timer::Work(KEY)));
    }

    /// The newest request of the frontend is served, and answered.
    pub(super) fn served_by(&mut self, owner: NodeId, frontend: NodeId) {
        self.deliver_newest(frontend, owner);
        self.work(owner);
        self.deliver_newest(owner, frontend);
    }

    /// Asks again: the patience of this script is a tick.
    pub(super) fn ask_again(&mut self, frontend: NodeId) {
        if !self.is_due(frontend, &Timer::Retry) {
            self.tick();
        }
        self.at(frontend, Local::Fire(Timer::Retry));
    }

    /// The range is recalled and granted to the same Owner again.
    pub(super) fn lose_and_regain(&mut self) {
        self.decide(Decision::Recall(RANGE));
        self.deliver_newest(MANAGER, OWNER_1);
        self.deliver_newest(OWNER_1, MANAGER);
        self.decide(Decision::Grant(RANGE, OWNER_1));
        self.deliver_newest(MANAGER, OWNER_1);
    }

    pub(super) fn poll(&mut self, lookup: NodeId) {
        if !self.is_due(lookup, &Timer::Poll) {
            self.tick();
        }
        self.at(lookup, Local::Fire(Timer::Poll));
        self.deliver_newest(lookup, MANAGER);
        self.deliver_newest(MANAGER, lookup);
    }
}

#[test]
fn what_was_put_is_got_at_another_frontend() {
    let mut play = Play::serving_table(&table(), &[]);
    play.invoke(FRONTEND);
    play.served_by(OWNER_1, FRONTEND);
    play.invoke(OTHER);
    play.served_by(OWNER_1, OTHER);
    assert_eq!((play.marked("put"), play.marked("got")), (1, 1));
    assert!(play.fallen().is_empty());
}

/// Step 1, and §2.1: "frontends should retry after a short backoff on such rejected requests".
#[test]
fn a_request_at_the_wrong_owner_is_refused_and_comes_again() {
    let mut play = Play::serving_table(&table(), &[]);
    play.invoke(FRONTEND);
    play.decide(Decision::Recall(RANGE));
    play.deliver(MANAGER, OWNER_1);
    play.deliver(FRONTEND, OWNER_1);
    assert_eq!(play.marked("refused-no-lease"), 1);
    play.deliver(OWNER_1, FRONTEND);
    play.ask_again(FRONTEND);
    assert_eq!(play.count(FRONTEND, OWNER_1), 1, "its table still names that Owner");
}

/// Step 2: what was stored under a lease that was lost is stale, though the same Owner has the next one.
#[test]
fn state_of_an_earlier_lease_is_discarded() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[STORED_UNCHECKED][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        play.lose_and_regain();
        play.poll(FRONTEND);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        assert_eq!(play.marked("stale-state"), 1);
        assert_eq!(play.fallen(), fallen);
    }
}

/// Step 4: "a loss and a re-grant" of the lease within the operation.
#[test]
fn a_break_within_the_operation_fails_it() {
    let falls = [
        (&[][..], &[][..]),
        (&[NO_FINAL_CHECK][..], &["covered"][..]),
        (&[CONTINUOUS_BY_RANGE][..], &["continuity", "covered"][..]),
    ];
    for (mutants, fallen) in falls {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        play.lose_and_regain();
        assert!(play.holds(OWNER_1), "the range is held, under another number");
        play.work(OWNER_1);
        assert_eq!(play.fallen(), fallen);
    }
}

/// Step 1: a request that names an earlier lease says nothing of what is stored under the present one.
#[test]
fn a_request_for_an_earlier_lease_discards_nothing() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[NO_FIRST_CHECK][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.lose_and_regain();
        play.poll(OTHER);
        // A get, and a put under the present lease.
        for _ in 0..2 {
            play.invoke(OTHER);
            play.served_by(OWNER_1, OTHER);
        }
        play.deliver(FRONTEND, OWNER_1);
        assert_eq!(play.marked("refused-no-lease") == 1, mutants.is_empty());
        if !mutants.is_empty() {
            play.work(OWNER_1);
            assert_eq!(play.marked("refused-lease-lost"), 1, "step 4 refuses, too late");
        }
        play.invoke(OTHER);
        play.served_by(OWNER_1, OTHER);
        assert_eq!(play.fallen(), fallen);
    }
}

/// A put is asked for twice, is answered, and lost; the request that was late comes under the next lease.
#[test]
fn a_request_from_before_a_loss_does_nothing_after_it() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[ANY_LEASE_NUMBER][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.ask_again(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        play.lose_and_regain();
        play.deliver(FRONTEND, OWNER_1);
        if !mutants.is_empty() {
            play.work(OWNER_1);
        }
        assert_eq!(play.marked("refused-no-lease") == 1, mutants.is_empty());
        play.poll(FRONTEND);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        assert_eq!(play.fallen(), fallen);
    }
}

/// The same under one lease: the item remembers what was done to it.
#[test]
fn a_put_that_comes_twice_is_done_once() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[DONE_AGAIN][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.ask_again(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        // A get, and another put.
        for _ in 0..2 {
            play.invoke(FRONTEND);
            play.served_by(OWNER_1, FRONTEND);
        }
        // What was asked first comes last.
        play.deliver(FRONTEND, OWNER_1);
        play.work(OWNER_1);
        assert_eq!(play.marked("done-already"), 1);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        assert_eq!(play.fallen(), fallen);
    }
}

/// A put is done and seen; its answer and its lease are lost. Whoever did it again would let it be seen after its loss.
#[test]
fn a_put_whose_lease_was_lost_fails() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[PUT_AGAIN][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        play.work(OWNER_1);
        play.lose(OWNER_1, FRONTEND);
        // A get, and a put under the next lease.
        play.invoke(OTHER);
        play.served_by(OWNER_1, OTHER);
        assert_eq!(play.marked("got"), 1);
        play.lose_and_regain();
        play.poll(OTHER);
        play.poll(FRONTEND);
        play.ask_again(FRONTEND);
        assert_eq!(play.marked("put-failed"), 1);
        assert_eq!(play.count(FRONTEND, OWNER_1), mutants.len());
        play.invoke(OTHER);
        play.served_by(OWNER_1, OTHER);
        if !mutants.is_empty() {
            play.served_by(OWNER_1, FRONTEND);
        }
        play.invoke(OTHER);
        play.served_by(OWNER_1, OTHER);
        assert_eq!(play.fallen(), fallen);
    }
}

/// The answer leaves before the loss, and arrives after the news of it.
#[test]
fn an_answer_that_the_news_of_a_loss_overtook_is_not_believed() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[ANSWER_AFTER_NEWS][..], &["loss-after-answer"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        play.work(OWNER_1);
        play.lose_and_regain();
        play.poll(FRONTEND);
        play.deliver_newest(OWNER_1, FRONTEND);
        assert_eq!(play.marked("reply-after-news"), 1);
        assert_eq!(play.fallen(), fallen);
    }
}

/// Centrifuge §2.1.2: state moves with the lease, and nothing is lost of it.
#[test]
fn what_was_put_moves_with_its_range() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[STATE_LEFT_BEHIND][..], &["soft-linearizable"][..])] {
        let mut play = Play::serving_table(&table(), mutants);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        play.decide(Decision::Move(RANGE, OWNER_2));
        play.deliver_newest(MANAGER, OWNER_1);
        play.deliver(OWNER_1, OWNER_2);
        play.deliver_newest(OWNER_2, MANAGER);
        play.deliver_newest(MANAGER, OWNER_2);
        assert!(play.holds(OWNER_2));
        play.poll(FRONTEND);
        play.invoke(FRONTEND);
        play.served_by(OWNER_2, FRONTEND);
        assert_eq!(play.fallen(), fallen);
        assert_eq!(play.marked("got") == 1, mutants.is_empty());
    }
}

/// PRS §2.1: the frontend passes the notification along, "so that they can republish".
#[test]
fn a_client_hears_of_the_loss_of_what_it_put() {
    for (mutants, told) in [(&[][..], 1), (&[NEWS_KEPT_BACK][..], 0)] {
        let mut play = Play::serving_table(&Params { republish: true, writers: 1, ..table() }, mutants);
        play.invoke(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        play.invoke(FRONTEND);
        play.poll(FRONTEND);
        assert_eq!(play.marked("client-told"), 0);
        play.lose_and_regain();
        play.poll(FRONTEND);
        assert_eq!(play.marked("client-told"), told);
    }
}

/// PRS §3.4.
#[test]
fn a_task_begins_a_period_after_its_grant_and_is_done_under_its_lease() {
    let params = Params {
        application: Application::PeriodicTask,
        work: Span::ticks(1),
        period: Span::ticks(2),
        lease: Span::ticks(30),
        margin: Span::ticks(40),
        renew: Span::ticks(20),
        ..params()
    };
    let mut play = Play::new(&params, &[]);
    play.deliver(OWNER_1, MANAGER);
    play.decide(Decision::Grant(RANGE, OWNER_1));
    play.deliver(MANAGER, OWNER_1);
    for _ in 0..2 {
        play.tick();
    }
    play.at(OWNER_1, Local::Fire(Timer::Task(RANGE)));
    play.work(OWNER_1);
    assert_eq!((play.marked("task-done"), play.marked("upcall-grant")), (1, 1));
    play.tick();
    play.at(OWNER_1, Local::Fire(Timer::Task(RANGE)));
    play.decide(Decision::Recall(RANGE));
    play.deliver(MANAGER, OWNER_1);
    play.work(OWNER_1);
    assert_eq!((play.marked("task-abandoned"), play.marked("upcall-revoke")), (1, 1));
    assert!(play.fallen().is_empty());
}

#[test]
fn applications_that_make_no_sense_are_refused() {
    let build = |params: Params| Leasing::build(&params, Mutants::none()).map(|_| ()).unwrap_err();
    let idle = build(Params { operations: 3, ..Params::default() });
    assert_eq!(idle, "operations 3 without an application: application = \"hash-table\"");
    let deaf = build(Params { lookups: 0, ..table() });
    assert_eq!(deaf, "a hash table without a Lookup has no frontend: lookups = 1");
    assert_eq!(build(Params { keys: 0, ..table() }), "keys 0 must be 1 to 10000");
    assert_eq!(build(Params { work: Span::ZERO, ..table() }), "work must be positive where there is an application");
    let hasty = build(Params { retry: Span::ZERO, ..table() });
    assert_eq!(hasty, "retry and patience must be positive where there is a hash table");
    let writers = build(Params { writers: 3, ..table() });
    assert_eq!(writers, "writers 3 exceed the frontends, which are the lookups: 2");
    let busy = Params { application: Application::PeriodicTask, operations: 0, period: Span::ticks(1), ..table() };
    assert!(build(busy).starts_with("period "));
}

/// What a history of a store of values makes of it.
#[test]
fn a_history_has_puts_and_gets_alone() {
    assert_eq!(Operation::Await(KEY).recorded(), None);
    let got = Operation::Get(KEY).recorded().map(|call| call.name);
    assert_eq!(got.as_deref(), Some("get"));
    assert_eq!(Answer::Got(None).recorded(), "".into());
    assert_eq!(Answer::Failed.recorded(), false.into(), "nobody knows what came of it");
}
