//! A disk that is a folder of this machine.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::streams::Disk;

/// A node's folder: a file a stream, `0.stream`, and `incarnation` beside them.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    files: BTreeMap<u8, Arc<File>>,
}

impl Folder {
    /// The folder at `path`, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(path: &Path) -> io::Result<Folder> {
        std::fs::create_dir_all(path.join("streams"))?;
        Ok(Folder { path: path.to_owned(), files: BTreeMap::new() })
    }

    fn file(&mut self, stream: u8) -> io::Result<&Arc<File>> {
        if !self.files.contains_key(&stream) {
            let folder = self.path.join("streams");
            let file = OpenOptions::new().create(true).append(true).open(folder.join(format!("{stream}.stream")))?;
            // The file's name must be as durable as what is in it.
            File::open(&folder)?.sync_all()?;
            self.files.insert(stream, Arc::new(file));
        }
        Ok(&self.files[&stream])
    }
}

impl Disk for Folder {
    fn incarnations(&mut self) -> io::Result<u64> {
        let path = self.path.join("incarnation");
        match std::fs::read_to_string(&path) {
            Ok(text) => text
                .trim()
                .parse()
                .map_err(|_| io::Error::other(format!("{}: `{}` is no number of starts", path.display(), text.trim()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn note_incarnation(&mut self, incarnation: u64) -> io::Result<()> {
        let (new, path) = (self.path.join("incarnation.new"), self.path.join("incarnation"));
        let mut file = File::create(&new)?;
        file.write_all(incarnation.to_string().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, &path)?;
        File::open(&self.path)?.sync_all()
    }

    fn client(&mut self) -> io::Result<Option<Vec<u8>>> {
        match std::fs::read(self.path.join("client")) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn note_client(&mut self, note: &[u8]) -> io::Result<()> {
        let new = self.path.join("client.new");
        std::fs::write(&new, note)?;
        std::fs::rename(&new, self.path.join("client"))
    }

    fn read(&mut self) -> io::Result<BTreeMap<u8, Vec<u8>>> {
        let mut streams = BTreeMap::new();
        for entry in std::fs::read_dir(self.path.join("streams"))? {
            let path = entry?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if let Some(Ok(stream)) = stem.map(str::parse::<u8>) {
                streams.insert(stream, std::fs::read(&path)?);
            }
        }
        Ok(streams)
    }

    fn cut(&mut self, stream: u8, length: u64) -> io::Result<()> {
        let file = self.file(stream)?;
        file.set_len(length)?;
        file.sync_all()
    }

    fn append(&mut self, stream: u8, bytes: &[u8]) -> io::Result<()> {
        self.file(stream)?.as_ref().write_all(bytes)
    }

    fn sync(&mut self, streams: &[u8]) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let files: Vec<Arc<File>> = streams.iter().filter_map(|stream| self.files.get(stream).cloned()).collect();
        async move {
            let sync = move || files.iter().try_for_each(|file| file.sync_data());
            tokio::task::spawn_blocking(sync).await.map_err(io::Error::other)?
        }
    }
}
