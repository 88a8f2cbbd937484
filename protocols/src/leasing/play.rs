//! A world under a script, for tests: what happens, happens by name.

use seedbed_model::script::{Scripted, started};
use seedbed_model::world::{self, Choice};
use seedbed_model::{Driver, Envelope, Family, Local, Mutants, NodeId, Plain, Ratio, Span};

use super::*;

pub(super) const OWNER_1: NodeId = NodeId(1);
pub(super) const OWNER_2: NodeId = NodeId(2);
pub(super) const RANGE: RangeId = RangeId(0);

/// A world under a script: lease 3, margin 4, renewal 1 [ticks].
pub(super) struct Play {
    pub(super) world: Plain<Leasing, Scripted<Leasing>>,
}

pub(super) fn params() -> Params {
    Params {
        lookups: 0,
        lease: Span::ticks(3),
        margin: Span::ticks(4),
        renew: Span::ticks(1),
        poll: Span::ticks(2),
        contact: Span::ticks(3),
        back_off: Span::ticks(1),
        back_off_slots: 1,
        owner_shortest: Ratio::ONE,
        owner_longest: Ratio::new(4, 3),
        log: 1,
        notice: Span::ticks(9),
        ..Params::default()
    }
}

impl Play {
    pub(super) fn new(params: &Params, mutants: &[&str]) -> Play {
        let mutants = Mutants::named(Leasing::mutants(), mutants.iter().copied()).unwrap();
        let leasing = Leasing::build(params, mutants).unwrap();
        let mut play = Play { world: started(&leasing, Span::TICK) };
        play.at(MANAGER, Local::Sync(Stream(0)));
        play
    }

    /// Both Owners have opened their sessions.
    pub(super) fn introduced(mutants: &[&str]) -> Play {
        let mut play = Play::new(&params(), mutants);
        play.deliver(OWNER_1, MANAGER);
        play.deliver(OWNER_2, MANAGER);
        play
    }

    /// And Owner 1 holds the range.
    pub(super) fn holding(mutants: &[&str]) -> Play {
        let mut play = Play::introduced(mutants);
        play.decide(Decision::Grant(RANGE, OWNER_1));
        play.deliver(MANAGER, OWNER_1);
        assert!(play.holds(OWNER_1));
        play
    }

    pub(super) fn at(&mut self, node: NodeId, local: Local<Leasing>) {
        world::apply(&mut self.world, &Choice::At(node, local)).unwrap();
    }

    pub(super) fn decide(&mut self, decision: Decision) {
        self.at(MANAGER, Local::Decide(decision));
    }

    pub(super) fn renew(&mut self, owner: NodeId) {
        self.at(owner, Local::Fire(Timer::Renew));
    }

    pub(super) fn crash_and_restart(&mut self, node: NodeId) {
        self.at(node, Local::Crash(Vec::new()));
        self.at(node, Local::Restart);
    }

    pub(super) fn find(&self, from: NodeId, to: NodeId, index: usize) -> Envelope<Message> {
        let mut link = self.world.driver.flight.iter().filter(|envelope| (envelope.from, envelope.to) == (from, to));
        link.nth(index).unwrap_or_else(|| panic!("no message {index} from {from:?} to {to:?}")).clone()
    }

    /// The oldest message of the link arrives.
    pub(super) fn deliver(&mut self, from: NodeId, to: NodeId) {
        self.deliver_nth(from, to, 0);
    }

    pub(super) fn deliver_nth(&mut self, from: NodeId, to: NodeId, index: usize) {
        let envelope = self.find(from, to, index);
        world::apply(&mut self.world, &Choice::Deliver(envelope)).unwrap();
    }

    pub(super) fn lose(&mut self, from: NodeId, to: NodeId) {
        let envelope = self.find(from, to, 0);
        world::apply(&mut self.world, &Choice::Lose(envelope)).unwrap();
    }

    /// A tick passes.
    pub(super) fn tick(&mut self) {
        world::apply(&mut self.world, &Choice::Elapse(Span::TICK)).unwrap();
    }

    /// The next lease that is set runs for its longest.
    pub(super) fn slow(&mut self) {
        self.world.driver.answers.push_back(1);
    }

    pub(super) fn holds(&self, owner: NodeId) -> bool {
        let now = self.world.driver.now();
        let Some(State::Owner(state)) = self.world.state(owner) else { return false };
        state.generation(RANGE).is_some() && self.world.timers[owner.index()].is_armed(&Timer::Lease(RANGE), now)
    }

    pub(super) fn is_free(&mut self) -> bool {
        self.world.decisions(MANAGER).iter().any(|decision| matches!(decision, Decision::Grant(..)))
    }

    /// Owner 2 stays in touch, so that the range can be granted to it.
    pub(super) fn keep_owner_2(&mut self) {
        self.renew(OWNER_2);
        self.deliver(OWNER_2, MANAGER);
    }

    pub(super) fn generation(&self) -> Generation {
        let Some(State::Manager(manager)) = self.world.state(MANAGER) else { panic!("the Manager is down") };
        manager.table()[0].generation
    }

    pub(super) fn marked(&self, what: &str) -> u64 {
        self.world.reached.get(what).copied().unwrap_or(0)
    }

    pub(super) fn fallen(&self) -> Vec<&str> {
        self.world.violations.iter().map(|violation| violation.property.as_str()).collect()
    }
}

pub(super) const SECOND: NodeId = NodeId(3);
pub(super) const GROUP: NodeId = NodeId(4);

/// Two Manager servers and a group: leader lease 2, bids each 1.
pub(super) fn service(variant: Variant) -> Params {
    Params {
        variant,
        group: GroupKind::Atomic,
        managers: 2,
        leader_lease: Span::ticks(2),
        leader_margin: Span::ticks(2),
        leader_renew: Span::ticks(1),
        manager_longest: Ratio::ONE,
        owner_longest: Ratio::ONE,
        lease: Span::ticks(4),
        migration: true,
        ..params()
    }
}

impl Play {
    /// The first server leads, and has met both Owners.
    pub(super) fn served(variant: Variant, mutants: &[&str]) -> Play {
        let mutants = Mutants::named(Leasing::mutants(), mutants.iter().copied()).unwrap();
        let leasing = Leasing::build(&service(variant), mutants).unwrap();
        let mut play = Play { world: started(&leasing, Span::TICK) };
        play.bid(MANAGER);
        play.deliver(OWNER_1, MANAGER);
        play.deliver(OWNER_2, MANAGER);
        play
    }

    /// And Owner 1 holds the range.
    pub(super) fn serving(variant: Variant, mutants: &[&str]) -> Play {
        let mut play = Play::served(variant, mutants);
        play.decide(Decision::Grant(RANGE, OWNER_1));
        if variant == Variant::Centrifuge {
            play.bid(MANAGER);
        }
        play.deliver(MANAGER, OWNER_1);
        assert!(play.holds(OWNER_1));
        play
    }

    /// The server's bid arrives, and the answer to it.
    pub(super) fn bid(&mut self, server: NodeId) {
        self.deliver(server, GROUP);
        self.deliver(GROUP, server);
    }

    /// The server's latest bid arrives, and the answer to it.
    pub(super) fn ruled(&mut self, server: NodeId) {
        self.deliver_newest(server, GROUP);
        self.deliver_newest(GROUP, server);
    }

    /// The server grants the range, the group has that, and it arrives.
    pub(super) fn granted(&mut self, server: NodeId, owner: NodeId) {
        self.at(server, Local::Decide(Decision::Grant(RANGE, owner)));
        self.ruled(server);
        self.deliver_newest(server, owner);
    }

    pub(super) fn deliver_newest(&mut self, from: NodeId, to: NodeId) {
        let newest = self.count(from, to) - 1;
        self.deliver_nth(from, to, newest);
    }

    /// So many messages are under way.
    pub(super) fn count(&self, from: NodeId, to: NodeId) -> usize {
        self.world.driver.flight.iter().filter(|envelope| (envelope.from, envelope.to) == (from, to)).count()
    }

    pub(super) fn is_due(&self, node: NodeId, timer: &Timer) -> bool {
        self.world.timers[node.index()].iter().any(|(other, end)| other == timer && end <= self.world.driver.now())
    }

    pub(super) fn may_grant(&mut self, server: NodeId) -> bool {
        self.world.decisions(server).iter().any(|decision| matches!(decision, Decision::Grant(..)))
    }

    pub(super) fn assignment(&self, server: NodeId) -> Assignment {
        let Some(State::Manager(manager)) = self.world.state(server) else { panic!("{server:?} is down") };
        manager.table()[0]
    }

    pub(super) fn owner_of(&self, server: NodeId) -> Option<NodeId> {
        self.assignment(server).owner
    }

    pub(super) fn generation_at(&self, server: NodeId) -> Generation {
        self.assignment(server).generation
    }

    /// The next renewal, a tick later.
    pub(super) fn renew_again(&mut self, owner: NodeId) {
        self.tick();
        self.renew(owner);
    }
}
