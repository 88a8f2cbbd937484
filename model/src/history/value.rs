//! The operations and answers of the shipped specifications.

use std::fmt;

use crate::Canonical;

/// A value of a recorded history.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Canonical)]
pub enum Value {
    /// Nothing, or not known yet.
    #[default]
    Nil,
    /// Yes or no.
    Bool(bool),
    /// A number.
    Integer(i64),
    /// Words; a keyword by its name.
    Text(String),
    /// Several, in order.
    List(Vec<Value>),
}

impl Value {
    /// The items of a list.
    pub fn items(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The number.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// The two items of a pair.
    pub fn pair(&self) -> Option<(&Value, &Value)> {
        match self.items() {
            Some([first, second]) => Some((first, second)),
            _ => None,
        }
    }

    /// What the value holds outside itself [bytes].
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::Text(text) => text.len(),
            Value::List(items) => items.iter().map(|item| size_of::<Value>() + item.heap_bytes()).sum(),
            _ => 0,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Integer(number) => write!(f, "{number}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "" } else { " " })?;
                }
                f.write_str("]")
            }
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Integer(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

/// An operation of a recorded history: its name and what it was given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Call {
    /// The name: `read`, `write`, `cas`, …
    pub name: String,
    /// What it touches, where the object has parts; else nil.
    pub key: Value,
    /// What it was given; nil for a read.
    pub argument: Value,
}

impl Call {
    /// A call on an object of one part.
    pub fn new(name: &str, argument: impl Into<Value>) -> Self {
        Call { name: name.to_owned(), key: Value::Nil, argument: argument.into() }
    }

    /// The same, on the part `key`.
    #[must_use]
    pub fn on(mut self, key: impl Into<Value>) -> Self {
        self.key = key.into();
        self
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for value in [&self.key, &self.argument] {
            if *value != Value::Nil {
                write!(f, " {value}")?;
            }
        }
        Ok(())
    }
}
