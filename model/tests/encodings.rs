//! Encodings of the types that protocols are made of.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seedbed_model::{
    Canonical, Decoder, Encoder, NodeId, NodeSet, Part, Ratio, Renaming, Span, Stamp, Timers, decoding, encoding,
    text_of, value_of,
};

fn comes_back<T: Canonical + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(decoding(&encoding(value)).as_ref(), Ok(value));
    let names = ["manager", "owner-1", "n1", "no word"].map(str::to_owned);
    for names in [[].as_slice(), names.as_slice()] {
        let text = text_of(value, names);
        // Nodes beyond the names have none to read.
        if names.is_empty() || !text.contains('n') {
            assert_eq!(value_of(&text, names).as_ref(), Ok(value), "{text}");
        }
    }
}

fn has_one_encoding<T: Canonical + std::fmt::Debug>(bytes: &[u8]) {
    let mut input = Decoder::whole(bytes);
    if let (Ok(value), true) = (T::decode(&mut input), input.is_done()) {
        assert_eq!(encoding(&value), bytes, "{value:?}");
    }
}

fn nodes() -> impl Strategy<Value = NodeSet> {
    prop::collection::vec(0u16..64, 0..10).prop_map(|nodes| nodes.into_iter().map(NodeId).collect())
}

/// Swaps nodes 0 and 1.
struct Swapping;

impl Renaming for Swapping {
    fn node(&mut self, node: &mut NodeId) {
        node.0 ^= u16::from(node.0 < 2);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_and_texts_come_back(small: u8, half: u16, word: u32, long: u64, signed: i64, flag: bool, text: String) {
        comes_back(&(small, half, word));
        comes_back(&(long, signed, flag, text));
    }

    #[test]
    fn collections_come_back(
        list in prop::collection::vec(any::<Option<u32>>(), 0..6),
        set in prop::collection::btree_set(any::<u64>(), 0..6),
        map in prop::collection::btree_map(any::<u16>(), any::<String>(), 0..6),
        nodes in nodes(),
    ) {
        comes_back(&list);
        comes_back(&set);
        comes_back(&map);
        comes_back(&nodes);
    }

    #[test]
    fn times_come_back(span: u64, stamp: i64, num in any::<u32>(), den in 1u32..) {
        comes_back(&(Span(span), Stamp::of_clock(stamp), Ratio::new(num, den)));
    }

    #[test]
    fn any_bytes_are_refused_or_are_the_one_encoding(bytes in prop::collection::vec(any::<u8>(), 0..24)) {
        has_one_encoding::<u32>(&bytes);
        has_one_encoding::<i64>(&bytes);
        has_one_encoding::<String>(&bytes);
        has_one_encoding::<Vec<Option<bool>>>(&bytes);
        has_one_encoding::<BTreeSet<u8>>(&bytes);
        has_one_encoding::<BTreeMap<u8, Span>>(&bytes);
        has_one_encoding::<(NodeSet, NodeId)>(&bytes);
    }

    #[test]
    fn parts_kept_apart_hold_what_parts_inline_hold(values in prop::collection::vec((any::<u32>(), any::<String>()), 0..6)) {
        let value: Vec<Part<(u32, String)>> = values.into_iter().map(Part::new).collect();
        comes_back(&value);
        let mut out = Encoder::split();
        value.encode(&mut out);
        let (core, parts) = out.into_split();
        prop_assert_eq!(parts.len(), value.len());
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.bytes.as_slice()).collect();
        let back = Vec::<Part<(u32, String)>>::decode(&mut Decoder::split(&core, &parts)).unwrap();
        prop_assert_eq!(back, value);
    }

    #[test]
    fn a_renamed_set_or_map_is_in_order_again(nodes in nodes(), map in prop::collection::btree_map(0u16..6, any::<u8>(), 0..6)) {
        let mut map: BTreeMap<NodeId, u8> = map.into_iter().map(|(node, value)| (NodeId(node), value)).collect();
        let (mut swapped, before) = (nodes, map.clone());
        swapped.rename(&mut Swapping);
        map.rename(&mut Swapping);
        comes_back(&map);
        prop_assert_eq!(swapped.contains(NodeId(0)), nodes.contains(NodeId(1)));
        prop_assert_eq!(map.get(&NodeId(0)), before.get(&NodeId(1)));
        swapped.rename(&mut Swapping);
        map.rename(&mut Swapping);
        prop_assert_eq!((swapped, map), (nodes, before));
    }

    /// Each timer is armed, due or unset, whatever is done to others: there is no order on timers.
    #[test]
    fn timers_lapse_once_and_apart(ends in prop::collection::vec(1u64..6, 3), ticks in 1u64..8) {
        let mut timers = Timers::default();
        for (name, end) in ends.iter().enumerate() {
            timers.set(name, *end);
        }
        let mut lapsed = Vec::new();
        for _ in 0..ticks {
            lapsed.extend(timers.elapse(Span(1)));
        }
        lapsed.sort_unstable();
        let expected: Vec<usize> = (0..ends.len()).filter(|name| ends[*name] <= ticks).collect();
        prop_assert_eq!(&lapsed, &expected);
        for name in 0..ends.len() {
            prop_assert_eq!(timers.is_due(&name, 0), expected.contains(&name));
            prop_assert_eq!(timers.is_armed(&name, 0), !expected.contains(&name));
        }
    }
}

/// The same message in two orders of the source.
mod orders {
    use super::*;

    #[derive(Debug, PartialEq, Canonical)]
    pub(super) enum Before {
        Hello { from: NodeId, loud: bool },
        Bye(u8, Option<Span>),
        Nothing,
    }

    #[derive(Debug, PartialEq, Canonical)]
    pub(super) enum After {
        Nothing,
        Bye(u8, Option<Span>),
        New,
        Hello { loud: bool, from: NodeId },
    }
}

#[test]
fn texts_outlive_a_new_order_in_the_source() {
    use orders::{After, Before};
    let names = ["manager".to_owned(), "owner-1".to_owned()];
    let cases = [
        (Before::Hello { from: NodeId(1), loud: true }, After::Hello { from: NodeId(1), loud: true }),
        (Before::Bye(7, Some(Span::secs(3))), After::Bye(7, Some(Span::secs(3)))),
        (Before::Nothing, After::Nothing),
    ];
    for (before, after) in cases {
        let text = text_of(&before, &names);
        assert_eq!(value_of::<After>(&text, &names), Ok(after));
    }
    assert_eq!(text_of(&Before::Hello { from: NodeId(1), loud: true }, &names), "Hello { from: owner-1, loud: true }");
    assert_eq!(text_of(&Before::Bye(7, Some(Span::secs(3))), &names), "Bye(7, Some(3s))");
}

#[test]
fn text_that_is_no_value_says_what_would_be_right() {
    let names = ["manager".to_owned(), "owner-1".to_owned()];
    let why = |text: &str| value_of::<orders::Before>(text, &names).unwrap_err().to_string();
    assert_eq!(why("Hallo"), "at ``: no variant `Hallo`; known: Hello, Bye, Nothing");
    assert_eq!(why("Bye(300, None)"), "at `300, None)`: `300` is no whole number of the right size");
    assert_eq!(why("Hello { loud: true }"), "at ``: field `from` is missing");
    assert_eq!(why("Hello { tone: 3 }"), "at ` 3 }`: no field `tone`; known: from, loud");
    assert!(why("Hello { from: owner-2, loud: true }").contains("no node `owner-2`; the nodes are manager, owner-1"));
    assert_eq!(why("Nothing at all"), "at `at all`: expected nothing more");
    assert!(value_of::<String>("\"open", &names).is_err());
}
