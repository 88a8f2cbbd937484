//! What scripts of explorations and scenarios do not show by themselves.

use seedbed_model::{Family, Mutants, NodeId};

use super::*;

fn group(params: Params) -> PaxosGroup<Version> {
    ManagerGroup::build(&params, Mutants::none()).unwrap()
}

#[test]
fn servers_may_be_the_first_node_and_those_before_the_acceptors() {
    let embedded = PaxosGroup { first: NodeId(10), ..group(Params { servers: 3, ..Params::default() }) };
    let numbers = [0, 8, 9].map(|server| embedded.share(NodeId(server)).beyond(0));
    assert_eq!(numbers, [1, 2, 3]);
}
