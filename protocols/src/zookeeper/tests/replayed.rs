//! Transactions that come again, and snapshots taken while they are applied.

use proptest::prelude::*;
use seedbed_model::Mutants;

use super::*;
use crate::zookeeper::mutants::{
    RELATIVE_SET, ZK_3125_STALE_PZXID, ZK_3145_SESSION_WITHOUT_PATHS, ZK_3249_REVERTED_COUNTS,
};
use crate::zookeeper::snapshot::{Scan, Snapshot};

/// A snapshot of what `before` makes, with `during` applied before its node of each number is read; and the tree then.
fn fuzzy(before: &[Txn], during: &[(usize, &Txn)], mutants: &Mutants) -> (Snapshot, Tree) {
    let mut tree = Tree::default();
    before.iter().for_each(|txn| drop(tree.apply(txn, mutants)));
    let mut scan = Scan::begin(&tree);
    let mut number = 0;
    while !scan.is_done() {
        during.iter().filter(|(place, _)| *place == number).for_each(|(_, txn)| drop(tree.apply(txn, mutants)));
        scan.read_next(&tree);
        number += 1;
    }
    during.iter().filter(|(place, _)| *place >= number).for_each(|(_, txn)| drop(tree.apply(txn, mutants)));
    (scan.finish(), tree)
}

/// The snapshot, and all since it began once more.
fn recovered(snapshot: &Snapshot, txns: &[Txn], mutants: &Mutants) -> Tree {
    let mut tree = snapshot.restored();
    for txn in txns.iter().filter(|txn| txn.zxid > snapshot.zxid) {
        tree.apply(txn, mutants);
    }
    tree
}

/// Whether a tree recovered from a snapshot is the tree, where `writes` from the `first` on come during the scan, each before
/// the node of its number is read.
fn recovers(writes: &[Write], first: usize, places: &[usize], mutants: &Mutants) -> bool {
    let mut server = Server::default();
    let session = server.open();
    writes.iter().for_each(|write| drop(server.write(session, write.clone())));
    let (before, after) = server.txns.split_at(first + 1);
    let during: Vec<(usize, &Txn)> = places.iter().copied().zip(after).collect();
    let (snapshot, tree) = fuzzy(before, &during, mutants);
    recovered(&snapshot, &server.txns, mutants) == tree
}

fn whole_recovers_and_mutant_does_not(name: &'static str, writes: &[Write], first: usize, places: &[usize]) {
    assert!(recovers(writes, first, places, &Mutants::none()));
    assert!(!recovers(writes, first, places, &mutant(name)), "{name} recovers");
}

/// §4.3: "the fuzzy snapshot may have recorded that /foo and /goo have values f3 and g1 with versions 3 and 1 respectively, which
/// was not a valid state of the ZooKeeper data tree".
#[test]
fn the_papers_snapshot_is_no_state_and_recovers() {
    let mut server = Server::default();
    let session = server.open();
    for write in [create("/foo"), create("/goo"), set("/foo", "f1"), set("/goo", "g1")] {
        server.write(session, write);
    }
    let begun = server.txns.len();
    for write in [set("/foo", "f2"), set("/goo", "g2"), set("/foo", "f3")] {
        server.write(session, write);
    }
    let mut tree = Tree::default();
    let none = Mutants::none();
    server.txns[..begun].iter().for_each(|txn| drop(tree.apply(txn, &none)));
    let mut scan = Scan::begin(&tree);
    // Depth first from the root; here /goo is read before the changes, and /foo after, so that it goes last.
    scan.read_next(&tree);
    let mut read_first = scan.clone();
    read_first.read_next(&tree);
    read_first.read_next(&tree);
    server.txns[begun..].iter().for_each(|txn| drop(tree.apply(txn, &none)));
    scan.read_next(&tree);
    let (late, early) = (scan.finish(), read_first.finish());
    let held = |snapshot: &Snapshot, path: &str| {
        let (_, node) = snapshot.nodes.iter().find(|(other, _)| other == path).expect("it was read");
        (node.data.clone(), node.record.version)
    };
    let mixed = Snapshot { nodes: [&late.nodes[..], &early.nodes[2..]].concat(), ..late };
    assert_eq!((held(&mixed, "/foo"), held(&mixed, "/goo")), (("f3".into(), 3), ("g1".into(), 1)));
    assert_eq!(recovered(&mixed, &server.txns, &none), tree);
    assert_eq!((tree.node("/foo").unwrap().data.as_str(), tree.node("/goo").unwrap().data.as_str()), ("f3", "g2"));
}

#[test]
fn relative_transactions_are_not_idempotent() {
    whole_recovers_and_mutant_does_not(RELATIVE_SET, &[create("/a"), set("/a", "1")], 1, &[0]);
}

#[test]
fn a_replayed_delete_tells_the_parent_of_what_is_gone() {
    // The parent is read before the deletion, the child after.
    whole_recovers_and_mutant_does_not(ZK_3125_STALE_PZXID, &[create("/a"), create("/a/b"), delete("/a/b")], 2, &[2]);
}

#[test]
fn a_replayed_end_of_a_session_tells_the_parent_too() {
    let writes = [create("/a"), ephemeral("/a/b"), Write::CloseSession];
    whole_recovers_and_mutant_does_not(ZK_3145_SESSION_WITHOUT_PATHS, &writes, 2, &[2]);
}

#[test]
fn a_node_of_the_same_name_keeps_its_children() {
    // /a goes, comes again and has a child, all before the scan reads it.
    let writes = [create("/a"), delete("/a"), create("/a"), create("/a/b"), set("/a/b", "1")];
    assert!(recovers(&writes, 1, &[0, 0, 0, 0], &Mutants::none()));
}

/// One of few nodes, so that requests meet.
fn path() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["/a", "/b", "/a/b", "/a/c", "/a/b/c", "/b/n-"]).prop_map(str::to_owned)
}

fn part() -> impl Strategy<Value = Write> {
    let version = prop_oneof![3 => Just(ANY), 1 => 0..3_i64];
    let created =
        (path(), "[a-c]{0,2}", any::<bool>(), any::<bool>()).prop_map(|(path, data, ephemeral, sequential)| {
            Write::Create(Create { path, data, acl: acl::open(), ephemeral, sequential })
        });
    prop_oneof![
        4 => created,
        3 => (path(), version.clone()).prop_map(|(path, version)| Write::Delete { path, version }),
        3 => (path(), "[a-c]{0,2}", version.clone()).prop_map(|(path, data, version)| Write::SetData { path, data, version }),
        1 => (path(), version).prop_map(|(path, version)| Write::Check { path, version }),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let acl = (path(), 1..32_u8).prop_map(|(path, bits)| {
        let acl = vec![Acl { permissions: Permissions(bits), identity: Identity::anyone() }];
        Write::SetAcl { path, acl, version: ANY }
    });
    prop_oneof![
        10 => part(),
        2 => prop::collection::vec(part(), 1..4).prop_map(Write::Multi),
        1 => Just(Write::CloseSession),
        1 => acl,
    ]
}

/// Requests of three sessions, each opened anew when it has ended.
fn requests() -> impl Strategy<Value = Vec<(usize, Write)>> {
    prop::collection::vec((0..3_usize, write()), 1..40)
}

/// Everything one by one.
fn played(requests: &[(usize, Write)]) -> Server {
    let mut server = Server::default();
    let mut sessions = [0; 3].map(|_| server.open());
    for (who, write) in requests {
        if !server.tree.sessions().contains(&sessions[*who]) {
            sessions[*who] = server.open();
        }
        server.write(sessions[*who], write.clone());
    }
    server
}

proptest! {
    #[test]
    fn what_comes_again_changes_nothing(requests in requests(), from in any::<prop::sample::Index>()) {
        let server = played(&requests);
        let mut again = server.tree.clone();
        for txn in &server.txns[from.index(server.txns.len())..] {
            again.apply(txn, &Mutants::none());
        }
        prop_assert_eq!(again, server.tree);
    }

    /// Multis part by part: the scan reads nodes between two of them.
    #[test]
    fn a_fuzzy_snapshot_recovers(requests in requests(), reverts in any::<bool>(), begins in any::<prop::sample::Index>(), reads in prop::collection::vec(0..3_usize, 0..80)) {
        let server = played(&requests);
        // The mutant is harmless: what it sets back, a later transaction sets right.
        let none = if reverts { mutant(ZK_3249_REVERTED_COUNTS) } else { Mutants::none() };
        let mut tree = Tree::default();
        let begins = begins.index(server.txns.len());
        server.txns[..begins].iter().for_each(|txn| drop(tree.apply(txn, &none)));
        let mut scan = Scan::begin(&tree);
        let mut reads = reads.into_iter();
        for txn in &server.txns[begins..] {
            let parts = match &txn.change {
                Change::Multi(parts) => parts.clone(),
                other => vec![other.clone()],
            };
            for part in &parts {
                (0..reads.next().unwrap_or(0)).for_each(|_| scan.read_next(&tree));
                tree.change(txn, part, &mut Vec::new(), &none);
            }
            tree.apply(&Txn { change: Change::Check, ..txn.clone() }, &none);
        }
        while !scan.is_done() {
            scan.read_next(&tree);
        }
        prop_assert_eq!(&tree, &server.tree);
        let recovered = recovered(&scan.finish(), &server.txns, &none);
        prop_assert_eq!(recovered.digest(), tree.digest());
        prop_assert_eq!(recovered, tree);
    }

    /// However far the tree is behind, a request becomes the same transaction.
    #[test]
    fn the_future_is_what_comes(requests in requests(), waits in prop::collection::vec(0..6_usize, 40)) {
        let whole = played(&requests);
        let mut server = Server::default();
        let (mut sessions, mut waiting) = ([Session(Zxid::ZERO); 3], std::collections::VecDeque::new());
        for session in &mut sessions {
            let txn = server.prepare(Session(Zxid::ZERO), Write::CreateSession);
            *session = txn.session;
            waiting.push_back(txn);
        }
        for ((who, write), wait) in requests.iter().zip(waits) {
            if !server.processor.is_open(&server.tree, sessions[*who]) {
                let txn = server.prepare(Session(Zxid::ZERO), Write::CreateSession);
                sessions[*who] = txn.session;
                waiting.push_back(txn);
            }
            let txn = server.prepare(sessions[*who], write.clone());
            waiting.push_back(txn);
            while waiting.len() > wait {
                let txn = waiting.pop_front().expect("there are some");
                server.apply(&txn);
            }
        }
        for txn in waiting {
            server.apply(&txn);
        }
        prop_assert_eq!(&server.txns, &whole.txns);
        prop_assert_eq!(&server.tree, &whole.tree);
        prop_assert_eq!(&server.processor, &Processor::default());
    }

    /// A replica that does not prepare has the same tree, and its digest tells trees apart.
    #[test]
    fn digests_are_of_trees(requests in requests(), at in any::<prop::sample::Index>()) {
        let server = played(&requests);
        let mut replica = Tree::default();
        let cut = at.index(server.txns.len());
        server.txns[..cut].iter().for_each(|txn| drop(replica.apply(txn, &Mutants::none())));
        let is_same = replica.nodes().eq(server.tree.nodes()) && replica.sessions() == server.tree.sessions();
        prop_assert_eq!(replica.digest() == server.tree.digest(), is_same);
    }
}
