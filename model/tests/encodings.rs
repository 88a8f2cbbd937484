//! Encodings of the types that protocols are made of.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seedbed_model::{
    Canonical, Decoder, Encoder, NodeId, NodeSet, Part, Ratio, Renaming, Span, Stamp, Timers, decoding, encoding,
};

fn comes_back<T: Canonical + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(decoding(&encoding(value)).as_ref(), Ok(value));
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
