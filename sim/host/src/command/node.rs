//! `node`: one node as a process.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{EXPECTED, Hosts, Node, read};
use crate::driver::Status;
use crate::links::Counts;

/// Flags of `node`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The cluster's file
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// Which node
    #[arg(long, value_name = "NODE")]
    name: String,
    /// The folder of its disk; made if it is not there
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Appends each step to this tape
    #[arg(long, value_name = "FILE")]
    tape: Option<PathBuf>,
    /// Writes twice a second what it has done, as JSON
    #[arg(long, value_name = "FILE")]
    status: Option<PathBuf>,
    /// Stops when the standard input ends
    #[arg(long)]
    attached: bool,
    /// Takes addresses that are not on loopback: whoever reaches them can speak for any node
    #[arg(long)]
    expose: bool,
}

pub(super) fn run(hosts: &Hosts, args: &Args) -> Result<u8, String> {
    let cluster = read(&args.cluster)?;
    let exposed = cluster.nodes.iter().find(|(_, address)| !address.ip().is_loopback());
    if let Some((name, address)) = exposed.filter(|_| !args.expose) {
        return Err(format!(
            "{}: {name} is at {address}, which is not on loopback; add --expose if all who reach it may speak for any node",
            args.cluster.display()
        ));
    }
    let hosted = hosts.entry(&cluster.protocol).map_err(|why| format!("{}: {why}", args.cluster.display()))?;
    let (stop, stopped) = watch::channel(false);
    if args.attached {
        wait_for_input_to_end(stop.clone());
    }
    let node = Node { name: &args.name, data: &args.data, tape: args.tape.as_deref(), status: args.status.as_deref() };
    let done = hosted.run(&cluster, &node, stopped);
    drop(stop);
    done.map(|()| EXPECTED).map_err(|why| format!("{}: {why}", args.name))
}

/// A thread that does nothing but wait, and is left behind.
#[expect(clippy::disallowed_methods, reason = "nothing is decided here: the process ends")]
fn wait_for_input_to_end(stop: watch::Sender<bool>) {
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = stop.send(true);
    });
}

/// What a node has done, for whoever watches it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Told {
    pub(super) steps: u64,
    pub(super) invoked: u64,
    pub(super) answered: u64,
    pub(super) durable: u64,
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    pub(super) outdated: u64,
    pub(super) bad_frames: u64,
    pub(super) connections: u64,
}

impl Told {
    fn of(status: &Status, counts: &Counts) -> Told {
        let count = |count: &AtomicU64| count.load(Relaxed);
        Told {
            steps: status.steps,
            invoked: status.invoked,
            answered: status.answered,
            durable: status.durable,
            sent: count(&counts.sent),
            received: count(&counts.received),
            lost: count(&counts.lost),
            outdated: count(&counts.outdated),
            bad_frames: count(&counts.bad_frames),
            connections: count(&counts.connections),
        }
    }

    pub(super) fn read(path: &Path) -> Option<Told> {
        serde_json::from_slice(&std::fs::read(path).ok()?).ok()
    }

    pub(super) fn add(&mut self, more: &Told) {
        self.steps += more.steps;
        self.invoked += more.invoked;
        self.answered += more.answered;
        self.durable += more.durable;
        self.sent += more.sent;
        self.received += more.received;
        self.lost += more.lost;
        self.outdated += more.outdated;
        self.bad_frames += more.bad_frames;
        self.connections += more.connections;
    }
}

const TELL_EVERY: Duration = Duration::from_millis(500);

/// Writes what the node has done, whole each time, until it is gone.
pub(super) async fn tell(path: PathBuf, mut statuses: watch::Receiver<Status>, counts: Arc<Counts>) {
    let new = path.with_extension("new");
    loop {
        let is_over = tokio::time::timeout(TELL_EVERY, gone(&mut statuses)).await.is_ok();
        let told = Told::of(&statuses.borrow(), &counts);
        // Nobody is served worse by a status that is old: what cannot be written now is written in half a second.
        let _ = serde_json::to_vec(&told)
            .map(|text| std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &path)));
        if is_over {
            return;
        }
    }
}

/// Waits until nobody changes the status any more.
async fn gone(statuses: &mut watch::Receiver<Status>) {
    while statuses.changed().await.is_ok() {}
}
