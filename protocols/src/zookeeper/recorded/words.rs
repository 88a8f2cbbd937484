//! Recorded operations as requests, and answers as they are recorded.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::fields::Fields;
use super::{Problem, shortened};
use crate::zab::message::Zxid;
use crate::zookeeper::acl;
use crate::zookeeper::tree::TreeEvent;
use crate::zookeeper::txn::{Answer, Create, Read, Session, Stat, Write};

/// The node that all recorded paths are relative to.
pub(super) const BASE: &str = "/recorded";

/// A session by its name, `k.g`: client k, generation g. In the order in which notifications are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) client: u32,
    pub(super) generation: u32,
}

impl Name {
    pub(super) fn of(text: &str) -> Option<Name> {
        let (client, generation) = text.split_once('.')?;
        let name = Name { client: client.parse().ok()?, generation: generation.parse().ok()? };
        (name.to_string() == text).then_some(name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.client, self.generation)
    }
}

/// A recorded operation.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Write(Write),
    Read(Read, Option<u32>),
    Sync,
    Reopen,
}

/// The operation of a line, whose other fields are left.
pub(super) fn operation(fields: &mut Fields) -> Result<Operation, Problem> {
    const KNOWN: &str = "create, set, delete, get, exists, children, multi, get_acl, sync or reopen";
    let name = fields.text("op")?;
    let read = |fields: &mut Fields, read: fn(String) -> Read| {
        Ok(Operation::Read(read(absolute(&fields.text("path")?)), fields.watch("watch")?))
    };
    Ok(match name.as_str() {
        "get" => return read(fields, Read::Data),
        "exists" => return read(fields, Read::Exists),
        "children" => return read(fields, Read::Children),
        "get_acl" => Operation::Read(Read::Acl(absolute(&fields.text("path")?)), None),
        "sync" => Operation::Sync,
        "reopen" => Operation::Reopen,
        "multi" => {
            let parts = fields.list("ops")?;
            Operation::Write(Write::Multi(parts.into_iter().map(part).collect::<Result<_, _>>()?))
        }
        other => match write(other, fields, false)? {
            Some(write) if other != "check" => Operation::Write(write),
            _ => return Err(Problem::malformed(format!("`op` is `{}`", shortened(other)), KNOWN)),
        },
    })
}

fn part(value: Value) -> Result<Write, Problem> {
    let mut fields = Fields::object_of(value, "a part of the multi")?;
    let name = fields.text("op")?;
    let Some(write) = write(&name, &mut fields, true)? else {
        return Err(Problem::malformed(format!("`op` is `{}`", shortened(&name)), "create, set, delete or check"));
    };
    fields.end()?;
    Ok(write)
}

fn write(name: &str, fields: &mut Fields, is_part: bool) -> Result<Option<Write>, Problem> {
    if !["create", "set", "delete", "check"].contains(&name) {
        return Ok(None);
    }
    let recorded = fields.text("path")?;
    let path = absolute(&recorded);
    Ok(Some(match name {
        "create" => {
            let sequential = fields.flag("seq")?;
            Write::Create(Create {
                path: creation(&recorded, sequential, is_part),
                data: fields.text("data")?,
                acl: acl::open(),
                ephemeral: fields.flag("eph")?,
                sequential,
            })
        }
        "set" => Write::SetData { path, data: fields.text("data")?, version: fields.number("version")? },
        "delete" => Write::Delete { path, version: fields.number("version")? },
        _ => Write::Check { path, version: fields.number("version")? },
    }))
}

/// As the client library sent it that was recorded: it leaves out empty names.
fn absolute(path: &str) -> String {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold(BASE.to_owned(), |path, name| format!("{path}/{name}"))
}

/// Where a node is created. The library leaves a slash at the end for a sequence number to follow, but not within a multi: there
/// `/a/` becomes `/a0000000000`.
fn creation(path: &str, is_sequential: bool, is_part: bool) -> String {
    let end = if is_sequential && !is_part && path.ends_with('/') { "/" } else { "" };
    absolute(path) + end
}

/// A path as it is recorded. `None` outside the recorded tree.
pub(super) fn relative(path: &str) -> Option<&str> {
    let path = path.strip_prefix(BASE)?;
    Some(if path.is_empty() { "/" } else { path })
}

/// How answers are written, where zxids are counted from `base` and sessions have names.
pub(super) struct Writer<'a> {
    pub(super) base: Zxid,
    pub(super) names: &'a BTreeMap<Session, Name>,
}

impl Writer<'_> {
    pub(super) fn zxid(&self, zxid: Zxid) -> i64 {
        i64::from(zxid.counter) - i64::from(self.base.counter)
    }

    fn session(&self, session: Session) -> String {
        self.names[&session].to_string()
    }

    pub(super) fn stat(&self, stat: &Stat) -> Value {
        json!({
            "v": stat.version, "cv": stat.cversion, "av": stat.aversion,
            "eo": stat.ephemeral_owner.map(|owner| self.session(owner)),
            "len": stat.data_length, "nc": stat.num_children,
            "cz": self.zxid(stat.czxid), "mz": self.zxid(stat.mzxid), "pz": self.zxid(stat.pzxid),
        })
    }

    /// `("ok", result)` or `("err", kind)`.
    pub(super) fn result(&self, answer: &Answer) -> (&'static str, Value) {
        let value = match answer {
            Answer::Failed(kind) => return ("err", kind.name().into()),
            Answer::Created { path, stat } => json!({ "path": relative(path), "stat": self.stat(stat) }),
            Answer::Data { data, stat } => json!({ "data": data, "stat": self.stat(stat) }),
            Answer::Children { children, stat } => json!({ "children": children, "stat": self.stat(stat) }),
            Answer::Acl { acl, stat } => {
                let entry = |entry: &acl::Acl| json!([entry.identity.scheme, entry.identity.id, entry.permissions.0]);
                json!({ "acl": acl.iter().map(entry).collect::<Vec<_>>(), "stat": self.stat(stat) })
            }
            Answer::Existence(Some(stat)) | Answer::Set(stat) => self.stat(stat),
            Answer::Many(answers) => answers.iter().map(|answer| self.part(answer)).collect(),
            Answer::Opened(session) => json!({ "session": self.session(*session) }),
            Answer::Existence(None)
            | Answer::Deleted
            | Answer::Checked
            | Answer::Synced
            | Answer::Authenticated
            | Answer::Closed => Value::Null,
        };
        ("ok", value)
    }

    /// Within a multi, a create's result is its path alone.
    fn part(&self, answer: &Answer) -> Value {
        let (key, value) = match answer {
            Answer::Created { path, .. } => ("ok", relative(path).into()),
            Answer::Deleted | Answer::Checked => ("ok", true.into()),
            other => self.result(other),
        };
        Value::Object([(key.to_owned(), value)].into_iter().collect())
    }
}

/// An event as it is recorded.
pub(super) fn event(event: TreeEvent) -> &'static str {
    match event {
        TreeEvent::Created => "CREATED",
        TreeEvent::Deleted => "DELETED",
        TreeEvent::Changed => "CHANGED",
        TreeEvent::Child => "CHILD",
    }
}
