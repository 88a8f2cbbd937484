//! Durable streams as append-only files: each record with a length, a number and a checksum.
//!
//! A stream that ends within a record, or with one whose checksum fails, was cut off by a crash: it ends before that record.
//! Numbers count the records of all streams of a node in the order in which they were written, which is the order in which a
//! start folds them. Records become durable in that order too: the streams of a node are synced together.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;

use seedbed_model::hash;

use crate::wire::array;

/// The longest record [B].
pub const RECORD_MAX: u32 = 1 << 26;

const HEADER: usize = 20;

/// Where the streams of a node are kept.
pub trait Disk: Send + 'static {
    /// How often the node started. It outlives the streams.
    ///
    /// # Errors
    /// If it cannot be read.
    fn incarnations(&mut self) -> io::Result<u64>;
    /// Notes how often the node started, durably.
    ///
    /// # Errors
    /// If it cannot be written.
    fn note_incarnation(&mut self, incarnation: u64) -> io::Result<()>;
    /// What was noted last of the client at this node, if anything was. It outlives crashes of the node alone.
    ///
    /// # Errors
    /// If it cannot be read.
    fn client(&mut self) -> io::Result<Option<Vec<u8>>>;
    /// Notes how far the client at this node is.
    ///
    /// # Errors
    /// If it cannot be written.
    fn note_client(&mut self, note: &[u8]) -> io::Result<()>;
    /// All streams by number, each with its bytes.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&mut self) -> io::Result<BTreeMap<u8, Vec<u8>>>;
    /// Cuts a stream to its first `length` bytes, which are durable then.
    ///
    /// # Errors
    /// If it cannot be written.
    fn cut(&mut self, stream: u8, length: u64) -> io::Result<()>;
    /// Appends to a stream. Lost by a crash until the next sync ends.
    ///
    /// # Errors
    /// If it cannot be written.
    fn append(&mut self, stream: u8, bytes: &[u8]) -> io::Result<()>;
    /// Makes durable what was appended to these streams before the call.
    fn sync(&mut self, streams: &[u8]) -> impl Future<Output = io::Result<()>> + Send + 'static;
}

/// What a stream holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Numbers and payloads, in order.
    pub records: Vec<(u64, Vec<u8>)>,
    /// How many bytes they take.
    pub length: u64,
}

/// A record's bytes in a stream.
///
/// # Errors
/// If it is longer than [`RECORD_MAX`].
pub fn record(number: u64, payload: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok().filter(|length| *length <= RECORD_MAX);
    let length =
        length.ok_or_else(|| io::Error::other(format!("a record of {} B; {RECORD_MAX} at most", payload.len())))?;
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend(length.to_le_bytes());
    bytes.extend(number.to_le_bytes());
    bytes.extend(hash(number, payload).to_le_bytes());
    bytes.extend(payload);
    Ok(bytes)
}

/// Reads a stream, up to where it was cut off.
pub fn read(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut rest = bytes;
    while let Some((number, payload, after)) = next(rest) {
        contents.records.push((number, payload.to_vec()));
        rest = after;
    }
    contents.length = (bytes.len() - rest.len()) as u64;
    contents
}

/// Reads a stream as [`crate::driver::Planted::TornTailAccepted`] has it: without looking at checksums, and with zeros for what
/// is missing at the end.
pub(crate) fn read_unchecked(bytes: &[u8]) -> Contents {
    let mut contents = Contents::default();
    let mut rest = bytes;
    while let Some((header, after)) = rest.split_at_checked(HEADER) {
        let length = u32::from_le_bytes(array(&header[..4])) as usize;
        let mut payload = after[..length.min(after.len())].to_vec();
        payload.resize(length, 0);
        contents.records.push((u64::from_le_bytes(array(&header[4..12])), payload));
        rest = &after[length.min(after.len())..];
    }
    contents.length = bytes.len() as u64;
    contents
}

/// The first record of a stream's bytes, if it is whole: number, payload, and what comes behind it.
fn next(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let length = u32::from_le_bytes(array(&header[..4]));
    let number = u64::from_le_bytes(array(&header[4..12]));
    let (payload, after) = rest.split_at_checked(length as usize)?;
    (hash(number, payload) == u64::from_le_bytes(array(&header[12..20]))).then_some((number, payload, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_ends_before_the_record_that_was_cut_off() {
        let whole = [record(1, b"one").unwrap(), record(2, b"").unwrap(), record(5, b"five").unwrap()].concat();
        let all = read(&whole);
        assert_eq!(all.records.len(), 3);
        assert_eq!(all.length, whole.len() as u64);
        for length in 0..whole.len() {
            let contents = read(&whole[..length]);
            assert!(contents.records.len() < 3 && all.records.starts_with(&contents.records));
            assert_eq!(read(&whole[..contents.length as usize]), contents);
        }
    }

    #[test]
    fn a_changed_byte_ends_the_stream() {
        let whole = [record(1, b"one").unwrap(), record(2, b"two").unwrap()].concat();
        let all = read(&whole);
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            let contents = read(&changed);
            assert!(contents.records.len() < 2 && all.records.starts_with(&contents.records), "byte {place}");
        }
    }
}
