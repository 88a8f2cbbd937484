//! Tapes as files: JSON Lines, a node a file.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use seedbed_model::tape::{Tape, TapeLine};

/// Appends lines to a file, each by one write: a process that is killed has written whole lines but perhaps the last. What
/// the machine itself loses, when its power fails, is not promised.
#[derive(Debug)]
pub struct Writer {
    file: File,
    line: Vec<u8>,
}

impl Writer {
    /// Appends to the file at `path`, which is made if it is not there. A last line that was cut short is
    /// taken out.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn open(path: &Path) -> io::Result<Writer> {
        let text = std::fs::read(path).unwrap_or_default();
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64)?;
        Ok(Writer { file, line: Vec::new() })
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

/// Reads a tape's text. A last line without its end was cut short by a kill: nothing of its step was seen, and it is left
/// out.
///
/// # Errors
/// On a line that is none: which, from 1, and why.
pub fn read(name: &str, text: &str) -> Result<Tape, String> {
    let mut lines = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else { break };
        lines.push(serde_json::from_str(line).map_err(|why| format!("{name}, line {}: {why}", index + 1))?);
    }
    Ok(Tape { name: name.to_owned(), lines })
}
