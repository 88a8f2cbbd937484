//! What scenarios and bounds do not show by themselves.

use seedbed_model::{Family, Mutants, Serial, Span, Tag};

use super::message::{Connection, Link};
use super::*;

fn refusal(params: &Params) -> String {
    ZooKeeper::build(params, Mutants::none()).map(drop).expect_err("it makes no sense")
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let whole = Params::default;
    assert_eq!(
        refusal(&Params { servers: 0, ..whole() }),
        "servers 0 and clients 2: 1 to 13 and 1 to 300 are possible"
    );
    assert_eq!(
        refusal(&Params { clients: 301, ..whole() }),
        "servers 3 and clients 301: 1 to 13 and 1 to 300 are possible"
    );
    let timed = || Params { session: Span::secs(1), ..whole() };
    assert!(ZooKeeper::build(&timed(), Mutants::none()).is_ok());
    for params in [Params { moves: 1, ..timed() }, Params { expiries: 1, ..timed() }, Params { deposals: 1, ..timed() }]
    {
        assert!(refusal(&params).starts_with("deposals, moves and expiries are for session 0s"));
    }
    assert!(
        refusal(&Params { expiry: Span::secs(1), ..whole() }).starts_with("expiry, orphaned, keeps and served are for")
    );
    let late = Params { patience: Span::millis(700), ..timed() };
    assert_eq!(
        refusal(&late),
        "alive 100ms, patience 700ms, session 1s: alive must be positive and below patience, which must be below two thirds of session"
    );
    let early = Params { early: Span::millis(400), ..timed() };
    assert_eq!(refusal(&early), "early 400ms, session 1s: early must be below a third of session");
}

#[test]
fn a_link_reads_what_is_next_on_its_connection() {
    let first: Connection = Serial::before_first(Tag::first(0), 0);
    let (old, new) = (first.next(), first.next().next());
    let mut link = Link::open(new, 0);
    assert_eq!([link.take_number(), link.take_number()], [1, 2]);
    assert!(!link.read(new, 2) && !link.read(old, 1), "neither out of order, nor of another connection");
    assert!(link.read(new, 1) && !link.read(new, 1) && link.read(new, 2));
    assert!(!link.awaits(new, 2) && link.awaits(new, 4) && !link.awaits(old, 3));
}

#[test]
fn numbers_that_begin_anew_go_on() {
    let connection: Connection = Serial::before_first(Tag::first(0), 0).next();
    let mut link = Link::open(connection, 4);
    assert_eq!([1, 2, 3, 4, 5].map(|_| link.take_number()), [1, 2, 3, 4, 1]);
    assert!([1, 2, 3, 4].iter().all(|number| link.awaits(connection, *number) && link.read(connection, *number)));
    assert!(link.awaits(connection, 1) && link.awaits(connection, 2) && !link.awaits(connection, 4));
    assert!(!link.read(connection, 2) && link.read(connection, 1));
}

#[test]
fn every_harmless_mutant_says_why() {
    for mutant in ZooKeeper::mutants() {
        let named = ZooKeeper::build(&Params::default(), Mutants::named(ZooKeeper::mutants(), [mutant.name]).unwrap());
        assert!(named.is_ok() && !mutant.removes.is_empty(), "{}", mutant.name);
        match mutant.outcome {
            seedbed_model::Outcome::Falls(property) | seedbed_model::Outcome::Unreachable(property) => {
                assert!(monitor::properties().iter().any(|other| other.name == property), "{property}");
            }
            seedbed_model::Outcome::Harmless(why) => assert!(!why.is_empty(), "{}", mutant.name),
        }
    }
}
