//! What every driver of a node promises, as a protocol that watches for it.
//!
//! A writer writes record after record, tells each to a reader once it is durable, and at once says a burst of numbered
//! words; a timer is set with each, and another is set and cancelled. Whatever kills and restarts the nodes, the properties
//! hold of a driver that keeps its promises: under the simulator, the host in madsim's world, the host on sockets.

use seedbed_model::{
    Canonical, Context, Event, Family, Input, Mutants, NodeId, Nonce, OpId, Property, Protocol, Span, Stream, Watch,
};
use serde::{Deserialize, Serialize};

/// The node that writes.
pub const WRITER: NodeId = NodeId(0);
/// The node that is told.
pub const READER: NodeId = NodeId(1);

const BEFORE_ITS_RECORD: &str = "nothing-before-its-record";
const KEPT: &str = "what-is-durable-is-kept";
const IN_ORDER: &str = "effects-in-order";
const NOTHING_EARLIER: &str = "nothing-of-an-earlier-incarnation";
const NEVER_EARLY: &str = "a-timer-is-never-early";
const ONCE: &str = "a-timer-fires-once";
const CANCELLED: &str = "a-cancelled-timer-never-fires";
const WHOLE: &str = "records-are-whole";

/// How much is promised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Params {
    /// How many records are written, if none is lost.
    pub operations: u32,
    /// Whether messages between two nodes arrive in the order in which they were sent.
    pub ordered: bool,
    /// Whether nothing of a sender's earlier incarnation arrives after something of a later one.
    pub aged: bool,
    /// How long the timer runs.
    pub span: Span,
}

impl Default for Params {
    fn default() -> Self {
        Params { operations: 60, ordered: true, aged: true, span: Span::millis(20) }
    }
}

/// The protocol.
#[derive(Debug, Clone)]
pub struct Promises {
    params: Params,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum State {
    /// The one that writes.
    Writer(Writer),
    /// The one that is told.
    Reader,
}

/// The writer's volatile state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Writer {
    nonce: Nonce,
    /// The latest record written, durable or not.
    latest: u32,
    /// Whether the timer was set and has not fired.
    is_waiting: bool,
}

/// What the writer tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Message {
    /// The record is durable.
    Written(Nonce, u32),
    /// A word of the burst with this record.
    Word(Nonce, u32, u8),
}

/// The writer's timers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Timer {
    /// Set with each record, and left to fire.
    Left,
    /// Set with each record, and cancelled once it is durable, which comes first: it is set for very long.
    Cancelled,
}

/// A record: its number, and a body that a torn write would spoil.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Record(u32, Vec<u32>);

/// What the disk holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Durable {
    latest: u32,
    /// Whether a record was not as it was written.
    is_spoiled: bool,
}

/// What nodes show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub enum Observation {
    /// The writer starts, and its disk holds this.
    Holds(Durable),
    /// The record is durable.
    Durable(u32),
    /// A record is written, and the timer set.
    Wrote(u32),
    /// It fired: whether it was set.
    Fired(bool),
    /// The other one fired.
    CancelledFired,
    /// The reader was told of a record.
    Told(Nonce, u32),
    /// The reader heard a word.
    Heard(Nonce, u32, u8),
}

/// What the properties remember.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Monitor {
    told: u32,
    written: u32,
    durable: u32,
    heard: Option<(Nonce, u32, u8)>,
    /// Whether the timer's span has not passed yet.
    is_early: bool,
}

const WORDS: u8 = 3;
const NOT_YET: u32 = 0;

impl Record {
    fn new(number: u32) -> Record {
        Record(number, vec![number; 50])
    }

    fn is_whole(&self) -> bool {
        *self == Record::new(self.0)
    }
}

impl Writer {
    fn write(&mut self, op: OpId, params: &Params, cx: &mut Context<'_, Promises>) {
        self.latest += 1;
        let ticket = cx.persist(Stream(0), Record::new(self.latest));
        cx.send_after(ticket, READER, Message::Written(self.nonce, self.latest));
        for word in 0..WORDS {
            cx.send(READER, Message::Word(self.nonce, self.latest, word));
        }
        cx.respond_after(ticket, op, self.latest);
        cx.set(Timer::Left, params.span);
        cx.set(Timer::Cancelled, Span::secs(3_600));
        self.is_waiting = true;
        cx.observe(Observation::Wrote(self.latest));
    }

    fn fired(&mut self, timer: &Timer, cx: &mut Context<'_, Promises>) {
        match timer {
            Timer::Left => {
                cx.observe(Observation::Fired(self.is_waiting));
                self.is_waiting = false;
            }
            Timer::Cancelled => cx.observe(Observation::CancelledFired),
        }
    }
}

impl Protocol for Promises {
    type State = State;
    type Message = Message;
    type Timer = Timer;
    type Record = Record;
    type Durable = Durable;
    /// One record more.
    type Operation = ();
    /// Which it is.
    type Answer = u32;
    type Decision = seedbed_model::Never;
    type Observation = Observation;
    type Monitor = Monitor;

    fn nodes(&self) -> Vec<String> {
        vec!["writer".into(), "reader".into()]
    }

    fn start(&self, durable: &Durable, nonce: Nonce, cx: &mut Context<'_, Self>) -> State {
        if cx.node() == READER {
            return State::Reader;
        }
        cx.observe(Observation::Holds(durable.clone()));
        State::Writer(Writer { nonce, latest: durable.latest, is_waiting: false })
    }

    fn step(&self, state: &mut State, input: Input<Self>, cx: &mut Context<'_, Self>) {
        match (state, input) {
            (State::Writer(writer), Input::Operation { op, .. }) => writer.write(op, &self.params, cx),
            (State::Writer(writer), Input::Timer(timer)) => writer.fired(&timer, cx),
            (State::Writer(_), Input::Durable(record)) => {
                cx.cancel(Timer::Cancelled);
                cx.observe(Observation::Durable(record.0));
            }
            (State::Reader, Input::Message { message: Message::Written(nonce, number), .. }) => {
                cx.observe(Observation::Told(nonce, number));
            }
            (State::Reader, Input::Message { message: Message::Word(nonce, number, word), .. }) => {
                cx.observe(Observation::Heard(nonce, number, word));
            }
            _ => cx.mark("input for another node"),
        }
    }

    fn fold(&self, durable: &mut Durable, _: Stream, record: &Record) {
        durable.latest = record.0;
        durable.is_spoiled |= !record.is_whole();
    }

    fn operation_count(&self, node: NodeId) -> u32 {
        if node == WRITER { self.params.operations } else { 0 }
    }

    fn operation(&self, _: NodeId, _: OpId, _: Option<&u32>, _: &mut dyn FnMut(u32) -> u32) {}

    fn properties(&self) -> Vec<Property> {
        vec![
            Property::always(BEFORE_ITS_RECORD, "what waits for a record leaves once the record cannot be lost"),
            Property::always(KEPT, "a record that was reported durable is there after every crash"),
            Property::always(WHOLE, "a record is read as it was written, or not at all"),
            Property::always(IN_ORDER, "what a step does happens in the order in which it is done"),
            Property::always(
                NOTHING_EARLIER,
                "nothing of an earlier incarnation arrives after something of a later one",
            ),
            Property::always(NEVER_EARLY, "a timer fires at its end or later"),
            Property::always(ONCE, "a timer fires at most once for each time it was set"),
            Property::always(CANCELLED, "a cancelled timer does not fire"),
            Property::sometimes("lost-a-record", "a crash took a record that was not durable"),
        ]
    }

    fn watch(&self, monitor: &mut Monitor, _: NodeId, event: &Event<Self>, watch: &mut Watch<'_>) {
        match event {
            Event::Deadline(NOT_YET) => monitor.is_early = false,
            Event::Observed(Observation::Holds(durable)) => monitor.holds(durable, watch),
            Event::Observed(Observation::Durable(number)) => monitor.durable = *number,
            Event::Observed(Observation::Wrote(number)) => {
                monitor.written = *number;
                monitor.is_early = true;
                watch.set_deadline(NOT_YET, self.params.span);
            }
            Event::Observed(Observation::Fired(was_set)) => {
                if !was_set {
                    watch.violated(ONCE, "the timer fired, and was not set");
                }
                if monitor.is_early {
                    watch.violated(NEVER_EARLY, "the timer fired before its end");
                }
            }
            Event::Observed(Observation::CancelledFired) => watch.violated(CANCELLED, "the cancelled timer fired"),
            Event::Observed(Observation::Told(_, number)) => monitor.told = monitor.told.max(*number),
            Event::Observed(Observation::Heard(nonce, number, word)) => {
                monitor.heard((*nonce, *number, *word), &self.params, watch);
            }
            Event::Crashed | Event::Started => {
                monitor.is_early = false;
                watch.clear_deadline(NOT_YET);
            }
            _ => {}
        }
    }
}

impl Monitor {
    fn holds(&mut self, durable: &Durable, watch: &mut Watch<'_>) {
        if durable.is_spoiled {
            watch.violated(WHOLE, "the disk holds a record that nobody wrote");
        }
        if durable.latest < self.durable {
            let detail = format!("the disk holds {} records, and {} were durable", durable.latest, self.durable);
            watch.violated(KEPT, detail);
        }
        if durable.latest < self.told {
            let detail = format!("the disk holds {} records, and the reader was told of {}", durable.latest, self.told);
            watch.violated(BEFORE_ITS_RECORD, detail);
        }
        if durable.latest < self.written {
            watch.reached("lost-a-record");
        }
        self.durable = durable.latest;
        self.written = durable.latest;
    }

    fn heard(&mut self, word: (Nonce, u32, u8), params: &Params, watch: &mut Watch<'_>) {
        if let Some(before) = &self.heard {
            if params.aged && word.0 < before.0 {
                watch.violated(NOTHING_EARLIER, format!("{word:?} came after {before:?}"));
            } else if params.ordered && word.0 == before.0 && word <= *before {
                watch.violated(IN_ORDER, format!("{word:?} came after {before:?}"));
            }
        }
        self.heard = Some(word);
    }
}

/// The promises as the command sees them.
#[derive(Debug)]
pub enum PromisesFamily {}

impl Family for PromisesFamily {
    type Protocol = Promises;
    type Params = Params;
    const NAME: &'static str = "promises";
    const SUMMARY: &'static str = "what every driver of a node promises";

    fn build(params: &Params, _: Mutants) -> Result<Promises, String> {
        Ok(Promises { params: params.clone() })
    }
}

impl Promises {
    /// The promises, as far as `params` say.
    pub fn new(params: Params) -> Promises {
        Promises { params }
    }
}
