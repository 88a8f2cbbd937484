//! A folder for the files of a test.

use std::fs;
use std::path::PathBuf;

/// A folder of this test, gone when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// An empty folder in the temporary one; `name` is distinct among the tests of a binary.
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("seedbed-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    /// Writes a file into it.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }

    /// The text of a file in it.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file is there")
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind lies in the temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}
