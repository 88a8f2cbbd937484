//! Checkpoints of a check: a file for each bound, written every so often, taken up by the next check of the same.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use seedbed_model::Span;
use seedbed_model::explore::Keeper;

use crate::exit::BadInput;
use crate::folder::Folder;
use crate::stopwatch::Deadline;

/// The file of one bound.
pub(crate) struct Checkpoint {
    path: PathBuf,
    every: Span,
    next: Deadline,
}

impl Checkpoint {
    /// The checkpoint of `bound` in `folder`.
    pub(crate) fn new(folder: &Folder, protocol: &str, bound: &str, every: Span) -> Self {
        let path = folder.path().join(format!("{protocol}-{bound}.checkpoint"));
        Checkpoint { path, every, next: Deadline::after(Some(every)) }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What was kept before, if anything was.
    ///
    /// # Errors
    /// If it is there and cannot be read, or is no file.
    pub(crate) fn kept(&self) -> Result<Option<BufReader<File>>, BadInput> {
        if !is_kept(&self.path)? {
            return Ok(None);
        }
        let file = File::open(&self.path).map_err(|error| {
            BadInput::file(self.path.display().to_string(), format!("read the checkpoint: {error}"))
        })?;
        Ok(Some(BufReader::new(file)))
    }

    /// Forgets it: the check has ended.
    pub(crate) fn remove(&self) {
        // One that stays is taken up by the next check of the same, which then ends at once.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Whether a checkpoint is there. A pipe is not opened to find out: that would wait for whoever writes to it.
///
/// # Errors
/// If something else is there.
pub(crate) fn is_kept(path: &Path) -> Result<bool, BadInput> {
    let refused = |why: String| BadInput::file(path.display().to_string(), format!("read the checkpoint: {why}"));
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => Err(refused("it is no file; move it away, and the search is kept there".to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(refused(error.to_string())),
    }
}

impl Keeper for Checkpoint {
    fn is_due(&mut self) -> bool {
        self.next.is_over()
    }

    fn save(&mut self, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
        self.next = Deadline::after(Some(self.every));
        let part = self.path.with_extension("part");
        let written = File::create(&part).and_then(|file| {
            let mut file = BufWriter::new(file);
            write(&mut file)?;
            file.flush()?;
            file.get_ref().sync_all()?;
            std::fs::rename(&part, &self.path)
        });
        written.map_err(|error| {
            let _ = std::fs::remove_file(&part);
            format!("{}: write the checkpoint: {error}; the one before is whole", self.path.display())
        })
    }
}
