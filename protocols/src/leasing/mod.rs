//! Manager-directed leasing, whole: Centrifuge §2.1 to §2.3, PRS §2 and §4.
//!
//! The Manager assigns ranges to Owners by leases, recalls them, moves them, and keeps a generation number for each. An
//! Owner holds a range for at most a lease counted from the request that the Manager's message names; the Manager keeps it
//! from others for a longer margin counted from the receipt of that request. Lookups poll the table, and tell their
//! applications of every generation that passed: whoever kept state there must store it anew.
//!
//! The Manager is one server, or a service: a leader and standbys that compete for the leader lease of a Paxos group. The
//! group stands here as one node that is an atomic leader lease and register; or its acceptors are nodes of this world. What the papers' systems do differently, the
//! parameter `variant` says.
//!
//! - `message`: what is said, and the names in it
//! - `group`, `election`: the Paxos group, and how a server comes to lead
//! - `embedded`: the Paxos group itself in the atomic one's place, `group = "paxos"`
//! - `manager`, `office`, `table`, `log`: what the leader does; how it comes to; the lease table; its changes for Lookups
//! - `halves`: ranges that split in two
//! - `partition`: who should have which range, behind a trait; `balance`: by the loads of Owners
//! - `owner`, `lookup`: the two libraries
//! - `apps`: the applications that stand on the libraries, as far as the parameters ask for one
//! - `monitor`: single copy, generations held once, one leader, progress; `losses`: notification in time; `together`: which
//!   features met in one run
//! - `events`: timers, decisions, records, and what properties see
//! - `params`, `checks`, `deadlines`, `mutants`: sizes and times; which are refused; derived bounds; what each mechanism is there for
//! - `places`, `steps`: which node is what; which input goes where
//!
//! Decisions where the papers are open, each with its reason and, where it is unsafe, the mutant that decides otherwise:
//! - the Manager's margin counts from the *receipt of the request* that its messages name, and only for leases which
//!   that request lists or which are granted in answer to it; Figure 5 counts from the sending of the response, by which
//!   every response to an Owner that lost a lease puts off the notification of the loss (mutant `margin-from-send`);
//! - (CA2) a pushed message may grant: it names the latest request heard, and the Owner counts from the sending of that
//!   (`timer-from-receipt`);
//! - (PA6, CA1) both ends drop racing messages, renewals too; requests without a race are never dropped
//!   (`no-sequence-pairs`, `manager-checks-only`);
//! - the Manager is silent to an Owner that has nothing and gets nothing;
//! - the generation changes when the Manager learns that a lease ended, not only at the next grant, so that Lookups hear
//!   of a loss even if nobody is left to take the range (`generation-kept`);
//! - a Manager without a group keeps its table in memory alone (PRS §4.4): restarted, it waits until all that it may have
//!   granted has expired; its nonce makes its generations new. That it ever started is its only record;
//! - (PA1) PRS leases have Centrifuge's lengths, 60 s and 65 s (`no-margin`);
//! - (PA2) a new leader of PRS waits a margin from its *election*: its predecessor's leader lease has ended by then, and
//!   with it the hearing of requests. Counting from the sending of the bid would not do (`no-quarantine`);
//! - (PA3) every number and session belongs to a *term*, which the group gives: a leader numbers in its own term alone, so
//!   two leaders never give one number, whatever of the first was never committed;
//! - (PA4) the notification bound is derived at [`Params::notice_needed`], that of progress at [`Params::progress_needed`];
//! - a Lookup that stands still tells nobody, and its application stands still with it: what falls due then is due from its next step
//!   on. An answer to a poll from which contact has ended comes too late: no contact would count from it (`news-however-late`);
//! - (PA5, C8) a clean migration tells nobody of a loss, in both variants where `migration` is on: PRS has it in its
//!   augmented version (§4.5);
//! - (PA7) a handle is a generation: that none is held again after its loss is the continuity of what it stands for;
//! - a leader acts only within its leader lease, which it counts from the sending of its bid and the group for longer from
//!   granting it, as Owner and Manager do (`leader-from-receipt`, `old-leader-serves`). A server that asks for the lease
//!   while the group thinks that it has it gets a new term at once: whoever asks does not lead;
//! - a state update is conditional on the term, which Figure 3 does not say (`any-leader-commits`);
//! - (CA3) a new leader is to Owners a Manager that restarted: a new session, in which nothing is dropped;
//! - (CA4) it counts a whole margin anew for all that it reads as held (`margins-not-restarted`);
//! - (CA5) grants and new generations are committed before anybody hears of them (`reply-before-commit`); renewals and
//!   recalls are not: what a new leader does not know of them, it waits for or hears from the Owner. While a change is
//!   under way to the group the leader decides nothing else;
//! - (C7) a range moves in four messages: the recall names the new Owner; the old one drops the lease, and then sends the
//!   state (`hand-over-under-lease`); the new one reports it; the Manager grants. Until it is reported, the range is kept
//!   free under its old number, and lost when the margin of the old lease ends. The new Owner takes the lease only with
//!   the state that it was given for (`migrated-unchecked`);
//! - (CA6) the flag is the generation since which nothing was lost, so that it speaks for all changes that a silent Lookup
//!   missed (`flag-of-last-change`, `migrated-on-crash`). What an Owner retains of a range that splits (`halves`) gets a new
//!   number, as in Figure 4, and the flag (`split-unflagged`); what leaves has it only with its state (`split-flags-both`);
//! - (CA7) a recall that gets no answer is waited for until the margin ends;
//! - (CA8) the log is truncated by length, or by age in periods of `log-age`; who knows an edition before it gets a snapshot, and compares
//!   (`truncated-without-snapshot`, `no-snapshot-diff`);
//! - (C7) adaptive load management works in rounds of `balance`, from what each Owner reported last in the round
//!   (`load-ignored`, `total-not-kept`);
//! - (P4) ranges of arbitrary keys in their order are runs of keys, dealt out to the live Owners in runs (`order-ignored`);
//! - (CG6, §2.3.2) that messages do not cross again and again until a lease ends is a matter of chance, by a random back-off, and
//!   no property: [`crate::seqpair`] judges the back-off by what comes of it (`no-back-off`);
//! - a partitioner drives the assignment or none does; safety hangs on it in no case (`partitioner-overlaps`).

mod apps;
mod balance;
mod checks;
mod deadlines;
mod election;
mod embedded;
mod events;
mod group;
mod halves;
mod log;
mod lookup;
mod losses;
mod manager;
mod message;
mod monitor;
mod mutants;
mod office;
mod owner;
mod params;
mod partition;
mod places;
#[cfg(test)]
mod play;
#[cfg(test)]
mod service_tests;
mod steps;
mod table;
#[cfg(test)]
mod tests;
mod together;

use std::sync::Arc;

use seedbed_model::history::{Call, Value as Recorded};
use seedbed_model::{
    Canonical, ClockBound, Context, Event, Input, Mutants, NodeId, Nonce, Offers, OpId, Property, Protocol, Relevance,
    Span, Stream, Watch,
};

use crate::paxos::group::{Acceptor, PaxosGroup};
use crate::seqpair::Checks;

pub use apps::Application;
pub use apps::message::{
    Answer, Content, Document, Entry, Item, Key, Operation, Push, Queue, Recipient, Reply, Request, Topic, Update,
    Value,
};
pub use events::{Decision, Durable, Observation, Record, Timer};
pub use group::Group;
pub use log::Log;
pub use lookup::Lookup;
pub use manager::Manager;
pub use message::{
    Ask, Assignment, BidNumber, Change, Edition, Generation, GenerationNumber, LogNumber, ManagerNumber, Message, News,
    Offer, OwnerNumber, PollNumber, RangeId, Register, Ruling,
};
pub use monitor::Monitor;
pub use mutants::*;
pub use owner::Owner;
pub use params::*;
pub use partition::{ConsistentHashing, Fixed, Ordered, Partitioner, VIRTUAL_NODES, rebalanced};
pub use table::Recall;
pub use together::Feature;

use places::Role;

/// The Manager's id: of the only server, or of the first.
pub const MANAGER: NodeId = NodeId(0);

/// The protocol.
#[derive(Debug, Clone)]
pub struct Leasing {
    params: Params,
    mutants: Mutants,
    /// `None`: free.
    partitioner: Option<Arc<dyn Partitioner>>,
    /// The rules of the Paxos group, where there is one.
    group: PaxosGroup<Register>,
    /// How much the keys of each range are asked for, where load is managed.
    popularity: Arc<[u64]>,
}

/// A node's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// Node 0, and the other servers of the Manager service, which come after the Lookups.
    Manager(Manager),
    /// The nodes after node 0.
    Owner(Owner),
    /// The nodes after those.
    Lookup(Lookup),
    /// The last node, where there is one.
    Group(Group),
    /// The last nodes, where there is a Paxos group.
    Acceptor(Acceptor<Register>),
}

/// Whether a node that dropped a message must wait before it sends anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BackOff {
    Begun,
    Over,
}

impl Leasing {
    /// "After either party drops a racing message, it waits for a random backoff" (§2.3.2): perhaps for no time.
    fn backs_off(&self, owner: NodeId, cx: &mut Context<'_, Self>) -> BackOff {
        match cx.choose(self.params.back_off_slots) {
            0 => BackOff::Over,
            slot => {
                cx.set(Timer::BackOff(owner), self.params.back_off * u64::from(slot));
                BackOff::Begun
            }
        }
    }

    fn margin(&self) -> Span {
        if self.mutants.has(NO_MARGIN) { self.params.lease } else { self.params.margin }
    }

    fn manager_checks(&self) -> Checks {
        Checks { race: !self.mutants.has(OWNER_CHECKS_ONLY), ..self.checks() }
            .without_numbers_if(self.mutants.has(NO_SEQUENCE_PAIRS))
    }

    fn owner_checks(&self) -> Checks {
        Checks { race: !self.mutants.has(MANAGER_CHECKS_ONLY), ..self.checks() }
            .without_numbers_if(self.mutants.has(NO_SEQUENCE_PAIRS))
    }

    fn checks(&self) -> Checks {
        Checks { nonce: !self.mutants.has(NO_NONCE), ..Checks::ALL }
    }
}

impl Protocol for Leasing {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Record;
    type Durable = Durable;
    type Operation = Operation;
    type Answer = Answer;
    type Decision = Decision;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        let owners = (1..=self.params.owners).map(|number| format!("owner-{number}"));
        let lookups = (1..=self.params.lookups).map(|number| format!("lookup-{number}"));
        let first = if self.params.managers == 1 { "manager" } else { "manager-1" };
        let managers = (2..=self.params.managers).map(|number| format!("manager-{number}"));
        let group: Vec<String> = match self.params.group {
            GroupKind::None => Vec::new(),
            GroupKind::Atomic => vec!["group".to_owned()],
            GroupKind::Paxos => (1..=self.params.acceptors).map(|number| format!("acceptor-{number}")).collect(),
        };
        std::iter::once(first.to_owned()).chain(owners).chain(lookups).chain(managers).chain(group).collect()
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        match self.role(cx.node()) {
            Role::Manager => State::Manager(Manager::start(self, durable.was_started, nonce, cx)),
            Role::Owner => State::Owner(Owner::start(self, nonce, cx)),
            Role::Lookup => State::Lookup(Lookup::start(self, nonce, cx)),
            Role::Group => State::Group(Group::start(nonce)),
            Role::Acceptor => State::Acceptor(self.start_acceptor(durable, nonce, cx)),
        }
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match state {
            State::Manager(manager) => self.step_manager(manager, input, cx),
            State::Owner(owner) => self.step_owner(owner, input, cx),
            State::Lookup(lookup) => self.step_lookup(lookup, input, cx),
            State::Group(group) => self.step_group(group, input, cx),
            State::Acceptor(acceptor) => self.step_acceptor(acceptor, input, cx),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        match record {
            Record::Started => durable.was_started = true,
            Record::Paxos(kept) => durable.kept = kept.clone(),
        }
    }

    fn decisions(&self, _: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        if let State::Manager(manager) = state {
            manager.decisions(self, offers);
        }
    }

    fn lapsed(&self, _: NodeId, state: &State, timer: &Timer) -> Option<Observation> {
        match (state, timer) {
            (State::Owner(owner), Timer::Lease(range)) => {
                owner.generation(*range).map(|generation| Observation::Lost { range: *range, generation })
            }
            (State::Manager(manager), Timer::Lead) => {
                let ends = manager.is_in_office() && !self.mutants.has(OLD_LEADER_SERVES);
                ends.then_some(Observation::Deposed)
            }
            (State::Lookup(lookup), Timer::Contact) => lookup.lapsed(),
            (State::Owner(owner), Timer::Contact) => owner.server.lookup.as_ref().and_then(|lookup| lookup.lapsed()),
            _ => None,
        }
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        let has_client = self.has_frontends() && self.role(node) == Role::Lookup;
        if has_client { self.params.operations } else { 0 }
    }

    fn operation(&self, node: NodeId, op: OpId, last: Option<&Answer>, draw: &mut dyn FnMut(u32) -> u32) -> Operation {
        self.client_operation(node, op, last, draw)
    }

    fn recorded_call(&self, operation: &Operation) -> Option<Call> {
        operation.recorded()
    }

    fn recorded_answer(&self, _: &Operation, answer: &Answer) -> Option<Recorded> {
        (*answer != Answer::GaveUp).then(|| answer.recorded())
    }

    fn properties(&self) -> Vec<Property> {
        let applications = apps::watched::properties().into_iter().chain(apps::watched::goals());
        monitor::properties().into_iter().chain(applications).collect()
    }

    fn watch(&self, monitor: &mut Monitor, node: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        Leasing::fold(self, monitor, node, event, watch);
    }

    fn relevance(&self, _: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        match (to, message) {
            (State::Manager(manager), _) => manager.relevance(from, message, self),
            (State::Owner(owner), _) => owner.relevance(message, self),
            (State::Lookup(lookup), Message::LookupResponse { poll, .. }) => lookup.relevance(*poll),
            (State::Lookup(lookup), Message::Reply(reply)) if !lookup.awaits_reply(reply.op, self) => Relevance::Dead,
            _ => Relevance::Always,
        }
    }

    /// The papers state no sizes: 100 bytes a message, and 32 for each lease, line of the table or change in it. A range here
    /// stands for several where consistent hashing has 64 for each Owner (PRS §4.1).
    fn message_size(&self, message: &Message) -> Option<u64> {
        let hashed = match self.params.partitioner {
            PartitionerKind::Hashing => u64::from(self.params.owners) * u64::from(self.params.virtual_nodes),
            PartitionerKind::Free | PartitionerKind::Fixed | PartitionerKind::Ordered => 0,
        };
        let ranges = u64::from(self.params.ranges);
        Some(100 + 32 * message.lines() * hashed.max(ranges) / ranges)
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        let Params { partitioner, candidates, .. } = self.params;
        // Whoever says where a range should be, or whom it is offered to, goes by the Owners' names.
        let goes_by_names = partitioner != PartitionerKind::Free || candidates > 0;
        let mut classes: Vec<Vec<NodeId>> = if goes_by_names { Vec::new() } else { self.pools().collect() };
        // Each frontend's client puts values of its own.
        if !self.has_frontends() {
            classes.push(self.lookups().collect());
        }
        // Ballots order the servers of a Paxos group.
        if self.params.managers > 1 && !self.has_acceptors() {
            classes.push(self.managers().collect());
        }
        classes
    }

    fn is_at_once(&self, message: &Message) -> bool {
        let side = match message {
            Message::GroupRequest { .. } | Message::GroupResponse { .. } => Side::Managers,
            Message::LeaseRequest { .. } | Message::LeaseResponse { .. } => Side::Owners,
            Message::LookupRequest { .. } | Message::LookupResponse { .. } => Side::Lookups,
            _ => return false,
        };
        self.params.at_once.contains(&side)
    }

    fn stands_for(&self, node: NodeId) -> Option<&'static str> {
        let unfailing = |side, name| self.params.unfailing.contains(&side).then_some(name);
        let is_at_once = |side| self.params.at_once.contains(&side);
        match self.role(node) {
            Role::Group if is_at_once(Side::Managers) => Some(
                "the Paxos group, as a leader lease and a register that rules on a bid before anything else happens",
            ),
            Role::Group => Some("the Paxos group, as a leader lease and a register"),
            Role::Manager => unfailing(Side::Managers, "a Manager server that does not fail"),
            Role::Owner if is_at_once(Side::Owners) => Some(
                "an Owner that does not fail, and to and from which all but handed-over state arrives before anything else happens",
            ),
            Role::Owner => unfailing(Side::Owners, "an Owner that does not fail"),
            Role::Lookup if is_at_once(Side::Lookups) => {
                Some("a Lookup that does not fail, and to and from which all arrives before anything else happens")
            }
            Role::Lookup => unfailing(Side::Lookups, "a Lookup that does not fail"),
            Role::Acceptor => None,
        }
    }

    /// The Manager's clock is the unit, or the fastest server's; an Owner's or a Lookup's may be slower or faster by so much
    /// (§2.3.1).
    fn clock(&self, node: NodeId) -> ClockBound {
        match self.role(node) {
            Role::Manager if !self.has_no_group() => {
                ClockBound { longest: self.params.manager_longest, ..ClockBound::EXACT }
            }
            Role::Manager | Role::Group | Role::Acceptor => ClockBound::EXACT,
            Role::Owner | Role::Lookup => ClockBound {
                shortest: self.params.owner_shortest,
                longest: self.params.owner_longest,
                ..ClockBound::EXACT
            },
        }
    }

    /// Without nonces, numbers of a forgotten incarnation are compared with those of the present one. Terms that ballots
    /// number have no one allocator.
    fn tags_are_ranked(&self) -> bool {
        !self.mutants.has(NO_NONCE) && !self.has_acceptors()
    }
}
