//! What a run starts from: a number, or the hash of a commit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The one source of randomness of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seed {
    /// A number, as campaigns count them.
    Number(u64),
    /// A commit's hash: fresh for each revision, and readable from a log line.
    Commit([u8; 20]),
}

impl Seed {
    /// The generator's key: different seeds have different keys.
    pub(crate) fn key(self) -> [u8; 32] {
        let mut key = [0; 32];
        match self {
            Seed::Number(number) => key[..8].copy_from_slice(&number.to_le_bytes()),
            Seed::Commit(hash) => {
                key[..20].copy_from_slice(&hash);
                key[31] = 1;
            }
        }
        key
    }
}

impl From<u64> for Seed {
    fn from(number: u64) -> Seed {
        Seed::Number(number)
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seed::Number(number) => write!(f, "{number}"),
            Seed::Commit(hash) => hash.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl FromStr for Seed {
    type Err = String;
    /// A number, or 40 hex digits.
    fn from_str(text: &str) -> Result<Seed, String> {
        if text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Seed::Commit(commit(text)));
        }
        text.parse().map(Seed::Number).map_err(|_| {
            format!("`{text}` is no seed; write a number up to {} or the 40 hex digits of a commit", u64::MAX)
        })
    }
}

/// The bytes of 40 hex digits.
fn commit(digits: &str) -> [u8; 20] {
    let mut hash = [0; 20];
    for (index, digit) in digits.chars().enumerate() {
        let value = digit.to_digit(16).map_or(0, |value| value as u8);
        hash[index / 2] = hash[index / 2] << 4 | value;
    }
    hash
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_reads_back_as_it_prints() {
        for text in ["0", "18446744073709551615", "00ff30d5f1e9c2a4b6d8e0f1a2b3c4d5e6f70819"] {
            assert_eq!(text.parse::<Seed>().unwrap().to_string(), text);
        }
        assert!("18446744073709551616".parse::<Seed>().is_err());
        assert!("-1".parse::<Seed>().is_err());
        assert!("00ff".parse::<Seed>().is_err());
    }

    #[test]
    fn a_commit_and_the_number_of_its_bytes_have_different_keys() {
        assert_ne!(Seed::Number(0).key(), Seed::Commit([0; 20]).key());
    }
}
