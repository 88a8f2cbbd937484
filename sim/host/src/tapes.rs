//! Tapes as files: JSON Lines, a node a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use seedbed_model::tape::{Tape, TapeLine, read};

/// Appends lines to a file, each by one write: a process that is killed has written whole lines but perhaps the last. What
/// the machine itself loses, when its power fails, is not promised.
#[derive(Debug)]
pub struct Writer {
    file: File,
    line: Vec<u8>,
}

impl Writer {
    /// Appends to the file at `path`, which is made if it is not there. A last line that was cut short is taken out. With
    /// the last that is left, if there is one.
    ///
    /// # Errors
    /// If it cannot be read or written, or its last line is none.
    pub fn open(path: &Path) -> io::Result<(Writer, Option<TapeLine>)> {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut end = file.metadata()?.len();
        let mut tail = Vec::new();
        // From the end backward, until a whole line is there.
        let mut from = end;
        while from > 0 && tail.iter().filter(|byte| **byte == b'\n').count() < 2 {
            from = from.saturating_sub(CHUNK);
            file.seek(SeekFrom::Start(from))?;
            tail.clear();
            file.read_to_end(&mut tail)?;
        }
        let whole = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        end -= (tail.len() - whole) as u64;
        file.set_len(end)?;
        let last = tail[..whole].split(|byte| *byte == b'\n').rev().find(|line| !line.is_empty());
        let last = last
            .map(serde_json::from_slice)
            .transpose()
            .map_err(|why| io::Error::other(format!("{}: the last line is no step: {why}", path.display())))?;
        Ok((Writer { file, line: Vec::new() }, last))
    }

    /// Writes a line.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&mut self, line: &TapeLine) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.line.push(b'\n');
        self.file.write_all(&self.line)
    }
}

/// How much is read at once, to find the last line [B].
const CHUNK: u64 = 1 << 16;

/// Reads the tape at `path`, whose name is the file's without its end.
///
/// # Errors
/// If it cannot be read; on a line that is none: which, from 1, and why.
pub fn load(path: &Path) -> Result<Tape, String> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let text = std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    let lines = read(&text, |line| serde_json::from_str(line));
    lines.map(|lines| Tape { name, lines }).map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))
}
