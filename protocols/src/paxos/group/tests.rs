//! What scripts of explorations and scenarios do not show by themselves.

use seedbed_model::{Family, Mutants, NodeId};

use super::*;

fn group(params: Params) -> PaxosGroup<Version> {
    ManagerGroup::build(&params, Mutants::none()).unwrap()
}

#[test]
fn no_two_servers_take_one_number_and_each_is_above_what_was_heard_of() {
    let group = group(Params { servers: 3, ..Params::default() });
    let mut takers = std::collections::BTreeMap::new();
    for heard in 0..30 {
        for server in 0..3 {
            let number = group.number_after(heard, NodeId(server));
            assert!(number > heard && number <= heard + 3, "server {server} takes {number} after {heard}");
            assert_eq!(*takers.entry(number).or_insert(server), server, "number {number}");
        }
    }
}

#[test]
fn servers_may_be_the_first_node_and_those_before_the_acceptors() {
    let embedded = PaxosGroup { first: NodeId(10), ..group(Params { servers: 3, ..Params::default() }) };
    let numbers = [0, 8, 9].map(|server| embedded.number_after(0, NodeId(server)));
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_majority_is_more_than_half() {
    let quorum = |acceptors| group(Params { acceptors, ..Params::default() }).quorum();
    assert_eq!([1, 2, 3, 4, 5].map(quorum), [1, 2, 2, 3, 3]);
}
