//! `cluster`: all nodes of a cluster as processes on loopback, killed and restarted, and judged by their tapes.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use seedbed_model::Span;
use seedbed_model::tape::{Tape, TapeLine};
use seedbed_reports::number::grouped;
use seedbed_reports::table::{Side, Table};

use super::node::Told;
use super::{Hosted, Hosts, read};
use crate::cluster::{Cluster, Judged};
use crate::links::Transport;
use crate::{clock, tapes};

/// Flags of `cluster`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A protocol, or a cluster's file: its `nodes` may be left out
    what: String,
    /// How long nodes are killed and restarted
    #[arg(long, value_name = "SPAN", default_value = "20s")]
    budget: Span,
    /// How long they are then left alone
    #[arg(long, value_name = "SPAN", default_value = "5s")]
    quiet: Span,
    /// Between two kills, at most; 0s for none
    #[arg(long, value_name = "SPAN", default_value = "4s")]
    kill_every: Span,
    /// Until a node that was killed is started again, at most
    #[arg(long, value_name = "SPAN", default_value = "2s")]
    down: Span,
    /// Kills only nodes whose names begin so
    #[arg(long, value_name = "PREFIX", default_value = "")]
    kill: String,
    /// What is drawn: which nodes are killed, and when. It does not make two runs the same
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How messages travel [default: the file's, or tcp]
    #[arg(long, value_name = "tcp|udp")]
    transport: Option<String>,
    /// Sets a parameter
    #[arg(short, value_name = "KEY=VALUE")]
    param: Vec<String>,
    /// Switches a mechanism off
    #[arg(long, value_name = "NAME")]
    mutant: Vec<String>,
    /// Where disks, tapes and the cluster's file go; must not hold a cluster yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(hosts: &Hosts, args: &Args) -> Result<u8, String> {
    let mut cluster = wanted(hosts, args)?;
    let hosted = hosts.entry(&cluster.protocol)?;
    let nodes = hosted.nodes(&cluster)?;
    let names: Vec<String> = nodes.iter().map(|(name, _)| name.clone()).collect();
    if cluster.nodes.is_empty() {
        cluster.nodes = addresses(&names).map_err(|why| format!("find ports on loopback: {why}"))?;
    }
    cluster.addresses(&names)?;
    if let Some((name, address)) = cluster.nodes.iter().find(|(_, address)| !address.ip().is_loopback()) {
        return Err(format!("{name} is at {address}; a cluster is run on loopback alone: run its nodes by `node`"));
    }
    let services = nodes.iter().map(|(_, service)| service.is_some()).collect();
    let mut running = Running::new(args, &cluster, names, services).map_err(|why| why.to_string())?;
    let ended = running.run(args);
    // Whatever happened: no process is left behind.
    running.stop();
    ended.map_err(|why| why.to_string())?;
    let tapes = running.tapes()?;
    let (judged, code) = hosted.judge(&cluster, &tapes)?;
    print!("{}", running.summary(hosted, &judged));
    Ok(code)
}

/// The cluster that the flags ask for.
fn wanted(hosts: &Hosts, args: &Args) -> Result<Cluster, String> {
    let mut cluster = match Path::new(&args.what).is_file() {
        true => read(Path::new(&args.what))?,
        false => {
            let hosted = hosts.entry(&args.what)?;
            let mut table: toml::Table = toml::from_str(hosted.usual()).map_err(|why| why.to_string())?;
            table.insert("protocol".into(), args.what.clone().into());
            table.insert("nodes".into(), toml::Table::new().into());
            table.try_into().map_err(|why| format!("{}: {why}", args.what))?
        }
    };
    for given in &args.param {
        let (key, value) = given.split_once('=').ok_or_else(|| format!("-p {given}: write key=value"))?;
        // A bare word is a string; anything else is as in TOML.
        let parsed: Result<toml::Table, _> = toml::from_str(&format!("value = {value}"));
        let value = parsed.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| value.into());
        cluster.params.insert(key.to_owned(), value);
    }
    cluster.mutants.extend(args.mutant.iter().cloned());
    cluster.seed = args.seed;
    cluster.transport = match args.transport.as_deref() {
        None => cluster.transport,
        Some("tcp") => Transport::Tcp,
        Some("udp") => Transport::Udp,
        Some(other) => return Err(format!("--transport {other}: write tcp or udp")),
    };
    Ok(cluster)
}

/// Ports that are free now, all held until each has one.
fn addresses(names: &[String]) -> io::Result<BTreeMap<String, std::net::SocketAddr>> {
    let held: Vec<TcpListener> = names.iter().map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
    names.iter().zip(&held).map(|(name, listener)| Ok((name.clone(), listener.local_addr()?))).collect()
}

/// The processes of a cluster.
struct Running {
    out: PathBuf,
    names: Vec<String>,
    /// Nodes that stand for a service are not killed.
    services: Vec<bool>,
    children: Vec<Option<Child>>,
    /// What ended incarnations told, and how many there were.
    told: Vec<Told>,
    kills: Vec<u64>,
    own: tapes::Writer,
    draws: ChaCha8Rng,
    began: u64,
    lasted: Span,
}

const FILE: &str = "cluster.toml";

impl Running {
    fn new(args: &Args, cluster: &Cluster, names: Vec<String>, services: Vec<bool>) -> io::Result<Running> {
        let out = args.out.clone();
        if out.join(FILE).exists() {
            let why = format!("{}: there is a cluster already; write to another folder", out.display());
            return Err(io::Error::other(why));
        }
        for part in ["data", "tapes", "status"] {
            std::fs::create_dir_all(out.join(part))?;
        }
        std::fs::write(out.join(FILE), toml::to_string(cluster).map_err(io::Error::other)?)?;
        let (own, _) = tapes::Writer::open(&out.join("tapes/cluster.jsonl"))?;
        Ok(Running {
            out,
            services,
            children: names.iter().map(|_| None).collect(),
            told: vec![Told::default(); names.len()],
            kills: vec![0; names.len()],
            names,
            own,
            draws: ChaCha8Rng::seed_from_u64(args.seed),
            began: clock::now(),
            lasted: Span::ZERO,
        })
    }

    fn draw(&mut self, span: Span) -> u64 {
        ((u128::from(self.draws.next_u64()) * (u128::from(span.0) + 1)) >> 64) as u64
    }

    fn start(&mut self, node: usize) -> io::Result<()> {
        let name = &self.names[node];
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["node", "--attached", "--name", name]);
        command.arg("--cluster").arg(self.out.join(FILE));
        command.arg("--data").arg(self.out.join("data").join(name));
        command.arg("--tape").arg(self.out.join("tapes").join(format!("{name}.jsonl")));
        command.arg("--status").arg(self.out.join("status").join(format!("{name}.json")));
        self.children[node] = Some(command.stdin(Stdio::piped()).spawn()?);
        Ok(())
    }

    fn status(&self, node: usize) -> Option<Told> {
        Told::read(&self.out.join("status").join(format!("{}.json", self.names[node])))
    }

    /// Kills a node as a machine that loses its power would end it, and notes when.
    fn kill(&mut self, node: usize) -> io::Result<()> {
        let Some(mut child) = self.children[node].take() else { return Ok(()) };
        child.kill()?;
        child.wait()?;
        self.note(format!("crash {}: []", self.names[node]))?;
        self.kills[node] += 1;
        if let Some(told) = self.status(node) {
            self.told[node].add(&told);
            std::fs::remove_file(self.out.join("status").join(format!("{}.json", self.names[node])))?;
        }
        Ok(())
    }

    fn note(&mut self, step: String) -> io::Result<()> {
        let line = TapeLine { at: clock::now(), step, answers: Vec::new(), does: Vec::new(), found: None };
        self.own.write(&line)
    }

    fn run(&mut self, args: &Args) -> io::Result<()> {
        for node in 0..self.names.len() {
            self.start(node)?;
        }
        let until = self.began + args.budget.0;
        let is_killed = |node: &usize| !self.services[*node] && self.names[*node].starts_with(&args.kill);
        let killable: Vec<usize> = (0..self.names.len()).filter(is_killed).collect();
        let mut restarts: BTreeMap<u64, usize> = BTreeMap::new();
        let mut kill_at = (args.kill_every.0 > 0 && !killable.is_empty()).then(|| self.draw(args.kill_every));
        kill_at = kill_at.map(|after| self.began + after);
        loop {
            let now = clock::now();
            while let Some(entry) = restarts.first_entry().filter(|entry| *entry.key() <= now || now >= until) {
                let node = entry.remove();
                self.start(node)?;
            }
            if now >= until {
                break;
            }
            if kill_at.is_some_and(|at| at <= now) {
                let node = killable[self.draw(Span(killable.len() as u64 - 1)) as usize];
                if self.children[node].is_some() {
                    self.kill(node)?;
                    let back = clock::now() + self.draw(args.down);
                    restarts.insert(back, node);
                }
                kill_at = Some(now + self.draw(args.kill_every));
            }
            self.ended()?;
            self.tell(args, now);
            nap(Duration::from_millis(10));
        }
        self.note("healed".into())?;
        let quiet = clock::now() + args.quiet.0;
        while clock::now() < quiet {
            self.ended()?;
            self.tell(args, clock::now());
            nap(Duration::from_millis(10));
        }
        self.lasted = Span(clock::now() - self.began);
        Ok(())
    }

    /// A node that ends by itself has said why.
    fn ended(&mut self) -> io::Result<()> {
        for node in 0..self.children.len() {
            if let Some(child) = &mut self.children[node]
                && let Some(status) = child.try_wait()?
            {
                self.children[node] = None;
                // What it was told of is on its tape: an assertion that broke is judged there.
                eprintln!("{} ended by itself: {status}", self.names[node]);
            }
        }
        Ok(())
    }

    fn tell(&self, args: &Args, now: u64) {
        if !io::stderr().is_terminal() {
            return;
        }
        let up = self.children.iter().flatten().count();
        let seconds = (now - self.began) / 1_000_000_000;
        let all = (args.budget.0 + args.quiet.0) / 1_000_000_000;
        let steps: u64 = (0..self.names.len()).map(|node| self.sum(node).steps).sum();
        let rate = steps * 1_000_000_000 / (now - self.began).max(1);
        let kills: u64 = self.kills.iter().sum();
        eprint!(
            "\r{seconds} s of {all} s, {up} of {} nodes up, {} steps ({}/s), {kills} kills   ",
            self.names.len(),
            grouped(steps),
            grouped(rate)
        );
        let _ = io::stderr().flush();
    }

    fn sum(&self, node: usize) -> Told {
        let mut sum = self.told[node].clone();
        if let Some(told) = self.status(node) {
            sum.add(&told);
        }
        sum
    }

    /// Ends all nodes, those that do not end by themselves by force.
    fn stop(&mut self) {
        for child in self.children.iter_mut().flatten() {
            drop(child.stdin.take());
        }
        for child in self.children.iter_mut().flatten() {
            let until = clock::now() + 10_000_000_000;
            while matches!(child.try_wait(), Ok(None)) && clock::now() < until {
                nap(Duration::from_millis(5));
            }
            // Of one that has ended: nothing.
            let _ = child.kill();
            let _ = child.wait();
        }
        if io::stderr().is_terminal() {
            eprint!("\r{:80}\r", "");
        }
    }

    fn tapes(&self) -> Result<Vec<Tape>, String> {
        let names = self.names.iter().map(String::as_str).chain(["cluster"]);
        names.map(|name| tapes::load(&self.out.join("tapes").join(format!("{name}.jsonl")))).collect()
    }

    fn summary(&self, hosted: &dyn Hosted, judged: &Judged) -> String {
        let counted = ["kills", "steps", "operations", "answered", "durable", "sent", "received", "lost"];
        let columns = counted.map(|heading| (heading, Side::Right));
        let mut table = Table::new(&[&[("node", Side::Left)], columns.as_slice()].concat());
        for (node, name) in self.names.iter().enumerate() {
            let sum = self.sum(node);
            let counts =
                [self.kills[node], sum.steps, sum.invoked, sum.answered, sum.durable, sum.sent, sum.received, sum.lost];
            table.row(std::iter::once(name.clone()).chain(counts.map(grouped)));
        }
        let mut summary =
            format!("{}: {} nodes on loopback for {}\n", hosted.name(), self.names.len(), seconds(self.lasted));
        summary.push_str(&table.text());
        let reached: Vec<String> =
            judged.reached.iter().map(|(what, count)| format!("{what} {}", grouped(*count))).collect();
        summary.push_str(&format!("reached: {}\n", reached.join(", ")));
        let folder = self.out.display();
        match (&judged.drift, judged.fell.first()) {
            (Some((_, why)), _) => {
                summary.push_str(&format!("the replay did otherwise: {why}\nreplay: seedbed replay {folder}\n"));
            }
            (None, Some((fell, detail))) => {
                summary.push_str(&format!("{fell} fell: {detail}\n"));
                summary.push_str(&format!("replay: seedbed replay {folder}\n"));
            }
            (None, None) => summary.push_str(&format!(
                "same: {} steps replayed as they were taped; no property fell\n",
                grouped(judged.steps as u64)
            )),
        }
        summary
    }
}

fn seconds(span: Span) -> String {
    format!("{}.{} s", span.0 / 1_000_000_000, span.0 / 100_000_000 % 10)
}

#[expect(clippy::disallowed_methods, reason = "the processes decide what happens, not this one's waiting")]
fn nap(span: Duration) {
    std::thread::sleep(span);
}
