//! What clients do.

use seedbed_model::{NodeId, OpId};

use super::ZooKeeper;
use super::acl::{self, Acl, Identity, Permissions};
use super::message::Ask;
use super::params::Workload;
use super::path;
use super::recipe::application::{ALL_SHARDS, ALL_TOPICS, SHARDS, SHUTDOWN, TOPICS};
use super::recipe::{
    CONFIGURATION, ELECTION, GROUP, LEADER, LOCK, Operation, configuration::PARTS, queue::Kind, value,
};
use super::tree::Tree;
use super::txn::{ANY, Create, Read, Write};

/// The nodes there are at first, beside the root.
const FIRST: [&str; 2] = ["/a", LOCK];

/// What recipes need beside.
const FIRST_OF_RECIPES: [&str; 4] = [CONFIGURATION, GROUP, ELECTION, LEADER];

/// In this order by turns, where all recipes are.
const RECIPES: [Workload; 7] = [
    Workload::Barrier,
    Workload::ReadWrite,
    Workload::Configuration,
    Workload::Election,
    Workload::Consensus,
    Workload::Rendezvous,
    Workload::Group,
];

impl ZooKeeper {
    /// Whether there are nodes that not everybody may set.
    pub(super) fn has_lists(&self) -> bool {
        matches!(self.params.workload, Workload::Acl | Workload::Guarded)
    }

    /// Whether there are masters, who command.
    pub(super) fn has_masters(&self) -> bool {
        matches!(self.params.workload, Workload::Fetching | Workload::Katta)
    }

    /// Whether it is a measurement: what is answered is counted.
    pub(super) fn is_load(&self) -> bool {
        matches!(self.params.workload, Workload::Load | Workload::Creates)
    }

    /// Whether a server takes the client in by now.
    pub(super) fn may_enter(&self, client: NodeId, tree: &Tree) -> bool {
        let before = client.0 - self.first_client().0;
        let places = || tree.node(LOCK).map_or(0, |lock| lock.record.creations);
        self.params.workload != Workload::Queued || places() >= before.into()
    }

    /// Whether a leader may take the client for gone.
    pub(super) fn may_expire(&self, client: NodeId) -> bool {
        let is_at_an_end = client == self.first_client() || client.0 + 1 == self.broadcast().0;
        self.params.workload != Workload::Queued || !is_at_an_end
    }

    /// The tree before the first transaction.
    pub(super) fn first_tree(&self) -> Tree {
        let is_applied = self.has_masters() || self.params.workload == Workload::Broker;
        let is_recipe = self.params.workload == Workload::Recipes || RECIPES.contains(&self.params.workload);
        let of_recipes = FIRST_OF_RECIPES.iter().chain(&PARTS).filter(|_| is_recipe || is_applied);
        let of_applications = [ALL_SHARDS, ALL_TOPICS];
        let of_applications = of_applications.iter().chain(&SHARDS).chain(&TOPICS).filter(|_| is_applied);
        let beside = of_recipes.chain(of_applications);
        Tree::first(&FIRST.iter().chain(beside).copied().collect::<Vec<_>>())
    }

    pub(super) fn client_operation(&self, node: NodeId, op: OpId, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        match self.params.workload {
            Workload::Recipes => {
                let count = RECIPES.len() as u32;
                self.operation_of(RECIPES[(op.0 % count) as usize], node, op, op.0 / count, draw)
            }
            workload => self.operation_of(workload, node, op, op.0, draw),
        }
    }

    /// The `turn`-th operation of this workload.
    fn operation_of(
        &self,
        workload: Workload,
        node: NodeId,
        op: OpId,
        turn: u32,
        draw: &mut dyn FnMut(u32) -> u32,
    ) -> Operation {
        let is_first = node == self.first_client();
        let is_master = node.0 < self.first_client().0 + 2;
        let is_last = node.0 + 1 == self.broadcast().0;
        match workload {
            Workload::Mixed => mixed(node, op, draw),
            Workload::Watch if is_first => Operation::Batch(vec![get(true), Ask::Sync, get(true)]),
            Workload::Watch => Operation::Batch(vec![set("/a", node, op)]),
            Workload::Cache => Operation::Batch(vec![get(true), set("/a", node, op), set("/a", node, op), get(true)]),
            Workload::Multi => {
                let refused = [set("/a", node, op), Ask::Write(Write::Delete { path: "/x".into(), version: ANY })];
                Operation::Batch(vec![set("/a", node, op), multi(refused), set("/a", node, op)])
            }
            Workload::Turns => Operation::Batch(match turn % 3 {
                0 => vec![get(true)],
                1 => vec![set("/a", node, op)],
                _ => vec![get(false)],
            }),
            Workload::Child => Operation::Batch(match turn % 2 {
                0 => vec![created("/a/b", false, false)],
                _ => vec![set("/a", node, op), Ask::Write(Write::Delete { path: "/a/b".into(), version: ANY })],
            }),
            Workload::Register => match turn % 2 {
                0 => Operation::Batch(vec![created("/a/n-", true, true), read(Read::Children("/a".into()), false)]),
                _ => Operation::Batch(vec![Ask::Write(Write::CloseSession)]),
            },
            Workload::Abandoned if is_first => {
                let place = |number| path::child(LOCK, &path::sequential("lock-abandoned-", number));
                let deleted = |number| Ask::Write(Write::Delete { path: place(number), version: ANY });
                let created = |number| created(&place(number), false, true);
                Operation::Batch(vec![created(0), created(1), deleted(1), deleted(0)])
            }
            Workload::Lock | Workload::Abandoned | Workload::Queued => Operation::Queue(Kind::Lock),
            Workload::SimpleLock => Operation::SimpleLock,
            Workload::Locks => match draw(2) {
                0 => Operation::Queue(Kind::Lock),
                _ => Operation::SimpleLock,
            },
            Workload::ReadWrite => match draw(2) {
                0 => Operation::Queue(Kind::Read),
                _ => Operation::Queue(Kind::Write),
            },
            Workload::Election => Operation::Queue(Kind::Lead),
            Workload::Barrier => Operation::Barrier,
            Workload::Configuration if is_first => Operation::Configure,
            Workload::Configuration => Operation::Configuration,
            Workload::Group => match (turn + u32::from(is_first)) % 3 {
                0 => Operation::Members,
                1 => Operation::Join,
                _ => Operation::Batch(vec![Ask::Write(Write::CloseSession)]),
            },
            Workload::Rendezvous if is_first => Operation::Fill,
            Workload::Rendezvous => Operation::Meet,
            Workload::Consensus => Operation::Agree,
            Workload::Fetching if is_master => Operation::CommandFetchers,
            Workload::Fetching => match turn % 3 {
                0 => Operation::Join,
                1 => Operation::Configuration,
                _ => Operation::Members,
            },
            Workload::Katta if is_master && !is_last => Operation::CommandSlaves,
            Workload::Katta => match turn % 3 {
                0 => Operation::Join,
                1 => Operation::Batch(SHARDS.iter().map(|shard| read(Read::Data((*shard).into()), true)).collect()),
                _ => Operation::Batch(vec![Ask::Write(Write::CloseSession)]),
            },
            Workload::Broker => match turn % 4 {
                0 | 2 => Operation::Queue(Kind::Serve(turn % 4 == 2)),
                1 => Operation::Join,
                _ => Operation::Batch(vec![
                    read(Read::Children(GROUP.into()), false),
                    read(Read::Exists(SHUTDOWN.into()), true),
                ]),
            },
            Workload::Load => {
                let is_write = |draw: &mut dyn FnMut(u32) -> u32| draw(100) < self.params.writes;
                let drawn =
                    (0..self.params.batch).map(|_| if is_write(draw) { set("/a", node, op) } else { get(false) });
                Operation::Batch(drawn.collect())
            }
            Workload::Creates => {
                let path = |turn: u32| format!("/a/{}-{turn}", node.0);
                let before = turn.checked_sub(1).map(path);
                let delete = before.map(|path| Ask::Write(Write::Delete { path, version: ANY }));
                Operation::Batch(delete.into_iter().chain([created(&path(turn), false, false)]).collect())
            }
            Workload::Acl => acl_turn(is_first, node, op, turn),
            Workload::Long => Operation::Batch(vec![match turn % 2 {
                0 => Ask::Write(Write::SetData {
                    path: "/a".into(),
                    data: "x".repeat(self.params.request_max as usize),
                    version: ANY,
                }),
                _ => set("/a", node, op),
            }]),
            Workload::Guarded => match turn % 8 {
                turn @ 0..=2 => acl_turn(is_first, node, op, turn),
                3 => self.operation_of(Workload::Long, node, op, 0, draw),
                _ => Operation::Batch((0..4).map(|_| drawn(node, op, draw)).collect()),
            },
            Workload::Recipes => unreachable!("it is one of the others by turns"),
        }
    }
}

/// A node that the first client alone may set, and who proves to be it.
fn acl_turn(is_first: bool, node: NodeId, op: OpId, turn: u32) -> Operation {
    const OWN: &str = "/a/own";
    let ann = Identity::digest("ann", "1");
    let own = set(OWN, node, op);
    Operation::Batch(match (is_first, turn % 3) {
        (true, 0) => {
            let acl = vec![
                Acl { permissions: Permissions::READ, identity: Identity::anyone() },
                Acl { permissions: Permissions::ALL, identity: ann.clone() },
            ];
            let create = Create { path: OWN.into(), data: String::new(), acl, ephemeral: false, sequential: false };
            vec![Ask::Auth(ann), Ask::Write(Write::Create(create))]
        }
        (false, 2) => vec![Ask::Auth(ann), own, read(Read::Acl(OWN.into()), false)],
        _ => vec![own],
    })
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
        _ => Ask::Write(Write::SetData { path: path.into(), data: value(node, op), version }),
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
    Ask::Write(Write::SetData { path: path.into(), data: value(node, op), version: ANY })
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
