//! The data store (§5.1): "individual rows, ordered; single writes are durable and atomic"; nothing more.
//!
//! A write is under way until it is delivered: it is then applied, and answered once it is durable. Those under way are applied in
//! any order; one that is not answered may be lost, applied, or applied later, also after TaskMaster has started again, since what is
//! under way outlives a crash of its sender. A cell has a timestamp, as Bigtable's have, which the writer gives: of several writes the
//! one of the latest timestamp is shown, in whatever order they come.

use std::collections::BTreeMap;
use std::ops::Bound;

use seedbed_model::{Canonical, Context, Input, NodeId, Nonce, Part, Span};

use super::message::{Found, Message, Minimum, Observation, Read, Timer, Write};
use super::task::{Atom, Counter, Name, Pid, Queue, Row, Task, Ticket};
use super::{TaskMaster, Workload, mutants};

/// What it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Store {
    tasks: Part<BTreeMap<Row, Cell<Option<Task>>>>,
    log: Part<BTreeMap<Ticket, Atom>>,
    counters: Part<BTreeMap<Queue, Cell<Counter>>>,
    /// Of each TaskMaster node.
    minima: Part<BTreeMap<NodeId, Cell<Minimum>>>,
    /// Random reads that take their time, in the order in which they came.
    reading: BTreeMap<u32, (NodeId, Message)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
struct Cell<T: Canonical> {
    version: Ticket,
    value: T,
}

impl Store {
    /// With these tasks, available and counted.
    pub fn new(first: &[Name]) -> Store {
        // Before all that any incarnation writes.
        let version = Ticket { incarnation: Nonce::first(1), number: 0 };
        let mut store = Store::default();
        for (queue, pid) in first {
            let row = Row { queue: *queue, generation: 0, pid: *pid };
            store.tasks.insert(row, Cell { version, value: Some(Task::available(0)) });
            let cell = store.counters.entry(*queue).or_insert(Cell { version, value: Counter::default() });
            cell.value.available += 1;
            cell.value.last = cell.value.last.max(*pid);
        }
        store
    }

    /// One input.
    pub fn step(&mut self, input: Input<TaskMaster>, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match input {
            Input::Message { from, message } if is_random_read(&message) && rules.params.random_read > Span::ZERO => {
                let number = self.reading.last_key_value().map_or(0, |(last, _)| last + 1);
                self.reading.insert(number, (from, message));
                cx.set(Timer::Read(number), rules.params.random_read);
            }
            Input::Message { from, message } => self.on_message(from, message, rules, cx),
            Input::Timer(Timer::Read(number)) => {
                if let Some((from, message)) = self.reading.remove(&number) {
                    self.on_message(from, message, rules, cx);
                }
            }
            _ => cx.mark("input out of place"),
        }
    }

    /// A request is carried out.
    fn on_message(&mut self, from: NodeId, message: Message, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        match message {
            _ if self.is_dead(&message, rules) => cx.mark("store: too late to change anything"),
            Message::Read { nonce, asker, read } => {
                if rules.params.workload != Workload::Mixed {
                    cx.mark("store-read");
                }
                let found = self.read(read, from);
                cx.send(from, Message::Found { nonce, asker, read, found });
            }
            Message::Write { nonce, version, write } => {
                if self.is_of_the_past(nonce) {
                    cx.mark("late-write");
                }
                let place = write.place();
                self.write(version, write, rules, cx);
                cx.send(from, Message::Written { nonce, version, place });
            }
            _ => cx.mark("message out of place"),
        }
    }

    /// Whether it changes nothing, and nobody waits for the answer.
    pub fn is_dead(&self, message: &Message, rules: &TaskMaster) -> bool {
        match message {
            Message::Read { nonce, .. } => self.is_of_the_past(*nonce),
            // What is trimmed is never read again: it is gone, and what comes of it goes.
            Message::Write { version, write: Write::Log(_), .. } => {
                self.minimum_of(version.incarnation).is_some_and(|cell| *version <= cell.value.trimmed)
            }
            Message::Write { nonce, version, write } => {
                self.is_of_the_past(*nonce) && !self.would_show(*version, write, rules)
            }
            _ => false,
        }
    }

    fn is_of_the_past(&self, nonce: Nonce) -> bool {
        self.minimum_of(nonce).is_some_and(|cell| nonce < cell.value.owner)
    }

    /// Of the node whose incarnation it is.
    fn minimum_of(&self, nonce: Nonce) -> Option<&Cell<Minimum>> {
        self.minima.get(&NodeId(nonce.scope()))
    }

    fn would_show(&self, version: Ticket, write: &Write, rules: &TaskMaster) -> bool {
        if rules.has(mutants::WRITES_AS_THEY_COME) {
            return true;
        }
        let shown = match write {
            Write::Task(row, _) => self.tasks.get(row).map(|cell| cell.version),
            Write::Counter(queue, _) => self.counters.get(queue).map(|cell| cell.version),
            Write::Minimum(_) => self.minimum_of(version.incarnation).map(|cell| cell.version),
            Write::Log(_) => None,
        };
        shown.is_none_or(|shown| version > shown)
    }

    fn write(&mut self, version: Ticket, write: Write, rules: &TaskMaster, cx: &mut Context<'_, TaskMaster>) {
        if !self.would_show(version, &write, rules) {
            return cx.mark("write of an earlier timestamp");
        }
        match write {
            Write::Task(row, value) => {
                self.tasks.insert(row, Cell { version, value });
                cx.observe(Observation::Applied(row, value));
            }
            Write::Log(atom) => {
                self.log.insert(version, atom);
            }
            Write::Counter(queue, value) => {
                self.counters.insert(queue, Cell { version, value });
            }
            Write::Minimum(value) => {
                self.minima.insert(NodeId(version.incarnation.scope()), Cell { version, value });
                let node = version.incarnation.scope();
                let is_trimmed = |ticket: &Ticket| *ticket <= value.trimmed && ticket.incarnation.scope() == node;
                while let Some(ticket) = self.first_logged(node).filter(is_trimmed) {
                    self.log.remove(&ticket);
                }
            }
        }
    }

    /// The first of a node's log.
    fn first_logged(&self, node: u16) -> Option<Ticket> {
        let first = Ticket { incarnation: Nonce::first(node), number: 0 };
        self.log.range(first..).next().map(|(ticket, _)| *ticket)
    }

    fn read(&self, read: Read, from: NodeId) -> Found {
        match read {
            Read::Minimum => Found::Minimum(self.minima.get(&from).map(|cell| cell.value)),
            Read::MinimumOf(node) => Found::Minimum(self.minima.get(&node).map(|cell| cell.value)),
            Read::Log(after) => {
                let last = Ticket { number: u32::MAX, ..after };
                let behind = self.log.range((Bound::Excluded(after), Bound::Included(last)));
                Found::Log(behind.map(|(ticket, atom)| (*ticket, atom.clone())).collect())
            }
            Read::Counters => Found::Counters(self.counters.iter().map(|(queue, cell)| (*queue, cell.value)).collect()),
            Read::Row(row) => Found::Tasks(self.scan(row, row).collect()),
            Read::Tasks { from, count } => {
                let last = Row { pid: Pid(u32::MAX), ..from };
                Found::Tasks(self.scan(from, last).take(count as usize).collect())
            }
            Read::Old(queue, generation) => {
                let first = Row { queue, generation: 0, pid: Pid(0) };
                let last = Row { queue, generation, pid: Pid(0) };
                Found::Tasks(self.scan(first, last).filter(|(row, _)| *row != last).collect())
            }
        }
    }

    fn scan(&self, first: Row, last: Row) -> impl Iterator<Item = (Row, Task)> {
        self.tasks.range(first..=last).filter_map(|(row, cell)| cell.value.map(|task| (*row, task)))
    }
}

/// Of one row; all else is a scan.
fn is_random_read(message: &Message) -> bool {
    matches!(message, Message::Read { read: Read::Row(_), .. })
}
