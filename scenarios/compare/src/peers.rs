//! Peers that are programs of their own: built here, if what they need is there.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::contest::{Contender, Done, two_numbers};

/// The folder of this crate.
const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// A contender on madsim: so many fresh runs of so many pairs. What is built is kept in `kept`.
///
/// # Errors
/// Why it is not run.
pub fn madsim(kept: &Path, runs: u64, pairs: u64) -> Result<Contender, String> {
    let arguments = vec![runs.to_string(), pairs.to_string()];
    crate_beside("madsim", kept, "madsim", arguments)
}

/// A contender on turmoil, in ticks of so many milliseconds.
///
/// # Errors
/// Why it is not run.
pub fn turmoil(kept: &Path, runs: u64, pairs: u64, tick_ms: u64) -> Result<Contender, String> {
    let arguments = vec![runs.to_string(), pairs.to_string(), tick_ms.to_string()];
    crate_beside("turmoil", kept, &format!("turmoil-{tick_ms}ms"), arguments)
}

fn crate_beside(folder: &str, kept: &Path, name: &str, arguments: Vec<String>) -> Result<Contender, String> {
    let mut cargo = Command::new("cargo");
    // In its folder, where its flags are; those of the environment would hide them.
    cargo.current_dir(Path::new(HERE).join(folder)).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    cargo.args(["build", "--release", "--quiet", "--target-dir"]).arg(kept);
    ran(&mut cargo, name)?;
    let program = kept.join("release").join(format!("seedbed-compare-{folder}"));
    Ok(Contender { name: name.into(), is_peer: true, program, arguments, done: two_numbers })
}

/// Spin's exact search of two-phase commit with eight resource managers: every state whole, no reduction.
///
/// # Errors
/// Why it is not run.
pub fn spin_two_phase(kept: &Path) -> Result<Contender, String> {
    let name = "spin-exact";
    let folder = kept.join("spin");
    std::fs::create_dir_all(&folder).map_err(|why| format!("not run: {name}: make {}: {why}", folder.display()))?;
    let model = Path::new(HERE).join("spin/two_phase.pml");
    ran(Command::new("spin").current_dir(&folder).arg("-a").arg(model), name)?;
    let flags = ["-O2", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=4096", "-o", "pan", "pan.c"];
    ran(Command::new("gcc").current_dir(&folder).args(flags), name)?;
    let arguments = vec!["-m1000".into(), "-w22".into()];
    Ok(Contender { name: name.into(), is_peer: true, program: folder.join("pan"), arguments, done: spin_done })
}

/// Its verifier prints `N states, stored` and `N transitions (= stored+matched)`, and the errors it found.
fn spin_done(printed: &str) -> Option<Done> {
    if !printed.contains("errors: 0") {
        return None;
    }
    let number_before = |words: &str| {
        let line = printed.lines().find(|line| line.contains(words))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(Done { first: number_before("states, stored")?, second: number_before("transitions (= stored+matched)")? })
}

fn ran(command: &mut Command, name: &str) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|why| format!("not run: {name}, as `{program}` does not start: {why}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("not run: {name}, as `{program}` failed: {}", said.lines().next().unwrap_or("it does not say why")))
}

/// Where what is built of the peers is kept: beside the program `ourselves`.
pub fn kept_beside(ourselves: &Path) -> PathBuf {
    ourselves.with_file_name("peers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spin_prints_is_read() {
        let printed = "State-vector 36 byte, depth reached 25, errors: 0\n  1745408 states, stored\n 16762370 states, \
                       matched\n 18507778 transitions (= stored+matched)\n";
        assert_eq!(spin_done(printed), Some(Done { first: 1_745_408, second: 18_507_778 }));
        assert_eq!(spin_done(&printed.replace("errors: 0", "errors: 1")), None);
    }

    #[test]
    fn a_peer_that_is_not_there_is_named() {
        let why = ran(&mut Command::new("no-such-peer"), "it").expect_err("there is no such program");
        assert!(why.starts_with("not run: it, as `no-such-peer` does not start"), "{why}");
    }
}
