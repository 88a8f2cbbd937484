//! A single server and its clients, one operation at a time.

use std::collections::BTreeMap;

use seedbed_model::Mutants;
use serde_json::{Map, Value, json};

use super::fields::Fields;
use super::words::{self, BASE, Name, Operation, Writer};
use super::{Problem, difference, shortened};
use crate::zab::message::Zxid;
use crate::zookeeper::acl;
use crate::zookeeper::processor::Processor;
use crate::zookeeper::tree::{Tree, Trigger};
use crate::zookeeper::txn::{Answer, Change, Create, ErrorKind, PACKET_LENGTH_MAX, Read, Request, Session, Txn, Write};
use crate::zookeeper::watches::{ClientWatches, Watches};

/// So many ephemeral nodes of a session that ends are tried in all their orders; more go by their paths.
const ORDERED_COUNT_MAX: usize = 6;

/// A watch that fired.
type Fired = (Name, u32, Trigger);

#[derive(Debug, Clone)]
pub(super) struct Play {
    tree: Tree,
    processor: Processor,
    watches: Watches,
    last: Zxid,
    base: Zxid,
    /// All sessions there ever were.
    names: BTreeMap<Session, Name>,
    /// Those that are open, with what their clients watch.
    open: BTreeMap<Name, (Session, ClientWatches)>,
}

impl Play {
    pub(super) fn new(sessions: &[String]) -> Result<Play, Problem> {
        let mut play = Play {
            tree: Tree::default(),
            processor: Processor::default(),
            watches: Watches::default(),
            last: Zxid::ZERO,
            base: Zxid::ZERO,
            names: BTreeMap::new(),
            open: BTreeMap::new(),
        };
        let mut first = None;
        for text in sessions {
            let name = name_of(text)?;
            if play.open.contains_key(&name) {
                return Err(Problem::malformed(format!("two sessions `{name}`"), "a name for each"));
            }
            first = Some(play.opens(name));
        }
        let Some(first) = first else {
            return Err(Problem::malformed("no sessions", "the sessions in the order in which they were opened"));
        };
        let root =
            Create { path: BASE.into(), data: String::new(), acl: acl::open(), ephemeral: false, sequential: false };
        play.write(first, Write::Create(root));
        play.base = play.last;
        Ok(play)
    }

    /// Does what the line says was done, and compares all that it says came of it. How many watches fired.
    pub(super) fn compare(&mut self, line: Map<String, Value>, index: usize) -> Result<usize, Problem> {
        let mut fields = Fields::of(line, format!("operation {index}"));
        if fields.number("i")? != index as i64 {
            return Err(Problem::malformed("an operation out of order", format!("`i` {index}")));
        }
        let name = name_of(&fields.text("c")?)?;
        if !self.open.contains_key(&name) {
            return Err(Problem::malformed(format!("session `{name}`"), "a session that is open"));
        }
        let operation = words::operation(&mut fields)?;
        let recorded = Recorded::of(&mut fields)?;
        fields.end()?;
        let what = format!("operation {index}");
        let mut first = None;
        for order in self.orders(name, &operation) {
            let mut tried = self.clone();
            let (answer, fired) = tried.perform(name, operation.clone(), order);
            match tried.difference(&what, &answer, &fired, &recorded) {
                None => {
                    *self = tried;
                    return Ok(fired.len());
                }
                Some(problem) => first = first.or(Some(problem)),
            }
        }
        Err(first.expect("there is an order"))
    }

    /// The tree, as it is recorded at the end.
    pub(super) fn tree(&self) -> Value {
        let writer = self.writer();
        let nodes = self.tree.nodes().filter_map(|(path, node)| Some((words::relative(path)?, node)));
        let object = nodes
            .map(|(path, node)| (path.to_owned(), json!({ "data": node.data, "stat": writer.stat(&node.stat()) })));
        Value::Object(object.collect())
    }

    /// In which orders the session's ephemeral nodes may go, where the operation ends it.
    fn orders(&self, name: Name, operation: &Operation) -> Vec<Vec<String>> {
        let paths: Vec<String> = self.tree.ephemerals(self.open[&name].0).cloned().collect();
        match operation {
            Operation::Reopen if paths.len() <= ORDERED_COUNT_MAX => permutations(&paths),
            _ => vec![paths],
        }
    }

    fn perform(&mut self, name: Name, operation: Operation, order: Vec<String>) -> (Answer, Vec<Fired>) {
        let session = self.open[&name].0;
        match operation {
            Operation::Write(write) => self.write(session, write),
            Operation::Read(read, watch) => (self.read(name, &read, watch), Vec::new()),
            Operation::Sync => (Answer::Synced, Vec::new()),
            Operation::Reopen => {
                let mut txn = self.prepare(session, Write::CloseSession);
                if let Change::CloseSession { paths } = &mut txn.change {
                    *paths = order;
                }
                // Nobody is told who is gone.
                self.open.remove(&name);
                self.watches.forget(session);
                let (_, fired) = self.apply(&txn);
                let session = self.opens(Name { generation: name.generation + 1, ..name });
                (Answer::Opened(session), fired)
            }
        }
    }

    fn read(&mut self, name: Name, read: &Read, watch: Option<u32>) -> Answer {
        let answer = self.tree.read(read, &[]);
        if let (Some(watch), Some((session, watches))) = (watch, self.open.get_mut(&name)) {
            self.watches.set(*session, read, &answer);
            watches.set(watch, read, &answer);
        }
        answer
    }

    fn write(&mut self, session: Session, write: Write) -> (Answer, Vec<Fired>) {
        if write.packet_length() > PACKET_LENGTH_MAX {
            return (Answer::Failed(ErrorKind::ConnectionLoss), Vec::new());
        }
        let txn = self.prepare(session, write);
        self.apply(&txn)
    }

    fn opens(&mut self, name: Name) -> Session {
        // Whose request it is, nobody looks at.
        let txn = self.prepare(Session(Zxid::ZERO), Write::CreateSession);
        self.apply(&txn);
        self.names.insert(txn.session, name);
        self.open.insert(name, (txn.session, ClientWatches::default()));
        txn.session
    }

    fn prepare(&mut self, session: Session, write: Write) -> Txn {
        self.last = self.last.next_in(self.last.epoch);
        let request = Request { session, identities: Vec::new(), write };
        self.processor.process(&self.tree, &request, self.last, &Mutants::none())
    }

    fn apply(&mut self, txn: &Txn) -> (Answer, Vec<Fired>) {
        let (answer, triggers) = self.tree.apply(txn, &Mutants::none());
        self.processor.applied(txn.zxid);
        let mut fired = Vec::new();
        for trigger in triggers {
            for session in self.watches.fire(&trigger) {
                let name = self.names[&session];
                let Some((_, watches)) = self.open.get_mut(&name) else { continue };
                fired.extend(watches.fire(&trigger).into_iter().map(|watch| (name, watch, trigger.clone())));
            }
        }
        // By session, and for each in the order in which it was told.
        fired.sort_by_key(|(name, ..)| *name);
        (answer, fired)
    }

    fn difference(&self, what: &str, answer: &Answer, fired: &[Fired], recorded: &Recorded) -> Option<Problem> {
        let writer = self.writer();
        let (key, result) = writer.result(answer);
        let (recorded_key, recorded_result) = &recorded.result;
        if key != *recorded_key {
            let worded = |key: &str, value: &Value| shortened(&format!("{key} {value}"));
            return Some(Problem::Differs {
                what: what.to_owned(),
                found: worded(key, &result),
                recorded: worded(recorded_key, recorded_result),
            });
        }
        let told = |(name, watch, trigger): &Fired| {
            let path = words::relative(&trigger.path);
            json!({ "c": name.to_string(), "w": watch, "type": words::event(trigger.event), "path": path })
        };
        let fired = Value::Array(fired.iter().map(told).collect());
        difference(&format!("{what}, {key}"), &result, recorded_result)
            .or_else(|| difference(&format!("{what}, zxid"), &writer.zxid(self.last).into(), &recorded.zxid))
            .or_else(|| difference(&format!("{what}, watches"), &fired, &recorded.watches))
    }

    fn writer(&self) -> Writer<'_> {
        Writer { base: self.base, names: &self.names }
    }
}

/// What a line says came of an operation.
struct Recorded {
    result: (&'static str, Value),
    zxid: Value,
    watches: Value,
}

impl Recorded {
    fn of(fields: &mut Fields) -> Result<Recorded, Problem> {
        let result = match (fields.take_if_there("ok"), fields.take_if_there("err")) {
            (Some(value), None) => ("ok", value),
            (None, Some(value)) => ("err", value),
            (None, None) => return Err(Problem::malformed("no `ok` and no `err`", "one of them")),
            (Some(_), Some(_)) => return Err(Problem::malformed("both `ok` and `err`", "one of them")),
        };
        Ok(Recorded { result, zxid: fields.number("zxid")?.into(), watches: fields.list("watches")?.into() })
    }
}

fn name_of(text: &str) -> Result<Name, Problem> {
    Name::of(text).ok_or_else(|| Problem::malformed(format!("session `{}`", shortened(text)), "client.generation"))
}

fn permutations(items: &[String]) -> Vec<Vec<String>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let mut rest = items.to_vec();
        let item = rest.remove(first);
        permutations(&rest).into_iter().map(move |mut order| {
            order.insert(0, item.clone());
            order
        })
    };
    (0..items.len()).flat_map(with_first).collect()
}
