//! A folder in which one command keeps its work: another that would write over it is refused.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::exit::BadInput;

/// The folder, which is this command's as long as this lives.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folder itself, locked; nothing where the system locks no folders.
    _lock: Option<File>,
}

impl Folder {
    /// The folder at `path`, which is made if there is none. `flag` is what asks for it.
    ///
    /// # Errors
    /// If it cannot be made, or another command that still runs keeps its work there.
    pub(crate) fn claim(path: &Path, flag: &str) -> Result<Self, BadInput> {
        let refused = |why: String| BadInput::file(path.display().to_string(), why);
        std::fs::create_dir_all(path).map_err(|error| refused(format!("make the folder: {error}")))?;
        let lock = File::open(path).ok();
        if let Some(Err(TryLockError::WouldBlock)) = lock.as_ref().map(File::try_lock) {
            let why = format!("{flag}: another command that still runs keeps its work there; give each its own folder");
            return Err(refused(why));
        }
        Ok(Folder { path: path.to_owned(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_commands_until_that_ends() {
        let path = std::env::temp_dir().join(format!("seedbed-folder-{}", std::process::id()));
        let first = Folder::claim(&path, "--checkpoint").expect("nobody has it");
        let second = Folder::claim(&path, "--checkpoint").expect_err("somebody has it");
        assert!(second.to_string().contains("another command that still runs"), "{second}");
        drop(first);
        assert!(Folder::claim(&path, "--checkpoint").is_ok());
        std::fs::remove_dir(&path).expect("nothing is left in it");
    }
}
