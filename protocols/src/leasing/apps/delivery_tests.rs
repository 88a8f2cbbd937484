//! What is published and enqueued, and its mutants, step by step.

use seedbed_model::{Family, Local, Mutants, Span};

use super::Application;
use super::tests::{FRONTEND, OTHER, table};
use crate::leasing::play::{OWNER_1, OWNER_2, Play, RANGE};
use crate::leasing::*;

/// The first frontend's client publishes, the other's subscribes.
fn topics() -> Params {
    Params { application: Application::PublishSubscribe, writers: 1, ..table() }
}

impl Play {
    /// The other frontend's client has subscribed.
    fn subscribed(params: &Params, mutants: &[&str]) -> Play {
        let mut play = Play::serving_table(params, mutants);
        play.invoke(OTHER);
        play.served_by(OWNER_1, OTHER);
        assert_eq!(play.marked("subscribed"), 1);
        play
    }
}

/// Centrifuge §2: the server "forwards the event to all subscribed parties", and they have it before it is accepted.
#[test]
fn what_is_published_is_accepted_once_who_subscribed_has_it() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[PUBLISHED_AT_ONCE][..], &["delivered-or-told"][..])] {
        let mut play = Play::subscribed(&topics(), mutants);
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        assert_eq!(play.count(OWNER_1, FRONTEND), mutants.len(), "it is not accepted yet");
        if mutants.is_empty() {
            // What is not answered is sent again.
            play.lose(OWNER_1, OTHER);
            play.work(OWNER_1);
            play.deliver(OWNER_1, OTHER);
            play.deliver(OTHER, OWNER_1);
            assert_eq!((play.marked("exposed-again"), play.marked("delivered")), (1, 1));
        }
        play.deliver_newest(OWNER_1, FRONTEND);
        assert_eq!(play.marked("published"), 1);
        assert_eq!(play.fallen(), fallen);
    }
}

/// PRS §3.1: where subscriptions change, a publication that comes where the lease is not finds an old list, or none.
#[test]
fn a_publication_without_checks_misses_who_subscribed_elsewhere() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[PUBLISH_UNCHECKED][..], &["delivered-or-told"][..])] {
        let mut play = Play::serving_table(&topics(), mutants);
        play.decide(Decision::Recall(RANGE));
        play.deliver_newest(MANAGER, OWNER_1);
        play.deliver_newest(OWNER_1, MANAGER);
        play.decide(Decision::Grant(RANGE, OWNER_2));
        play.deliver_newest(MANAGER, OWNER_2);
        play.poll(OTHER);
        play.invoke(OTHER);
        play.served_by(OWNER_2, OTHER);
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        play.deliver_newest(OWNER_1, FRONTEND);
        assert_eq!(play.marked("published") == 1, !mutants.is_empty());
        assert_eq!(play.fallen(), fallen);
    }
}

/// PRS §3.1: where they never change, it goes to the list that is there, whosever the lease; it is refused where none is.
#[test]
fn a_fixed_list_needs_no_lease() {
    let mut play = Play::subscribed(&Params { fixed_subscriptions: true, ..topics() }, &[]);
    play.decide(Decision::Recall(RANGE));
    play.deliver_newest(MANAGER, OWNER_1);
    assert!(!play.holds(OWNER_1));
    play.invoke(FRONTEND);
    play.deliver(FRONTEND, OWNER_1);
    play.deliver(OWNER_1, OTHER);
    play.deliver(OTHER, OWNER_1);
    play.deliver_newest(OWNER_1, FRONTEND);
    assert_eq!((play.marked("published"), play.marked("exposed-without-lease")), (1, 1));
    assert!(play.fallen().is_empty());
    let mut none = Play::serving_table(&Params { fixed_subscriptions: true, ..topics() }, &[]);
    none.invoke(FRONTEND);
    none.deliver(FRONTEND, OWNER_1);
    assert_eq!(none.marked("refused-no-list"), 1);
}

/// Centrifuge §3.1: whoever subscribed hears of the loss, and subscribes anew.
#[test]
fn who_subscribed_hears_of_the_loss() {
    let mut play = Play::subscribed(&topics(), &[]);
    play.invoke(OTHER);
    play.lose_and_regain();
    play.poll(OTHER);
    assert_eq!(play.marked("client-told"), 1);
    play.invoke(OTHER);
    play.served_by(OWNER_1, OTHER);
    assert_eq!(play.marked("subscribed"), 2);
    assert!(play.fallen().is_empty());
}

/// Centrifuge §4.3: an answer that was lost brought nothing; the entry is there when the client asks again.
#[test]
fn an_entry_stays_in_its_queue_until_the_client_asks_for_the_next() {
    let params = Params { application: Application::Queue, operations: 5, ..table() };
    for (mutants, fallen) in [(&[][..], &[][..]), (&[DEQUEUED_AT_ONCE][..], &["soft-queue"][..])] {
        let mut play = Play::serving_table(&params, mutants);
        // It connects, and enqueues.
        for _ in 0..2 {
            play.invoke(FRONTEND);
            play.served_by(OWNER_1, FRONTEND);
        }
        play.invoke(FRONTEND);
        play.deliver(FRONTEND, OWNER_1);
        play.work(OWNER_1);
        play.lose(OWNER_1, FRONTEND);
        play.ask_again(FRONTEND);
        play.served_by(OWNER_1, FRONTEND);
        assert_eq!(play.marked("dequeued") == 1, mutants.is_empty());
        assert_eq!(play.fallen(), fallen);
    }
}

#[test]
fn services_that_make_no_sense_are_refused() {
    let build = |params: Params| Leasing::build(&params, Mutants::none()).map(|_| ()).unwrap_err();
    let fixed = build(Params { fixed_subscriptions: true, ..table() });
    assert_eq!(fixed, "fixed-subscriptions without subscriptions: application = \"publish-subscribe\"");
    let crowded = build(Params { fixed_subscriptions: true, lookups: 4, ..topics() });
    assert_eq!(crowded, "fixed-subscriptions with 3 subscribers of 1 topics: one of each");
    let mesh = Params { application: Application::LiveMesh, keys: 6, writers: 1, ..table() };
    assert_eq!(build(mesh.clone()), "pools 1 for the services of live-mesh: pools = 3");
    assert_eq!(build(Params { pools: 3, ..mesh.clone() }), "pools 3 must divide ranges 1, and not exceed owners 2");
    let mesh = Params { pools: 3, ranges: 3, owners: 3, ..mesh };
    assert_eq!(build(Params { keys: 4, ..mesh.clone() }), "keys 4 must be three for each frontend's device: 6");
    assert_eq!(build(Params { writers: 0, ..mesh.clone() }), "writers 0 must be some of the 2 frontends");
    assert!(Leasing::build(&mesh, Mutants::none()).is_ok());
    let brief = build(Params { ttl: Span::ticks(3), application: Application::Queue, ..table() });
    assert_eq!(brief, "a queue that expired is asked for until retries end: retry-limit = \"300s\"");
    let short = build(Params { retry_limit: Span::ticks(1), ..table() });
    assert!(short.starts_with("retry-limit 1s must be longer than retry"), "{short}");
    let idle = build(Params { balance: Span::secs(30), ..Params::default() });
    assert!(idle.starts_with("loads are managed by virtual nodes"), "{idle}");
    let blind = build(Params { application: Application::Queue, retry: Span::ZERO, ..table() });
    assert_eq!(blind, "retry and patience must be positive where there is a queue service");
}

/// "A set of namespaces, one for each pool" (Centrifuge §2.1.2): a range is never offered to an Owner of another pool.
#[test]
fn pools_keep_to_their_namespaces() {
    let params = Params { pools: 2, ranges: 4, owners: 4, ..Params::default() };
    for partitioner in [PartitionerKind::Hashing, PartitionerKind::Fixed] {
        let leasing = Leasing::build(&Params { partitioner, ..params.clone() }, Mutants::none()).unwrap();
        let right = |range: RangeId| leasing.partitioner.as_ref().unwrap().owner_of(range, &mut |_| true).unwrap();
        assert!(leasing.ranges().all(|range| (right(range).0 - 1) % 2 == u16::from(range.0 % 2)));
    }
    let leasing = Leasing::build(&params, Mutants::none()).unwrap();
    assert_eq!(leasing.candidates(RangeId(3)).collect::<Vec<_>>(), [NodeId(2), NodeId(4)]);
    assert_eq!(leasing.pools().map(|pool| pool.len()).collect::<Vec<_>>(), [2, 2]);
}

fn documents() -> Params {
    Params { application: Application::SectionedDocument, operations: 6, ttl: Span::ticks(3), ..table() }
}

/// PRS §3: two clients read the same version, and write a section each; one of them writes for a version that has passed.
#[test]
fn an_update_is_for_the_version_that_was_read() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[VERSION_UNCHECKED][..], &["soft-document"][..])] {
        let mut play = Play::serving_table(&documents(), mutants);
        for _ in 0..2 {
            for frontend in [FRONTEND, OTHER] {
                play.invoke(frontend);
                play.served_by(OWNER_1, frontend);
            }
        }
        assert_eq!(play.marked("updated"), if mutants.is_empty() { 1 } else { 2 });
        assert_eq!(play.marked("conflict") == 1, mutants.is_empty());
        assert_eq!(play.fallen(), fallen);
    }
}

/// PRS §3.4: what nobody refreshes expires, and what somebody does lives on.
#[test]
fn a_document_expires_unless_it_is_refreshed() {
    for (mutants, fallen) in [(&[][..], &[][..]), (&[REFRESH_FORGOTTEN][..], &["kept-for-ttl"][..])] {
        let mut play = Play::serving_table(&documents(), mutants);
        // It reads, updates, and refreshes a tick later.
        for waits in [false, false, true] {
            if waits {
                play.tick();
            }
            play.invoke(FRONTEND);
            play.served_by(OWNER_1, FRONTEND);
        }
        while !play.is_due(OWNER_1, &Timer::Expiry(Key(0))) {
            play.tick();
        }
        play.at(OWNER_1, Local::Fire(Timer::Expiry(Key(0))));
        assert_eq!(play.marked("expired"), 1);
        assert_eq!(play.fallen(), fallen);
    }
}

/// Centrifuge §2.1.2: each change is kept for a period at least, and after two the log no longer has it.
#[test]
fn the_log_is_truncated_by_age() {
    let params = Params { log_age: Span::ticks(10), ranges: 4, ..table() };
    let mut play = Play::serving_table(&params, &[]);
    play.lose_and_regain();
    play.poll(FRONTEND);
    assert_eq!((play.marked("truncated"), play.marked("snapshot")), (0, 0));
    for _ in 0..2 {
        while !play.is_due(MANAGER, &Timer::Truncate) {
            play.tick();
        }
        play.at(MANAGER, Local::Fire(Timer::Truncate));
    }
    play.poll(OTHER);
    assert_eq!((play.marked("truncated"), play.marked("snapshot"), play.marked("notified")), (2, 1, 2));
    assert!(play.fallen().is_empty());
}
