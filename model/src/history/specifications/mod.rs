//! The shipped specifications. Their operations are [`Call`]s, their answers [`Value`]s; [`Shape`]s say which.
//!
//! | name | operations |
//! |---|---|
//! | `register` | read, write |
//! | `cas-register` | read, write, cas |
//! | `consensus` | propose |
//! | `multi-register` | txn of reads and writes, at once |
//! | `key-value` | get, put, append, delete, each on a key |
//! | `soft-key-value` | the same, where a key may be lost at any time (the papers' soft state); a put answered `false` was done, or never will be |
//! | `lock` | acquire, release, expire, holder |
//! | `lease-table` | grant, renew, recall, expire, holder, each on a key |
//! | `queue` | enqueue, dequeue |
//! | `priority-queue` | enqueue, lease, complete, expire |
//! | `set` | add, remove, contains, read |
//! | `counter` | add, read |
//! | `log` | append, get, read |

mod collection;
mod key_value;
mod lock;
mod priority_queue;
mod register;
mod shape;

pub use collection::{Counter, Log, Queue, Set};
pub use key_value::KeyValue;
pub use lock::{LeaseTable, Lock};
pub use priority_queue::{Leased, PriorityQueue};
pub use register::{CasRegister, Consensus, MultiRegister, Register};
pub use shape::{Answered, Given, Shape};

use super::{Call, Specification, Value};
use crate::Data;

/// A shipped specification: how its operations look in a file, beside what they do. Its states may be a monitor's
/// ([`super::Configurations`]).
pub trait Shipped: Specification<Operation = Call, Answer = Value, State: Data> {
    /// The operations, one of them for each name.
    fn shapes(&self) -> &'static [Shape];
}

/// Work that is the same for every shipped specification.
pub trait Work {
    /// What comes of it.
    type Result;
    /// Does it.
    fn on<S: Shipped>(self, specification: &S) -> Self::Result;
}

/// The names of all, in the order of the table above.
pub const NAMES: [&str; 13] = [
    "register",
    "cas-register",
    "consensus",
    "multi-register",
    "key-value",
    "soft-key-value",
    "lock",
    "lease-table",
    "queue",
    "priority-queue",
    "set",
    "counter",
    "log",
];

/// Does `work` on the specification `name`, whose state at first is `initial` or its documented default.
///
/// # Errors
/// If there is no such specification, or its state at first cannot be that.
pub fn with<W: Work>(name: &str, initial: Option<Value>, work: W) -> Result<W::Result, String> {
    let value = |default: Value| initial.clone().unwrap_or(default);
    let number = || match &initial {
        None => Ok(0),
        Some(Value::Integer(number)) => Ok(*number),
        Some(other) => Err(format!("a counter begins at a number, not at {other}")),
    };
    let none = || match &initial {
        None => Ok(()),
        Some(other) => Err(format!("a {name} begins empty, not at {other}; leave the initial value out")),
    };
    match name {
        "register" => Ok(work.on(&Register { initial: value(Value::Nil) })),
        "cas-register" => Ok(work.on(&CasRegister { initial: value(Value::Nil) })),
        "consensus" => none().map(|()| work.on(&Consensus)),
        "multi-register" => Ok(work.on(&MultiRegister { initial: value(Value::Nil) })),
        "key-value" => Ok(work.on(&KeyValue { absent: value("".into()), is_soft: false })),
        "soft-key-value" => Ok(work.on(&KeyValue { absent: value("".into()), is_soft: true })),
        "lock" => none().map(|()| work.on(&Lock)),
        "lease-table" => none().map(|()| work.on(&LeaseTable)),
        "queue" => none().map(|()| work.on(&Queue)),
        "priority-queue" => none().map(|()| work.on(&PriorityQueue)),
        "set" => none().map(|()| work.on(&Set)),
        "counter" => number().map(|initial| work.on(&Counter { initial })),
        "log" => none().map(|()| work.on(&Log)),
        _ => Err(format!("no specification `{name}`; known: {}", NAMES.join(", "))),
    }
}
