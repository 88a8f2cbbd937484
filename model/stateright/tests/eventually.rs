//! `Eventually` on small models with known answers, among them those whose counterexamples stateright documents that it
//! misses: a run that comes back to a state, and a run that joins another that has met the property.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use seedbed_model::explore::{Order, Strategy};
use seedbed_stateright::{Found, Options, explore_model};
use stateright::{Checker, Model, Property};

/// A graph of numbers, given by ways through it. Every run must meet an odd one.
#[derive(Debug, Clone)]
struct Numbers {
    starts: BTreeSet<u8>,
    next: BTreeMap<u8, BTreeSet<u8>>,
}

impl Numbers {
    fn of(ways: &[&[u8]]) -> Numbers {
        let mut numbers = Numbers { starts: BTreeSet::new(), next: BTreeMap::new() };
        for way in ways {
            numbers.starts.insert(way[0]);
            for step in way.windows(2) {
                numbers.next.entry(step[0]).or_default().insert(step[1]);
            }
        }
        numbers
    }

    fn after(&self, number: u8) -> impl Iterator<Item = u8> {
        self.next.get(&number).into_iter().flatten().copied()
    }

    /// Whether a run meets no odd number: the greatest set of even numbers, each of which ends a run or leads to another
    /// of the set, and a way to it through even numbers.
    fn has_even_run(&self) -> bool {
        let all = self
            .starts
            .iter()
            .copied()
            .chain(self.next.iter().flat_map(|(from, to)| to.iter().copied().chain([*from])));
        let mut endless: BTreeSet<u8> = all.filter(|number| number % 2 == 0).collect();
        loop {
            let stays = |number: &u8| {
                self.after(*number).next().is_none() || self.after(*number).any(|to| endless.contains(&to))
            };
            let kept: BTreeSet<u8> = endless.iter().copied().filter(stays).collect();
            if kept == endless {
                // Every even number that starts a run belongs to the set if a run from it never meets an odd one.
                return self.starts.iter().any(|start| endless.contains(start));
            }
            endless = kept;
        }
    }
}

impl Model for Numbers {
    type State = u8;
    type Action = u8;

    fn init_states(&self) -> Vec<u8> {
        self.starts.iter().copied().collect()
    }

    fn actions(&self, state: &u8, actions: &mut Vec<u8>) {
        actions.extend(self.after(*state));
    }

    fn next_state(&self, _: &u8, action: u8) -> Option<u8> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::eventually("odd", |_, number| number % 2 == 1)]
    }
}

fn ours(numbers: &Numbers, jobs: usize) -> Option<Found> {
    let strategy = Strategy { order: Order::BreadthFirst, jobs };
    let options = Options { strategy, ..Options::default() };
    explore_model(numbers.clone(), &options, &mut |_| true).expect("it is searched").fallen
}

fn theirs_finds(numbers: &Numbers) -> bool {
    numbers.clone().checker().spawn_bfs().join().discovery("odd").is_some()
}

fn falls(ways: &[&[u8]], actions: &[&str], repeats_from: usize) {
    let numbers = Numbers::of(ways);
    assert!(numbers.has_even_run(), "{ways:?}");
    let found = ours(&numbers, 1).unwrap_or_else(|| panic!("{ways:?}: not found"));
    assert_eq!(
        (found.actions, found.repeats_from),
        (actions.iter().map(|a| (*a).into()).collect(), Some(repeats_from))
    );
}

#[test]
fn a_run_that_ends_before_it_meets_the_property_is_found() {
    falls(&[&[0]], &[], 0);
    falls(&[&[0, 2, 4]], &["2", "4"], 2);
    falls(&[&[0, 1], &[0, 2]], &["2"], 1);
    assert!(theirs_finds(&Numbers::of(&[&[0, 1], &[0, 2]])));
}

#[test]
fn a_run_that_goes_round_for_ever_is_found_where_stateright_misses_it() {
    let round: &[&[u8]] = &[&[0, 2, 4, 2]];
    assert!(!theirs_finds(&Numbers::of(round)));
    falls(round, &["2", "4", "2"], 1);
    falls(&[&[0, 0]], &["0"], 0);
    falls(&[&[0, 1, 0], &[0, 2, 4, 6, 0]], &["2", "4", "6", "0"], 0);
}

#[test]
fn a_run_that_joins_one_which_met_the_property_is_found_where_stateright_misses_it() {
    let joined: &[&[u8]] = &[&[0, 2, 4], &[1, 4, 6]];
    assert!(!theirs_finds(&Numbers::of(joined)));
    falls(joined, &["2", "4", "6"], 3);
}

#[test]
fn what_is_met_on_every_run_is_not_found() {
    let met: &[&[&[u8]]] = &[&[&[1]], &[&[0, 1, 2]], &[&[0, 2, 1], &[0, 4, 1]], &[&[1, 2, 4, 2]], &[&[0, 1, 2, 0]]];
    for ways in met {
        let numbers = Numbers::of(ways);
        assert!(!numbers.has_even_run(), "{ways:?}");
        assert_eq!(ours(&numbers, 1), None, "{ways:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Against the definition, on random graphs; and what is found is a run: its steps are there and none is odd.
    #[test]
    fn random_graphs_have_one_answer(
        starts in prop::collection::btree_set(0u8..6, 1..3),
        edges in prop::collection::btree_set((0u8..9, 0u8..9), 0..14),
    ) {
        let mut numbers = Numbers { starts, next: BTreeMap::new() };
        for (from, to) in edges {
            numbers.next.entry(from).or_default().insert(to);
        }
        let found = ours(&numbers, 1);
        prop_assert_eq!(found.is_some(), numbers.has_even_run());
        prop_assert_eq!(&found, &ours(&numbers, 2));
        if let Some(found) = found {
            let steps: Vec<u8> = found.actions.iter().map(|action| action.parse().expect("a number")).collect();
            let run = |start: &u8| {
                std::iter::once(*start).chain(steps.iter().copied()).collect::<Vec<u8>>()
            };
            let goes = |run: &Vec<u8>| run.windows(2).all(|step| numbers.after(step[0]).any(|to| to == step[1]));
            let is_even = |run: &Vec<u8>| run.iter().all(|number| number % 2 == 0);
            // The actions do not say where the run starts: some start must explain them.
            let from = found.repeats_from.expect("a run without end");
            let is_endless = |run: &Vec<u8>| {
                let last = run[run.len() - 1];
                run[from] == last && (run.len() > 1 + from || numbers.after(last).next().is_none())
            };
            let mut runs = numbers.starts.iter().map(run);
            prop_assert!(runs.any(|run| goes(&run) && is_even(&run) && is_endless(&run)));
        }
    }
}
