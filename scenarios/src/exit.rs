//! How a command ends: the exit codes, and why input is refused.

use std::collections::BTreeMap;

use seedbed_model::{Kind, Property};

/// Everything is as expected.
pub const EXPECTED: u8 = 0;
/// Input that cannot be used: a flag, a parameter, a file.
pub const BAD_INPUT: u8 = 2;
/// An `always` property fell.
pub const SAFETY: u8 = 10;
/// Progress failed, a goal was not reached, or a violation that must happen did not.
pub const PROGRESS: u8 = 11;
/// What clients saw has no order.
pub const HISTORY: u8 = 12;
/// A broken assertion of a protocol.
pub const PANIC: u8 = 13;
/// Two runs of one seed differ.
pub const NONDETERMINISM: u8 = 14;
/// A budget of states, steps or time ran out first.
pub const UNKNOWN: u8 = 15;
/// A campaign ended before it ran every seed that was demanded.
pub const INCOMPLETE: u8 = 16;
/// A mutant survived, or is not what it is declared to be.
pub const SURVIVED: u8 = 17;
/// A pinned run drifted, or its violation is gone, or a recording of a real system differs.
pub const DRIFTED: u8 = 18;
/// An experiment does not show what it is said to.
pub const UNSHOWN: u8 = 19;

/// The code of a property's fall. A property that `properties` does not have is a panic, or one that was given up.
pub(crate) fn of_fall(properties: &[Property], name: &str) -> u8 {
    match properties.iter().find(|property| property.name == name).map(|property| property.kind) {
        Some(Kind::Always) => SAFETY,
        Some(Kind::Sometimes | Kind::Within | Kind::ReachableAlways | Kind::Eventually) => PROGRESS,
        Some(Kind::History) => HISTORY,
        None if name == seedbed_model::UNKNOWN => UNKNOWN,
        None => PANIC,
    }
}

/// The codes of all falls that are no panic, by property.
pub(crate) fn of_falls(properties: &[Property]) -> BTreeMap<String, u8> {
    let names = properties.iter().map(|property| property.name).chain([seedbed_model::UNKNOWN]);
    names.map(|name| (name.to_owned(), of_fall(properties, name))).collect()
}

/// One code for several endings: the lowest that is not 0.
pub(crate) fn lowest(codes: impl IntoIterator<Item = u8>) -> u8 {
    codes.into_iter().filter(|code| *code != EXPECTED).min().unwrap_or(EXPECTED)
}

/// Input that cannot be used. The text says where, what was found and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadInput {
    /// A place in a file.
    #[error("{file}:{line}:{column}: {message}")]
    Place {
        /// As the caller named it.
        file: String,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What was found and what would be right.
        message: String,
    },
    /// A file as a whole.
    #[error("{file}: {message}")]
    File {
        /// As the caller named it.
        file: String,
        /// What is wrong with it.
        message: String,
    },
    /// A flag or an argument.
    #[error("{0}")]
    Flag(String),
}

impl BadInput {
    pub(crate) fn flag(message: impl Into<String>) -> Self {
        BadInput::Flag(message.into())
    }

    pub(crate) fn file(file: impl Into<String>, message: impl Into<String>) -> Self {
        BadInput::File { file: file.into(), message: message.into() }
    }
}

/// `known; the nearest first` for a name that is not among them.
pub(crate) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    match (known, nearest(name, known)) {
        ([], _) => format!("no {what} `{name}`: there are none"),
        (_, Some(near)) => format!("no {what} `{name}`; did you mean `{near}`? known: {}", known.join(", ")),
        _ => format!("no {what} `{name}`; known: {}", known.join(", ")),
    }
}

/// The known name at the smallest edit distance, if that is at most a third of its length.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let (distance, near) = known.iter().map(|other| (distance(name, other), *other)).min()?;
    (distance <= near.chars().count().div_ceil(3)).then_some(near)
}

/// Levenshtein's distance, row by row (Wagner and Fischer 1974).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fell_says_how_the_command_ends() {
        let properties = [Property::always("safe", ""), Property::within("soon", ""), Property::history("ordered", "")];
        let codes = ["safe", "soon", "ordered", "panic", seedbed_model::UNKNOWN].map(|name| of_fall(&properties, name));
        assert_eq!(codes, [SAFETY, PROGRESS, HISTORY, PANIC, UNKNOWN]);
    }

    #[test]
    fn several_endings_are_told_by_the_lowest_that_is_not_zero() {
        assert_eq!(lowest([0, 15, 11, 0]), 11);
        assert_eq!(lowest([0, 0]), 0);
        assert_eq!(lowest([]), 0);
    }

    #[test]
    fn a_misspelt_name_is_told_the_nearest() {
        let known = ["no-margin", "no-nonce"];
        assert_eq!(
            unknown("mutant", "no-nonse", &known),
            "no mutant `no-nonse`; did you mean `no-nonce`? known: no-margin, no-nonce"
        );
        assert_eq!(unknown("mutant", "quorum", &known), "no mutant `quorum`; known: no-margin, no-nonce");
        assert_eq!(unknown("mutant", "x", &[]), "no mutant `x`: there are none");
    }

    #[test]
    fn distances_are_those_of_the_textbook() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
    }
}
