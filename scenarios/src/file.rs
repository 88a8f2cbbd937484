//! Scenario files and the bounds of `check`, as TOML: their shape, and where in them an error is.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;

use seedbed_sim::Settings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::{Spanned, Table};

use crate::exit::BadInput;
use crate::history::claim::Claim;
use crate::seeds::SeedRange;

/// A file's text, and the name that errors call it by.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// The parser's error, at its place.
    pub(crate) fn refused(&self, error: &toml::de::Error) -> BadInput {
        match error.span() {
            Some(span) => self.at(span, error.message()),
            None => BadInput::file(&self.name, error.message()),
        }
    }

    /// The line of a byte of the text, from 1.
    pub(crate) fn line(&self, at: usize) -> u64 {
        self.text[..at.min(self.text.len())].matches('\n').count() as u64 + 1
    }

    /// An error at a byte range of the text. Columns count characters.
    pub(crate) fn at(&self, span: Range<usize>, message: impl Into<String>) -> BadInput {
        let before = &self.text[..span.start.min(self.text.len())];
        let line = self.line(span.start) as usize;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        let message = message.into().trim_end().replace('\n', ", ");
        BadInput::Place { file: self.name.clone(), line, column, message }
    }

    /// An error at the first place where `quoted` is written as a string; about the whole file if it is nowhere.
    pub(crate) fn at_string(&self, quoted: &str, message: impl Into<String>) -> BadInput {
        self.at_text(&format!("\"{quoted}\""), message)
    }

    /// An error at the first place where this is written; about the whole file if it is nowhere.
    pub(crate) fn at_text(&self, written: &str, message: impl Into<String>) -> BadInput {
        match self.text.find(written) {
            Some(start) => self.at(start..start + written.len(), message),
            None => self.whole(message),
        }
    }

    /// An error about the file as a whole.
    pub(crate) fn whole(&self, message: impl Into<String>) -> BadInput {
        BadInput::file(&self.name, message)
    }
}

/// A scenario file; `P` is the protocol's parameters, or a table before the protocol is known ([`ParamsOf`]).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ScenarioFile<P> {
    pub(crate) protocol: Spanned<String>,
    pub(crate) story: String,
    #[serde(default)]
    pub(crate) class: Class,
    #[serde(default)]
    pub(crate) seeds: SeedRange,
    pub(crate) expect: Option<Spanned<Expect>>,
    pub(crate) properties: Option<Vec<Spanned<String>>>,
    pub(crate) history: Option<Spanned<Claim>>,
    #[serde(default)]
    pub(crate) goals: Vec<String>,
    #[serde(default)]
    pub(crate) mutants: Vec<Spanned<String>>,
    pub(crate) params: Option<Spanned<P>>,
    pub(crate) settings: Option<Spanned<Settings>>,
}

/// When a scenario runs, or a bound is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Class {
    /// Whenever nothing else is asked for: hundreds of seeds in seconds, a bound in seconds.
    #[default]
    Quick,
    /// When it is named.
    Long,
}

impl Class {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Quick => "quick",
            Class::Long => "long",
        }
    }
}

/// A `check.toml`; `P` is the protocol's parameters and `B` the bounds, or tables before defaults are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CheckFile<P = Table, B = Table> {
    pub(crate) protocol: Spanned<String>,
    pub(crate) params: Option<P>,
    pub(crate) bound: Vec<BoundEntry<P, B>>,
}

/// One bound of a `check.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BoundEntry<P = Table, B = Table> {
    pub(crate) name: Spanned<String>,
    pub(crate) story: String,
    #[serde(default)]
    pub(crate) class: Class,
    pub(crate) expect: Option<Spanned<Expect>>,
    #[serde(default)]
    pub(crate) goals: Vec<String>,
    #[serde(default)]
    pub(crate) claims: Vec<Spanned<String>>,
    pub(crate) params: Option<P>,
    pub(crate) bounds: Option<B>,
}

/// What of a scenario file or a `check.toml` is for the protocol to read. Apart from the rest, which is then compiled once
/// and not once for each protocol.
#[derive(Deserialize)]
struct ParamsOf<P> {
    #[expect(dead_code, reason = "read to see whether it can be")]
    params: Option<P>,
    #[expect(dead_code, reason = "likewise")]
    #[serde(default = "Vec::new")]
    bound: Vec<BoundParamsOf<P>>,
}

#[derive(Deserialize)]
struct BoundParamsOf<P> {
    #[expect(dead_code, reason = "likewise")]
    params: Option<P>,
}

/// Whether every `params` of a scenario file or a `check.toml` has the types that a protocol wants.
///
/// # Errors
/// The first that has not, with its place.
pub(crate) fn check_params<P: DeserializeOwned>(text: &str) -> Result<(), toml::de::Error> {
    toml::from_str::<ParamsOf<P>>(text).map(drop)
}

/// What must come of a scenario or a bound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Expect {
    /// Every property holds.
    #[default]
    Holds,
    /// This property falls.
    Violated(String),
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expect::Holds => f.write_str("holds"),
            Expect::Violated(property) => write!(f, "violated: {property}"),
        }
    }
}

impl FromStr for Expect {
    type Err = String;
    fn from_str(text: &str) -> Result<Expect, String> {
        match text.split_once(':').map(|(verb, property)| (verb.trim(), property.trim())) {
            None if text == "holds" => Ok(Expect::Holds),
            Some(("violated", property)) if !property.is_empty() => Ok(Expect::Violated(property.to_owned())),
            _ => Err(format!("`{text}` is no expectation; write `holds`, or `violated: ` and a property")),
        }
    }
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_str(Written::new("`holds`, or `violated: ` and a property"))
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

/// Reads what is written as a string, and says what would be right where none is.
pub(crate) struct Written<T> {
    right: &'static str,
    read: PhantomData<T>,
}

impl<T> Written<T> {
    pub(crate) fn new(right: &'static str) -> Self {
        Written { right, read: PhantomData }
    }
}

impl<T: FromStr<Err = String>> serde::de::Visitor<'_> for Written<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.right)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// The expectation of a file that may leave it out.
pub(crate) fn expectation(written: Option<&Spanned<Expect>>) -> Expect {
    written.map(|expect| expect.get_ref().clone()).unwrap_or_default()
}

/// Whether a name is kebab case: lower-case words and digits joined by single hyphens.
pub(crate) fn is_kebab(name: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    name.split('-').all(is_word)
}

#[cfg(test)]
mod round_trip;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column_of_characters() {
        let source = Source { name: "a.toml".into(), text: "story = \"é\"\nclas = 1\n".into() };
        let error = toml::from_str::<ScenarioFile<Table>>(&source.text).unwrap_err();
        let text = source.refused(&error).to_string();
        assert!(text.starts_with("a.toml:2:1: unknown field `clas`, expected one of `protocol`"), "{text}");
        let byte = source.text.find("é").unwrap() + "é".len();
        assert!(source.at(byte..byte, "x").to_string().starts_with("a.toml:1:11: x"));
    }

    #[test]
    fn an_expectation_reads_back_as_it_prints() {
        for text in ["holds", "violated: single-copy"] {
            assert_eq!(text.parse::<Expect>().unwrap().to_string(), text);
        }
        for text in ["", "hold", "violated", "violated:", "fails: x"] {
            assert!(text.parse::<Expect>().is_err(), "{text}");
        }
    }

    #[test]
    fn kebab_case_has_no_empty_words() {
        assert!(is_kebab("clock-beyond-bound2"));
        for name in ["", "-a", "a-", "a--b", "A", "a_b"] {
            assert!(!is_kebab(name), "{name}");
        }
    }
}
