//! Writing histories as JSON Lines or EDN: what [`super::lines`] and [`super::edn`] read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use seedbed_model::history::Value;
use serde_json::{Map, Value as Json};

use super::events::Type;
use super::recorder::Seen;
use crate::console::part;
use crate::exit::BadInput;

/// A file that a run's history goes to as it happens: never more than an event is held. It has another name until it is
/// whole.
pub(crate) struct HistoryFile {
    path: PathBuf,
    out: BufWriter<File>,
    is_edn: bool,
    /// Events so far.
    count: u64,
    failed: io::Result<()>,
}

impl HistoryFile {
    /// EDN if the name ends so, else JSON Lines.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, BadInput> {
        let file = File::create(part(path)).map_err(|error| refused(path, &error))?;
        let is_edn = path.extension().is_some_and(|extension| extension == "edn");
        Ok(HistoryFile { path: path.to_owned(), out: BufWriter::new(file), is_edn, count: 0, failed: Ok(()) })
    }

    /// The next event. What goes wrong is said by [`Self::finish`].
    pub(crate) fn write(&mut self, seen: &Seen) {
        if self.failed.is_ok() {
            let line = if self.is_edn { edn(seen) } else { json(seen) };
            self.failed = writeln!(self.out, "{line}");
            self.count += 1;
        }
    }

    /// # Errors
    /// If something could not be written, or there was nothing to write; then there is no file.
    pub(crate) fn finish(self) -> Result<(), BadInput> {
        let HistoryFile { path, mut out, count, failed, .. } = self;
        let part = part(&path);
        let written = failed.and_then(|()| out.flush());
        let ended = match (written, count) {
            (Ok(()), 0) => Err(BadInput::flag(
                "--history: no operation of the run is recorded: its protocol has no clients that `recorded_call` knows, \
                 or the run ends before the first",
            )),
            (written, _) => written.and_then(|()| fs::rename(&part, &path)).map_err(|error| refused(&path, &error)),
        };
        if ended.is_err() {
            // What may lie there is of no use; that it cannot be removed either changes nothing.
            let _ = fs::remove_file(&part);
        }
        ended
    }
}

fn refused(path: &Path, error: &io::Error) -> BadInput {
    BadInput::file(path.display().to_string(), format!("write the history: {error}"))
}

/// What an event says of its operation: an answer, or what was asked.
fn value(seen: &Seen) -> &Value {
    seen.answer.as_ref().unwrap_or(&seen.call.argument)
}

fn json(seen: &Seen) -> String {
    let mut object = Map::new();
    object.insert("process".into(), seen.process.into());
    object.insert("type".into(), seen.kind.name().into());
    object.insert("f".into(), seen.call.name.clone().into());
    if seen.call.key != Value::Nil {
        object.insert("key".into(), json_value(&seen.call.key));
    }
    object.insert("value".into(), json_value(value(seen)));
    object.insert("time".into(), seen.at_ns.into());
    Json::Object(object).to_string()
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Integer(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::List(items) => items.iter().map(json_value).collect(),
    }
}

fn edn(seen: &Seen) -> String {
    let key = match &seen.call.key {
        Value::Nil => String::new(),
        key => format!(", :key {}", edn_value(key)),
    };
    format!(
        "{{:process {}, :type :{}, :f :{}{key}, :value {}, :time {}}}",
        seen.process,
        seen.kind.name(),
        seen.call.name,
        edn_value(value(seen)),
        seen.at_ns
    )
}

fn edn_value(value: &Value) -> String {
    match value {
        Value::Text(text) => {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
            format!("\"{escaped}\"")
        }
        Value::List(items) => format!("[{}]", items.iter().map(edn_value).collect::<Vec<_>>().join(" ")),
        other => other.to_string(),
    }
}

impl Type {
    /// In every format.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Invoke => "invoke",
            Type::Ok => "ok",
            Type::Fail => "fail",
            Type::Info => "info",
        }
    }
}

#[cfg(test)]
mod tests {
    use seedbed_model::history::Call;

    use super::*;
    use crate::history::{edn as edn_format, lines};
    use seedbed_model::{NodeId, OpId};

    #[test]
    fn what_is_written_reads_back() {
        let list = Value::List(vec![Value::Nil, true.into(), (-7).into(), "a \"b\"\n\\".into()]);
        let calls = [Call::new("write", list), Call::new("read", Value::Nil).on("key\t1")];
        for (call, answer) in calls.into_iter().zip([None, Some(Value::from(i64::MIN))]) {
            let (node, op) = (NodeId(3), OpId(0));
            let seen = Seen { at_ns: 12, step: 1, node, op, process: 3, kind: Type::Ok, call, answer };
            for events in [lines::read(&json(&seen)), edn_format::read(&edn(&seen))] {
                let events = events.expect("it is well-formed");
                let [event] = events.as_slice() else { panic!("one event, not {events:?}") };
                assert_eq!((event.process, event.kind, &event.name), (3, Type::Ok, &seen.call.name));
                assert_eq!(event.value, *value(&seen));
                assert_eq!(event.key.clone().unwrap_or_default(), seen.call.key);
            }
        }
    }
}
