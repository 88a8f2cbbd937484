//! ZooKeeper over Zab itself, as time passes: what is sent arrives at once, in order, and what is written is durable at once.

use seedbed_model::script::{Scripted, started};
use seedbed_model::world::{self, Choice};
use seedbed_model::{Family, Local, Mutants, NodeId, Plain, Span};

use super::embedded::zab_params;
use super::*;

const FOLLOWER: NodeId = NodeId(0);
/// Of servers with equal histories, the largest is elected.
const LEADER: NodeId = NodeId(2);
const CLIENT: NodeId = NodeId(3);

struct Play {
    world: Plain<ZooKeeper, Scripted<ZooKeeper>>,
}

fn params() -> Params {
    Params {
        broadcast: params::BroadcastKind::Zab,
        servers: 3,
        clients: 1,
        workload: Workload::Turns,
        operations: 10_000,
        session: Span::secs(1),
        alive: Span::millis(20),
        patience: Span::millis(100),
        finalize_wait: Span::millis(20),
        ..Params::default()
    }
}

impl Play {
    fn new(params: &Params) -> Play {
        let zookeeper = ZooKeeper::build(params, Mutants::none()).expect("the parameters make sense");
        Play { world: started(&zookeeper, Span::millis(1)) }
    }

    fn at(&mut self, node: NodeId, local: Local<ZooKeeper>) {
        world::apply(&mut self.world, &Choice::At(node, local)).expect("it can happen");
    }

    /// All that happens in so many milliseconds; the client invokes an operation in each in which it can.
    fn pass(&mut self, millis: u32) {
        for _ in 0..millis {
            self.settle();
            if self.world.hosts[CLIENT.index()].can_invoke(&self.world.protocol.clone(), CLIENT) {
                self.at(CLIENT, Local::Invoke);
                self.settle();
            }
            world::apply(&mut self.world, &Choice::Elapse(Span::millis(1))).expect("time can pass");
            for node in self.world.nodes() {
                let now = seedbed_model::Driver::<ZooKeeper>::now(&self.world.driver);
                let timers = &self.world.timers[node.index()];
                let due: Vec<Timer> = timers.iter().map(|(timer, _)| timer.clone()).collect();
                for timer in due {
                    if self.world.timers[node.index()].is_due(&timer, now) {
                        self.at(node, Local::Fire(timer));
                    }
                }
            }
        }
        self.settle();
    }

    /// What is written becomes durable, and what was sent arrives, until nothing is left.
    fn settle(&mut self) {
        loop {
            let unsynced =
                self.world.nodes().into_iter().find_map(|node| {
                    self.world.hosts[node.index()].unsynced().first().map(|(stream, _)| (node, *stream))
                });
            if let Some((node, stream)) = unsynced {
                self.at(node, Local::Sync(stream));
            } else if let Some(envelope) = self.world.driver.flight.first().cloned() {
                let is_up = self.world.state(envelope.to).is_some();
                let choice = if is_up { Choice::Deliver(envelope) } else { Choice::Lose(envelope) };
                world::apply(&mut self.world, &choice).expect("it can happen");
            } else {
                return;
            }
        }
    }

    fn server(&self, node: NodeId) -> &Server {
        match self.world.state(node) {
            Some(State::Server(server)) => server,
            other => panic!("{node:?} is {other:?}"),
        }
    }

    fn leads(&self, node: NodeId) -> bool {
        matches!(self.server(node).role, server::Role::Leading(_))
    }

    fn marked(&self, what: &str) -> u64 {
        self.world.reached.get(what).copied().unwrap_or(0)
    }

    fn assert_one(&self) {
        assert!(self.world.violations.is_empty(), "{:?}", self.world.violations);
        let trees: Vec<&tree::Tree> = (0..3).map(|node| &self.server(NodeId(node)).tree).collect();
        assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "{trees:#?}");
    }
}

#[test]
fn who_leads_zab_leads_the_service_and_who_follows_it_has_all() {
    let mut play = Play::new(&params());
    play.pass(100);
    assert!(play.leads(LEADER) && !play.leads(FOLLOWER));
    play.assert_one();
    let before = play.server(FOLLOWER).tree.last();
    assert!(before > crate::zab::message::Zxid::ZERO);

    play.at(LEADER, Local::Crash(Vec::new()));
    play.pass(400);
    assert_eq!(play.marked("led-again"), 1);
    assert!(play.leads(NodeId(1)));
    assert!(play.server(FOLLOWER).tree.last().epoch > before.epoch, "the client goes on");

    play.at(LEADER, Local::Restart);
    play.pass(400);
    assert!(play.marked("recovered") > 0 && play.marked("diff") > 0);
    assert_eq!(play.marked("session-ended"), 0, "its session outlived the leader");
    play.assert_one();
}

#[test]
fn who_is_too_far_behind_takes_the_leaders_tree_and_finds_it_again() {
    let mut play = Play::new(&Params { window: 1, snapshot_every: 3, ..params() });
    play.pass(60);
    play.at(FOLLOWER, Local::Crash(Vec::new()));
    play.pass(800);
    play.at(FOLLOWER, Local::Restart);
    play.pass(300);
    assert_eq!(play.marked("took-over"), 1);
    play.assert_one();
    for node in [FOLLOWER, NodeId(1), LEADER] {
        play.at(node, Local::Crash(Vec::new()));
    }
    for node in [FOLLOWER, NodeId(1), LEADER] {
        play.at(node, Local::Restart);
    }
    play.pass(400);
    assert!(play.marked("restored") >= 3, "from their snapshots");
    play.assert_one();
}

#[test]
fn what_zab_itself_needs_is_asked_for() {
    let refusal = |params: &Params| ZooKeeper::build(params, Mutants::none()).map(drop).expect_err("it makes no sense");
    assert!(refusal(&Params { session: Span::ZERO, ..params() }).starts_with("broadcast \"zab\" runs by timers"));
    assert!(refusal(&Params { snapshots: 1, ..params() }).starts_with("broadcast \"zab\" runs by timers"));
    let alone = Params { servers: 1, ..params() };
    assert_eq!(refusal(&alone), "broadcast \"zab\": servers 1 and observers 0: 2 to 13 and 0 to 9 are possible");
    assert_eq!(zab_params(&params()).sync_limit, params().patience);
    let names = ZooKeeper::build(&params(), Mutants::none()).expect("it makes sense").nodes();
    assert_eq!(names, ["server-1", "server-2", "server-3", "client-1"], "nobody stands for Zab");
}
