//! Clusters as processes on this machine's loopback: they are killed, they come back, and their tapes replay as they were.

#![cfg(not(madsim))]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of this test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn host(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_seedbed-host")).args(args).output().expect("the host runs")
}

fn cluster(what: &str, out: &Path, args: &[&str]) -> Output {
    let out = out.to_str().expect("a path");
    host(&[&["cluster", what, "--out", out], args].concat())
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn holds(what: &str, seconds: &str, args: &[&str]) -> String {
    let out = folder(&format!("{what}-{}", args.join("").replace(['-', '=', '/'], "")));
    let output = cluster(what, &out, &[&["--budget", seconds, "--quiet", "4s"], args].concat());
    let told = told(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("replayed as they were taped; no property fell"), "{told}");
    told
}

#[test]
fn leasing_is_killed_and_replays_as_it_was() {
    let told = holds("leasing", "9s", &["--kill-every", "1500ms", "--down", "1s"]);
    assert!(told.contains("lease") && told.contains("renewal"), "{told}");
}

#[test]
#[ignore = "four minutes of kills: .ci/run --full, in its step sweeps"]
fn leasing_holds_through_two_minutes_of_kills() {
    for transport in ["tcp", "udp"] {
        let told = holds("leasing", "120s", &["--kill-every", "3s", "--down", "2s", "--transport", transport]);
        println!("{told}");
    }
}

#[test]
#[ignore = "a minute: .ci/run --full, in its step sweeps"]
fn every_protocol_runs() {
    for protocol in
        ["fatlease", "zab", "manager-group", "zookeeper", "taskmaster", "seqpair", "register", "paxos", "echo"]
    {
        println!("{}", holds(protocol, "4s", &[]));
    }
}

/// What is not removed from a protocol by mistake is found on sockets too, and its tapes show it.
#[test]
fn a_mutant_falls_on_sockets() {
    let args =
        ["--mutant", "no-start-wait", "--kill", "grantor", "--kill-every", "2s", "--down", "300ms", "--quiet", "1s"];
    for seed in ["1", "2", "3", "4", "5"] {
        let output = cluster(
            "lease-timers",
            &folder("mutant"),
            &[&["--budget", "10s", "--seed", seed], args.as_slice()].concat(),
        );
        if output.status.code() == Some(10) {
            assert!(told(&output).contains("single-holder fell"), "{}", told(&output));
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    }
    panic!("the grantor's wait was left out, and nothing fell in 5 runs");
}

#[test]
fn input_that_cannot_be_used_is_refused() {
    let out = folder("refused");
    std::fs::create_dir_all(&out).expect("a folder");
    let file = |name: &str, text: &str| {
        let path = out.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("a path").to_owned()
    };
    let exposed = file(
        "exposed.toml",
        "protocol = \"echo\"\n[nodes]\nserver = \"0.0.0.0:7001\"\nclient-1 = \"127.0.0.1:7002\"\n",
    );
    let unknown = file("unknown.toml", "protocol = \"echo\"\nports = 3\n[nodes]\n");
    let short = file("short.toml", "protocol = \"echo\"\n[nodes]\nserver = \"127.0.0.1:7001\"\n");
    let data = out.join("data");
    let data = data.to_str().expect("a path");
    let fresh = out.join("fresh");
    let fresh = fresh.to_str().expect("a path");
    let node = |file: &'static str| file;
    let cases: [(&[&str], &str); 8] = [
        (&["cluster", "chord", "--out", fresh], "no protocol is called `chord`; known: leasing, "),
        (&["cluster", "leasing", "--out", fresh, "-p", "owners=many"], "[params]: "),
        (&["cluster", "leasing", "--out", fresh, "-p", "owners"], "write key=value"),
        (&["cluster", "leasing", "--out", fresh, "--mutant", "none"], "no mutant `none`"),
        (&["cluster", "leasing", "--out", fresh, "--transport", "smoke"], "write tcp or udp"),
        (&["node", "--cluster", &exposed, "--name", node("server"), "--data", data], "not on loopback; add --expose"),
        (&["node", "--cluster", &unknown, "--name", "server", "--data", data], "unknown field `ports`"),
        (&["node", "--cluster", &short, "--name", "server", "--data", data], "`client-1` has no address"),
    ];
    for (args, words) in cases {
        let output = host(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", told(&output));
        assert!(told(&output).contains(words), "{args:?}: {}", told(&output));
    }
}
