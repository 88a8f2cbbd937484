//! The manifest for Slurm, run by Slurm: a cluster of one node, this machine, with a configuration, a key and ports of its
//! own, started by the test and ended with it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::emitted::{emitted, is_whole};
use crate::folder::Folder;

/// Programs that a cluster is made of; Debian has them in `slurm-wlm` and `munge`.
const PROGRAMS: [&str; 5] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue"];
/// Between two looks at the cluster, and how many there are of one step: each takes seconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);
const LOOK_COUNT_MAX: usize = 600;

/// A cluster of one node, ended when dropped.
struct Cluster<'a> {
    folder: &'a Folder,
    daemons: Vec<Child>,
}

impl<'a> Cluster<'a> {
    fn start(folder: &'a Folder) -> Self {
        let mut cluster = Cluster { folder, daemons: Vec::new() };
        let host = output("hostname", &["-s"]);
        folder.write("slurm.conf", &configuration(folder, &host, &output("id", &["-un"])));
        folder.write("state/none", "");
        folder.write("spool/none", "");
        // The key need not be secret: it holds this cluster together for as long as the test runs.
        folder.write("munge.key", &"seedbed ".repeat(16));
        let key = folder.path("munge.key");
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o400)).expect("the folder is ours");
        let at = |option: &str, name: &str| format!("--{option}={}", folder.path(name));
        cluster.daemon(
            "munged",
            &[
                "--foreground",
                "--force",
                &at("key-file", "munge.key"),
                &at("socket", "munge.socket"),
                &at("pid-file", "munge.pid"),
                &at("seed-file", "munge.seed"),
            ],
        );
        cluster.wait_until("munge listens", || folder.0.join("munge.socket").exists());
        cluster.daemon("slurmctld", &["-D", "-i"]);
        cluster.daemon("slurmd", &["-D", "-N", &host]);
        cluster
            .wait_until("the node is idle", || cluster.said("sinfo", &["--noheader", "--format=%t"]).trim() == "idle");
        cluster
    }

    fn daemon(&mut self, program: &str, arguments: &[&str]) {
        let log = std::fs::File::create(self.folder.0.join(format!("{program}.log"))).expect("the folder is ours");
        let mut command = self.command(program, arguments);
        command.stdout(log.try_clone().expect("a file is open")).stderr(log);
        self.daemons.push(command.spawn().unwrap_or_else(|error| panic!("{program}: {error}")));
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(located(program).unwrap_or_else(|| program.to_owned()));
        command.args(arguments).env("SLURM_CONF", self.folder.path("slurm.conf")).current_dir(&self.folder.0);
        command
    }

    /// What a program says; nothing while the cluster does not answer.
    fn said(&self, program: &str, arguments: &[&str]) -> String {
        let ended = self.command(program, arguments).stderr(Stdio::null()).output().expect("the program runs");
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        for _ in 0..LOOK_COUNT_MAX {
            if is_so() {
                return;
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
        let logs = ["munged", "slurmctld", "slurmd"].map(|name| tail(&self.folder.0.join(format!("{name}.log"))));
        panic!("not so in time: {what}; {logs:#?}");
    }
}

impl Drop for Cluster<'_> {
    fn drop(&mut self) {
        // The node before the controller, both before what they authenticate by. One that is gone already is no matter.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn configuration(folder: &Folder, host: &str, user: &str) -> String {
    let at = |name: &str| folder.path(name);
    // Two ports that this process alone is likely to ask for.
    let port = 20_000 + std::process::id() % 20_000 * 2;
    format!(
        "ClusterName=seedbed\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={port}\nSlurmdPort={}\n\
         AuthType=auth/munge\nAuthInfo=socket={}\nCredType=cred/munge\nSlurmUser={user}\nSlurmdUser={user}\n\
         StateSaveLocation={}\nSlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\nProctrackType=proctrack/pgid\n\
         TaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nMpiDefault=none\n\
         SchedulerParameters=sched_interval=1\nNodeName={host} NodeAddr=127.0.0.1 CPUs=1\n\
         PartitionName=all Nodes={host} Default=YES State=UP\n",
        port + 1,
        at("munge.socket"),
        at("state"),
        at("spool"),
        at("slurmctld.pid"),
        at("slurmd.pid"),
    )
}

fn output(program: &str, arguments: &[&str]) -> String {
    let ended = Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    String::from_utf8_lossy(&ended.stdout).trim().to_owned()
}

/// Where a program is; the daemons lie where only an administrator's shell looks for them.
fn located(program: &str) -> Option<String> {
    let found = output("sh", &["-c", "PATH=$PATH:/usr/sbin:/sbin; command -v \"$0\"", program]);
    (!found.is_empty()).then_some(found)
}

fn tail(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn slurm_runs_the_campaign() {
    if let Some(missing) = PROGRAMS.iter().find(|program| located(program).is_none()) {
        eprintln!("not run: slurm_runs_the_campaign: there is no {missing}; Debian has it in slurm-wlm and munge");
        return;
    }
    let folder = Folder::new("slurm");
    folder.write("campaign.sh", &emitted("slurm"));
    let cluster = Cluster::start(&folder);
    let submitted = cluster.command("bash", &["campaign.sh"]).output().expect("bash runs");
    assert!(submitted.status.success(), "{}", String::from_utf8_lossy(&submitted.stderr));
    cluster.wait_until("the queue is empty", || cluster.said("squeue", &["--noheader", "--format=%i %r"]).is_empty());
    is_whole(&folder);
}
