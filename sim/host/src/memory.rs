//! A disk in memory, whose crashes lose what was not synced: for tests, under madsim and on sockets.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::streams::Disk;

/// A disk that outlives its node. Copies are the same disk.
#[derive(Debug, Clone, Default)]
pub struct MemoryDisk {
    inner: Arc<Mutex<Inner>>,
    /// How long a sync takes.
    pub sync: Duration,
}

#[derive(Debug, Default)]
struct Inner {
    incarnation: u64,
    client: Option<Vec<u8>>,
    /// Each with how many of its bytes are synced.
    streams: BTreeMap<u8, (Vec<u8>, usize)>,
    /// How many crashes there were: a sync that was under way then comes to nothing.
    crashes: u64,
}

impl MemoryDisk {
    /// An empty disk whose syncs take so long.
    pub fn new(sync: Duration) -> MemoryDisk {
        MemoryDisk { inner: Arc::default(), sync }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while it holds the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine loses its power: of what was not synced, each stream keeps so many bytes as `draw` says of so many and
    /// one more.
    pub fn crash(&self, mut draw: impl FnMut(u64) -> u64) {
        let mut inner = self.inner();
        inner.crashes += 1;
        for (bytes, synced) in inner.streams.values_mut() {
            let kept = draw((bytes.len() - *synced) as u64 + 1) as usize;
            bytes.truncate(*synced + kept);
            *synced = bytes.len();
        }
    }

    /// How many bytes are not synced.
    pub fn unsynced(&self) -> usize {
        self.inner().streams.values().map(|(bytes, synced)| bytes.len() - synced).sum()
    }
}

impl Disk for MemoryDisk {
    fn incarnations(&mut self) -> io::Result<u64> {
        Ok(self.inner().incarnation)
    }

    fn note_incarnation(&mut self, incarnation: u64) -> io::Result<()> {
        self.inner().incarnation = incarnation;
        Ok(())
    }

    fn client(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.inner().client.clone())
    }

    fn note_client(&mut self, note: &[u8]) -> io::Result<()> {
        self.inner().client = Some(note.to_vec());
        Ok(())
    }

    fn read(&mut self) -> io::Result<BTreeMap<u8, Vec<u8>>> {
        Ok(self.inner().streams.iter().map(|(stream, (bytes, _))| (*stream, bytes.clone())).collect())
    }

    fn cut(&mut self, stream: u8, length: u64) -> io::Result<()> {
        let mut inner = self.inner();
        if let Some((bytes, synced)) = inner.streams.get_mut(&stream) {
            bytes.truncate(length as usize);
            *synced = bytes.len();
        }
        Ok(())
    }

    fn append(&mut self, stream: u8, bytes: &[u8]) -> io::Result<()> {
        self.inner().streams.entry(stream).or_default().0.extend(bytes);
        Ok(())
    }

    fn sync(&mut self, streams: &[u8]) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let inner = self.inner();
        let crashes = inner.crashes;
        let length = |stream: &u8| (*stream, inner.streams.get(stream).map_or(0, |(bytes, _)| bytes.len()));
        let lengths: Vec<(u8, usize)> = streams.iter().map(length).collect();
        drop(inner);
        let (disk, wait) = (self.clone(), self.sync);
        async move {
            tokio::time::sleep(wait).await;
            let mut inner = disk.inner();
            if inner.crashes == crashes {
                for (stream, length) in lengths {
                    if let Some((_, synced)) = inner.streams.get_mut(&stream) {
                        *synced = length.max(*synced);
                    }
                }
            }
            Ok(())
        }
    }
}
