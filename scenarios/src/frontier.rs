//! A frontier on disk: two files that a search fills and reads in turn, gone when it ends, however it does.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use seedbed_model::explore::Shelf;

use crate::exit::BadInput;

/// A place in the second file has this bit.
const SECOND: u64 = 1 << 63;

/// Two files: of what waits now and of what is found.
pub(crate) struct DiskShelf {
    files: [Side; 2],
    /// Which of them is being filled.
    filling: usize,
}

struct Side {
    path: PathBuf,
    file: BufWriter<File>,
    end: u64,
}

impl DiskShelf {
    /// A shelf for `bound` in `folder`, which is made if there is none.
    ///
    /// # Errors
    /// If the files cannot be made.
    pub(crate) fn new(folder: &Path, protocol: &str, bound: &str) -> Result<Self, BadInput> {
        let refused = |path: &Path, error: io::Error| {
            BadInput::file(path.display().to_string(), format!("make room for the frontier: {error}"))
        };
        std::fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
        let side = |number: u32| {
            let path = folder.join(format!("{protocol}-{bound}-{number}.frontier"));
            let made = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
            let file = BufWriter::new(made.map_err(|error| refused(&path, error))?);
            // Where the system lets an open file lose its name, no signal leaves it behind, and another command in this
            // folder gets its own.
            let _ = std::fs::remove_file(&path);
            Ok(Side { path, file, end: 0 })
        };
        Ok(DiskShelf { files: [side(1)?, side(2)?], filling: 0 })
    }
}

impl Shelf for DiskShelf {
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let side = &mut self.files[self.filling];
        let place = side.end;
        side.file.write_all(bytes)?;
        side.end += bytes.len() as u64;
        Ok(if self.filling == 1 { place | SECOND } else { place })
    }

    fn get(&mut self, place: u64, count: usize) -> io::Result<Vec<u8>> {
        let side = &mut self.files[usize::from(place & SECOND != 0)];
        side.file.flush()?;
        let file = side.file.get_mut();
        file.seek(SeekFrom::Start(place & !SECOND))?;
        let mut bytes = vec![0; count];
        file.read_exact(&mut bytes)?;
        // What is put away next goes to the end.
        file.seek(SeekFrom::Start(side.end))?;
        Ok(bytes)
    }

    fn turn(&mut self) -> io::Result<()> {
        self.filling = 1 - self.filling;
        let side = &mut self.files[self.filling];
        side.file.flush()?;
        side.file.get_mut().set_len(0)?;
        side.file.get_mut().seek(SeekFrom::Start(0))?;
        side.end = 0;
        Ok(())
    }
}

impl Drop for DiskShelf {
    fn drop(&mut self) {
        for side in &self.files {
            // A file that stays is emptied by the next check of the same.
            let _ = std::fs::remove_file(&side.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_on_either_side_of_a_turn_comes_back_until_the_next() {
        let folder = std::env::temp_dir().join(format!("seedbed-frontier-{}", std::process::id()));
        let mut shelf = DiskShelf::new(&folder, "echo", "lossy").expect("a temporary folder takes files");
        let first = shelf.put(b"first").unwrap();
        let second = shelf.put(b"second").unwrap();
        assert_eq!(shelf.get(second, 6).unwrap(), b"second");
        shelf.turn().unwrap();
        let third = shelf.put(b"third").unwrap();
        assert_eq!(shelf.get(first, 5).unwrap(), b"first");
        assert_eq!(shelf.get(third, 5).unwrap(), b"third");
        shelf.turn().unwrap();
        assert_eq!(shelf.put(b"fourth").unwrap(), first, "the first file is used again");
        drop(shelf);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is left behind");
        std::fs::remove_dir(folder).unwrap();
    }
}
