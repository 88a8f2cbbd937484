//! Encodings and renamings of the small protocols' types: what fingerprints, pinned files and the explorer rely on.

use std::collections::BTreeMap;

use crate::walk::renamed;
use proptest::prelude::*;
use seedbed_model::{Data, Decoder, NodeId, Nonce, Renaming, Stamp, TagSpace, encoding};
use seedbed_protocols::basics::paxos::message::{Ballot, Durable, Message, Proposal, Record, Timer, Value};
use seedbed_protocols::basics::request::RequestId;
use seedbed_protocols::basics::{echo, lease_stamps, lease_timers, paxos};

/// Bytes as encodings have them: mostly small.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![9 => 0u8..4, 1 => any::<u8>()];
    prop::collection::vec(byte, 0..40)
}

/// Whatever decodes at all is written back as the very bytes it was read from: a value has one encoding.
fn check_bytes<T: Data>(bytes: &[u8]) {
    for end in 0..=bytes.len() {
        let mut input = Decoder::whole(&bytes[..end]);
        if let (Ok(value), true) = (T::decode(&mut input), input.is_done()) {
            assert_eq!(encoding(&value), bytes[..end], "{value:?}");
        }
    }
}

struct Identity;
impl Renaming for Identity {}

fn check_value<T: Data>(value: &T) {
    let bytes = encoding(value);
    assert_eq!(seedbed_model::decoding(&bytes).as_ref(), Ok(value));
    assert!(seedbed_model::decoding::<T>(&bytes[..bytes.len() - 1]).is_err(), "{value:?} without its last byte");
    assert_eq!(&renamed(value, &mut Identity), value);
}

fn ballot() -> impl Strategy<Value = Ballot> {
    (any::<u32>(), any::<u16>()).prop_map(|(round, server)| Ballot { round, server: NodeId(server) })
}

fn proposal() -> impl Strategy<Value = Proposal> {
    (ballot(), any::<u8>()).prop_map(|(ballot, value)| Proposal { ballot, value: Value(value) })
}

fn message() -> impl Strategy<Value = Message> {
    prop_oneof![
        any::<u8>().prop_map(|value| Message::Propose(Value(value))),
        any::<u8>().prop_map(|value| Message::Chosen(Value(value))),
        ballot().prop_map(Message::Prepare),
        (ballot(), prop::option::of(proposal())).prop_map(|(ballot, accepted)| Message::Promise(ballot, accepted)),
        proposal().prop_map(Message::Accept),
        ballot().prop_map(Message::Accepted),
        any::<u8>().prop_map(|value| Message::Learn(Value(value))),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![ballot().prop_map(Record::Promised), proposal().prop_map(Record::Accepted)]
}

/// Requests of one session, of up to ten numbers.
fn requests() -> impl Strategy<Value = Vec<RequestId>> {
    let request = (0u16..3, 0u32..10).prop_map(|(node, count)| {
        (0..count).fold(RequestId::before_first(Nonce::first(node), node), |request, _| request.next())
    });
    prop::collection::vec(request, 1..8)
}

/// Renames tags by rank, as the explorer does: the smallest of each space becomes 0, the next 1.
#[derive(Default)]
struct Ranking {
    seen: BTreeMap<TagSpace, Vec<u32>>,
    replace: bool,
}

impl Renaming for Ranking {
    fn tag(&mut self, space: TagSpace, rank: &mut u32) {
        let ranks = self.seen.entry(space).or_default();
        if self.replace {
            *rank = ranks.iter().position(|seen| seen == rank).expect("seen in the first pass") as u32;
        } else if let Err(index) = ranks.binary_search(rank) {
            ranks.insert(index, *rank);
        }
    }
}

struct Shifting(i64);

impl Renaming for Shifting {
    fn stamp(&mut self, stamp: &mut Stamp) {
        *stamp = Stamp::of_clock(stamp.nanos() + self.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_has_one_encoding(bytes in bytes()) {
        check_bytes::<echo::State>(&bytes);
        check_bytes::<echo::Message>(&bytes);
        check_bytes::<echo::Monitor>(&bytes);
        check_bytes::<lease_timers::State>(&bytes);
        check_bytes::<lease_timers::Message>(&bytes);
        check_bytes::<lease_timers::Timer>(&bytes);
        check_bytes::<lease_timers::Monitor>(&bytes);
        check_bytes::<lease_stamps::State>(&bytes);
        check_bytes::<lease_stamps::Message>(&bytes);
        check_bytes::<lease_stamps::Promise>(&bytes);
        check_bytes::<lease_stamps::Observation>(&bytes);
        check_bytes::<paxos::State>(&bytes);
        check_bytes::<Message>(&bytes);
        check_bytes::<Record>(&bytes);
        check_bytes::<Durable>(&bytes);
        check_bytes::<Timer>(&bytes);
        check_bytes::<paxos::monitor::Monitor>(&bytes);
    }

    #[test]
    fn messages_and_records_come_back(message in message(), record in record()) {
        check_value(&message);
        check_value(&record);
    }

    #[test]
    fn ranking_keeps_order_and_is_done_once(requests in requests()) {
        let mut ranking = Ranking::default();
        renamed(&requests, &mut ranking);
        ranking.replace = true;
        let ranked = renamed(&requests, &mut ranking);
        for (a, b) in pairs(requests.len()) {
            prop_assert_eq!(requests[a].cmp(&requests[b]), ranked[a].cmp(&ranked[b]));
        }
        let mut again = Ranking::default();
        renamed(&ranked, &mut again);
        again.replace = true;
        prop_assert_eq!(renamed(&ranked, &mut again), ranked);
    }

    #[test]
    fn shifting_stamps_keeps_order(ends in prop::collection::vec(-1_000i64..1_000, 1..8), shift in -1_000i64..1_000) {
        let grants: Vec<_> = ends.iter().map(|end| lease_stamps::Message::Grant(Stamp::of_clock(*end))).collect();
        let shifted = renamed(&grants, &mut Shifting(shift));
        for (a, b) in pairs(grants.len()) {
            prop_assert_eq!(grants[a].cmp(&grants[b]), shifted[a].cmp(&shifted[b]));
        }
        prop_assert_eq!(renamed(&shifted, &mut Shifting(-shift)), grants);
    }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (0..count).map(move |b| (a, b)))
}

/// An incarnation counts from the first number: its numbers are never ranked together with another's.
#[test]
fn requests_of_two_incarnations_are_ranked_apart() {
    let session = Nonce::first(2);
    let old = RequestId::before_first(session, 2).next().next();
    let new = RequestId::before_first(session.next(), 2).next();
    let mut ranking = Ranking::default();
    renamed(&(old, new), &mut ranking);
    ranking.replace = true;
    let ranked = renamed(&(old, new), &mut ranking);
    assert!(ranked.0 < ranked.1 && ranked.0.number == ranked.1.number, "{ranked:?}");
}
