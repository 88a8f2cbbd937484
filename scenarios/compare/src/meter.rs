//! What a program costs: it runs as the only child of a process of its own, which then asks the system what its children
//! took. A peak of memory is then that program's, and its time is that of all its threads.

#![expect(clippy::disallowed_types, reason = "measuring is what this is for; nothing here decides a run")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// What one run of a program took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// On the clock.
    pub wall: Duration,
    /// On all processors together, in the program and in the system for it.
    pub cpu: Duration,
    /// Most memory that was resident at once [KiB].
    pub peak_kib: u64,
}

/// One run of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Metered {
    /// What it took.
    pub cost: Cost,
    /// What it printed.
    pub printed: String,
}

/// The first word of a command line that asks for [`meter`].
pub const METER: &str = "meter";

/// Before the line that [`meter`] adds to what the program printed.
const COST: &str = "cost: ";

/// Runs a program in a process of its own: `ourselves` with [`METER`], the program and its arguments.
///
/// # Errors
/// If it does not run, or fails, or prints no text.
pub fn run(ourselves: &Path, program: &Path, arguments: &[String]) -> Result<Metered, String> {
    let failed = |why: &str| format!("run {} {}: {why}", program.display(), arguments.join(" "));
    let output = Command::new(ourselves)
        .arg(METER)
        .arg(program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| failed(&why.to_string()))?;
    if !output.status.success() {
        return Err(failed(&output.status.to_string()));
    }
    let text = String::from_utf8(output.stdout).map_err(|why| failed(&why.to_string()))?;
    let (printed, cost) = text.rsplit_once(COST).ok_or_else(|| failed("it printed no cost"))?;
    let cost = read_cost(cost).ok_or_else(|| failed("its cost is no three numbers"))?;
    Ok(Metered { cost, printed: printed.to_owned() })
}

/// Runs a program to its end, lets it print, and adds a line with what it took.
///
/// # Errors
/// If it does not run, or fails.
pub fn meter(program: &str, arguments: &[String]) -> Result<String, String> {
    let started = Instant::now();
    let status = Command::new(program).args(arguments).status().map_err(|why| format!("run {program}: {why}"))?;
    let wall = started.elapsed();
    if !status.success() {
        return Err(format!("run {program}: {status}"));
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|why| format!("ask what {program} took: {why}"))?;
    let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
    let cpu = micros(usage.user_time()) + micros(usage.system_time());
    Ok(format!("{COST}{} {cpu} {}", wall.as_micros(), usage.max_rss()))
}

/// Microseconds on the clock and on processors, then KiB.
fn read_cost(text: &str) -> Option<Cost> {
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    let mut next = || numbers.next().flatten();
    Some(Cost { wall: Duration::from_micros(next()?), cpu: Duration::from_micros(next()?), peak_kib: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_s_processor_time_and_memory_are_seen() {
        let text = meter("sh", &["-c".into(), "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done".into()]);
        let cost = read_cost(text.expect("it runs").strip_prefix(COST).expect("the line")).expect("three numbers");
        assert!(cost.cpu > Duration::ZERO && cost.wall > Duration::ZERO && cost.peak_kib > 100, "{cost:?}");
    }

    #[test]
    fn a_program_that_fails_is_an_error() {
        assert!(meter("false", &[]).is_err());
        assert!(meter("no-such-program", &[]).is_err());
    }
}
