//! Nodes and clusters as processes of this machine: `seedbed-host node` and `seedbed-host cluster`, which the command
//! `seedbed` calls.

mod cluster;
mod node;

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use seedbed_model::tape::Tape;
use seedbed_model::{Family, Kind, NodeId, Protocol};
use tokio::sync::watch;

use crate::cluster::{Cluster, Judged, judge};
use crate::driver::{Setup, Status, run};
use crate::folder::Folder;
use crate::links::{Counts, Route};
use crate::{clock, tapes};

/// Everything is as expected.
pub const EXPECTED: u8 = 0;
/// Input that cannot be used.
pub const BAD_INPUT: u8 = 2;
/// An `always` property fell.
pub const SAFETY: u8 = 10;
/// Another property fell.
pub const PROGRESS: u8 = 11;
/// The tapes' replay did otherwise.
pub const DRIFTED: u8 = 18;

/// The protocols that a host knows. A user's crate fills one and hands it to [`main`].
#[derive(Default)]
pub struct Hosts {
    entries: Vec<Box<dyn Hosted>>,
}

impl Hosts {
    /// No protocol.
    pub fn new() -> Self {
        Hosts::default()
    }

    /// Adds a family. `usual` is a cluster's file without `protocol` and `nodes`: what `cluster NAME` runs.
    #[must_use]
    pub fn with<F: Family>(mut self, usual: &'static str) -> Self {
        self.entries.push(Box::new(Of::<F> { usual, family: std::marker::PhantomData }));
        self
    }

    fn entry(&self, name: &str) -> Result<&dyn Hosted, String> {
        let found = self.entries.iter().find(|entry| entry.name() == name);
        let names = || self.entries.iter().map(|entry| entry.name()).collect::<Vec<_>>().join(", ");
        found.map(AsRef::as_ref).ok_or_else(|| format!("no protocol is called `{name}`; known: {}", names()))
    }
}

/// A family, without its types.
trait Hosted {
    fn name(&self) -> &'static str;
    fn usual(&self) -> &'static str;
    /// The nodes' names, and what each stands for if it stands for a service.
    fn nodes(&self, cluster: &Cluster) -> Result<Vec<(String, Option<&'static str>)>, String>;
    /// What becomes of the tapes, with the exit code.
    fn judge(&self, cluster: &Cluster, tapes: &[Tape]) -> Result<(Judged, u8), String>;
    /// Runs a node until it is told to stop.
    fn run(&self, cluster: &Cluster, node: &Node<'_>, stop: watch::Receiver<bool>) -> io::Result<()>;
}

/// A node as a process.
struct Node<'a> {
    name: &'a str,
    data: &'a Path,
    tape: Option<&'a Path>,
    status: Option<&'a Path>,
}

struct Of<F> {
    usual: &'static str,
    family: std::marker::PhantomData<fn() -> F>,
}

impl<F: Family> Hosted for Of<F> {
    fn name(&self) -> &'static str {
        F::NAME
    }

    fn usual(&self) -> &'static str {
        self.usual
    }

    fn nodes(&self, cluster: &Cluster) -> Result<Vec<(String, Option<&'static str>)>, String> {
        let protocol = cluster.build::<F>()?;
        let named = |(index, name)| (name, protocol.stands_for(NodeId(index as u16)));
        Ok(protocol.nodes().into_iter().enumerate().map(named).collect())
    }

    fn judge(&self, cluster: &Cluster, tapes: &[Tape]) -> Result<(Judged, u8), String> {
        let protocol = cluster.build::<F>()?;
        let judged = judge(&protocol, tapes)?;
        let properties = protocol.properties();
        let is_always =
            |fell: &str| properties.iter().any(|property| property.name == fell && property.kind == Kind::Always);
        let code = match (&judged.drift, judged.fell.first()) {
            // What fell in a run that never was is no finding.
            (Some(_), _) => DRIFTED,
            (None, Some((fell, _))) if is_always(fell) => SAFETY,
            (None, Some(_)) => PROGRESS,
            (None, None) => EXPECTED,
        };
        Ok((judged, code))
    }

    fn run(&self, cluster: &Cluster, node: &Node<'_>, stop: watch::Receiver<bool>) -> io::Result<()> {
        let protocol = cluster.build::<F>().map_err(io::Error::other)?;
        let names = protocol.nodes();
        let index = names.iter().position(|name| name == node.name);
        let index = index.ok_or_else(|| {
            io::Error::other(format!("no node is called `{}`; they are {}", node.name, names.join(", ")))
        })?;
        let (writer, last_line) = match node.tape {
            Some(path) => tapes::Writer::open(path).map(|(writer, last)| (Some(writer), last))?,
            None => (None, None),
        };
        let setup = Setup {
            route: Route {
                cluster: cluster.id(),
                node: NodeId(index as u16),
                incarnation: 0,
                addresses: cluster.addresses(&names).map_err(io::Error::other)?,
                transport: cluster.transport,
                queue: cluster.queue,
            },
            protocol,
            disk: Folder::open(node.data)?,
            pace: cluster.pace,
            seed: cluster.seed,
            stamps_ahead: clock::stamps_ahead(),
            tape: writer.map(|mut writer| -> crate::driver::Tape { Box::new(move |line| writer.write(line)) }),
            last_line,
            planted: None,
        };
        let counts = Arc::new(Counts::default());
        let (status, statuses) = watch::channel(Status::default());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let told = node.status.map(ToOwned::to_owned);
        let ended = runtime.block_on(async {
            let telling = told.map(|path| tokio::spawn(node::tell(path, statuses, counts.clone())));
            let ended = run(setup, counts.clone(), status, stop).await;
            if let Some(telling) = telling {
                // It ends with the channel, after it has told the last.
                let _ = telling.await;
            }
            ended
        });
        // What waits for the standard input is left behind.
        runtime.shutdown_background();
        ended
    }
}

/// Runs protocols on real sockets and files.
#[derive(Debug, Parser)]
#[command(name = "seedbed-host", version, about)]
enum Command {
    /// Runs one node of a cluster until it is interrupted
    Node(node::Args),
    /// Runs a whole cluster on loopback, kills and restarts its nodes, and checks what they did
    Cluster(cluster::Args),
}

/// The command of a host that knows these protocols.
pub fn main(hosts: Hosts) -> ExitCode {
    let done = match Command::parse() {
        Command::Node(args) => node::run(&hosts, &args),
        Command::Cluster(args) => cluster::run(&hosts, &args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Reads a cluster's file.
fn read(path: &Path) -> Result<Cluster, String> {
    let text = std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", path.display()))?;
    toml::from_str(&text).map_err(|why| format!("{}: {}", path.display(), why.to_string().trim()))
}
