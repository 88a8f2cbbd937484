//! Values as text, by name: what pinned files hold. `LeaseRequest { pair: …, wanted: {RangeId(0): …} }` reads back whatever
//! became of the order of variants and fields in the source; the canonical encoding would not.
//!
//! Enums are written by their variants' names, fields by theirs, nodes by theirs; numbers plain, sequences and sets in
//! brackets, maps in braces.

use crate::canonical::{Canonical, decoding, encoding};
use crate::name::NodeId;

/// Text that is no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at `{near}`: {what}")]
pub struct Unreadable {
    /// The text from where it goes wrong, shortened.
    pub near: String,
    /// What was found, and what would be right.
    pub what: String,
}

/// Where values are written.
#[derive(Debug)]
pub struct TextWriter<'a> {
    text: String,
    /// `names[i]` is node `i`'s.
    names: &'a [String],
}

impl<'a> TextWriter<'a> {
    /// A writer that calls nodes by these names.
    pub fn new(names: &'a [String]) -> Self {
        TextWriter { text: String::new(), names }
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.text
    }

    /// Raw text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A node's name, or `n` and its index, where it has none that is one word.
    pub fn node(&mut self, node: NodeId) {
        match self.names.get(node.index()).filter(|name| is_word(name) && index(name).is_none()) {
            Some(name) => self.text.push_str(name),
            None => self.text.push_str(&format!("n{}", node.0)),
        }
    }

    /// Values between `open` and `close`, parted by commas.
    pub fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.push(open);
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            write(self, item);
        }
        self.push(close);
    }

    /// For the derive macro: a field's name. `first` says whether none comes before it.
    pub fn field(&mut self, first: bool, name: &str) {
        self.push(if first { " " } else { ", " });
        self.push(name);
        self.push(": ");
    }

    /// A value without a text of its own: the hexadecimal digits of its canonical encoding.
    pub fn opaque<T: Canonical>(&mut self, value: &T) {
        self.push("0x");
        for byte in encoding(value) {
            self.push(&format!("{byte:02x}"));
        }
    }
}

/// Where values are read.
#[derive(Debug)]
pub struct TextReader<'a> {
    rest: &'a str,
    /// `names[i]` is node `i`'s.
    names: &'a [String],
}

impl<'a> TextReader<'a> {
    /// Reads `text`, in which nodes have these names.
    pub fn new(text: &'a str, names: &'a [String]) -> Self {
        TextReader { rest: text, names }
    }

    /// An error here.
    pub fn unreadable(&self, what: impl Into<String>) -> Unreadable {
        Unreadable { near: self.rest.chars().take(24).collect(), what: what.into() }
    }

    /// Whether only blanks are left.
    pub fn is_done(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty()
    }

    /// Reads `mark` if it comes next.
    pub fn takes(&mut self, mark: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads `mark`.
    ///
    /// # Errors
    /// If something else comes next.
    pub fn expect(&mut self, mark: &str) -> Result<(), Unreadable> {
        if self.takes(mark) { Ok(()) } else { Err(self.unreadable(format!("expected `{mark}`"))) }
    }

    /// Reads a word: letters, digits, `_` and `-`.
    ///
    /// # Errors
    /// If none comes next.
    pub fn word(&mut self) -> Result<&'a str, Unreadable> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !is_of_word(c)).unwrap_or(self.rest.len());
        // An arrow is no part of a word.
        let end = if self.rest[end..].starts_with('>') { end.saturating_sub(1) } else { end };
        if end == 0 {
            return Err(self.unreadable("expected a name or a number"));
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    /// Reads a whole number.
    ///
    /// # Errors
    /// If none comes next, or one that `T` does not hold.
    pub fn number<T: std::str::FromStr>(&mut self) -> Result<T, Unreadable> {
        let before = self.rest;
        let word = self.word()?;
        word.parse().map_err(|_| {
            self.rest = before;
            self.unreadable(format!("`{word}` is no whole number of the right size"))
        })
    }

    /// Reads a node's name.
    ///
    /// # Errors
    /// If there is no node of that name.
    pub fn node(&mut self) -> Result<NodeId, Unreadable> {
        let word = self.word()?;
        let named = self.names.iter().position(|name| name == word);
        let found = named.or_else(|| index(word)).filter(|index| self.names.is_empty() || *index < self.names.len());
        let node = found.and_then(|index| u16::try_from(index).ok()).map(NodeId);
        node.ok_or_else(|| self.unreadable(format!("no node `{word}`; the nodes are {}", self.names.join(", "))))
    }

    /// Reads values between `open` and `close`, parted by commas.
    ///
    /// # Errors
    /// Of `read`, and on anything but a comma between two.
    pub fn list<T>(
        &mut self,
        (open, close): (&str, &str),
        mut read: impl FnMut(&mut Self) -> Result<T, Unreadable>,
    ) -> Result<Vec<T>, Unreadable> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.takes(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// For the derive macro: the next field's name; `None` at the end of the fields. `first` says whether none came before.
    ///
    /// # Errors
    /// On anything else.
    pub fn field(&mut self, first: bool) -> Result<Option<&'a str>, Unreadable> {
        if self.takes("}") {
            return Ok(None);
        }
        if !first {
            self.expect(",")?;
        }
        let name = self.word()?;
        self.expect(":")?;
        Ok(Some(name))
    }

    /// The error for a name that is not among `known`.
    pub fn unknown(&self, what: &str, found: &str, known: &[&str]) -> Unreadable {
        self.unreadable(format!("no {what} `{found}`; known: {}", known.join(", ")))
    }

    /// Reads what [`TextWriter::opaque`] wrote.
    ///
    /// # Errors
    /// On anything else.
    pub fn opaque<T: Canonical>(&mut self) -> Result<T, Unreadable> {
        let word = self.word()?;
        let digits: Option<Vec<u32>> =
            word.strip_prefix("0x").and_then(|digits| digits.chars().map(|digit| digit.to_digit(16)).collect());
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2));
        let digits = digits.ok_or_else(|| self.unreadable("expected `0x` and pairs of hexadecimal digits"))?;
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
        decoding(&bytes).map_err(|malformed| self.unreadable(malformed.to_string()))
    }

    /// Reads a text in quotes, as Rust writes it.
    ///
    /// # Errors
    /// If none comes next.
    pub fn quoted(&mut self) -> Result<String, Unreadable> {
        self.expect("\"")?;
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match letters.next() {
                    Some((_, 'u')) => {
                        let code: String = letters.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                        let letter = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                        text.push(letter.ok_or_else(|| self.unreadable("no letter has this code"))?);
                    }
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, '0')) => text.push('\0'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err(self.unreadable("the text has no end"))
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '-'
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.ends_with('-') && name.chars().all(is_of_word)
}

/// The index in `n3`.
fn index(word: &str) -> Option<usize> {
    word.strip_prefix('n').filter(|digits| digits.chars().all(|c| c.is_ascii_digit()))?.parse().ok()
}

/// The text of `value`. `names[i]` is node `i`'s.
pub fn text_of<T: Canonical>(value: &T, names: &[String]) -> String {
    let mut out = TextWriter::new(names);
    value.write(&mut out);
    out.finish()
}

/// The value whose text it is.
///
/// # Errors
/// If it is none's.
pub fn value_of<T: Canonical>(text: &str, names: &[String]) -> Result<T, Unreadable> {
    let mut input = TextReader::new(text, names);
    let value = T::read(&mut input)?;
    if input.is_done() { Ok(value) } else { Err(input.unreadable("expected nothing more")) }
}
