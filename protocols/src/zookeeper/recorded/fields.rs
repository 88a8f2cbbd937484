//! The fields of an object in a recording: each is asked for once, and none may be left.

use serde_json::{Map, Value};

use super::{Problem, shortened};

/// What is not asked for yet.
pub(super) struct Fields {
    left: Map<String, Value>,
    /// Whose they are, for errors.
    whose: String,
}

impl Fields {
    pub(super) fn of(map: Map<String, Value>, whose: impl Into<String>) -> Fields {
        Fields { left: map, whose: whose.into() }
    }

    pub(super) fn object_of(value: Value, whose: &str) -> Result<Fields, Problem> {
        match value {
            Value::Object(map) => Ok(Fields::of(map, whose)),
            other => Err(Problem::malformed(format!("{whose} is `{}`", shortened(&other.to_string())), "an object")),
        }
    }

    pub(super) fn take(&mut self, key: &str, wanted: &str) -> Result<Value, Problem> {
        self.left.remove(key).ok_or_else(|| Problem::malformed(format!("{} has no `{key}`", self.whose), wanted))
    }

    pub(super) fn take_if_there(&mut self, key: &str) -> Option<Value> {
        self.left.remove(key)
    }

    pub(super) fn text(&mut self, key: &str) -> Result<String, Problem> {
        match self.take(key, "a text")? {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(key, &other, "a text")),
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Result<Vec<String>, Problem> {
        let texts = self.list(key)?;
        let as_text = |value: &Value| value.as_str().map(str::to_owned);
        texts.iter().map(|value| as_text(value).ok_or_else(|| self.wrong(key, value, "a list of texts"))).collect()
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<bool, Problem> {
        match self.take(key, "true or false")? {
            Value::Bool(flag) => Ok(flag),
            other => Err(self.wrong(key, &other, "true or false")),
        }
    }

    /// A whole number of 32 bits.
    pub(super) fn number(&mut self, key: &str) -> Result<i64, Problem> {
        const WANTED: &str = "a whole number of 32 bits";
        let value = self.take(key, WANTED)?;
        let number = value.as_i64().filter(|number| i32::try_from(*number).is_ok());
        number.ok_or_else(|| self.wrong(key, &value, WANTED))
    }

    /// The name of a watch, or none.
    pub(super) fn watch(&mut self, key: &str) -> Result<Option<u32>, Problem> {
        const WANTED: &str = "a watch's number or null";
        let value = self.take(key, WANTED)?;
        if value.is_null() {
            return Ok(None);
        }
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(key, &value, WANTED))
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Vec<Value>, Problem> {
        match self.take(key, "a list")? {
            Value::Array(list) => Ok(list),
            other => Err(self.wrong(key, &other, "a list")),
        }
    }

    pub(super) fn object(&mut self, key: &str) -> Result<Map<String, Value>, Problem> {
        match self.take(key, "an object")? {
            Value::Object(map) => Ok(map),
            other => Err(self.wrong(key, &other, "an object")),
        }
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Result<(), Problem> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(key) => Err(Problem::malformed(format!("{} has a `{key}`", self.whose), "no such field")),
        }
    }

    fn wrong(&self, key: &str, found: &Value, wanted: &str) -> Problem {
        Problem::malformed(format!("`{key}` of {} is `{}`", self.whose, shortened(&found.to_string())), wanted)
    }
}
