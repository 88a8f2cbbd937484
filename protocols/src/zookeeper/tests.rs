//! The data tree, the processor and watches, by themselves. What a real server answered is in `recorded`.

mod replayed;

use seedbed_model::Mutants;

use super::acl::{self, Acl, Identity, Permissions};
use super::mutants::{
    MUTANTS, PRESENT_STATE, SEQUENCE_FROM_CHILDREN, ZK_1208_CREATE_AFTER_CLOSE, ZK_1624_LOST_ROLLBACK,
};
use super::processor::Processor;
use super::tree::{Tree, TreeEvent, Trigger};
use super::txn::*;
use super::watches::{ClientWatches, Watches};
use crate::zab::message::Zxid;

pub(super) fn zxid(counter: u32) -> Zxid {
    Zxid { epoch: 0, counter }
}

fn mutant(name: &'static str) -> Mutants {
    Mutants::named(MUTANTS, [name]).expect("it is known")
}

pub(super) fn create(path: &str) -> Write {
    Write::Create(Create {
        path: path.into(),
        data: String::new(),
        acl: acl::open(),
        ephemeral: false,
        sequential: false,
    })
}

pub(super) fn ephemeral(path: &str) -> Write {
    let Write::Create(create) = create(path) else { unreachable!("it is one") };
    Write::Create(Create { ephemeral: true, ..create })
}

pub(super) fn sequential(path: &str) -> Write {
    let Write::Create(create) = create(path) else { unreachable!("it is one") };
    Write::Create(Create { sequential: true, ..create })
}

pub(super) fn set(path: &str, data: &str) -> Write {
    Write::SetData { path: path.into(), data: data.into(), version: ANY }
}

pub(super) fn delete(path: &str) -> Write {
    Write::Delete { path: path.into(), version: ANY }
}

/// A leader and its replica.
#[derive(Debug, Clone, Default)]
pub(super) struct Server {
    pub(super) tree: Tree,
    processor: Processor,
    pub(super) txns: Vec<Txn>,
    identities: Vec<Identity>,
    mutants: Mutants,
}

impl Server {
    fn with(mutant_name: &'static str) -> Server {
        Server { mutants: mutant(mutant_name), ..Server::default() }
    }

    fn asked_by(mut self, identities: &[Identity]) -> Server {
        self.identities = identities.to_vec();
        self
    }

    /// What becomes of the request, not applied yet.
    pub(super) fn prepare(&mut self, session: Session, write: Write) -> Txn {
        let request = Request { session, identities: self.identities.clone(), write };
        let zxid = zxid(self.txns.len() as u32 + 1);
        let txn = self.processor.process(&self.tree, &request, zxid, &self.mutants);
        self.txns.push(txn.clone());
        txn
    }

    pub(super) fn apply(&mut self, txn: &Txn) -> (Answer, Vec<Trigger>) {
        let applied = self.tree.apply(txn, &self.mutants);
        self.processor.applied(txn.zxid);
        applied
    }

    pub(super) fn open(&mut self) -> Session {
        let txn = self.prepare(Session(Zxid::ZERO), Write::CreateSession);
        self.apply(&txn);
        txn.session
    }

    pub(super) fn write(&mut self, session: Session, write: Write) -> Answer {
        let txn = self.prepare(session, write);
        self.apply(&txn).0
    }

    /// Requests that are all prepared before any is applied.
    fn pipelined<const N: usize>(&mut self, session: Session, writes: [Write; N]) -> [Answer; N] {
        let txns = writes.map(|write| self.prepare(session, write));
        txns.map(|txn| self.apply(&txn).0)
    }
}

fn failed(kind: ErrorKind) -> Answer {
    Answer::Failed(kind)
}

fn name(answer: &Answer) -> &str {
    match answer {
        Answer::Created { path, .. } => path,
        other => panic!("{other:?}"),
    }
}

#[test]
fn errors_come_in_the_order_of_the_real_server() {
    let mut server = Server::default();
    let session = server.open();
    for path in ["/a", "/a/b"] {
        server.write(session, create(path));
    }
    server.write(session, ephemeral("/e"));
    let versioned = |path: &str, version| Write::Delete { path: path.into(), version };
    let cases = [
        (create("/x/y"), ErrorKind::NoNode),
        (create("/a"), ErrorKind::NodeExists),
        (create("/e/x"), ErrorKind::NoChildrenForEphemerals),
        (create("x"), ErrorKind::BadArguments),
        (create("/x/"), ErrorKind::NoNode),
        (create("/a/"), ErrorKind::BadArguments),
        (create("/."), ErrorKind::BadArguments),
        (delete("/"), ErrorKind::BadArguments),
        (delete("/zookeeper"), ErrorKind::BadArguments),
        (delete("/x"), ErrorKind::NoNode),
        (delete("/a"), ErrorKind::NotEmpty),
        // The version before the children.
        (versioned("/a", 7), ErrorKind::BadVersion),
        (Write::SetData { path: "/a".into(), data: String::new(), version: 1 }, ErrorKind::BadVersion),
        (set("/x", ""), ErrorKind::NoNode),
        (set("/x/", ""), ErrorKind::BadArguments),
        (Write::SetAcl { path: "/x".into(), acl: Vec::new(), version: ANY }, ErrorKind::InvalidAcl),
        (Write::SetAcl { path: "/x".into(), acl: acl::open(), version: ANY }, ErrorKind::NoNode),
        (Write::SetAcl { path: "/a".into(), acl: acl::open(), version: 1 }, ErrorKind::BadVersion),
    ];
    for (write, kind) in cases {
        let before = server.tree.last();
        assert_eq!(server.write(session, write.clone()), failed(kind), "{write:?}");
        assert!(server.tree.last() > before, "a failed write takes a zxid");
    }
    let gone = Session(zxid(99));
    assert_eq!(server.write(gone, create("x")), failed(ErrorKind::SessionExpired));
}

#[test]
fn sequence_numbers_are_never_used_again() {
    let mut server = Server::default();
    let session = server.open();
    let names =
        server.pipelined(session, [sequential("/n-"), sequential("/n-"), delete("/n-0000000001"), sequential("/n-")]);
    assert_eq!([&names[0], &names[1], &names[3]].map(name), ["/n-0000000000", "/n-0000000001", "/n-0000000002"]);

    let mut server = Server::with(SEQUENCE_FROM_CHILDREN);
    let session = server.open();
    let names =
        server.pipelined(session, [sequential("/n-"), sequential("/n-"), delete("/n-0000000001"), sequential("/n-")]);
    assert_eq!(name(&names[3]), "/n-0000000001", "the mutant uses one again");
}

#[test]
fn versions_are_checked_against_the_future() {
    let conditional = |version: Version| Write::SetData { path: "/a".into(), data: version.to_string(), version };
    let mut server = Server::default();
    let session = server.open();
    let answers = server.pipelined(session, [create("/a"), conditional(0), conditional(0), conditional(1)]);
    assert_eq!(answers[2], failed(ErrorKind::BadVersion));
    assert!(matches!(&answers[3], Answer::Set(stat) if stat.version == 2));

    let mut server = Server::with(PRESENT_STATE);
    let session = server.open();
    server.write(session, create("/a"));
    let answers = server.pipelined(session, [conditional(0), conditional(0)]);
    assert!(matches!(&answers[1], Answer::Set(stat) if stat.version == 1), "the mutant sets twice from one version");
}

#[test]
fn the_version_after_the_largest_is_the_smallest() {
    assert_eq!(next_version(Version::from(i32::MAX)), Version::from(i32::MIN));
    assert_eq!(next_version(-2), ANY, "as in 3.8; ZOOKEEPER-4743 mended it later");
}

#[test]
fn a_refused_multi_leaves_what_was_outstanding() {
    let multi = || Write::Multi(vec![set("/a", "2"), delete("/x")]);
    let seen = |mut server: Server| {
        let session = server.open();
        server.write(session, create("/a"));
        server.pipelined(session, [set("/a", "1"), multi(), set("/a", "3")])
    };
    let refused = Answer::Many(vec![failed(ErrorKind::RolledBack), failed(ErrorKind::NoNode)]);
    let [_, many, after] = seen(Server::default());
    assert_eq!(many, refused);
    assert!(matches!(after, Answer::Set(stat) if stat.version == 2));
    let [_, many, after] = seen(Server::with(ZK_1624_LOST_ROLLBACK));
    assert_eq!(many, refused);
    assert!(matches!(after, Answer::Set(stat) if stat.version == 1), "the mutant gives a version twice");
}

#[test]
fn nothing_is_created_in_a_session_that_is_closing() {
    let seen = |mut server: Server| {
        let session = server.open();
        let answers = server.pipelined(session, [ephemeral("/a"), Write::CloseSession, ephemeral("/b")]);
        (answers[2].clone(), server.tree.nodes().map(|(path, _)| path.clone()).collect::<Vec<_>>())
    };
    assert_eq!(seen(Server::default()), (failed(ErrorKind::SessionExpired), vec!["/".to_owned()]));
    let (_, left) = seen(Server::with(ZK_1208_CREATE_AFTER_CLOSE));
    assert_eq!(left, ["/", "/b"], "the mutant leaves it for ever");
}

#[test]
fn a_session_that_ends_takes_its_nodes_of_now_and_later() {
    let mut server = Server::default();
    let (one, other) = (server.open(), server.open());
    server.write(one, ephemeral("/now"));
    server.write(one, ephemeral("/handed-over"));
    let delete = server.prepare(one, delete("/handed-over"));
    let again = server.prepare(other, ephemeral("/handed-over"));
    let later = server.prepare(one, ephemeral("/later"));
    let close = server.prepare(one, Write::CloseSession);
    assert_eq!(close.change, Change::CloseSession { paths: vec!["/later".into(), "/now".into()] });
    for txn in [delete, again, later, close] {
        server.apply(&txn);
    }
    let left: Vec<&String> = server.tree.nodes().map(|(path, _)| path).collect();
    assert_eq!(left, ["/", "/handed-over"]);
}

#[test]
fn who_may_not_is_refused() {
    let (ann, bob) = (Identity::digest("ann", "h"), Identity::digest("bob", "i"));
    let entry = |permissions, identity: &Identity| Acl { permissions, identity: identity.clone() };
    let acl = vec![entry(Permissions::ALL, &ann), entry(Permissions::READ, &bob)];
    let mut server = Server::default().asked_by(std::slice::from_ref(&ann));
    let session = server.open();
    let node = Create { path: "/a".into(), data: "x".into(), acl: acl.clone(), ephemeral: false, sequential: false };
    server.write(session, Write::Create(node));
    server.write(session, create("/a/b"));
    let mut server = server.asked_by(std::slice::from_ref(&bob));
    for write in [
        create("/a/c"),
        delete("/a/b"),
        set("/a", ""),
        Write::SetAcl { path: "/a".into(), acl: acl::open(), version: ANY },
    ] {
        assert_eq!(server.write(session, write.clone()), failed(ErrorKind::NoAuth), "{write:?}");
    }
    let check = |path: &str| Write::Multi(vec![Write::Check { path: path.into(), version: 0 }]);
    assert_eq!(server.write(session, check("/a")), Answer::Many(vec![Answer::Checked]));
    let read = |read, who: &[Identity]| server.tree.read(&read, who);
    assert!(
        matches!(read(Read::Data("/a".into()), std::slice::from_ref(&bob)), Answer::Data { data, .. } if data == "x")
    );
    assert_eq!(read(Read::Data("/a".into()), &[]), failed(ErrorKind::NoAuth));
    assert_eq!(read(Read::Children("/a".into()), &[]), failed(ErrorKind::NoAuth));
    assert_eq!(read(Read::Acl("/a".into()), &[]), failed(ErrorKind::NoAuth));
    assert!(matches!(read(Read::Exists("/a".into()), &[]), Answer::Existence(Some(_))));
    assert!(matches!(read(Read::Acl("/a".into()), &[ann]), Answer::Acl { acl: shown, .. } if shown == acl));
    assert!(
        matches!(read(Read::Acl("/a".into()), &[bob]), Answer::Acl { acl: shown, .. } if shown == acl::shown(&acl))
    );
}

#[test]
fn a_packet_is_as_long_as_on_the_wire() {
    // Header; path, data, one entry of a list with its scheme and id; flags.
    assert_eq!(create("/ab").packet_length(), 8 + 7 + 4 + (4 + 4 + 9 + 10) + 4);
    assert_eq!(delete("/ab").packet_length(), 8 + 7 + 4);
    let large = set("/a", &"x".repeat(PACKET_LENGTH_MAX as usize - 22));
    assert_eq!(large.packet_length(), PACKET_LENGTH_MAX);
    assert_eq!(Write::Multi(vec![delete("/ab")]).packet_length(), 8 + 9 + 11 + 9);
}

#[test]
fn a_watch_fires_once_and_a_deletion_once_a_session() {
    let mut server = Server::default();
    let (one, other) = (server.open(), server.open());
    server.write(one, create("/a"));
    let (mut watches, mut client) = (Watches::default(), ClientWatches::default());
    for (watch, read) in
        [(1, Read::Data("/a".into())), (2, Read::Children("/a".into())), (3, Read::Exists("/b".into()))]
    {
        let answer = server.tree.read(&read, &[]);
        watches.set(one, &read, &answer);
        client.set(watch, &read, &answer);
    }
    let absent = Read::Data("/c".into());
    watches.set(other, &absent, &server.tree.read(&absent, &[]));
    watches.set(other, &Read::Data("/a".into()), &server.tree.read(&Read::Data("/a".into()), &[]));
    let mut happens = |server: &mut Server, write| {
        let txn = server.prepare(one, write);
        let (_, triggers) = server.apply(&txn);
        let told =
            triggers.into_iter().map(|trigger| (trigger.event, watches.fire(&trigger).into_iter().collect(), trigger));
        let told: Vec<(TreeEvent, Vec<Session>, Trigger)> = told.collect();
        let fired: Vec<u32> = told
            .iter()
            .filter(|(_, who, _)| who.contains(&one))
            .flat_map(|(.., trigger)| client.fire(trigger))
            .collect();
        (told.into_iter().map(|(event, who, _)| (event, who)).collect::<Vec<_>>(), fired)
    };
    let nobody = Vec::new;
    assert_eq!(
        happens(&mut server, create("/c")),
        (vec![(TreeEvent::Created, nobody()), (TreeEvent::Child, nobody())], vec![])
    );
    assert_eq!(happens(&mut server, set("/a", "1")), (vec![(TreeEvent::Changed, vec![one, other])], vec![1]));
    assert_eq!(happens(&mut server, set("/a", "2")), (vec![(TreeEvent::Changed, nobody())], vec![]));
    assert_eq!(happens(&mut server, create("/a/x")).1, [2]);
    assert_eq!(happens(&mut server, create("/b")).1, [3]);
    assert!(watches.is_empty());
    for read in [Read::Data("/b".into()), Read::Children("/b".into())] {
        let answer = server.tree.read(&read, &[]);
        watches.set(one, &read, &answer);
        client.set(if matches!(read, Read::Data(_)) { 5 } else { 4 }, &read, &answer);
    }
    let txn = server.prepare(one, delete("/b"));
    let (_, triggers) = server.apply(&txn);
    assert_eq!(triggers.iter().map(|trigger| watches.fire(trigger).len()).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(client.fire(&triggers[0]).into_iter().collect::<Vec<_>>(), [4, 5], "both of the client's, in order");
}

#[test]
fn watches_move_with_their_client() {
    let mut server = Server::default();
    let session = server.open();
    for path in ["/changed", "/gone", "/parent", "/same"] {
        server.write(session, create(path));
    }
    let mut client = ClientWatches::default();
    let reads = [
        Read::Data("/changed".into()),
        Read::Data("/gone".into()),
        Read::Children("/parent".into()),
        Read::Children("/same".into()),
        Read::Exists("/came".into()),
        Read::Exists("/never".into()),
    ];
    for (watch, read) in reads.iter().enumerate() {
        client.set(watch as u32, read, &server.tree.read(read, &[]));
    }
    let seen = server.tree.last();
    for write in [set("/changed", "1"), delete("/gone"), create("/parent/x"), create("/came")] {
        server.write(session, write);
    }
    let mut watches = Watches::default();
    let missed = watches.take_over(session, client.paths(), seen, &server.tree);
    let told: Vec<(TreeEvent, &str)> = missed.iter().map(|trigger| (trigger.event, trigger.path.as_str())).collect();
    let wanted = [
        (TreeEvent::Changed, "/changed"),
        (TreeEvent::Deleted, "/gone"),
        (TreeEvent::Created, "/came"),
        (TreeEvent::Child, "/parent"),
    ];
    assert_eq!(told, wanted);
    let fires = |watches: &mut Watches, event, path: &str| watches.fire(&Trigger { event, path: path.into() }).len();
    assert_eq!(fires(&mut watches, TreeEvent::Child, "/same"), 1);
    assert_eq!(fires(&mut watches, TreeEvent::Created, "/never"), 1);
    assert!(watches.is_empty());
}
