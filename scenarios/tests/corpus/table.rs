//! A protocol that is all table: what a node does about each input in each state is data.

use std::collections::BTreeMap;

use seedbed_model::{
    Canonical, ClockBound, Context, Event, Input, NodeId, Nonce, Offers, OpId, Property, Protocol, Ratio, Relevance,
    Span, Stream, Tag, TagKind, Watch,
};

/// A planted fault: a promise to the explorer that the protocol does not keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Messages of kind 0 are said to be dead.
    LiveIsDead,
    /// Messages are said to act like those of kind 0.
    AllActAlike,
    /// All nodes are said to be interchangeable, the hub too.
    HubIsASpoke,
}

/// A small protocol: a hub (node 0) and one or two spokes that share their rules.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) spokes: u16,
    pub(crate) hub: Rules,
    pub(crate) spoke: Rules,
    /// What the monitor does about an observation, from state to state; 4 stands for a crash.
    pub(crate) monitor: BTreeMap<(u8, u8), u8>,
    /// The monitor's state 1 must be followed by state 2 within so many ticks.
    pub(crate) within: Option<u64>,
    /// Whether state 2 must stay reachable.
    pub(crate) again: bool,
    /// Whether state 1 must not last for ever.
    pub(crate) then: bool,
    /// How many operations the hub's client invokes.
    pub(crate) operations: u32,
    /// Whether messages carry their sender's counter, and old ones are ignored.
    pub(crate) tagged: bool,
    /// Whether timers of spokes may run twice as long.
    pub(crate) drift: bool,
    /// Whether dead messages are told.
    pub(crate) tells_dead: bool,
    /// Whether tags may be renamed.
    pub(crate) ranked: bool,
    pub(crate) planted: Option<Planted>,
}

/// What a node does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) start: Vec<Act>,
    /// By state and cause; what is not here does nothing.
    pub(crate) on: BTreeMap<(u8, Cause), Rule>,
    /// The observation that a timer shows by lapsing, by timer.
    pub(crate) lapse: BTreeMap<u8, u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cause {
    Message(u8),
    Timer(u8),
    Durable(u8),
    Operation(u8),
    /// Offered while the rule is here and, for decision 1, timer 0 is armed.
    Decision(u8),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) next: u8,
    /// Drawn between this and `next`.
    pub(crate) or: Option<u8>,
    pub(crate) acts: Vec<Act>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Send(Target, u8),
    Set(u8, u64),
    Copy(u8, u8),
    Cancel(u8),
    /// Writes a record, which is the state to start from; then sends, once it is durable.
    Persist(u8, Option<(Target, u8)>),
    Observe(u8),
    /// Counts the own counter up.
    Bump,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Hub,
    Others,
    /// Whoever sent what is answered; the hub if nobody did.
    Sender,
}

pub(crate) enum Count {}

impl TagKind for Count {
    const ID: u16 = 1;
    const NAME: &'static str = "count";
    const BY_NODE: bool = true;
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct State {
    at: u8,
    mine: Option<Tag<Count>>,
    heard: BTreeMap<NodeId, Tag<Count>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub(crate) struct Message {
    kind: u8,
    tag: Option<Tag<Count>>,
}

impl Table {
    fn rules(&self, node: NodeId) -> &Rules {
        if node.0 == 0 { &self.hub } else { &self.spoke }
    }

    fn react(&self, state: &mut State, cause: Cause, from: Option<NodeId>, cx: &mut Context<'_, Self>) {
        let Some(rule) = self.rules(cx.node()).on.get(&(state.at, cause)) else { return };
        state.at = match rule.or {
            Some(or) if cx.choose(2) == 1 => or,
            _ => rule.next,
        };
        for act in &rule.acts {
            self.act(state, *act, from, cx);
        }
    }

    fn act(&self, state: &mut State, act: Act, from: Option<NodeId>, cx: &mut Context<'_, Self>) {
        match act {
            Act::Send(target, kind) => {
                for to in self.targets(target, from, cx.node()) {
                    cx.send(to, Message { kind, tag: state.mine });
                }
            }
            Act::Set(timer, ticks) => cx.set(timer, Span::ticks(ticks)),
            Act::Copy(from, to) => cx.copy(from, to),
            Act::Cancel(timer) => cx.cancel(timer),
            Act::Persist(record, then) => {
                let ticket = cx.persist(Stream(record % 2), record);
                if let Some((target, kind)) = then {
                    for to in self.targets(target, from, cx.node()) {
                        cx.send_after(ticket, to, Message { kind, tag: state.mine });
                    }
                }
            }
            Act::Observe(what) => cx.observe(what),
            Act::Bump => state.mine = state.mine.map(Tag::next),
        }
    }

    fn targets(&self, target: Target, from: Option<NodeId>, me: NodeId) -> Vec<NodeId> {
        let targets = match target {
            Target::Hub => vec![NodeId(0)],
            Target::Others => (0..=self.spokes).map(NodeId).collect(),
            Target::Sender => vec![from.unwrap_or(NodeId(0))],
        };
        targets.into_iter().filter(|to| *to != me).collect()
    }

    /// Whether every state reacts to the two kinds alike.
    fn act_alike(rules: &Rules, one: u8, other: u8) -> bool {
        let of = |kind| rules.on.iter().filter(move |((_, cause), _)| *cause == Cause::Message(kind));
        of(one).map(|((at, _), rule)| (at, rule)).eq(of(other).map(|((at, _), rule)| (at, rule)))
    }
}

impl Protocol for Table {
    type State = State;
    type Message = Message;
    type Timer = u8;
    type Record = u8;
    type Durable = u8;
    type Operation = u8;
    type Answer = u8;
    type Decision = u8;
    type Observation = u8;
    type Monitor = u8;

    fn nodes(&self) -> Vec<String> {
        (0..=self.spokes).map(|node| if node == 0 { "hub".into() } else { format!("spoke-{node}") }).collect()
    }

    fn start(&self, durable: &u8, _: Nonce, cx: &mut Context<'_, Self>) -> State {
        let mine = self.tagged.then(|| Tag::first(cx.node().0));
        let mut state = State { at: *durable, mine, heard: BTreeMap::new() };
        for act in &self.rules(cx.node()).start {
            self.act(&mut state, *act, None, cx);
        }
        state
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match input {
            Input::Message { from, message } => {
                if let Some(tag) = message.tag {
                    if state.heard.get(&from).is_some_and(|heard| *heard >= tag) {
                        return;
                    }
                    state.heard.insert(from, tag);
                }
                self.react(state, Cause::Message(message.kind), Some(from), cx);
            }
            Input::Timer(timer) => self.react(state, Cause::Timer(timer), None, cx),
            Input::Durable(record) => self.react(state, Cause::Durable(record), None, cx),
            Input::Operation { op, operation } => {
                self.react(state, Cause::Operation(operation), None, cx);
                cx.respond(op, state.at);
            }
            Input::Decision(decision) => self.react(state, Cause::Decision(decision), None, cx),
        }
    }

    fn fold(&self, durable: &mut u8, _: Stream, record: &u8) {
        *durable = *record;
    }

    fn decisions(&self, node: NodeId, state: &State, offers: &mut Offers<'_, Self>) {
        for decision in 0..2 {
            let is_open = self.rules(node).on.contains_key(&(state.at, Cause::Decision(decision)));
            if is_open && (decision == 0 || offers.is_armed(&0)) {
                offers.offer(decision);
            }
        }
    }

    fn lapsed(&self, node: NodeId, _: &State, timer: &u8) -> Option<u8> {
        self.rules(node).lapse.get(timer).copied()
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if node.0 == 0 { self.operations } else { 0 }
    }

    fn operation(&self, _: NodeId, _: OpId, _: Option<&u8>, draw: &mut dyn FnMut(u32) -> u32) -> u8 {
        draw(2) as u8
    }

    fn properties(&self) -> Vec<Property> {
        let mut all = vec![
            Property::always("never", "the monitor's state is never 3"),
            Property::sometimes("once", "the monitor's state is 1 at some time"),
        ];
        if self.within.is_some() {
            all.push(Property::within("soon", "state 1 is followed by state 2 in time"));
        }
        if self.again {
            all.push(Property::reachable_always("again", "state 2 can always be reached"));
        }
        if self.then {
            all.push(Property::eventually("then", "state 1 does not last for ever"));
        }
        all
    }

    fn owes(&self, monitor: &u8, _: &str) -> bool {
        *monitor == 1
    }

    fn watch(&self, monitor: &mut u8, _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        let seen = match event {
            Event::Observed(what) => *what,
            Event::Crashed => 4,
            Event::Deadline(_) => return watch.violated("soon", "state 2 came too late"),
            _ => return,
        };
        let Some(next) = self.monitor.get(&(*monitor, seen)) else { return };
        *monitor = *next;
        match (*next, self.within) {
            (1, within) => {
                watch.reached("once");
                if let Some(ticks) = within {
                    watch.set_deadline(0, Span::ticks(ticks));
                }
            }
            (2, _) => {
                watch.reached("again");
                watch.clear_deadline(0);
            }
            (3, _) => watch.violated("never", format!("observation {seen} led to state 3")),
            _ => {}
        }
    }

    fn relevance(&self, node: NodeId, to: &State, from: NodeId, message: &Message) -> Relevance<Message> {
        match self.planted {
            Some(Planted::LiveIsDead) if message.kind == 0 => return Relevance::Dead,
            Some(Planted::AllActAlike) => return Relevance::Same(Message { kind: 0, ..message.clone() }),
            _ if !self.tells_dead => return Relevance::Always,
            _ => {}
        }
        let rules = self.rules(node);
        if let Some(tag) = message.tag {
            let is_old = to.heard.get(&from).is_some_and(|heard| *heard >= tag);
            return if is_old { Relevance::Dead } else { Relevance::Live };
        }
        let reacts = |at: Option<u8>| {
            let is_here = |state: u8| at.is_none_or(|at| state == at);
            rules
                .on
                .keys()
                .any(|(state, cause)| is_here(*state) && (at.is_some() || *cause == Cause::Message(message.kind)))
        };
        // No state reacts to the kind, or the receiver's state reacts to nothing and so is its last.
        if !reacts(None) || !reacts(Some(to.at)) {
            return Relevance::Dead;
        }
        match (0..message.kind).find(|kind| Table::act_alike(rules, *kind, message.kind)) {
            Some(kind) => Relevance::Same(Message { kind, tag: None }),
            None => Relevance::Live,
        }
    }

    fn symmetry(&self) -> Vec<Vec<NodeId>> {
        let first = if self.planted == Some(Planted::HubIsASpoke) { 0 } else { 1 };
        vec![(first..=self.spokes).map(NodeId).collect()]
    }

    fn clock(&self, node: NodeId) -> ClockBound {
        if self.drift && node.0 > 0 {
            ClockBound { longest: Ratio::new(2, 1), ..ClockBound::EXACT }
        } else {
            ClockBound::EXACT
        }
    }

    fn tags_are_ranked(&self) -> bool {
        self.ranked
    }
}
