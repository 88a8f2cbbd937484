//! What clients do.

use seedbed_model::{NodeId, OpId};

use super::ZooKeeper;
use super::acl;
use super::message::{Ask, Operation};
use super::params::Workload;
use super::recipe::LOCK;
use super::tree::Tree;
use super::txn::{ANY, Create, Read, Write};

/// The nodes there are at first, beside the root.
const FIRST: [&str; 2] = ["/a", LOCK];

impl ZooKeeper {
    /// The tree before the first transaction.
    pub(super) fn first_tree(&self) -> Tree {
        Tree::first(&FIRST)
    }

    pub(super) fn client_operation(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        let is_first = node.0 == self.params.servers;
        match self.params.workload {
            Workload::Mixed => mixed(node, op, draw),
            Workload::Watch if is_first => Operation::Batch(vec![get(true), Ask::Sync, get(true)]),
            Workload::Watch => Operation::Batch(vec![set("/a", node, op)]),
            Workload::Cache => Operation::Batch(vec![get(true), set("/a", node, op), set("/a", node, op), get(true)]),
            Workload::Multi => {
                let refused = [set("/a", node, op), Ask::Write(Write::Delete { path: "/x".into(), version: ANY })];
                Operation::Batch(vec![set("/a", node, op), multi(refused), set("/a", node, op)])
            }
            Workload::Turns => Operation::Batch(match op.0 % 3 {
                0 => vec![get(true)],
                1 => vec![set("/a", node, op)],
                _ => vec![get(false)],
            }),
            Workload::Child => Operation::Batch(match op.0 % 2 {
                0 => vec![created("/a/b", false, false)],
                _ => vec![set("/a", node, op), Ask::Write(Write::Delete { path: "/a/b".into(), version: ANY })],
            }),
            Workload::Register => match op.0 % 2 {
                0 => Operation::Batch(vec![created("/a/n-", true, true), read(Read::Children("/a".into()), false)]),
                _ => Operation::Batch(vec![Ask::Write(Write::CloseSession)]),
            },
            Workload::Lock => Operation::Lock,
            Workload::SimpleLock => Operation::SimpleLock,
            Workload::Locks => match draw(2) {
                0 => Operation::Lock,
                _ => Operation::SimpleLock,
            },
        }
    }
}

/// Up to four requests on few nodes.
fn mixed(node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
    let count = 1 + draw(4);
    Operation::Batch((0..count).map(|_| drawn(node, op, draw)).collect())
}

fn drawn(node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Ask {
    const PATHS: [&str; 4] = ["/a", "/a/b", "/a/c", "/a/b/d"];
    let path = PATHS[draw(PATHS.len() as u32) as usize];
    let watch = draw(2) == 0;
    let version = if draw(3) == 0 { i64::from(draw(3)) } else { ANY };
    match draw(12) {
        0 => read(Read::Data(path.into()), watch),
        1 => read(Read::Exists(path.into()), watch),
        2 => read(Read::Children(path.into()), watch),
        3 => Ask::Sync,
        4 => created("/a/n-", true, draw(2) == 0),
        5 => created(path, false, true),
        6 => created(path, false, false),
        7 => Ask::Write(Write::Delete { path: path.into(), version }),
        8 => multi([set(path, node, op), created("/a/c", false, false)]),
        9 if draw(4) == 0 => Ask::Write(Write::CloseSession),
        _ => Ask::Write(Write::SetData { path: path.into(), data: data(node, op), version }),
    }
}

fn read(read: Read, watch: bool) -> Ask {
    Ask::Read { read, watch }
}

fn get(watch: bool) -> Ask {
    read(Read::Data("/a".into()), watch)
}

fn multi(parts: [Ask; 2]) -> Ask {
    let parts = parts.into_iter().filter_map(|ask| if let Ask::Write(write) = ask { Some(write) } else { None });
    Ask::Write(Write::Multi(parts.collect()))
}

fn set(path: &str, node: NodeId, op: OpId) -> Ask {
    Ask::Write(Write::SetData { path: path.into(), data: data(node, op), version: ANY })
}

fn data(node: NodeId, op: OpId) -> String {
    format!("{}.{}", node.0, op.0)
}

fn created(path: &str, sequential: bool, ephemeral: bool) -> Ask {
    Ask::Write(Write::Create(Create {
        path: path.into(),
        data: String::new(),
        acl: acl::open(),
        ephemeral,
        sequential,
    }))
}
